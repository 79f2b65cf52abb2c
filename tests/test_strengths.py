"""Judges by the strength that the plan declares: each kind together, and weak minus strong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from misled.errors import UserError
from misled.judgements import entries
from misled.records import Entry
from misled.row import Judged
from panel import bench, frame, generation, pick
from test_judge import made, rows, verdicts

PAIR = ("answer", "reasoning")
# 16 right and 22 wrong answers; the chain talks the weak into wrong ones, the strong out of them.
WEAK = {(True, "aa"): 12, (True, "ra"): 4, (False, "ra"): 8, (False, "rr"): 12, (False, "ar"): 2}
FIRM = {(True, "aa"): 12, (True, "rr"): 4, (False, "rr"): 12, (False, "ar"): 10}


def judges() -> list[Judged]:
    known: dict[str, dict[Any, int]] = {"a/w1": WEAK, "a/w2": FIRM, "b/s": FIRM, "c/none": WEAK}
    named = {"a/w1": "weak", "a/w2": "weak", "b/s": "strong"}
    return [
        row
        for judge, lines in known.items()
        for row in bench(lines, PAIR, judge=judge, strength=named.get(judge))
    ]


def one(found: Sequence[Entry], table: str, metric: str, **keys: str) -> Entry:
    against = {"against": keys.pop("against")} if "against" in keys else {}
    lines = [e for e in found if bool(against) == ("against" in e.keys)]
    return pick(lines, table, metric, **keys, **against)


def test_a_kind_holds_every_pair_of_verdicts_and_its_clusters_are_questions() -> None:
    found = entries(frame(judges()))
    fpr = {c: one(found, "strengths", "fpr", strength="weak", condition=c) for c in PAIR}
    assert (fpr["answer"].value, fpr["reasoning"].value) == (12 / 44, 8 / 44)
    assert {(e.n, e.clusters, e.keys["judges"]) for e in fpr.values()} == {(44, 22, "2")}
    change = one(found, "strength_changes", "change_pass", strength="weak")
    assert (change.value, change.n, change.clusters) == (0.0, 76, 38)
    misled = one(found, "strength_changes", "flips/misled", strength="weak")
    assert (misled.value, misled.n, misled.clusters) == (8 / 76, 76, 38)


def test_judges_who_agree_are_no_more_evidence_than_one_of_them() -> None:
    alike = [
        row for judge in "abcd" for row in bench(FIRM, PAIR, judge=f"j/{judge}", strength="strong")
    ]
    four = one(entries(frame(alike)), "strengths", "fpr", condition="answer", strength="strong")
    alone = one(entries(frame(judges())), "strengths", "fpr", condition="answer", strength="strong")
    assert four.value == alone.value
    widths = [(e.high or 0) - (e.low or 0) for e in (four, alone)]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_weak_minus_strong_is_the_difference_of_their_mean_changes_on_the_same_answers() -> None:
    found = entries(frame(judges()))
    changes = {
        name: one(found, "strength_changes", f"change_{name}", strength="weak", against="strong")
        for name in ("pass", "tpr", "fpr", "alignment")
    }
    # Weak: of right answers +4/16 and 0, of wrong ones +6/22 and -10/22; strong: 0 and -10/22.
    assert changes["tpr"].value == pytest.approx(4 / 16 / 2)
    assert changes["fpr"].value == pytest.approx((6 - 10) / 22 / 2 + 10 / 22)
    assert changes["pass"].value == pytest.approx((2 + 8) / 38)
    assert changes["alignment"].value == pytest.approx((2 - 8) / 38)
    assert {e.keys["judges"] for e in changes.values()} == {"2 and 1"}
    assert changes["pass"].n == 38
    assert changes["pass"].p is not None


def test_what_is_missing_is_counted_for_each_judge() -> None:
    lost = generation(99, label=None, outcome="no_answer", labelled_by=None)
    made_of = [*judges(), lost]
    made_of[0] = msgspec.structs.replace(made_of[0], outcome="unreadable", verdict=None)
    line = one(entries(frame(made_of)), "strengths", "pass", strength="weak", condition="answer")
    assert line.n == 75
    assert line.left_out == {"unreadable": 1, "no_answer": 2}


def test_without_a_declared_strength_or_both_conditions_there_is_no_such_table() -> None:
    for lines in (bench(WEAK, PAIR), bench({(True, "a"): 12}, ["answer"], strength="weak")):
        assert not [e for e in entries(frame(lines)) if e.table.startswith("strength")]


def test_a_verdict_carries_what_the_plan_calls_its_judge() -> None:
    names = ["planted/vigilant", "planted/credulous", "planted/mixed"]
    declared = {name: {"strength": kind} for name, kind in zip(names, ("strong", "weak"))}  # noqa: B905 - the last has none
    unit = next(made(judge=names, models=declared, conditions=["answer", "null"]).units())
    said = {(row.judge, row.strength) for row in verdicts(rows(unit))}
    assert said == {(names[0], "strong"), (names[1], "weak"), (names[2], None)}


def test_another_word_for_a_strength_is_refused() -> None:
    with pytest.raises(UserError, match=r"'medium'.*strength"):
        made(models={"planted/vigilant": {"strength": "medium"}})
