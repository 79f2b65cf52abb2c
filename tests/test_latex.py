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
    "setlength", "tabcolsep", "stacked", "multicolumn", "raggedright", "emph",
}  # fmt: skip


def run(**changes: object) -> list[Entry]:
    fields: dict[str, object] = {"problems": 12, "degrees": (1, 2)} | changes
    return entries(synthetic.rows(synthetic.Run(**fields)))  # type: ignore[arg-type]


def parsed(text: str) -> list[list[list[str]]]:
    """The lines of cells of each table of a text, by a reading of TeX that takes nothing on trust.

    Lines that say what those below them share have no cells.
    """
    assert text.isascii() or all(ord(sign) < 0x100 for sign in text)
    first, text = text.split("\n", 1)
    assert first == latex._STACKED
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
    tables = re.split(r"\\begin{(?:tabular|longtable)}", plain)[1:]
    found = []
    for table in tables:
        spec = re.match(r"{([lr]+)}", table)
        assert spec is not None
        lines = [
            line for line in table.split("\n") if line.endswith("\x00") and "caption" not in line
        ]
        cells = [line.removesuffix("\x00").split("&") for line in lines]
        assert {len(line) for line in cells} == {len(spec[1])}
        found.append(cells)
    return found


def test_every_table_of_a_run_is_well_formed() -> None:
    found = run(
        targets=("a/one", "b/two_2"), structures=("intact", "insert"), contrasts=("bare",),
        cannot_prefix=("b/two_2",), sets=("addition:2+2", "word:6"),
    )  # fmt: skip
    for table in dict.fromkeys(e.table for e in found):
        sheet = sheets.sheet([e for e in found if e.table == table])
        for cells in parsed(latex.latex(sheet, table)):
            assert len(cells) - len(sheet.lines) in (1, 2)


def test_intervals_and_empty_cells_stand_in_it() -> None:
    found = run(targets=("a/one", "b/two"), cannot_prefix=("b/two",))
    net = [e for e in found if e.table == "figure5_net"]
    text = latex.latex(sheets.sheet(net), "figure5_net")
    below = r"\\stacked{r}{\+0\.\d{3}\\\\{}\[(\+|\$-\$)0\.\d{3}, \+0\.\d{3}\]\\\\{}n \d+}"
    assert re.search(below, text)
    assert "& unsupported " in text
    assert r"\label{tab:figure5-net}" in text
    assert "$R_{CPT}$" in text


def test_no_table_is_wider_than_a_page_and_a_caption_says_what_n_and_brackets_are() -> None:
    found = run(targets=("a/one", "b/two"), structures=("intact", "insert"), samples=2)
    for table in ("outcomes", "pooled", "families"):
        sheet = sheets.sheet([e for e in found if e.table == table])
        made = latex.latex(sheet, table)
        parts = re.findall(r"\\caption{(.*)}\\label", made)
        assert [f"part {i} of {len(parts)}" in part for i, part in enumerate(parts, 1)] == (
            [len(parts) > 1] * len(parts)
        )
        for part in parts:
            assert "n counts trials; brackets hold 95~\\% intervals (" in part
        for cells in parsed(made):
            longest = [
                max(len(_seen(cell)) for cell in column) for column in zip(*cells, strict=True)
            ]
            assert latex.SIGN * sum(longest) + latex.GAP * len(longest) <= latex.WIDE + 30


def _seen(cell: str) -> str:
    """The longest line of a cell, without what is no sign of its own."""
    body = re.sub(r"\\stacked{[lr]}{(.*)}", r"\1", cell.strip())
    return max((re.sub(r"[${}]|\\text\w+", "", line) for line in body.split("\x00")), key=len)


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
