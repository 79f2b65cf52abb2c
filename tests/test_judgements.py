"""Study B's tables: each number from a handful of verdicts, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

from misled import judgements, judging, sheets
from misled.judgements import entries
from misled.records import Entry
from misled.row import Judged
from panel import WHO, bench, frame, generation, pick, verdict

PAIR = ("answer", "reasoning")
ALL = (*PAIR, "again_answer", "again_reasoning")
# 12 right: 6 kept, 4 reassured, 2 overcritical. 18 wrong: 8 misled, 3 corrected, 7 kept.
FLIPS = {
    (True, "aa"): 6,
    (True, "ra"): 4,
    (True, "ar"): 2,
    (False, "ra"): 8,
    (False, "ar"): 3,
    (False, "rr"): 5,
    (False, "aa"): 2,
}


def table(rows: Sequence[Judged], **options: Any) -> list[Entry]:
    return entries(frame(rows), **options)


def value(found: Sequence[Entry], name: str, metric: str, **keys: str) -> float:
    number = pick(found, name, metric, **keys).value
    assert number is not None
    return number


def test_nothing_gives_nothing() -> None:
    assert entries(frame([])) == []


def test_joint_shares_and_rates_of_both_conditions() -> None:
    found = table(bench(FLIPS, PAIR))
    assert value(found, "judge", "pass", condition="answer") == pytest.approx(13 / 30)
    assert value(found, "judge", "pass", condition="reasoning") == pytest.approx(20 / 30)
    assert value(found, "judge", "alignment", condition="answer") == pytest.approx((8 + 13) / 30)
    assert value(found, "judge", "overconfidence", condition="reasoning") == pytest.approx(10 / 30)
    assert value(found, "judge", "conservativeness", condition="reasoning") == pytest.approx(2 / 30)
    assert value(found, "judge", "tpr", condition="reasoning") == pytest.approx(10 / 12)
    assert value(found, "judge", "fpr", condition="reasoning") == pytest.approx(10 / 18)
    assert value(found, "judge", "youden", condition="answer") == pytest.approx(8 / 12 - 5 / 18)
    assert pick(found, "judge", "tpr", condition="answer").n == 12


def test_the_eight_cells_are_shares_of_all_items() -> None:
    found = table(bench(FLIPS, PAIR))
    counts = {"misled": 8, "corrected": 3, "reassured": 4, "overcritical": 2, "unchanged": 13,
              "unchanged/right_accepted": 6, "unchanged/right_rejected": 0,
              "unchanged/wrong_accepted": 2, "unchanged/wrong_rejected": 5}  # fmt: skip
    for name, count in counts.items():
        assert value(found, "transitions", name) == pytest.approx(count / 30)


def test_a_cell_never_stands_without_its_floor() -> None:
    found = table(bench(FLIPS, PAIR))
    floor = pick(found, "transitions", "misled_floor")
    assert floor.value is None
    assert floor.method == "none: again_answer and again_reasoning were not asked"


def test_floors_are_means_over_both_conditions() -> None:
    rows = bench(
        {
            (False, "rara"): 6,  # misled, no floor
            (False, "raaa"): 2,  # and rejected, then accepted without the chain
            (False, "rarr"): 1,  # and accepted, then rejected with it
            (False, "rrrr"): 11,
        },
        ALL,
    )
    found = table(rows)
    assert value(found, "transitions", "misled") == pytest.approx(9 / 20)
    assert value(found, "transitions", "misled_floor") == pytest.approx((2 / 20 + 0) / 2)
    assert value(found, "transitions", "corrected_floor") == pytest.approx((0 + 1 / 20) / 2)
    assert value(found, "floor", "changed", answers="all") == pytest.approx(9 / 20)
    assert value(found, "floor", "net_changed", answers="all") == pytest.approx(
        9 / 20 - (2 / 20 + 1 / 20) / 2
    )
    assert value(found, "floor", "net_misled", answers="all") == pytest.approx(9 / 20 - 1 / 20)
    assert pick(found, "floor", "net_changed", answers="right").value is None


def test_changes_have_mid_p_and_the_exact_p_beside_it() -> None:
    found = table(bench(FLIPS, PAIR))
    fpr = pick(found, "changes", "change_fpr")
    assert fpr.value == pytest.approx(5 / 18)
    assert fpr.p == pytest.approx(0.1460, abs=5e-4)  # mid-p of 8 against 3
    assert pick(found, "changes", "change_fpr/exact").p == pytest.approx(0.2266, abs=5e-4)
    assert value(found, "changes", "change_tpr") == pytest.approx(2 / 12)
    assert value(found, "changes", "change_pass") == pytest.approx(7 / 30)
    assert value(found, "changes", "change_alignment") == pytest.approx((4 + 3 - 2 - 8) / 30)


def test_items_unread_in_one_condition_are_out_of_both_and_counted() -> None:
    rows = [
        *bench(FLIPS, PAIR),
        *(verdict(100 + i, "a", "answer") for i in range(3)),
        verdict(100, "?", "reasoning"),
        verdict(101, "failed", "reasoning"),
        *(verdict(110, said, name, label=None) for said, name in zip("ar", PAIR, strict=True)),
    ]
    found = table(rows)
    line = pick(found, "judge", "pass", condition="answer")
    assert line.n == 30
    assert line.left_out == {"unreadable": 1, "failed": 1, "unlabelled": 1, "unasked": 1}


def test_a_generation_without_an_answer_is_counted_where_it_is_not_judged() -> None:
    rows = [*bench(FLIPS, PAIR), generation(200, label=None, outcome="no_answer", labelled_by=None)]
    assert pick(table(rows), "judge", "pass", condition="answer").left_out == {"no_answer": 1}


def test_unread_verdicts_stand_in_a_table_of_three_by_three() -> None:
    found = table([*bench(FLIPS, PAIR), *bench({(True, "a?"): 1, (True, "?r"): 2}, PAIR, sample=1)])
    right = {"answers": "right"}
    assert value(found, "verdicts", "with_unreadable", without="accept", **right) == pytest.approx(
        1 / 15
    )
    assert value(found, "verdicts", "with_reject", without="unreadable", **right) == pytest.approx(
        2 / 15
    )
    assert value(found, "verdicts", "with_accept", without="reject", **right) == pytest.approx(
        4 / 15
    )
    assert value(
        found, "verdicts", "with_accept", without="reject", answers="wrong"
    ) == pytest.approx(8 / 18)


def test_bounds_are_what_unread_verdicts_could_make_of_the_metrics() -> None:
    found = table(bench({**FLIPS, (False, "r?"): 2}, PAIR))
    shown = {"condition": "reasoning"}
    assert value(found, "bounds", "fpr_lower", **shown) == pytest.approx(10 / 20)
    assert value(found, "bounds", "fpr_upper", **shown) == pytest.approx(12 / 20)
    assert value(found, "bounds", "alignment_lower", **shown) == pytest.approx(18 / 32)
    assert value(found, "bounds", "alignment_upper", **shown) == pytest.approx(20 / 32)
    assert value(found, "bounds", "fpr_lower", condition="answer") == pytest.approx(5 / 20)
    hit, rejected, accepted = (ndtri(n) for n in (10.5 / 13, 10.5 / 21, 12.5 / 21))
    ends = {"d_prime_lower": hit - accepted, "d_prime_upper": hit - rejected}
    ends |= {"criterion_lower": -(hit + accepted) / 2, "criterion_upper": -(hit + rejected) / 2}
    assert {name: value(found, "bounds", name, **shown) for name in ends} == pytest.approx(ends)
    assert not [e for e in table(bench(FLIPS, PAIR)) if e.table.startswith("bounds")]


def test_bounds_of_changes_take_what_is_unread_at_its_worst() -> None:
    found = table(bench({**FLIPS, (False, "r?"): 2, (True, "?a"): 1}, PAIR))
    assert value(found, "bounds_of_changes", "change_fpr_lower") == pytest.approx(5 / 20)
    assert value(found, "bounds_of_changes", "change_fpr_upper") == pytest.approx(7 / 20)
    assert value(found, "bounds_of_changes", "change_tpr_lower") == pytest.approx(2 / 13)
    assert value(found, "bounds_of_changes", "change_tpr_upper") == pytest.approx(3 / 13)
    assert value(found, "bounds_of_changes", "change_alignment_lower") == pytest.approx(-5 / 33)
    assert value(found, "bounds_of_changes", "change_alignment_upper") == pytest.approx(-2 / 33)
    assert value(found, "bounds_of_changes", "change_pass_upper") == pytest.approx(10 / 33)


def test_a_condition_alone_counts_what_was_read_in_it() -> None:
    found = table(bench({(True, "a"): 12, (False, "r"): 10, (False, "?"): 3}, ["answer"]))
    line = pick(found, "judge", "alignment", condition="answer")
    assert (line.value, line.n, line.left_out) == (1.0, 22, {"unreadable": 3})
    assert not [e for e in found if e.table in {"transitions", "changes", "show"}]


def test_show_decides_and_says_what_would_settle_it() -> None:
    rows = bench({(True, "ra"): 30, (True, "aa"): 30, (False, "ar"): 20, (False, "rr"): 20}, PAIR)
    found = table(rows)
    line = pick(found, "show", "change_balanced_accuracy")
    assert line.keys["decision"] == "show"
    assert line.value == pytest.approx(0.5)
    assert value(found, "show", "accuracy") == pytest.approx(0.6)
    assert value(found, "show", "change_alignment") == pytest.approx(0.6 * 0.5 + 0.4 * 0.5)
    assert value(found, "show", "needed") == pytest.approx(
        2.8**2 * ((0.25 / 0.6 + 0.25 / 0.4) / 4) / 0.03**2
    )
    assert pick(found, "show", "break_even").value is None


@pytest.mark.parametrize(
    ("items", "value", "why"),
    [
        ({(True, "ra"): 30, (False, "ar"): 9}, 1.0, "none: 9 wrong answers"),
        ({(True, "ra"): 1, (False, "ar"): 30}, 1.0, "none: 1 right answer"),
        ({(True, "ra"): 30}, None, "none: 0 wrong answers"),
        ({(False, "ra"): 30}, None, "none: 0 right answers"),
        ({(False, "??"): 30}, None, "none: 0 right answers"),
    ],
)
def test_show_refuses_under_10_right_or_wrong_answers(
    items: dict[tuple[bool, str], int], value: float | None, why: str
) -> None:
    found = table(bench(items, PAIR))
    line = pick(found, "show", "change_balanced_accuracy")
    assert (line.keys["decision"], line.low, line.method) == ("refused", None, why)
    assert line.value == value
    if value is None:
        lines = [pick(found, "show", name) for name in ("needed", "break_even")]
        assert [(e.value, e.method) for e in lines] == [(None, why)] * 2


def test_match_labels_of_wrong_answers_say_that_overconfidence_is_a_bound() -> None:
    found = table(bench(FLIPS, PAIR, labelled_by="match"))
    keys = pick(found, "judge", "overconfidence", condition="answer").keys
    assert keys["labels"] == "match: overconfidence is an upper bound"
    assert "labels" not in pick(table(bench(FLIPS, PAIR)), "judge", "pass", condition="answer").keys


def test_judging_oneself_is_set_against_judging_as_any_judge() -> None:
    mine = {"judge": "acme/g"}
    rows = bench(FLIPS, PAIR, **mine)
    rows += bench({(True, "a"): 12, (False, "a"): 9, (False, "r"): 9}, ["self"], **mine)
    rows += bench({(True, "a"): 6, (True, "r"): 6, (False, "r"): 18}, ["self_hidden"], **mine)
    found = table(rows)
    assert value(found, "self", "pass", condition="self") == pytest.approx(21 / 30)
    assert value(found, "self", "pass", condition="reasoning") == pytest.approx(20 / 30)
    keys = {"condition": "self", "against": "self_hidden"}
    assert value(found, "self_changes", "change_pass", **keys) == pytest.approx(15 / 30)
    assert value(found, "self_changes", "change_tpr", **keys) == pytest.approx(0.5)
    keys = {"condition": "reasoning", "against": "answer"}
    assert value(found, "self_changes", "change_pass", **keys) == pytest.approx(7 / 30)


def _other(row: Judged, **fields: Any) -> Judged:
    return Judged(**{name: getattr(row, name) for name in Judged.__struct_fields__} | fields)


def test_own_verdicts_are_set_against_the_family_and_others_item_by_item() -> None:
    wrong = {(False, "a"): 10, (False, "r"): 10}
    rows = [
        *bench({(False, "a"): 20}, ["reasoning"], generator="x/qwen3-8b", judge="x/qwen3-8b"),
        *bench(wrong, ["reasoning"], generator="x/qwen3-8b", judge="y/Qwen2.5-72B"),
        *bench(wrong, ["reasoning"], generator="x/qwen3-8b", judge="openai/gpt-4o"),
        *bench({(False, "r"): 20}, ["reasoning"], generator="x/qwen3-8b", judge="z/glm-4"),
    ]
    found = table(rows)
    kin = pick(found, "preference", "change_fpr", against="family")
    assert (kin.value, kin.method) == (0.5, "Bonett-Price")
    assert value(found, "preference", "change_fpr", against="others") == pytest.approx(0.75)
    assert pick(found, "preference", "change_tpr", against="others").value is None


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("dashscope/qwen3-8b", "qwen"),
        ("vllm/Qwen2.5-72B-Instruct", "qwen"),
        ("vllm/glm-z1-32b", "glm"),
        ("openai/gpt-4o", "gpt"),
        ("local/7b", "b"),
        ("local/405", "405"),
    ],
)
def test_a_family_is_the_first_letters_of_the_name(model: str, name: str) -> None:
    assert judgements.family(model) == name


def test_the_balanced_subset_has_as_many_right_as_wrong_answers_and_corrects_nothing() -> None:
    rows = [*bench({(True, "aa"): 40, (False, "ra"): 12}, PAIR)]
    rows += [_other(row, judge="acme/k") for row in rows]
    found = table(rows)
    for judge in ("acme/j", "acme/k"):
        line = pick(found, "balanced", "accuracy", condition="answer", judge=judge)
        assert (line.value, line.n) == (0.5, 24)
        refused = pick(found, "balanced", "corrected_accuracy", judge=judge)
        assert (refused.value, refused.method) == (None, "refused: balanced by choice")
    assert table(rows, seed=1) == table(rows[::-1], seed=1)


def test_breakdowns_split_by_own_answer_and_by_length() -> None:
    rows = bench(FLIPS, PAIR)
    rows = [_other(row, length=100 + int(row.problem[1:])) for row in rows]
    rows += [
        Judged(arm="closed_book", problem=f"q{i:03}", cluster=f"q{i:03}", set="facts",
               generator="", judge="acme/j", outcome="read", label=i < 12)
        for i in range(30)
    ]  # fmt: skip
    found = table(rows)
    assert value(found, "breakdowns", "change_pass", closed_book="right") == pytest.approx(2 / 12)
    assert value(found, "breakdowns", "change_pass", closed_book="wrong") == pytest.approx(5 / 18)
    assert value(found, "breakdowns", "flips/misled", closed_book="wrong") == pytest.approx(8 / 18)
    thirds = [e for e in found if e.table == "breakdowns" and "chain" in e.keys]
    sizes = {e.keys["chain"]: e.n for e in thirds if e.metric == "change_pass"}
    assert sizes == {"shortest third": 10, "middle third": 10, "longest third": 10}


def test_the_order_of_the_rows_changes_nothing() -> None:
    rows = [*bench(FLIPS, PAIR), *bench(FLIPS, PAIR, judge="acme/k"), generation(1, label=True)]
    shuffled = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    assert table(rows) == table(shuffled)


def test_a_read_verdict_without_a_verdict_is_an_error() -> None:
    row = _other(verdict(0, "a", "answer"), verdict=None)
    with pytest.raises(pl.exceptions.PolarsError):
        table([row])


def test_planted_rates_come_back() -> None:
    rng = np.random.default_rng(5)
    n, rates = 4000, {"answer": (0.8, 0.4), "reasoning": (0.9, 0.55)}
    right = rng.random(n) < 0.35
    rows = pl.DataFrame(
        {"arm": "judge", **WHO, "problem": [str(i) for i in range(n)], "outcome": "read",
         "sample": 0, "label": right}
    )  # fmt: skip
    both = [
        rows.with_columns(
            condition=pl.lit(name),
            verdict=pl.Series(
                np.where(rng.random(n) < np.where(right, *chances), "accept", "reject")
            ),
        )
        for name, chances in rates.items()
    ]
    whole = pl.concat(both).with_columns(cluster="problem")
    empty = [name for name in Judged.__struct_fields__ if name not in whole.columns]
    found = entries(whole.with_columns(pl.lit(None).alias(name) for name in empty))
    for name, (tpr, fpr) in rates.items():
        assert value(found, "judge", "tpr", condition=name) == pytest.approx(tpr, abs=0.05)
        assert value(found, "judge", "fpr", condition=name) == pytest.approx(fpr, abs=0.04)
        corrected = pick(found, "corrected", "corrected_accuracy", condition=name)
        assert corrected.low is not None
        assert corrected.high is not None
        assert corrected.low < 0.35 < corrected.high
    assert pick(found, "show", "change_balanced_accuracy").keys["decision"] == "hide"
    even = value(found, "show", "break_even")
    assert even == pytest.approx(0.15 / 0.25, abs=0.1)


def test_every_table_and_metric_has_its_words() -> None:
    rows = [*bench(FLIPS, PAIR), *(generation(i, label=i % 2 == 0) for i in range(30))]
    found = table(rows)
    for name in dict.fromkeys(e.table for e in found):
        mine = [e for e in found if e.table == name]
        page = sheets.sheet(mine)
        assert page.caption != name
        assert page.lines
        assert sheets.csv_text(mine)
    assert {e.study for e in found} == {"judge"}
    assert set(judging.METRICS) <= {e.metric for e in found}
