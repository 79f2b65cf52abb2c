"""One run against another: differences of study A with intervals and tests, paired by problem.

    100 problems that both runs probed, adopted 62 times in the first and 41 times in the second
    -> Entry(table="compare", metric="change_adopted", keys={"run": "b", "against": "a", ...},
             value=-0.21, p=0.002, left_out={"gate_wrong in other": 9}, ...)

Beside each difference stand the two values that it is of, on the same problems.
`left_out` counts pairs of a problem and a D_T. Knows nothing about files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec.structs import asdict, replace

from misled import batches, stats
from misled.batches import Difference
from misled.families import MAIN
from misled.lines import SPAN, has_r
from misled.pairing import GROUP_KEYS, NETS, SAME
from misled.prompts import METHODS
from misled.records import Entry, Estimate
from misled.trials import Keys, pieces

__all__ = [
    "ALIKE",
    "CHANGE",
    "TABLE",
    "Labels",
    "adjusted",
    "alike",
    "compared",
    "entries",
    "main",
    "primary",
    "shared",
]

TABLE = "compare"
ALIKE = "none: the same replies in both runs"
CHANGE = "change_"

_OF_PAIRS = "none: of the pairs alone"


class Labels(NamedTuple):
    """What the two runs are called, and their study."""

    run: str
    against: str
    study: str


class _Score(NamedTuple):
    """How far apart two scores can be, what one lacks that has none, and whose replies it is of."""

    span: float
    step: float
    lacks: str
    replies: tuple[str, ...] = ("same_reply",)


_BOTH = ("same_reply", "same_clean")
SCORED = {
    "net_adoption": _Score(2 * SPAN["adopted"], SPAN["adopted"], "no clean", _BOTH),
    "adopted": _Score(SPAN["adopted"], SPAN["adopted"], "no answer"),
    "recovered": _Score(SPAN["recovered"], SPAN["recovered"], "no answer"),
    "confused": _Score(SPAN["adopted"], SPAN["adopted"], "no answer"),
    "stopped": _Score(SPAN["adopted"], SPAN["adopted"], "no answer"),
    "r_cpt": _Score(SPAN["r_cpt"], SPAN["r_cpt"], "no R"),
    "net_r": _Score(2 * SPAN["r_cpt"], SPAN["r_cpt"], "no R", _BOTH),
}


def entries(frame: pl.DataFrame, labels: Labels) -> list[Entry]:
    """Every difference of the lines of `pairing.aligned`, over all D_T and for each."""
    columns = ["d_t", "problem", "cluster", "why", "same_clean", "controlled",
               *(f"same_{name}" for name in SAME),
               *(f"{name}{end}" for name in SCORED for end in ("", "_other"))]  # fmt: skip
    frame = frame.with_columns(pl.col("cluster").rank("dense"))
    groups = [*GROUP_KEYS[:2], "feed", *GROUP_KEYS[2:]]
    found: list[Entry] = []
    for piece in pieces(_by_feed(frame, groups), groups, columns):
        found += _group(piece.keys, piece.columns, labels)
    return found


def _by_feed(frame: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """With what was never probed, and so has no feed, among the lines of every feed."""
    known = frame.filter(pl.col("feed") != "")
    feeds = known.select(groups).unique(maintain_order=True)
    rest = frame.filter(pl.col("feed") == "").drop("feed")
    rest = rest.join(feeds, on=[name for name in groups if name != "feed"])
    both = pl.concat([known, rest.select(known.columns)])
    return both.sort(pl.col("order").min().over(groups), *groups, "order", "problem")


def _group(keys: Keys, c: Mapping[str, Any], labels: Labels) -> Iterator[Entry]:
    """A group over all of its D_T and, where it has several, each of them."""
    degrees = list(dict.fromkeys(c["d_t"].tolist()))
    problem = np.unique(c["problem"].astype(str), return_inverse=True)[1]
    every = np.ones(problem.shape, bool)
    cuts = [(spelled(degrees), every)]
    if len(degrees) > 1:
        cuts += [(degree, c["d_t"] == degree) for degree in degrees]
    for degree, of in cuts:
        mine = {name: values[of] for name, values in c.items()} | {"at": problem[of]}
        named = keys | ({"d_t": degree} if degree else {})
        for name, score in SCORED.items():
            of_r, of_clean = name in {"r_cpt", "net_r"}, name in NETS
            if (has_r(keys) or not of_r) and (bool(c["controlled"].all()) or not of_clean):
                yield from _lines(name, score, named, mine, labels)


def _lines(
    name: str, score: _Score, keys: Keys, c: Mapping[str, Any], labels: Labels
) -> Iterator[Entry]:
    """One score in both runs, and its difference, on the problems that have it in both."""
    one, two = c[name].astype(float), c[f"{name}_other"].astype(float)
    has = np.isfinite(one), np.isfinite(two)
    lacking = np.select(
        [~has[0] & ~has[1], ~has[0], ~has[1]],
        [f"{score.lacks} in {where}" for where in ("both", "reference", "other")],
        "",
    )
    why = np.where(c["why"] == "", lacking, c["why"])
    known = why == ""
    at, cluster = _by_problem(c["at"][known], c["cluster"][known])
    other, reference = (_means(at, side[known]) for side in (two, one))
    (found,) = batches.paired(other, reference, cluster, span=score.span, step=score.step)
    same = {each: c[f"same_{each}"][known] for each in SAME}
    replies = np.logical_and.reduce([c[each][known] for each in score.replies])
    made = (other, reference, alike(found, replies))
    yield from compared(name, keys | shared(same), made, Counter(why[~known].tolist()), labels)


def _by_problem(
    at: npt.NDArray[np.int64], cluster: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """The problems, numbered from 0, and the cluster of each."""
    _, first, number = np.unique(at, return_index=True, return_inverse=True)
    return number, cluster[first]


def _means(at: npt.NDArray[np.int64], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each problem over the D_T that both runs have of it."""
    return np.asarray(np.bincount(at, values) / np.bincount(at)) if at.size else values


