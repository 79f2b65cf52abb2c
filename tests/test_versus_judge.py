"""Comparisons of study B: each difference from a handful of verdicts, counted by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misled import captions, stats, versus, versus_judge
from misled.records import Entry
from misled.row import Judged
from misled.versus_judge import EFFECTS, FLOOR
from panel import bench, frame, generation, verdict
from twosides import Judges, compared, pick, side

PAIR = ("answer", "reasoning")
EFFECT = EFFECTS["answer", "reasoning"]
# (right, verdicts without and with the chain): how many of them; the same items in both runs.
FIRST = {(True, "aa"): 8, (True, "rr"): 4, (False, "ra"): 6, (False, "rr"): 6}
SECOND = {(True, "aa"): 6, (True, "ar"): 2, (True, "rr"): 4, (False, "ra"): 1, (False, "rr"): 11}


def run(lines: Mapping[tuple[bool, str], int], **fields: Any) -> pl.DataFrame:
    return frame(bench(lines, PAIR, **fields))


def of(found: list[Entry], metric: str, condition: str) -> Entry:
    return pick(found, f"change_{metric}", condition=condition)


def test_each_condition_and_the_chains_effect() -> None:
    found = compared(side("a", run(FIRST)), side("b", run(SECOND)))
    assert {e.metric for e in found} <= captions.METRICS.keys()
    values = {
        (condition, name): of(found, name, condition).value
        for condition in (*PAIR, EFFECT)
        for name in versus_judge.METRICS
    }
    assert values["answer", "tpr"] == 0
    assert values["reasoning", "tpr"] == pytest.approx(-2 / 12)
    assert values["reasoning", "fpr"] == pytest.approx(-5 / 12)
    assert values["reasoning", "youden"] == pytest.approx(3 / 12)
    assert values["reasoning", "alignment"] == pytest.approx((-2 + 5) / 24)
    assert values["reasoning", "pass"] == pytest.approx((-2 - 5) / 24)
    assert values["reasoning", "overconfidence"] == pytest.approx(-5 / 24)
    assert values["reasoning", "conservativeness"] == pytest.approx(2 / 24)
    assert values[EFFECT, "fpr"] == pytest.approx((1 - 6) / 12)
    own = pick(found, "fpr", condition=EFFECT, run="a", against="b")
    assert own.n == 12
    assert own.value == pytest.approx(6 / 12)


def test_p_is_mcnemars_and_that_of_the_effect_is_of_t() -> None:
    found = compared(side("a", run(FIRST)), side("b", run(SECOND)))
    flips = stats.mcnemar(0, 5)
    assert of(found, "fpr", "reasoning").p == pytest.approx(flips.mid_p)
    assert of(found, "overconfidence", "reasoning").p == pytest.approx(flips.mid_p)
    assert of(found, "pass", "reasoning").p == pytest.approx(stats.mcnemar(0, 7).mid_p)
    assert of(found, "youden", "reasoning").p is None
    assert of(found, "tpr", EFFECT).method.startswith("t on cluster means")


def test_items_count_where_both_verdicts_are_read_in_both_runs() -> None:
    labels = [True, True, True, False, False, True, True]
    one = [verdict(i, said, PAIR[k], label=y) for i, y in enumerate(labels)
           for k, said in enumerate(("a", "?" if i == 0 else "a"))]  # fmt: skip
    one = [row for row in one if row.problem != "q005"]
    two = [verdict(i, "refused" if i == 1 else "a", name, label=not y if i == 3 else y)
           for i, y in enumerate(labels) for name in PAIR if i not in {2, 6}]  # fmt: skip
    given_ = [generation(i, label=y) for i, y in enumerate(labels)]
    cut = generation(2, label=None, outcome="no_answer")
    found = compared(
        side("a", frame([*one, *given_])),
        side("b", frame([*two, *(row for row in given_ if row.problem != "q002"), cut])),
    )
    change = of(found, "pass", "answer")
    assert change.n == 1
    assert change.left_out == {
        "unreadable in reference": 1,
        "refused in other": 1,
        "no_answer in other": 1,
        "labelled otherwise": 1,
        "unasked in reference": 1,
        "unasked in other": 1,
    }
    assert change.n + sum(change.left_out.values()) == len(labels)


def test_a_condition_that_only_one_run_has_is_not_compared() -> None:
    one = side("a", run(FIRST))
    two = run(FIRST)
    found = compared(one, side("b", two.filter(two["condition"] == "answer")))
    assert {e.keys["condition"] for e in found} == {"answer"}
    tests = versus_judge.primary(found)
    assert [(e.metric, e.keys["condition"]) for e in tests] == [
        ("change_tpr", "answer"), ("change_fpr", "answer")
    ]  # fmt: skip
    both = versus_judge.primary(compared(one, side("b", run(SECOND))))
    assert {e.keys["condition"] for e in both} == {EFFECT}


def test_answers_and_replies_that_are_the_same_are_counted() -> None:
    rows = run(FIRST).with_row_index().with_columns(request=pl.col("index").cast(pl.String))
    same = side("a", rows.drop("index"))
    found = compared(same, side("b", run(FIRST), texts={"q000": "another answer"}))
    assert of(found, "pass", "answer").keys["same_answer"] == "23 of 24"
    for e in compared(same, same._replace(name="b")):
        if e.metric.startswith("change_"):
            assert (e.value, e.low, e.p, e.method) == (0, None, None, versus.ALIKE)


def test_judges_are_paired_and_a_generator_is_itself_when_it_judges_its_own_answer() -> None:
    own = ("self_hidden", "self")
    one = frame([*bench(FIRST, PAIR, judge="acme/j"), *bench(FIRST, own, judge="acme/g")])
    two = frame([*bench(SECOND, PAIR, judge="b/k"), *bench(SECOND, own, judge="acme/g")])
    first, second = (
        side(name, rows)._replace(names={**side(name, rows).names, "judge": (judge,)})
        for name, rows, judge in (("a", one, "acme/j"), ("b", two, "b/k"))
    )
    found = compared(first, second)
    judges = {(e.keys["judge"], e.keys["condition"]) for e in found}
    assert judges == {
        *(("b/k against acme/j", condition) for condition in (*PAIR, EFFECT)),
        *(("acme/g", condition) for condition in (*own, EFFECTS[own])),
    }


def test_edited_chains_are_paired_by_edit() -> None:
    def edited(said: str, **fields: Any) -> pl.DataFrame:
        rows = [verdict(i, said, "controlled", variant="statements", k=k, place="end", **fields)
                for i in range(12) for k in (0, 4)]  # fmt: skip
        return frame(rows)

    found = compared(side("a", edited("a")), side("b", edited("r")))
    by_k = {e.keys["k"]: e.value for e in found if e.metric == "change_pass"}
    assert by_k == {"0": -1, "4": -1}


FOUR = (*PAIR, "again_answer", "again_reasoning")


def test_chance_stands_beside_the_effect_on_the_items_that_are_read_all_four_times() -> None:
    one = {(True, "arar"): 6, (True, "aaaa"): 6, (False, "ar?r"): 1}
    two = {(True, "aara"): 6, (True, "araa"): 6, (False, "arar"): 1}
    found = compared(side("a", frame(bench(one, FOUR))), side("b", frame(bench(two, FOUR))))
    expected = {"changed": (0.5, 0.5), "floor": (0, 0.5), "net_changed": (0.5, 0)}
    for name, values in expected.items():
        mine = [pick(found, name, condition=FLOOR, run=run).value for run in ("a", "b")]
        assert mine == pytest.approx(values)
        change = of(found, name, FLOOR)
        assert change.value == pytest.approx(values[1] - values[0])
        assert (change.n, change.left_out) == (12, {"unreadable in reference": 1})
    assert {e.keys["condition"] for e in versus_judge.primary(found)} == {EFFECT}
    plain = compared(side("a", run(FIRST)), side("b", frame(bench(two, FOUR))))
    assert FLOOR not in {e.keys["condition"] for e in plain}


def test_what_is_asked_of_a_question_alone_is_paired_by_question_whoever_answered_it() -> None:
    def asked(generator: str, null: str, own: str) -> pl.DataFrame:
        rows = [verdict(i, word, "null", variant="colon", label=None, generator=generator)
                for i, word in enumerate(null)]  # fmt: skip
        who: dict[str, Any] = {"set": "facts", "generator": generator, "judge": "acme/j"}
        rows += [Judged(arm="closed_book", outcome="read", problem=f"q{i:03}", cluster=f"q{i:03}",
                        label={"y": True, "n": False}.get(word), **who)
                 for i, word in enumerate(own)]  # fmt: skip
        return frame(rows)

    one, two = asked("acme/g", "aaarrr", "yyyn-y"), asked("b/h", "aarrr?", "ynnnyy")
    found = compared(side("a", one), side("b", two), [("acme/g", "b/h")])
    null = of(found, "pass", "null")
    assert null.value == pytest.approx(-1 / 5)
    assert null.n == 5
    assert null.left_out == {"unreadable in other": 1}
    assert null.keys.keys().isdisjoint({"generator", "shown", "same_answer"})
    assert pick(found, "pass", run="a", condition="null", variant="colon").value == 3 / 5
    own = of(found, "accuracy", "closed_book")
    assert own.value == pytest.approx(-2 / 5)
    assert own.n == 5
    assert own.left_out == {"unlabelled in reference": 1}
    assert len(found) == 6


def test_reliance_is_of_questions_whose_four_verdicts_are_read_in_both_runs() -> None:
    def crossed(said: Mapping[int, str]) -> pl.DataFrame:
        """Of each question right answer, right chain; wrong, right; right, wrong; wrong, wrong."""
        cells = [(y, chain) for chain in ("right", "wrong") for y in (True, False)]
        return frame([verdict(i, word, "crossed", label=y, variant=chain)
                      for i, words in said.items()
                      for word, (y, chain) in zip(words, cells, strict=True)])  # fmt: skip

    one = crossed({0: "aarr", 1: "aarr", 2: "aa?r", 4: "aaaa"})
    two = crossed({0: "arar", 1: "aara", 2: "aarr", 3: "aarr"})
    found = compared(side("a", one), side("b", two, problems=[f"q{i:03}" for i in range(9)]))
    on_chain, on_answer = (of(found, name, "crossed") for name in ("reliance", "answer_reliance"))
    assert pick(found, "reliance", run="a").value == 1
    assert pick(found, "answer_reliance", run="b").value == pytest.approx((1 - 0.5) / 2)
    assert on_chain.value == pytest.approx((0 + 0.5) / 2 - 1)
    assert on_answer.value == pytest.approx((1 - 0.5) / 2)
    assert on_chain.n == 2
    assert on_chain.left_out == {
        "unreadable in reference": 1, "only in reference": 1, "only in other": 1
    }  # fmt: skip


SAID = st.lists(
    st.tuples(st.booleans(), *[st.sampled_from("aaaarrrr?") for _ in range(8)]),
    min_size=1,
    max_size=30,
)


@given(SAID)
@settings(max_examples=15)
def test_turning_the_runs_round_turns_each_difference(said: Any) -> None:
    runs = [
        frame([verdict(i, each[at + k], name, label=each[0], request=f"{at} {i} {name}")
               for i, each in enumerate(said) for k, name in enumerate(FOUR)])
        for at in (1, 5)
    ]  # fmt: skip
    sides = side("a", runs[0]), side("b", runs[1])
    back = compared(*sides[::-1])
    for e in compared(*sides):
        if not e.metric.startswith("change_"):
            continue
        turned = pick(back, e.metric, condition=e.keys["condition"])
        assert (turned.n, turned.method) == (e.n, e.method)
        assert turned.p == pytest.approx(e.p)
        assert turned.value == (None if e.value is None else pytest.approx(-e.value))
        if e.low is not None:
            assert (turned.low, turned.high) == pytest.approx((-(e.high or 0), -e.low))


def test_intervals_hold_a_planted_difference_and_tests_err_as_often_as_they_say() -> None:
    planted = Judges(
        items=150,
        right=0.6,
        accept=(
            {True: (0.75, 0.85), False: (0.3, 0.6)},
            {True: (0.7, 0.75), False: (0.3, 0.35)},
        ),
    )
    found = compared(*planted.runs(1))
    for metric in ("tpr", "fpr", "youden"):
        for condition in (*PAIR, EFFECT):
            mine = [e for e in found if e.metric == f"change_{metric}"
                    and e.keys["condition"] == condition]  # fmt: skip
            aim = planted.truth(metric, condition)
            held = sum((e.low or 0) <= aim <= (e.high or 0) for e in mine)
            assert len(mine) == 40
            assert held >= 33, (metric, condition)  # of 95 %, in 99.9 % of the times
    tests = versus_judge.primary(compared(*planted.runs(2, (0, 0))))
    assert len(tests) == 80
    assert sum((e.p or 1) < 0.05 for e in tests) <= 11  # of 5 %, in 99.9 %
