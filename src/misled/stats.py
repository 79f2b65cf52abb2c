r"""Estimates: a number with its interval, its n and how it was made (protocol, Statistics).

    >>> rate([1] * 30 + [0] * 70, range(100))
    Estimate(value=0.3, low=0.2189..., high=0.3958..., n=100, clusters=100, method='Wilson')

All intervals are 95 %. A cluster (a problem, a template) is given for each
trial by any label. Fewer than 10 clusters get no interval, and no interval has
zero width: where the data show no variation that could bound it, none is
claimed, and `method` says why.

Knows nothing about outcomes, arms or tables; how limits are computed is in
`intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace
from scipy.special import bdtr

from misled import intervals
from misled.intervals import LEVEL, Array, Limits, Trials
from misled.records import Estimate, Record

__all__ = [
    "NOTHING",
    "McNemar",
    "estimates",
    "holm",
    "mcnemar",
    "mean",
    "median",
    "mid_p",
    "paired",
    "r_cpt",
    "rate",
    "t_method",
]

FEWEST_CLUSTERS = 10  # below it, no interval is claimed
FEW_CLUSTERS = 20  # below it, a t interval says so


class McNemar(Record, frozen=True):
    """Flips one way and the other, with two-sided p.

    Exact p can fall below .05 from 6 flips on, mid-p from 5 on.
    """

    gained: int
    lost: int
    mid_p: float
    exact_p: float


def rate(
    hits: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Estimate:
    """The share of hits, which are 0 or 1: Wilson, or Wilson at n_eff."""
    trials = _sorted(hits, clusters, weights)
    if not np.isin(trials.values, (0, 1)).all():
        raise ValueError("a hit is 0 or 1")
    if not trials.values.size:
        return NOTHING
    single = intervals.is_single(trials)[0]
    return _estimate(intervals.rate(trials), trials, "Wilson" if single else "Wilson at n_eff")


def r_cpt(
    r: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Estimate:
    """R_CPT [A eq. 2], the mean of r, which is in [.5, 1] or 2: MOVER."""
    trials = _sorted(r, clusters, weights)
    resisted_or_adopted = (trials.values >= 0.5) & (trials.values <= 1)
    if not (resisted_or_adopted | (trials.values == 2)).all():
        raise ValueError("an r is in [.5, 1], or 2")
    if not trials.values.size:
        return NOTHING
    return _estimate(intervals.r_cpt(trials), trials, "MOVER")


def paired(
    first: npt.ArrayLike, second: npt.ArrayLike, clusters: npt.ArrayLike, *, span: float = 1.5
) -> Estimate:
    """The mean of first - second over aligned items (problems), each of which counts once.

    Bonett-Price where both are 0 or 1 and each cluster holds one item, else t
    on cluster means. `span` is the largest difference there can be: 1 between
    rates, 1.5 between r, infinity between tokens or seconds.
    """
    trials, binary = _differences(first, second, clusters, span)
    if not trials.values.size:
        return NOTHING
    if binary:
        return _estimate(intervals.bonett_price(trials), trials, "Bonett-Price")
    return _by_t(trials, span)


def paired_p(
    first: npt.ArrayLike, second: npt.ArrayLike, clusters: npt.ArrayLike, *, span: float = 1.5
) -> float | None:
    """Two-sided p of no difference, below .05 where the interval of `paired` leaves out 0.

    None where `paired` claims no interval.
    """
    trials, binary = _differences(first, second, clusters, span)
    if trials.starts.size < FEWEST_CLUSTERS:
        return None
    p = intervals.bonett_price_p(trials) if binary else intervals.difference_p(trials, span)
    return _claimed(p)


def below(
    ratios: npt.ArrayLike, floor: npt.ArrayLike, clusters: npt.ArrayLike, *, threshold: float
) -> Estimate:
    """The share of ratios below a threshold minus that of the floor's, over aligned items (A.7)."""
    pair = np.stack([np.asarray(ratios, np.float64), np.asarray(floor, np.float64)])
    if np.isnan(pair).any():
        raise ValueError("a ratio is a number")
    under = pair < threshold
    return paired(under[0], under[1], clusters, span=1.0)


