"""Lines of study B with known verdicts, and as the frame that its tables take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import polars as pl

from misled.records import Entry
from misled.row import Judged

WHO: dict[str, Any] = {"set": "facts", "generator": "acme/g", "judge": "acme/j", "shown": "content"}
WORDS = {"a": "accept", "r": "reject"}


def frame(rows: Iterable[Judged]) -> pl.DataFrame:
    """Rows as one column a field."""
    names = Judged.__struct_fields__
    plain = [msgspec.to_builtins(row) for row in rows]
    return pl.DataFrame({name: [row[name] for row in plain] for name in names}, strict=False)


def verdict(item: int, said: str, condition: str, **fields: Any) -> Judged:
    """One verdict: a accepts, r rejects, ? is unreadable, any other word is the outcome."""
    read = said in WORDS
    outcome = "read" if read else "unreadable" if said == "?" else said
    known: dict[str, Any] = {"problem": f"q{item:03}", "cluster": f"q{item:03}", "label": True}
    known |= WHO | {"sample": int(condition.startswith("again"))} | fields
    return Judged(
        arm="judge", condition=condition, outcome=outcome, verdict=WORDS.get(said), **known
    )


def generation(item: int, *, label: bool | None, **fields: Any) -> Judged:
    """The item itself."""
    known: dict[str, Any] = {"outcome": "read", "labelled_by": "match"} | fields
    name = f"q{item:03}"
    who = {"set": "facts", "generator": "acme/g"}
    return Judged(arm="generate", problem=name, cluster=name, label=label, **(who | known))


def bench(
    lines: Mapping[tuple[bool, str], int], conditions: Sequence[str], **fields: Any
) -> list[Judged]:
    """`{(right, ("r", "a")): 3}`: three right items, rejected in the first condition ..."""
    rows: list[Judged] = []
    item = 0
    for (label, said), count in lines.items():
        for _ in range(count):
            rows += [
                verdict(item, word, condition, label=label, **fields)
                for word, condition in zip(said, conditions, strict=True)
                if word
            ]
            item += 1
    return rows


def pick(entries: Iterable[Entry], table: str, metric: str, **keys: str) -> Entry:
    """The one entry of a table and metric that has these keys."""
    (found,) = (
        e
        for e in entries
        if (e.table, e.metric) == (table, metric) and keys.items() <= e.keys.items()
    )
    return found
