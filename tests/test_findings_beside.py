"""What the report says of judges by strength, of another's chain, and of no answer at all."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from misled import report
from misled.cautions_judge import cautions
from misled.findings import Finding
from misled.findings_judge import findings
from misled.judgements import entries
from misled.records import Entry
from misled.row import Judged
from panel import bench, frame, verdict
from test_strengths import judges

PAIR = ("answer", "reasoning")
BOTH = {(True, "aa"): 12, (False, "ar"): 12}


def probes(accepted: int, of: int = 20, **fields: str) -> list[Judged]:
    """So many questions whose empty answer is accepted; a colon never is."""
    said = "a" * accepted + "r" * (of - accepted)
    known = {"generator": "", "label": None} | fields
    rows = [verdict(i, word, "null", variant="empty", **known) for i, word in enumerate(said)]
    return rows + [verdict(i, "r", "null", variant="colon", **known) for i in range(of)]


def crossed(said: str, of: int = 20) -> list[Judged]:
    """Each question's verdicts: right answer, right chain; right, wrong; wrong, right; ww."""
    cells = [(y, chain) for y in (True, False) for chain in ("right", "wrong")]
    return [
        verdict(i, word, "crossed", label=y, variant=chain)
        for i in range(of)
        for word, (y, chain) in zip(said, cells, strict=True)
    ]


def told(rows: Sequence[Judged]) -> list[Finding]:
    return findings(entries(frame(rows)))


def plain(finding: Finding) -> str:
    return " ".join((finding.headline, *finding.details)).replace("\u00a0", " ")


def warned(rows: Sequence[Judged]) -> str:
    found = cautions(entries(frame(rows)))
    return "\n".join(f"{c.text}: {'; '.join(c.places)}" for c in found).replace("\u00a0", " ")


def test_weak_and_strong_judges_are_told_first_and_set_against_each_other() -> None:
    first, *rest = told(judges())
    assert (first.model, first.setting) == ("weak and strong judges", "facts, answers of acme/g")
    assert "the 2 called weak by +0 points [" in first.headline
    assert "and the 1 called strong by -26 points [" in first.headline
    text = plain(first)
    assert "Judges called weak were misled in 11 % [" in text
    assert "(no floor)" in text
    assert "Weak minus strong, on the same answers: acceptance of all answers +26 points [" in text
    assert [finding.model for finding in rest] == ["a/w1", "a/w2", "b/s", "c/none"]


def test_judges_of_one_strength_alone_are_set_against_nobody() -> None:
    (first, *_) = told([row for row in judges() if row.strength == "weak"])
    assert "called strong" not in plain(first)
    assert "Weak minus strong" not in plain(first)


def test_probes_and_crossed_chains_are_told_once_for_a_judge_and_a_set() -> None:
    rows = [
        *bench(BOTH, PAIR),
        *bench(BOTH, PAIR, generator="acme/h"),
        *probes(8),
        *crossed("arar"),
    ]
    first, second = map(plain, told(rows))
    assert "no answer at all it accepted: the empty text in 40 % [22, 61] of 20, a colon" in first
    assert "On 20 questions with a right and a wrong answer, the chain of the right one" in first
    assert "of either by +100 points [" in first
    assert "with either chain, by +0 points [" in first
    assert "no answer at all" not in second
    assert "chain of the right one" not in second


def test_a_judge_who_was_asked_nothing_else_has_its_own_sentence() -> None:
    rows = [*probes(8), *crossed("aarr", of=12)]
    (finding,) = told(rows)
    assert (finding.model, finding.setting) == ("acme/j", "facts")
    assert finding.headline.startswith("On 12 questions with a right and a wrong answer")
    assert "the empty text in 40" in plain(finding)
    found: tuple[Entry, ...] = tuple(entries(frame(rows)))
    assert "the empty text in 40" in report.html(report.ReportInput(entries=found, plan_toml=""))


NOTHING = "accepts what is no answer at all: what it accepts need not be right: acme/j on facts"
CHAIN = "at least as much as the answer that is judged: acme/j on facts (+"
FEW = "Fewer than 10 questions have a right and a wrong answer; no reliance on the chain is"


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (probes(8), f"{NOTHING} (an empty text in 40 % ["),
        (probes(1), ""),
        (crossed("arar"), CHAIN),
        (crossed("aarr"), ""),
        (crossed("arar", of=9), FEW),
    ],
)
def test_it_warns_of_what_follows_the_chain_and_of_nothing_that_is_accepted(
    rows: list[Judged], words: str
) -> None:
    text = warned(rows)
    assert words in text
    assert bool(words) == bool(text)
