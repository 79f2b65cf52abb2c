"""One plain sentence or two for each line of study B: why it is labelled or read as it is.

    why(Judged(arm="judge", verdict="accept", label=False, ...), reply, "misled")
    -> "The reply accepts the answer, which is wrong (its value ...). Without the chain ..."

Knows every outcome and reason, and nothing about how they were found.
"""

from __future__ import annotations

from misled.flips import FLIPS, KEPT
from misled.reasons import failed
from misled.records import Answer
from misled.row import Judged

__all__ = ["SIDES", "labelled", "moved", "transition", "why"]

SIDES = {True: "right", False: "wrong", None: "none"}

_UNREAD = {
    "none": "The reply gives no verdict.",
    "hedged": "The reply doubts, leans or makes conditions: that is no verdict.",
    "partial": "The reply gives a verdict by halves, which is on no side.",
    "both": "The reply gives both verdicts at once.",
    "error": "What came is a server's error message, no verdict.",
    "truncated": "The token limit cut the reply: what it says so far is no verdict.",
    "refused": "The reply declines to judge.",
}
_UNLABELLED = {
    "none": "it states no value",
    "ambiguous": "it states two different final values",
    "approximate": "it states its value only roughly",
    "unparsed": "its formula could not be read",
    "timeout": "comparing the formulas took too long",
    "memory": "comparing the formulas took too much memory",
    "crash": "comparing the formulas failed",
    "unverified": "it matches no accepted answer, and the verifier said nothing that can be read",
}
_NO_ANSWER = {
    "truncated": "the token limit cut it",
    "refused": "it declines to answer",
    "error": "it is a server's error message",
    "empty": "its answer holds nothing",
}
_BY = {
    ("deterministic", True): "its value equals an accepted answer",
    ("deterministic", False): "its value equals no accepted answer",
    ("match", True): "it names an accepted answer",
    ("match", False): (
        "in at most ten words it names no accepted answer, and no verifier was asked: provisional, "
        "since a longer answer may be right"
    ),
    ("verifier", True): "the verifier says that it means an accepted answer",
    ("verifier", False): "the verifier says that it means no accepted answer",
    ("given", True): "the file says so",
    ("given", False): "the file says so",
}
_SAYS = {"accept": "accepts", "reject": "rejects"}
_SAID = {"accept": "accepted", "reject": "rejected"}
_FLIPPED = {cell: name for name, cell in FLIPS.items()}
_STAYED = {cell: name for name, cell in KEPT.items()}


def why(row: Judged, reply: Answer | None, turned: str | None = None) -> str:
    """Why `row` has its label or its verdict; `turned` is what the chain did to the verdict."""
    if row.outcome == "failed":
        return failed(row.reason, reply, row.attempts)
    if row.outcome == "unsupported":
        return f"This cannot be measured with this model: {row.reason}."
    if row.outcome == "not_applicable":
        return f"Nothing was asked, since this condition does not apply here ({row.reason})."
    if row.arm != "judge":
        return _generated(row)
    label = f" {labelled(row)}" if row.label is not None else ""
    if row.verdict is None:
        name = row.outcome if row.outcome in _UNREAD else str(row.reason)
        return _UNREAD.get(name, f"No verdict can be read ({row.reason}).") + label
    said = f"The reply {_SAYS[row.verdict]} the answer."
    return f"{said}{label}{moved(turned)}"


def labelled(row: Judged) -> str:
    """Whether the answer is right, and who says so."""
    if row.label is None:
        return f"The answer has no label: {_UNLABELLED.get(str(row.reason), row.reason)}."
    by = _BY.get((str(row.labelled_by), row.label), f"by {row.labelled_by}")
    return f"The answer is {SIDES[row.label]}: {by}."


def transition(label: bool | None, before: str | None, after: str | None) -> str | None:  # noqa: FBT001 - three-valued
    """What the chain did to a verdict: misled, corrected ..., or unchanged and on which side."""
    if label is None or before is None or after is None:
        return None
    cell = (int(label), int(before == "accept"), int(after == "accept"))
    return _FLIPPED.get(cell) or f"unchanged, {_STAYED[cell].replace('_', ' ')}"


def moved(turned: str | None) -> str:
    """What the chain did, as a sentence after another one; "" where it is not known."""
    if turned is None:
        return ""
    if turned.startswith("unchanged"):
        return " The verdict is the same with and without the chain."
    _, before, after = FLIPS[turned]
    words = ("rejected", "accepted")
    return f" Without the chain it was {words[before]}, with it {words[after]}: {turned}."


def _generated(row: Judged) -> str:
    """Of an answer: whether there is one, and its label."""
    if row.outcome == "no_answer":
        return (
            f"This is no answer: {_NO_ANSWER.get(str(row.reason), row.reason)}. It is not judged."
        )
    return labelled(row)
