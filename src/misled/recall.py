"""What was asked and what came back, many at a time, by key.

    recall(store, ["b2:1f...", "b2:9c..."]) -> {"b2:1f...": (Request(...), Response(...)), ...}

Knows nothing about studies.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import msgspec

from misled.records import Answer, Request
from misled.store import ROWS, Store, decoded

__all__ = ["Kept", "recall"]

Kept: TypeAlias = tuple[Request, Answer | None]


def recall(store: Store, keys: Collection[str]) -> dict[str, Kept]:
    """The requests with these keys that the store holds, each with its answer, if it has one.

    What is damaged is left out.
    """
    found: dict[str, Kept] = {}
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), ROWS):
        part = ordered[start : start + ROWS]
        query = (
            "SELECT r.key, r.body, a.kind, a.body, a.digest FROM requests r "  # noqa: S608 - our own words
            f"LEFT JOIN answers a ON a.key = r.key WHERE r.key IN ({', '.join('?' * len(part))})"
        )
        for key, asked, *answer in store.select(query, *part):
            reply = None if answer[0] is None else decoded(*answer)
            try:
                found[key] = msgspec.json.decode(asked, type=Request), reply
            except msgspec.MsgspecError:
                continue
    return found
