"""How often the intervals of the effort tables hold a planted truth, through the tables' own code.

    python bench/effort.py [--seeds 1000]

    cell                          metric               truth  coverage  bound      verdict
    G 50 x 1, equal arms          tokens_below_1        .500     95.30  90.0-100.0 ok

Tokens of an arm are log-normal: a share of the variance is the problem's and
common to all arms, the rest each reply's. A limit cuts the longest replies of
a cell that says so. Bounds and verdicts are those of `coverage.py`: rates 93 to
97.5 % in the middle, else at least 90; medians at least 93 (order statistics
are conservative). The exit code is 1 where a cell fails.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import msgspec
import numpy as np
import polars as pl
from scipy.special import ndtr

from coverage import rate_bounds, verdict
from misled import effort
from misled.records import Entry
from misled.row import Row
from misled.trials import prepare

ARMS = ("gate", "again", "tampered")
MIDDLE = 600.0
SCALE = 1_000  # tokens are whole; a fine grid keeps ties out


class Cell(NamedTuple):
    """`factor` is the tampered arm's median beside the gate's; spreads are of ln tokens."""

    clusters: int
    per: int = 1
    factor: float = 1.0
    common: float = 0.5
    own: float = 0.4
    limit: float = np.inf


def main() -> None:
    """Print every cell, and whether all hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000)
    seeds = parser.parse_args().seeds
    verdicts: Counter[str] = Counter()
    for stream, cell in enumerate(cells()):
        known, held = coverage(cell, seeds, stream)
        for metric, value in truths(cell).items():
            bound = bounds(cell, metric, value)
            word = verdict(held[metric], max(known[metric], 1), bound)
            verdicts[word] += 1
            share = 100 * held[metric] / max(known[metric], 1)
            asked = f"{bound[0] * 100:.1f}-{bound[1] * 100:.1f}"
            print(f"{_describe(cell):<44}{metric:<20}{value:8.3f}{share:8.2f}  {asked:<11} {word}"
                  f"{'' if known[metric] == seeds else f', of {known[metric]}'}")  # fmt: skip
    print(dict(verdicts))
    sys.exit(1 if verdicts["FAIL"] else 0)


def cells() -> Iterator[Cell]:
    """Equal arms, the paper's "more than 60 % less", samples, and a token limit."""
    for clusters in (20, 50, 100):
        yield Cell(clusters)
        yield Cell(clusters, factor=0.5)
        yield Cell(clusters, factor=0.35, own=0.6)
    yield Cell(50, per=3, factor=0.7)
    yield Cell(50, factor=0.7, limit=1_500.0)


def truths(cell: Cell) -> dict[str, float]:
    """What the intervals have to hold."""
    spread = cell.own * 2**0.5
    mean = float(np.log(cell.factor))
    below = {c: float(ndtr((np.log(c) - mean) / spread)) for c in (1.0, 0.4)}
    floor = {c: float(ndtr(np.log(c) / spread)) for c in (1.0, 0.4)}
    return {
        "total_tokens": MIDDLE * cell.factor,
        "net_total_tokens": _difference(cell),
        "tokens_ratio": cell.factor,
        "tokens_below_1": below[1.0],
        "tokens_below_04": below[0.4],
        "net_tokens_below_1": below[1.0] - floor[1.0],
        "net_tokens_below_04": below[0.4] - floor[0.4],
    }


@cache
def _difference(cell: Cell) -> float:
    """The median of tampered minus `again`, of two million problems."""
    rng = np.random.default_rng(20_270_102)
    own = rng.normal(0, cell.own, (2, 2_000_000))
    common = rng.normal(0, cell.common, 2_000_000)
    again, tampered = np.exp(common + own)
    return float(MIDDLE * np.median(cell.factor * tampered - again))


def bounds(cell: Cell, metric: str, value: float) -> tuple[float, float]:
    """Least and most coverage, as shares."""
    if metric in {"total_tokens", "net_total_tokens", "tokens_ratio"}:
        return (0.93, 1.0)
    if "net" in metric or cell.clusters < 50:
        return (0.9, 1.0)
    return (rate_bounds(cell.clusters, value)[0] - 0.021, 1.0)


def coverage(cell: Cell, seeds: int, stream: int) -> tuple[Counter[str], Counter[str]]:
    """How many data sets claim an interval for each metric, and how many of these hold."""
    rng = np.random.default_rng([20_260_102, stream])
    frame = _frame(cell)
    truth, known, held = truths(cell), Counter[str](), Counter[str]()
    for _ in range(seeds):
        tokens = _tokens(cell, frame, rng)
        cut = tokens > cell.limit * SCALE
        trials = frame.with_columns(
            pl.Series("completion_tokens", np.minimum(tokens, cell.limit * SCALE).astype(int)),
            pl.Series("outcome", np.where(cut, "truncated", "recovered")),
        )
        for line in (*effort.effort(trials), *effort.ratios(trials), *effort.differences(trials)):
            if _is_asked(line) and line.low is not None and line.high is not None:
                scale = SCALE if line.metric.endswith("total_tokens") else 1
                known[line.metric] += 1
                held[line.metric] += line.low <= truth[line.metric] * scale <= line.high
    return known, held


def _is_asked(line: Entry) -> bool:
    to = "again" if line.metric == "net_total_tokens" else "gate"
    return line.keys["arm"] == "tampered" and line.keys.get("to", to) == to


def _tokens(cell: Cell, frame: pl.DataFrame, rng: np.random.Generator) -> np.ndarray:
    problem = frame["problem"].cast(pl.Int64).to_numpy()
    common = rng.normal(0, cell.common, cell.clusters)[problem]
    factor = np.where(frame["arm"].cast(pl.String).to_numpy() == "tampered", cell.factor, 1.0)
    own = rng.normal(0, cell.own, len(problem))
    return np.asarray(SCALE * MIDDLE * factor * np.exp(common + own))


def _frame(cell: Cell) -> pl.DataFrame:
    rows = [
        Row(
            arm=arm, problem=f"{i:04}", set="s", cluster=f"{i:04}", target="m", source="m",
            mode="plain", gold="42", outcome="recovered", sample=k, request=f"{arm} {i} {k}",
            method=None if arm == "gate" else "baseline", d_t=None if arm == "gate" else 1,
        )
        for i in range(cell.clusters) for arm in ARMS
        for k in range(1 if arm == "gate" else cell.per)
    ]  # fmt: skip
    plain = [msgspec.to_builtins(row) for row in rows]
    names = Row.__struct_fields__
    frame = pl.DataFrame({name: [row[name] for row in plain] for name in names}, strict=False)
    return prepare(frame)


def _describe(cell: Cell) -> str:
    cut = "" if np.isinf(cell.limit) else f", limit {cell.limit:g}"
    return f"G {cell.clusters} x {cell.per}, factor {cell.factor:g}, own {cell.own:g}{cut}"


if __name__ == "__main__":
    main()
