"""A run that grows: time and memory a trial, and how long it takes to go on.

    python bench/scale.py [--trials 100000 300000]

Trials of the toy kind (an answer at once, a row of the first study each, replies and
prompts of 2 kB as a study has them) through walk, lanes, pool, store and ledger. For each
size, in a process of its own: trials a second, processor time a trial and bytes written for
one, in the first and the last tenth; memory in the middle and at its highest; the same for
the tables, and for a frame of all rows, which they do without; and, of a store that lacks its
last unit, seconds until a run that goes on asks for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import NamedTuple

import uvloop

from misled import estimates
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


def peak() -> float:
    """Resident megabytes at their highest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


class Mark(NamedTuple):
    """How far time, processor and disk are."""

    time: float
    processor: float
    written: float


def mark() -> Mark:
    """Now."""
    lines = Path("/proc/self/io").read_text("ascii").splitlines()
    counts = dict(line.split(": ") for line in lines)
    return Mark(time.perf_counter(), time.process_time(), float(counts["wchar"]))


def tenths(marks: list[Mark], trials: int) -> dict[str, float]:
    """What the first and the last tenth of a run took."""
    found: dict[str, float] = {}
    for name, (one, two) in {"first": marks[:2], "last": marks[-2:]}.items():
        spent = [(b - a) / (trials / 10) for a, b in zip(one, two, strict=True)]
        found[f"{name} tenth: trials a second"] = 1 / spent[0]
        found[f"{name} tenth: us of processor a trial"] = 1e6 * spent[1]
        found[f"{name} tenth: bytes written a trial"] = spent[2]
    return found


def go_on(path: Path, units: int, *, tables: bool) -> dict[str, float]:
    """The run from wherever it stands; what it took."""
    began, toy, ledger = time.perf_counter(), Toy(), Ledger()
    marks: list[Mark] = []
    middle = 0.0
    with Store(path) as store, store.reader() as reader:
        store.counts()
        done = store.finished()
        fresh = ((unit, unit) for unit in range(units) if unit not in done)
        frontier = Frontier(fresh, walk, reader.get, ledger.add, Limits())
        frontier.kept = ((unit, unit) for unit in range(units) if unit in done)
        frontier.window = 256

        def beat() -> None:
            nonlocal middle
            while frontier.progress.units * 10 // units >= len(marks):
                marks.append(mark())
            if not middle and 2 * frontier.progress.units >= units:
                middle = memory()

        uvloop.run(run(frontier, {"toy": toy}, store, beat))
        assert frontier.progress.units == units
    ended = time.perf_counter()
    found = {
        "seconds until the first request": (toy.first or ended) - began,
        "seconds": ended - began,
        **tenths(marks, units * EACH),
        "MB in the middle": middle,
        "MB at most": peak(),
    }
    if tables:
        began = time.perf_counter()
        assert estimates.entries(ledger)
        found["tables: seconds"] = time.perf_counter() - began
        found["tables: MB of the process at most"] = peak()
    began = time.perf_counter()
    assert ledger.frame().height == units * EACH
    found["frame: seconds"] = time.perf_counter() - began
    found["frame: MB of the process at most"] = peak()
    found["MB on disk"] = sum(each.stat().st_size for each in path.parent.iterdir()) / 1e6
    return found


def measured(path: Path, units: int, *more: str) -> None:
    """Print the numbers of `go_on` in a process of its own."""
    command = [sys.executable, __file__, "--child", str(path), str(units), *more]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    for name, value in json.loads(done.stdout).items():
        print(f"    {name:<38} {value:12,.1f}", flush=True)


def main() -> None:
    """Grow, cut, and go on."""
    if sys.argv[1:2] == ["--child"]:
        place, units, *more = sys.argv[2:]
        print(json.dumps(go_on(Path(place), int(units), tables="tables" in more)))
        return
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--trials", type=int, nargs="+", default=[100_000, 300_000])
    given = options.parse_args()
    for trials in given.trials:
        units = trials // EACH
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "misled.db"
            print(f"{units * EACH:,} trials, from nothing:")
            measured(path, units, "tables")
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
