"""Which keys may have been seen, in four megabytes, however many there are.

    sieve.update([digest])
    digest in sieve -> True;  other in sieve -> False, almost always

A Bloom filter: it never denies what it has seen, and with a million keys in it, it takes
one new one in three hundred for an old one. Nearly every question of a run is new: with it,
that costs no look into the file. Knows nothing about what a key stands for.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

__all__ = ["Sieve"]

_WORDS = Struct("<2I")  # of a digest, each as good as random: the places of its two bits
_SHIFT = 7  # leaves 25 bits of a word


class Sieve:
    """Digests that may have been added."""

    def __init__(self) -> None:
        self._bits = bytearray(1 << 32 - _SHIFT - 3)

    def update(self, digests: Iterable[bytes]) -> None:
        """From now on they are in here."""
        bits = self._bits
        for digest in digests:
            for word in _WORDS.unpack_from(digest.ljust(_WORDS.size)):
                bits[word >> _SHIFT + 3] |= 1 << (word >> _SHIFT & 7)

    def __contains__(self, digest: bytes) -> bool:
        """False where it was surely not added."""
        bits = self._bits
        for word in _WORDS.unpack_from(digest.ljust(_WORDS.size)):
            if not bits[word >> _SHIFT + 3] >> (word >> _SHIFT & 7) & 1:
                return False
        return True
