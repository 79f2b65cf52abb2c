r"""What a judge's verdicts say of it, with intervals (protocol B.4, B.5, B.7).

    >>> said = [1] * 279 + [0] * 221
    >>> right = [1] * 106 + [0] * 173 + [1] * 10 + [0] * 211
    >>> metrics(said, right, range(500))["alignment"].value
    0.634

A verdict is 1 (accept) or 0 (reject), an answer right (1) or wrong (0); arrays
are aligned by item. What no library has an interval for is computed over many
data sets at once, [seeds], so that its coverage can be measured.

Knows nothing about conditions, chains or what could not be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace
from scipy.special import betaincinv, ndtri

from misled import batches, intervals, stats
from misled.intervals import Array, Limits, Trials
from misled.records import Estimate

__all__ = [
    "CHANGES",
    "JOINT",
    "METRICS",
    "Change",
    "Stratum",
    "balanced_change",
    "break_even",
    "changes",
    "corrected",
    "decision",
    "detection",
    "genuine_change",
    "kappa",
    "metrics",
    "needed",
    "stratum",
]

JOINT = ("alignment", "pass", "overconfidence", "conservativeness", "accuracy")
METRICS = (*JOINT, "tpr", "fpr", "youden", "d_prime", "criterion")
CHANGES = ("change_pass", "change_alignment", "change_tpr", "change_fpr")
FEWEST_IN_STRATUM = 10  # right or wrong answers, for a decision (B.7)
FEWEST_FLIPS = 6  # 2 / 2^6 is the first exact p below .05
POWER = 2.8  # z of 97.5 % and of 80 %

_Z = float(ndtri((1 + intervals.LEVEL) / 2))
_TAIL = (1 - intervals.LEVEL) / 2
_NEGLIGIBLE = 1e-9


class Change(NamedTuple):
    """A paired difference with McNemar's mid-p and exact p, or where items cluster that of t."""

    estimate: Estimate
    p: float | None
    exact: float | None


class Stratum(NamedTuple):
    """Gains of the items that are right, or of those that are wrong: +1, -1 or 0 each [seeds]."""

    total: Array
    squares: Array
    n: Array


def metrics(
    said: npt.ArrayLike, right: npt.ArrayLike, clusters: npt.ArrayLike
) -> dict[str, Estimate]:
    """Every metric of B.4: joint shares of all items, then TPR, FPR, J, d' and c.

    Shares have Wilson's interval, J Newcombe's (MOVER on Wilson's limits), d'
    and c MOVER on the probits of Jeffreys' limits: the log-linear shares that
    they are made of are the means of Jeffreys' posteriors.
    """
    accept, true = np.asarray(said, bool), np.asarray(right, bool)
    over, conservative = accept & ~true, ~accept & true
    hits = np.stack([accept == true, accept, over, conservative, true, accept, accept])
    weights = np.ones(hits.shape)
    weights[-2:] = true, ~true
    found = dict(zip(METRICS, batches.rates(hits, clusters, weights), strict=False))
    _check(found)
    tpr, fpr = found["tpr"], found["fpr"]
    found["youden"] = batches.independent(tpr, fpr)
    if not (tpr.n and fpr.n):
        return found | dict.fromkeys(METRICS[-2:], found["youden"])
    counts = [_count(found[METRICS[at]], hits[at], weights[at], clusters) for at in (5, 6)]
    plain = [np.array([x.sum()]) for at in (5, 6) for x in (hits[at] * weights[at], weights[at])]
    # The shares are of all items, whatever of them are independent.
    each = zip(METRICS[-2:], detection(*plain), detection(*counts[0], *counts[1]), strict=True)
    for name, (value, *_), (_, low, high) in each:
        limits = Limits(value, np.minimum(low, value), np.maximum(high, value))
        found[name] = _beside(found["youden"], limits, "MOVER on probits of Jeffreys limits")
    return found


def _check(found: Mapping[str, Estimate]) -> None:
    """Identities of joint shares: alignment = 1 - over - cons, pass = accuracy - cons + over."""
    alignment, passed, over, conservative, accuracy = (found[name].value for name in JOINT)
    if alignment is None or passed is None or accuracy is None:
        return
    over, conservative = over or 0.0, conservative or 0.0
    off = abs(alignment - (1 - over - conservative)) + abs(
        passed - (accuracy - conservative + over)
    )
    if off > _NEGLIGIBLE:
        raise ArithmeticError(f"joint shares contradict each other by {off}")


def _count(
    rate: Estimate, hits: Array, weights: Array, clusters: npt.ArrayLike
) -> tuple[Array, Array]:
    """How many hits of how many, or where items cluster of how many independent ones."""
    if rate.n == rate.clusters:
        return np.array([(hits * weights).sum()]), np.array([float(rate.n)])
    label = np.asarray(clusters)
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.r_[True, label[order][1:] != label[order][:-1]])
    trials = Trials(1.0 * hits[None, order], 1.0 * weights[None, order], starts)
    n = intervals.n_eff(trials)
    return np.asarray(n * (trials.values * trials.weights).sum(1) / trials.weights.sum(1)), n


