"""Figures: one a problem set, told apart without colour, the same bytes each time."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import synthetic
from misled import figures, strokes
from misled.estimates import entries
from misled.prompts import METHODS
from misled.records import Entry

NAMES = (
    "a/one",
    "b/two",
    "c/three",
    "d/four",
    "e/a-very-long-model-name-that-needs-two-lines-2507",
)


def run(**changes: Any) -> list[Entry]:
    fields: dict[str, Any] = {"problems": 12, "degrees": (1, 2)} | changes
    return entries(synthetic.rows(synthetic.Run(**fields)))


def drawn(found: Sequence[Entry]) -> Figure:
    with mpl.rc_context():
        return figures.figure(figures.drawings(found)[0])


def words(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_each_problem_set_has_a_figure_and_a_net_twin() -> None:
    found = run(sets=("addition:15+13", "multiplication:8x7"))
    assert [drawing.name for drawing in figures.drawings(found)] == [
        "figure4-addition-15+13",
        "figure4-multiplication-8x7",
        "figure4-net-addition-15+13",
        "figure4-net-multiplication-8x7",
        "figure5",
        "figure5-net",
    ]


def test_one_degree_is_no_curve_and_structures_have_one_figure_of_one_method() -> None:
    found = run(structures=("intact", "insert"), sets=("addition:15+13", "word:6"), degrees=(1,))
    assert [drawing.name for drawing in figures.drawings(found)] == [
        "figure5",
        "figure5-net",
        "figure8",
        "figure8-net",
    ]
    (structures,) = [e for e in figures.drawings(found) if e.table == "figure8"]
    assert {e.keys["method"] for e in structures.entries} == {"baseline"}


def dotted(found: Sequence[Entry], table: str) -> Figure:
    (drawing,) = [d for d in figures.drawings(found) if d.table == table]
    with mpl.rc_context():
        return figures.figure(drawing)


def test_models_stand_below_each_other_with_a_panel_a_problem_set() -> None:
    found = run(targets=NAMES, sets=("addition:15+13", "multiplication:8x7"))
    figure = dotted(found, "figure5")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["addition:15+13 ($D_T$ 1-2)", "multiplication:8x7 ($D_T$ 1-2)"]
    names = [text.get_text().split("\n")[0] for text in figure.axes[0].get_yticklabels()]
    assert names == [*NAMES[:4], "e/a-very-long-model-name-"]


def test_an_unsupported_dot_is_a_mark_beside_the_data() -> None:
    figure = dotted(run(cannot_prefix=("planted/credulous",)), "figure5")
    (axes,) = figure.axes
    (mark,) = [line for line in axes.get_lines() if line.get_marker() == "x"]
    assert float(np.max(mark.get_xdata())) < strokes.STRIP
    leftmost = axes.transAxes.inverted().transform(axes.transData.transform((0.5, 0)))[0]
    assert leftmost > strokes.STRIP
    assert "unsupported" in words(figure)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_each_model_has_a_panel(count: int) -> None:
    figure = drawn(run(targets=NAMES[:count]))
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.axison]
    assert [title.split("\n")[0] for title in titles] == [
        "e/a-very-long-model-name-" if name == NAMES[4] else name for name in NAMES[:count]
    ]


def test_the_legend_fills_a_panel_that_is_left_over() -> None:
    figure = drawn(run(targets=NAMES))
    (spare,) = [axes for axes in figure.axes if not axes.axison]
    legend = spare.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][: len(METHODS)] == list(METHODS)
    assert not figure.legends


def test_methods_differ_in_colour_marker_and_dash() -> None:
    found = run()
    names = [e.keys["method"] for e in found if e.table == "figure4"]
    styles = strokes.strokes(names, METHODS)
    for what in ("color", "marker", "linestyle"):
        assert len({str(style[what]) for style in styles.values()}) == 4


def test_an_unsupported_cell_is_a_mark_below_the_data_and_no_number() -> None:
    figure = drawn(run(cannot_prefix=("planted/credulous",)))
    (axes,) = figure.axes
    (mark,) = [line for line in axes.get_lines() if line.get_marker() == "x"]
    assert np.size(mark.get_ydata()) == 2
    assert float(np.max(mark.get_ydata())) < strokes.STRIP
    lowest = axes.transAxes.inverted().transform(axes.transData.transform((1, 0.5)))[1]
    assert lowest > strokes.STRIP
    assert "unsupported" in words(figure)


def test_a_value_without_an_interval_is_hollow() -> None:
    figure = drawn(run(problems=6))
    assert "no interval (n < 10)" in words(figure)
    markers = [line for line in figure.axes[0].get_lines() if line.get_marker() in set("os^D")]
    assert {line.get_markerfacecolor() for line in markers} == {"white"}


def test_a_line_breaks_where_a_cell_is_empty_and_spans_degrees_not_asked() -> None:
    figure = drawn(run(degrees=(1, 3, 6)))
    lines = [line for line in figure.axes[0].get_lines() if line.get_marker() == "None"]
    assert sum(np.size(line.get_xdata()) == 3 for line in lines) == 4


def test_any_name_can_be_drawn() -> None:
    found = run(
        targets=("x/$\\frac{$_\u202e\x00\n模型", "y"), sets=("file:a b/ü.jsonl", "file:a b/ö.jsonl")
    )
    drawings = figures.drawings(found)
    assert len({drawing.name for drawing in drawings}) == 6
    assert all(re.fullmatch(r"[a-z0-9.-]+", drawing.name) for drawing in drawings)
    for drawing in (drawings[0], drawings[-1]):
        assert figures.render(drawing, "svg")[0].startswith(b"<?xml")


def test_the_same_entries_give_the_same_bytes_in_another_process() -> None:
    script = """
