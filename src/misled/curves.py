"""Figure 4: a value against the tampered digits, a panel a model, a line a method.

    curves("addition:15+13", entries of two models, "$R_{CPT}$", {0.5: "resists"}) -> two panels

Intervals are drawn, markers are hollow where none is claimed, and what has no
value is marked below the data. Knows nothing about tables and files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from misled.prompts import METHODS
from misled.records import Entry
from misled.strokes import GREY, STRIP, extent, keyed, legend, place, strokes, titled, wrapped

__all__ = ["curves"]

References: TypeAlias = Mapping[float, str]


def curves(title: str, entries: Sequence[Entry], label: str, references: References) -> Figure:
    """A grid of panels that share their axes, under one title and legend."""
    panels: dict[tuple[str, str], list[Entry]] = {}
    for e in entries:
        panels.setdefault((e.keys["target"], e.keys.get("source", "")), []).append(e)
    columns = {1: 1, 2: 2, 4: 2}.get(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.6 if columns == 1 else 7.0, 0.8 + 2.15 * rows))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    sources = {source for _, source in panels}
    styles = strokes((e.keys.get("method", "") for e in entries), METHODS)
    for index, ((target, source), mine) in enumerate(panels.items()):
        axes = grid[index]
        _prepare(axes, entries, references)
        names = [target, f"chains of {source}" if source != target and len(sources) > 1 else ""]
        axes.set_title(wrapped(names, (60, 42, 27)[columns - 1]), loc="left", parse_math=False)
        if index % columns == 0:
            axes.set_ylabel(label)
        if index + columns >= len(panels):
            axes.set_xlabel("tampered digits $D_T$")
            axes.tick_params(labelbottom=True)
        if index % columns == columns - 1 or index == len(panels) - 1:
            _name_references(axes, references, in_layout=index % columns == columns - 1)
        for series, (method, line) in enumerate(styles.items()):
            points = [e for e in mine if e.keys.get("method", "") == method]
            shift = (series - (len(styles) - 1) / 2) * min(0.15, 0.6 / len(styles))
            _draw(axes, points, line, shift)
    lent = any(target != source for target, source in panels)
    shared = [f"chains of {source}" for source in sources if lent and len(sources) == 1]
    titled(figure, title, *shared)
    handles = list(legend(entries, styles))
    keyed(figure, handles, across=3 if columns == 1 else 5, length=3)
    return figure


def _name_references(axes: Axes, references: References, *, in_layout: bool) -> None:
    """What the reference lines mean, in the margin."""
    for y, word in references.items():
        text = axes.text(1.015, y, word, transform=axes.get_yaxis_transform(), va="center",
                         color=GREY, fontsize=7)  # fmt: skip
        text.set_in_layout(in_layout)


def _prepare(axes: Axes, entries: Sequence[Entry], references: References) -> None:
    """The frame that all panels of a figure share: limits, ticks, grid, reference lines, strip."""
    degrees = sorted({int(e.keys["d_t"]) for e in entries})
    bottom, top, ticks = extent(entries, references)
    if any(e.value is None for e in entries):
        axes.add_patch(Rectangle((0, 0), 1, STRIP, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
    axes.set_yticks(ticks)
    axes.set_xticks(degrees)
    axes.set_xlim(degrees[0] - 0.5, degrees[-1] + 0.5)
    axes.set_ylim(bottom, top)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for y in references:
        axes.axhline(y, color="#999999", linewidth=0.8, zorder=1)


def _draw(axes: Axes, points: Sequence[Entry], line: dict[str, Any], offset: float) -> None:
    """One method's line, broken where a cell is empty."""
    xs = [int(e.keys["d_t"]) + offset for e in points]
    ys = [math.nan if e.value is None else e.value for e in points]
    axes.plot(xs, ys, color=line["color"], linestyle=line["linestyle"], lw=1.1)
    place(axes, list(zip(xs, points, strict=True)), line, upright=True)
