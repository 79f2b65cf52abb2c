"""Two runs of study B side by side, verdict by verdict, and why a verdict has no partner.

    aligned(first run, second run): a line an item of a bench and condition that both
    runs have, with `accept` and `accept_other`, and `why` = "unreadable in other" ...

An item is a question with a generator's answer. It stands for the same only
where the question is the same and both runs call the answer right, or both
wrong; whether the answer's text is the same is recorded. What is asked of a
question alone (`ONCE`) has no generator, and the question for its item; a
judge's own answer counts as accepted where it is right. Knows nothing about
estimates.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from misled.judge_plans import ONCE
from misled.judged import AGAIN, BENCH, PAIR, SELF, SPOT
from misled.pairing import align, reply
from misled.sides import Match, Side, relabelled

__all__ = ["CELL", "CONDITIONS", "SAME", "aligned"]

CELL = (*BENCH, "condition", *SPOT)
CONDITIONS = (*PAIR, *AGAIN, *SELF, "controlled", *ONCE)
SAME = ("answer", "reply")  # what two items may share


def aligned(reference: Side, other: Side, names: Mapping[str, Match]) -> pl.DataFrame:
    """A line an item of a cell that both have: the verdicts of both, and `why` it does not count.

    A cell is a bench under one condition, of edited chains under one edit.
    """
    one = _units(reference, {axis: found.reference for axis, found in names.items()})
    two = _units(other, {axis: found.other for axis, found in names.items()})
    frame = align(one, two, CELL, {"label": "labelled otherwise"})
    same = (pl.col("text") == pl.col("text_other")).fill_null(value=False)
    replies = (pl.col("replied") == pl.col("replied_other")).fill_null(value=False)
    return frame.with_columns(same_answer=same, same_reply=replies)


def _units(side: Side, labels: Mapping[str, dict[str, str]]) -> pl.DataFrame:
    """A line an item of each cell of the run: its verdict, or why it has none."""
    rows = side.rows.with_columns(
        *(pl.col(name).cast(pl.String).fill_null("") for name in CELL),
        pl.col("label").cast(pl.Boolean),
    )
    asked = {axis: labels[axis] for axis in ("set", "generator")}
    own = pl.col("condition").is_in(SELF)
    said = _alone(rows).filter(pl.col("condition").is_in(CONDITIONS))
    said = relabelled(said, asked | {"shown": labels["shown"]})
    said = relabelled(said, {"judge": labels["judge"]}, ~own)
    said = relabelled(said, {"judge": labels["generator"]}, own)
    verdicts = said.group_by(*CELL, "problem", maintain_order=True).agg(
        pl.col("outcome", "verdict", "label").first(), reply("verdict").alias("replied")
    )
    generated = relabelled(rows.filter(arm="generate"), asked).unique(
        ["set", "generator", "problem"], keep="first", maintain_order=True
    )
    on = ["set", "generator", "problem"]
    grid = (
        verdicts.select(CELL)
        .unique(maintain_order=True)
        .join(_items(side, generated, asked), on=["set", "generator"], maintain_order="left")
        .join(verdicts, on=[*CELL, "problem"], how="left", maintain_order="left")
        .join(generated.select(*on, pl.col("outcome").alias("given"), pl.col("label").alias("y")),
              on=on, how="left", maintain_order="left")
        .join(relabelled(side.texts.rename({"who": "generator"}), asked), on=on, how="left",
              maintain_order="left")
    )  # fmt: skip
    crossed = pl.col("outcome").is_not_null().any().over(*BENCH, "condition", "problem")
    return (
        grid.filter((pl.col("condition") != "crossed") | crossed)
        .with_columns(
            _why().alias("why"),
            (pl.col("verdict") == "accept").alias("accept"),
            pl.coalesce("label", "y").alias("label"),
        )
        .drop("outcome", "verdict", "given", "y")
    )


def _alone(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with what is asked of a question alone as verdicts on no generator's answer."""
    closed, null = pl.col("arm") == "closed_book", pl.col("condition") == "null"
    crossed = pl.col("condition") == "crossed"
    right = pl.when("label").then(pl.lit("right")).otherwise(pl.lit("wrong"))
    own = pl.when("label").then(pl.lit("accept")).otherwise(pl.lit("reject"))
    unlabelled = closed & pl.col("label").is_null() & (pl.col("outcome") == "read")
    none = pl.lit("")
    return rows.filter(closed | (pl.col("arm") == "judge")).with_columns(
        condition=pl.when(closed).then(pl.lit("closed_book")).otherwise("condition"),
        generator=pl.when(closed | null | crossed).then(none).otherwise("generator"),
        shown=pl.when(closed | null).then(none).otherwise("shown"),
        variant=pl.when(crossed).then(right + " answer, " + pl.col("variant") + " chain")
        .otherwise("variant"),
        verdict=pl.when(closed).then(own).otherwise("verdict"),
        outcome=pl.when(unlabelled).then(pl.lit("unlabelled")).otherwise("outcome"),
        label=pl.when(closed | null | crossed).then(pl.lit(value=True)).otherwise("label"),
    )  # fmt: skip


def _items(
    side: Side, generated: pl.DataFrame, labels: Mapping[str, dict[str, str]]
) -> pl.DataFrame:
    """Every item of the run; of an answers file those that it holds, else all that are asked.

    And every question alone, under no generator.
    """
    problems = relabelled(side.problems, labels)
    generators = pl.DataFrame({"generator": ["", *labels["generator"].values()]})
    every = problems.join(generators, how="cross")
    if not side.logged:
        return every
    held = generated.select("set", "generator", "problem")
    held = pl.concat([held, held.with_columns(generator=pl.lit(""))])
    return every.join(held, on=held.columns, how="semi", maintain_order="left")


def _why() -> pl.Expr:
    """Why an item has no verdict that counts, null where it has one."""
    given = pl.col("given")
    unasked = (
        pl.when(given.is_not_null() & (given != "read"))
        .then(given)
        .when((given == "read") & pl.col("y").is_null())
        .then(pl.lit("unlabelled"))
        .otherwise(pl.lit("unasked"))
    )
    return (
        pl.when(pl.col("outcome").is_null())
        .then(unasked)
        .when(pl.col("outcome") != "read")
        .then("outcome")
        .when(pl.col("label").is_null())
        .then(pl.lit("unlabelled"))
        .otherwise(pl.lit(None, pl.String))
    )
