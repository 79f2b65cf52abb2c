"""Chat completions as OpenAI shaped them and twelve other servers speak them.

    {"model": "m", "messages": [{"role": "user", "content": "What is 2 + 3?"}]}
    {"choices": [{"message": {"content": "5"}, "finish_reason": "stop"}], "usage": {...}}

`encode` follows the capability table; what it cannot express it refuses, so that
nothing is dropped in silence. `decode` trusts no type: a body is an answer, an
error, or garbage. Reasoning is taken from whichever field it comes in. A prefill
that the server echoes is taken off, once.

Knows neither keys nor hosts, nor how often a request was tried.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from misled.errors import ProviderError
from misled.records import Message, Prefill, Request, Response, Usage
from misled.wire.base import Capabilities, error_of_status, one_line

__all__ = ["OpenAI"]

REASONING = ("reasoning_content", "reasoning", "thinking")
_KNOWN = {"role", "content", "refusal", "tool_calls", "reasoning_details", *REASONING}

_FINISH = {
    **dict.fromkeys(("eos", "eos_token", "end_turn", "stop_sequence", "completed"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length"), "length"),
    **dict.fromkeys(("safety", "refusal", "sensitive", "prohibited_content"), "content_filter"),
}
# The server gave up in the middle: what came so far is no answer.
_BROKEN_OFF = {"abort", "aborted", "error", "insufficient_system_resource"}


class OpenAI:
    """The dialect of a server with these capabilities."""

    path = "/chat/completions"

    def __init__(self, capabilities: Capabilities) -> None:
        self._can = capabilities

    def headers(self, key: str | None) -> dict[str, str]:
        """A bearer token, where there is a key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def encode(self, request: Request) -> dict[str, Any]:
        """The JSON body; parameters that are not set are not in it."""
        can, sampling = self._can, request.sampling
        reason = can.lacks(sampling, request.prefill)
        if reason is not None:
            raise ProviderError("unsupported", f"{request.model}: {reason}")
        messages = [self._message(request, message) for message in request.messages]
        body: dict[str, Any] = {"model": request.model, "messages": messages}
        if request.prefill is not None:
            messages.append(self._opening(request.prefill))
            _merge(body, can.prefill_body)
        if can.temperature != "rejected":
            _set(body, "temperature", sampling.temperature)
            _set(body, "top_p", sampling.top_p)
        if can.top_k != "rejected":
            _set(body, "top_k", sampling.top_k)
        _set(body, can.token_parameter, sampling.max_tokens)
        _set(body, can.effort, sampling.effort)
        if sampling.thinking is not None:
            _merge(body, can.thinking_on if sampling.thinking else can.thinking_off)
        if can.seeded:
            body["seed"] = int(request.key[-8:], 16) >> 1
        _merge(body, can.extra)
        return body

    def _message(self, request: Request, message: Message) -> dict[str, Any]:
        role = self._can.system_role if message.role == "system" else message.role
        turn = {"role": role, "content": message.content}
        if message.reasoning is not None:
            if not self._can.history_reasoning:
                raise ProviderError(
                    "unsupported", f"{request.model}: reasoning sent back would get lost"
                )
            turn[self._can.history_reasoning] = message.reasoning
        return turn

    def _opening(self, prefill: Prefill) -> dict[str, Any]:
        """The trailing assistant message that the model continues."""
        if prefill.field == "content":
            turn: dict[str, Any] = {"role": "assistant", "content": prefill.text}
        else:
            turn = {"role": "assistant", "content": "", self._can.thinking_field: prefill.text}
        _merge(turn, self._can.prefill_message)
        return turn

    def decode(self, body: bytes, request: Request) -> Response:
        """The answer in `body`; ProviderError where it holds an error or none.

        An answer that the server filed as reasoning (after a prefill of the
        content, or with thinking off) is the content again, and flagged.
        """
        reply = _parsed(body)
        _raise_error_in(reply)
        choice = _first_choice(reply)
        finish = _finish(choice.get("finish_reason"))
        message = _object(choice.get("message"), "message")
        if not message.keys() & _KNOWN:
            raise _garbage("its message says nothing")
        content, reasoning = _texts(message)
        flags: tuple[str, ...] = ()
        refusal = message.get("refusal")
        if not content and isinstance(refusal, str) and refusal:
            content, finish = refusal, "content_filter"
        prefill = request.prefill
        answering = request.sampling.thinking is False or (
            prefill is not None and prefill.field == "content"
        )
        if answering and reasoning and not content.strip():
            content, reasoning, flags = reasoning, None, ("answer_in_reasoning",)
        if prefill is not None and self._can.echoes_prefill:
            if prefill.field == "content":
                content = _without(prefill.text, content)
            elif reasoning is not None:
                reasoning = _without(prefill.text, reasoning)
        return Response(
            content=content,
            reasoning=reasoning,
            finish=finish,
            usage=_usage(reply.get("usage"), spoke=bool(content), thought=bool(reasoning)),
            raw=body.decode("utf-8", "replace"),
            flags=flags,
        )


