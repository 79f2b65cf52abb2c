"""Differences between runs as a figure: a dot a score with its interval, a row a cell.

    differences of two models under four methods -> one figure, two panels, four rows

Dots left of the line are lower in the run than in the reference. They are
hollow where no interval is claimed, and what has no value is marked beside the
data. Same entries, same bytes. Knows nothing about trials.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from msgspec.structs import replace

from misled.captions import KEYS, label
from misled.facing import Facing, leading, unsupported
from misled.records import Entry, Record
from misled.strokes import (
    SIZES,
    STRIP,
    Stroke,
    empty,
    extent,
    legend,
    rendered,
    strokes,
    titled,
    wrapped,
)
from misled.versus_judge import EFFECTS

__all__ = ["Chart", "charts", "figure", "render"]

LONGEST = 120  # characters of a file's stem
_STEP, _GAP = 0.115, 0.17  # inches between the dots of a row, and between rows
_LEAST = (-0.1, 0.0, 0.1)  # the axis shows these, so that next to nothing looks like it
_R = ("r_cpt", "net_r")
_WHO = ("target", "judge")


_PART = {
    "self": "own answers",
    "self_hidden": "own answers",
    "controlled": "edited chains",
}
_CONDITIONS = {
    "controlled": "with the edited chain",
    "answer": "without the chain",
    "reasoning": "with the chain",
    "self_hidden": "own answer, without the chain",
    "self": "own answer, with the chain",
    **dict.fromkeys(EFFECTS.values(), "with minus without"),
}


class _Kind(NamedTuple):
    """Of a study: its scores in their order, the panel of each, the keys that make a figure."""

    scores: tuple[str, ...]
    panel: Callable[[Facing], str]
    apart: tuple[str, ...]
    joint: bool  # whether panels share their axis


_KINDS = {
    "cpt": _Kind(
        ("net_adoption", "adopted", "recovered", "confused", "stopped", *_R),
        lambda each: "R and net R" if each.score in _R else "shares of the trials",
        ("set",),
        joint=False,
    ),
    "judge": _Kind(
        ("tpr", "fpr", "youden", "alignment"),
        lambda each: _CONDITIONS[each.keys["condition"]],
        ("set", "generator", "shown"),
        joint=True,
    ),
}


class Chart(Record, frozen=True):
    """One figure to draw; `name` is the stem of its files."""

    name: str
    title: str
    study: str
    found: tuple[Facing, ...]

    @property
    def panels(self) -> dict[str, list[Facing]]:
        """What stands in each panel, by its title."""
        kind = _KINDS[self.study]
        panels: dict[str, list[Facing]] = {}
        for each in self.found:
            panels.setdefault(kind.panel(each), []).append(each)
        return panels


def charts(found: Sequence[Facing]) -> list[Chart]:
    """A figure for each run and problem set, of own answers and edited chains apart; over D_T."""
    cut: dict[tuple[str, ...], list[Facing]] = {}
    for each in leading(found, edited=True):
        kind = _KINDS[each.change.study]
        if each.score in kind.scores:
            condition = each.keys.get("condition", "").partition(" ")[0]
            apart = [each.keys.get(name, "") for name in kind.apart]
            runs = each.change.keys["run"], each.change.keys["against"]
            cut.setdefault((*runs, *apart, _PART.get(condition, "")), []).append(each)
    several = [len({key[at] for key in cut}) > 1 for at in range(len(next(iter(cut), ())))]
    made: dict[str, Chart] = {}
    for (run, against, problems, *rest), mine in cut.items():
        words = [problems, *(word for word, many in zip(rest, several[3:], strict=True) if many)]
        told = [*filter(None, words), *([run] if several[0] else [])]
        stem = re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join(["compare", *told]))[:LONGEST]
        name = stem = stem.strip("-.")
        while name in made:
            name = f"{stem}-{len(made)}"
        who = {each.keys.get(key, "") for each in mine for key in _WHO} - {""}
        words += who if len(who) == 1 and len({_key(each) for each in mine}) > 1 else ()
        title = f"{run} minus {against}: {', '.join(filter(None, words))}"
        made[name] = Chart(name, title, mine[0].change.study, tuple(mine))
    return list(made.values())


def render(chart: Chart, *forms: str) -> tuple[bytes, ...]:
    """The figure as svg, png or pdf; equal charts give equal bytes."""
    return rendered(lambda: figure(chart), *forms)


def figure(chart: Chart) -> Figure:
    """A panel a kind of score or a condition; panels share their rows."""
    kind, panels = _KINDS[chart.study], chart.panels
    names = _rows(chart)
    rows = list(dict.fromkeys(names.values()))
    looks = strokes((each.score for each in chart.found), kind.scores)
    height = len(rows) * (_STEP * len(looks) + _GAP)
    wide = (4.6, 7.0, 7.6)[min(len(panels), 3) - 1]
    made = Figure(figsize=(wide, 1.05 + height))
    made.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = made.subplots(1, len(panels), squeeze=False, sharey=True, sharex=kind.joint).flatten()
    found = {id(each): _marked(each.change) for each in chart.found}
    every = list(found.values())
    for axes, (title, mine) in zip(grid, panels.items(), strict=True):
        shown = every if kind.joint else [found[id(each)] for each in mine]
        _prepare(axes, shown, rows)
        axes.set_title(title, loc="left")
        here = list(looks) if kind.joint else list(dict.fromkeys(each.score for each in mine))
        for each in mine:
            place = rows.index(names[_key(each)])
            step = (here.index(each.score) - (len(here) - 1) / 2) * _STEP
            _dot(
                axes, found[id(each)], place + step / (_STEP * len(looks) + _GAP), looks[each.score]
            )
    titled(made, chart.title)
    called = {label(name).replace("R_CPT", "$R_{CPT}$"): look for name, look in looks.items()}
    handles = list(legend(every, called, lines=False))
    across = 3 if len(panels) == 1 else 5
    made.legend(handles=handles, loc="outside lower center", frameon=False, handlelength=1.4,
                ncols=math.ceil(len(handles) / math.ceil(len(handles) / across)))  # fmt: skip
    return made


_Key = tuple[tuple[str, str], ...]


def _key(each: Facing) -> _Key:
    return tuple((name, value) for name, value in each.keys.items() if name != "condition")


def _rows(chart: Chart) -> dict[_Key, str]:
    """What each cell's row is called: by what is not the same in all rows, else by its model."""
    keys = list(dict.fromkeys(_key(each) for each in chart.found))
    common = set.intersection(*(set(key) for key in keys)) if len(keys) > 1 else set()
    names = _WHO if len(keys) == 1 else tuple(name for key in keys for name, _ in key)
    shown = {key: [x for x in key if x not in common and x[0] in names] for key in keys}
    return {key: wrapped((_named(*x) for x in mine), 24) for key, mine in shown.items()}


