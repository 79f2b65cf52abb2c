r"""A value in its place: what it is worth, and what the text does with it.

    >>> values(r"so \frac{2}{6} of 12,000 is left")[0]
    Value(start=3, end=14, value='1/3', exact=True)

The text may state a value (`is 42`, `= 42`, `**42**`), reckon with it
(`42 + 3`, `from 42`, `\sqrt{42}`) or merely mention it. Context is sought
within a few words on either side, so that the work is linear in the text.

Knows nothing about which of the stated values is the final one.
"""

from __future__ import annotations

import re
from fractions import Fraction

from misled.numbers import MINUS, NUMBER_WORD, Number, numbers, sign
from misled.records import Record

__all__ = [
    "CLOSE",
    "OPEN",
    "ROUGHLY",
    "Value",
    "ahead",
    "alone",
    "canonical",
    "in_percent",
    "is_negated",
    "is_operand",
    "is_rough",
    "is_stated",
    "same",
    "settled",
    "values",
]


class Value(Record, frozen=True):
    """A canonical value where it stands; `exact` is False for rounded and scientific ones.

    `percent` says that a percent sign follows, which is no part of `value`.
    """

    start: int
    end: int
    value: str
    exact: bool = True
    percent: bool = False


_LONGEST_RATIONAL = 2000  # digits; Python's own conversion stops at 4300
_LOOK = 48  # code points on either side in which the context of a value is sought

