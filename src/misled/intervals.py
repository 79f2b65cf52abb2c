r"""95 % intervals for clustered trials, over many data sets at once (protocol, Statistics).

    >>> trials = Trials(np.ones((1, 50)), np.ones((1, 50)), np.arange(50))
    >>> rate(trials).low.round(3)
    array([0.929])

Every function takes and gives arrays with an axis of data sets ("seeds"), so
that its coverage can be measured over thousands of them with the code that
`stats` calls for one. Trials of one cluster (a problem, a template) are not
independent; clusters are. A trial of weight 0 is not there.

Knows nothing about estimates, nor about when an interval may be claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaincinv, betaln, ndtri, stdtr, stdtrit

__all__ = [
    "LEVEL",
    "Array",
    "Limits",
    "Trials",
    "bonett_price",
    "bonett_price_p",
    "difference",
    "difference_p",
    "is_single",
    "n_eff",
    "r_cpt",
    "rate",
    "slopes",
    "two_more",
    "wilson",
]

Array: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

LEVEL = 0.95
_TAIL = (1 + LEVEL) / 2
_Z = float(ndtri(_TAIL))
# r of a trial that resists, adopts or is confused [A eq. 1].
_SCORES = np.array([0.5, 1.0, 2.0])
# From as many hits and misses on, Wilson's limits are good enough (protocol, Calibration).
_ENOUGH = 10
# Where fewer clusters depart, by more than this part of a score, plain t covers 79 to 91 %.
_FEW_DEPARTING, _FAINT = 8, 0.05
_NEGLIGIBLE = 1e-9


class Trials(NamedTuple):
    """Values and weights, [seeds, trials], sorted by cluster; where each cluster starts."""

    values: Array
    weights: Array
    starts: npt.NDArray[np.int64]


class Limits(NamedTuple):
    """A value and the ends of its interval, [seeds] each."""

    value: Array
    low: Array
    high: Array


class _Mean(NamedTuple):
    """A weighted mean with what its variance is made of."""

    value: Array  # [seeds]
    spread: Array  # [seeds]: variance of one trial
    residuals: Array  # [seeds, clusters]: weighted sums of value - mean
    mass: Array  # [seeds, clusters]: sums of weights
    trials: Array  # [seeds]
    clusters: Array  # [seeds]


class _Wald(NamedTuple):
    """A value, the centre of its interval and its standard error, [seeds] each."""

    value: Array
    centre: Array
    error: Array
    freedom: Array  # of t; infinite for z


def rate(trials: Trials) -> Limits:
    """A share of hits: Wilson where each cluster holds one trial, else Wilson at n_eff."""
    share, single = _mean(trials), is_single(trials)
    n = _per_trial(share) * _independent(share, single)
    return Limits(share.value, *wilson(share.value, n))


def wilson(p: Array, n: Array) -> tuple[Array, Array]:
    """The score limits of a share p of n trials; n need not be whole."""
    centre = p + _Z**2 / (2 * n)
    half = _Z * np.sqrt(p * (1 - p) / n + (_Z / (2 * n)) ** 2)
    scale = 1 + _Z**2 / n
    return np.clip((centre - half) / scale, 0, p), np.clip((centre + half) / scale, p, 1)


def n_eff(trials: Trials) -> Array:
    """As many independent trials of mean p would vary as these do [seeds].

    p(1 - p) / v, v the cluster-robust variance of p; for hits in [1, N], and G
    where they are all alike; shrunk by (1.96 / t_{G-1})^2. It is N where each
    cluster holds one trial.
    """
    share = _mean(trials)
    return _per_trial(share) * _independent(share, is_single(trials))


def is_single(trials: Trials) -> Bools:
    """Whether each cluster holds one trial, all of one weight [seeds]."""
    held = np.add.reduceat(trials.weights > 0, trials.starts, 1, np.int64)
    heaviest = trials.weights.max(1, keepdims=True)
    even = np.isin(trials.weights / heaviest, (0, 1))
    return np.asarray((held <= 1).all(1) & even.all(1))


def r_cpt(trials: Trials) -> Limits:
    """R_CPT [A eq. 2] by MOVER on shares, with their empirical correlation; in [.5, 2].

    A trial resists by 2 - 2r, adopts by 2r - 1, or is confused: shares B + A +
    C = 1, and R = .5 + .5 A + 1.5 C, or the same with A or C left out for B. The
    largest share is the one left out, as the other two are the least
    correlated: with A and C always, intervals cover 83 to 91 % where A is .9.
    Limits are Wilson's from ten hits and misses on, else mid-p. MOVER is Zou &
    Donner 2008.
    """
    confused = (trials.values > 1).astype(np.float64)
    adopted = np.where(trials.values > 1, 0.0, 2 * trials.values - 1)
    shares = [_mean(trials._replace(values=x)) for x in (1 - adopted - confused, adopted, confused)]
    value = np.stack([share.value for share in shares])
    n = np.stack([_per_trial(share) for share in shares]) * _jointly_independent(shares, trials)
    low, high = _low(value, n), 1 - _low(1 - value, n)
    residuals = np.stack([share.residuals for share in shares])
    products = np.einsum("isg,jsg->ijs", residuals, residuals)

    seed, left_out = np.arange(value.shape[1]), value.argmax(0)
    one, two = (left_out + 1) % 3, (left_out + 2) % 3
    norm = np.sqrt(products[one, one, seed] * products[two, two, seed])
    correlation = products[one, two, seed] / np.where(norm > 0, norm, 1)

    def moved(share: npt.NDArray[np.intp], *, towards: int) -> Array:
        """How far the limit of `share` is that takes R `towards` -1 or +1, times its slope."""
        slope = _SCORES[share] - _SCORES[left_out]
        end = np.where(slope * towards > 0, high[share, seed], low[share, seed])
        return np.asarray(slope * np.abs(end - value[share, seed]))

    r = _SCORES @ value
    down, up = (
        _sum_length(moved(one, towards=way), moved(two, towards=way), correlation)
        for way in (-1, 1)
    )
    return Limits(r, np.maximum(r - down, 0.5), np.minimum(r + up, 2.0))


def bonett_price(trials: Trials) -> Limits:
    """A mean of differences of 0 and 1, one a cluster (Bonett & Price 2012), in [-1, 1]."""
    return _limits(_bonett_price(trials), 1.0)


def bonett_price_p(trials: Trials) -> Array:
    """Two-sided p of no difference: below .05 where that interval leaves out 0 [seeds]."""
    return _p(_bonett_price(trials))


def difference(trials: Trials, span: float | Array, step: float | None = None) -> Limits:
    """A mean of differences in [-span, span]: t_{G-1} on the cluster means.

    With two more clusters, one up and one down, where `two_more` has a size for
    them, as Bonett and Price do for pairs of 0 and 1. `step` is the most that one
    score can do to a difference: span, or half of it in differences of differences.
    """
    return _limits(_difference(trials, span if step is None else step), span)


def difference_p(trials: Trials, step: float | Array) -> Array:
    """Two-sided p of no difference, as `difference` has it; NaN where it has no width [seeds]."""
    return _p(_difference(trials, step))


def slopes(x: Array, trials: Trials, span: float) -> tuple[Trials, Array]:
    """The least-squares slope of the values on x in each cluster, and how large one can be.

    `x` is [seeds, trials]. A cluster without two different x has no slope and
    weight 0. `span` is the largest |value|; the reach that follows is that of
    the mean of the slopes [seeds].
    """
    weights, starts = trials.weights, trials.starts
    sizes = np.diff([*starts, weights.shape[1]])

    def total(of: Array) -> Array:
        return np.add.reduceat(weights * of, starts, axis=1)

    mass = np.maximum(total(np.ones_like(x)), _NEGLIGIBLE)
    apart = x - np.repeat(total(x) / mass, sizes, axis=1)
    squares = total(apart**2)
    has = squares > _NEGLIGIBLE
    squares = np.where(has, squares, 1)
    slope = np.where(has, total(apart * trials.values) / squares, 0)
    reach = np.where(has, total(np.abs(apart)) / squares, 0).sum(1) / np.maximum(has.sum(1), 1)
    each = Trials(slope, has.astype(np.float64), np.arange(starts.size))
    return each, span * reach


def two_more(trials: Trials, step: float | Array) -> Array:
    """How large the two clusters are that `difference` adds; 0 where it adds none [seeds].

    `step` where so few clusters depart from the median one that t sees no risk.
    Else, where the means lie on a grid of -2 to 2 units, that unit: on so coarse
    a grid plain t errs in up to 6.1 %, with the two in at most 5.5 %.
    """
    found = _mean(trials)
    held = found.mass > 0
    nothing = np.full_like(found.mass, np.nan)
    means = found.value[:, None] + np.divide(found.residuals, found.mass, out=nothing, where=held)
    # `nanmedian` takes ten times as long; what is not held comes last in the order.
    ordered, last = np.sort(means, axis=1), held.sum(1, keepdims=True) - 1
    middle = [np.take_along_axis(ordered, at, 1) for at in (last // 2, (last + 1) // 2)]
    near = np.abs(means - sum(middle) / 2) <= _FAINT * np.reshape(step, (-1, 1))
    few = (held & ~near).sum(1) < _FEW_DEPARTING
    size = np.where(held, np.abs(means), 0)
    unit = np.where(size > _NEGLIGIBLE, size, np.inf).min(1)
    units = size / unit[:, None]
    coarse = ((np.abs(units - np.round(units)) < 1e-6) & (units < 2.5)).all(1)
    return np.where(few, step, np.where(coarse, unit, 0))


def _mean(trials: Trials) -> _Mean:
    values, weights, starts = trials
    mass = np.add.reduceat(weights, starts, axis=1)
    total = mass.sum(1)
    value = (weights * values).sum(1) / total
    spread = (weights * values**2).sum(1) / total - value**2
    return _Mean(
        value=value,
        spread=np.where(spread > _NEGLIGIBLE, spread, 0),
        residuals=np.add.reduceat(weights * values, starts, axis=1) - value[:, None] * mass,
        mass=mass,
        trials=(weights > 0).sum(1).astype(np.float64),
        clusters=(mass > 0).sum(1).astype(np.float64),
    )


def _variance(found: _Mean) -> Array:
    """The cluster-robust variance of the mean."""
    lost = found.clusters / np.maximum(found.clusters - 1, 1)
    return np.asarray(lost * (found.residuals**2).sum(1) / found.mass.sum(1) ** 2)


def _t(found: _Mean) -> Array:
    return np.asarray(stdtrit(np.maximum(found.clusters - 1, 1), _TAIL))


def _independent(share: _Mean, single: Bools) -> Array:
    """How many of N trials count, as clusters repeat themselves and v is an estimate."""
    v = _variance(share)
    varied = (share.spread > 0) & (v > 0)
    ratio = np.divide(share.spread, v, out=share.trials.copy(), where=varied)
    count = np.where(share.spread > 0, np.clip(ratio, 1, share.trials), share.clusters)
    return np.where(single, share.trials, count * (_Z / _t(share)) ** 2)


def _jointly_independent(shares: Sequence[_Mean], trials: Trials) -> Array:
    """How many trials count for B, A and C; for B or C that nobody shows, as many as for A."""
    single = is_single(trials)
    counts = np.stack([_independent(share, single) for share in shares])
    value = np.stack([share.value for share in shares])
    return np.where(value > 0, counts, counts[1])


def _per_trial(share: _Mean) -> Array:
    """How many hits or misses one trial is worth: 1, or more where it can be a part of one."""
    binary = share.value * (1 - share.value)
    return np.divide(binary, share.spread, out=np.ones_like(binary), where=share.spread > 0)


def _low(p: Array, n: Array) -> Array:
    """Wilson's lower limit, and where hits or misses are few the mid-p limit."""
    low = wilson(p, n)[0]
    few = np.minimum(p, 1 - p) * n < _ENOUGH - _NEGLIGIBLE
    low[few] = _mid_p_low((p * n)[few], n[few])
    return np.minimum(low, p)


