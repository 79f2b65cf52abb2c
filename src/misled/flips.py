"""What the chain changes in a judge's verdicts: flips, their floor, and whether to show it.

    500 items, 170 of them wrong and accepted only with the chain
    -> Entry(table="transitions", metric="misled", value=0.34, ...), beside "misled_floor"

A flip is a verdict that the chain turned; the floor is how often the same
question, asked twice, turns by itself (protocol B.5). Knows nothing about
where verdicts come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from msgspec.structs import replace

from misled import batches, judging
from misled.intervals import Array
from misled.judged import AGAIN, BENCH, COLUMNS, PAIR, Columns, Docket, benches, left_out, read
from misled.records import Entry, Estimate
from misled.rulings import NONE, difference, entry, shifts
from misled.trials import Keys

__all__ = [
    "FLIPS",
    "MARGIN",
    "breakdowns",
    "changes",
    "floor",
    "show",
    "transitions",
    "turned",
    "verdicts",
]

# What became of an item: whether it is right, and the two verdicts.
FLIPS = {
    "misled": (0, 0, 1),
    "corrected": (0, 1, 0),
    "reassured": (1, 0, 1),
    "overcritical": (1, 1, 0),
}
KEPT = {
    "wrong_accepted": (0, 1, 1),
    "wrong_rejected": (0, 0, 0),
    "right_accepted": (1, 1, 1),
    "right_rejected": (1, 0, 0),
}
MARGIN = 0.03  # a change of balanced accuracy that makes no difference (B.7)
THIRDS = ("shortest third", "middle third", "longest third")

_NO_FLOOR = Estimate(None, None, None, 0, 0, f"none: {' and '.join(AGAIN)} were not asked")
_CELLS = np.array([*FLIPS.values(), *KEPT.values()])
_NAMES = (*FLIPS, *(f"unchanged/{name}" for name in KEPT), "unchanged")


def transitions(docket: Docket) -> Iterator[Entry]:
    """Per bench: the eight cells of Figure 2 [B] as shares of N, each with its floor."""
    for keys, c, lost in _pairs(docket):
        yield from _cells("transitions", keys, c, left_out(c, PAIR, lost))


def changes(docket: Docket) -> Iterator[Entry]:
    """Per bench: pass, alignment, TPR and FPR with the chain minus without, with their tests."""
    for keys, c, lost in _pairs(docket):
        out = left_out(c, PAIR, lost)
        yield from shifts("changes", keys, *verdicts(c), out)


def _pairs(docket: Docket) -> Iterator[tuple[Keys, Columns, Counter[str]]]:
    """The benches where both conditions were asked."""
    for piece in benches(docket.plain, BENCH, COLUMNS):
        if all((piece.columns[name] >= 0).any() for name in PAIR):
            lost = docket.lost.get((piece.keys["set"], piece.keys["generator"]), Counter())
            yield piece.keys, piece.columns, lost


def verdicts(c: Columns) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Where both are read: what was said without and with the chain; what is right, clusters."""
    known = read(c, *PAIR)
    said = tuple(c[name][known] == 1 for name in PAIR)
    return (said[0], said[1]), (c["label"][known] == 1, c["cluster"][known])


def _cells(table: str, keys: Keys, c: Columns, out: dict[str, int]) -> Iterator[Entry]:
    known = read(c, *PAIR)
    shares = batches.rates(_hits(c, known, *PAIR), c["cluster"][known])
    total = sum(share.value or 0.0 for share in shares[:-1])
    if known.any() and abs(total - 1) > 1e-9:
        raise ArithmeticError(f"the cells of {keys} sum to {total}, not to 1")
    floors = [_NO_FLOOR] * len(_NAMES)
    both = read(c, *PAIR, *AGAIN)
    if both.any():
        floors = batches.rates(_floor(c, both), c["cluster"][both])
    for name, share, least in zip(_NAMES, shares, floors, strict=True):
        yield entry(table, name, keys, share, out)
        yield entry(table, f"{name}_floor", keys, least)


