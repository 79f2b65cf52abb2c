"""Cells against each other: what is paired with what, and what is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincinv

import synthetic
from misled import batches, latex, sheets
from misled.cautions import cautions
from misled.estimates import entries
from misled.findings import findings
from misled.intervals import Trials, difference, difference_p
from misled.records import OUTCOMES, Entry, Estimate
from misled.row import Row
from test_estimates import pick, tables_of, trial

OLD = {"structure": "intact"}
NEW = {"structure": "delete_reflection"}


def both(problem: str, tampered: str, clean: str, **keys: Any) -> list[Row]:
    """A tampered trial and its control."""
    return [trial(tampered, problem, **keys), trial(clean, problem, arm="clean", **keys)]


def test_a_structure_is_compared_where_all_four_are_there() -> None:
    rows = [
        *both("a", "adopted", "recovered", **OLD, length=90),
        *both("a", "recovered", "recovered", **NEW, length=60, deleted=1),
        *both("b", "adopted", "recovered", **OLD, length=90),
        *both("b", "adopted", "adopted", **NEW, length=80, deleted=0),
        *both("c", "recovered", "recovered", **OLD),
        trial("not_applicable", "c", **NEW, reason="no reflection"),
        *both("d", "adopted", "recovered", **OLD),
        *both("d", "adopted", "failed", **NEW),
    ]
    found = tables_of(rows)
    net = {(e.keys["half"], e.metric): (e.value, e.n) for e in found if e.table == "structures"}
    assert net["intact", "net_adoption"] == (1, 2)
    assert net["edited", "net_adoption"] == (0, 2)
    assert net["change", "net_adoption"] == (-1, 2)
    assert net["change", "net_recovery"] == (((1 - 1) - (0 - 1) + (0 - 0) - (0 - 1)) / 2, 2)
    assert net["change", "net_r"] == (((0.5 - 0.5) - 0.5 + (1 - 1) - 0.5) / 2, 2)
    arm = {"arm": "tampered", **NEW}
    assert pick(found, "structure_arms", "applies", **arm).value == pytest.approx(3 / 4)
    assert pick(found, "structure_arms", "adopted", **arm).value == pytest.approx(2 / 3)
    assert pick(found, "structure_arms", "adopted", **arm).left_out == {"not_applicable": 1}
    assert pick(found, "structure_arms", "length", **arm).value == 70
    assert pick(found, "structure_arms", "deleted", **arm).value == 0.5


def test_a_structure_pools_only_the_degrees_that_both_halves_have() -> None:
    rows = [
        *both("a", "adopted", "recovered", **OLD, d_t=1),
        *both("a", "recovered", "recovered", **OLD, d_t=2),
        *both("a", "recovered", "recovered", **NEW, d_t=1),
        *both("a", "failed", "recovered", **NEW, d_t=2),
    ]
    change = pick(tables_of(rows), "structures", "net_adoption", half="change")
    assert (change.value, change.n, change.keys["d_t"]) == (-1, 1, "1-2")


def test_a_structure_that_never_applies_is_a_line_without_a_number() -> None:
    rows = [
        *both("a", "adopted", "recovered", **OLD),
        trial("not_applicable", "a", **NEW, reason="no reflection"),
    ]
    change = pick(tables_of(rows), "structures", "net_adoption", half="change", **NEW)
    assert (change.value, change.left_out) == (None, {"not_applicable": 1})


def test_a_method_is_compared_on_problems_that_passed_both_gates() -> None:
    prefix = {"method": "prefix", "mode": "prefix"}
    rows = [
        *both("a", "adopted", "recovered"),
        *both("a", "recovered", "other", **prefix),
        *both("b", "adopted", "adopted"),
        *both("b", "adopted", "recovered", **prefix),
        *both("c", "adopted", "recovered"),
        *both("d", "recovered", "recovered", **prefix),
    ]
    found = tables_of(rows)
    value = {e.metric: (e.value, e.n) for e in found if e.table == "methods"}
    assert value == {
        "change_adopted": (-0.5, 2),
        "change_recovered": (0.5, 2),
        "change_net_adoption": (((0 - 0) - (1 - 0) + (1 - 0) - (1 - 1)) / 2, 2),
    }


def test_a_method_that_cannot_be_asked_is_a_line_with_its_reason() -> None:
    prefix: dict[str, Any] = {"method": "prefix", "mode": "prefix", "reason": "no prefix"}
    rows = [*both("a", "adopted", "recovered"), trial("unsupported", "a", **prefix)]
    line = pick(tables_of(rows), "methods", "change_net_adoption")
    assert (line.value, line.method, line.p) == (None, "unsupported: no prefix", None)


def test_methods_are_compared_over_all_degrees_and_for_each() -> None:
    rows = []
    for d_t, told in ((1, "recovered"), (2, "adopted")):
        rows += both("a", "adopted", "recovered", d_t=d_t)
        rows += both("a", told, "recovered", d_t=d_t, method="uncertainty")
    found = [e for e in tables_of(rows) if (e.table, e.metric) == ("methods", "change_adopted")]
    assert [(e.keys["d_t"], e.value) for e in found] == [("1-2", -0.5), ("1", -1), ("2", 0)]


def test_models_are_compared_on_what_all_of_them_solved() -> None:
    alone: dict[str, Any] = dict.fromkeys(("method", "structure", "channel", "perturbation", "d_t"))
    gates = {"m": "abc", "k": "bcd"}
    rows = [
        trial("recovered", p, arm="gate", target=m, **alone) for m, ps in gates.items() for p in ps
    ]
    rows.append(trial("other", "a", arm="gate", target="k", **alone))
    rows += [t for p in "abc" for t in both(p, "adopted", "recovered", target="m")]
    rows += [t for p in "bc" for t in both(p, "recovered", "recovered", target="k")]
    rows += both("d", "adopted", "recovered", target="k")
    found = tables_of(rows)
    share = pick(found, "common_problems", "common_items", target="m")
    assert share.value == pytest.approx(2 / 3)
    assert share.n == 3
    assert pick(found, "common", "adopted", target="m").n == 2
    assert pick(found, "common", "adopted", target="k").value == 0
    difference = pick(found, "common_pairs", "change_adopted")
    assert (difference.keys["target"], difference.keys["against"]) == ("m", "k")
    assert (difference.value, difference.n) == (1, 2)
    assert pick(found, "common_pairs", "change_r_cpt").value == 0.5


def test_a_contrast_is_minus_and_stands_beside_tampered_and_clean() -> None:
    rows = [
        *both("a", "adopted", "recovered"),
        trial("adopted", "a", arm="bare"),
        *both("b", "adopted", "recovered"),
        trial("recovered", "b", arm="bare"),
        *both("c", "recovered", "recovered"),
        trial("failed", "c", arm="bare"),
        *both("d", "adopted", "recovered", method="uncertainty"),
    ]
    found = tables_of(rows)
    adopted = {
        e.keys["arm"]: e.value for e in found if (e.table, e.metric) == ("contrasts", "adopted")
    }
    assert adopted == {"tampered": pytest.approx(2 / 3), "clean": 0, "bare": 0.5}
    minus = pick(found, "contrasts", "minus_adopted", arm="bare")
    assert (minus.value, minus.n) == (0.5, 2)
    assert not [e for e in found if e.table == "outcomes" and e.keys["arm"] == "bare"]


def test_the_prefix_is_set_beside_the_same_sentence_as_text() -> None:
    rows = [
        *both("a", "recovered", "recovered", method="prefix", mode="prefix"),
        *both("a", "adopted", "recovered", method="prefix_as_text"),
        *both("a", "adopted", "recovered"),
    ]
    minus = pick(tables_of(rows), "contrasts", "minus_adopted", arm="prefix_as_text")
    assert (minus.value, minus.keys["method"]) == (-1, "prefix")


def test_the_same_chain_said_to_be_anothers() -> None:
    rows = [
        *both("a", "adopted", "recovered"),
        *both("a", "recovered", "recovered", attribution="other"),
    ]
    found = tables_of(rows)
    assert pick(found, "attribution", "change_net_adoption").value == -1
    assert pick(found, "attribution", "change_adopted").keys["attribution"] == "other"


def test_operations_are_not_paired() -> None:
    found = entries(
        synthetic.rows(
            synthetic.Run(
                sets=("addition:15+13", "multiplication:8x7"),
                methods=("baseline",),
                degrees=(1,),
            )
        )
    )
    (line,) = [e for e in found if e.table == "operations"]
    one, two = (
        pick(found, "pooled", "net_adoption", against="clean", set=name)
        for name in ("addition:15+13", "multiplication:8x7")
    )
    assert line.value == pytest.approx((one.value or 0) - (two.value or 0))
    assert line.n == one.n + two.n
    assert line.method == "MOVER, unpaired"


def test_the_error_is_cut_into_decades_and_a_problem_counts_once_in_each() -> None:
    rows = [
        *both("a", "adopted", "recovered", relative_error=0.002, place="high"),
        *both("a", "recovered", "recovered", relative_error=0.009, place="random"),
        *both("b", "recovered", "recovered", relative_error=0.5, place="high"),
        *both("b", "adopted", "recovered", relative_error=0.5, place="high", d_t=2),
    ]
    found = [e for e in tables_of(rows) if (e.table, e.metric) == ("magnitude", "net_adoption")]
    by_error = {e.keys["relative_error"]: e for e in found if "relative_error" in e.keys}
    assert {error: (e.value, e.n) for error, e in by_error.items()} == {
        "1e-3 to 1e-2": (0.5, 1),
        "1e-1 to 1e0": (0, 1),
    }
    by_place = {e.keys["place"]: (e.value, e.n) for e in found if "place" in e.keys}
    assert by_place == {"high": (0.5, 2), "random": (0, 1)}


def test_a_slope_is_within_problems() -> None:
    rows = [
        row
        for index in range(12)
        for d_t in (1, 2, 3)
        for row in both(
            f"p{index}", "adopted" if d_t <= index % 4 else "recovered", "recovered", d_t=d_t
        )
    ]
    slope = pick(tables_of(rows), "slopes", "slope_net_adoption")
    assert slope.value == pytest.approx(np.mean([0, -0.5, -0.5, 0]))
    assert (slope.keys["d_t"], slope.n, slope.clusters) == ("1-3", 36, 12)


def covered(estimates: Sequence[Estimate], truth: float) -> float:
    """The share of estimates whose interval holds the truth."""
    return float(np.mean([e.low is None or e.low <= truth <= (e.high or 0) for e in estimates]))


def planted(shares: Sequence[float], seeds: int, problems: int) -> np.ndarray:
    """Adoption in each arm, [arms, seeds, problems], correlated within a problem."""
    rng = np.random.default_rng(5)
    luck = 0.5 * rng.random((seeds, problems)) + 0.5 * rng.random((len(shares), seeds, problems))
    # The sum of two uniform halves is triangular: its quantile for a share.
    limits = [np.sqrt(s / 2) if s < 0.5 else 1 - np.sqrt((1 - s) / 2) for s in shares]
    return np.asarray(luck < np.array(limits)[:, None, None], dtype=float)


@pytest.mark.parametrize("problems", [30, 100])
@pytest.mark.parametrize(
    "shares", [(0.6, 0.02, 0.6, 0.02), (0.3, 0.02, 0.7, 0.05), (0.1, 0.0, 0.15, 0.0)]
)
def test_the_interval_of_a_difference_of_differences_holds_the_planted_change(
    shares: tuple[float, ...], problems: int
) -> None:
    new, clean, old, control = planted(shares, 1000, problems)
    truth = (shares[0] - shares[1]) - (shares[2] - shares[3])
    found = batches.paired(new - clean, old - control, range(problems), span=2, step=1)
    assert 0.925 <= covered([one.estimate for one in found], truth) <= 0.99
    wrong = sum((one.p or 1) < 0.05 for one in found)
    if truth == 0:
        assert betaincinv(wrong, 1001 - wrong, 0.005) <= 0.055


@pytest.mark.parametrize(("problems", "changing"), [(15, 0.86), (20, 0.7), (25, 0.56), (50, 0.5)])
def test_the_coarsest_differences_err_no_more_than_any(problems: int, changing: float) -> None:
    """Plain t errs in 6.1, 5.7, 5.6 and 5.4 % of these, where a problem changes by one or not."""
    rng = np.random.default_rng(6)
    changes = rng.choice([-1.0, 1.0], (40_000, problems))
    changes[rng.random(changes.shape) >= changing] = 0
    trials = Trials(changes, np.ones_like(changes), np.arange(problems))
    p, found = difference_p(trials, 1), difference(trials, 2, 1)
    assert ((p < 0.05) == (found.low > 0) | (found.high < 0)).all()
    assert 0.03 <= (p < 0.05).mean() <= 0.0525


def test_a_few_changed_problems_are_weighed_by_what_one_score_can_do() -> None:
    new, old = np.zeros(40), np.zeros(40)
    new[:7] = 1
    ((alone, _),) = batches.paired(new, old, range(40), span=2, step=1)
    assert alone.method == "t on cluster means and two more"
    assert (alone.low, alone.high) == pytest.approx((0.0319, 0.3015), abs=1e-4)


def test_the_interval_of_unpaired_operations_holds_the_planted_difference() -> None:
    new, clean, old, control = planted((0.6, 0.02, 0.4, 0.02), 1000, 60)
    first, second = (
        batches.paired(*pair, range(60), span=1) for pair in ((new, clean), (old, control))
    )
    # Different problems: one of them is shifted by a seed.
    found = [
        batches.independent(a.estimate, b.estimate)
        for a, b in zip(first, [*second[1:], second[0]], strict=True)
    ]
    assert 0.925 <= covered(found, 0.2) <= 0.98


def test_every_table_of_a_whole_run_has_numbers_in_their_bounds() -> None:
    run = synthetic.Run(
        targets=("a/one", "b/two"), structures=("intact", "insert"), contrasts=("bare",),
        places=("random", "low"), attributions=("own", "other"), degrees=(1, 2), problems=12,
        methods=("baseline", "prefix"),
        cannot_prefix=("b/two",), sets=("addition:2+2", "multiplication:2x2", "word:6"),
    )  # fmt: skip
    found = entries(synthetic.rows(run))
    tables = {e.table for e in found}
    assert {
        "families", "methods", "structures", "structure_arms", "slopes", "magnitude", "contrasts",
        "attribution", "operations", "common", "common_problems", "common_pairs", "table1",
        "table1_net", "figure5", "figure5_net", "figure8", "figure8_net",
    } <= tables  # fmt: skip
    for e in found:
        assert_bounds(e)


ARMS = ("source", "gate", "tampered", "clean", "again", "bare", "foreign", "replay")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.builds(
            trial,
            outcome=st.sampled_from(OUTCOMES),
            problem=st.sampled_from("abcd"),
            arm=st.sampled_from(ARMS),
            sample=st.integers(0, 1),
            d_t=st.integers(1, 3),
            target=st.sampled_from(("m", "k")),
            source=st.sampled_from(("m", "k")),
            mode=st.sampled_from(("plain", "prefix")),
            set=st.sampled_from(("addition:2+2", "multiplication:2x2", "word:1")),
            method=st.sampled_from(("baseline", "prefix", "prefix_as_text", None)),
            structure=st.sampled_from(("intact", "insert", "delete_random", None)),
            channel=st.sampled_from(("user", "think", None)),
            attribution=st.sampled_from(("own", "other")),
            place=st.sampled_from(("random", "anchored", "3,1")),
            perturbation=st.sampled_from(("digits", "insert_digit")),
            relative_error=st.sampled_from((None, 1e-9, 0.5)),
            length=st.sampled_from((None, 10)),
            reason=st.sampled_from((None, "form", "none")),
        ),
        max_size=60,
    )
)
def test_whatever_rows_there_are_the_tables_hold(rows: list[Row]) -> None:
    found = entries(synthetic.frame(rows)) if rows else []
    for e in found:
        assert_bounds(e)
    for table in dict.fromkeys(e.table for e in found):
        sheet = sheets.sheet([e for e in found if e.table == table])
        latex.latex(sheet, table)
        assert sheets.markdown(sheet)
    cautions(found)
    findings(found)


def assert_bounds(e: Entry) -> None:
    if e.low is not None and e.high is not None and e.value is not None:
        assert e.low <= e.value <= e.high
    assert (e.p is None) or 0 <= e.p <= 1
    assert e.p is None or e.low is not None
    assert (
        set(e.left_out)
        <= {*OUTCOMES, *(f"{arm} {o}" for arm in ("clean", "again") for o in OUTCOMES)}
        or e.table == "eligibility"
    )
    if e.p is not None and e.low is not None and e.high is not None:
        assert (e.p < 0.05) == (e.low > 0 or e.high < 0)