def _mid_p_low(hits: Array, n: Array) -> Array:
    """The share at which P(more hits) + P(as many hits) / 2 is 2.5 %; neither need be whole.

    Clopper and Pearson's limit without their excess (Berry & Armitage 1995).
    From that limit, which is lower, Newton steps on logarithms lead up to it.
    """
    misses = np.maximum(n - hits, _NEGLIGIBLE)
    some = np.maximum(hits, 0.01)  # the limit of less is 0 to a hundred places
    low = betaincinv(some, misses + 1, 1 - _TAIL)
    ways = -np.log(some) - betaln(some, misses + 1)
    for _ in range(3):  # to double precision
        as_many = np.exp(ways + some * np.log(low) + misses * np.log1p(-low))
        tail = betainc(some + 1, misses, low) + as_many / 2
        growth = as_many / 2 * (some + misses * low / (1 - low)) / tail
        low = low * np.exp(np.log((1 - _TAIL) / tail) / growth)
    return np.where(hits < some, 0, low)


def _sum_length(one: Array, two: Array, correlation: Array) -> Array:
    """The length of a sum of two vectors of known lengths, signed and correlated."""
    return np.sqrt(np.maximum(one**2 + two**2 + 2 * correlation * one * two, 0.0))


def _bonett_price(trials: Trials) -> _Wald:
    return _with_two_more(_mean(trials), 1.0, np.array([np.inf]))


