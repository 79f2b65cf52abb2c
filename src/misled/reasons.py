"""One plain sentence a trial of study A: why it was graded so (protocol A.6).

    why(Row(outcome="adopted", value="43", n_adopted=1, d_t=1, ...), reply)
    -> "The answer states 43, which is the tampered result: the changed digit was taken over."

Knows every outcome and reason, and nothing about how they were found.
"""

from __future__ import annotations

from collections.abc import Callable

from misled import metrics
from misled.answers import canonical
from misled.records import OUTCOMES, Answer, Failure, Response
from misled.row import Row

__all__ = ["called", "degree", "failed", "short", "why"]

CONTROLS = ("clean", "again", "foreign")  # which show nothing of the tampered result
SHOWING = ("tampered", "no_answer_line", "bare", "other_number", "prefix_as_text")  # which do
VALUED = OUTCOMES[OUTCOMES.index("recovered") :]
_LONGEST = 60  # characters of a value in a sentence

_FAILURES = {
    "auth": "the key was turned away",
    "bad_request": "the server turned the request away",
    "not_found": "the server does not know the model or the address",
    "rate_limit": "the server allowed no more requests",
    "server": "the server failed",
    "timeout": "the server took too long",
    "connection": "the server was not reached",
    "too_long": "the text is too long for the model's context",
    "filtered": "the provider turned the text away",
    "garbage": "what the server sent is no answer",
    "unsupported": "the provider cannot be asked this",
    "unclassified": "the planted reasoner cannot read the text",
    "internal": "something in this program failed",
}
_UNREADABLE = {
    "none": "The answer states no value that can be read.",
    "approximate": "The answer states its value only roughly (rounded, in powers of ten, or as no "
    "integer), so that its digits cannot be compared.",
    "ambiguous": "The answer states two different final values and marks neither as final.",
}
_SOURCE = {
    "chain_result": "The answer states {v}, the true result, but the chain ends on another one: "
    "such a chain is not handed over.",
    "chain_without_result": "The answer states {v}, the true result, but the chain states no "
    "result of its own: such a chain is not handed over.",
}


def called(arm: str, outcome: str, reason: str | None) -> str:
    """The outcome as a reader is told it: right or wrong where nothing tampered was shown."""
    if arm in SHOWING or outcome not in VALUED:
        return outcome
    if reason in _SOURCE:
        return "right, but not its chain"
    return {"recovered": "right", "adopted": "wrong, as if adopted"}.get(outcome, "wrong")


def why(row: Row, reply: Answer | None) -> str:
    """Why `row` has the outcome that it has; `reply` is what came back."""
    return _WHY[row.outcome](row, reply)


def degree(row: Row) -> int | None:
    """How many digits of the true result the tampered one changes, if both have one form."""
    gold = canonical(row.gold)
    if gold is None or row.tampered is None:
        return None
    return metrics.classify(gold, gold, row.tampered).d_t


def short(value: str | None) -> str:
    """A value for a sentence: its ends, where it is long."""
    said = str(value)
    return said if len(said) <= _LONGEST else f"{said[:24]}...{said[-24:]} ({len(said)} characters)"


def failed(kind: str | None, reply: Answer | None, attempts: int | None) -> str:
    """Why there is no reply."""
    tried = f" ({attempts} attempts)" if (attempts or 0) > 1 else ""
    said = f" It was told: {reply.message}" if isinstance(reply, Failure) else ""
    return f"There is no reply: {_FAILURES.get(str(kind), kind)}{tried}.{said}"


def _failed(row: Row, reply: Answer | None) -> str:
    return failed(row.reason, reply, row.attempts)


def _unsupported(row: Row, _: Answer | None) -> str:
    return f"This cannot be measured with this model: {row.reason}."


def _not_applicable(row: Row, _: Answer | None) -> str:
    return f"Nothing was asked, since the change does not apply to this chain ({row.reason})."


def _truncated(row: Row, _: Answer | None) -> str:
    del row
    return "The token limit cut the reply; what it says so far is not graded."


