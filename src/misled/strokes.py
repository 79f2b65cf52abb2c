"""What all figures share: how a series looks, how a missing cell is marked, and the legend.

    strokes(["baseline", "prefix"], METHODS) -> {"baseline": {"color": "#0B57B0", ...}, ...}

Series are told apart by colour, marker and dash at once, and look the same in
every figure; a cell without a number is marked in a strip beside the data,
where no number could be read into it. Knows nothing about tables.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from misled.records import Entry
from misled.sheets import visible

__all__ = [
    "GREY",
    "METADATA",
    "SIZES",
    "STRIP",
    "STYLE",
    "Stroke",
    "empty",
    "extent",
    "keyed",
    "legend",
    "place",
    "rendered",
    "strokes",
    "titled",
    "wrapped",
]

Stroke: TypeAlias = dict[str, Any]

# Colours that stand out on white and that readers without red or green receptors tell apart
# (the first four by their lightness, too); every line has its own marker and dash besides.
LINES: tuple[dict[str, Any], ...] = (
    {"color": "#0B57B0", "marker": "o", "linestyle": "-"},
    {"color": "#E66D0E", "marker": "s", "linestyle": (0, (5, 1.6))},
    {"color": "#118A5C", "marker": "^", "linestyle": (0, (6, 1.6, 1.2, 1.6))},
    {"color": "#6A0F57", "marker": "D", "linestyle": (0, (1.4, 1.4))},
    {"color": "#0D0D0D", "marker": "v", "linestyle": (0, (8, 3))},
    {"color": "#3E97D6", "marker": "P", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": "#7B5B00", "marker": "X", "linestyle": (0, (2, 3))},
)
SIZES = {"o": 3.6, "s": 3.3, "^": 4.1, "D": 3.1, "v": 4.1, "P": 4.1, "X": 4.1}
GREY = "#666666"
STYLE = {
    "axes.edgecolor": "#444444",
    "axes.labelsize": 8,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.5,
    "font.family": "sans-serif",
    "font.monospace": ["DejaVu Sans Mono", "Menlo", "Consolas"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],  # what a reader without the first has
    "font.size": 8,
    "legend.fontsize": 8,
    "mathtext.fontset": "dejavusans",
    "path.simplify": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "misled",
    "xtick.labelsize": 7.5,
    "xtick.major.width": 0.7,
    "ytick.labelsize": 7.5,
    "ytick.major.width": 0.7,
}
METADATA: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    "png": {"Software": None},
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
ALL_BUT = 0.9
NARROW = 5  # inches
LINE, LETTER = 0.19, 0.07  # inches that a line of the legend and a letter in it take at most
STRIP = 0.11  # share of the axis beside the data that is kept for cells without a number


def strokes(names: Iterable[str], known: Sequence[str]) -> dict[str, Stroke]:
    """How each series looks; a known one looks the same in every figure."""
    there = dict.fromkeys(names)
    order = [*known, *(name for name in there if name not in known)]
    return {name: LINES[order.index(name) % len(LINES)] for name in sorted(there, key=order.index)}


def wrapped(names: Iterable[str], width: int) -> str:
    """Each name on lines of its own, three at most, with what cannot be seen written out."""
    lines: list[str] = []
    for name in names:
        head = visible(name[: 4 * width])
        lines += textwrap.wrap(head, width, max_lines=3, placeholder=" ...")
    return "\n".join(lines)


def titled(figure: Figure, *words: str) -> None:
    """What tells a figure from others of its kind, above it."""
    width = 52 if figure.get_figwidth() < NARROW else 84
    title = wrapped([", ".join(filter(None, words))], width)
    figure.suptitle(title, x=0.012, ha="left", fontsize=9.5, parse_math=False)


def extent(
    entries: Sequence[Entry], references: Iterable[float]
) -> tuple[float, float, list[float]]:
    """Limits of the value axis and its ticks; the strip, where one is needed, lies below."""
    values = [y for e in entries for y in (e.value, e.low, e.high) if y is not None]
    low, high = min([*values, *references]), max([*values, *references])
    if low >= 0 and ALL_BUT < high < 1:
        high = 1.0  # a share's axis that comes near its end shows it
    span = max(high - low, 0.2)
    bottom, top = low - 0.06 * span, high + 0.06 * span
    if any(e.value is None for e in entries):
        low = max(low, bottom)
        bottom -= STRIP * (top - bottom) / (1 - STRIP)
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return bottom, top, [float(t) for t in ticks if low - 1e-9 <= t <= high + 1e-9]


def empty(entry: Entry) -> str:
    """The mark of a cell without a number."""
    return "x" if "unsupported" in entry.left_out else "_"


def place(
    axes: Axes, points: Sequence[tuple[float, Entry]], look: Stroke, *, upright: bool
) -> None:
    """A series in `axes`: intervals, values (hollow where no interval is claimed), empty cells.

    Each point stands at its place beside the value axis, which is y where
    `upright`. One stroke a kind, so that a figure of many cells stays small.
    """

    def put(points: Sequence[tuple[float, float]], **style: Any) -> None:
        at, values = [x for x, _ in points], [y for _, y in points]
        if points:
            axes.plot(*((at, values) if upright else (values, at)), color=look["color"], **style)

    put(
        [(at, y) for at, e in points if e.low is not None and e.high is not None
         for y in (e.low, e.high, math.nan)],
        lw=0.9, solid_capstyle="butt",
    )  # fmt: skip
    marked = {"linestyle": "", "marker": look["marker"], "markersize": SIZES[look["marker"]]}
    for inside, bare in ((look["color"], False), ("white", True)):
        put(
            [(at, e.value) for at, e in points if e.value is not None and (e.low is None) == bare],
            mfc=inside, mew=0.9, zorder=3, **marked,
        )  # fmt: skip
    beside = axes.get_xaxis_transform() if upright else axes.get_yaxis_transform()
    for mark in ("x", "_"):
        put(
            [(at, STRIP / 2) for at, e in points if e.value is None and empty(e) == mark],
            transform=beside, linestyle="", marker=mark, markersize=4, mew=1,
        )  # fmt: skip


def legend(
    entries: Sequence[Entry], series: dict[str, Stroke], *, lines: bool = True
) -> Iterator[Line2D]:
    """A handle for each series, then for each mark that the figure has."""
    for name, line in series.items():
        size = SIZES[line["marker"]]
        look = line if lines else {**line, "linestyle": ""}
        yield Line2D([], [], label=visible(name), markersize=size, linewidth=1.1, **look)
    missing = {empty(e) for e in entries if e.value is None}
    bare = [e for e in entries if e.value is not None and e.low is None]
    if bare:
        why = " (n < 10)" if all(e.clusters < 10 for e in bare) else ""
        yield Line2D([], [], linestyle="", marker="o", markersize=3.6, color=GREY, mfc="white",
                     label=f"no interval{why}")  # fmt: skip
    for mark, words in (("x", "unsupported"), ("_", "no value")):
        if mark in missing:
            yield Line2D([], [], linestyle="", marker=mark, markersize=4, color=GREY, label=words)


def keyed(figure: Figure, handles: Sequence[Line2D], *, across: int, length: float) -> None:
    """The legend: in the first panel that is left over, where it fits, else below all panels."""
    look: dict[str, Any] = {"handles": handles, "frameon": False, "handlelength": length}
    spare = [axes for axes in figure.axes if not axes.has_data()]
    for axes in spare:
        axes.set_axis_off()
    if spare and (grid := spare[0].get_gridspec()):
        wide, high = figure.get_figwidth() / grid.ncols, figure.get_figheight() / grid.nrows
        longest = max(len(str(handle.get_label())) for handle in handles)
        if len(handles) * LINE < high - 0.5 and longest * LETTER + 0.15 * length < wide - 0.3:
            spare[0].legend(loc="center", bbox_to_anchor=(0.6, 0.5), **look)
            return
    lines = math.ceil(len(handles) / across)
    figure.legend(loc="outside lower center", ncols=math.ceil(len(handles) / lines), **look)


def rendered(paint: Callable[[], Figure], *forms: str) -> tuple[bytes, ...]:
    """A figure in some of svg, png and pdf: painted and laid out once for all of them."""
    found: list[bytes] = []
    # The reader's own matplotlib settings must not change a published figure.
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = paint()
        for form in forms:
            out = io.BytesIO()
            figure.savefig(out, format=form, dpi=200, metadata=METADATA[form])
            figure.set_layout_engine("none")
            found.append(_smaller(out.getvalue()) if form == "svg" else out.getvalue())
    return tuple(found)


def _smaller(svg: bytes) -> bytes:
    """An SVG without comments, indentation and thousandths of a point; its texts as they are."""
    tags = re.sub(r"<[^<>]*>", lambda found: _tag(found[0]), svg.decode())
    return re.sub(r">\s+<", "><", tags).encode()


def _tag(tag: str) -> str:
    if tag.startswith(("<!--", "<!DOCTYPE")):
        return ""
    return re.sub(r"(\.\d\d\d)\d+", r"\1", re.sub(r"\s+", " ", tag)).replace(' "', '"')
