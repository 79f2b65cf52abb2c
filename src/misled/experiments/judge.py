"""Study B, judges with and without the chain (arXiv 2604.06756), from the prompt to the row.

    generate    G answers q: reasoning r and answer a, or both come from a file
    label       y: whether a is right, by rules, an algebra system, a match or a verifier model
    answer      J sees q and a                  } again_...: the same asked once more,
    reasoning   J sees q, r and a               } which gives the floor
    self        G itself, right after answering; self_hidden: without its reasoning
    controlled  J sees q, an edited r, and a
    closed_book J answers q itself
    crossed     J sees q, one generator's r and another's a, right or wrong
    null        J sees q and what is no answer at all

`walk` is the whole experiment for one unit (a problem and a generator, for all
judges), as a pure generator: it yields the requests that it still needs and the
rows that it can already give. It knows nothing about engines, stores or time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from itertools import product
from typing import Any, TypeAlias

from msgspec.structs import replace

from misled import fences, judge_prompts, labels, tokens
from misled.deciding import (
    compared,
    coordinates,
    failed,
    labelled,
    pair,
    ruled,
    verdict,
    visible,
    who,
)
from misled.expressions import Equality
from misled.grading import lost, spent
from misled.judge_plans import NULLS, Point
from misled.judge_prompts import Shown
from misled.judge_units import JudgeUnit
from misled.labels import Label
from misled.records import Answer, Failure, NotApplicable, Request, Response
from misled.refusals import is_error, is_refusal
from misled.row import Judged
from misled.showing import Item, Showing, is_blank, parts, showing

__all__ = ["walk"]

Lookup: TypeAlias = Callable[[Request], Answer | None]
Step: TypeAlias = Request | Judged

_ENDED = ("stop", "unknown")  # by itself; some servers give no reason


def walk(unit: JudgeUnit, lookup: Lookup) -> Iterator[Step]:
    """What `unit` still needs, and the rows that it can already give (B.1)."""
    item = yield from _generated(unit, lookup)
    if item is not None:
        other = yield from _placebo(unit, item, lookup)
        for point in unit.points:
            if point.variant == "placebo" and other is None:
                continue
            shown = showing(unit, item, point, other)
            own = point.condition.startswith("self")
            for judge in (unit.generator,) if own else unit.study.plan.judge:
                yield from _judged(unit, item, (point, judge), shown, lookup)
    for point in unit.once:
        yield from _ONCE[point.condition](unit, point, lookup)


# --- generate and label (protocol B.1, B.2) --------------------------------------------------


def _generated(unit: JudgeUnit, lookup: Lookup) -> Generator[Step, None, Item | None]:
    """The generation's row, and the item where it has an answer and a label."""
    logged = unit.logged(unit.problem)
    if logged is not None:
        return (yield from _item(unit, logged.reply, {"arm": "generate"}, lookup, logged.label))
    return (yield from _asked(unit, unit.generator, {"arm": "generate"}, lookup))


def _asked(
    unit: JudgeUnit, model: str, cell: dict[str, Any], lookup: Lookup
) -> Generator[Step, None, Item | None]:
    """What `model` answers to the question."""
    messages = judge_prompts.generate(unit.study.prompts, unit.problem.question)
    request = unit.ask(model, messages, judging=False)
    reply = lookup(request)
    if reply is None:
        yield request
        return None
    cell = {"request": request.key, **cell}
    if isinstance(reply, Response):
        cell |= {**spent(reply), "flags": reply.flags}
    return (yield from _item(unit, reply, cell, lookup))


