"""A text cut into pieces that show what stands where; joined, they are the text again.

    pieces("so 45. Yes", steps, [Mark(3, 5, "tampered", "42")])
    -> [("so ", "calculation"), ("45", "calculation tampered", "42"), (". Yes", "calculation")]

A piece is a text, its style, and of a changed text what stood there before. Knows
nothing about what a mark means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from misled.numbers import Number, numbers
from misled.records import Edit, Record, Step

__all__ = ["Mark", "Piece", "edited", "moved", "pieces", "stated"]

Piece: TypeAlias = tuple[str, ...]

_TRIED = 12  # places of a value, the last ones, of which each is tried
_LONGEST = 20_000  # code points of a text in which places are tried
_SOUGHT = 200_000  # code points of a text in which places are sought
_NEXT = str.maketrans("0123456789", "1234567891")


class Mark(Record, frozen=True):
    """A part of a text with a style; `before` is what stood there before it was changed."""

    start: int
    end: int
    style: str
    before: str = ""


def pieces(text: str, steps: Sequence[Step], marks: Iterable[Mark] = ()) -> list[Piece]:
    """`text` in pieces, each styled by its step's role and by the marks over it.

    `steps` tile the text, or are none. What reaches over the text's end is cut there.
    """
    size = len(text)
    spans: list[tuple[int, int, str, str]] = [
        (step.start, step.end, step.role, "") for step in steps
    ]
    spans += [(mark.start, mark.end, mark.style, mark.before) for mark in marks]
    spans = [span for span in spans if span[0] < min(span[1], size)]
    if not spans:
        return [(text, "")] if text else []
    edges = sorted({0, size, *(min(edge, size) for span in spans for edge in span[:2])})
    waiting = sorted(spans, key=lambda span: span[0], reverse=True)
    over: list[tuple[int, int, str, str]] = []
    found: list[Piece] = []
    for start, end in pairwise(edges):
        over = [span for span in over if span[1] > start]
        while waiting and waiting[-1][0] <= start:
            over.append(waiting.pop())
        style = " ".join(dict.fromkeys(name for _, _, name, _ in over))
        before = next((was for _, _, _, was in over if was), "")
        found.append((text[start:end], style, before) if before else (text[start:end], style))
    return found


def moved(marks: Iterable[Mark], by: int) -> list[Mark]:
    """The marks of a text that stands `by` code points within another."""
    return [Mark(mark.start + by, mark.end + by, mark.style, mark.before) for mark in marks]


def edited(edits: Sequence[Edit]) -> Iterator[Mark]:
    """Where the ascending `edits` of a text stand in what they made: digits changed, text put in.

    What was taken out has no place there.
    """
    shift = 0
    for edit in edits:
        start = edit.start + shift
        shift += len(edit.after) - len(edit.before)
        if not edit.after:
            continue
        if not edit.before:
            yield Mark(start, start + len(edit.after), "inserted")
        elif len(edit.before) == len(edit.after):
            yield from _changed(start, edit)
        else:
            yield Mark(start, start + len(edit.after), "tampered", edit.before)


def _changed(start: int, edit: Edit) -> Iterator[Mark]:
    """The runs of characters in which an edit of equal length differs from what was there."""
    differs = [a != b for a, b in zip(edit.before, edit.after, strict=True)]
    edges = [i for i in range(len(differs) + 1) if [*differs, False][i] != [False, *differs][i]]
    for lo, hi in zip(edges[::2], edges[1::2], strict=True):
        yield Mark(start + lo, start + hi, "tampered", edit.before[lo:hi])


def stated(text: str, value: str, read: Callable[[str], str | None]) -> Number | None:
    """The number of `text` that `read` takes its `value` from, as far as that can be found out.

    Tried by writing other digits in its place: if another value is read then, it was read there.
    """
    if len(text) > _SOUGHT:
        return None
    places = [n for n in numbers(text) if _magnitude(n.value) == _magnitude(value)][-_TRIED:]
    if len(places) > 1 and len(text) <= _LONGEST:
        for place in reversed(places):
            other = text[place.start : place.end].translate(_NEXT)
            if read(text[: place.start] + other + text[place.end :]) != value:
                return place
    return places[-1] if places else None


def _magnitude(value: str) -> str:
    return value.removeprefix("-")
