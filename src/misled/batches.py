"""Many estimates over the same trials at once: what `stats` gives, a row of an array each.

    rates(hits of 12 outcomes [12, 200], clusters [200]) -> 12 estimates

A table has thousands of cells, and each cell a dozen numbers from one set of
trials; asking for them together takes a tenth of the time. A trial of weight 0
has no part in its row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from misled import intervals
from misled.intervals import Array, Limits, Trials
from misled.records import Estimate
from misled.stats import NOTHING, estimates, t_method

__all__ = ["paired", "r_cpts", "rates"]


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


def paired(
    first: npt.ArrayLike, second: npt.ArrayLike, clusters: npt.ArrayLike, *, span: float
) -> list[Estimate]:
    """The mean of first - second [k, n] in each row, as `stats.paired` has it.

    Bonett-Price only where every row holds 0 and 1 alone.
    """
    pair = np.stack([np.atleast_2d(first), np.atleast_2d(second)])
    if np.abs(pair[0] - pair[1]).max(initial=0) > span + 1e-9:
        raise ValueError(f"a difference is larger than {span}")
    single = len(np.unique(np.asarray(clusters))) == pair.shape[2]
    if single and np.isin(pair, (0, 1)).all():
        return _each(
            pair[0] - pair[1],
            clusters,
            None,
            intervals.bonett_price,
            lambda t: ["Bonett-Price"] * len(t.values),
        )
    return _each(
        pair[0] - pair[1],
        clusters,
        None,
        lambda trials: intervals.difference(trials, span),
        lambda t: [t_method(t.starts.size, few=bool(few)) for few in intervals.agree(t)],
    )


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
    order = np.argsort(np.asarray(clusters), kind="stable")
    label = np.asarray(clusters)[order]
    used = (weight > 0).any(1)
    found = [NOTHING] * len(value)
    if not used.any():
        return found
    starts = np.flatnonzero(np.r_[True, label[1:] != label[:-1]])
    trials = Trials(value[used][:, order], weight[used][:, order], starts)
    lines = estimates(limits(trials), trials, methods(trials))
    for row, line in zip(np.flatnonzero(used), lines, strict=True):
        found[row] = line
    return found


def _rate_methods(trials: Trials) -> list[str]:
    return ["Wilson" if one else "Wilson at n_eff" for one in intervals.is_single(trials)]
