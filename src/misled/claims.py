r"""What a reply says of its own result, without what it adds once the result stands.

    >>> own("The sum is 42. Check: 42 - 25 = 17.")
    'The sum is 42.                     '

Beside the remarks on values that are not its own, a reply says more: it checks its
result, explains it, or notes something. Such an aside is blanked if a
result stands before it, offsets kept. Without one it is left as it is: then it may
well be the answer. A step that goes on to reckon with the result is no aside.

Knows nothing about marks of a final value.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from misled.refusals import lowered
from misled.remarks import blanked, own_words, sentences
from misled.statements import (
    Sentence,
    appended,
    given,
    is_given,
    is_named,
    is_result,
    opens,
    told,
)
from misled.values import CLOSE, Value, alone, is_stated

__all__ = ["last_mark", "own", "turns"]

Span: TypeAlias = tuple[int, int]

_LOOK = 64
_WORDS = 96  # code points in which a sentence names what a value is
_SHORT = 2  # digits: values of so few are alike by chance
_MARKUP = " \t\r\n*_`~$\\([{£€¥#>•✅✓✔☑\"'“"
_ACCOUNT = ("headed", "first", "begun")  # how an account of a result opens
_REACH = 100_000  # code points: what stands further from the end is left as it is

_ERROR = re.compile(
    r"\b(?:(?:fewer|less|more|greater|smaller|larger|higher|lower) than"
    r"|too (?:many|much|high|low|large|small|big)|mistakes?|errors?|slip|wrong|incorrect|mistaken"
    r"|discrepanc\w+|off by"
    r"|differs?|difference (?:from|to|with)"
    r"|carry|carried|carries|confidence|tokens?)\b|错误|误差|进位|有误"
)
_DIGIT = re.compile(r"\b(?:digits?|place|column)\b|[个十百千万]位")
_MARKS = re.compile(r"\\f?boxed|####|\banswer\b[^.\n\d]{0,24}(?:\bis\b|[:=])|答案\s?[是为：:]")
_DURATION = re.compile(rf"{CLOSE}*\s?(?:s|ms|sec|seconds?|minutes?|min|hours?|tokens?|steps?)\b")
_BETTER = re.compile(
    r"(?:\A|(?<=[.!?。！？…\n,;:，；—–]))[\s*_]{0,4}(?:(?:no|hmm|oh|sorry|but)[,.…!-]{0,3}\s?){0,3}"
    r"(?:wait\b|actually\b|i mean\b|i meant\b|correction\b|oops\b|no,|scratch that"
    r"|on second thought|let me (?:correct|re-?do|recompute|recalculate|recheck|re-?examine)"
    r"|i made (?:a|an) (?:mistake|error|slip)|更正|不对|等等|等一下|实际上|其实)"
    r"|\b(?:but|however|yet|instead|rather),?\s(?:it|that|this|the|my)\s(?:\w+\s){0,3}?"
    r"(?:is|should be|must be|equals|would be|was)\b|\b(?:but|however),? it[’']s\b"
    r"|但(?:是)?(?:正确|应|实际)|\b(?:it|that) should (?:be|have been|read)\b"
)


def turns(text: str) -> list[int]:
    """Where the text begins to correct itself; what follows beats what was said before."""
    return [match.start() for match in _BETTER.finditer(lowered(text))]


def last_mark(text: str) -> int:
    """Where the last sentences begin that call a value final, or 0; 0 if one of them supposes."""
    low, start = lowered(text), 0
    for lo, hi in reversed(list(sentences(text))):
        if _MARKS.search(low, lo, hi):
            if "supposed" in opens(low, lo, hi):
                return 0
            start = lo
        elif start and low[lo:hi].strip():
            break
    return start


def own(text: str, *, answered: bool = False) -> str:
    """The text with blanks for all that is not about its own result; offsets are kept.

    `answered` says that values were told before the text begins.
    """
    start = text.find("\n", len(text) - _REACH) if len(text) > _REACH else 0
    start = start if start >= 0 else len(text) - _REACH
    said = own_words(text[start:])
    return text[:start] + blanked(said, _asides(said, answered=answered))


def _asides(text: str, *, answered: bool) -> list[Span]:
    """What is added once a result stands, and the first steps towards one, ascending."""
    low = lowered(text)
    spoken = list(told(text))
    used = {  # where the text reckons on with a value, last
        value: sentence.start
        for sentence in spoken
        if "check" not in sentence.opens
        for value in sentence.counted
    }
    gone: list[Span] = []
    operands: set[str] = set()  # of the sentences so far
    result: Value | None = None
    told_before, leads, part = (
        answered,
        False,
        False,
    )  # leads: it answers, and is no quantity on the way
    for sentence in spoken:
        span = sentence.start, sentence.end
        final = _MARKS.search(low, *span) is not None
        concludes = "conclusion" in sentence.opens
        if result is None:
            chained = any(value.value in sentence.counted for value in sentence.free)
            aside = not (final or chained) and "first" in sentence.opens
        else:
            settled = leads and used.get(result.value, -1) < sentence.start
            part = part and not (final or concludes or _BETTER.match(low, *span))
            part = part or (settled and not final and not sentence.opens.isdisjoint(_ACCOUNT))
            aside = part or _is_check(text, sentence, result, leads=leads, operands=operands)
            aside = aside or (settled and _is_mention(text, low, sentence, result))
            aside = (aside and not (final or concludes)) or (
                settled and _is_remark(low, sentence, result, final=final)
            )
            part = part or (aside and leads and _is_heading(text, *span))
        if aside:
            gone.append(span)
            continue
        if result and _contradicts(text, sentence, result):
            gone.append((result.start, result.end))
        stated = given(text, sentence)
        if stated:
            gone += appended(text, stated, sentence)
            leads = is_result(text, sentence, stated) and is_given(text, sentence, stated)
            leads = leads and (not told_before or concludes or is_named(text, stated))
            result = stated
        operands |= sentence.counted
        told_before = told_before or bool(sentence.free or sentence.counted)
    return sorted(gone)


def _is_check(
    text: str, sentence: Sentence, result: Value, *, leads: bool, operands: set[str]
) -> bool:
    """Whether a sentence checks the result: in so many words, or by reckoning back from it."""
    if leads and "check" in sentence.opens:
        return not _contradicts(text, sentence, result)
    free = {value.value for value in sentence.free}
    return bool(free) and result.value in sentence.counted and free <= operands


def _is_mention(text: str, low: str, sentence: Sentence, result: Value) -> bool:
    """Whether values are only mentioned, after a result that stands alone or is called one."""
    line = text[max(0, result.start - _WORDS) : result.start].rpartition("\n")[2]
    named = is_named(text, result) or not line.strip(_MARKUP)
    return (
        named
        and bool(sentence.free)
        and not _BETTER.match(low, sentence.start, sentence.end)
        and not any(is_stated(text, value) for value in sentence.free)
        and not alone(text, sentence.start, sentence.end)
    )


def _contradicts(text: str, sentence: Sentence, result: Value) -> bool:
    """Whether a check comes to another value that is nearly the result, and so rejects it."""
    told = sentence.counted | {value.value for value in sentence.free}
    if result.value in told or "check" not in sentence.opens:
        return False
    return any(
        _is_near(value.value, result.value) and is_stated(text, value) for value in sentence.free
    )


def _is_near(a: str, b: str) -> bool:
    """Whether two values differ in some of their digits, in half of them at most."""
    unlike = sum(x != y for x, y in zip(a, b, strict=False))
    return len(a) == len(b) > _SHORT and 0 < 2 * unlike <= len(a)


def _is_remark(low: str, sentence: Sentence, result: Value, *, final: bool) -> bool:
    """Whether a sentence notes something, tells of an error, of a digit, or of time and effort."""
    span = sentence.start, sentence.end
    if final or "supposed" in sentence.opens:
        return "supposed" in sentence.opens
    if "remarked" in sentence.opens or _ERROR.search(low, *span):
        return True
    if low[sentence.start : sentence.end].lstrip()[:1] in tuple("(（"):
        return True
    if not sentence.free:
        return False
    if _DIGIT.search(low, *span) and any(
        len(value.value) < len(result.value) for value in sentence.free
    ):
        return True
    return all(
        _DURATION.match(low, value.end, value.end + _LOOK) for value in sentence.free
    ) and not _DURATION.match(low, result.end, result.end + _LOOK)


def _is_heading(text: str, lo: int, hi: int) -> bool:
    line = text[lo:hi].strip()
    marked = line.startswith("#") or (line.startswith("**") and line.endswith("**"))
    return marked or line.rstrip("*_ ").endswith((":", "："))
