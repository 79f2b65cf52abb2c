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

from misled.remarks import LEAD, blanked, own_words, sentences
from misled.statements import Sentence, appended, given, is_given, is_named, is_result, told
from misled.values import CLOSE, Value, alone, is_stated

__all__ = ["last_mark", "own", "turns"]

Span: TypeAlias = tuple[int, int]

_LOOK = 64
_WORDS = 96  # code points in which a sentence names what a value is
_SHORT = 2  # digits: values of so few are alike by chance
_MARKUP = " \t\r\n*_`~$\\([{£€¥#>•✅✓✔☑\"'“"
_REACH = 100_000  # code points: what stands further from the end is left as it is

_CHECK = re.compile(
    rf"{LEAD}(?:(?:as a|for|by|a|quick|final|sanity|and|or|now|also|finally|just)[ ]+)*"
    r"(?:(?:you|we|one|i|let[’']?s|let us|let me|this|it|which)"
    r"(?: (?:can|may|could|have|will|also|is|was|now|easily|just|[’']ll))*[ ])?(?:to )?"
    r"(?:be )?(?:double[- ]?|re-?|cross-?)?(?:check|verif|confirm|proof|prove|test|validat|sanity)"
    r"|验证|检验|验算|检查|核对|复核",
    re.IGNORECASE,
)
_HEADED = re.compile(  # what opens a whole part that explains
    rf"{LEAD}(?:explanation|method\b|solution|working|derivation|details?|breakdown|step-by-step"
    rf"|reasoning"
    r"|here(?:[’']s| is| are) (?:how|why|the|a|my)|steps?\s?[*_]*[:：]|解释|过程"
    r"|步骤|计算过程|说明|理由)",
    re.IGNORECASE,
)
_FIRST = re.compile(  # a step that ends in no result
    rf"{LEAD}(?:to \w+ [^,.\n]{{0,40}}, )?(?:first(?:ly)?[\s,:]|start(?:ing)?\b|begin"
    r"|step (?:1|one)\b|add(?:ing)? the (?:ones|units|tens|hundreds|last|first|digits)"
    r"|(?:ones|units|tens|hundreds|thousands)(?: place| digits?| column)?\s?[*_]*[:：]"
    r"|(?:the )?(?:ones|units|tens)\b[^.\n]{0,60}\bcarry|首先|个位|十位)",
    re.IGNORECASE,
)
_BEGUN = re.compile(  # how an account of a result that stands begins
    rf"{LEAD}(?:step \d|to (?:see|get|find|compute|calculate|add)\b|we (?:add|get|compute)\b"
    r"|i (?:got|found|computed|calculated|added|reached|arrived)\b)",
    re.IGNORECASE,
)
_REMARKED = re.compile(
    rf"{LEAD}(?:because|since\b|note|notice|remark|p\.?s\.?\b|nb\b|n\.b\.|remember|for (?:reference"
    r"|example|instance|comparison)|by the way|rounded|roughly|approximately|that(?:[’']s"
    r"| is) (?:about|roughly)|fun fact|interesting|this (?:is|means|makes)|that is"
    r"|in words|因为|注|备注|提示)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    rf"{LEAD}(?:if|had|assuming|suppos|unless|in case|should you|were|otherwise|alternatively|假如"
    r"|如果|若)\b",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:(?:fewer|less|more|greater|smaller|larger|higher|lower) than"
    r"|too (?:many|much|high|low|large|small|big)|mistakes?|errors?|slip|wrong|incorrect|mistaken"
    r"|discrepanc\w+|off by"
    r"|differs?|difference (?:from|to|with)"
    r"|carry|carried|carries|confidence|tokens?)\b|错误|误差|进位|有误",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\b(?:digits?|place|column)\b|[个十百千万]位")
_MARKS = re.compile(
    r"\\f?boxed|####|\banswer\b[^.\n\d]{0,24}(?:\bis\b|[:=])|答案\s?[是为：:]", re.IGNORECASE
)
_DURATION = re.compile(
    rf"{CLOSE}*\s?(?:s|ms|sec|seconds?|minutes?|min|hours?|tokens?|steps?)\b", re.IGNORECASE
)
_CONCLUSION = re.compile(
    rf"{LEAD}(?:so\b|therefore|thus|hence|finally|in (?:conclusion|summary|total|all)|conclusion"
    r"|final|overall|altogether|(?:the|my) (?:final|correct|right|answer|result|sum|total)|answer"
    r"|∴|⇒|所以|因此|故|综上|最终|答)",
    re.IGNORECASE,
)
_BETTER = re.compile(
    r"(?:\A|(?<=[.!?。！？…\n,;:，；—–]))[\s*_]{0,4}(?:(?:no|hmm|oh|sorry|but)[,.…!-]{0,3}\s?){0,3}"
    r"(?:wait\b|actually\b|i mean\b|i meant\b|correction\b|oops\b|no,|scratch that"
    r"|on second thought|let me (?:correct|re-?do|recompute|recalculate|recheck|re-?examine)"
    r"|i made (?:a|an) (?:mistake|error|slip)|更正|不对|等等|等一下|实际上|其实)"
    r"|\b(?:but|however|yet|instead|rather),?\s(?:it|that|this|the|my)\s(?:\w+\s){0,3}?"
    r"(?:is|should be|must be|equals|would be|was)\b|\b(?:but|however),? it[’']s\b"
    r"|但(?:是)?(?:正确|应|实际)|\b(?:it|that) should (?:be|have been|read)\b",
    re.IGNORECASE,
)


def turns(text: str) -> list[int]:
    """Where the text begins to correct itself; what follows beats what was said before."""
    return [match.start() for match in _BETTER.finditer(text)]


def last_mark(text: str) -> int:
    """Where the last sentence begins that calls a value final, or 0; 0 for one that supposes."""
    for lo, hi in reversed(list(sentences(text))):
        if _MARKS.search(text, lo, hi):
            return 0 if _SUPPOSED.match(text, lo, hi) else lo
    return 0


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
    spoken = list(told(text))
    used = {  # where the text reckons on with a value, last
        value: sentence.start
        for sentence in spoken
        if not _CHECK.match(text, sentence.start, sentence.end)
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
        final = _MARKS.search(text, *span) is not None
        concludes = _CONCLUSION.match(text, *span) is not None
        if result is None:
            chained = any(value.value in sentence.counted for value in sentence.free)
            aside = not (final or chained) and _FIRST.match(text, *span) is not None
        else:
            settled = leads and used.get(result.value, -1) < sentence.start
            part = part and not (final or concludes or _BETTER.match(text, *span))
            part = part or (settled and not final and _opens_account(text, span))
            aside = part or _is_check(text, sentence, result, leads=leads, operands=operands)
            aside = aside or (settled and _is_mention(text, sentence, result))
            aside = (aside and not (final or concludes)) or (
                settled and _is_remark(text, sentence, result, final=final)
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
    if leads and _CHECK.match(text, sentence.start, sentence.end):
        return not _contradicts(text, sentence, result)
    free = {value.value for value in sentence.free}
    return bool(free) and result.value in sentence.counted and free <= operands


def _is_mention(text: str, sentence: Sentence, result: Value) -> bool:
    """Whether values are only mentioned, after a result that stands alone or is called one."""
    line = text[max(0, result.start - _WORDS) : result.start].rpartition("\n")[2]
    named = is_named(text, result) or not line.strip(_MARKUP)
    return (
        named
        and bool(sentence.free)
        and not _BETTER.match(text, sentence.start, sentence.end)
        and not any(is_stated(text, value) for value in sentence.free)
        and not alone(text, sentence.start, sentence.end)
    )


def _opens_account(text: str, span: Span) -> bool:
    """Whether an account begins of how the result was reached."""
    return any(opening.match(text, *span) for opening in (_HEADED, _FIRST, _BEGUN))


def _contradicts(text: str, sentence: Sentence, result: Value) -> bool:
    """Whether a check comes to another value that is nearly the result, and so rejects it."""
    told = sentence.counted | {value.value for value in sentence.free}
    if result.value in told or _CHECK.match(text, sentence.start, sentence.end) is None:
        return False
    return any(
        _is_near(value.value, result.value) and is_stated(text, value) for value in sentence.free
    )


def _is_near(a: str, b: str) -> bool:
    """Whether two values differ in some of their digits, in half of them at most."""
    unlike = sum(x != y for x, y in zip(a, b, strict=False))
    return len(a) == len(b) > _SHORT and 0 < 2 * unlike <= len(a)


def _is_remark(text: str, sentence: Sentence, result: Value, *, final: bool) -> bool:
    """Whether a sentence notes something, tells of an error, of a digit, or of time and effort."""
    span = sentence.start, sentence.end
    if final or _SUPPOSED.match(text, *span):
        return _SUPPOSED.match(text, *span) is not None
    if _REMARKED.match(text, *span) or _ERROR.search(text, *span):
        return True
    if text[sentence.start : sentence.end].lstrip()[:1] in tuple("(（"):
        return True
    if not sentence.free:
        return False
    if _DIGIT.search(text, *span) and any(
        len(value.value) < len(result.value) for value in sentence.free
    ):
        return True
    return all(
        _DURATION.match(text, value.end, value.end + _LOOK) for value in sentence.free
    ) and not _DURATION.match(text, result.end, result.end + _LOOK)


def _is_heading(text: str, lo: int, hi: int) -> bool:
    line = text[lo:hi].strip()
    marked = line.startswith("#") or (line.startswith("**") and line.endswith("**"))
    return marked or line.rstrip("*_ ").endswith((":", "："))
