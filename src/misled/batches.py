"""Many estimates over the same trials at once: what `stats` gives, a row of an array each.

    rates(hits of 12 outcomes [12, 200], clusters [200]) -> 12 estimates

A table has thousands of cells, and each cell a dozen numbers from one set of
trials; asking for them together takes a tenth of the time. A trial of weight 0
has no part in its row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from misled import intervals
from misled.intervals import Array, Limits, Trials
from misled.records import Estimate
from misled.stats import NOTHING, estimates, t_method

__all__ = ["Difference", "independent", "paired", "r_cpts", "rates"]


def rates(
    hits: npt.ArrayLike, clusters: npt.ArrayLike, weights: Array | None = None
) -> list[Estimate]:
    """The share of hits [k, n] in each row, as `stats.rate` has it."""
    return _each(hits, clusters, weights, intervals.rate, _rate_methods)


def r_cpts(
    r: npt.ArrayLike, clusters: npt.ArrayLike, weights: Array | None = None
) -> list[Estimate]:
    """R_CPT [A eq. 2] of each row of r [k, n], as `stats.r_cpt` has it."""
    return _each(r, clusters, weights, intervals.r_cpt, lambda t: ["MOVER"] * len(t.values))


class Difference(NamedTuple):
    """A paired difference with its two-sided p, None where no interval is claimed."""

    estimate: Estimate
    p: float | None


def paired(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    span: float,
    step: float | None = None,
) -> list[Difference]:
    """The mean of first - second [k, n] in each row, as `stats.paired` and `paired_p` have it.

    Bonett-Price only where every row holds 0 and 1 alone. `span` is the largest
    difference that there can be, `step` the largest that one score can make:
    half of it where first and second are differences themselves.
    """
    pair = np.stack([np.atleast_2d(first), np.atleast_2d(second)])
    if not pair.size:
        return [Difference(NOTHING, None)] * pair.shape[1]
    if np.abs(pair[0] - pair[1]).max() > span + 1e-9:
        raise ValueError(f"a difference is larger than {span}")
    trials = _trials(pair[0] - pair[1], np.ones(pair[0].shape), clusters)
    by = span if step is None else step
    if by == span and trials.starts.size == pair.shape[2] and np.isin(pair, (0, 1)).all():
        methods = ["Bonett-Price"] * pair.shape[1]
        limits, p = intervals.bonett_price(trials), intervals.bonett_price_p(trials)
    else:
        methods = [t_method(clusters=trials.starts.size, more=bool(size))
                   for size in intervals.two_more(trials, by)]  # fmt: skip
        limits, p = intervals.difference(trials, span, by), intervals.difference_p(trials, by)
    found = zip(estimates(limits, trials, methods), p.tolist(), strict=True)
    return [Difference(one, None if one.low is None else p) for one, p in found]


def independent(first: Estimate, second: Estimate) -> Estimate:
    """The difference of two estimates of different problems, by MOVER (Donner & Zou 2012)."""
    n, clusters = first.n + second.n, first.clusters + second.clusters
    if first.value is None or second.value is None:
        return Estimate(None, None, None, n, clusters, "none: nothing to compare with")
    value = first.value - second.value
    if first.low is None or first.high is None or second.low is None or second.high is None:
        why = next(e.method for e in (first, second) if e.low is None)
        return Estimate(value, None, None, n, clusters, why)
    low = value - math.hypot(first.value - first.low, second.high - second.value)
    high = value + math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, low, high, n, clusters, "MOVER, unpaired")


def _each(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    weights: Array | None,
    limits: Callable[[Trials], Limits],
    methods: Callable[[Trials], list[str]],
) -> list[Estimate]:
    """An estimate for each row; a row without a trial is nothing."""
    value = np.atleast_2d(np.asarray(values, np.float64))
    weight = np.ones(value.shape) if weights is None else np.broadcast_to(weights, value.shape)
    used = (weight > 0).any(1)
    found = [NOTHING] * len(value)
    if used.any():
        trials = _trials(value[used], weight[used], clusters)
        lines = estimates(limits(trials), trials, methods(trials))
        for row, line in zip(np.flatnonzero(used), lines, strict=True):
            found[row] = line
    return found


def _trials(values: Array, weights: Array, clusters: npt.ArrayLike) -> Trials:
    order = np.argsort(np.asarray(clusters), kind="stable")
    label = np.asarray(clusters)[order]
    starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
    return Trials(values[:, order], weights[:, order], starts)


def _rate_methods(trials: Trials) -> list[str]:
    return ["Wilson" if one else "Wilson at n_eff" for one in intervals.is_single(trials)]
