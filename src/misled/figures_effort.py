"""Figures 6 and 7: one trial beside the same problem solved alone, and what questions cost.

    medians of gate, again, clean and tampered, four methods -> a panel a model, log tokens

Figure 7 [A] has a panel a model and a group a method; a dot is a median with
its interval, the faint points are the single problems. A median that truncated
replies leave open is an arrow at the upper edge. Figure 6 [A] shows the texts
of one trial with their tokens. Same input, same bytes.

Knows nothing about trials: it draws the estimates and texts that it is given.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from misled.effort import Strip, Typical
from misled.prompts import METHODS
from misled.records import Entry, Record
from misled.sheets import visible
from misled.strokes import GREY, SIZES, Stroke, rendered, strokes, wrapped

__all__ = ["Exhibit", "Panels", "Side", "drawings", "exhibit", "render"]

ARMS = {
    "gate": "alone",
    "again": "alone again",
    "clean": "clean chain",
    "tampered": "tampered chain",
}
_LABELS = {"total_tokens": "tokens of reasoning and answer", "seconds": "seconds"}
_AXES = {"target", "source", "mode", "method", "arm", "d_t"}
_MOST = 200  # problems that are drawn one by one
_COLUMNS, _REASONING, _ANSWER = 60, 30, 12  # characters and lines of a text of figure 6
_LINE = 0.118  # inches


class Panels(Record, frozen=True):
    """Figure 7 of one problem set; `name` is the stem of its files."""

    name: str
    title: str
    quantity: str
    entries: tuple[Entry, ...]
    strips: tuple[Strip, ...] = ()


class Side(Record, frozen=True):
    """One reply of figure 6: its texts and what they took."""

    heading: str
    reasoning: str
    answer: str
    reasoning_tokens: int
    answer_tokens: int
    seconds: float | None = None


class Exhibit(Record, frozen=True):
    """Figure 6: the problem solved alone beside the reply to the tampered chain."""

    name: str
    title: str
    verdict: str
    sides: tuple[Side, Side]


def drawings(entries: Iterable[Entry], strips: Iterable[Strip] = ()) -> list[Panels]:
    """Figure 7 for tokens and for seconds, a figure for each combination of what is no axis."""
    lines, points = [e for e in entries if e.table == "figure7"], list(strips)
    cuts = dict.fromkeys((e.metric, _apart(e.keys)) for e in lines if e.keys["arm"] == "tampered")
    said: dict[str, set[str]] = {}
    for _, apart in cuts:
        for name, value in apart:
            said.setdefault(name, set()).add(value)
    found: dict[str, Panels] = {}
    for metric, apart in cuts:
        words = [value for name, value in apart if name == "set" or len(said[name]) > 1]
        kind = "figure7" if metric == "total_tokens" else f"figure7-{metric}"
        stem = name = re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join([kind, *words])).strip("-.")
        while name in found:
            name = f"{stem}-{len(found)}"
        mine = [e for e in lines if e.metric == metric and set(_apart(e.keys)) <= set(apart)]
        keys = [e.keys for e in mine]
        near = [s for s in points if s.quantity == metric and s.keys in keys]
        found[name] = Panels(name, ", ".join(words), metric, tuple(mine), tuple(near))
    return list(found.values())


def exhibit(found: Typical, alone: tuple[str, str], probed: tuple[str, str]) -> Exhibit:
    """Figure 6 of a trial; the texts are reasoning and answer of its two replies."""
    keys = found.keys
    digits = f"D_T {keys['d_t']}" if "d_t" in keys else ""
    words = [keys["target"], keys["set"], keys.get("method", ""), digits]
    name = re.sub(r"[^A-Za-z0-9.+]+", "-", f"figure6 {keys['set']} {keys['target']}").strip("-.")
    first = Side("Solved alone", *alone, *found.gate_tokens, found.gate_seconds)
    second = Side("With the tampered chain", *probed, *found.tokens, found.seconds)
    verdict = f"{found.outcome}; {found.ratio:.2f} of the tokens of the problem solved alone"
    return Exhibit(name, ", ".join(filter(None, words)), verdict, (first, second))


def render(drawing: Panels | Exhibit, *forms: str) -> tuple[bytes, ...]:
    """The figure as svg, png or pdf; equal drawings give equal bytes."""
    return rendered(lambda: figure(drawing), *forms)


def figure(drawing: Panels | Exhibit) -> Figure:
    """The drawing as matplotlib has it."""
    return _texts(drawing) if isinstance(drawing, Exhibit) else _panels(drawing)


def _apart(keys: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in keys.items() if name not in _AXES)


def _panels(drawing: Panels) -> Figure:
    """A grid of panels that share their axes, under one title and legend."""
    models = list(dict.fromkeys((e.keys["target"], e.keys["source"]) for e in drawing.entries))
    groups = _groups(drawing.entries)
    columns = 1 if len(models) == 1 else 2
    rows = math.ceil(len(models) / columns)
    figure = Figure(figsize=(4.6 if columns == 1 else 7.0, 0.85 + 2.3 * rows))
    figure.set_layout_engine("constrained", h_pad=0.06, w_pad=0.04)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
    looks = strokes((e.keys["arm"] for e in drawing.entries), list(ARMS))
    for index, (axes, model) in enumerate(zip(grid, models, strict=False)):
        mine = [e for e in drawing.entries if (e.keys["target"], e.keys["source"]) == model]
        keys = [e.keys for e in mine]
        _prepare(axes, drawing, groups)
        for strip in drawing.strips:
            if strip.keys in keys and len(strip.values) <= _MOST:
                _scatter(axes, strip, groups, looks)
        for e in mine:
            _dot(axes, e, groups, looks)
        names = [model[0], f"chains of {model[1]}" if model[0] != model[1] else ""]
        axes.set_title(wrapped(names, 60 if columns == 1 else 42), loc="left", parse_math=False)
        if index % columns == 0:
            axes.set_ylabel(_LABELS[drawing.quantity])
        if index + columns >= len(models):
            axes.tick_params(labelbottom=True)
    for spare in grid[len(models) :]:
        spare.set_axis_off()
    counted = {e.keys.get("tokens") for e in drawing.entries} == {"counted"}
    words = [drawing.title, "tokens counted with o200k_base" if counted else ""]
    figure.suptitle(visible(", ".join(filter(None, words))), x=0.012, ha="left", fontsize=9.5,
                    parse_math=False)  # fmt: skip
    handles = _handles(drawing, looks)
    across = 3 if columns == 1 else 6
    figure.legend(handles=handles, loc="outside lower center", frameon=False, handlelength=1.4,
                  ncols=math.ceil(len(handles) / math.ceil(len(handles) / across)))  # fmt: skip
    return figure


def _groups(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """(mode, method), the question alone being method "", in reading order."""
    there = {(e.keys["mode"], e.keys.get("method", "")) for e in entries}
    methods = ["", *METHODS, *sorted({method for _, method in there} - {"", *METHODS})]
    return sorted(
        there, key=lambda group: (group[0] != "plain", *group[:1], methods.index(group[1]))
    )


def _prepare(axes: Axes, drawing: Panels, groups: Sequence[tuple[str, str]]) -> None:
    """Scale, ticks, grid, and where one mode ends and the next begins."""
    spread = [y for e in drawing.entries for y in (e.value, e.low, e.high) if y is not None]
    spread += [y for strip in drawing.strips if len(strip.values) <= _MOST for y in strip.values]
    low, high = min(spread, default=1.0), max(spread, default=1.0)
    if low > 0 and high > 4 * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.25, high * 1.35)
        wide = high > 60 * low
        axes.yaxis.set_major_locator(
            LogLocator(subs=(1,) if high > 1e3 * low else (1, 3) if wide else (1, 2, 5))
        )
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(min(0.0, low), high * 1.12 or 1.0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
    axes.set_xlim(-0.5, len(groups) - 0.5)
    modes = list(dict.fromkeys(mode for mode, _ in groups))
    names = [
        method or ("alone" if mode == modes[0] else f"alone, {mode}") for mode, method in groups
    ]
    slanted: dict[str, Any] = {"rotation": 28, "ha": "right", "rotation_mode": "anchor"}
    labels = [name.replace("_", " ") for name in names]
    axes.set_xticks(range(len(groups)), labels, fontsize=7, **(slanted if len(groups) > 3 else {}))
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    for place in range(1, len(groups)):
        if groups[place][0] != groups[place - 1][0]:
            axes.axvline(place - 0.5, color="#bbbbbb", linewidth=0.7)


def _place(keys: dict[str, str], groups: Sequence[tuple[str, str]]) -> float:
    second = keys["arm"] in {"again", "tampered"}
    return groups.index((keys["mode"], keys.get("method", ""))) + (0.19 if second else -0.19)


def _scatter(
    axes: Axes, strip: Strip, groups: Sequence[tuple[str, str]], looks: dict[str, Stroke]
) -> None:
    """The single problems; the golden ratio spreads neighbours apart, alike each time."""
    centre = _place(strip.keys, groups)
    xs = [centre + 0.24 * ((0.618034 * (i + 1)) % 1 - 0.5) for i in range(len(strip.values))]
    axes.plot(xs, strip.values, linestyle="", marker="o", markersize=1.5, mew=0, alpha=0.28,
              color=looks[strip.keys["arm"]]["color"], zorder=1)  # fmt: skip


def _dot(axes: Axes, e: Entry, groups: Sequence[tuple[str, str]], looks: dict[str, Stroke]) -> None:
    x, look = _place(e.keys, groups), looks[e.keys["arm"]]
    if e.value is None:
        axes.plot(x, 0.97, transform=axes.get_xaxis_transform(), marker=r"$\uparrow$", markersize=6,
                  color=look["color"], mew=0.3)  # fmt: skip
        return
    if e.low is not None and e.high is not None:
        axes.plot([x, x], [e.low, e.high], color=look["color"], lw=1.3, solid_capstyle="butt",
                  zorder=3)  # fmt: skip
    inside = "white" if e.low is None else look["color"]
    axes.plot(x, e.value, marker=look["marker"], markersize=SIZES[look["marker"]] + 0.6, mew=0.9,
              color=look["color"], mfc=inside, zorder=4)  # fmt: skip


def _handles(drawing: Panels, looks: dict[str, Stroke]) -> list[Line2D]:
    found = [
        Line2D([], [], linestyle="", marker=look["marker"], markersize=SIZES[look["marker"]] + 0.6,
               color=look["color"], label=ARMS.get(arm, arm))
        for arm, look in looks.items()
    ]  # fmt: skip
    bare = [e for e in drawing.entries if e.value is not None and e.low is None]
    if any(e.value is None for e in drawing.entries):
        found.append(Line2D([], [], linestyle="", marker=r"$\uparrow$", markersize=6, color=GREY,
                            label="median beyond the limit"))  # fmt: skip
    if bare:
        why = " (n < 10)" if all(e.clusters < 10 for e in bare) else ""
        found.append(Line2D([], [], linestyle="", marker="o", markersize=4, color=GREY, mfc="white",
                            label=f"no interval{why}"))  # fmt: skip
    if any(len(strip.values) <= _MOST for strip in drawing.strips):
        found.append(Line2D([], [], linestyle="", marker="o", markersize=2, color=GREY, alpha=0.5,
                            label="one reply"))  # fmt: skip
    return found


def _texts(drawing: Exhibit) -> Figure:
    """Two columns of text, reasoning above answer, each cut in its middle where it is long."""
    blocks = [
        [_lines(side.reasoning, _REASONING), _lines(side.answer, _ANSWER)] for side in drawing.sides
    ]
    tall = [max(1, *(len(block[part]) for block in blocks)) for part in (0, 1)]
    height = 0.95 + (sum(tall) + 5.5) * _LINE
    figure = Figure(figsize=(7.0, height))
    figure.text(0.012, 1 - 0.14 / height, visible(drawing.title), fontsize=9.5, va="top",
                parse_math=False)  # fmt: skip
    for column, (side, block) in enumerate(zip(drawing.sides, blocks, strict=True)):
        left, y = 0.012 + 0.5 * column, height - 0.42
        total = f"{side.reasoning_tokens + side.answer_tokens:,} tokens"
        seconds = f", {side.seconds:.1f} s" if side.seconds is not None else ""
        figure.text(left, y / height, f"{side.heading}: {total}{seconds}", fontsize=8, va="top",
                    weight="bold", parse_math=False)  # fmt: skip
        y -= 0.2
        for part, (word, tokens) in enumerate(
            (("reasoning", side.reasoning_tokens), ("answer", side.answer_tokens))
        ):
            _rule(figure, left, y / height)
            figure.text(left, (y - 0.05) / height, f"{word}, {tokens:,} tokens", fontsize=7,
                        color=GREY, va="top")  # fmt: skip
            y -= 0.05 + 1.3 * _LINE
            colour = "#222222" if block[part] else GREY
            for line in block[part] or ["(none)"]:
                figure.text(left, y / height, line, fontsize=6, va="top", parse_math=False,
                            family="DejaVu Sans Mono", color=colour)  # fmt: skip
                y -= _LINE
            y -= (tall[part] - max(1, len(block[part]))) * _LINE + 0.08
    _rule(figure, 0.012, 0.27 / height, right=0.988)
    figure.text(0.012, 0.2 / height, f"Outcome: {drawing.verdict}", fontsize=8, va="top",
                parse_math=False)  # fmt: skip
    return figure


def _rule(figure: Figure, left: float, y: float, right: float | None = None) -> None:
    end = left + 0.476 if right is None else right
    figure.add_artist(Line2D([left, end], [y, y], color="#bbbbbb", linewidth=0.6))


def _lines(text: str, most: int) -> list[str]:
    """The text in lines that fit a column, without blank ones; a long one without its middle."""
    whole = [line for part in visible(text).splitlines() for line in _fitted(part)]
    if len(whole) <= most:
        return whole
    head = (most - 1) * 2 // 3
    tail = most - 1 - head
    gap = f"[... {len(whole) - head - tail:,} lines ...]"
    return [*whole[:head], gap, *whole[-tail:]]


def _fitted(part: str) -> list[str]:
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in part)
    width = _COLUMNS if not wide else max(20, _COLUMNS * len(part) // (len(part) + wide))
    return textwrap.wrap(part.expandtabs(4), width)
