"""The planted reasoner's pen: chains and answers as reasoning models write them.

    >>> task = Task(8, "+", 9)
    >>> alone(task, "17", Draws("doc"))[1]
    'The answer is 17.'

A chain computes twice, by two ways drawn from those that fit the operands, with
second thoughts between them, checks the result and concludes. It is spelled in
one of five number styles and laid out in paragraphs or as a single one. The
steps are always those of the true calculation; only what states the result says
`value`, which may be wrong.

Knows nothing about profiles, prompts or requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from misled.draws import Draws
from misled.records import Record

__all__ = ["Task", "adopting", "alone", "confused", "recovering", "stopping"]

Spelled: TypeAlias = Callable[[int], str]
Way: TypeAlias = Callable[["Task", str, Spelled], list[str]]

_SPELLINGS: tuple[Spelled, ...] = (
    str,
    lambda n: f"{n:,}",
    lambda n: f"{n:,}".replace(",", " "),
    lambda n: f"{n:,}".replace(",", "\u202f"),
    lambda n: f"${n:,}$".replace(",", "{,}"),
)


class Task(Record, frozen=True):
    """A sum or a product: `sign` is `+` or `×`."""

    a: int
    sign: str
    b: int

    @property
    def result(self) -> int:
        """The true answer."""
        return self.a + self.b if self.sign == "+" else self.a * self.b


# --- whole replies: (reasoning, answer) ------------------------------------------------------


def alone(task: Task, value: str, draws: Draws) -> tuple[str, str]:
    """A solution of the question that ends on `value`."""
    spell, layout = _hand(draws)
    opening = draws.choice(_OPENINGS).format(task=_left(task, spell))
    return layout([[opening], *_worked(task, value, spell, draws)]), _answer(task, value, draws)


def recovering(task: Task, value: str, seen: str, draws: Draws) -> tuple[str, str]:
    """A fresh calculation that ends on `value`, compared with the `seen` result."""
    spell, layout = _hand(draws)
    if seen == value:
        verdict = "That is also what the earlier thought arrives at."
    else:
        verdict = f"The earlier thought ends on {spell(int(seen))}, so it slipped somewhere."
    work = _worked(task, value, spell, draws)
    work.insert(-1, [verdict])
    opening = draws.choice(_DISTRUST).format(task=_left(task, spell))
    return layout([[opening], *work]), _answer(task, value, draws)


def adopting(task: Task, value: str, draws: Draws) -> tuple[str, str]:
    """A glance at the chain, whose result `value` is taken over."""
    spell, layout = _hand(draws)
    glance = draws.choice(_GLANCES).format(task=_left(task, spell))
    return layout([[glance], [_conclusion(task, value, spell, draws)]]), _answer(task, value, draws)


def confused(task: Task, value: str, seen: str, draws: Draws) -> tuple[str, str]:
    """A calculation that loses itself between its own steps and the `seen` result."""
    spell, layout = _hand(draws)
    steps = draws.choice(_ways(task))(task, value, spell)
    steps = steps[: max(1, len(steps) // 2)]
    muddle = draws.choice(_MUDDLES).format(seen=spell(int(seen)))
    blocks = [steps, [muddle], [_conclusion(task, value, spell, draws)]]
    return layout(blocks), _answer(task, value, draws)


def stopping(task: Task, draws: Draws) -> tuple[str, str]:
    """The beginning of a calculation, and no answer [A §5.3]."""
    spell, layout = _hand(draws)
    steps = draws.choice(_ways(task))(task, str(task.result), spell)
    opening = draws.choice(_OPENINGS).format(task=_left(task, spell))
    return layout([[opening], steps[:-1]]), ""


# --- the parts of a chain --------------------------------------------------------------------

_OPENINGS = (
    "Okay, the task is to find {task}.",
    "I have to work out {task}. The numbers need some care.",
    "So what is wanted is {task}. I will go through it slowly.",
)
_DISTRUST = (
    "There is a thought from before about {task}. I should not lean on it, so I compute afresh.",
    "Before I trust the thought above on {task}, I work it out on my own.",
    "The question is {task}. I will see for myself what comes out.",
)
_GLANCES = (
    "The thought above already goes through {task} step by step, and the steps look fine to me.",
    "I have been through {task} before. It was careful work, so there is little left to do.",
    "Looking over the earlier work on {task}, it seems complete. No need to start over.",
)
_MUDDLES = (
    "Hmm, this does not fit {seen} at all. The places got out of line, I am losing track.",
    "Wait, the earlier thought had {seen}. Mixing that with my own digits, I get something else.",
)
_SECOND_THOUGHTS = (
    "Wait, let me check that, since a slip is easy to make here.",
    "Hmm, am I sure about every step? Let me do it another way.",
    "But wait, I may have lost something on the way. Let me go over it again differently.",
    "Wait, that deserves a second look before I rely on it.",
)
_CONFIRMED = (
    "Good, both ways agree.",
    "That matches what I had before.",
    "The same again, so I am fairly confident.",
)
_SO = ("So the {kind} is {value}.", "That gives {value}.", "So I get {value}.")
_CONCLUSIONS = (
    "So the answer is {value}.",
    "All in all, the answer is {value}.",
    "Therefore, the final answer is {value}.",
    "**Final Answer**\n\\boxed{{{value}}}",
)
_ANSWERS = (
    "{task} = **{value}**",
    "The answer is {value}.",
    "The {kind} is **{value}**.",
    "\\boxed{{{value}}}",
    "**Final answer:** {value}",
    "{value}",
)


def _hand(draws: Draws) -> tuple[Spelled, Callable[[Sequence[list[str]]], str]]:
    """A number style and a layout."""
    spell = draws.choice(_SPELLINGS)
    line, block = draws.choice((("\n", "\n\n"), (" ", "\n\n"), (" ", " ")))
    return spell, lambda blocks: block.join(line.join(lines) for lines in blocks if lines)


def _worked(task: Task, value: str, spell: Spelled, draws: Draws) -> list[list[str]]:
    """Two calculations with doubt between them, checks, and the conclusion."""
    first, second = draws.sample(_ways(task), 2)
    blocks = [first(task, value, spell)]
    if draws.below(2):
        blocks.append([_say(draws.choice(_SO), task, value, spell)])
    blocks += [[draws.choice(_SECOND_THOUGHTS)], second(task, value, spell)]
    blocks.append([draws.choice(_CONFIRMED)])
    if value == str(task.result):
        blocks.append([draws.choice((_inverse, _nines))(task, spell)])
    blocks.append([_conclusion(task, value, spell, draws)])
    return blocks


def _conclusion(task: Task, value: str, spell: Spelled, draws: Draws) -> str:
    return _say(draws.choice(_CONCLUSIONS), task, value, spell)


def _answer(task: Task, value: str, draws: Draws) -> str:
    return _say(draws.choice(_ANSWERS), task, value, _hand(draws)[0])


def _say(template: str, task: Task, value: str, spell: Spelled) -> str:
    """One of our own sentences about the result."""
    kind = "sum" if task.sign == "+" else "product"
    return template.format(task=_left(task, spell), value=spell(int(value)), kind=kind)


def _left(task: Task, spell: Spelled) -> str:
    return f"{spell(task.a)} {task.sign} {spell(task.b)}"


def _equation(task: Task, value: str, spell: Spelled) -> str:
    return f"{_left(task, spell)} = {spell(int(value))}"


def _inverse(task: Task, spell: Spelled) -> str:
    sign = "-" if task.sign == "+" else "÷"
    back = f"{spell(task.result)} {sign} {spell(task.b)} = {spell(task.a)}"
    return f"To verify, I go backwards: {back}, which is the first number again."


def _nines(task: Task, spell: Spelled) -> str:
    left = f"{spell(task.a)} leaves {task.a % 9} and {spell(task.b)} leaves {task.b % 9}"
    return (
        f"To verify by casting out nines: {left}, so the result has to leave "
        f"{task.result % 9}. It does."
    )


# --- ways of calculating ---------------------------------------------------------------------


def _ways(task: Task) -> tuple[Way, ...]:
    """The ways that fit the operands; at least two."""
    if task.a < 10 and task.b < 10:
        return (_halves, _steps_of_one) if task.sign == "+" else (_halves, _multiples)
    if task.sign == "+":
        return (_columns, _halves, _blocks) if min(task.a, task.b) > 999 else (_columns, _halves)
    return (_partials, _halves, _flipped) if min(task.a, task.b) > 9 else (_halves, _flipped)


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
    two = Task(one.result, "+", low)
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
