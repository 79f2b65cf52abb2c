"""How often the 95 % intervals hold a planted truth, against the bounds of the protocol.

    python bench/coverage.py [--seeds 10000]

    kind          cell                                             truth  coverage  bound       ...
    rate          G 50 x 6, rho .5, adopt .2                        .200     94.76  93.0-97.5   ok

A cell is G clusters of `per` trials. A share rho of the trials takes its
cluster's draw, the others their own; the draw says whether a trial stops (and
is missing), confuses, adopts or resists. Each cell runs the code of
`misled.intervals` on many data sets. It fails only where the 99 % Monte Carlo
interval of its coverage lies wholly outside the bound (protocol, Calibration);
then the exit code is 1. Of a test (`... error`), what is counted is how often
p < .05 though nothing differs; for McNemar's test that is computed, not drawn.
`truth`, the bounds and `verdict` serve other benches.
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
import numpy.typing as npt
from scipy.special import betaincinv, gammaln, ndtri

from misled import intervals, stats
from misled.intervals import Array, Limits, Trials

BLOCK = 2_500  # data sets drawn at once
WILSON_TOLERANCE = 0.021
NO_BOUND = (0.0, 1.0)
SHAPES = ((1, 0.0), (2, 0.0), (2, 0.5), (6, 0.0), (6, 0.5))  # trials a cluster, rho
FALLING = (0.8, 0.6, 0.45, 0.3, 0.2, 0.1)  # adoption over D_T = 1..6
STRAIGHT = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
MOST_ERRORS = (0.0, 0.055)


class Cell(NamedTuple):
    """What is planted; `adopt` is one chance a trial of a cluster, or the same for all."""

    kind: str
    clusters: int
    per: int = 1
    rho: float = 0.0
    adopt: tuple[float, ...] = (0.0,)
    confuse: float = 0.0
    stop: float = 0.0
    control: float = 0.0  # adoption of the control arm; its confusion in net R

    @property
    def chances(self) -> Array:
        """The chance to adopt, for each trial of a cluster."""
        return np.broadcast_to(np.asarray(self.adopt), self.per)


def main() -> None:
    """Print every cell, and whether all hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000)
    seeds = parser.parse_args().seeds
    began = time.perf_counter()
    print(f"{'kind':<14}{'cell':<58}{'truth':>7}  {'coverage':>8}  {'bound':<11} verdict")
    verdicts: Counter[str] = Counter()
    for index, cell in enumerate(cells()):
        held = errors(cell, seeds, index) if is_test(cell) else coverage(cell, seeds, index)
        bound = bounds(cell)
        word = verdict(held, seeds, bound)
        verdicts[word] += 1
        print(_line(cell.kind, _describe(cell), truth(cell), held / seeds, bound, word))
    for flips, n, error, bound in mcnemar_errors():
        word = "ok" if bound[0] <= error <= bound[1] else "FAIL"
        verdicts[word] += 1
        print(_line("mid-p error", f"n {n}, {flips:g} flips expected", 0.05, error, bound, word))
    counts = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"{verdicts.total()} cells: {counts}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if verdicts["FAIL"] else 0)


def cells() -> Iterator[Cell]:
    """The grid: what the protocol bounds, and what lies outside of that."""
    for clusters, p in product((20, 50, 100, 400), (0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.98)):
        yield Cell("wilson", clusters, adopt=(p,))
    rates = (0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 0.95)
    for clusters, (per, rho), p in product((20, 50, 100), SHAPES[1:], rates):
        yield Cell("rate", clusters, per, rho, adopt=(p,))
    for clusters, rho, stop in product((50, 100), (0.0, 0.5), (0.0, 0.2)):
        yield Cell("rate, pooled", clusters, 6, rho, FALLING, stop=stop)
        yield Cell("R, pooled", clusters, 6, rho, FALLING, 0.05, stop)
    for clusters, (per, rho) in product((50, 100), SHAPES):
        n = clusters * per
        chances = (0.0, 0.2 / n, 0.6 / n, 2 / n, 0.03, 0.1)
        for confuse, adopt in product(chances, (0.0, 0.05, 0.3, 0.6, 0.9)):
            stop = 0.1 if per == 2 and adopt < 0.9 else 0.0
            yield Cell("R", clusters, per, rho, (adopt,), confuse, stop)
        for control, adopt in product((0.0, 0.05), (0.0, *rates)):
            yield Cell("net adoption", clusters, per, rho, (adopt,), control=control)
        for confuse in (0.0, 2 / n, 0.05, 0.2):
            for adopt in (0.0, 0.05, 0.3, 0.6):
                yield Cell("net R", clusters, per, rho, (adopt,), confuse)
            yield Cell("net R", clusters, per, rho, (0.3,), confuse, control=0.02)
    yield from paired_cells()
    yield from crowded_cells()


