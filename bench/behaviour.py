"""Whether structures, channels, contrasts and replays are recovered through the whole pipeline.

    python bench/behaviour.py [--seeds 100] [--rho 0.3]

    structures net_adoption delete_reflection change   -0.240  -0.238  0.3    95.0  93.0-98.0   ok

For each seed a whole run on planted behaviour: problems, source, gate,
structures, tampering, channels, contrasts, replays, store, grading, tables. The
profile adopts less from a chain that lacks something, and more or less by
channel; how it comes to see what a chain lacks is its own reading of the text
that it was sent. Each line is an estimate's truth, its mean over the seeds, how
many standard errors lie between them, and the share of its intervals that hold
the truth, against the bound of the protocol. A line fails where the 99 % Monte
Carlo interval of that share lies outside its bound, or where the mean is off by
four standard errors. Exit 1 where a line fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, TypeAlias

from coverage import MOST_ERRORS, rate_bounds, verdict
from misled.engines import planted_profile
from misled.engines.planted_profile import LACKS, Solver
from misled.plans import Plan, parse
from misled.records import Entry
from pipeline import fast_folder, run

PROBLEMS = 56  # an error in 25 sources and in 25 gates leaves about 52
DEGREE = 2
EDITS = ("delete_reflection", "delete_verification", "insert")
CONTROLS = ("delete_random", "delete_random_v", "insert_neutral")
CHANNELS = ("assistant", "think", "think_closed")
CONTRASTS = ("no_answer_line", "bare", "other_number", "foreign", "prefix_as_text")
PROFILE = """
[solver]
error = 0.04
stop = 0.03
confuse = 0.05
rho = {rho}
wrong = [1, 1, 1, 1]

[solver.adopt]
baseline = [0.7, 0.6, 0.5]
uncertainty = [0.5]
contradiction = [0.4]
prefix = [0.2]
prefix_as_text = [0.45, 0.4, 0.35]

[solver.channel]
assistant = 1.1
think = 0.6
think_closed = 0.8

[solver.structure]
calculation = 0.9
reflection = 0.6
verification = 0.8
conclusion = 0.7
digression = 1.1

[solver.replay]
chain = 0.4
question = 0.25
text = 0.1
"""
DIGITS = 15  # of the sums
FAR = 4.0  # standard errors
RATES = {"adopted": "adoption", "recovered": "recovery"}
NETS = ("net_adoption", "net_recovery", "net_r")
REPLAYS = {"replay": "chain", "replay_question": "question", "replay_text": "text"}
Cell: TypeAlias = tuple[str, ...]  # table, metric, and what sets the line apart


def main() -> None:
    """Run every seed and print every line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rho", type=float, nargs="+", default=[0.3])
    chosen = parser.parse_args()
    failed = 0
    for rho in chosen.rho:
        failed += measure(rho, chosen.seeds)
    sys.exit(1 if failed else 0)


def measure(rho: float, seeds: int) -> int:
    """How many lines fail at this rho."""
    began = time.perf_counter()
    held, found = Counter[Cell](), defaultdict[Cell, list[Entry]](list)
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        solver = written(Path(folder), rho)
        for seed in range(seeds):
            for cell, e in recovered(Path(folder), seed):
                if e.value is not None and e.low is not None and e.high is not None:
                    found[cell].append(e)
                    held[cell] += counts(cell, e, truth(solver, cell))
    verdicts: Counter[str] = Counter()
    for cell, entries in found.items():
        planted, values = truth(solver, cell), [e.value or 0.0 for e in entries]
        bound = bounds(cell, planted, mean(e.clusters for e in entries))
        word = verdict(held[cell], len(entries), bound)
        off = apart(values, planted)
        word = "FAIL" if off > FAR and cell[0] != "error" else word
        verdicts[word] += 1
        asked = f"{100 * bound[0]:.1f}-{100 * bound[1]:.1f}"
        share, of = 100 * held[cell] / len(entries), len(entries)
        print(f"{' '.join(cell):<56}{planted:>7.3f}{mean(values):>8.3f}{off:>5.1f}{share:>8.1f}  "
              f"{asked:<11} {word}{'' if of == seeds else f', of {of}'}")  # fmt: skip
    words = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"rho {rho}: {words}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    return verdicts["FAIL"]


