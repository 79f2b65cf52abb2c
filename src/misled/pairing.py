"""Two runs of study A side by side, trial by trial, and why a trial has no partner.

    aligned(first run, second run): a line a problem of a cell that both runs have,
    with `adopted` and `adopted_other`, and `why` = "gate_wrong in other" where one lacks

A line is a problem under one cell: method, structure, channel, perturbation,
scope, place and D_T. It stands for the same trial only where the question is
the same; whether the chain and its tampered result are, too, is recorded.
Knows nothing about estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from misled.sides import Match, Side, relabelled
from misled.trials import GROUP, SCORES, UNANSWERED, WRONG, pairs, prepare

__all__ = ["CELL", "GROUP_KEYS", "NETS", "RATES", "SAME", "align", "aligned", "reply"]

GROUP_KEYS = tuple(name for name in GROUP if name not in {"source", "mode", "feed"})
CELL = (*GROUP_KEYS, "d_t")
RATES = ("adopted", "recovered", "confused", "stopped")
NETS = ("net_adoption", "net_r")
SAME = ("result", "chain", "reply")  # what two trials may share

_AXES = ("set", "target", "attribution")
# What tells a reply from any other to the same request.
_REPLY = ("request", "outcome", "value", "seconds", "prompt_tokens", "completion_tokens",
          "reasoning_tokens", "answer_tokens")  # fmt: skip


def aligned(reference: Side, other: Side, names: Mapping[str, Match]) -> pl.DataFrame:
    """A line a problem of a cell that both have: scores of both, and `why` it does not count.

    `feed` is that of both; one that differs is no partner, unless each run has one feed only.
    `controlled` says whether both runs asked for clean controls.
    """
    sides = [
        (reference, {axis: names[axis].reference for axis in _AXES}),
        (other, {axis: names[axis].other for axis in _AXES}),
    ]
    feeds = names["feed"]
    one, two = (
        _units(side, labels).with_columns(pl.col("feed").replace(called))
        for (side, labels), called in zip(sides, (feeds.reference, feeds.other), strict=True)
    )
    frame = align(one, two, CELL, {"feed": "another feed"})
    frame = frame.with_columns(pl.coalesce("feed", "feed_other").fill_null(""))
    controlled = all("clean" in side.rows["arm"] for side in (reference, other))
    return frame.with_columns(
        *(_same(name, f"{name}_other").alias(f"same_{name}") for name in ("result", "chain")),
        same_reply=_same("replied", "replied_other"),
        same_clean=_same("replied_clean", "replied_clean_other"),
        controlled=pl.lit(controlled),
    )


def align(
    one: pl.DataFrame, two: pl.DataFrame, keys: Sequence[str], apart: Mapping[str, str]
) -> pl.DataFrame:
    """The lines of both frames side by side, of cells that both have, in the order of the first.

    A frame has a line a problem of a cell, whether it counts there or `why` it
    does not. `apart` are columns in which partners must not differ, and what is
    said where they do. `why` is "" where there are two partners.
    """
    order = one.select(keys).unique(maintain_order=True).with_row_index("order")
    order = order.join(two.select(keys).unique(), on=keys, how="semi", maintain_order="left")
    on = [*keys, "problem"]
    both = (
        one.join(order, on=keys, how="semi")
        .join(two.join(order, on=keys, how="semi"), on=on, how="full", coalesce=True,
              suffix="_other")
        .join(order, on=keys)
    )  # fmt: skip
    why, why_other = pl.col("why"), pl.col("why_other")
    said: Any = (
        pl.when(pl.col("question").is_null())
        .then(pl.lit("only in other"))
        .when(pl.col("question_other").is_null())
        .then(pl.lit("only in reference"))
        .when(pl.col("question") != pl.col("question_other"))
        .then(pl.lit("another question"))
    )
    for column, reason in apart.items():
        said = said.when(pl.col(column) != pl.col(f"{column}_other")).then(pl.lit(reason))
    said = (
        said.when(why == why_other)
        .then(why + " in both")
        .when(why.is_not_null() & why_other.is_not_null())
        .then(why + " in reference and " + why_other + " in other")
        .when(why.is_not_null())
        .then(why + " in reference")
        .when(why_other.is_not_null())
        .then(why_other + " in other")
        .otherwise(pl.lit(""))
    )
    both = both.with_columns(
        said.alias("why"), pl.coalesce("cluster", "cluster_other").alias("cluster")
    )
    return both.sort("order", "problem")


def reply(*more: str) -> pl.Expr:
    """What the rows of a group were answered: equal where each answer is the same one.

    Null where one was not asked for.
    """
    parts = [pl.col(name).cast(pl.String).fill_null("") for name in (*_REPLY, *more)]
    said = pl.concat_str(parts, separator="|").sort().str.join("\n")
    return pl.when(pl.col("request").is_not_null().all()).then(said)


def _same(one: str, two: str) -> pl.Expr:
    return (pl.col(one) == pl.col(two)).fill_null(value=False)


def _units(side: Side, labels: Mapping[str, dict[str, str]]) -> pl.DataFrame:
    """A line a problem of each cell of the run: its scores, or why it has none."""
    rows = relabelled(side.rows.with_columns(_texts()), labels)
    problems = relabelled(side.problems, labels)
    scores = _scores(rows)
    cells = scores.select(*CELL, "mode").unique(maintain_order=True)
    chains = relabelled(side.texts.rename({"who": "target", "text": "chain"}), labels)
    grid = (
        cells.join(problems, on="set", maintain_order="left")
        .join(scores.drop("mode"), on=[*CELL, "problem"], how="left", maintain_order="left")
        .join(_passed(rows), on=["set", "target", "mode", "problem"], how="left",
              maintain_order="left")
        .join(chains, on=["set", "target", "problem"], how="left", maintain_order="left")
    )  # fmt: skip
    missing = pl.coalesce(pl.col("lacks").replace("", "unasked"), pl.lit("unasked"))
    why = pl.when(pl.col("outcome").is_null()).then(missing).otherwise(pl.col("lost"))
    return grid.with_columns(why.alias("why")).drop("lacks", "lost", "outcome", "mode")


def _texts() -> list[pl.Expr]:
    return [pl.col(name).cast(pl.String).fill_null("") for name in CELL]


def _scores(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each problem of a cell: mean scores over its samples, and what was handed over."""
    kept = rows.with_columns(pl.col("d_t").cast(pl.Int64, strict=False))
    trials = prepare(kept)
    plain = [pl.col(name).cast(pl.String) for name in (*CELL, "problem", "outcome")]
    on = [*CELL, "problem"]
    nets = pairs(trials, "clean").select(
        *plain[:-1],
        net_adoption=pl.col("adopted") - pl.col("adopted_control"),
        net_r=pl.col("r_cpt") - pl.col("r_cpt_control"),
    )
    mine = trials.filter(pl.col("arm") == "tampered").with_columns(
        *plain,
        pl.col("outcome").is_in(UNANSWERED).alias("unanswered"),
        *(
            pl.when("answered").then((pl.col("outcome") == name).cast(pl.Float64)).alias(name)
            for name in RATES[2:]
        ),
    )
    means = mine.group_by(*on, maintain_order=True).agg(
        pl.col(*RATES, SCORES[2]).mean(),
        pl.col("outcome").first(),
        pl.when(pl.col("unanswered").all()).then(pl.col("outcome").first()).alias("lost"),
    )
    handed = rows.filter(arm="tampered").group_by(on).agg(
        pl.col("tampered").first().alias("result"),
        pl.col("mode", "feed").first(),
        reply().alias("replied"),
    )  # fmt: skip
    clean = rows.filter(arm="clean").group_by(on).agg(reply().alias("replied_clean"))
    for more in (nets, handed, clean):
        means = means.join(more, on=on, how="left", maintain_order="left")
    return means


