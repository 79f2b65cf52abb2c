from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given as given_that
from hypothesis import strategies as st

from misled.expressions import equal, tidy
from misled.labels import Label, given, kind, label, value, verifier_verdict
from misled.mathchild import Checker

DATA = Path(__file__).parents[2] / "shared" / "data" / "judge"
SETS = ("math500", "gsm8k_500", "nq_500", "hq_500")
CARRIERS = (
    "{}",
    "The answer is {}.",
    "**{}**",
    r"\boxed{{{}}}",
    "Final answer: {}",
    "${}$",
    "So that is it.\n\n**Final Answer:** {}",
)


@pytest.fixture(scope="module")
def algebra() -> Iterator[Checker]:
    with Checker() as checker:
        yield checker


SPELLINGS = {
    "18": r"18|$18|\boxed{\$18}|It costs $18 a day.|#### 18|eighteen|\boxed{18\text{ km}}",
    "2125": r"2,125|\boxed{2{,}125}|\boxed{2,\!125}|\boxed{2\,125}|2 125|$2,125.00",
    "12": r"twelve|\boxed{12\%}|12%|\boxed{x = 12}|12 \text{ cm}|\boxed{12\ \text{square units}}",
    r"\frac{1}{2}": r"1/2|0.5|\boxed{\tfrac12}|\boxed{50\%}|½|The answer is $\frac{2}{4}$.",
    r"1\frac{4}{5}": r"9/5|1.8|1 4/5|\boxed{1\frac45}",
    r"90^\circ": r"90|90°|\boxed{90^{\circ}}|90 degrees|The angle is 90°.",
    r"3\sqrt{13}": r"3√13|\boxed{3 \cdot \sqrt{13}}|\sqrt{117}|3*sqrt(13)",
    r"\left( 3, \frac{\pi}{2} \right)": r"(3, π/2)|(r,\theta) = (3, \frac{\pi}{2})",
    "1,-2": r"-2, 1|1 and -2|\boxed{1} and \boxed{-2}|x = 1, x = -2|x = 1 \text{ or } x = -2",
    "52_8": r"52|52_{8}|\boxed{52_8}",
    r"x \in [-2,7]": r"[-2, 7]|\boxed{[-2,7]}|-2 \le x \le 7",
    r"(-\infty, 2) \cup (3, \infty)": r"(-∞,2)∪(3,∞)|\boxed{(3,\infty)\cup(-\infty,2)}",
    r"\{1\pm\sqrt{5},-2\}": r"\boxed{-2, 1+\sqrt5, 1-\sqrt5}|\{-2,1-\sqrt{5},1+\sqrt{5}\}",
    r"\text{Ida}": r"Ida|\boxed{Ida}|The answer is Ida.",
    r"\text{(C)}": r"C|(C)|\boxed{\textbf{(C)}}",
    "y = 2x + 3": r"2x+3|\boxed{y = 3 + 2x}",
    "2x - 7y + 1 = 0": r"1-7y+2x=0|-2x+7y-1=0",
    "(a+5)(b+2)": r"(b+2)(a+5)|ab+2a+5b+10",
    "1024": r"2^{10}|\boxed{2^{10}}",
    r"\frac{\sqrt{3}}{3}": r"1/√3|\boxed{\frac{1}{\sqrt{3}}}",
    r"\begin{pmatrix} 1/5 \\ -3 \end{pmatrix}": r"\boxed{\begin{bmatrix}\frac15\\-3\end{bmatrix}}",
}
WRONG = {
    "18": r"81|$81|18.5|\boxed{180}|-18|\boxed{18, 19}",
    r"\frac12": "1/3|0.05|2|5%",
    "(3,4]": "[3,4)|(3,4)|[3,4]|(3,5]",
    "1,-2": "1|-2|1, 2|1,-2,3",
    "52_8": "42|52_9|52_{10}",
    "2 and 7": "7",
    "x^3+3x-6": "x^3+3x+6",
    r"\sqrt{5}": r"5|\sqrt{6}|2.236",
    "9500": r"509|\boxed{9\,501}",
    "1/3": "0.333333|0.33",
    "2": r"The answer is (2,\infty).",
}


def test_the_spellings_of_models_are_right(algebra: Checker) -> None:
    for gold, forms in SPELLINGS.items():
        for form in forms.split("|"):
            assert label(form, [gold], of="math", algebra=algebra).y is True, (gold, form)


def test_another_value_is_wrong(algebra: Checker) -> None:
    for gold, forms in WRONG.items():
        for form in forms.split("|"):
            assert label(form, [gold], of="math", algebra=algebra).y is False, (gold, form)


