"""A reply as it came, with what was read from it marked.

    replied(Response("So it is **43**."), [Mark(10, 12, "value")])
    -> [Section("Reply: answer", pieces=[("So it is **", ""), ("43", "value"), ("**.", "")])]

Nothing is left out: the sections of a field, joined, are the field. Knows nothing about
what a value is worth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from misled import chains, dossiers, labels, metrics, verdicts
from misled.dossiers import Section
from misled.labels import Kind
from misled.marks import Mark, moved, stated
from misled.records import Answer, Chain, Failure, Response
from misled.refusals import lowered
from misled.verdict_words import lexicon

__all__ = ["answer_of", "digits", "replied", "ruled", "saying", "stating"]

_TRIED = 40  # verdict words, the last ones, of which each is tried
_LONGEST = 20_000  # code points of a reply in which they are
_SIGNS = {"✅": "❌", "✓": "✗", "✔": "✘", "yes": "no", "agree": "disagree", "正确": "错误"}
_TURNED = _SIGNS | {other: sign for sign, other in _SIGNS.items()}


# A reply is looked at for its text and for what is marked in it, and beside other replies.
@lru_cache(maxsize=32)
def cut(content: str, reasoning: str | None) -> Chain:
    """Reasoning and answer of a reply."""
    return chains.of(content, reasoning)


def answer_of(reply: Response) -> str:
    """The text that is graded: the answer, or all of an output that marks none."""
    chain = cut(reply.content, reply.reasoning)
    return chain.answer if chain.delimited else reply.content


def replied(reply: Answer | None, marks: Sequence[Mark] = (), read: str = "") -> list[Section]:
    """What came back; `marks` are those of `answer_of`, and the reasoning has its steps' roles.

    `read` is what was read from it: value, verdict, or "" for nothing.
    """
    if reply is None:
        return []
    if isinstance(reply, Failure):
        status = f", status {reply.status}" if reply.status else ""
        return [
            dossiers.text("What came instead of a reply", f"{reply.kind}{status}: {reply.message}")
        ]
    content, chain = reply.content, cut(reply.content, reply.reasoning)
    found: list[Section] = []
    if reply.reasoning is not None:
        found.append(dossiers.text("Reply: reasoning", reply.reasoning, roles=True))
    if not chain.delimited:
        note = "Nothing in it sets an answer apart"
        note += f"; the {read} is read from all of it" if read else ""
        return [*found, dossiers.text("Reply", content, marks, roles=True, note=note)]
    at = chain.answer_span[0] if chain.answer_span else content.rfind(chain.answer)
    at = at if chain.answer else len(content)
    if reply.reasoning is not None and reply.reasoning.strip():
        return [*found, dossiers.text("Reply: answer", content, moved(marks, at))]
    found.append(dossiers.text("Reply: reasoning", content[:at], roles=True))
    return [*found, dossiers.text("Reply: answer", content[at:], marks)]


# --- the value of a solver's answer ----------------------------------------------------------


def stating(answer: str, value: str, gold: str, tampered: str | None) -> list[Mark]:
    """Where an answer states the value that was read from it, and which digits it adopted."""
    place = stated(answer, value, lambda said: metrics.grade(said, gold).value)
    if place is None:
        return []
    at = [i for i in range(place.start, place.end) if answer[i].isdecimal()]
    rows = [row for row in digits(value, gold, tampered) if row[2].isdecimal()]
    taken = [i for i, row in zip(at, rows, strict=False) if row[3] == "adopted"]
    taken = taken if len(at) == len(rows) else []
    return [
        Mark(place.start, place.end, "value"),
        *(Mark(i, i + 1, "adopted") for i in taken),
    ]


def digits(value: str, gold: str, tampered: str | None) -> list[tuple[str, str, str, str]]:
    """The places of value, true and tampered result, aligned as they are graded."""
    return metrics.aligned(value, gold, tampered)


def saying(answer: str, value: str, of: Kind) -> tuple[Mark, ...]:
    """Where a generation's answer states its value."""
    at = answer.rfind(value)
    if at >= 0:
        return (Mark(at, at + len(value), "value"),)
    place = stated(answer, value, lambda said: labels.value(said, of=of))
    return (Mark(place.start, place.end, "value"),) if place else ()


# --- a judge's verdict -----------------------------------------------------------------------


# Most verdicts are one word.
@lru_cache(maxsize=1024)
def ruled(said: str, verdict: str, words: tuple[str, str]) -> tuple[Mark, ...]:
    """Where a judge's reply gives its verdict, as far as one word does.

    Tried by turning each word of a verdict round, the last first: where that turns
    what is read, it was read.
    """
    if len(said) > _LONGEST:
        return ()
    known = lexicon(words)
    for place in reversed(list(_words(words).finditer(lowered(said)))[-_TRIED:]):
        other = _TURNED.get(place[0]) or words[place[0] in known.accept]
        turned = said[: place.start()] + other + said[place.end() :]
        if verdicts.read(turned, words=words).verdict not in {verdict, None}:
            return (Mark(place.start(), place.end(), "verdict"),)
    return ()


@lru_cache(maxsize=8)
def _words(words: tuple[str, str]) -> re.Pattern[str]:
    """Every word or sign that can be a verdict."""
    known = lexicon(words)
    every = sorted({*known.accept, *known.reject, "yes", "no", "agree", "disagree"}, key=len)
    named = "|".join(map(re.escape, reversed(every)))
    return re.compile(rf"(?<!\w)(?:{named})(?!\w)|✅|❌|✓|✗|✔|✘|正确|错误")
