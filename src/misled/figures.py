"""Estimates -> figures that one would print, as SVG, PNG and PDF.

    figure4 entries of two models and four methods -> one figure of two panels, four lines each

A panel a model, a line a method, a figure for whatever else differs (problem
set, feed, structure ...). Lines are told apart by colour, marker and dash at
once; intervals are drawn; a cell without a number is marked in a strip below
the data, where no number could be read into it. Same entries, same bytes.

Knows nothing about trials: it draws the `Entry`s that it is given.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from misled.prompts import METHODS
from misled.records import Entry, Record
from misled.sheets import publish, visible

__all__ = ["FORMATS", "Drawing", "drawings", "render", "write"]

FORMATS = ("svg", "png", "pdf")

# Colours that colour-blind readers tell apart; every line has its own marker and dash, too.
_LINES: tuple[dict[str, Any], ...] = (
    {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    {"color": "#D55E00", "marker": "s", "linestyle": (0, (5, 1.6))},
    {"color": "#009E73", "marker": "^", "linestyle": (0, (6, 1.6, 1.2, 1.6))},
    {"color": "#AA4499", "marker": "D", "linestyle": (0, (1.4, 1.4))},
    {"color": "#222222", "marker": "v", "linestyle": (0, (8, 3))},
    {"color": "#56B4E9", "marker": "P", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": "#8A6D00", "marker": "X", "linestyle": (0, (2, 3))},
)
_SIZES = {"o": 3.6, "s": 3.3, "^": 4.1, "D": 3.1, "v": 4.1, "P": 4.1, "X": 4.1}
_GREY = "#666666"
_STYLE = {
    "axes.edgecolor": "#444444",
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.5,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "legend.fontsize": 8,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "misled",
    "xtick.labelsize": 7.5,
    "xtick.major.width": 0.7,
    "ytick.labelsize": 7.5,
    "ytick.major.width": 0.7,
}
_METADATA: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {"Software": None},
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
# table -> what the y axis shows, and the values that its lines are read against
_KINDS = {
    "figure4": ("$R_{CPT}$", {0.5: "resists", 1.0: "adopts"}),
    "figure4_net": ("net $R_{CPT}$", {0.0: "no effect"}),
}
_AXES = {"target", "source", "mode", "method", "d_t", "against"}
_STRIP = 0.11  # share of the axis below the data that is kept for cells without a number


class Drawing(Record, frozen=True):
    """One figure to draw; `name` is the stem of its files."""

    name: str
    title: str
    table: str
    entries: tuple[Entry, ...]


def drawings(entries: Iterable[Entry]) -> list[Drawing]:
    """A figure for each table that is one, and for each combination of what is no axis of it."""
    cut: dict[tuple[str, tuple[tuple[str, str], ...]], list[Entry]] = {}
    for e in entries:
        if e.table in _KINDS:
            apart = tuple((name, value) for name, value in e.keys.items() if name not in _AXES)
            cut.setdefault((e.table, apart), []).append(e)
    said: dict[str, set[str]] = {}
    for _, apart in cut:
        for name, value in apart:
            said.setdefault(name, set()).add(value)
    found: dict[str, Drawing] = {}
    for (table, apart), mine in cut.items():
        words = [value for name, value in apart if name == "set" or len(said[name]) > 1]
        stem = name = re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join([table, *words])).strip("-.")
        while name in found:
            name = f"{stem}-{len(found)}"
        found[name] = Drawing(name, ", ".join(words), table, tuple(mine))
    return list(found.values())


def write(entries: Iterable[Entry], directory: Path) -> None:
    """`<name>.svg`, `.png` and `.pdf` in `directory`, each whole or not at all."""
    for drawing in drawings(entries):
        for form in FORMATS:
            publish(directory / f"{drawing.name}.{form}", render(drawing, form))


def render(drawing: Drawing, form: str) -> bytes:
    """The figure in one of `FORMATS`; equal drawings give equal bytes."""
    out = io.BytesIO()
    # The reader's own matplotlib settings must not change a published figure.
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        _figure(drawing).savefig(out, format=form, dpi=200, metadata=_METADATA[form])
    return out.getvalue()


def _figure(drawing: Drawing) -> Figure:
    """A grid of panels that share their axes, under one title and legend."""
    panels: dict[tuple[str, str], list[Entry]] = {}
    for e in drawing.entries:
        panels.setdefault((e.keys["target"], e.keys.get("source", "")), []).append(e)
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.6 if columns == 1 else 7.0, 0.8 + 2.15 * rows))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    sources = {source for _, source in panels}
    styles = _styles(drawing.entries)
    for index, ((target, source), mine) in enumerate(panels.items()):
        axes = grid[index]
        _prepare(axes, drawing)
        names = [target, f"chains of {source}" if source != target and len(sources) > 1 else ""]
        axes.set_title(_wrapped(names, (60, 42, 27)[columns - 1]), loc="left", parse_math=False)
        if index % columns == 0:
            axes.set_ylabel(_KINDS[drawing.table][0])
        if index + columns >= len(panels):
            axes.set_xlabel("tampered digits $D_T$")
            axes.tick_params(labelbottom=True)
        if index % columns == columns - 1 or index == len(panels) - 1:
            _name_references(axes, drawing, in_layout=index % columns == columns - 1)
        for place, (method, line) in enumerate(styles.items()):
            points = [e for e in mine if e.keys.get("method", "") == method]
            _draw(
                axes, points, line, (place - (len(styles) - 1) / 2) * min(0.15, 0.6 / len(styles))
            )
    for spare in grid[len(panels) :]:
        spare.set_axis_off()
    lent = any(target != source for target, source in panels)
    shared = [f"chains of {source}" for source in sources if lent and len(sources) == 1]
    figure.suptitle(visible(", ".join([drawing.title, *shared])), x=0.012, ha="left",
                    fontsize=9.5, parse_math=False)  # fmt: skip
    handles = list(_legend(drawing.entries, styles))
    wide = 3 if columns == 1 else 5
    figure.legend(handles=handles, loc="outside lower center", frameon=False, handlelength=3,
                  ncols=math.ceil(len(handles) / math.ceil(len(handles) / wide)))  # fmt: skip
    return figure


def _styles(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """How each method's line looks; a known method looks the same in every figure."""
    methods = dict.fromkeys(e.keys.get("method", "") for e in entries)
    known = [*METHODS, *(method for method in methods if method not in METHODS)]
    return {
        method: _LINES[known.index(method) % len(_LINES)]
        for method in sorted(methods, key=known.index)
    }