def slope(
    x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, *, span: float = 1.5
) -> Estimate:
    """The mean over clusters of the least-squares slope of y on x in each: t on the slopes.

    `span` is the largest |y| there can be, as in `paired`. A cluster without
    two different x has no slope: n and clusters count the others.
    """
    trials, reach, n = _slopes(x, y, clusters, span)
    if not n:
        return NOTHING
    return replace(_by_t(trials, reach, "slopes"), n=n)


def slope_p(
    x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, *, span: float = 1.5
) -> float | None:
    """Two-sided p of no slope on average, as the interval of `slope` has it, or None."""
    trials, reach, _ = _slopes(x, y, clusters, span)
    if trials.starts.size < FEWEST_CLUSTERS:
        return None
    return _claimed(intervals.difference_p(trials, reach))


def mean(
    values: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Estimate:
    """The mean of a quantity without bounds, such as tokens: t on cluster means."""
    trials = _sorted(values, clusters, weights)
    if not trials.values.size:
        return NOTHING
    return _by_t(trials, np.inf)


def median(values: npt.ArrayLike, clusters: npt.ArrayLike) -> Estimate:
    """The median, between order statistics: of N, or where clusters repeat themselves of n_eff.

    Of paired differences, too. Where ties would leave no width, the nearest
    other values bound it. A value that is only known to be larger than the
    others (right-censored) is infinite; an end among those is none.
    """
    value = np.asarray(values, np.float64)
    beyond = 2 * np.abs(value[np.isfinite(value)]).max(initial=0.0) + 1
    trials = _sorted(np.where(value == np.inf, beyond, value), clusters, None)
    if not trials.values.size:
        return NOTHING
    ordered = np.sort(trials.values[0])
    middle = np.median(ordered)
    # A tie counts half on either side, so that the share below the median is 1/2.
    under = (trials.values < middle) + 0.5 * (trials.values == middle)
    size = int(intervals.n_eff(trials._replace(values=under))[0])
    tail = bdtr(np.arange(size // 2 + 1), size, 0.5)
    rank = int((tail <= (1 - LEVEL) / 2).sum()) * (ordered.size + 1) // (size + 1)
    # Fewer than 6 order statistics hold the median too rarely, even the outermost.
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (middle, middle)
    if low == high and rank:
        low = ordered[ordered < middle].max(initial=ordered[0])
        high = ordered[ordered > middle].min(initial=ordered[-1])
    limits = Limits(*(np.array([end]) for end in (middle, low, high)))
    estimate = _estimate(limits, trials, "order statistics")
    if ordered[ordered.size // 2] == beyond:
        return replace(estimate, value=None, low=None, high=None, method="none: censored")
    if high == beyond:
        return replace(estimate, low=None, high=None, method="none: censored")
    return estimate


def mcnemar(gained: int, lost: int) -> McNemar:
    """Whether flips one way and the other are equally likely: mid-p, and exact beside it."""
    exact = min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5)))
    return McNemar(gained, lost, float(mid_p(gained, lost)), exact)


def mid_p(gained: npt.ArrayLike, lost: npt.ArrayLike) -> Array:
    """Two-sided mid-p of McNemar's test for each pair of counts; 1 where nothing flipped."""
    fewer, flips = np.minimum(gained, lost), np.add(gained, lost)
    below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), flips, 0.5), 0.0)
    return np.asarray(np.minimum(below + bdtr(fewer, flips, 0.5), 1.0))


