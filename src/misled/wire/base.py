"""What every dialect shares: the port, the capability table's record, errors by status.

    Capabilities(prefill="content", prefill_message={"partial": True})
    -> {"role": "assistant", "content": "<the prefill>", "partial": true}

Where servers differ in spelling, the spelling is data: a fragment of JSON that
is merged into the request. Knows no provider by name, and opens no connection.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from misled.errors import ProviderError
from misled.records import Prefill, Record, Request, Response, Sampling

__all__ = ["Capabilities", "Wire", "error_of_status", "one_line"]

Heed = Literal["ok", "ignored", "rejected"]


class Capabilities(Record, frozen=True):
    """What a model's server accepts, and how it wants to be told.

    Attributes:
        prefill: what can be prefilled; "thinking" includes "content".
        prefill_message: merged into the trailing assistant message.
        prefill_body: merged into the request that has a prefill.
        prefill_root: path of the base URL for a request that has a prefill.
        prefill_needs_thinking_off: a prefill is taken only if the request turns thinking off.
        thinking_field: where a thinking prefill stands in the trailing message.
        echoes_prefill: the reply may repeat the prefill at its beginning.
        history_reasoning: field for an earlier turn's reasoning; "" where it would get lost.
        temperature: whether temperature and top_p are heeded; `ignored` ones are sent all the same.
        top_k: likewise.
        token_parameter: the name of the limit on generated tokens.
        system_role: what a system message is called.
        effort: dotted path of the effort parameter; "" where there is none.
        thinking_on: merged into a request that turns thinking on; empty where none can.
        thinking_off: likewise for off.
        seeded: a seed made from the request's key fixes the reply's randomness.
        extra: merged into every request.
    """

    prefill: Literal["none", "content", "thinking"] = "none"
    prefill_message: dict[str, Any] = {}
    prefill_body: dict[str, Any] = {}
    prefill_root: str = ""
    prefill_needs_thinking_off: bool = False
    thinking_field: str = "reasoning_content"
    echoes_prefill: bool = False
    history_reasoning: str = ""
    temperature: Heed = "ok"
    top_k: Heed = "ok"
    token_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 - no secret
    system_role: str = "system"
    effort: str = ""
    thinking_on: dict[str, Any] = {}
    thinking_off: dict[str, Any] = {}
    seeded: bool = False
    extra: dict[str, Any] = {}

    def lacks(self, sampling: Sampling, prefill: Prefill | None = None) -> str | None:
        """Why such a request cannot be expressed at all, or None where it can."""
        if sampling.effort is not None and not self.effort:
            return "it has no effort parameter"
        if sampling.thinking is not None and not self._switch(on=sampling.thinking):
            return f"its thinking cannot be turned {'on' if sampling.thinking else 'off'}"
        if prefill is None:
            return None
        if self.prefill == "none" or (prefill.field == "thinking" and self.prefill != "thinking"):
            return f"it cannot continue a prefill of its {prefill.field}"
        if self.prefill_needs_thinking_off and sampling.thinking is not False:
            return "it continues a prefill only with thinking turned off (thinking = false)"
        return None

    def unheeded(self, sampling: Sampling) -> list[str]:
        """The sampling parameters that are set and that the model does not heed."""
        heed = {"temperature": self.temperature, "top_p": self.temperature, "top_k": self.top_k}
        return [n for n, how in heed.items() if how != "ok" and getattr(sampling, n) is not None]

    def _switch(self, *, on: bool) -> dict[str, Any]:
        return self.thinking_on if on else self.thinking_off


class Wire(Protocol):
    """A provider's dialect."""

    @property
    def path(self) -> str:
        """What follows the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers that carry the API key."""
        ...

    def encode(self, request: Request) -> dict[str, Any]:
        """The JSON body of `request`; ProviderError("unsupported") where it has none."""
        ...

    def decode(self, body: bytes, request: Request) -> Response:
        """The answer in `body`; ProviderError where it holds an error or no answer."""
        ...


def error_of_status(
    status: int, message: str, *, retry_after: float | None = None
) -> ProviderError:
    """What an HTTP status other than 2xx means, and whether asking again can help."""
    kinds = {401: "auth", 402: "auth", 403: "auth", 404: "not_found", 408: "timeout"}
    if status in kinds:
        kind = kinds[status]
    elif status == 429:
        kind = "rate_limit"
    elif status >= 500 or status in {409, 425}:
        kind = "server"
    else:
        kind = "bad_request"
    retryable = kind in {"timeout", "rate_limit", "server"}
    return ProviderError(kind, message, status=status, retryable=retryable, retry_after=retry_after)


def one_line(text: str, limit: int = 300) -> str:
    """`text` on one line, cut to `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
