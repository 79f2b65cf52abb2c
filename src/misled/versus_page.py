"""A comparison of runs as files: CSV, Markdown, LaTeX, figures, and one HTML page.

    write(comparison, Path("out"), ("svg",)) -> out/compare.html, compare.csv, compare.md, ...

What plans and files said is untrusted: it is escaped, and what cannot be seen in
it is written out. The page has no script and asks nothing of the network.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from misled import facing, figures_versus, glossary, latex, pages, sheets
from misled.comparing import Comparison
from misled.differing import NOTHING
from misled.records import Record

__all__ = ["Plate", "html", "markdown", "write"]

LONGEST = 400  # lines of a table on the page; the whole of it stands in the CSV


class Plate(Record, frozen=True):
    """A figure as the page shows it; a single one has one panel."""

    title: str
    image: str
    single: bool


def write(found: Comparison, directory: Path, forms: Sequence[str]) -> Path:
    """The path of `compare.html` in `directory`, beside its tables and figures in these `forms`."""
    faced = facing.faced(found.entries)
    texts = {
        "csv": sheets.csv_text(found.entries),
        "md": markdown(found),
        "tex": latex.latex(facing.sheet(facing.leading(faced, edited=True)), "compare"),
    }
    for form, text in texts.items():
        sheets.publish(directory / f"compare.{form}", text.encode())
    plates = []
    every = tuple(dict.fromkeys(("svg", *forms)))
    for chart in figures_versus.charts(faced):
        painted = dict(zip(every, figures_versus.render(chart, *every), strict=True))
        image = _data("image/svg+xml", painted["svg"])
        plates.append(Plate(chart.title, image, len(chart.panels) == 1))
        for form in forms:
            sheets.publish(directory / f"{chart.name}.{form}", painted[form])
    path = directory / "compare.html"
    sheets.publish(path, html(found, plates).encode())
    return path


def markdown(found: Comparison) -> str:
    """What differs, what to be careful with, and the differences over all D_T."""
    escaped = sheets.escaped
    rows = [["setting", *found.names], ["---"] * (len(found.names) + 1)]
    rows += [[name, *values] for name, values in found.differing]
    made = [f"| {' | '.join(escaped(cell) for cell in row)} |" for row in rows]
    made = made if found.differing else [f"{NOTHING}."]
    notes = [f"- {escaped(note)}" for note in found.notes]
    faced = facing.leading(facing.faced(found.entries), edited=True)
    table = sheets.markdown(facing.sheet(faced))
    return "\n".join([f"# {escaped(title(found))}", "", *made, "", *notes, "", table])


def title(found: Comparison) -> str:
    """`runs/b against runs/a`."""
    first, *others = found.names
    return f"{', '.join(others)} against {first}"


def html(found: Comparison, plates: Sequence[Plate]) -> str:
    """The page with its figures."""
    faced = facing.faced(found.entries)
    return pages.environment().get_template("compare.html.jinja").render(
        title=title(found),
        names=found.names,
        differing=found.differing,
        nothing=NOTHING,
        unit=facing.UNITS[found.study][0],
        notes=found.notes,
        main=facing.sheet(facing.leading(faced), "Over all tampered digits" if found.study == "cpt"
                          else "Without the chain, with it, and what it changes"),
        every=_cut(facing.sheet(faced)),
        csv=_data("text/csv", sheets.csv_text(found.entries).encode()),
        figures=plates,
        words=[
            *glossary.columns({each.score for each in faced}),
            *glossary.words(found.study, {x for each in faced for x in each.keys.values()}),
        ],
        reading=f"compare.{found.study}.html.jinja",
    )  # fmt: skip


def _cut(table: sheets.Sheet) -> sheets.Sheet:
    if len(table.lines) <= LONGEST:
        return table
    more = f"{len(table.lines) - LONGEST:,} more lines stand in the CSV"
    return replace(table, lines=table.lines[:LONGEST], notes=(*table.notes, more))


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}"
