"""Figures 5 and 8: a value by model, a panel a problem set, a dot a method or a structure.

    dots("", pooled entries, "$R_{CPT}$", {0.5: "resists"}, series="method") -> a figure

Models stand below each other, so that a long name stays readable. Intervals
are drawn, dots are hollow where none is claimed, and what has no value is
marked beside the data. Knows nothing about tables and files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from misled.prompts import METHODS
from misled.records import Entry
from misled.strokes import GREY, STRIP, extent, keyed, legend, place, strokes, titled, wrapped

__all__ = ["dots"]

_STRUCTURES = ("intact", "delete_reflection", "delete_verification", "insert")
_CONTROLS = ("delete_random", "delete_random_v", "insert_neutral")
_KNOWN = {"method": METHODS, "structure": (*_STRUCTURES, *_CONTROLS)}
_STEP = 0.115  # inches between the dots of one model
_GAP = 0.2  # inches between models


def dots(
    title: str,
    entries: Sequence[Entry],
    label: str,
    references: Mapping[float, str],
    *,
    series: str,
) -> Figure:
    """A grid of panels that share their models and their axis, under one title and legend."""
    panels = list(dict.fromkeys(e.keys["set"] for e in entries))
    models = list(dict.fromkeys((e.keys["target"], e.keys.get("source", "")) for e in entries))
    looks = strokes((e.keys.get(series, "") for e in entries), _KNOWN[series])
    columns = min(len(panels), 3)
    rows = math.ceil(len(panels) / columns)
    height = len(models) * (_STEP * len(looks) + _GAP)
    wide = 4.6 if columns == 1 else 7.0
    figure = Figure(figsize=(wide, 0.95 + rows * (height + 0.55)))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    for index, (axes, name) in enumerate(zip(grid, panels, strict=False)):
        mine = [e for e in entries if e.keys["set"] == name]
        _prepare(axes, entries, references, [_named(*model, models) for model in models])
        degrees = " or ".join(dict.fromkeys(e.keys.get("d_t", "") for e in mine))
        over = f" ($D_T$ {degrees})" if degrees else ""
        width = (52, 38, 26)[columns - 1]
        axes.set_title(wrapped([name], width).replace("$", r"\$") + over, loc="left", pad=13)
        if index + columns >= len(panels):
            axes.set_xlabel(label)
            axes.tick_params(labelbottom=True)
        _name_references(axes, references)
        for at, (kind, look) in enumerate(looks.items()):
            shift = (at - (len(looks) - 1) / 2) * _STEP / (_STEP * len(looks) + _GAP)
            points = [
                (models.index((e.keys["target"], e.keys.get("source", ""))) + shift, e)
                for e in mine
                if e.keys.get(series, "") == kind
            ]
            place(axes, points, look, upright=False)
    sources = dict.fromkeys(source for _, source in models)
    lent = any(target != source for target, source in models) and len(sources) == 1
    titled(figure, title, *(f"chains of {source}" for source in sources if lent))
    handles = list(legend(entries, looks, lines=False))
    keyed(figure, handles, across=3 if columns == 1 else 5, length=1.4)
    return figure


def _named(target: str, source: str, models: Sequence[tuple[str, str]]) -> str:
    several = len({source for _, source in models}) > 1 and source != target
    return wrapped([target, *([f"chains of {source}"] if several else [])], 26)


def _prepare(
    axes: Axes, entries: Sequence[Entry], references: Mapping[float, str], models: Sequence[str]
) -> None:
    """The frame that all panels share: a band a model, reference lines, a strip."""
    left, right, ticks = extent(entries, references)
    if any(e.value is None for e in entries):
        axes.add_patch(Rectangle((0, 0), STRIP, 1, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
    axes.set_xlim(left, right)
    axes.set_xticks(ticks)
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.set_yticks(range(len(models)), models, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for x in references:
        axes.axvline(x, color="#999999", linewidth=0.8, zorder=1)
    for between in range(1, len(models)):
        axes.axhline(between - 0.5, color="#d4d4d4", linewidth=0.5, zorder=1)


def _name_references(axes: Axes, references: Mapping[float, str]) -> None:
    for x, word in references.items():
        axes.annotate(
            word,
            (x, 1),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            color=GREY,
            fontsize=7,
        )