def _wrapped(names: Iterable[str], width: int) -> str:
    return "\n".join(line for name in names for line in textwrap.wrap(visible(name), width))


def _name_references(axes: Axes, drawing: Drawing, *, in_layout: bool) -> None:
    """What the reference lines mean, in the margin."""
    for y, word in _KINDS[drawing.table][1].items():
        text = axes.text(1.015, y, word, transform=axes.get_yaxis_transform(), va="center",
                         color=_GREY, fontsize=6.5)  # fmt: skip
        text.set_in_layout(in_layout)


def _prepare(axes: Axes, drawing: Drawing) -> None:
    """The frame that all panels of a figure share: limits, ticks, grid, reference lines, strip."""
    degrees = sorted({int(e.keys["d_t"]) for e in drawing.entries})
    references = _KINDS[drawing.table][1]
    values = [y for e in drawing.entries for y in (e.value, e.low, e.high) if y is not None]
    low, high = min([*values, *references]), max([*values, *references])
    span = max(high - low, 0.2)
    bottom, top = low - 0.06 * span, high + 0.06 * span
    if any(e.value is None for e in drawing.entries):
        floor, bottom = bottom, bottom - _STRIP * (top - bottom) / (1 - _STRIP)
        axes.add_patch(Rectangle((0, 0), 1, _STRIP, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
        low = max(low, floor)
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    axes.set_yticks([float(tick) for tick in ticks if low - 1e-9 <= tick <= high + 1e-9])
    axes.set_xticks(degrees)
    axes.set_xlim(degrees[0] - 0.5, degrees[-1] + 0.5)
    axes.set_ylim(bottom, top)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for y in references:
        axes.axhline(y, color="#999999", linewidth=0.8, zorder=1)


def _draw(axes: Axes, points: Sequence[Entry], line: dict[str, Any], offset: float) -> None:
    """One method's line: intervals, full markers, hollow ones where no interval is claimed."""
    size, color = _SIZES[line["marker"]], line["color"]
    xs = [int(e.keys["d_t"]) + offset for e in points]
    ys = [math.nan if e.value is None else e.value for e in points]
    axes.plot(xs, ys, color=color, linestyle=line["linestyle"], lw=1.1)
    for x, y, e in zip(xs, ys, points, strict=True):
        if e.value is None:
            axes.plot(x, _STRIP / 2, transform=axes.get_xaxis_transform(), marker=_empty(e),
                      markersize=4, color=color, mew=1, mfc="none")  # fmt: skip
            continue
        if e.low is not None and e.high is not None:
            axes.plot([x, x], [e.low, e.high], color=color, lw=0.9, solid_capstyle="butt")
        axes.plot(x, y, marker=line["marker"], markersize=size, color=color, mew=0.9,
                  mfc="white" if e.low is None else color)  # fmt: skip


def _empty(entry: Entry) -> str:
    return "x" if "unsupported" in entry.left_out else "_"


def _legend(entries: Iterable[Entry], styles: dict[str, dict[str, Any]]) -> Iterator[Line2D]:
    """A handle for each method, then for each mark that the figure has."""
    for method, line in styles.items():
        size = _SIZES[line["marker"]]
        yield Line2D([], [], label=visible(method), markersize=size, linewidth=1.1, **line)
    entries = list(entries)
    missing = {_empty(e) for e in entries if e.value is None}
    bare = [e for e in entries if e.value is not None and e.low is None]
    if bare:
        why = " (n < 10)" if all(e.clusters < 10 for e in bare) else ""
        yield Line2D([], [], linestyle="", marker="o", markersize=3.6, color=_GREY, mfc="white",
                     label=f"no interval{why}")  # fmt: skip
    for mark, words in (("x", "unsupported"), ("_", "no value read")):
        if mark in missing:
            yield Line2D([], [], linestyle="", marker=mark, markersize=4, color=_GREY, label=words)
