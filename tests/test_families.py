"""Holm's families: which tests they hold, and what the adjusted p are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import synthetic
from misled import sheets, stats
from misled.estimates import entries
from misled.families import adjusted, families
from misled.records import Entry

SETTING = {
    "set": "addition:2+2",
    "target": "m",
    "source": "m",
    "mode": "plain",
    "feed": "reasoning",
    "attribution": "own",
    "channel": "user",
    "structure": "intact",
    "perturbation": "digits",
    "scope": "endings",
    "place": "random",
    "method": "baseline",
    "d_t": "1-6",
}


def line(table: str, metric: str, p: float | None, **keys: str) -> Entry:
    return Entry(
        table=table, study="cpt", metric=metric, keys=SETTING | keys, value=0.1, low=0.0, high=0.2,
        n=20, clusters=20, method="t on cluster means", left_out={}, p=p,
    )  # fmt: skip


def net(p: float | None, **keys: str) -> Entry:
    return line("pooled", "net_adoption", p, against="clean", **keys)


def held(found: Sequence[Entry], family: str) -> list[Entry]:
    return [e for e in found if e.keys["family"] == family]


def test_holm_is_over_the_targets_of_a_problem_set() -> None:
    found = families(
        [
            net(0.01, target="a"),
            net(0.03, target="b"),
            net(0.02, target="c"),
            net(0.5, target="a", set="multiplication:2x2"),
        ]
    )
    assert [e.p_adjusted for e in found] == pytest.approx([0.03, 0.04, 0.04, 0.5])
    assert [e.keys["m"] for e in found] == ["3", "3", "3", "1"]
    assert {e.table for e in found} == {"families"}


def test_what_cannot_be_tested_is_listed_and_not_counted() -> None:
    found = families([net(0.01, target="a"), net(None, target="b")])
    assert [(e.p_adjusted, e.keys["m"]) for e in found] == [(0.01, "1"), (None, "1")]


@pytest.mark.parametrize(
    "other",
    [
        {"place": "low"},
        {"channel": "think"},
        {"scope": "all"},
        {"attribution": "other"},
        {"perturbation": "insert_digit"},
        {"structure": "insert"},
        {"method": "prefix"},
        {"against": "again"},
    ],
)
def test_a_sweep_adds_no_member(other: dict[str, str]) -> None:
    found = families(
        [net(0.01), line("pooled", "net_adoption", 0.04, **{"against": "clean"} | other)]
    )
    assert [(e.p_adjusted, e.keys["m"]) for e in held(found, "A1")] == [(0.01, "1")]


def test_methods_are_a_family_over_all_degrees_without_the_contrast() -> None:
    change = ("methods", "change_net_adoption")
    found = families(
        [
            line(*change, 0.01, method="uncertainty"),
            line(*change, 0.001, method="uncertainty", d_t="1"),
            line(*change, 0.04, method="prefix"),
            line(*change, 0.02, method="prefix_as_text"),
            line("methods", "change_adopted", 0.001, method="prefix"),
        ]
    )
    assert [(e.keys["method"], e.p_adjusted) for e in held(found, "A2")] == [
        ("uncertainty", 0.02),
        ("prefix", 0.04),
    ]


def test_structures_are_a_family_without_the_controls_and_halves() -> None:
    change = ("structures", "net_adoption")
    found = families(
        [
            line(*change, 0.01, structure="insert", half="change"),
            line(*change, 0.001, structure="insert", half="edited"),
            line(*change, 0.001, structure="insert_neutral", half="change"),
            line(*change, 0.03, structure="delete_reflection", half="change"),
            line(*change, 0.001, structure="insert", half="change", method="prefix"),
        ]
    )
    assert [e.p_adjusted for e in held(found, "A3")] == [0.02, 0.03]


def test_the_slope_on_degrees_is_tested_where_the_place_is_anchored() -> None:
    slope = ("slopes", "slope_net_adoption")
    found = families([line(*slope, 0.01), line(*slope, 0.2, place="anchored")])
    assert [(e.keys["place"], e.p) for e in held(found, "A4")] == [("anchored", 0.2)]
    assert [e.p for e in held(families([line(*slope, 0.01)]), "A4")] == [0.01]


def test_the_tables_say_which_of_their_tests_is_adjusted() -> None:
    change = ("methods", "change_net_adoption")
    lines = [
        line(*change, 0.01, method="prefix"),
        line(*change, 0.01, method="prefix", place="low"),
        line("methods", "change_adopted", 0.01, method="prefix"),
    ]
    found = adjusted(lines, families(lines))
    assert [e.p_adjusted for e in found] == [0.01, None, None]
    text = sheets.markdown(sheets.sheet(found))
    assert "p 0.010, Holm 0.010" in text
    assert "Exploratory" in text


def test_a_whole_run_is_adjusted_as_holm_has_it() -> None:
    run = synthetic.Run(targets=("a/one", "b/two"), degrees=(1, 2), structures=("intact", "insert"))
    found = [e for e in entries(synthetic.rows(run)) if e.table == "families"]
    assert {e.keys["family"] for e in found} == {"A1", "A2", "A3", "A4"}
    for family in ("A1", "A2", "A3", "A4"):
        mine = held(found, family)
        tests = [e.p for e in mine if e.p is not None]
        assert [e.p_adjusted for e in mine] == pytest.approx(list(stats.holm(tests)))
        assert {e.keys["m"] for e in mine} == {str(len(tests))}
    assert len(held(found, "A2")) == 2 * 3
