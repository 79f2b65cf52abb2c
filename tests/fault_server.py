"""A real server that fails as servers do: the planted reasoner behind a share of faults.

    python fault_server.py LOG SHARE DOOMED [PEM]

Prints its port, then answers chat completions until it is killed. Every attempt that
arrives is a line of LOG: the request's key and the fault that it met; faults come in
turn. DOOMED is the share of requests that meet the same one every time.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path

import msgspec
from aiohttp import web

from misled.draws import Draws
from misled.engines.planted import Planted
from planted_server import asked, completed

__all__ = ["FAULTS", "LATE", "main"]

LATE = 0.15  # seconds, which a patient client waits
HUGE = 100 << 20

Fault = Callable[[web.Request, bytes], Awaitable[web.StreamResponse]]


def status(code: int, retry_after: str | None = None) -> Fault:
    """A status with or without Retry-After."""

    async def fault(_: web.Request, __: bytes) -> web.StreamResponse:
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        return web.json_response({"error": {"message": "busy"}}, status=code, headers=headers)

    return fault


def said(body: bytes, content_type: str) -> Fault:
    """These bytes with status 200."""

    async def fault(_: web.Request, __: bytes) -> web.StreamResponse:
        return web.Response(body=body, content_type=content_type)

    return fault


async def late(_: web.Request, body: bytes) -> web.StreamResponse:
    """The answer, after a while."""
    await asyncio.sleep(LATE)
    return web.Response(body=body, content_type="application/json")


async def never(_: web.Request, __: bytes) -> web.StreamResponse:
    """Nothing at all, until the client gives up."""
    await asyncio.sleep(3600)
    return web.Response()


async def half(request: web.Request, body: bytes) -> web.StreamResponse:
    """Half of what the head promises."""
    response = web.StreamResponse(headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.close()
    return response


async def cut(request: web.Request, body: bytes) -> web.StreamResponse:
    """Chunks without an end."""
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    assert request.transport is not None
    request.transport.abort()
    return response


async def reset(request: web.Request, _: bytes) -> web.StreamResponse:
    """A connection that is reset."""
    transport = request.transport
    assert transport is not None
    transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    transport.abort()
    return web.Response()


async def twice(request: web.Request, body: bytes) -> web.StreamResponse:
    """An answer, and on the same connection a second one, which nobody asked for."""
    transport = request.transport
    assert transport is not None
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    both = (body, json.dumps(chat("The other answer is 7.")).encode())
    transport.write(b"".join(head.format(len(each)).encode() + each for each in both))
    return await never(request, body)  # whoever uses the connection again


def chat(content: str) -> dict[str, object]:
    """A chat completion that says this."""
    message = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


async def huge(request: web.Request, _: bytes) -> web.StreamResponse:
    """A hundred megabytes."""
    response = web.StreamResponse(headers={"Content-Length": str(HUGE)})
    await response.prepare(request)
    for _i in range(HUGE >> 20):
        await response.write(b" " * (1 << 20))
    return response


FAULTS: dict[str, Fault] = {
    "late": late,
    "never": never,
    "half": half,
    "cut": cut,
    "reset": reset,
    "twice": twice,
    "garbage": said(bytes(range(256)), "application/json"),
    "empty": said(b"", "application/json"),
    "html": said(b"<!DOCTYPE html><title>Sign in</title>", "text/html"),
    "error 200": said(b'{"error": {"message": "overloaded", "code": 529}}', "application/json"),
    "429": status(429),
    "429 after": status(429, "0.05"),
    "500": status(500),
    "503": status(503),
    "503 after": status(503, "0"),
    "529": status(529),
    "huge": huge,
}
ANSWERED = {"late", "twice"}  # odd, and an answer all the same


def doom_of(key: str, doomed: float) -> str | None:
    """The fault that a request meets every time, for a share of requests."""
    fatal = [name for name in FAULTS if name not in ANSWERED]
    return Draws(key, "doom").choice(fatal) if Draws(key, "doomed").unit() < doomed else None


def main(log: str, share: float, doomed: float, pem: str | None) -> None:
    """Serve on a free port of the loopback."""
    planted, attempts, rota = Planted(), Counter[str](), cycle(FAULTS)
    out = Path(log).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 (lives with the process)

    async def answer(request: web.Request) -> web.StreamResponse:
        body = msgspec.json.decode(await request.read(), type=dict[str, object])
        key = request.headers.get("Idempotency-Key", "?")
        attempts[key] += 1
        fault = doom_of(key, doomed)
        if fault is None and Draws(key, attempts[key]).unit() < share:
            fault = next(rota)
        out.write(f"{key}\t{fault or ''}\n")
        reply = json.dumps(completed(planted.reply(asked(body, "mixed")))).encode()
        if fault is None:
            return web.Response(body=reply, content_type="application/json")
        return await FAULTS[fault](request, reply)

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app, handler_cancellation=True)
        await runner.setup()
        tls = None
        if pem is not None:
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(pem)
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    words = sys.argv[1:]
    main(words[0], float(words[1]), float(words[2]), words[3] if len(words) > 3 else None)
