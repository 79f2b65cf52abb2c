"""Weak judges and strong ones, each kind together: what the chain does to either.

    five judges that the plan calls weak, 174 wrong answers
    -> Entry(table="strengths", metric="fpr", keys={"strength": "weak", "judges": "5", ...}, n=870)

A trial is one judge's pair of verdicts, its cluster the question, so that judges who
share their items do not pass for more items. The strength is what the plan declares;
a judge of none has no part. Does not know what makes a judge strong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from misled import batches, flips
from misled.judged import COLUMNS, ITEM, PAIR, Columns, Docket, benches, left_out
from misled.records import Entry
from misled.rulings import difference, scores, shifts
from misled.trials import Keys

__all__ = ["changes", "strengths"]

_SETTING = ("set", "generator", "shown")
_KINDS = ("weak", "strong")


def strengths(docket: Docket) -> Iterator[Entry]:
    """Per strength and condition: every metric of B.4, of what was read in both conditions."""
    for keys, c, out in _kinds(docket):
        said, items = flips.verdicts(c)
        for condition, mine in zip(PAIR, said, strict=True):
            yield from scores("strengths", keys | {"condition": condition}, (mine, *items), out)


def changes(docket: Docket) -> Iterator[Entry]:
    """Per strength: what the chain changes and turns; then the changes of weak minus strong."""
    for keys, c, out in _kinds(docket):
        yield from shifts("strength_changes", keys, *flips.verdicts(c), out)
        yield from flips.turned("strength_changes", keys, c, out)
    yield from _contrasts(docket)


def _kinds(docket: Docket) -> Iterator[tuple[Keys, Columns, dict[str, int]]]:
    """The pairs of verdicts of each kind of judges, where both conditions were asked."""
    declared = docket.plain.filter(pl.col("strength") != "")
    for piece in benches(declared, (*_SETTING, "strength"), (*COLUMNS, "judge")):
        c, keys = piece.columns, piece.keys
        if not all((c[name] >= 0).any() for name in PAIR):
            continue
        judges = len({*c["judge"].tolist()})
        lost = docket.lost.get((keys["set"], keys["generator"]), Counter())
        each = Counter({why: count * judges for why, count in lost.items()})
        yield keys | {"judges": str(judges)}, c, left_out(c, PAIR, each)


def _contrasts(docket: Docket) -> Iterator[Entry]:
    """On items that judges of both kinds read: the mean change of the weak minus the strong's."""
    known = docket.plain.filter(
        (pl.col("strength") != "") & (pl.col("label") >= 0)
        & pl.all_horizontal(pl.col(*PAIR).is_in([0, 1]))
    )  # fmt: skip
    on = [*_SETTING, *ITEM, "label"]
    gain = (pl.col(PAIR[1]).cast(pl.Float64) - pl.col(PAIR[0])).mean()
    each = [
        known.filter(strength=kind).group_by(on).agg(gain.alias(kind), pl.col("judge").unique())
        for kind in _KINDS
    ]
    both = each[0].join(each[1], on=on, suffix="s")
    for piece in benches(both, _SETTING, ("cluster", "label", *_KINDS, "judge", "judges")):
        c = piece.columns
        sizes = [len({name for names in c[part] for name in names}) for part in ("judge", "judges")]
        keys = piece.keys | {"strength": _KINDS[0], "against": _KINDS[1]}
        keys["judges"] = f"{sizes[0]} and {sizes[1]}"
        right = c["label"] == 1
        for name, of, sign in _cases(right):
            weak, strong = (sign[of] * c[kind][of] for kind in _KINDS)
            (found,) = batches.paired(weak, strong, c["cluster"][of], span=2.0)
            yield difference("strength_changes", f"change_{name}", keys, found)


def _cases(right: Any) -> Iterator[tuple[str, Any, Any]]:
    """A rate, the items that it is of, and which way accepting counts."""
    every, accepted = np.ones(right.shape, bool), np.ones(right.shape)
    yield "pass", every, accepted
    yield "alignment", every, np.where(right, 1.0, -1.0)
    yield "tpr", right, accepted
    yield "fpr", ~right, accepted
