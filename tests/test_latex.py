"""LaTeX tables: what a name cannot do, and that every group, cell and line is closed."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

import synthetic
from misled import latex, sheets
from misled.estimates import entries
from misled.records import Entry

HOSTILE = "a\\input{x}&%$#_^~{}[1]|<b>\"'`\u202e模\n--x"
COMMANDS = {
    "begin", "end", "centering", "footnotesize", "caption", "label", "toprule", "midrule",
    "bottomrule", "endfirsthead", "endhead", "endfoot", "begingroup", "endgroup",
    "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar",
    "textquotedbl", "textasciigrave", "textquotesingle", "ldots",
}  # fmt: skip


def run(**changes: object) -> list[Entry]:
    fields: dict[str, object] = {"problems": 12, "degrees": (1, 2)} | changes
    return entries(synthetic.rows(synthetic.Run(**fields)))  # type: ignore[arg-type]


def parsed(text: str) -> list[list[str]]:
    """The cells of each line of a table, by a reading of TeX that takes nothing on trust."""
    assert text.isascii() or all(ord(sign) < 0x100 for sign in text)
    plain = re.sub(r"\\[{}$&#%_]", "x", text.replace("\\\\", "\x00"))
    assert set(re.findall(r"\\([A-Za-z]+)", plain)) <= COMMANDS
    assert not re.search(r"\\[^A-Za-z]", plain)
    assert not set("#%^") & set(plain)
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    opened = re.findall(r"\\(begin|end){(\w+)}", plain)
    stack: list[str] = []
    for way, name in opened:
        if way == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    (spec,) = re.findall(r"\\begin{(?:tabular|longtable)}{([lr]+)}", plain)
    lines = [line for line in plain.split("\n") if line.endswith("\x00") and "caption" not in line]
    cells = [line.rstrip("\x00 ").split("&") for line in lines]
    assert {len(line) for line in cells} == {len(spec)}
    return cells


def test_every_table_of_a_run_is_well_formed() -> None:
    found = run(
        targets=("a/one", "b/two_2"), structures=("intact", "insert"), contrasts=("bare",),
        cannot_prefix=("b/two_2",), sets=("addition:2+2", "word:6"),
    )  # fmt: skip
    for table in dict.fromkeys(e.table for e in found):
        sheet = sheets.sheet([e for e in found if e.table == table])
        cells = parsed(latex.latex(sheet, table))
        heads = 2 if len(sheet.lines) > latex.LONG else 1
        assert len(cells) == len(sheet.lines) + heads


def test_intervals_and_empty_cells_stand_in_it() -> None:
    found = run(targets=("a/one", "b/two"), cannot_prefix=("b/two",))
    net = [e for e in found if e.table == "figure5_net"]
    text = latex.latex(sheets.sheet(net), "figure5_net")
    assert re.search(r"\+0\.\d{3} \[(\+|\$-\$)0\.\d{3}, \+0\.\d{3}\]", text)
    assert "& unsupported &" in text
    assert r"\label{tab:figure5-net}" in text
    assert "$R_{CPT}$" in text


def test_a_line_that_begins_with_a_bracket_is_no_argument() -> None:
    found = [e for e in run(targets=("[x]", "y"), degrees=(1,)) if e.table == "figure5"]
    assert "\n{}[x] &" in latex.latex(sheets.sheet(found), "figure5")


def test_a_name_cannot_act() -> None:
    found = [e for e in run(targets=(HOSTILE, "b"), degrees=(1,)) if e.table == "figure5"]
    text = latex.latex(sheets.sheet(found), "figure5")
    parsed(text)
    assert r"\input" not in text
    assert "U+6A21" in text


@given(st.text())
def test_any_text_is_set_as_it_stands(text: str) -> None:
    made = latex.escaped(text)
    left = re.sub(r"\\(?:[a-z]+{}|[{}$&#%_])", "", made)
    assert not set(left) & set("\\{}$&#%_^")
    assert all(ord(sign) < 0x100 for sign in made)