def _item(
    unit: JudgeUnit,
    reply: Answer,
    cell: dict[str, Any],
    lookup: Lookup,
    right: bool | None = None,  # noqa: FBT001 - three-valued: what the file says, if anything
) -> Generator[Step, None, Item | None]:
    """The row of an answer, and the item where there is an answer and a label."""
    if isinstance(reply, Failure):
        yield failed(unit, reply, cell)
        return None
    reasoning, content = parts(unit, reply)
    lacking = _no_answer(reply, content)
    if lacking is not None:
        yield Judged(**who(unit) | cell, outcome="no_answer", reason=lacking)
        return None
    label = None if right is None else labels.given(right=right)
    label = label or (yield from _label(unit, content, lookup))
    if label is None:
        return None
    value = labels.value(content, of=unit.study.kinds[unit.problem.set])
    yield Judged(
        **who(unit) | cell | labelled(label),
        outcome="unlabelled" if label.y is None else "read",
        reason=label.reason,
        value=value,
        length=None if reasoning is None else len(reasoning),
        repeated=None if reasoning is None else fences.repeated(reasoning, content),
    )
    return None if label.y is None else Item(reply, reasoning, content, value, label)


def _no_answer(reply: Response, content: str) -> str | None:
    """Why a reply is no answer, or None: it was cut, declines, is an error, or says nothing."""
    if reply.finish == "length":
        return "truncated"
    if reply.finish == "content_filter" or is_refusal(content):
        return "refused"
    if is_error(content):
        return "error"
    return "empty" if is_blank(content) else None


def _label(unit: JudgeUnit, content: str, lookup: Lookup) -> Generator[Step, None, Label | None]:
    """Rules, the algebra system and match first; then the verifier, once it has replied."""
    study, problem = unit.study, unit.problem
    due: list[Request] = []

    def algebra(one: str, other: str) -> Equality:
        request = pair(one, other)
        reply = lookup(request)
        if reply is None:
            due.append(request)
            return "unparsed"  # until it is known
        return compared(reply)

    of = study.kinds[problem.set]
    first = labels.label(content, problem.gold, of=of, algebra=algebra)
    if due:
        yield from due
        return None
    model = study.plan.verifier
    if model is None or first.by == "deterministic":
        return first
    shown = labels.value(content, of=of) or content
    messages = judge_prompts.verify(study.prompts, problem.question, problem.gold, shown)
    request = unit.ask(model, messages, judging=True)
    reply = lookup(request)
    if reply is None:
        yield request
        return None
    said = visible(reply) if isinstance(reply, Response) and reply.finish in _ENDED else ""
    return labels.label(content, problem.gold, of=of, algebra=algebra, verifier=said)


def _placebo(
    unit: JudgeUnit, item: Item, lookup: Lookup
) -> Generator[Step, None, str | NotApplicable | None]:
    """Of the next questions' chains the one of nearest length; None until all are there."""
    found: list[str] = []
    waiting = False
    for problem in unit.neighbours:
        logged = unit.logged(problem)
        messages = judge_prompts.generate(unit.study.prompts, problem.question)
        request = unit.ask(unit.generator, messages, judging=False)
        reply = logged.reply if logged else lookup(request)
        if reply is None:
            waiting = True
            yield request
        elif isinstance(reply, Response) and problem.question != unit.problem.question:
            reasoning, content = parts(unit, reply)
            if reasoning is not None and _no_answer(reply, content) is None:
                found.append(reasoning)
    if waiting:
        return None
    if not found:
        return NotApplicable("placebo: there is no chain of another question")
    return min(found, key=lambda chain: abs(len(chain) - len(item.reasoning or "")))


# --- judge (protocol B.1, B.3, B.6) ----------------------------------------------------------


def _judged(
    unit: JudgeUnit,
    item: Item,
    at: tuple[Point, str],
    shown: Showing | NotApplicable,
    lookup: Lookup,
) -> Iterator[Step]:
    """One verdict, or why there is none; `at` is the point and the judge."""
    point, judge = at
    cell = who(unit) | labelled(item.label) | coordinates(unit, point, judge)
    if isinstance(shown, NotApplicable):
        yield Judged(**cell, outcome="not_applicable", reason=shown.reason)
        return
    sample = 1 if point.condition.startswith("again") else 0
    request = unit.ask(judge, shown.messages, sample, judging=True)
    reply = lookup(request)
    if reply is None:
        yield request
        return
    cell |= {name: getattr(shown, name) for name in ("length", "inserted", "removed")}
    cell |= {"request": request.key}
    if isinstance(reply, Failure):
        yield failed(unit, reply, cell)
        return
    reason = _lost(unit, item, point, reply, lookup)
    if reason is not None:
        yield Judged(**cell | spent(reply), outcome="unsupported", reason=reason)
        return
    yield verdict(unit, reply, cell)


