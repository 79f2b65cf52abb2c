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
another number. An ending states the result, as a calculation, a check or
the conclusion does, and does not reckon with it.

Knows neither the question nor the gold answer, and changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from misled.answers import concluded, is_broken, marked
from misled.chains import steps
from misled.numbers import Number, ascii_digits, numbers
from misled.records import Chain, Step
from misled.values import CLOSE, Value, ahead, alone, is_negated, is_operand, is_stated

__all__ = ["endings", "find", "places"]


_LOOK = 48
# What states a value whatever the step is for: a box, a rule above it, its name.
_PLAINLY = (
    *("boxed", "---", "___", "===", "hline"),
    *("answer", "result", "sum", "total", "product", "difference", "quotient", "output"),
    *("answer is", "result is", "sum is", "total is", "result of", "total of", "sum of"),
    *("reply", "produce", "reply with", "matches", "matches with", "matches exactly with"),
)
_PLAINLY_AFTER = re.compile(
    rf"{CLOSE}*(?:=|\s(?:is|was)\s(?:indeed\s|also\s)?(?:the|our|my|correct|right)\b)"
)
_LINE_ENDS = re.compile(r"[)\]}$*_`\"'”.,;!]*[ \t]*(?:\\\\|\\[)\]])?[ \t]*(?:\n|\Z)")
_DIGITS_APART = re.compile(r"(?<![\d.,])\d(?:[\s,'\"|&→]{1,4}\d(?!\d|[.,]\d))++")


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
    """Every place that holds the result, ascending and disjoint."""
    magnitude = result.value.removeprefix("-")
    alike = {magnitude, _without_point(magnitude)}
    found = [number for number in numbers(text) if number.value.removeprefix("-") in alike]
    return sorted([*found, *_apart(text, magnitude)], key=lambda number: number.start)


def endings(text: str, result: Value, held: Sequence[Number]) -> list[Number]:
    """Those of the places `held` that state the result."""
    found: list[Number] = []
    roles: Sequence[Step] = ()
    for number in held:
        if result.start <= number.start < result.end:
            found.append(number)
        elif is_operand(text, number) or is_negated(text, number):
            continue
        elif _is_plain(text, number):
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
    if left.endswith(_PLAINLY) or is_stated(text, number, plainly=True):
        return True
    if any(quote in gap for quote in '"“「`'):
        return True
    if ("\n" in gap or not left) and _LINE_ENDS.match(text, number.end):
        return True
    return _PLAINLY_AFTER.match(text, number.end, number.end + _LOOK) is not None


def _role(roles: Sequence[Step], at: int) -> str:
    return roles[bisect_right(roles, at, key=lambda step: step.start) - 1].role


def _apart(text: str, magnitude: str) -> Iterator[Number]:
    """Where the digits of the result stand one by one, in a row or a column."""
    if len(magnitude) > 2:
        for row in _DIGITS_APART.finditer(text):
            if ascii_digits(row[0]) == magnitude:
                yield Number(row.start(), row.end(), magnitude, swappable=False)