_SPACE = r"[\s$*_`\"'“”‘’]|\\[()\[\],;:!> $]|\\(?:left|right|quad|displaystyle)\b"
_COMMAND = r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|bm|boldsymbol)\s*\{"
OPEN = rf"(?:{_SPACE}|{_COMMAND}|[(\[{{€£¥])"
CLOSE = rf"(?:{_SPACE}|[)\]}}])"
ROUGHLY = (
    r"(?:≈|≃|~|\\approx|\\sim(?:eq)?|(?:大?约|大約)(?:等于|为|是)?"
    r"|\b(?:about|approximately|approx|roughly|around|nearly|almost)\b)"
)
_UNIT = (
    r"(?:\\?[%％°]|\\(?:text|mathrm|mbox|textrm)\s*\{[^{}\d]*\}(?:\^\{?[23]\}?)?"
    r"|\^\s*\{?\\circ\}?|\\(?:degree|circ)\b)"
)
_NO_UNIT = r"(?!(?:and|or|nor|not|is|are|was|than|more|less|plus|minus|times|out|wrong)\b)"
_PREFIX = re.compile(rf"(?>(?:{OPEN}|[#:：+])*)([-−–](?=[(\\{{])(?>{OPEN}*))?")
# A value begins with a digit, a point, a sign, a command or a number word.
_FIRST = re.compile(rf"{_PREFIX.pattern}(?:[{MINUS}\d.\\]|(?i:minus|negative)|{NUMBER_WORD})")
_SUFFIX = re.compile(
    rf"(?>(?:{CLOSE}|{_UNIT}|[.,;!。！]|[¥元个個米人円年岁天]|{_NO_UNIT}[A-Za-z]+[²³]?)*)"
)

_BOX = re.compile(rf"(?>{OPEN}*)\\boxed\s*\{{(.*)\}}(?:{CLOSE}|[.])*", re.DOTALL)
_FRACTION = re.compile(r"\\[dtc]?frac\s*\{?\s*\Z")
_OVER = re.compile(r"\s*\}?\s*\{?\s*")
_SLASH = re.compile(r"\s?/\s?")
_ROUGHLY_BEFORE = re.compile(rf"{ROUGHLY}{OPEN}*\Z", re.IGNORECASE)
_MINUS_IN_WORDS = re.compile(
    r"(?:(?<![\w-])negative|(?:\A|[=:(.\n]|\b(?:is|be|equals|gives?|get))\s*\bminus)\s\Z",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    rf"(?>(?![\n]){CLOSE})*\\?(?:[%％]|(?:{_COMMAND})?\s?per\s?cent\b(?!age))", re.IGNORECASE
)
_LABEL = re.compile(  # a dash between it and a value is no minus
    r"(?:\A|\n)[\s*_#>]*(?:the )?(?:final )?(?:answer|ans|result|sum|total|output)[.*_]* ?[-−–—]"
    rf" {OPEN}*\Z",
    re.IGNORECASE,
)
_LINE_ENDS = re.compile(rf"(?>(?!\n){CLOSE}|[.!])*(?:\n|\Z)")
_CUT_OFF = re.compile(
    rf"\.\.\.|…|\\[cl]?dots|(?:{_SPACE})?(?:[kKMB](?![A-Za-z])|(?:dozens?|gross|lakh|crore)\b)"
)

_OPENERS = " \t\r\n$_`\"'“”‘’([{€£¥\\"
_OPERATORS = frozenset("+×÷·∙⋅^√/")
_OPERATOR_WORD = re.compile(
    r"(?:(?<![A-Za-z])(?:times|plus|minus|from|modulo?|subtract(?:ing)?|add(?:ing)?|div|cdot|pm"
    r"|sqrt|[dtc]?frac|multiply(?:ing)?)|(?:(?:divid|multipl)[a-z]*(?:\s[^.,;=]*)?|\d)\s(?:by|over)|\d\s?[xX])\Z",
    re.IGNORECASE,
)
_OPERATOR_AFTER = re.compile(
    rf"(?>(?:\*\*|(?![\n*]){CLOSE}|{_UNIT})*)(?:[A-Za-z]+[ ]){{0,2}}"
    rf"(?:[+×÷·∙⋅^]|[-−–](?={OPEN}*[\d.])|(?:\*(?!\*)|/)(?={OPEN}*[\d.])|(?<=\}})\s*\{{"
    r"|\\(?:times|div|cdot|pm)\b|[xX]\s?\d|(?:times|plus|minus|modulo?)\s[$\\(]*\d"
    r"|(?:divided|multiplied)\sby\s)"
    r"|-?\s?digit|-[A-Za-z]{2}"  # a 20-digit number, a 5-day week
    r"|\((?=\d)|\s?\\(?:sqrt|pi|ln|log|sin|cos|tan|alpha|theta|infty)\b|\s?[π√∞]"
    r"|(?![mgshlLtCFJNVWkKMB])[A-Za-z](?![A-Za-z])"
    r"|\s*\n\s*[-+−–×*]\s?[\d.,]+\s*(?:\n|\Z)"  # the row of a column that stands above
)
_NEGATIONS = (
    *("not", "n't", "n’t", "no longer", "never", "instead of", "rather than", "neither", "nor"),
    "不是",
)
_IS_WRONG = re.compile(rf"{CLOSE}*\s?\b(?:is|was)\s(?:wrong|incorrect|not|an error|too)\b")
_IS_RIGHT = re.compile(rf"{CLOSE}*\s?\b(?:is|was)\s(?:the\s)?(?:correct|right)\b")
_SIGNS = (
    *("=", "≡", "≈", "⇒", "→", "**", "\\Rightarrow", "\\implies", "\\equiv", "\\approx"),
    *("是", "为", "為", "等于", "得", "得到"),
)
_RESULT_VERBS = frozenset(
    (
        *("equal", "equals", "becomes", "give", "gives", "gave", "giving", "get", "gets", "got"),
        *("make", "makes", "yield", "yields", "yielded", "obtain", "obtained", "leaves", "leaving"),
        *("total", "totals", "totaling", "comes", "amounts", "sums", "adds"),
    )
)
_VERBS = _RESULT_VERBS | {"is", "are", "was", "were", "be", "s", "has", "have", "cost", "costs"}
# A verb does not reach a value across these: "is the sum of 5 and 7".
_PARTS = frozenset(
    (
        *("not", "sum", "product", "difference", "quotient", "between", "for", "in", "at", "if"),
        *("given", "each", "every"),
    )
)
_TOKEN = re.compile(r"[A-Za-z]+|[^\s\w]|\d")


def values(text: str, start: int = 0, end: int | None = None) -> list[Value]:
    r"""Every value of `text[start:end]`; `\frac{1}{3}`, `1/3` and `2 1/3` are one each."""
    return _combined(text, numbers(text, start, end))


def alone(text: str, start: int, end: int) -> Value | None:
    """The value that `text[start:end]` is, with nothing but markup, currency and unit round it."""
    if _FIRST.match(text, start, end) is None:
        return None
    parts = numbers(text, start, end)
    if not 0 < len(parts) < 4:  # a mixed fraction has three
        return None
    found = _combined(text, parts)
    if len(found) != 1 or is_operand(text, found[0]):
        return None
    value = settled(text, found[0])
    prefix = _PREFIX.fullmatch(text, start, value.start)
    if prefix is None or _SUFFIX.fullmatch(text, value.end, end) is None:
        return None
    if prefix[1]:
        return Value(value.start, value.end, _negative(value.value), value.exact, value.percent)
    return value


def settled(text: str, value: Value) -> Value:
    """The value with the words before it: a minus (`negative 5`), and what makes it inexact."""
    lo, hi = value.start, value.end
    exact = value.exact and not _CUT_OFF.match(text, hi) and not is_rough(text, lo)
    if minus := _MINUS_IN_WORDS.search(text, max(0, lo - _LOOK), lo):
        return Value(minus.start(), hi, _negative(value.value), exact, in_percent(text, hi))
    return Value(lo, hi, value.value, exact, in_percent(text, hi))


def in_percent(text: str, end: int) -> bool:
    """Whether a percent sign or the word follows the value that ends at `end`."""
    return _PERCENT.match(text, end, end + _LOOK) is not None


def is_rough(text: str, start: int) -> bool:
    """Whether what stands before `start` says that what follows is about right."""
    return _ROUGHLY_BEFORE.search(text, max(0, start - _LOOK), start) is not None


def ahead(text: str, start: int) -> str:
    """What stands before `start` within a few words, without opening brackets, quotes, currency."""
    return text[max(0, start - _LOOK) : start].rstrip(_OPENERS)


def canonical(text: str) -> str | None:
    """The canonical value of a text that is one value and its unit alone, or None."""
    box = _BOX.fullmatch(text)
    found = alone(text, *box.span(1)) if box else alone(text, 0, len(text))
    if found is None or "e" in found.value or _CUT_OFF.match(text, found.end):
        return None
    return None if "!" in text[found.end :] else found.value  # a factorial, or only loud


def same(a: str, b: str) -> bool:
    """Whether two canonical values are equal, as rationals."""
    if a == b:
        return True
    first, second = _rational(a), _rational(b)
    return first is not None and first == second


def is_operand(text: str, value: Value | Number) -> bool:
    """Whether the text reckons with the value: an operator, a root or a letter is next to it."""
    if _OPERATOR_AFTER.match(text, value.end, value.end + _LOOK):
        return True
    left = ahead(text, value.start)
    if left.endswith("**"):
        left = left.rstrip("*" + _OPENERS)
    last = left[-1:]
    if not last:
        return False
    if last in MINUS or last == "*":  # a bullet is no operator
        first = left[:-1].rstrip(" ")[-1:]
        return (first.isalnum() or first in tuple(")}]%$°")) and not _is_labelled(text, value)
    if last == "}":
        return text[value.start - 1] == "{"
    if last.isalpha() and _OPERATOR_WORD.search(left):
        return not _MINUS_IN_WORDS.search(text, max(0, value.start - _LOOK), value.start)
    sign = last == "+" and left[:-1].rstrip(_OPENERS)[-1:] in ("", "=", ":", "：")
    return last in _OPERATORS and not sign


def _is_labelled(text: str, value: Value | Number) -> bool:
    """Whether a dash leads to the value, and nothing follows it: `Answer - 42`."""
    label = _LABEL.search(text, max(0, value.start - _LOOK), value.start)
    return label is not None and _LINE_ENDS.match(text, value.end, value.end + _LOOK) is not None


def is_stated(text: str, value: Value | Number, *, plainly: bool = False) -> bool:
    """Whether an equals sign, a verb, a colon or bold type before the value states it.

    `plainly` takes verbs of reckoning alone (`gives`), not those that also describe (`has`).
    """
    left = ahead(text, value.start)
    if left.endswith(_SIGNS) or _IS_RIGHT.match(text, value.end, value.end + _LOOK):
        return True
    if left.endswith((":", "：")):
        return not (left[-2:-1].isdecimal() and text[value.start - 1] in ":：")  # no ratio, no time
    verbs = _RESULT_VERBS if plainly else _VERBS
    words = [word.lower() for word in _TOKEN.findall(left)]
    while words:
        word = words.pop()
        if word in verbs or (word == "in" and words and words[-1].startswith("result")):
            return True
        if word in _PARTS or not word.isalpha():
            return False
    return False


def is_negated(text: str, value: Value | Number) -> bool:
    """Whether the text says that the value is not the one: `not 42`, `42 is wrong`."""
    if _IS_WRONG.match(text, value.end, value.end + _LOOK):
        return True
    return ahead(text, value.start).lower().endswith(_NEGATIONS)


def _combined(text: str, parts: list[Number]) -> list[Value]:
    """The values that numbers make, with fractions put together."""
    found: list[Value] = []
    queue = parts[::-1]
    while queue:
        number = queue.pop()
        fraction = _fraction(text, number, queue[-1] if queue else None)
        if fraction is None:
            exact = number.form != "scientific"
            found.append(Value(number.start, number.end, number.value, exact))
            continue
        if queue and queue[-1].start < fraction.end:
            queue.pop()
        if found and _is_mixed(text, found[-1], fraction):
            whole = found.pop()
            mixed = str(Fraction(whole.value) + Fraction(fraction.value))
            fraction = Value(whole.start, fraction.end, mixed)
        found.append(fraction)
    return found


def _fraction(text: str, first: Number, second: Number | None) -> Value | None:
    """The fraction that begins with `first`, in LaTeX or with a slash."""
    command = _FRACTION.search(text, max(0, first.start - 12), first.start)
    if command:
        start, negative = sign(text, command.start())
        if second and _OVER.fullmatch(text, first.end, second.start):
            end = second.end + (text[second.end : second.end + 1] == "}")
            ratio = _ratio(first.value, second.value)
        elif len(first.value) == 2 and first.value.isdecimal():  # \frac34
            end, ratio = first.end, _ratio(*first.value)
        else:
            return None
        return Value(start, end, _negative(ratio) if negative else ratio) if ratio else None
    if second is None or _SLASH.fullmatch(text, first.end, second.start) is None:
        return None
    if text[first.start - 1 : first.start] == "/" or text[second.end : second.end + 1] == "/":
        return None  # a date
    ratio = _ratio(first.value, second.value)
    return Value(first.start, second.end, ratio) if ratio else None


def _negative(value: str) -> str:
    return value[1:] if value[0] == "-" else "-" + value if value != "0" else value


def _rational(value: str) -> Fraction | None:
    """The value as a fraction, or None if it is in e-notation or too long to be converted."""
    return None if "e" in value or len(value) > _LONGEST_RATIONAL else Fraction(value)


def _ratio(a: str, b: str) -> str | None:
    """The canonical value of a / b, or None."""
    above, below = _rational(a), _rational(b)
    return None if above is None or not below else str(above / below)


def _is_mixed(text: str, whole: Value, fraction: Value) -> bool:
    """Whether a small integer and a proper fraction stand together: `2 1/3`."""
    small = whole.value.isdecimal() and len(whole.value) < 10
    together = whole.end <= fraction.start and not text[whole.end : fraction.start].strip(" ")
    return small and together and 0 < Fraction(fraction.value) < 1
