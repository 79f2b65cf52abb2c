"""Graded trials -> tables of estimates, and the files that hold them.

    rows of one cell: 200 trials, 124 of them adopted
    -> Entry(table="outcomes", metric="adopted", value=0.62, low=0.551, high=0.684, n=200, ...)

Rates share one denominator, the answered trials (protocol A.6). What has no
part in a number stands in its `left_out`, by outcome. An unsupported cell has
no value and names its reason in `method`.

Knows nothing about requests, stores or how an interval is made (`stats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from msgspec.structs import asdict

from misled import (
    cells,
    comparisons,
    conduct,
    effort,
    exhibits_effort,
    families,
    latex,
    sheets,
    sweeps,
)
from misled.exhibits import exhibits
from misled.ledger import Rows
from misled.records import Entry
from misled.trials import prepare

__all__ = ["entries", "frame", "write"]


def entries(rows: Rows) -> list[Entry]:
    """Every estimate of study A, tables in reading order; `rows` has a column a field of `Row`."""
    if rows["arm"].is_empty():
        return []
    trials = prepare(rows)
    points, nets, pooled = cells.cpt(trials), cells.net(trials), cells.pooled(trials)
    compared = [
        *comparisons.methods(trials, pooled),
        *comparisons.structures(trials, pooled),
        *sweeps.slopes(trials),
    ]
    tests = families.families([*pooled, *compared])
    costs, more = effort.effort(trials), effort.differences(trials)
    return [
        *cells.eligibility(trials),
        *tests,
        *cells.controls(trials),
        *cells.outcomes(trials),
        *points,
        *nets,
        *families.adjusted([*pooled, *compared], tests),
        *sweeps.magnitude(trials),
        *comparisons.contrasts(trials),
        *comparisons.attribution(trials),
        *comparisons.operations(pooled),
        *comparisons.common(trials),
        *costs,
        *effort.ratios(trials),
        *more,
        *conduct.stops(trials),
        *conduct.flagged(trials),
        *conduct.answers_in_reasoning(trials),
        *exhibits(points, nets, pooled),
        *exhibits_effort.figure6(effort.typical(trials), more),
        *exhibits_effort.figure7(costs, more),
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
    """Each table as `<table>.csv`, `.md` and `.tex` in `directory`, each whole or not at all."""
    tables: dict[str, list[Entry]] = {}
    for entry in found:
        tables.setdefault(entry.table, []).append(entry)
    for name, mine in tables.items():
        sheet = sheets.sheet(mine)
        texts = {
            "csv": sheets.csv_text(mine),
            "md": sheets.markdown(sheet),
            "tex": latex.latex(sheet, name),
        }
        for form, text in texts.items():
            sheets.publish(directory / f"{name}.{form}", text.encode())
