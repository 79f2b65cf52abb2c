"""The port that every dialect has, and the errors that all of them raise.

    wire.decode(b"<html>", request)   -> ProviderError("garbage", ...)
    wire.encode(a prefill it cannot take) -> ProviderError("unsupported", ...)

Knows no provider by name, and opens no connection.
"""

from __future__ import annotations

from typing import Any, Protocol

from misled.errors import ProviderError
from misled.records import Request, Response

__all__ = ["Wire", "error_in", "error_of_status", "garbage", "one_line", "unsupported"]

# What errors call themselves where no status says it, at Anthropic, OpenAI and their like.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


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


def garbage(what: str, body: bytes = b"") -> ProviderError:
    """The error of a reply that is no answer, with the beginning of `body`."""
    start = one_line(body[:200].decode("utf-8", "replace"))
    at = f", at {start!r}" if start else ""
    return ProviderError("garbage", f"the server's reply is no answer: {what}{at}", retryable=True)


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


def error_in(error: object) -> ProviderError:
    """What an error with status 200 means, by its code or, where it has none, by its type."""
    told = error if isinstance(error, dict) else {"message": error}
    message, code = told.get("message"), told.get("code") or told.get("type")
    text = one_line(message) if isinstance(message, str) else "the server sent an unnamed error"
    if isinstance(code, str):
        digits = code.isascii() and code.isdigit()
        code = int(code[:4]) if digits else _STATUS.get(code)
    if isinstance(code, int) and 400 <= code < 600:
        return error_of_status(code, text)
    return ProviderError("server", text, retryable=True)


def one_line(text: str, limit: int = 300) -> str:
    """`text` on one line, cut to `limit` characters."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
