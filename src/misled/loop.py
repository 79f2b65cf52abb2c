"""The loop: walk, ask, commit, walk again, until nothing is due.

    frontier   the units in the window, what each waits for, and the requests that are due
    feed       one engine's view of the frontier: due requests, lane by lane
    writer     takes answers from the engines, commits them in batches, then delivers them

A request that several units ask for is in flight once. An answer is delivered
after its commit, so that nothing counts which a kill could lose. A lane
(requests that share a long prefix) has one request in flight while other lanes
are free; then it opens up. Only a window of units is in memory. Knows nothing
about studies: a walk yields requests and rows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Generic, TypeAlias, TypeVar

from misled.engines import Engine
from misled.errors import RunError
from misled.records import Answer, Failure, Request, Response
from misled.row import Row
from misled.store import Batch, Store

__all__ = ["BATCH", "Frontier", "Limits", "Lookup", "Progress", "run"]

U = TypeVar("U")
Lookup: TypeAlias = Callable[[Request], Answer | None]
Walk: TypeAlias = Callable[[U, Lookup], Iterator[Request | Row]]

BATCH = 512  # answers in a commit at most; what a kill can lose of delivered ones
WINDOW = 64  # units in memory at once, at least
UNREACHED = ("auth", "connection", "not_found")  # a provider's first answer ends the run
IDENTICAL = 10  # fatal failures of one kind in a row, without an answer between, end a run


@dataclass
class Progress:
    """What has happened since the run began; counts, never a rate."""

    units: int = 0
    asked: int = 0
    answered: int = 0
    failed: int = 0
    reused: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    stopped: str | None = None
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(eq=False)
class _Active(Generic[U]):
    """A unit in the window: the keys that it waits for, the answers that it has."""

    index: int
    unit: U
    missing: set[str] = field(default_factory=set)
    known: dict[str, Answer] = field(default_factory=dict)


@dataclass(order=True)
class _Lane:
    """Due requests with a common prefix; `unit` is the earliest that waits for one of them."""

    unit: int
    requests: deque[Request] = field(default_factory=deque, compare=False)


@dataclass
class Limits:
    """When to stop asking: requests of this process, tokens beside those `spent` before it."""

    requests: int | None = None
    tokens: int | None = None
    spent: int = 0


class Frontier(Generic[U]):
    """The units in the window, what they wait for, and what is due for each engine."""

    def __init__(
        self,
        units: Iterable[U],
        walk: Walk[U],
        lookup: Lookup,
        finished: Callable[[int, list[Row]], None],
        limits: Limits,
    ) -> None:
        self.progress = Progress()
        self._units = enumerate(units)
        self._walk = walk
        self._lookup = lookup
        self._finished = finished
        self._limits = limits
        self._active: dict[int, U] = {}
        self._waiting: dict[str, list[_Active[U]]] = {}
        self._due: dict[str, dict[str, _Lane]] = {}
        self._lanes: dict[str, int] = {}
        self._flying: set[str] = set()
        self._exhausted = False
        self._changed = asyncio.Event()
        self.window = WINDOW

    async def _admit(self) -> None:
        """Fill the window; a resumed run passes finished units without stalling the loop."""
        while not self._exhausted and len(self._active) < self.window:
            index, unit = next(self._units, (-1, None))
            if unit is None:
                self._exhausted = True
                self._wake()
            else:
                self._active[index] = unit
                self._step(_Active(index, unit))
                await asyncio.sleep(0)

    def _step(self, active: _Active[U]) -> None:
        """Walk a unit: queue what it asks for, or let it go with its rows."""
        rows: list[Row] = []
        for item in self._walk(active.unit, partial(self._find, active.known)):
            if isinstance(item, Row):
                rows.append(item)
            elif item.key not in active.missing:
                active.missing.add(item.key)
                self._want(item, active)
        if not active.missing:
            del self._active[active.index]
            self.progress.units += 1
            self._finished(active.index, rows)

    def _find(self, known: dict[str, Answer], request: Request) -> Answer | None:
        answer = known.get(request.key)
        if answer is None and request.key not in self._waiting:
            answer = self._lookup(request)
            if answer is not None:
                known[request.key] = answer
        return answer

    def _want(self, request: Request, active: _Active[U]) -> None:
        waiting = self._waiting.setdefault(request.key, [])
        waiting.append(active)
        if len(waiting) == 1 and request.key not in self._flying:
            lanes = self._due.setdefault(request.provider, {})
            lanes.setdefault(request.lane, _Lane(active.index)).requests.append(request)

    def deliver(self, request: Request, answer: Answer) -> None:
        """Hear of a committed answer: walk every unit that now waits for nothing."""
        self._flying.discard(request.key)
        self._lanes[request.lane] -= 1
        if not self._lanes[request.lane]:
            del self._lanes[request.lane]
        self._count(answer)
        for active in self._waiting.pop(request.key, ()):
            active.missing.discard(request.key)
            active.known[request.key] = answer
            if not active.missing:
                self._step(active)
        self._wake()

    def _count(self, answer: Answer) -> None:
        progress = self.progress
        progress.answered += 1
        if isinstance(answer, Failure):
            progress.failed += 1
            progress.failures[answer.kind] = progress.failures.get(answer.kind, 0) + 1
        else:
            progress.prompt_tokens += answer.usage.prompt or 0
            progress.cached_tokens += answer.usage.cached or 0
            progress.completion_tokens += answer.usage.completion or 0

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def stop(self, why: str) -> None:
        """Give out nothing more; what is in flight may still be answered."""
        self.progress.stopped = self.progress.stopped or why
        self._wake()

    def rest(self) -> Iterator[tuple[int, U]]:
        """The units that are not finished, in order; empty after a whole run."""
        yield from sorted(self._active.items(), key=itemgetter(0))
        yield from self._units

    def _room(self) -> int | None:
        """How many requests the limits still allow, None for any number."""
        limits, progress = self._limits, self.progress
        if limits.tokens is not None and limits.spent + progress.tokens >= limits.tokens:
            self.stop(f"--max-tokens-total {limits.tokens} is spent")
        elif limits.requests is not None and progress.asked >= limits.requests:
            self.stop(f"--max-requests {limits.requests} is spent")
        return None if limits.requests is None else limits.requests - progress.asked

    async def take(self, engine: str, n: int, held: int) -> list[Request] | None:
        """What `Feed.take` promises, for the requests of one provider."""
        while True:
            await self._admit()
            room = self._room()
            if self.progress.stopped is not None:
                return [] if held else None
            taken = self._pick(engine, n if room is None else min(n, room))
            if taken:
                return taken
            if self._exhausted and not self._active:
                return [] if held else None
            if held and len(self._flying) <= held:
                return []
            await self._changed.wait()

    def _pick(self, engine: str, n: int) -> list[Request]:
        """Up to `n` due requests: free lanes of the earliest units, then all that is left."""
        # So a budget buys whole units, and a cached prefix is used while it is there.
        lanes = self._due.get(engine, {})
        free = sorted((lane for lane in lanes if lane not in self._lanes), key=lanes.__getitem__)
        taken: list[Request] = []
        while lanes and len(taken) < n:
            lane = free.pop(0) if free else min(lanes, key=lanes.__getitem__)
            taken.append(lanes[lane].requests.popleft())
            if not lanes[lane].requests:
                del lanes[lane]
        for request in taken:
            self._flying.add(request.key)
            self._lanes[request.lane] = self._lanes.get(request.lane, 0) + 1
        self.progress.asked += len(taken)
        return taken


@dataclass(frozen=True)
class _Feed(Generic[U]):
    """One engine's view of the frontier."""

    frontier: Frontier[U]
    engine: str

    async def take(self, n: int, held: int) -> list[Request] | None:
        return await self.frontier.take(self.engine, n, held)


