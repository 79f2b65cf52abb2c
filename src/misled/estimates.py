"""Graded trials -> tables of estimates, and the files that hold them.

    rows of one cell: 200 trials, 124 of them adopted
    -> Entry(table="outcomes", metric="adopted", value=0.62, low=0.551, high=0.684, n=200, ...)

Rates share one denominator, the answered trials (protocol A.6). What has no
part in a number stands in its `left_out`, by outcome. An unsupported cell has
no value and names its reason in `method`.

Knows nothing about requests, stores or how an interval is made (`stats`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
from msgspec.structs import asdict, replace

from misled import cells, sheets
from misled.records import Entry
from misled.trials import prepare

__all__ = ["entries", "figure4", "figure4_net", "frame", "write"]


def entries(rows: pl.DataFrame) -> list[Entry]:
    """Every estimate of study A, tables in reading order; `rows` has a column a field of `Row`."""
    if rows.is_empty():
        return []
    trials = prepare(rows)
    points, nets = cells.cpt(trials), cells.net(trials)
    return [
        *cells.eligibility(trials),
        *cells.controls(trials),
        *cells.outcomes(trials),
        *points,
        *nets,
        *cells.pooled(trials),
        *figure4(points),
        *figure4_net(nets),
    ]


def frame(found: Sequence[Entry]) -> pl.DataFrame:
    """One row an entry, a column a field; `keys` is a struct of all keys, null where absent."""
    names = list(dict.fromkeys(name for e in found for name in e.keys))
    lines = [
        asdict(e)
        | {"keys": {name: e.keys.get(name) for name in names}}
        | {"left_out": [{"outcome": name, "count": n} for name, n in e.left_out.items()]}
        for e in found
    ]
    text, number = pl.String(), pl.Float64()
    schema = dict.fromkeys(("table", "study", "metric"), text) | {
        "keys": pl.Struct(dict.fromkeys(names, text)),
        **dict.fromkeys(("value", "low", "high"), number),
        **dict.fromkeys(("n", "clusters"), pl.Int64()),
        "method": text,
        "left_out": pl.List(pl.Struct({"outcome": text, "count": pl.Int64()})),
        **dict.fromkeys(("p", "p_adjusted"), number),
    }
    return pl.DataFrame(lines, schema=schema)


def write(found: Sequence[Entry], directory: Path) -> None:
    """`<table>.csv` and `<table>.md` in `directory`, each whole or not at all."""
    for table in dict.fromkeys(entry.table for entry in found):
        mine = [entry for entry in found if entry.table == table]
        sheets.publish(directory / f"{table}.csv", sheets.csv_text(mine).encode())
        sheets.publish(directory / f"{table}.md", sheets.markdown(sheets.sheet(mine)).encode())


def figure4(points: Iterable[Entry]) -> list[Entry]:
    """R_CPT against D_T, a line a method, a panel a model [A Fig. 4]: the points of `cpt`."""
    return [replace(e, table="figure4") for e in points if e.metric == "r_cpt" and "d_t" in e.keys]


def figure4_net(nets: Iterable[Entry]) -> list[Entry]:
    """Its net twin, the only one of which a trend over D_T may be stated: the points of `net`."""
    return [
        replace(e, table="figure4_net")
        for e in nets
        if e.metric == "net_r" and e.keys["against"] == "clean" and "d_t" in e.keys
    ]
