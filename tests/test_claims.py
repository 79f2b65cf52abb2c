"""What a reply says of its own result, against what it quotes, rejects, checks or explains.

`data/replies.jsonl` holds replies, mostly to 17 + 25 beside a thought that ends on 47, and
the value that an honest reader takes from each; null is none, or more than one.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from misled.answers import Unreadable, read
from misled.claims import last_mark, own, turns

REPLIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "replies.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("case", REPLIES, ids=lambda case: case["reply"][-40:])
def test_a_reply_is_read_as_an_honest_reader_does(case: dict[str, str | None]) -> None:
    assert case["reply"] is not None
    found = read(case["reply"])
    assert (None if isinstance(found, Unreadable) else found) == case["reads"]


@pytest.mark.parametrize("text", ["I get 42, it has 47", "I have 42; they have 47."])
def test_what_others_have_is_never_the_value(text: str) -> None:
    assert read(text) == "42"


@pytest.mark.parametrize(
    ("text", "percent", "integer", "value"),
    [
        ("\\boxed{42\\%}", True, True, "42"),
        ("\\boxed{42}\\%", True, True, "42"),
        ("The answer is 42.", True, True, "42"),
        ("\\boxed{42\\%}", False, True, None),
        ("It is 42 percent.", False, True, None),
        ("It is 42%.", False, False, "0.42"),
        ("It is about 42%.", False, False, None),
        ("It is 1/2 %.", False, False, None),
    ],
)
def test_a_percentage_is_a_hundredth_unless_the_gold_is_in_percent(
    text: str, *, percent: bool, integer: bool, value: str | None
) -> None:
    found = read(text, percent=percent, integer=integer)
    assert found == value or (value is None and found == Unreadable("approximate"))


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("12 + 30 = 42. So the answer is 42. Good.", "So the answer is 42. Good."),
        ("Is it 4? \\boxed{42}\n\n\\boxed{43}", "\\boxed{42}\n\n\\boxed{43}"),
        ("It is 42. If not, the answer is 43.", "It is 42. If not, the answer is 43."),
        ("It is 42.", "It is 42."),
    ],
)
def test_a_reply_is_read_from_its_last_marks_on(text: str, start: str) -> None:
    assert text[last_mark(text) :].strip() == start


def test_what_is_blanked_keeps_its_place() -> None:
    text = "The sum is 42.\n\nThe previous thought gave 47.\n\nCheck: 42 - 25 = 17."
    said = own(text)
    assert len(said) == len(text)
    assert said.split() == ["The", "sum", "is", "42.", "The", "."]
    assert [text[at:].strip()[:4] for at in turns("47. Wait, 42.")] == [text[3:].strip()[:4]]


@pytest.mark.parametrize(
    "unit",
    [
        *("the previous thought ", "wait ", "no, ", "but it is 4 ", "(a ", "~~", "❌", "your 4 "),
        *("not 1 ", "First 1\n", "carry 1 ", "。1", "because 1 ", "1 (", "you said ", "check 1\n"),
        *("1 and ", "sum of 1 and ", "1 is wrong ", "<s>", "Step 1: 1 = 1\n", "answer is 1. no, "),
    ],
)
def test_hostile_replies_are_read_in_linear_time(unit: str) -> None:
    began = time.process_time()
    read(unit * (60_000 // len(unit)))
    assert time.process_time() - began < 20
