"""What is due: the units in the window, what each waits for, and the lanes of requests.

    frontier.take("deepseek", n, held)   due requests, lane by lane
    frontier.landed(request)             the server is free of it
    frontier.deliver(request, answer)    walk every unit that waited for it alone

A request that several units ask for is in flight once. A lane (requests that share a
long prefix) has one request in flight while other lanes are free, its requests in the
order of their texts, so that neighbours share the longest prefix; then it opens up.
Only a window of units is in memory. Knows nothing about studies: a walk yields
requests and rows.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from misled.progress import Progress
from misled.records import Answer, Failure, Request

__all__ = ["Frontier", "Limits", "Lookup", "Walk"]

U = TypeVar("U")
Lookup: TypeAlias = Callable[[Request], Answer | None]
Walk: TypeAlias = Callable[[U, Lookup], Iterator[Any]]  # requests and rows

WINDOW = 64  # units in memory at once, at least


@dataclass(eq=False)
class _Active(Generic[U]):
    """A unit in the window: the keys that it waits for, the answers that it has."""

    index: int
    unit: U
    missing: set[str] = field(default_factory=set)
    known: dict[str, Answer] = field(default_factory=dict)


@dataclass
class _Lane:
    """Due requests with a common prefix; `unit` is the earliest that waits for one of them.

    A heap by canonical JSON, which begins with the messages: those that differ late are
    neighbours, and a server that keeps no more than its last prompts still has the prefix.
    """

    unit: int
    requests: list[tuple[bytes, Request]] = field(default_factory=list)

    def add(self, request: Request) -> None:
        heapq.heappush(self.requests, (request.body, request))

    def pop(self) -> Request:
        return heapq.heappop(self.requests)[1]


@dataclass
class _Due:
    """What is due for one engine: lanes by name, and those that may be free, earliest first."""

    lanes: dict[str, _Lane] = field(default_factory=dict)
    free: list[tuple[int, str]] = field(default_factory=list)

    def add(self, request: Request, unit: int) -> None:
        if request.lane not in self.lanes:
            self.lanes[request.lane] = _Lane(unit)
            heapq.heappush(self.free, (unit, request.lane))
        self.lanes[request.lane].add(request)

    def next(self, busy: Container[str]) -> Request:
        """From the earliest lane that is not busy, else from the earliest of all."""
        while self.free and (self.free[0][1] in busy or self.free[0][1] not in self.lanes):
            heapq.heappop(self.free)
        name = self.free[0][1] if self.free else min(self.lanes, key=self._unit)
        request = self.lanes[name].pop()
        if not self.lanes[name].requests:
            del self.lanes[name]
        return request

    def release(self, lane: str) -> None:
        """Hear that the lane is busy no more."""
        if lane in self.lanes:
            heapq.heappush(self.free, (self.lanes[lane].unit, lane))

    def _unit(self, lane: str) -> int:
        return self.lanes[lane].unit


@dataclass
class Limits:
    """When to stop asking: requests of this process, tokens beside those `spent` before it."""

    requests: int | None = None
    tokens: int | None = None
    spent: int = 0


class Frontier(Generic[U]):
    """The units in the window, what they wait for, and what is due for each engine.

    `units` come with their number. Those that were `kept` needed no more in an earlier
    run: they are walked when nothing else is to be done. `closed` are the units that came
    to their end since it was last emptied, and whether one of their requests failed.
    """

    def __init__(
        self,
        units: Iterable[tuple[int, U]],
        walk: Walk[U],
        lookup: Lookup,
        finished: Callable[[int, list[Any]], None],
        limits: Limits,
    ) -> None:
        self.progress = Progress()
        self.window = WINDOW
        self.kept: Iterator[tuple[int, U]] = iter(())
        self.closed: list[tuple[int, bool]] = []
        self._units = iter(units)
        self._walk = walk
        self._lookup = lookup
        self._finished = finished
        self._limits = limits
        self._active: dict[int, U] = {}
        self._waiting: dict[str, list[_Active[U]]] = {}
        self._due: dict[str, _Due] = defaultdict(_Due)
        self._busy: Counter[str] = Counter()
        self._flying: set[str] = set()
        self._idle: dict[str, int] = {}  # what engines hold that wait for more to be due
        self._exhausted = False
        self._changed = asyncio.Event()
        self._awaited = False

    async def _admit(self) -> None:
        """Fill the window, without stalling the loop where units are finished at once."""
        while not self._exhausted and len(self._active) < self.window:
            self._exhausted = not self._open(self._units)
            await asyncio.sleep(0)
        if self._exhausted and not self._active:
            self._wake()

    def _open(self, units: Iterator[tuple[int, U]]) -> bool:
        """Walk the next of `units` for the first time; whether there was one."""
        for index, unit in units:
            self._active[index] = unit
            self._step(_Active(index, unit))
            return True
        return False

    def _step(self, active: _Active[U]) -> None:
        """Walk a unit: queue what it asks for, or let it go with its rows."""
        rows: list[Any] = []
        for item in self._walk(active.unit, partial(self._find, active.known)):
            if not isinstance(item, Request):
                rows.append(item)
            elif item.key not in active.missing:
                active.missing.add(item.key)
                self._want(item, active)
        if not active.missing:
            del self._active[active.index]
            self.progress.units += 1
            failed = any(isinstance(answer, Failure) for answer in active.known.values())
            self.closed.append((active.index, failed))
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
            self.progress.want(request)
            self._due[request.provider].add(request, active.index)

    def landed(self, request: Request) -> None:
        """Hear that a request is answered, though not committed: its lane is free for another."""
        self._busy[request.lane] -= 1
        if not self._busy[request.lane]:
            del self._busy[request.lane]
            self._due[request.provider].release(request.lane)

    def deliver(self, request: Request, answer: Answer) -> None:
        """Hear of a committed answer: walk every unit that now waits for nothing."""
        self._flying.discard(request.key)
        self.progress.count(request, answer)
        for active in self._waiting.pop(request.key, ()):
            active.missing.discard(request.key)
            active.known[request.key] = answer
            if not active.missing:
                self._step(active)
        self._wake()

    def _wake(self) -> None:
        if self._awaited:
            self._awaited = False
            self._idle.clear()
            self._changed.set()
            self._changed = asyncio.Event()

    def stop(self, why: str) -> None:
        """Give out nothing more; what is in flight may still be answered."""
        self.progress.stopped = self.progress.stopped or why
        self._wake()

    def rest(self) -> Iterator[tuple[int, U]]:
        """The units that are not finished, in order; empty after a whole run."""
        yield from chain(sorted(self._active.items(), key=itemgetter(0)), self._units, self.kept)

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
            if held and len(self._flying) <= held + sum(self._idle.values()):
                return []
            if self._exhausted and not self._active:
                if not self._open(self.kept):
                    return [] if held else None
                await asyncio.sleep(0)
            else:
                self._idle[engine], self._awaited = held, True
                await self._changed.wait()

    def _pick(self, engine: str, n: int) -> list[Request]:
        """Up to `n` due requests: free lanes of the earliest units, then all that is left."""
        # So a budget buys whole units, and a cached prefix is used while it is there.
        due = self._due[engine]
        taken: list[Request] = []
        while due.lanes and len(taken) < n:
            request = due.next(self._busy)
            self._flying.add(request.key)
            self._busy[request.lane] += 1
            taken.append(request)
        self.progress.asked += len(taken)
        return taken