def paired_cells() -> Iterator[Cell]:
    """What belongs to a trend over D_T, to effort, and to tests."""
    for clusters, rho in product((20, 50, 200), (0.0, 0.5)):
        for adopt, stop in ((STRAIGHT, 0.0), (STRAIGHT, 0.2), ((0.3,), 0.0), ((0.05,), 0.2)):
            yield Cell("slope", clusters, 6, rho, adopt, stop=stop, control=0.05)
        for per in (1, 6) if rho == 0 else (6,):
            yield Cell("median", clusters, per, rho)
            for below, floor in ((0.5, 0.5), (0.6, 0.5), (0.9, 0.5), (0.3, 0.02)):
                yield Cell("share below", clusters, per, rho, (below,), control=floor)
            for p in (0.02, 0.05, 0.1, 0.3, 0.5):
                yield Cell("paired error", clusters, per, rho, (p,), control=p)
        for p, stop in product((0.02, 0.05, 0.1, 0.3, 0.5), (0.0, 0.2)):
            yield Cell("slope error", clusters, 6, rho, (p,), stop=stop, control=p)


def crowded_cells() -> Iterator[Cell]:
    """R where almost all adopt and few are confused, which is where intervals are widest."""
    for clusters, (per, rho), adopt in product((50, 70, 100), SHAPES, (0.8, 0.85, 0.9)):
        for expected in (1.5, 3, 5):
            yield Cell("R", clusters, per, rho, (adopt,), expected / (clusters * per))


def truth(cell: Cell) -> float:
    """The number that the interval has to hold: the estimand, of trials that do not stop."""
    adopt = float(cell.chances.mean())
    r = 0.5 + (0.5 * adopt + 1.5 * cell.confuse) / (1 - cell.stop)
    if cell.kind == "slope":
        straight = np.polyfit(np.arange(cell.per), cell.chances, 1)[0] / (1 - cell.stop)
        return round(float(straight), 12) + 0.0
    return {
        "R": r,
        "R, pooled": r,
        "net adoption": adopt - cell.control,
        "share below": adopt - cell.control,
        "median": float(np.log(2)),
        "slope error": 0.0,
        "paired error": 0.0,
        "net R": r - 0.5 - 1.5 * cell.control,
    }.get(cell.kind, adopt / (1 - cell.stop))


def bounds(cell: Cell) -> tuple[float, float]:
    """The coverage that the protocol asks for, least and most."""
    if is_test(cell):
        return MOST_ERRORS
    if cell.kind == "median":
        return rate_bounds(cell.clusters, 0.0)
    adopt = float(cell.chances.mean()) / (1 - cell.stop)
    expected = cell.clusters * cell.per * cell.confuse
    if cell.kind == "wilson":
        exact = binomial_coverage(cell.clusters, adopt)
        return max(exact - WILSON_TOLERANCE, 0.0), min(exact + WILSON_TOLERANCE, 1.0)
    if "R" in cell.kind:
        outside = 0.9 if cell.kind == "net R" else 0.92
        return r_bounds(cell.clusters, adopt, expected, outside)
    return rate_bounds(cell.clusters, adopt)


