"""What each reply took, in tokens and seconds, as bounds; each beside another to the same problem.

    a reply of 512 tokens that the limit cut -> total_tokens 512, total_tokens_high inf

A truncated reply took *at least* what was counted: every quantity has a lower
and an upper bound, which are one number elsewhere, and so have ratios and
differences of two. Tokens that the server counted and those that we counted
(o200k_base) are never put together: the key `tokens` says which they are.

Knows nothing about tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from misled import stats
from misled.records import Estimate
from misled.trials import CELL, GROUP, PROBLEM, SENT, SOLVED, Keys, pieces

__all__ = [
    "CUT",
    "MUCH_LESS",
    "QUANTITIES",
    "RATIOS",
    "SHARED",
    "SHARES",
    "Values",
    "by_arm",
    "median",
    "missing",
    "once",
    "paired",
    "spent",
    "unpaired",
]

MUCH_LESS = 0.4  # "reduced by more than 60 %" [A §5.2]
QUANTITIES = ("total_tokens", "reasoning_tokens", "answer_tokens", "seconds")
# What each arm is cut by; a control's reply is repeated in each cell that it is paired with.
CUT = {"gate": SOLVED, "again": SOLVED, "clean": SENT, "tampered": (*GROUP, "d_t")}
RATIOS = {"total_tokens": "tokens", "reasoning_tokens": "reasoning", "seconds": "seconds"}
SHARES = {"below_1": 1.0, "below_04": MUCH_LESS}
SHARED = ("tokens", "seconds")  # of the reasoning alone, its ratio says enough
Values = npt.NDArray[np.float64]


def spent(trials: pl.DataFrame) -> pl.DataFrame:
    """Replies with each quantity as what it is at least and, in `..._high`, at most; else null.

    Parts that we counted add up to a total in the same tokens; a server's total
    is its own count. Seconds of 0 are those of a planted reply.
    """
    reasoning, answer = pl.col("reasoning_tokens"), pl.col("answer_tokens")
    ours = pl.when(answer.is_not_null()).then(reasoning.fill_null(0) + answer)
    server = pl.coalesce(pl.col("completion_tokens"), ours)
    frame = trials.with_columns(
        pl.when("counted").then(ours).otherwise(server).alias("total_tokens"),
        pl.when(pl.col("counted") | answer.is_not_null())
        .then(answer)
        .otherwise(pl.col("completion_tokens") - reasoning)
        .alias("answer_tokens"),
        pl.when(pl.col("seconds") > 0).then("seconds").alias("seconds"),
        pl.when("counted").then(pl.lit("counted")).otherwise(pl.lit("server")).alias("tokens"),
    ).with_columns(pl.col(QUANTITIES).cast(pl.Float64))
    cut = pl.col("outcome") == "truncated"
    # A cut within the answer leaves the reasoning whole.
    within = cut & (pl.col("answer_tokens").fill_null(0) == 0)
    return frame.with_columns(
        pl.when((within if name == "reasoning_tokens" else cut) & pl.col(name).is_not_null())
        .then(float("inf"))
        .otherwise(name)
        .alias(f"{name}_high")
        for name in QUANTITIES
    )


def once(costs: pl.DataFrame, arm: str) -> pl.DataFrame:
    """The replies of `arm`, each once in each of its cells."""
    cut = CELL if arm == "tampered" else CUT[arm]
    mine = costs.filter(pl.col("arm") == arm)
    if arm == "gate":
        mine = mine.filter(pl.col("sample") == 0)
    reply = [*cut, *PROBLEM, "sample", "request"]
    return mine.sort(reply).unique(reply, keep="first", maintain_order=True)


def by_arm(trials: pl.DataFrame) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """The replies of each arm, each once, cut by what the arm depends on."""
    costs = spent(trials)
    probed = costs.filter((pl.col("arm") == "tampered") & pl.col("answered"))
    probed = probed.select(*SOLVED, *PROBLEM).unique()
    for arm, cut in CUT.items():
        mine = once(costs, arm).join(probed, on=probed.columns, how="semi")
        parts = [mine]
        if arm == "tampered":
            several = mine.filter(pl.col("d_t") != pl.col("degrees"))
            parts = [mine.with_columns(d_t=pl.col("degrees")), several]
        names = (*cut, "tokens")
        frame = pl.concat(parts).sort(*names, *PROBLEM, "sample", "request")
        columns = [name for name in frame.columns if name not in names]
        for piece in pieces(frame, names, columns):
            yield piece.keys | {"arm": arm}, piece.columns


def paired(costs: pl.DataFrame, arm: str, base: str) -> pl.DataFrame:
    """The replies of `arm` beside those of `base` to the same problem in the same mode.

    `<name>_low` and `_high` bound each ratio, `<quantity>_more_low` and `_high`
    each difference, and `<name>_below_1` is 1 or 0 where the bounds settle it,
    else null.
    """
    on = [*SOLVED, *PROBLEM, "tokens", *(["sample"] if base == "again" else [])]
    spread = [name for q in QUANTITIES for name in (q, f"{q}_high")]
    whole = once(costs, base).unique(on, keep="first", maintain_order=True)
    whole = whole.select(*on, "outcome", "request", *spread)
    both = once(costs, arm).join(whole, on=on, how="left", suffix="_base", maintain_order="left")
    ratio = [
        pl.when(pl.col(f"{q}_base") > 0)
        .then(pl.col(f"{q}{own}") / pl.col(f"{q}{other}_base"))
        .alias(f"{name}_{end}")
        for q, name in RATIOS.items()
        for own, other, end in (("", "_high", "low"), ("_high", "", "high"))
    ]
    # An unbounded reply over an unbounded one says nothing: 0 at least, infinity at most.
    more = [
        (pl.col(f"{q}{own}") - pl.col(f"{q}{other}_base")).alias(f"{q}_more_{end}")
        for q in QUANTITIES
        for own, other, end in (("", "_high", "low"), ("_high", "", "high"))
    ]
    both = both.with_columns(*ratio, *more)
    return both.with_columns(
        pl.when(pl.col(f"{name}_high") < threshold)
        .then(1.0)
        .when(pl.col(f"{name}_low") >= threshold)
        .then(0.0)
        .alias(f"{name}_{share}")
        for name in SHARED
        for share, threshold in SHARES.items()
    )


def unpaired(columns: dict[str, Any], lacking: Any, base: str) -> Iterator[str]:
    """Why each line that is `lacking` has no pair: its own lack, or that of its base."""
    for own, other in zip(
        columns["outcome"][lacking], columns["outcome_base"][lacking], strict=True
    ):
        (word,) = missing([own])
        if word != "uncounted":
            yield word
        else:
            yield f"{base} {'unasked' if other is None else next(missing([other]))}"


def missing(outcomes: Sequence[str]) -> Iterator[str]:
    """Why a trial has no number: it has no reply, or its reply came without one."""
    for outcome in outcomes:
        unasked = outcome in {"failed", "unsupported", "not_applicable"}
        yield outcome if unasked else "uncounted"


def median(low: Values, high: Values, clusters: npt.NDArray[Any]) -> Estimate:
    """The median of values known to lie in [low, high], where these bounds settle it.

    n counts the values that are known. `low` may be minus infinity, `high` infinity.
    """
    at_least, at_most = _mirrored(stats.median(-low, clusters)), stats.median(high, clusters)
    n = int((low == high).sum())
    if at_most.value is None or at_most.value != at_least.value:
        ends = {"at least": at_least.value, "at most": at_most.value}
        known = " and ".join(f"{word} {end:.4g}" for word, end in ends.items() if end is not None)
        word = "none: censored" + (f", {known}" if known else "")
        return Estimate(None, None, None, n, at_least.clusters, word)
    if at_least.low is None or at_most.low is None:
        return replace(at_least if at_least.low is None else at_most, n=n)
    return replace(at_most, n=n, low=min(at_least.low, at_most.low))


def _mirrored(e: Estimate) -> Estimate:
    """The estimate of what `e` estimates with its sign turned."""
    value, low, high = (None if x is None else 0.0 - x for x in (e.value, e.high, e.low))
    return replace(e, value=value, low=low, high=high)
