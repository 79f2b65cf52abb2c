"""Plain prose of any length, without numbers or mathematics (protocol A.8).

    >>> prose(60, Draws(0, "addition:15+13", "3", "prose"))
    'Fishermen mend their nets on the wall and talk about the ...'

Knows nothing about chains; it only has to be as long as one.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from misled.draws import Draws

__all__ = ["is_prose", "prose"]


def prose(length: int, draws: Draws) -> str:
    """At least `length` characters of sentences in drawn order, to the end of a sentence.

    Only a text longer than the whole stock repeats sentences.
    """
    parts: list[str] = []
    size = 0
    while size < length:
        for sentence in draws.shuffled(_sentences()):
            if size >= length:
                break
            parts.append(sentence)
            size += len(sentence) + 1
    return " ".join(parts)


def is_prose(text: str) -> bool:
    """Whether `text` begins as such prose does."""
    return text.startswith(_sentences())


@cache
def _sentences() -> tuple[str, ...]:
    text = (files("misled") / "data" / "prose.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line)
