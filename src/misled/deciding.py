"""A judge's reply becomes a row: its verdict, what it cost, and what it was asked on.

    verdict(unit, Response(content="**Verdict:** incorrect"), {"condition": "answer", ...})
    -> Judged(verdict="reject", outcome="read", ...)

Whatever is no verdict is unreadable, on no side. Knows nothing about what is asked when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, get_args

from misled import chains, verdicts
from misled.expressions import Equality
from misled.grading import spent
from misled.judge_plans import Point
from misled.judge_units import JudgeUnit
from misled.labels import Label
from misled.records import Answer, Failure, Message, Request, Response
from misled.row import Judged

__all__ = [
    "compared",
    "coordinates",
    "failed",
    "labelled",
    "pair",
    "ruled",
    "verdict",
    "visible",
    "who",
]

Lookup: TypeAlias = Callable[[Request], Answer | None]


def visible(reply: Response) -> str:
    """A reply without its thinking."""
    chain = chains.of(reply.content, reply.reasoning)
    return chain.answer if chain.delimited else reply.content


def pair(one: str, other: str) -> Request:
    """The question to the algebra system whether two formulas are equal."""
    messages = (Message("user", one), Message("user", other))
    lane = stage = "compare"
    return Request("algebra", "math-verify", messages, lane=lane, stage=stage)


def compared(reply: Answer) -> Equality:
    """What the algebra system said of a pair."""
    word = reply.content if isinstance(reply, Response) else ""
    return next((known for known in get_args(Equality) if known == word), "crash")


def verdict(unit: JudgeUnit, reply: Response, cell: dict[str, Any]) -> Judged:
    """What a judge's reply decides; whatever is no verdict is unreadable, on no side."""
    words = unit.study.prompts.verdicts(unit.study.plan.criterion)
    read = verdicts.read(visible(reply), finish=reply.finish, words=words)
    outcome = "read" if read.verdict else "unreadable"
    if read.reason in {"truncated", "refused"}:
        outcome = read.reason
    return Judged(
        **cell | spent(reply) | {"flags": reply.flags},
        outcome=outcome,
        verdict=read.verdict,
        reason=None if read.verdict else read.reason,
    )


def ruled(
    unit: JudgeUnit,
    judge: str,
    messages: tuple[Message, ...],
    cell: dict[str, Any],
    lookup: Lookup,
) -> Iterator[Request | Judged]:
    """The verdict on these messages."""
    request = unit.ask(judge, messages, judging=True)
    reply = lookup(request)
    if reply is None:
        yield request
    elif isinstance(reply, Failure):
        yield failed(unit, reply, cell | {"request": request.key})
    else:
        yield verdict(unit, reply, cell | {"request": request.key})


def who(unit: JudgeUnit) -> dict[str, Any]:
    """The item that a row is about."""
    return {
        "problem": unit.problem.id,
        "set": unit.problem.set,
        "cluster": unit.problem.cluster,
        "generator": unit.generator,
    }


def labelled(label: Label) -> dict[str, Any]:
    """Whether the item is right, and who says so."""
    return {
        "label": label.y,
        "labelled_by": label.by,
        "matched": label.matched,
        "verified": label.verified,
    }


def coordinates(unit: JudgeUnit, point: Point, judge: str) -> dict[str, Any]:
    """Who judges, what the plan calls it, and what it was shown."""
    own = unit.study.plan.models.get(judge)
    return {
        "arm": "judge",
        "judge": judge,
        "strength": own.strength if own else None,
        "condition": point.condition,
        "shown": point.shown,
        "variant": point.variant,
        "k": point.k,
        "place": point.place,
        "sample": 1 if point.condition.startswith("again") else 0,
    }


def failed(unit: JudgeUnit, reply: Failure, cell: dict[str, Any]) -> Judged:
    """A request without an answer, with its reason."""
    outcome, reason = "failed", reply.kind
    if reply.kind == "unsupported":  # never sent: the provider cannot be asked this
        outcome, reason = "unsupported", reply.message
    return Judged(**who(unit) | cell, outcome=outcome, reason=reason, attempts=reply.attempts)
