r"""Mathematical answers in the spellings of models, brought to one form and compared.

    >>> tidy(r"$x = \dfrac43\text{ cm}^2$.")
    '\\frac{4}{3}'
    >>> equal(r"\left(3, \tfrac{\pi}{2}\right)", r"(3,\frac\pi 2)", None)
    'equal'

Lists, tuples, sets, intervals, unions and matrices are compared part by part, numbers
as exact rationals; what is left, a formula against a formula, goes to an algebra
system, if one is given. Does not know what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from misled.values import canonical, same

__all__ = ["Equal", "Equality", "equal", "is_compound", "is_formula", "tidy"]

Equality: TypeAlias = Literal["equal", "different", "unparsed", "timeout", "memory", "crash"]
Equal: TypeAlias = Callable[[str, str], Equality]

_LONGEST = 2000  # code points: nothing longer is an answer
_GLYPHS = str.maketrans(
    {
        **dict.fromkeys("−–－", "-"), "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ",
        "π": r"\pi ", "∞": r"\infty ", "∪": r"\cup ", "∈": r"\in ", "±": r"\pm ", "÷": "/",
        "≤": r"\le ", "≥": r"\ge ", "，": ",", "（": "(", "）": ")", "\u00a0": " ", "\u202f": " ",
        "²": "^2", "³": "^3", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
    }
)  # fmt: skip
_ROOT = re.compile(r"(?:√|(?<![\\A-Za-z])sqrt\s*)(?:\(([^()]{0,200})\)|(\d{1,20}|[A-Za-z]))")
_DELIMITERS = re.compile(r"\\[()\[\]]|\$")
_SPACING = re.compile(
    r"(?<!\\)\\[,!;:> ]|\\(?:quad|qquad|left|right|[bB]igg?[lr]?|displaystyle|limits"
    r"|dfrac)(?![A-Za-z])|~"
)
_GROUPED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:\{,\}|,\\!|\\[,!:;]|\\ ) ?\d{3})+(?!\d)"
    r"|(?<![\d.,(\[])\d{1,3}(?:,\d{3})+(?![\d)\]])"
)
_DEGREES = re.compile(r"\^\s*\{?\s*\\(?:circ|degree)\s*\}?|\\degree(?![A-Za-z])|°")
_MONEY = re.compile(r"\\\$|[€£¥]")
_WORDS = re.compile(
    r"\\(?:text|mbox|textbf|textit|textrm|mathrm|mathbf|operatorname|bm"
    r"|boldsymbol)\s*\{([^{}]{0,200})\}"
)
_UNIT = re.compile(
    r"(?<=[\d})\w.%])\s*(?:\\(?:text|mbox|textrm|mathrm)\s*\{[^{}\d]{1,60}\}(?:\^\{?[23]\}?)?"
    r"|\s(?:(?:square|cubic|sq\.?|cu\.?)\s)?[A-Za-z]{2,20}(?:\s(?!and"
    r"|or\b)[A-Za-z]{2,20}){0,3}(?:\^\{?[23]\}?)?\.?)\s*\Z"
)
_ONE_LETTER_UNIT = re.compile(r"(?<=\d)\s+[mgLslh](?:\^\{?[23]\}?)?\s*\Z")
_PERCENT = re.compile(r"\\?%|(?:\\text\s*\{)?\s*per\s?cent\b\}?")
_BARE_FRACTION = re.compile(
    r"\\[dtc]?frac\s*(?:\{(\w{1,20})\}|(\w)|(\\[a-z]{2,8}))\s*(?:\{(\w{1,20})\}|(\w)"
    r"|(\\[a-z]{2,8}))"
)
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_BARE_ROOT = re.compile(r"\\sqrt\s*([0-9A-Za-z])")
_BRACED_SCRIPT = re.compile(r"([_^])\s*\{\s*(\w+|\\[a-z]+)\s*\}")
_ASSIGNED = re.compile(
    r"\A\s*(?:[A-Za-z]|\\[a-z]{2,8}|[A-Za-z]\([a-z]\)|\((?:[a-z]|\\[a-z]{2,8})(?:,\s?(?:[a-z]"
    r"|\\[a-z]{2,8})){1,4}\))"
    r"(?:_\{?\w{1,3}\}?)?\s*(?:=|\\in(?![a-z])|:=)\s*(?=\S)"
)
_LESS = r"\s*(?P<{}><|\\lt(?![a-z])|\\leq?(?![a-z])|\\leqslant)\s*"
_BETWEEN = re.compile(
    rf"(?P<low>[^<>=,]{{1,80}}?){_LESS.format('first')}[a-z]{_LESS.format('second')}(?P<high>[^<>=,]{{1,80}})"
)
_MATRIX = re.compile(
    r"\\begin\s*\{([bpvB]?matrix|array)\}(?:\{[clr|]*\})?(.*?)\\end\s*\{\1\}", re.DOTALL
)
_BASED = re.compile(r"([0-9A-Z]+)_\{?(\d{1,2})\}?")
_PLUS_MINUS = re.compile(r"\\pm(?![a-z])\s*")
_LETTERS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_LIST_WORD = re.compile(r"\s*(?:,?\s*\\?\b(?:text\s*\{\s*)?(?:and|or)\b\s*\}?)\s*")
_COMMAND = re.compile(r"\\[a-zA-Z$%]|[\^=$]|[0-9A-Za-z]_\{?\d")
_SYMBOLIC = re.compile(
    r"\s*(?:[a-z]|[\s\da-z.,()\[\]{}|+*/-]*(?:\d|[a-z])\s*[-+*/(,\[]\s*[\da-z][^A-Z]*)\s*"
)
_UNION = re.compile(r"\\cup(?![a-z])")
_OPEN, _CLOSE = "([{", ")]}"
_PAIRS = {"(": ")", "[": "]", "\\{": "\\}", "\\langle": "\\rangle"}


def is_formula(text: str) -> bool:
    """Whether a gold answer is mathematical, a number or LaTeX, and not words."""
    if canonical(text) is not None or _COMMAND.search(text):
        return True
    return _LETTERS.search(text) is None and _SYMBOLIC.fullmatch(text) is not None


def is_compound(text: str) -> bool:
    """Whether a text is a tuple, a set, an interval, a matrix, a union or a list."""
    formula = tidy(text)
    kind, parts = _parts(formula) if formula else ("", [])
    return kind != "" or (len(parts) > 1 and all(len(part) < 24 for part in parts))


def tidy(text: str) -> str:
    """The formula without units, currency, spacing and `x =`, in one spelling; "" if too long."""
    if len(text) > _LONGEST:
        return ""
    text = re.sub(r"\s+", " ", text)
    text = _DELIMITERS.sub(" ", _MONEY.sub("", text.translate(_GLYPHS)))
    text = text.strip().rstrip(".。").strip("*` ")
    text = _ROOT.sub(lambda m: rf"\sqrt{{{m[1] or m[2]}}}", text)
    text = _GROUPED.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = _DEGREES.sub("", _SPACING.sub(" ", _FRACTION.sub(r"\\frac", text))).strip()
    text = _LIST_WORD.sub(", ", text)
    text = _ONE_LETTER_UNIT.sub("", _UNIT.sub("", text))
    text = _WORDS.sub(r"\1", _ASSIGNED.sub("", text))
    text = _BARE_FRACTION.sub(
        lambda m: r"\frac{{{}}}{{{}}}".format(*filter(None, m.groups())), text
    )
    text = _BRACED_SCRIPT.sub(r"\1\2", _BARE_ROOT.sub(r"\\sqrt{\1}", text))
    return re.sub(r"\s+", " ", re.sub(r"\s*([-+*/^=,(){}\[\]|&;])\s*", r"\1", text)).strip()


def _interval(text: str) -> str:
    r"""`a < x \le b` as `(a,b]`; anything else as it is."""
    found = _BETWEEN.fullmatch(text) if "\\l" in text or "<" in text else None
    if found is None:
        return text
    brackets = "(["[found["first"][:3] == "\\le"], ")]"[found["second"][:3] == "\\le"]
    return f"{brackets[0]}{found['low']},{found['high']}{brackets[1]}"


def equal(gold: str, answer: str, algebra: Equal | None) -> Equality:
    """Whether an answer is the gold one; `unparsed` also where only algebra could say."""
    one, other = _interval(tidy(gold)), _interval(tidy(answer))
    if not (one and other):
        return "unparsed"
    if _bare(one) == _bare(other):
        return "equal"
    return _shaped(one, other, algebra)


def _bare(text: str) -> str:
    """For a comparison letter by letter."""
    return re.sub(r"\\(?:times|cdot)(?![a-z])|[\s*]", "", text)


def _shaped(one: str, other: str, algebra: Equal | None) -> Equality:
    """The same for tidy formulas: by their parts, if they have any."""
    first, second = _parts(one), _parts(other)
    if len(first[1]) == 1 and len(second[1]) == 1 and first[0] == second[0] == "":
        return _scalar(first[1][0], second[1][0], algebra)
    kinds = {first[0], second[0]}
    alike = len(kinds) == 1 or kinds <= {"", "\\{"} or _only_brackets(first, second)
    if not alike:
        return "different"
    if len(first[1]) != len(second[1]):
        return "different"
    if first[0] in ("", "\\{", "cup"):
        return _unordered(first[1], second[1], algebra)
    return _worst(
        [_scalar_or_shape(a, b, algebra) for a, b in zip(first[1], second[1], strict=True)]
    )


def _only_brackets(first: tuple[str, list[str]], second: tuple[str, list[str]]) -> bool:
    """Whether the one is a tuple and the other the same vector in other brackets."""
    return {first[0], second[0]} <= {"(,)", "<,>", "column", "row"} and len(first[1]) > 1


def _scalar_or_shape(one: str, other: str, algebra: Equal | None) -> Equality:
    if re.sub(r"\s", "", one) == re.sub(r"\s", "", other):
        return "equal"
    return _shaped(one, other, algebra)


def _worst(found: list[Equality]) -> Equality:
    """`different` if one part is, else the first that is not known, else `equal`."""
    if "different" in found:
        return "different"
    return next((each for each in found if each != "equal"), "equal")


def _unordered(first: list[str], second: list[str], algebra: Equal | None) -> Equality:
    """Whether two sets of parts are one."""
    rest = list(second)
    unknown: list[Equality] = []
    for part in first:
        found: list[Equality] = []
        for place, other in enumerate(rest):
            found.append(_scalar_or_shape(part, other, algebra))
            if found[-1] == "equal":
                del rest[place]
                break
        else:
            known = [each for each in found if each != "different"]
            if not known:
                return "different"
            unknown.append(known[0])
    return unknown[0] if unknown else "equal"


def _parts(text: str) -> tuple[str, list[str]]:
    """The kind of a formula and its parts; a scalar is of kind "" and its own one part."""
    text = text.strip()
    matrix = _MATRIX.fullmatch(text)
    if matrix:
        rows = [
            row.split("&") for row in re.split(r"\\\\(?:\[[^\]]*\])?", matrix[2]) if row.strip()
        ]
        kind = "column" if all(len(row) == 1 for row in rows) else f"rows{len(rows)}"
        return kind, [cell for row in rows for cell in row]
    if _UNION.search(text):
        return "cup", _UNION.split(text)
    for opening in ("\\{", "(", "[", "\\langle"):
        if text.startswith(opening) and _closes(text, opening):
            for closing in (")", "]", "\\}", "\\rangle"):
                if text.endswith(closing):
                    inner = _split(text[len(opening) : -len(closing)])
                    break
            else:
                break
            if opening == "\\{":
                return "\\{", _expanded(inner)
            if len(inner) > 1:
                opened = opening.replace("\\langle", "<")
                return f"{opened},{closing.replace(chr(92) + 'rangle', '>')}", inner
            if closing == ")":
                return _parts(inner[0])
    return "", _expanded(_split(text))


def _expanded(parts: list[str]) -> list[str]:
    r"""The parts, `a \\pm b` as two."""
    found: list[str] = []
    for part in (_ASSIGNED.sub("", each) for each in parts):
        if len(_PLUS_MINUS.findall(part)) == 1:
            found += [_PLUS_MINUS.sub(sign, part).removeprefix("+") for sign in "+-"]
        else:
            found.append(part)
    return found


def _closes(text: str, opening: str) -> bool:
    """Whether the bracket that opens a text closes at its end."""
    depth = 0
    for place, c in enumerate(text):
        depth += (c in _OPEN) - (c in _CLOSE)
        if depth == 0 and place >= len(opening) - 1 and opening != "\\langle":
            return place == len(text) - 1
    return opening == "\\langle"


def _split(text: str) -> list[str]:
    """The parts between commas and semicolons that stand in no bracket."""
    found, depth, start = [], 0, 0
    for place, c in enumerate(text):
        depth += (c in _OPEN) - (c in _CLOSE)
        if c in ",;" and depth == 0:
            found.append(text[start:place])
            start = place + 1
    return [part for part in [*found, text[start:]] if part.strip()] or [text]


def _scalar(one: str, other: str, algebra: Equal | None) -> Equality:
    """The same for two formulas without parts."""
    based, other_based = _BASED.fullmatch(one), _BASED.fullmatch(other)
    if based or other_based:
        digits = (based[1] if based else one, other_based[1] if other_based else other)
        bases = {match[2] for match in (based, other_based) if match}
        return "equal" if digits[0] == digits[1] and len(bases) == 1 else "different"
    values = _values(one), _values(other)
    if all(values):
        return "equal" if any(same(a, b) for a in values[0] for b in values[1]) else "different"
    words = [_LETTERS.search(part) is not None for part in (one, other)]
    if any(words):
        return _in_words(one, other)
    if re.fullmatch(r"\(?[A-Z]\)?", one) and re.fullmatch(r"\(?[A-Z]\)?", other):
        return "equal" if one.strip("()") == other.strip("()") else "different"
    return _by_algebra(one, other, algebra)


def _values(text: str) -> list[str]:
    """What a number may be worth: in percent, also its hundredth."""
    plain = _PERCENT.sub("", text)
    value = canonical(plain)
    if value is None:
        return []
    hundredth = canonical(f"{value}e-2") if plain != text and "/" not in value else None
    return [value, hundredth] if hundredth else [value]


def _in_words(one: str, other: str) -> Equality:
    """Words are equal as words."""
    first, second = (re.sub(r"[\W_]+", " ", part).casefold().strip() for part in (one, other))
    return "equal" if first == second else "different"


def _by_algebra(one: str, other: str, algebra: Equal | None) -> Equality:
    """What the algebra system says; an equation against what is none, by its last side."""
    if algebra is None:
        return "unparsed"
    sides, others = one.split("="), other.split("=")
    if len(sides) == 2 and len(others) == 2:
        difference = "{0}-({1})"
        found = algebra(difference.format(*sides), difference.format(*others))
        return (
            found
            if found != "different"
            else algebra(difference.format(*sides), difference.format(*others[::-1]))
        )
    return algebra(sides[-1], others[-1])
