"""Comparisons of study A: what is paired, what is left out, and each number by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import synthetic
from misled import captions, facing, versus
from misled.errors import UserError
from misled.records import Entry
from misled.row import Row
from misled.sheets import csv_text
from misled.sides import match, pairs_of
from twosides import Models, compared, gate, pick, side, trial

GOLDEN = Path(__file__).parent / "golden" / "compare.csv"
OUTCOMES = ("recovered", "adopted", "confused", "stopped", "unreadable", "failed")


def rows(*found: Sequence[Row]) -> pl.DataFrame:
    return synthetic.frame([row for part in found for row in part])


def probed(outcomes: dict[str, str], **fields: Any) -> list[Row]:
    """For each problem a chain, a passed gate and a tampered trial."""
    return [
        row
        for problem, outcome in outcomes.items()
        for row in (*gate(problem), trial(problem, outcome, **fields))
    ]


def test_a_difference_is_of_the_problems_that_both_probed() -> None:
    said = [("adopted", "recovered")] * 7 + [("recovered", "adopted")] + [("adopted",) * 2] * 4
    one = {f"p{i:02}": first for i, (first, _) in enumerate(said)}
    two = {f"p{i:02}": second for i, (_, second) in enumerate(said)}
    found = compared(side("a", rows(probed(one))), side("b", rows(probed(two))))
    assert pick(found, "adopted", run="a", against="b").value == pytest.approx(11 / 12)
    assert pick(found, "adopted", run="b", against="a").value == pytest.approx(5 / 12)
    change = pick(found, "change_adopted", run="b", against="a")
    assert change.value == pytest.approx(-0.5)
    assert (change.n, change.clusters, change.method) == (12, 12, "Bonett-Price")
    assert change.low is not None
    assert change.high is not None
    assert change.low < -0.5 < change.high < 0
    assert change.left_out == {}
    r = pick(found, "change_r_cpt").value
    assert r == pytest.approx(-0.25)


def test_each_reason_for_which_a_problem_has_no_partner_is_counted() -> None:
    ids = ("both", "a_only", "b_only", "asked_else", "gate_a", "gate_both", "source_b", "open_b",
           "failed_a", "unsup_b", "absent_b")  # fmt: skip
    mine = [p for p in ids if p not in {"b_only", "gate_a", "gate_both", "failed_a"}]
    one = rows(
        probed(dict.fromkeys(mine, "adopted")),
        *(gate(p, "other") for p in ("gate_a", "gate_both")),
        gate("failed_a"),
        [trial("failed_a", "failed", reason="timeout")],
    )
    theirs = ("both", "b_only", "asked_else", "gate_a", "failed_a")
    bad = replace(gate("source_b")[0], outcome="other")
    two = rows(
        probed(dict.fromkeys(theirs, "recovered")),
        gate("gate_both", "truncated"),
        [bad],
        gate("unsup_b"),
        [trial("unsup_b", "unsupported"), trial("absent_b", "not_applicable")],
        gate("absent_b"),
    )
    found = compared(
        side("a", one, problems=[p for p in ids if p != "b_only"]),
        side("b", two, problems=[p for p in ids if p != "a_only"], questions={"asked_else": "?"}),
    )
    change = pick(found, "change_adopted")
    assert change.left_out == {
        "only in reference": 1,
        "only in other": 1,
        "another question": 1,
        "gate_wrong in reference": 1,
        "gate_wrong in reference and gate_truncated in other": 1,
        "source_wrong in other": 1,
        "unasked in other": 1,
        "failed in reference": 1,
        "unsupported in other": 1,
        "not_applicable in other": 1,
    }
    assert change.n == 1
    assert change.n + sum(change.left_out.values()) == len(ids)


def test_what_lacks_a_number_in_one_run_is_left_out_of_that_number_alone() -> None:
    one = dict.fromkeys(("p0", "p1", "p2"), "adopted")
    two = {"p0": "adopted", "p1": "unreadable", "p2": "stopped"}
    found = compared(side("a", rows(probed(one))), side("b", rows(probed(two))))
    assert pick(found, "change_adopted").n == 3
    assert pick(found, "change_stopped").value == pytest.approx(1 / 3)
    r = pick(found, "change_r_cpt")
    assert (r.n, r.value, r.left_out) == (1, 0, {"no R in other": 2})
    assert r.low is None


def test_each_degree_that_both_have_counts_equally_within_a_problem() -> None:
    one = rows(gate("p0"), gate("p1"), [
        *(trial(p, "adopted", d_t=d) for p in ("p0", "p1") for d in (1, 2, 3)),
    ])  # fmt: skip
    two = rows(gate("p0"), gate("p1"), [
        trial("p0", "recovered", d_t=1), trial("p0", "adopted", d_t=2),
        trial("p0", "failed", d_t=3), trial("p1", "recovered", d_t=1),
    ])  # fmt: skip
    found = compared(side("a", one), side("b", two))
    pooled = pick(found, "change_adopted", d_t="1-3")
    assert pooled.value == pytest.approx((-0.5 - 1) / 2)
    assert pooled.n == 2
    assert pooled.left_out == {"failed in other": 1, "unasked in other": 2}
    assert pooled.keys["same_result"] == "3 of 3"
    assert pick(found, "change_adopted", d_t="2").value == 0
    assert pick(found, "change_adopted", d_t="3").value is None


def test_a_net_difference_subtracts_each_runs_own_clean_chain() -> None:
    def run(tampered: str, clean: str) -> pl.DataFrame:
        return rows(*(
            [*gate(p), trial(p, tampered), trial(p, clean, arm="clean", request=f"{p} clean")]
            for p in (f"p{i}" for i in range(10))
        ))  # fmt: skip

    found = compared(side("a", run("adopted", "recovered")), side("b", run("adopted", "adopted")))
    assert pick(found, "change_adopted").value == 0
    assert pick(found, "net_adoption", run="a").value == 1
    assert pick(found, "change_net_adoption").value == -1
    assert pick(found, "change_net_r").value == pytest.approx(-0.5)


def test_a_run_without_a_clean_control_has_no_net_difference() -> None:
    one = probed({"p0": "adopted"})
    more = [trial("p0", "recovered", arm="clean", request="clean")]
    found = compared(side("a", rows(one, more)), side("b", rows(one)))
    assert not [e for e in found if "net" in e.metric]
    assert [e.metric for e in versus.primary(found)] == ["change_adopted"]


def test_other_chains_and_other_tamperings_are_counted_on_the_line() -> None:
    ids = [f"p{i}" for i in range(4)]
    one = rows(probed(dict.fromkeys(ids, "adopted")))
    two = rows(probed(dict.fromkeys(ids[:3], "adopted"), request="x"),
               gate("p3"), [trial("p3", "adopted", tampered="44")])  # fmt: skip
    change = pick(
        compared(side("a", one), side("b", two, texts={"p0": "another chain"})), "change_adopted"
    )
    shared = {k: v for k, v in change.keys.items() if k.startswith("same_")}
    assert shared == {"same_result": "3 of 4", "same_chain": "3 of 4", "same_reply": "1 of 4"}


def test_the_very_same_replies_differ_by_0_without_an_interval() -> None:
    outcomes = {f"p{i:02}": OUTCOMES[i % 4] for i in range(20)}
    one = side("a", rows(probed(outcomes, seconds=1.25)))
    other = side("b", rows(probed(outcomes, seconds=1.5)))
    for e in compared(one, one._replace(name="b")):
        if e.metric.startswith("change_"):
            assert (e.value, e.low, e.high, e.p) == (0, None, None, None)
            assert e.method == versus.ALIKE
    asked_again = pick(compared(one, other), "change_adopted")
    assert asked_again.keys["same_reply"] == "0 of 20"
    assert asked_again.low is not None
    assert asked_again.low < 0


def test_chains_and_whole_outputs_are_no_partners_unless_each_run_has_one_kind() -> None:
    ids = [f"p{i}" for i in range(3)]
    one = probed(dict.fromkeys(ids, "adopted"))
    mixed = [*probed({"p0": "adopted"}), *probed(dict.fromkeys(ids[1:], "adopted"), feed="output")]
    found = compared(side("a", rows(one)), side("b", rows(mixed)))
    change = pick(found, "change_adopted")
    assert (change.n, change.left_out, change.keys["feed"]) == (1, {"another feed": 2}, "reasoning")
    other = probed(dict.fromkeys(ids, "adopted"), feed="output")
    told = pick(compared(side("a", rows(one)), side("b", rows(other))), "change_adopted")
    assert (told.n, told.keys["feed"]) == (3, "output against reasoning")


def test_names_are_paired_where_each_run_has_one_else_by_name_or_as_told() -> None:
    alone = match(("a/x",), ("b/y",), ())
    assert alone.reference == {"a/x": "b/y against a/x"}
    assert alone.other == {"b/y": "b/y against a/x"}
    several = match(("x", "y"), ("y", "z"), ())
    assert several.reference == {"y": "y"}
    assert (several.alone, several.alone_other) == (("x",), ("z",))
    told = match(("x", "y"), ("y", "z"), (("x", "z"), ("x", "other run's")))
    assert told.reference == {"x": "z against x", "y": "y"}
    crossed = match(("x", "y"), ("x", "y"), (("x", "y"),))
    assert crossed.reference == {"x": "y against x"}
    assert (crossed.alone, crossed.alone_other) == (("y",), ("x",))
    assert pairs_of(["a/x=b/y=z"]) == (("a/x", "b/y=z"),)
    with pytest.raises(UserError, match="names x for two"):
        match(("x",), ("y", "z"), (("x", "y"), ("x", "z")))
    with pytest.raises(UserError, match="no pair of names"):
        pairs_of(["a"])


def test_models_of_two_runs_are_paired_and_a_third_one_is_left() -> None:
    ids = dict.fromkeys((f"p{i}" for i in range(3)), "adopted")
    one = rows(probed(ids))
    two = pl.concat([one.with_columns(target=pl.lit(name)) for name in ("n", "m")])
    by_name = compared(side("a", one), side("b", two))
    assert {e.keys["target"] for e in by_name} == {"m"}
    told = compared(side("a", one), side("b", two), (("m", "n"),))
    assert {e.keys["target"] for e in told} == {"n against m"}


def test_holm_is_of_net_adoption_under_the_first_method_over_all_digits() -> None:
    run = synthetic.Run(targets=("a/x", "a/y"), methods=("baseline", "contradiction"),
                        degrees=(1, 2), problems=40)  # fmt: skip
    found = compared(
        side("a", synthetic.rows(run)), side("b", synthetic.rows(replace(run, seed=1)))
    )
    tests = versus.primary(found)
    assert [(e.metric, e.keys["method"], e.keys["d_t"]) for e in tests] == [
        ("change_net_adoption", "baseline", "1-2")
    ] * 2
    adjusted = versus.adjusted(found, tests)
    mine = [e for e in adjusted if e.p_adjusted is not None]
    assert [(e.metric, e.keys) for e in mine] == [(e.metric, e.keys) for e in tests]
    raw = sorted(e.p or 0 for e in tests)
    assert sorted(e.p_adjusted or 0 for e in mine) == pytest.approx(
        [min(1, 2 * raw[0]), max(min(1, 2 * raw[0]), raw[1])]
    )


STATES = st.lists(
    st.tuples(st.sampled_from(OUTCOMES), st.sampled_from(OUTCOMES), st.booleans()),
    min_size=1, max_size=12,
)  # fmt: skip


def run_of(said: list[tuple[str, str, bool]], name: str) -> pl.DataFrame:
    """Two D_T of each problem whose gate was passed, with clean chains; replies of its own."""
    found: list[Row] = []
    for i, (first, second, passed) in enumerate(said):
        found += gate(f"p{i}", "recovered" if passed else "other")
        for d_t, outcome in enumerate((first, second), start=1):
            if passed:
                request = f"{name} p{i} {d_t}"
                clean = trial(f"p{i}", second, arm="clean", d_t=d_t, request=request)
                found += [trial(f"p{i}", outcome, d_t=d_t, request=request), clean]
    return rows(found)


@given(STATES, STATES)
@settings(max_examples=10)
def test_turning_the_runs_round_turns_each_difference(one: Any, two: Any) -> None:
    sides = side("a", run_of(one, "a")), side("b", run_of(two, "b"))
    there, back = compared(*sides), compared(*sides[::-1])
    assert len(there) == len(back)
    for e in there:
        rest = {k: v for k, v in e.keys.items() if k not in {"run", "against"}}
        run, against = e.keys["run"], e.keys["against"]
        if e.metric.startswith("change_"):
            run, against = against, run
        turned = pick(back, e.metric, run=run, against=against, **rest)
        sign = -1 if e.metric.startswith("change_") else 1
        assert (turned.n, turned.method) == (e.n, e.method)
        assert turned.p == pytest.approx(e.p)
        assert turned.value == (None if e.value is None else pytest.approx(sign * e.value))
        if sign < 0 and e.low is not None:
            assert (turned.low, turned.high) == pytest.approx((-(e.high or 0), -e.low))
        assert {turned_words(why): n for why, n in e.left_out.items()} == turned.left_out


def turned_words(why: str) -> str:
    """A reason as the other order of the runs has it."""
    parts = [re.sub(r"\breference$|\bother$", lambda found: TURN[found[0]], part)
             for part in why.split(" and ")]  # fmt: skip
    return " and ".join(sorted(parts, key=lambda part: part.endswith("other")))


TURN = {"reference": "other", "other": "reference"}


@given(STATES)
@settings(max_examples=6)
def test_a_run_against_itself_differs_by_nothing(said: Any) -> None:
    frame = run_of(said, "a")
    for e in compared(side("a", frame), side("b", frame.sample(fraction=1, shuffle=True, seed=1))):
        if e.metric.startswith("change_"):
            assert e.value in {0, None}
            assert (e.low, e.high, e.p) == (None, None, None)
            assert set(e.left_out) <= {
                f"{why} in both"
                for why in ("gate_wrong", "failed", "no R", "no clean", "no answer")
            }


def golden() -> list[Entry]:
    """Two models on the same chains, one of which cannot be given an output prefix."""
    run = synthetic.Run(methods=("baseline", "prefix"), degrees=(1, 2), problems=24)
    other = replace(run, targets=("planted/vigilant",), problems=30, seed=0,
                    cannot_prefix=("planted/vigilant",))  # fmt: skip
    found = compared(side("runs/a", synthetic.rows(run)), side("runs/b", synthetic.rows(other)))
    return versus.adjusted(found, versus.primary(found))


def test_the_golden_comparison() -> None:
    assert csv_text(golden()) == GOLDEN.read_text("utf-8")


def test_every_row_of_the_sheet_has_both_values_and_the_difference() -> None:
    found = golden()
    faced = facing.faced(found)
    assert 3 * len(faced) == len(found)
    assert {e.metric for e in found} <= captions.METRICS.keys()
    for each in faced:
        values = each.other.value, each.reference.value, each.change.value
        if None not in values:
            other, reference, change = (float(x or 0) for x in values)
            assert other - reference == pytest.approx(change)
    prefixed = [each for each in faced if each.keys["method"] == "prefix"]
    assert {facing.said(each.change) for each in prefixed} == {"unsupported"}


def test_intervals_hold_a_planted_difference_and_tests_err_as_often_as_they_say() -> None:
    planted = Models(
        problems=40,
        rho=0.5,
        tampered=((0.35, 0.5, 0.1), (0.2, 0.7, 0.05)),
        clean=((0.02, 0.9, 0.05), (0.1, 0.8, 0.05)),
    )
    found = compared(*planted.runs(0))
    for name, truth in planted.truth.items():
        mine = [e for e in found if e.metric == name and e.keys["d_t"] == "1-2"]
        held = sum((e.low or 0) <= truth <= (e.high or 0) for e in mine)
        assert len(mine) == 40
        assert held >= 33, name  # of 95 %, in 99.9 % of the times
    tests = versus.primary(compared(*planted.runs(1, (0, 0))))
    assert len(tests) == 40
    assert sum((e.p or 1) < 0.05 for e in tests) <= 7  # of 5 %, in 99.9 %


def main() -> None:
    """Write the golden table anew."""
    GOLDEN.write_text(csv_text(golden()), "utf-8")


if __name__ == "__main__":
    main()
