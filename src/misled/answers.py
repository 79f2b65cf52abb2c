r"""What a text states as its final value: found, normalised and compared, exactly.

    >>> read(r"So 12 + 30 = 42. **Answer:** \boxed{\$1{,}042.00}")
    '1042'
    >>> read("It is 3 or 5.")
    Unreadable(reason='ambiguous')

A value is canonical: digits, with `-` and one `.` or `/` where needed. A marked
value (a box, "the answer is", "**Final Answer**", `####`) beats an unmarked
one; of the marked ones the last counts. Every function is total: a text gives a
value or the reason why it gives none, and never a part of a number.

Knows nothing about the gold answer, nor about outcomes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from misled.claims import last_mark, own, turns
from misled.numbers import Number, numbers
from misled.records import Record
from misled.refusals import is_error
from misled.values import (
    CLOSE,
    OPEN,
    ROUGHLY,
    Value,
    alone,
    canonical,
    in_percent,
    is_negated,
    is_operand,
    is_rough,
    is_stated,
    same,
    settled,
    values,
)

__all__ = [
    "Number",
    "Unreadable",
    "canonical",
    "concluded",
    "is_broken",
    "is_marked",
    "marked",
    "numbers",
    "read",
    "same",
]


class Unreadable(Record, frozen=True):
    """Why a text gives no value (protocol A.6).

    `approximate` is rounded, scientific, or no integer where one is asked for;
    `ambiguous` is two final values of which none is marked.
    """

    reason: Literal["none", "approximate", "ambiguous"]


Found: TypeAlias = Value | Unreadable

_BACK = 96  # code points before a cue in which the value may stand
_MANY = 256  # values: a longer listing is no sentence, only its end is looked at
_MARK = re.compile(
    r"\\boxed\s*\{|\\fbox\s*\{|####|answer|Answer|ANSWER|答案|答え|답"
    r"|respuesta|Respuesta|réponse|Réponse|Antwort|ответ|Ответ"
    r"|final (?:numeric(?:al)? )?(?:result|value|total)"
    r"|Final (?:[Nn]umeric(?:al)? )?(?:[Rr]esult|[Vv]alue)"
)
_IN_WORDS = re.compile(r"[*_]*\s?[:：][*_\s]*[^\W\d_][^\d:]{0,60}")  # Answer: Tuesday
_OPTION = re.compile(r"\W*(?:(?:is|be|option|choice|是|选)\W*){0,3}\(?\b[A-J]\b[)*_$}\s]*")
_EXACTLY = re.compile(
    rf"\b(?:exactly|precisely|exact (?:value|answer|result|sum|total)(?: is|:| =)?){OPEN}*\Z",
    re.IGNORECASE,
)
_BROKEN = re.compile(  # how a text ends that was cut off
    r"(?:\b(?:an?|the|of|to|from|and|or|is|are|we|so|by|in|with|for|that|which|as|at|on|but|if)"
    r"|[,=+×÷(:/])\s*\Z"
)
_WRAPPED = re.compile(r"(,\d{3},)\n(?=\d{3}(?:,\d{3})*\W*\Z)")  # a number broken over a line
_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_PLACEHOLDER = re.compile(
    r"[\s.…<>\[\]?_]*(?:\\[lc]?dots|(?:(?:your|final) )*answer|result)?[\s.…<>\[\]?_]*",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"(?:/|\b(?:your|previous|earlier|given|provided|initial|original|claimed|wrong|incorrect|their"
    r"|his|her|possible)\s(?:\w+\s)?)\Z",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"\b(?:your|previous|earlier|claimed|provided|original|initial)\b[^.;,\d]{0,32}\Z",
    re.IGNORECASE,
)
_AS_ANSWER = re.compile(
    rf"(?:{CLOSE}|[%.])*(?:[A-Za-z]+\s){{0,3}}?(?:is|are|as|was|be)\s(?:[a-z]+\s){{0,4}}",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[^\w\n.!?。\\]*(?:\b(?:is|are|be)\b[^\w\n\\]*)?\n(?>(?:[^\w\n]*(?:latex|math)?\n)*)"
)
_LEAD = re.compile(
    rf"(?>(?:{OPEN}|s\b|[:：=>是为為]|{ROUGHLY}|\b(?:is|are|be|should|would|must|will|was|equals?"
    r"|equal|to|therefore|thus|then|now|simply|just|exactly|indeed|still|also|only|again|the|a"
    r"|number|value|of|minus|negative)\b)*)",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?。！？](?=[\s\"'”’)*\]$}]|\Z)|\n")
_JOINT = re.compile(rf"{CLOSE}*(?:[,;:、，或和]|,?\s?\b(?:or|and|to)\b){OPEN}*|\s+", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"[^,.;]*\b(?:or|and)\b[^,.;]*", re.IGNORECASE)
_UNDECIDED = re.compile(
    r"(?:cannot|can't|can not) be (?:determined|found)|not enough information|undefined|impossible",
    re.IGNORECASE,
)


def read(text: str, *, integer: bool = True, percent: bool = False) -> str | Unreadable:
    """The value that an answer states finally.

    `integer` says that the gold answer is one, `percent` that it is in percent. Else
    a value with a percent sign is its hundredth, and so no integer.
    """
    found = _final(text)
    if found is None or isinstance(found, Unreadable):
        return found or Unreadable("none")
    if found.percent and not percent:
        decimal = found.exact and not integer and not set("e/") & set(found.value)
        hundredth = canonical(f"{found.value}e-2") if decimal else None
        return hundredth or Unreadable("approximate")
    whole = found.exact and found.value.removeprefix("-").isdecimal()
    if "e" in found.value or (integer and not whole):
        return Unreadable("approximate")
    return found.value


def is_marked(text: str) -> bool:
    """Whether a mark of a final value holds a value of the text's own."""
    return any(isinstance(found, Value) for found in marked(own(text)))


