"""A run that grows: time and memory a trial, and how long it takes to go on.

    python bench/scale.py [--trials 100000 300000] [--keep DIR]

Trials of the toy kind (an answer at once, a row of the first study each, replies and
prompts of 2 kB as a study has them) through walk, lanes, pool, store and ledger. For each
size, in a process of its own: trials a second in the first and the last tenth, memory in
the middle and at the end, seconds for the frame, and, of a store that lacks its last unit,
seconds until a run that goes on asks for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import uvloop

from misled.engines import Feed
from misled.engines.pool import pooled
from misled.frontier import Frontier, Limits, Lookup
from misled.ledger import Ledger
from misled.loop import run
from misled.records import Answer, Message, Request, Response, Usage
from misled.row import Row
from misled.store import Store

EACH = 30  # trials of a unit
TEXT = "The carry of the column before is added to the digits of this one. " * 30
RAW = '{"choices": [{"message": {"content": "%s"}}]}' % TEXT[:1000]  # noqa: UP031 - it holds braces


def ask(unit: int, k: int) -> Request:
    """One trial's question."""
    message = Message("user", f"{unit} {k} {TEXT}"[:2000])
    return Request(provider="toy", model="m", messages=(message,), lane=f"{unit}")


def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
    """Thirty questions, a row each."""
    for k in range(EACH):
        request = ask(unit, k)
        answer = lookup(request)
        if answer is None:
            yield request
        elif isinstance(answer, Response):
            yield row(unit, k, request, answer)


def row(unit: int, k: int, request: Request, answer: Response) -> Row:
    """A row as the first study makes them."""
    return Row(
        arm="tampered",
        problem=f"addition:15+13-{unit}",
        set="addition:15+13",
        cluster=f"addition:15+13-{unit}",
        target="deepseek/deepseek-reasoner",
        source="deepseek/deepseek-reasoner",
        mode="plain",
        gold=f"{10**14 + unit}",
        tampered=f"{10**14 + unit + k}",
        value=f"{10**14 + unit}",
        outcome="recovered" if k % 3 else "adopted",
        method=("baseline", "uncertainty", "contradiction", "prefix")[k % 4],
        structure="intact",
        channel="user",
        perturbation="digits",
        scope="endings",
        place="random",
        d_t=k % 6 + 1,
        request=request.key,
        r_cpt=0.5,
        prompt_tokens=answer.usage.prompt,
        completion_tokens=answer.usage.completion,
        seconds=answer.seconds,
        attempts=1,
    )


class Toy:
    """Answers at once."""

    def __init__(self) -> None:
        self.first: float | None = None

    def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """Through the pool that HTTP uses, 64 at a time."""
        return pooled(feed, self.ask, 64)

    async def ask(self, _: Request) -> Answer:
        """The same reply to all."""
        self.first = self.first or time.perf_counter()
        await asyncio.sleep(0)
        return Response(content=TEXT[:1000], usage=Usage(500, 0, 300), seconds=1.5, raw=RAW)


def memory() -> float:
    """Resident megabytes."""
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def go_on(path: Path, units: int) -> dict[str, Any]:
    """The run from wherever it stands; what it took."""
    began, toy, ledger = time.perf_counter(), Toy(), Ledger()
    marks: list[tuple[float, float]] = []
    with Store(path) as store, store.reader() as reader:
        store.counts()
        done = store.finished()
        fresh = ((unit, unit) for unit in range(units) if unit not in done)
        frontier = Frontier(fresh, walk, reader.get, ledger.add, Limits())
        frontier.kept = ((unit, unit) for unit in range(units) if unit in done)
        frontier.window = 256

        def beat() -> None:
            if frontier.progress.units * 10 // units >= len(marks):
                marks.append((time.perf_counter(), memory()))

        uvloop.run(run(frontier, {"toy": toy}, store, beat))
        assert frontier.progress.units == units
    ended = time.perf_counter()
    frame = ledger.frame()
    assert frame.height == units * EACH
    tenth = units * EACH / 10
    return {
        "first request after": (toy.first or ended) - began,
        "seconds": ended - began,
        "a second, first tenth": tenth / (marks[1][0] - marks[0][0]) if len(marks) > 10 else None,
        "a second, last tenth": tenth / (marks[-1][0] - marks[-2][0]) if len(marks) > 10 else None,
        "MB in the middle": marks[len(marks) // 2][1],
        "MB at the end": memory(),
        "frame, seconds": time.perf_counter() - ended,
        "frame, MB": frame.estimated_size("mb"),
        "store, MB": sum(each.stat().st_size for each in path.parent.iterdir()) / 1e6,
    }


def measured(path: Path, units: int) -> None:
    """Print the numbers of `go_on` in a process of its own."""
    command = [sys.executable, __file__, "--child", str(path), str(units)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    for name, value in json.loads(done.stdout).items():
        print(f"    {name:<22} {'-' if value is None else f'{value:,.1f}'}")


def main() -> None:
    """Grow, cut, and go on."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(go_on(Path(sys.argv[2]), int(sys.argv[3]))))
        return
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--trials", type=int, nargs="+", default=[100_000, 300_000])
    given = options.parse_args()
    for trials in given.trials:
        units = trials // EACH
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "misled.db"
            print(f"{units * EACH:,} trials, from nothing:")
            measured(path, units)
            with Store(path) as store:
                store._db.execute("DELETE FROM finished WHERE unit = ?", (units - 1,))  # noqa: SLF001
                store._db.execute(  # noqa: SLF001
                    "DELETE FROM answers WHERE id = (SELECT id FROM requests WHERE key = ?)",
                    (ask(units - 1, 7).key,),
                )
            print(f"{units * EACH:,} trials, of which one is open:")
            measured(path, units)


if __name__ == "__main__":
    main()