def _lost(unit: JudgeUnit, item: Item, point: Point, reply: Response, lookup: Lookup) -> str | None:
    """Why it is not shown that the chain in the judge's own turn reached it (A.4).

    Set against the same conversation without the chain or, where that was not
    asked, against the question alone and our count of what follows it.
    """
    if point.condition != "self" or item.reasoning is None:
        return None
    if unit.study.models[unit.generator].capabilities.arrival == "trusted":
        return None
    hidden = showing(unit, item, Point("self_hidden", point.shown), None)
    messages = hidden.messages if isinstance(hidden, Showing) else ()
    without = lookup(unit.ask(unit.generator, messages, judging=True))
    if isinstance(without, Response):
        alone = without.usage.prompt
    elif (alone := item.reply.usage.prompt) is not None:
        alone += sum(tokens.count(message.content) for message in messages[1:])
    return lost(alone, reply.usage.prompt, item.reasoning)


# --- once a question (protocol B.7) ----------------------------------------------------------


def _closed_book(unit: JudgeUnit, _: Point, lookup: Lookup) -> Iterator[Step]:
    """Each judge's own answer to the question, labelled like any other (Fig. 4)."""
    for judge in unit.study.plan.judge:
        yield from _asked(unit, judge, {"arm": "closed_book", "judge": judge}, lookup)


def _null(unit: JudgeUnit, point: Point, lookup: Lookup) -> Iterator[Step]:
    """Verdicts on what is no answer."""
    prompts, criterion = unit.study.prompts, unit.study.plan.criterion
    shown = Shown(unit.problem.question, NULLS[str(point.variant)])
    messages = judge_prompts.judge(prompts, shown, criterion)
    for judge in unit.study.plan.judge:
        cell = who(unit) | coordinates(unit, point, judge)
        yield from ruled(unit, judge, messages, cell, lookup)


def _crossed(unit: JudgeUnit, point: Point, lookup: Lookup) -> Iterator[Step]:
    """Where a generator is right and another wrong: each one's answer with each one's chain."""
    items: dict[bool, tuple[str, Item]] = {}
    waiting = False
    for generator in unit.study.plan.generator:
        found = _generated(replace(unit, generator=generator), lookup)
        item: Item | None = None
        try:
            while True:
                step = next(found)
                if isinstance(step, Request):
                    waiting = True
                    yield step
        except StopIteration as end:
            item = end.value
        if item is not None and item.reasoning is not None and item.label.y is not None:
            items.setdefault(item.label.y, (generator, item))
    if waiting or len(items) < len((True, False)):
        return
    words = {True: "right", False: "wrong"}
    for y, of in product(items, items):
        generator, item = items[y]
        chain = str(items[of][1].reasoning)
        answer = item.value if point.shown == "value" else item.content
        cell = who(unit) | labelled(item.label) | {"generator": generator, "length": len(chain)}
        if answer is None:
            continue
        shown = Shown(unit.problem.question, answer, chain, known=str(item.reasoning))
        messages = judge_prompts.judge(unit.study.prompts, shown, unit.study.plan.criterion)
        for judge in unit.study.plan.judge:
            at = coordinates(unit, replace(point, variant=words[of]), judge)
            yield from ruled(unit, judge, messages, cell | at, lookup)


_ONCE: dict[str, Callable[[JudgeUnit, Point, Lookup], Iterator[Step]]] = {
    "closed_book": _closed_book,
    "crossed": _crossed,
    "null": _null,
}
