"""Study B: the dossier of one line, a generation or a verdict.

    dossier(Case(id, row, unit, request, reply, generation)) -> Dossier(why="The reply ...", ...)

What a judge was shown is read back from the messages that were sent. Knows nothing
about stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from misled import dossiers, judge_prompts, labels, reasons_judge, replies, showing
from misled.dossiers import Beside, Dossier, Section, Side
from misled.interventions import Intervened, pairs
from misled.judge_plans import Point
from misled.judge_units import JudgeUnit
from misled.labels import Label
from misled.marks import Mark
from misled.records import Answer, Record, Request, Response
from misled.row import Judged
from misled.showing import Item

__all__ = ["Case", "dossier", "ruling", "title"]

BRIEF = 2000  # code points of another reply that stand beside this one

_FACTS = (
    *("outcome", "verdict", "label", "value", "judge", "generator", "labelled_by", "reason", "set"),
    *("problem", "arm", "condition", "shown", "variant", "k", "place", "sample", "mode", "matched"),
    *("verified", "flags", "length", "inserted", "removed", "repeated", "prompt_tokens"),
    *("cached_tokens", "completion_tokens", "reasoning_tokens", "answer_tokens", "counted"),
    *("seconds", "attempts"),
)


class Case(Record, frozen=True):
    """What a dossier is made of; `generation` is the reply that was judged."""

    id: str
    row: Judged
    unit: JudgeUnit
    request: Request | None = None
    reply: Answer | None = None
    generation: Response | None = None
    sides: tuple[Side, ...] = ()
    beside: tuple[Beside, ...] = ()
    turned: str | None = None


class _Seen(Record, frozen=True):
    """The chain and the answer that a judge was shown, or was not, and what was done to it."""

    answer: str
    chain: str | None = None
    shown: bool = True
    marks: tuple[Mark, ...] = ()
    note: str = ""


def dossier(case: Case) -> Dossier:
    """The record of one line."""
    row = case.row
    seen = _seen(case) if row.arm == "judge" else None
    sections = [dossiers.text("Question", case.unit.problem.question)]
    if seen is not None:
        sections += _material(case, seen)
    if case.request is not None:
        chain, done = (seen.chain, seen.marks) if seen and seen.shown else (None, ())
        sections.append(dossiers.messages(case.request, chain, done))
    found = {"judge": row.verdict}.get(row.arm, row.value)
    what = "verdict" if row.arm == "judge" else "value"
    sections += replies.replied(case.reply, _read(case), what if found is not None else "")
    reply = case.reply if isinstance(case.reply, Response) else None
    return Dossier(
        id=case.id,
        title=title(row, case.turned),
        facts=[
            *_facts(row, case),
            *dossiers.facts(case.request, reply),
        ],
        why=reasons_judge.why(row, case.reply, case.turned),
        sections=sections,
        sides=list(case.sides),
        beside=list(case.beside),
    )


def ruling(reply: Answer | None, row: Judged, words: tuple[str, str]) -> list[Section]:
    """A judge's brief reply with its verdict marked, to stand beside another one's."""
    if not isinstance(reply, Response):
        return []
    said = replies.answer_of(reply)
    marks = replies.ruled(said, row.verdict, words) if row.verdict else ()
    more = f"{len(said) - BRIEF:,} more characters" if len(said) > BRIEF else ""
    return [dossiers.text("Reply", said[:BRIEF], marks, note=more)]


def title(row: Judged, turned: str | None = None) -> str:
    """`acme/j, reasoning: accept, of a wrong answer, misled (facts 017 by acme/g, content)`."""
    label = None if row.label is None else reasons_judge.SIDES[row.label]
    if row.arm != "judge":
        who = row.judge if row.arm == "closed_book" else row.generator
        return f"{who}: {label or row.outcome} ({row.set} {row.problem}, {row.arm})"
    count = None if row.k is None else f"{row.k} of 4"
    of = label and f"of a {label} answer"
    changed = None if turned is None or turned.startswith("unchanged") else turned
    said = ", ".join(filter(None, (row.verdict or row.outcome, of, changed)))
    by = f"{row.set} {row.problem} by {row.generator}"
    how = ", ".join(filter(None, (by, row.shown, row.variant, row.place, count)))
    return f"{row.judge}, {row.condition}: {said} ({how})"


def _facts(row: Judged, case: Case) -> Iterable[tuple[str, str]]:
    for name in _FACTS:
        if name == "value":
            yield "accepted answers", " | ".join(case.unit.problem.gold)
        value = getattr(row, name)
        if value is None or value == ():
            continue
        yield dossiers.LABELS.get(name, name.replace("_", " ")), _spelled(name, value)
        if name == "verdict" and case.turned is not None:
            yield "transition", case.turned


def _spelled(name: str, value: Any) -> str:
    """A value of a row as a reader sees it."""
    if name == "label":
        return reasons_judge.SIDES[value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _read(case: Case) -> Sequence[Mark]:
    """Where the reply gives its verdict, or its value."""
    row, reply = case.row, case.reply
    if not isinstance(reply, Response):
        return ()
    study = case.unit.study
    if row.arm == "judge":
        words = study.prompts.verdicts(study.plan.criterion)
        return replies.ruled(replies.answer_of(reply), row.verdict, words) if row.verdict else ()
    if row.value is None:
        return ()
    return replies.saying(replies.answer_of(reply), row.value, study.kinds[row.set])


# --- what was judged -------------------------------------------------------------------------


def _material(case: Case, seen: _Seen) -> list[Section]:
    """The chain and the answer; a chain that the judge was not shown is folded."""
    row, found = case.row, []
    if seen.chain is not None:
        title = "The chain as shown" if seen.shown else "The chain, which the judge was not shown"
        found.append(
            dossiers.text(
                title, seen.chain, seen.marks, roles=True, note=seen.note, fold=not seen.shown
            )
        )
    marks: tuple[Mark, ...] = ()
    if row.condition != "null" and case.generation is not None:
        value = labels.value(seen.answer, of=case.unit.study.kinds[row.set])
        marks = replies.saying(seen.answer, value, case.unit.study.kinds[row.set]) if value else ()
    found.append(dossiers.text("The answer that was judged", seen.answer, marks))
    return found


def _seen(case: Case) -> _Seen | None:
    """What the judge was shown, as the request says, and the chain behind it."""
    own = _own(case)
    behind = own.reasoning if own is not None and case.row.condition != "null" else None
    if case.request is None:
        return None if own is None else _Seen(own.content, behind, shown=False)
    asked = judge_prompts.read(case.unit.study.prompts, case.request.messages)
    if asked is None:
        return None
    answer, chain = asked.shown.answer, asked.shown.reasoning
    if chain is not None:
        marks, note = _changed(case, own, chain)
        return _Seen(answer, chain, marks=marks, note=note)
    turn = f"{behind}\n\n"  # before the answer, in a turn of the judge's own
    own_turn = case.row.condition == "self" and answer.startswith(turn)
    return _Seen(answer.removeprefix(turn) if own_turn else answer, behind, shown=own_turn)


def _own(case: Case) -> Item | None:
    """The generation as it can be judged."""
    if case.generation is None:
        return None
    reasoning, content = showing.parts(case.unit, case.generation)
    value = labels.value(content, of=case.unit.study.kinds[case.row.set])
    return Item(case.generation, reasoning, content, value, Label(case.row.label))


def _changed(case: Case, own: Item | None, chain: str) -> tuple[tuple[Mark, ...], str]:
    """What was put into the chain, done again, and what else was done to it, in words."""
    row = case.row
    if row.condition != "controlled" or row.variant == "placebo":
        of = {"crossed": f"The chain that came with the {row.variant} answer"}
        of["controlled"] = "The chain of another question"
        return (), of.get(str(row.condition), "")
    told = None
    if own is not None and own.reasoning is not None:
        point = Point("controlled", str(row.shown), row.variant, row.k, row.place)
        told = showing.intervened(case.unit, own, point, None)
    if not isinstance(told, Intervened) or told.text != chain:
        return (), dossiers.OTHER
    if row.variant == "chain_cut":
        return (), f"{told.removed:.0%} of the chain, which states the value, was taken out"
    return tuple(_statements(told, row)), _told(told, row)


def _statements(told: Intervened, row: Judged) -> Iterable[Mark]:
    """Where the statements stand; of a counterfactual one, what is true."""
    truth = {pair.false: pair.true for pair in pairs()}
    truth |= {pair.reworded: pair.true for pair in pairs()}
    end = 0
    for index, statement in enumerate(told.statements):
        at = told.text.find(statement, end)
        if at < 0:
            continue
        end = at + len(statement)
        changed = index in told.changed and row.variant == "statements"
        before = truth.get(statement, "") if index in told.changed else ""
        yield Mark(at, end, "inserted tampered" if changed else "inserted", before)


def _told(told: Intervened, row: Judged) -> str:
    count = len(told.changed)
    kind = {"statements": f"{count} of them false", "true_edit": f"{count} of them reworded"}
    more = kind.get(str(row.variant))
    said = f"{len(told.statements)} sentences put in"
    return f"{said}, {more}" if more else said
