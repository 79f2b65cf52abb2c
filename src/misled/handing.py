"""What is handed over in each arm: the chain as edited, and how it is asked.

    arms(unit, condition, fed, foreign)
    -> {"tampered": Handed(text="... 711025910375981 ...", tampered="711025910375981", ...),
        "clean": Handed(text="... 711025910075981 ...", ...), "bare": ...}

One problem's tampering is the same under every way and structure. Knows nothing
about answers: it makes texts and messages.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

from misled import chains, prompts
from misled.conditions import Condition
from misled.draws import Draws
from misled.perturbations import PERTURBATIONS, applied, other_number
from misled.prompts import Way
from misled.records import Chain, Edit, Edited, NotApplicable, Record, Request, Response
from misled.structures import STRUCTURES, combine, without_answer
from misled.units import Unit

__all__ = ["Fed", "Handed", "arms", "ask", "fed", "unsupported"]

Who: TypeAlias = tuple[int, str, str]  # seed, problem set, problem id
Tampering: TypeAlias = tuple[str, tuple[tuple[str, Any], ...]]  # a perturbation and its options
CLEAN, TAMPERED = "clean", "tampered"


class Fed(Record, frozen=True):
    """The chain that is handed over; `feed`: whether it is the reasoning or the whole output."""

    chain: Chain
    feed: str


class Handed(Record, frozen=True):
    """The text of one arm, the w' that its reply is graded against, and what a row records.

    `edits` are those of the chain that made the text, ascending; of a text that is
    no edited chain there are none.
    """

    text: str
    tampered: str
    measures: dict[str, Any] = {}
    edits: tuple[Edit, ...] = ()


def fed(unit: Unit, reply: Response) -> Fed:
    """A reply's reasoning, or all of it where that is asked for or nothing sets it apart."""
    chain = chains.of(reply.content, reply.reasoning)
    if unit.study.plan.feed == "output" or not chain.delimited or not chain.reasoning.strip():
        return Fed(Chain(reasoning=reply.content, answer=reply.content), "output")
    return Fed(chain, "reasoning")


def arms(
    unit: Unit, condition: Condition, chain: Chain, foreign: Chain | None
) -> dict[str, Handed | NotApplicable]:
    """Each arm that sends a chain; where tampering is not applicable, that arm alone.

    Contrasts are made of intact chains with digits replaced (protocol A.6).
    """
    plan, who = unit.study.plan, _who(unit)
    tampering = (condition.perturbation, condition.options)
    edited = _edited(chain, who, condition.structure, tampering)
    if isinstance(edited, NotApplicable):
        return {TAMPERED: edited}
    cut = _restructured(chain, who, condition.structure)
    cut = () if isinstance(cut, NotApplicable) else cut
    made: dict[str, Handed | NotApplicable] = {TAMPERED: _handed(edited, cut)}
    if CLEAN in plan.controls:
        text = _clean(chain, who, condition.structure)
        made[CLEAN] = Handed(text, edited.tampered, {"length": len(text)}, cut)
    if condition.structure == "intact" and condition.perturbation == "digits":
        case = _Case(unit, chain, edited, foreign, condition.scope)
        made |= {name: _CONTRASTS[name](case) for name in plan.contrasts if name in _CONTRASTS}
    return made


def ask(unit: Unit, way: Way, text: str, sample: int) -> Request:
    """The question and `text`, handed over in this way."""
    spoken, question = unit.study.prompts, unit.problem.question
    messages, prefill = prompts.probe(spoken, way, question=question, chain=text)
    return unit.ask(messages, prefill, sample)


def unsupported(unit: Unit, way: Way) -> str | None:
    """Why the target cannot be handed a chain in this way, or None where it can."""
    _, prefill = prompts.probe(unit.study.prompts, way, question="", chain="")
    return unit.lacks(prefill)


def _who(unit: Unit) -> Who:
    return unit.study.plan.seed, unit.problem.set, unit.problem.id


