"""Chains with statements put in: rates, what they are set against, slopes, and the families."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from misled.exhibits_judge import families
from misled.judgements import entries
from misled.records import Entry
from misled.row import Judged
from panel import bench, frame, generation, pick, verdict

SHAPE = {(True, "a"): 12, (False, "a"): 8, (False, "r"): 10}


def edit(items: Sequence[str], **fields: Any) -> list[Judged]:
    """One verdict an item; the first 12 are right."""
    known: dict[str, Any] = {"variant": "statements", "inserted": 0.2} | fields
    return [verdict(i, said, "controlled", label=i < 12, **known) for i, said in enumerate(items)]


def said(accepted: int) -> str:
    """Of 30 items the first so many accepted."""
    return "a" * accepted + "r" * (30 - accepted)


def rows() -> list[Judged]:
    found = bench(SHAPE, ["reasoning"])
    for place, counts in (("begin", (18, 16, 14, 12, 10)), ("end", (20, 19, 18, 17, 16))):
        for k, count in enumerate(counts):
            found += edit(said(count), place=place, k=k)
    found += edit(said(19), variant="true_edit", place="end", k=4)
    found += edit(said(17), variant="filler", place="end")
    return found + edit(said(6), variant="chain_cut", inserted=0.0, removed=0.25)


def value(found: Sequence[Entry], table: str, metric: str, **keys: str) -> float:
    number = pick(found, table, metric, **keys).value
    assert number is not None
    return number


def test_each_edit_has_its_rates_and_the_shares_that_were_put_in_and_taken_out() -> None:
    found = entries(frame(rows()))
    begin = {"variant": "statements", "place": "begin", "k": "3"}
    assert value(found, "controlled", "pass", **begin) == pytest.approx(12 / 30)
    assert value(found, "controlled", "tpr", **begin) == 1
    assert value(found, "controlled", "fpr", **begin) == 0
    assert value(found, "controlled", "inserted", **begin) == pytest.approx(0.2)
    assert value(found, "controlled", "pass", variant="plain") == pytest.approx(20 / 30)
    assert value(found, "controlled", "tpr", variant="chain_cut") == pytest.approx(0.5)
    assert value(found, "controlled", "removed", variant="chain_cut") == pytest.approx(0.25)
    shares = {(e.metric, e.keys["variant"]) for e in found if e.metric in {"inserted", "removed"}}
    kept = {"statements", "true_edit", "filler"}
    assert shares == {("removed", "chain_cut"), *(("inserted", name) for name in kept)}


def test_edits_are_set_against_plain_k_0_and_true_edits() -> None:
    found = entries(frame(rows()))
    end = {"variant": "statements", "place": "end"}
    change = ("controlled_changes", "change_pass")
    assert value(found, *change, **end, k="0", against="plain") == 0
    assert value(found, *change, **end, k="4", against="k = 0") == pytest.approx(-4 / 30)
    assert value(found, *change, **end, k="4", against="true_edit") == pytest.approx(-3 / 30)
    assert value(found, *change, variant="true_edit", against="k = 0") == pytest.approx(-1 / 30)
    assert value(found, *change, variant="filler", against="plain") == pytest.approx(-3 / 30)
    line = pick(found, "controlled_changes", "change_tpr", variant="chain_cut", against="plain")
    assert (line.value, line.n) == (-0.5, 12)


def test_slopes_are_over_k_within_an_item_and_pool_both_places_of_the_paper() -> None:
    found = entries(frame(rows()))
    at = {"k": "0-4"}
    slope = ("controlled_changes", "slope_pass")
    # Among 30 items 18, 16, 14, 12, 10 accept: -2 a statement.
    assert value(found, *slope, **at, place="begin") == pytest.approx(-2 / 30)
    assert value(found, *slope, **at, place="end") == pytest.approx(-1 / 30)
    assert value(found, *slope, **at, place="begin and end") == pytest.approx(-1.5 / 30)
    right = pick(found, "controlled_changes", "slope_tpr", **at, place="begin")
    assert (right.clusters, right.n) == (12, 60)


def test_begin_is_set_against_end_over_all_k() -> None:
    found = entries(frame(rows()))
    line = pick(found, "controlled_changes", "change_pass", place="begin", against="end")
    assert line.value == pytest.approx(-(2 + 3 + 4 + 5 + 6) / 5 / 30)
    assert line.keys["k"] == "0-4"
    line = pick(found, "controlled_changes", "change_pass", place="begin and end", against="plain")
    assert line.value == pytest.approx(-1 / 30)


def test_edits_come_in_the_order_of_the_study() -> None:
    found = entries(frame(rows()[::-1]))
    cells = dict.fromkeys(
        (e.keys["variant"], e.keys.get("place"), e.keys.get("k"))
        for e in found
        if e.table == "controlled"
    )
    assert list(cells)[:3] == [
        ("plain", None, None),
        ("statements", "begin", "0"),
        ("statements", "begin", "1"),
    ]
    assert list(cells)[-3:] == [
        ("filler", "end", None),
        ("true_edit", "end", "4"),
        ("chain_cut", None, None),
    ]


def test_items_that_an_edit_was_not_asked_for_are_counted() -> None:
    some = [*bench(SHAPE, ["reasoning"]), *edit(said(20)[:25], place="end", k=0)]
    some += edit("aaa?" + "a" * 26, place="end", k=1)
    found = entries(frame(some))
    line = pick(found, "controlled_changes", "change_pass", k="1", against="k = 0")
    assert (line.n, line.left_out) == (24, {"unreadable": 1, "unasked": 5})


def test_families_b1_and_b2_hold_what_was_fixed() -> None:
    whole = rows()
    for judge in ("acme/j", "acme/k"):
        whole += bench(
            {(True, "ar"): 12, (False, "ra"): 18}, ("answer", "again_answer"), judge=judge
        )
    whole += bench(SHAPE, ["reasoning"], judge="acme/k")
    whole += bench({(True, "a"): 12, (False, "r"): 18}, ["answer"], shown="value")
    whole += bench(SHAPE, ["reasoning"], shown="value")
    found = entries(frame(whole))
    tests = [e for e in found if e.table == "families"]
    b1 = [e for e in tests if e.keys["family"] == "B1"]
    assert [(e.keys["judge"], e.keys["metric"]) for e in b1] == [
        (judge, metric) for judge in ("acme/j", "acme/k") for metric in ("change_tpr", "change_fpr")
    ]
    assert {e.keys["shown"] for e in b1} == {"content"}
    b2 = [e for e in tests if e.keys["family"] == "B2"]
    assert [(e.keys["metric"], e.keys["place"]) for e in b2] == [
        ("change_pass", "begin and end"),
        ("slope_pass", "begin and end"),
        ("change_pass", "begin"),
    ]
    for e in tests:
        home = "changes" if e.keys["family"] == "B1" else "controlled_changes"
        keys = {k: v for k, v in e.keys.items() if k not in {"family", "m", "metric"}}
        (there,) = (
            o for o in found if (o.table, o.metric, o.keys) == (home, e.keys["metric"], keys)
        )
        assert there.p_adjusted == e.p_adjusted
        assert (e.p_adjusted is None) == (e.p is None)
    assert families([]) == []


def test_published_tables_are_selections_with_a_twin() -> None:
    whole = [
        *bench(SHAPE, ["reasoning"], generator="x/Qwen3-8B", set="hf:MATH-500"),
        *bench(SHAPE, ["reasoning"], generator="y/DeepSeek-V3.1", set="gsm8k"),
    ]
    found = entries(frame(whole))
    sets = {
        name: {e.keys["set"] for e in found if e.table == name}
        for name in ("table1", "table6", "table7", "table8", "table8_detection")
    }
    math = {"hf:MATH-500"}
    assert sets == {"table1": math, "table6": {"gsm8k"}, "table7": math, "table8": math,
                    "table8_detection": math}  # fmt: skip
    assert {e.metric for e in found if e.table == "table1_detection"} == {
        "tpr", "fpr", "youden", "d_prime", "criterion",
    }  # fmt: skip


def test_labels_say_who_labelled_and_how_far_labellers_agree() -> None:
    whole = [
        *(generation(i, label=True, matched=True, verified=True, repeated=0.1) for i in range(12)),
        *(generation(20 + i, label=True, labelled_by="verifier", matched=False, verified=True)
          for i in range(4)),
        *(generation(40 + i, label=False, labelled_by="verifier", matched=False, verified=False)
          for i in range(14)),
        *(generation(60 + i, label=None, outcome="no_answer", labelled_by=None) for i in range(5)),
        generation(80, label=None, labelled_by=None),
    ]  # fmt: skip
    found = entries(frame(whole))
    line = pick(found, "labels", "accuracy")
    assert line.value == pytest.approx(16 / 30)
    assert line.n == 30
    assert line.left_out == {"no_answer": 5, "unlabelled": 1}
    assert value(found, "labels", "accuracy_no_answer_wrong") == pytest.approx(16 / 35)
    assert value(found, "labels", "labelled_by_verifier") == pytest.approx(18 / 30)
    assert value(found, "labels", "agreement") == pytest.approx(26 / 30)
    chance = (12 * 16 + 18 * 14) / 30**2
    assert value(found, "labels", "kappa") == pytest.approx((26 / 30 - chance) / (1 - chance))
    assert value(found, "labels", "repeated") == pytest.approx(0.1)


def test_metrics_are_given_under_each_labeller() -> None:
    whole = bench({(True, "a"): 10}, ["reasoning"], matched=False, verified=True)
    whole += [verdict(50 + i, "a", "reasoning", matched=True, verified=True) for i in range(10)]
    whole += [verdict(70 + i, "a", "reasoning", label=False, matched=False, verified=False)
              for i in range(20)]  # fmt: skip
    found = entries(frame(whole))
    shares = {
        name: value(found, "label_sensitivity", "overconfidence", labels=name)
        for name in ("match", "verifier", "agreed")
    }
    assert shares == {"match": 0.75, "verifier": 0.5, "agreed": pytest.approx(20 / 30)}


def test_closed_book_accuracy_is_given_without_and_with_what_was_not_answered() -> None:
    def own(i: int, *, label: bool | None, outcome: str = "read") -> Judged:
        return Judged(arm="closed_book", problem=f"q{i}", cluster=f"q{i}", set="facts",
                      generator="", judge="acme/j", outcome=outcome, label=label)  # fmt: skip

    whole = [own(i, label=i < 9) for i in range(12)] + [own(20, label=None, outcome="truncated")]
    whole += [own(21, label=None, outcome="failed"), own(22, label=None)]
    found = entries(frame(whole))
    line = pick(found, "closed_book", "accuracy")
    assert (line.value, line.n) == (0.75, 12)
    assert line.left_out == {"truncated": 1, "failed": 1, "unlabelled": 1}
    assert value(found, "closed_book", "accuracy_no_answer_wrong") == pytest.approx(9 / 13)


def test_a_corrected_accuracy_is_refused_where_the_judge_may_tell_nothing() -> None:
    blind = bench(
        {(True, "a"): 20, (True, "r"): 20, (False, "a"): 20, (False, "r"): 20}, ["answer"]
    )
    line = pick(entries(frame(blind)), "corrected", "corrected_accuracy")
    assert (line.value, line.method) == (None, "refused: the calibration's J may be 0")


def test_a_corrected_accuracy_is_refused_on_few_answers_and_says_which() -> None:
    for right, lines in (
        ("wrong", {(True, "a"): 60, (True, "r"): 5, (False, "r"): 12}),
        ("right", {(True, "a"): 12, (False, "r"): 60, (False, "a"): 5}),
    ):
        line = pick(entries(frame(bench(lines, ["answer"]))), "corrected", "corrected_accuracy")
        assert line.value is None
        assert line.method.startswith(f"refused: fewer than 10 {right} answers to calibrate on: ")
        assert 0 <= int(line.method.rpartition(" ")[2]) < 10


def test_a_corrected_accuracy_uses_other_questions_than_its_test() -> None:
    keen = bench({(True, "a"): 90, (True, "r"): 10, (False, "a"): 20, (False, "r"): 80}, ["answer"])
    found = entries(frame(keen))
    line = pick(found, "corrected", "corrected_accuracy")
    assert (line.n, line.method) == (120, "Lang-Reiczigel")
    assert pick(found, "corrected", "calibration_youden").n == 80
    other = entries(frame(keen), seed=1)
    assert pick(other, "corrected", "corrected_accuracy").value != line.value


def crossed(accepts: dict[tuple[bool, str], str]) -> list[Judged]:
    """Verdicts on (is the answer right, the chain it stands with) of the same questions."""
    return [
        verdict(i, word, "crossed", label=label, variant=chain)
        for (label, chain), words in accepts.items()
        for i, word in enumerate(words)
    ]


def test_reliance_is_what_a_right_chain_adds_to_either_answer() -> None:
    whole = crossed(
        {
            (True, "right"): "a" * 20,
            (False, "right"): "a" * 10 + "r" * 10,
            (True, "wrong"): "a" * 5 + "r" * 15,
            (False, "wrong"): "r" * 19,
        }
    )
    found = entries(frame(whole))
    line = pick(found, "reliance", "reliance")
    assert (line.n, line.left_out) == (19, {"incomplete": 1})
    assert line.value == pytest.approx((19 + 10 - 5 - 0) / 2 / 19)
    assert value(found, "reliance", "answer_reliance") == pytest.approx((19 + 5 - 10) / 2 / 19)
    assert value(found, "reliance", "accepted_wrong_answer_right_chain") == pytest.approx(10 / 19)


def test_null_probes_count_how_often_nothing_is_accepted() -> None:
    whole = [
        verdict(i, "a" if i < 3 else "r", "null", label=None, variant="empty") for i in range(12)
    ]
    whole += [verdict(20, "?", "null", label=None, variant="empty")]
    line = pick(entries(frame(whole)), "null_probes", "pass")
    assert (line.value, line.n, line.left_out) == (0.25, 12, {"unreadable": 1})
