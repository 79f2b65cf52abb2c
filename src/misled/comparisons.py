"""What compares cells with each other: structures, methods, operations, models, contrasts.

    100 problems under baseline and contradiction, adopted 62 and 18 times
    -> Entry(table="methods", metric="change_adopted", keys={"method": "contradiction", ...},
             value=-0.44, p=0.0000001, ...)

All is paired by problem and by D_T, and pooled over D_T afterwards; only
operations, which share no problem, are not. Every difference has its raw p:
these tables explore, and `families` tests what was fixed in advance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from msgspec.structs import replace

from misled import batches, cells, stats
from misled.intervals import Array
from misled.lines import NET, SPAN, entry, even, rates, tested
from misled.prompts import AS_TEXT
from misled.records import OUTCOMES, Entry, Estimate
from misled.trials import (
    GROUP,
    PROBLEM,
    SCORES,
    Piece,
    beside,
    means,
    pairs,
    pieces,
    pool,
    with_degrees,
    with_weights,
)

__all__ = ["attribution", "common", "contrasts", "methods", "operations", "structures"]

CONTRASTS = ("no_answer_line", "bare", "other_number", "foreign")
OPERATIONS = ("addition", "multiplication")

_LINE = (*GROUP, "d_t")
_RATES = SCORES[:2]
_CHANGES = {name: f"change_{name}" for name in (*SCORES, *NET.values())}


def structures(trials: pl.DataFrame, pooled: Iterable[Entry]) -> list[Entry]:
    """Per structure: net of clean while `intact`, when `edited`, and the `change` (A.5).

    {tampered, clean} x {intact, structure}, over the problems and D_T where all
    four are there. `structure_arms` has the outcomes of each arm.
    """
    frame = pool(beside(pairs(trials, "clean"), "structure", "intact"))
    found: list[Entry] = []
    for piece in pieces(frame, _LINE, _columns(frame)):
        for scores in (_RATES, SCORES[2:]):
            known = np.isfinite(piece.columns[scores[0]])
            arms = [_stack(piece, scores, end)[:, known] for end in _FOUR]
            span, cluster = SPAN[scores[0]], piece.columns["cluster"][known]
            halves = {
                "intact": batches.paired(arms[2], arms[3], cluster, span=span),
                "edited": batches.paired(arms[0], arms[1], cluster, span=span),
                "change": batches.paired(
                    arms[0] - arms[1], arms[2] - arms[3], cluster, span=2 * span, step=span
                ),
            }
            for half, differences in halves.items():
                keys = piece.keys | {"half": half}
                for score, one in zip(scores, differences, strict=True):
                    change = one if half == "change" else one._replace(p=None)
                    found.append(tested("structures", NET[score], keys, change))
    empty = _without_value(pooled, "structure", "intact")
    found += [_as(e, "structures", "net_adoption", {"half": "change"}) for e in empty]
    return [*found, *_arms_of_structures(trials)]


_FOUR = ("", "_control", "_base", "_control_base")


def _arms_of_structures(trials: pl.DataFrame) -> Iterator[Entry]:
    """Per structure and arm: outcomes over all D_T, how often it applies, median sizes."""
    if not set(trials["structure"].unique()) - {"", "intact"}:
        return
    mine = trials.filter((pl.col("structure") != "") & pl.col("arm").is_in(["tampered", "clean"]))
    mine = mine.sort("group", "arm", maintain_order=True)
    mine = with_weights(mine, pl.col("answered") & (pl.col("arm") == "tampered"), "tampered")
    mine = with_weights(mine, pl.col("answered") & (pl.col("arm") == "clean"), "clean")
    columns = ("problem", "cluster", "code", "kind", "tampered", "clean")
    sizes = ("length", "occurrences", "deleted")
    for cut in pieces(mine, (*GROUP, "degrees", "arm"), (*columns, *sizes)):
        arm, c = cut.keys["arm"], cut.columns
        keys = {"d_t" if name == "degrees" else name: value for name, value in cut.keys.items()}
        piece = cut._replace(keys=keys)
        first = np.unique(c["problem"], return_index=True)[1]
        if arm == "tampered":
            applies = c["code"][first] != OUTCOMES.index("not_applicable")
            yield entry("structure_arms", "applies", keys, stats.rate(applies, c["cluster"][first]))
        yield from rates("structure_arms", piece, mine, even(c[arm]))
        for size in sizes:
            values, cluster = c[size][first], c["cluster"][first]
            known = ~np.isnan(values.astype(float))
            if known.any():
                estimate = stats.median(values[known].astype(float), cluster[known])
                yield entry("structure_arms", size, keys, estimate)


def methods(trials: pl.DataFrame, pooled: Iterable[Entry]) -> list[Entry]:
    """Each method minus `baseline`, over all D_T and for each, on problems that passed both gates.

    Adoption and recovery under tampering, and adoption net of the clean chain.
    """
    apart = ("mode",)
    return [
        *_changes("methods", means(trials, "tampered"), "method", "baseline", apart),
        *_changes("methods", pairs(trials, "clean"), "method", "baseline", apart),
        *(
            _as(e, "methods", "change_net_adoption", {"against": "baseline"})
            for e in _without_value(pooled, "method", "baseline")
        ),
    ]


def _without_value(pooled: Iterable[Entry], axis: str, base: str) -> list[Entry]:
    """Cells that hold nothing to compare, which a table names with the reason."""
    return [
        e for e in pooled
        if e.metric == "adopted" and e.value is None and e.keys.get(axis, base) != base
    ]  # fmt: skip


def _as(e: Entry, table: str, metric: str, more: dict[str, str]) -> Entry:
    return replace(e, table=table, metric=metric, keys=e.keys | more)


def attribution(trials: pl.DataFrame) -> list[Entry]:
    """The chain said to be another's minus the same chain said to be the model's own."""
    return [
        *_changes("attribution", means(trials, "tampered"), "attribution", "own"),
        *_changes("attribution", pairs(trials, "clean"), "attribution", "own"),
    ]


def contrasts(trials: pl.DataFrame) -> list[Entry]:
    """Each contrast beside tampered and clean: its own rates, and tampered minus contrast.

    Never subtracted from a headline. Tampered under `prefix` is set beside
    `prefix_as_text`, the same sentence in the user message.
    """
    there = set(trials["arm"].unique())
    present = [arm for arm in CONTRASTS if arm in there]
    tampered = means(trials, "tampered")
    told = beside(tampered.filter(pl.col("method").is_in(["prefix", AS_TEXT])), "method", AS_TEXT,
                  apart=("mode",))  # fmt: skip
    asked = trials.filter(pl.col("arm").is_in(present)).select("group").unique()
    beside_each = trials.join(asked, on="group", how="semi", maintain_order="left")
    beside_each = beside_each.filter(pl.col("arm").is_in(["tampered", "clean", *present]))
    weights = pl.col("answered").fill_null(value=False)
    by_arm = [
        with_weights(mine, weights, "weight")
        for _, mine in beside_each.group_by("arm", maintain_order=True)
    ]
    found: list[Entry] = []
    for mine in by_arm:
        columns = ("code", "kind", "cluster", "weight")
        for cut in pieces(mine, (*GROUP, "degrees", "arm"), columns):
            keys = {"d_t" if name == "degrees" else name: v for name, v in cut.keys.items()}
            weight = even(cut.columns["weight"])
            lines = rates("contrasts", cut._replace(keys=keys), mine, weight)
            found += [line for line in lines if line.metric in _RATES]
    for arm in present:
        found += _minus("contrasts", pool(_joined(tampered, means(trials, arm))), {"arm": arm})
    found += _minus("contrasts", pool(told), {"arm": AS_TEXT})
    places = {_but_arm(e): place for place, e in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda e: places[_but_arm(e)])


def _but_arm(e: Entry) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in e.keys.items() if name != "arm")


def operations(pooled: Iterable[Entry]) -> list[Entry]:
    """Pooled net adoption under addition minus that under multiplication, a line a model.

    Problems are not shared, so that the interval is that of independent estimates.
    """
    nets = [e for e in pooled if (e.metric, e.keys.get("against")) == ("net_adoption", "clean")]
    sides: dict[str, dict[tuple[tuple[str, str], ...], list[Entry]]] = {}
    for e in nets:
        rest = tuple((name, value) for name, value in e.keys.items() if name != "set")
        operation = e.keys["set"].partition(":")[0]
        sides.setdefault(operation, {}).setdefault(rest, []).append(e)
    first, second = (sides.get(name, {}) for name in OPERATIONS)
    return [
        entry("operations", "change_net_adoption", dict(rest) | _sets(one, two),
              batches.independent(_estimate(one), _estimate(two)),
              {} if one.n and two.n else one.left_out | two.left_out)
        for rest in first
        for one in first[rest]
        for two in second.get(rest, ())
    ]  # fmt: skip


def common(trials: pl.DataFrame) -> list[Entry]:
    """Models on the problems that all of them passed, per set and mode, and each pair of them.

    `common_items` is the share of a model's eligible problems that are common.
    """
    gates = trials.filter((pl.col("arm") == "gate") & (pl.col("sample") == 0))
    gates = gates.unique(["set", "mode", "target", "problem"], keep="first", maintain_order=True)
    where = ["set", "mode"]
    asked = gates.group_by(where).agg(models=pl.col("target").n_unique())
    passed = gates.filter(pl.col("outcome") == "recovered")
    shared = (
        passed.group_by(*where, "problem")
        .agg(passing=pl.col("target").n_unique())
        .join(asked.filter(pl.col("models") > 1), on=where)
        .filter(pl.col("passing") == pl.col("models"))
        .select(*where, "problem", shared=pl.lit(1.0))
    )
    if shared.is_empty():
        return []
    found: list[Entry] = []
    both = passed.join(shared, on=[*where, "problem"], how="left").sort(*where, "target", "problem")
    for piece in pieces(both, [*where, "target"], ("shared",)):
        n, kept = len(piece.columns["shared"]), int(np.nansum(piece.columns["shared"]))
        estimate = Estimate(kept / n, None, None, n, n, "none: a count")
        found.append(entry("common_problems", "common_items", piece.keys, estimate))
    mine = trials.join(shared, on=[*where, "problem"], how="semi", maintain_order="left")
    wanted = ("r_cpt", "adopted", "net_adoption")
    found += [
        replace(line, table="common")
        for line in cells.pooled(mine)
        if line.metric in wanted and line.keys.get("against", "clean") == "clean"
    ]
    return [*found, *_model_pairs(mine)]


def _model_pairs(trials: pl.DataFrame) -> Iterator[Entry]:
    """Each model minus each that stands before it, paired by problem."""
    scored, nets = means(trials, "tampered"), pairs(trials, "clean")
    for first, second in combinations(sorted(trials["target"].unique()), 2):
        for frame in (scored, nets):
            two = frame.filter(pl.col("target").is_in([first, second]))
            yield from _changes("common_pairs", two, "target", first, ("source",), pooled=True)


def _changes(
    table: str,
    frame: pl.DataFrame,
    axis: str,
    base: str,
    apart: Sequence[str] = (),
    *,
    pooled: bool = False,
) -> Iterator[Entry]:
    """Lines minus those where `axis` is `base`: scores, or net scores where there is a control."""
    both = beside(frame, axis, base, apart=apart)
    both = pool(both) if pooled else with_degrees(both)
    net = "adopted_control" in frame.columns
    wanted = ("adopted",) if net else SCORES if pooled else _RATES
    names = _FOUR if net else ("", "_base")
    for piece in pieces(both, _LINE, _columns(both)):
        keys = piece.keys | {"against": base}
        for score in wanted:
            ends = [piece.columns[f"{score}{end}"] for end in names]
            known = np.isfinite(ends[0]) & np.isfinite(ends[-1])
            first, second = (ends[0] - ends[1], ends[2] - ends[3]) if net else ends
            step = SPAN[score]
            span = 2 * step if net else step
            (estimate,) = batches.paired(
                first[known], second[known], piece.columns["cluster"][known], span=span, step=step
            )
            yield tested(table, _CHANGES[NET[score] if net else score], keys, estimate)


def _minus(table: str, frame: pl.DataFrame, more: dict[str, str]) -> Iterator[Entry]:
    """Adoption and recovery minus those beside them."""
    for piece in pieces(frame, _LINE, _columns(frame)):
        estimates = batches.paired(
            _stack(piece, _RATES, ""), _stack(piece, _RATES, "_base"), piece.columns["cluster"],
            span=1,
        )  # fmt: skip
        for score, estimate in zip(_RATES, estimates, strict=True):
            yield tested(table, f"minus_{score}", piece.keys | more, estimate)


def _joined(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    scores = other.select("cell", *PROBLEM, pl.col(_RATES).name.suffix("_base"))
    return frame.join(scores, on=["cell", *PROBLEM]).sort("cell", *PROBLEM)


def _columns(frame: pl.DataFrame) -> list[str]:
    return ["cluster", *(name for name in frame.columns if name.startswith(SCORES))]


def _stack(piece: Piece, scores: Sequence[str], end: str) -> Array:
    return np.stack([piece.columns[f"{score}{end}"] for score in scores])


def _estimate(e: Entry) -> Estimate:
    return Estimate(e.value, e.low, e.high, e.n, e.clusters, e.method)


def _sets(one: Entry, two: Entry) -> dict[str, str]:
    return {"set": one.keys["set"], "against": two.keys["set"]}
