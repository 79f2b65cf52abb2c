"""Chat completions as OpenAI shaped them and twelve other servers speak them.

    {"model": "m", "messages": [{"role": "user", "content": "What is 2 + 3?"}]}
    {"choices": [{"message": {"content": "5"}, "finish_reason": "stop"}], "usage": {...}}

Reasoning is taken from whichever field it comes in. Knows neither keys nor hosts,
nor how often a request was tried.
"""

from __future__ import annotations

from typing import Any

from misled.records import Request, Response, Usage
from misled.wire.base import error_in, garbage
from misled.wire.capabilities import Capabilities
from misled.wire.replies import Said, answered, count, finished, object_of, parsed, parts
from misled.wire.requests import filled, turns

__all__ = ["OpenAI"]

REASONING = ("reasoning_content", "reasoning", "thinking")
_KNOWN = {"role", "content", "refusal", "tool_calls", "reasoning_details", *REASONING}


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
        body = {"model": request.model, "messages": turns(self._can, request)}
        return filled(body, self._can, request)

    def decode(self, body: bytes, request: Request) -> Response:
        """The answer in `body`; ProviderError where it holds an error or none."""
        reply = parsed(body)
        if reply.get("error"):
            raise error_in(reply["error"])
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            raise garbage("it has no choices", body)
        choice = object_of(choices[0], "choice")
        finish = finished(choice.get("finish_reason"))
        message = object_of(choice.get("message"), "message")
        if not message.keys() & _KNOWN:
            raise garbage("its message says nothing")
        content, reasoning = _texts(message)
        refusal = message.get("refusal")
        if not content and isinstance(refusal, str) and refusal:
            content, finish = refusal, "content_filter"
        said = Said(content, reasoning, finish, _usage(reply.get("usage")))
        return answered(said, self._can, request, body)


def _texts(message: dict[str, Any]) -> tuple[str, str | None]:
    """Content and reasoning; the latter None where no field of the message is for it."""
    content, inside = parts(message.get("content"))
    names = [name for name in (*REASONING, "reasoning_details") if message.get(name) is not None]
    given = ["".join(filter(None, parts(message[name]))) for name in names]
    if inside is not None:
        given.append(inside)
    return content, next(filter(None, given), "") if given else None


def _usage(value: object) -> Usage:
    """The counts as they stand."""
    counts = value if isinstance(value, dict) else {}
    details = [counts.get(f"{part}_tokens_details") for part in ("prompt", "completion")]
    inner = [part if isinstance(part, dict) else {} for part in details]
    cached = count(inner[0].get("cached_tokens"))
    if cached is None:
        cached = count(counts.get("prompt_cache_hit_tokens"))
    return Usage(
        prompt=count(counts.get("prompt_tokens")),
        cached=cached,
        completion=count(counts.get("completion_tokens")),
        reasoning=count(inner[1].get("reasoning_tokens")),
    )
