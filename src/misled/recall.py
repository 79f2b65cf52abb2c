"""What was asked and what came back, many at a time, by key.

    recall(store, ["b2:1f...", "b2:9c..."]) -> {"b2:1f...": (Request(...), Response(...)), ...}

Knows nothing about studies.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import msgspec

from misled.places import HAS_KEY
from misled.records import Answer, Request
from misled.schema import digest_of
from misled.store import Store, decoded, digest

__all__ = ["Kept", "recall"]

Kept: TypeAlias = tuple[Request, Answer | None]

AT_ONCE = 128  # keys of a statement: 999 values at most in old builds of SQLite

_FOUND = (
    "SELECT r.key, r.body, a.kind, a.body, a.digest FROM "  # noqa: S608 - our own words
    f"(SELECT id FROM places WHERE {HAS_KEY} IN (%s)) AS p "
    "JOIN requests r ON r.id = p.id LEFT JOIN answers a ON a.id = p.id"
)


def recall(store: Store, keys: Collection[str]) -> dict[str, Kept]:
    """The requests with these keys that the store holds, each with its answer, if it has one.

    What is damaged is left out.
    """
    found: dict[str, Kept] = {}
    wanted = sorted({digest_of(key) for key in keys})
    for start in range(0, len(wanted), AT_ONCE):
        part = wanted[start : start + AT_ONCE]
        query = _FOUND % ", ".join("?" * len(part))
        for key, asked, *answer in store.select(query, *part):
            if not isinstance(asked, str) or digest(asked.encode()) != digest_of(str(key)):
                continue
            reply = None if answer[0] is None else decoded(*answer)
            try:
                found[key] = msgspec.json.decode(asked, type=Request), reply
            except msgspec.MsgspecError:
                continue
    return found