def detection(tp: Array, n1: Array, fp: Array, n0: Array) -> tuple[Limits, Limits]:
    """D' = z(TPR) - z(FPR) and c = -(z(TPR) + z(FPR)) / 2, of log-linear shares [seeds]."""
    hit, alarm = _probit(tp, n1), _probit(fp, n0)
    d_prime = _difference(hit, alarm)
    negative = Limits(-alarm.value, -alarm.high, -alarm.low)
    both = _difference(hit, negative)
    return d_prime, Limits(-both.value / 2, -both.high / 2, -both.low / 2)


def _probit(hits: Array, n: Array) -> Limits:
    above, below = hits + 0.5, n - hits + 0.5
    low, high = (betaincinv(above, below, tail) for tail in (_TAIL, 1 - _TAIL))
    ends = (np.asarray(ndtri(share), np.float64) for share in (above / (n + 1), low, high))
    return Limits(*ends)


def _difference(one: Limits, two: Limits) -> Limits:
    value = one.value - two.value
    return Limits(
        value,
        value - np.hypot(one.value - one.low, two.high - two.value),
        value + np.hypot(one.high - one.value, two.value - two.low),
    )


def changes(
    before: npt.ArrayLike, after: npt.ArrayLike, right: npt.ArrayLike, clusters: npt.ArrayLike
) -> dict[str, Change]:
    """The changes of pass, alignment, TPR and FPR from before to after (B.5), Bonett-Price.

    The p are McNemar's: of accept against reject among all, right or wrong items,
    and for alignment of true against false verdicts. Checked: the change of
    alignment is pi dTPR - (1 - pi) dFPR (B.7).
    """
    one, two, true = (np.asarray(x, bool) for x in (before, after, right))
    cluster, every = np.asarray(clusters), np.ones(true.shape, bool)
    cases = (
        (one, two, every),
        (one == true, two == true, every),
        (one, two, true),
        (one, two, ~true),
    )
    single = np.unique(cluster).size == cluster.size
    found = {
        name: _change(was[of], now[of], cluster[of], single=single)
        for name, (was, now, of) in zip(CHANGES, cases, strict=True)
    }
    _, alignment, tpr, fpr = (change.estimate for change in found.values())
    parts = tpr.n * (tpr.value or 0.0) - fpr.n * (fpr.value or 0.0)
    if abs(alignment.n * (alignment.value or 0.0) - parts) > _NEGLIGIBLE * max(alignment.n, 1):
        raise ArithmeticError("the change of alignment is not that of TPR and FPR")
    return found


def _change(
    was: npt.NDArray[np.bool_],
    now: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.generic],
    *,
    single: bool,
) -> Change:
    ((estimate, p),) = batches.paired(1.0 * now, 1.0 * was, cluster, span=1.0)
    if not (estimate.n and single):
        return Change(estimate, p, None)
    test = stats.mcnemar(int((now & ~was).sum()), int((was & ~now).sum()))
    flips = test.gained + test.lost
    if flips < FEWEST_FLIPS:
        few = f"{flips} flip{'s' * (flips != 1)}, which the exact test cannot reject"
        estimate = replace(estimate, method=f"{estimate.method}; {few}")
    return Change(estimate, *((None, None) if p is None else (test.mid_p, test.exact_p)))


def genuine_change(
    pair: tuple[Array, Array], again: tuple[Array, Array], clusters: npt.ArrayLike
) -> batches.Difference:
    """P(A != B) - [P(A != A') + P(B != B')] / 2: changes beyond those of chance (B.5)."""
    (a, b), (a_again, b_again) = pair, again
    floor = ((a != a_again) * 1.0 + (b != b_again)) / 2
    return batches.paired(1.0 * (a != b), floor, clusters, span=1.0)[0]


def stratum(gains: npt.ArrayLike, clusters: npt.ArrayLike) -> Stratum:
    """One data set's gains; items of one question count once, by their mean."""
    gain, label = np.asarray(gains, np.float64), np.unique(clusters, return_inverse=True)[1]
    mean = np.bincount(label, gain) / np.bincount(label) if gain.size else gain
    return Stratum(*(np.array([x]) for x in (mean.sum(), (mean**2).sum(), float(mean.size))))


def balanced_change(right: Stratum, wrong: Stratum) -> Limits:
    """The change of balanced accuracy, by z with one more item at +1 and -1 in each stratum (B.7).

    Gains are corrected judgements: of the right ones reassured minus
    overcritical, of the wrong ones corrected minus misled.
    """
    value = (right.total / right.n + wrong.total / wrong.n) / 2
    (m1, v1), (m0, v0) = _with_two_more(right), _with_two_more(wrong)
    centre, half = (m1 + m0) / 2, _Z * np.sqrt(v1 + v0) / 2
    low, high = np.maximum(centre - half, -1), np.minimum(centre + half, 1)
    return Limits(value, np.minimum(low, value), np.maximum(high, value))


def _with_two_more(of: Stratum) -> tuple[Array, Array]:
    """The mean gain and its variance."""
    n = of.n + 2
    mean = of.total / n
    return mean, ((of.squares + 2) / n - mean**2) / n


