"""How fast a model's server may be asked: what it allows, and what it is found to bear.

    turn = await throttle.enter(size of the body in bytes)
    throttle.answered(turn, usage)  or  throttle.refused(turn, seconds to hold back)
    throttle.leave()

A `Rate` (requests and tokens a minute) is kept by spacing. Where a server refuses
all the same (429, 503, 529), as many as it bears are found as TCP finds them: half as
many in flight after a refusal, once for all that were sent before it, and one more for
every round of answers. What a server asks of one request (Retry-After), all heed.

Knows neither what is asked nor how it is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from misled.records import Record, Usage

__all__ = ["Rate", "Throttle"]

MINUTE = 60.1  # and a little, for clocks that differ
BURST = 0.25  # seconds of a rate that may be spent at once, so that timers keep up
BYTES = 4  # of a body for a token of the prompt
REPLY = 1000  # tokens of a reply, until one has come


class Rate(Record, frozen=True):
    """What a provider allows in any minute: requests, and tokens of prompts and replies."""

    rpm: float | None = None
    tpm: float | None = None


@dataclass
class _Meter:
    """One rate: when what was spent is paid back. `each` is the seconds that a unit costs."""

    each: float
    due: float = 0.0

    def wait(self, now: float) -> float:
        return max(0.0, self.due - BURST - now)

    def spend(self, now: float, units: float) -> None:
        self.due = max(self.due, now) + units * self.each

    def correct(self, units: float) -> None:
        self.due += units * self.each


def _meter(per_minute: float | None) -> _Meter | None:
    return None if per_minute is None else _Meter((MINUTE + BURST) / per_minute)


class Turn(NamedTuple):
    """Leave to send one request: since when, and the tokens that it is expected to cost."""

    began: float
    prompt: float
    tokens: float


@dataclass
class Throttle:
    """The pace of one model at one host; `most` requests in flight at most."""

    most: int
    rate: Rate
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[object]]
    width: float = 0.0
    _flying: int = 0
    _cut: float = float("-inf")
    _held: float = float("-inf")
    _reply: float = REPLY
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.width = float(self.most)
        self._requests, self._tokens = _meter(self.rate.rpm), _meter(self.rate.tpm)

    async def enter(self, size: int) -> Turn:
        """Wait for a turn, first come, first served."""
        if not self._line.locked() and self._flying < int(self.width) and self._wait() <= 0:
            return self._turn(size / BYTES)
        async with self._line:
            while True:
                self._moved.clear()
                wait = self._wait()
                if wait > 0:
                    await self.sleep(wait)
                elif self._flying >= int(self.width):
                    await self._moved.wait()
                else:
                    return self._turn(size / BYTES)

    def _wait(self) -> float:
        now = self.clock()
        wait = self._held - now
        for meter in (self._requests, self._tokens):
            if meter is not None:
                wait = max(wait, meter.wait(now))
        return wait

    def _turn(self, prompt: float) -> Turn:
        now = self.clock()
        turn = Turn(now, prompt, prompt + self._reply)
        self._flying += 1
        if self._requests is not None:
            self._requests.spend(now, 1)
        if self._tokens is not None:
            self._tokens.spend(now, turn.tokens)
        return turn

    def leave(self) -> None:
        """Make room, however the turn ended."""
        self._flying -= 1
        self._moved.set()

    def answered(self, turn: Turn, usage: Usage) -> None:
        """Widen a little, and put the estimate of tokens right where the server counts them."""
        self.width = min(float(self.most), self.width + 1 / self.width)
        if self._tokens is not None and usage.completion is not None:
            prompt = turn.prompt if usage.prompt is None else usage.prompt
            self._tokens.correct(prompt + usage.completion - turn.tokens)
            self._reply += (usage.completion - self._reply) / 10

    def refused(self, turn: Turn, wait: float) -> None:
        """Narrow, once for all that were sent before, and hold everything back for `wait`."""
        now = self.clock()
        if turn.began >= self._cut:
            self.width = max(1.0, min(self.width, self._flying) / 2)
            self._cut = now
        self._held = max(self._held, now + wait)
