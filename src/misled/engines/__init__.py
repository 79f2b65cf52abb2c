"""Socket: ways of getting answers. One port, of one method.

    async for request, answer in engine.answer(feed): ...

An engine asks the feed for due requests and yields each with its `Response` or
`Failure`, in any order. It never raises for a request. It knows nothing about
studies, stores or what an answer means.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from misled.records import Answer, Request

__all__ = ["Engine", "Feed"]


class Feed(Protocol):
    """Where due requests come from; `loop.py` owns the only real one."""

    async def take(self, n: int, held: int) -> list[Request] | None:
        """1 to `n` due requests.

        `held` is how many the engine has taken and not yet yielded. `[]` means
        that nothing more comes until what it holds is answered: a batch engine
        sends now. `None` is the end. With `held` 0 the call waits.
        """
        ...


class Engine(Protocol):
    """A way of getting answers: HTTP, an embedded model, a planted one, a batch file."""

    def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        """Every request that `feed` gives, each once, with its answer."""
        ...
