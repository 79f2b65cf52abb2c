"""Sentences, roles and steps: on own examples, on any text, and on labelled real chains."""

import json
import sys
from collections import Counter
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.roles import steps
from misled.sentences import sentences

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
LABELS = Path(__file__).parent / "data" / "roles.jsonl"
LETTERS = {
    "r": "reflection",
    "v": "verification",
    "k": "calculation",
    "c": "conclusion",
    "o": "other",
    "n": "no reflection",
}
PIECES = [
    "Wait, ",
    "so the answer is 12",
    "let me check",
    "3.14",
    "1. ",
    "? ",
    ". ",
    "\n",
    "\n\n",
    " ",
    "\\[",
    "\\]",
    "$$",
    "\\boxed{",
    "}",
    "。",
    "不对，",
    "İ",
    "e.g. ",
    "**",
    "…",
]
texts = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


def cut(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentences(text)]


def roles(text: str) -> list[str]:
    return [step.role for step in steps(text)]


def role(sentence: str) -> str:
    """The role of a sentence that stands amid others."""
    lead = "There are two tanks. One is blue. The other one is red. Both are in the yard. "
    text = lead + sentence
    return next(s.role for s in steps(text) if s.start <= len(lead) < s.end)


@given(texts)
def test_sentences_tile_any_text(text: str) -> None:
    spans = sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@given(texts)
def test_steps_tile_any_text_and_neighbours_differ_in_role(text: str) -> None:
    found = steps(text)
    assert "".join(text[s.start : s.end] for s in found) == text
    assert all(a.role != b.role and a.end == b.start for a, b in pairwise(found))


@given(texts)
def test_steps_begin_where_sentences_begin(text: str) -> None:
    assert {s.start for s in steps(text)} <= {start for start, _ in sentences(text)}


def test_lower_case_keeps_offsets_for_all_but_one_character() -> None:
    longer = [c for c in map(chr, range(sys.maxunicode + 1)) if len(c.lower()) != 1]
    assert longer == ["\u0130"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pi is 3.14. Then stop.", ["Pi is 3.14.", "Then stop."]),
        ("Use fruit, e.g. Apples. Go on.", ["Use fruit, e.g. Apples.", "Go on."]),
        ("1. Add them.\n2. Halve it.", ["1. Add them.", "2. Halve it."]),
        ("Step 1. Add them. Stop.", ["Step 1. Add them.", "Stop."]),
        ("So it is B. Wait, no. It is C.", ["So it is B.", "Wait, no.", "It is C."]),
        ("Hmm... let me see. Is it 5? Yes!", ["Hmm... let me see.", "Is it 5?", "Yes!"]),
        (
            "We get\n\\[\nx = 3.\n\ny = 4\n\\]\nDone.",
            ["We get", "\\[\nx = 3.\n\ny = 4\n\\]", "Done."],
        ),
        ("It is 5! = 120 ways. Stop.", ["It is 5! = 120 ways.", "Stop."]),
        ("No (see above. Twice). So 5.", ["No (see above. Twice).", "So 5."]),
        ('He said "go on. Now." Then he left.', ['He said "go on. Now."', "Then he left."]),
        ("Monday: ? miles. Stop.", ["Monday: ? miles.", "Stop."]),
        ("It is \\boxed{3. 5} m. Done.", ["It is \\boxed{3. 5} m.", "Done."]),
        (
            "先算一下。等等，不对！是 5 吗？是。",
            ["先算一下。", "等等，不对！", "是 5 吗？", "是。"],
        ),
        (
            "This is a line that was wrapped by hand and\ngoes on in the next.\nEnd.",
            ["This is a line that was wrapped by hand and\ngoes on in the next.", "End."],
        ),
        ("  \n", [""]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Wait, that leaves out the second tank.",
        "Hmm, I'm not sure about the units here.",
        "Alternatively, one could fill them in turn.",
        "But that doesn't make sense with the given rate.",
        "However, the tank might be open at the top.",
        "Maybe the blue one is meant to be full.",
        "I must have made a mistake somewhere above.",
        "Is that right?",
        "Okay, so perhaps the red tank leaks.",
        "No, the pump runs at night.",
        "The wording is ambiguous.",
        "Another way to read it is that both leak.",
        "等等，这里好像不对。",
        "但是题目没有说明方向。",
        "是不是漏了一个水箱呢？",
        "哦，不对，应该先放水。",
        "让我换个思路。",
        "好像把单位看错了。",
        "The red one holds 12, but wait, the pump is off.",
        "For example, maybe the red one was filled first.",
    ],
)
def test_doubt_and_change_of_course_are_reflection(sentence: str) -> None:
    assert role(sentence) == "reflection"


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("But the blue tank holds 40 litres.", "other"),
        ("How many litres does the red one hold?", "other"),
        ('The sign says: "Is it full?"', "other"),
        ("We wait at the gate for an hour.", "other"),
        ("But note that the red one is not full.", "other"),
        ("40 + 25 = ?", "calculation"),
        ("But the answer is 12.", "conclusion"),
        ("Let me double-check the sum.", "verification"),
    ],
)
def test_a_keyword_alone_is_no_reflection(sentence: str, expected: str) -> None:
    assert role(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("So 40 * 3 = 120.", "calculation"),
        ("Adding the carry gives a 7 in the tens place.", "calculation"),
        ("40乘以3得到120。", "calculation"),
        ("Let me verify this by adding them up once more.", "verification"),
        ("Plugging it back into the first equation works.", "verification"),
        ("Yes, that matches.", "verification"),
        ("So the total looks right to me.", "verification"),
        ("Exactly at noon the pump stops.", "other"),
        ("代入原式检查一下。", "verification"),
        ("是的，前面的计算没有问题。", "verification"),
        ("我们看看是否能装满两个水箱。", "other"),
        ("So the final answer is 120.", "conclusion"),
        ("Thus, the final numeric result is:", "conclusion"),
        ("**Final Answer**", "conclusion"),
        ("\\boxed{120}", "conclusion"),
        ("所以答案是120。", "conclusion"),
    ],
)
def test_other_roles_go_by_what_the_sentence_does(sentence: str, expected: str) -> None:
    assert role(sentence) == expected


