"""How often study B's intervals hold what is planted in a judge, and how often its tests err.

    python bench/judging.py [--seeds 4000]

    kind           cell                                         truth  held    bound       verdict
    d'             n 500, right .5, TPR .8, FPR .4               1.095  95.10  93.0-97.5   ok

A judge accepts right and wrong answers with planted rates, without and with
the chain; a share rho of the items decides for itself, and gives the same
verdict whenever it is asked. Bounds and verdicts are those of `coverage.py`:
93 to 97.5 % where at least 10 of each kind are expected, else 90. Of a test,
what is counted is how often p < .05 though nothing differs; of a decision, how
often it is wrong; of power, how often the n of the formula finds its effect.
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
from scipy.special import ndtri

from coverage import MOST_ERRORS, verdict
from misled import batches, intervals, judging, stats
from misled.intervals import Array, Limits, Trials
from misled.judging import Stratum
from misled.records import Estimate

GOOD, FAIR = (0.93, 0.975), (0.9, 1.0)
MARGIN = 0.03
POWER = (0.77, 0.83)
Bits = npt.NDArray[np.bool_]


class Judge(NamedTuple):
    """Planted rates of accepting, (without, with) the chain, of `n` items of one generator."""

    n: int
    accuracy: float
    tpr: tuple[float, float]
    fpr: tuple[float, float]
    rho: float = 0.0

    def __str__(self) -> str:
        """As a line names it."""
        rates = f"TPR {self.tpr[0]:g}/{self.tpr[1]:g}, FPR {self.fpr[0]:g}/{self.fpr[1]:g}"
        return f"n {self.n}, right {self.accuracy:g}, {rates}, rho {self.rho:g}"

    def discordant(self, one: float, two: float) -> float:
        """How often verdicts of these rates differ, without order."""
        return self.rho * abs(one - two) + (1 - self.rho) * (one * (1 - two) + two * (1 - one))


class Result(NamedTuple):
    """How many of how many data sets held, and what is asked of them."""

    kind: str
    cell: str
    truth: float
    held: int
    of: int
    bound: tuple[float, float]


class Draw(NamedTuple):
    """Labels, and verdicts without, with, and both again [seeds, items]."""

    right: Bits
    said: tuple[Bits, Bits, Bits, Bits]


def main() -> None:
    """Print every cell, the least and most of each kind, and whether all hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4_000)
    seeds = parser.parse_args().seeds
    began = time.perf_counter()
    verdicts: Counter[str] = Counter()
    shares: dict[str, list[float]] = {}
    print(f"{'kind':<22}{'cell':<58}{'truth':>9}{'held':>8}  {'bound':<11} verdict")
    for kind, cell, truth, held, of, bound in results(seeds):
        word = verdict(held, of, bound) if of else "none claimed"
        verdicts[word] += 1
        share = 100 * held / max(of, 1)
        shares.setdefault(kind, []).extend([share] * bool(of))
        asked = f"{100 * bound[0]:.1f}-{100 * bound[1]:.1f}"
        print(f"{kind:<22}{cell:<58}{truth:9.3f}{share:8.2f}  {asked:<11} {word}")
    for kind, found in shares.items():
        print(f"{kind:<22}{len(found):4} cells, {min(found):6.2f} to {max(found):6.2f}")
    counts = ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))
    print(f"{verdicts.total()} cells: {counts}; {seeds} seeds, {time.perf_counter() - began:.0f} s")
    sys.exit(1 if verdicts["FAIL"] else 0)


