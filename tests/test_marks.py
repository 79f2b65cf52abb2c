"""Texts in marked pieces: whatever is marked, the pieces are the text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.draws import Draws
from misled.marks import Mark, edited, moved, pieces, stated
from misled.metrics import grade
from misled.perturbations import PERTURBATIONS, applied
from misled.records import Chain, Edit, Edited, Role, Step
from misled.roles import steps

TEXTS = st.text("ab7 .\n\u202e\u0000é𝟘", max_size=40)
ROLES: tuple[Role, ...] = ("calculation", "reflection", "other")


@st.composite
def marked(draw: st.DrawFn) -> tuple[str, list[Step], list[Mark]]:
    text = draw(TEXTS)
    cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=5))})
    tiles = [Step(a, b, draw(st.sampled_from(ROLES))) for a, b in pairwise(cuts)]
    spots = st.tuples(st.integers(0, 45), st.integers(0, 45), st.sampled_from(("value", "adopted")))
    marks = [Mark(min(a, b), max(a, b), style, "was") for a, b, style in draw(st.lists(spots))]
    return text, tiles if draw(st.booleans()) else [], marks


@given(marked())
def test_pieces_are_the_text_and_each_mark_stands_where_it_says(
    case: tuple[str, list[Step], list[Mark]],
) -> None:
    text, tiles, marks = case
    found = pieces(text, tiles, marks)
    assert "".join(piece[0] for piece in found) == text
    assert all(piece[0] for piece in found)
    at = 0
    for said, style, *before in found:
        end = at + len(said)
        over = [mark for mark in marks if mark.start <= at and end <= mark.end]
        roles = {tile.role for tile in tiles if tile.start <= at and end <= tile.end}
        assert set(style.split()) == roles | {mark.style for mark in over}
        assert bool(before) == bool(over)
        at = end


EDITS = st.lists(
    st.tuples(st.integers(1, 3), st.text("12", max_size=3), st.text("345", max_size=3)), max_size=5
)


@given(EDITS)
def test_what_was_changed_is_found_again_with_what_stood_there(
    parts: list[tuple[int, str, str]],
) -> None:
    text, edits = "", []
    for gap, before, after in parts:
        text += "x" * gap
        if before != after:
            edits.append(Edit(len(text), len(text) + len(before), before, after))
        text += before
    made = applied(text, edits)
    marks = list(edited(edits))
    assert all(0 <= mark.start < mark.end <= len(made) for mark in marks)
    put = "".join(made[m.start : m.end] for m in marks if m.style == "inserted")
    assert put == "".join(edit.after for edit in edits if not edit.before)
    back, at = "", 0
    for mark in marks:
        back += made[at : mark.start] + mark.before
        at = mark.end
    gone = [edit for edit in edits if not edit.after]
    assert back + made[at:] == applied(text, gone)


def test_of_a_number_the_changed_digits_alone_are_marked() -> None:
    [first, second] = edited([Edit(3, 10, "711,025", "741,026")])
    assert first == Mark(4, 5, "tampered", "1")
    assert second == Mark(9, 10, "tampered", "5")


def test_every_tampered_digit_of_a_chain_is_marked_with_the_true_one() -> None:
    chain = Chain("12 + 30 = 42.\n\nWait, 42? Yes. So the answer is 42.", "")
    made = PERTURBATIONS["digits"](d_t=2)(chain, Draws(0, "p", "digits"))
    assert isinstance(made, Edited)
    found = pieces(made.text, steps(made.text), edited(made.edits))
    changed = [piece for piece in found if "tampered" in piece[1]]
    assert [piece[2] for piece in changed] == ["42"] * len(made.edits)
    assert all(piece[1].split()[0] in {"calculation", "conclusion"} for piece in changed[::2])


def test_marks_move_with_their_text() -> None:
    assert moved([Mark(1, 2, "value", "x")], 10) == [Mark(11, 12, "value", "x")]


@pytest.mark.parametrize(
    ("text", "value", "at"),
    [
        ("The answer is 42.", "42", 14),
        ("42 is my answer. I had 41 + 1 = 42 before.", "42", None),
        (r"The answer is \boxed{1{,}042}, since 1042 - 0 = 1042.", "1042", 21),
        ("It is -42, and 42 is its size. Answer: -42", "-42", 39),
        ("There are forty-two.", "42", 10),
        ("Nothing.", "42", None),
    ],
)
def test_a_value_is_found_where_it_is_read(text: str, value: str, at: int | None) -> None:
    place = stated(text, value, lambda said: grade(said, "42").value)
    if at is not None:
        assert place
        assert place.start == at
    else:
        assert place is None or text[place.start : place.end] == value


def test_a_text_that_is_too_long_to_be_shown_is_not_searched() -> None:
    assert stated("1" + " 1" * 150_000, "1", lambda said: said) is None
