"""What a server's prefix cache could give, at best.

    attainable(["chain A 1", "chain A 2", "chain B"])   -> 14 of 25 characters

A cache that forgets nothing works out each node of the prompts' trie once; the rest of
every prompt can come from it. Counts tokens or characters, whichever it is given. Knows
nothing about servers, which keep less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["attainable", "shared"]

P = TypeVar("P", str, tuple[int, ...])


def attainable(prompts: Iterable[P]) -> int:
    """How many tokens (or characters) of `prompts` are no new node of their trie."""
    # In sorted order, what a prompt shares with any before it, it shares with its neighbour.
    return sum(shared(a, b) for a, b in pairwise(sorted(prompts)))


def shared(a: Sequence[object], b: Sequence[object]) -> int:
    """The length of the common prefix, by halving."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
