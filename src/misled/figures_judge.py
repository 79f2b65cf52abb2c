"""Figures 2, 3 and 4 of study B: flips, edited chains, and what judges answer by themselves.

    transitions of ten judges on four sets -> four panels, a row a judge, a dot a flip

Intervals are drawn, dots are hollow where none is claimed, and what has no
value is marked beside the data. In figure 2 an upright tick is a flip's floor:
its share when the same question was asked twice. Same entries, same bytes.

Knows nothing about verdicts: it draws the `Entry`s that it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from msgspec.structs import replace

from misled.controlled import PLAIN
from misled.figures import Drawing
from misled.flips import FLIPS
from misled.judged import PLACES
from misled.records import Entry
from misled.rulings import distinct
from misled.strokes import (
    GREY,
    STRIP,
    Stroke,
    extent,
    keyed,
    legend,
    place,
    rendered,
    strokes,
    titled,
    wrapped,
)

__all__ = ["drawings", "figure", "render"]

_AXES = {
    "figure2": ("transitions", ("set", "judge")),
    "figure3": ("controlled", ("judge", "variant", "place", "k")),
    "figure4": ("closed_book", ("set", "judge")),
}
_SHOWN = {
    "figure2": tuple(f"{name}{end}" for name in FLIPS for end in ("", "_floor")),
    "figure3": ("pass", "tpr", "fpr"),
    "figure4": ("accuracy",),
}
_FLOOR = "_floor"
_COLUMNS = {"pass": "all answers", "tpr": "right answers", "fpr": "wrong answers"}
_EDITS = {"filler": "filler", "placebo": "placebo", "chain_cut": "cut", "true_edit": "reworded"}
_PLAIN: Stroke = {"color": GREY, "marker": "o", "linestyle": (0, (4, 2))}
_TALLEST = 8.6  # inches of panels below each other that a page of a journal holds
_STEP, _GAP = 0.11, 0.17  # inches between the dots of a judge, and between judges


def drawings(entries: Iterable[Entry]) -> list[Drawing]:
    """Figures 2, 3 and 4, one for each combination of what is no axis of it."""
    lines = list(entries)
    found: list[Drawing] = []
    for name, (table, axes) in _AXES.items():
        mine = [e for e in lines if e.table == table and e.metric in _SHOWN[name]]
        cuts: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
        for e in mine:
            cuts.setdefault(tuple(x for x in e.keys.items() if x[0] not in axes), []).append(e)
        stems: set[str] = set()
        for apart, cut in cuts.items():
            words = [
                _said(*x) for x in apart if x[0] != "shown" or len(distinct(mine, "shown")) > 1
            ]
            stem = re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join([name, *words])).strip("-.")
            while stem in stems:
                stem += "-2"
            stems.add(stem)
            found.append(Drawing(stem, ", ".join(words), name, tuple(cut)))
    return found


def _said(name: str, value: str) -> str:
    words = {"generator": f"answers of {value}", "shown": f"shown as {value}"}
    return words.get(name, value)


def render(drawing: Drawing, *forms: str) -> tuple[bytes, ...]:
    """The figure as svg, png or pdf; equal drawings give equal bytes."""
    return rendered(lambda: figure(drawing), *forms)


def figure(drawing: Drawing) -> Figure:
    """The drawing as matplotlib has it."""
    return _PAINTED[drawing.table](drawing)


def _flips(drawing: Drawing) -> Figure:
    """Figure 2: a panel a problem set, a row a judge, a dot a flip, a tick its floor."""
    looks = strokes(FLIPS, tuple(FLIPS))
    floored = any(e.metric.endswith(_FLOOR) and e.value is not None for e in drawing.entries)
    apart = "" if floored else " (no floor: nothing was asked twice)"
    made = _panels(replace(drawing, title=drawing.title + apart), "share of all answers", looks)
    if floored:
        tick = Line2D([], [], linestyle="", marker="|", markersize=7, color=GREY, mew=1.1,
                      label="floor: asked twice")  # fmt: skip
        _legend(made, drawing, looks, (tick,))
    else:
        _legend(made, drawing, looks)
    return made


def _ability(drawing: Drawing) -> Figure:
    """Figure 4: a panel a problem set, a row a judge, a dot the share that it answers rightly."""
    looks = strokes(("accuracy",), ("accuracy",))
    made = _panels(drawing, "share answered rightly", looks)
    if any(e.value is None or e.low is None for e in drawing.entries):
        _legend(made, drawing, looks)
    return made


def _panels(drawing: Drawing, label: str, looks: Mapping[str, Stroke]) -> Figure:
    """A grid of panels that share their judges and their axis."""
    sets, judges = distinct(drawing.entries, "set"), distinct(drawing.entries, "judge")
    columns = min(len(sets), 4)
    rows = math.ceil(len(sets) / columns)
    height = len(judges) * (_STEP * len(looks) + _GAP)
    wide = 4.6 if columns == 1 else 7.0
    made = Figure(figsize=(wide, 0.9 + rows * (height + 0.45)))
    made.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = made.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    for index, (axes, name) in enumerate(zip(grid, sets, strict=False)):
        _prepare(axes, drawing.entries, [wrapped([judge], 26) for judge in judges])
        axes.set_title(wrapped([name], (52, 38, 26, 17)[columns - 1]), loc="left", parse_math=False)
        if index + columns >= len(sets):
            axes.set_xlabel(label)
            axes.tick_params(labelbottom=True)
        mine = [e for e in drawing.entries if e.keys["set"] == name]
        for at, (series, look) in enumerate(looks.items()):
            shift = (at - (len(looks) - 1) / 2) * _STEP / (_STEP * len(looks) + _GAP)
            lines = {judge: line + shift for line, judge in enumerate(judges)}
            points = [(lines[e.keys["judge"]], e) for e in mine if e.metric == series]
            place(axes, points, look, upright=False)
            floors = [e for e in mine if e.metric == series + _FLOOR and e.value is not None]
            axes.plot([e.value for e in floors], [lines[e.keys["judge"]] for e in floors], "|",
                      markersize=7, color=look["color"], mew=1.1, zorder=2)  # fmt: skip
    for spare in grid[len(sets) :]:
        spare.set_axis_off()
    titled(made, drawing.title)
    return made


def _prepare(axes: Axes, entries: Sequence[Entry], judges: Sequence[str]) -> None:
    """The frame that all panels share: a band a judge, shares from 0 on, a strip."""
    floors = [e.value for e in entries if e.metric.endswith(_FLOOR) and e.value is not None]
    measured = [e for e in entries if not e.metric.endswith(_FLOOR)]
    left, right, ticks = extent(measured, [0.0, *floors])
    if any(e.value is None for e in measured):
        axes.add_patch(Rectangle((0, 0), STRIP, 1, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
    axes.set_xlim(left, right)
    axes.set_xticks(ticks)
    axes.set_ylim(len(judges) - 0.5, -0.5)
    axes.set_yticks(range(len(judges)), judges, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for between in range(1, len(judges)):
        axes.axhline(between - 0.5, color="#d4d4d4", linewidth=0.5, zorder=1)


def _legend(
    made: Figure, drawing: Drawing, looks: Mapping[str, Stroke], more: Sequence[Line2D] = (),
    *, lines: bool = False,
) -> None:  # fmt: skip
    measured = [e for e in drawing.entries if not e.metric.endswith(_FLOOR)]
    handles = [*legend(measured, dict(looks), lines=lines), *more]
    wide = made.get_figwidth() > 5
    keyed(made, handles, across=5 if wide else 3, length=3 if lines else 1.4)


def _edited(drawing: Drawing) -> Figure:
    """Figure 3: a row a judge; accepting all, right and wrong answers by false statements."""
    entries, judges = drawing.entries, distinct(drawing.entries, "judge")
    looks = strokes((_series(e) for e in entries if e.keys["variant"] != PLAIN), PLACES)
    places = _places(entries)
    row = min(1.2, _TALLEST / len(judges))
    made = Figure(figsize=(7.0, 1.1 + row * len(judges)))
    made.set_layout_engine("constrained", h_pad=0.05, w_pad=0.04)
    grid = made.subplots(len(judges), len(_COLUMNS), squeeze=False, sharex=True, sharey=True)
    for line, judge in enumerate(judges):
        for column, (metric, words) in enumerate(_COLUMNS.items()):
            axes = grid[line, column]
            _prepare_edited(axes, entries, places)
            if not line:
                axes.set_title(words, loc="left")
            if not column:
                provider, slash, model = judge.partition("/")
                names = wrapped([provider + slash, model], max(12, int(17 * row)))
                axes.set_ylabel(names, fontsize=7, parse_math=False)
            axes.tick_params(bottom=line == len(judges) - 1, left=not column)
            mine = [e for e in entries if (e.keys["judge"], e.metric) == (judge, metric)]
            _curves(axes, mine, places, looks)
    grid[-1, 1].set_xlabel("false statements of four; other edits")
    titled(made, f"{drawing.title}: share accepted")
    plain = Line2D([], [], **_PLAIN, markersize=3.6, lw=0.8, label="plain chain")
    _legend(made, drawing, looks, (plain,), lines=True)
    return made


def _series(e: Entry) -> str:
    place = e.keys.get("place", "")
    reworded = e.keys["variant"] == "true_edit" and "k" in e.keys
    return f"reworded, {place}" if reworded else place or "whole chain"


def _places(entries: Iterable[Entry]) -> dict[str, float]:
    """Where each k and each other edit stands: plain, a gap, k = 0 to 4, a gap, the others."""
    found = {PLAIN: -1.3}
    ks = sorted({int(e.keys["k"]) for e in entries if "k" in e.keys})
    found |= {str(k): float(k) for k in ks}
    others = [e.keys["variant"] for e in entries if "k" not in e.keys]
    end = max(ks, default=0) + 1.3
    names = [name for name in dict.fromkeys([*_EDITS, *others]) if name in others and name != PLAIN]
    return found | {name: end + index for index, name in enumerate(names)}


def _prepare_edited(axes: Axes, entries: Sequence[Entry], places: Mapping[str, float]) -> None:
    nothing = all(e.value is None for e in entries)
    bottom, top, ticks = extent(entries, (0.0, 1.0) if nothing else ())
    if any(e.value is None for e in entries):
        axes.add_patch(Rectangle((0, 0), 1, STRIP, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
    axes.set_ylim(bottom, top)
    axes.set_yticks(ticks)
    names = [_EDITS.get(name, name) for name in places]
    axes.set_xlim(min(places.values()) - 0.6, max(places.values()) + 0.6)
    axes.set_xticks(list(places.values()), names, fontsize=7)
    for words in axes.get_xticklabels():
        if not words.get_text().isdigit():
            words.set(rotation=35, ha="right", rotation_mode="anchor")
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)


def _curves(
    axes: Axes, mine: Sequence[Entry], places: Mapping[str, float], looks: Mapping[str, Stroke]
) -> None:
    for e in mine:
        if e.keys["variant"] == PLAIN and e.value is not None:
            axes.axhline(e.value, color=GREY, lw=0.8, linestyle=(0, (4, 2)), zorder=1)
            place(axes, [(places[PLAIN], e)], _PLAIN, upright=True)
    for at, (series, look) in enumerate(looks.items()):
        shift = (at - (len(looks) - 1) / 2) * min(0.16, 0.6 / len(looks))
        points = [
            (places[e.keys.get("k", e.keys["variant"])] + shift, e)
            for e in mine
            if e.keys["variant"] != PLAIN and _series(e) == series
        ]
        line = [(x, math.nan if e.value is None else e.value) for x, e in points if "k" in e.keys]
        axes.plot([x for x, _ in line], [y for _, y in line], color=look["color"],
                  linestyle=look["linestyle"], lw=1.0)  # fmt: skip
        place(axes, points, look, upright=True)


_PAINTED: dict[str, Callable[[Drawing], Figure]] = {
    "figure2": _flips,
    "figure3": _edited,
    "figure4": _ability,
}
