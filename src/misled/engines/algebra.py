"""The algebra system as an engine: whether two formulas are equal, answered once and kept.

    Request(provider="algebra", messages=(1/sqrt(3), sqrt(3)/3)) -> Response(content="equal")

How far a child process gets near its limits depends on the machine. As an answer in
the store its word is the same ever after, so that the same store gives the same labels.
Asks one pair at a time; knows nothing about labels.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from importlib.metadata import version

import msgspec

from misled.engines import Feed
from misled.mathchild import Checker
from misled.records import Answer, Failure, Request, Response

__all__ = ["Algebra"]

# No word on the pair: --retry-failed asks it again.
_CRASHED = Failure("crash", "the algebra system ended without an answer")


class Algebra:
    """An engine for pairs of formulas; its child starts with the first pair."""

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """Every pair that `feed` gives, with one of the words of `mathchild.Equality`."""
        made = {name: version(name) for name in ("math-verify", "sympy")}
        raw = msgspec.json.encode(made).decode()
        with Checker() as equal:
            while requests := await feed.take(1, 0):
                for request in requests:
                    one, other = (message.content for message in request.messages)
                    said = await asyncio.to_thread(equal, one, other)
                    yield request, _CRASHED if said == "crash" else Response(said, raw=raw)
