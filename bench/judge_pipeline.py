"""Coverage of study B's 95 % intervals through the whole pipeline, on planted judges.

    python bench/judge_pipeline.py [--seeds 300]

For each seed a whole run: problems, generations, labels, verdicts without and
with the chain and both again, statements in the chain, store, reading, tables.
One judge follows the chain, with some items that decide for themselves; the
other does not look at it. The truth is what the profile plants
(`planted_judge.truth_judge`). Of the judge that does not look, the tests are
counted, too: how often p < .05. Rule and verdicts are those of `coverage.py`;
bounds are 93 to 97.5 % where at least 10 of each kind are expected, else 90.
Prints a line a cell; exit 1 where one fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from coverage import MOST_ERRORS, verdict
from misled import judgements
from misled.directory import execute
from misled.engines.planted_judge import load_judge, truth_judge
from misled.judge_plans import JudgePlan
from misled.plans import study
from misled.records import Entry
from misled.session import prepare
from misled.settings import Pace

PROBLEMS = 160
ACCURACY = 0.6
KS = (0, 2, 4)
GOOD, FAIR = (0.93, 0.975), (0.9, 1.0)
SOLVER = """
[solver]
gate = 0.6

[solver.adopt]
baseline = [0]
uncertainty = [0]
contradiction = [0]
prefix = [0]

[judge]
"""
JUDGES = {
    "follows": """
tpr = { answer = 0.7, reasoning = 0.82 }
fpr = { answer = 0.35, reasoning = 0.6 }
per_counterfactual = -0.06
unreadable = 0.02
rho = 0.3
""",
    "still": """
