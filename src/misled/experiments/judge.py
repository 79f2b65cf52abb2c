"""Study B, judges with and without the chain (arXiv 2604.06756), from the prompt to the row.

    generate    G answers q: reasoning r and answer a, or both come from a file
    label       y: whether a is right, by rules, a match or a verifier model
    answer      J sees q and a                  } again_...: the same asked once more,
    reasoning   J sees q, r and a               } which gives the floor
    self        G itself, right after answering; self_hidden: without its reasoning
    controlled  J sees q, an edited r, and a
    closed_book J answers q itself

`walk` is the whole experiment for one unit (a problem and a generator, for all
judges), as a pure generator: it yields the requests that it still needs and the
rows that it can already give. It knows nothing about engines, stores or time.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias

from misled import chains, fences, judge_prompts, labels, tokens, verdicts
from misled.draws import Draws
from misled.grading import spent
from misled.interventions import Intervened, Intervention, intervene
from misled.judge_plans import Point
from misled.judge_prompts import Shown
from misled.judge_units import JudgeUnit
from misled.labels import Label
from misled.records import Answer, Failure, Message, NotApplicable, Record, Request, Response
from misled.row import Judged

__all__ = ["walk"]

Lookup: TypeAlias = Callable[[Request], Answer | None]
Step: TypeAlias = Request | Judged

# A chain has arrived if it made the prompt longer by this share of its tokens as we count them.
ARRIVED = 0.25


class _Item(Record, frozen=True):
    """A generation that can be judged: what was said, and whether its answer is right."""

    reply: Response
    reasoning: str | None
    content: str
    value: str | None
    label: Label


def walk(unit: JudgeUnit, lookup: Lookup) -> Iterator[Step]:
    """What `unit` still needs, and the rows that it can already give (B.1)."""
    item = yield from _generated(unit, lookup)
    if item is not None:
        other = yield from _placebo(unit, item, lookup)
        for point in unit.points:
            own = point.condition.startswith("self")
            for judge in (unit.generator,) if own else unit.study.plan.judge:
                yield from _judged(unit, item, point, judge, other, lookup)
    if unit.closed_book:
        for judge in unit.study.plan.judge:
            yield from _closed_book(unit, judge, lookup)


# --- generate and label (protocol B.1, B.2) --------------------------------------------------


def _generated(unit: JudgeUnit, lookup: Lookup) -> Generator[Step, None, _Item | None]:
    """The generation's row, and the item where it has an answer and a label."""
    logged = unit.logged(unit.problem)
    request = None if logged else _generation(unit, unit.generator)
    reply = logged.reply if logged else lookup(request) if request else None
    if reply is None:
        if request:
            yield request
        return None
    cell = {"arm": "generate", "request": request.key if request else None}
    if isinstance(reply, Failure):
        yield _failed(unit, reply, cell)
        return None
    cell |= spent(reply) if request else {}
    reasoning, content = _parts(reply)
    lacking = _no_answer(reply, content)
    if lacking is not None:
        yield Judged(**_who(unit) | cell, outcome="no_answer", reason=lacking)
        return None
    given = logged.label if logged else None
    label = labels.given(right=given) if given is not None else None
    if label is None:
        label = yield from _label(unit, content, lookup)
    if label is None:
        return None
    value = labels.value(content, of=unit.study.kinds[unit.problem.set])
    yield Judged(
        **_who(unit) | cell | _labelled(label),
        outcome="unlabelled" if label.y is None else "read",
        reason=label.reason,
        value=value,
        length=None if reasoning is None else len(reasoning),
        repeated=None if reasoning is None else fences.repeated(reasoning, content),
    )
    return None if label.y is None else _Item(reply, reasoning, content, value, label)


def _generation(unit: JudgeUnit, model: str, sample: int = 0) -> Request:
    messages = judge_prompts.generate(unit.study.prompts, unit.problem.question)
    return unit.ask(model, messages, sample, judging=False)


def _parts(reply: Response) -> tuple[str | None, str]:
    """Reasoning, None where nothing sets it apart, and the answer's text."""
    chain = chains.of(reply.content, reply.reasoning)
    if not chain.delimited or not chain.reasoning.strip():
        return None, reply.content
    return chain.reasoning, chain.answer


