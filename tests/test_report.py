"""The report: what it says, what it warns of, and that nothing in it can act."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

import synthetic
from misled import captions, findings, plates, report, sheets
from misled.cautions import cautions
from misled.estimates import entries
from misled.figures_effort import Exhibit, Side
from misled.glance import cpt
from misled.parts import PARTS
from misled.phrases import brief, percent
from misled.plans import study
from misled.records import Entry, Usage
from misled.row import Row
from misled.session import prepare

HOSTILE = 'x/<script>alert("1")</script>&\u202e\x00{{ 7*7 }}'


class Undrawn(dict[str, bytes]):
    """An empty drawing by any name, where a test reads the words beside it."""

    def get(self, _: str, default: Any = None) -> Any:  # noqa: ARG002
        return b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"/>'


def read(found: Sequence[Entry]) -> Page:
    """The page of these estimates."""
    return Page(report.html(report.ReportInput(tuple(found), "", images=Undrawn())))


@cache
def run(**changes: Any) -> tuple[Entry, ...]:
    fields: dict[str, Any] = {"problems": 14, "degrees": (1, 2)} | changes
    return tuple(entries(synthetic.rows(synthetic.Run(**fields))))


class Page(HTMLParser):
    """Tags in order, attributes and text of a page; void elements do not nest."""

    VOID = frozenset(("meta", "img", "br", "link", "input", "hr"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def whole() -> report.ReportInput:
    return report.ReportInput(
        entries=run(targets=("planted/credulous", "acme/closed"), cannot_prefix=("acme/closed",)),
        plan_toml='study = "cpt"\nn = 14\n',
        facts={"misled": "0.1.0", "started": "2026-01-02"},
        counts={"asked": 1200, "answered": 1198, "failed": 2},
        failures={"timeout": 2},
        usage=Usage(prompt=1_000_000, cached=250_000, completion=90_000),
        stopped="token budget reached",
        notes=("acme/closed ignores the temperature.",),
    )


@pytest.fixture(scope="module")
def page(whole: report.ReportInput) -> Page:
    return Page(report.html(whole))


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(page: Page) -> None:
    assert page.open == []
    assert not page.all("script")
    assert not page.all("link")
    urls = [value for _, a in page.tags for name, value in a.items() if name in {"src", "href"}]
    assert urls
    assert all(url.startswith(("data:", "#", "tables/")) for url in urls)


def test_anchors_and_labels_point_to_something(page: Page) -> None:
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")} <= set(ids)
    assert {a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a} <= set(ids)


def test_tables_have_captions_and_scopes_and_figures_a_table_and_words(page: Page) -> None:
    assert len(page.all("table")) == len(page.all("caption"))
    assert {a.get("scope") for a in page.all("th")} == {"col", "row", "rowgroup"}
    assert len(page.all("figure")) == 4
    assert all(len(a["alt"]) > 20 for a in page.all("img"))


def test_it_says_what_was_run(page: Page) -> None:
    for words in ("2026-01-02", "1,200", "timeout 2", "1,000,000", "25 %", 'study = "cpt"'):
        assert words in page.text


def test_it_warns_of_what_the_run_itself_reports(page: Page) -> None:
    for words in ("token budget reached", "ignores the temperature"):
        assert words in page.text


def test_the_finding_is_a_sentence_with_its_interval_and_what_was_left_out() -> None:
    found = run(problems=60)
    (only,) = findings.findings(found)
    adopted = next(e for e in found if (e.table, e.metric) == ("outcomes", "adopted"))
    value, low, high = (100 * (x or 0) for x in (adopted.value, adopted.low, adopted.high))
    assert only.headline.startswith(
        "Handed its own chain with one wrong digit, the simulated planted/credulous repeated"
        f" the wrong result in {value:.0f}\u00a0% [{low:.0f}, {high:.0f}] of {adopted.n} trials and"
    )
    details = " ".join((*only.details, *only.decisive))
    assert (
        "; told that the chain contains errors and to ignore them, it repeated it" in only.headline
    )
    assert "Told that the chain may contain errors, it repeated the wrong result in" in details
    assert "Told that the chain contains errors and to ignore them, it repeated" not in details
    assert "Minus what it answers to the same chain untampered" in details
    assert "of 60 problems could be probed; left out: " in only.left_out[0]


@pytest.fixture(scope="module")
def compared() -> tuple[Entry, ...]:
    return run(
        problems=40, structures=("intact", "delete_reflection", "delete_random"),
        contrasts=("bare",), methods=("baseline", "prefix"),
    )  # fmt: skip


def test_findings_tell_what_was_tested_in_advance_from_what_explores(
    compared: tuple[Entry, ...],
) -> None:
    (only,) = findings.findings(compared)
    (method,) = [x for x in (*only.decisive, *only.details) if "against no comment" in x]
    (structure,) = [x for x in only.details if x.startswith("Without the chain's reflection")]
    (control,) = [x for x in only.details if x.startswith("Without as much calculation")]
    (contrast,) = [x for x in only.decisive if x.startswith("Told the wrong result alone")]
    (slope,) = [x for x in only.details if x.startswith("With each further wrong digit")]
    for line in (method, structure, slope):
        assert "Holm's p" in line
        assert "exploratory" not in line
    for line in (control, contrast):
        assert "exploratory, p" in line
        assert "Holm" not in line
    change = next(
        e
        for e in compared
        if (e.table, e.metric, e.keys.get("half")) == ("structures", "net_adoption", "change")
    )
    assert f"{100 * (change.value or 0):+.0f} points [" in structure
    assert f"on {change.clusters} problems" in structure


def test_simulated_models_are_called_so_in_title_lead_and_finding() -> None:
    """And where only some of them are, the title does not say it of all."""
    text = read(run()).text
    assert "How a tampered chain misleads (simulated models)" in text
    assert "It is simulated, by a program whose behaviour was set in advance" in text
    two = run(targets=("planted/mixed", "planted/credulous"))
    seen = cpt(two)
    assert seen is not None
    assert "2 simulated models repeated" in seen.said[0]
    text = read(run(targets=("acme/a", "planted/mixed"))).text
    assert "(simulated models)" not in text
    assert " planted/mixed is simulated, by a program" in text


def cell(found: Sequence[Entry], metric: str) -> list[Entry]:
    """A metric of each model's first cell."""
    return [
        e
        for e in found
        if (e.table, e.metric, e.keys.get("d_t")) == ("outcomes", metric, "1")
        and (e.keys["arm"], e.keys["method"]) == ("tampered", "baseline")
    ]