def _difference(trials: Trials, step: float | Array) -> _Wald:
    found = _mean(trials)
    freedom = np.maximum(found.clusters - 1, 1)
    plain = _Wald(found.value, found.value, np.sqrt(_variance(found)), freedom)
    if np.isinf(step).any():
        return plain
    size = two_more(trials, step)
    more = _with_two_more(found, size, freedom)
    return _Wald(*(np.where(size > 0, one, other) for one, other in zip(more, plain, strict=True)))


def _with_two_more(found: _Mean, size: float | Array, freedom: Array) -> _Wald:
    """A mean with one more cluster at +size and one at -size."""
    each = found.mass.sum(1) / found.clusters
    total = found.mass.sum(1) + 2 * each
    centre = found.value * found.mass.sum(1) / total
    residuals = found.residuals + (found.value - centre)[:, None] * found.mass
    squares = (residuals**2).sum(1) + 2 * each**2 * (size**2 + centre**2)
    return _Wald(found.value, centre, np.sqrt(squares) / total, freedom)


def _limits(wald: _Wald, span: float | Array) -> Limits:
    half = stdtrit(wald.freedom, _TAIL) * wald.error
    low, high = wald.centre - half, wald.centre + half
    return Limits(wald.value, np.maximum(low, -span), np.minimum(high, span))


def _p(wald: _Wald) -> Array:
    error = np.where(wald.error > _NEGLIGIBLE, wald.error, np.nan)
    return np.asarray(2 * stdtr(wald.freedom, -np.abs(wald.centre) / error))
