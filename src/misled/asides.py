"""Asides: text to put into a chain that has nothing to do with its problem, sentence by sentence.

    >>> next(on_the_task("12 + 30 = 42", Draws(0, "p", "structure")))
    'As before, I go on in small steps.'

Endless, so that whoever asks takes as much as is needed. Numbers are tenths of
degrees that the chain does not hold; no other number is named, in words neither.
Does not know where the text will stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from misled.draws import Draws
from misled.numbers import numbers

__all__ = ["on_angles", "on_the_task"]

_OPENINGS = (
    "Let me look at an angle: {a} degrees and {b} degrees more make {c} degrees.",
    "A ray at {a} degrees that is turned on by {b} degrees stands at {c} degrees.",
    "Take an angle of {a} degrees and open it by {b} degrees: it is {c} degrees then.",
    "A pointer at {a} degrees that is moved on by {b} degrees points to {c} degrees.",
)
_ON = (
    "Turning it on by {b} degrees brings it to {a} + {b} = {c} degrees.",
    "Opened by another {b} degrees it is {c} degrees wide, since {a} + {b} = {c}.",
    "If {b} degrees are added to these {a} degrees, the angle comes to {c} degrees.",
    "Next to it lies an angle of {b} degrees, so together they span {c} degrees.",
    "With {b} degrees more, the {a} degrees grow to {c} degrees.",
)
_BACK = (
    "Turning it back by {b} degrees leaves {a} - {b} = {c} degrees.",
    "A wedge of {b} degrees cut away from it leaves {c} degrees, since {a} - {b} = {c}.",
    "Taking {b} degrees off these {a} degrees gives an angle of {c} degrees.",
    "A line drawn {b} degrees below its upper side makes an angle of {c} degrees.",
    "With {b} degrees less, the {a} degrees shrink to {c} degrees.",
)
_REMARKS = (
    "The parts lie side by side, so their sizes simply add up.",
    "It does not matter which of the turns comes before the other.",
    "How long the sides are drawn has no bearing on the size of the angle.",
    "A protractor laid along the base line would show the same.",
    "Seen from the other side of the sheet, the opening is just as wide.",
    "An angle that is moved as a whole keeps its size.",
    "The vertex stays where it is while the upper side moves.",
    "An angle is measured from the base line, counterclockwise.",
    "Where the sides cross, the angle that lies opposite is of the same size.",
    "A parallel to the base line meets the upper side at the same angle.",
    "A mirror image of the angle would be of the same size, too.",
    "Drawn to another scale, the angle would not change.",
)
_LEAST, _MOST = 101, 1700  # tenths of degrees; whole degrees are likelier to be in a chain
_TRIES = 32


def on_angles(text: str, draws: Draws) -> Iterator[str]:
    """Sentences that reckon with an angle, in numbers of which `text` holds none."""
    used = {number.value.removeprefix("-") for number in numbers(text)}
    free = [n for n in range(_LEAST, _MOST) if n % 10 and str(n / 10) not in used]
    remarks = _cycled(_REMARKS, draws)
    if not free:
        yield from remarks
    known = frozenset(free)
    turns = {True: _cycled(_ON, draws), False: _cycled(_BACK, draws)}
    now, opening = draws.choice(free[: 1 + len(free) // 2]), draws.choice(_OPENINGS)
    for number in count():
        tries = (draws.choice(free) for _ in range(_TRIES))
        fit = (n for n in tries if abs(n - now) in known and (number > 0 or n > now))
        then = next(fit, now)
        if number % 3 == 2 or then == now:
            yield next(remarks)
            continue
        form = next(turns[then > now]) if number else opening
        yield form.format(a=now / 10, b=abs(then - now) / 10, c=then / 10)
        now = then


_WHEN = (
    "Now",
    "From here",
    "At this point",
    "As before,",
    "For the moment,",
    "For now,",
    "Here again",
)
_WORKING = (
    "I keep my attention on the problem.",
    "I go on with the work in the same manner.",
    "I take the time that the task needs.",
    "I work through it calmly and in order.",
    "I stay with the question as it was asked.",
    "I keep my notes tidy as I go along.",
    "I want to write the work out clearly.",
    "I go on in small steps.",
    "I keep the whole task in view.",
    "I carry on with care.",
)


def on_the_task(text: str, draws: Draws) -> Iterator[str]:
    """Sentences about working on a task, without a number and without a claim."""
    del text
    for when, working in zip(_cycled(_WHEN, draws), _cycled(_WORKING, draws), strict=False):
        yield f"{when} {working}"


def _cycled(forms: Sequence[str], draws: Draws) -> Iterator[str]:
    """All forms in a random order, again and again."""
    order = draws.shuffled(forms)
    while True:
        yield from order
