r"""A sheet as a LaTeX table with booktabs rules, to be \input into a paper.

    latex(sheet) -> \begin{table} ... credulous & 0.620 [0.551, 0.684] \\ ... \end{table}

Needs the packages booktabs and, for more than 40 lines, longtable. Names come
from plans, files and models: what is special to TeX is escaped, and a character
that pdflatex cannot set by itself is written as its code point. Knows nothing
about estimates.
"""

from __future__ import annotations

import re

from misled.sheets import Sheet, visible

__all__ = ["escaped", "latex"]

LONG = 40  # lines that still fit a page

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}", "'": r"\textquotesingle{}", "\n": " ", "\t": " ",
    "\u27e8": r"\textless{}", "\u27e9": r"\textgreater{}", "\u00a0": "~",
    "\u2013": "--", "\u2014": "---", "\u2026": r"\ldots{}",
}  # fmt: skip
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def escaped(text: str) -> str:
    """Text that LaTeX sets as it stands, in plain pdflatex with T1 fonts."""
    return "".join(_sign(sign) for sign in visible(text))


def latex(table: Sheet, name: str) -> str:
    """The sheet as a floating table, or a longtable where it does not fit a page."""
    shared = ", ".join(f"{_words(k)} {escaped(v)}" for k, v in table.constant.items())
    caption = f"{_words(table.caption)}{f' ({shared})' if shared else ''}."
    caption += "".join(f" {_words(note)}." for note in table.notes)
    lossy = any(line.left_out for line in table.lines)
    heads = [*table.heads, *table.columns, *(["left out"] if lossy else [])]
    columns = "l" * len(table.heads) + "r" * len(table.columns) + "l" * lossy
    head = " & ".join(map(_words, heads)) + r" \\"
    rows = []
    for line in table.lines:
        cells = [*map(escaped, line.keys), *map(_cell, line.cells)]
        # An empty group first: a bracket after a line's end would be an argument of it.
        rows.append("{}" + " & ".join([*cells, *([escaped(line.left_out)] * lossy)]) + r" \\")
    titled = f"\\caption{{{caption}}}\\label{{tab:{_label(name)}}}"
    made = _long if len(rows) > LONG else _float
    return "\n".join(made(columns, head, rows, titled)) + "\n"


def _float(columns: str, head: str, rows: list[str], titled: str) -> list[str]:
    return [
        r"\begin{table}", r"\centering\footnotesize", titled,
        f"\\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows,
        r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip


def _long(columns: str, head: str, rows: list[str], titled: str) -> list[str]:
    return [
        r"\begingroup\footnotesize", f"\\begin{{longtable}}{{{columns}}}", f"{titled}\\\\",
        r"\toprule", head, r"\midrule", r"\endfirsthead", r"\toprule", head, r"\midrule",
        r"\endhead", r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}", r"\endgroup",
    ]  # fmt: skip


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
