"""What a judge is shown in each condition: the answer, the chain or none, or an edited one.

    showing(unit, item, Point("reasoning", "content"), None)
    -> Showing(messages=(Message("user", "... Reasoning that led to the answer: ..."),), length=812)

The same for every judge. Knows nothing about replies.
"""

from __future__ import annotations

import re
from collections import deque

from misled import chains, fences, judge_prompts, labels
from misled.draws import Draws
from misled.interventions import Intervened, Intervention, intervene
from misled.judge_plans import Point
from misled.judge_prompts import Shown
from misled.judge_units import JudgeUnit
from misled.labels import Label
from misled.records import Message, NotApplicable, Record, Response

__all__ = ["Item", "Showing", "intervened", "is_blank", "lacks", "parts", "showing"]

HIDDEN = ("answer", "again_answer", "self_hidden")  # conditions without the chain

# As it is asked for, and as models write it all the same.
_ANSWER_LINE = re.compile(
    r"^[ \t>#*_]*(?:(?:the )?(?:final )?answer|(?:最终)?答案)[*_ ]*[:：]",
    re.MULTILINE | re.IGNORECASE,
)


class Item(Record, frozen=True):
    """A generation that can be judged: what was said, and whether its answer is right."""

    reply: Response
    reasoning: str | None
    content: str
    value: str | None
    label: Label


class Showing(Record, frozen=True):
    """What is sent, the length of the chain in it, and the shares put in and taken out."""

    messages: tuple[Message, ...]
    length: int | None = None
    inserted: float | None = None
    removed: float | None = None


def parts(unit: JudgeUnit, reply: Response) -> tuple[str | None, str]:
    """Reasoning, None where nothing sets it apart, and the answer's text.

    Beside a field or tags, a last line that begins with `Answer:` does, which is asked for.
    Under `feed = output` a text without any of these is its own reasoning, and its final
    value the answer.
    """
    chain = chains.of(reply.content, reply.reasoning)
    text = chain.answer if chain.delimited else reply.content
    if chain.delimited and chain.reasoning.strip():
        return chain.reasoning, text
    line = next(iter(deque(_ANSWER_LINE.finditer(text), maxlen=1)), None)
    if line is None or not text[: line.start()].strip():
        if unit.study.plan.feed == "reasoning":
            return None, text
        return text, labels.value(text, of=unit.study.kinds[unit.problem.set]) or text
    return text[: line.start()].strip(), text[line.start() :]


def is_blank(content: str) -> bool:
    """Whether an answer says nothing, or nothing after the words that announce it."""
    return not _ANSWER_LINE.sub("", content).strip(" \t\r\n>#*_")


def lacks(unit: JudgeUnit) -> bool:
    """Whether the answer that a file gives has no reasoning, and a condition needs it."""
    logged = unit.logged(unit.problem)
    if logged is None or all(point.condition in HIDDEN for point in unit.points):
        return False
    reasoning, content = parts(unit, logged.reply)
    return reasoning is None and not is_blank(content)


def showing(
    unit: JudgeUnit, item: Item, point: Point, other: str | NotApplicable | None
) -> Showing | NotApplicable:
    """What is shown at a point of the plan, or why it does not apply.

    `other` is the chain of another question, for the placebo.
    """
    answer = item.value if point.shown == "value" else item.content
    if answer is None:
        return NotApplicable("value: the answer states none")
    if point.condition in HIDDEN:
        return Showing(_without(unit, item, point, answer))
    if item.reasoning is None:
        return NotApplicable("reasoning: there is none beside the answer")
    prompts, question = unit.study.prompts, unit.problem.question
    criterion, chain = unit.study.plan.criterion, item.reasoning
    if point.condition == "self":
        said = f"{chain}\n\n{answer}"
        return Showing(judge_prompts.own(prompts, question, said, criterion), len(chain))
    inserted = removed = None
    if point.condition == "controlled":
        told = intervened(unit, item, point, other)
        if isinstance(told, NotApplicable):
            return told
        chain, inserted, removed = told.text, told.inserted, told.removed
    shown = Shown(question, answer, chain, known=item.reasoning)
    messages = judge_prompts.judge(prompts, shown, criterion)
    return Showing(messages, len(chain), inserted, removed)


def _without(unit: JudgeUnit, item: Item, point: Point, answer: str) -> tuple[Message, ...]:
    """The messages without the chain; ArithmeticError if they hold eight words of it (B.3)."""
    prompts, question = unit.study.prompts, unit.problem.question
    criterion, chain = unit.study.plan.criterion, item.reasoning or ""
    said = [question, answer]
    if point.condition == "self_hidden":
        messages = judge_prompts.own(prompts, question, answer, criterion)
        said += [judge_prompts.generate(prompts, question)[0].content]
    else:
        messages = judge_prompts.judge(prompts, Shown(question, answer, known=chain), criterion)
    words = judge_prompts.outside(prompts, criterion)
    if any(fences.leak(message.content, chain, said, words) for message in messages):
        raise ArithmeticError(f"the prompt without the chain of {unit.problem.id} holds it")
    return messages


def intervened(
    unit: JudgeUnit, item: Item, point: Point, other: str | NotApplicable | None
) -> Intervened | NotApplicable:
    """The chain under the point's intervention; its draws are the question's, so that k nest."""
    if point.variant == "placebo" and isinstance(other, NotApplicable):
        return other
    draws = Draws(unit.study.plan.seed, unit.problem.set, unit.problem.id, "statements")
    return intervene(
        str(item.reasoning),
        Intervention(str(point.variant), point.k or 0, point.place or "end"),
        draws,
        [unit.problem.question, item.content, *unit.problem.gold],
        value=item.value,
        other=other if isinstance(other, str) else None,
    )