def _final(text: str) -> Found | None:
    """What the last part that says something says: a text that corrects itself has several."""
    if is_error(text, body=True):
        return None
    text = _WRAPPED.sub(r"\1", text)
    failed = is_error(text)
    bare = None if failed else alone(text, 0, len(text))
    if bare:
        return bare
    start = last_mark(text)  # what stands before it seldom counts
    return (start and _last(text, start)) or _last(text)


def _last(text: str, start: int = 0) -> Found | None:
    """What the last part of `text[start:]` says; one that begins before `start`, by its marks."""
    said, broken = own(text[start:], answered=start > 0), is_broken(text)
    starts = turns(said)
    for lo, hi in reversed(list(zip([0, *starts], [*starts, len(said)], strict=True))):
        part = said[lo:hi]
        found = next(marked(part), None)
        if found is None and not broken and (lo or not start):
            found = alone(part, 0, len(part)) or concluded(part, 0, len(part))
        if found:
            return found
    return None


def is_broken(text: str) -> bool:
    """Whether the text visibly ends in mid-sentence, or is a server's error message."""
    cut = _BROKEN.search(text, max(0, len(text) - 32))
    return cut is not None or is_error(text)


def marked(text: str) -> Iterator[Found]:
    """What each mark of a final value says, the last mark first; marks that say nothing are left.

    A box or cue that holds no single number gives an `Unreadable`: it is final all the same.
    """
    closed = _boxes(text)
    marks = [mark.span() for mark in _MARK.finditer(text)]
    limit = len(text)
    for place in range(len(marks) - 1, -1, -1):
        lo, hi = marks[place]
        if hi in closed:
            found = _boxed(text, lo, hi, closed[hi])
            start = marks[place - 1][1] if place else -1
            rest = closed.get(start)
            if found and rest and _JOINT.fullmatch(text, rest + 1, lo):
                other = alone(text, start, rest)
                agree = isinstance(found, Value) and other and same(other.value, found.value)
                found = found if agree else Unreadable("ambiguous")
        elif text[hi - 1] == "{":
            found = Unreadable("none") if text[hi : hi + 1].isdecimal() else None  # cut off
        elif text[lo] == "#":
            found = alone(text, hi, _clause_end(text, hi, limit))
        else:
            found = _cued(text, lo, hi, limit)
        if found:
            yield found
        limit = lo


def concluded(text: str, start: int, end: int) -> Found | None:
    """What the last sentence of `text[start:end]` with a value in it states, marked or not."""
    stops = [stop.end() for stop in _STOP.finditer(text, start, end)]
    last = None
    for lo, hi in reversed(list(zip([start, *stops], [*stops, end], strict=True))):
        if last is None:
            last = _stated(text, lo, hi)
        elif text[lo:hi].strip():
            before, after = alone(text, lo, hi), alone(text, hi, end)
            if before and after and not same(before.value, after.value):
                return Unreadable("ambiguous")
            break
    return last


