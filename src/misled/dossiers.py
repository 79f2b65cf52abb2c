"""The record of one trial for a reader: what was sent, what came back, and why it was graded so.

    Dossier(id="9f0c...", title="...", facts=[("outcome", "adopted"), ...], why="The answer ...",
            sections=[Section("Question", pieces=[("What is 2 + 3?", "")]), ...])

Every text is raw, as it was sent or received: whoever shows it makes it safe. Knows
nothing about either study.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from misled.marks import Mark, Piece, moved, pieces
from misled.records import Prefill, Record, Request, Response, Step
from misled.roles import steps as cut

__all__ = [
    "LABELS",
    "LONGEST",
    "OTHER",
    "Beside",
    "Digits",
    "Dossier",
    "Section",
    "Side",
    "Turn",
    "facts",
    "messages",
    "steps",
    "text",
]

# What a reader sees for the names of fields, where these do not speak for themselves.
LABELS = {
    "set": "problems",
    "target": "model",
    "source": "chain of",
    "gold": "true result",
    "tampered": "tampered result",
    "d_t": "changed digits (D_T)",
    "n_adopted": "digits taken over",
    "n_wrong": "wrong digits",
    "r_cpt": "r_CPT",
    "r_hamming": "r by wrong digits",
    "occurrences": "places of the result changed",
    "unreached": "places that could not be changed",
    "w_left": "places that still state the true result",
    "deleted": "changed places that were taken out",
    "k": "counterfactual statements",
    "labelled_by": "label by",
    "inserted": "share of the chain put in",
    "removed": "share of the chain taken out",
    "repeated": "share of the chain that the answer repeats",
    "counted": "tokens counted here",
}
OTHER = "What this version does to the chain is not what was sent, so that nothing is marked"
LONGEST = 200_000  # code points of one text; the whole of it stands in the store
_CUT = "{left:,} of {size:,} characters are left out here; misled.db holds all of them"


class Turn(Record, frozen=True, omit_defaults=True):
    """One message, or what the reply was made to begin with."""

    role: str
    pieces: list[Piece]
    note: str = ""


class Digits(Record, frozen=True, omit_defaults=True):
    """True result, tampered result and the value that was read, place by place.

    A row is a place: the three characters and what the value did there (same, kept,
    adopted, wrong). There are none where the forms differ.
    """

    gold: str
    tampered: str | None
    value: str | None
    rows: list[tuple[str, str, str, str]] = []


class Section(Record, frozen=True, omit_defaults=True):
    """A text, messages, or digits under a heading; `fold` is shown on request."""

    title: str
    note: str = ""
    fold: bool = False
    pieces: list[Piece] = []
    messages: list[Turn] = []
    digits: Digits | None = None


class Beside(Record, frozen=True, omit_defaults=True):
    """Another trial that this one is read with."""

    title: str
    id: str
    note: str = ""


class Side(Record, frozen=True, omit_defaults=True):
    """One of two replies that stand side by side."""

    title: str
    id: str
    facts: list[tuple[str, str]]
    sections: list[Section]


class Dossier(Record, frozen=True, omit_defaults=True):
    """One trial."""

    id: str
    title: str
    facts: list[tuple[str, str]]
    why: str
    sections: list[Section]
    sides: list[Side] = []
    beside: list[Beside] = []


# A chain stands in many trials, and in each of them twice.
@lru_cache(maxsize=64)
def steps(said: str) -> tuple[Step, ...]:
    """The steps of a text, as far as it is shown."""
    return cut(said[:LONGEST])


def text(
    title: str,
    said: str,
    marks: Iterable[Mark] = (),
    *,
    roles: bool = False,
    note: str = "",
    fold: bool = False,
) -> Section:
    """A text under its heading, with the `roles` of its steps where they are asked for."""
    shown, cut = _shortened(said)
    found = pieces(shown, steps(shown) if roles else (), marks)
    note = "; ".join(filter(None, (note, cut)))
    return Section(title, note, fold, found)


def messages(request: Request, chain: str | None = None, marks: Sequence[Mark] = ()) -> Section:
    """What was sent, to the letter; where `chain` stands in it are its steps and `marks`."""
    turns: list[Turn] = []
    for message in request.messages:
        if message.reasoning is not None:
            turns.append(_turn(f"{message.role}, thinking", message.reasoning))
        turns.append(_turn(message.role, message.content, chain, marks))
    if request.prefill is not None:
        turns.append(_turn(_opening(request.prefill), request.prefill.text, chain, marks))
    return Section("Messages sent", fold=True, messages=turns)


def _opening(prefill: Prefill) -> str:
    what = "thinking" if prefill.field == "thinking" else "answer"
    closed = ", closed" if prefill.closed else ""
    return f"assistant, {what} that it had to go on from{closed}"


def _turn(role: str, said: str, chain: str | None = None, marks: Sequence[Mark] = ()) -> Turn:
    at = said.rfind(chain) if chain else -1
    spans: list[Mark] = []
    if chain and at >= 0:
        roles = (Mark(step.start, step.end, step.role) for step in steps(chain))
        spans = moved([*roles, *marks], at)
    shown, note = _shortened(said)
    return Turn(role, pieces(shown, (), spans), note)


def facts(request: Request | None, reply: Response | None) -> list[tuple[str, str]]:
    """How it was asked and how the reply ended."""
    found: list[tuple[str, str]] = []
    if request is not None:
        asked = request.sampling
        named = ((name, getattr(asked, name)) for name in asked.__struct_fields__)
        given = ", ".join(f"{name} {value}" for name, value in named if value is not None)
        found += [("sampling", given or "the provider's default"), ("request", request.key)]
    if reply is not None:
        found.append(("finish", reply.finish))
    return found


def _shortened(said: str) -> tuple[str, str]:
    """`said` up to the longest that is shown, and what is to be said of the rest."""
    left = len(said) - LONGEST
    return (said[:LONGEST], _CUT.format(left=left, size=len(said))) if left > 0 else (said, "")
