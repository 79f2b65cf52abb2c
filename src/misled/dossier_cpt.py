"""Study A: the dossier of one trial, from its row, what was sent and what came back.

    dossier(Case(id, row, unit, request, reply, source)) -> Dossier(why="The answer ...", ...)

What was done to the chain is done again by the functions that did it, and shown only where
it gives the text that was sent. Knows nothing about stores.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from misled import answers, dossiers, handing, prompts, reasons, replies
from misled.conditions import Condition
from misled.dossiers import Beside, Digits, Dossier, Section
from misled.marks import Mark, edited
from misled.records import Answer, NotApplicable, Record, Request, Response
from misled.row import Row
from misled.templates import parts
from misled.units import Unit

__all__ = ["Case", "dossier"]

ALONE = ("source", "gate", "again")  # the question, and no chain
REPLAYS = ("replay", "replay_question", "replay_text")

_WHOLE = {
    "foreign": "The chain of another problem, as it is",
    "bare": "No chain, only the statement of the tampered result",
}
_FACTS = (
    *("outcome", "target", "method", "d_t", "value", "gold", "tampered", "r_cpt", "reason"),
    *("n_adopted", "n_wrong", "r_hamming", "source", "set", "problem", "arm", "structure"),
    *(
        "channel",
        "attribution",
        "perturbation",
        "scope",
        "place",
        "sample",
        "feed",
        "flags",
        "occurrences",
    ),
    *("unreached", "w_left", "deleted", "relative_error", "prompt_tokens", "cached_tokens"),
    *("completion_tokens", "reasoning_tokens", "answer_tokens", "counted", "seconds", "attempts"),
)


class Case(Record, frozen=True):
    """What a dossier is made of; `source` is the reply whose chain is handed over."""

    id: str
    row: Row
    unit: Unit
    request: Request | None = None
    reply: Answer | None = None
    source: Response | None = None
    beside: tuple[Beside, ...] = ()


class _Sent(Record, frozen=True):
    """A chain as it was sent, or would have been, and what was done to it."""

    text: str
    marks: tuple[Mark, ...] = ()
    note: str = ""


def dossier(case: Case) -> Dossier:
    """The record of one trial."""
    row, question = case.row, case.unit.problem.question
    sent = _sent(case)
    marks, said = _read(row, case.reply)
    sections = [dossiers.text("Question", question), *_around(case, sent), *_chain(case, sent)]
    if case.request is not None:
        chain, done = (sent.text, sent.marks) if sent else (None, ())
        sections.append(dossiers.messages(case.request, chain, done))
    sections += replies.replied(case.reply, marks, "value" if row.value is not None else "")
    sections += said
    reply = case.reply if isinstance(case.reply, Response) else None
    return Dossier(
        id=case.id,
        title=title(row),
        facts=[*_facts(row), *dossiers.facts(case.request, reply)],
        why=reasons.why(row, case.reply),
        sections=sections,
        beside=list(case.beside),
    )


def title(row: Row) -> str:
    """`acme/m, baseline, D_T 2: adopted (addition:15+13 7, tampered, intact, user, digits)`."""
    degree = None if row.d_t is None else f"D_T {row.d_t}"
    sample = f"sample {row.sample}" if row.sample else None
    who = ", ".join(filter(None, (row.target, row.method, degree)))
    how = (f"{row.set} {row.problem}", row.arm, row.structure, row.channel, row.perturbation)
    named = ", ".join(filter(None, (*how, sample)))
    return f"{who}: {reasons.called(row.arm, row.outcome, row.reason)} ({named})"


def _facts(row: Row) -> Iterable[tuple[str, str]]:
    for name in _FACTS:
        value = getattr(row, name)
        if value is None or value == ():
            continue
        if name == "outcome":
            said = reasons.called(row.arm, row.outcome, row.reason)
        elif isinstance(value, float):
            said = f"{value:.4g}"
        else:
            said = ", ".join(value) if isinstance(value, tuple) else str(value)
        yield dossiers.LABELS.get(name, name.replace("_", " ")), said


def _read(row: Row, reply: Answer | None) -> tuple[list[Mark], list[Section]]:
    """Where the answer states its value, and that value digit by digit."""
    gold = answers.canonical(row.gold)
    if row.value is None or gold is None or not isinstance(reply, Response):
        return [], []
    rows = replies.digits(row.value, gold, row.tampered)
    note = "" if rows else "The forms differ, so that no digit stands beside another"
    if row.arm in ("clean", "again"):
        against = "The tampered result is that of the trial that this one is paired with"
        note = "; ".join(filter(None, (against, note)))
    shown = Digits(gold, row.tampered, row.value, rows)
    section = Section("The answer, digit by digit", note, digits=shown)
    answer = replies.answer_of(reply)
    return replies.stating(answer, row.value, row.gold, row.tampered), [section]


# --- the chain -------------------------------------------------------------------------------


def _around(case: Case, sent: _Sent | None) -> list[Section]:
    """What was said besides question and chain, and the beginning that the reply was given."""
    request = case.request
    if request is None or sent is None or case.row.arm in REPLAYS:
        return []
    turns = [message.content for message in request.messages if message.role == "user"]
    before, _, after = "\n".join(turns).rpartition(sent.text)
    said = f"{before}{after}".replace(case.unit.problem.question, "", 1).strip()
    found = [dossiers.text("What was said of the chain", said)] if said else []
    if request.prefill is not None and request.prefill.field == "content":
        found.append(dossiers.text("The beginning of the reply, as given", request.prefill.text))
    return found


def _chain(case: Case, sent: _Sent | None) -> list[Section]:
    if sent is not None:
        title = "The chain as sent" if case.request else "The chain that would have been sent"
        return [dossiers.text(title, sent.text, sent.marks, roles=True, note=sent.note)]
    if case.row.outcome == "not_applicable" and case.source is not None:
        chain = handing.fed(case.unit, case.source).chain.reasoning
        return [dossiers.text("The chain, of which nothing was sent", chain, roles=True)]
    return []


def _sent(case: Case) -> _Sent | None:
    """The chain that was sent, as the request itself says; None where there was none."""
    row = case.row
    if row.arm in ALONE:
        return None
    if row.arm in REPLAYS:
        text = _replayed(case)
        return None if text is None else _Sent(text, note="Sent back as it is")
    made, text = _made(case), _handed(case)
    if text is None:
        if made is None or not (row.outcome == "unsupported" or _holds(case.request, made.text)):
            return None
        text = made.text
    if row.arm in _WHOLE:
        return _Sent(text, note=_WHOLE[row.arm])
    if made is None or made.text != text:
        return _Sent(text, note=dossiers.OTHER)
    return _Sent(text, tuple(edited(made.edits)), _done(made, row))


def _handed(case: Case) -> str | None:
    """The chain in the messages of a probe."""
    if case.request is None:
        return None
    spoken = case.unit.study.prompts
    found = prompts.read(spoken, case.request.messages, case.request.prefill)
    return found.chain if found else None


def _holds(request: Request | None, text: str) -> bool:
    """Whether a text was sent, in whatever words."""
    turns = [message.content for message in request.messages] if request else []
    return any(text in turn for turn in turns)


def _replayed(case: Case) -> str | None:
    if case.request is None:
        return None
    said = case.request.messages[0].content
    if case.row.arm != "replay_question":
        return said
    template = case.unit.study.prompts.replay_question
    head, first, middle, _, tail = parts(template, ("question", "chain"))
    before = f"{head}{case.unit.problem.question}{middle}"
    if first != "question" or not (said.startswith(before) and said.endswith(tail)):
        return None
    return said[len(before) : len(said) - len(tail)]


def _made(case: Case) -> handing.Handed | None:
    """What the arm's text is made into now, with its edits."""
    condition = _conditions(case.unit.conditions).get(_key(case.row))
    if condition is None or case.source is None:
        return None
    chain = handing.fed(case.unit, case.source).chain
    made = handing.arms(case.unit, condition, chain, None).get(case.row.arm)
    return None if isinstance(made, NotApplicable) else made