def _boxes(text: str) -> dict[int, int]:
    """Where the content of each closed box starts, and where it ends."""
    closed: dict[int, int] = {}
    if "boxed" not in text and "fbox" not in text:
        return closed
    open_at: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "}":
            if open_at:
                closed[open_at.pop()] = brace.start()
        elif brace[0][-1] == "{" and brace[0] != "\\{":
            open_at.append(brace.end())
    return closed


def _boxed(text: str, lo: int, start: int, end: int) -> Found | None:
    """What the box that opens at `lo` says with its content `text[start:end]`."""
    if _PLACEHOLDER.fullmatch(text, start, end):
        return None
    found = alone(text, start, end) or _stated(text, start, end) or Unreadable("none")
    if isinstance(found, Value) and is_rough(text, lo):
        return Value(found.start, found.end, found.value, exact=False, percent=found.percent)
    if isinstance(found, Value) and in_percent(text, end):
        return Value(found.start, found.end, found.value, found.exact, percent=True)
    return found


def _cued(text: str, lo: int, hi: int, limit: int) -> Found | None:
    """What the clause round the cue `text[lo:hi]` says the answer is."""
    if _FOREIGN.search(text, max(0, lo - 32), lo):
        return None
    before = _before_cue(text, lo)
    if before:
        return before
    heading = _HEADING.match(text, hi, limit)
    start = heading.end() if heading else hi
    end = _clause_end(text, start, limit)
    lead = _LEAD.match(text, start, end)
    found = values(text, start, end)
    led = lead and found and found[0].start == lead.end() and not is_operand(text, found[0])
    if led and not (found[1:] and is_rough(text, found[0].start)):
        joined = found[1:] and _JOINT.fullmatch(text, found[0].end, found[1].start)
        if joined and found[0].value != found[1].value:
            return Unreadable("ambiguous")
        return settled(text, found[0])
    if (
        _UNDECIDED.search(text, start, end)
        or _OPTION.fullmatch(text, hi, end)
        or _IN_WORDS.fullmatch(text, hi, end)
    ):
        return Unreadable("none")
    return _stated(text, start, end)


def _before_cue(text: str, lo: int) -> Value | None:
    """The value that the cue at `lo` names in hindsight: `so 42 is the right answer`."""
    start = max(0, lo - _BACK)
    if start:  # not within a number
        start = text.find(" ", start, lo)
    start = max(start, text.rfind("\n", max(0, start), lo), text.rfind(". ", max(0, start), lo))
    if start < 0:
        return None
    found = values(text, start, lo)
    if not found or is_operand(text, found[-1]) or is_negated(text, found[-1]):
        return None
    named = _AS_ANSWER.fullmatch(text, found[-1].end, lo)
    return settled(text, found[-1]) if named else None


def _clause_end(text: str, start: int, limit: int) -> int:
    stop = _STOP.search(text, start, limit)
    return stop.start() if stop else limit


def _stated(text: str, start: int, end: int) -> Found | None:
    """The one value that a sentence states, or why it is none; None if it has no value.

    A value that the sentence reckons with, negates, or leaves to others (`your
    42`) is none of its own. What follows an equals sign or a verb beats what is
    merely mentioned, and the last such beats the others, unless `and` or `or`
    joins them.
    """
    found = [
        value
        for value in values(text, start, end)[-_MANY:]
        if not is_operand(text, value) and not is_negated(text, value)
    ]
    found = [value for value in found if not _is_of_others(text, value)] or found
    found = [value for value in found if _is_exact(text, value)] or found
    pool = [value for value in found if is_stated(text, value)] or found
    if not pool:
        return None
    last = pool[-1]
    for other in found:
        if other.value == last.value:
            continue
        if other.start > last.end:
            rival = _JOINT.fullmatch(text, last.end, other.start)
        else:
            rival = _ALTERNATIVE.fullmatch(text, other.end, last.start) if other in pool else None
        if rival or pool is found:
            return Unreadable("ambiguous")
    return settled(text, last)


def _is_exact(text: str, value: Value) -> bool:
    """Whether the value is set against a rough one: `about 40, exactly 42`."""
    return _EXACTLY.search(text, max(0, value.start - _BACK), value.start) is not None


def _is_of_others(text: str, value: Value) -> bool:
    """Whether the value is said to be one that the text comments on."""
    return _OF_OTHERS.search(text, max(0, value.start - _BACK), value.start) is not None