def _hits(c: Columns, known: Any, first: str, second: str) -> Array:
    """Whether an item is in each cell, then whether its verdict is unchanged."""
    item = np.stack([c[name][known] for name in ("label", first, second)])
    hits = (item[None] == _CELLS[:, :, None]).all(1)
    return np.vstack([hits, hits[len(FLIPS) :].any(0)]).astype(np.float64)


def _floor(c: Columns, known: Any) -> Array:
    """The same of each condition asked twice: the mean of both."""
    twice = [_hits(c, known, *both) for both in zip(PAIR, AGAIN, strict=True)]
    return np.asarray((twice[0] + twice[1]) / 2)


def floor(docket: Docket) -> Iterator[Entry]:
    """Per bench and for right and wrong answers: changes beyond those of asking twice (B.5).

    On items read in all four conditions: P(A != B), P(A != A'), P(B != B'),
    the genuine change, and each flip net of its floor.
    """
    for keys, c, lost in _pairs(docket):
        known = read(c, *PAIR, *AGAIN)
        if not known.any():
            continue
        out = left_out(c, (*PAIR, *AGAIN), lost)
        for y, of in (("all", known), ("right", known & (c["label"] == 1)),
                      ("wrong", known & (c["label"] == 0))):  # fmt: skip
            yield from _genuine(keys | {"answers": y}, c, of, out)
        hits, least = _hits(c, known, *PAIR), _floor(c, known)
        nets = batches.paired(hits, least, c["cluster"][known], span=1.0)
        for name, net in zip(FLIPS, nets, strict=False):
            yield difference("floor", f"net_{name}", keys | {"answers": "all"}, net, out)


def _genuine(keys: Keys, c: Columns, of: Any, out: dict[str, int]) -> Iterator[Entry]:
    a, b, a_again, b_again = (c[name][of] for name in (*PAIR, *AGAIN))
    cluster = c["cluster"][of]
    names = ("changed", *(f"changed_{name}" for name in AGAIN))
    rates = batches.rates(np.stack([a != b, a != a_again, b != b_again]), cluster)
    for name, rate in zip(names, rates, strict=True):
        yield entry("floor", name, keys, rate, out)
    genuine = judging.genuine_change((a, b), (a_again, b_again), cluster)
    yield difference("floor", "net_changed", keys, genuine, out)


def show(docket: Docket, margin: float = MARGIN) -> Iterator[Entry]:
    """Per bench: whether the chain helps this judge, and how many items would tell (B.7).

    `decision` is show, hide, no difference, cannot tell or refused.
    """
    for keys, c, lost in _pairs(docket):
        (without, shown), (right, cluster) = verdicts(c)
        gain = np.where(right, 1, -1) * (1 * shown - without)
        strata = _Strata(*(judging.stratum(gain[of], cluster[of]) for of in (right, ~right)))
        size = int(right.size), int(np.unique(cluster).size)
        out = left_out(c, PAIR, lost)
        word, change = _decided(strata, size, margin)
        named = keys | {"margin": f"{margin:g}", "decision": word}
        yield entry("show", "change_balanced_accuracy", named, change, out)
        (rate,) = batches.rates(right, cluster)
        yield entry("show", "accuracy", named, rate, out)
        for name, found in judging.changes(without, shown, right, cluster).items():
            if name != "change_pass":
                yield entry("show", name, named, found.estimate, out)
        yield entry("show", "needed", named, _needed(strata, size, margin), out)
        yield entry("show", "break_even", named, _break_even(strata, size), out)


class _Strata(NamedTuple):
    """The gains of right and of wrong answers."""

    right: judging.Stratum
    wrong: judging.Stratum

    @property
    def few(self) -> str:
        """`3 wrong answers` where these are too few to decide on, else nothing."""
        n, answers = min((float(of.n[0]), name) for name, of in self._asdict().items())
        if n >= judging.FEWEST_IN_STRATUM:
            return ""
        return f"{n:g} {answers} answer{'' if n == 1 else 's'}"

    @property
    def whole(self) -> bool:
        """Whether there are answers of both kinds."""
        return bool(self.right.n[0] and self.wrong.n[0])


