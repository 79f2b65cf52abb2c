"""Figures of effort: a panel a model, a group a method or a part of the reply, a dot an arm.

    figure7 entries of gate, again, clean and tampered, four methods -> a panel a model, log tokens

A dot is a median with its interval, the faint points are the single problems. A
median that truncated replies leave open is an arrow at the upper edge. What is
net stands round 0, as much as the problem takes alone again, and reaches as far
as nine of ten of the single differences; the rest are counted in the legend.

Knows nothing about tables and files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from misled.effort import Strip
from misled.prompts import METHODS
from misled.records import Entry
from misled.strokes import GREY, SIZES, Stroke, keyed, strokes, titled, wrapped

__all__ = ["panels"]

_Group: TypeAlias = tuple[str, str]  # mode and method; or "" and a part of the reply
_Slot: TypeAlias = tuple[_Group, str, str]  # a group, an arm, and of what the entry is

_ARMS = {
    "gate": "alone",
    "again": "alone again",
    "clean": "clean chain",
    "tampered": "tampered chain",
}
_NET_ARMS = {
    "again": "alone again \N{MINUS SIGN} alone",
    "clean": "clean chain \N{MINUS SIGN} alone again",
    "tampered": "tampered chain \N{MINUS SIGN} alone again",
}
_PARTS = {
    "net_reasoning_tokens": "reasoning",
    "net_answer_tokens": "answer",
    "net_total_tokens": "both",
}
_LABELS = {
    "total_tokens": "tokens of reasoning and answer",
    "seconds": "seconds",
    "net_total_tokens": "difference in tokens",
    "net_seconds": "difference in seconds",
}
_OPEN = {  # a median that truncated replies leave open
    False: (r"$\uparrow$", "median beyond the limit"),
    True: (r"$\updownarrow$", "median left open by the limit"),
}
_COUNTED = "tokens counted with o200k_base"
_DOT = (-0.003, 0.003, math.nan)  # a stroke as good as without length
_APART = 0.38  # between the two dots of a group
_SHOWN = (5, 95)  # percentiles of the single differences, where all take so many times as much
_FAR = 2


def panels(
    title: str, quantity: str, entries: Sequence[Entry], strips: Sequence[Strip] = ()
) -> Figure:
    """A grid of panels that share their axes, under one title and legend.

    Where the entries are of several quantities, these are parts of one reply and
    a group each; `quantity` is the whole.
    """
    models = list(dict.fromkeys((e.keys["target"], e.keys["source"]) for e in entries))
    lender = _lender(models)
    net = quantity.startswith("net_")
    columns = 1 if len(models) == 1 else 2
    rows = math.ceil(len(models) / columns)
    figure = Figure(figsize=(4.6 if columns == 1 else 7.0, 0.85 + 2.3 * rows))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    places = _places(entries)
    looks = strokes((e.keys["arm"] for e in entries), list(_ARMS))
    for index, (axes, model) in enumerate(zip(grid, models, strict=False)):
        mine = [e for e in entries if (e.keys["target"], e.keys["source"]) == model]
        _scale(axes, entries, strips, net=net)
        _name_groups(axes, list(dict.fromkeys(group for group, _, _ in places)))
        for e in mine:
            x, look = places[_slot(e, entries)], looks[e.keys["arm"]]
            for strip in strips:
                if not _is_one(e) and (strip.quantity, strip.keys) == (e.metric, _plain(e.keys)):
                    _scatter(axes, strip, x, look)
            _dot(axes, e, x, look)
        _cross(axes, places, {_slot(e, entries)[0] for e in mine})
        names = [model[0], f"chains of {model[1]}" if model[1] not in {model[0], lender} else ""]
        axes.set_title(wrapped(names, 60 if columns == 1 else 42), loc="left", parse_math=False)
        if index % columns == 0:
            axes.set_ylabel(_LABELS[quantity])
        if index + columns >= len(models):
            axes.tick_params(labelbottom=True)
    counted = "token" in quantity and {e.keys.get("tokens") for e in entries} == {"counted"}
    chains = f"chains of {lender}" if lender else ""
    titled(figure, title, chains, _COUNTED if counted else "")
    handles = [
        *_handles(entries, looks, net=net),
        *_nowhere(places, entries, models),
        *_single("one pair" if net else "one reply", strips, grid[0].get_ylim()),
    ]
    across = ((2, 3) if net else (3, 6))[columns - 1]
    keyed(figure, handles, across=across, length=1.4)
    return figure


def _lender(models: Sequence[tuple[str, str]]) -> str:
    """Whose chains all of several models are handed, if they are one's."""
    sources = {source for _, source in models}
    return min(sources) if len(sources) == 1 and models[1:] else ""


