"""The JSON contracts of `split`, `tamper` and `grade`: one record in, one record out.

    {"answer": "so it is 42.", "gold": "42"}  ->  {"value": "42", "outcome": "recovered", ...}

Values are strings, never JSON numbers; offsets count code points of the input.
A record that cannot be used raises `RecordError`, which the command line turns
into that record's `error` and goes on. Knows nothing about files or streams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from misled import chains, metrics
from misled.draws import Draws
from misled.errors import MisledError, UserError
from misled.perturbations import PERTURBATIONS
from misled.records import Chain, Edit, NotApplicable

__all__ = ["RecordError", "grade", "split", "tamper"]


class RecordError(MisledError):
    """A record that cannot be used; `kind` is type, missing, value, digits or json."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Output(msgspec.Struct, frozen=True):
    """A model's output: as it came, or with its two parts apart. Other fields are ignored."""

    raw: str | None = None
    reasoning: str | None = None
    answer: str | None = None

    def chain(self) -> Chain:
        """The chain that the record holds."""
        if self.raw is not None:
            return chains.split(self.raw)
        if self.reasoning is None:
            raise RecordError("missing", "needs `raw`, or `reasoning` (and `answer`)")
        return Chain(reasoning=self.reasoning, answer=self.answer or "")


class _Reply(msgspec.Struct, frozen=True):
    """A reply to grade."""

    answer: str
    gold: str
    tampered: str | None = None
    reasoning: str | None = None
    finish: Literal["stop", "length", "content_filter"] = "stop"


def _read(record: Mapping[str, Any], kind: type[Any]) -> Any:
    try:
        return msgspec.convert(record, kind)
    except msgspec.ValidationError as error:
        word = str(error)
        raise RecordError("missing" if "missing" in word else "type", word) from None


def split(record: Mapping[str, Any]) -> dict[str, Any]:
    """Reasoning, answer, their spans in `raw`, and the steps that tile the reasoning."""
    chain = _read(record, _Output).chain()
    return {
        "reasoning": chain.reasoning,
        "answer": chain.answer,
        "spans": {"reasoning": chain.reasoning_span, "answer": chain.answer_span},
        "steps": [
            {"start": step.start, "end": step.end, "role": step.role}
            for step in chains.steps(chain.reasoning)
        ],
    }


def tamper(
    record: Mapping[str, Any], draws: Draws, perturbation: str = "digits", **options: Any
) -> dict[str, Any]:
    """The input with its own result tampered with, or `text` null and the reason."""
    output = _read(record, _Output)
    chain = output.chain()
    edited = PERTURBATIONS[perturbation](**options)(chain, draws)
    counted = {"unreached": edited.unreached, "w_left": edited.w_left}
    if isinstance(edited, NotApplicable):
        if edited.reason.startswith("digits:"):
            raise RecordError("digits", edited.reason)
        nothing: dict[str, Any] = {"text": None, "result": edited.result, "tampered": None}
        return nothing | {"edits": []} | counted | {"reason": edited.reason}
    text, shift = edited.text, 0
    if output.raw is not None and chain.reasoning_span is not None:
        shift, end = chain.reasoning_span
        text = output.raw[:shift] + edited.text + output.raw[end:]
    return {
        "text": text,
        "result": edited.result,
        "tampered": edited.tampered,
        "edits": [_shifted(edit, shift) for edit in edited.edits],
        **counted,
    }


def _shifted(edit: Edit, by: int) -> dict[str, Any]:
    return {
        "start": edit.start + by,
        "end": edit.end + by,
        "before": edit.before,
        "after": edit.after,
    }


def grade(record: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a reply (protocol A.6), null where undefined; thinking in it is taken off."""
    reply = _read(record, _Reply)
    chain = chains.of(reply.answer, reply.reasoning)
    try:
        graded = metrics.grade(
            chain.answer if chain.delimited else reply.answer,
            reply.gold,
            tampered=reply.tampered,
            reasoning=chain.reasoning,
            finish=reply.finish,
        )
    except UserError as error:
        raise RecordError("value", str(error)) from None
    return msgspec.structs.asdict(graded) | {"flags": list(graded.flags)}
