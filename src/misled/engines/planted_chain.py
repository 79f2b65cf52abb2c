"""The planted reasoner's pen: chains and answers as reasoning models write them.

    >>> task = Task(8, "+", 9)
    >>> alone(task, "17", Draws("doc"))[1]
    'The answer is 17.'

A chain computes twice, by two ways drawn from those that fit the task, with
second thoughts between them, checks the result and concludes. It is spelled in
one of five number styles and laid out in paragraphs or as a single one. The
steps are always those of the true calculation; only what states the result says
`value`, which may be wrong.

Knows nothing about profiles, prompts or requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from misled.draws import Draws
from misled.engines.planted_ways import Exercise, Spelled, Task, checks, left, named, ways

__all__ = [
    "BEGINNINGS",
    "Task",
    "adopting",
    "alone",
    "confused",
    "echoing",
    "recovering",
    "spelled",
    "stopping",
    "strolling",
]

_SPELLINGS: tuple[Spelled, ...] = (
    str,
    lambda n: f"{n:,}",
    lambda n: f"{n:,}".replace(",", " "),
    lambda n: f"{n:,}".replace(",", "\u202f"),
    lambda n: f"${n:,}$".replace(",", "{,}"),
)


# --- whole replies: (reasoning, answer) ------------------------------------------------------


def alone(task: Exercise, value: str, draws: Draws) -> tuple[str, str]:
    """A solution of the question that ends on `value`."""
    spell, layout = _hand(draws)
    opening = draws.choice(_OPENINGS).format(task=named(task, spell))
    return layout([[opening], *_worked(task, value, spell, draws)]), _answer(task, value, draws)


def recovering(task: Exercise, value: str, seen: str, draws: Draws) -> tuple[str, str]:
    """A fresh calculation that ends on `value`, compared with the `seen` result."""
    spell, layout = _hand(draws)
    if seen == value:
        verdict = "That is also what the earlier thought arrives at."
    else:
        verdict = f"The earlier thought ends on {spell(int(seen))}, so it slipped somewhere."
    work = _worked(task, value, spell, draws)
    work.insert(-1, [verdict])
    opening = draws.choice(_DISTRUST).format(task=named(task, spell))
    return layout([[opening], *work]), _answer(task, value, draws)


def adopting(task: Exercise, value: str, draws: Draws) -> tuple[str, str]:
    """A glance at the chain, whose result `value` is taken over."""
    spell, layout = _hand(draws)
    glance = draws.choice(_GLANCES).format(task=named(task, spell))
    return layout([[glance], [_conclusion(task, value, spell, draws)]]), _answer(task, value, draws)


def confused(task: Exercise, value: str, seen: str, draws: Draws) -> tuple[str, str]:
    """A calculation that loses itself between its own steps and the `seen` result."""
    spell, layout = _hand(draws)
    steps = draws.choice(ways(task))(value, spell)
    steps = steps[: max(1, len(steps) // 2)]
    muddle = draws.choice(_MUDDLES).format(seen=spell(int(seen)))
    blocks = [steps, [muddle], [_conclusion(task, value, spell, draws)]]
    return layout(blocks), _answer(task, value, draws)


def stopping(task: Exercise, draws: Draws) -> tuple[str, str]:
    """The beginning of a calculation, and no answer [A §5.3]."""
    spell, layout = _hand(draws)
    steps = draws.choice(ways(task))(str(task.result), spell)
    opening = draws.choice(_OPENINGS).format(task=named(task, spell))
    return layout([[opening], steps[:-1]]), ""


def echoing(seen: str, draws: Draws) -> tuple[str, str]:
    """What is made of a chain that came back without its question: its own result again."""
    spell, _ = _hand(draws)
    value = spell(int(seen))
    return f"This is a calculation that arrives at {value}. I see no question beside it.", (
        draws.choice(_ECHOES).format(value=value)
    )


def strolling(draws: Draws) -> tuple[str, str]:
    """What is made of a text that asks nothing and calculates nothing."""
    return "This is a description, and nothing is asked.", draws.choice(_STROLLS)


def spelled(value: str, draws: Draws) -> str:
    """A value in one of the number styles."""
    return _hand(draws)[0](int(value))


# --- the parts of a chain --------------------------------------------------------------------

_OPENINGS = (
    "Okay, the task is to find {task}.",
    "I have to work out {task}. The numbers need some care.",
    "So what is wanted is {task}. I will go through it slowly.",
)
# How each chain of the question alone begins.
BEGINNINGS = tuple(opening.partition("{")[0] for opening in _OPENINGS)
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
_ECHOES = ("The answer is {value}.", "The result is **{value}**.", "\\boxed{{{value}}}")
_STROLLS = ("A calm place. What would you like to know?", "Thank you. Is there a question in this?")
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


def _worked(task: Exercise, value: str, spell: Spelled, draws: Draws) -> list[list[str]]:
    """Two calculations with doubt between them, checks, and the conclusion."""
    first, second = draws.sample(ways(task), 2)
    blocks = [first(value, spell)]
    if draws.below(2):
        blocks.append([_say(draws.choice(_SO), task, value, spell)])
    blocks += [[draws.choice(_SECOND_THOUGHTS)], second(value, spell)]
    blocks.append([draws.choice(_CONFIRMED)])
    if value == str(task.result):
        blocks.append([draws.choice(checks(task))(spell)])
    blocks.append([_conclusion(task, value, spell, draws)])
    return blocks


def _conclusion(task: Exercise, value: str, spell: Spelled, draws: Draws) -> str:
    return _say(draws.choice(_CONCLUSIONS), task, value, spell)


def _answer(task: Exercise, value: str, draws: Draws) -> str:
    return _say(draws.choice(_ANSWERS), task, value, _hand(draws)[0])


def _say(template: str, task: Exercise, value: str, spell: Spelled) -> str:
    """One of our own sentences about the result."""
    return template.format(task=left(task, spell), value=spell(int(value)), kind=task.kind)