def spread(found: Sequence[Entry], metric: str) -> str:
    ends = sorted(cell(found, metric), key=lambda e: e.value or 0)
    return " to ".join(f"{percent(e)} ({e.keys['target']})" for e in ends)


def test_what_decides_stands_before_the_table_and_is_not_folded() -> None:
    """A method that a test of the plan shows to help, and what the result alone does."""
    found = run(targets=("a/one", "b/two"), problems=40, contrasts=("bare", "no_answer_line"))
    glance = cpt(found)
    assert glance is not None
    *methods, alone = glance.decisive
    assert any(line.startswith("Made to begin its answer with a recompu") for line in methods)
    assert all("Tested in advance; shown in " in line for line in methods)
    assert alone.startswith("Told the wrong result alone, without a chain: that result in ")
    text = read(found).text
    assert "()" not in text
    assert all(line in text for line in glance.decisive if "_" not in line)
    none = changed(found, "methods", "change_net_adoption", p_adjusted=0.06)
    seen = cpt(none)
    assert seen is not None
    assert seen.decisive == (alone,)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1, 0.3, "the chain misleads more than its result alone"),
        (-0.3, -0.1, "no reasoning is needed for that"),
        (-0.1, 0.1, "is not shown"),
        (None, None, ""),
    ],
)
def test_what_the_result_alone_says_of_the_chain(
    low: float | None, high: float | None, words: str
) -> None:
    (e, *_) = run(problems=12, degrees=(1,), methods=("baseline",))
    said = findings.alone(msgspec.structs.replace(e, low=low, high=high))
    assert words in said
    assert bool(words) == bool(said)