def decision(low: float | None, high: float | None, margin: float) -> str:
    """What an interval of the change of balanced accuracy says of showing the chain (B.7)."""
    if low is None or high is None:
        return "refused"
    if low > 0:
        return "show"
    if high < 0:
        return "hide"
    return "no difference" if -margin < low and high < margin else "cannot tell"


def needed(right: Stratum, wrong: Stratum, margin: float) -> Array:
    """How many items settle a change of `margin` at 80 % power: 2.8^2 V / margin^2 (B.7)."""
    share = right.n / (right.n + wrong.n)
    spread = [of.squares / of.n - (of.total / of.n) ** 2 for of in (right, wrong)]
    variance = (spread[0] / share + spread[1] / (1 - share)) / 4
    return np.asarray(POWER**2 * variance / margin**2)


def break_even(right: Stratum, wrong: Stratum) -> Limits:
    """The accuracy of the generator at which the chain changes no alignment: dFPR / (dTPR + dFPR).

    NaN where dTPR and dFPR have not one sign. The interval reaches over every
    accuracy that a z test of no change does not reject (Fieller), which may be
    all of [0, 1]; claimed only where it is narrower, it would hold the truth in
    74 % of some cells.
    """
    (up, v1), (down, v0) = _with_two_more(right), _with_two_more(wrong)
    tpr, fpr = right.total / right.n, -wrong.total / wrong.n
    value = np.divide(fpr, tpr + fpr, out=np.full(fpr.shape, np.nan), where=tpr * fpr > 0)
    a = (up - down) ** 2 - _Z**2 * (v1 + v0)
    b = down * (up - down) + _Z**2 * v0
    c = down**2 - _Z**2 * v0
    root = np.sqrt(np.maximum(b**2 - a * c, 0))
    bounded = (a > 0) & (b**2 > a * c)
    low, high = (
        np.clip(np.divide(-b + way * root, a, out=np.full(a.shape, way), where=bounded), 0, 1)
        for way in (-1.0, 1.0)
    )
    return Limits(value, np.minimum(low, value), np.maximum(high, value))


def corrected(passed: Array, n: Array, calibration: tuple[Array, Array, Array, Array]) -> Limits:
    """The accuracy behind a pass rate (Rogan & Gladen), in [0, 1]; interval of Lang & Reiczigel.

    `calibration` is TP, n of right, FP, n of wrong among other items than the n.
    """
    tp, n1, fp, n0 = calibration
    tpr, fpr = tp / n1, fp / n0
    value = np.clip((passed / n - fpr) / (tpr - fpr), 0, 1)
    size, right, wrong = n + _Z**2, n1 + 2, n0 + 2
    share, hit, alarm = (passed + _Z**2 / 2) / size, (tp + 1) / right, (fp + 1) / wrong
    youden = hit - alarm
    centre = (share - alarm) / youden
    spread = hit * (1 - hit) / right, alarm * (1 - alarm) / wrong
    shift = 2 * _Z**2 * (centre * spread[0] - (1 - centre) * spread[1])
    variance = share * (1 - share) / size + centre**2 * spread[0] + (1 - centre) ** 2 * spread[1]
    half = _Z * np.sqrt(variance) / np.abs(youden)
    low, high = (np.clip(centre + shift + way * half, 0, 1) for way in (-1, 1))
    return Limits(value, np.minimum(low, value), np.maximum(high, value))


def kappa(both: Array, first: Array, second: Array, neither: Array) -> Limits:
    """Cohen's kappa of two labels, from how often both, one or neither says yes.

    Fleiss, Cohen & Everitt's variance, with half an item more in each cell. NaN
    where both always say the same one thing.
    """
    value = _kappa(both, first, second, neither)[0]
    centre, variance = _kappa(both + 0.5, first + 0.5, second + 0.5, neither + 0.5)
    half = _Z * np.sqrt(variance)
    low, high = np.maximum(centre - half, -1), np.minimum(centre + half, 1)
    return Limits(value, np.minimum(low, value), np.maximum(high, value))


def _kappa(both: Array, first: Array, second: Array, neither: Array) -> tuple[Array, Array]:
    n = both + first + second + neither
    a, b, c, d = both / n, first / n, second / n, neither / n
    one, two = a + b, a + c
    agreed, chance = a + d, one * two + (1 - one) * (1 - two)
    rest = np.where(chance < 1, 1 - chance, np.nan)
    value = (agreed - chance) / rest
    along = a * (1 - (one + two) * (1 - value)) ** 2 + d * (1 - (2 - one - two) * (1 - value)) ** 2
    across = (1 - value) ** 2 * (b * (two + 1 - one) ** 2 + c * (one + 1 - two) ** 2)
    variance = (along + across - (value - chance * (1 - value)) ** 2) / (rest**2 * n)
    return value, np.maximum(variance, 0)


def _beside(like: Estimate, limits: Limits, method: str) -> Estimate:
    """The one data set of `limits`, with an interval where `like` has one."""
    value, low, high = (float(end[0]) for end in limits)
    if like.low is None:
        return replace(like, value=value)
    return replace(like, value=value, low=low, high=high, method=method)
