"""Short factual questions with the spellings of their answers, bundled.

    >>> facts()[19].question, facts()[19].gold
    ('Which river flows through Vienna, Budapest and Belgrade?', ('Danube', 'Donau'))

`data/facts.jsonl` is a problem file as any other. Every answer is of one to
five words and does not change with time. `level` is the author's guess: 1 what
a small model may know, 3 what a large one may miss; some of these take two
steps ("the capital of the country in which Petra lies").

Knows nothing about sets of problems or how an answer is labelled.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from misled.records import Record

__all__ = ["Fact", "facts", "topics"]


class Fact(Record, frozen=True):
    """A line of `data/facts.jsonl`; any spelling in `gold` is right."""

    id: str
    topic: str
    level: int
    question: str
    gold: tuple[str, ...]


@cache
def facts() -> tuple[Fact, ...]:
    """Every bundled question, by topic."""
    lines = (files("misled") / "data" / "facts.jsonl").read_bytes().splitlines()
    decoder = msgspec.json.Decoder(Fact)
    return tuple(map(decoder.decode, lines))


def topics() -> tuple[str, ...]:
    """The topics in the order of the file."""
    return tuple(dict.fromkeys(fact.topic for fact in facts()))
