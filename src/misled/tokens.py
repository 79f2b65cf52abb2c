"""Tokens as the first study counts them: the o200k_base vocabulary of GPT-4o [A §5.2].

    count("The sum is 12,345.") -> 8

Exact: a long text is counted in pieces that are cut where the tokenizer cuts
anyway, before a space, after a line or before a comma. Only a run of `PIECE`
code points without any such place (no white space, no punctuation) is cut
blindly, which can add a token or two a cut. Special tokens in a text
(`<|endoftext|>`) are counted as the characters that they are written with.

Knows nothing about other vocabularies: what a server bills is its own count.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from typing import Any

__all__ = ["PIECE", "count"]

# The vocabulary's package takes at most 200,000 tokens, and a code point is 4 at most.
PIECE = 49_998  # a multiple of 3, as are the groups into which runs of digits are cut
_CUT = r"(?<=\S)(?= )|(?<=\n)(?![\s/])|(?<=[^\W_])(?=[,.:;!?，。：；！？、])"
_PIECES = re.compile(rf".{{1,{PIECE}}}(?:\Z|{_CUT})|.{{1,{PIECE}}}", re.DOTALL)


def count(text: str) -> int:
    """How many tokens `text` is; the first call takes half a second and 150 MB."""
    encode = _vocabulary().encode_ordinary
    return sum(len(encode(piece)) for piece in _PIECES.findall(text))


@cache
def _vocabulary() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of how the package opens its data
        from bpe_openai import get_encoding  # noqa: PLC0415 - loaded by who counts, and only then

        return get_encoding("o200k_base")
