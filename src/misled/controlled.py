"""Chains with statements put in: what they do to a judge, by place and by how many are false.

    four counterfactual statements at the end, 82 of 100 accepted; four true ones, 88
    -> Entry(table="controlled_changes", metric="change_pass", keys={"k": "4", ...}, value=-0.06)

k = 0 against the plain chain mixes irrelevance, length and position; k > 0
against k = 0 isolates factuality (protocol B.6). Knows nothing about how
chains are edited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from misled import batches, stats
from misled.judged import BENCH, ITEM, SHARES, SPOT, UNASKED, Docket, benches, left_out, read
from misled.records import Entry
from misled.rulings import difference, entry, mean_changes, scores, shifts
from misled.trials import Keys

__all__ = ["PLAIN", "controlled", "controlled_changes"]

PLAIN = "plain"
STATEMENTS = "statements"
POOLED = ("begin", "end")  # the places of the paper; the middle is ours


class Spot(NamedTuple):
    """What was done to a chain, as a key of `_Bench.columns`."""

    variant: str
    place: str = ""
    k: str = ""

    @property
    def keys(self) -> Keys:
        """As an `Entry` has them."""
        return {name: value for name, value in self._asdict().items() if value}


class _Bench(NamedTuple):
    keys: Keys
    columns: Mapping[Any, npt.NDArray[Any]]  # codes by spot, and the items' label and cluster
    spots: tuple[Spot, ...]
    shares: Mapping[tuple[str, Spot], npt.NDArray[np.float64]]  # what was put in, taken out


def controlled(docket: Docket) -> Iterator[Entry]:
    """Per bench and edit: every metric of B.4, and what was put in and taken out [B Table 9]."""
    for bench in _benches(docket):
        for spot in (Spot(PLAIN), *bench.spots):
            keys, c = bench.keys | spot.keys, bench.columns
            known = read(c, spot)
            said, right, cluster = c[spot][known] == 1, c["label"][known] == 1, c["cluster"][known]
            out = left_out(
                c, (spot,), docket.lost.get((bench.keys["set"], bench.keys["generator"]), Counter())
            )
            yield from scores("controlled", keys, (said, right, cluster), out)
            for name in SHARES:
                share = bench.shares.get((name, spot), np.zeros(0))
                there = np.isfinite(share)
                if share[there].any():
                    estimate = stats.median(share[there], c["cluster"][there])
                    yield entry("controlled", name, keys, estimate)


def controlled_changes(docket: Docket) -> Iterator[Entry]:
    """Per bench: each edit against the chain without it, slopes over k, and begin against end.

    Paired by item. Lines over both places of the paper say so in `place`.
    """
    for bench in _benches(docket):
        for spot in bench.spots:
            for base, name in _bases(spot, bench.spots):
                yield from _against(bench, spot, base, name)
        places = {spot.place for spot in bench.spots if spot.variant == STATEMENTS}
        pooled = [place for place in POOLED if place in places]
        for group in [[place] for place in sorted(places)] + [pooled] * (len(pooled) > 1):
            yield from _slopes(bench, group)
        if len(pooled) > 1:
            yield from _pooled(bench)


def _benches(docket: Docket) -> Iterator[_Bench]:
    """Each judge's items side by side; an item that a spot was not asked for is unasked there."""
    frame = docket.controlled.with_columns(pl.struct(BENCH).rle_id().alias("bench"))
    frame = frame.with_columns(pl.struct(ITEM).rank("dense").over("bench").alias("item") - 1)
    columns = ("item", "cluster", "label", "code", "reasoning", *SHARES)
    spots = frame.select(SPOT).unique().sort(SPOT).with_row_index("spot")
    order = [Spot(*spot) for spot in spots.select(SPOT).iter_rows()]
    frame = frame.join(spots, on=SPOT, maintain_order="left")
    for piece in benches(frame, BENCH, (*columns, "spot")):
        c = piece.columns
        item = c["item"].astype(np.int64)
        size = int(item.max()) + 1
        found: dict[Any, npt.NDArray[Any]] = {
            name: _filled(size, item, c[name], 0) for name in ("cluster", "label")
        }
        found[Spot(PLAIN)] = _filled(size, item, c["reasoning"], UNASKED)
        shares = {}
        there = np.unique(c["spot"]).tolist()
        for number in there:
            spot, lines = order[number], c["spot"] == number
            found[spot] = _filled(size, item[lines], c["code"][lines], UNASKED)
            for name in SHARES:
                shares[name, spot] = _filled(size, item[lines], c[name][lines], np.nan)
        yield _Bench(piece.keys, found, tuple(order[number] for number in there), shares)


