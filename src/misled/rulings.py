"""Lines of study B's tables from any set of verdicts.

    scores("judge", keys, 500 verdicts, 500 labels, clusters)
    -> Entry(metric="alignment", value=0.634, ...), Entry(metric="tpr", ...), ...

Knows nothing about which verdicts belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace

from misled import batches, judging
from misled.judging import Change
from misled.records import Entry, Estimate
from misled.trials import Keys

__all__ = [
    "NONE",
    "but",
    "difference",
    "distinct",
    "entry",
    "mean_changes",
    "scores",
    "shifts",
    "uncertain",
    "uncertain_changes",
]

STUDY = "judge"
NONE: Mapping[str, int] = {}
_FILLED = ("pass", "overconfidence", "tpr", "fpr")  # largest where what is unread is accepted
_AIMED = ("alignment", "youden", "d_prime")  # largest where it is judged right


def entry(
    table: str, metric: str, keys: Keys, estimate: Estimate, left_out: Mapping[str, int] = NONE
) -> Entry:
    """An estimate as a line."""
    return Entry(
        table=table,
        study=STUDY,
        metric=metric,
        keys=keys,
        left_out=dict(left_out),
        **asdict(estimate),
    )


def difference(
    table: str,
    metric: str,
    keys: Keys,
    found: batches.Difference,
    left_out: Mapping[str, int] = NONE,
) -> Entry:
    """A difference as a line, with its p against 0."""
    return replace(entry(table, metric, keys, found.estimate, left_out), p=found.p)


def scores(
    table: str, keys: Keys, verdicts: tuple[Any, Any, Any], left_out: Mapping[str, int] = NONE
) -> list[Entry]:
    """Every metric of B.4; `verdicts` are what was said, what is right, and clusters."""
    found = judging.metrics(*verdicts)
    return [entry(table, name, keys, estimate, left_out) for name, estimate in found.items()]


def shifts(
    table: str,
    keys: Keys,
    pair: tuple[Any, Any],
    items: tuple[Any, Any],
    left_out: Mapping[str, int] = NONE,
) -> Iterator[Entry]:
    """What changes from the first verdicts of `pair` to the second; `items` are right, clusters.

    p is McNemar's mid-p; `<metric>/exact` has the exact one.
    """
    for name, change in judging.changes(*pair, *items).items():
        yield from _both(entry(table, name, keys, change.estimate, left_out), change)


def _both(line: Entry, change: Change) -> Iterator[Entry]:
    yield replace(line, p=change.p)
    if change.exact is not None:
        yield replace(line, metric=f"{line.metric}/exact", p=change.exact)


def mean_changes(
    table: str, keys: Keys, pair: tuple[Any, Any], items: tuple[Any, Any]
) -> Iterator[Entry]:
    """Second minus first of shares of accepting, among all, right and wrong items."""
    right, cluster = items
    every = np.ones(right.shape, bool)
    for name, of in (("pass", every), ("tpr", right), ("fpr", ~right)):
        (found,) = batches.paired(pair[1][of], pair[0][of], cluster[of], span=1.0)
        yield difference(table, f"change_{name}", keys, found)


def uncertain(
    table: str, keys: Keys, verdicts: tuple[Any, Any], items: tuple[Any, Any]
) -> Iterator[Entry]:
    """Worst-case bounds: each metric if all that was not read had been accepted, or rejected ...

    `verdicts` are what was said and whether it was read; `items` right, clusters.
    """
    (said, known), (right, cluster) = verdicts, items
    fills = {
        "reject": np.zeros_like(right),
        "accept": np.ones_like(right),
        "lower": ~right,
        "upper": right,
    }
    found = {
        name: judging.metrics(np.where(known, said, fill), right, cluster)
        for name, fill in fills.items()
    }
    ends = [(name, "reject", "accept") for name in _FILLED]
    ends += [(name, "accept", "reject") for name in ("conservativeness", "criterion")]
    ends += [(name, "lower", "upper") for name in _AIMED]
    for name, low, high in ends:
        yield entry(table, f"{name}_lower", keys, found[low][name])
        yield entry(table, f"{name}_upper", keys, found[high][name])


def uncertain_changes(
    table: str, keys: Keys, pair: tuple[tuple[Any, Any], tuple[Any, Any]], items: tuple[Any, Any]
) -> Iterator[Entry]:
    """Worst-case bounds of each change from the first to the second of `pair`, as `uncertain`."""
    (was, was_known), (now, now_known) = pair
    right, cluster = items
    none = np.zeros_like(right)
    for end, low, high in (("lower", ~none, none), ("upper", none, ~none)):
        aimed = right if end == "lower" else ~right
        plain = np.where(was_known, was, low), np.where(now_known, now, high)
        judged = np.where(was_known, was, aimed), np.where(now_known, now, ~aimed)
        found = judging.changes(*plain, right, cluster)
        found["change_alignment"] = judging.changes(*judged, right, cluster)["change_alignment"]
        for name, change in found.items():
            yield entry(table, f"{name}_{end}", keys, change.estimate)


def but(keys: Keys, *names: str) -> Keys:
    """The keys without some."""
    return {name: value for name, value in keys.items() if name not in names}


def distinct(entries: Iterable[Entry], name: str) -> list[str]:
    """The values of a key, in the order in which they come."""
    return list(dict.fromkeys(e.keys[name] for e in entries if name in e.keys))
