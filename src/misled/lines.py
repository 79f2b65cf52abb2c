"""Estimates as lines of a table, and the outcome rates of any set of trials.

    rates("outcomes", piece of 200 trials, frame)
    -> Entry(table="outcomes", metric="adopted", value=0.62, low=0.551, high=0.684, n=200, ...)

Rates share one denominator, the answered trials (protocol A.6). An unsupported
cell has no value and names its reason in `method`. Knows nothing about which
trials belong together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from msgspec.structs import asdict, replace

from misled import batches
from misled.records import OUTCOMES, Entry, Estimate
from misled.trials import ANSWERED, KINDS, SCORES, Keys, Piece

__all__ = [
    "FIRST_ANSWERED",
    "NET",
    "SPAN",
    "Counts",
    "counted",
    "entry",
    "even",
    "has_r",
    "line",
    "rates",
    "tested",
]

Counts: TypeAlias = Mapping[str, int]

STUDY = "cpt"
# These change the length of the result, so that no digit can be compared (protocol A.3).
WITHOUT_R = ("insert_digit", "delete_digit")
NET = dict(zip(SCORES, ("net_adoption", "net_recovery", "net_r"), strict=True))
SPAN = dict(zip(SCORES, (1.0, 1.0, 1.5), strict=True))  # the largest difference of a score

_ADOPTED = OUTCOMES.index("adopted")
FIRST_ANSWERED = OUTCOMES.index(ANSWERED[0])


def entry(
    table: str, metric: str, keys: Keys, estimate: Estimate, left_out: Counts | None = None
) -> Entry:
    """An estimate as a line; what is left out by the protocol's order of outcomes."""
    counts = left_out or {}
    return Entry(
        table=table,
        study=STUDY,
        metric=metric,
        keys=keys,
        left_out={name: counts[name] for name in sorted(counts, key=_rank)},
        **asdict(estimate),
    )


def tested(table: str, metric: str, keys: Keys, found: batches.Difference) -> Entry:
    """A difference as a line, with its p against 0."""
    return replace(entry(table, metric, keys, found.estimate), p=found.p)


def rates(table: str, piece: Piece, frame: pl.DataFrame, weights: Any = None) -> list[Entry]:
    """The rate of each outcome, and of its reasons, of one denominator; checked to sum to 1."""
    code, kind = piece.columns["code"], piece.columns["kind"]
    answered = code >= FIRST_ANSWERED
    names = list(ANSWERED)
    hits = code == np.arange(FIRST_ANSWERED, len(OUTCOMES))[:, None]
    if table == "controls":
        names = [*ANSWERED[: _ADOPTED - FIRST_ANSWERED], "wrong"]
        hits = np.vstack([hits[: _ADOPTED - FIRST_ANSWERED], code >= _ADOPTED])
    reasons = {name: i for i, name in enumerate(KINDS) if name.partition("/")[0] in names}
    hits = np.vstack([hits, *(kind == i for i in reasons.values())])
    mass = answered.astype(float) if weights is None else weights
    estimates = batches.rates(hits, piece.columns["cluster"], mass)
    total = sum(estimate.value or 0.0 for estimate in estimates[: len(names)])
    if answered.any() and abs(total - 1) > 1e-9:
        raise ArithmeticError(f"the rates of {piece.keys} sum to {total}, not to 1")
    left_out = counted(code[~answered])
    each = zip([*names, *reasons], estimates, strict=True)
    return [line(table, metric, piece, rate, left_out, frame) for metric, rate in each]


def has_r(keys: Keys) -> bool:
    """Whether digits of the result can be compared under this perturbation."""
    return keys.get("perturbation") not in WITHOUT_R


def even(weights: Any) -> Any:
    """Weights that are all alike as 1."""
    some = weights[weights > 0]
    return np.where(weights > 0, 1.0, 0.0) if some.size and np.ptp(some) == 0 else weights


def counted(codes: Any) -> dict[str, int]:
    """Trials by outcome, from their codes."""
    counts = np.bincount(codes, minlength=len(OUTCOMES)) if len(codes) else np.zeros(0, int)
    return {OUTCOMES[code]: int(counts[code]) for code in np.flatnonzero(counts)}


def line(
    table: str,
    metric: str,
    piece: Piece,
    estimate: Estimate,
    left_out: Counts,
    frame: pl.DataFrame,
) -> Entry:
    """A line; where nothing was supported, with the reason instead of a method."""
    if not estimate.n and "unsupported" in left_out:
        lines = frame[piece.lines].filter(pl.col("outcome") == "unsupported")["reason"]
        why = "unsupported: " + "; ".join(sorted(set(lines)))
        estimate = replace(estimate, method=why)
    return entry(table, metric, piece.keys, estimate, left_out)


def _rank(outcome: str) -> tuple[int, str]:
    """By the protocol's order of outcomes, a control's after the trial's own."""
    known = OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES)
    return (known, outcome)
