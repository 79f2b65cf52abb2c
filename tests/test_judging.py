"""What verdicts say of a judge: published rows, small cases by hand, and laws."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled import judging, stats
from misled.intervals import Limits
from misled.judging import Stratum

PUBLISHED = Path(__file__).parents[2] / "shared" / "data" / "judge" / "published.csv"
# judge, chain, TP, FP, FN, TN -> alignment, pass, overconfidence, conservativeness, accuracy in %
BY_HAND = [
    ((106, 173, 10, 211), (63.4, 55.8, 34.6, 2.0, 23.2)),
    ((87, 90, 29, 294), (76.2, 35.4, 18.0, 5.8, 23.2)),
    ((105, 78, 28, 289), (78.8, 36.6, 15.6, 5.6, 26.6)),
    ((83, 58, 50, 309), (78.4, 28.2, 11.6, 10.0, 26.6)),
]
Verdicts = tuple[list[int], list[int], list[int]]


def verdicts(tp: int, fp: int, fn: int, tn: int) -> Verdicts:
    said = [1] * (tp + fp) + [0] * (fn + tn)
    right = [1] * tp + [0] * fp + [1] * fn + [0] * tn
    return said, right, list(range(len(said)))


def strata(right: tuple[int, int, int], wrong: tuple[int, int, int]) -> tuple[Stratum, Stratum]:
    """Gains, losses and n of each."""
    one, two = (
        Stratum(*(np.array([float(x)]) for x in (up - down, up + down, n)))
        for up, down, n in (right, wrong)
    )
    return one, two


def first(limits: Limits) -> list[float]:
    return [float(end[0]) for end in limits]


@pytest.mark.parametrize(("counts", "shares"), BY_HAND)
def test_published_shares_follow_from_their_counts(
    counts: tuple[int, int, int, int], shares: tuple[float, ...]
) -> None:
    found = judging.metrics(*verdicts(*counts))
    assert tuple(round(100 * (found[name].value or 0), 1) for name in judging.JOINT) == shares


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published rows are not here")
def test_every_published_row_is_reproduced() -> None:
    columns = {"alignment": "alignment", "pass": "pass_rate", "overconfidence": "overconfidence",
               "conservativeness": "conservativeness", "accuracy": "accuracy"}  # fmt: skip
    lines = list(csv.DictReader(PUBLISHED.read_text("utf-8").splitlines()))
    whole = [line for line in lines if line["tp"]]
    assert len(whole) == 4
    for line in whole:
        found = judging.metrics(*verdicts(*(int(line[cell]) for cell in ("tp", "fp", "fn", "tn"))))
        for name, column in columns.items():
            estimate = found[name]
            assert estimate.n == int(line["n"])
            assert f"{100 * (estimate.value or 0):.1f}" == line[column]
    for line in lines:  # those without counts say only what 500 items can
        items = float(line["pass_rate"]) * int(line["n"]) / 100
        assert items == pytest.approx(round(items))


def test_rates_and_detection_of_a_small_table_are_those_by_hand() -> None:
    found = judging.metrics(*verdicts(30, 20, 10, 40))
    assert found["tpr"].value == 0.75
    assert found["fpr"].value == pytest.approx(1 / 3)
    assert (found["tpr"].n, found["fpr"].n, found["youden"].n) == (40, 60, 100)
    assert found["youden"].value == pytest.approx(0.75 - 1 / 3)
    # z(30.5 / 41) = .6562, z(20.5 / 61) = -.4233
    assert found["d_prime"].value == pytest.approx(0.6562 + 0.4233, abs=2e-3)
    assert found["criterion"].value == pytest.approx(-(0.6562 - 0.4233) / 2, abs=2e-3)


def test_answers_that_share_questions_widen_d_prime_and_do_not_move_it() -> None:
    said, right, items = verdicts(30, 20, 10, 40)
    alone = judging.metrics(said, right, items)
    together = judging.metrics(said, right, [item // 4 for item in items])
    for name in ("d_prime", "criterion"):
        one, other = alone[name], together[name]
        assert one.value == other.value
        assert one.low is not None
        assert one.high is not None
        assert other.low is not None
        assert other.high is not None
        assert other.high - other.low > one.high - one.low


def test_a_judge_that_accepts_all_has_a_finite_d_prime_around_0() -> None:
    found = judging.metrics(*verdicts(50, 50, 0, 0))
    d_prime, criterion = found["d_prime"], found["criterion"]
    assert d_prime.value == pytest.approx(0)
    assert d_prime.low is not None
    assert d_prime.high is not None
    assert d_prime.low < 0 < d_prime.high
    assert criterion.value is not None
    assert criterion.value < -1.5


def test_without_wrong_answers_there_is_no_false_positive_rate_and_no_j() -> None:
    found = judging.metrics(*verdicts(30, 0, 10, 0))
    assert [found[name].value for name in ("fpr", "youden", "d_prime", "criterion")] == [None] * 4
    assert found["alignment"].value == 0.75


def test_fewer_than_10_of_a_kind_claim_no_interval() -> None:
    found = judging.metrics(*verdicts(5, 20, 4, 40))
    for name in ("tpr", "youden", "d_prime", "criterion"):
        assert found[name].value is not None
        assert found[name].low is None
        assert "under 10" in found[name].method


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 8)), max_size=60))
def test_joint_shares_keep_their_identities(items: list[tuple[bool, bool, int]]) -> None:
    columns = list(zip(*items, strict=True)) or [(), (), ()]
    found = judging.metrics(*columns)
    for estimate in found.values():
        if estimate.low is not None and estimate.high is not None:
            assert estimate.value is not None
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.low < estimate.high
    if items:
        over, cons = found["overconfidence"].value, found["conservativeness"].value
        assert found["alignment"].value == pytest.approx(1 - (over or 0) - (cons or 0))


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=1, max_size=60))
def test_changes_are_the_differences_of_the_metrics(items: list[tuple[bool, bool, bool]]) -> None:
    before, after, right = (np.array(column) for column in zip(*items, strict=True))
    clusters = np.arange(len(items))
    found = judging.changes(before, after, right, clusters)
    one, two = (judging.metrics(said, right, clusters) for said in (before, after))
    for name in ("pass", "alignment", "tpr", "fpr"):
        earlier, later = one[name].value, two[name].value
        change = found[f"change_{name}"].estimate.value
        assert (change is None) == (earlier is None)
        if earlier is not None and later is not None:
            assert change == pytest.approx(later - earlier)


def test_the_p_of_a_change_is_mcnemars_of_its_flips() -> None:
    before = [0] * 30 + [1] * 10 + [1] * 60
    after = [1] * 30 + [0] * 10 + [1] * 60
    found = judging.changes(before, after, [0] * 100, range(100))["change_fpr"]
    assert found.estimate.value == pytest.approx(0.2)
    test = stats.mcnemar(30, 10)
    assert (found.p, found.exact) == (test.mid_p, test.exact_p)


@pytest.mark.parametrize(("flips", "said"), [(0, "0 flips"), (1, "1 flip"), (5, "5 flips")])
def test_fewer_than_6_flips_say_that_the_exact_test_cannot_reject(flips: int, said: str) -> None:
    before, after = [0] * 40, [1] * flips + [0] * (40 - flips)
    found = judging.changes(before, after, [1] * 40, range(40))["change_tpr"]
    assert found.estimate.method == f"Bonett-Price; {said}, which the exact test cannot reject"
    assert found.exact is not None
    assert found.exact > 0.05


def test_6_flips_one_way_are_rejected_by_the_exact_test() -> None:
    found = judging.changes([0] * 40, [1] * 6 + [0] * 34, [1] * 40, range(40))["change_tpr"]
    assert found.estimate.method == "Bonett-Price"
    assert found.exact == pytest.approx(2 / 64)


def test_items_that_share_a_question_have_no_mcnemar() -> None:
    before, after = [0] * 40, [1] * 20 + [0] * 20
    found = judging.changes(before, after, [1] * 40, np.arange(40) // 2)["change_tpr"]
    assert found.exact is None
    assert found.p is not None
    assert found.estimate.method.startswith("t on cluster means")


def test_genuine_change_takes_half_of_each_floor_away() -> None:
    a, b = np.array([0] * 20), np.array([1] * 10 + [0] * 10)
    a_again, b_again = np.array([1] * 4 + [0] * 16), np.array([1] * 8 + [0] * 12)
    found = judging.genuine_change((a, b), (a_again, b_again), range(20))
    # .5 changed, .2 without and .1 with the chain change by themselves
    assert found.estimate.value == pytest.approx(0.5 - (0.2 + 0.1) / 2)


def test_the_change_of_balanced_accuracy_is_by_hand() -> None:
    right, wrong = strata((20, 10, 100), (30, 20, 50))
    value, low, high = first(judging.balanced_change(right, wrong))
    assert value == pytest.approx((0.1 + 0.2) / 2)
    m1, m0 = 10 / 102, 10 / 52
    v1, v0 = (32 / 102 - m1**2) / 102, (52 / 52 - m0**2) / 52
    half = 1.959964 * np.sqrt(v1 + v0) / 2
    assert (low, high) == pytest.approx(((m1 + m0) / 2 - half, (m1 + m0) / 2 + half))


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.01, 0.2, "show"),
        (-0.2, -0.01, "hide"),
        (-0.02, 0.02, "no difference"),
        (-0.02, 0.2, "cannot tell"),
        (0.0, 0.01, "no difference"),
        (None, None, "refused"),
    ],
)
def test_decisions(low: float | None, high: float | None, word: str) -> None:
    assert judging.decision(low, high, 0.03) == word


def test_items_needed_are_the_formulas() -> None:
    right, wrong = strata((20, 10, 100), (30, 20, 300))
    variance = ((0.3 - 0.1**2) / 0.25 + (50 / 300 - (10 / 300) ** 2) / 0.75) / 4
    needed = float(judging.needed(right, wrong, 0.03)[0])
    assert needed == pytest.approx(2.8**2 * variance / 0.03**2)


def test_at_the_break_even_accuracy_alignment_does_not_change() -> None:
    right, wrong = strata((30, 5, 100), (10, 60, 200))  # dTPR .25, dFPR .25
    value, low, high = first(judging.break_even(right, wrong))
    assert value == pytest.approx(0.5)
    assert 0 < low < 0.5 < high < 1
    even, other = strata((30, 5, 100), (60, 10, 200))  # FPR falls: the chain always helps
    assert np.isnan(first(judging.break_even(even, other))).all()


def test_a_corrected_accuracy_inverts_the_judge() -> None:
    calibration = tuple(np.array([x]) for x in (80.0, 100.0, 40.0, 100.0))
    tp, n1, fp, n0 = calibration
    passed = np.array([500 * (0.3 * 0.8 + 0.7 * 0.4)])
    value, low, high = first(judging.corrected(passed, np.array([500.0]), (tp, n1, fp, n0)))
    assert value == pytest.approx(0.3)
    assert low < 0.3 < high
    assert first(judging.corrected(np.zeros(1), np.array([500.0]), (tp, n1, fp, n0)))[0] == 0


def test_kappa_is_by_hand_and_undefined_where_nothing_varies() -> None:
    cells = [np.array([float(x)]) for x in (20, 5, 10, 15)]
    value, low, high = first(judging.kappa(*cells))
    assert value == pytest.approx(0.4)  # agreed .7, by chance .5
    assert low < 0.4 < high
    same = [np.array([float(x)]) for x in (30, 0, 0, 0)]
    assert np.isnan(first(judging.kappa(*same))[0])
    perfect = [np.array([float(x)]) for x in (30, 0, 0, 30)]
    value, low, high = first(judging.kappa(*perfect))
    assert (value, high) == (1, 1)
    assert low < 1


def test_intervals_hold_their_values_in_every_small_table() -> None:
    cells = np.array(list(product(range(0, 21, 4), repeat=4)), float)
    n1, n0 = np.array([20.0]), np.array([20.0])
    for tp, fp, *_ in cells:
        for limits in judging.detection(np.array([tp]), n1, np.array([fp]), n0):
            value, low, high = first(limits)
            assert low < value < high
            assert np.isfinite([low, high]).all()
