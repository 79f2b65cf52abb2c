"""One run against another: differences of study B with intervals and tests, paired by item.

    500 items read in both runs, 300 accepted in the first and 250 in the second
    -> Entry(table="compare", metric="change_pass", keys={"condition": "answer", ...}, value=-0.1)

Without the chain, with it, and the chain's effect: what the chain changes in
the second run minus what it changes in the first, on the items that are read
both times in both. Beside them what chance changes (`FLOOR`), and what is asked
of a question alone. Knows nothing about files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from misled import batches, judging
from misled.batches import Difference
from misled.judge_plans import ONCE, SHOWN
from misled.judged import AGAIN, BENCH, PAIR, SELF, SPOT
from misled.pairing_judge import CELL, SAME
from misled.records import Entry
from misled.trials import Keys, pieces
from misled.versus import CHANGE, Labels, alike, compared, main, shared

__all__ = ["EFFECTS", "FLOOR", "METRICS", "entries", "primary"]

Bools: TypeAlias = npt.NDArray[np.bool_]
_Scores: TypeAlias = Callable[[Sequence[Bools], Bools], Mapping[str, Any]]

EFFECTS = {pair: f"{pair[1]} minus {pair[0]}" for pair in (PAIR, SELF)}
FLOOR = "asked twice"
METRICS = ("tpr", "fpr", "youden", "alignment", "pass", "overconfidence", "conservativeness")

# What the share of accepted ones is called where there is nothing right or wrong to judge.
_ACCEPTED = {"null": "pass", "closed_book": "accuracy"}
_SHARES = ("changed", "floor")  # which are 1 apart at most; what is a difference itself, 2
_CROSSED = tuple(f"{answer} answer, {chain} chain"
                 for chain in ("right", "wrong") for answer in ("right", "wrong"))  # fmt: skip
_NEGLIGIBLE = 1e-9


class _Bench(NamedTuple):
    """The items of a bench that count, aligned: verdicts of both runs by condition."""

    keys: Keys  # with `condition` and its edit where it has but one
    said: Mapping[str, tuple[Bools, Bools]]  # the reference's, then the other's
    right: Bools
    cluster: npt.NDArray[Any]
    same: Mapping[str, Bools]
    out: Mapping[str, int]


def entries(frame: pl.DataFrame, labels: Labels) -> list[Entry]:
    """Every difference of the lines of `pairing_judge.aligned`."""
    return [line for bench in _benches(frame) for line in _bench(bench, labels)]


def _benches(frame: pl.DataFrame) -> Iterator[_Bench]:
    """The benches in the order of the reference: conditions that share their items together."""
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
        plain = {spot[0]: c for spot, c in spots.items() if not any(spot[1:])}
        for pair in (PAIR, SELF):
            if there := {name: plain[name] for name in pair if name in plain}:
                yield _of(keys, there)
        if plain.keys() >= {*PAIR, *AGAIN}:
            yield _of(keys | {"condition": FLOOR}, {name: plain[name] for name in (*PAIR, *AGAIN)})
        crossed = {spot[1]: c for spot, c in spots.items() if spot[0] == "crossed"}
        if crossed.keys() >= {*_CROSSED}:
            yield _of(keys | {"condition": "crossed"}, {name: crossed[name] for name in _CROSSED})
        for spot, c in spots.items():
            if spot[0] in {"controlled", *_ACCEPTED}:
                edit = {name: value for name, value in zip(SPOT, spot[1:], strict=True) if value}
                yield _of(keys | {"condition": spot[0]} | edit, {spot[0]: c})


def _of(keys: Keys, conditions: Mapping[str, Mapping[str, Any]]) -> _Bench:
    """The items that count under all of `conditions`; the others by their first reason."""
    cells = list(conditions.values())
    first = cells[0]
    if any(not np.array_equal(c["problem"], first["problem"]) for c in cells):
        raise ValueError("conditions of one bench hold other items")
    why = first["why"]
    for c in cells[1:]:
        why = np.where(why == "", c["why"], why)
    known = why == ""
    shared = SAME[1:] if keys.get("condition") in ONCE else SAME
    every = [{name: c[f"same_{name}"][known] for name in shared} for c in cells]
    return _Bench(
        keys=keys,
        said={name: (c["accept"][known].astype(bool), c["accept_other"][known].astype(bool))
              for name, c in conditions.items()},
        right=first["label"][known].astype(bool),
        cluster=first["cluster"][known],
        same={name: np.logical_and.reduce([each[name] for each in every]) for name in shared},
        out=Counter(why[~known].tolist()),
    )  # fmt: skip


_Made: TypeAlias = Mapping[str, tuple[Any, Any, Difference]]


def _bench(bench: _Bench, labels: Labels) -> Iterator[Entry]:
    """What is told of a bench: of each condition, of several together, or of both."""
    only = bench.keys.get("condition", "")
    if only == FLOOR:
        yield from _lines(only, _paired(bench, _twice), bench, labels)
    elif only == "crossed":
        yield from _lines(only, _paired(bench, _reliance), bench, labels)
    elif only in _ACCEPTED:
        made = {_ACCEPTED[only]: _condition(bench.said[only], bench)["pass"]}
        yield from _lines(only, made, bench, labels)
    else:
        yield from _conditions(bench, labels)


def _conditions(bench: _Bench, labels: Labels) -> Iterator[Entry]:
    """Each condition, then where there are two of them the effect of the second."""
    every = {name: _condition(said, bench) for name, said in bench.said.items()}
    for condition, made in every.items():
        yield from _lines(condition, made, bench, labels)
    if len(every) > 1:
        one, two = every
        effect = _with_youden(_paired(bench, _second_minus_first))
        _check(*(_values(made) for made in (effect, every[one], every[two])))
        yield from _lines(EFFECTS[one, two], effect, bench, labels)


def _lines(condition: str, made: _Made, bench: _Bench, labels: Labels) -> Iterator[Entry]:
    keys = bench.keys | {"condition": condition} | shared(bench.same)
    for name, (other, reference, found) in made.items():
        line = (other, reference, alike(found, bench.same["reply"][_items(name, bench.right)]))
        yield from compared(name, keys, line, bench.out, labels)


def _items(metric: str, right: Bools) -> Bools:
    """Of which items a metric is the mean."""
    return {"tpr": right, "fpr": ~right}.get(metric, np.ones_like(right))


def _condition(said: tuple[Bools, Bools], bench: _Bench) -> _Made:
    """The metrics of B.4 under one condition; p are McNemar's mid-p where items do not cluster."""
    right, cluster = bench.right, bench.cluster
    found = judging.changes(*said, right, cluster)
    parts = [_parts(side, right) for side in said]
    made = {}
    for name in parts[0]:
        if CHANGE + name in found:
            test = Difference(found[CHANGE + name].estimate, found[CHANGE + name].p)
        else:
            (test,) = batches.paired(parts[1][name], parts[0][name], cluster, span=1.0)
            like = found[CHANGE + {"overconfidence": "fpr", "conservativeness": "tpr"}[name]]
            # Of wrong answers alone, and of right ones alone: the same flips, the same test.
            if like.exact is not None and test.p is not None:
                test = test._replace(p=like.p)
        made[name] = parts[1][name], parts[0][name], test
    return _with_youden(made)


