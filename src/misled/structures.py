r"""Structures: a chain with steps taken out or put in, all else byte for byte the same.

    >>> chain = Chain("12 + 30 = 42. Wait, is that so? Check: 42 - 30 = 12. So it is 42.", "")
    >>> edits = STRUCTURES["delete_reflection"](chain, Draws(0, "p", "structure"))
    >>> applied(chain.reasoning, edits)
    '12 + 30 = 42. Check: 42 - 30 = 12. So it is 42.'

A structure [protocol A.5] gives edits of the reasoning, so that they combine
with those of a tampering of the same chain. Whole sentences go, with one of the
two separators round them; a sentence that only announces what goes (it ends
with a colon) goes, too. What is put in is English, and stands before the first
verification that follows a reflection.

The controls: `delete_random` takes away calculation that does not hold the
result, of the length that `delete_reflection` takes away, and `delete_random_v`
of the length that `delete_verification` does; `insert_neutral` puts in a text on
the task, of the length and in the place of what `insert` puts in.

Knows neither the question nor whether a step is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache, partial
from statistics import median
from typing import TypeAlias, TypeVar

from misled.answers import is_marked
from misled.asides import on_angles, on_the_task
from misled.draws import Draws
from misled.numbers import Number
from misled.perturbations import applied
from misled.records import Chain, Edit, Edited, NotApplicable, Role, Step
from misled.results import endings, find, places
from misled.roles import steps
from misled.sentences import sentences

__all__ = ["STRUCTURES", "Structure", "combine", "without", "without_answer"]

Structure: TypeAlias = Callable[[Chain, Draws], tuple[Edit, ...] | NotApplicable]
_Span = TypeVar("_Span", Edit, Number)

_ABOUT = 0.2  # how far the control of a deletion may stay short of it
_BLANK_LINES = re.compile(r"\n\s*\n")
_COLONS = (":", "：")
_YES = re.compile(
    r"[\s>#*_\-•]*(?:yes|yep|yeah|yup|right|correct|exactly|indeed|是的|对)\b", re.IGNORECASE
)
_MARK = re.compile(r"boxed|####|answer|final|答案|答え", re.IGNORECASE)  # where a look is worth it
_ROW = re.compile(r"[^A-Za-z=\u4e00-\u9fff]*\Z")  # of figures that stand in columns


def combine(chain: Chain, edits: Sequence[Edit], tampering: Edited) -> Edited | NotApplicable:
    """The tampered chain with a structure's edits, which index the same untampered reasoning.

    `edits` of what is returned are the tampered places that are left; `deleted`
    counts those that went with a sentence. Not applicable where none is left.
    """
    gone = [edit for edit in edits if edit.before]
    left = _outside(tampering.edits, gone)
    if not left:
        return NotApplicable("structure: it takes away every tampered place", tampering.result)
    if not edits:
        return tampering
    held, missed = _untouched(chain, tampering)
    both = sorted([*edits, *left], key=lambda edit: (edit.start, edit.end))
    return Edited(
        text=applied(chain.reasoning, both),
        result=tampering.result,
        tampered=tampering.tampered,
        edits=tuple(left),
        places=tampering.places,
        unreached=len(_outside(missed, gone)),
        w_left=len(_outside(held, gone)),
        deleted=len(tampering.edits) - len(left),
    )


def _untouched(chain: Chain, tampering: Edited) -> tuple[list[Number], list[Number]]:
    """The places of the result that a tampering left, and those of them in its scope."""
    result = find(chain)
    if result is None:
        return [], []
    held = places(chain.reasoning, result)
    changed = {edit.start for edit in tampering.edits}
    left = [place for place in held if place.start not in changed]
    if not tampering.unreached:
        return left, []
    n = len(tampering.edits) + tampering.unreached
    # The scope is one of: every place, every ending, the last ending.
    scoped = held if n == len(held) else endings(chain.reasoning, result, held)[-n:]
    return left, [place for place in scoped if place.start not in changed]


def _outside(spans: Sequence[_Span], gone: Sequence[Edit]) -> list[_Span]:
    """Those of `spans` that no deletion touches; both are ascending and disjoint."""
    left: list[_Span] = []
    deletions = iter(gone)
    deletion = next(deletions, None)
    for span in spans:
        while deletion and deletion.end <= span.start:
            deletion = next(deletions, None)
        if not deletion or span.end <= deletion.start:
            left.append(span)
    return left


def without_answer(chain: Chain) -> tuple[Edit, ...] | NotApplicable:
    """The deletions after which the chain still calculates, but no longer says what its answer is.

    Conclusions go, and every sentence with a marked value (a box, "the answer is").
    """
    text = chain.reasoning
    chosen = {
        i
        for i, sentence in enumerate(_sentences(text))
        if sentence.role == "conclusion" or _says_answer(text[sentence.start : sentence.end])
    }
    if not chosen:
        return NotApplicable("structure: the chain has no conclusion")
    return without(text, chosen)


def _says_answer(sentence: str) -> bool:
    return _MARK.search(sentence) is not None and is_marked(sentence)


# --------------------------------------------------------------------------- deletions


def _delete(role: Role, chain: Chain, draws: Draws) -> tuple[Edit, ...] | NotApplicable:
    """The deletion of all steps of `role`."""
    del draws
    chosen = {i for i, s in enumerate(_sentences(chain.reasoning)) if s.role == role}
    if not chosen:
        return NotApplicable(f"structure: the chain has no {role}")
    return without(chain.reasoning, chosen)


def _delete_random(role: Role, chain: Chain, draws: Draws) -> tuple[Edit, ...] | NotApplicable:
    """The deletion of as much calculation as there is of `role`, drawn among what is loose."""
    matched = _delete(role, chain, draws)
    if isinstance(matched, NotApplicable):
        return matched
    text = chain.reasoning
    length = sum(len(edit.before) for edit in matched)
    cut = _sentences(text)
    chosen: set[int] = set()
    taken = 0
    for block in draws.shuffled(_blocks(_loose(chain))):
        for i in block:
            size = cut[i].end - cut[i].start
            if taken + size - length > length - taken:
                break
            chosen.add(i)
            taken += size
    if taken < (1 - _ABOUT) * length:
        return NotApplicable(f"structure: too little calculation to match the {role}")
    return without(text, chosen)


def _loose(chain: Chain) -> list[int]:
    """Sentences of calculation that do not hold the result, nor hang on one that does."""
    text, found = chain.reasoning, find(chain)
    cut = _sentences(text)
    held = iter(places(text, found) if found else ())
    place = next(held, None)
    loose: list[int] = []
    for i, sentence in enumerate(cut):
        free = True
        while place and place.start < sentence.end:
            free = False
            if place.end > sentence.end:
                break
            place = next(held, None)
        announced = i > 0 and _announces(text, cut[i - 1]) and loose[-1:] != [i - 1]
        row = _ROW.match(text, sentence.start, sentence.end)
        if free and not announced and not row and sentence.role == "calculation":
            loose.append(i)
    return loose


def _blocks(indices: Sequence[int]) -> list[list[int]]:
    """Maximal runs of neighbours."""
    blocks: list[list[int]] = []
    for i in indices:
        if blocks and blocks[-1][-1] == i - 1:
            blocks[-1].append(i)
        else:
            blocks.append([i])
    return blocks


def without(text: str, chosen: Collection[int]) -> tuple[Edit, ...] | NotApplicable:
    """The edits that delete the chosen of `sentences(text)` and what only announces them."""
    cut = _sentences(text)
    going = set(chosen)
    for i in sorted(chosen):
        before = i - 1
        while before >= 0 and before not in going and _announces(text, cut[before]):
            going.add(before)
            before -= 1
    blocks = _blocks(sorted(going))
    if len(going) == len(cut):
        return NotApplicable("structure: it would leave nothing of the chain")
    spans = [_span(text, cut[block[0]].start, cut[block[-1]].end) for block in blocks]
    return tuple(Edit(start, end, text[start:end], "") for start, end in spans)


def _span(text: str, start: int, end: int) -> tuple[int, int]:
    """`start:end` and white space beside it, so that the wider of two separators is left."""
    left, right = _stripped(text, start), _stripped(text, end)
    if left == 0:
        return 0, end
    before, after = text.count("\n", left, start), text.count("\n", right, end)
    if end == len(text) or after > before or left == start:
        return left, right
    if after:  # the line that follows keeps its own indentation
        return text.rindex("\n", left, start) + 1, text.rindex("\n", right, end) + 1
    return start, end


# --------------------------------------------------------------------------- insertions


def _insert(
    written: Callable[[str, Draws], Iterator[str]], chain: Chain, draws: Draws
) -> tuple[Edit, ...] | NotApplicable:
    """The insertion of a text as long as the median reflection, before a verification."""
    text = chain.reasoning
    at = _opening(text)
    if isinstance(at, NotApplicable):
        return at
    cut = _sentences(text)
    doubts = _blocks([i for i, s in enumerate(cut) if s.role == "reflection"])
    length = median(_stripped(text, cut[d[-1]].end) - cut[d[0]].start for d in doubts)
    gap = _BLANK_LINES.sub("\n\n", text[_stripped(text, at) : at])
    return (Edit(at, at, "", _fitted(written(text, draws), length) + gap),)


def _fitted(written: Iterator[str], length: float) -> str:
    """Sentences up to the nearest to `length`, at least one."""
    parts = [next(written)]
    size = len(parts[0])
    for sentence in written:
        longer = size + 1 + len(sentence)
        if longer - length > length - size:
            break
        parts.append(sentence)
        size = longer
    return " ".join(parts)


def _opening(text: str) -> int | NotApplicable:
    """Where the first verification that follows a reflection begins, with its announcement.

    One that only answers a question ("Is it? Yes.") is taken if there is no other.
    """
    cut = _sentences(text)
    first = next((i for i, s in enumerate(cut) if s.role == "reflection"), None)
    if first is None:
        return NotApplicable("structure: the chain has no reflection")
    checks = [
        i for i in range(first + 1, len(cut)) if cut[i].role == "verification" != cut[i - 1].role
    ]
    if not checks:
        return NotApplicable("structure: no verification follows a reflection")
    asked = (i for i in checks if not _answers(text, cut[i - 1], cut[i]))
    at = next(asked, checks[0])
    while at > 0 and _announces(text, cut[at - 1]):
        at -= 1
    return cut[at].start


def _answers(text: str, before: Step, sentence: Step) -> bool:
    """Whether the sentence says yes to the question before it."""
    asked = text[_stripped(text, before.end) - 1 : before.end].strip() in {"?", "？"}
    return asked and _YES.match(text, sentence.start) is not None


# --------------------------------------------------------------------------- sentences


def _intact(chain: Chain, draws: Draws) -> tuple[Edit, ...]:
    del chain, draws
    return ()


STRUCTURES: dict[str, Structure] = {
    "intact": _intact,
    "delete_reflection": partial(_delete, "reflection"),
    "delete_verification": partial(_delete, "verification"),
    "insert": partial(_insert, on_angles),
    "delete_random": partial(_delete_random, "reflection"),
    "delete_random_v": partial(_delete_random, "verification"),
    "insert_neutral": partial(_insert, on_the_task),
}


# A chain is restructured in several ways, and each needs its sentences.
@lru_cache(maxsize=16)
def _sentences(text: str) -> tuple[Step, ...]:
    """The sentences of a text, each as a step with the role of the step that holds it."""
    roles = iter(steps(text))
    step = next(roles, None)
    found: list[Step] = []
    for start, end in sentences(text):
        while step and step.end <= start:
            step = next(roles, None)
        if step:
            found.append(Step(start, end, step.role))
    return tuple(found)


def _announces(text: str, sentence: Step) -> bool:
    """Whether the sentence ends with a colon, so that it says what follows."""
    end = _stripped(text, sentence.end)
    return text[max(sentence.start, end - 4) : end].rstrip(" *_").endswith(_COLONS)


def _stripped(text: str, end: int) -> int:
    """`end` without the white space before it."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end
