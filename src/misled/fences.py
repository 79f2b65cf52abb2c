"""Fences round judged text that it cannot forge, and the check that no chain leaks.

    >>> fence(["What is 2 + 2?", "4"])
    ('<text-3c9a92c55005>', '</text-3c9a92c55005>')

The mark is a hash of the texts, drawn again while any of them holds it: a text
that wants to end its own fence would have to hold a hash of itself.

Words are compared without case and punctuation, runs of eight of them at a time
[protocol B.3]; a Chinese character is a word. Knows nothing about prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b

__all__ = ["RUN", "fence", "leak", "repeated"]

RUN = 8  # words

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def fence(texts: Sequence[str]) -> tuple[str, str]:
    """What opens and closes each of `texts`; equal texts have equal fences."""
    hashed = blake2b(digest_size=16)
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    mark = _absent(hashed.hexdigest()[:12], texts)
    return f"<text-{mark}>", f"</text-{mark}>"


def leak(prompt: str, chain: str, shown: Sequence[str], words: str = "") -> bool:
    """Whether a prompt that should not hold the chain has eight words of it in a row.

    What the prompt has to show, question and answer, is no leak: it is taken
    out first, where it is long enough to hold such a run. Nor are the prompt's
    own `words`, which a chain may quote.
    """
    kept = [prompt]
    for text in sorted({text.strip() for text in shown}, key=len, reverse=True):
        if len(_words(text)) >= RUN:
            kept = [piece for part in kept for piece in part.split(text)]
    stated = {run for piece in kept for run in _runs(_words(piece))}
    stated -= set(_runs(_words(words)))
    return bool(stated) and any(run in stated for run in _runs(_words(chain)))


def repeated(chain: str, answer: str) -> float | None:
    """The share of the chain's runs of eight words that the answer repeats; None if it has none."""
    words = _words(chain)
    if len(words) < RUN:
        return None
    stated = set(_runs(_words(answer)))
    return sum(run in stated for run in _runs(words)) / (len(words) - RUN + 1)


def _absent(mark: str, texts: Sequence[str]) -> str:
    """`mark`, or the first of the hashes that follow from it that no text holds."""
    folded = [text.casefold() for text in texts]
    while any(mark in text for text in folded):
        mark = blake2b(mark.encode(), digest_size=6).hexdigest()
    return mark


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _runs(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[i:] for i in range(RUN)), strict=False)
