"""Estimates -> figures that one would print, as SVG, PNG and PDF.

    figure4 entries of two models and four methods -> one figure of two panels, four lines each

A panel a model, a line a method, a figure for whatever else differs (problem
set, feed, structure ...). Lines are told apart by colour, marker and dash at
once; intervals are drawn; a cell without a number is marked in a strip below
the data, where no number could be read into it. Same entries, same bytes.

Knows nothing about trials: it draws the `Entry`s that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from misled.captions import KEYS
from misled.curves import curves
from misled.dots import dots
from misled.records import Entry, Record
from misled.sheets import FORMATS
from misled.strokes import rendered

__all__ = ["FORMATS", "Drawing", "drawings", "figure", "named", "render", "worded"]


class _Kind(NamedTuple):
    """What a table's figure shows: its axis, the values it is read against, how it is drawn."""

    label: str
    references: dict[float, str]
    axes: frozenset[str]
    paint: Callable[[str, Sequence[Entry], str, Mapping[float, str]], Figure]


_R = ("$R_{CPT}$", {0.5: "resists", 1.0: "adopts"})
_NET = ("net $R_{CPT}$", {0.0: "no effect"})
_MODEL = ("target", "source", "mode", "d_t", "against")
_PAINTED: dict[str, tuple[frozenset[str], Any]] = {
    "figure4": (frozenset((*_MODEL, "method")), curves),
    "figure5": (frozenset((*_MODEL, "set", "method")), partial(dots, series="method")),
    "figure8": (frozenset((*_MODEL, "set", "structure")), partial(dots, series="structure")),
}
_KINDS = {
    name + end: _Kind(*shown, *painted)
    for name, painted in _PAINTED.items()
    for end, shown in (("", _R), ("_net", _NET))
}


class Drawing(Record, frozen=True):
    """One figure to draw; `name` is the stem of its files."""

    name: str
    title: str
    table: str
    entries: tuple[Entry, ...]


def drawings(entries: Iterable[Entry]) -> list[Drawing]:
    """A figure for each table that is one, and for each combination of what is no axis of it.

    There is no figure 4 of one D_T alone.
    """
    cut: dict[tuple[str, tuple[tuple[str, str], ...]], list[Entry]] = {}
    for e in entries:
        if e.table in _KINDS:
            apart = tuple(
                (name, value) for name, value in e.keys.items() if name not in _KINDS[e.table].axes
            )
            cut.setdefault((e.table, apart), []).append(e)
    said: dict[str, set[str]] = {}
    for _, apart in cut:
        for name, value in apart:
            said.setdefault(name, set()).add(value)
    found: dict[str, Drawing] = {}
    for (table, apart), mine in cut.items():
        if _KINDS[table].paint is curves and len({e.keys["d_t"] for e in mine}) == 1:
            continue  # of one degree there is no curve: figure 5 has it
        shown = {key: value for key, value in apart if key == "set" or len(said[key]) > 1}
        stem = name = named(table, *shown.values())
        while name in found:
            name = f"{stem}-{len(found)}"
        found[name] = Drawing(name, worded(shown), table, tuple(mine))
    return list(found.values())


def named(*words: str) -> str:
    """The stem of a figure's files."""
    return re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join(words)).strip("-.")


def worded(shown: Mapping[str, str]) -> str:
    """What tells a figure from others of its kind: `addition:15+13, channel user`."""
    return ", ".join(
        value if name == "set" else f"{KEYS.get(name, name)} {value}"
        for name, value in shown.items()
    )


def render(drawing: Drawing, *forms: str) -> tuple[bytes, ...]:
    """The figure in some of `FORMATS`; equal drawings give equal bytes."""
    return rendered(lambda: figure(drawing), *forms)


def figure(drawing: Drawing) -> Figure:
    """The drawing as matplotlib has it."""
    kind = _KINDS[drawing.table]
    return kind.paint(drawing.title, drawing.entries, kind.label, kind.references)
