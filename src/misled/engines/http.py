"""Answers over HTTP: one pool of connections, bounded concurrency, retries that end.

    engine = Http(lambda request: models.resolve(...), concurrency=16)
    async for request, answer in engine.answer(feed): ...

What may pass (a time-out, 408, 409, 429, 5xx, a lost connection, a reply that is
no answer) is asked again after a growing, jittered pause or the server's own
Retry-After; what would fail again (a key, a bad request) is a `Failure` at once.
Seconds are those of the attempt that succeeded. An API key is read from the
environment when a request is sent, goes to its provider's host only, follows no
redirect, and is taken out of whatever a server says.

Knows nothing about dialects (`wire`), studies or stores.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import msgspec

from misled import __version__, models
from misled.engines import Feed
from misled.engines.pool import pooled
from misled.errors import ProviderError, UserError
from misled.models import Model
from misled.records import Answer, Failure, Record, Request
from misled.wire import WIRES, Wire
from misled.wire.base import error_of_status, one_line

__all__ = ["Http", "Limits", "World"]

FATAL = {"auth", "bad_request", "not_found"}
# Servers keep a slow connection alive with blank lines and comments before the JSON.
_HEARTBEATS = re.compile(rb"(?>(?:\xef\xbb\xbf)?)(?>(?:\s*+:[^\n]*+\n)*)\s*+")

_TOO_LONG = re.compile(
    rb"(?i)exceed_context_size|context_length_exceeded|maximum context length|prompt is too long"
)


class Limits(Record, frozen=True):
    """How long to wait and how often to try; times in seconds, `body` in bytes."""

    connect: float = 20.0
    read: float = 1200.0
    total: float = 1800.0
    tries: int = 6
    patience: float = 600.0  # no attempt begins later than this after the first
    first_pause: float = 0.5
    longest_pause: float = 60.0
    body: int = 64 << 20


@dataclass(frozen=True)
class World:
    """What the engine takes from outside: the environment, the time, chance."""

    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    random: Callable[[], float] = random.random
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True)
class _Call:
    """A request, ready to be sent as often as it takes."""

    request: Request
    wire: Wire
    url: str
    headers: dict[str, str]
    payload: bytes
    secret: str | None

    @property
    def host(self) -> str:
        return models.host(self.url)

    def hide(self, text: bytes) -> bytes:
        """`text` without the key, should a server repeat it."""
        return text.replace(self.secret.encode(), b"[key]") if self.secret else text


class Http:
    """An engine for every provider that is reached over HTTP.

    Args:
        resolve: the model behind a request.
        concurrency: requests in flight at most.
        limits: time-outs, retries, the largest reply.
        world: where keys, time and chance come from.
    """

    def __init__(
        self,
        resolve: Callable[[Request], Model],
        *,
        concurrency: int = 16,
        limits: Limits | None = None,
        world: World | None = None,
    ) -> None:
        self._resolve = resolve
        self._concurrency = concurrency
        self._limits = limits or Limits()
        self._world = world or World()
        self._models: dict[tuple[str, str, str | None], Model] = {}
        self._reached: set[str] = set()

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """Every request that `feed` gives, each once, as its answer comes."""
        async with self._session() as session:
            pool = pooled(feed, lambda request: self._answered(session, request), self._concurrency)
            async with aclosing(pool) as answers:
                async for pair in answers:
                    yield pair

    def _session(self) -> aiohttp.ClientSession:
        limits = self._limits
        return aiohttp.ClientSession(
            # The feed bounds what is in flight: nothing queues for a connection.
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": f"misled/{__version__}", "Content-Type": "application/json"},
            timeout=aiohttp.ClientTimeout(
                total=limits.total, sock_connect=limits.connect, sock_read=limits.read
            ),
        )

    async def _answered(self, session: aiohttp.ClientSession, request: Request) -> Answer:
        """The answer to one request. Whatever happens, it is data: nothing is raised."""
        call = None
        try:
            call = self._call(request)
            return await self._tried(session, call)
        except ProviderError as error:
            return Failure(error.kind, str(error), attempts=0, fatal=error.kind in FATAL)
        except Exception as error:  # noqa: BLE001 - the per-request boundary
            text = f"{type(error).__name__}: {one_line(str(error))}".encode()
            return Failure("internal", (call.hide(text) if call else text).decode())

    def _call(self, request: Request) -> _Call:
        named = (request.provider, request.model, request.host)
        kind = "not_found"
        try:
            if named not in self._models:
                self._models[named] = self._resolve(request)
            model = self._models[named]
            kind = "auth"
            secret = models.key(model, self._world.environ)
        except UserError as error:
            raise ProviderError(kind, str(error)) from None
        wire = WIRES[model.wire](model.capabilities)
        return _Call(
            request=request,
            wire=wire,
            url=models.endpoint(model, request.prefill),
            headers={"Idempotency-Key": request.key} | wire.headers(secret),
            payload=msgspec.json.encode(wire.encode(request)),
            secret=secret,
        )

    async def _tried(self, session: aiohttp.ClientSession, call: _Call) -> Answer:
        """The first answer that is one, or the failure that ended the attempts."""
        world, limits = self._world, self._limits
        began = world.clock()
        attempt = 1
        while True:
            start = world.clock()
            try:
                body = await self._post(session, call)
                seconds = world.clock() - start
                answer = call.wire.decode(body, call.request)
                return msgspec.structs.replace(answer, seconds=seconds, attempts=attempt)
            except ProviderError as error:
                pause = self._pause(attempt, error.retry_after)
                late = world.clock() - began + pause > limits.patience
                if late or attempt >= limits.tries or not error.retryable:
                    return Failure(
                        error.kind, str(error), error.status, attempt, error.kind in FATAL
                    )
            await world.sleep(pause)
            attempt += 1

    def _pause(self, attempt: int, retry_after: float | None) -> float:
        """Seconds until the next attempt: what the server asks for, and a jittered back-off."""
        limits = self._limits
        longest = min(limits.longest_pause, limits.first_pause * 2.0 ** (attempt - 1))
        return (retry_after or 0.0) + longest * (0.5 + self._world.random() / 2)

    async def _post(self, session: aiohttp.ClientSession, call: _Call) -> bytes:
        """The JSON that the server answers with; all else is a ProviderError."""
        try:
            async with session.post(
                call.url, data=call.payload, headers=call.headers, allow_redirects=False
            ) as reply:
                self._reached.add(call.host)
                body = call.hide(await self._read(reply))
        except aiohttp.ClientConnectorCertificateError as error:
            raise ProviderError(
                "connection", f"{call.host}: {one_line(str(error.certificate_error))}"
            ) from None
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            # Where nothing ever answered, nothing is going to: the run can say so at once.
            why = error.strerror if isinstance(error, OSError) else None
            raise ProviderError(
                "connection",
                f"cannot connect to {call.host} ({why or 'no reply'}): is the server running?",
                retryable=call.host in self._reached,
            ) from None
        except TimeoutError:
            raise ProviderError(
                "timeout", f"{call.host}: no answer in time", retryable=True
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            why = one_line(str(error)) or type(error).__name__
            raise ProviderError(
                "connection", f"{call.host}: the connection broke: {why}", retryable=True
            ) from None
        if reply.status // 100 != 2:
            raise self._refusal(call, reply, body)
        return _HEARTBEATS.sub(b"", body, count=1)

    async def _read(self, reply: aiohttp.ClientResponse) -> bytes:
        """The body, as it comes, up to the limit."""
        chunks: list[bytes] = []
        size = 0
        async for chunk in reply.content.iter_chunked(1 << 16):
            size += len(chunk)
            if size > self._limits.body:
                limit = self._limits.body >> 20
                raise ProviderError("garbage", f"the reply is larger than {limit} MiB")
            chunks.append(chunk)
        return b"".join(chunks)

    def _refusal(self, call: _Call, reply: aiohttp.ClientResponse, body: bytes) -> ProviderError:
        """What a status other than 2xx means, in the server's words where it has some."""
        status = reply.status
        message = f"{call.host} answered {status}: {_told(body) or reply.reason}"
        if 300 <= status < 400:
            # The key stays with the host that it belongs to.
            to = one_line(reply.headers.get("Location", "nowhere"))
            message = f"{call.host} redirects to {to}: give that address as base_url"
        if status in {401, 403} and call.secret is None:
            message += " (no key was sent: a [providers.NAME] table names its variable in key_env)"
        if status < 500 and _TOO_LONG.search(body):
            return ProviderError("too_long", message, status=status)  # others may fit
        if status == 429 and b"insufficient_quota" in body:
            return ProviderError("auth", message, status=status)
        wait = _retry_after(reply.headers, self._world.now())
        return error_of_status(status, message, retry_after=wait)


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