def test_what_is_said_of_figures_and_tests_fits_the_run(compared: tuple[Entry, ...]) -> None:
    """Only methods that were run, a second asking only where there was one, no Table 1 unseen."""
    text = read(compared).text
    assert "as in Figure 5 of the first paper, arXiv 2503.19326" in text
    assert "Prefix says so" not in text
    assert "prefix says so and makes the reply begin" in text
    assert "uncertainty says that it may" not in text
    assert "Tests fixed in advance" in text
    assert "Table 1 of the first paper" not in text
    assert "Estimates are differences of shares of trials" in text
    assert "Table 1 of the first paper" in read(run(sets=("word:6",), degrees=(1,))).text
    assert text.index("Tests fixed in advance") < text.index("as in Figure 5")
    again = "The question alone was asked twice"
    line = next(e for e in compared if e.keys.get("arm") == "tampered")
    twice = msgspec.structs.replace(line, table="figure7", keys={"arm": "again"})
    hints = PARTS["cpt"].hints
    assert again in hints([line, twice])["figure7"]
    assert again not in hints([line])["figure7"]


def test_several_models_are_told_at_a_glance() -> None:
    """The lowest and the highest of them, with what was left out, and a line each."""
    found = run(targets=("a/one", "b/two"), problems=40, cannot_prefix=("b/two",))
    glance = cpt(found)
    assert glance is not None
    adopted = {e.keys["target"]: e for e in cell(found, "adopted")}
    first, last = sorted(adopted.values(), key=lambda e: e.value or 0)
    assert glance.said[0] == (
        "Handed a chain with one wrong digit, 2 models repeated the wrong result in "
        f"{percent(first)} ({first.keys['target']}) to {percent(last)} ({last.keys['target']}) of "
        f"the trials, and found the true one in {spread(found, 'recovered')}."
    )
    assert glance.said[1].startswith("Told that the chain contains errors and to ignore them: the")
    assert glance.said[-1].startswith("Left out: ")
    assert "of 80 (40 problems x 2 models) could not be probed (" in glance.said[-1]
    assert [line.who for line in glance.lines] == ["a/one", "b/two"]
    for line in glance.lines:
        e = adopted[line.who]
        assert (line.marks[0].value, line.marks[0].low) == (e.value, e.low)
        cells = dict(zip(glance.columns, line.cells, strict=True))
        assert cells["trials"] == str(e.n)
        assert cells["without comment: wrong result"] == brief(e, 0, 100)
        true = next(each for each in cell(found, "recovered") if each.keys == e.keys)
        assert cells["without comment: true result"] == brief(true, 0, 100)
    assert cpt(run()) is None


def test_comparisons_have_a_section_and_tests_stand_open(compared: tuple[Entry, ...]) -> None:
    page = read(compared)
    ids = {a.get("id") for _, a in page.tags}
    assert {"tests", "comparisons", "families", "methods", "structures", "contrasts"} <= ids
    assert "not adjusted" in page.text
    assert len(page.all("figure")) == 6


def test_a_long_table_ends_on_the_page_with_where_the_rest_is() -> None:
    targets = tuple(f"m/{i}" for i in range(12))
    found = run(targets=targets, problems=3, degrees=(1, 2, 3, 4), sets=("addition:2+2",))
    (outcomes,) = [grid for grid in report._tables(found) if grid.id == "outcomes"]
    whole = sheets.sheet([e for e in found if e.table == "outcomes"])
    more = len(whole.lines) - report.LONGEST
    assert more > 0
    assert outcomes.sheet.lines == whole.lines[: report.LONGEST]
    assert f"{more} more lines stand in tables/outcomes.csv" in outcomes.sheet.notes


def test_a_trial_beside_the_problem_solved_alone_is_a_figure_of_texts() -> None:
    side = Side("Alone", "1 + 1 is 2.", "So 2.", reasoning_tokens=5, answer_tokens=3, seconds=1.0)
    other = Side("Handed", "1 + 1 is 3.", "So 3.", reasoning_tokens=5, answer_tokens=3)
    shown = Exhibit("figure6-x", HOSTILE, "adopted", (side, other))
    page = Page(report.html(report.ReportInput(entries=(), plan_toml="", exhibits=(shown,))))
    assert len(page.all("figure")) == 1
    assert "The reply of median length to a tampered chain" in page.text
    assert page.text.count("1 + 1 is 2.") == page.text.count("1 + 1 is 3.") == 1
    assert [a["download"] for a in page.all("a") if "download" in a] == ["figure6-x.svg"]
    assert not page.all("script")


