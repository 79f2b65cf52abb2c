"""Graded rows as one sorted frame, and the ways in which tables cut it.

    prepare(rows).group_by(CELL) -> the 200 tampered, 200 clean and 200 again trials of a cell

A cell is what was done to the chain, how it was sent and to whom; a group is a
cell over all D_T. Controls are repeated in every cell that they are paired
with. Knows nothing about estimates: it selects, pairs and weighs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import polars as pl

from misled.prompts import METHODS
from misled.records import OUTCOMES

__all__ = [
    "ANSWERED",
    "CELL",
    "CONTROLS",
    "GROUP",
    "SENT",
    "SOLVED",
    "VALUED",
    "WRONG",
    "Keys",
    "degrees",
    "groups",
    "paired",
    "part",
    "prepare",
    "probes",
    "weighed",
]

Keys: TypeAlias = dict[str, str]

SOLVED = ("set", "target", "source", "mode")
SENT = (*SOLVED, "feed", "attribution", "channel", "structure", "method")
GROUP = (*SENT[:-1], "perturbation", "scope", "place", "method")
CELL = (*GROUP, "d_t")

UNANSWERED = OUTCOMES[: OUTCOMES.index("truncated")]
ANSWERED = OUTCOMES[len(UNANSWERED) :]
VALUED = OUTCOMES[OUTCOMES.index("recovered") :]
WRONG = VALUED[1:]
CONTROLS = ("clean", "again")

_ORDER = {
    "arm": ("source", "gate", "tampered", *CONTROLS),
    "method": METHODS,
    "structure": ("intact",),
    "channel": ("user",),
}
_TEXTS = (*GROUP, "arm", "problem", "cluster", "outcome", "request", "reason")
_NUMBERS = ("sample", "d_t", "w_left")


def prepare(rows: pl.DataFrame) -> pl.DataFrame:
    """The trials in a fixed order, whatever order the rows came in, with what tables count.

    Absent keys are "" or 0, so that equal cells are equal in a join; an `Enum`
    sorts in the order in which a reader expects its values. `adopted` and
    `recovered` are 0 or 1 in answered trials and null elsewhere.
    """
    frame = rows.select(
        *(pl.col(name).cast(pl.String).fill_null("") for name in _TEXTS),
        *(pl.col(name).cast(pl.Int64) for name in _NUMBERS),
        *(pl.col(name).cast(pl.Float64) for name in ("r_cpt", "r_hamming")),
    ).with_columns(pl.col("d_t").fill_null(0))
    frame = frame.with_columns(
        pl.col(name).cast(pl.Enum(_order(frame[name].unique(), first)))
        for name, first in _ORDER.items()
    ).sort(*CELL, "arm", "problem", "sample", "request")
    outcome, answered = pl.col("outcome"), ~pl.col("outcome").is_in(UNANSWERED)
    return frame.with_columns(
        pl.col("cluster").rank("dense").cast(pl.Int64),
        pl.struct(GROUP).rle_id().alias("group"),
        pl.struct(CELL).rle_id().alias("cell"),
        answered.alias("answered"),
        pl.concat_str(outcome, pl.lit("/"), "reason").alias("kind"),
        *(
            pl.when(answered).then((outcome == name).cast(pl.Float64)).alias(name)
            for name in ("adopted", "recovered")
        ),
    )


def probes(trials: pl.DataFrame) -> pl.DataFrame:
    """All arms but source and gate."""
    return trials.filter(~pl.col("arm").is_in(["source", "gate"]))


def groups(trials: pl.DataFrame, names: Sequence[str]) -> Iterator[tuple[Keys, pl.DataFrame]]:
    """The frame cut by `names`, in order, each piece with its keys as an `Entry` has them."""
    for values, frame in trials.group_by(names, maintain_order=True):
        named = zip(names, values, strict=True)
        yield {name: str(value) for name, value in named if value}, frame


def part(frame: pl.DataFrame, kept: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What a number is made of, and what is left out of it; null is left out."""
    mask = frame.select(kept.fill_null(value=False).alias("kept"))["kept"]
    return frame.filter(mask), frame.filter(~mask)


def paired(
    trials: pl.DataFrame, control: str, score: str, unit: str
) -> dict[tuple[Any, ...], pl.DataFrame]:
    """By `unit` (cell or group), one line a problem: mean `score` here and in its `control`.

    Rates pair the means over samples of problems answered in both arms; R pairs
    the samples that have an r in both (protocol A.6). D_T count equally.
    """
    problem = ["group", "cell", "cluster", "problem"]
    on = [*problem, "sample"] if score == "r_cpt" else problem
    known = trials.filter(pl.col(score).is_not_null())
    means = known.group_by([*on, "arm"], maintain_order=True).agg(pl.col(score).mean())
    first, second = (means.filter(pl.col("arm") == a).drop("arm") for a in ("tampered", control))
    both = first.join(second.rename({score: "control"}), on=on).sort(on)
    for level in (problem, [unit, "cluster", "problem"]):
        both = both.group_by(level, maintain_order=True).agg(pl.col(score, "control").mean())
    return both.partition_by(unit, as_dict=True)


def weighed(frame: pl.DataFrame) -> pl.DataFrame:
    """With a `weight`: each problem 1, shared equally by its D_T, and by the trials of each."""
    trials_of_degree = pl.len().over("problem", "d_t")
    degrees_of_problem = pl.col("d_t").n_unique().over("problem")
    return frame.with_columns(weight=1 / (trials_of_degree * degrees_of_problem))


def degrees(frame: pl.DataFrame) -> Keys:
    """Which D_T the frame holds, as a plan spells them: 1-6 or 1,3."""
    found = sorted(set(frame["d_t"]) - {0})
    if len(found) > 1 and found == list(range(found[0], found[-1] + 1)):
        return {"d_t": f"{found[0]}-{found[-1]}"}
    return {"d_t": ",".join(map(str, found))} if found else {}


def _order(values: Iterable[str], first: Sequence[str]) -> list[str]:
    return ["", *first, *sorted(set(values) - {"", *first})]