def _decided(strata: _Strata, size: tuple[int, int], margin: float) -> tuple[str, Estimate]:
    """What is decided, and the change of balanced accuracy, with an interval where something is."""
    if not strata.whole:
        return "refused", Estimate(None, None, None, *size, f"none: {strata.few}")
    value, low, high = (float(end[0]) for end in judging.balanced_change(*strata))
    if strata.few:
        return "refused", Estimate(value, None, None, *size, f"none: {strata.few}")
    word = judging.decision(low, high, margin)
    return word, Estimate(value, low, high, *size, f"z with two more items in each stratum; {word}")


def _needed(strata: _Strata, size: tuple[int, int], margin: float) -> Estimate:
    """How many items settle a change of the margin."""
    if not strata.whole:
        return Estimate(None, None, None, *size, f"none: {strata.few}")
    items = float(judging.needed(*strata, margin)[0]) or None  # 0: nothing to plan from
    how = "items for 80 % power at the margin" if items else "no verdict changed"
    return Estimate(items, None, None, *size, f"none: {how}")


def _break_even(strata: _Strata, size: tuple[int, int]) -> Estimate:
    """The accuracy at which gains and losses cancel."""
    if not strata.whole:
        return Estimate(None, None, None, *size, f"none: {strata.few}")
    value, low, high = (float(end[0]) for end in judging.break_even(*strata))
    if np.isnan(value):
        return Estimate(None, None, None, *size, "none: TPR and FPR do not change alike")
    if strata.few:
        return Estimate(value, None, None, *size, "none: under 10 right or wrong answers")
    return Estimate(value, low, high, *size, "Fieller")


def breakdowns(docket: Docket) -> Iterator[Entry]:
    """The changes by whether the judge can answer by itself, and by length of the chain (B.7)."""
    closed = docket.closed.filter(pl.col("label") >= 0).unique(
        ["set", "judge", "problem"], keep="first", maintain_order=True
    )
    known = closed.select("set", "judge", "problem", pl.col("label").alias("knows"))
    plain = docket.plain.join(known, on=["set", "judge", "problem"], how="left")
    plain = plain.with_columns(pl.col("knows").fill_null(-1))
    for piece in benches(plain, BENCH, (*COLUMNS, "knows", "length")):
        c = piece.columns
        if not all((c[name] >= 0).any() for name in PAIR):
            continue
        for name, parts in (("closed_book", _by_knowledge), ("chain", _by_length)):
            for value, of in parts(c):
                if not of.any():
                    continue
                mine = {column: values[of] for column, values in c.items()}
                keys = piece.keys | {name: value}
                yield from shifts("breakdowns", keys, *verdicts(mine))
                yield from turned("breakdowns", keys, mine, dict(NONE))


def turned(table: str, keys: Keys, c: Columns, out: dict[str, int]) -> Iterator[Entry]:
    """The four changes of mind as `flips/...`, each with its floor."""
    for e in _cells(table, keys, c, out):
        if e.metric.removesuffix("_floor") in FLIPS:
            yield replace(e, metric=f"flips/{e.metric}")


_Parts = Iterator[tuple[str, Any]]


def _by_knowledge(c: Columns) -> _Parts:
    if (c["knows"] >= 0).any():
        yield "right", c["knows"] == 1
        yield "wrong", c["knows"] == 0


def _by_length(c: Columns) -> _Parts:
    """Thirds of the items, by code points of their chain."""
    length = c["length"].astype(np.float64)
    if np.isfinite(length).any():
        one, two = np.nanquantile(length, (1 / 3, 2 / 3))
        yield THIRDS[0], length <= one
        yield THIRDS[1], (length > one) & (length <= two)
        yield THIRDS[2], length > two
