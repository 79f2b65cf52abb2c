"""The loop: what is asked, how often, in which order, and what stands in the end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import toys
from misled.engines import Engine
from misled.errors import RunError, StoreError
from misled.loop import IDENTICAL, Frontier, Limits, Lookup, run
from misled.records import Answer, Failure, Request, Response
from misled.row import Row
from misled.store import Store


def drive(
    path: Path, engine: Engine, units: int = 50, limits: Limits | None = None, window: int = 8
) -> tuple[Frontier[int], dict[int, list[Row]]]:
    rows: dict[int, list[Row]] = {}
    with Store(path) as store, Store(path, read_only=True) as reader:
        frontier = Frontier(
            range(units), toys.walk, reader.get, rows.__setitem__, limits or Limits()
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
        with Store(tmp_path / "a.db") as store, Store(tmp_path / "a.db", read_only=True) as reader:
            rows: dict[int, list[Row]] = {}
            frontier = Frontier(range(40), toys.walk, reader.get, rows.__setitem__, Limits())
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
        frontier = Frontier(range(3), walk, lambda _: None, lambda *_: None, Limits())
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
    with Store(tmp_path / "run.db") as store, Store(tmp_path / "run.db", read_only=True) as reader:
        store._db.execute("PRAGMA max_page_count = 12")
        frontier = Frontier(range(500), toys.walk, reader.get, lambda *_: None, Limits())
        with pytest.raises(StoreError, match="full"):
            asyncio.run(run(frontier, {"toy": toys.Pool(8)}, store, lambda: None))
