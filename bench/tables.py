"""How long tables take: 5 targets x 100 problems x 2 operations x 6 D_T x 4 methods x 5 structures.

    python bench/tables.py [problems]

Rows are drawn as a frame, without walking or grading; outcomes mean nothing.
"""

from __future__ import annotations

import cProfile
import pstats
import resource
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from misled import estimates
from misled.row import Row

TARGETS = tuple(f"planted/model-{i}" for i in range(5))
SETS = ("addition:15+13", "multiplication:8x7")
METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
STRUCTURES = ("intact", "delete_reflection", "delete_verification", "insert", "delete_random")
OUTCOMES = ("adopted", "recovered", "confused", "partial", "unreadable", "truncated", "failed")
SHARES = {"tampered": (0.4, 0.45, 0.05, 0.04, 0.03, 0.02, 0.01)}
SHARES["clean"] = SHARES["again"] = (0.01, 0.93, 0.01, 0.01, 0.02, 0.01, 0.01)


def rows(problems: int, seed: int = 0) -> pl.DataFrame:
    """Sources, gates and every trial with its controls, as `estimates.entries` takes them."""
    draws = np.random.default_rng(seed)
    alone = product(SETS, TARGETS, range(problems), ("plain", "prefix"))
    frames = [
        pl.DataFrame(list(alone), ["set", "target", "problem", "mode"], orient="row").with_columns(
            arm=pl.lit(arm), outcome=pl.lit("recovered")
        )
        for arm in ("source", "gate")
    ]
    crossed = list(product(SETS, TARGETS, range(problems), METHODS, STRUCTURES, range(1, 7)))
    names = ["set", "target", "problem", "method", "structure", "d_t"]
    cells = pl.DataFrame(crossed, names, orient="row").with_columns(
        mode=pl.when(method="prefix").then(pl.lit("prefix")).otherwise(pl.lit("plain")),
        feed=pl.lit("reasoning"),
        attribution=pl.lit("own"),
        channel=pl.lit("user"),
        perturbation=pl.lit("digits"),
        scope=pl.lit("endings"),
        place=pl.lit("random"),
        w_left=pl.lit(0),
        length=pl.lit(3000),
        occurrences=pl.lit(3),
        deleted=pl.lit(0),
    )
    for arm, shares in SHARES.items():
        outcome = draws.choice(OUTCOMES, cells.height, p=shares)
        frames.append(
            cells.with_columns(
                arm=pl.lit(arm),
                outcome=pl.Series(outcome),
                relative_error=pl.Series(10.0 ** -draws.integers(0, 15, cells.height)),
            )
        )
    whole = (
        pl.concat(frames, how="diagonal")
        .with_columns(
            problem=pl.col("problem").cast(pl.String),
            cluster=pl.col("problem").cast(pl.String),
            source=pl.lit("planted/model-0"),
            gold=pl.lit("1"),
            sample=pl.lit(0),
            request=pl.concat_str("arm", "target", "method", "structure", ignore_nulls=True),
            reason=pl.when(outcome="confused").then(pl.lit("digits")),
            r_cpt=pl.col("outcome").replace_strict(
                {"adopted": 1.0, "recovered": 0.5, "partial": 0.6, "confused": 2.0}, default=None
            ),
        )
        .with_columns(r_hamming="r_cpt")
    )
    empty = [name for name in Row.__struct_fields__ if name not in whole.columns]
    return whole.with_columns(pl.lit(None).alias(name) for name in empty)


def peak() -> float:
    """Resident megabytes at their highest so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Time the tables, and the files of them."""
    found = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    print(f"{found.height:,} rows, {peak():,.0f} MB at most")
    profile = cProfile.Profile()
    began = time.perf_counter()
    if "--profile" in sys.argv:
        profile.enable()
    entries = estimates.entries(found)
    profile.disable()
    print(
        f"{len(entries):,} entries in {time.perf_counter() - began:.1f} s, {peak():,.0f} MB at most"
    )
    if "--profile" in sys.argv:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        estimates.write(entries, Path(directory))
        size = sum(path.stat().st_size for path in Path(directory).iterdir())
    print(f"{size / 1e6:.1f} MB of tables in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