def _no_answer(reply: Response, content: str) -> str | None:
    """Why a reply is no answer, or None: it was cut, filtered, or says nothing."""
    if reply.finish in {"length", "content_filter"}:
        return "truncated" if reply.finish == "length" else "refused"
    return None if content.strip() else "empty"


def _label(unit: JudgeUnit, content: str, lookup: Lookup) -> Generator[Step, None, Label | None]:
    """Rules and match first; then the verifier, once it has replied."""
    study, problem = unit.study, unit.problem
    of, algebra = study.kinds[problem.set], study.algebra
    first = labels.label(content, problem.gold, of=of, algebra=algebra)
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
    said = chains.of(reply.content, reply.reasoning).answer if isinstance(reply, Response) else ""
    return labels.label(content, problem.gold, of=of, algebra=algebra, verifier=said)


# --- judge (protocol B.1, B.3, B.6) ----------------------------------------------------------


def _judged(
    unit: JudgeUnit, item: _Item, point: Point, judge: str, other: str | None, lookup: Lookup
) -> Iterator[Step]:
    """One verdict, or why there is none."""
    cell = _who(unit) | _labelled(item.label) | _coordinates(point, judge)
    made = _shown(unit, item, point, other)
    if isinstance(made, NotApplicable):
        yield Judged(**cell, outcome="not_applicable", reason=made.reason)
        return
    messages, more = made
    sample = 1 if point.condition.startswith("again") else 0
    request = unit.ask(judge, messages, sample, judging=True)
    reply = lookup(request)
    if reply is None:
        yield request
        return
    cell |= {"request": request.key, **more}
    if isinstance(reply, Failure):
        yield _failed(unit, reply, cell)
        return
    lost = _lost(unit, item, point, reply, lookup)
    if lost is not None:
        yield Judged(**cell, outcome="unsupported", reason=lost)
        return
    yield _verdict(unit, reply, cell)


def _shown(
    unit: JudgeUnit, item: _Item, point: Point, other: str | None
) -> tuple[tuple[Message, ...], dict[str, Any]] | NotApplicable:
    """The messages of a point and what its row records, or why it does not apply."""
    prompts, criterion, question = (
        unit.study.prompts,
        unit.study.plan.criterion,
        unit.problem.question,
    )
    answer = item.value if point.shown == "value" else item.content
    if answer is None:
        return NotApplicable("value: the answer states none")
    with_chain = point.condition not in {"answer", "again_answer", "self_hidden"}
    if with_chain and item.reasoning is None:
        return NotApplicable("reasoning: there is none beside the answer")
    if point.condition.startswith("self"):
        said = f"{item.reasoning}\n\n{answer}" if with_chain else answer
        return judge_prompts.own(prompts, question, said, criterion), {}
    if not with_chain:
        words = judge_prompts.outside(prompts, criterion)
        if item.reasoning and fences.leak(words, item.reasoning, [question, answer]):
            raise ArithmeticError(f"the prompt without the chain of {unit.problem.id} holds it")
        shown = Shown(question, answer, known=item.reasoning or "")
        return judge_prompts.judge(prompts, shown, criterion), {}
    chain, more = str(item.reasoning), {}
    if point.condition == "controlled":
        told = _intervened(unit, item, point, other)
        if isinstance(told, NotApplicable):
            return told
        chain, more = told.text, {"inserted": told.inserted}
    more["length"] = len(chain)
    shown = Shown(question, answer, chain, known=str(item.reasoning))
    return judge_prompts.judge(prompts, shown, criterion), more


def _intervened(
    unit: JudgeUnit, item: _Item, point: Point, other: str | None
) -> Intervened | NotApplicable:
    """The chain under the point's intervention; its draws are the item's, so that k nest (B.6)."""
    draws = Draws(unit.study.plan.seed, unit.problem.set, unit.problem.id, "statements")
    return intervene(
        str(item.reasoning),
        Intervention(str(point.variant), point.k or 0, point.place or "end"),
        draws,
        [unit.problem.question, item.content, *unit.problem.gold],
        value=item.value,
        other=other,
    )