def test_a_reply_that_the_chain_did_not_change_is_named_and_not_shown() -> None:
    side = Side("Alone", "1 + 1 is 2.", "So 2.", reasoning_tokens=5, answer_tokens=3, seconds=1.0)
    shown = Exhibit("figure6-x", "acme/a, small", "recovered", (side, side))
    page = Page(report.html(report.ReportInput(entries=(), plan_toml="", exhibits=(shown,))))
    assert not page.all("figure")
    assert "1 + 1 is 2." not in page.text
    assert "word for word that to the problem alone: acme/a, small." in page.text


def test_a_long_reply_is_shown_without_its_middle() -> None:
    whole = plates._cut("a" * plates.MOST)
    cut = plates._cut("b" * 10**6 + "end")
    assert whole == "a" * plates.MOST
    assert cut.endswith("bend")
    assert f"[... {10**6 + 3 - plates.MOST:,} characters ...]" in cut
    assert plates._cut("") == "(none)"


def test_chains_that_are_each_models_own_need_no_column() -> None:
    found = [
        msgspec.structs.replace(e, keys=e.keys | {"source": e.keys["target"]})
        for e in run(targets=("a/one", "b/two"))
        if e.table == "pooled"
    ]
    sheet = sheets.sheet(found)
    assert sheet.constant["chains of"] == "each model itself"
    assert "chains of" not in sheet.heads


def test_a_table_is_called_what_its_own_study_calls_it() -> None:
    assert captions.caption("table1", "cpt").startswith("R_CPT on problems in words")
    assert captions.caption("table1", "judge").startswith("Judges without and with the chain")
    assert captions.note("table1", "cpt") == ""


def warned(found: Sequence[Entry]) -> str:
    return "\n".join(f"{c.text}: {'; '.join(c.places)}" for c in cautions(found))


def quiet(**changes: Any) -> list[Row]:
    """Trials that give no cause for a caution: all is read, nothing failed, controls are right."""
    fields: dict[str, Any] = {"problems": 30, "degrees": (1,), "methods": ("baseline",)} | changes
    kept = {"adopted", "recovered", "other", "unsupported"}
    rows = []
    for row in synthetic.trials(synthetic.Run(**fields)):
        wrong = row.arm in {"clean", "again"} or row.outcome not in kept
        read = {"outcome": "recovered", "reason": None} if wrong else {}
        rows.append(msgspec.structs.replace(row, w_left=0, **read))
    return rows


def some(rows: Sequence[Row], arm: str, **fields: Any) -> list[Row]:
    """The same with every fourth trial of an arm saying something else."""
    found = iter(range(len(rows)))
    return [
        msgspec.structs.replace(row, **fields) if row.arm == arm and not next(found) % 4 else row
        for row in rows
    ]


def few(rows: Sequence[Row]) -> list[Row]:
    """The same where two of three problems were solved wrong by the source."""
    return [
        row if int(row.problem) % 3 == 0 else msgspec.structs.replace(row, outcome="other")
        for row in rows
        if int(row.problem) % 3 == 0 or row.arm == "source"
    ]


def test_a_run_without_a_cause_is_warned_of_nothing() -> None:
    assert cautions(entries(synthetic.frame(quiet()))) == []


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (quiet(problems=8), "Fewer than 10 problems could be probed; no interval is claimed"),
        (few(quiet(problems=60)), "Most problems were left out; the numbers say nothing about"),
        (quiet(source="other/model"), "The chains are those of another model, so that"),
        (quiet(feed="output"), "The whole visible output was handed over"),
        (
            quiet(methods=("baseline", "prefix"), cannot_prefix=("planted/credulous",)),
            "Empty cells, which are no zeros: unsupported",
        ),
        (some(quiet(), "tampered", outcome="failed"), "Trials without an answer are not"),
        (some(quiet(), "tampered", outcome="unreadable"), "Many answers hold no value"),
        (some(quiet(), "tampered", outcome="truncated"), "truncated "),
        (some(quiet(), "tampered", w_left=1), "The chain still shows the true value somewhere"),
        (some(quiet(), "again", outcome="other"), "often fails what it had solved once"),
    ],
)
def test_it_warns_of_a_cause(rows: list[Row], words: str) -> None:
    assert words in warned(entries(synthetic.frame(rows)))


