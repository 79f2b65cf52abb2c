"""Word problems with numbers of any size, and the calculation that solves each.

    >>> question, gold = next(draw("brickworks", 6, seed=0))
    >>> question[:53], solve(question) == gold
    ('The brickworks in Highcross fired 8,854,071 bricks in', True)
    >>> [(step.name, step.sign) for step in worked(question)]
    [('bricks of both seasons', '+')]

The templates lie in `data/words.toml`. At level k their large numbers are of
about 10^k; a draw is kept if every step is a whole number above 1, and the
answer one of two digits or more that the calculation holds nowhere else.

Knows nothing about sets of problems, models or graders.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec

from misled.draws import Draws
from misled.errors import UserError
from misled.records import Record

__all__ = ["LEVELS", "Operation", "Template", "draw", "solve", "templates", "worked"]

Sign: TypeAlias = Literal["+", "-", "*", "/", "//"]

LEVELS = range(1, 7)  # as of GSM-Ranges
TRIES = 10_000  # draws for one problem; the rarest kind is one in about 500

_HOLE = re.compile(r"\{(\w+)\}")
_STEP = re.compile(r"(?P<name>[^=]+) = (?P<a>.+) (?P<sign>[-+*/]|//) (?P<b>.+)")
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3}){1,9}|[0-9]{1,30}"


class Template(Record, frozen=True):
    """A table of `data/words.toml`, where the fields are explained."""

    text: str
    steps: tuple[str, ...]
    large: dict[str, tuple[int, int]] = {}
    small: dict[str, tuple[int, int]] = {}
    choices: dict[str, tuple[str, ...]] = {}


class Operation(Record, frozen=True):
    """One step, a `sign` b = value; `/` is exact, `//` rounded down. "The" fits before `name`."""

    name: str
    a: int
    sign: Sign
    b: int
    value: int


def templates() -> Mapping[str, Template]:
    """The bundled templates by name."""
    return {name: template for name, (template, _) in _bundled().items()}


def draw(name: str, level: int, seed: int) -> Iterator[tuple[str, str]]:
    """Question and answer of problem 0, 1, ... of a template, no two with the same numbers.

    Raises:
        UserError: there is no further problem at this level.
    """
    template = templates()[name]
    seen: set[tuple[int, ...]] = set()
    while True:
        key = (seed, f"word:{level}", f"{name}-{len(seen)}")
        draws = Draws(*key, "numbers")
        for _ in range(TRIES):
            numbers = _numbers(template, level, draws)
            answer = _answer(template, numbers)
            if answer is not None and tuple(numbers.values()) not in seen:
                break
        else:
            raise UserError(
                f"word:{level} has only {len(seen)} different problems of {name!r}; "
                "ask for fewer or for a higher level"
            )
        seen.add(tuple(numbers.values()))
        spelled = {name: f"{number:,}" for name, number in numbers.items()}
        words = spelled | _words(template, Draws(*key, "words"))
        yield template.text.format_map(words), str(answer)


def worked(question: str) -> tuple[Operation, ...] | None:
    """The steps that solve a question of the templates, read from its text; None for any other."""
    for template, pattern in _bundled().values():
        if found := pattern.fullmatch(question.strip()):
            names = [*template.large, *template.small]
            return _operations(
                template, {name: int(found[name].replace(",", "")) for name in names}
            )
    return None


def solve(question: str) -> str | None:
    """The answer to a question of the templates, computed from its text; None for any other."""
    steps = worked(question)
    return str(steps[-1].value) if steps else None


# --- drawing ---------------------------------------------------------------------------------


def _numbers(template: Template, level: int, draws: Draws) -> dict[str, int]:
    unit = 10**level
    large = {
        name: low * unit + draws.below((high - low) * unit)
        for name, (low, high) in template.large.items()
    }
    small = {
        name: low + draws.below(high + 1 - low) for name, (low, high) in template.small.items()
    }
    return large | small


def _words(template: Template, draws: Draws) -> dict[str, str]:
    """An entry for each hole that is no number, different ones for `town` and `town2`."""
    lists = _shared() | template.choices
    words: dict[str, str] = {}
    holes = dict.fromkeys(_HOLE.findall(template.text))
    for name, entries in lists.items():
        places = [hole for hole in holes if hole.rstrip("2") == name]
        words |= zip(places, draws.sample(entries, len(places)), strict=True)
    return words


def _answer(template: Template, numbers: Mapping[str, int]) -> int | None:
    """The answer, or None where the numbers do not suit the template."""
    steps = _operations(template, numbers)
    if steps is None or min(step.value for step in steps) < 2:
        return None
    held = {*numbers.values(), *(n for step in steps for n in (step.a, step.b))}
    answer = steps[-1].value
    return answer if answer > 9 and answer not in held else None


# --- reading ---------------------------------------------------------------------------------


def _operations(template: Template, numbers: Mapping[str, int]) -> tuple[Operation, ...] | None:
    """The steps with their values, or None where one is negative or no whole number."""
    values, steps = dict(numbers), []
    for text in template.steps:
        name, left, sign, right = _parsed(text)
        a, b = (values[x] if x in values else int(x) for x in (left, right))
        value = _value(a, sign, b)
        if value is None:
            return None
        values[name] = value
        steps.append(Operation(name, a, sign, b, value))
    return tuple(steps)


def _value(a: int, sign: Sign, b: int) -> int | None:
    if sign in ("/", "//"):
        return a // b if b and (sign == "//" or a % b == 0) else None
    if sign == "-":
        return a - b if a >= b else None
    return a + b if sign == "+" else a * b


@cache
def _parsed(step: str) -> tuple[str, str, Sign, str]:
    """Name, operand, sign and operand of a step as it is written in the templates."""
    found = _STEP.fullmatch(step)
    if found is None:
        raise ValueError(f"{step!r} is not 'name = operand sign operand'")
    return found["name"], found["a"], msgspec.convert(found["sign"], Sign), found["b"]


def _pattern(template: Template) -> re.Pattern[str]:
    """What matches the questions of a template, with a group for each number."""
    lists = _shared() | template.choices
    parts, seen = _HOLE.split(template.text), set()
    for place in range(1, len(parts), 2):
        name = parts[place]
        entries = lists.get(name.rstrip("2"))
        inner = "|".join(map(re.escape, entries)) if entries else _NUMBER
        parts[place] = f"(?P={name})" if name in seen else f"(?P<{name}>{inner})"
        seen.add(name)
        parts[place - 1] = re.escape(parts[place - 1])
    return re.compile("".join([*parts[:-1], re.escape(parts[-1])]))


@cache
def _tables() -> dict[str, dict[str, object]]:
    return tomllib.loads((files("misled") / "data" / "words.toml").read_text("utf-8"))


@cache
def _shared() -> dict[str, tuple[str, ...]]:
    return msgspec.convert(_tables()["shared"], dict[str, tuple[str, ...]])


@cache
def _bundled() -> dict[str, tuple[Template, re.Pattern[str]]]:
    tables = {name: table for name, table in _tables().items() if name != "shared"}
    found = msgspec.convert(tables, dict[str, Template])
    return {name: (template, _pattern(template)) for name, template in found.items()}
