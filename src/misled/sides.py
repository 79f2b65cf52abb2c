"""A run as one side of a comparison, and which of its names stands beside which of the other's.

    match(("a/one",), ("b/two",), ())
    -> Match({"a/one": "b/two against a/one"}, {"b/two": "b/two against a/one"})

One name on either side is one pair; several are paired by name, or as one is
told. Knows nothing about what was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import polars as pl

from misled.errors import UserError, nearest
from misled.records import Record

__all__ = ["AGAINST", "Match", "Pair", "Side", "match", "matches", "pairs_of", "relabelled"]

Pair: TypeAlias = tuple[str, str]

AGAINST = " against "  # between two names in one label


class Side(NamedTuple):
    """One run: its graded rows, and what its items are.

    `problems` has a line a problem: set, problem, cluster, and `question`, a
    digest of question and golds. `texts` has the digest of the chain or answer
    that was handed on, by set, `who` (target or generator) and problem. `names`
    are those of each axis that may be called otherwise in another run.
    """

    name: str
    rows: pl.DataFrame
    problems: pl.DataFrame
    texts: pl.DataFrame
    names: Mapping[str, tuple[str, ...]]
    logged: bool = False  # whether the answers or chains come from a file


class Match(Record, frozen=True):
    """What each name of the two sides is called where they stand together; who stands alone."""

    reference: dict[str, str]
    other: dict[str, str]
    alone: tuple[str, ...] = ()
    alone_other: tuple[str, ...] = ()


def pairs_of(options: Sequence[str]) -> tuple[Pair, ...]:
    """`A=B` as (A, B), for each option; UserError for one that is no such pair."""
    found = [tuple(map(str.strip, option.partition("=")[::2])) for option in options]
    for option, (one, two) in zip(options, found, strict=True):
        if not one or not two:
            raise UserError(f"--match {option!r} is no pair of names such as openai/o3=openai/o4")
    return tuple((one, two) for one, two in found)


def match(reference: Sequence[str], other: Sequence[str], told: Iterable[Pair]) -> Match:
    """The names that stand together, under one label each."""
    pairs = list(dict.fromkeys(pair for pair in told if pair[0] in reference and pair[1] in other))
    for side in zip(*pairs, strict=True):
        for name in set(side):
            if side.count(name) > 1:
                raise UserError(
                    f"--match names {name} for two others of one run; one can be paired"
                )
    if not pairs and len(reference) == len(other) == 1:
        pairs = [(reference[0], other[0])]
    taken = [set(side) for side in zip(*pairs, strict=True)] or [set(), set()]
    pairs += [(name, name) for name in reference
              if name in other and name not in taken[0] and name not in taken[1]]  # fmt: skip
    labels = [one if one == two else f"{two}{AGAINST}{one}" for one, two in pairs]
    ones, twos = [one for one, _ in pairs], [two for _, two in pairs]
    return Match(
        reference=dict(zip(ones, labels, strict=True)),
        other=dict(zip(twos, labels, strict=True)),
        alone=tuple(name for name in reference if name not in ones),
        alone_other=tuple(name for name in other if name not in twos),
    )


def matches(
    reference: Side, others: Sequence[Side], told: Sequence[Pair]
) -> list[dict[str, Match]]:
    """For each other side, by axis; UserError where a name that is told is none of theirs."""
    for one, two in told:
        mine = {name for names in reference.names.values() for name in names}
        theirs = {name for side in others for names in side.names.values() for name in names}
        for name, known in ((one, mine), (two, theirs)):
            if name not in known:
                raise UserError(nearest("name in --match", name, known))
    return [
        {axis: match(names, other.names[axis], told) for axis, names in reference.names.items()}
        for other in others
    ]


def relabelled(
    frame: pl.DataFrame, names: Mapping[str, dict[str, str]], where: pl.Expr | None = None
) -> pl.DataFrame:
    """The lines whose names, if any, all have a label, under those; lines outside `where` stay."""
    inside = pl.lit(value=True) if where is None else where
    for axis, labels in names.items():
        if axis in frame.columns:
            known = pl.col(axis).is_in([*labels, ""]) | ~inside
            called = pl.col(axis).replace_strict(labels, default=pl.col(axis)) if labels else axis
            label = pl.when(inside).then(called).otherwise(pl.col(axis))
            frame = frame.filter(known).with_columns(label.alias(axis))
    return frame