# --- where a dot stands ----------------------------------------------------------------------


def _slot(e: Entry, entries: Sequence[Entry]) -> _Slot:
    """The entry's group, its arm, and whether it is of one trial."""
    if len({other.metric for other in entries}) > 1:
        return ("", _PARTS[e.metric]), e.keys["arm"], e.keys.get("of", "")
    return (e.keys["mode"], e.keys.get("method", "")), e.keys["arm"], e.keys.get("of", "")


def _places(entries: Sequence[Entry]) -> dict[_Slot, float]:
    """Where each slot stands: groups in reading order, and within each the arms side by side."""
    slots = dict.fromkeys(_slot(e, entries) for e in entries)
    groups = sorted({group for group, _, _ in slots}, key=_rank)
    arms, found = list(_ARMS), {}
    for place, group in enumerate(groups):
        mine = [slot for slot in slots if slot[0] == group]
        mine.sort(key=lambda slot: (arms.index(slot[1]), slot[2]))
        apart = _APART if len(mine) < 3 else 2 * _APART / len(mine)
        for at, slot in enumerate(mine):
            found[slot] = place + (at - (len(mine) - 1) / 2) * apart
    return found


def _rank(group: _Group) -> tuple[bool, str, int, str]:
    """The question alone is method ""."""
    mode, name = group
    order = ["", *METHODS, *_PARTS.values()]
    return mode not in {"", "plain"}, mode, order.index(name) if name in order else 99, name


def _plain(keys: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in keys.items() if name != "of"}


# --- axes ------------------------------------------------------------------------------------


def _scale(axes: Axes, entries: Sequence[Entry], strips: Sequence[Strip], *, net: bool) -> None:
    """Limits, ticks and grid: of what is net round 0, else logarithmic where that is needed."""
    medians = [y for e in entries for y in (e.value, e.low, e.high) if y is not None]
    single = [y for strip in strips for y in strip.values]
    if net and single:
        most = np.percentile(single, _SHOWN)
        if np.ptp(single) > _FAR * np.ptp(most):
            single = list(most)
    low, high = min([*medians, *single], default=1.0), max([*medians, *single], default=1.0)
    if net:
        low, high = min(low, 0.0), max(high, 0.0)
        pad = 0.08 * (high - low or 1.0)
        axes.set_ylim(low - pad, high + pad)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axes.axhline(0, color="#999999", linewidth=0.8, zorder=1)
    elif low > 0 and high > 4 * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.25, high * 1.35)
        wide = high > 60 * low
        axes.yaxis.set_major_locator(
            LogLocator(subs=(1,) if high > 1e3 * low else (1, 3) if wide else (1, 2, 5))
        )
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(min(0.0, low), high * 1.12 or 1.0)
    sign = "+" if net else ""
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _amount(y, sign)))
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)


def _amount(y: float, sign: str) -> str:
    return f"{y:{sign if y else ''},.10g}".replace("-", "\N{MINUS SIGN}")


def _name_groups(axes: Axes, groups: Sequence[_Group]) -> None:
    """What stands where, and where one mode ends and the next begins."""
    axes.set_xlim(-0.5, len(groups) - 0.5)
    names = [
        name or ("alone" if mode == groups[0][0] else f"alone, {mode}") for mode, name in groups
    ]
    slanted: dict[str, Any] = {"rotation": 28, "ha": "right", "rotation_mode": "anchor"}
    labels = [name.replace("_", " ") for name in names]
    axes.set_xticks(range(len(groups)), labels, fontsize=7, **(slanted if len(groups) > 3 else {}))
    axes.tick_params(axis="x", length=0)
    for place in range(1, len(groups)):
        if groups[place][0] != groups[place - 1][0]:
            axes.axvline(place - 0.5, color="#bbbbbb", linewidth=0.7)


# --- marks -----------------------------------------------------------------------------------


