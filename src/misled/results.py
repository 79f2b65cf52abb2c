r"""A chain's own result: the value it concludes with, and every place that holds it.

    >>> text = "Is it 42 - 30? No: 12 + 30 = 42. So the answer is 42."
    >>> result = find(Chain(text, ""))
    >>> held = places(text, result)
    >>> len(held), [place.start for place in endings(text, result, held)]
    (3, [29, 50])

The result is what the last mark of a final value says (a box, "the answer
is"), else what the last conclusion or calculation comes to, right or wrong. A
place holds it if it is of the same magnitude: a chain that concludes `-42`
says also that the difference is 42. So does a decimal without its point, when
a chain reckons in hundredths. A number that merely contains its digits is
another number, and one that names, orders or tells the time (`page 42`, `42nd`,
`12:42`) is none. An ending states the result, as a calculation, a check or the
conclusion does: it does not reckon with it, ask for it or suppose it.

Knows neither the question nor the gold answer, and changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from misled.answers import concluded, is_broken, marked
from misled.chains import steps
from misled.numbers import Number, ascii_digits, numbers
from misled.numerals import chinese
from misled.records import Chain, Step
from misled.values import CLOSE, Value, ahead, alone, is_negated, is_operand, is_stated

__all__ = ["endings", "find", "places"]

_LOOK = 48
# What states a value whatever the step is for: a box, a rule above it, its name.
_PLAINLY = (
    *("boxed", "---", "___", "===", "hline"),
    *("answer", "result", "sum", "total", "product", "difference", "quotient", "output"),
    *("answer is", "result is", "sum is", "total is", "value is"),
    *("result of", "total of", "sum of"),
    *("reply", "produce", "reply with", "matches", "matches with", "matches exactly with"),
)
_PLAINLY_AFTER = re.compile(
    rf"{CLOSE}*(?:=|\s(?:is|was|(?:w|sh)ould be|must be)\s(?:indeed\s|also\s)?"
    r"(?:the|our|my|correct|right)\b)"
)
# What leads to a value as to a consequence, and what makes of it the subject of a remark.
_LED = re.compile(
    r"(?:(?<![A-Za-z])(?:so|thus|hence|therefore|yes|yep|yeah|namely|i\.e\.|that is"
    r"|(?:that|it)[’']s|which (?:is|was|makes)|computed (?:is|was)|(?:would|should|must) be"
    r"|go(?:ing)? with)|∴|即|也就是|所以|因此|故)[,:，：]?\Z",
    re.IGNORECASE,
)
_REMARK = re.compile(
    rf"{CLOSE}*(?:(?:is|are|was|were|has|have|can|cannot|must|could|may|might|of|per|each|to|vs)\b"
    r"|(?:,|and|or)\s?\d|(?:[A-Za-z]+\s)?[<>≠])"
)
# A sentence of its own: the value and its unit, behind the end of another that is no list marker.
_SENTENCE_ENDS = tuple(".!?。！？")
_LISTED = re.compile(r"(?:\n[ \t]*\d{1,2}|(?<![A-Za-z])[A-Za-z])\.\Z")
_REST = r"[)\]}$*_`\"'”’%\\ \t]*+"
_SENTENCE = re.compile(rf"{_REST}(?:[A-Za-z]++{_REST}){{0,2}}(?:[.!。！](?!\d)|\n|\Z)")
# A question or a condition does not state; its verb comes first.
_ASKED_AFTER = re.compile(r"\s?[吗嗎]|[^.?!\n。！？=\d]{0,40}[?？]")
_ASKED = re.compile(
    r"(?:\A|[.!?,;:。\n]\s*|(?<![A-Za-z])(?:so|and|but|or|then|wait|hmm|what|how|why)\s)(?:is|are|was|were"
    r"|does|do|did|would|could|can|should|will|might|has|have)\s[^.!?\n]*\Z",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"(?:(?<![A-Za-z])(?:if|whether|unless|suppose|assum(?:e|ing))\s[^.,;:!?\n)\"“]*"
    r"|(?:如果|假设|假如|是否|能否)[^。，,；\n]*)\Z",
    re.IGNORECASE,
)
# What is no value: the name of a thing, an ordinal, a time. And one that is handed to a function.
_NAMED = re.compile(
    r"(?:(?<![A-Za-z])(?:step|case|page|line|row|column|section|chapter|rule|article|equation"
    r"|figure|table|question|problem|exercise|option|room|version|volume|eq\.|fig\.)"
    r"[ \u00a0]?[#(]?|[#№第])\Z",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"-?\^?\{?(?:\\text\s?\{)?(?:st|nd|rd|th)(?![A-Za-z])")
_HOUR = re.compile(r"(?<![\d:.])(?:[01]?\d|2[0-4]):\Z")
_MINUTE = re.compile(r":[0-5]\d(?![\d:])")
_ARGUMENT = re.compile(
    r"(?:(?<![A-Za-z\\])(?:[A-Za-z]\w{0,2}|sqrt|floor|ceil|round|print|range)|[)\]}\d]"
    r"|\\(?:sin|cos|tan|log|ln|exp|gcd|max|min))(?:\\left)?[(\[][^()\[\]\n=]*\Z"
)
_LINE_ENDS = re.compile(r"[)\]}$*_`\"'”.,;!]*[ \t]*(?:\\\\|\\[)\]])?[ \t]*(?:\n|\Z)")
_DIGITS_APART = re.compile(r"(?<![\d.,])\d(?>(?:[\s,'\"|&→]{1,4}\d(?!\d|[.,]\d))+)")


def find(chain: Chain) -> Value | None:
    """The value that the reasoning concludes with, exactly; None if it states none."""
    text = chain.reasoning
    if len(text) < _LOOK and (bare := alone(text, 0, len(text))):
        return bare if bare.exact else None
    for found in marked(text):  # the last mark decides, whatever it says
        return found if isinstance(found, Value) and found.exact else None
    if is_broken(text) or not chain.finished:
        return None
    for step in reversed(steps(text)):
        if step.role not in ("conclusion", "calculation", "verification"):
            continue
        last = concluded(text, step.start, step.end)
        plain = isinstance(last, Value) and is_stated(text, last, plainly=True)
        if isinstance(last, Value) and last.exact and (plain or step.role == "conclusion"):
            return last
    return None


def places(text: str, result: Value) -> list[Number]:
    """Every place that holds the result, in digits or in words, ascending and disjoint."""
    magnitude = result.value.removeprefix("-")
    alike = {magnitude, _without_point(magnitude)}
    found = [number for number in numbers(text) if number.value.removeprefix("-") in alike]
    if not _is_name(text, result):  # else the chain asks for a page, a time
        found = [number for number in found if not _is_name(text, number)]
    words = [number for number in chinese(text) if number.value == magnitude]
    return sorted([*found, *words, *_apart(text, magnitude)], key=lambda number: number.start)


def endings(text: str, result: Value, held: Sequence[Number]) -> list[Number]:
    """Those of the places `held` that state the result."""
    found: list[Number] = []
    roles: Sequence[Step] = ()
    for number in held:
        if result.start <= number.start < result.end:
            found.append(number)
        elif _is_used(text, number) or is_negated(text, number):
            continue
        elif ahead(text, number.start).endswith(("=", "boxed")):
            found.append(number)  # an equation is stated where it is asked for, too
        elif _is_asked(text, number):
            continue
        elif _is_plain(text, number) or _is_led(text, number):
            found.append(number)
        else:
            roles = roles or steps(text)
            role = _role(roles, number.start)
            if role == "conclusion" or (role != "other" and is_stated(text, number)):
                found.append(number)
    return found


def _without_point(magnitude: str) -> str:
    """A decimal of four digits and more as the integer that it is reckoned with."""
    plain = magnitude.replace(".", "")
    return plain if len(plain) > 3 and plain[0] != "0" else magnitude


def _is_plain(text: str, number: Number) -> bool:
    """Whether the place states its value whatever is done there."""
    left = ahead(text, number.start)
    gap = text[max(0, number.start - _LOOK) : number.start][len(left) :]
    if left.lower().endswith(_PLAINLY) or is_stated(text, number, plainly=True):
        return True
    if any(quote in gap for quote in '"“「`'):
        return True
    if ("\n" in gap or not left) and _LINE_ENDS.match(text, number.end):
        return True
    return _PLAINLY_AFTER.match(text, number.end, number.end + _LOOK) is not None


def _is_led(text: str, number: Number) -> bool:
    """Whether a word of consequence leads to the value, or it is a sentence of its own."""
    left = ahead(text, number.start)
    if _REMARK.match(text, number.end, number.end + _LOOK):
        return False
    if _LED.search(left):
        return True
    alone = left.endswith(_SENTENCE_ENDS) and not _LISTED.search(left)
    return alone and _SENTENCE.match(text, number.end) is not None


def _is_asked(text: str, number: Number) -> bool:
    """Whether the value stands in a question, or in a condition without a verb of reckoning."""
    lo = max(0, number.start - _LOOK)
    supposed = _SUPPOSED.search(text, lo, number.start)
    if supposed and not (supposed[0].isascii() and is_stated(text, number, plainly=True)):
        return True
    asked = _ASKED_AFTER.match(text, number.end, number.end + _LOOK)
    if asked is None:
        return False
    return asked[0][-1] in "吗嗎" or _ASKED.search(text, lo, number.start) is not None


def _is_used(text: str, number: Number) -> bool:
    """Whether the text reckons with the value, or hands it to a function."""
    lo = max(0, number.start - _LOOK)
    return is_operand(text, number) or _ARGUMENT.search(text, lo, number.start) is not None


def _is_name(text: str, place: Value | Number) -> bool:
    """Whether the digits name, order or tell the time, and so are no value."""
    lo, size = max(0, place.start - _LOOK), place.end - place.start
    if _NAMED.search(text, max(lo, place.start - 16), place.start):
        return True
    if _ORDINAL.match(text, place.end):
        return True
    hour = size < 3 and _MINUTE.match(text, place.end)
    minute = size == 2 and _HOUR.search(text, lo, place.start)
    return bool(hour or minute) and "ratio" not in text[lo : place.start]


def _role(roles: Sequence[Step], at: int) -> str:
    return roles[bisect_right(roles, at, key=lambda step: step.start) - 1].role


def _apart(text: str, magnitude: str) -> Iterator[Number]:
    """Where the digits of the result stand one by one, in a row or a column."""
    if len(magnitude) > 2:
        for row in _DIGITS_APART.finditer(text):
            if ascii_digits(row[0]) == magnitude:
                yield Number(row.start(), row.end(), magnitude, swappable=False)
