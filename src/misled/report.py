"""A run as one HTML file that opens from disk, and as a table for the terminal.

    write(ReportInput(entries=..., plan_toml=..., facts={"misled": "0.1.0"}), directory)
    -> directory/report.html

Everything that a plan, a file or a model said is untrusted: it is escaped, and
what cannot be seen in it is written out. The file has no script, asks nothing
of the network, and holds no date but those in `facts`.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jinja2
from markupsafe import Markup
from msgspec.structs import replace
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misled import captions, figures, figures_effort, findings, sheets
from misled.cautions import Caution, cautions
from misled.records import Entry, Record, Usage

__all__ = ["ReportInput", "html", "summary", "write"]

MAIN = ("r_cpt", "recovered", "adopted", "net_adoption", "net_r")
FEW_DEGREES = 3
LONGEST = 200  # lines of a table on the page; the whole of it stands in its file
# Tables that stand open, and those that compare; the others are all of the rest.
OPEN = ("families", "table1", "table1_net")
COMPARED = (
    *("methods", "structures", "structure_arms", "slopes", "magnitude", "contrasts"),
    *("attribution", "operations", "common_problems", "common", "common_pairs"),
)


class ReportInput(Record, frozen=True):
    """What a report shows besides the estimates, given by whoever ran the study.

    `facts` and `counts` are shown in their order, under their own names:
    versions, models, the prompts' hash, dates; requests asked, answered, failed.
    `usage` sums the answers' tokens. `stopped` says why a run ended before its
    plan was done. `notes` are further warnings, one sentence each. `panels` are
    figure 7 with its single problems, without which it is drawn from the
    entries alone; `exhibits` are the trials of figure 6.
    """

    entries: tuple[Entry, ...]
    plan_toml: str
    title: str = "How a tampered chain misleads"
    facts: dict[str, str] = {}
    counts: dict[str, int] = {}
    failures: dict[str, int] = {}
    usage: Usage = Usage()
    stopped: str | None = None
    notes: tuple[str, ...] = ()
    panels: tuple[figures_effort.Panels, ...] = ()
    exhibits: tuple[figures_effort.Exhibit, ...] = ()


class _Grid(Record, frozen=True):
    """A table as the page shows it, with a link to its data."""

    id: str
    sheet: sheets.Sheet
    csv: str


class _Plate(Record, frozen=True):
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
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("misled", "data"),
        autoescape=True,
        finalize=_plain,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    shown = {entry.metric for entry in run.entries}
    grids = list(_tables(run.entries))
    return environment.get_template("report.html.jinja").render(
        run=run,
        lead=_lead(run),
        findings=findings.findings(run.entries),
        cautions=[*_own_cautions(run), *cautions(run.entries)],
        main=_main_table(run.entries),
        opened=[grid for grid in grids if grid.id in OPEN],
        compared=[grid for grid in grids if grid.id in COMPARED],
        plates=list(_plates(run)),
        pages=list(_pages(run)),
        tables=[grid for grid in grids if grid.id not in {*OPEN, *COMPARED}],
        words=[captions.METRICS[metric] for metric in captions.METRICS if metric in shown],
        facts=list(_facts(run)),
    )


def summary(entries: Iterable[Entry], width: int = 100) -> str:
    """The main table for a terminal: a line a method, pooled over D_T and, if few, each D_T."""
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None, legacy_windows=False)
    by = {(e.table, e.metric, frozenset(e.keys.items())): e for e in entries}
    settings: dict[str, list[Entry]] = {}
    for entry in _intact(by.values()):
        if (entry.table, entry.metric) == ("pooled", "adopted"):
            settings.setdefault(_setting(entry.keys), []).append(entry)
    for setting, pooled in settings.items():
        grid = Table(box=box.SIMPLE_HEAD, title=Text(sheets.visible(setting), style="bold"),
                     title_justify="left", padding=(0, int(width > 88), 0, 0))  # fmt: skip
        for column in ("method", "D_T"):
            grid.add_column(column)
        for column in ("n", "R_CPT", "adopted %", "net adoption", "recovered %"):
            grid.add_column(column, justify="right", no_wrap=True)
        for entry in pooled:
            for line in _summary_lines(by, entry):
                grid.add_row(*(Text(sheets.visible(cell)) for cell in line))
        console.print(grid)
    if "*" in out.getvalue():
        console.print(
            "* no interval: fewer than 10 problems, or all of them alike", highlight=False
        )
    return out.getvalue().rstrip("\n")


_By: TypeAlias = dict[tuple[str, str, frozenset[tuple[str, str]]], Entry]


def _setting(keys: dict[str, str]) -> str:
    """What a table of the summary holds constant, without what is usual."""
    source = keys["source"]
    usual = {"reasoning", "user", "intact", "digits", "endings", "random"}
    names = ("feed", "structure", "channel", "perturbation", "scope", "place")
    rest = [f"{name} {keys[name]}" for name in names if keys.get(name, "user") not in usual]
    chains = [] if source == keys["target"] else [f"chains of {source}"]
    return ", ".join([f"{keys['set']}, {keys['target']}", *chains, *rest])


def _summary_lines(by: _By, pooled: Entry) -> Iterator[tuple[str, ...]]:
    """The pooled line, then one for each D_T where there are few of them."""
    yield _summary_line(by, pooled, "pooled", pooled.keys)
    cells = [
        e for (table, metric, _), e in by.items() if (table, metric) == ("outcomes", "adopted")
    ]
    group = pooled.keys.items() - {("d_t", pooled.keys.get("d_t", ""))}
    mine = [e for e in cells if e.keys["arm"] == "tampered" and group <= e.keys.items()]
    if 1 < len(mine) <= FEW_DEGREES:
        for entry in mine:
            keys = {name: value for name, value in entry.keys.items() if name != "arm"}
            yield _summary_line(by, entry, "", keys)


def _summary_line(by: _By, adopted: Entry, table: str, keys: dict[str, str]) -> tuple[str, ...]:
    """`keys` name the cell in `table`, or in the tables by cell where that is empty."""

    def find(name: str, metric: str, **more: str) -> Entry | None:
        return by.get((table or name, metric, frozenset((keys | more).items())))

    arm = {} if table else {"arm": "tampered"}
    return (
        keys.get("method", "") if table else "",
        keys.get("d_t", ""),
        str(adopted.n),
        _short(find("cpt", "r_cpt"), 2, 1),
        _short(adopted, 0, 100),
        _short(find("net", "net_adoption", against="clean"), 0, 100),
        _short(find("outcomes", "recovered", **arm), 0, 100),
    )


def _short(entry: Entry | None, digits: int, scale: float) -> str:
    if entry is None:
        return ""
    if entry.value is None:
        return "unsupported" if "unsupported" in entry.left_out else "no value"
    value = sheets.number(entry, entry.value, digits, scale)
    return (
        f"{value} {sheets.interval(entry, digits, scale)}"
        if entry.low is not None
        else f"{value} *"
    )


def _lead(run: ReportInput) -> str:
    targets = dict.fromkeys(e.keys["target"] for e in run.entries if "target" in e.keys)
    sets = dict.fromkeys(e.keys["set"] for e in run.entries if "set" in e.keys)
    return (
        "Models that can solve a problem are handed a finished chain of reasoning whose stated "
        "result was tampered with. Do they find the true result, or repeat the wrong one? "
        f"{', '.join(targets)} on {', '.join(sets)}."
        if targets
        else "Nothing has been answered yet."
    )


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


def _main_table(entries: Iterable[Entry]) -> _Grid | None:
    chosen = [
        e
        for e in _intact(entries)
        if e.table == "pooled" and e.metric in MAIN and e.keys.get("against", "clean") == "clean"
    ]
    if not chosen:
        return None
    return _Grid("main", sheets.sheet(chosen, digits=2, n_of="adopted"), _csv(chosen))


def _intact(entries: Iterable[Entry]) -> list[Entry]:
    """Those of intact chains, or all where there are none; edited ones have tables of their own."""
    found = list(entries)
    intact = [e for e in found if e.keys.get("structure") == "intact"]
    return intact or found


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


def _plates(run: ReportInput) -> Iterator[_Plate]:
    """Every figure: a figure and its net twin side by side, then what questions cost."""
    found = figures.drawings(run.entries)
    titles = [drawing.title for drawing in found]
    for drawing in sorted(found, key=lambda drawing: titles.index(drawing.title)):
        axis = "target" if drawing.table.startswith("figure4") else "set"
        image = figures.render(drawing, "svg")
        yield _plate(drawing, captions.caption(drawing.table, "cpt"), image, axis)
    for panels in run.panels or figures_effort.drawings(run.entries):
        image = figures_effort.render(panels, "svg")
        yield _plate(panels, captions.caption("figure7", "cpt"), image, "target")


def _plate(
    drawing: figures.Drawing | figures_effort.Panels, words: str, image: bytes, axis: str
) -> _Plate:
    entries = drawing.entries
    models = dict.fromkeys(e.keys["target"] for e in entries)
    caption = f"{words}{f'. {drawing.title}' if drawing.title else ''}"
    return _Plate(
        id=drawing.name,
        image=_data("image/svg+xml", image),
        alt=f"Chart: {caption}, {', '.join(models)}. Its numbers follow as a table.",
        caption=f"{caption}. Bars are 95\u00a0% intervals.",
        single=len({e.keys[axis] for e in entries}) == 1,
        sheet=sheets.sheet(entries),
        csv=_csv(entries),
    )


def _pages(run: ReportInput) -> Iterator[_Page]:
    """Figure 6: a trial beside the same problem solved alone, as the model wrote them."""
    for shown in run.exhibits:
        caption = f"One trial beside the same problem solved alone. {shown.title}"
        yield _Page(
            id=shown.name,
            image=_data("image/svg+xml", figures_effort.render(shown, "svg")),
            alt=f"Two texts: {caption}; {shown.verdict}.",
            caption=f"{caption}: {shown.verdict}.",
        )


def _csv(entries: Sequence[Entry]) -> str:
    return _data("text/csv", sheets.csv_text(entries).encode())


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}"


def _plain(value: Any) -> Any:
    """Every value that the template prints, with what cannot be seen written out."""
    return (
        value if isinstance(value, Markup) or not isinstance(value, str) else sheets.visible(value)
    )
