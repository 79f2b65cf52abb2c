"""A model that runs on this machine: `local/smollm2`, or any `local/<path>.gguf`.

    async for request, answer in Local().answer(feed): ...

llama.cpp serves each model from a child process on loopback (`embedded`), under
a random key that only this process knows; the rest is `Http`. One request at a
time: a reply is then a function of its request, and its seconds hold no queueing.
A model that cannot be had or loaded is a `Failure` that says what to do.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import msgspec

from misled import models
from misled.engines import Feed, weights
from misled.engines.http import Http, World
from misled.errors import UserError
from misled.models import Model
from misled.records import Answer, Request

__all__ = ["Local", "serving"]

KEY = "MISLED_LOCAL_KEY"  # a name for the key within this process, in no environment


def _stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


class Local:
    """An engine for `local/` models; `tell` hears of a download before it begins."""

    def __init__(self, tell: Callable[[str], object] = _stderr) -> None:
        self._tell = tell

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """Every request that `feed` gives, each once, in the order in which they come."""
        key = secrets.token_hex(32)
        servers = _Servers(key, self._tell)
        http = Http(servers.model, concurrency=1, world=World(environ={KEY: key}))
        try:
            async with aclosing(http.answer(_Started(feed, servers))) as answers:
                async for pair in answers:
                    yield pair
        finally:
            servers.stop()


@contextmanager
def serving(name: str, tell: Callable[[str], object] = _stderr) -> Iterator[tuple[Model, World]]:
    """The model behind its server, and the world that holds its key, until the block ends."""
    key = secrets.token_hex(32)
    servers = _Servers(key, tell)
    try:
        servers.start(name)
        request = Request(provider="local", model=name, messages=())
        yield servers.model(request), World(environ={KEY: key})
    finally:
        servers.stop()


@dataclass
class _Servers:
    """The models that were asked for so far: where each is served, or why it is not."""

    key: str
    tell: Callable[[str], object]
    processes: list[subprocess.Popen[str]] = field(default_factory=list)
    served: dict[str, str | UserError] = field(default_factory=dict)
    stopped: bool = False

    def start(self, name: str) -> None:
        """Serve the model, unless it is served; blocks while it is fetched and loaded."""
        if name not in self.served:
            try:
                self.served[name] = self._load(name)
            except UserError as error:
                self.served[name] = error

    def model(self, request: Request) -> Model:
        """The model behind a request, with its address; UserError where it has none."""
        base_url = self.served[request.model]
        if isinstance(base_url, UserError):
            raise base_url
        model = models.resolve(f"local/{request.model}")
        return msgspec.structs.replace(model, base_url=base_url, key_env=KEY)

    def _load(self, name: str) -> str:
        if find_spec("xllamacpp") is None:
            raise UserError(f"local/{name} needs llama.cpp: pip install 'misled[local]'")
        path = weights.smollm2(self.tell) if name == models.SMOLLM2 else Path(name).expanduser()
        if not path.is_file():
            raise UserError(f"local/{name}: there is no such file; give the path of a GGUF file")
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "misled.engines.embedded"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # an interrupt is ours to handle
        )
        self.processes.append(process)
        if self.stopped:  # while it was being fetched
            self.stop()
        told = _greet(process, {"path": str(path.absolute()), "key": self.key})
        if "address" not in told:
            why = told.get("error", "it ended at once")
            raise UserError(f"local/{name}: llama.cpp cannot load {path} ({why})")
        return f"{told['address']}/v1"

    def stop(self) -> None:
        """End every child, whatever it is doing."""
        self.stopped = True
        for process in self.processes:
            process.kill()
            process.communicate()


def _greet(process: subprocess.Popen[str], settings: dict[str, str]) -> dict[str, str]:
    """What the child says to its settings; empty where it ended before."""
    line = ""
    with suppress(BrokenPipeError, ValueError):  # it ended, or was ended
        print(json.dumps(settings), file=process.stdin, flush=True)
        line = process.stdout.readline() if process.stdout else ""
    return msgspec.json.decode(line, type=dict[str, str]) if line else {}


@dataclass(frozen=True)
class _Started:
    """A feed whose requests are given on once their model is served."""

    feed: Feed
    servers: _Servers

    async def take(self, n: int, held: int) -> list[Request] | None:
        requests = await self.feed.take(n, held)
        for request in requests or ():
            await asyncio.to_thread(self.servers.start, request.model)
        return requests
