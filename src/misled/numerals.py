"""Chinese numerals up to 9999, as numbers that take no change of digits.

    >>> chinese("十七加二十五等于四十二")[-1]
    Number(start=8, end=11, value='42', swappable=False, form='words')

A lone character is a numeral only after a word that states a value (`等于七`);
elsewhere it is most often part of a word (`一个`, `三角形`). What orders or dates
(`第四十二`, `十二月`), a part of a larger number (`三十万`, `四十二点五`, `十分之一`),
a row of digits (`四二`) and what can be read in two ways (`一百二`) are none.

Knows nothing of English number words, which are found with the digits.
"""

from __future__ import annotations

import re

from misled.numbers import Number

__all__ = ["chinese"]

_DIGITS = "零一二三四五六七八九"
_CHARACTERS = _DIGITS + "〇两兩十百千"
_DIGIT = "[一二三四五六七八九两兩]"
_RUN = re.compile(
    rf"(?:(?<![第点點分之万萬亿億{_CHARACTERS}])[{_CHARACTERS}]{{2,8}}+"
    rf"|(?<=[于於是为為得即])[{_CHARACTERS}](?![\u4e00-\u9fff]))"
    rf"(?![月日号號点點分万萬亿億{_CHARACTERS}])"
)
# The zero may be left out only where nothing is skipped: 一百二 is 120 to many.
_NUMERAL = re.compile(
    rf"(?![零〇])(?:({_DIGIT})千)?(?:[零〇]?({_DIGIT})百)?(?:[零〇]?({_DIGIT}?十))?"
    rf"(?:(?:[零〇]|(?<![百千]))({_DIGIT}))?"
)
_WORTH = {character: value for value, character in enumerate(_DIGITS)} | {"两": 2, "兩": 2}


def chinese(text: str) -> list[Number]:
    """Every Chinese numeral of the text, ascending and disjoint."""
    found = []
    for run in _RUN.finditer(text):
        parts = _NUMERAL.fullmatch(run[0])
        if parts is not None:
            thousands, hundreds, tens, units = (part or "零" for part in parts.groups())
            tens = "一" if tens == "十" else tens[0]
            value = 0
            for digit in (thousands, hundreds, tens, units):
                value = 10 * value + _WORTH[digit]
            found.append(Number(*run.span(), str(value), swappable=False, form="words"))
    return found
