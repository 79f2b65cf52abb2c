"""Effort: tokens and seconds of each reply, beside those of the same problem solved alone (A.7).

    probe 210 tokens, gate 600, `again` 580 -> ratio .35 of the gate; floor `again`/gate .97

Ratios are paired by problem. A ratio to the gate below 1 goes against
T_CPT >= T_init + T_identify + T_compare [A eq. 3]; but of two equal
distributions half the ratios lie below 1, too, so each share stands beside its
difference from that of `again`/gate. A truncated reply took *at least* what
was counted: it bounds a median and is no value itself, and `left_out` counts
it. Tokens that the server counted and those that we counted (o200k_base) are
never put together: the key `tokens` says which they are.

A difference to `again` is what is left of that to the gate when its floor, `again`
minus gate, is taken away: it is the net of both.

Knows nothing about what a reply says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from misled import costs, stats
from misled.lines import entry
from misled.records import Entry, Record
from misled.trials import GROUP, PROBLEM, SOLVED, Keys, pieces

__all__ = ["Strip", "Typical", "differences", "effort", "ratios", "strips", "typical"]

_COMPARED = (
    ("again", "gate"),
    ("clean", "gate"),
    ("tampered", "gate"),
    ("clean", "again"),
    ("tampered", "again"),
)
_TYPICAL = {"method": "baseline", "structure": "intact", "channel": "user"}
_FEW = 200
_SUBTRACTED = (("again", "gate"), ("clean", "again"), ("tampered", "again"))


class Strip(Record, frozen=True):
    """The single values behind a median, of problems in order."""

    quantity: str
    keys: Keys
    values: tuple[float, ...]


class Typical(Record, frozen=True):
    """The trial that Figure 6 shows: its ratio is the median of its set and target.

    Tokens are reasoning and answer; `gate_request` and `request` are keys of the
    store. What `again` took is None where it was not asked, or was cut.
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
    again_tokens: tuple[int, int] | None = None
    again_seconds: float | None = None


def effort(trials: pl.DataFrame) -> list[Entry]:
    """Per arm: median tokens and seconds, of the problems that were probed.

    Tampered trials pooled over D_T, and where there are several each D_T after that.
    """
    return [line for piece in costs.by_arm(trials) for line in _medians(piece)]


def strips(trials: pl.DataFrame) -> list[Strip]:
    """What the medians of `effort` and `differences` were made of, without what is censored.

    Of medians of a few values, which figures show beside them one by one.
    """
    subtracted = _each(trials, _SUBTRACTED)
    return [
        *(strip for cut in costs.by_arm(trials) for strip in _strips("", cut, costs.bounds)),
        *(strip for cut in subtracted for strip in _strips("net_", cut, costs.more)),
    ]


def _strips(
    prefix: str, cut: costs.Cut, ends: Callable[[costs.Columns, str], costs.Bounds]
) -> Iterator[Strip]:
    keys, columns = cut
    for quantity in costs.QUANTITIES:
        low, high = ends(columns, quantity)
        values = low[low == high]
        if 0 < values.size <= _FEW:
            yield Strip(f"{prefix}{quantity}", keys, tuple(values.tolist()))


def ratios(trials: pl.DataFrame) -> list[Entry]:
    """Per cell over its D_T: ratios to the gate [A §5.2] and to `again`, paired by problem.

    `tokens_below_1` is the share of trials with T_CPT below T_init, which goes
    against [A eq. 3]; `net_...` its difference from that of `again`/gate.
    """
    shares = costs.shares(trials, "again", "gate")
    return [
        line
        for cut in _each(trials, _COMPARED, shares)
        for line in _compared(cut, floor=cut[0]["arm"] != "again")
    ]


def differences(trials: pl.DataFrame) -> list[Entry]:
    """Per cell over its D_T: tokens and seconds minus those of `again`, paired by problem.

    Beside them `again` minus gate, which nothing but chance and the gate's
    selection (it is a passed reply) sets apart.
    """
    return [line for cut in _each(trials, _SUBTRACTED) for line in _subtracted(cut)]


def _each(
    trials: pl.DataFrame,
    compared: Sequence[tuple[str, str]],
    shares: pl.DataFrame | None = None,
) -> Iterator[costs.Cut]:
    """The replies of each arm beside those of its base, a cut a cell over its D_T.

    `shares` are the floor's, by problem.
    """
    on = [*SOLVED, *PROBLEM, "tokens"]
    floor = [] if shares is None else [name for name in shares.columns if name not in on]
    columns = [*PROBLEM, "degree", *costs.PAIRED, *floor]
    for arm, base in compared:
        names = (*(GROUP if arm == "tampered" else costs.CUT[arm]), "tokens")
        order = ("group", "tokens") if arm == "tampered" else names
        for some in costs.paired(trials, arm, base):
            both = some.sort(*order, *PROBLEM, "sample", "reply").select(
                *names, *PROBLEM, "degree", "degrees", *costs.PAIRED
            )
            if shares is not None:
                both = both.join(shares.lazy(), on=on, how="left", maintain_order="left")
            frame = both.collect()
            for piece in pieces(frame, names, columns):
                keys = piece.keys | {"arm": arm, "to": base}
                if arm == "tampered":
                    degrees = frame["degrees"][piece.lines.start]
                    keys |= {"d_t": degrees} if degrees else {}
                yield keys, piece.columns


