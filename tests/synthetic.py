"""Graded rows with known behaviour, for what comes after grading: tables, figures, report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import msgspec
import polars as pl

from misled.draws import Draws
from misled.records import Record
from misled.row import Row

METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
USUAL = {"structure": "intact", "attribution": "own", "place": "random"}
# P(adopted), P(recovered) at D_T = 1 for each method; what is left is split over the rest.
BEHAVIOUR = {
    "baseline": (0.62, 0.25),
    "uncertainty": (0.4, 0.45),
    "contradiction": (0.18, 0.7),
    "prefix": (0.08, 0.82),
}


class Run(Record, frozen=True):
    """What the synthetic run crosses."""

    targets: tuple[str, ...] = ("planted/credulous",)
    sets: tuple[str, ...] = ("addition:15+13",)
    methods: tuple[str, ...] = METHODS
    degrees: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    problems: int = 30
    samples: int = 1
    feed: str = "reasoning"
    source: str = "planted/credulous"
    cannot_prefix: tuple[str, ...] = ()
    structures: tuple[str, ...] = ("intact",)
    places: tuple[str, ...] = ("random",)
    contrasts: tuple[str, ...] = ()
    attributions: tuple[str, ...] = ("own",)
    seed: int = 0


def rows(run: Run) -> pl.DataFrame:
    """The run's rows as the frame that `estimates.entries` takes."""
    return frame(list(trials(run)))


def frame(found: Sequence[Row]) -> pl.DataFrame:
    """Rows as one column a field."""
    names = Row.__struct_fields__
    plain = [msgspec.to_builtins(row) for row in found]
    return pl.DataFrame({name: [row[name] for row in plain] for name in names}, strict=False)


def trials(run: Run) -> Iterator[Row]:
    """Source, gate and, where both are right, every probe with its controls."""
    for name in run.sets:
        for index in range(run.problems):
            for target in run.targets:
                yield from _unit(run, name, f"{index:04}", target)


def _unit(run: Run, name: str, problem: str, target: str) -> Iterator[Row]:
    who = {
        "problem": problem,
        "set": name,
        "cluster": problem,
        "target": target,
        "source": run.source,
        "gold": "711025910075981",
    }
    draws = Draws(run.seed, name, problem)
    right = draws.unit() < 0.93
    yield _row(who, "source", "plain", "recovered" if right else "other", request="source")
    if not right:
        return
    for mode in ("plain", "prefix"):
        methods = [m for m in run.methods if (m == "prefix") == (mode == "prefix")]
        supported = mode == "plain" or target not in run.cannot_prefix
        passed = Draws(run.seed, name, problem, target, mode).unit() < 0.9
        if methods and supported:
            yield _row(
                who, "gate", mode, "recovered" if passed else "other", request=f"gate {mode}"
            )
        if supported and not passed:
            continue
        axes = (methods, run.structures, run.attributions, run.places, run.degrees)
        for method, structure, attribution, place, d_t in product(*axes):
            cell = {
                "feed": run.feed,
                "attribution": attribution,
                "method": method,
                "structure": structure,
                "channel": "user",
                "perturbation": "digits",
                "scope": "endings",
                "place": place,
                "d_t": d_t,
            }
            if structure != "intact" and Draws(run.seed, problem, structure).unit() < 0.2:
                reason = f"{structure}: no such step"
                yield _row(who, "tampered", mode, "not_applicable", reason=reason, **cell)
                continue
            if not supported:
                reason = "prefix: the provider cannot continue an output prefix"
                yield _row(who, "tampered", mode, "unsupported", reason=reason, **cell)
                continue
            yield from _probe(run, who, mode, cell)


def _probe(run: Run, who: dict[str, str], mode: str, cell: dict[str, Any]) -> Iterator[Row]:
    method, d_t, structure = cell["method"], cell["d_t"], cell["structure"]
    # What is usual is left out of a stream's name, so that sweeps do not change what it gives.
    unusual = [cell[name] for name, usual in USUAL.items() if cell[name] != usual]
    for sample in range(run.samples):
        shared = Draws(run.seed, who["set"], who["problem"], who["target"], method, sample)
        stream = Draws(run.seed, *who.values(), method, d_t, sample, *unusual)
        luck = 0.5 * shared.unit() + 0.5 * stream.unit()
        adopts, recovers = BEHAVIOUR[method]
        adopts = max(0.02, adopts - 0.04 * (d_t - 1) - 0.03 * len(who["target"]) % 0.2)
        adopts *= 0.6 if structure != "intact" else 1
        size = {"length": 3000 - 400 * len(unusual), "occurrences": 3, "deleted": len(unusual)}
        error = 10.0 ** -(int(shared.unit() * 14) + (cell["place"] == "low"))
        spent: dict[str, Any] = {"prompt_tokens": 900, "w_left": int(int(luck * 1000) % 10 == 0)}
        spent |= size | {"relative_error": error}
        outcome, reason = _outcome(luck, adopts, recovers, d_t)
        yield _row(
            who, "tampered", mode, outcome, reason, sample=sample,
            request=f"{method} {d_t} {sample} {unusual}", **cell, **spent,
        )  # fmt: skip
        for arm, key in (
            ("clean", " ".join([method, *unusual, "clean"])),
            ("again", f"{mode} again"),
        ):
            draws = Draws(run.seed, *who.values(), key, sample)
            outcome = "recovered" if draws.unit() < 0.95 else "other"
            reason = None if outcome == "recovered" else "own"
            yield _row(who, arm, mode, outcome, reason, sample=sample, request=key, **cell)
        for arm in run.contrasts if structure == "intact" else ():
            draws = Draws(run.seed, *who.values(), method, d_t, arm, sample)
            outcome, reason = _outcome(draws.unit(), 0.3, 0.6, d_t)
            yield _row(
                who,
                arm,
                mode,
                outcome,
                reason,
                sample=sample,
                request=f"{arm} {method} {d_t}",
                **cell,
            )


def _outcome(luck: float, adopts: float, recovers: float, d_t: int) -> tuple[str, str | None]:
    names: list[tuple[float, str, str | None]] = [
        (adopts, "adopted", None),
        (recovers, "recovered", None),
        (0.03, "confused", "digits"),
        (0.01, "confused", "form"),
        (0.03 if d_t > 1 else 0.0, "partial", None),
        (0.03, "unreadable", "none"),
        (0.01, "truncated", None),
        (0.01, "failed", "timeout"),
    ]
    for share, outcome, reason in names:
        luck -= share
        if luck < 0:
            return outcome, reason
    return "other", "own"


def _row(
    who: dict[str, str], arm: str, mode: str, outcome: str, reason: str | None = None, **more: Any
) -> Row:
    d_t = more.get("d_t") or 0
    adopted = {"adopted": d_t, "recovered": 0, "other": 0, "partial": d_t - 1}.get(outcome)
    r = hamming = None
    if outcome == "confused":
        r = hamming = 2.0
    elif d_t and adopted is not None:
        r = d_t / (2 * d_t - adopted)
        hamming = d_t / (2 * d_t - (1 if outcome == "other" else adopted))
    more |= {"n_adopted": adopted if d_t else None, "r_cpt": r, "r_hamming": hamming}
    fields: dict[str, Any] = who | more
    return Row(arm=arm, mode=mode, outcome=outcome, reason=reason, **fields)
