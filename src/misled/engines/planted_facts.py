"""What the planted reasoner knows and how it writes that, when it is asked to think and answer.

    >>> task = known("What is the capital of France?")
    >>> right("What is the capital of France?", "Answer: Lyon"), task.gold
    (False, ('Paris',))

It solves sums, products and the bundled word problems, and looks the bundled
facts up; of anything else it knows nothing. A wrong answer to a fact is the
answer to another question of its topic. The reasoning about a fact states what
is weighed and ends on the answer, whether that is right or wrong; it is laid
out in one of several ways.

Knows nothing about prompts or requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from misled import facts as bundled
from misled import labels
from misled.draws import Draws
from misled.engines.planted_chain import alone, spelled
from misled.engines.planted_profile import Solver
from misled.engines.planted_reader import task_of
from misled.engines.planted_slips import erring, own
from misled.engines.planted_ways import Exercise
from misled.facts import Fact

__all__ = ["Known", "known", "reply", "right"]

Known: TypeAlias = Exercise | Fact

ALIKE = 3  # other answers, which are enough to err with


@lru_cache(maxsize=4096)
def known(question: str) -> Known | None:
    """What a question asks for, if it is one that can be answered here."""
    return _facts().get(question.strip()) or task_of(question)


@lru_cache(maxsize=8192)
def right(question: str, answer: str) -> bool | None:
    """Whether an answer is right; None where the question is not known."""
    asked = known(question)
    if asked is None:
        return None
    if isinstance(asked, Fact):
        return labels.label(answer, asked.gold, of="text").y is True
    return labels.label(answer, [str(asked.result)], of="math").y is True


def reply(solver: Solver, question: str, asked: Known, draws: Draws) -> tuple[str, str]:
    """Reasoning, and an answer whose last line begins with `Answer:`.

    Right for a share `gate` of all questions, less a share `error` of the replies.
    """

    def wrong(luck: Draws) -> str:
        if isinstance(asked, Fact):
            return luck.choice(_others(asked))
        return erring(solver, str(asked.result), luck)

    rest = draws.choice(asked.gold) if isinstance(asked, Fact) else str(asked.result)
    value = own(solver, question, rest, wrong)
    if draws.unit() < solver.error:
        value = wrong(draws)
    if isinstance(asked, Fact):
        return _reasoning(asked, value, draws), _answer(value, draws)
    return alone(asked, value, draws)[0], _answer(spelled(value, draws), draws)


@cache
def _facts() -> dict[str, Fact]:
    return {fact.question: fact for fact in bundled.facts()}


@lru_cache(maxsize=1024)
def _others(fact: Fact) -> tuple[str, ...]:
    """Answers to other questions of the topic, those that open alike where there are enough."""
    topic = [other for other in bundled.facts() if other.topic == fact.topic]
    for words in (2, 1, 0):
        opening = fact.question.split()[:words]
        alike = [
            other.gold[0]
            for other in topic
            if other.question.split()[:words] == opening
            and labels.label(f"Answer: {other.gold[0]}", fact.gold, of="text").y is False
            and other.gold[0].casefold() not in fact.question.casefold()
        ]
        if len(found := dict.fromkeys(alike)) >= ALIKE:
            break
    return tuple(found)


# --- the pen ---------------------------------------------------------------------------------

_OPENINGS = (
    "The question is this: {question}",
    "Let me see what I am being asked. {question}",
    "So the task is to answer the following: {question}",
    "I want to get this one right. {question}",
)
_PLANS = (
    "It wants a single fact, so the work lies in remembering properly and not in computing.",
    "There should be one good answer to it, and a short one.",
    "I will collect what I know of the field and then see what fits every word of the question.",
    "Nothing has to be derived here; it is a matter of recalling the right name or number.",
)
_CANDIDATES = (
    "Several things come to mind at once, namely {listed}.",
    "From the same field I could name {listed}, and they must not be mixed up.",
    "My first thoughts are {listed}, in no particular order.",
    "What I can offer without much thinking is {listed}.",
)
_AGAINST = (
    "{other} does belong to the field, but I connect it with a different question.",
    "I can rule out {other}, since that would answer something that was not asked.",
    "{other} is tempting only because one hears of it so often.",
    "As for {other}, I see no link to the wording that would hold up.",
)
_FOR = (
    "{value}, on the other hand, agrees with each part of the question as I read it.",
    "What I remember of {value} fits without any forcing.",
    "Each time I go back over the wording, I arrive at {value} again.",
    "I have met {value} in exactly this connection before.",
)
_DOUBTS = (
    "Wait, let me make sure that I have not confused two similar things.",
    "Hmm, I should be careful, since this is the kind of thing that people get wrong.",
    "But is that really so, or does it only sound familiar?",
)
_CHECKS = (
    "I put it back into the question, and the sentence reads well and nothing contradicts it.",
    "I recall it from more than one place, and always in the same form.",
    "Going through the alternatives once more, none of them does as well.",
)
_ENDS = (
    "So the answer is {value}.",
    "Therefore I settle on {value}.",
    "All in all, it has to be {value}.",
    "That leaves {value}, and I am content with it.",
)
_ANSWERS = (
    "Answer: {value}",
    "**Answer:** {value}",
    "Answer: **{value}**",
    "Answer: {value}.",
    "I have thought it through.\nAnswer: {value}",
)


def _reasoning(fact: Fact, value: str, draws: Draws) -> str:
    """A few sentences in paragraphs, lines or one block, that end on `value`."""
    others = [name for name in draws.sample(_others(fact), 3) if name != value][:2]
    listed = draws.shuffled([value, *others])
    names = {
        "question": fact.question,
        "value": value,
        "listed": " and ".join([", ".join(listed[:-1]), listed[-1]]),
    }
    stages: list[list[str]] = [
        [draws.choice(_OPENINGS), *draws.sample(_PLANS, 1 + draws.below(2))],
        [draws.choice(_CANDIDATES)],
        draws.sample(_AGAINST, len(others)),
        draws.sample(_FOR, 1 + draws.below(2)),
        [draws.choice(_DOUBTS)] if draws.below(2) else [],
        [draws.choice(_CHECKS)],
        [draws.choice(_ENDS)],
    ]
    said = [
        [_capital(text.format(other=others[i % len(others)], **names)) for i, text in enumerate(s)]
        for s in stages
    ]
    return draws.choice(_LAYOUTS)([sentences for sentences in said if sentences])


def _answer(value: str, draws: Draws) -> str:
    return draws.choice(_ANSWERS).format(value=value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _numbered(stages: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"{i}. {' '.join(stage)}" for i, stage in enumerate(stages, 1))


_LAYOUTS: tuple[Callable[[Sequence[Sequence[str]]], str], ...] = (
    lambda stages: " ".join(text for stage in stages for text in stage),
    lambda stages: "\n\n".join(" ".join(stage) for stage in stages),
    lambda stages: "\n".join(text for stage in stages for text in stage),
    lambda stages: "\n\n".join(
        " ".join(text for stage in part for text in stage) for part in (stages[:2], stages[2:])
    ),
    _numbered,
)
