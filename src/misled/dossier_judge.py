"""Study B: the dossier of one line, a generation or a verdict.

    dossier(Case(id, row, unit, request, reply, generation)) -> Dossier(why="The reply ...", ...)

What a judge was shown is read back from the messages that were sent. Knows nothing
about stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
    *("outcome", "verdict", "label", "labelled_by", "reason", "value", "judge", "generator", "set"),
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
    sections += replies.replied(case.reply, _read(case))
    reply = case.reply if isinstance(case.reply, Response) else None
    return Dossier(
        id=case.id,
        title=title(row),
        facts=[
            *_facts(row, case.turned),
            ("accepted answers", " | ".join(case.unit.problem.gold)),
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


def title(row: Judged) -> str:
    """`facts 017 by acme/g, judged by acme/j: reasoning, content`."""
    if row.arm == "closed_book":
        return f"{row.set} {row.problem}, answered by {row.judge} itself"
    of = f"{row.set} {row.problem} by {row.generator}"
    if row.arm != "judge":
        return of
    count = None if row.k is None else f"{row.k} of 4"
    how = ", ".join(filter(None, (row.condition, row.shown, row.variant, row.place, count)))
    return f"{of}, judged by {row.judge}: {how}"


def _facts(row: Judged, turned: str | None) -> Iterable[tuple[str, str]]:
    for name in _FACTS:
        value = getattr(row, name)
        if value is None or value == ():
            continue
        if name == "label":
            yield "label", reasons_judge.SIDES[value]
        elif isinstance(value, bool):
            yield dossiers.LABELS.get(name, name.replace("_", " ")), "yes" if value else "no"
        elif isinstance(value, float):
            yield dossiers.LABELS.get(name, name.replace("_", " ")), f"{value:.4g}"
        else:
            said = ", ".join(value) if isinstance(value, tuple) else str(value)
            yield dossiers.LABELS.get(name, name.replace("_", " ")), said
        if name == "verdict" and turned is not None:
            yield "transition", turned


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
