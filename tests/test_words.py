"""Word problems: sound templates, readable at every level, and solved right by two routes."""

from __future__ import annotations

import doctest
import re
from collections import Counter
from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misled import answers, prompts, words
from misled.draws import Draws
from misled.engines.planted import Planted
from misled.engines.planted_chain import adopting, alone, confused, recovering
from misled.engines.planted_ways import Story, Task, ways
from misled.errors import UserError
from misled.metrics import grade
from misled.perturbations import PERTURBATIONS, result_of
from misled.problems import load
from misled.records import Chain, Edited, Problem, Request, Response
from misled.words import LEVELS, draw, solve, templates, worked

NAMES = sorted(templates())
HOLE = re.compile(r"\{(\w+)\}")
OPERANDS = re.compile(r" (?:[-+*/]|//) ")


def problems(level: int, n: int, seed: int = 0) -> list[Problem]:
    return load(f"word:{level}", n, seed)[0]


def shown(question: str) -> list[int]:
    """The numbers of a question, in its order."""
    return [int(x.replace(",", "")) for x in re.findall(r"[0-9][0-9,]*(?<!,)", question)]


def story(question: str) -> Story:
    """The question as the planted reasoner sees it."""
    steps = worked(question)
    assert steps
    signs = {"*": "×", "/": "÷", "//": "÷"}
    return Story(
        tuple((step.name, Task(step.a, signs.get(step.sign, step.sign), step.b)) for step in steps)
    )


def test_the_examples_of_the_docstring_hold() -> None:
    assert doctest.testmod(words).failed == 0


# --- templates -------------------------------------------------------------------------------


def test_there_are_templates_of_one_step_to_five_and_some_distract() -> None:
    steps = Counter(len(template.steps) for template in templates().values())
    assert len(NAMES) >= 30
    assert set(steps) == {1, 2, 3, 4, 5}
    distracting = 0
    for template in templates().values():
        used = {x for step in template.steps for x in OPERANDS.split(step.split(" = ")[1])}
        distracting += bool({*template.large, *template.small} - used)
    assert distracting >= 6


