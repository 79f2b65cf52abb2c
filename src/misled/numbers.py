r"""The numbers of a text, each whole, in whatever form it is written.

    >>> numbers(r"so 2{,}684{,}407, about 2.7 \times 10^6")[0]
    Number(start=3, end=16, value='2684407', swappable=True, form='digits')

A value is a canonical string: digits, with `-` and one `.` where needed; no
separators, no trailing zeros after a point, no leading zeros but that of `0`
and `0.5`. It is never an `int`: chains hold digit strings of any length.

A comma groups digits or separates values. It is a decimal point only where
points group the same number (`1.234,5`). A run that is no grouped number
(`1,2,345`) is as many numbers as it has parts. What counts or names
(`Step 3`, `2.` before a list item, `x_1`, `S32`, `256_{10}`) is no number.

Knows nothing about what a number means, nor about fractions: two numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, TypeAlias

from misled.records import Record

__all__ = ["MINUS", "NUMBER_WORD", "Number", "ascii_digits", "numbers", "sign"]

Form: TypeAlias = Literal["digits", "scientific", "words"]

MINUS = "-−–－"

# What may stand between two groups of digits: `,`, `{,}`, `,\!`, `\,`, spaces of all widths ...
_GAP = (
    r"(?:,(?:\\! ?)?|\{,\}(?:\\!)?|\{\\[,;]\}|\\[,;:!> ]"
    r"|[~_'’\u00a0\u2002-\u200a\u202f\u205f]|，(?=[０-９]))"
)
_POWERS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALES = _POWERS | {"万": 4, "萬": 4, "亿": 8, "億": 8}
_POWER_OF_TEN = (
    r"\s?(?:×|\\times|\\cdot|·|\*|[xX])\s?10\s?(?:(?:\^|\*\*)\s?(?:\{\s?(?P<braced>[-+−]?\d{1,3})\s?\}|(?P<power>[-+−]?\d{1,3}))"
    r"|(?P<superscript>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
    r"|(?<=10)(?<![\d.,]10)\s?\^\s?(?:\{\s?(?P<bare_braced>\d{1,3})\s?\}|(?P<bare>\d{1,3}))"
    r"|[eE](?P<e>[-+−]?\d{1,3})(?![\w.])"
    rf"|\s?(?P<scale>{'|'.join(_SCALES)})(?![A-Za-z])"
)
# A run is as long as it gets, so that no part of a number is ever taken for a number.
_RUN = re.compile(rf"(?P<run>[\d]\d*+(?>(?:(?:{_GAP}|[ .．])\d++)*))(?:{_POWER_OF_TEN})?")
_GROUPED = re.compile(
    rf"\d{{1,3}}(?:(?:{_GAP}\d{{3}})+|(?: \d{{3}})+)(?:[.．]\d+)?"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"  # 12,34,567
    r"|\d{1,3}(?:,\d{3}(?:\d{3})?)+(?:\.\d+)?"  # 1,234567: one comma forgotten
)
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_PLAIN = re.compile(r"\d+(?:[.．]\d+)?")
_WIDE_PART = re.compile(r"[^ ]+")
_NARROW_PART = re.compile(r"\d+(?:[.．]\d+)*")
_NOT_DIGITS = re.compile(r"[^\d.]+")
_BEFORE_POINT = " \n\t=(+-*/$"  # what a number that begins with its point follows
_EXPONENT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_LARGEST_EXPONENT = 99

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORD_VALUES = (
    {word: value for value, word in enumerate(_UNITS.split())}
    | {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
    | {word: 10**power for word, power in _POWERS.items()}
)
_LABELS = ("step", "case", "method", "approach", "option", "equation", "phase", "stage", "attempt")


def _any_word(words: tuple[str, ...]) -> str:
    """A pattern of whole words, led by a set of letters: an engine skips to those fast."""
    tails: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        tails.setdefault(word[0], []).append(word[1:])
    first = "".join(tails) + "".join(tails).upper()
    rest = "|".join(f"(?<=[{c}{c.upper()}])(?i:{'|'.join(tail)})" for c, tail in tails.items())
    return rf"[{first}](?<![A-Za-z].)(?:{rest})(?![A-Za-z])"


NUMBER_WORD = _any_word(tuple(_WORD_VALUES))
_WORDS = re.compile(
    rf"{NUMBER_WORD}(?>(?:(?:[ -]|,? and ){NUMBER_WORD})*)"
    r"(?![- ](?:ten|hundred|thousand|million|billion)s)"
)
_ONE_WORD = re.compile(NUMBER_WORD)
_LABEL = re.compile(rf"{_any_word(_LABELS)}[ \u00a0]#?(\d{{1,2}})(?!\d)")
_ITEM = re.compile(r"^[ \t>#*_-]*\(?(\d{1,3})[.)]\**[ \t]", re.MULTILINE)


_LONE_ITEM = re.compile(rf"{_ITEM.pattern}[*_`$\\(]*\d", re.MULTILINE)


class Number(Record, frozen=True):
    """One surface form; `start` is that of its sign, if it has one.

    `swappable` says that the digits of the value stand in the text in order,
    from the first one on, so that they can be replaced one by one.
    """

    start: int
    end: int
    value: str
    swappable: bool = True
    form: Form = "digits"


def numbers(text: str, start: int = 0, end: int | None = None) -> list[Number]:
    """Every number of `text[start:end]`, ascending and disjoint; offsets index `text`."""
    end = len(text) if end is None else end
    counters = _counters(text, start, end)
    found: list[Number] = []
    for run in _RUN.finditer(text, start, end):
        lo, hi = run.span("run")
        if lo in counters or _is_name(text, lo):
            continue
        if hi < run.end():
            pieces = list(_pieces(text, lo, hi))
            found += (_number(text, a, b) for a, b in pieces[:-1])
            found += (_scaled(text, a, b, run) for a, b in pieces[-1:])
        elif text[lo:hi].isdecimal():
            found.append(_number(text, lo, hi))
        else:
            found += (_number(text, a, b) for a, b in _pieces(text, lo, hi))
    words = list(_in_words(text, start, end))
    return sorted(found + words, key=lambda number: number.start) if words else found


def ascii_digits(form: str) -> str:
    """The digits of `form`, of any script, as ASCII and in order."""
    return "".join(str(unicodedata.decimal(c)) for c in form if c.isdecimal())


def _counters(text: str, start: int, end: int) -> set[int]:
    """Where digits count and are no value: `Step 3`, and the markers of a list of items."""
    found = {match.start(1) for match in _LABEL.finditer(text, start, end)}
    items = [(int(match[1]), match.start(1)) for match in _ITEM.finditer(text, start, end)]
    if len(items) == 1 and items[0][0] == 1 and _LONE_ITEM.search(text, start, end):
        found.add(items[0][1])
    elif len(items) > 1:  # "42. So it is." alone is an answer
        labels = {label for label, _ in items}
        found |= {at for label, at in items if labels & {label - 1, label + 1}}
    return found


def _is_name(text: str, lo: int) -> bool:
    """Whether the digits at `lo` are part of a name: `x_1`, `x_{10}`, `S32`."""
    last = text[lo - 1] if lo else " "
    if last == "_":  # `x_1`, but not `__42__`
        named = text[max(0, lo - 3) : lo].rstrip("_")[-1:]
        return named.isalnum() or named in tuple(")]}")
    if last == "{":
        return text[lo - 2 : lo - 1] == "_"
    if not (last.isascii() and last.isalpha()) or text[lo - 2 : lo - 1].isalpha():
        return False
    return not (last in "xX" and text[max(0, lo - 3) : lo - 1].strip()[-1:].isdecimal())


def _pieces(text: str, lo: int, hi: int) -> Iterator[tuple[int, int]]:
    """The spans of the numbers in a run: one if it is grouped, else one a part."""
    if _is_one(text[lo:hi]):
        yield lo, hi
        return
    for wide in _WIDE_PART.finditer(text, lo, hi):
        if _is_one(wide[0]):
            yield wide.span()
            continue
        for narrow in _NARROW_PART.finditer(text, *wide.span()):
            if _is_one(narrow[0]):  # else it is a date or a version, such as 1.2.3
                yield narrow.span()


def _is_one(run: str) -> bool:
    """Whether the whole run is one number."""
    if _PLAIN.fullmatch(run) or _POINTS.fullmatch(run):
        return True
    return _GROUPED.fullmatch(run) is not None and (run[0] != "0" or run[1].isdecimal())


def _number(text: str, lo: int, hi: int) -> Number:
    """The number written in digits at `text[lo:hi]`, with the sign before it."""
    value, padded = _canonical(text[lo:hi])
    before = text[lo - 1] if lo else " "
    if before in "\n,({" or (before == " " and text[lo - 2 : lo - 1] not in tuple(MINUS)):
        return Number(lo, hi, value, not padded)
    if before == "." and text[lo - 2 : lo - 1] in _BEFORE_POINT and "." not in text[lo:hi]:
        return Number(lo - 1, hi, _canonical("0." + text[lo:hi])[0], swappable=False)
    start, negative = sign(text, lo)
    return Number(start, hi, "-" + value if negative and value != "0" else value, not padded)


def _canonical(form: str) -> tuple[str, bool]:
    """The unsigned value of a form in digits, and whether zeros are padded to its left."""
    if form.isdecimal():
        whole, part = form, ""
    else:
        plain = form.replace("．", ".")
        if _POINTS.fullmatch(plain):
            plain = plain.replace(".", "").replace(",", ".")
        whole, _, part = _NOT_DIGITS.sub("", plain).partition(".")
    if not form.isascii():
        whole, part = ascii_digits(whole), ascii_digits(part)
    short = whole.lstrip("0") or "0"
    part = part.rstrip("0")
    return (f"{short}.{part}" if part else short), len(short) < len(whole)


def _scaled(text: str, lo: int, hi: int, run: re.Match[str]) -> Number:
    """The number with the mantissa `text[lo:hi]`; out of range it is left in e-notation."""
    kind = run.lastgroup or ""
    exponent = _SCALES[run[kind]] if kind == "scale" else int(run[kind].translate(_EXPONENT))
    mantissa = "1" if kind.startswith("bare") else _canonical(text[lo:hi])[0]
    whole, _, part = mantissa.partition(".")
    if abs(exponent) > _LARGEST_EXPONENT:
        value = f"{mantissa}e{exponent}"
    elif exponent >= 0:
        part = part.ljust(exponent, "0")
        value = _canonical(f"{whole}{part[:exponent]}.{part[exponent:]}")[0]
    else:
        whole = whole.rjust(1 - exponent, "0")
        value = _canonical(f"{whole[:exponent]}.{whole[exponent:]}{part}")[0]
    start, negative = sign(text, lo)
    value = "-" + value if negative and value != "0" else value
    return Number(start, run.end(), value, swappable=False, form="scientific")


def sign(text: str, lo: int) -> tuple[int, bool]:
    """Where the number at `lo` starts with its minus sign, and whether it has one."""
    at = lo - 1
    if at > 0 and text[at] in "$€£":
        at -= 2 if text[at - 1] == "\\" else 1
    spaced = at > 0 and text[at] == " "
    at -= spaced
    if at < 0 or text[at] not in MINUS:
        return lo, False
    before = text[max(0, at - 4) : at]
    last = before.rstrip(" ")[-2:]
    if spaced:  # "= - 42" is a sign, "- 42" an item of a list
        return (at, True) if last[-1:] in tuple("=≈:({") else (lo, False)
    if not last or (last.isalpha() and len(last) == 2 and before[-1] == " "):
        return at, True  # a word, then the sign: it is no operator
    binary = last[-1].isalnum() or last[-1] in ")]}%°!"
    return (lo, False) if binary else (at, True)


def _in_words(text: str, start: int, end: int) -> Iterator[Number]:
    """The numbers written out; `one` alone is a pronoun, `hundred` alone a place."""
    for run in _WORDS.finditer(text, start, end):
        words: list[re.Match[str]] = []
        for word in _ONE_WORD.finditer(text, *run.span()):
            if words and _worth([*words, word]) is None:
                yield from _spelled(words)
                words = []
            words.append(word)
        yield from _spelled(words)


def _spelled(words: list[re.Match[str]]) -> Iterator[Number]:
    """The number that `words` make, if they make one."""
    value = _worth(words)
    if value is not None and (value != 1 or len(words) > 1):
        lo, hi = words[0].start(), words[-1].end()
        yield Number(lo, hi, str(value), swappable=False, form="words")


def _worth(words: list[re.Match[str]]) -> int | None:
    """The integer that English number words make in this order, or None."""
    total = group = 0
    room, scale = 1000, 10**15  # the next word has to be less than these
    for word in words:
        value = _WORD_VALUES[word[0].lower()]
        if value < 100:
            if value >= room or (value == 0 and len(words) > 1):
                return None
            group, room = group + value, 10 if value >= 20 else 1
        elif value == 100:
            if not 0 < group < 100:
                return None
            group, room = 100 * group, 100
        else:
            if group == 0 or value >= scale:
                return None
            total, group, room, scale = total + group * value, 0, 1000, value
    return total + group