def results(seeds: int) -> Iterator[Result]:
    """Every cell, each with random numbers of its own."""
    detected = product(
        (100, 500), (0.25, 0.5, 0.94), ((0.8, 0.4), (0.95, 0.6), (0.99, 0.9), (0.6, 0.02))
    )
    for index, (n, accuracy, (tpr, fpr)) in enumerate(detected):
        judge = Judge(n, accuracy, (tpr, tpr), (fpr, fpr))
        yield from detection(judge, seeds, np.random.default_rng([1, index]))
    rates = (((0.8, 0.8), (0.4, 0.4)), ((0.8, 0.9), (0.4, 0.6)), ((0.9, 0.85), (0.5, 0.3)),
             ((0.97, 0.99), (0.1, 0.12)))  # fmt: skip
    paired = product((100, 500), (0.25, 0.5, 0.9), rates, (0.0, 0.8))
    for index, (n, accuracy, (hit, alarm), rho) in enumerate(paired):
        judge = Judge(n, accuracy, hit, alarm, rho)
        yield from changes(judge, seeds, np.random.default_rng([2, index]))
    for index, (n, flips, accuracy) in enumerate(product((100, 500), (3, 8, 25, 50), (0.3, 0.7))):
        yield from errors(n, flips, accuracy, seeds, np.random.default_rng([3, index]))
    for index, (accuracy, gain, rho) in enumerate(
        product((0.3, 0.5, 0.8), (0.03, 0.06), (0.0, 0.6))
    ):
        yield power(accuracy, gain, rho, seeds, np.random.default_rng([4, index]))
    corrections = product((200, 500), (0.25, 0.5, 0.8), ((0.8, 0.4), (0.95, 0.6), (0.9, 0.1)))
    for index, (n, accuracy, (tpr, fpr)) in enumerate(corrections):
        judge = Judge(n, accuracy, (tpr, tpr), (fpr, fpr))
        yield correction(judge, seeds, np.random.default_rng([5, index]))
    for index, (n, share, agree) in enumerate(
        product((100, 500), (0.25, 0.5, 0.9), (0.8, 0.95, 0.99))
    ):
        yield agreement(n, share, agree, seeds, np.random.default_rng([6, index]))


def drawn(judge: Judge, seeds: int, rng: np.random.Generator) -> Draw:
    """So many runs of a judge."""
    shape = (seeds, judge.n)
    right = rng.random(shape, np.float32) < judge.accuracy
    fixed, own = rng.random(shape, np.float32) < judge.rho, rng.random(shape, np.float32)
    said = []
    for at in (0, 1, 0, 1):
        luck = np.where(fixed, own, rng.random(shape, np.float32))
        said.append(luck < np.where(right, judge.tpr[at], judge.fpr[at]))
    return Draw(right, (said[0], said[1], said[2], said[3]))


def detection(judge: Judge, seeds: int, rng: np.random.Generator) -> Iterator[Result]:
    """J, d' and c, where both strata have 10 items; and TPR and FPR of so many as there are."""
    right = rng.binomial(judge.n, judge.accuracy, seeds)
    right = right[(right >= 10) & (right <= judge.n - 10)]
    wrong = judge.n - right
    tp, fp = rng.binomial(right, judge.tpr[0]), rng.binomial(wrong, judge.fpr[0])
    expected = [
        judge.n * share * p
        for share, rate in ((judge.accuracy, judge.tpr[0]), (1 - judge.accuracy, judge.fpr[0]))
        for p in (rate, 1 - rate)
    ]
    bound = GOOD if min(expected) >= 10 else FAIR
    tpr, fpr = _share(tp, right), _share(fp, wrong)
    yield _held("TPR", str(judge), judge.tpr[0], tpr, GOOD if min(expected[:2]) >= 10 else FAIR)
    yield _held("FPR", str(judge), judge.fpr[0], fpr, GOOD if min(expected[2:]) >= 10 else FAIR)
    pairs = zip(_estimates(tpr), _estimates(fpr), strict=True)
    found = [batches.independent(one, two) for one, two in pairs]
    youden = Limits(
        *(np.array([getattr(e, end) for e in found]) for end in Estimate.__match_args__[:3])
    )
    yield _held("J", str(judge), judge.tpr[0] - judge.fpr[0], youden, bound)
    d_prime, criterion = judging.detection(*(x.astype(float) for x in (tp, right, fp, wrong)))
    z = ndtri(np.array([judge.tpr[0], judge.fpr[0]]))
    yield _held("d'", str(judge), float(z[0] - z[1]), d_prime, bound)
    yield _held("c", str(judge), float(-z.sum() / 2), criterion, bound)


def _share(hits: npt.NDArray[np.int64], n: npt.NDArray[np.int64]) -> Limits:
    p = hits / n
    return Limits(p, *intervals.wilson(p, n.astype(float)))


def _estimates(of: Limits) -> Iterator[Estimate]:
    return (
        Estimate(float(p), float(low), float(high), 100, 100, "Wilson")
        for p, low, high in zip(*of, strict=True)
    )