def _paired(bench: _Bench, scores: _Scores) -> _Made:
    """What `scores` gives of all verdicts on an item, in one run and in the other."""
    parts = [scores([said[at] for said in bench.said.values()], bench.right) for at in (0, 1)]
    made = {}
    for name, reference in parts[0].items():
        (found,) = batches.paired(
            parts[1][name], reference, bench.cluster[_items(name, bench.right)],
            span=1.0 if name in _SHARES else 2.0, step=1.0,
        )  # fmt: skip
        made[name] = parts[1][name], reference, found
    return made


def _parts(said: Bools, right: Bools) -> dict[str, Any]:
    """What each metric is the mean of; TPR and FPR of the right and of the wrong items alone."""
    return {
        "tpr": 1.0 * said[right],
        "fpr": 1.0 * said[~right],
        "alignment": 1.0 * (said == right),
        "pass": 1.0 * said,
        "overconfidence": 1.0 * (said & ~right),
        "conservativeness": 1.0 * (~said & right),
    }


def _second_minus_first(said: Sequence[Bools], right: Bools) -> dict[str, Any]:
    """What the second condition adds to the first."""
    one, two = (_parts(each, right) for each in said)
    return {name: two[name] - one[name] for name in two}


def _twice(said: Sequence[Bools], _: Bools) -> dict[str, Any]:
    """Verdicts that change with the chain, with chance alone, and beyond it (B.5)."""
    without, shown, without_again, shown_again = said
    changed = 1.0 * (without != shown)
    floor = ((without != without_again) + 1.0 * (shown != shown_again)) / 2
    return {"changed": changed, "floor": floor, "net_changed": changed - floor}


def _reliance(said: Sequence[Bools], _: Bools) -> dict[str, Any]:
    """Half of what a right chain adds to either answer, and a right answer to either chain."""
    (right_right, wrong_right, right_wrong, wrong_wrong) = (1.0 * each for each in said)
    return {
        "reliance": (right_right + wrong_right - right_wrong - wrong_wrong) / 2,
        "answer_reliance": (right_right + right_wrong - wrong_right - wrong_wrong) / 2,
    }


def _with_youden(made: _Made) -> _Made:
    """With J, which is TPR - FPR, in the order of `METRICS`."""
    (*hits, tpr), (*alarms, fpr) = made["tpr"], made["fpr"]
    found = Difference(batches.independent(tpr.estimate, fpr.estimate), None)
    both = tpr.estimate.n and fpr.estimate.n
    sides = [[hit.mean() - alarm.mean()] if both else []
             for hit, alarm in zip(hits, alarms, strict=True)]  # fmt: skip
    youden = sides[0], sides[1], found
    return {name: made.get(name, youden) for name in METRICS}


def _values(made: _Made) -> dict[str, float]:
    return {name: found.estimate.value or 0 for name, (_, _, found) in made.items()}


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
