"""Figures 2, 3 and 4 of study B: what they show, and the same bytes each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from misled import figures_judge
from misled.figures import Drawing
from misled.judgements import entries
from misled.row import Judged
from panel import bench, frame
from test_controlled import edit, rows, said

ALL = ("answer", "reasoning", "again_answer", "again_reasoning")
FLIPS = {(True, "aaaa"): 9, (True, "rara"): 5, (False, "rara"): 8, (False, "arrr"): 8}


def closed(judge: str, right: int, of: int = 20) -> list[Judged]:
    return [
        Judged(arm="closed_book", problem=f"q{i}", cluster=f"q{i}", set="facts", generator="",
               judge=judge, outcome="read", label=i < right)
        for i in range(of)
    ]  # fmt: skip


def drawings(found: list[Judged]) -> dict[str, Drawing]:
    return {drawing.name: drawing for drawing in figures_judge.drawings(entries(frame(found)))}


def marks(drawing: Drawing) -> list[Any]:
    figure = figures_judge.figure(drawing)
    lines = [line for axes in figure.axes for line in axes.get_lines()]
    return [line.get_marker() for line in lines for _ in np.atleast_1d(line.get_xdata())]


def words(drawing: Drawing) -> list[str]:
    figure = figures_judge.figure(drawing)
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_figures_are_cut_by_what_is_no_axis() -> None:
    whole = [*bench(FLIPS, ALL), *bench(FLIPS, ALL, set="nq"), *bench(FLIPS, ALL, generator="h")]
    assert [(d.name, d.title) for d in drawings(whole).values()] == [
        ("figure2-answers-of-acme-g", "answers of acme/g"),
        ("figure2-answers-of-h", "answers of h"),
    ]
    found = drawings([*whole, *bench(FLIPS, ALL, shown="value")])
    assert "figure2-answers-of-acme-g-shown-as-value" in found


def test_a_set_is_a_panel_a_judge_a_row_and_a_flip_a_dot_with_its_floor() -> None:
    whole = [*bench(FLIPS, ALL), *bench(FLIPS, ALL, set="nq"), *bench(FLIPS, ALL, judge="k")]
    (drawing,) = drawings(whole).values()
    figure = figures_judge.figure(drawing)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["facts", "nq"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["acme/j", "k"]
    assert marks(drawing).count("|") == 12
    assert words(drawing)[-1] == "floor: asked twice"


def test_without_a_floor_none_is_drawn_nor_named() -> None:
    (drawing,) = drawings(bench({(True, "aa"): 9, (False, "ra"): 9}, ALL[:2])).values()
    assert "|" not in marks(drawing)
    title = figures_judge.figure(drawing).get_suptitle().replace("\n", " ")
    assert title == "answers of acme/g (no floor: nothing was asked twice)"
    assert "floor: asked twice" not in words(drawing)


def test_too_few_items_are_hollow_and_named() -> None:
    (drawing,) = drawings(bench({(True, "aa"): 3, (False, "ra"): 3}, ALL[:2])).values()
    assert "no interval (n < 10)" in words(drawing)


def test_edited_chains_have_a_column_each_for_all_right_and_wrong_answers() -> None:
    drawing = drawings(rows())["figure3-facts-answers-of-acme-g"]
    figure = figures_judge.figure(drawing)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["all answers", "right answers", "wrong answers"]
    ticks = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert ticks == ["plain", "0", "1", "2", "3", "4", "filler", "cut"]
    assert words(drawing) == ["begin", "end", "reworded, end", "whole chain", "plain chain"]


def test_an_edit_without_a_verdict_is_marked_beside_the_data() -> None:
    whole = [*bench({(True, "a"): 30}, ["reasoning"]), *edit(said(20), place="end", k=0)]
    whole += edit("?" * 30, place="end", k=1)
    drawing = drawings(whole)["figure3-facts-answers-of-acme-g"]
    assert "_" in marks(drawing)
    assert "no value" in words(drawing)


def test_edits_without_any_verdict_are_all_marked() -> None:
    (drawing,) = drawings(edit("?" * 30, place="end", k=0)).values()
    assert set(marks(drawing)) - {"None"} == {"_"}


def test_own_answers_are_a_figure_of_sets_and_judges() -> None:
    found = drawings([*closed("a/one", 5), *closed("a/two", 18)])
    assert list(found) == ["figure4"]
    labels = figures_judge.figure(found["figure4"]).axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["a/one", "a/two"]


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_equal_drawings_give_equal_bytes(form: str) -> None:
    whole = [*rows(), *bench(FLIPS, ALL, judge="k"), *closed("k", 7)]
    first, second = drawings(whole), drawings(whole[::-1])
    assert list(first) == list(second)
    for name, drawing in first.items():
        (data,) = figures_judge.render(drawing, form)
        assert (data,) == figures_judge.render(second[name], form)


def test_any_name_can_be_drawn() -> None:
    odd = {"judge": "a/$x_{\u202e", "set": "$\\frac", "generator": "模型\t<b>"}
    whole = [*bench(FLIPS, ALL, **odd), *bench({(True, "a"): 30}, ["reasoning"], **odd)]
    whole += edit(said(20), place="end", k=0, **odd)
    for drawing in drawings(whole).values():
        assert figures_judge.render(drawing, "png")[0].startswith(b"\x89PNG")