def test_what_states_no_single_value_has_no_label() -> None:
    assert label("17 or 18", ["18"]) == Label(None, reason="ambiguous")
    assert label("I do not know.", ["18"]) == Label(None, reason="none")
    assert label(r"\boxed{\sqrt{5}}", [r"\sqrt{20}/2"]).reason == "unparsed"


@pytest.mark.parametrize(
    ("answer", "golds", "y"),
    [
        ("It was Marie Curie.", ["Marie Curie"], True),
        ("Not Marie Curie", ["Marie Curie"], False),
        ("Oslo or Bergen", ["Oslo"], False),
        ("Yes, both are.", ["yes"], True),
        ("No, they are not.", ["no"], True),
        ("No", ["yes"], False),
        ("The answer is Dr. Ada B. Lund.", ["Dr. Ada B. Lund"], True),
        ("AB Lund", ["A. B. Lund"], True),
        ("May 7, 1936", ["7 May 1936"], True),
        ("3,677", ["3677 seats"], True),
        ("seven", ["7"], True),
        ("Jose Nunez", ["José Núñez"], True),
        ("Osloer", ["Oslo"], False),
        ("", ["Oslo"], False),
        ("It lies by the sea, and many of those who came there long ago saw Oslo", ["Oslo"], False),
    ],
)
def test_a_text_matches_an_alias_or_is_provisionally_wrong(
    answer: str, golds: list[str], *, y: bool
) -> None:
    found = label(answer, golds, of="text")
    assert (found.y, found.by, found.matched) == (y, "match", y)
    assert found.reason == (None if y else "provisional")


@pytest.mark.parametrize("mark", ["Answer:", "The answer is"])
def test_a_number_with_spaced_separators_is_one_number(mark: str) -> None:
    answer = rf"{mark} 11,\! 111,\! 100"
    assert label(answer, ["11111100"], of="math").y is True
    assert label(answer, ["11"], of="math").y is False


@pytest.mark.parametrize(
    ("answer", "gold", "y"),
    [
        ("Answer: an ellipse", r"\text{ellipse}", True),
        ("Answer: it points towards the east.", r"$\text{east}$", True),
        ("Answer: a parabola", r"\text{ellipse}", False),
        ("Answer: not even", r"\text{even}", False),
    ],
)
def test_a_formula_that_is_a_word_is_matched_like_a_text(
    answer: str, gold: str, *, y: bool
) -> None:
    found = label(answer, [gold], of="math")
    assert (found.y, found.by, found.matched) == (y, "match", y)
    verified = label(answer, [gold], of="math", verifier="correct")
    assert (verified.y, verified.by) == (True, "match" if y else "verifier")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('The plural of "mouse" is "mice".', 'The plural of "mouse" is "mice"'),
        ('"**Oslo**."', "Oslo"),
        ("“Oslo”.", "Oslo"),
        ('Answer: "Oslo"', "Oslo"),
        ("'Oslo", "Oslo"),
        ('"Emma" and "Persuasion"', '"Emma" and "Persuasion"'),
        ('"."', None),
    ],
)
def test_quotation_marks_go_that_stand_round_the_whole(text: str, expected: str | None) -> None:
    assert value(text) == expected


def test_of_megabytes_the_end_is_read() -> None:
    assert label("5 " * 2_000_000 + r"so \boxed{7}", ["7"]).y is True
    assert label("words " * 500_000 + "\n\nThe answer is Oslo.", ["Oslo"]).y is True
    assert value("5 " * 2_000_000 + r"so \boxed{7}", of="math") == "7"


def test_the_verifier_decides_where_no_alias_matches() -> None:
    assert label("Peking", ["Beijing"], verifier="Correct.").by == "verifier"
    assert label("Peking", ["Beijing"], verifier="incorrect").y is False
    unread = label("Peking", ["Beijing"], verifier="It might be.")
    assert (unread.y, unread.reason, unread.verified) == (None, "unverified", None)
    agreed = label("Beijing", ["Beijing"], verifier="incorrect")
    assert (agreed.y, agreed.by, agreed.matched, agreed.verified) == (True, "match", True, False)


def test_a_verifier_is_read_by_its_whole_reply() -> None:
    assert verifier_verdict("**Verdict:** correct") is True
    assert verifier_verdict('{"verdict": "incorrect"}') is False
    assert verifier_verdict("The answer is not correct") is None
    assert verifier_verdict("") is None


def test_a_set_of_texts_may_hold_years() -> None:
    assert kind([["1912"], ["Oslo"], ["Bergen", "bergen"]]) == "text"
    assert kind([["12"], [r"\frac12"], [r"\text{even}"]]) == "math"
    assert given(right=True) == Label(y=True, by="given")