def _passed(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each problem, target and mode: why it could not be probed, "" where it could.

    In the words of the table `eligibility`.
    """
    on = ["set", "target", "problem"]
    chains = _first(rows, "source", on).select(*on, _lacking("source").alias("chain"))
    gates = _first(rows, "gate", [*on, "mode"]).select(*on, "mode", _lacking("gate").alias("gate"))
    every = chains.join(rows.select("mode").unique(), how="cross")
    both = every.join(gates, on=[*on, "mode"], how="full", coalesce=True)
    said = pl.when(pl.col("chain") != "").then("chain").otherwise("gate")
    return both.select(*on, "mode", said.alias("lacks"))


def _first(rows: pl.DataFrame, arm: str, on: Sequence[str]) -> pl.DataFrame:
    mine = rows.filter((pl.col("arm") == arm) & (pl.col("sample") == 0))
    return mine.unique(list(on), keep="first", maintain_order=True)


def _lacking(arm: str) -> pl.Expr:
    outcome = pl.col("outcome")
    word = pl.when(outcome.is_in(WRONG)).then(pl.lit("wrong")).otherwise(outcome)
    right = (outcome == "recovered") & (pl.col("reason").fill_null("") == "")
    return pl.when(right).then(pl.lit("")).otherwise(pl.lit(f"{arm}_") + word)
