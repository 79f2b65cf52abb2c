"""Answers over HTTP: one pool of connections, bounded concurrency, retries that end.

    engine = Http(lambda request: models.resolve(...), concurrency=16)
    async for request, answer in engine.answer(feed): ...

What may pass (a time-out, 408, 409, 429, 5xx, a lost connection, a reply that is
no answer) is asked again after a growing pause with full jitter, on top of the
server's own Retry-After; what would fail again (a key, a bad request) is a `Failure`
at once. How many are in flight adapts to what a server bears (`throttle`). Seconds
are those of the attempt that succeeded, without queueing. An API key is read from the
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
from functools import lru_cache
from typing import NamedTuple

import aiohttp
import msgspec

from misled import __version__, models
from misled.engines import Feed
from misled.engines.connections import Address, Connections
from misled.engines.pool import pooled
from misled.engines.statuses import Refused, refusal
from misled.engines.throttle import Rate, Throttle
from misled.errors import ProviderError, UserError
from misled.models import Model
from misled.records import Answer, Failure, Record, Request, Response
from misled.wire import WIRES, Wire
from misled.wire.base import one_line

__all__ = ["Http", "Limits", "Rate", "World"]

FATAL = {"auth", "bad_request", "not_found"}
OVERLOADED = {429, 503, 529}
_HEADERS = {"User-Agent": f"misled/{__version__}", "Content-Type": "application/json"}
# Servers keep a slow connection alive with blank lines and comments before the JSON.
_HEARTBEATS = re.compile(rb"(?>(?:\xef\xbb\xbf)?)(?>(?:\s*+:[^\n]*+\n)*)\s*+")


class Limits(Record, frozen=True):
    """How long to wait and how often to try; times in seconds, `body` in bytes.

    A server that turns requests away (429) is asked up to `knocks` times: that costs nothing.
    """

    connect: float = 20.0
    read: float = 1200.0
    total: float = 1800.0
    tries: int = 6
    knocks: int = 60
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


class _Route(NamedTuple):
    """How a model is spoken to, and how fast."""

    model: Model
    wire: Wire
    throttle: Throttle
    host: str


class _Call(NamedTuple):
    """A request, ready to be sent as often as it takes."""

    lines: Connections
    request: Request
    route: _Route
    to: Address
    payload: bytes
    secret: str | None

    @property
    def host(self) -> str:
        return self.route.host

    def hide(self, text: bytes) -> bytes:
        """`text` without the key, should a server repeat it."""
        if not self.secret:
            return text
        text = text.replace(self.secret.encode(), b"[key]")
        escaped = b"\\u00" in text or b"\\/" in text
        return _escaped(self.secret).sub(b"[key]", text) if escaped else text

    def hidden(self, text: str) -> str:
        """The same of a text; half a character of a header is replaced."""
        return self.hide(text.encode("utf-8", "replace")).decode()


@lru_cache
def _escaped(secret: str) -> re.Pattern[bytes]:
    """The key, each of its characters as it is or as JSON may spell it."""
    ways = (rb"(?:\\?%b|\\u(?i:%04x))" % (re.escape(c).encode(), ord(c)) for c in secret)
    return re.compile(b"".join(ways))


class Http:
    """An engine for every provider that is reached over HTTP.

    Args:
        resolve: the model behind a request.
        concurrency: requests in flight at most.
        limits: time-outs, retries, the largest reply.
        rates: requests and tokens a minute, by `provider/model`.
        world: where keys, time and chance come from.
    """

    def __init__(
        self,
        resolve: Callable[[Request], Model],
        *,
        concurrency: int = 16,
        limits: Limits | None = None,
        rates: Mapping[str, Rate] = {},
        world: World | None = None,
    ) -> None:
        self._resolve = resolve
        self._concurrency = concurrency
        self._limits = limits or Limits()
        self._rates = rates
        self._world = world or World()
        self._routes: dict[tuple[str, str, str | None], _Route] = {}
        self._reached: set[str] = set()

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """Every request that `feed` gives, each once, as its answer comes."""
        limits = self._limits
        lines = Connections(
            connect=limits.connect, read=limits.read, total=limits.total, largest=limits.body
        )
        async with lines:
            pool = pooled(feed, lambda request: self._answered(lines, request), self._concurrency)
            async with aclosing(pool) as answers:
                async for pair in answers:
                    yield pair

    async def _answered(self, lines: Connections, request: Request) -> Answer:
        """The answer to one request. Whatever happens, it is data: nothing is raised."""
        call = None
        try:
            call = self._call(lines, request)
            return await self._tried(call)
        except ProviderError as error:
            return Failure(error.kind, str(error), attempts=0, fatal=error.kind in FATAL)
        except Exception as error:  # noqa: BLE001 - the per-request boundary
            text = f"{type(error).__name__}: {one_line(str(error))}"
            return Failure("internal", call.hidden(text) if call else text)

    def _call(self, lines: Connections, request: Request) -> _Call:
        kind = "not_found"
        try:
            route = self._route(request)
            kind = "auth"
            secret = models.key(route.model, self._world.environ)
            url = models.endpoint(route.model, request.prefill)
            to = lines.address(url, _HEADERS | route.wire.headers(secret))
        except UserError as error:
            raise ProviderError(kind, str(error)) from None
        payload = msgspec.json.encode(route.wire.encode(request))
        return _Call(lines, request, route, to, payload, secret)

    def _route(self, request: Request) -> _Route:
        """That of the request's model, found once."""
        named = (request.provider, request.model, request.host)
        route = self._routes.get(named)
        if route is None:
            model, world = self._resolve(request), self._world
            rate = self._rates.get(model.id, Rate())
            throttle = Throttle(self._concurrency, rate, world.clock, world.sleep)
            wire = WIRES[model.wire](model.capabilities)
            route = _Route(model, wire, throttle, models.host(model.base_url))
            self._routes[named] = route
        return route

    async def _tried(self, call: _Call) -> Answer:
        """The first answer that is one, or the failure that ended the attempts."""
        world, limits = self._world, self._limits
        began, attempt = world.clock(), 1
        while True:
            try:
                answer, seconds = await self._attempt(call)
                return msgspec.structs.replace(answer, seconds=seconds, attempts=attempt)
            except ProviderError as error:
                pause = self._pause(attempt, error.retry_after)
                refused = error.kind == "rate_limit"
                late = world.clock() - began + pause > limits.patience
                most = limits.knocks if refused else limits.tries
                if late or attempt >= most or not error.retryable:
                    # Who turns all away for longer than our patience will turn away the rest.
                    fatal = error.kind in FATAL or (refused and late)
                    told = one_line(call.hidden(str(error)), 600)  # half a key would be told
                    if error.kind != "unsupported" and call.host not in told:
                        told = f"{call.host}: {told}"
                    return Failure(error.kind, told, error.status, attempt, fatal)
            await world.sleep(pause)
            attempt += 1

    async def _attempt(self, call: _Call) -> tuple[Response, float]:
        """One attempt, when its turn has come, and its seconds, which begin there."""
        throttle, clock = call.route.throttle, self._world.clock
        turn = await throttle.enter(len(call.payload))
        try:
            start = clock()
            body = await self._post(call)
            seconds = clock() - start
            answer = call.route.wire.decode(body, call.request)
        except ProviderError as error:
            if error.status in OVERLOADED:
                wait = error.retry_after or 0.0
                throttle.refused(turn, wait if wait <= self._limits.patience else 0.0)
            raise
        finally:
            throttle.leave()
        throttle.answered(turn, answer.usage)
        return answer, seconds

    def _pause(self, attempt: int, retry_after: float | None) -> float:
        """Seconds until the next attempt: what the server asks for, and a back-off, jittered."""
        limits = self._limits
        longest = min(limits.longest_pause, limits.first_pause * 2.0 ** min(attempt - 1, 30))
        return (retry_after or 0.0) + longest * self._world.random()

    async def _post(self, call: _Call) -> bytes:
        """The JSON that the server answers with; all else is a ProviderError."""
        try:
            own = {"Idempotency-Key": call.request.key}
            reply = await call.lines.post(call.to, own, call.payload)
        except aiohttp.ClientSSLError as error:
            why = getattr(error, "certificate_error", error)
            raise ProviderError("connection", f"{call.host}: {one_line(str(why))}") from None
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
            self._reached.add(call.host)
            why = one_line(str(error)) or type(error).__name__
            raise ProviderError(
                "connection", f"{call.host}: the connection broke: {why}", retryable=True
            ) from None
        self._reached.add(call.host)
        body = call.hide(reply.body)
        if reply.status // 100 != 2:
            refused = Refused(call.host, reply.status, reply.headers, body, reply.reason)
            raise refusal(refused, keyed=call.secret is not None, now=self._world.now())
        return body if body.startswith(b"{") else _HEARTBEATS.sub(b"", body, count=1)
