"""A pool over a feed: take while there is room, give answers as they finish.

    async for request, answer in pooled(feed, ask, width=16): ...

Every engine that answers request by request is `ask` and this. A finished
request makes room at once, even while its answer waits to be fetched. Knows
neither what a request says nor how it is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field

from misled.engines import Feed
from misled.records import Answer, Request

__all__ = ["pooled"]


async def pooled(
    feed: Feed, ask: Callable[[Request], Awaitable[Answer]], width: int
) -> AsyncGenerator[tuple[Request, Answer]]:
    """Every request that `feed` gives with what `ask` makes of it, `width` at a time.

    Closing the generator cancels what is in flight. An exception of the feed
    ends it; `ask` is expected to raise none.
    """
    pool = _Pool(ask, width)
    intake = asyncio.create_task(pool.take_from(feed))
    intake.add_done_callback(lambda _: pool.ready.put_nowait(None))
    try:
        while not intake.done() or pool.held:
            answered = await pool.ready.get()
            if answered is None:
                intake.result()
            else:
                pool.held -= 1
                pool.moved.set()
                yield answered
    finally:
        tasks = [intake, *pool.tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class _Pool:
    """What is in flight: `busy` are being asked, `held` were taken and not yet yielded."""

    ask: Callable[[Request], Awaitable[Answer]]
    width: int
    ready: asyncio.Queue[tuple[Request, Answer] | None] = field(default_factory=asyncio.Queue)
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    held: int = 0
    busy: int = 0

    async def take_from(self, feed: Feed) -> None:
        """Take while there is room, until the feed ends."""
        while True:
            # Cleared before anything is looked at: a move while the feed is asked is not lost.
            self.moved.clear()
            requests: list[Request] | None = []
            held = self.held
            if self.busy < self.width:
                requests = await feed.take(self.width - self.busy, held)
            if requests is None:
                return
            for request in requests:
                self.held += 1
                self.busy += 1
                self.tasks[id(request)] = asyncio.create_task(self._answer(request))
            if not requests and held:
                await self.moved.wait()

    async def _answer(self, request: Request) -> None:
        answer = await self.ask(request)
        del self.tasks[id(request)]
        self.busy -= 1
        self.ready.put_nowait((request, answer))
        self.moved.set()
