"""The loop: what is asked, how often, in which order, and what stands in the end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import toys
from misled.damage import damaged
from misled.draws import Draws
from misled.engines import Engine, Feed
from misled.errors import RunError, StoreError
from misled.frontier import Frontier, Limits, Lookup
from misled.loop import IDENTICAL, run
from misled.records import Answer, Failure, Request, Response
from misled.row import Row
from misled.store import Store


def drive(
    path: Path, engine: Engine, units: int = 50, limits: Limits | None = None, window: int = 8
) -> tuple[Frontier[int], dict[int, list[Row]]]:
    rows: dict[int, list[Row]] = {}
    with Store(path) as store, store.reader() as reader:
        frontier = Frontier(
            enumerate(range(units)), toys.walk, reader.get, rows.__setitem__, limits or Limits()
        )
        frontier.window = window
        asyncio.run(run(frontier, {"toy": engine}, store, lambda: None))
    return frontier, rows


@pytest.mark.parametrize(
    "engine",
    [toys.Pool(1), toys.Pool(7), toys.Batches(500), toys.Batches(5)],
    ids=["pool of 1", "pool of 7", "batches of 500", "batches of 5"],
)
def test_every_engine_answers_all_units_and_is_asked_nothing_twice(
    tmp_path: Path, engine: toys.Pool | toys.Batches
) -> None:
    frontier, rows = drive(tmp_path / "run.db", engine)
    assert sorted(rows) == list(range(50))
    assert [row.value for row in rows[3]] == ["<<3>/a>", "<<3>/b>", "<<3>/c>", "<shared>"]
    assert set(engine.asked.values()) == {1}
    assert len(engine.asked) == frontier.progress.answered == 50 * 4 + 1


@pytest.mark.parametrize("width", [1, 2, 4, 7])
@pytest.mark.parametrize("window", [1, 2, 30])
@pytest.mark.parametrize("delay", [0.0, 0.0001, 0.001])
def test_no_order_of_answers_and_commits_leaves_a_run_waiting(
    tmp_path: Path, width: int, window: int, delay: float
) -> None:
    async def timed() -> None:
        with Store(tmp_path / "a.db") as store, store.reader() as reader:
            rows: dict[int, list[Row]] = {}
            frontier = Frontier(
                enumerate(range(40)), toys.walk, reader.get, rows.__setitem__, Limits()
            )
            frontier.window = window
            engine = toys.Pool(width, delay=delay)
            await asyncio.wait_for(run(frontier, {"toy": engine}, store, lambda: None), 30)
            assert len(rows) == 40

    asyncio.run(timed())


def test_a_batch_engine_sends_few_files_since_the_feed_says_when_nothing_more_comes(
    tmp_path: Path,
) -> None:
    engine = toys.Batches(500)
    drive(tmp_path / "run.db", engine, units=50, window=50)
    assert engine.files == [50, 151]


def relay(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
    """Four questions in turn to two providers, each after the answer to the one before."""
    for k in range(4):
        provider = "ab"[Draws(unit, k).below(2)]
        request = msgspec.structs.replace(toys.ask(f"{unit}/{k}"), provider=provider)
        if lookup(request) is None:
            yield request
            return


@pytest.mark.parametrize("window", [2, 5, 12])
def test_two_batch_engines_never_wait_for_each_other(tmp_path: Path, window: int) -> None:
    """Neither may be told that more comes while all that could bring more lies with the two."""

    async def timed() -> int:
        with Store(tmp_path / "a.db") as store, store.reader() as reader:
            rows: dict[int, list[Row]] = {}
            frontier = Frontier(enumerate(range(12)), relay, reader.get, rows.__setitem__, Limits())
            frontier.window = window
            engines = {"a": toys.Batches(500), "b": toys.Batches(3)}
            await asyncio.wait_for(run(frontier, engines, store, lambda: None), 20)
            return len(rows)

    assert asyncio.run(timed()) == 12


def test_a_batch_engine_gathers_while_a_pool_works(tmp_path: Path) -> None:
    """A pool that waits for more to be due still brings more: no file is sent for its sake."""

    def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
        for provider in ("pool", "batch"):
            request = msgspec.structs.replace(toys.ask(f"{unit}"), provider=provider)
            if lookup(request) is None:
                yield request
                return

    batch = toys.Batches(500)
    engines: dict[str, Engine] = {"pool": toys.Pool(99, delay=0.002), "batch": batch}
    with Store(tmp_path / "a.db") as store, store.reader() as reader:
        frontier = Frontier(enumerate(range(40)), walk, reader.get, lambda *_: None, Limits())
        asyncio.run(run(frontier, engines, store, lambda: None))
    assert sum(batch.files) == 40
    assert len(batch.files) <= 2


def test_a_second_run_over_the_same_store_asks_nothing(tmp_path: Path) -> None:
    _, first = drive(tmp_path / "run.db", toys.Pool(4))
    engine = toys.Pool(4)
    _, second = drive(tmp_path / "run.db", engine)
    assert not engine.asked
    assert first == second


def test_lanes_have_one_request_in_flight_each_until_no_lane_is_free() -> None:
    def walk(unit: int, _: Lookup) -> Iterator[Request | Row]:
        yield from (toys.ask(f"{unit}/{k}", lane=f"{unit}") for k in range(3))

    async def lanes() -> list[list[str]]:
        frontier = Frontier(enumerate(range(3)), walk, lambda _: None, lambda *_: None, Limits())
        taken = [await frontier.take("toy", n, 0) for n in (2, 1, 2)]
        return [[request.lane for request in part or ()] for part in taken]

    assert asyncio.run(lanes()) == [["0", "1"], ["2"], ["0", "0"]]


def test_max_requests_is_never_exceeded_and_the_next_run_goes_on(tmp_path: Path) -> None:
    engine = toys.Pool(4)
    frontier, rows = drive(tmp_path / "run.db", engine, limits=Limits(requests=20))
    assert sum(engine.asked.values()) == frontier.progress.asked == 20
    assert frontier.progress.stopped == "--max-requests 20 is spent"
    assert len(rows) < 50
    assert len(list(frontier.rest())) + len(rows) == 50
    again = toys.Pool(4)
    _, rows = drive(tmp_path / "run.db", again)
    assert len(rows) == 50
    assert not set(again.asked) & set(engine.asked)


def test_a_failure_is_kept_as_data_and_its_unit_ends(tmp_path: Path) -> None:
    def flaky(request: Request) -> Answer:
        if request.messages[0].content in {"3", "4"}:
            return Failure(kind="server", message="boom", status=500)
        return toys.reply(request)

    frontier, rows = drive(tmp_path / "run.db", toys.Pool(4, flaky))
    assert frontier.progress.failures == {"server": 2}
    assert rows[3] == rows[4] == []
    assert len(rows) == 50


@pytest.mark.parametrize(
    ("kind", "fatal", "asked"), [("auth", True, 1), ("bad_request", True, IDENTICAL)]
)
def test_requests_that_all_fail_in_the_same_way_end_the_run_and_are_not_kept(
    tmp_path: Path, kind: str, *, fatal: bool, asked: int
) -> None:
    engine = toys.Pool(
        1, lambda _: Failure(kind=kind, message="no way in", fatal=fatal), delay=0.01
    )
    with pytest.raises(RunError, match="no way in"):
        drive(tmp_path / "run.db", engine)
    assert asked <= sum(engine.asked.values()) <= asked + 2
    with Store(tmp_path / "run.db") as store:
        assert store.counts().failures == {}


def test_an_answer_between_failures_shows_that_the_run_can_go_on(tmp_path: Path) -> None:
    def picky(request: Request) -> Answer:
        if "/a" in request.messages[0].content:
            return Failure(kind="bad_request", message="too long", fatal=True)
        return Response(content=request.messages[0].content)

    frontier, rows = drive(tmp_path / "run.db", toys.Pool(1, picky))
    assert frontier.progress.failures == {"bad_request": 50}
    assert len(rows) == 50


def test_a_store_that_cannot_write_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    with Store(tmp_path / "run.db") as store, store.reader() as reader:
        store._db.execute("PRAGMA max_page_count = 12")
        frontier = Frontier(enumerate(range(500)), toys.walk, reader.get, lambda *_: None, Limits())
        with pytest.raises(StoreError, match="full"):
            asyncio.run(run(frontier, {"toy": toys.Pool(8)}, store, lambda: None))


def test_one_texts_own_fault_never_ends_a_run_and_one_models_does(tmp_path: Path) -> None:
    """Ten bad requests with other messages are ten texts; a count in them is no difference."""
    words = [a + b for a in "bcdf" for b in ("ab", "ib", "ob")]

    def each(request: Request) -> Answer:
        word = words[int(request.messages[0].content) % len(words)]
        return Failure(kind="bad_request", message=f"cannot read {word}", fatal=True)

    frontier, _ = drive(tmp_path / "each.db", toys.Pool(1, each))
    assert frontier.progress.failures == {"bad_request": 50}

    def count(request: Request) -> Answer:
        said = f"req_{request.key[3:9]}Zy has 1{request.messages[0].content} bad tokens"
        return Failure(kind="bad_request", message=said, fatal=True)

    with pytest.raises(RunError, match="bad tokens"):
        drive(tmp_path / "count.db", toys.Pool(1, count))


def test_a_model_that_always_fails_ends_the_run_though_another_answers(tmp_path: Path) -> None:
    def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
        for model in ("good", "bad"):
            request = msgspec.structs.replace(toys.ask(f"{unit}"), model=model)
            if lookup(request) is None:
                yield request

    def answer(request: Request) -> Answer:
        if request.model == "good":
            return toys.reply(request)
        return Failure(kind="bad_request", message="no such parameter", fatal=True)

    with Store(tmp_path / "a.db") as store:
        frontier = Frontier(enumerate(range(99)), walk, store.get, lambda *_: None, Limits())
        with pytest.raises(RunError, match="no such parameter"):
            asyncio.run(run(frontier, {"toy": toys.Pool(1, answer)}, store, lambda: None))
        assert store.counts().failures == {}
        assert store.counts().responses >= IDENTICAL - 1


def test_within_a_lane_neighbours_share_the_longest_prefix() -> None:
    texts = ["b chain 1", "a chain 2", "b chain 2", "a", "a chain 1", "b"]

    def walk(_: int, __: Lookup) -> Iterator[Request | Row]:
        yield from (toys.ask(text, lane="0") for text in texts)

    async def order() -> list[str]:
        frontier = Frontier(enumerate(range(1)), walk, lambda _: None, lambda *_: None, Limits())
        taken = [await frontier.take("toy", 1, 0) for _ in texts]
        return [request.messages[0].content for part in taken for request in part or ()]

    assert asyncio.run(order()) == [*("a chain 1", "a chain 2", "a", "b chain 1", "b chain 2", "b")]


def test_a_lane_is_taken_up_again_before_its_answer_is_committed(tmp_path: Path) -> None:
    """Two slots and nine lanes: each slot stays with its lane until that has no more."""

    def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
        for k in range(5):
            request = toys.ask(f"{unit} {k}", lane=f"{unit}")
            if lookup(request) is None:
                yield request

    engine = toys.Pool(2, delay=0.001)

    class Slow(Store):
        def commit(self, *parts: Any) -> None:
            time.sleep(0.02)
            super().commit(*parts)

    with Slow(tmp_path / "a.db") as store, Store(tmp_path / "a.db", read_only=True) as reader:
        frontier = Frontier(enumerate(range(9)), walk, reader.get, lambda *_: None, Limits())
        asyncio.run(run(frontier, {"toy": engine}, store, lambda: None))
    lanes = {toys.ask(f"{unit} {k}").key: unit for unit in range(9) for k in range(5)}
    order = [lanes[key] for key in engine.asked]  # in which they were begun
    assert len(order) == 45
    for i in range(45):
        assert len(set(order[:i]) & set(order[i:])) <= 2


def test_a_run_that_goes_on_asks_what_is_open_before_it_looks_at_what_is_done(
    tmp_path: Path,
) -> None:
    path, walked = tmp_path / "run.db", list[int]()

    def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
        walked.append(unit)
        yield from toys.walk(unit, lookup)

    drive(path, toys.Pool(4), units=40)
    with Store(path) as store, store.reader() as reader:
        done = store.finished()
        assert done == set(range(40))
        rows: dict[int, list[Row]] = {}
        fresh = ((i, i) for i in range(60) if i not in done)
        frontier = Frontier(fresh, walk, reader.get, rows.__setitem__, Limits())
        frontier.kept = iter([(i, i) for i in done])
        asyncio.run(run(frontier, {"toy": toys.Pool(4)}, store, lambda: None))
        assert store.finished() == set(range(60))
    assert min(walked[: walked.index(0)]) >= 40
    assert walked[-40:] == list(range(40))
    assert sorted(rows) == list(range(60))


def test_units_with_failures_are_looked_at_first_when_these_are_asked_again(
    tmp_path: Path,
) -> None:
    def flaky(request: Request) -> Answer:
        if request.messages[0].content == "3":
            return Failure(kind="server", message="boom", status=500)
        return toys.reply(request)

    drive(tmp_path / "run.db", toys.Pool(4, flaky), units=9)
    with Store(tmp_path / "run.db") as store:
        assert store.finished() == set(range(9))
        store.forget_failures()
        assert store.finished() == set(range(9)) - {3}


@pytest.mark.parametrize("after", [0.05, 0.15])
def test_what_was_answered_before_a_cancellation_is_kept(tmp_path: Path, after: float) -> None:
    engine = toys.Pool(4)

    async def cancelled() -> None:
        with Store(tmp_path / "a.db") as store, store.reader() as reader:
            frontier = Frontier(enumerate(range(900)), toys.walk, reader.get, noted, Limits())
            task = asyncio.create_task(run(frontier, {"toy": engine}, store, lambda: None))
            await asyncio.sleep(after)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            answers = store.counts().responses
            assert 0 <= sum(engine.asked.values()) - answers <= 2 * engine.width
            assert damaged(store) == []

    def noted(*_: object) -> None:
        pass

    asyncio.run(cancelled())


def test_what_was_answered_before_an_engine_breaks_is_kept(tmp_path: Path) -> None:
    """It waits while an earlier batch is being written, and is paid for."""

    class Broken:
        async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
            for request in await feed.take(8, 0) or ():
                yield request, toys.reply(request)
                await asyncio.sleep(0.002)
            raise ValueError("broken")

    class Slow(Store):
        def commit(self, *parts: Any) -> None:
            time.sleep(0.05)
            super().commit(*parts)

    with Slow(tmp_path / "a.db") as store:
        frontier = Frontier(enumerate(range(9)), toys.walk, store.get, lambda *_: None, Limits())
        with pytest.raises(ValueError, match="broken"):
            asyncio.run(run(frontier, {"toy": Broken()}, store, lambda: None))
        assert store.counts().responses == 8


def test_an_engine_may_answer_a_day_later_from_another_process(tmp_path: Path) -> None:
    """Each process sends what is due and ends; nothing is sent twice, and the rows are the same."""
    code = (
        "import sys; from pathlib import Path; import toys, test_loop\n"
        "place = Path(sys.argv[1])\n"
        "_, rows = test_loop.drive(place / 'run.db', toys.Overnight(place), units=30, window=64)\n"
        "print(len(rows))\n"
    )
    finished = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent,
        )
        finished.append(int(done.stdout))
        sent = toys.night(tmp_path)
    assert finished == [0, 0, 30]
    assert sent == 30 * 4 + 1
    assert len(list(tmp_path.glob("*.in"))) == 2
    _, rows = drive(tmp_path / "run.db", toys.Pool(1), units=30)
    _, fresh = drive(tmp_path / "fresh.db", toys.Pool(1), units=30)
    assert rows == fresh
