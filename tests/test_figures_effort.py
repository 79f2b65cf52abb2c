"""Figures 6 and 7: what they show, and the same bytes each time."""

from __future__ import annotations

from typing import Any

import pytest

from misled import effort, exhibits_effort, figures_effort
from misled.figures_effort import Exhibit, Panels, Side
from misled.row import Row
from test_effort import a_run, reply, trials

LONG = "First I add the ones. Then I add the tens.\n\n" * 60


def panels(rows: list[Row], *tables: str) -> list[Panels]:
    """Figure 7, or what else is drawn of some tables."""
    frame = trials(rows)
    nets = effort.differences(frame)
    found = [*exhibits_effort.figure6(effort.typical(frame), nets),
             *exhibits_effort.figure7(effort.effort(frame), nets)]  # fmt: skip
    drawings = figures_effort.drawings(found, effort.strips(frame))
    return [drawing for drawing in drawings if drawing.table in (tables or ("figure7",))]


def sizes(arm: str, i: int) -> int:
    return (900 if arm in {"gate", "again"} else 300) + 10 * i


def other(row: Row, **fields: Any) -> Row:
    return Row(**{name: getattr(row, name) for name in Row.__struct_fields__} | fields)


def test_tokens_and_seconds_have_a_figure_each_and_planted_runs_no_seconds() -> None:
    names = [drawing.name for drawing in panels(a_run(sizes, 12))]
    assert names == ["figure7-addition-2+2", "figure7-seconds-addition-2+2"]
    names = [drawing.name for drawing in panels(a_run(sizes, 12, seconds=0.0))]
    assert names == ["figure7-addition-2+2"]


def test_a_model_has_a_panel_and_an_arm_its_dot_and_strip() -> None:
    rows = a_run(sizes, 12)
    rows += [other(row, target="n") for row in rows]
    drawing = panels(rows)[0]
    figure = figures_effort.figure(drawing)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["m", "n"]
    assert "chains of m" in figure.get_suptitle()
    assert len(drawing.entries) == 8
    assert {len(strip.values) for strip in drawing.strips} == {12}


def test_figures_are_cut_by_what_is_no_axis_and_share_the_question_alone() -> None:
    rows = a_run(sizes, 12)
    for name, key in (("channel", "assistant"), ("structure", "insert")):
        rows += [
            other(row, request=f"{key} {row.request}", **{name: key})
            for row in rows
            if row.arm in {"clean", "tampered"} and row.channel == "user"
        ]
    drawings = [drawing for drawing in panels(rows) if drawing.quantity == "total_tokens"]
    assert [drawing.title for drawing in drawings] == [
        "addition:2+2, channel user",
        "addition:2+2, channel assistant",
    ]
    for drawing in drawings:
        arms = {e.keys["arm"] for e in drawing.entries}
        assert arms == {"gate", "again", "clean", "tampered"}
        assert {e.keys.get("structure") for e in drawing.entries} == {None, "intact"}


def test_a_median_left_open_is_an_arrow_and_no_dot() -> None:
    rows = [row for row in a_run(sizes, 12) if row.arm != "tampered"]
    rows += [reply("tampered", i, 2000, outcome="truncated") for i in range(12)]
    figure = figures_effort.figure(panels(rows)[0])
    marks = [line.get_marker() for line in figure.axes[0].get_lines()]
    assert marks.count(r"$\uparrow$") == 1
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "median beyond the limit" in words


def test_more_than_200_replies_are_not_drawn_one_by_one() -> None:
    few, many = (figures_effort.figure(panels(a_run(sizes, n))[0]) for n in (20, 201))
    assert len(few.axes[0].get_lines()) == len(many.axes[0].get_lines()) + 4


def test_the_net_twins_stand_round_zero_with_a_panel_a_model() -> None:
    rows = a_run(lambda arm, i: sizes(arm, i) + 7 * (i % 5) * len(arm), 12)
    rows += [other(row, target="n", request=f"n {row.request}") for row in rows]
    tables = ("figure6_net", "figure7_net")
    found = {drawing.name: drawing for drawing in panels(rows, *tables)}
    assert list(found) == [
        "figure6-net-addition-2+2",
        "figure7-net-addition-2+2",
        "figure7-net-seconds-addition-2+2",
    ]
    for drawing in found.values():
        figure = figures_effort.figure(drawing)
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["m", "n"]
        low, high = figure.axes[0].get_ylim()
        assert low < 0 < high
        words = [text.get_text() for text in figure.legends[0].get_texts()]
        assert words[0] == "alone again \N{MINUS SIGN} alone"
        assert "tampered chain \N{MINUS SIGN} alone again" in words
    parts = figures_effort.figure(found["figure6-net-addition-2+2"])
    ticks = [tick.get_text() for tick in parts.axes[0].get_xticklabels()]
    assert ticks == ["reasoning", "answer", "both"]
    marks = [line.get_marker() for line in parts.axes[0].get_lines()]
    assert marks.count("+") == 6
    assert "the trial of figure 6" in [t.get_text() for t in parts.legends[0].get_texts()]


def test_differences_far_out_are_counted_and_do_not_flatten_the_rest() -> None:
    far = {("tampered", 3): 90_000}
    rows = a_run(lambda arm, i: 100 + (1 + len(arm)) * i + far.get((arm, i), 0), 40)
    (drawing,) = [d for d in panels(rows, "figure7_net") if d.quantity == "net_total_tokens"]
    figure = figures_effort.figure(drawing)
    assert figure.axes[0].get_ylim()[1] < 1000
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "one pair (4 of 120 beyond)" in words


def test_a_net_median_left_open_is_a_mark_and_no_dot() -> None:
    rows = [row for row in a_run(sizes, 12) if row.arm != "tampered"]
    rows += [reply("tampered", i, 20, outcome="truncated") for i in range(12)]
    figure = figures_effort.figure(panels(rows, "figure7_net")[0])
    assert "median left open by the limit" in [t.get_text() for t in figure.legends[0].get_texts()]


def test_the_typical_trial_becomes_an_exhibit() -> None:
    (found,) = effort.typical(trials(a_run(sizes, 21)))
    drawing = figures_effort.exhibit(found, (LONG, "110"), ("It is fine.", "110"))
    assert drawing.name == "figure6-addition-2+2-m"
    assert drawing.sides[0].reasoning_tokens == found.gate_tokens[0]
    figure = figures_effort._texts(drawing)
    texts = [text.get_text() for text in figure.texts]
    assert "[... 31 lines ...]" in texts
    assert "Solved alone: 1,000 tokens, 10.0 s" in texts
    assert any(text.startswith("Outcome: recovered; 0.40 of the tokens") for text in texts)


def test_a_reply_without_reasoning_says_so_and_any_text_can_be_drawn() -> None:
    odd = "$\\frac{$ _^ \u202e \x00 模型\t" * 30
    sides = (Side("Solved alone", "", odd, 0, 12), Side("With", odd, "", 9, 0))
    drawing = Exhibit("figure6", "$x_\u202e", "stopped", sides)
    assert "(none)" in [text.get_text() for text in figures_effort._texts(drawing).texts]
    assert figures_effort.render(drawing, "png")[0].startswith(b"\x89PNG")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_equal_drawings_give_equal_bytes(form: str) -> None:
    first, second = panels(a_run(sizes, 12))[0], panels(a_run(sizes, 12)[::-1])[0]
    assert figures_effort.render(first, form) == figures_effort.render(second, form)
