"""What depends on how much was tampered with: by relative error, by place, over D_T.

    D_T = 1, |w'-w|/|w| in [1e-4, 1e-3): 31 problems, adopted 20 times, under the clean chain never
    -> Entry(table="magnitude", metric="net_adoption", keys={"relative_error": "1e-4 to 1e-3", ...})

"With the discrepancy" [A §5.1] needs one digit over places; "with D_T" needs
`anchored`, where the relative error hardly moves (protocol A.3). Knows nothing
about other comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from msgspec.structs import replace

from misled import batches, stats
from misled.lines import NET, SPAN, entry, has_r, tested
from misled.records import Entry
from misled.trials import GROUP, PROBLEM, SCORES, pairs, pieces

__all__ = ["magnitude", "slopes"]

_RATES = SCORES[:2]


def magnitude(trials: pl.DataFrame) -> list[Entry]:
    """Net adoption and recovery at D_T = 1 in intact chains, by decade of the error and by place.

    A decade holds the trials of all places; a problem counts once in each.
    """
    errors = (
        trials.filter((pl.col("arm") == "tampered") & (pl.col("relative_error") > 0))
        .group_by("cell", *PROBLEM)
        .agg(decade=pl.col("relative_error").mean().log10().floor().cast(pl.Int64))
    )
    whole = pairs(trials, "clean").filter(
        (pl.col("degree") == 1) & (pl.col("structure") == "intact")
    )
    scores = [name for name in whole.columns if name.startswith(_RATES)]
    across = [name for name in GROUP if name != "place"]
    unit = [*across, "decade", *PROBLEM]
    by_error = whole.join(errors, on=["cell", *PROBLEM]).group_by(unit).agg(pl.col(scores).mean())
    found: list[Entry] = []
    for frame, names in (
        (by_error.sort(unit), [*across, "decade"]),
        (whole, list(GROUP)),
    ):
        for piece in pieces(frame.with_columns(_spelled(frame)), names, ("cluster", *scores)):
            keys = {_NAMES.get(name, name): value for name, value in piece.keys.items()}
            first, second = (
                np.stack([piece.columns[f"{score}{end}"] for score in _RATES])
                for end in ("", "_control")
            )
            lines = batches.paired(first, second, piece.columns["cluster"], span=1)
            found += [
                tested("magnitude", NET[score], keys | {"d_t": "1"}, line)
                for score, line in zip(_RATES, lines, strict=True)
            ]
    return found


_NAMES = {"decade": "relative_error"}


def _spelled(frame: pl.DataFrame) -> list[pl.Series]:
    """Decades as `1e-4 to 1e-3`, where there are any."""
    if "decade" not in frame.columns:
        return []
    words = [f"1e{d} to 1e{d + 1}" for d in frame["decade"]]
    return [pl.Series("decade", words)]


def slopes(trials: pl.DataFrame) -> list[Entry]:
    """The within-problem slope of net adoption and net R on D_T, averaged over problems."""
    whole = pairs(trials, "clean").filter(pl.col("degree") > 0)
    whole = whole.filter(pl.col("degree").n_unique().over("group") > 1).sort("group", *PROBLEM)
    return [line for score in ("adopted", "r_cpt") for line in _slopes(whole, score)]


def _slopes(frame: pl.DataFrame, score: str) -> Iterator[Entry]:
    control = f"{score}_control"
    known = frame.filter(pl.col(score).is_not_null())
    for cut in pieces(known, (*GROUP, "degrees"), ("cluster", "degree", score, control)):
        keys = {"d_t" if name == "degrees" else name: value for name, value in cut.keys.items()}
        if score == "r_cpt" and not has_r(keys):
            continue
        x, y, clusters = cut.columns["degree"], cut.columns[score], cut.columns["cluster"]
        y = y - cut.columns[control]
        made = entry("slopes", f"slope_{NET[score]}", keys,
                     stats.slope(x, y, clusters, span=SPAN[score]))  # fmt: skip
        p = stats.slope_p(x, y, clusters, span=SPAN[score]) if made.low is not None else None
        yield replace(made, p=p)
