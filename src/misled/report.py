"""A run as one HTML file that opens from disk, and as a table for the terminal.

    write(ReportInput(entries=..., plan_toml=..., facts={"misled": "0.1.0"}), directory)
    -> directory/report.html

Everything that a plan, a file or a model said is untrusted: it is escaped, and
what cannot be seen in it is written out. The file has no script but the one that lists
its trials, asks nothing of the network, and holds no date but those in `facts`.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console

from misled import captions, figures_effort, pages, sheets
from misled.cautions import Caution
from misled.parts import PARTS, Parts, Plate
from misled.records import Entry, Record, Usage

__all__ = ["ReportInput", "html", "summary", "write"]

LONGEST = 200  # lines of a table on the page; the whole of it stands in its file


class ReportInput(Record, frozen=True):
    """What a report shows besides the estimates, given by whoever ran the study.

    `study` is that of the entries and need be said only where there are none;
    `title` is the study's own unless given. `facts` and `counts` are shown in
    their order, under their own names: versions, models, the prompts' hash,
    dates; requests asked, answered, failed. `usage` sums the answers' tokens.
    `stopped` says why a run ended before its plan was done. `notes` are further
    warnings, one sentence each. `panels` are figure 7 with its single problems,
    without which it is drawn from the entries alone; `exhibits` are the trials
    of figure 6. `trials` are listed for a reader to open.
    """

    entries: tuple[Entry, ...]
    plan_toml: str
    study: str = ""
    title: str = ""
    facts: dict[str, str] = {}
    counts: dict[str, int] = {}
    failures: dict[str, int] = {}
    usage: Usage = Usage()
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    panels: tuple[figures_effort.Panels, ...] = ()
    exhibits: tuple[figures_effort.Exhibit, ...] = ()
    images: dict[str, bytes] = {}
    trials: pages.Listed | None = None


class _Grid(Record, frozen=True):
    """A table as the page shows it, with a link to its data."""

    id: str
    sheet: sheets.Sheet
    csv: str


class _Figure(Record, frozen=True):
    """A figure as the page shows it, with its table."""

    id: str
    image: str
    alt: str
    caption: str
    single: bool
    sheet: sheets.Sheet
    csv: str


class _Page(Record, frozen=True):
    """A figure of texts, which has no table."""

    id: str
    image: str
    alt: str
    caption: str


def write(run: ReportInput, directory: Path) -> Path:
    """The path of `report.html` under `directory`, written whole or not at all."""
    path = directory / "report.html"
    sheets.publish(path, html(run).encode())
    return path


def html(run: ReportInput) -> str:
    """The report; equal input gives equal text."""
    study = run.study or _study(run.entries)
    parts = PARTS[study]
    listed = run.trials if run.trials and run.trials.index else None
    shown = {entry.metric for entry in run.entries}
    grids = list(_tables(run.entries))
    template = pages.environment().get_template("report.html.jinja")
    return template.render(
        run=run,
        reading=f"report.{study}.html.jinja",
        title=run.title or parts.title,
        more=parts.more,
        lead=parts.lead(run.entries) if run.entries else "Nothing has been answered yet.",
        findings=parts.findings(run.entries),
        cautions=[*_own_cautions(run), *parts.cautions(run.entries)],
        main=_main_table(parts, run.entries),
        opened=_those(grids, parts.opened),
        compared=_those(grids, parts.compared),
        figures=[_figure(plate) for plate in parts.plates(run.entries, run.panels, run.images)],
        pages=list(_pages(run)),
        tables=[grid for grid in grids if grid.id not in {*parts.opened, *parts.compared}],
        words=[captions.METRICS[metric] for metric in captions.METRICS if metric in shown],
        facts=list(_facts(run)),
        csp=pages.policy(scripted=listed is not None),
        **pages.blocks(listed),
    )


def summary(entries: Sequence[Entry], width: int = 100) -> str:
    """The study's main table for a terminal; "" without entries."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    for grid in PARTS[_study(entries)].terminal(entries, width):
        console.print(grid)
    if "*" in out.getvalue():
        console.print(
            "* no interval: fewer than 10 problems, or all of them alike", highlight=False
        )
    return out.getvalue().rstrip("\n")


def _study(entries: Sequence[Entry]) -> str:
    return entries[0].study if entries else "cpt"


def _own_cautions(run: ReportInput) -> Iterator[Caution]:
    if run.stopped:
        text = "The run stopped before its plan was done; the numbers are of what was answered"
        yield Caution(text, (run.stopped,))
    for note in run.notes:
        yield Caution(note.rstrip("."), ())


def _facts(run: ReportInput) -> Iterator[tuple[str, str]]:
    """Facts, counts, failures by kind, tokens and their cached share, each with its name."""
    yield from run.facts.items()
    yield from ((name, f"{count:,}") for name, count in run.counts.items())
    if run.failures:
        yield "failures", ", ".join(f"{kind} {count:,}" for kind, count in run.failures.items())
    usage = run.usage
    for name, count in (
        ("prompt tokens", usage.prompt),
        ("completion tokens", usage.completion),
        ("of these, reasoning", usage.reasoning),
    ):
        if count is not None:
            yield name, f"{count:,}"
    if usage.cached is not None and usage.prompt:
        yield "cached share of prompt tokens", f"{100 * usage.cached / usage.prompt:.0f} %"


def _main_table(parts: Parts, entries: Sequence[Entry]) -> _Grid | None:
    made = parts.main(entries)
    return _Grid("main", made[0], _csv(made[1])) if made else None


def _those(grids: Sequence[_Grid], names: Sequence[str]) -> list[_Grid]:
    """The tables of these names, in their order."""
    return sorted((g for g in grids if g.id in names), key=lambda grid: names.index(grid.id))


def _tables(entries: Sequence[Entry]) -> Iterator[_Grid]:
    """Every table; its data stand in a file beside the report, since they would double its size."""
    by_name: dict[str, list[Entry]] = {}
    for e in entries:
        if not e.table.startswith("figure"):
            by_name.setdefault(e.table, []).append(e)
    for name, mine in by_name.items():
        sheet = sheets.sheet(mine)
        if len(sheet.lines) > LONGEST:
            more = f"{len(sheet.lines) - LONGEST:,} more lines stand in tables/{name}.csv"
            notes = (*sheet.notes, more)
            sheet = replace(sheet, lines=sheet.lines[:LONGEST], notes=notes)
        yield _Grid(name, sheet, f"tables/{name}.csv")


def _figure(plate: Plate) -> _Figure:
    return _Figure(
        id=plate.id,
        image=_data("image/svg+xml", plate.svg),
        alt=f"Chart: {plate.caption}, {', '.join(plate.models)}. Its numbers follow as a table.",
        caption=f"{plate.caption}. Bars are 95\u00a0% intervals.",
        single=plate.narrow,
        sheet=sheets.sheet(plate.entries),
        csv=_csv(plate.entries),
    )


def _pages(run: ReportInput) -> Iterator[_Page]:
    """Figure 6: a trial beside the same problem solved alone, as the model wrote them."""
    for shown in run.exhibits:
        caption = f"One trial beside the same problem solved alone. {shown.title}"
        yield _Page(
            id=shown.name,
            image=_data(
                "image/svg+xml",
                run.images.get(shown.name) or figures_effort.render(shown, "svg")[0],
            ),
            alt=f"Two texts: {caption}; {shown.verdict}.",
            caption=f"{caption}: {shown.verdict}.",
        )


def _csv(entries: Sequence[Entry]) -> str:
    return _data("text/csv", sheets.csv_text(entries).encode())


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}"
