"""Study A, Compromising Thought (arXiv 2503.19326), from the prompt to the row.

    source   M solves q0 alone: a chain, used only if its result and its answer are right
    gate     the target solves q0 alone, once per generation mode
    tampered the chain with D_T digits of its results changed, handed back with q0
    clean    the same chain untampered, same way and structure   } controls, graded against
    again    q0 alone once more, a fresh sample, same mode       } the tampered result
    bare ... contrasts, on request                               }
    replay   the target's own chain sent back as it is (A.8), on request

`walk` is the whole experiment for one unit (a problem and a target), as a pure
generator: it yields the requests that it still needs and the rows that it can
already give. It knows nothing about engines, stores or time; who runs it asks
what it yields and walks it again (`loop.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from misled import answers, chains, flags, handing, perturbations, prompts
from misled.conditions import Condition
from misled.draws import Draws
from misled.grading import lost, row, spent, unasked
from misled.handing import Fed
from misled.prose import prose
from misled.records import Answer, Chain, Failure, NotApplicable, Record, Request, Response
from misled.row import Row
from misled.units import Unit

__all__ = ["walk"]

Lookup: TypeAlias = Callable[[Request], Answer | None]
Step: TypeAlias = Request | Row


def walk(unit: Unit, lookup: Lookup) -> Iterator[Step]:
    """What `unit` still needs, and the rows that it can already give (Algorithm 1)."""
    fed = yield from _source(unit, lookup)
    if fed is None:
        return
    gates = yield from _gates(unit, fed, lookup)
    foreign = yield from _foreign(unit, fed, lookup)
    for condition in unit.conditions:
        reason = handing.unsupported(unit, condition.way)
        if reason is not None:
            cell = {"feed": fed.feed, "outcome": "unsupported", "reason": reason}
            yield unasked(unit, condition, **cell)
        elif (gate := gates.get(condition.mode)) is not None:
            yield from _trials(_Trial(unit, condition, fed, gate), foreign, lookup)
    if unit.study.plan.replay and "plain" in gates:
        yield from _replays(unit, fed, gates["plain"], lookup)


# --- source and gate (protocol A.1) ----------------------------------------------------------


def _source(unit: Unit, lookup: Lookup) -> Generator[Step, None, Fed | None]:
    """The source's row, and its chain where result and answer are both w."""
    logged = unit.logged(unit.problem)
    request = None if logged else unit.source_request(unit.problem)
    reply = logged.reply if logged else lookup(request) if request else None
    if reply is None:
        if request:
            yield request
        return None
    cell = {"arm": "source", "mode": "plain"}
    if isinstance(reply, Failure):
        yield row(unit, request, reply, **cell)
        return None
    fed = handing.fed(unit, reply)
    found = row(unit, request, reply, feed=fed.feed, **cell)
    reason = _unusable(unit.problem.gold[0], fed.chain) if found.outcome == "recovered" else None
    if reason is not None:
        found = row(unit, request, reply, feed=fed.feed, outcome="other", reason=reason, **cell)
    yield found
    return fed if found.outcome == "recovered" else None


def _unusable(gold: str, chain: Chain) -> str | None:
    """Why a right answer's chain is not used, or None where its result is w."""
    result, w = perturbations.result_of(chain), answers.canonical(gold)
    if result is None:
        return "chain_without_result"
    return None if w is not None and answers.same(result, w) else "chain_result"


def _gates(unit: Unit, fed: Fed, lookup: Lookup) -> Generator[Step, None, dict[str, Response]]:
    """The gate's row in each mode that the target can be asked in; the replies that passed."""
    passed: dict[str, Response] = {}
    for mode in dict.fromkeys(condition.mode for condition in unit.conditions):
        if unit.lacks(unit.opening(mode)) is not None:
            continue
        request = unit.alone(mode, 0)
        reply = lookup(request)
        if reply is None:
            yield request
            continue
        found = row(unit, request, reply, arm="gate", mode=mode, feed=fed.feed)
        yield found
        if isinstance(reply, Response) and found.outcome == "recovered":
            passed[mode] = reply
    return passed


def _foreign(unit: Unit, fed: Fed, lookup: Lookup) -> Generator[Step, None, Chain | None]:
    """Of the next problems' usable chains the one of nearest length, once all are there."""
    usable: list[Chain] = []
    waiting = False
    for problem in unit.neighbours:
        logged = unit.logged(problem)
        request = unit.source_request(problem)
        reply = logged.reply if logged else lookup(request)
        if reply is None:
            waiting = True
            yield request
        elif isinstance(reply, Response):
            chain = handing.fed(unit, reply).chain
            if _unusable(problem.gold[0], chain) is None:
                usable.append(chain)
    if waiting or not usable:
        return None
    length = len(fed.chain.reasoning)
    return min(usable, key=lambda chain: abs(len(chain.reasoning) - length))


# --- probes and controls (protocol A.1, A.4, A.6) --------------------------------------------


