"""Study A, Compromising Thought (arXiv 2503.19326), from the prompt to the row.

    source   M solves q0 alone: a chain, used only if its result and its answer are right
    gate     the target solves q0 alone, once per generation mode
    tampered the chain with D_T digits of its results changed, handed back with q0
    clean    the same chain untouched, same prompt              } controls, graded against
    again    q0 alone once more, a fresh sample, same mode      } the tampered result

`walk` is the whole experiment for one unit (a problem and a target), as a pure
generator: it yields the requests that it still needs and the rows that it can
already give. It knows nothing about engines, stores or time; who runs it asks
what it yields and walks it again (`loop.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from itertools import product
from typing import Any, TypeAlias

from msgspec.structs import asdict, replace

from misled import answers, chains, metrics, perturbations, prompts
from misled.draws import Draws
from misled.models import Model
from misled.plans import Cell, Plan, sampling
from misled.records import (
    Answer,
    Chain,
    Edited,
    Failure,
    Graded,
    Message,
    NotApplicable,
    Prefill,
    Problem,
    Record,
    Request,
    Response,
)
from misled.rows import Row

__all__ = ["Condition", "Study", "Unit", "conditions", "units", "walk"]

Lookup: TypeAlias = Callable[[Request], Answer | None]


class Condition(Record, frozen=True):
    """One point of a cell: how the chain is tampered with and how it is handed back."""

    method: str
    structure: str
    channel: str
    perturbation: str
    scope: str
    place: str | tuple[int, ...]
    d_t: int | None

    @property
    def mode(self) -> str:
        """The generation mode that gate, probe and `again` share (protocol A.1)."""
        return "prefix" if self.method == "prefix" else "plain"

    @property
    def options(self) -> tuple[tuple[str, Any], ...]:
        """What the perturbation is made with."""
        if self.d_t is None:
            return (("scope", self.scope),)
        return (("scope", self.scope), ("d_t", self.d_t), ("place", self.place))


class Study(Record, frozen=True):
    """What every unit of a run shares."""

    plan: Plan
    prompts: prompts.Prompts
    models: Mapping[str, Model]


class Unit(Record, frozen=True):
    """One problem and one target under all conditions of the plan's cells."""

    study: Study
    problem: Problem
    target: str
    conditions: tuple[Condition, ...]

    @property
    def source(self) -> str:
        """The model whose chain is handed over."""
        return self.study.plan.source or self.target

    def unsupported(self, mode: str) -> str | None:
        """Why the target cannot generate in `mode`, or None where it can."""
        prefill = prompts.prefill(self.study.prompts) if mode == "prefix" else None
        asked = sampling(self.study.plan, self.target)
        return self.study.models[self.target].capabilities.lacks(asked, prefill)


class _Fed(Record, frozen=True):
    """The chain that is handed over, and whether it is the reasoning or the whole output."""

    chain: Chain
    feed: str


def conditions(cell: Cell) -> Iterator[Condition]:
    """Every condition of a cell; a perturbation without degrees stands once."""
    axes = (cell.perturbations, cell.structures, cell.channels, cell.methods)
    for perturbation, structure, channel, method in product(*axes):
        for d_t in cell.digits if perturbation == "digits" else (None,):
            yield Condition(
                method=method,
                structure=structure,
                channel=channel,
                perturbation=perturbation,
                scope=cell.scope,
                place=cell.place,
                d_t=d_t,
            )


def units(study: Study, problems: Mapping[str, list[Problem]]) -> Iterator[Unit]:
    """Every unit of a plan, problem by problem, so that targets share their source's reply."""
    named = {found[0].set: found for found in problems.values()}
    crosses: dict[str, dict[Condition, None]] = {name: {} for name in named}
    for cell in study.plan.cells:
        for name in cell.problems:
            crosses[problems[name][0].set].update(dict.fromkeys(conditions(cell)))
    for name, cross in crosses.items():
        for problem, target in product(named[name], study.plan.model):
            yield Unit(study, problem, target, tuple(cross))