def _held(kind: str, cell: str, truth: float, found: Limits, bound: tuple[float, float]) -> Result:
    claimed = np.isfinite(found.low) & np.isfinite(found.high)
    held = claimed & (found.low <= truth + 1e-9) & (found.high >= truth - 1e-9)
    return Result(kind, cell, truth, int(held.sum()), int(claimed.sum()), bound)


def changes(judge: Judge, seeds: int, rng: np.random.Generator) -> Iterator[Result]:
    """Everything that the chain changes, with the floor, in the items of each run."""
    right, said = drawn(judge, seeds, rng)
    (a, b, _, _), (pi, not_pi) = said, (judge.accuracy, 1 - judge.accuracy)
    up, down = judge.tpr[1] - judge.tpr[0], judge.fpr[1] - judge.fpr[0]
    flips = judge.n * (pi * judge.discordant(*judge.tpr) + not_pi * judge.discordant(*judge.fpr))
    bound = GOOD if flips >= 20 else FAIR
    pass_: Array = b.astype(float) - a
    alignment: Array = np.where(right, pass_, -pass_)
    for kind, gain, truth in (
        ("change in pass", pass_, pi * up + not_pi * down),
        ("change in alignment", alignment, pi * up - not_pi * down),
    ):
        yield _held(kind, str(judge), truth, intervals.bonett_price(_trials(gain)), bound)
    for kind, of, truth, share in (
        ("change in TPR", right, up, pi * judge.discordant(*judge.tpr)),
        ("change in FPR", ~right, down, not_pi * judge.discordant(*judge.fpr)),
    ):
        enough = of.sum(1) >= 10
        trials = Trials(pass_[enough], 1.0 * of[enough], np.arange(judge.n))
        found = intervals.bonett_price(trials)
        yield _held(kind, str(judge), truth, found, GOOD if judge.n * share >= 20 else FAIR)
    yield from _floors(judge, Draw(right, said), bound)
    yield from _decisions(judge, right, alignment)


def _parts(judge: Judge) -> tuple[tuple[float, tuple[float, float]], ...]:
    """The right and the wrong answers: their share, and the rates of accepting them."""
    return (judge.accuracy, judge.tpr), (1 - judge.accuracy, judge.fpr)


def _floors(judge: Judge, draw: Draw, bound: tuple[float, float]) -> Iterator[Result]:
    right, (a, b, a2, b2) = draw
    genuine = 1.0 * (a != b) - ((a != a2) * 1.0 + (b != b2)) / 2
    truth = sum(
        share * (judge.discordant(*rates) - sum(judge.discordant(p, p) for p in rates) / 2)
        for share, rates in _parts(judge)
    )
    found = intervals.difference(_trials(genuine), 1.0)
    yield _held("genuine change", str(judge), truth, found, bound)
    floor = ((~right & ~a & a2) * 1.0 + (~right & ~b & b2)) / 2
    share = (1 - judge.accuracy) * (1 - judge.rho) * sum(p * (1 - p) for p in judge.fpr) / 2
    inside = GOOD if 10 <= judge.n * share <= judge.n - 10 else FAIR
    yield _held("floor of misled", str(judge), share, intervals.rate(_trials(floor)), inside)


def _decisions(judge: Judge, right: Bits, gain: Array) -> Iterator[Result]:
    enough = np.minimum(right.sum(1), (~right).sum(1)) >= judging.FEWEST_IN_STRATUM
    if not enough.any():
        return
    strata = _strata(right[enough], gain[enough])
    up, down = judge.tpr[1] - judge.tpr[0], judge.fpr[1] - judge.fpr[0]
    truth = (up - down) / 2
    found = judging.balanced_change(*strata)
    each = [share * judge.discordant(*rates) for share, rates in _parts(judge)]
    bound = GOOD if judge.n * min(each) >= 10 else FAIR
    yield _held("change in BA", str(judge), truth, found, bound)
    words = [
        judging.decision(low, high, MARGIN) for low, high in zip(found.low, found.high, strict=True)
    ]
    wrong = {"show": truth <= 0, "hide": truth >= 0, "no difference": abs(truth) >= MARGIN}
    errs = sum(wrong.get(word, False) for word in words)
    yield Result("wrong decision", str(judge), truth, errs, len(words), MOST_ERRORS)
    if up * down > 0:
        even = down / (up + down)
        yield _held("break-even", str(judge), even, judging.break_even(*strata), FAIR)


