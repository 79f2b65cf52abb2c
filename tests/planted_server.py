"""A real server whose reply is a function of the request: the planted reasoner behind HTTP.

    python planted_server.py LOG [profile]

Prints its port, then answers chat completions until it is killed. Every request
that arrives is one line of LOG, written before the answer is made.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
from aiohttp import web

from misled.engines.planted import Planted
from misled.records import Answer, Message, Prefill, Request, Response

__all__ = ["asked", "completed", "main"]


def asked(body: dict[str, object], profile: str) -> Request:
    """The planted request that a chat body stands for; a trailing assistant turn is a prefill."""
    turns = msgspec.convert(body["messages"], list[dict[str, str]])
    prefill = None
    if turns[-1]["role"] == "assistant":
        prefill = Prefill(field="content", text=turns.pop()["content"])
    messages = tuple(
        msgspec.convert({"role": turn["role"], "content": turn["content"]}, Message)
        for turn in turns
    )
    return Request(provider="planted", model=profile, messages=messages, prefill=prefill)


def completed(reply: Answer) -> dict[str, object]:
    """The chat completion that says what a planted reply says."""
    if not isinstance(reply, Response):
        return {"error": {"message": reply.message}}
    message = {"role": "assistant", "content": reply.content}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    usage = {"prompt_tokens": reply.usage.prompt, "completion_tokens": reply.usage.completion}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return {"choices": [choice], "usage": usage}


def main(log: str, profile: str) -> None:
    """Serve on a free port of the loopback."""
    planted = Planted()
    out = Path(log).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 (lives with the process)

    async def chat(request: web.Request) -> web.Response:
        body = msgspec.json.decode(await request.read(), type=dict[str, object])
        out.write(f"{request.headers.get('Idempotency-Key', '?')}\n")
        await asyncio.sleep(0.002)
        reply = planted.reply(asked(body, profile))
        if not isinstance(reply, Response):
            return web.json_response(completed(reply), status=400)
        return web.json_response(completed(reply))

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        sys.stdout.write(f"{runner.addresses[0][1]}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "mixed")
