"""What can go wrong, as a tree.

    MisledError
    ├── UserError       the user can fix it: one line that names the fix, exit 2
    │   ├── StoreError  the run directory cannot be used: locked, damaged, full, of another plan
    │   └── RunError    the run cannot go on: every request would fail in the same way
    └── ProviderError   a server's error; `retryable` says if asking again can help

A `ProviderError` never leaves an engine: at the engine's boundary it becomes a
`records.Failure`, which is data. `nearest` words the "did you mean" of every
message about an unknown name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["MisledError", "ProviderError", "RunError", "StoreError", "UserError", "nearest"]


class MisledError(Exception):
    """The root of every error that this package raises on purpose."""


class UserError(MisledError):
    """Something the user can fix; the message is one line and names the fix."""


class StoreError(UserError):
    """The run directory cannot be read or written."""


class RunError(UserError):
    """Every further request would fail in the same way."""


class ProviderError(MisledError):
    """A server's error; `kind` is the vocabulary of `records.Failure.kind`."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after


def nearest(what: str, name: str, known: Iterable[str]) -> str:
    """One line that says `name` is unknown and which known name is nearest."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
    return f"unknown {what} {name!r}; {hint}"
