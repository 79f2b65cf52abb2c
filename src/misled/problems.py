"""Problem sets: a spec such as `addition:15+13` -> problems with their golds.

    >>> problems, rejects = load("addition:3+2", n=1, seed=0)
    >>> problems[0].question, problems[0].gold
    ('What is 864 + 23?', ('887',))

A set is a function in `PROBLEM_SETS` from (size, n, seed) to a stream of
problems, and of rejects where it reads somebody's file. Problem i depends on
the set, the seed and i, never on n, so that asking for more problems keeps
those that there are.

Knows nothing about models, prompts or how an answer is graded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from operator import add, mul
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from misled import hub
from misled.draws import Draws
from misled.errors import UserError, nearest
from misled.facts import facts, topics
from misled.records import Problem, Record
from misled.words import LEVELS, draw, templates

__all__ = ["PROBLEM_SETS", "ProblemSet", "Reject", "load", "objects", "problem", "text"]

MAX_DIGITS = 1000  # per operand; Python turns no integer of over 4,300 digits into text


class Reject(Record, frozen=True):
    """A record that is no problem: its 0-based index, its line, its id if it has one, and why."""

    index: int
    line: int
    id: str | None
    reason: str


ProblemSet: TypeAlias = Callable[[str, int | None, int], Iterator[Problem | Reject]]


def load(spec: str, n: int | None, seed: int) -> tuple[list[Problem], tuple[Reject, ...]]:
    """The first `n` problems of `spec` (None: all of them), and what its file holds beside them.

    Raises:
        UserError: the set or its size is unknown, it has fewer than `n`
            problems to draw, or its file cannot be read or holds no problem.
    """
    name, _, size = spec.partition(":")
    if name not in PROBLEM_SETS:
        hint = f"; for a file write file:{spec}" if "." in spec or "/" in spec else ""
        raise UserError(nearest("problem set", name, PROBLEM_SETS) + hint)
    if n is not None and n < 1:
        raise UserError(f"{spec}: {n} problems were asked for; give at least 1")
    problems: list[Problem] = []
    rejects: list[Reject] = []
    for found in PROBLEM_SETS[name](size, n, seed):
        if isinstance(found, Reject):
            rejects.append(found)
            continue
        problems.append(found)
        if len(problems) == n:
            break
    if not problems:
        first = f"; line {rejects[0].line}: {rejects[0].reason}" if rejects else ""
        raise UserError(f"{spec}: the file holds no usable problem{first}")
    return problems, tuple(rejects)


# --- arithmetic ------------------------------------------------------------------------------


def _addition(size: str, n: int | None, seed: int) -> Iterator[Problem]:
    """Sums of operands with the digit counts of `size` [A §4.1]."""
    return _drawn("addition", "+", "15+13", size, n, seed)


def _multiplication(size: str, n: int | None, seed: int) -> Iterator[Problem]:
    """Products of operands with the digit counts of `size` [A §4.1]."""
    return _drawn("multiplication", "x", "8x7", size, n, seed)


def _drawn(
    name: str, sign: str, default: str, size: str, n: int | None, seed: int
) -> Iterator[Problem]:
    first, second = _digit_counts(name, sign, size or default)
    spec = f"{name}:{first}{sign}{second}"
    different = 81 * 10 ** (first + second - 2)
    if n is None:
        raise UserError(f"{spec} has no end; say how many problems with --n")
    if n > different:
        raise UserError(f"{spec} has {different} different problems, {n} were asked for")
    seen: set[tuple[int, int]] = set()
    for i in range(n):
        draws = Draws(seed, spec, i)
        while (pair := (_number(draws, first), _number(draws, second))) in seen:
            pass
        seen.add(pair)
        yield _problem(spec, i, sign, *pair)


def _digit_counts(name: str, sign: str, size: str) -> tuple[int, int]:
    found = re.fullmatch(rf"([0-9]{{1,4}}){re.escape(sign)}([0-9]{{1,4}})", size)
    counts = tuple(map(int, found.groups())) if found else (0, 0)
    if not all(1 <= count <= MAX_DIGITS for count in counts):
        raise UserError(
            f"{name}:{size}: give the digit counts of both operands, "
            f"each 1 to {MAX_DIGITS}, as in {name}:8{sign}7"
        )
    return counts[0], counts[1]


def _number(draws: Draws, digits: int) -> int:
    """A number of exactly `digits` digits, all of them equally likely."""
    value = 1 + draws.below(9)
    for _ in range(digits - 1):
        value = 10 * value + draws.below(10)
    return value


def _small(size: str, n: int | None, seed: int) -> Iterator[Problem]:
    """One-digit products and sums with two-digit results, in seeded order.

    No operand equals the result, and no two problems are the same up to order:
    32 products and 25 sums. A chain's result is then never one of its operands,
    which a model of 135M parameters repeats in every line.
    """
    if size:
        raise UserError(f"small takes no size, {size!r} was given")
    pairs = list(combinations_with_replacement(range(1, 10), 2))
    every = [
        (sign, a, b)
        for sign, operate in (("x", mul), ("+", add))
        for a, b in pairs
        if 10 <= operate(a, b) <= 99
    ]
    if n is not None and n > len(every):
        raise UserError(f"small has {len(every)} different problems, {n} were asked for")
    for i, (sign, a, b) in enumerate(Draws(seed, "small").shuffled(every)[:n]):
        yield _problem("small", i, sign, a, b)


def _problem(spec: str, i: int, sign: str, a: int, b: int) -> Problem:
    shown, result = ("+", a + b) if sign == "+" else ("×", a * b)
    return Problem(
        id=str(i),
        set=spec,
        question=f"What is {a} {shown} {b}?",
        gold=(str(result),),
        cluster=f"{spec}/{i}",
    )


# --- words -----------------------------------------------------------------------------------


def _word(size: str, n: int | None, seed: int) -> Iterator[Problem]:
    """Word problems of a level, the templates in turn; the template is the cluster [A §4.1].

    Problem j of a template is the same whatever other templates there are.
    """
    if size not in ("", *map(str, LEVELS)):
        raise UserError(
            f"word:{size}: the levels are {LEVELS[0]} to {LEVELS[-1]}, "
            "with operands of about 10^level, as in word:6"
        )
    level = int(size or LEVELS[-1])
    spec = f"word:{level}"
    if n is None:
        raise UserError(f"{spec} has no end; say how many problems with --n")
    names = sorted(templates(), key=lambda name: Draws(seed, spec, name, "order").unit())
    streams = [draw(name, level, seed) for name in names]
    for i in range(n):
        j, place = divmod(i, len(names))
        question, gold = next(streams[place])
        name = names[place]
        yield Problem(f"{name}-{j}", spec, question, (gold,), cluster=name)


# --- facts and the hub -----------------------------------------------------------------------


def _facts(topic: str, n: int | None, seed: int) -> Iterator[Problem]:
    """Bundled factual questions, of one topic or of all, in seeded order."""
    if topic not in ("", *topics()):
        raise UserError(nearest("topic of facts", topic, topics()))
    spec = f"facts:{topic}" if topic else "facts"
    every = [fact for fact in facts() if topic in ("", fact.topic)]
    if n is not None and n > len(every):
        raise UserError(f"{spec} has {len(every)} questions, {n} were asked for")
    for fact in Draws(seed, spec).shuffled(every):
        yield Problem(fact.id, spec, fact.question, fact.gold, cluster=f"{spec}/{fact.id}")


def _hub(name: str, n: int | None, seed: int) -> Iterator[Problem | Reject]:  # noqa: ARG001
    """The problems of a set of the Hugging Face hub, in its order, at a revision that is named."""
    full, records = hub.read(name)
    spec = f"hf:{full}"
    seen: set[str] = set()
    for index, record in enumerate(records):
        found = problem(spec, index, record)
        if isinstance(found, Problem) and found.id in seen:
            found = Reject(index, -1, found.id, f"the id {found.id!r} was there before")
        seen.add(found.id or str(index))
        yield replace(found, line=index + 1) if isinstance(found, Reject) else found


# --- files -----------------------------------------------------------------------------------


def _file(path: str, n: int | None, seed: int) -> Iterator[Problem | Reject]:  # noqa: ARG001
    """The problems of a JSONL file, in its order; every line that is none is a reject."""
    for index, line, record in objects(path):
        found = record if isinstance(record, Reject) else problem(f"file:{path}", index, record)
        yield replace(found, line=line) if isinstance(found, Reject) else found


def _plain(error: Exception) -> str:
    return str(error).removeprefix("JSON is malformed: ")


def objects(path: str) -> Iterator[tuple[int, int, dict[str, Any] | Reject]]:
    """The JSON objects of a JSONL file with their 0-based index and their line.

    A line that is none, or has the id of an earlier one, is a reject.
    """
    seen: set[str] = set()
    for index, (line, text) in enumerate(_lines(path)):
        try:
            record = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            yield (
                index,
                line,
                Reject(index, line, None, f"no JSON object in one line: {_plain(error)}"),
            )
            continue
        if not isinstance(record, dict):
            yield index, line, Reject(index, line, None, "not an object with question and gold")
            continue
        name = str(index) if record.get("id") is None else str(record["id"])
        if name in seen:
            record = Reject(index, line, name, f"the id {name!r} was there before")
        seen.add(name)
        yield index, line, record


def problem(spec: str, index: int, record: dict[str, Any]) -> Problem | Reject:
    """The problem that an object of a file states; a reject has no line yet."""
    name = None
    try:
        name = text(record, "id") if record.get("id") is not None else str(index)
        question, gold = text(record, "question"), _golds(record)
    except ValueError as error:
        return Reject(index, -1, name, str(error))
    return Problem(id=name, set=spec, question=question, gold=gold, cluster=f"{spec}/{name}")


def text(record: dict[str, Any], key: str) -> str:
    """The text of a field, an integer id spelled out; ValueError where it has none."""
    value = record.get(key)
    if key == "id" and type(value) is int:
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    lacks = "missing" if value is None else "empty" if isinstance(value, str) else "not a text"
    raise ValueError(f"{key!r} is {lacks}")


def _golds(record: dict[str, Any]) -> tuple[str, ...]:
    """The accepted answers: `gold`, or as in published sets `answer` as a list of aliases."""
    key = "gold" if record.get("gold") is not None else "answer"
    given = record.get(key)
    if given is None:
        raise ValueError("neither 'gold' nor 'answer' is there")
    if key == "answer" and not isinstance(given, list):
        raise ValueError("'answer' is not a list of aliases; a single accepted answer is 'gold'")
    golds = given if isinstance(given, list) else [given]
    # An integer has one spelling; a float may already have lost digits.
    spelled = [str(gold) if type(gold) is int else gold for gold in golds]
    if not spelled or any(isinstance(gold, str) and not gold.strip() for gold in spelled):
        raise ValueError(f"{key!r} is empty")
    if not all(isinstance(gold, str) for gold in spelled):
        raise ValueError(f"{key!r} holds something that is no text or integer")
    return tuple(spelled)


PROBLEM_SETS: dict[str, ProblemSet] = {
    "addition": _addition,
    "multiplication": _multiplication,
    "small": _small,
    "word": _word,
    "facts": _facts,
    "hf": _hub,
    "file": _file,
}


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not blank, numbered from 1."""
    if not path:
        raise UserError("file: give a path, as in file:problems.jsonl")
    try:
        with Path(path).open("rb") as file:
            for line, text in enumerate(file, 1):
                if text.strip():
                    yield line, text.removeprefix(b"\xef\xbb\xbf") if line == 1 else text
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None