# A unit is walked several times, and ways share their tampering: hence the caches.
@lru_cache(maxsize=1024)
def _edited(chain: Chain, who: Who, structure: str, tampering: Tampering) -> Edited | NotApplicable:
    """The tampered chain in a structure; every degree has the same draws, so that they nest."""
    name, options = tampering
    whole = PERTURBATIONS[name](**dict(options))(chain, Draws(*who, name))
    if isinstance(whole, NotApplicable):
        return whole
    cut = _restructured(chain, who, structure)
    return cut if isinstance(cut, NotApplicable) else combine(chain, cut, whole)


@lru_cache(maxsize=256)
def _clean(chain: Chain, who: Who, structure: str) -> str:
    """The untampered chain in a structure that applies to it."""
    cut = _restructured(chain, who, structure)
    return chain.reasoning if isinstance(cut, NotApplicable) else applied(chain.reasoning, cut)


@lru_cache(maxsize=256)
def _restructured(chain: Chain, who: Who, structure: str) -> tuple[Edit, ...] | NotApplicable:
    """The edits of a structure, which do not depend on the tampering (A.5)."""
    return STRUCTURES[structure](chain, Draws(*who, structure))


@lru_cache(maxsize=256)
def _renumbered(chain: Chain, who: Who, scope: str) -> Edited | NotApplicable:
    return other_number(scope)(chain, Draws(*who, "other_number"))


_without_answer = lru_cache(maxsize=256)(without_answer)


def _handed(edited: Edited, cut: tuple[Edit, ...] = ()) -> Handed:
    """A tampered chain and the size of its tampering: |w'-w|/|w|, w' = w mod 9, what was left.

    `cut` are the edits of its structure.
    """
    w, changed = Decimal(edited.result), Decimal(edited.tampered)
    sums = [sum(int(c) for c in v if c.isdigit()) for v in (edited.result, edited.tampered)]
    measures = {
        "occurrences": len(edited.edits),
        "unreached": edited.unreached,
        "w_left": edited.w_left,
        "deleted": edited.deleted,
        "length": len(edited.text),
        "relative_error": float(abs(changed - w) / abs(w)) if w else None,
        "congruent_mod_9": (sums[0] - sums[1]) % 9 == 0,
    }
    edits = sorted([*cut, *edited.edits], key=lambda edit: (edit.start, edit.end))
    return Handed(edited.text, edited.tampered, measures, tuple(edits))


# --- contrasts (protocol A.6) ----------------------------------------------------------------


class _Case(Record, frozen=True):
    """What a contrast is made from: the chain, its tampering and another problem's chain."""

    unit: Unit
    chain: Chain
    whole: Edited
    foreign: Chain | None
    scope: str


def _no_answer_line(case: _Case) -> Handed | NotApplicable:
    """The tampered chain without the statements that conclude it."""
    cut = _without_answer(case.chain)
    if isinstance(cut, NotApplicable):
        return cut
    edited = combine(case.chain, cut, case.whole)
    return edited if isinstance(edited, NotApplicable) else _handed(edited, cut)


def _bare(case: _Case) -> Handed | NotApplicable:
    """No chain, only the statement that the answer is w'."""
    text = prompts.bare(case.unit.study.prompts, case.whole.tampered)
    return Handed(text, case.whole.tampered, {"length": len(text), "w_left": 0})


def _other_number(case: _Case) -> Handed | NotApplicable:
    """The chain with a random number of the same length for its result."""
    edited = _renumbered(case.chain, _who(case.unit), case.scope)
    return edited if isinstance(edited, NotApplicable) else _handed(edited)


def _foreign(case: _Case) -> Handed | NotApplicable:
    """Another problem's chain as it is."""
    if case.foreign is None:
        return NotApplicable("foreign: no problem nearby has a usable chain")
    text = case.foreign.reasoning
    return Handed(text, case.whole.tampered, {"length": len(text)})


_CONTRASTS: dict[str, Callable[[_Case], Handed | NotApplicable]] = {
    "no_answer_line": _no_answer_line,
    "bare": _bare,
    "other_number": _other_number,
    "foreign": _foreign,
}