def test_a_check_stays_open_over_the_sentences_that_carry_it_out() -> None:
    text = "6 * 7 = 42. Let me check: 6 * 5 = 30. 6 * 2 = 12. 30 + 12 = 42. So the answer is 42."
    assert roles(text) == ["calculation", "verification", "conclusion"]


def test_a_doubtful_call_for_a_check_is_reflection_and_opens_the_check() -> None:
    text = "6 * 7 = 42. Wait, let me check that again. 6 * 5 = 30. 30 + 12 = 42. Good."
    assert roles(text) == ["calculation", "reflection", "verification"]


def test_therefore_concludes_only_where_the_chain_then_stops_doubts_or_checks() -> None:
    text = "Therefore, the tank holds 12 litres. 12 * 3 = 36. Therefore, three hold 36 litres."
    assert roles(text) == ["other", "calculation", "conclusion"]


def test_a_sentence_that_hangs_on_the_one_before_has_its_role() -> None:
    text = "One tank is red. It is 3. Hmm, is it full? Because the pump is off. One is blue."
    found = steps(text)
    assert "Because" in next(text[s.start : s.end] for s in found if s.role == "reflection")


def test_what_a_conclusion_announces_belongs_to_it() -> None:
    assert roles("2 + 2 = 4.\n\nThe final answer is:\n\n4") == ["calculation", "conclusion"]


def test_one_paragraph_without_line_breaks_has_steps() -> None:
    text = (
        "We are asked for 12 * 12. 12 * 10 = 120, plus 24 gives 144. But wait, is it 12 * 12? "
        "Yes. Check: 144 / 12 = 12. So answer: 144."
    )
    assert roles(text) == ["calculation", "reflection", "verification", "conclusion"]


@pytest.mark.parametrize(
    "unit", ["<think>", "wait ", "1.", "1. ", "。", "\n", "\\[", "\\boxed{", "no? "]
)
def test_hostile_text_is_cut_in_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert sum(s.end - s.start for s in steps(text)) == len(text)


def scores(batch: str) -> dict[str, tuple[float, float, float]]:
    """Precision, recall and F1 by role over the labelled sentences of a batch.

    A label's first letter counts, a second one says what else it could be.
    """
    hits: Counter[str] = Counter()
    said: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for line in LABELS.read_text().splitlines():
        window = json.loads(line)
        if window["batch"] != batch:
            continue
        trace = (TRACES / (window["trace"] + ".jsonl")).read_text().splitlines()[window["line"]]
        record = json.loads(trace)
        text = record["reasoning"] or record["raw"] or record["answer"]
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        assert digest == window["text"]
        found = steps(text)
        for start, _, label in window["sentences"]:
            expected = LETTERS[label[0]]
            got = next(s.role for s in found if s.start <= start < s.end)
            said[got] += 1
            true[expected] += 1
            hits[got] += got == expected
    return {
        name: (
            hits[name] / said[name],
            hits[name] / true[name],
            2 * hits[name] / (said[name] + true[name]),
        )
        for name in LETTERS.values()
        if said[name] and true[name]
    }


@pytest.mark.skipif(not TRACES.is_dir(), reason="the real traces are not here")
@pytest.mark.parametrize(("batch", "floor"), [("tuned", 0.88), ("held", 0.85), ("fresh", 0.83)])
def test_reflection_agrees_with_labels_on_real_chains(batch: str, floor: float) -> None:
    assert scores(batch)["reflection"][2] >= floor


@pytest.mark.skipif(not TRACES.is_dir(), reason="the real traces are not here")
@pytest.mark.parametrize("name", ["verification", "conclusion", "calculation"])
def test_other_roles_agree_with_labels_that_were_not_tuned_on(name: str) -> None:
    assert scores("held")[name][2] >= 0.6
