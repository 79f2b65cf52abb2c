"""Effort: tokens and seconds of each reply, beside those of the same problem solved alone (A.7).

    probe 210 tokens, gate 600, `again` 580 -> ratio .35 of the gate; floor `again`/gate .97

Ratios are paired by problem. A ratio to the gate below 1 goes against
T_CPT >= T_init + T_identify + T_compare [A eq. 3]; but of two equal
distributions half the ratios lie below 1, too, so each share stands beside its
difference from that of `again`/gate. A truncated reply took *at least* what
was counted: it bounds a median and is no value itself, and `left_out` counts
it. Tokens that the server counted and those that we counted (o200k_base) are
never put together: the key `tokens` says which they are.

Knows nothing about what a reply says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import replace

from misled import stats
from misled.lines import entry
from misled.records import Entry, Estimate, Record
from misled.trials import CELL, GROUP, PROBLEM, SENT, SOLVED, Keys, pieces

__all__ = ["QUANTITIES", "Strip", "Typical", "effort", "figure7", "ratios", "strips", "typical"]

MUCH_LESS = 0.4  # "reduced by more than 60 %" [A §5.2]
QUANTITIES = ("total_tokens", "reasoning_tokens", "answer_tokens", "seconds")
# What each arm is cut by; a control's reply is repeated in each cell that it is paired with.
_CUT = {"gate": SOLVED, "again": SOLVED, "clean": SENT, "tampered": (*GROUP, "d_t")}
_COMPARED = (
    ("again", "gate"),
    ("clean", "gate"),
    ("tampered", "gate"),
    ("clean", "again"),
    ("tampered", "again"),
)
_RATIOS = {"total_tokens": "tokens", "reasoning_tokens": "reasoning", "seconds": "seconds"}
_SHARES = {"below_1": 1.0, "below_04": MUCH_LESS}
_SHARED = ("tokens", "seconds")  # of the reasoning alone, its ratio says enough
Values = npt.NDArray[np.float64]


class Strip(Record, frozen=True):
    """The single values behind a median, of problems in order."""

    quantity: str
    keys: Keys
    values: tuple[float, ...]


class Typical(Record, frozen=True):
    """The trial that Figure 6 shows: its ratio is the median of its set and target.

    Tokens are reasoning and answer; `gate_request` and `request` are keys of the store.
    """

    keys: Keys
    problem: str
    gate_request: str
    request: str
    gate_tokens: tuple[int, int]
    tokens: tuple[int, int]
    gate_seconds: float | None
    seconds: float | None
    outcome: str
    ratio: float


def effort(trials: pl.DataFrame) -> list[Entry]:
    """Per arm: median tokens and seconds, of the problems that were probed.

    Tampered trials pooled over D_T, and where there are several each D_T after that.
    """
    return [line for piece in _cut(trials) for line in _medians(piece)]


def strips(trials: pl.DataFrame) -> list[Strip]:
    """What the medians of `effort` were made of, without what is right-censored."""
    found: list[Strip] = []
    for keys, columns in _cut(trials):
        for quantity in QUANTITIES:
            low, high = columns[quantity], columns[f"{quantity}_high"]
            values = low[low == high]
            if values.size:
                found.append(Strip(quantity, keys, tuple(map(float, values))))
    return found


def ratios(trials: pl.DataFrame) -> list[Entry]:
    """Per cell over its D_T: ratios to the gate [A §5.2] and to `again`, paired by problem.

    `tokens_below_1` is the share of trials with T_CPT below T_init, which goes
    against [A eq. 3]; `net_...` its difference from that of `again`/gate.
    """
    spent = _spent(trials)
    floor = _paired(spent, "again", "gate")
    found: list[Entry] = []
    for arm, base in _COMPARED:
        both = floor if (arm, base) == ("again", "gate") else _paired(spent, arm, base)
        names = (*(GROUP if arm == "tampered" else _CUT[arm]), "tokens")
        on = [*SOLVED, *PROBLEM, "tokens"]
        shares = floor.group_by(on).agg(pl.col("^.*_below_.*$").mean())
        both = both.join(shares, on=on, how="left", suffix="_floor", maintain_order="left")
        both = both.sort(*names, *PROBLEM, "sample", "request")
        columns = [name for name in both.columns if name not in names]
        for piece in pieces(both, names, columns):
            keys = piece.keys | {"arm": arm, "to": base}
            if arm == "tampered":
                degrees = str(piece.columns["degrees"][0])
                keys |= {"d_t": degrees} if degrees else {}
            found += _compared(keys, piece.columns, floor=arm != "again")
    return found


def figure7(lines: Iterable[Entry]) -> list[Entry]:
    """Tokens and seconds of intact chains' arms [A Fig. 7]: `effort`'s lines over all D_T."""
    drawn = {"total_tokens", "seconds"}
    mine = [
        e
        for e in lines
        if e.table == "effort" and e.metric in drawn and e.keys.get("structure") in {None, "intact"}
    ]
    widest: dict[tuple[Any, ...], Entry] = {}
    for e in mine:
        but = tuple(item for item in e.keys.items() if item[0] != "d_t")
        widest.setdefault((e.metric, but), e)  # the line over all D_T comes first
    return [replace(e, table="figure7") for e in widest.values()]


def typical(trials: pl.DataFrame) -> list[Typical]:
    """Per set and target, the baseline trial of median ratio to the gate (the lower of two) [A F6].

    Where no trial is baseline, among all. Ties go to the first problem. Both
    replies are whole: the model itself ended them.
    """
    both = _paired(_spent(trials), "tampered", "gate")
    both = both.filter(pl.col("tokens_low") == pl.col("tokens_high"))
    found: list[Typical] = []
    for _, all_of in both.group_by("set", "target", maintain_order=True):
        baseline = all_of.filter(pl.col("method") == "baseline")
        mine = (baseline if baseline.height else all_of).sort(
            "tokens_low", "problem", "degree", *GROUP, "sample"
        )
        line = mine.row((mine.height - 1) // 2, named=True)
        tokens = [int(line[name] or 0) for name in QUANTITIES[1:3]]
        gate = [int(line[f"{name}_base"] or 0) for name in QUANTITIES[1:3]]
        found.append(
            Typical(
                keys={name: str(line[name]) for name in (*GROUP, "d_t", "tokens") if line[name]},
                problem=line["problem"],
                gate_request=line["request_base"],
                request=line["request"],
                gate_tokens=(gate[0], gate[1]),
                tokens=(tokens[0], tokens[1]),
                gate_seconds=line["seconds_base"],
                seconds=line["seconds"],
                outcome=line["outcome"],
                ratio=line["tokens_low"],
            )
        )
    return found


def _spent(trials: pl.DataFrame) -> pl.DataFrame:
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


def _cut(trials: pl.DataFrame) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """The replies of each arm, each once, cut by what the arm depends on."""
    spent = _spent(trials)
    probed = spent.filter((pl.col("arm") == "tampered") & pl.col("answered"))
    probed = probed.select(*SOLVED, *PROBLEM).unique()
    for arm, cut in _CUT.items():
        mine = _once(spent, arm).join(probed, on=probed.columns, how="semi")
        parts = [mine]
        if arm == "tampered":
            several = mine.filter(pl.col("d_t") != pl.col("degrees"))
            parts = [mine.with_columns(d_t=pl.col("degrees")), several]
        names = (*cut, "tokens")
        frame = pl.concat(parts).sort(*names, *PROBLEM, "sample", "request")
        columns = [name for name in frame.columns if name not in names]
        for piece in pieces(frame, names, columns):
            yield piece.keys | {"arm": arm}, piece.columns


def _once(spent: pl.DataFrame, arm: str) -> pl.DataFrame:
    """The replies of `arm`, each once in each of its cells."""
    cut = CELL if arm == "tampered" else _CUT[arm]
    mine = spent.filter(pl.col("arm") == arm)
    if arm == "gate":
        mine = mine.filter(pl.col("sample") == 0)
    reply = [*cut, *PROBLEM, "sample", "request"]
    return mine.sort(reply).unique(reply, keep="first", maintain_order=True)


def _medians(piece: tuple[Keys, dict[str, Any]]) -> Iterator[Entry]:
    keys, columns = piece
    for quantity in QUANTITIES:
        low, high = columns[quantity], columns[f"{quantity}_high"]
        known = np.isfinite(low)
        if not known.any():
            continue
        left_out = Counter(_missing(columns["outcome"][~known]))
        left_out["truncated"] += int((high[known] > low[known]).sum())
        estimate = _median(low[known], high[known], columns["cluster"][known])
        yield entry("effort", quantity, keys, estimate, +left_out)


def _missing(outcomes: Sequence[str]) -> Iterator[str]:
    """Why a trial has no number: it has no reply, or its reply came without one."""
    for outcome in outcomes:
        unasked = outcome in {"failed", "unsupported", "not_applicable"}
        yield outcome if unasked else "uncounted"


def _median(low: Values, high: Values, clusters: npt.NDArray[Any]) -> Estimate:
    """The median of values known to lie in [low, high], where these bounds settle it.

    n counts the values that are known.
    """
    at_least, at_most = stats.median(low, clusters), stats.median(high, clusters)
    n = int((low == high).sum())
    if at_most.value != at_least.value:
        beyond = "" if at_most.value is None else f" and at most {at_most.value:.4g}"
        word = f"none: censored, at least {at_least.value:.4g}{beyond}"
        return Estimate(None, None, None, n, at_least.clusters, word)
    if at_least.low is None or at_most.low is None:
        return replace(at_most, n=n)
    return replace(at_most, n=n, low=min(at_least.low, at_most.low))


def _paired(spent: pl.DataFrame, arm: str, base: str) -> pl.DataFrame:
    """The replies of `arm` beside those of `base` to the same problem in the same mode.

    `<name>_low` and `_high` bound each ratio, and `<name>_below_1` is 1 or 0
    where the bounds settle it, else null. `why` names what a line lacks.
    """
    on = [*SOLVED, *PROBLEM, "tokens", *(["sample"] if base == "again" else [])]
    spread = [name for q in QUANTITIES for name in (q, f"{q}_high")]
    whole = _once(spent, base).unique(on, keep="first", maintain_order=True)
    whole = whole.select(*on, "outcome", "request", *spread)
    both = _once(spent, arm).join(whole, on=on, how="left", suffix="_base", maintain_order="left")
    ratio = [
        pl.when(pl.col(f"{q}_base") > 0)
        .then(pl.col(f"{q}{own}") / pl.col(f"{q}{other}_base"))
        .alias(f"{name}_{end}")
        for q, name in _RATIOS.items()
        for own, other, end in (("", "_high", "low"), ("_high", "", "high"))
    ]
    # An unbounded reply over an unbounded one says nothing: 0 at least, infinity at most.
    both = both.with_columns(ratio)
    return both.with_columns(
        pl.when(pl.col(f"{name}_high") < threshold)
        .then(1.0)
        .when(pl.col(f"{name}_low") >= threshold)
        .then(0.0)
        .alias(f"{name}_{share}")
        for name in _SHARED
        for share, threshold in _SHARES.items()
    )


def _compared(keys: Keys, columns: dict[str, Any], *, floor: bool) -> Iterator[Entry]:
    """One cell's ratios, their shares below 1 and .4, and how far these are from the floor's."""
    clusters = columns["cluster"]
    for name in _RATIOS.values():
        low, high = columns[f"{name}_low"], columns[f"{name}_high"]
        known = np.isfinite(low)
        if not known.any():
            continue
        lost = Counter(_unpaired(columns, ~known, keys["to"]))
        median = _median(low[known], high[known], clusters[known])
        censored = Counter(truncated=int((high[known] > low[known]).sum()))
        yield entry("effort_ratios", f"{name}_ratio", keys, median, +(lost + censored))
        for share in _SHARES if name in _SHARED else ():
            metric = f"{name}_{share}"
            hit = columns[metric]
            settled = np.isfinite(hit)
            unsettled = Counter(truncated=int((known & ~settled).sum()))
            rate = stats.rate(hit[settled], clusters[settled], _weights(columns, settled))
            yield entry("effort_ratios", metric, keys, rate, +(lost + unsettled))
            if floor:
                first, second, of = _by_problem(columns, metric)
                net = stats.paired(first, second, of, span=1.0)
                yield entry("effort_ratios", f"net_{metric}", keys, net, +(lost + unsettled))


def _unpaired(columns: dict[str, Any], lacking: Any, base: str) -> Iterator[str]:
    for own, other in zip(
        columns["outcome"][lacking], columns["outcome_base"][lacking], strict=True
    ):
        (word,) = _missing([own])
        if word != "uncounted":
            yield word
        else:
            yield f"{base} {'unasked' if other is None else next(_missing([other]))}"


def _weights(columns: dict[str, Any], kept: Any) -> Any:
    """Each problem 1, shared equally by its D_T, and by the trials of each."""
    line = pl.DataFrame({name: columns[name][kept] for name in ("problem", "degree")})
    of = ["problem", "degree"]
    weight = 1 / (pl.len().over(of) * pl.col("degree").n_unique().over("problem"))
    found = line.select(weight.alias("weight"))["weight"].to_numpy()
    return None if not found.size or np.ptp(found) == 0 else found


def _by_problem(columns: dict[str, Any], metric: str) -> tuple[Values, Values, Any]:
    """A share of each problem over samples and D_T, the floor's, and the cluster."""
    names = ["problem", "cluster", "degree", metric, f"{metric}_floor"]
    line = pl.DataFrame({name: columns[name] for name in names}, nan_to_null=True)
    line = line.drop_nulls([metric, f"{metric}_floor"])
    for by in (["cluster", "problem", "degree"], ["cluster", "problem"]):
        line = line.group_by(by, maintain_order=True).agg(pl.col(names[3:]).mean())
    return line[metric].to_numpy(), line[f"{metric}_floor"].to_numpy(), line["cluster"].to_numpy()
