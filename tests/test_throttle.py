"""The pace of asking: rates that are kept, refusals that narrow, answers that widen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from misled.engines.http import Http, Limits
from misled.engines.throttle import Rate, Throttle
from misled.records import Response, Usage
from servers import ask, ask_all, completion, model, serving


@dataclass
class Time:
    """Time that passes only in `sleep`, for all sleepers alike."""

    now: float = 1000.0
    sleepers: list[tuple[float, asyncio.Future[None]]] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self.sleepers.append((self.now + seconds, future))
        await future

    async def pass_until(self, task: asyncio.Task[None]) -> None:
        """Let time pass, sleeper by sleeper, until the task is done."""
        while not task.done():
            for _ in range(20):
                await asyncio.sleep(0)
            if self.sleepers and not task.done():
                self.sleepers.sort(key=lambda pair: pair[0])
                self.now, future = self.sleepers.pop(0)
                future.set_result(None)
        task.result()

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            async def task() -> None:
                await work()

            await self.pass_until(asyncio.create_task(task()))

        asyncio.run(main())


def starts(rate: Rate, count: int, *, reply: int = 0, width: int = 8) -> list[float]:
    """When each of `count` requests of 4,000 bytes begins, each taking two seconds."""
    time = Time()
    throttle = Throttle(width, rate, lambda: time.now, time.sleep)
    began: list[float] = []

    async def one() -> None:
        turn = await throttle.enter(4000)
        began.append(turn.began)
        await time.sleep(2)
        throttle.leave()
        throttle.answered(turn, Usage(prompt=1000, completion=reply))

    async def work() -> None:
        await asyncio.gather(*(one() for _ in range(count)))

    time.run(work)
    assert began == sorted(began)
    assert len(began) == count
    return began


def within(began: list[float], seconds: float) -> int:
    """The most that begin within any such time."""
    return max(sum(0 <= b - a < seconds for b in began) for a in began)


@given(st.integers(1, 60), st.integers(1, 90))
def test_no_minute_holds_more_requests_than_its_rate(rpm: int, count: int) -> None:
    assert within(starts(Rate(rpm=rpm), count, width=500), 60) <= rpm


def test_a_rate_is_used_up_and_not_only_kept() -> None:
    began = starts(Rate(rpm=60), 181, width=8)
    assert 178 <= began[-1] - began[0] <= 186


@pytest.mark.parametrize("reply", [0, 1000, 4000])
def test_tokens_a_minute_are_those_that_the_server_counts(reply: int) -> None:
    began = starts(Rate(tpm=120_000), 400, reply=reply, width=50)
    minutes = (began[-1] - began[20]) / 60
    spent = (len(began) - 20) * (1000 + reply)
    assert 0.85 <= spent / minutes / 120_000 <= 1.02


def test_without_a_rate_nothing_waits_but_for_room() -> None:
    began = starts(Rate(), 32, width=8)
    assert [began.count(time) for time in dict.fromkeys(began)] == [8, 8, 8, 8]


def test_one_refusal_halves_what_is_in_flight_and_answers_widen_it_again() -> None:
    async def run() -> None:
        time = Time()
        throttle = Throttle(16, Rate(), lambda: time.now, time.sleep)
        turns = [await throttle.enter(10) for _ in range(16)]
        time.now += 1
        for turn in turns:  # all were sent before the first refusal
            throttle.refused(turn, 0)
            throttle.leave()
        assert throttle.width == 8
        widths = [throttle.width]
        for _ in range(200):
            turn = await throttle.enter(10)
            throttle.leave()
            throttle.answered(turn, Usage())
            widths.append(throttle.width)
        assert all(a <= b <= a + 0.125 for a, b in pairwise(widths))
        assert widths[-1] == 16

    asyncio.run(run())


def test_what_is_asked_of_one_is_heeded_by_all() -> None:
    time = Time()
    throttle = Throttle(4, Rate(), lambda: time.now, time.sleep)
    began: list[float] = []

    async def work() -> None:
        turn = await throttle.enter(10)
        throttle.refused(turn, 7)
        throttle.leave()
        began.append((await throttle.enter(10)).began)

    time.run(work)
    assert began == [1007.0]


def test_a_server_that_bears_six_at_a_time_is_found_out_and_asked_so() -> None:
    """Of 64 allowed, no request is lost and most are answered at the first attempt."""
    busy = refused = 0

    async def narrow(_: web.Request) -> web.StreamResponse:
        nonlocal busy, refused
        if busy >= 6:
            refused += 1
            return web.Response(status=429)
        busy += 1
        await asyncio.sleep(0.01)
        busy -= 1
        return web.json_response(completion())

    async def run() -> None:
        async with serving(narrow) as server:
            limits = Limits(first_pause=0.02)
            engine = Http(lambda _: model(server.url), concurrency=64, limits=limits)
            found = await ask_all(engine, [ask(f"{i}") for i in range(600)])
            assert all(isinstance(answer, Response) for answer in found.values())
            assert refused < 300

    asyncio.run(run())


def test_a_cancelled_wait_leaves_the_line() -> None:
    async def run() -> None:
        throttle = Throttle(1, Rate(), lambda: 0.0, asyncio.sleep)
        await throttle.enter(1)
        waiting = [asyncio.create_task(throttle.enter(1)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        throttle.leave()
        await waiting[1]
        throttle.leave()
        await waiting[2]

    asyncio.run(run())