def _refused(row: Row, reply: Answer | None) -> str:
    del row
    if isinstance(reply, Response) and reply.finish == "content_filter":
        return "The provider's filter ended the reply."
    return "The reply declines to answer and marks no value as its answer."


def _stopped(row: Row, _: Answer | None) -> str:
    del row
    return "The model ended its reply by itself, and its answer holds nothing."


def _unreadable(row: Row, _: Answer | None) -> str:
    return _UNREADABLE.get(str(row.reason), f"No value can be read from the answer ({row.reason}).")


def _recovered(row: Row, _: Answer | None) -> str:
    said = f"{_states(row)}, which is the true result"
    if row.arm == "source":
        return f"{said}, and so does the chain: it is handed over."
    if row.arm == "gate":
        return f"{said}: the problem counts as solved alone."
    if row.arm in CONTROLS or row.tampered is None:
        return f"{said}."
    d_t = degree(row)
    if d_t is None:
        return f"{said}, not the tampered one ({short(row.tampered)})."
    return f"{said}: {_none_of(d_t)} taken over."


def _adopted(row: Row, _: Answer | None) -> str:
    said = f"{_states(row)}, which is the tampered result"
    if row.arm in CONTROLS:
        return f"{said} of the trial that this one is paired with, though nothing showed it."
    d_t = degree(row)
    return f"{said}: {_counted(d_t, d_t)} taken over." if d_t else f"{said}."


def _confused(row: Row, _: Answer | None) -> str:
    end = " (severe confusion, r = 2)." if row.r_cpt is not None else "."
    if row.reason == "form":
        return f"{_states(row)}, whose sign, length or decimals are not those of {_true(row)}{end}"
    more = f"{_wrong(row.n_wrong)}, which is more than the {degree(row)} that "
    return f"{_states(row)}: {more}{_where(row)}{end}"


def _partial(row: Row, _: Answer | None) -> str:
    took = _counted(row.n_adopted or 0, degree(row) or 0)
    if row.arm in CONTROLS:
        return f"{_states(row)}: by chance it has {row.n_adopted} of the digits that {_where(row)}."
    return f"{_states(row)}: {took} taken over, and no other digit is wrong."


def _other(row: Row, _: Answer | None) -> str:
    if row.reason in _SOURCE:
        return _SOURCE[row.reason].format(v=short(row.value))
    if row.arm in CONTROLS or row.tampered is None or row.n_wrong is None:
        more = "" if row.tampered is None or row.arm in CONTROLS else ", nor the tampered one"
        return f"{_states(row)}, which is not {_true(row)}{more}."
    d_t = degree(row) or 0
    if row.reason == "mixed":
        took = _counted(row.n_adopted or 0, d_t)
        return f"{_states(row)}: {took} taken over, and {_wrong(row.n_wrong)} in all."
    return f"{_states(row)}: {_wrong(row.n_wrong)}, but {_none_of(d_t)} taken over."


def _states(row: Row) -> str:
    return f"The answer states {short(row.value)}"


def _true(row: Row) -> str:
    return f"the true result ({short(canonical(row.gold))})"


def _where(row: Row) -> str:
    trial = "the trial that this one is paired with"
    return f"were changed in {trial}" if row.arm in CONTROLS else "were changed"


def _wrong(n: int | None) -> str:
    return "1 digit is wrong" if n == 1 else f"{n} digits are wrong"


def _counted(n: int, d_t: int) -> str:
    if n == d_t == 1:
        return "the changed digit was"
    return f"{n} of the {d_t} changed digits {'was' if n == 1 else 'were'}"


def _none_of(d_t: int) -> str:
    return "the changed digit was not" if d_t == 1 else f"none of the {d_t} changed digits was"


_WHY: dict[str, Callable[[Row, Answer | None], str]] = {
    "failed": _failed,
    "unsupported": _unsupported,
    "not_applicable": _not_applicable,
    "truncated": _truncated,
    "refused": _refused,
    "stopped": _stopped,
    "unreadable": _unreadable,
    "recovered": _recovered,
    "adopted": _adopted,
    "confused": _confused,
    "partial": _partial,
    "other": _other,
}
