r"""The sentences of a reply, and the result that each of them gives.

    >>> [sentence] = told("The sum of the two is 42, since 17 + 25 = 42.")
    >>> given("The sum of the two is 42, since 17 + 25 = 42.", sentence).value
    '42'

A sentence gives a value as a result if it calls it one (`the sum is 42`), reckons it
out (`17 + 25 = 42`), opens with it or is nothing else. What follows it in
its own sentence, a reason or a listing, is appended to it.

Knows nothing about what the sentences before and after it say.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from misled.records import Record
from misled.refusals import lowered
from misled.remarks import LEAD, sentences
from misled.values import CLOSE, Value, alone, is_operand, is_rough, is_stated, same, values

__all__ = ["Sentence", "appended", "given", "is_given", "is_named", "is_result", "opens", "told"]

Span: TypeAlias = tuple[int, int]

_LOOK = 64
_WORDS = 96  # code points in which a sentence names what a value is
_MARKUP = " \t\r\n*_`~$\\([{£€¥#>•✅✓✔☑\"'“"
_SET_OFF = re.compile(
    rf"(?:{CLOSE}|[A-Za-z]+\s)*?\s?(?:[.,;:!(（\[—–≈]|\s[-—–]\s|since|because"
    r"|is (?:the|my|our|correct|right)|\Z)"
)
# What a sentence may open with, behind markup; the text is of lower case.
_OPENINGS = {
    "check": (
        r"(?:(?:as a|for|by|a|quick|final|sanity|and|or|now|also|finally|just)[ ]+)*"
        r"(?:(?:you|we|one|i|let[’']?s|let us|let me|this|it|which)"
        r"(?: (?:can|may|could|have|will|also|is|was|now|easily|just|[’']ll))*[ ])?(?:to )?"
        r"(?:be )?(?:double[- ]?|re-?|cross-?)?"
        r"(?:check|verif|confirm|proof|prove|test|validat|sanity)"
        r"|验证|检验|验算|检查|核对|复核"
    ),
    # what opens a whole part that explains
    "headed": (
        r"(?:explanation|method\b|solution|working|derivation|details?|breakdown|step-by-step"
        r"|reasoning"
        r"|here(?:[’']s| is| are) (?:how|why|the|a|my)|steps?\s?[*_]*[:：]|解释|过程"
        r"|步骤|计算过程|说明|理由)"
    ),
    # a step that ends in no result
    "first": (
        r"(?:to \w+ [^,.\n]{0,40}, )?(?:first(?:ly)?[\s,:]|start(?:ing)?\b|begin"
        r"|step (?:1|one)\b"
        r"|(?:add(?:ing)?|check) the (?:ones|units|tens|hundreds|last|first|digits)"
        r"|(?:ones|units|tens|hundreds|thousands)(?: place| digits?| column)?\s?[*_]*[:：]"
        r"|(?:the )?(?:ones|units|tens)\b[^.\n]{0,60}\bcarry|首先|个位|十位)"
    ),
    # how an account of a result that stands begins
    "begun": (
        r"(?:step \d|to (?:see|get|find|compute|calculate|add)\b|we (?:add|get|compute)\b"
        r"|i (?:got|found|computed|calculated|added|reached|arrived)\b)"
    ),
    "remarked": (
        r"(?:because|since\b|note|notice|remark|p\.?s\.?\b|nb\b|n\.b\.|remember|for (?:reference"
        r"|example|instance|comparison)|by the way|rounded|roughly|approximately|that(?:[’']s"
        r"| is) (?:about|roughly)|fun fact|interesting|this (?:is|means|makes)|that is"
        r"|in words|因为|注|备注|提示)"
    ),
    "supposed": (
        r"(?:if|had|assuming|suppos|unless|in case|should you|were|otherwise|alternatively|假如"
        r"|如果|若)\b"
    ),
    "conclusion": (
        r"(?:so\b|therefore|thus|hence|finally|in (?:conclusion|summary|total|all)|conclusion"
        r"|final|overall|altogether"
        r"|(?:the|my) (?:final|correct|right|answer|result|sum|total)|answer"
        r"|∴|⇒|所以|因此|故|综上|最终|答)"
    ),
}
_OPENING = re.compile(
    LEAD + "".join(rf"(?=(?P<{name}>{pattern})?)" for name, pattern in _OPENINGS.items())
)
_SHORT = 2  # digits: values of so few are alike by chance
_MANY = 64  # values: a sentence with more is a listing, only its end is looked at
_CLOSES = re.compile(
    r"\b(?:so|therefore|thus|hence|giving|making|and|then)\b[^.;]{0,30}?"
    r"\b(?:answer|result|sum|total)\b"
    r"|所以|因此",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"(?:\b(?:answer|result|sum|total|product|difference|quotient|value|solution|output|it|that"
    r"|this"
    r"|we get|i get|they)\b[^.;\n]{0,60}|\d\W{0,4}\s(?:is|equals?|makes?|gives?)\W*|[=⇒→]\W*"
    r"|(?:答案|结果|和|总数|积|差|得|等于|一共|总共)\D{0,12})\Z"
)
_GIVES = re.compile(
    r"(?:[=⇒→:：]|[’']s|\b(?:is|are|be|equals?|gives?|makes?|yields?|get|got|find|found|to|totals?)"
    r"(?: (?:exactly|therefore|thus|also|indeed|now|then|actually))?|是|为|為|得|得到|等于)\Z"
)
_NAMED = re.compile(
    r"(?:\b(?:answer|result|sum|correct|corrected|final)\b[^.;\n\d]{0,60}"
    r"|(?:答案|结果|和)\D{0,12})\Z"
)
# What, after a value in its sentence, goes on to explain it.
_AFTER = re.compile(
    rf"{CLOSE}*(?:[A-Za-z]+\s){{0,3}}?[,;:，；：—–-]*\s?(?:≈|\\approx"
    r"|\S{1,24} (?:less|more|fewer|lower|higher)\b"
    r"|\b(?:since|because|as \d"
    r"|as (?:we|you|can)|i\.e|namely|of (?:which|whom)|where|first|for example|e\.g|unlike|compared"
    r"|whereas|if|and not|which (?:is (?:the|also|an?|even|odd|\d|equal|what)|i|you|can|we|matches"
    r"|agrees|differs|checks)|check|verif|consisting|made up|in (?:binary|decimal|hex)|or \w+ in"
    r"|off by|with a? ?carry"
    r"|(?:the |a )?(?:discrepancy|difference|error|mistake)"
    r"|after carrying|carrying)|[\"'](?:steps|confidence|tokens|time)\b|因为|验证|即)"
)
_LISTING = re.compile(rf"{CLOSE}*\s?(?:[A-Za-z]+\s?){{0,3}}[:：—–]\s")
_LISTED = re.compile(r"[:：—–(]|\bof (?:which|whom)\b|\bincluding\b|\bnamely\b")
_REUSED = re.compile(
    r"[,;]\s(?:and |as |where |which |so )?[^,.;\n]{0,90}\b(?:confirm|check|verif)"
)
_PARENTHESIS = re.compile(
    r"(?<!\\)[(（](?=[^()（）\n]{0,300}[A-Za-z\u4e00-\u9fff]{2})[^()（）\n]{0,300}[)）]"
    r"|\[(?=[A-Za-z])[^\[\]\n]{0,300}\]"
)


class Sentence(Record, frozen=True):
    """A sentence with the values that it holds: those that are free, and those it reckons with.

    `opens` names what it opens with: a check, a conclusion ...
    """

    start: int
    end: int
    free: tuple[Value, ...]
    counted: frozenset[str]
    opens: frozenset[str]


def told(text: str) -> Iterator[Sentence]:
    """The sentences of the text, those that hold no value with the others."""
    found = values(text)
    low = lowered(text)
    starts = [value.start for value in found]
    for lo, hi in sentences(text):
        here = found[bisect_left(starts, lo) : bisect_left(starts, hi)][-_MANY:]
        free = tuple(value for value in here if not is_operand(text, value))
        counted = frozenset(value.value for value in here if value not in free)
        yield Sentence(lo, hi, free, counted, opens(low, lo, hi))


def opens(low: str, lo: int, hi: int) -> frozenset[str]:
    """What the sentence `low[lo:hi]`, in lower case, opens with."""
    opening = _OPENING.match(low, lo, hi)
    found = opening.groupdict().items() if opening else ()
    return frozenset(name for name, said in found if said)


def given(text: str, sentence: Sentence) -> Value | None:
    """The value that the sentence gives, the first that is called a result before the others."""
    if sentence.free and _adds_up(text, sentence.free):
        return sentence.free[0]
    free = [value for value in sentence.free if not is_rough(text, value.start)]
    for value in free:
        if is_result(text, sentence, value):
            return value
    stated = [value for value in free if is_stated(text, value)]
    return stated[-1] if stated else None


def is_result(text: str, sentence: Sentence, value: Value) -> bool:
    """Whether a sentence gives the value as that of a result, not of some quantity on the way."""
    lo, hi = sentence.start, sentence.end
    if sentence.free == (value,) and not sentence.counted and alone(text, lo, hi):
        return True
    left = lowered(text[max(lo, value.start - _WORDS) : value.start])
    if not left.strip(_MARKUP):  # the sentence opens with it
        return _SET_OFF.match(text, value.end, min(hi, value.end + _WORDS)) is not None
    return _RESULT.search(left) is not None and is_stated(text, value)


def is_given(text: str, sentence: Sentence, value: Value) -> bool:
    """Whether nothing stands between the value and the verb or sign that gives it."""
    left = text[max(sentence.start, value.start - _WORDS) : value.start].rstrip(_MARKUP)
    return not left or _GIVES.search(lowered(left)) is not None


def is_named(text: str, value: Value) -> bool:
    """Whether the value is called the answer, the result or the sum."""
    return _NAMED.search(lowered(text[max(0, value.start - _WORDS) : value.start])) is not None


def _adds_up(text: str, listing: tuple[Value, ...]) -> bool:
    """Whether the first value is listed as the sum of the others: `42 pears: 17 big, 25 small`."""
    whole, *parts = (value.value for value in listing)
    if len(parts) < _SHORT or not all(v.isdecimal() and len(v) < _LOOK for v in (whole, *parts)):
        return False
    between = text[listing[0].end : listing[1].start]
    listed = len(between) < _WORDS and _LISTED.search(between) is not None
    return listed and same(whole, str(sum(Fraction(part) for part in parts)))


def appended(text: str, value: Value, sentence: Sentence) -> Iterator[Span]:
    """What follows a result in its own sentence: a reason, a listing, a parenthesis."""
    near = min(sentence.end, value.end + _WORDS)
    more = _AFTER.match(lowered(text[value.end : near]))
    if more is None and value == sentence.free[0]:
        more = _LISTING.match(text, value.end, near)
    if more is None and value.value in sentence.counted:
        more = _REUSED.match(text, value.end, sentence.end)
    end = sentence.end
    if more or (value == sentence.free[0] and _adds_up(text, sentence.free)):
        closes = _CLOSES.search(text, value.end, sentence.end)
        yield value.end, closes.start() if closes else sentence.end
        end = value.end
    for parenthesis in _PARENTHESIS.finditer(text, value.end, end):
        yield parenthesis.span()
