"""Values in text: found whole, normalised, compared; what an answer states finally."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from misled import chains
from misled.answers import Unreadable, canonical, numbers, read, same

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"


def reading(text: str, *, integer: bool = True) -> str:
    """The value, or the reason why there is none."""
    found = read(text, integer=integer)
    return found.reason if isinstance(found, Unreadable) else found


# --- spellings -------------------------------------------------------------------------------

SPELLINGS = {
    "58213904": "58213904",
    "58,213,904": "58213904",
    "58{,}213{,}904": "58213904",
    "58,\\!213,\\!904": "58213904",
    "58{,}\\!213{,}\\!904": "58213904",
    "58\\,213\\,904": "58213904",
    "9\\;500": "9500",
    "58 213 904": "58213904",
    "58\u00a0213\u2009904": "58213904",
    "58\u202f213\u202f904": "58213904",
    "58_213_904": "58213904",
    "58'213’904": "58213904",
    "5,82,13,904": "58213904",
    "1,250904": "1250904",
    "５８，２１３": "58213",
    "58.213.904": "58213904",
    "58.213,5": "58213.5",
    "58,213.00": "58213",
    "0.50": "0.5",
    ".5": "0.5",
    "007": "7",
    "$58": "58",
    "\\$1,058": "1058",
    "58%": "58",
    "58\\%": "58",
    "58 pears": "58",
    "58\\text{ cm}": "58",
    "58cm": "58",
    "58个": "58",
    "90^\\circ": "90",
    "**58**": "58",
    "`58`": "58",
    '"58"': "58",
    "(58).": "58",
    "$58$": "58",
    "\\(58\\)": "58",
    "\\textbf{58}": "58",
    "\\boxed{58}": "58",
    "$$\\boxed{\\text{58}}$$": "58",
    "\\boxed{\\$1{,}058.00\\text{ in all}}": "1058",
    "-58": "-58",
    "−58": "-58",
    "-\\$58": "-58",
    "-(58)": "-58",
    "negative 58": "-58",
    "fifty-eight": "58",
    "two thousand and fifty-eight": "2058",
    "5.8 \\times 10^3": "5800",
    "5.8×10³": "5800",
    "58e2": "5800",
    "5.8 million": "5800000",
    "\\frac{2}{6}": "1/3",
    "\\boxed{\\dfrac{1}{3}}": "1/3",
    "\\frac 34": "3/4",
    "-\\frac{1}{3}": "-1/3",
    "8/2": "4",
    "2\\frac{1}{2}": "5/2",
    "2 1/2": "5/2",
}


@pytest.mark.parametrize(("text", "value"), SPELLINGS.items())
def test_every_spelling_of_a_value_has_one_canonical_form(text: str, value: str) -> None:
    assert canonical(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", "north", "x = 5", "5 and 7", "5, 7", "3,14", "1.2.3", "2x", "2\\sqrt{3}", "2^{n}"),
        *(
            "\\frac{9}{\\pi}",
            "5:30",
            "5 + 7",
            "1,234,5678",
            "about",
            "17 or more",
            "\\boxed{}",
            "1e500",
            *("58!", "58k", "$58M", "58 B", "58 dozen", "0.333..."),
        ),
    ],
)
def test_a_text_that_is_not_one_value_has_no_canonical_form(text: str) -> None:
    assert canonical(text) is None


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("8,000 and 000", ["8,000", "000"]),
        ("1,2,345", ["1", "2", "345"]),
        ("in 3.5, 4,000 or 1.2.3", ["3.5", "4,000"]),
        ("it is300,194 of x_1, x_{12}, T34 and 256_{10}", ["300,194", "256"]),
        ("Step 3: take 4 times 3x12", ["4", "3", "12"]),
        ("1. take 40\n2. give 2.\n", ["40", "2"]),
        ("42. That is all.", ["42"]),
        ("5 - 3, 5-3, (-3) and is -3", ["5", "3", "5", "3", "-3", "-3"]),
        ("seven of the eight, one is gone", ["seven", "eight"]),
        ("3.2 \\times 10^{4}, then 10^6", ["3.2 \\times 10^{4}", "10^6"]),
    ],
)
def test_numbers_are_found_whole_and_names_are_none(text: str, forms: list[str]) -> None:
    assert [text[n.start : n.end] for n in numbers(text)] == forms


def grouped(n: int, gap: str) -> str:
    return f"{n:,}".replace(",", gap)


GAPS = ["", ",", "{,}", ",\\!", "\\,", "\\;", " ", "\u00a0", "\u2009", "\u202f", "_", "'"]
FRAMES = [
    "{}",
    "So in the end the answer is {}.",
    "**Final Answer**\n\n{}\n",
    "**Answer:** {} pears",
    "We had 3 of 7.\n\n\\[\\boxed{{{}}}\\]",
    "\\boxed{{x = {}}}",
    "#### {}",
    "ANSWER: {}",
    "答案是 {}。",
    "Your 12 is wrong, it is {}.",
    "7 + 5 = {}",
    "Therefore {} is the right answer.",
    "<answer>{}</answer>",
]


@given(
    st.integers(-(10**21), 10**21),
    st.sampled_from(GAPS),
    st.sampled_from(FRAMES),
    st.sampled_from(["", ".0", ".00"]),
)
@example(8000, ",", FRAMES[4], "")
@example(711, "", FRAMES[7], "")
def test_whatever_frame_and_spelling_a_value_reads_back(
    n: int, gap: str, frame: str, tail: str
) -> None:
    assert reading(frame.format(grouped(n, gap) + tail)) == str(n)


@given(st.text(alphabet="0123456789,.{}\\! /-$xe\n=()or×^", max_size=40))
def test_no_number_starts_or_ends_within_another(text: str) -> None:
    end = 0
    for number in numbers(text):
        assert end <= number.start < number.end
        end = number.end
        assert not text[number.end : number.end + 1].isdecimal()
        first = next(i for i in range(number.start, number.end) if text[i].isdecimal())
        assert not text[:first][-1:].isdecimal()


@given(st.text(max_size=60) | st.text(alphabet="0123456789,.{}\\! /-$answer isor=\n", max_size=60))
def test_reading_is_total_and_gives_canonical_values(text: str) -> None:
    for integer in (True, False):
        found = read(text, integer=integer)
        if isinstance(found, str):
            assert canonical(found) == found
            assert Fraction(found) == Fraction(found)
            assert not integer or found.lstrip("-").isdecimal()


@given(st.fractions(), st.fractions())
def test_sameness_is_that_of_rationals(a: Fraction, b: Fraction) -> None:
    assert same(str(a), str(a))
    assert same(str(a), str(b)) == (a == b)


def test_a_decimal_is_the_same_as_its_fraction() -> None:
    assert same("0.5", "1/2")
    assert not same("0.33", "1/3")


# --- what an answer states -------------------------------------------------------------------

STATED = {
    "The answer is 58!": "58",
    "So it was 40 + 18 = 58": "58",
    "The answer to 40 + 18 is 58.": "58",
    "the answer is 40 + 18 = 58, as asked": "58",
    "Your answer was 57. The correct answer is 58.": "58",
    "The correct answer is 58. Your answer is 57.": "58",
    "The answer is 58, not 57.": "58",
    "The answer is not 57 but 58.": "58",
    "58 is the answer, not 57.": "58",
    "\\boxed{57} was too low, so \\boxed{58}.": "58",
    "\\boxed{58}. I write \\boxed{} round it.": "58",
    "\\boxed{58} is it; \\boxed asks for braces": "58",
    "The answer is 57. No: **Answer:** 58": "58",
    "Answer: 58\n\nShe sold 40 on Monday.": "58",
    "She buys 40 and gets 18, so she has 58 pears.": "58",
    "She has 58 pears after 2 days.": "58",
    "She has **58** of 60 pears.": "58",
    "**Final Answer**\nIn all, there are 58 pears.": "58",
    "```\n58\n```": "58",
    "The answer is minus 58.": "-58",
    "x = - 58": "-58",
    "The answer is no longer 57. It is 58.": "58",
    "The sum is 58, which your chain gives as 57.": "58",
    "Earlier I wrote 57, but 58 is correct.": "58",
    '{"answer": "58"}': "58",
    "2^{10} = 1024": "1024",
}
UNREADABLE = {
    "": "none",
    "I do not know.": "none",
    "\\boxed{}": "none",
    "\\boxed{north}": "none",
    "The answer is 58. \\boxed{\\text{north}}": "none",
    "\\boxed{2\\sqrt{58}}": "none",
    "\\boxed{5{,}8": "none",
    "Answer: Tuesday": "none",
    "Is it 57 or 58? The answer cannot be determined.": "none",
    "Error code: 503 - overloaded": "none",
    "She has 40 pears, and so we add 18 to the": "none",
    "It is 57 or 58.": "ambiguous",
    "57 and 58": "ambiguous",
    "x = 57 or x = 58": "ambiguous",
    "57\n58": "ambiguous",
    "The answer is 5 8 2 1": "ambiguous",
    "The answer is 5:8": "ambiguous",
    "The answer is 57, 58": "ambiguous",
    "\\boxed{57} and \\boxed{58}": "ambiguous",
    "\\boxed{57, 58}": "ambiguous",
    "about 58": "approximate",
    "≈ 58": "approximate",
    "The answer is approximately 58.": "approximate",
    "\\approx \\boxed{58}": "approximate",
    "\\boxed{5.8 \\times 10^9}": "approximate",
    "5.8 billion": "approximate",
    "It makes 58k": "approximate",
    "58.25": "approximate",
    "\\boxed{\\frac{1}{3}}": "approximate",
    "0.333...": "approximate",
}


@pytest.mark.parametrize(("text", "value"), STATED.items())
def test_the_final_value_is_read(text: str, value: str) -> None:
    assert reading(text) == value


@pytest.mark.parametrize(("text", "reason"), UNREADABLE.items())
def test_what_states_no_single_exact_value_says_why(text: str, reason: str) -> None:
    assert reading(text) == reason


def test_where_the_gold_is_no_integer_decimals_and_fractions_are_read() -> None:
    assert reading("The answer is 58.250.", integer=False) == "58.25"
    assert reading("\\boxed{\\frac{2}{6}}", integer=False) == "1/3"
    assert reading("about 58.25", integer=False) == "58.25"


# --- size ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unit",
    [
        "1,",
        "{,}",
        "7",
        "\\boxed{",
        "\\boxed{1",
        ".",
        "1.",
        "answer ",
        "answer:\n",
        "1 ",
        "is 1 ",
        "\n",
    ],
)
def test_hostile_input_of_megabytes_is_read_in_linear_time(unit: str) -> None:
    text = unit * (150_000 // len(unit))
    assert read(text) == (text if unit == "7" else read(text[: len(unit) * 1000]))


def test_a_value_of_any_length_is_a_string_of_digits() -> None:
    digits = "7" * 20_000
    text = f"The answer is \\boxed{{{grouped_text(digits)}}}."
    assert read(text) == digits
    assert same(digits, digits)
    assert not same(digits, digits[:-1] + "8")


def grouped_text(digits: str) -> str:
    head = len(digits) % 3
    return ",".join(
        filter(None, [digits[:head], *(digits[i : i + 3] for i in range(head, len(digits), 3))])
    )


# --- real answers ----------------------------------------------------------------------------


def real_answers() -> Iterator[tuple[str, str]]:
    """Answers that their source judged as right, with the gold value."""
    for path in sorted(TRACES.glob("arith_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "class_Correct" not in row["flags"]:
                continue
            tagged = row["raw"] and "untagged" not in path.name
            yield chains.split(row["raw"]).answer if tagged else row["reasoning"], row["gold"]


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
def test_every_right_answer_of_the_arithmetic_traces_reads_as_gold() -> None:
    pairs = list(real_answers())
    assert len(pairs) > 60
    for answer, gold in pairs:
        value = canonical(gold)
        assert value is not None
        found = read(answer, integer=value.lstrip("-").isdecimal())
        assert found == value, answer[-200:]


@pytest.mark.parametrize("between", ["\n\n", " ", ", ", " and "])
def test_boxes_side_by_side_are_ambiguous_only_where_they_differ(between: str) -> None:
    assert read(f"\\boxed{{177}}{between}\\boxed{{177}}") == "177"
    assert read(f"\\boxed{{2{{,}}177}}{between}\\boxed{{2177}}") == "2177"
    assert read(f"\\boxed{{176}}{between}\\boxed{{177}}") == Unreadable("ambiguous")