def walk(unit: Unit, lookup: Lookup) -> Iterator[Request | Row]:
    """What `unit` still needs, and the rows that it can already give (Algorithm 1)."""
    request = _ask(unit, unit.source, prompts.solve(unit.study.prompts, unit.problem.question))
    reply = lookup(request)
    if reply is None:
        yield request
        return
    row, fed = _sourced(unit, request, reply)
    yield row
    if fed is None:
        return
    passed: dict[str, bool] = {}
    for mode in dict.fromkeys(condition.mode for condition in unit.conditions):
        if unit.unsupported(mode) is not None:
            continue
        gate = _alone(unit, mode, 0)
        reply = lookup(gate)
        if reply is None:
            yield gate
            continue
        row = _row(unit, gate, reply, arm="gate", mode=mode, feed=fed.feed)
        yield row
        passed[mode] = row.outcome == "recovered"
    for condition in unit.conditions:
        reason = unit.unsupported(condition.mode)
        if reason is not None:
            yield _unasked(unit, condition, fed, outcome="unsupported", reason=reason)
        elif passed.get(condition.mode):
            yield from _probe(unit, condition, fed, lookup)


def _sourced(unit: Unit, request: Request, reply: Answer) -> tuple[Row, _Fed | None]:
    """The source's row, and its chain where result and answer are both w (protocol A.1)."""
    if isinstance(reply, Failure):
        return _row(unit, request, reply, arm="source", mode="plain"), None
    feed, chain = unit.study.plan.feed, chains.of(reply.content, reply.reasoning)
    if feed == "output" or not chain.delimited or not chain.reasoning.strip():
        feed, chain = "output", Chain(reasoning=reply.content, answer=reply.content)
    row = _row(unit, request, reply, arm="source", mode="plain", feed=feed)
    if row.outcome != "recovered":
        return row, None
    result = perturbations.result_of(chain)
    gold = answers.canonical(unit.problem.gold[0])
    if result is None or gold is None or not answers.same(result, gold):
        reason = "chain_without_result" if result is None else "chain_result"
        wrong = {"outcome": "other", "reason": reason}
        return _row(unit, request, reply, arm="source", mode="plain", feed=feed, **wrong), None
    return row, _Fed(chain, feed)


def _probe(unit: Unit, condition: Condition, fed: _Fed, lookup: Lookup) -> Iterator[Request | Row]:
    """The tampered trial of `condition` and its controls, for every sample."""
    plan = unit.study.plan
    who = (plan.seed, unit.problem.set, unit.problem.id)
    edited = _tamper(fed.chain, who, condition.perturbation, condition.options)
    if isinstance(edited, NotApplicable):
        yield _unasked(unit, condition, fed, outcome="not_applicable", reason=edited.reason)
        return
    cell = _cell(condition, fed, plan) | {"tampered": edited.tampered}
    for sample in range(plan.samples):
        asked = {"tampered": _handed(unit, condition, edited.text, sample)}
        if "clean" in plan.controls:
            asked["clean"] = _handed(unit, condition, fed.chain.reasoning, sample)
        if "again" in plan.controls:
            asked["again"] = _alone(unit, condition.mode, sample + 1)
        for arm, request in asked.items():
            reply = lookup(request)
            if reply is None:
                yield request
                continue
            more = _measures(edited) if arm == "tampered" else {}
            yield _row(unit, request, reply, arm=arm, sample=sample, **cell, **more)


# A unit is walked about three times, and methods share their tampering.
@lru_cache(maxsize=1024)
def _tamper(
    chain: Chain, who: tuple[int, str, str], perturbation: str, options: tuple[tuple[str, Any], ...]
) -> Edited | NotApplicable:
    """The tampered chain; every degree has the same draws, so that they nest (A.3)."""
    perturb = perturbations.PERTURBATIONS[perturbation](**dict(options))
    return perturb(chain, Draws(*who, perturbation))


def _ask(
    unit: Unit,
    model: str,
    messages: tuple[Message, ...],
    prefill: Prefill | None = None,
    sample: int = 0,
) -> Request:
    """One question to `model`, in the lane of this problem."""
    plan = unit.study.plan
    provider, _, name = model.partition("/")
    own = plan.models.get(model)
    return Request(
        provider=provider,
        model=name,
        host=(own.base_url if own else None) or plan.base_url,
        messages=messages,
        sampling=sampling(plan, model),
        sample=sample,
        prefill=prefill,
        lane=f"{model} {unit.problem.set} {unit.problem.id}",
    )