@lru_cache(maxsize=64)
def _conditions(every: tuple[Condition, ...]) -> dict[tuple[str, ...], Condition]:
    return {tuple(map(str, condition.keys.values())): condition for condition in every}


def _key(row: Row) -> tuple[str, ...]:
    names = ("mode", "method", "attribution", "channel", "structure", "perturbation", "scope")
    return tuple(str(getattr(row, name)) for name in (*names, "place", "d_t"))


def _done(made: handing.Handed, row: Row) -> str:
    """What was done to the chain, in words."""
    changed = sum(bool(edit.before and edit.after) for edit in made.edits)
    gone = [edit.before for edit in made.edits if not edit.after]
    put = [edit.after for edit in made.edits if not edit.before]
    said = []
    if changed:
        digits = f", {row.d_t} {'digit' if row.d_t == 1 else 'digits'} in each" if row.d_t else ""
        stands = "place that states the result" if changed == 1 else "places that state the result"
        said.append(f"Changed in {changed} {stands}{digits}")
    if gone:
        size = sum(map(len, gone))
        said.append(
            f"{len(gone)} {'part' if len(gone) == 1 else 'parts'} of {size:,} characters taken out"
        )
    if put:
        said.append(f"{sum(map(len, put)):,} characters put in")
    return "; ".join(said) or "As its source wrote it"