def _set(body: dict[str, Any], path: str, value: object) -> None:
    """Put `value` at a dotted path; nothing where it is None."""
    if value is not None:
        *parents, name = path.split(".")
        for parent in parents:
            body = body.setdefault(parent, {})
        body[name] = value


def _merge(body: dict[str, Any], fragment: dict[str, Any]) -> None:
    """Lay `fragment` over `body`, object by object."""
    for name, value in fragment.items():
        if isinstance(value, dict):
            _merge(body.setdefault(name, {}), value)
        else:
            body[name] = value


def _garbage(what: str) -> ProviderError:
    return ProviderError("garbage", f"the server's reply is no answer: {what}", retryable=True)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        try:
            return _object(msgspec.json.decode(body), "body")
        except msgspec.DecodeError:
            return _object(_mended(body), "body")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        start = one_line(body[:120].decode("utf-8", "replace"))
        raise _garbage(f"{one_line(str(error))}, at {start!r}") from None


def _mended(body: bytes) -> object:
    """A body with half a character in it (a cut emoji): a paid answer with U+FFFD in that place."""
    text = json.dumps(json.loads(body.decode("utf-8", "replace")), ensure_ascii=False)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return msgspec.json.decode(whole)


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _garbage(f"its {what} is no object")
    return value


def _raise_error_in(reply: dict[str, Any]) -> None:
    """Some gateways send an error with status 200; its code says what it is."""
    error = reply.get("error")
    if not error:
        return
    told = error if isinstance(error, dict) else {"message": error}
    message, code = told.get("message"), told.get("code")
    text = one_line(message) if isinstance(message, str) else "the server sent an unnamed error"
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code[:4])
    if isinstance(code, int) and 400 <= code < 600:
        raise error_of_status(code, text)
    raise ProviderError("server", text, retryable=True)


def _first_choice(reply: dict[str, Any]) -> dict[str, Any]:
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _garbage("it has no choices")
    return _object(choices[0], "choice")


def _finish(reason: object) -> str:
    """Map to stop, length or content_filter, else the server's own word; `unknown` for none."""
    if reason is None:
        return "unknown"
    if not isinstance(reason, str):
        raise _garbage("its finish reason is no text")
    word = reason.lower()
    if word in _BROKEN_OFF:
        raise ProviderError("server", f"the server broke off ({word})", retryable=True)
    return _FINISH.get(word, word)


def _texts(message: dict[str, Any]) -> tuple[str, str | None]:
    """Content and reasoning; the latter None where no field of the message is for it."""
    content, inside = _parts(message.get("content"))
    names = [name for name in (*REASONING, "reasoning_details") if message.get(name) is not None]
    given = ["".join(_parts(message[name])) for name in names]
    if inside:
        given.append(inside)
    return content, next(filter(None, given), "") if given else None


def _parts(value: object) -> tuple[str, str]:
    """A text, or a list of typed parts, as (text, thinking); null is empty."""
    if value is None:
        return "", ""
    if isinstance(value, str):
        return value, ""
    if not isinstance(value, list):
        raise _garbage("its content is neither text nor parts")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in value:
        kind = "text" if isinstance(part, str) else _object(part, "content part").get("type")
        if not isinstance(kind, str):
            raise _garbage("a content part has no type")
        aside = kind.startswith(("thinking", "reasoning"))
        (thoughts if aside else texts).append(_text(part))
    return "".join(texts), "".join(thoughts)


def _text(part: object) -> str:
    """The text of a part, which may itself be a list of texts; "" for an encrypted one."""
    if isinstance(part, dict):
        fields = (part.get(name) for name in ("text", "thinking", "reasoning", "summary"))
        part = next((field for field in fields if field is not None), "")
    lines = part if isinstance(part, list) else [part]
    texts = []
    for line in lines:
        text = line.get("text", "") if isinstance(line, dict) else line
        if not isinstance(text, str):
            raise _garbage("a content part holds something else than text")
        texts.append(text)
    return "".join(texts)


def _without(prefill: str, text: str) -> str:
    """`text` after an echo of `prefill`; a template may have trimmed the echo's end."""
    for echo in (prefill, prefill.rstrip()):
        if echo and text.startswith(echo):
            return text[len(echo) :]
    return text


def _usage(value: object, *, spoke: bool, thought: bool) -> Usage:
    """Counts that can be true: an all-zero usage counts nothing."""
    counts = value if isinstance(value, dict) else {}
    prompt = _count(counts.get("prompt_tokens")) or None
    completion = _count(counts.get("completion_tokens"))
    details = [counts.get(f"{part}_tokens_details") for part in ("prompt", "completion")]
    inner = [part if isinstance(part, dict) else {} for part in details]
    cached = _count(inner[0].get("cached_tokens"))
    if cached is None:
        cached = _count(counts.get("prompt_cache_hit_tokens"))
    reasoning = _count(inner[1].get("reasoning_tokens"))
    return Usage(
        prompt=prompt,
        cached=cached if prompt else None,
        completion=None if not completion and (spoke or thought or not prompt) else completion,
        reasoning=None if not reasoning and (thought or not completion) else reasoning,
    )


def _count(value: object) -> int | None:
    """A plausible number of tokens, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1 << 53 else None
