"""Graded rows with known behaviour, for what comes after grading: tables, figures, report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import polars as pl

from misled.draws import Draws
from misled.records import Record
from misled.rows import Row

METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
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
        for method in methods:
            for d_t in run.degrees:
                cell = {
                    "feed": run.feed,
                    "attribution": "own",
                    "method": method,
                    "structure": "intact",
                    "channel": "user",
                    "perturbation": "digits",
                    "scope": "endings",
                    "place": "random",
                    "d_t": d_t,
                }
                if not supported:
                    reason = "prefix: the provider cannot continue an output prefix"
                    yield _row(who, "tampered", mode, "unsupported", reason=reason, **cell)
                    continue
                yield from _probe(run, who, mode, cell)


def _probe(run: Run, who: dict[str, str], mode: str, cell: dict[str, Any]) -> Iterator[Row]:
    method, d_t = cell["method"], cell["d_t"]
    for sample in range(run.samples):
        shared = Draws(run.seed, who["set"], who["problem"], who["target"], method, sample)
        luck = (
            0.5 * shared.unit() + 0.5 * Draws(run.seed, *who.values(), method, d_t, sample).unit()
        )
        adopts, recovers = BEHAVIOUR[method]
        adopts = max(0.02, adopts - 0.04 * (d_t - 1) - 0.03 * len(who["target"]) % 0.2)
        spent: dict[str, Any] = {"prompt_tokens": 900, "w_left": int(int(luck * 1000) % 10 == 0)}
        outcome, reason = _outcome(luck, adopts, recovers, d_t)
        yield _row(
            who, "tampered", mode, outcome, reason, sample=sample,
            request=f"{method} {d_t} {sample}", **cell, **spent,
        )  # fmt: skip
        for arm, key in (("clean", f"{method} clean"), ("again", f"{mode} again")):
            draws = Draws(run.seed, *who.values(), key, sample)
            outcome = "recovered" if draws.unit() < 0.95 else "other"
            reason = None if outcome == "recovered" else "own"
            yield _row(who, arm, mode, outcome, reason, sample=sample, request=key, **cell)


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