def rate_bounds(clusters: int, p: float) -> tuple[float, float]:
    """For a rate that is not Wilson's at fixed n, and for its net."""
    if clusters < 50:
        return NO_BOUND
    return (0.93, 0.975) if 10 <= clusters * p <= clusters - 10 else (0.9, 1.0)


def r_bounds(
    clusters: int, adopt: float, confusions: float, outside: float = 0.92
) -> tuple[float, float]:
    """For R_CPT, by the number of confusions that are expected."""
    if clusters < 50:
        return NO_BOUND
    return (0.925, 0.975) if adopt >= 0.3 and confusions >= 1.5 else (outside, 1.0)


def verdict(held: int, seeds: int, bound: tuple[float, float]) -> str:
    """FAIL where the 99 % interval (Clopper-Pearson) of the coverage lies outside the bound."""
    low = float(betaincinv(held, seeds - held + 1, 0.005)) if held else 0.0
    high = float(betaincinv(held + 1, seeds - held, 0.995)) if held < seeds else 1.0
    if bound == NO_BOUND:
        return "reported"
    return "FAIL" if low > bound[1] or high < bound[0] else "ok"


def is_test(cell: Cell) -> bool:
    """Whether what counts is how often a test errs."""
    return cell.kind.endswith("error")


def binomial_coverage(n: int, p: float) -> float:
    """Of Wilson's interval at (n, p), exactly, from the score test that it inverts."""
    k = np.arange(n + 1)
    inside = np.abs(k - n * p) <= ndtri(0.975) * np.sqrt(n * p * (1 - p))
    return float(_binomial(n, p)[inside].sum())


def mcnemar_errors() -> Iterator[tuple[float, int, float, tuple[float, float]]]:
    """Expected flips, n, and how often mid-p < .05 though both directions are equally likely."""
    for n in (50, 100, 500):
        for flips in (2, 5, 8, 12, 20, 30, 45):
            chance = _binomial(n, flips / n)
            error = 0.0
            for count in range(n + 1):
                gained = np.arange(count + 1)
                rejected = stats.mid_p(gained, count - gained) < 0.05
                error += chance[count] * float(_binomial(count, 0.5)[rejected].sum())
            yield flips, n, error, ((0.035 if flips >= 20 else 0.0), 0.055)


def coverage(cell: Cell, seeds: int, stream: int = 0) -> int:
    """How many of `seeds` data sets have an interval that holds the truth."""
    held = 0
    for block, rng in _blocks(seeds, stream):
        _, low, high = limits(cell, block, rng)
        held += int(((low <= truth(cell) + 1e-6) & (high >= truth(cell) - 1e-6)).sum())
    return held


def errors(cell: Cell, seeds: int, stream: int = 0) -> int:
    """In how many of `seeds` data sets p is below .05."""
    return sum(int((p_values(cell, n, rng) < 0.05).sum()) for n, rng in _blocks(seeds, stream))


def _blocks(seeds: int, stream: int) -> Iterator[tuple[int, np.random.Generator]]:
    rng = np.random.default_rng([20_260_101, stream])
    for start in range(0, seeds, BLOCK):
        yield min(BLOCK, seeds - start), rng


def limits(cell: Cell, seeds: int, rng: np.random.Generator) -> Limits:
    """The intervals of so many data sets."""
    if cell.kind == "median":
        return _medians(cell, seeds, rng)
    if cell.kind == "slope":
        return intervals.difference(*_slopes(cell, seeds, rng))
    r, seen = _scores(cell, seeds, rng)
    if cell.kind in {"net adoption", "share below"}:
        trials = _net((r == 1) - 1.0 * (_draws(cell, seeds, rng) < cell.control))
        return intervals.bonett_price(trials) if cell.per == 1 else intervals.difference(trials, 1)
    if cell.kind == "net R":
        control = np.where(_draws(cell, seeds, rng) < cell.control, 2.0, 0.5)
        return intervals.difference(_net(r - control), 1.5)
    weights = seen.astype(np.float64)
    if "pooled" in cell.kind:
        weights /= np.maximum(seen.sum(2, keepdims=True), 1)
    trials = _trials(r if "R" in cell.kind else (r == 1).astype(np.float64), weights)
    return intervals.r_cpt(trials) if "R" in cell.kind else intervals.rate(trials)