def _placebo(unit: JudgeUnit, item: _Item, lookup: Lookup) -> Generator[Step, None, str | None]:
    """Of the next problems' chains the one of nearest length, once all are there."""
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
        elif isinstance(reply, Response) and (chain := _parts(reply)[0]) is not None:
            found.append(chain)
    if waiting or not found:
        return None
    return min(found, key=lambda chain: abs(len(chain) - len(item.reasoning or "")))


def _lost(
    unit: JudgeUnit, item: _Item, point: Point, reply: Response, lookup: Lookup
) -> str | None:
    """Why it is not shown that the chain in the judge's own turn reached it (A.4)."""
    if point.condition != "self" or item.reasoning is None:
        return None
    if unit.study.models[unit.generator].capabilities.arrival == "trusted":
        return None
    hidden = Point("self_hidden", point.shown)
    made = _shown(unit, item, hidden, None)
    without = (
        lookup(unit.ask(unit.generator, made[0], judging=True)) if isinstance(made, tuple) else None
    )
    alone = without.usage.prompt if isinstance(without, Response) else item.reply.usage.prompt
    if alone is None or reply.usage.prompt is None:
        return "the server counts no prompt tokens, so that the chain's arrival is not shown"
    if reply.usage.prompt - alone < ARRIVED * tokens.count(item.reasoning):
        return f"the chain did not arrive: {reply.usage.prompt} prompt tokens, {alone} without it"
    return None


def _verdict(unit: JudgeUnit, reply: Response, cell: dict[str, Any]) -> Judged:
    """What a judge's reply decides; whatever is no verdict is unreadable, on no side."""
    words = unit.study.prompts.verdicts(unit.study.plan.criterion)
    content = chains.of(reply.content, reply.reasoning)
    text = content.answer if content.delimited else reply.content
    read = verdicts.read(text, finish=reply.finish, words=words)
    outcome = "read" if read.verdict else "unreadable"
    if read.reason in {"truncated", "refused"}:
        outcome = read.reason
    return Judged(
        **cell | spent(reply) | {"flags": reply.flags},
        outcome=outcome,
        verdict=read.verdict,
        reason=None if read.verdict else read.reason,
    )


def _closed_book(unit: JudgeUnit, judge: str, lookup: Lookup) -> Iterator[Step]:
    """The judge's own answer to the question, labelled like any other (Fig. 4)."""
    request = _generation(unit, judge)
    reply = lookup(request)
    if reply is None:
        yield request
        return
    cell = {"arm": "closed_book", "judge": judge, "request": request.key}
    if isinstance(reply, Failure):
        yield _failed(unit, reply, cell)
        return
    cell |= spent(reply)
    _, content = _parts(reply)
    lacking = _no_answer(reply, content)
    if lacking is not None:
        yield Judged(**_who(unit) | cell, outcome="no_answer", reason=lacking)
        return
    label = yield from _label(unit, content, lookup)
    if label is not None:
        outcome = "unlabelled" if label.y is None else "read"
        yield Judged(**_who(unit) | cell | _labelled(label), outcome=outcome, reason=label.reason)


# --- rows ------------------------------------------------------------------------------------


def _who(unit: JudgeUnit) -> dict[str, Any]:
    return {
        "problem": unit.problem.id,
        "set": unit.problem.set,
        "cluster": unit.problem.cluster,
        "generator": unit.generator,
    }


def _labelled(label: Label) -> dict[str, Any]:
    return {
        "label": label.y,
        "labelled_by": label.by,
        "matched": label.matched,
        "verified": label.verified,
    }


def _coordinates(point: Point, judge: str) -> dict[str, Any]:
    return {
        "arm": "judge",
        "judge": judge,
        "condition": point.condition,
        "shown": point.shown,
        "variant": point.variant,
        "k": point.k,
        "place": point.place,
        "sample": 1 if point.condition.startswith("again") else 0,
    }


def _failed(unit: JudgeUnit, reply: Failure, cell: dict[str, Any]) -> Judged:
    outcome, reason = "failed", reply.kind
    if reply.kind == "unsupported":  # never sent: the provider cannot be asked this
        outcome, reason = "unsupported", reply.message
    return Judged(**_who(unit) | cell, outcome=outcome, reason=reason, attempts=reply.attempts)
