"""What a server means that answers with another status than 2xx.

    refusal(Refused("api.example.com", 429, {"Retry-After": "7"}, b"{...}"), keyed=True, now=now)
    -> ProviderError("rate_limit", "api.example.com answered 429: ...", retry_after=7.0)

The server's own words are quoted where it has some. What only this one text is refused
for (its length, a content filter) is told apart from what every request would meet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import msgspec

from misled.errors import ProviderError
from misled.wire.base import error_of_status, one_line

__all__ = ["Refused", "refusal"]

_TOO_LONG = re.compile(
    rb"(?i)exceed_context_size|context_length_exceeded|maximum context length|prompt is too long"
)
# As OpenAI and Azure, Anthropic, DashScope, Ark, DeepSeek, Moonshot, Google and OpenRouter word it.
_FILTERED = re.compile(
    rb"(?i)content[_ ]?filter|content management policy|content[_ ]policy|usage policy"
    rb"|data_?inspection_?failed|SensitiveContentDetected|Content Exists Risk"
    rb"|considered high risk|PROHIBITED_CONTENT|requires moderation|was flagged"
)
# As OpenAI and Moonshot word it: no pause will help.
_UNPAID = re.compile(rb"insufficient_quota|exceeded_current_quota_error")


class Refused(NamedTuple):
    """A reply with another status than 2xx."""

    host: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    reason: str | None = None


def refusal(reply: Refused, *, keyed: bool, now: datetime) -> ProviderError:
    """What the reply means; `keyed` says whether a key was sent, `now` is our clock."""
    status, body = reply.status, reply.body
    message = f"{reply.host} answered {status}: {_told(body) or reply.reason}"
    if 300 <= status < 400:
        # The key stays with the host that it belongs to.
        to = reply.headers.get("Location", "nowhere")
        message = f"{reply.host} redirects to {to}: give that address as base_url"
        return ProviderError("not_found", message, status=status)
    if 400 <= status < 500 and status not in {401, 402, 429}:
        if _TOO_LONG.search(body):
            return ProviderError("too_long", message, status=status)
        if _FILTERED.search(body):
            return ProviderError("filtered", message, status=status)
    if status in {401, 403} and not keyed:
        message += " (no key was sent: a [providers.NAME] table names its variable in key_env)"
    if status == 429 and _UNPAID.search(body):
        return ProviderError("auth", message, status=status)
    return error_of_status(status, message, retry_after=_retry_after(reply.headers, now))


def _told(body: bytes) -> str:
    """The message in an error body, else its beginning."""
    try:
        told = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return one_line(body[:1200].decode("utf-8", "replace"))
    for name in ("error", "message", "detail"):
        if isinstance(told, dict) and told.get(name):
            told = told[name]
    return one_line(told) if isinstance(told, str) else one_line(body.decode("utf-8", "replace"))


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the server asks to wait, from a number or a date by the server's clock."""
    value = headers.get("Retry-After", "")
    try:
        seconds = float(value)
    except ValueError:
        then = _date(value)
        seconds = (then - (_date(headers.get("Date", "")) or now)).total_seconds() if then else -1
    return seconds if 0 <= seconds < float("inf") else None


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