class _Trial(Record, frozen=True):
    """A condition of a unit whose gate was passed, with the chain and the gate's reply."""

    unit: Unit
    condition: Condition
    fed: Fed
    gate: Response


def _trials(trial: _Trial, foreign: Chain | None, lookup: Lookup) -> Iterator[Step]:
    """The tampered trial, its controls and its contrasts, for every sample."""
    unit, condition = trial.unit, trial.condition
    plan, way = unit.study.plan, condition.way
    handed = handing.arms(unit, condition, trial.fed.chain, foreign)
    cell = {"feed": trial.fed.feed, "outcome": "not_applicable"}
    for arm, given in handed.items():
        if isinstance(given, NotApplicable):
            yield unasked(unit, condition, arm=arm, reason=given.reason, **cell)
    sham = handed["tampered"]
    if isinstance(sham, NotApplicable):
        return
    for sample in range(plan.samples):
        for arm, given in handed.items():
            if isinstance(given, NotApplicable):
                continue
            request = handing.ask(unit, way, given.text, sample)
            more = {"arm": arm, "sample": sample, "tampered": given.tampered, **given.measures}
            yield from _answered(trial, request, given.text, lookup, more)
        if "again" in plan.controls:
            more = {"arm": "again", "sample": sample, "tampered": sham.tampered}
            request = unit.alone(condition.mode, sample + 1)
            yield from _answered(trial, request, None, lookup, more)


def _answered(
    trial: _Trial, request: Request, text: str | None, lookup: Lookup, more: dict[str, Any]
) -> Iterator[Step]:
    """The row of one request; a chain that did not arrive is not counted as handed over."""
    cell = trial.condition.keys | {"feed": trial.fed.feed} | more
    lacking = trial.unit.lacks(request.prefill)
    reply = lookup(request) if lacking is None else None
    if lacking is None and reply is None:
        yield request
        return
    if isinstance(reply, Response) and text is not None:
        lacking = _lost(trial, reply, text)
    if lacking is not None or reply is None:
        cell |= {"outcome": "unsupported", "reason": lacking, "request": request.key}
        yield unasked(trial.unit, trial.condition, **cell)
        return
    if isinstance(reply, Response) and _perfunctory(reply, trial.gate):
        cell["flags"] = ("perfunctory",)
    yield row(trial.unit, request, reply, **cell)


def _lost(trial: _Trial, reply: Response, text: str) -> str | None:
    """Why it is not shown that `text`, as an earlier turn, reached the model (protocol A.4).

    In the user's message it always does; whether a prefilled thinking did, the wire has told.
    """
    trusted = trial.unit.study.models[trial.unit.target].capabilities.arrival == "trusted"
    if trial.condition.way.channel != "assistant" or trusted:
        return None
    return lost(trial.gate.usage.prompt, reply.usage.prompt, text)


# A control's reply stands beside every degree, and a unit is walked several times.
@lru_cache(maxsize=1024)
def _perfunctory(reply: Response, gate: Response) -> bool:
    """Whether a reply that the model itself ended is short beside the gate and calculates nothing.

    Tokens are compared where both are the server's, or both counted here.
    """
    now, then = spent(reply), spent(gate)
    total, alone = _total(now), _total(then)
    if (
        reply.finish == "length"
        or now["counted"] != then["counted"]
        or not flags.short(total, alone)
    ):
        return False
    hidden = reply.reasoning is None and bool(reply.usage.reasoning)
    shown = chains.of(reply.content, reply.reasoning).reasoning or reply.content
    return flags.perfunctory(total, alone, None if hidden else shown)


def _total(cost: dict[str, Any]) -> int | None:
    """Tokens of reasoning and answer together."""
    if cost["completion_tokens"] is not None:
        return int(cost["completion_tokens"])
    return (
        None
        if cost["answer_tokens"] is None
        else cost["answer_tokens"] + (cost["reasoning_tokens"] or 0)
    )


# --- thinking stopped (protocol A.8) ---------------------------------------------------------


def _replays(unit: Unit, fed: Fed, gate: Response, lookup: Lookup) -> Iterator[Step]:
    """The target's own chain sent back as it is [A eq. 4]; the source's where it shows none."""
    own = handing.fed(unit, gate)
    shown = own if own.feed == "reasoning" or unit.study.plan.feed == "output" else fed
    text = shown.chain.reasoning
    who = (unit.study.plan.seed, unit.problem.set, unit.problem.id)
    spoken = unit.study.prompts
    asked = {
        "replay": prompts.replay(spoken, text),
        "replay_question": prompts.replay(spoken, text, unit.problem.question),
        "replay_text": prompts.replay(spoken, prose(len(text), Draws(*who, "prose"))),
    }
    cell = {
        "mode": "plain",
        "feed": shown.feed,
        "attribution": "own" if shown is own else "other",
        "length": len(text),
    }
    for sample in range(unit.study.plan.samples):
        for arm, messages in asked.items():
            request = unit.ask(messages, sample=sample)
            reply = lookup(request)
            if reply is None:
                yield request
            else:
                yield row(unit, request, reply, arm=arm, sample=sample, **cell)
