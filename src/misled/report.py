"""A run as one HTML file that opens from disk, and as a table for the terminal.

    write(ReportInput(entries=..., plan_toml=..., facts={"misled": "0.1.0"}), directory)
    -> directory/report.html

Everything that a plan, a file or a model said is untrusted: it is escaped, and
what cannot be seen in it is written out. The file has no script but the one that lists
its trials, asks nothing of the network, and holds no date but those in `facts`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup, escape
from msgspec.structs import replace
from rich.console import Console

from misled import captions, figures_effort, glossary, pages, sheets
from misled.cautions import Caution
from misled.parts import PARTS, Parts
from misled.phrases import titled
from misled.plates import Grid, csv, groups
from misled.records import Entry, Record, Usage

__all__ = ["ReportInput", "html", "summary", "write"]

LONGEST = 200  # lines of a table on the page; the whole of it stands in its file
OPEN = 24  # lines of one that is not folded
_TOGETHER = re.compile(r"\[[^][]*\]|\b(?:n|p|Holm) (?:< )?[\d.]+")


class ReportInput(Record, frozen=True):
    """What a report shows besides the estimates, given by whoever ran the study.

    `study` is that of the entries and need be said only where there are none;
    `title` is the study's own unless given. `facts` and `counts` are shown in
    their order, under their own names: versions, models, the prompts' hash,
    dates; requests asked, answered, failed. `usage` sums the answers' tokens.
    `stopped` says why a run ended before its plan was done. `notes` are further
    warnings, one sentence each. `panels` are figure 7 with its single problems,
    without which it is drawn from the entries alone; `exhibits` are the trials
    of figure 6. `trials` are listed for a reader to open. `example` is one problem: texts, named.
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
    example: tuple[tuple[str, str], ...] = ()


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
    grids = list(_tables(run.entries, parts.units))
    environment = pages.environment()
    environment.filters |= {"symbols": _symbols, "unbroken": _unbroken}
    lead = parts.lead(run.entries) if run.entries else "Nothing has been answered yet."
    warned = [*_own_cautions(run), *parts.cautions(run.entries)]
    said = [lead, *(caution.text for caution in warned), *_said(grids)]
    return environment.get_template("report.html.jinja").render(
        run=run,
        study=study,
        reading=f"report.{study}.html.jinja",
        title=run.title or titled(parts.title, run.entries),
        more=parts.more,
        lead=lead,
        strip=list(_strip(run)),
        glance=parts.glance(run.entries),
        findings=parts.findings(run.entries),
        cautions=warned,
        main=_main_table(parts, run.entries),
        opened=_those(grids, parts.opened),
        compared=_those(grids, parts.compared),
        groups=groups(parts, study, run.entries, run.panels, run.exhibits, run.images),
        paper=parts.paper,
        most=OPEN,
        tables=[grid for grid in grids if grid.id not in {*parts.opened, *parts.compared}],
        words=glossary.words(study, said),
        columns=glossary.columns({entry.metric for entry in run.entries}),
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
            "* no interval: fewer than 10 problems have this number, or all of them the same",
            highlight=False,
        )
    return out.getvalue().rstrip("\n")


def _study(entries: Sequence[Entry]) -> str:
    return entries[0].study if entries else "cpt"


def _said(grids: Sequence[Grid]) -> Iterator[str]:
    """What tables say in words: names of keys and columns, and the values of keys."""
    for grid in grids:
        sheet = grid.sheet
        yield from (*sheet.heads, *sheet.columns, *sheet.constant, *sheet.constant.values())
        yield from dict.fromkeys(key for line in sheet.lines for key in line.keys)
        yield from (sheet.caption, grid.id.replace("_", " "))
        if captions.KEYS["source"] in {*sheet.heads, *sheet.constant}:
            yield "source"


def _own_cautions(run: ReportInput) -> Iterator[Caution]:
    if run.stopped:
        text = "The run stopped before its plan was done; the numbers are of what was answered"
        yield Caution(text, (run.stopped,))
    for note in run.notes:
        yield Caution(note.rstrip("."), ())


def _strip(run: ReportInput) -> Iterator[str]:
    """How large the run was, in few words."""
    yield from (f"{count:,} {name}" for name, count in run.counts.items())
    tokens = (run.usage.prompt or 0) + (run.usage.completion or 0)
    if tokens:
        yield f"{tokens:,} tokens"


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


def _main_table(parts: Parts, entries: Sequence[Entry]) -> Grid | None:
    made = parts.main(entries)
    return Grid("main", made[0], csv(made[1])) if made else None


def _those(grids: Sequence[Grid], names: Sequence[str]) -> list[Grid]:
    """The tables of these names, in their order."""
    return sorted((g for g in grids if g.id in names), key=lambda grid: names.index(grid.id))


def _tables(entries: Sequence[Entry], units: str = "") -> Iterator[Grid]:
    """Every table; its data stand in a file beside the report, since they would double its size."""
    by_name: dict[str, list[Entry]] = {}
    for e in entries:
        if not e.table.startswith("figure"):
            by_name.setdefault(e.table, []).append(e)
    for name, mine in by_name.items():
        sheet = _filled(sheets.sheet(mine))
        if name == "families" and units:
            sheet = replace(sheet, notes=(units, *sheet.notes))
        size = len(sheet.lines)
        if size > LONGEST:
            more = f"{size - LONGEST:,} more lines stand in tables/{name}.csv"
            notes = (*sheet.notes, more)
            sheet = replace(sheet, lines=sheet.lines[:LONGEST], notes=notes)
        yield Grid(name, sheet, f"tables/{name}.csv", size)


def _filled(sheet: sheets.Sheet) -> sheets.Sheet:
    """The sheet without a line that no key names: its notes say why there is no number."""
    named = tuple(line for line in sheet.lines if any(line.keys) or not sheet.heads)
    return replace(sheet, lines=named)


def _symbols(text: str) -> Markup:
    """Our own words with the study's symbols as it prints them."""
    plain = str(escape(sheets.visible(text)))
    set_ = plain.replace("R_CPT", "R<sub>CPT</sub>").replace("D_T", "D<sub>T</sub>")
    return Markup(set_)  # noqa: S704 (escaped above)


def _unbroken(text: str) -> str:
    """A number as it may be broken: not within its interval, its n or its p."""
    return _TOGETHER.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
