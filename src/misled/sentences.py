r"""Sentences: where a chain's sentences begin and end.

    >>> text = "Is it 3.5? No (see above. Twice). It is 4."
    >>> [text[start:end] for start, end in sentences(text)]
    ['Is it 3.5? ', 'No (see above. Twice). ', 'It is 4.']

A line is a sentence at least, unless it was wrapped. Numbers (3.14), list
labels (`1.`), abbreviations, displays (`\[...\]`), boxes, brief brackets and
quotations stay whole. English and Chinese; does not know what a sentence says.
"""

from __future__ import annotations

import re

__all__ = ["sentences"]

# The look-behind makes a run of stops match once, from its start: linear on "....".
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_`]*+(?=\s|\Z)|[。！？；]++[”’」』）*]*+|\n\s*+")
_MATHS = re.compile(r"\\\[|\\\]|\$\$|\\boxed\s?\{")
# A bracket or quotation, up to the stop that may end both it and its sentence.
_ENCLOSED = re.compile(
    r"(?:\((?:[^()\n]|\([^()\n]{0,80}\)){1,160}?(?=[.!?…]{0,4}\))"
    r"|(?<![^\s(])\"(?=\w)[^\"\n]{1,240}?(?=[.!?…]{0,4}\"(?!\w))|(?<![^\s(])“[^“”\n]{1,240}?(?=[.!?…]{0,4}”))"
)
_DISPLAY = 1500  # code points: a longer display is an opening bracket without its partner
_BOX = 400
_WRAP = 40  # a line this long that goes on in lower case was wrapped, not ended
_FACTORIAL = re.compile(r"[\d)\]}]\Z|\b[a-z]\Z")
_ABBREVIATION = re.compile(
    r"(?:e\.g|i\.e|vs|etc|cf|eqs?|fig|approx|mrs?|dr|st|prof|[js]r|al|ca|inc|co|u\.[sk])\Z",
    re.IGNORECASE,
)
_LABELLED = 20
_LABEL = re.compile(
    r"[\s>#*_(\-]*(?:(?:step|case|part|option|clue|statement)\s)?"
    r"(?:\d{1,3}|[a-z]|[ivx]{1,4})[*_)]*\Z",
    re.IGNORECASE,
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of `text`; they tile it, white space going to the sentence before."""
    spans: list[tuple[int, int]] = []
    kept = iter([*_whole(text), (len(text), len(text))])
    low, high = next(kept)
    start = 0
    for match in _STOP.finditer(text):
        at, end = match.span()
        while high <= at:
            low, high = next(kept)
        if low < at or not _ends(text, start, at, end):
            continue
        while end < len(text) and text[end] in " \t":
            end += 1
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return _joined(text, spans)


def _whole(text: str) -> list[tuple[int, int]]:
    """Spans of displays, boxes and brief brackets and quotations, in which no sentence ends."""
    spans = [match.span() for match in _ENCLOSED.finditer(text)]
    opened, done = -1, 0
    for match in _MATHS.finditer(text):
        if match.start() < done:
            continue
        mark = match.group()
        if mark.endswith("{"):
            done = _closed(text, match.end())
            if opened < 0 and text[done - 1] == "}":
                spans.append((match.start(), done))
        elif mark == r"\[" or (mark == "$$" and opened < 0):
            opened = match.start()
        elif opened >= 0:
            if match.end() - opened <= _DISPLAY:
                spans.append((opened, match.end()))
            opened = -1
    return sorted(spans)


def _closed(text: str, at: int) -> int:
    """The offset after the brace that closes the one before `at`, or where the search gave up."""
    depth = 1
    stop = min(len(text), at + _BOX)
    while at < stop and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _ends(text: str, start: int, at: int, end: int) -> bool:
    """Whether the stop at `at:end` ends the sentence that began at `start`."""
    following = text[end : end + 2].lstrip()[:1]
    if text[at] == "\n":
        wrapped = at - start > _WRAP and following.islower() and text[at - 1] not in ".!?:;,}])"
        return not wrapped or text.count("\n", at, end) > 1
    if text[end : end + 1] in {"\n", ""}:
        return True
    if text[at] not in ".…":
        return not _is_sign(text, at, following)
    if following.islower():
        return False
    if end - at > 1:
        return True
    word = text[max(start, at - 12) : at].rpartition(" ")[2].lstrip("(\"'")
    labelled = at - start < _LABELLED and _LABEL.match(text, start, at)
    return not (labelled or _ABBREVIATION.match(word))


def _is_sign(text: str, at: int, following: str) -> bool:
    """Whether the mark at `at` is part of a formula: `5! = 120`, `40 + ? litres`."""
    if text[at] == "!" and _FACTORIAL.search(text, max(0, at - 3), at):
        return following.islower() or not following.isalpha()
    return following.islower() and text[at - 1 : at] == " "


def _joined(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """`spans` with those of white space alone given to a neighbour."""
    joined: list[tuple[int, int]] = []
    start = 0
    for begin, end in spans:
        if not text[begin:end].isspace():
            joined.append((start, end))
            start = end
        elif joined:
            joined[-1] = (joined[-1][0], end)
            start = end
    return joined if joined or not text else [(0, len(text))]
