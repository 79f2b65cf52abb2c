"""A real server on loopback for the engine's tests, and a feed that checks what it hears.

async with serving(say("5")) as server:
    answers = await ask_all(Http(lambda _: model(server.url)), [ask("2 + 3")])
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from misled import models
from misled.engines import Engine
from misled.models import Model
from misled.records import Answer, Message, Request

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def completion(content: str | None = "5", **message: Any) -> dict[str, Any]:
    """A chat completion that says `content`."""
    said = {"role": "assistant", "content": content, **message}
    return {
        "choices": [{"index": 0, "finish_reason": "stop", "message": said}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2},
    }


def say(content: str = "5") -> Handler:
    """Answer all with `content`."""

    async def handler(_: web.Request) -> web.StreamResponse:
        return web.json_response(completion(content))

    return handler


def echo() -> Handler:
    """Answer each request with its own last message."""

    async def handler(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        await asyncio.sleep(0.001)
        return web.json_response(completion(body["messages"][-1]["content"]))

    return handler


def fail(status: int, body: str = "", **headers: str) -> Handler:
    """Answer with a status; header names are written with underscores."""

    async def handler(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=body, headers=named)

    return handler


def send(body: bytes, content_type: str = "application/json") -> Handler:
    """Answer 200 with these bytes."""

    async def handler(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type=content_type)

    return handler


async def reset(request: web.Request) -> web.StreamResponse:
    """Drop the connection without a word."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def half(request: web.Request) -> web.StreamResponse:
    """Promise a body and send half of it."""
    body = json.dumps(completion()).encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


async def never(_: web.Request) -> web.StreamResponse:
    """Take the request and say nothing for an hour."""
    await asyncio.sleep(3600)
    return web.Response()


def script(*handlers: Handler) -> Handler:
    """The first request gets the first handler, and so on; the last one stays."""
    rest = list(handlers)

    async def handler(request: web.Request) -> web.StreamResponse:
        return await (rest.pop(0) if len(rest) > 1 else rest[0])(request)

    return handler


@dataclass
class Server:
    """Where a server listens, and what it was sent."""

    url: str
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    open: int = 0
    most: int = 0


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[Server]:
    """`handler` behind every POST, on a free port of loopback, until the block ends."""
    server = Server("")

    async def recorded(request: web.Request) -> web.StreamResponse:
        server.seen.append((request.path, dict(request.headers), await request.json()))
        server.open += 1
        server.most = max(server.most, server.open)
        try:
            return await handler(request)
        finally:
            server.open -= 1

    app = web.Application()
    app.router.add_post("/{path:.*}", recorded)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


def model(url: str, **table: Any) -> Model:
    """The model `test/m` at `url`; a table with a `key_env` makes it one that needs a key."""
    providers = {"test": {"base_url": url, **table}}
    return models.resolve("test/m", providers=providers)


def ask(text: str, **fields: Any) -> Request:
    """One user message to `test/m`."""
    named = {"provider": "test", "model": "m", "messages": (Message("user", text),)} | fields
    return Request(**named)


@dataclass
class Requests:
    """A feed of these requests that checks what the engine says it holds."""

    due: list[Request]
    taken: int = 0
    given: int = 0
    calls: int = 0

    async def take(self, n: int, held: int) -> list[Request] | None:
        assert n > 0
        assert held == self.taken - self.given
        self.calls += 1
        if not self.due:
            return [] if held else None
        out, self.due = self.due[:n], self.due[n:]
        self.taken += len(out)
        return out


async def ask_all(engine: Engine, requests: Iterable[Request]) -> dict[Request, Answer]:
    """What the engine answers to these requests; each must be answered once."""
    feed = Requests(list(requests))
    found: dict[Request, Answer] = {}
    async for request, answer in engine.answer(feed):
        feed.given += 1
        assert request not in found
        found[request] = answer
    return found
