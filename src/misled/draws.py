"""Random draws as a pure function of what they are for.

    >>> draw = Draws(0, "addition:15+13/3", "digits")
    >>> draw.below(10) in range(10)
    True

A stream is the blake2b of its key and a counter, so that a draw depends on
nothing but (seed, problem, purpose): adding a problem changes no other, and no
release of Python changes a published number, which the standard library does
not promise for its samplers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TypeVar

__all__ = ["Draws"]

T = TypeVar("T")


class Draws:
    """A stream of draws keyed by `parts`; equal parts give equal streams."""

    __slots__ = ("_key", "_words")

    def __init__(self, *parts: str | int) -> None:
        text = "\x1f".join(f"{type(part).__name__[0]}{part}" for part in parts)
        self._key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()
        self._words = self._stream()

    def _stream(self) -> Iterator[int]:
        counter = 0
        while True:
            block = blake2b(counter.to_bytes(8, "big"), key=self._key).digest()
            for start in range(0, 64, 8):
                yield int.from_bytes(block[start : start + 8], "big")
            counter += 1

    def unit(self) -> float:
        """A number in [0, 1) with 53 random bits."""
        return (next(self._words) >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """An integer in 0..n-1, without modulo bias for n up to 2**64."""
        if not 0 < n <= 1 << 64:
            raise ValueError(f"below({n}) needs 1..2**64")
        limit = (1 << 64) - (1 << 64) % n
        while (word := next(self._words)) >= limit:
            pass
        return word % n

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Take `k` different items; the first j are what an equal stream gives for j."""
        pool = list(items)
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """All items in random order."""
        return self.sample(items, len(items))