def test_a_caution_names_what_tells_its_line_from_others_and_what_was_kept() -> None:
    found = run(problems=30, degrees=(1,), structures=("intact", "delete_reflection"))
    found = tuple(
        msgspec.structs.replace(e, clusters=2, n=2)
        if e.table == "pooled" and e.keys["structure"] == "delete_reflection"
        else e
        for e in changed(found, "eligibility", "eligible", value=0.4)
    )
    text = warned(found)
    assert "planted/credulous on addition:15+13 (12 of 30 kept)" in text
    assert "planted/credulous on addition:15+13 (12 of 30 kept, mode prefix)" in text
    place = "method baseline, structure delete_reflection (2 trials of 2 problems)"
    assert f"planted/credulous on addition:15+13, {place}" in text
    assert "structure intact (2 trials" not in text


def test_it_warns_of_settings_that_a_model_does_not_heed() -> None:
    """And says so on the page; a model that heeds them gives no note."""
    cells = [{"problems": ["small"]}]
    asked = {"study": "cpt", "model": ["deepseek/deepseek-reasoner"], "cells": cells}
    assert prepare(study(asked)).notes == []
    notes = tuple(prepare(study(asked | {"temperature": 0.5})).notes)
    text = report.html(report.ReportInput(entries=(), plan_toml="", notes=notes))
    assert "deepseek/deepseek-reasoner does not heed temperature; the provider" in text


def changed(found: Sequence[Entry], table: str, metric: str, **fields: Any) -> list[Entry]:
    """The entries with some of them saying something else."""
    return [
        msgspec.structs.replace(e, **fields) if (e.table, e.metric) == (table, metric) else e
        for e in found
    ]


def test_it_warns_of_a_control_that_loses_as_much() -> None:
    words = "The untampered chain already costs as much"
    found = changed(run(), "controls", "recovered", value=0.6)
    same = changed(found, "pooled", "net_recovery", value=-0.01, low=-0.1, high=0.08)
    harm = changed(found, "pooled", "net_recovery", value=-0.4, low=-0.5, high=-0.3)
    assert words in warned(same)
    assert words not in warned(harm)


def test_it_warns_of_unread_answers_and_weak_memory_and_the_true_value_in_view() -> None:
    found = changed(run(), "pooled", "unreadable", value=0.3)
    assert "Many answers hold no value" in warned(found)
    assert "unreadable 30 %" in warned(found)
    found = changed(run(), "controls", "recovered", value=0.5)
    assert "often fails what it had solved once" in warned(found)
    found = changed(run(), "cpt", "adopted_w_left_0", n=1)
    assert "The chain still shows the true value somewhere" in warned(found)


def test_what_a_name_holds_is_shown_and_never_acts() -> None:
    found = run(targets=(HOSTILE,), source=HOSTILE, degrees=(1,))
    text = report.html(
        report.ReportInput(
            entries=found, plan_toml=HOSTILE, facts={HOSTILE: HOSTILE}, stopped=HOSTILE
        )
    )
    page = Page(text)
    assert page.open == []
    assert not page.all("script")
    assert not {"\u202e", "\x00"} & set(text)
    assert page.text.count('<script>alert("1")</script>&⟨U+202E⟩⟨U+0000⟩{{ 7*7 }}') > 5


def test_an_empty_run_has_a_report() -> None:
    page = Page(report.html(report.ReportInput(entries=(), plan_toml="")))
    assert "nothing can be said" in page.text


def test_equal_input_gives_equal_bytes(whole: report.ReportInput, tmp_path: Path) -> None:
    first = report.write(whole, tmp_path).read_bytes()
    assert report.write(whole, tmp_path).read_bytes() == first
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


def test_the_summary_has_a_line_a_method_and_few_degrees(whole: report.ReportInput) -> None:
    lines = report.summary(whole.entries).splitlines()
    text = "\n".join(lines)
    assert "addition:15+13, acme/closed, chains of planted/credulous" in text
    assert sum("baseline" in line for line in lines) == 2
    assert sum(" unsupported " in line for line in lines) >= 1
    assert max(map(len, report.summary(whole.entries, 80).splitlines())) <= 80


def test_the_summary_of_a_hostile_name_is_text() -> None:
    text = report.summary(run(targets=("[bold]x[/]\x1b[31m\u202e",), degrees=(1,)))
    assert "[bold]x[/]⟨U+001B⟩[31m⟨U+202E⟩" in text
