"""The parts of which every dialect makes a request.

    turns(can, request)               -> [{"role": "user", "content": "What is 2 + 3?"}]
    filled({"model": "m", ...}, can, request)   with sampling, thinking and prefill

The spelling comes from the capabilities. What they cannot express is refused, so that
nothing is dropped in silence.
"""

from __future__ import annotations

from typing import Any

from misled.records import Message, Prefill, Request
from misled.wire.base import unsupported
from misled.wire.capabilities import Capabilities, unsafe

__all__ = ["filled", "in_content", "turns"]


def turns(can: Capabilities, request: Request) -> list[dict[str, Any]]:
    """The conversation, and the trailing assistant message that the model continues."""
    reason = can.lacks(request.sampling, request.prefill)
    if reason is not None:
        raise unsupported(request, reason)
    if not request.messages or request.messages[-1].role != "user":
        raise unsupported(request, "its conversation does not end with the user's turn")
    messages = [_turn(can, request, message) for message in request.messages]
    if request.prefill is not None:
        messages.append(_opening(can, request.prefill))
    return messages


def _turn(can: Capabilities, request: Request, message: Message) -> dict[str, Any]:
    role = can.system_role if message.role == "system" else message.role
    turn = {"role": role, "content": message.content}
    if message.role == "assistant":
        reason = unsafe(message.content) or unsafe(message.reasoning or "")
        if reason is not None:
            raise unsupported(request, reason)
    if message.reasoning is not None:
        if not can.history_reasoning:
            raise unsupported(request, "reasoning sent back would get lost")
        turn[can.history_reasoning] = message.reasoning
    return turn


def _opening(can: Capabilities, prefill: Prefill) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": "assistant", "content": in_content(can, prefill)}
    if prefill.field == "thinking" and can.thinking_field != "content":
        turn[can.thinking_field] = prefill.text
    merge(turn, can.prefill_message)
    return turn


def in_content(can: Capabilities, prefill: Prefill) -> str:
    """What stands in the content of the trailing message."""
    if prefill.field == "content":
        return prefill.text
    if can.thinking_field != "content":
        return ""
    return can.think_open + prefill.text + (can.think_close if prefill.closed else "")


def filled(body: dict[str, Any], can: Capabilities, request: Request) -> dict[str, Any]:
    """`body` with all that is not the conversation; what is not set is not in it."""
    sampling, prefill = request.sampling, request.prefill
    if prefill is not None:
        merge(body, can.prefill_body)
        if prefill.field == "thinking":
            merge(body, can.closed_body if prefill.closed else can.open_body)
    for name, how in can.heed(sampling).items():
        if how != "rejected":
            _set(body, name, getattr(sampling, name))
    _set(body, can.token_parameter, sampling.max_tokens or can.max_tokens)
    _set(body, can.effort, sampling.effort)
    if sampling.thinking is not None:
        merge(body, can.thinking_on if sampling.thinking else can.thinking_off)
    if can.seeded:
        body["seed"] = int(request.key[-8:], 16) >> 1
    merge(body, can.extra)
    return body


def _set(body: dict[str, Any], path: str, value: object) -> None:
    """Put `value` at a dotted path; nothing where it is None."""
    if value is not None:
        *parents, name = path.split(".")
        for parent in parents:
            body = body.setdefault(parent, {})
        body[name] = value


def merge(body: dict[str, Any], fragment: dict[str, Any]) -> None:
    """Lay `fragment` over `body`, object by object."""
    for name, value in fragment.items():
        if isinstance(value, dict):
            merge(body.setdefault(name, {}), value)
        else:
            body[name] = value
