"""Anthropic's Messages.

    {"model": "m", "max_tokens": 16000, "messages": [{"role": "user", "content": "2 + 3?"}]}
    {"content": [{"type": "thinking", "thinking": "2 + 3 is 5.", "signature": "..."},
                 {"type": "text", "text": "5"}], "stop_reason": "end_turn", "usage": {...}}

The system's words stand beside the conversation, a limit on tokens is required, and a
prefill may not end in white space. Thinking that was redacted, or left out on the
server's own account, is reasoning without text. The prompt counts what was cached.

Knows neither keys nor hosts, nor which model thinks how.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import msgspec

from misled.records import Request, Response, Usage
from misled.wire.base import error_in, garbage, unsupported
from misled.wire.capabilities import Capabilities
from misled.wire.replies import Said, answered, count, finished, parsed, parts
from misled.wire.requests import filled, turns

__all__ = ["Anthropic"]


class Anthropic:
    """The dialect of a server with these capabilities."""

    path = "/messages"

    def __init__(self, capabilities: Capabilities) -> None:
        self._can = capabilities

    def headers(self, key: str | None) -> dict[str, str]:
        """The version of the dialect, and the key where there is one."""
        version = {"anthropic-version": "2023-06-01"}
        return version | ({"x-api-key": key} if key else {})

    def encode(self, request: Request) -> dict[str, Any]:
        """The JSON body; parameters that are not set are not in it."""
        system = [m.content for m in takewhile(lambda m: m.role == "system", request.messages)]
        spoken = msgspec.structs.replace(request, messages=request.messages[len(system) :])
        if any(message.role == "system" for message in spoken.messages):
            raise unsupported(request, "its system message has to come first")
        if request.prefill is not None and request.prefill.text != request.prefill.text.rstrip():
            raise unsupported(request, "its prefill may not end in white space")
        body: dict[str, Any] = {"model": request.model, "messages": turns(self._can, spoken)}
        if system:
            body["system"] = "\n\n".join(system)
        filled(body, self._can, request)
        if self._can.token_parameter not in body:
            raise unsupported(request, "it needs a limit: set max_tokens in the plan")
        return body

    def decode(self, body: bytes, request: Request) -> Response:
        """The answer in `body`; ProviderError where it holds an error or none."""
        reply = parsed(body)
        if reply.get("error") or reply.get("type") == "error":
            raise error_in(reply.get("error"))
        if not isinstance(reply.get("content"), list):
            raise garbage("it has no content blocks", body)
        content, reasoning = parts(reply["content"])
        finish = finished(reply.get("stop_reason"))
        said = Said(content, reasoning, finish, _usage(reply.get("usage")))
        return answered(said, self._can, request, body)


def _usage(value: object) -> Usage:
    """The counts; the prompt is what was read, from the cache, into it and beside it."""
    counts = value if isinstance(value, dict) else {}
    fresh, read, written = (
        count(counts.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt=prompt, cached=read, completion=count(counts.get("output_tokens")))
