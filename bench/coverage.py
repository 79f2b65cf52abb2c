"""How often the 95 % intervals hold a planted truth, against the bounds of the protocol.

    python bench/coverage.py [--seeds 10000]

    kind          cell                                             truth  coverage  bound       ...
    rate          G 50 x 6, rho .5, adopt .2                        .200     94.76  93.0-97.5   ok

A cell is G clusters of `per` trials. A share rho of the trials takes its
cluster's draw, the others their own; the draw says whether a trial stops (and
is missing), confuses, adopts or resists. Each cell runs the code of
`misled.intervals` on many data sets. It fails only where the 99 % Monte Carlo
interval of its coverage lies wholly outside the bound (protocol, Calibration);
then the exit code is 1. At the edge, where fewer than 10 clusters are expected
not to adopt, R_CPT can be too wide: such a cell fails, too. The error rates of McNemar's test are
computed, not drawn. `truth`, the bounds and `verdict` serve other benches.
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

from misled import intervals
from misled.intervals import Array, Limits, Trials
from misled.stats import mid_p

BLOCK = 2_500  # data sets drawn at once
WILSON_TOLERANCE = 0.021
NO_BOUND = (0.0, 1.0)
SHAPES = ((1, 0.0), (2, 0.0), (2, 0.5), (6, 0.0), (6, 0.5))  # trials a cluster, rho
FALLING = (0.8, 0.6, 0.45, 0.3, 0.2, 0.1)  # adoption over D_T = 1..6


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
        held = coverage(cell, seeds, index)
        bound = bounds(cell)
        word = verdict(held, seeds, bound, edge=is_edge(cell))
        verdicts[word] += 1
        print(_line(cell.kind, _describe(cell), truth(cell), held / seeds, bound, word))
    for flips, n, error, bound in mcnemar_errors():
        word = "ok" if bound[0] <= error <= bound[1] else "FAIL"
        verdicts[word] += 1
        print(_line("mid-p error", f"n {n}, {flips:g} flips expected", 0.05, error, bound, word))
    counts = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"{verdicts.total()} cells: {counts}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if verdicts["FAIL"] or verdicts["wide"] else 0)


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


def truth(cell: Cell) -> float:
    """The number that the interval has to hold: the estimand, of trials that do not stop."""
    adopt = float(cell.chances.mean())
    r = 0.5 + (0.5 * adopt + 1.5 * cell.confuse) / (1 - cell.stop)
    return {
        "R": r,
        "R, pooled": r,
        "net adoption": adopt - cell.control,
        "net R": r - 0.5 - 1.5 * cell.control,
    }.get(cell.kind, adopt / (1 - cell.stop))


def bounds(cell: Cell) -> tuple[float, float]:
    """The coverage that the protocol asks for, least and most."""
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


def verdict(held: int, seeds: int, bound: tuple[float, float], *, edge: bool = False) -> str:
    """FAIL where the 99 % interval (Clopper-Pearson) of the coverage lies outside the bound.

    At an edge, an interval that holds the truth too often is `wide`, which fails, too.
    """
    low = float(betaincinv(held, seeds - held + 1, 0.005)) if held else 0.0
    high = float(betaincinv(held + 1, seeds - held, 0.995)) if held < seeds else 1.0
    if bound == NO_BOUND:
        return "reported"
    if low > bound[1]:
        return "wide" if edge else "FAIL"
    return "FAIL" if high < bound[0] else "ok"


def is_edge(cell: Cell) -> bool:
    """Whether fewer than 10 clusters are expected not to adopt, where no rate is bounded."""
    return cell.clusters * (1 - float(cell.chances.mean())) < 10


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
                rejected = mid_p(gained, count - gained) < 0.05
                error += chance[count] * float(_binomial(count, 0.5)[rejected].sum())
            yield flips, n, error, ((0.035 if flips >= 20 else 0.0), 0.055)


def coverage(cell: Cell, seeds: int, stream: int = 0) -> int:
    """How many of `seeds` data sets have an interval that holds the truth."""
    rng = np.random.default_rng([20_260_101, stream])
    held = 0
    for start in range(0, seeds, BLOCK):
        _, low, high = limits(cell, min(BLOCK, seeds - start), rng)
        held += int(((low <= truth(cell) + 1e-6) & (high >= truth(cell) - 1e-6)).sum())
    return held


def limits(cell: Cell, seeds: int, rng: np.random.Generator) -> Limits:
    """The intervals of so many data sets."""
    draw = _draws(cell, seeds, rng)
    seen = draw >= cell.stop
    confused = seen & (draw < cell.stop + cell.confuse)
    adopted = seen & ~confused & (draw < cell.stop + cell.confuse + cell.chances)
    r = np.where(confused, 2.0, np.where(adopted, 1.0, 0.5))
    if cell.kind == "net adoption":
        return _net(adopted - 1.0 * (_draws(cell, seeds, rng) < cell.control), cell, 1.0)
    if cell.kind == "net R":
        return _net(r - np.where(_draws(cell, seeds, rng) < cell.control, 2.0, 0.5), cell, 1.5)
    weights = seen.astype(np.float64)
    if "pooled" in cell.kind:
        weights /= np.maximum(seen.sum(2, keepdims=True), 1)
    values = r if "R" in cell.kind else adopted.astype(np.float64)
    shape = (seeds, cell.clusters * cell.per)
    starts = np.arange(0, shape[1], cell.per)
    trials = Trials(values.reshape(shape), weights.reshape(shape), starts)
    return intervals.r_cpt(trials) if "R" in cell.kind else intervals.rate(trials)


def _net(differences: Array, cell: Cell, span: float) -> Limits:
    """Of the means over each problem's trials, as `stats.paired` has them."""
    means = differences.mean(2)
    trials = Trials(means, np.ones_like(means), np.arange(cell.clusters))
    if cell.per == 1 and cell.kind == "net adoption":
        return intervals.bonett_price(trials)
    return intervals.difference(trials, span)


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
