"""Figures 6 and 7: one trial beside the same problem solved alone, and what questions cost.

    figure7 entries of five models and two problem sets -> two drawings, five panels each

Figure 7 [A] and its net twin have a panel a model and a group a method. Figure 6
[A] shows the texts of one trial with their tokens; its net twin has a panel a
model, in which that trial's tokens stand beside those of all problems. Same
input, same bytes.

Knows nothing about trials: it draws the estimates and texts that it is given.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from misled.effort import Strip, Typical
from misled.figures import named, worded
from misled.panels import panels
from misled.records import Entry, Record
from misled.sheets import visible
from misled.strokes import GREY, rendered

__all__ = ["Exhibit", "Panels", "Side", "drawings", "exhibit", "render"]

_AXES = {"target", "source", "mode", "method", "arm", "d_t", "to", "of"}
# Stem of a figure's name; of figure 6 net it has all parts of the reply.
_STEMS = {
    ("figure7", "total_tokens"): "figure7",
    ("figure7", "seconds"): "figure7-seconds",
    ("figure7_net", "net_total_tokens"): "figure7-net",
    ("figure7_net", "net_seconds"): "figure7-net-seconds",
    ("figure6_net", "net_total_tokens"): "figure6-net",
}
_PARTS = ("net_total_tokens", "net_reasoning_tokens", "net_answer_tokens")
_COLUMNS, _REASONING, _ANSWER = 60, 30, 12  # characters and lines of a text of figure 6
_LINE = 0.118  # inches


class Panels(Record, frozen=True):
    """Figure 7 or a net twin, of one problem set; `name` is the stem of its files."""

    name: str
    title: str
    table: str
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
    """A figure for each quantity of each table, and for each combination of what is no axis."""
    lines = [e for e in entries if e.table in {table for table, _ in _STEMS}]
    points = list(strips)
    cuts = dict.fromkeys(
        (e.table, e.metric, _apart(e.keys))
        for e in lines
        if e.keys["arm"] == "tampered" and (e.table, e.metric) in _STEMS
    )
    said: dict[str, set[str]] = {}
    for _, _, apart in cuts:
        for name, value in apart:
            said.setdefault(name, set()).add(value)
    found: dict[str, Panels] = {}
    for table, metric, apart in cuts:
        shown = {key: value for key, value in apart if key == "set" or len(said[key]) > 1}
        stem = name = named(_STEMS[table, metric], *shown.values())
        while name in found:
            name = f"{stem}-{len(found)}"
        metrics = _PARTS if table == "figure6_net" else (metric,)
        mine = [
            e
            for e in lines
            if e.table == table and e.metric in metrics and set(_apart(e.keys)) <= set(apart)
        ]
        keys = [{k: v for k, v in e.keys.items() if k != "of"} for e in mine]
        near = [s for s in points if s.quantity in metrics and s.keys in keys]
        found[name] = Panels(name, worded(shown), table, metric, tuple(mine), tuple(near))
    return list(found.values())


def exhibit(found: Typical, alone: tuple[str, str], probed: tuple[str, str]) -> Exhibit:
    """Figure 6 of a trial; the texts are reasoning and answer of its two replies."""
    keys = found.keys
    digits = f"D_T {keys['d_t']}" if "d_t" in keys else ""
    words = [keys["target"], keys["set"], keys.get("method", ""), digits]
    name = named("figure6", keys["set"], keys["target"])
    first = Side("Solved alone", *alone, *found.gate_tokens, found.gate_seconds)
    second = Side("With the tampered chain", *probed, *found.tokens, found.seconds)
    verdict = f"{found.outcome}; {found.ratio:.2f} of the tokens of the problem solved alone"
    return Exhibit(name, ", ".join(filter(None, words)), verdict, (first, second))


def render(drawing: Panels | Exhibit, *forms: str) -> tuple[bytes, ...]:
    """The figure as svg, png or pdf; equal drawings give equal bytes."""
    return rendered(lambda: figure(drawing), *forms)


def figure(drawing: Panels | Exhibit) -> Figure:
    """The drawing as matplotlib has it."""
    if isinstance(drawing, Exhibit):
        return _texts(drawing)
    return panels(drawing.title, drawing.quantity, drawing.entries, drawing.strips)


def _apart(keys: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in keys.items() if name not in _AXES)


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
                            family="monospace", color=colour)  # fmt: skip
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