def _filled(size: int, item: Any, values: Any, empty: float) -> npt.NDArray[Any]:
    column = np.full(size, empty, values.dtype)
    column[item] = values
    return column


def _bases(spot: Spot, there: Sequence[Spot]) -> Iterator[tuple[Spot, str]]:
    """What an edit is set against, and how that is called."""
    zero = Spot(STATEMENTS, spot.place, "0")
    reworded = Spot("true_edit", spot.place, spot.k)
    yield Spot(PLAIN), PLAIN
    if spot.k not in {"", "0"} and zero in there:
        yield zero, "k = 0"
    if spot.variant == STATEMENTS and reworded in there:
        yield reworded, "true_edit"


def _against(bench: _Bench, spot: Spot, base: Spot, name: str) -> Iterator[Entry]:
    c = bench.columns
    known = read(c, base, spot)
    pair = c[base][known] == 1, c[spot][known] == 1
    items = c["label"][known] == 1, c["cluster"][known]
    keys = bench.keys | spot.keys | {"against": name}
    yield from shifts("controlled_changes", keys, pair, items, left_out(c, (base, spot), Counter()))


def _slopes(bench: _Bench, places: Sequence[str]) -> Iterator[Entry]:
    """The change of accepting for one more false statement, within an item."""
    c = bench.columns
    spots = [s for s in bench.spots if s.variant == STATEMENTS and s.place in places]
    if len({spot.k for spot in spots}) < 2:
        return
    known = np.stack([read(c, spot) for spot in spots])
    said = np.stack([c[spot] == 1 for spot in spots])[known]
    k = np.stack([np.full(known.shape[1], float(spot.k)) for spot in spots])[known]
    item = np.broadcast_to(np.arange(known.shape[1]), known.shape)[known]
    right = c["label"][item] == 1
    keys = bench.keys | {"variant": STATEMENTS, "place": " and ".join(places), "k": _span(spots)}
    for name, of in (("pass", right | True), ("tpr", right), ("fpr", ~right)):
        cluster = c["cluster"][item][of]
        values = k[of], said[of].astype(np.float64), cluster
        found = batches.Difference(stats.slope(*values, span=1.0), stats.slope_p(*values, span=1.0))
        yield difference("controlled_changes", f"slope_{name}", keys, found)


def _pooled(bench: _Bench) -> Iterator[Entry]:
    """Over begin and end: k = 0 against plain; and over k: begin against end."""
    c = bench.columns
    mine = [s for s in bench.spots if s.variant == STATEMENTS and s.place in POOLED]
    zero = [spot for spot in mine if spot.k == "0"]
    if len(zero) == len(POOLED):
        known = read(c, Spot(PLAIN), *zero)
        pair = 1.0 * (c[Spot(PLAIN)][known] == 1), _mean(c, zero, known)
        keys = bench.keys | {"variant": STATEMENTS, "place": " and ".join(POOLED), "k": "0"}
        yield from mean_changes(
            "controlled_changes", keys | {"against": PLAIN}, pair, _items(c, known)
        )
    ks = sorted(
        {s.k for s in mine if all(Spot(STATEMENTS, p, s.k) in mine for p in POOLED)}, key=int
    )
    begin, end = ([Spot(STATEMENTS, place, k) for k in ks] for place in POOLED)
    if ks:
        known = read(c, *begin, *end)
        keys = bench.keys | {"variant": STATEMENTS, "place": "begin", "k": _span(begin)}
        pair = _mean(c, end, known), _mean(c, begin, known)
        yield from mean_changes(
            "controlled_changes", keys | {"against": "end"}, pair, _items(c, known)
        )


def _mean(c: Mapping[Any, Any], spots: Sequence[Spot], known: Any) -> Any:
    return np.stack([c[spot][known] == 1 for spot in spots]).mean(0)


def _items(c: Mapping[Any, Any], known: Any) -> tuple[Any, Any]:
    return c["label"][known] == 1, c["cluster"][known]


def _span(spots: Sequence[Spot]) -> str:
    ks = sorted({int(spot.k) for spot in spots})
    return str(ks[0]) if len(ks) == 1 else f"{ks[0]}-{ks[-1]}"