def _named(name: str, value: str) -> str:
    return f"{KEYS[name]} {value}" if name in {"d_t", "k"} else value


def _marked(change: Entry) -> Entry:
    """A difference with why it has no value, as all figures mark it."""
    return replace(change, left_out={"unsupported": 1}) if unsupported(change) else change


def _prepare(axes: Axes, entries: Sequence[Entry], rows: Sequence[str]) -> None:
    """The frame that all panels share: a band a row, the line of no difference, a strip."""
    left, right, ticks = extent(entries, _LEAST)
    if any(e.value is None for e in entries):
        axes.add_patch(Rectangle((0, 0), STRIP, 1, transform=axes.transAxes, color="#eeeeee",
                                 linewidth=0, zorder=0))  # fmt: skip
    axes.set_xlim(left, right)
    axes.set_xticks(ticks)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), rows, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.axvline(0, color="#999999", linewidth=0.8, zorder=1)
    axes.set_xlabel("difference")
    for between in range(1, len(rows)):
        axes.axhline(between - 0.5, color="#d4d4d4", linewidth=0.5, zorder=1)


def _dot(axes: Axes, e: Entry, y: float, look: Stroke) -> None:
    color = look["color"]
    if e.value is None:
        axes.plot(STRIP / 2, y, transform=axes.get_yaxis_transform(), marker=empty(e),
                  markersize=4, color=color, mew=1, mfc="none")  # fmt: skip
        return
    if e.low is not None and e.high is not None:
        axes.plot([e.low, e.high], [y, y], color=color, lw=0.9, solid_capstyle="butt")
    axes.plot(e.value, y, marker=look["marker"], markersize=SIZES[look["marker"]], color=color,
              mew=0.9, mfc="white" if e.low is None else color)  # fmt: skip
