"""What each reply took, in tokens and seconds, as bounds; each beside another to the same problem.

    a reply of 512 tokens that the limit cut -> total_tokens 512, cut; bounds 512 and inf

A truncated reply took *at least* what was counted: every quantity has a lower
and an upper bound, which are one number elsewhere, and so have ratios and
differences of two. Tokens that the server counted and those that we counted
(o200k_base) are never put together: the key `tokens` says which they are.

Knows nothing about tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from misled import stats
from misled.records import OUTCOMES, Estimate
from misled.trials import CELL, GROUP, PROBLEM, SENT, SOLVED, Keys, parts, pieces

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
_TOOK = ("outcome", *QUANTITIES, "cut", "cut_within")
PAIRED = tuple(f"{name}{of}" for of in ("", "_base") for name in _TOOK)
_UNASKED = [OUTCOMES.index(name) for name in ("failed", "unsupported", "not_applicable")]

Values: TypeAlias = npt.NDArray[np.float64]
Bounds: TypeAlias = tuple[Values, Values]
Columns: TypeAlias = dict[str, npt.NDArray[Any]]
Cut: TypeAlias = tuple[Keys, Columns]  # the lines of a cell, by column


def spent(trials: pl.DataFrame) -> pl.LazyFrame:
    """Replies with what each took, null where unknown, and whether that is `cut`: a lower bound.

    Lazy, like what is made of it, so that no column is held that nobody asks for.

    Parts that we counted add up to a total in the same tokens; a server's total
    is its own count. Seconds of 0 are those of a planted reply.
    """
    names = ("reasoning_tokens", "answer_tokens", "completion_tokens")
    reasoning, answer, completion = (pl.col(name).cast(pl.Float64) for name in names)
    ours = pl.when(answer.is_not_null()).then(reasoning.fill_null(0) + answer)
    server = pl.coalesce(completion, ours)
    tokens = pl.Enum(["counted", "server"])
    frame = trials.lazy().select(
        *("arm", *CELL, "cell", "group", "degree", "degrees"),
        *(*PROBLEM, "sample", "request", "reply"),
        *("outcome", "answered"),
        pl.when("counted").then(ours).otherwise(server).alias("total_tokens"),
        reasoning,
        pl.when(pl.col("counted") | answer.is_not_null())
        .then(answer)
        .otherwise(completion - reasoning)
        .alias("answer_tokens"),
        pl.when(pl.col("seconds") > 0).then("seconds").alias("seconds"),
        pl.when("counted").then(pl.lit("counted")).otherwise(pl.lit("server")).cast(tokens)
        .alias("tokens"),
        (pl.col("outcome") == "truncated").alias("cut"),
    )  # fmt: skip
    # A cut within the answer leaves the reasoning whole.
    within = pl.col("cut") & (pl.col("answer_tokens").fill_null(0) == 0)
    return frame.with_columns(within.alias("cut_within"))


def once(costs: pl.LazyFrame, arm: str) -> pl.LazyFrame:
    """The replies of `arm`, each once in each of its cells."""
    cut = ("cell",) if arm == "tampered" else CUT[arm]
    mine = costs.filter(pl.col("arm") == arm)
    if arm == "gate":
        mine = mine.filter(pl.col("sample") == 0)
    reply = [*cut, *PROBLEM, "sample", "reply"]
    return mine.sort(reply).unique(reply, keep="first", maintain_order=True)


def by_arm(trials: pl.DataFrame) -> Iterator[Cut]:
    """The replies of each arm, each once, cut by what the arm depends on."""
    probed = trials.filter((pl.col("arm") == "tampered") & pl.col("answered"))
    probed = probed.select(*SOLVED, *PROBLEM).unique()
    for arm, cut in CUT.items():
        names = (*cut, "tokens")
        for part in parts(trials, _together(arm)):
            mine = once(spent(part), arm).join(probed.lazy(), on=probed.columns, how="semi")
            lines = [mine]
            if arm == "tampered":
                several = mine.filter(pl.col("d_t") != pl.col("degrees"))
                lines = [mine.with_columns(d_t=pl.col("degrees")), several]
            lines = [some.select(*names, *PROBLEM, "sample", "reply", *_TOOK) for some in lines]
            frame = pl.concat(lines).sort(*names, *PROBLEM, "sample", "reply").collect()
            for piece in pieces(frame, names, ["cluster", *_TOOK]):
                yield piece.keys | {"arm": arm}, piece.columns


def paired(trials: pl.DataFrame, arm: str, base: str) -> Iterator[pl.LazyFrame]:
    """The replies of `arm`, some at a time, beside those of `base` to the same problem and mode.

    What those took is in `..._base`, null where there is none; see `ratio` and `more`.
    """
    on = [*SOLVED, *PROBLEM, "tokens", *(["sample"] if base == "again" else [])]
    whole = once(spent(trials), base).unique(on, keep="first", maintain_order=True)
    whole = whole.select(*on, "request", *_TOOK).collect().lazy()
    for part in parts(trials, _together(arm)):
        mine = once(spent(part), arm)
        both = mine.join(whole, on=on, how="left", suffix="_base", maintain_order="left")
        yield both.with_columns(pl.col("cut_base", "cut_within_base").fill_null(value=False))


def _together(arm: str) -> tuple[str, ...]:
    """What lines of an arm share that are cut together."""
    return GROUP if arm == "tampered" else SOLVED


def bounds(columns: Columns, quantity: str, of: str = "") -> Bounds:
    """What replies, or those beside them (`of` is `_base`), took at least and at most."""
    low = columns[f"{quantity}{of}"]
    cut = columns[f"{'cut_within' if quantity == 'reasoning_tokens' else 'cut'}{of}"]
    return low, np.where(cut & ~np.isnan(low), np.inf, low)


def ratio(columns: Columns, name: str) -> Bounds:
    """Of replies to those beside them, at least and at most: one of `RATIOS`."""
    quantity = next(q for q, ratio in RATIOS.items() if ratio == name)
    (low, high), base = bounds(columns, quantity), bounds(columns, quantity, "_base")
    some = base[0] > 0
    ends = ((low, base[1]), (high, base[0]))
    least, most = (np.divide(*end, out=np.full(low.shape, np.nan), where=some) for end in ends)
    return least, most


def more(columns: Columns, quantity: str) -> Bounds:
    """How much more replies took than those beside them, at least and at most."""
    (low, high), base = bounds(columns, quantity), bounds(columns, quantity, "_base")
    return low - base[1], high - base[0]


def share(columns: Columns, name: str, threshold: float) -> Values:
    """1 or 0 as the bounds of a ratio settle whether it is below, else NaN."""
    low, high = ratio(columns, name)
    return np.where(high < threshold, 1.0, np.where(low >= threshold, 0.0, np.nan))


def shares(trials: pl.DataFrame, arm: str, base: str) -> pl.DataFrame:
    """Of each problem, the mean of each share over the replies of `arm`."""
    on = [*SOLVED, *PROBLEM, "tokens"]
    both = pl.concat(some.select(*on, *PAIRED) for some in paired(trials, arm, base)).collect()
    columns = numbers(both)
    return (
        both.select(
            *on,
            *(
                pl.Series(f"{name}_{word}", share(columns, name, threshold), nan_to_null=True)
                for name in SHARED
                for word, threshold in SHARES.items()
            ),
        )
        .group_by(on)
        .agg(pl.all().mean())
    )


def numbers(both: pl.DataFrame) -> Columns:
    """What replies and those beside them took, of all lines."""
    return {name: both[name].to_physical().to_numpy() for name in PAIRED}


def unpaired(columns: Columns, lacking: Any, base: str) -> Counter[str]:
    """Why each line that is `lacking` has no pair: its own lack, or that of its base."""
    found = missing(columns["outcome"][lacking])
    counted = lacking & ~np.isin(columns["outcome"], _UNASKED)
    asked = counted & ~np.isnan(columns["outcome_base"])
    lost = missing(columns["outcome_base"][asked].astype(int))
    found.pop("uncounted", None)
    found |= {f"{base} {word}": count for word, count in lost.items()}
    found[f"{base} unasked"] = int(counted.sum() - asked.sum())
    return +found


def missing(outcomes: npt.NDArray[Any]) -> Counter[str]:
    """Why trials have no number: they have no reply, or their reply came without one."""
    found = Counter({OUTCOMES[code]: int((outcomes == code).sum()) for code in _UNASKED})
    found["uncounted"] = len(outcomes) - found.total()
    return +found


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