def typical(trials: pl.DataFrame) -> list[Typical]:
    """Per set and target, the trial of median ratio to the gate (the lower of two) [A F6].

    Of intact chains under baseline in the user's message, as far as there are
    such. Ties go to the first problem. Both replies are whole: the model itself
    ended them.
    """
    both = pl.concat(costs.paired(trials, "tampered", "gate")).collect()
    low, high = costs.ratio(costs.numbers(both), "tokens")
    both = both.with_columns(pl.Series("tokens_low", low)).filter(low == high)
    on = [*SOLVED, *PROBLEM, "tokens", "sample"]
    again = costs.once(costs.spent(trials), "again").filter(~pl.col("cut"))
    again = again.unique(on, keep="first", maintain_order=True).select(*on, *costs.QUANTITIES)
    both = both.join(again.collect(), on=on, how="left", suffix="_again", maintain_order="left")
    found: list[Typical] = []
    for _, all_of in both.group_by("set", "target", maintain_order=True):
        mine = all_of
        for axis, value in _TYPICAL.items():
            plain = mine.filter(pl.col(axis) == value)
            mine = plain if plain.height else mine
        mine = mine.sort("tokens_low", "problem", "degree", *GROUP, "sample")
        line = mine.row((mine.height - 1) // 2, named=True)
        found.append(
            Typical(
                keys={name: str(line[name]) for name in (*GROUP, "d_t", "tokens") if line[name]},
                problem=line["problem"],
                gate_request=line["request_base"],
                request=line["request"],
                gate_tokens=_parts(line, "_base"),
                tokens=_parts(line, ""),
                gate_seconds=line["seconds_base"],
                seconds=line["seconds"],
                outcome=line["outcome"],
                ratio=line["tokens_low"],
                again_tokens=None if line["total_tokens_again"] is None else _parts(line, "_again"),
                again_seconds=line["seconds_again"],
            )
        )
    return found


def _parts(line: Mapping[str, Any], whose: str) -> tuple[int, int]:
    """Tokens of reasoning and of answer."""
    return (
        int(line[f"reasoning_tokens{whose}"] or 0),
        int(line[f"answer_tokens{whose}"] or 0),
    )


def _medians(cut: costs.Cut) -> Iterator[Entry]:
    keys, columns = cut
    for quantity in costs.QUANTITIES:
        low, high = costs.bounds(columns, quantity)
        known = np.isfinite(low)
        if not known.any():
            continue
        left_out = costs.missing(columns["outcome"][~known])
        left_out["truncated"] += int((high[known] > low[known]).sum())
        estimate = costs.median(low[known], high[known], columns["cluster"][known])
        yield entry("effort", quantity, keys, estimate, +left_out)


def _compared(cut: costs.Cut, *, floor: bool) -> Iterator[Entry]:
    """One cell's ratios, their shares below 1 and .4, and how far these are from the floor's."""
    keys, columns = cut
    clusters = columns["cluster"]
    for name in costs.RATIOS.values():
        low, high = costs.ratio(columns, name)
        known = np.isfinite(low)
        if not known.any():
            continue
        lost = costs.unpaired(columns, ~known, keys["to"])
        median = costs.median(low[known], high[known], clusters[known])
        censored = Counter(truncated=int((high[known] > low[known]).sum()))
        yield entry("effort_ratios", f"{name}_ratio", keys, median, +(lost + censored))
        for share, threshold in costs.SHARES.items() if name in costs.SHARED else ():
            metric = f"{name}_{share}"
            hit = costs.share(columns, name, threshold)
            settled = np.isfinite(hit)
            unsettled = Counter(truncated=int((known & ~settled).sum()))
            rate = stats.rate(hit[settled], clusters[settled], _weights(columns, settled))
            yield entry("effort_ratios", metric, keys, rate, +(lost + unsettled))
            if floor:
                first, second, of = _by_problem(columns, hit, columns[metric])
                net = stats.paired(first, second, of, span=1.0)
                yield entry("effort_ratios", f"net_{metric}", keys, net, +(lost + unsettled))


def _subtracted(cut: costs.Cut) -> Iterator[Entry]:
    """One cell's differences; where both replies were cut nothing is known of one."""
    keys, columns = cut
    for quantity in costs.QUANTITIES:
        low, high = costs.more(columns, quantity)
        known = ~np.isnan(low)
        if not known.any():
            continue
        lost = costs.unpaired(columns, ~known, keys["to"])
        lost["truncated"] += int((high[known] > low[known]).sum())
        median = costs.median(low[known], high[known], columns["cluster"][known])
        yield entry("effort_net", f"net_{quantity}", keys, median, +lost)


def _weights(columns: costs.Columns, kept: Any) -> Any:
    """Each problem 1, shared equally by its D_T, and by the trials of each."""
    line = pl.DataFrame({name: columns[name][kept] for name in ("problem", "degree")})
    of = ["problem", "degree"]
    weight = 1 / (pl.len().over(of) * pl.col("degree").n_unique().over("problem"))
    found = line.select(weight.alias("weight"))["weight"].to_numpy()
    return None if not found.size or np.ptp(found) == 0 else found


def _by_problem(
    columns: costs.Columns, hit: costs.Values, floor: costs.Values
) -> tuple[costs.Values, costs.Values, Any]:
    """A share of each problem over samples and D_T, the floor's, and the cluster."""
    names = ["problem", "cluster", "degree"]
    line = pl.DataFrame({name: columns[name] for name in names} | {"hit": hit, "floor": floor},
                        nan_to_null=True).drop_nulls(["hit", "floor"])  # fmt: skip
    for by in (["cluster", "problem", "degree"], ["cluster", "problem"]):
        line = line.group_by(by, maintain_order=True).agg(pl.col("hit", "floor").mean())
    return line["hit"].to_numpy(), line["floor"].to_numpy(), line["cluster"].to_numpy()