def _strata(right: Bits, gain: Array) -> tuple[Stratum, Stratum]:
    one, two = (
        Stratum((gain * of).sum(1), (gain**2 * of).sum(1), of.sum(1).astype(float))
        for of in (right, ~right)
    )
    return one, two


def _trials(values: Array) -> Trials:
    return Trials(values, np.ones_like(values), np.arange(values.shape[1]))


def errors(
    n: int, flips: float, accuracy: float, seeds: int, rng: np.random.Generator
) -> Iterator[Result]:
    """How often mid-p and exact p fall below .05 where a flip is as likely either way."""
    right = rng.binomial(n, accuracy, seeds)
    cell = f"n {n}, right {accuracy:g}, {flips:g} flips expected"
    for kind, items, share in (
        ("mid-p, all", np.full(seeds, n), 1.0),
        ("mid-p, wrong answers", n - right, 1 - accuracy),
    ):
        count = rng.binomial(items, flips / n)
        gained = rng.binomial(count, 0.5)
        low = 0.035 if kind == "mid-p, all" and flips >= 20 else 0.0
        p = stats.mid_p(gained, count - gained)
        bound = (low, MOST_ERRORS[1])
        yield Result(kind, cell, share * flips, int((p < 0.05).sum()), seeds, bound)


def power(accuracy: float, gain: float, rho: float, seeds: int, rng: np.random.Generator) -> Result:
    """How often the n of the formula shows a change of balanced accuracy of `gain`."""
    judge = Judge(0, accuracy, (0.8, 0.8 + gain), (0.4, 0.4 - gain), rho)
    spread = [
        Stratum(np.array([change]), np.array([judge.discordant(*rates)]), np.array([share]))
        for change, rates, share in (
            (accuracy * gain, judge.tpr, accuracy),
            ((1 - accuracy) * gain, judge.fpr, 1 - accuracy),
        )
    ]
    scaled = [s._replace(squares=s.squares * s.n) for s in spread]
    n = int(np.ceil(judging.needed(scaled[0], scaled[1], gain)[0]))
    judge = judge._replace(n=n)
    shown = 0
    for _ in range(8):
        right, (a, b, _, _) = drawn(judge, seeds // 8, rng)
        found = judging.balanced_change(*_strata(right, np.where(right, 1.0, -1.0) * (1.0 * b - a)))
        shown += int((found.low > 0).sum())
    return Result("power", str(judge), gain, shown, seeds // 8 * 8, POWER)


def correction(judge: Judge, seeds: int, rng: np.random.Generator) -> Result:
    """Of Rogan and Gladen's accuracy, where the calibration's J is above 0."""
    calibration = round(0.4 * judge.n)
    n = judge.n - calibration
    right = rng.binomial(calibration, judge.accuracy, seeds)
    right = np.clip(right, 10, calibration - 10)
    wrong = calibration - right
    tp, fp = rng.binomial(right, judge.tpr[0]), rng.binomial(wrong, judge.fpr[0])
    pairs = zip(_estimates(_share(tp, right)), _estimates(_share(fp, wrong)), strict=True)
    lows = np.array([batches.independent(one, two).low for one, two in pairs], float)
    rate = judge.accuracy * judge.tpr[0] + (1 - judge.accuracy) * judge.fpr[0]
    passed = rng.binomial(n, rate, seeds).astype(float)
    counts = [x[lows > 0].astype(float) for x in (tp, right, fp, wrong)]
    passed = passed[lows > 0]
    size = np.full(passed.shape, float(n))
    found = judging.corrected(passed, size, (counts[0], counts[1], counts[2], counts[3]))
    return _held("corrected accuracy", str(judge), judge.accuracy, found, FAIR)


def agreement(n: int, share: float, agree: float, seeds: int, rng: np.random.Generator) -> Result:
    """Of kappa, where one labeller says yes to `share` and the other agrees so often."""
    cells = np.array(
        [share * agree, share * (1 - agree), (1 - share) * (1 - agree), (1 - share) * agree]
    )
    counts = rng.multinomial(n, cells, seeds).astype(float).T
    truth = float(judging.kappa(*cells[:, None] * 1e9).value[0])
    bound = GOOD if n * cells.min() >= 10 else FAIR
    return _held(
        "kappa", f"n {n}, yes {share:g}, agree {agree:g}", truth, judging.kappa(*counts), bound
    )


if __name__ == "__main__":
    main()