class _Watch:
    """Sees when all requests fail in the same way, which ends a run (exit 2)."""

    def __init__(self) -> None:
        self._alive: set[str] = set()
        self._row: list[tuple[Request, Failure]] = []

    def see(self, batch: Batch) -> None:
        """Take note of committed answers; RunError where nothing can go on."""
        for request, answer in batch:
            if isinstance(answer, Response):
                self._alive.add(request.provider)
                self._row.clear()
            elif self._row and self._row[0][1].kind != answer.kind:
                self._row = [(request, answer)]
            else:
                self._row.append((request, answer))
        if not self._row:
            return
        request, answer = self._row[0]
        silent = answer.kind in UNREACHED and request.provider not in self._alive
        if silent or (answer.fatal and len(self._row) >= IDENTICAL):
            raise RunError(answer.message)

    @property
    def keys(self) -> list[str]:
        """The requests of the failures that ended the run: they count as not asked."""
        return [request.key for request, _ in self._row]


@dataclass
class _Loop(Generic[U]):
    """The tasks of a run and the queue between them."""

    frontier: Frontier[U]
    store: Store
    queue: asyncio.Queue[tuple[Request, Answer]]
    watch: _Watch = field(default_factory=_Watch)

    async def pump(self, name: str, engine: Engine) -> None:
        """Take an engine's answers as they come."""
        async with aclosing(engine.answer(_Feed(self.frontier, name))) as answers:
            async for pair in answers:
                await self.queue.put(pair)

    async def write(self) -> None:
        """Commit what has come, then deliver it."""
        while True:
            batch = [await self.queue.get()]
            while not self.queue.empty() and len(batch) < BATCH:
                batch.append(self.queue.get_nowait())
            await asyncio.to_thread(self.store.commit, batch)
            self.watch.see(batch)
            for request, answer in batch:
                self.frontier.deliver(request, answer)
                self.queue.task_done()

    def keep_the_rest(self) -> None:
        """Commit what came before the end, and forget the failures that were the end."""
        rest = [self.queue.get_nowait() for _ in range(self.queue.qsize())]
        self.store.commit([pair for pair in rest if isinstance(pair[1], Response)])
        self.store.forget_failures(self.watch.keys)


async def run(
    frontier: Frontier[U], engines: Mapping[str, Engine], store: Store, beat: Callable[[], None]
) -> None:
    """Answer all that `frontier` gives out: every answer is committed, then delivered.

    `beat` is called five times a second and at the end. Raises `RunError` where
    nothing can go on and `StoreError` where nothing can be kept; what was
    answered stays in the store.
    """
    loop = _Loop(frontier, store, asyncio.Queue(2 * BATCH))
    try:
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(loop.write()), group.create_task(_tick(beat))]
            pumps = [group.create_task(loop.pump(*named)) for named in engines.items()]
            await asyncio.gather(*pumps)
            await loop.queue.join()
            for helper in helpers:
                helper.cancel()
    except BaseExceptionGroup as group:
        stop = _first(group)
        if isinstance(stop, RunError):
            loop.keep_the_rest()
        raise stop from None
    beat()


async def _tick(beat: Callable[[], None]) -> None:
    while True:
        beat()
        await asyncio.sleep(0.2)


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    """The first plain exception of a group."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
