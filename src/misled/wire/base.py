"""The port that every dialect has, and the errors that all of them raise.

    wire.decode(b"<html>", request)   -> ProviderError("garbage", ...)
    wire.encode(a prefill it cannot take) -> ProviderError("unsupported", ...)

Knows no provider by name, and opens no connection.
"""

from __future__ import annotations

from typing import Any, Protocol

from misled.errors import ProviderError
from misled.records import Request, Response

__all__ = ["Wire", "error_of_status", "garbage", "one_line", "unsupported"]


class Wire(Protocol):
    """A provider's dialect."""

    @property
    def path(self) -> str:
        """What follows the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers of the dialect, among them the one that carries the API key."""
        ...

    def encode(self, request: Request) -> dict[str, Any]:
        """The JSON body of `request`; ProviderError("unsupported") where it has none."""
        ...

    def decode(self, body: bytes, request: Request) -> Response:
        """The answer in `body`; ProviderError where it holds an error or no answer."""
        ...


def unsupported(request: Request, reason: str) -> ProviderError:
    """The refusal to send `request`."""
    return ProviderError("unsupported", f"{request.model}: {reason}")


def garbage(what: str) -> ProviderError:
    """The error of a reply that is no answer."""
    return ProviderError("garbage", f"the server's reply is no answer: {what}", retryable=True)


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
