"""One run against another: differences of study B with intervals and tests, paired by item.

    500 items read in both runs, 300 accepted in the first and 250 in the second
    -> Entry(table="compare", metric="change_pass", keys={"condition": "answer", ...}, value=-0.1)

Without the chain, with it, and the chain's effect: what the chain changes in
the second run minus what it changes in the first, on the items that are read
both times in both. Knows nothing about files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from misled import batches, judging
from misled.batches import Difference
from misled.judge_plans import SHOWN
from misled.judged import BENCH, PAIR, SELF, SPOT
from misled.pairing_judge import CELL, SAME
from misled.records import Entry
from misled.trials import Keys, pieces
from misled.versus import CHANGE, Labels, alike, compared, main, shared

__all__ = ["EFFECTS", "METRICS", "entries", "primary"]

Bools = npt.NDArray[np.bool_]

EFFECTS = {pair: f"{pair[1]} minus {pair[0]}" for pair in (PAIR, SELF)}
METRICS = ("tpr", "fpr", "youden", "alignment", "pass", "overconfidence", "conservativeness")

_NEGLIGIBLE = 1e-9


class _Bench(NamedTuple):
    """The items of a bench that count, aligned: verdicts of both runs by condition."""

    keys: Keys
    edit: Keys  # what was done to the chain, of controlled ones
    said: Mapping[str, tuple[Bools, Bools]]  # the reference's, then the other's
    right: Bools
    cluster: npt.NDArray[Any]
    same: Mapping[str, Bools]
    out: Mapping[str, int]


def entries(frame: pl.DataFrame, labels: Labels) -> list[Entry]:
    """Every difference of the lines of `pairing_judge.aligned`."""
    return [line for bench in _benches(frame) for line in _bench(bench, labels)]


def _benches(frame: pl.DataFrame) -> Iterator[_Bench]:
    """The benches in the order of the reference: both conditions together where both are there."""
    frame = frame.with_columns(pl.col("cluster").rank("dense"))
    frame = frame.sort(pl.col("order").min().over(BENCH), *BENCH, "order", "problem")
    columns = ["problem", "cluster", "label", "accept", "accept_other", "why",
               *(f"same_{name}" for name in SAME)]  # fmt: skip
    cells: dict[tuple[str, ...], dict[tuple[str, ...], Any]] = {}
    for piece in pieces(frame, CELL, columns):
        bench = tuple(piece.keys.get(name, "") for name in BENCH)
        spot = tuple(piece.keys.get(name, "") for name in CELL[len(BENCH) :])
        cells.setdefault(bench, {})[spot] = piece.columns
    for bench, spots in cells.items():
        keys = {name: value for name, value in zip(BENCH, bench, strict=True) if value}
        for pair in (PAIR, SELF):
            there = [name for name in pair if (name, "", "", "") in spots]
            if there:
                yield _of(keys, {}, {name: spots[name, "", "", ""] for name in there})
        for spot, c in spots.items():
            if spot[0] == "controlled":
                edit = {name: value for name, value in zip(SPOT, spot[1:], strict=True) if value}
                yield _of(keys, edit, {spot[0]: c})


def _of(keys: Keys, edit: Keys, conditions: Mapping[str, Mapping[str, Any]]) -> _Bench:
    """The items that count under all of `conditions`; the others by their first reason."""
    cells = list(conditions.values())
    first = cells[0]
    if any(not np.array_equal(c["problem"], first["problem"]) for c in cells):
        raise ValueError("conditions of one bench hold other items")
    why = first["why"]
    for c in cells[1:]:
        why = np.where(why == "", c["why"], why)
    known = why == ""
    every = [{name: c[f"same_{name}"][known] for name in SAME} for c in cells]
    return _Bench(
        keys=keys,
        edit=edit,
        said={name: (c["accept"][known].astype(bool), c["accept_other"][known].astype(bool))
              for name, c in conditions.items()},
        right=first["label"][known].astype(bool),
        cluster=first["cluster"][known],
        same={name: np.logical_and.reduce([each[name] for each in every]) for name in SAME},
        out=Counter(why[~known].tolist()),
    )  # fmt: skip


def _bench(bench: _Bench, labels: Labels) -> Iterator[Entry]:
    """Each condition, then where there are two of them the effect of the second."""
    changes: dict[str, dict[str, float]] = {}
    for condition, said in bench.said.items():
        made = _condition(said, bench)
        changes[condition] = {
            name: found.estimate.value or 0 for name, (_, _, found) in made.items()
        }
        yield from _lines(condition, made, bench, labels)
    if len(bench.said) > 1:
        one, two = bench.said
        made = _effect(bench)
        _check({name: found.estimate.value or 0 for name, (_, _, found) in made.items()},
               *changes.values())  # fmt: skip
        yield from _lines(EFFECTS[one, two], made, bench, labels)


_Made = dict[str, tuple[Any, Any, Difference]]


def _lines(condition: str, made: _Made, bench: _Bench, labels: Labels) -> Iterator[Entry]:
    keys = bench.keys | {"condition": condition} | bench.edit | shared(bench.same)
    for name in METRICS:
        other, reference, found = made[name]
        of = {"tpr": bench.right, "fpr": ~bench.right}.get(name, np.ones_like(bench.right))
        line = (other, reference, alike(found, bench.same["reply"][of]))
        yield from compared(name, keys, line, bench.out, labels)


def _condition(said: tuple[Bools, Bools], bench: _Bench) -> _Made:
    """The metrics of B.4 under one condition; p are McNemar's mid-p where items do not cluster."""
    right, cluster = bench.right, bench.cluster
    found = judging.changes(*said, right, cluster)
    tests = {name.removeprefix(CHANGE): Difference(one.estimate, one.p)
             for name, one in found.items()}  # fmt: skip
    parts = [_parts(side, right) for side in said]
    for name, like in (("overconfidence", "fpr"), ("conservativeness", "tpr")):
        (own,) = batches.paired(parts[1][name], parts[0][name], cluster, span=1.0)
        # Of wrong answers alone, and of right ones alone: the same flips, the same test.
        exact = found[CHANGE + like].exact is not None
        tests[name] = own._replace(p=tests[like].p) if exact and own.p is not None else own
    return _with_youden(parts, tests)


