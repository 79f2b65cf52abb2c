r"""A sheet as LaTeX tables with booktabs rules, to be \input into a paper.

    latex(sheet) -> \begin{table} ... credulous & \stacked{r}{0.620\\{}[0.551, 0.684]} \\ ...

Set for a text as wide as that of LaTeX's article: intervals stand below their numbers,
columns that do not fit beside each other are several tables with the same keys, and what
many lines share stands in a line above them. Needs the packages booktabs and, where a table
is longer than a page, longtable. Names come from plans, files
and models: what is special to TeX is escaped, and a character that pdflatex cannot set by
itself is written as its code point. Knows nothing about estimates.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from misled.sheets import Sheet, visible

__all__ = ["escaped", "latex"]

LONG = 40  # lines of text that still fit a page
WIDE, KEYS = 345, 150  # points of a table, and of its keys
SIGN, GAP = 4.4, 6  # points of a character, and between two columns
NAME, TEXT = 24, 18  # characters that stand in one line
LONGEST = 120  # of a name

_STACKED = r"\providecommand{\stacked}[2]{\begin{tabular}[t]{@{}#1@{}}#2\end{tabular}}"
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "\n": " ", "\t": " ",
    "\u27e8": r"\textless{}", "\u27e9": r"\textgreater{}", "\u00a0": "~",
    "\u2013": "--", "\u2014": "---", "\u2026": r"\ldots{}",
}  # fmt: skip
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


class _Column(NamedTuple):
    """A column: what stands above it, and its cells, each in lines."""

    side: str
    head: list[str]
    cells: list[list[str]]

    @property
    def width(self) -> float:
        """About how many points it takes."""
        lines = [line for cell in (self.head, *self.cells) for line in cell]
        return SIGN * max(map(len, lines), default=0) + GAP


def escaped(text: str) -> str:
    """Text that LaTeX sets as it stands, in plain pdflatex with T1 fonts."""
    return "".join(_sign(sign) for sign in visible(text))


def latex(table: Sheet, name: str) -> str:
    """The sheet as floating tables, or as longtables where they do not fit a page."""
    keys = [
        _keys(head, [line.keys[i] for line in table.lines]) for i, head in enumerate(table.heads)
    ]
    numbers = [
        _numbers(column, [line.cells[i] for line in table.lines])
        for i, column in enumerate(table.columns)
    ]
    if any(line.left_out for line in table.lines):
        left_out = [textwrap.wrap(line.left_out, TEXT) or [""] for line in table.lines]
        numbers.append(_Column("l", ["left out"], left_out))
    apart = 0
    while len(keys) > apart + 1 and sum(key.width for key in keys[apart:]) > KEYS:
        apart += 1
    groups = [_group(table.heads[:apart], line.keys[:apart]) for line in table.lines]
    parts = list(_parts(keys[apart:], numbers))
    made = [_STACKED]
    for number, columns in enumerate(parts, 1):
        caption = _caption(table, f", part {number} of {len(parts)}" if len(parts) > 1 else "")
        label = name if number == 1 else f"{name}-{number}"
        made += _set(columns, groups, f"\\caption{{{caption}}}\\label{{tab:{_label(label)}}}")
    return "\n".join(made) + "\n"


def _group(heads: Sequence[str], keys: Sequence[str]) -> str:
    """What a line says above the lines that share it; "" where all keys have columns."""
    named = (
        f"{_words(head)} {escaped(_cut(key))}" for head, key in zip(heads, keys, strict=True) if key
    )
    return ", ".join(named)


def _caption(table: Sheet, part: str) -> str:
    shared = ", ".join(f"{_words(k)} {escaped(_cut(v))}" for k, v in table.constant.items())
    words = f"{_words(table.caption)}{f' ({shared})' if shared else ''}{part}"
    return " ".join(f"{each.rstrip('.')}." for each in (words, *map(_words, table.notes)))


def _keys(head: str, cells: Sequence[str]) -> _Column:
    """A name is broken behind a slash where it is long."""
    lines = [
        textwrap.wrap(re.sub(r"/(?=.)", "/ ", cell), NAME) if len(cell) > NAME else [cell]
        for cell in map(_cut, cells)
    ]
    return _Column("l", [head], [[line.replace("/ ", "/") for line in cell] for cell in lines])


def _cut(name: str) -> str:
    """A name, of which TeX cannot set a caption where it has thousands of characters."""
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 3]}..."


def _numbers(head: str, cells: Sequence[str]) -> _Column:
    """An interval, a test and an n stand below their number."""
    lines = [re.sub(r" (?=[\[(])|, (?=p |Holm |n )", "\n", cell).split("\n") for cell in cells]
    width = max([8, *(len(line) for cell in lines for line in cell)])
    return _Column("r", textwrap.wrap(head, width, break_long_words=False) or [""], lines)


def _parts(keys: list[_Column], others: list[_Column]) -> Iterator[list[_Column]]:
    """The keys with as many other columns as fit beside them, and so on."""
    room = WIDE - sum(key.width for key in keys)
    part: list[_Column] = []
    for column in others:
        if part and sum(each.width for each in part) + column.width > room:
            yield [*keys, *part]
            part = []
        part.append(column)
    yield [*keys, *part]


def _set(columns: Sequence[_Column], groups: Sequence[str], titled: str) -> list[str]:
    """One table, with a line above each run of lines of one group."""
    sides = "".join(column.side for column in columns)
    head = " & ".join(_stacked(c.side, c.head, _words) for c in columns) + r" \\"
    rows, height, before = [], 0, ""
    wide = sum(column.width for column in columns) - GAP
    for group, *cells in zip(groups, *(column.cells for column in columns), strict=True):
        if group != before:
            side = "l" if SIGN * len(group) < wide else f"p{{{0.8 * wide:.0f}pt}}"
            across = f"\\multicolumn{{{len(columns)}}}{{{side}}}"
            rows.append(f"{across}{{\\raggedright\\emph{{{group}}}}} \\\\*")
            height += 1
        before = group
        # An empty group first: a bracket after a line's end would be an argument of it.
        line = [
            _stacked(c.side, cell, _cell if c.side == "r" else escaped)
            for c, cell in zip(columns, cells, strict=True)
        ]
        rows.append("{}" + " & ".join(line) + r" \\")
        height += max(map(len, cells))
    made = _long if height > LONG else _float
    return made(sides, head, rows, titled)


def _float(sides: str, head: str, rows: list[str], titled: str) -> list[str]:
    return [
        r"\begin{table}", r"\centering\footnotesize\setlength{\tabcolsep}{3pt}", titled,
        f"\\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *rows,
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip


def _long(sides: str, head: str, rows: list[str], titled: str) -> list[str]:
    return [
        r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}",
        f"\\begin{{longtable}}{{{sides}}}", f"{titled}\\\\",
        r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule",
        r"\endhead", r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\endgroup",
    ]  # fmt: skip


def _stacked(side: str, lines: Sequence[str], say: Callable[[str], str]) -> str:
    """Lines of a cell below each other."""
    if len(lines) == 1:
        return say(lines[0])
    below = "\\\\{}".join(map(say, lines))
    return f"\\stacked{{{side}}}{{{below}}}"


def _words(text: str) -> str:
    """Our own words, with the study's symbols as it prints them."""
    return escaped(text).replace(r"R\_CPT", "$R_{CPT}$").replace(r"D\_T", "$D_T$")


def _cell(text: str) -> str:
    """A number with a minus that is one."""
    return _MINUS.sub(r"$-$", escaped(text))


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _sign(sign: str) -> str:
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    if " " <= sign <= "~" or "\u00a1" <= sign <= "\u00ff":
        return sign
    return f"U+{ord(sign):04X}"
