"""Coverage of the 95 % intervals through the whole pipeline, on planted behaviour.

    python bench/pipeline.py [--seeds 1000] [--rho 0 0.5]

For each seed a whole run: problems, source, gate, tampering, probes, controls,
store, grading, tables. The truth of each cell is what the profile plants
(`planted_profile.truth`). The rule is that of the protocol: a cell fails only
where the 99 % Monte Carlo interval of its coverage lies wholly outside the
bound. Prints a line a cell; exit 1 where one fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from coverage import rate_bounds, verdict
from misled import estimates
from misled.directory import execute
from misled.engines import planted_profile
from misled.plans import Plan, parse
from misled.records import Entry
from misled.session import prepare
from misled.settings import Pace

PROBLEMS = 52  # an error in 25 sources leaves about 50
METHODS = ("baseline", "contradiction")
DEGREES = (1, 3)
PROFILE = """
[solver]
error = 0.04
stop = 0.03
confuse = 0.06
rho = {rho}
wrong = [1, 1, 1, 1]

[solver.adopt]
baseline = [0.6, 0.5, 0.4]
uncertainty = [0.5]
contradiction = [0.4, 0.35, 0.3]
prefix = [0.2]
"""
# Metric of a table, against which control -> the name of its truth.
TRUTHS = {
    ("adopted", None): "adoption",
    ("recovered", None): "recovery",
    ("confused", None): "confusion",
    ("stopped", None): "stop",
    ("r_cpt", None): "r_cpt",
    ("net_adoption", "clean"): "net_adoption",
    ("net_recovery", "clean"): "net_recovery",
    ("net_r", "clean"): "net_r",
    ("net_adoption", "again"): "net_adoption_again",
    ("net_recovery", "again"): "net_recovery_again",
    ("net_r", "again"): "net_r_again",
}
Cell = tuple[str, str, str, str]  # metric, against, method, degrees


def main() -> None:
    """Run every seed and print every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--rho", type=float, nargs="+", default=[0.0, 0.5])
    chosen = parser.parse_args()
    failed = 0
    for rho in chosen.rho:
        failed += measure(rho, chosen.seeds)
    sys.exit(1 if failed else 0)


def measure(rho: float, seeds: int) -> int:
    """How many cells fail at this rho."""
    began = time.perf_counter()
    held: Counter[Cell] = Counter()
    claimed: Counter[Cell] = Counter()
    sums: Counter[Cell] = Counter()
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        profile = Path(folder) / "profile.toml"
        profile.write_text(PROFILE.format(rho=rho), encoding="utf-8")
        solver = planted_profile.load(str(profile))
        for seed in range(seeds):
            for cell, entry in read(run(plan(profile, seed), Path(folder) / str(seed))):
                if entry.value is None or entry.low is None or entry.high is None:
                    continue
                truth = truth_of(solver, cell)
                claimed[cell] += 1
                sums[cell] += entry.value  # type: ignore[assignment]
                held[cell] += entry.low <= truth <= entry.high
    verdicts: Counter[str] = Counter()
    for cell in sorted(claimed):
        truth = truth_of(solver, cell)
        bound = bound_of(cell, truth)
        word = verdict(held[cell], claimed[cell], bound)
        verdicts[word] += 1
        mean = sums[cell] / claimed[cell]
        share = 100 * held[cell] / claimed[cell]
        name = " ".join(cell)
        shown = f"{100 * bound[0]:.1f}-{100 * bound[1]:.1f}"
        print(f"{name:<48}{truth:>7.3f}{mean:>8.3f}{share:>8.1f}  {shown:<11} {word}")
    words = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"rho {rho}: {words}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    return verdicts["FAIL"]


def plan(profile: Path, seed: int) -> Plan:
    """One run of the calibration."""
    cell = {"problems": ["addition:15+13"], "digits": DEGREES, "methods": METHODS}
    return parse({"model": [f"planted/{profile}"], "n": PROBLEMS, "seed": seed, "cells": [cell]})


def run(made: Plan, directory: Path) -> list[Entry]:
    """The estimates of a run through store, engine, grading and tables."""
    _, found = execute(prepare(made), directory, Pace(), lambda *_: None)
    for path in directory.iterdir():
        path.unlink()
    return estimates.entries(found.rows)


def read(entries: list[Entry]) -> Iterator[tuple[Cell, Entry]]:
    """The entries of the cells that have a truth, one degree and pooled."""
    for entry in entries:
        if entry.table not in {"outcomes", "cpt", "net", "pooled"}:
            continue
        if entry.keys.get("arm", "tampered") != "tampered":
            continue
        against = entry.keys.get("against")
        if (entry.metric, against) not in TRUTHS:
            continue
        if entry.table == "cpt" and entry.metric != "r_cpt":
            continue
        degrees = entry.keys.get("d_t", "")
        yield (entry.metric, against or "", entry.keys["method"], degrees), entry


def truth_of(solver: planted_profile.Solver, cell: Cell) -> float:
    """What the profile plants in a cell; a pooled one weighs its degrees equally."""
    metric, against, method, degrees = cell
    name = TRUTHS[metric, against or None]
    each = [int(degrees)] if degrees.isdigit() else DEGREES
    return sum(planted_profile.truth(solver, method, d)[name] for d in each) / len(each)


def bound_of(cell: Cell, truth: float) -> tuple[float, float]:
    """The protocol's bound at G = 50: rates inside 10 <= Gp <= G - 10, R and the rest."""
    metric = cell[0]
    if metric == "r_cpt":
        return (0.925, 0.975)  # adoption is at least .3 and three confusions are expected
    if metric.startswith("net"):
        return (0.92, 1.0) if metric == "net_r" else (0.93, 0.975)
    return rate_bounds(50, truth)


def fast_folder() -> str | None:
    """A folder in memory where the platform has one: 1,000 runs commit 4,000 times."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


if __name__ == "__main__":
    main()