def _scatter(axes: Axes, strip: Strip, centre: float, look: Stroke) -> None:
    """The single problems; the golden ratio spreads neighbours apart, alike each time.

    They are one stroke, which takes a fraction of as many markers.
    """
    xs = [centre + 0.24 * ((0.618034 * (i + 1)) % 1 - 0.5) for i in range(len(strip.values))]
    near = [(x + end, y) for x, y in zip(xs, strip.values, strict=True) for end in _DOT]
    axes.plot(*zip(*near, strict=True), lw=1.6, solid_capstyle="round", snap=False, alpha=0.3,
              color=look["color"], zorder=1)  # fmt: skip


def _dot(axes: Axes, e: Entry, x: float, look: Stroke) -> None:
    if e.value is None:
        marker, _ = _OPEN[e.metric.startswith("net_")]
        axes.plot(x, 0.97, transform=axes.get_xaxis_transform(), marker=marker, markersize=6,
                  color=look["color"], mew=0.3)  # fmt: skip
        return
    if e.low is not None and e.high is not None:
        axes.plot([x, x], [e.low, e.high], color=look["color"], lw=1.3, solid_capstyle="butt",
                  zorder=3)  # fmt: skip
    if _is_one(e):
        axes.plot(x, e.value, marker="+", markersize=6, mew=1.2, color=look["color"], zorder=4)
        return
    inside = "white" if e.low is None else look["color"]
    axes.plot(x, e.value, marker=look["marker"], markersize=SIZES[look["marker"]] + 0.6, mew=0.9,
              color=look["color"], mfc=inside, zorder=4)  # fmt: skip


def _cross(axes: Axes, places: Mapping[_Slot, float], there: set[_Group]) -> None:
    """A mark at the lower edge for each group in which this model has no reply, as others have."""
    for group in dict.fromkeys(group for group, _, _ in places):
        if group not in there:
            centre = np.mean([x for slot, x in places.items() if slot[0] == group])
            axes.plot(centre, 0.05, transform=axes.get_xaxis_transform(), marker="x", markersize=4,
                      color=GREY, mew=1)  # fmt: skip


def _nowhere(
    places: Mapping[_Slot, float], entries: Sequence[Entry], models: Sequence[tuple[str, str]]
) -> Iterator[Line2D]:
    """A handle for that mark, where a panel has it."""
    there = {((e.keys["target"], e.keys["source"]), _slot(e, entries)[0]) for e in entries}
    if len(there) < len(models) * len({group for group, _, _ in places}):
        yield Line2D([], [], linestyle="", marker="x", markersize=4, color=GREY,
                     label="unsupported or not asked")  # fmt: skip


def _is_one(e: Entry) -> bool:
    return e.keys.get("of") == "this trial"


def _handles(
    entries: Sequence[Entry], looks: Mapping[str, Stroke], *, net: bool
) -> Iterator[Line2D]:
    """A handle for each arm, then for each mark that the figure has."""
    names = _NET_ARMS if net else _ARMS
    for arm, look in looks.items():
        yield Line2D([], [], linestyle="", marker=look["marker"], color=look["color"],
                     markersize=SIZES[look["marker"]] + 0.6, label=names.get(arm, arm))  # fmt: skip
    marks: dict[str, dict[str, Any]] = {}
    if any(map(_is_one, entries)):
        marks["the trial of figure 6"] = {"marker": "+", "markersize": 6, "mew": 1.2}
    if any(e.value is None for e in entries):
        marker, word = _OPEN[net]
        marks[word] = {"marker": marker, "markersize": 6}
    bare = [e for e in entries if e.value is not None and e.low is None and not _is_one(e)]
    if bare:
        why = " (n < 10)" if all(e.clusters < 10 for e in bare) else ""
        marks[f"no interval{why}"] = {"marker": "o", "markersize": 4, "mfc": "white"}
    for word, mark in marks.items():
        yield Line2D([], [], linestyle="", color=GREY, label=word, **mark)


def _single(word: str, strips: Sequence[Strip], limits: tuple[float, float]) -> Iterator[Line2D]:
    """A handle for the single problems, with how many lie beyond the axis."""
    values = np.array([y for strip in strips for y in strip.values])
    if values.size:
        beyond = int(((values < limits[0]) | (values > limits[1])).sum())
        label = word + (f" ({beyond} of {values.size} beyond)" if beyond else "")
        yield Line2D([], [], linestyle="", marker="o", markersize=2, color=GREY, alpha=0.5,
                     label=label)  # fmt: skip
