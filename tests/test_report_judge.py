"""The report of study B: what it says of a judge, what it warns of, and that nothing can act."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misled import report
from misled.cautions_judge import cautions, thoughts
from misled.findings_judge import findings
from misled.glance import judge
from misled.judgements import entries
from misled.overview_judge import main
from misled.records import Entry
from misled.row import Judged
from panel import bench, frame, generation, pick, verdict
from test_controlled import edit
from test_report import HOSTILE, Page, changed

PAIR = ("answer", "reasoning")
ALL = (*PAIR, "again_answer", "again_reasoning")
# 40 right and 60 wrong answers: more of both are accepted with the chain, and little by chance.
MOVED = {
    (True, "aaaa"): 28, (True, "rara"): 6, (True, "arar"): 1, (True, "rrrr"): 4, (True, "aara"): 1,
    (False, "rrrr"): 34, (False, "rara"): 18, (False, "arar"): 2, (False, "aaaa"): 5,
    (False, "raaa"): 1,
}  # fmt: skip
# The same without the second time.
TWICE = {(True, "aa"): 30, (True, "rr"): 5, (False, "rr"): 40, (False, "aa"): 5}


def table(rows: Sequence[Judged]) -> list[Entry]:
    return entries(frame(rows))


def items(**fields: Any) -> list[Judged]:
    return [generation(i, label=i < 40, **fields) for i in range(100)]


def own() -> list[Judged]:
    """A generator that judges its own answers, in the conversation and as any judge."""
    mine = {"judge": "acme/g"}
    said = {(True, "aaaarr"): 40, (False, "rarraa"): 40, (False, "rrrrra"): 20}
    return bench(said, (*ALL, "self_hidden", "self"), **mine)


def edited() -> list[Judged]:
    rows: list[Judged] = []
    for place in ("begin", "end"):
        for k, accepted in enumerate((26, 22, 18, 14, 10)):
            rows += edit("a" * accepted + "r" * (30 - accepted), place=place, k=k)
    rows += edit("a" * 10 + "r" * 20, variant="chain_cut")
    return rows + edit("a" * 24 + "r" * 6, variant="true_edit", place="end", k=4)


def whole() -> list[Judged]:
    closed = [
        Judged(arm="closed_book", problem=f"q{i:03}", cluster=f"q{i:03}", set="facts",
               generator="", judge="acme/j", outcome="read", label=i < 30)
        for i in range(100)
    ]  # fmt: skip
    return [*items(), *bench(MOVED, ALL), *own(), *edited(), *closed]


@pytest.fixture(scope="module")
def found() -> tuple[Entry, ...]:
    return tuple(table(whole()))


@pytest.fixture(scope="module")
def page(found: tuple[Entry, ...]) -> Page:
    return Page(report.html(report.ReportInput(entries=found, plan_toml='study = "judge"')))


GOLDEN = """\
facts, answers of acme/g (40 % [31, 50] right of 100)

 judge  n   TPR %         FPR %          genuine change show the chain?
 ──────────────────────────────────────────────────────────────────────
 acme/g 100 100 to 100    0 to 67        +20 [+15, +25] hide
            +0 [-7, +7]   +67 [+52, +77]                -33 [-39, -25]
 acme/j 100 75 to 88      12 to 40       +27 [+18, +35] cannot tell:
            +12 [-2, +25] +28 [+14, +41]                1,847 items"""


def test_the_summary_is_the_golden_one(found: tuple[Entry, ...]) -> None:
    lines = report.summary(found, 80).splitlines()
    assert "\n".join(line.rstrip() for line in lines).strip() == GOLDEN


def test_ways_of_showing_the_answer_have_a_column_where_there_are_several() -> None:
    rows = [*bench(MOVED, ALL), *bench(MOVED, ALL, shown="value")]
    text = report.summary(table(rows), 100)
    assert " content " in text
    assert " value " in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_condition_alone_has_its_rates_and_no_change() -> None:
    text = report.summary(table(bench({(True, "a"): 12, (False, "r"): 10}, ["answer"])))
    assert " 100 " in text
    assert " to " not in text
    assert "[" not in text


def test_the_summary_says_why_answers_have_no_line() -> None:
    cut = {"outcome": "no_answer", "reason": "truncated", "generator": "acme/cut"}
    rows = [generation(i, label=None, **cut) for i in range(12)]
    rows += [generation(i, label=True) for i in range(12)]
    rows += bench({(True, "aa"): 12}, ("self", "self_hidden"), judge="acme/g")
    first, second = report.summary(table(rows), 200).splitlines()
    assert first == "facts, answers of acme/cut: none of them is judged: no answer 12"
    assert second.startswith("facts, answers of acme/g (100 % [76, 100] right of 12): no judge was")


def said(found: Sequence[Entry], judge: str = "acme/j") -> tuple[str, tuple[str, ...]]:
    (only,) = [one for one in findings(found) if one.model == judge]
    return only.headline.replace("\u00a0", " "), tuple(
        line.replace("\u00a0", " ") for line in only.details
    )


def test_the_finding_is_a_sentence_with_both_shares_the_change_and_its_test(
    found: tuple[Entry, ...],
) -> None:
    headline, _ = said(found)
    fpr = pick(found, "judge", "fpr", judge="acme/j", condition="reasoning")
    low, high = (round(100 * (x or 0)) for x in (fpr.low, fpr.high))
    assert headline.startswith(
        f"Shown the reasoning, acme/j accepted wrong answers in 40 % [{low}, {high}] instead of "
        "12 % of 60 (+28 points [+14, +41], Holm's p below 0.001) and right answers in 88 % ["
    )
    assert headline.endswith("instead of 75 % of 40 (+12 points [-2, +25], Holm's p 0.141: "
                             "no difference shown).")  # fmt: skip


def test_where_the_answer_repeats_its_chain_the_headline_says_that_nothing_was_shown() -> None:
    """Of one judge and of several; a chain of its own, or the value alone, gets no such words."""
    words = "No reasoning was there to show"
    rows = [*bench(MOVED, ALL), *items(repeated=1.0)]
    headline, _ = said(table(rows))
    assert headline.startswith(f"{words}: the answer repeats 100 % of its chain (median), and")
    assert "Shown the same text again as its reasoning, acme/j accepted wrong answers" in headline
    several = judge(table([*rows, *bench(MOVED, ALL, judge="acme/k")]))
    assert several is not None
    assert several.said[0].startswith(f"{words}: the answers of acme/g repeat their chains")
    assert words not in said(table([*bench(MOVED, ALL), *items(repeated=0.5)]))[0]
    shown = [*bench(MOVED, ALL, shown="value"), *items(repeated=1.0)]
    assert words not in said(table(shown))[0]


def test_what_chance_alone_changes_is_set_beside_what_the_chain_does(
    found: tuple[Entry, ...],
) -> None:
    _, details = said(found)
    (floor,) = [line for line in details if line.startswith("Asked the same twice")]
    assert "2 % [1, 7] (without the chain) and 0 %" in floor
    assert "on 28 % [20, 37] of 100 items: +27 points" in floor
    assert "exploratory, p below 0.001" in floor
    (flips,) = [line for line in details if line.startswith("Of all items it was misled in 19 %")]
    assert flips.count("(floor ") == 4


def test_without_a_second_time_it_says_that_chance_is_not_known() -> None:
    _, details = said(table(bench(TWICE, PAIR)))
    assert "Nothing was asked twice: how many changes chance alone makes is not known." in details
    (flips,) = [line for line in details if line.startswith("Of all items it was misled")]
    assert flips.count("(no floor)") == 4


DECISIONS = {
    "Show it the chain": {(True, "ra"): 20, (True, "aa"): 20, (False, "ar"): 20, (False, "rr"): 20},
    "Hide the chain": {(True, "ar"): 20, (True, "aa"): 20, (False, "ra"): 20, (False, "rr"): 20},
    "Shown or hidden makes no": {(True, "aa"): 400, (False, "rr"): 400},
    "Whether to show it the chain cannot be told from 42 items": {
        (True, "ra"): 6, (True, "ar"): 5, (True, "aa"): 10, (False, "ra"): 6, (False, "rr"): 15,
    },
    "Whether to show it the chain is not decided, as there are only 9 wrong answers": {
        (True, "ra"): 30, (False, "ar"): 9,
    },
}  # fmt: skip


@pytest.mark.parametrize("words", DECISIONS)
def test_the_first_detail_is_whether_to_show_the_chain(words: str) -> None:
    _, details = said(table(bench(DECISIONS[words], PAIR)))
    assert details[0].startswith(words)
    assert (" items to show, with 80 % power" in details[0]) == ("cannot be told" in words)


def test_where_no_verdict_changed_no_number_of_items_is_named() -> None:
    found = table(bench({(True, "aa"): 30, (False, "rr"): 30}, PAIR))
    needed = pick(found, "show", "needed")
    assert (needed.value, needed.method) == (None, "none: no verdict changed")
    assert "no verdict changed, so that how many items would tell is not known" in said(found)[1][0]
    assert " items" not in report.summary(found)


def test_own_answers_are_set_against_judging_as_any_judge_and_against_others(
    found: tuple[Entry, ...],
) -> None:
    _, details = said(found, "acme/g")
    mine = [line for line in details if line.startswith("Of its own answers, judged in the")]
    assert len(mine) == 3
    others = [line for line in details if line.startswith("Its verdicts minus those of other fam")]
    assert len(others) == 2
    assert all("exploratory" in line for line in [*mine, *others])
    assert not any("own answers" in line for line in said(found)[1])


def test_edited_chains_tell_what_was_tested_in_advance_from_what_explores(
    found: tuple[Entry, ...],
) -> None:
    _, details = said(found)
    for words in ("With four true, irrelevant statements put in (begin and end)",
                  "For each of the four that is made false (begin and end)",
                  "With them at the beginning rather than the end"):  # fmt: skip
        (line,) = [line for line in details if line.startswith(words)]
        assert "Holm's p" in line
        assert "exploratory" not in line
    for words in ("Without the sentences that state the answer",
                  "With four false statements, against four reworded ones (end)"):  # fmt: skip
        (line,) = [line for line in details if line.startswith(words)]
        assert "Holm" not in line
        assert "exploratory" in line


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (bench({(True, "a"): 12, (False, "r"): 10}, ["answer"]),
         "Without the reasoning, acme/j accepted wrong ones in 0 %"),
        (bench({(True, "a"): 12}, ["reasoning"]),
         "Shown the reasoning, acme/j accepted no wrong ones, there being none and right ones in"),
        (bench({(True, "aa"): 12}, PAIR), "accepted no wrong answers, there being none and right"),
        (bench({(True, "a"): 12, (False, "a"): 10}, ["self"], judge="acme/g"),
         "In the conversation, with the chain, acme/g accepted of its own answers wrong ones in"),
        (edit("a" * 20 + "r" * 10, variant="chain_cut"), "asked about edited chains alone"),
    ],
)  # fmt: skip
def test_whatever_was_asked_has_a_sentence(rows: list[Judged], words: str) -> None:
    found = table(rows)
    assert words in said(found, str(rows[0].judge))[0]
    assert report.html(report.ReportInput(entries=tuple(found), plan_toml=""))
    report.summary(found)


def test_what_was_left_out_is_told_and_what_it_could_change() -> None:
    rows = [*bench({**MOVED, (False, "r?rr"): 2}, ALL), *items(outcome="read")]
    (only,) = findings(table(rows))
    assert only.left_out[0] == "Items not counted: unreadable 2."
    assert only.left_out[1].startswith("Whatever the unread verdicts were")


def warned(found: Sequence[Entry]) -> str:
    return "\n".join(f"{c.text}: {'; '.join(c.places)}" for c in cautions(found))


NO_ANSWER = [
    generation(200 + i, label=None, outcome="no_answer", labelled_by=None) for i in range(30)
]
UNREAD = {**MOVED, (False, "?rrr"): 20}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (bench({(True, "aa"): 30, (False, "rr"): 9}, PAIR),
         "Fewer than 10 wrong answers; nothing is decided on them: acme/j, answers of acme/g to"),
        (bench(UNREAD, ALL), "Many verdicts could not be read, and are on no side"),
        (bench(TWICE, PAIR), "Nothing was asked twice"),
        (bench(TWICE, PAIR), "Fewer than 6 changed verdicts: the exact test can never reject"),
        (bench(MOVED, ALL, labelled_by="match"), "overconfidence is an upper bound"),
        (bench({(True, "aa"): 30, (False, "aa"): 30}, PAIR), "The judge accepts nearly everything"),
        (bench({(True, "rr"): 30, (False, "rr"): 30}, PAIR), "The judge rejects nearly everything"),
        ([*bench(MOVED, ALL), *items(), *NO_ANSWER], "Many generations hold no answer"),
        ([*bench(MOVED, ALL), *items(repeated=0.4)], "The answer repeats much of the chain"),
        ([*bench(MOVED, ALL), *items(matched=True, verified=False)], "often disagree on who is"),
        (own(), "The judge judges its own answers: acme/g on facts"),
    ],
)  # fmt: skip
def test_it_warns_of(rows: list[Judged], words: str) -> None:
    assert words in warned(table(rows))


def test_it_warns_of_what_failed_and_of_what_cannot_be_asked() -> None:
    rows = bench(MOVED, ALL)
    lost = {"failed": "--retry-failed", "unsupported": "which is no zero: unsupported",
            "not_applicable": "which is no zero: not applicable"}  # fmt: skip
    for outcome, words in lost.items():
        first = msgspec.structs.replace(rows[1], outcome=outcome, verdict=None)
        text = warned(table([rows[0], first, *rows[2:]]))
        assert words in text
        assert words not in warned(table(rows))


def test_it_warns_of_a_judge_that_thought_and_was_not_to() -> None:
    rows = [*bench(MOVED, ALL, reasoning_tokens=9), *bench(MOVED, ALL, judge="acme/k")]
    assert list(thoughts(frame(rows), ["acme/j", "acme/k"])) == [
        "acme/j thought before 400 of 400 verdicts, and was not to"
    ]
    assert list(thoughts(frame(rows), ["acme/k"])) == []


def test_it_warns_of_verdicts_that_came_as_reasoning() -> None:
    rows = [*bench(MOVED, ALL, flags=("answer_in_reasoning",)), *bench(MOVED, ALL, judge="acme/k")]
    (said,) = thoughts(frame(rows), ["acme/j", "acme/k"])
    assert said.startswith("acme/j gave 400 of 400 verdicts as reasoning")


def test_a_bound_that_is_one_number_is_said_once_and_a_probe_is_quoted() -> None:
    probes = [verdict(i, "a", "null", variant="colon", generator="", label=None) for i in range(20)]
    rows = [*bench({**MOVED, (False, "r?rr"): 2}, ALL), *probes]
    found = table(rows)
    (only,) = findings(found)
    ends = only.left_out[1].split(" by ")[1:]
    assert all("+12 to +12" not in end for end in ends)
    assert "right ones by +12 points" in only.left_out[1]
    assert "acme/j on facts (the text \u201c:\u201d in 100" in warned(found)


def test_a_judge_that_moves_and_is_read_is_warned_of_in_nothing() -> None:
    assert cautions(table([*items(labelled_by="given"), *bench(MOVED, ALL)])) == []


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(page: Page) -> None:
    assert page.open == []
    assert not page.all("script")
    urls = [value for _, a in page.tags for name, value in a.items() if name in {"src", "href"}]
    assert all(url.startswith(("data:", "#", "tables/")) for url in urls)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")} <= set(ids)


def test_figures_2_3_and_4_stand_on_it_with_their_numbers_and_a_download(page: Page) -> None:
    assert len(page.all("figure")) == 3
    ids = {a["id"] for _, a in page.tags if "id" in a}
    files = {a["download"] for a in page.all("a") if "download" in a}
    for name in ("figure2-answers-of-acme-g", "figure3-facts-answers-of-acme-g", "figure4"):
        assert name in ids
        assert f"{name}.csv" in files
    assert "What became of the verdicts when the chain was shown: answers of acme/g" in page.text


def test_each_study_has_its_own_words(page: Page) -> None:
    assert "What the chain does to a judge" in page.text
    assert "TPR is the share of right answers that are accepted" in page.text
    assert "tampered" not in page.text
    ids = {a.get("id") for _, a in page.tags}
    assert {"main", "families", "table1", "show", "changes", "transitions", "labels"} <= ids
    empty = Page(report.html(report.ReportInput(entries=(), plan_toml="", study="judge")))
    assert "What the chain does to a judge" in empty.text
    assert "nothing can be said" in empty.text


def test_families_name_what_each_tests_in_words(page: Page) -> None:
    for words in ("change in FPR", "pass a statement", "begin and end"):
        assert words in page.text
    assert "change_fpr" not in page.text


def test_the_main_table_has_a_line_a_judge_with_the_decision_and_what_was_left_out() -> None:
    made = main(table(bench({**MOVED, (False, "r?rr"): 2}, ALL)))
    assert made is not None
    (line,) = made[0].lines
    cells = dict(zip(made[0].columns, line.cells, strict=True))
    assert line.keys == ("acme/j",)
    assert cells["n"] == "100"
    assert cells["show the chain?"].startswith("cannot tell:\n")
    assert cells["FPR without"].startswith("0.12\n[")
    assert cells["FPR change"].startswith("+0.28\n[+")
    assert line.left_out == "unreadable 2"
    assert {e.metric for e in made[1]} >= {"tpr", "fpr", "net_changed", "change_balanced_accuracy"}
    assert main(table(edit("a" * 30, variant="chain_cut"))) is None


def test_a_table_says_why_a_number_was_refused(page: Page) -> None:
    assert "refused: balanced by choice" in page.text


def test_several_judges_are_told_at_a_glance_and_each_in_words_below() -> None:
    rows = [row for i in range(14) for row in bench(TWICE, PAIR, judge=f"j/{i:02}")]
    rows += bench(MOVED, ALL, judge="j/moved")
    rows += [verdict(i, "failed", c, judge="j/gone") for i in range(9) for c in PAIR]
    found = table(rows)
    glance = judge(found)
    assert glance is not None
    assert "+0 points [" in glance.said[0]
    assert "+28 points [+14, +41] (j/moved, answers of acme/g to facts)" in glance.said[0]
    assert glance.said[2].startswith("Should they be shown it? Of 16 judges and settings: ")
    assert "failed 9" in glance.said[3]
    lines = {line.who: line for line in glance.lines}
    assert lines["j/moved"].cells[:2] == ("12 to 40\u00a0%", "+28 [+14, +41]")
    assert [mark.hollow for mark in lines["j/moved"].marks] == [True, False, True, False]
    assert (lines["j/gone"].cells[0], lines["j/gone"].left_out) == ("none", "failed 9")
    page = Page(report.html(report.ReportInput(entries=tuple(found), plan_toml="")))
    assert "Each in words" in page.text
    assert sum(a.get("class") == "finding" for a in page.all("div")) == 16


def test_one_judge_needs_no_glance() -> None:
    assert judge(table(bench(TWICE, PAIR))) is None


def test_what_a_name_holds_is_shown_and_never_acts() -> None:
    names = {"judge": HOSTILE, "generator": HOSTILE, "set": HOSTILE}
    rows = [*bench(MOVED, ALL, **names), *bench(TWICE, PAIR, shown=HOSTILE, **names)]
    rows += [generation(i, label=True, set=HOSTILE, generator=HOSTILE) for i in range(20)]
    found = tuple(table(rows))
    text = report.html(report.ReportInput(entries=found, plan_toml=HOSTILE))
    page = Page(text)
    assert page.open == []
    assert not page.all("script")
    assert not {"\u202e", "\x00"} & set(text)
    assert page.text.count('<script>alert("1")</script>&⟨U+202E⟩⟨U+0000⟩{{ 7*7 }}') > 5
    assert not {"\u202e", "\x00", "\x1b"} & set(report.summary(found))


def test_the_order_of_the_rows_changes_no_byte(tmp_path: Path, found: tuple[Entry, ...]) -> None:
    turned = tuple(table(whole()[::-1]))
    first = report.write(report.ReportInput(entries=found, plan_toml=""), tmp_path).read_bytes()
    again = report.write(report.ReportInput(entries=turned, plan_toml=""), tmp_path).read_bytes()
    assert first == again
    assert len(first) < 1_500_000


def test_a_change_that_an_adjusted_test_does_not_hold_is_not_said_to_be_shown(
    found: tuple[Entry, ...],
) -> None:
    weak = changed(found, "changes", "change_fpr", p_adjusted=0.2)
    assert "(+28 points [+14, +41], Holm's p 0.200: no difference shown)" in said(weak)[0]