def _alone(unit: Unit, mode: str, sample: int) -> Request:
    """The question alone in a generation mode: gate at sample 0, `again` after it."""
    spoken = unit.study.prompts
    prefill = prompts.prefill(spoken) if mode == "prefix" else None
    return _ask(unit, unit.target, prompts.solve(spoken, unit.problem.question), prefill, sample)


def _handed(unit: Unit, condition: Condition, chain: str, sample: int) -> Request:
    """The question, the method's filter and `chain`, in one user message (protocol A.4)."""
    messages, prefill = prompts.probe(
        unit.study.prompts,
        method=condition.method,
        question=unit.problem.question,
        chain=chain,
        attribution=unit.study.plan.attribution,
    )
    return _ask(unit, unit.target, messages, prefill, sample)


def _cell(condition: Condition, fed: _Fed, plan: Plan) -> dict[str, Any]:
    """The coordinates of a trial, as a row has them."""
    place = condition.place
    return {
        "mode": condition.mode,
        "feed": fed.feed,
        "attribution": plan.attribution,
        "method": condition.method,
        "structure": condition.structure,
        "channel": condition.channel,
        "perturbation": condition.perturbation,
        "scope": condition.scope,
        "place": place if isinstance(place, str) else ",".join(map(str, place)),
        "d_t": condition.d_t,
    }


def _measures(edited: Edited) -> dict[str, Any]:
    """The size of a tampering: |w'-w|/|w|, w' = w mod 9, and what was left (protocol A.3)."""
    w, changed = Decimal(edited.result), Decimal(edited.tampered)
    sums = [sum(int(c) for c in v if c.isdigit()) for v in (edited.result, edited.tampered)]
    return {
        "occurrences": len(edited.edits),
        "unreached": edited.unreached,
        "w_left": edited.w_left,
        "relative_error": float(abs(changed - w) / abs(w)) if w else None,
        "congruent_mod_9": (sums[0] - sums[1]) % 9 == 0,
    }


def _who(unit: Unit) -> dict[str, Any]:
    return {
        "problem": unit.problem.id,
        "set": unit.problem.set,
        "cluster": unit.problem.cluster,
        "target": unit.target,
        "source": unit.source,
        "gold": unit.problem.gold[0],
    }


def _unasked(unit: Unit, condition: Condition, fed: _Fed, *, outcome: str, reason: str) -> Row:
    """A trial that cannot be asked, with its reason."""
    cell = _who(unit) | _cell(condition, fed, unit.study.plan)
    return Row(**cell, arm="tampered", outcome=outcome, reason=reason)


def _row(unit: Unit, request: Request, reply: Answer, **cell: Any) -> Row:
    """`reply`, graded against w and, where the cell has one, w' (protocol A.6)."""
    cell = _who(unit) | {"request": request.key} | cell
    if isinstance(reply, Failure):
        return Row(**cell | {"outcome": "failed", "reason": reply.kind, "attempts": reply.attempts})
    gold = unit.problem.gold[0]
    graded = _read(reply.content, reply.reasoning, reply.finish, gold, cell.get("w_left"))
    if graded.value is not None and "tampered" in cell:
        w, flags = str(answers.canonical(gold)), graded.flags
        graded = replace(metrics.classify(graded.value, w, cell["tampered"]), flags=flags)
    flags = tuple(sorted({*graded.flags, *reply.flags}))
    return Row(**asdict(graded) | {"flags": flags} | _spent(reply) | cell)


# A control's reply is graded against every w' that it is paired with, but read once.
@lru_cache(maxsize=4096)
def _read(
    content: str, reasoning: str | None, finish: str, gold: str, w_left: int | None
) -> Graded:
    """What a reply says: its answer's value, or all of an output's that marks no answer."""
    chain = chains.of(content, reasoning)
    return metrics.grade(
        chain.answer if chain.delimited else content,
        gold,
        reasoning=chain.reasoning,
        finish=finish,
        w_left=w_left,
    )


def _spent(reply: Response) -> dict[str, Any]:
    """What a reply cost, in tokens and seconds."""
    usage = reply.usage
    return {
        "prompt_tokens": usage.prompt,
        "cached_tokens": usage.cached,
        "completion_tokens": usage.completion,
        "reasoning_tokens": usage.reasoning,
        "seconds": reply.seconds,
        "attempts": reply.attempts,
    }
