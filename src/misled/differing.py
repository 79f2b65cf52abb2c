"""What two or more runs were made with, where that is not the same.

    differing([plan of seed 0, plan of seed 1], ...) -> [("seed", ("0", "1")), ...]

Knows nothing about what came of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

__all__ = ["NOTHING", "Differing", "differing", "flat"]

Differing: TypeAlias = tuple[str, tuple[str, ...]]  # what it is, and what each run has

NOTHING = "Nothing: settings, prompts, problems, versions and dates are the same"

ABSENT = "-"


def differing(runs: Sequence[Mapping[str, Any]]) -> list[Differing]:
    """What of these nested values is not the same in all runs, by its path, in their order."""
    every = [dict(flat(run)) for run in runs]
    names = list(dict.fromkeys(name for values in every for name in values))
    found = [(name, tuple(values.get(name, ABSENT) for values in every)) for name in names]
    return [(name, values) for name, values in found if len(set(values)) > 1]


def flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each leaf of nested mappings and lists of mappings as text, with its path: cells.1.digits."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value):
        for index, inner in enumerate(value, start=1):
            yield from flat(inner, f"{path}.{index}")
    else:
        yield path, value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    """`1, 2, 3` for a list, `-` for nothing, JSON for all else."""
    if value is None:
        return ABSENT
    if isinstance(value, list | tuple):
        return ", ".join(x if isinstance(x, str) else _text(x) for x in value)
    return msgspec.json.encode(value).decode()
