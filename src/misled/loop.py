"""The loop: walk, ask, commit, walk again, until nothing is due.

    feed       one engine's view of the frontier: due requests, lane by lane
    pump       takes an engine's answers as they come
    writer     commits them in batches, in a thread of its own, then delivers them

An answer is delivered after its commit, so that nothing counts which a kill could
lose. Where all that a model is asked fails in the same way, the run ends.
"""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from misled.engines import Engine
from misled.errors import RunError
from misled.frontier import Frontier
from misled.records import Answer, Failure, Request, Response
from misled.store import Store

__all__ = ["BATCH", "IDENTICAL", "run"]

U = TypeVar("U")

BATCH = 512  # answers in a commit at most; what a kill can lose of delivered ones
UNREACHED = ("auth", "connection", "not_found")  # as a model's first answer, they end the run
_DIGIT = re.compile(r"\d")
IDENTICAL = 10  # fatal failures of a model with one message, without an answer between, end it


@dataclass(frozen=True)
class _Feed(Generic[U]):
    """One engine's view of the frontier."""

    frontier: Frontier[U]
    engine: str

    async def take(self, n: int, held: int) -> list[Request] | None:
        return await self.frontier.take(self.engine, n, held)


class _Watch:
    """Sees when all that a model is asked fails in the same way, which ends a run (exit 2)."""

    def __init__(self) -> None:
        self.keys: list[str] = []  # of the failures that ended the run: they count as not asked
        self._alive: set[str] = set()
        self._rows: dict[str, list[tuple[str, Failure]]] = {}

    def see(self, request: Request, answer: Answer) -> None:
        """Take note of an answer; RunError where nothing can go on."""
        model = f"{request.provider}/{request.model}"
        if isinstance(answer, Response):
            self._alive |= {model, request.provider}
            self._rows.pop(model, None)
            return
        row = self._rows.setdefault(model, [])
        if row and _said(row[0][1]) != _said(answer):
            row.clear()
        row.append((request.key, answer))
        place = request.provider if answer.kind == "connection" else model
        silent = answer.kind in UNREACHED and place not in self._alive
        if silent or (answer.fatal and len(row) >= IDENTICAL):
            self.keys = [key for key, _ in row]
            raise RunError(answer.message)


def _said(failure: Failure) -> tuple[str, str]:
    """What failures have in common that differ in a count or an identifier alone."""
    words = failure.message.split()
    return failure.kind, " ".join("0" if _DIGIT.search(word) else word for word in words)


@dataclass
class _Loop(Generic[U]):
    """The tasks of a run and what lies between them: answers that have come, and a batch."""

    frontier: Frontier[U]
    store: Store
    writer: ThreadPoolExecutor
    watch: _Watch = field(default_factory=_Watch)
    came: list[tuple[Request, Answer]] = field(default_factory=list)
    batch: list[tuple[Request, Answer]] = field(default_factory=list)
    ended: bool = False
    some: asyncio.Event = field(default_factory=asyncio.Event)
    room: asyncio.Event = field(default_factory=asyncio.Event)

    async def pump(self, name: str, engine: Engine) -> None:
        """Take an engine's answers as they come, unless the writer is far behind."""
        async with aclosing(engine.answer(_Feed(self.frontier, name))) as answers:
            async for pair in answers:
                self.watch.see(*pair)
                self.frontier.landed(pair[0])
                self.came.append(pair)
                self.some.set()
                if len(self.came) >= 2 * BATCH:
                    self.room.clear()
                    await self.room.wait()

    async def write(self) -> None:
        """Commit what has come, then deliver it, while the next batch is being committed."""
        loop = asyncio.get_running_loop()
        committed: list[tuple[Request, Answer]] = []
        while self.came or not self.ended:
            await self.some.wait()
            self.batch, self.came = self.came[:BATCH], self.came[BATCH:]
            self.room.set()
            writing = loop.run_in_executor(
                self.writer, self.store.commit, self.batch, self._closed()
            )
            self._deliver(committed)
            await writing
            committed, self.batch = self.batch, []
            if not self.came:
                self._deliver(committed)
                committed = []
                self.some.clear()

    def end(self) -> None:
        """Hear that no more comes."""
        self.ended = True
        self.some.set()

    def _deliver(self, committed: list[tuple[Request, Answer]]) -> None:
        for request, answer in committed:
            self.frontier.deliver(request, answer)

    def _closed(self) -> list[tuple[int, bool]]:
        closed, self.frontier.closed = self.frontier.closed, []
        return closed

    def keep_the_rest(self) -> None:
        """Commit what came before the end, and forget the failures that were the end."""
        # A commit that was under way may have been called off; the same answer counts once.
        answered = [pair for pair in self.batch + self.came if isinstance(pair[1], Response)]
        self.writer.submit(self.store.commit, answered, self._closed()).result()
        if self.watch.keys:
            self.store.forget_failures(self.watch.keys)


async def run(
    frontier: Frontier[U], engines: Mapping[str, Engine], store: Store, beat: Callable[[], None]
) -> None:
    """Answer all that `frontier` gives out: every answer is committed, then delivered.

    `beat` is called five times a second and at the end. Raises `RunError` where
    nothing can go on and `StoreError` where nothing can be kept; what was
    answered stays in the store, however the run ends.
    """
    with ThreadPoolExecutor(1, "writer") as writer, _rare_collection():
        loop = _Loop(frontier, store, writer)
        try:
            async with asyncio.TaskGroup() as group:
                ticking, writing = (group.create_task(part) for part in (_tick(beat), loop.write()))
                pumps = [group.create_task(loop.pump(*named)) for named in engines.items()]
                await asyncio.gather(*pumps)
                loop.end()
                await writing
                ticking.cancel()
        except BaseExceptionGroup as group:
            raise _first(group) from None
        finally:
            loop.keep_the_rest()
    beat()


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Let the garbage collector look less often: a window of requests is no garbage."""
    before = gc.get_threshold()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


async def _tick(beat: Callable[[], None]) -> None:
    while True:
        beat()
        await asyncio.sleep(0.2)


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    """The first plain exception of a group."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