tpr = { answer = 0.75 }
fpr = { answer = 0.3 }
unreadable = 0.02
""",
}
TESTED = ("change_tpr", "change_fpr", "change_pass", "change_alignment", "net_changed")


class Cell(NamedTuple):
    """A number that has a truth, or a test."""

    judge: str
    table: str
    metric: str
    condition: str = ""

    @property
    def truth(self) -> str:
        """What `truth_judge` calls it."""
        name = "accuracy" if self.table == "corrected" else self.metric
        return f"{self.condition}/{name}" if self.condition else name


class Tally(NamedTuple):
    """Over all seeds, by cell: intervals, those that hold the truth, and the sum of the values."""

    claimed: Counter[Cell]
    held: Counter[Cell]
    total: Counter[Cell]


def main() -> None:
    """Run every seed and print every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=300)
    seeds = parser.parse_args().seeds
    began = time.perf_counter()
    tally, errors = Tally(Counter(), Counter(), Counter()), Counter[Cell]()
    tests = Counter[Cell]()
    with tempfile.TemporaryDirectory(dir=_fast()) as folder:
        truth = _truth(Path(folder))
        for seed in range(seeds):
            for cell, entry in read(run(plan(Path(folder), seed), Path(folder) / str(seed))):
                _count(tally, cell, entry, truth[cell.judge][cell.truth])
                if cell.judge == "still" and cell.metric in TESTED and entry.p is not None:
                    tests[cell] += 1
                    errors[cell] += entry.p < 0.05
    words = Counter[str]()
    for cell in sorted(tally.claimed):
        words[_line(cell, tally, truth[cell.judge])] += 1
    for cell in sorted(tests):
        word = verdict(errors[cell], tests[cell], MOST_ERRORS)
        words[word] += 1
        print(f"{'error of ' + cell.metric:<58}{100 * errors[cell] / tests[cell]:>23.1f}  {word}")
    counts = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    print(f"{words.total()} cells: {counts}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if words["FAIL"] else 0)


def _truth(folder: Path) -> dict[str, dict[str, float]]:
    """Writes the profiles; what each of them plants."""
    found = {}
    for name, text in JUDGES.items():
        path = folder / f"{name}.toml"
        path.write_text(SOLVER + text, encoding="utf-8")
        judge = load_judge(str(path))
        if judge is None:
            raise ValueError(f"{name} plants no judge")
        found[name] = truth_judge(judge, ACCURACY, ks=KS)
    return found


def plan(folder: Path, seed: int) -> JudgePlan:
    """One run of the calibration."""
    judges = [f"planted/{folder / name}.toml" for name in JUDGES]
    cell = {
        "problems": ["addition:6+5"],
        "conditions": ["answer", "reasoning", "again_answer", "again_reasoning", "controlled"],
        "counterfactual": list(KS),
    }
    keys = {"judge": judges, "generator": judges[:1], "n": PROBLEMS, "seed": seed, "cells": [cell]}
    made = study({"study": "judge"} | keys)
    if not isinstance(made, JudgePlan):
        raise TypeError("the plan is of another study")
    return made


def run(made: JudgePlan, directory: Path) -> list[Entry]:
    """The estimates of a run through store, engine, labels and tables."""
    _, found = execute(prepare(made), directory, Pace(), lambda *_: None)
    for path in directory.iterdir():
        path.unlink()
    return judgements.entries(found.rows, seed=made.seed)


def read(entries: list[Entry]) -> Iterator[tuple[Cell, Entry]]:
    """The entries that have a truth."""
    for entry in entries:
        name, keys, table = Path(entry.keys.get("judge", "")).stem, entry.keys, entry.table
        condition = keys.get("condition", "")
        if table == "judge" and condition in {"answer", "reasoning"}:
            if entry.metric not in {"d_prime", "criterion"}:
                yield Cell(name, table, entry.metric, condition), entry
        elif table == "corrected" and entry.metric == "corrected_accuracy":
            yield Cell(name, table, entry.metric, condition), entry
        elif (
            table == "changes"
            or (table == "transitions" and not entry.metric.startswith("unchanged"))
            or (table == "show" and entry.metric == "change_balanced_accuracy")
            or (table == "floor" and keys["answers"] == "all" and "net_" in entry.metric)
            or (table == "controlled_changes" and entry.metric.startswith("slope"))
        ) and not entry.metric.endswith("/exact"):
            yield Cell(name, table, entry.metric), entry


def _count(tally: Tally, cell: Cell, entry: Entry, truth: float) -> None:
    if entry.value is not None and entry.low is not None and entry.high is not None:
        tally.claimed[cell] += 1
        tally.held[cell] += entry.low <= truth <= entry.high
        tally.total[cell] += entry.value  # type: ignore[assignment]


def _line(cell: Cell, tally: Tally, truths: dict[str, float]) -> str:
    """Prints a cell; the word on its coverage."""
    of, truth = tally.claimed[cell], truths[cell.truth]
    bound = GOOD if _expected(cell, truths) >= 10 else FAIR
    word = verdict(tally.held[cell], of, bound)
    mean, share = tally.total[cell] / of, 100 * tally.held[cell] / of
    asked = f"{100 * bound[0]:.1f}-{100 * bound[1]:.1f}"
    print(f"{' '.join(cell):<58}{truth:>7.3f}{mean:>8.3f}{share:>8.1f}  {asked:<11} {word}")
    return word


def _expected(cell: Cell, truths: dict[str, float]) -> float:
    """How many items of the rarer kind decide a number."""
    strata = {"tpr": ACCURACY, "fpr": 1 - ACCURACY}
    if cell.table == "judge" and cell.metric == "youden":
        rates = {name: truths[f"{cell.condition}/{name}"] for name in strata}
        return min(PROBLEMS * strata[n] * min(p, 1 - p) for n, p in rates.items())
    if cell.table in {"judge", "transitions"}:
        share, of = truths[cell.truth], strata.get(cell.metric, 1.0)
        return PROBLEMS * of * min(share, 1 - share)
    if cell.table == "corrected":
        return 0.0
    kinds = {"tpr": ("reassured", "overcritical"), "fpr": ("misled", "corrected")}
    flips = kinds.get(cell.metric.rpartition("_")[2], ("changed",))
    return PROBLEMS * sum(truths[name] for name in flips) / 2


def _fast() -> str | None:
    """A folder in memory where the platform has one: 300 runs commit 3,000 times."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    main()
