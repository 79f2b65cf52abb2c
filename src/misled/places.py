"""Where in a store a request stands: its key -> its number, in levels.

    find(db, [key])      -> {key: 17}
    put(db, {key: 17})

Keys are hashes and come in no order. In one large index each would change a page of its
own, and a commit would write more index than answers. So new keys stand in a small level,
and a level that is full is laid into the next, in the order of its keys; the last holds
any number.

Knows the connection that it is given, and nothing of what stands at a place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["HAS_KEY", "LEVELS", "find", "insert", "put"]

LEVELS = (1024, 8192, 65536)  # keys that a level may hold
HAS_KEY = "level IN (0, 1, 2, 3) AND key"  # then " = ?" or " IN (?, ?)": a look into each level
ROWS = 128  # of a statement: 999 values at most in old builds of SQLite

T = TypeVar("T")


def _parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """`rows` in parts of few sizes, so that their statements are prepared once."""
    start, size = 0, ROWS
    while start < len(rows):
        while size > len(rows) - start:
            size //= 2
        yield rows[start : start + size]
        start += size


def insert(db: sqlite3.Connection, table: str, rows: Sequence[tuple[object, ...]]) -> int:
    """How many of `rows` were new."""
    # One statement for many rows: SQLite lets go of the interpreter once for each.
    new = 0
    for part in _parts(rows):
        marks = ", ".join([f"({', '.join('?' * len(part[0]))})"] * len(part))
        found = db.execute(
            f"INSERT OR IGNORE INTO {table} VALUES {marks}",  # noqa: S608 - our own names
            [value for row in part for value in row],
        )
        new += found.rowcount
    return new


def find(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    """The numbers of those requests that the store holds."""
    found: dict[bytes, int] = {}
    for part in _parts(keys):
        marks = ", ".join("?" * len(part))
        query = f"SELECT key, id FROM places WHERE {HAS_KEY} IN ({marks})"  # noqa: S608 - our own words
        found.update(db.execute(query, part))
    return found


def put(db: sqlite3.Connection, ids: Mapping[bytes, int]) -> None:
    """Keep keys that are new."""
    insert(db, "places", sorted((0, key, id_) for key, id_ in ids.items()))
    for level, most in enumerate(LEVELS):
        [(held,)] = db.execute("SELECT count(*) FROM places WHERE level = ?", (level,))
        if held <= most:
            return
        db.execute(
            "INSERT INTO places SELECT level + 1, key, id FROM places WHERE level = ? ORDER BY key",
            (level,),
        )
        db.execute("DELETE FROM places WHERE level = ?", (level,))
