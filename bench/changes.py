"""How often a difference of differences errs, and how often its interval holds the truth.

    python bench/changes.py [--seeds 10000]

    error     G 15 x 1, 0.9 of the problems change by one        0.000   4.18  0.0-5.5    ok
    coverage  G 50 x 1, rho 0.5, 0.3 - 0.02 - (0.7 - 0.05)      -0.370  95.80  93.0-97.5  ok

What an edited chain does to net adoption is a difference of two differences in
each problem, with four arms [A.5]. A share rho of the trials takes its
problem's draw, the others their own. Where the truth is 0, what is counted is
how often p < .05, at most 5.5 %; the first cells have the coarsest differences
that there are, a problem that changes by one up or down. (If none could stay as
it is, only sums of one parity were left, and the error would be 6.7 % at G =
50.) Else the interval has
to hold the change in 93 to 97.5 % where at least ten problems are expected to
change and at least ten not, elsewhere in at least 90 %. Bounds and verdicts are
those of `coverage.py`; the exit code is 1 where a cell fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from coverage import MOST_ERRORS, NO_BOUND, rate_bounds, verdict
from misled import intervals
from misled.intervals import Array, Trials

SPAN, STEP = 2.0, 1.0  # as `comparisons` has them for rates
NULLS = ((0.6, 0.02, 0.6, 0.02), (0.3, 0.05, 0.3, 0.05), (0.1, 0.0, 0.1, 0.0), (0.9, 0.0, 0.9, 0.0),
         (0.05, 0.0, 0.45, 0.4), (0.4, 0.0, 0.8, 0.4), (0.02, 0.02, 0.02, 0.02))  # fmt: skip
CHANGES = ((0.3, 0.02, 0.7, 0.05), (0.1, 0.0, 0.3, 0.0), (0.9, 0.0, 0.6, 0.0), (0.5, 0.1, 0.1, 0.5),
           (0.02, 0.0, 0.1, 0.0), (0.95, 0.0, 0.05, 0.0))  # fmt: skip


class Cell(NamedTuple):
    """Shares of the four arms: edited and its control, intact and its control.

    Where `flips` is given, so many problems change by one, up or down, and no other does.
    """

    clusters: int
    per: int = 1
    rho: float = 0.0
    shares: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    flips: float | None = None


def main() -> None:
    """Print every cell, and whether all hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000)
    seeds = parser.parse_args().seeds
    began = time.perf_counter()
    verdicts: Counter[str] = Counter()
    for stream, cell in enumerate(cells()):
        value, bound = truth(cell), bounds(cell)
        word, count = "error" if value == 0 else "coverage", measure(cell, seeds, stream)
        found = verdict(count, seeds, bound)
        verdicts[found] += 1
        asked = "-" if bound == NO_BOUND else f"{100 * bound[0]:.1f}-{100 * bound[1]:.1f}"
        print(f"{word:<9} {_describe(cell):<58}{value:>7.3f}  {100 * count / seeds:>8.2f}  "
              f"{asked:<10} {found}")  # fmt: skip
    counts = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"{verdicts.total()} cells: {counts}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if verdicts["FAIL"] else 0)


def cells() -> Iterator[Cell]:
    """Coarse differences, nulls of equal net effects, and changes; also averaged over six D_T."""
    for clusters, flips in product((10, 12, 15, 20, 25, 30, 50, 100), (0.3, 0.5, 0.7, 0.9, 0.95)):
        yield Cell(clusters, flips=flips)
    for shares, clusters, rho in product((*NULLS, *CHANGES), (15, 20, 30, 50, 100), (0.0, 0.5)):
        yield Cell(clusters, 1, rho, shares)
    for shares, clusters, per in product((NULLS[0], NULLS[2], CHANGES[0]), (20, 50), (2, 6)):
        yield Cell(clusters, per, 0.5, shares)


def truth(cell: Cell) -> float:
    """The planted change."""
    edited, clean, intact, control = cell.shares
    return round(edited - clean - (intact - control), 9) + 0.0


def bounds(cell: Cell) -> tuple[float, float]:
    """Least and most, of errors or of coverage; what counts as a hit is a problem that changes."""
    if truth(cell) == 0:
        return MOST_ERRORS
    changing = float((_differences(cell, 4_000, np.random.default_rng(1)) != 0).mean())
    return rate_bounds(cell.clusters, changing)


def measure(cell: Cell, seeds: int, stream: int) -> int:
    """In how many data sets p is below .05, or the interval holds the planted change."""
    rng = np.random.default_rng([20_270_101, stream])
    means = _differences(cell, seeds, rng)
    trials = Trials(means, np.ones_like(means), np.arange(cell.clusters))
    if truth(cell) == 0:
        return int((intervals.difference_p(trials, STEP) < 0.05).sum())
    _, low, high = intervals.difference(trials, SPAN, STEP)
    return int(((low <= truth(cell) + 1e-9) & (high >= truth(cell) - 1e-9)).sum())


def _differences(cell: Cell, seeds: int, rng: np.random.Generator) -> Array:
    """Of each problem, over its trials, [seeds, clusters]."""
    shape = (seeds, cell.clusters, cell.per)
    if cell.flips is not None:
        up = np.where(rng.random(shape[:2]) < 0.5, 1.0, -1.0)
        return np.where(rng.random(shape[:2]) < cell.flips, up, 0.0)
    shared = rng.random((*shape[:2], 1))
    total = np.zeros(shape[:2])
    for share, sign in zip(cell.shares, (1, -1, -1, 1), strict=True):
        draw = np.where(rng.random(shape) < cell.rho, shared, rng.random(shape))
        total += sign * (draw < share).mean(2)
    return np.asarray(total)


def _describe(cell: Cell) -> str:
    size = f"G {cell.clusters} x {cell.per}"
    if cell.flips is not None:
        return f"{size}, {cell.flips:g} of the problems change by one"
    edited, clean, intact, control = cell.shares
    return f"{size}, rho {cell.rho:g}, {edited:g} - {clean:g} - ({intact:g} - {control:g})"


if __name__ == "__main__":
    main()