def apart(values: list[float], planted: float) -> float:
    """How many standard errors the mean of several runs is off."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return abs(mean(values) - planted) / max(error, 1e-3)


def written(folder: Path, rho: float) -> Solver:
    """What is planted; `recovered` reads it from the folder."""
    path = folder / "profile.toml"
    path.write_text(PROFILE.format(rho=rho), encoding="utf-8")
    return planted_profile.load(str(path))


def recovered(folder: Path, seed: int, n: int = PROBLEMS) -> Iterator[tuple[Cell, Entry]]:
    """What the runs of a seed find of it."""
    for made in plans(folder / "profile.toml", seed, n):
        yield from read(run(made, folder / str(seed)))


def plans(profile: Path, seed: int, n: int) -> Iterator[Plan]:
    """Structures, channels and replays; then contrasts, which would be asked in each of these."""
    base: dict[str, Any] = {"problems": ["addition:15+13"], "digits": [DEGREE]}
    edited = base | {"structures": ["intact", *EDITS, *CONTROLS]}
    sent = base | {"channels": CHANNELS}
    shared = {"model": [f"planted/{profile}"], "n": n, "seed": seed}
    yield parse(shared | {"replay": True, "cells": [edited, sent]})
    yield parse(shared | {"contrasts": CONTRASTS[:-1], "cells": [base]})
    prefixed = base | {"methods": ["prefix"]}
    yield parse(shared | {"contrasts": CONTRASTS[-1:], "cells": [prefixed]})


def read(entries: list[Entry]) -> Iterator[tuple[Cell, Entry]]:
    """The entries that have a truth; where nothing differs, the test, too."""
    for e in entries:
        keys, rates = e.keys, {"adopted", "recovered", "minus_adopted", "minus_recovered"}
        if e.table == "structures" and e.metric != "net_r":
            yield (e.table, e.metric, keys["structure"], keys["half"]), e
            if keys["half"] == "change" and keys["structure"] in CONTROLS:
                yield ("error", e.metric, keys["structure"], "change"), e
        elif e.table == "pooled" and keys["channel"] in CHANNELS:
            if e.metric in rates or (e.metric in NETS and keys["against"] == "clean"):
                yield (e.table, e.metric, keys["channel"]), e
        elif e.table == "contrasts" and keys["arm"] in CONTRASTS:
            if e.metric in rates:
                yield (e.table, e.metric, keys["arm"], keys["method"]), e
        elif e.table == "stops" and "prompt_tokens" not in keys and keys["arm"] in REPLAYS:
            yield (e.table, e.metric, keys["arm"]), e


def truth(solver: Solver, cell: Cell) -> float:
    """What the profile plants there."""
    table, metric, name, *rest = cell
    if table == "stops":
        return solver.stopping(REPLAYS[name])
    if table == "pooled":
        return _truth(solver, RATES.get(metric, metric), channel=name)
    if table == "contrasts":
        (method,) = rest
        rate = RATES[metric.removeprefix("minus_")]
        own = _contrast(solver, rate, name, method)
        return _truth(solver, rate, method) - own if metric.startswith("minus_") else own
    intact, edited = _truth(solver, metric), _truth(solver, metric, lacks=LACKS.get(name, ()))
    return {"intact": intact, "edited": edited}.get(rest[0], edited - intact)


def _truth(solver: Solver, rate: str, method: str = "baseline", **how: Any) -> float:
    return planted_profile.truth(solver, method, DEGREE, **how)[rate]


def _contrast(solver: Solver, rate: str, name: str, method: str) -> float:
    """Another number, and another problem's, differ from w in nearly all their digits."""
    if name == "prefix_as_text":
        return _truth(solver, rate, name)
    if name in LACKS:
        return _truth(solver, rate, method, lacks=LACKS[name])
    if (name, rate) == ("foreign", "adoption"):  # what is adopted is no w'; only an error can be
        return _truth(solver, rate, method) - _truth(solver, "net_adoption", method)
    return planted_profile.truth(solver, method, DIGITS)[rate]


def counts(cell: Cell, e: Entry, planted: float) -> bool:
    """Whether the interval holds the truth, or the test errs."""
    if cell[0] == "error":
        return e.p is not None and e.p < 0.05
    return e.low is not None and e.high is not None and e.low <= planted <= e.high


def bounds(cell: Cell, planted: float, clusters: float) -> tuple[float, float]:
    """The protocol's at about 50 problems: rates inside 10 <= Gp <= G - 10, and the rest."""
    table, metric, *_ = cell
    if table == "error":
        return MOST_ERRORS
    if metric == "net_r" or clusters < 45:
        return (0.9, 1.0)
    if metric.startswith(("net_", "minus_")):
        return (0.93, 0.98)
    return rate_bounds(50, planted)


if __name__ == "__main__":
    main()