def spelled(degrees: Sequence[str]) -> str:
    """1-3 for 1, 2, 3; else 1,3."""
    if len(degrees) > 1:
        numbers = sorted(map(int, degrees))
        if numbers == list(range(numbers[0], numbers[-1] + 1)):
            return f"{numbers[0]}-{numbers[-1]}"
        return ",".join(map(str, numbers))
    return "".join(degrees)


def shared(same: Mapping[str, npt.NDArray[np.bool_]]) -> Keys:
    """How many of the pairs are of the same tampered result, chain, reply ..."""
    return {f"same_{name}": f"{int(of.sum())} of {of.size}" for name, of in same.items()}


def alike(found: Difference, same: npt.NDArray[np.bool_]) -> Difference:
    """A difference of the very same replies is 0 as it stands, and has no interval."""
    if not same.size or not same.all():
        return found
    estimate = replace(found.estimate, low=None, high=None, method=ALIKE)
    return Difference(estimate, None)


def compared(
    name: str,
    keys: Keys,
    made: tuple[Any, Any, Difference],
    out: Mapping[str, int],
    labels: Labels,
) -> Iterator[Entry]:
    """The value of each run among the pairs, then the difference; `made` are those three.

    `run` is whose value it is; a difference is that of `run` minus that of `against`.
    """
    found = made[2].estimate
    for run, against, side in (
        (labels.run, labels.against, made[0]),
        (labels.against, labels.run, made[1]),
    ):
        value = float(np.mean(side)) if len(side) else None
        own = Estimate(value, None, None, found.n, found.clusters, _OF_PAIRS)
        yield _entry(name, keys | {"run": run, "against": against}, own, out, labels)
    named = keys | {"run": labels.run, "against": labels.against}
    yield replace(_entry(CHANGE + name, named, found, out, labels), p=made[2].p)


def _entry(
    metric: str, keys: Keys, estimate: Estimate, out: Mapping[str, int], labels: Labels
) -> Entry:
    return Entry(
        table=TABLE,
        study=labels.study,
        metric=metric,
        keys=keys,
        left_out={why: out[why] for why in sorted(out)},
        **asdict(estimate),
    )


def primary(found: Sequence[Entry]) -> list[Entry]:
    """What is tested: net adoption over all D_T, under the first method of the main setting.

    Adoption, where one of the runs has no clean control.
    """
    names = (f"{CHANGE}net_adoption", f"{CHANGE}adopted")
    there = next((name for name in names if any(e.metric == name for e in found)), "")
    mine = main([e for e in found if e.metric == there], MAIN | {"method": METHODS})
    first: dict[tuple[tuple[str, str], ...], Entry] = {}
    for e in mine:
        cell = [(k, v) for k, v in e.keys.items() if k != "d_t" and not k.startswith("same_")]
        first.setdefault(tuple(cell), e)
    return list(first.values())


def main(found: Sequence[Entry], axes: Mapping[str, Sequence[str]]) -> list[Entry]:
    """Those of the main setting: for each axis, the first of its values that there is."""
    kept = list(found)
    for axis, order in axes.items():
        values = {e.keys.get(axis, "") for e in kept}
        first = next((value for value in order if value in values), min(values, default=""))
        kept = [e for e in kept if e.keys.get(axis, "") == first]
    return kept


def adjusted(found: Sequence[Entry], tests: Sequence[Entry]) -> list[Entry]:
    """The entries, where they are one of the `tests` with Holm's p over all that have a p."""
    members = [id(e) for e in tests if e.p is not None]
    after = stats.holm([e.p for e in tests if e.p is not None]).tolist()
    by = dict(zip(members, after, strict=True))
    return [replace(e, p_adjusted=by[id(e)]) if id(e) in by else e for e in found]
