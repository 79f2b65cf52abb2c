"""The glossary: words that stand on a page are explained, others are not."""

from __future__ import annotations

import pytest

import synthetic
from misled import glossary, report
from misled.estimates import entries
from misled.families import MAIN
from misled.row import Judged, Row
from test_report import Page


def test_it_explains_the_words_that_are_there_and_no_others() -> None:
    found = dict(glossary.words("cpt", ["gate passed", "A2", "problems addition:15+13"]))
    assert set(found) == {"addition", "gate", "A2", "problem"}
    assert "gate" not in dict(glossary.words("judge", ["gate"]))


@pytest.mark.parametrize(("study", "row"), [("cpt", Row), ("judge", Judged)])
def test_it_knows_the_arms_and_conditions_that_a_row_names(
    study: str, row: type[Row | Judged]
) -> None:
    field = {"cpt": "arm", "judge": "condition"}[study]
    said = str(row.__doc__).split(f"{field}: ")[1].split(":\n")[0].split("\n        ")[0:4]
    named = {word for word, _ in glossary.words(study, said)}
    expected = {
        "cpt": {"source", "gate", "tampered", "clean", "again", "bare", "foreign", "replay"},
        "judge": {"answer", "reasoning", "self", "self_hidden", "controlled", "crossed", "null"},
    }[study]
    assert expected <= named
    for name in MAIN:
        assert study == "judge" or glossary.words(study, [name]) or name == "place"


def test_the_page_defines_what_it_says_and_says_where_2_comes_from() -> None:
    found = tuple(entries(synthetic.rows(synthetic.Run(problems=12, degrees=(1, 2)))))
    page = Page(report.html(report.ReportInput(entries=found, plan_toml="")))
    assert any(a.get("id") == "words" for a in page.all("dl"))
    assert any(a["href"] == "#words" for a in page.all("a"))
    for words in ("the control that is handed the same chain", "2 is set where the answer"):
        assert words in page.text
    assert "the contrast that is told the tampered result alone" not in page.text