def _effect(bench: _Bench) -> _Made:
    """What the second condition adds to the first, in one run and in the other."""
    first, second = bench.said.values()
    parts = []
    for before, after in zip(first, second, strict=True):
        one, two = _parts(before, bench.right), _parts(after, bench.right)
        parts.append({name: two[name] - one[name] for name in two})
    tests = {}
    for name in parts[0]:
        of = {"tpr": bench.right, "fpr": ~bench.right}.get(name, np.ones_like(bench.right))
        (tests[name],) = batches.paired(parts[1][name], parts[0][name], bench.cluster[of],
                                        span=2.0, step=1.0)  # fmt: skip
    return _with_youden(parts, tests)


def _parts(said: Bools, right: Bools) -> dict[str, Any]:
    """What each metric is the mean of; TPR and FPR of the right and of the wrong items alone."""
    return {
        "pass": 1.0 * said,
        "alignment": 1.0 * (said == right),
        "tpr": 1.0 * said[right],
        "fpr": 1.0 * said[~right],
        "overconfidence": 1.0 * (said & ~right),
        "conservativeness": 1.0 * (~said & right),
    }


def _with_youden(parts: Sequence[Mapping[str, Any]], tests: Mapping[str, Difference]) -> _Made:
    """Each metric of both runs, the other's first, with its difference; J is TPR - FPR."""
    made = {name: (parts[1][name], parts[0][name], found) for name, found in tests.items()}
    tpr, fpr = tests["tpr"].estimate, tests["fpr"].estimate
    sides = [[part["tpr"].mean() - part["fpr"].mean()] if tpr.n and fpr.n else [] for part in parts]
    made["youden"] = (sides[1], sides[0], Difference(batches.independent(tpr, fpr), None))
    return made


def _check(effect: Mapping[str, float], *changes: Mapping[str, float]) -> None:
    """The effect's difference is that with the chain minus that without it."""
    for name, value in effect.items():
        if abs(value - (changes[1][name] - changes[0][name])) > _NEGLIGIBLE:
            raise ArithmeticError(f"the effect on {name} is not the difference of its parts")


def primary(found: Sequence[Entry]) -> list[Entry]:
    """What is tested: the chain's effect on TPR and FPR, or where a bench has none its condition.

    Of answers shown in the first way that there is.
    """
    effect = EFFECTS[PAIR]
    tested = [e for e in found if e.metric in {f"{CHANGE}tpr", f"{CHANGE}fpr"}]
    mine = main([e for e in tested if e.keys["condition"] in (*PAIR, effect)], {"shown": SHOWN})
    whole = {_bench_of(e) for e in mine if e.keys["condition"] == effect}
    return [e for e in mine if e.keys["condition"] == effect or _bench_of(e) not in whole]


def _bench_of(e: Entry) -> tuple[str | None, ...]:
    return tuple(e.keys.get(name) for name in (*BENCH, "run"))
