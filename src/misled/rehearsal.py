"""A run without a model: the same walk over planted answers, to show what would be sent.

    first_prompts(session) -> [{"arm": "tampered", "method": "baseline", ..., "messages": [...]}]
    estimate(session)      -> [{"model": "openai/o3-mini", "requests": 2400, ...}]

The planted reasoner answers for every model of the plan and passes every gate, so
the prompts are the exact ones but for the chain, which is its own, and what is
counted is an upper bound but for the length of replies. Nothing is asked and
nothing is written. A problem that it cannot read is answered with its gold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from misled import tokens
from misled.engines.planted import Planted
from misled.engines.planted_profile import Solver
from misled.prompts import METHODS
from misled.records import Answer, Failure, Request, Response
from misled.session import Session

__all__ = ["estimate", "first_prompts"]

# Solves everything, passes every gate and computes again whatever it is handed.
PROFILE = "rehearsal"
SOLVER = Solver(adopt=dict.fromkeys(METHODS, (0.0,)))
ALONE = 40  # tokens of the words round a question; longer prompts hold a chain
SAMPLED = 20  # problems of each set that are walked to count; the rest are like them


class _Rehearsal:
    """A lookup that knows every answer of a unit, and what was asked for it."""

    def __init__(self, planted: Planted, unit: Any) -> None:
        self._planted, self._gold = planted, unit.problem.gold[0]
        self._whole = getattr(unit.study.plan, "feed", "") == "output"
        self.asked: dict[str, Request] = {}
        self.replies: dict[str, Response] = {}

    def __call__(self, request: Request) -> Answer:
        if request.provider == "algebra":  # it costs nothing
            return Response("different")
        self.asked[request.key] = request
        stand_in = msgspec.structs.replace(request, provider="planted", model=PROFILE)
        reply = self._planted.reply(stand_in)
        if isinstance(reply, Failure):
            said = f"So the answer is {self._gold}."
            reply = Response(said, None if request.prefill else f"I work it out. {said}")
        if self._whole and reply.reasoning:  # its visible working is the chain
            whole = f"{reply.reasoning}\n\n{reply.content}"
            reply = msgspec.structs.replace(reply, content=whole, reasoning=None)
        self.replies[request.key] = reply
        return reply


def first_prompts(session: Session) -> list[dict[str, Any]]:
    """The first prompt of every cell, one record each, in the order of the plan."""
    shown: dict[tuple[object, ...], dict[str, Any]] = {}
    for unit in _first(session, 1):
        lookup = _Rehearsal(_planted(session), unit)
        for row in session.experiment.walk(unit, lookup):
            if not isinstance(row, Request):
                axes = {name: getattr(row, name) for name in ("arm", *session.experiment.axes)}
                cell = (row.mode, *axes.values())
                shown.setdefault(cell, _shown(axes, row, lookup.asked.get(row.request or "")))
    return list(shown.values())


def estimate(session: Session, reply_tokens: int | None = None) -> list[dict[str, Any]]:
    """What each model of the plan would be asked: requests, tokens and, where priced, money.

    Counted on the first problems of each set and carried over to the rest. Tokens
    are o200k_base; a reply, and a chain that is handed on, is as long as the planted
    reasoner's, or `reply_tokens`. Nothing is taken to be cached.
    """
    planted = _planted(session)
    scale = {
        found[0].set: len(found) / min(len(found), SAMPLED)
        for found in session.inputs.problems.values()
    }
    spent: dict[str, list[float]] = {}
    seen: set[str] = set()
    for unit in _first(session, SAMPLED):
        lookup = _Rehearsal(planted, unit)
        list(session.experiment.walk(unit, lookup))
        alone = tokens.count(unit.problem.question) + ALONE
        for key, request in lookup.asked.items():
            if key in seen:
                continue
            reply = lookup.replies[key]
            prompt, completion = _prompt(request), _completion(reply)
            if reply_tokens is not None:
                prompt += max(0, reply_tokens - completion) if prompt > 2 * alone else 0
                completion = reply_tokens
            total = spent.setdefault(f"{request.provider}/{request.model}", [0.0, 0.0, 0.0])
            for i, amount in enumerate((1, prompt, completion)):
                total[i] += amount * scale[unit.problem.set]
        seen |= lookup.asked.keys()
    return [_bill(session, model, *map(round, total)) for model, total in spent.items()]


def _planted(session: Session) -> Planted:
    return Planted(session.inputs.prompts, {PROFILE: SOLVER}, session.inputs.judging)


def _bill(
    session: Session, model: str, requests: int, prompt: int, completion: int
) -> dict[str, Any]:
    own = session.plan.models.get(model)
    bill: dict[str, Any] = {
        "model": model,
        "requests": requests,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
    }
    if own is not None and own.prices is not None:
        bill["money"] = round(own.prices.cost(prompt, 0, completion), 4)
    return bill


def _first(session: Session, n: int) -> Iterator[Any]:
    """The units of the first `n` problems of each set."""
    taken: dict[str, set[str]] = {}
    for unit in session.units():
        seen = taken.setdefault(unit.problem.set, set())
        if len(seen) < n or unit.problem.id in seen:
            seen.add(unit.problem.id)
            yield unit


def _prompt(request: Request) -> int:
    texts = [message.content for message in request.messages]
    return sum(map(tokens.count, [*texts, request.prefill.text if request.prefill else ""]))


def _completion(reply: Response) -> int:
    return tokens.count(reply.content) + tokens.count(reply.reasoning or "")


def _shown(axes: dict[str, Any], row: Any, request: Request | None) -> dict[str, Any]:
    """A cell and its prompt; a cell that is not asked has its reason instead."""
    cell = {name: value for name, value in axes.items() if value is not None}
    if request is None:
        return cell | {"outcome": row.outcome, "reason": row.reason}
    body = msgspec.json.decode(request.body)
    return cell | {"messages": body["messages"], "prefill": body.get("prefill")}
