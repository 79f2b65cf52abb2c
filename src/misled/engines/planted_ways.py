"""How the planted reasoner calculates: a task in several ways, and checks of its result.

    >>> first, *_ = ways(Task(27, "+", 8))
    >>> first("35", str)[-1]
    'Read from the left: 27 + 8 = 35.'

A way writes the steps of the true calculation; where it states the result, it
says `value`, which may be wrong.

Knows nothing about replies, nor why a value is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import TypeAlias

from misled.records import Record

__all__ = ["Exercise", "Spelled", "Story", "Task", "checks", "left", "named", "ways"]

Spelled: TypeAlias = Callable[[int], str]
Way: TypeAlias = Callable[[str, Spelled], list[str]]
Check: TypeAlias = Callable[[Spelled], str]

_KINDS = {"+": "sum", "×": "product", "-": "difference", "÷": "quotient"}
_BACK = {"+": "-", "-": "+", "×": "÷", "÷": "×"}


class Task(Record, frozen=True):
    """An operation on two numbers: `sign` is `+`, `-`, `×` or `÷`, which rounds down."""

    a: int
    sign: str
    b: int

    @property
    def result(self) -> int:
        """The true answer."""
        if self.sign in "+-":
            return self.a + self.b if self.sign == "+" else self.a - self.b
        return self.a * self.b if self.sign == "×" else self.a // self.b

    @property
    def kind(self) -> str:
        """What the result is called."""
        return _KINDS[self.sign]


class Story(Record, frozen=True):
    """A word problem: the tasks that solve it, each with the name of its result."""

    steps: tuple[tuple[str, Task], ...]

    @property
    def result(self) -> int:
        """The true answer."""
        return self.steps[-1][1].result

    @property
    def kind(self) -> str:
        """What the result is called."""
        return "result"


Exercise: TypeAlias = Task | Story


def named(exercise: Exercise, spell: Spelled) -> str:
    """What is to be found, in words that fit behind `work out`."""
    return f"the {exercise.steps[-1][0]}" if isinstance(exercise, Story) else left(exercise, spell)


def left(exercise: Exercise, spell: Spelled) -> str:
    """The left side of the equation that has the result on its right."""
    task = exercise.steps[-1][1] if isinstance(exercise, Story) else exercise
    return f"{spell(task.a)} {task.sign} {spell(task.b)}"


def ways(exercise: Exercise) -> Sequence[Way]:
    """The ways that fit; at least two."""
    if isinstance(exercise, Story):
        return partial(_in_order, exercise), partial(_in_pieces, exercise)
    return [partial(way, exercise) for way in _fitting(exercise)]


def checks(exercise: Exercise) -> Sequence[Check]:
    """The checks that fit."""
    if isinstance(exercise, Story):
        return (partial(_inverse, exercise.steps[-1][1]),)
    return partial(_inverse, exercise), partial(_nines, exercise)


# --- checks ----------------------------------------------------------------------------------


def _inverse(task: Task, spell: Spelled) -> str:
    back = f"{spell(task.result)} {_BACK[task.sign]} {spell(task.b)} = {spell(task.a)}"
    return f"To verify, I go backwards: {back}, which is the first number again."


def _nines(task: Task, spell: Spelled) -> str:
    leave = f"{spell(task.a)} leaves {task.a % 9} and {spell(task.b)} leaves {task.b % 9}"
    return (
        f"To verify by casting out nines: {leave}, so the result has to leave "
        f"{task.result % 9}. It does."
    )


# --- sums and products -----------------------------------------------------------------------


def _fitting(task: Task) -> Sequence[Callable[[Task, str, Spelled], list[str]]]:
    if task.a < 10 and task.b < 10:
        return (_halves, _steps_of_one) if task.sign == "+" else (_halves, _multiples)
    if task.sign == "+":
        return (_columns, _halves, _blocks) if min(task.a, task.b) > 999 else (_columns, _halves)
    return (_partials, _halves, _flipped) if min(task.a, task.b) > 9 else (_halves, _flipped)


def _equation(task: Task, value: str, spell: Spelled) -> str:
    return f"{left(task, spell)} = {spell(int(value))}{_remainder(task)}"


def _remainder(task: Task) -> str:
    return " and a remainder" if task.sign == "÷" and task.a % task.b else ""


def _columns(task: Task, value: str, spell: Spelled) -> list[str]:
    """Digit by digit from the right, with carries."""
    lines, carry, written = ["Column by column, from the right:"], 0, ""
    for x, y in zip_longest(reversed(str(task.a)), reversed(str(task.b)), fillvalue="0"):
        total = int(x) + int(y) + carry
        terms = f"{x} + {y} + 1" if carry else f"{x} + {y}"
        carry, digit = divmod(total, 10)
        written = f"{digit}{written}"
        lines.append(f"{terms} = {total}, write {digit}{', carry 1' if carry else ''}.")
        if len(written) == 8:
            lines.append(f"So far the lower eight places read {written}.")
    if carry:
        lines.append("The last carry goes in front.")
    lines.append(f"Read from the left: {_equation(task, value, spell)}.")
    return lines


def _blocks(task: Task, value: str, spell: Spelled) -> list[str]:
    """Three digits at a time from the right, with carries."""
    lines, carry, a, b = ["In blocks of three digits, from the right:"], 0, task.a, task.b
    while a or b:
        (a, x), (b, y) = divmod(a, 1000), divmod(b, 1000)
        total = x + y + carry
        terms = f"{x:03} + {y:03} + 1" if carry else f"{x:03} + {y:03}"
        carry, block = divmod(total, 1000)
        lines.append(f"{terms} = {total}, keep {block:03}{' and carry 1' if carry else ''}.")
    lines.append(f"Together {_equation(task, value, spell)}.")
    return lines


def _partials(task: Task, value: str, spell: Spelled) -> list[str]:
    """One partial product for each digit of b but 0, then their sum."""
    lines, parts = ["Digit by digit of the second factor:"], []
    for zeros, digit in enumerate(map(int, reversed(str(task.b)))):
        if digit:
            product = task.a * digit
            parts.append(product * 10**zeros)
            shifted = f", shifted {spell(parts[-1])}" if zeros else ""
            lines.append(f"{spell(task.a)} × {digit} = {spell(product)}{shifted}.")
    lines.append("Adding these up:")
    total = parts[0]
    for part in parts[1:-1]:
        lines.append(f"{spell(total)} + {spell(part)} = {spell(total + part)}.")
        total += part
    last = task if len(parts) == 1 else Task(total, "+", parts[-1])
    lines.append(f"{_equation(last, value, spell)}.")
    return lines


def _halves(task: Task, value: str, spell: Spelled) -> list[str]:
    """The second operand in two parts."""
    high, low = _parts(task.b)
    lines = [f"Split {spell(task.b)} into {spell(high)} and {spell(low)}."]
    one = Task(task.a, task.sign, high)
    lines.append(f"{_equation(one, str(one.result), spell)}.")
    two = Task(one.result, task.sign, low)
    if task.sign == "×":
        rest = Task(task.a, "×", low)
        lines.append(f"{_equation(rest, str(rest.result), spell)}.")
        two = Task(one.result, "+", rest.result)
    lines.append(f"{_equation(two, value, spell)}.")
    return lines


def _flipped(task: Task, value: str, spell: Spelled) -> list[str]:
    """The first operand in two parts."""
    return ["The other way round:", *_halves(Task(task.b, task.sign, task.a), value, spell)]


def _parts(n: int) -> tuple[int, int]:
    """`n` cut in the middle of its digits, or about halved where it has one."""
    unit = 10 ** (len(str(n)) // 2)
    high = n // unit * unit if n > 9 else (n + 1) // 2
    return high, n - high


def _steps_of_one(task: Task, value: str, spell: Spelled) -> list[str]:
    """Counting on from the first operand."""
    counted = ", ".join(spell(n) for n in range(task.a + 1, task.result))
    return [f"Counting on from {task.a}: {counted}, and so {_equation(task, value, spell)}."]


def _multiples(task: Task, value: str, spell: Spelled) -> list[str]:
    """The multiples of the second operand."""
    counted = ", ".join(spell(n * task.b) for n in range(1, task.a))
    return [f"In steps of {task.b}: {counted}, and so {_equation(task, value, spell)}."]


# --- word problems ---------------------------------------------------------------------------


def _in_order(story: Story, value: str, spell: Spelled) -> list[str]:
    """One equation a step."""
    return [
        f"The {name}: {_equation(task, shown, spell)}."
        for name, task, shown in _shown(story, value)
    ]


def _in_pieces(story: Story, value: str, spell: Spelled) -> list[str]:
    """The second operand of each step in two parts, where that is easier."""
    lines = []
    for name, task, shown in _shown(story, value):
        lines.append(f"Now the {name}.")
        if task.sign == "÷":
            terms = f"{spell(task.a)} by {spell(task.b)}"
            lines.append(f"Dividing {terms} gives {spell(int(shown))}{_remainder(task)}.")
        elif _parts(task.b)[1]:
            lines += _halves(task, shown, spell)
        else:
            lines.append(f"{_equation(task, shown, spell)}.")
    return lines


def _shown(story: Story, value: str) -> list[tuple[str, Task, str]]:
    """The steps with the results that are written down: the last is `value`."""
    *before, (name, last) = story.steps
    return [*((name, task, str(task.result)) for name, task in before), (name, last, value)]
