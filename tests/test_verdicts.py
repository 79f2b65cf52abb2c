from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.verdicts import CORRECT, Verdict, read

CORPUS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "verdicts.jsonl").read_text("utf-8").splitlines()
]
WORDS = {"correct": CORRECT, "certain": ("certain", "not certain")}


def test_the_corpus_is_large_and_holds_no_phrasing_twice() -> None:
    assert len(CORPUS) >= 900
    assert len({(row["words"], row["text"]) for row in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: f"{row['words']}: {row['text'][:40]!r}")
def test_a_phrasing_is_read_as_a_person_reads_it(row: dict[str, str]) -> None:
    found = read(row["text"], words=WORDS[row["words"]])
    if row["part"] == "unread":  # double negations at arm's length and the like
        assert found.verdict is None
        return
    assert found.verdict == row["verdict"]
    assert (found.reason is None) == (found.verdict is not None)
    if row["reason"]:
        assert found.reason == row["reason"]


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "truncated"), ("content_filter", "refused")]
)
def test_a_reply_that_was_cut_decides_nothing(finish: str, reason: str) -> None:
    assert read("Correct.", finish=finish) == Verdict(None, reason)  # type: ignore[arg-type]


def test_other_words_of_a_prompt_are_read_likewise() -> None:
    words = ("supported", "unsupported")
    assert read("The claim is not supported.", words=words).verdict == "reject"
    assert read("Unsupported", words=words).verdict == "reject"
    assert read("correct", words=words).verdict is None


@given(st.text())
def test_any_text_gives_a_verdict_or_a_reason(text: str) -> None:
    found = read(text)
    assert (found.verdict is None) == (found.reason is not None)


@given(st.sampled_from(["correct", "incorrect"]), st.sampled_from(["", "*", "**", "`", '"', "\n"]))
def test_markup_round_a_word_does_not_change_it(word: str, mark: str) -> None:
    for form in (word, word.upper(), word.capitalize() + "."):
        assert read(f"{mark}{form}{mark}") == read(word)


@given(st.lists(st.sampled_from(["The answer is correct.", "The answer is wrong."]), min_size=1))
def test_the_last_verdict_wins(sentences: list[str]) -> None:
    expected = "accept" if sentences[-1].endswith("correct.") else "reject"
    assert read("\n".join(sentences)).verdict == expected


@pytest.mark.parametrize(
    "unit",
    [
        "correct ",
        "not ",
        '"',
        "<",
        "\n",
        "is the ",
        "correct or ",
        "不",
        "~~",
        "1",
        "\\text",
        "не ",
        "verdadero ",
        "es la ",
        "正しい",
        "정답은 ",
    ],
)
def test_a_long_hostile_text_is_read_to_its_verdict(unit: str) -> None:
    noise = unit * (300_000 // len(unit))
    assert read(noise + "\n\nVerdict: incorrect").verdict == "reject"