def holm(p: npt.ArrayLike) -> Array:
    """Holm's adjusted p of one family, in the order given."""
    raw = np.asarray(p, np.float64)
    if not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError("a p is in [0, 1]")
    order = np.argsort(raw, kind="stable")
    steps = np.maximum.accumulate(raw[order] * np.arange(raw.size, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


NOTHING = Estimate(None, None, None, 0, 0, "none: no trials")


def _sorted(
    values: npt.ArrayLike, clusters: npt.ArrayLike, weights: npt.ArrayLike | None
) -> Trials:
    """One data set, by cluster; trials of weight 0 are left out."""
    value = np.asarray(values, np.float64)
    label = np.asarray(clusters)
    weight = np.ones(value.shape) if weights is None else np.asarray(weights, np.float64)
    if not value.shape == label.shape == weight.shape == (value.size,):
        raise ValueError(f"{value.size} values, {label.size} clusters, {weight.size} weights")
    if not np.isfinite(value).all() or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("values and weights are finite, and weights not negative")
    order = np.argsort(label, kind="stable")[weight[np.argsort(label, kind="stable")] > 0]
    starts = np.unique(label[order], return_index=True)[1]
    return Trials(value[order][None], weight[order][None], starts)


def _differences(
    first: npt.ArrayLike, second: npt.ArrayLike, clusters: npt.ArrayLike, span: float
) -> tuple[Trials, bool]:
    """The differences, and whether they are of pairs of 0 and 1, one a cluster."""
    pair = np.stack([np.asarray(first, np.float64), np.asarray(second, np.float64)])
    trials = _sorted(pair[0] - pair[1], clusters, None)
    if not trials.values.size:
        return trials, False
    binary = bool(np.isin(pair, (0, 1)).all() and intervals.is_single(trials)[0])
    if not binary and np.abs(trials.values).max() > span + 1e-9:
        raise ValueError(f"a difference is larger than {span}")
    return trials, binary


def _slopes(
    x: npt.ArrayLike, y: npt.ArrayLike, clusters: npt.ArrayLike, span: float
) -> tuple[Trials, float, int]:
    """The slopes of the clusters that have one, their largest mean, and how many y they rest on."""
    trials, at = _sorted(y, clusters, None), _sorted(x, clusters, None).values
    if not trials.values.size:
        return trials, span, 0
    if np.abs(trials.values).max() > span + 1e-9:
        raise ValueError(f"a value is larger than {span}")
    each, reach = intervals.slopes(at, trials, span)
    has = each.weights[0] > 0
    held = np.diff([*trials.starts, trials.values.size])[has]
    alone = _sorted(each.values[0, has], np.flatnonzero(has), None)
    return alone, float(reach[0]), int(held.sum())


def _by_t(trials: Trials, span: float, means: str = "means") -> Estimate:
    more = bool(np.isfinite(span) and intervals.two_more(trials, span)[0])
    method = t_method(trials.starts.size, more=more, means=means)
    return _estimate(intervals.difference(trials, span), trials, method)


def t_method(clusters: int, *, more: bool, means: str = "means") -> str:
    """How a t interval was made; with two `more` clusters or as it is."""
    method = f"t on cluster {means}" + (" and two more" if more else "")
    return method + (f", under {FEW_CLUSTERS} clusters" if clusters < FEW_CLUSTERS else "")


def _claimed(p: Array) -> float | None:
    """A p, unless there is no variation to measure it by."""
    return None if np.isnan(p[0]) else float(p[0])


def _estimate(limits: Limits, trials: Trials, method: str) -> Estimate:
    """The estimate of one data set."""
    return estimates(limits, trials, [method])[0]


def estimates(limits: Limits, trials: Trials, methods: Sequence[str]) -> list[Estimate]:
    """One for each data set, without limits where none can be claimed."""
    held = trials.weights > 0
    clusters = np.add.reduceat(held, trials.starts, 1, np.int64) > 0
    lines = zip(*limits, held.sum(1), clusters.sum(1), methods, strict=True)
    return [_line(*map(float, line[:3]), *map(int, line[3:5]), line[5]) for line in lines]


def _line(*line: Any) -> Estimate:
    value, low, high, n, clusters, method = line
    if clusters < FEWEST_CLUSTERS:
        low, high, method = None, None, f"none: under {FEWEST_CLUSTERS} clusters"
    elif high - low <= 1e-9 * max(1.0, abs(value)):
        low, high, method = None, None, "none: no variation"
    else:
        low, high = min(low, value), max(high, value)
    return Estimate(value, low, high, n, clusters, method)