@pytest.mark.parametrize("name", NAMES)
def test_a_template_holds_together(name: str) -> None:
    """Every hole is filled, every entry used, and every operand known where it is used."""
    template = templates()[name]
    lists = words._shared() | template.choices
    numbers = [*template.large, *template.small]
    holes = set(HOLE.findall(template.text))
    assert len(holes) == len(holes | {*numbers, *template.choices})
    assert {hole for hole in holes if hole not in numbers} <= {*lists, *(f"{x}2" for x in lists)}
    assert not set(numbers) & set(lists)
    known = set(numbers)
    for step in template.steps:
        result, formula = step.split(" = ")
        operands = OPERANDS.split(formula)
        assert len(operands) == 2
        assert all(x in known or x.isdecimal() for x in operands), step
        assert result not in known
        known.add(result)
    assert "//" not in template.steps[-1]
    assert template.large
    assert all(1 <= low < high <= 10 for low, high in template.large.values())
    assert all(2 <= low < high < 100 for low, high in template.small.values())
    assert not any(re.search(r"[\d{}]", entry) for x in lists.values() for entry in x)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_numbers_have_the_magnitude_of_the_level_and_the_answer_is_none_of_them(
    name: str, level: int
) -> None:
    template = templates()[name]
    for question, gold in islice(draw(name, level, 3), 12):
        numbers = shown(question)
        large = [n for n in numbers if 10**level <= n < 10 ** (level + 1)]
        assert len(large) >= len(template.large)
        assert all(n < 100 for n in numbers if n not in large)
        assert min(numbers) > 1
        assert int(gold) > 9
        assert int(gold) not in numbers
        steps = worked(question)
        assert steps
        assert all(step.value > 1 for step in steps)
        assert gold not in {str(n) for step in steps for n in (step.a, step.b)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_the_text_reads_as_english(name: str, level: int) -> None:
    for question, _ in islice(draw(name, level, 5), 12):
        assert re.fullmatch(r"[A-Z][A-Za-z0-9 ,.:$'-]*\?", question), question
        assert "  " not in question
        assert not re.search(r"(?<![\d,])1 |\d{4}|(?<!\d),\d|\ba [aeiou](?!n?iversit)", question)
        assert not re.search(r"[.?] (?![A-Z])", question)
        towns = [town for town in words._shared()["town"] if town in question]
        assert len(towns) == sum(hole in templates()[name].text for hole in ("{town}", "{town2}"))


# --- draws -----------------------------------------------------------------------------------


def test_templates_take_turns_and_the_template_is_the_cluster() -> None:
    found = problems(6, 3 * len(NAMES) + 5)
    counts = Counter(problem.cluster for problem in found)
    assert sorted(counts) == NAMES
    assert set(counts.values()) == {3, 4}
    assert [p.cluster for p in found[: len(NAMES)]] != NAMES
    assert len({problem.id for problem in found}) == len(found)
    assert len({tuple(shown(problem.question)) for problem in found}) == len(found)


@given(st.integers(), st.sampled_from(LEVELS))
@settings(max_examples=10)
def test_a_templates_problems_do_not_depend_on_the_other_templates(seed: int, level: int) -> None:
    found = problems(level, 2 * len(NAMES), seed)
    for name in NAMES[:5]:
        own = [(p.id, p.question, p.gold[0]) for p in found if p.cluster == name]
        first, second = islice(draw(name, level, seed), 2)
        assert own == [(f"{name}-0", *first), (f"{name}-1", *second)]


def test_a_seeded_problem_never_changes() -> None:
    question, gold = next(draw("mill", 6, 0))
    assert question == (
        "A mill makes 4,000,410 kilograms of spelt flour a day. After 3 days, 8,005,970 "
        "kilograms of that flour have been sold. How many kilograms of it are not sold yet?"
    )
    assert gold == "3995260"


def test_a_template_without_a_further_problem_says_so() -> None:
    with pytest.raises(UserError, match=r"word:1 has only \d+ different problems of 'juice'"):
        list(draw("juice", 1, 0))


# --- answers ---------------------------------------------------------------------------------

# What a person works out from the numbers of the text, in its order.
BY_HAND: dict[str, Callable[..., int]] = {
    "brickworks": lambda spring, summer: spring + summer,
    "water-tower": lambda held, _, used: held - used,
    "telescope": lambda pixels, a_night, nights: nights * (a_night * pixels),
    "juice": lambda picked, percent: round(picked * (100 - percent) / 100),
    "dairy": lambda milk, tank: milk % tank,
    "pumps": lambda litres, less, hours: hours * 2 * litres - hours * less,
    "bakery-chain": lambda _, *days: sum(days) // 3,
    "mosaic": lambda white, blue, stones: stones * (white + blue) // white,
    "satellite": lambda a_minute, _, hours, minutes: (60 * hours + minutes) * a_minute,
    "radio-gifts": lambda gifts, each, match: gifts * (each + match) // each,
    "solar-park": lambda warm, n, cold, year: n * warm + (year - n) * cold,
    "museum": lambda visitors, percent, price: visitors * (100 - percent) * price // 100,
    "lamps": lambda n, every, bought, schools: (n * (every - 1) // every - bought) // schools,
    "screws": lambda a, b, days, bent, box, price: ((a + b) * days - bent) // box * price,
    "cable": lambda n, length, loose, ordered, _, price: (n * length + loose - ordered) * price,
    "library-cards": lambda n, dear, cheap, price: n * (dear - cheap) // (100 * price),
}


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("level", LEVELS)
def test_the_answer_is_what_a_second_route_gives(name: str, level: int) -> None:
    for question, gold in islice(draw(name, level, 7), 8):
        assert int(gold) == BY_HAND[name](*shown(question)), question


@pytest.mark.parametrize("level", LEVELS)
def test_the_grader_reads_every_answer_in_every_spelling(level: int) -> None:
    for problem in problems(level, 2 * len(NAMES)):
        (gold,) = problem.gold
        spelled = f"{int(gold):,}"
        for text in (
            f"The answer is {gold}.",
            f"The answer is {spelled}.",
            f"**Answer:** ${spelled}",
            f"So they get {spelled} in all.\n\n\\boxed{{{spelled}}}",
            f"#### {gold}",
            spelled,
        ):
            assert grade(text, gold).outcome == "recovered", (text, problem)


@pytest.mark.parametrize("level", LEVELS)
def test_a_question_is_solved_from_its_text_alone(level: int) -> None:
    for problem in problems(level, 3 * len(NAMES), 2):
        assert solve(problem.question) == problem.gold[0]
        assert solve(f"\n{problem.question}\n") == problem.gold[0]
        bare = re.sub(r"(?<=\d),(?=\d{3})", "", problem.question)
        assert solve(bare) == problem.gold[0]


NOT_EXACT = (
    "Two labs share a research grant of $55. The lab in Dunmore gets $20 more than the lab in "
    "Highcross. How many dollars does the lab in Highcross get?"
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What is 12 + 34?",
        "The brickworks in Dunmore fired some bricks in spring. How many bricks did it fire?",
        NOT_EXACT,
        "The brickworks in Dunmore fired " + "1" * 2_000_000,
        "The brickworks in Dunmore fired " * 60_000,
        "7,777," * 300_000,
    ],
    ids=["empty", "sum", "no numbers", "not exact", "digits", "openings", "commas"],
)
def test_any_other_text_is_not_solved(text: str) -> None:
    assert solve(text) is None
    assert solve(NOT_EXACT.replace("55", "56")) == "18"


# --- the planted reasoner --------------------------------------------------------------------


def test_the_planted_reasoner_solves_every_template() -> None:
    for problem in problems(6, len(NAMES), 4):
        messages = prompts.solve(prompts.load(None), problem.question)
        replies = [
            Planted().reply(Request("planted", "vigilant", messages, sample=sample))
            for sample in range(3)
        ]
        assert all(isinstance(reply, Response) for reply in replies)
        outcomes = [
            grade(reply.content, problem.gold[0]).outcome
            for reply in replies
            if isinstance(reply, Response)
        ]
        assert "recovered" in outcomes, problem


@pytest.mark.parametrize("level", [1, 3, 6])
def test_word_chains_are_read_and_tampered_with_exactly(level: int) -> None:
    for problem in problems(level, len(NAMES), 9):
        task, (w,) = story(problem.question), problem.gold
        assert str(task.result) == w
        for seed in range(2):
            draws = Draws(problem.id, seed)
            reasoning, answer = alone(task, w, draws)
            chain = Chain(reasoning=reasoning, answer=answer)
            assert answers.read(answer) == result_of(chain) == w
            edited = PERTURBATIONS["digits"](d_t=1)(chain, Draws(problem.id, seed, "digits"))
            assert isinstance(edited, Edited)
            seen = edited.tampered
            assert result_of(Chain(reasoning=edited.text, answer="")) == seen
            for reply, value in (
                (recovering(task, w, seen, draws), w),
                (adopting(task, seen, draws), seen),
                (confused(task, f"{w}7", seen, draws), f"{w}7"),
            ):
                assert answers.read("\n\n".join(reply)) == answers.read(reply[1]) == value


def test_a_word_chain_shows_every_step_and_states_only_its_own_value() -> None:
    for problem in problems(6, len(NAMES), 1):
        task = story(problem.question)
        for value in (problem.gold[0], f"{problem.gold[0]}3"):
            for way in ways(task):
                lines = "\n".join(way(value, str))
                for _, step in task.steps[:-1]:
                    assert re.search(rf" (?:=|gives) {step.result}\b", lines), lines
                assert re.findall(r" (?:=|gives) (\d+)", lines)[-1] == value


def test_a_division_that_leaves_something_says_so() -> None:
    first, second = ways(Story((("boxes", Task(17, "÷", 5)), ("screws", Task(3, "×", 5)))))
    assert first("15", str)[0] == "The boxes: 17 ÷ 5 = 3 and a remainder."
    assert second("15", str)[1] == "Dividing 17 by 5 gives 3 and a remainder."