def test_the_value_alone() -> None:
    assert value(r"So $x$ is \boxed{\frac{1}{2}}.", of="math") == r"\frac{1}{2}"
    assert value("She has 12 + 30 = 42 eggs.", of="math") == "42"
    assert value("He asked who. The answer is **Ada B. Lund**.") == "Ada B. Lund"
    assert value("Oslo.") == "Oslo"
    for percent in ("50%", r"12.5 \%", "50 percent"):
        assert value(f"It is half.\n**Answer:** {percent}", of="math") == percent
    assert value("A line.\nAnother line.") is None


@given_that(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gets_a_label_or_a_reason(answer: str, gold: str) -> None:
    for of in ("math", "text"):
        found = label(answer, [gold], of=of)
        assert (found.y is None) == (found.by is None)
        assert found.y is not None or found.reason


@given_that(st.fractions(max_denominator=9999), st.fractions(max_denominator=9999))
def test_rationals_are_equal_if_they_are(one: object, other: object) -> None:
    assert equal(str(one), str(other), None) == ("equal" if one == other else "different")


@pytest.mark.parametrize(
    "unit", [r"\frac", "1,", "{", r"\boxed{", "(", "answer is ", "$", "√", "a "]
)
def test_a_long_hostile_text_is_labelled(unit: str) -> None:
    noise = unit * (500_000 // len(unit))
    assert label(noise + "\n\nFinal answer: Oslo", ["Oslo"], of="text").y is True
    assert tidy(noise) == ""


@pytest.mark.parametrize("name", SETS)
def test_every_gold_answer_is_right_in_every_carrier(name: str, algebra: Checker) -> None:
    path = DATA / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip("the 500-item sets are not here")
    items = [json.loads(line)["answer"] for line in path.read_text("utf-8").splitlines()]
    of = kind(items)
    wrong = [
        (carrier, gold)
        for golds in items
        for gold in golds
        for carrier in CARRIERS
        if label(carrier.format(gold), golds, of=of, algebra=algebra).y is not True
    ]
    assert wrong == []


@pytest.mark.parametrize("name", SETS)
def test_the_gold_answer_of_the_next_item_is_not_right(name: str) -> None:
    path = DATA / f"{name}.jsonl"
    if not path.is_file():
        pytest.skip("the 500-item sets are not here")
    items = [json.loads(line)["answer"] for line in path.read_text("utf-8").splitlines()]
    of = kind(items)
    right = [
        (golds, other[0])
        for golds, other in pairwise(items)
        if tidy(other[0]) not in map(tidy, golds)
        and label(f"The answer is {other[0]}.", golds, of=of).y
    ]
    assert right == []


def test_a_hanging_pair_is_given_up_and_the_next_one_is_answered() -> None:
    with Checker(calls=300_000, cpu=1) as checker:
        assert checker("9^{9^{9^{9}}}", "1") in ("timeout", "memory")
        assert checker(r"\sum_{k=1}^{10000000} \frac{1}{k^2}", "2") in ("timeout", "memory")
        assert checker(r"\sqrt{12}", r"2\sqrt{3}") == "equal"
        assert checker("x" * 3000, "x") == "unparsed"


def test_a_child_that_is_killed_is_replaced() -> None:
    with Checker() as checker:
        assert checker(r"\sqrt{2}", r"\sqrt{3}") == "different"
        child = checker._child
        assert child is not None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert checker(r"\sqrt{8}", r"2\sqrt{2}") == "equal"


def test_a_child_that_is_killed_in_the_middle_is_asked_again() -> None:
    with Checker() as checker, ThreadPoolExecutor(1) as pool:
        assert checker("x", "y") == "different"
        child = checker._child
        assert child is not None
        os.kill(child.pid, signal.SIGSTOP)
        asked = pool.submit(checker, "(x+1)^2", "x^2+2x+1")
        time.sleep(0.1)
        os.kill(child.pid, signal.SIGKILL)
        assert asked.result(60) == "equal"


def test_it_answers_in_a_forked_process_and_in_a_thread() -> None:
    code = (
        "import os\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from misled.mathchild import Checker\n"
        "with Checker() as checker:\n"
        "    checker('a', 'b')\n"
        "    if pid := os.fork():\n"
        "        status = os.waitpid(pid, 0)[1]\n"
        "        with ThreadPoolExecutor(1) as pool:\n"
        "            print(status, pool.submit(checker, 'a+b', 'b+a').result())\n"
        "    else:\n"
        "        os._exit(checker('a+b', 'b+a') != 'equal')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "equal"]