def p_values(cell: Cell, seeds: int, rng: np.random.Generator) -> Array:
    """The p of so many data sets."""
    if cell.kind == "slope error":
        return intervals.difference_p(*_slopes(cell, seeds, rng))
    r, _ = _scores(cell, seeds, rng)
    trials = _net((r == 1) - 1.0 * (_draws(cell, seeds, rng) < cell.control))
    return intervals.bonett_price_p(trials) if cell.per == 1 else intervals.difference_p(trials, 1)


def _scores(
    cell: Cell, seeds: int, rng: np.random.Generator
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The r of each trial, and which trials are there, [seeds, clusters, per]."""
    draw = _draws(cell, seeds, rng)
    seen = draw >= cell.stop
    confused = seen & (draw < cell.stop + cell.confuse)
    adopted = seen & ~confused & (draw < cell.stop + cell.confuse + cell.chances)
    return np.where(confused, 2.0, np.where(adopted, 1.0, 0.5)), seen


def _trials(values: Array, weights: Array) -> Trials:
    seeds, clusters, per = values.shape
    shape = (seeds, clusters * per)
    return Trials(values.reshape(shape), weights.reshape(shape), np.arange(0, shape[1], per))


def _net(differences: Array) -> Trials:
    """The means over each problem's trials, as `stats.paired` has them."""
    means = differences.mean(2)
    return Trials(means, np.ones_like(means), np.arange(means.shape[1]))


def _slopes(cell: Cell, seeds: int, rng: np.random.Generator) -> tuple[Trials, Array]:
    """Of net adoption on D_T in each problem, and their reach."""
    r, seen = _scores(cell, seeds, rng)
    net = (r == 1) - 1.0 * (_draws(cell, seeds, rng) < cell.control)
    trials = _trials(net, seen.astype(np.float64))
    degrees = np.tile(np.arange(1.0, cell.per + 1), (seeds, cell.clusters))
    return intervals.slopes(degrees, trials, 1.0)


def _medians(cell: Cell, seeds: int, rng: np.random.Generator) -> Limits:
    """Of exponential values."""
    values = -np.log1p(-_draws(cell, seeds, rng).astype(np.float64)).reshape(seeds, -1)
    clusters = np.repeat(np.arange(cell.clusters), cell.per)
    found = [stats.median(row, clusters) for row in values]
    ends = [[e.value, e.low, e.high] for e in found]
    return Limits(*np.array(ends, np.float64).T)


def _draws(cell: Cell, seeds: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Uniform, [seeds, clusters, per]; a share rho of them is their cluster's."""
    shape = (seeds, cell.clusters, cell.per)
    own = rng.random(shape, dtype=np.float32)
    if not cell.rho:
        return own
    shared = rng.random((*shape[:2], 1), dtype=np.float32)
    return np.where(rng.random(shape, dtype=np.float32) < cell.rho, shared, own)


def _binomial(n: int, p: float) -> Array:
    """The chances of 0..n hits."""
    k = np.arange(n + 1)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + k * np.log(p) + (n - k) * np.log1p(-p)))


def _describe(cell: Cell) -> str:
    adopt = "/".join(f"{chance:g}" for chance in cell.adopt)
    rest = {name: getattr(cell, name) for name in ("confuse", "stop", "control")}
    planted = [f"{name} {chance:.2g}" for name, chance in rest.items() if chance]
    return ", ".join(
        [f"G {cell.clusters} x {cell.per}", f"rho {cell.rho:g}", f"adopt {adopt}", *planted]
    )


def _line(
    kind: str, cell: str, value: float, share: float, bound: tuple[float, float], word: str
) -> str:
    asked = f"{bound[0] * 100:.1f}-{bound[1] * 100:.1f}" if bound != NO_BOUND else "-"
    return f"{kind:<14}{cell:<58}{value:7.3f}  {share * 100:8.2f}  {asked:<11} {word}"


if __name__ == "__main__":
    main()
