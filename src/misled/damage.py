"""What of a store is no longer what was committed: every row hashed again, every sum added up.

    damaged(store)   -> ["answer b2:1f...: its text has another hash", ...]

Reads row by row, so that a store of any size can be looked through. Knows how a row is
kept, not what it says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from misled.schema import digest_of
from misled.store import Store, decoded, digest, spent

__all__ = ["damaged"]

SUMS = ("responses", "prompt tokens", "cached tokens", "completion tokens", "counted tokens")


def damaged(store: Store) -> list[str]:
    """One line for each thing that is damaged."""
    found = [f"database: {row[0]}" for row in store.scan("PRAGMA integrity_check")]
    if found == ["database: ok"]:
        found = []
    found += [f"{key}: its text has another hash" for key in store.torn()]
    return [*found, *_requests(store), *_answers(store)]


def _requests(store: Store) -> Iterator[str]:
    """Requests whose text is another, or that cannot be found."""
    for key, body in store.scan("SELECT key, body FROM requests ORDER BY id"):
        if key != "b2:" + digest(str(body).encode()).hex():  # a torn page may hold any type
            yield f"request {key}: its text has another hash"
    lost = "SELECT key FROM requests WHERE id NOT IN (SELECT id FROM places)"
    led = "SELECT r.key, p.key FROM places p JOIN requests r ON r.id = p.id"
    astray = [key for key, place in store.scan(led) if place != digest_of(str(key))]
    for key in [*astray, *(row[0] for row in store.scan(lost))]:
        yield f"request {key}: it cannot be found by its key"


def _answers(store: Store) -> Iterator[str]:
    """Answers whose text is another or whose request is gone, and batches that do not add up."""
    sums: dict[int, list[int]] = defaultdict(lambda: [0] * len(SUMS))
    torn: set[int] = set()  # batches with damaged answers: what these said, nobody knows
    query = (
        "SELECT a.id, r.key, a.kind, a.body, a.digest, a.batch "
        "FROM answers a LEFT JOIN requests r ON r.id = a.id ORDER BY a.id"
    )
    for number, key, kind, body, kept, batch in store.scan(query):
        answer = decoded(kind, body, kept)
        if answer is None:
            torn.add(batch)
            yield f"answer {key or number}: its text has another hash"
        else:
            sums[batch] = [a + b for a, b in zip(sums[batch], spent([answer]), strict=True)]
        if key is None:
            yield f"answer number {number}: its request is missing"
    query = "SELECT id, responses, prompt, cached, completion, counted FROM batches ORDER BY id"
    for batch, *said in store.scan(query):
        added = sums.pop(batch, [0] * len(SUMS))
        off = [
            f"{what} {one}, of its answers {other}"
            for what, one, other in zip(SUMS, said, added, strict=True)
            if one != other and batch not in torn
        ]
        if off:
            yield f"batch {batch} does not add up: {'; '.join(off)}"
    for batch in sums:
        yield f"batch {batch} is missing, its answers are not"