import hashlib, synthetic
from misled import figures, strokes
from misled.estimates import entries
from misled.prompts import METHODS
found = entries(synthetic.rows(synthetic.Run(problems=12, degrees=(1, 2))))
first = figures.drawings(found)[0]
for form in figures.FORMATS:
    print(hashlib.sha256(figures.render(first, form)[0]).hexdigest())
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    output = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    ).stdout
    first = figures.drawings(run())[0]
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "none"}):
        rendered = [figures.render(first, form)[0] for form in figures.FORMATS]
    assert output.split() == [hashlib.sha256(data).hexdigest() for data in rendered]
    assert not any(b"CreationDate" in data or b"dc:date" in data for data in rendered)


def test_a_figure_is_painted_once_for_all_formats() -> None:
    (drawing,) = figures.drawings([e for e in run() if e.table == "figure4"])
    images = figures.render(drawing, *figures.FORMATS)
    assert [image[:5] for image in images] == [b"<?xml", b"\x89PNG\r", b"%PDF-"]
    assert b"/FontFile2" in images[2]  # its fonts are in it


def test_an_svg_holds_its_texts_as_they_are_and_says_which_fonts_may_stand_in() -> None:
    name = 'a x="1.23456"  b --> <i>'
    (drawing,) = figures.drawings([e for e in run(targets=(name,)) if e.table == "figure4"])
    text = figures.render(drawing, "svg")[0].decode()
    root = ET.fromstring(text)
    words = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert name.replace("  ", " ") in " ".join(words).replace("  ", " ")
    assert "sans-serif" in text
    assert "<!" not in text
    assert len(text) < 30_000


# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
BLIND = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [
        [0.3673, 0.8606, -0.2280],
        [0.2801, 0.6725, 0.0475],
        [-0.0118, 0.0429, 0.9689],
    ],
    "grey": [[0.2126, 0.7152, 0.0722]] * 3,
}
TO_XYZ = [[0.4338, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]]  # of white


def lightness_and_hue(linear: Any) -> Any:
    """CIELAB of linear RGB; a distance of 2 is just seen, of 10 at a glance."""
    root = np.cbrt(np.clip(linear, 0, 1) @ np.array(TO_XYZ).T)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


@pytest.mark.parametrize("sight", BLIND)
def test_the_first_four_series_differ_without_red_or_green_and_without_any_colour(
    sight: str,
) -> None:
    coded = np.array([mpl.colors.to_rgb(look["color"]) for look in strokes.LINES])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    assert max(linear @ np.array(BLIND["grey"][0])) < 0.3  # three to one against white
    seen = lightness_and_hue(linear[:4] @ np.array(BLIND[sight]).T)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=-1)[np.triu_indices(4, 1)]
    assert min(apart) > (8 if sight == "grey" else 25)
