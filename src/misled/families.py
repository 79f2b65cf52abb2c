"""The tests that were fixed in advance, with Holm's adjusted p (protocol, Statistics).

    A1 on addition:15+13: five targets, net adoption at baseline
    -> Entry(table="families", keys={"family": "A1", "m": "5", ...}, p=.004, p_adjusted=.02)

A family holds one setting of one problem set: the first feed, attribution,
channel, perturbation, scope and place in the order of `trials.prepare`, where
a sweep has several. All other settings explore. What cannot be tested (fewer
than 10 problems, unsupported) is listed and does not count in m.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from misled import stats
from misled.prompts import METHODS
from misled.records import Entry

__all__ = ["adjusted", "families"]

MAIN = {
    "structure": ("intact",),
    "attribution": ("own", "other"),
    "channel": ("user", "assistant", "think", "think_closed"),
    "perturbation": ("digits", "insert_digit", "delete_digit"),
    "scope": ("endings", "all", "last"),
    "place": ("random", "anchored", "high", "low"),
}
EDITS = ("delete_reflection", "delete_verification", "insert")
# table, metric and keys of what a family tests, and the keys in which its members may differ
_FAMILIES = {
    "A1": ("pooled", "net_adoption", {"against": "clean", "method": "baseline"}),
    "A2": ("methods", "change_net_adoption", {}),
    "A3": ("structures", "net_adoption", {"half": "change", "method": "baseline"}),
    "A4": ("slopes", "slope_net_adoption", {"method": "baseline"}),
}


def families(entries: Sequence[Entry]) -> list[Entry]:
    """Every member of A1 to A4, per problem set, from the tables that hold its estimate."""
    found: list[Entry] = []
    for name, (table, metric, keys) in _FAMILIES.items():
        mine = [
            e
            for e in entries
            if (e.table, e.metric) == (table, metric) and keys.items() <= e.keys.items()
        ]
        for problems in dict.fromkeys(e.keys["set"] for e in mine):
            members = [e for e in mine if e.keys["set"] == problems]
            if name == "A2":
                members = [e for e in members if e.keys["method"] in METHODS]
            members = _pooled(_setting(members, name))
            found += _holm(name, members)
    return found


def adjusted(entries: Iterable[Entry], tests: Iterable[Entry]) -> list[Entry]:
    """The entries, where they are a family's members with its adjusted p."""
    by = {
        (table, metric, _identity(e)): e.p_adjusted
        for e in tests
        for table, metric, _ in [_FAMILIES[e.keys["family"]]]
    }
    return [
        replace(e, p_adjusted=by[key]) if (key := (e.table, e.metric, _identity(e))) in by else e
        for e in entries
    ]


def _setting(members: Sequence[Entry], family: str) -> list[Entry]:
    """Those of the main setting: for each axis, the first of its values that there is."""
    kept = list(members)
    for axis, order in MAIN.items():
        if axis == "structure" and family == "A3":
            kept = [e for e in kept if e.keys.get(axis) in EDITS]
            continue
        first = ("anchored", *order) if (axis, family) == ("place", "A4") else order
        values = {e.keys.get(axis, "") for e in kept}
        main = next((value for value in first if value in values), min(values, default=""))
        kept = [e for e in kept if e.keys.get(axis, "") == main]
    return kept


def _pooled(members: Sequence[Entry]) -> list[Entry]:
    """Of entries that differ in D_T alone, the first, which is over all of them."""
    first: dict[tuple[tuple[str, str], ...], Entry] = {}
    for e in members:
        first.setdefault(tuple((k, v) for k, v in e.keys.items() if k != "d_t"), e)
    return list(first.values())


def _holm(family: str, members: Sequence[Entry]) -> list[Entry]:
    tests = [e.p for e in members if e.p is not None]
    after = iter(stats.holm(tests).tolist())
    return [
        replace(
            e,
            table="families",
            keys={"family": family, "m": str(len(tests))} | e.keys,
            p_adjusted=None if e.p is None else next(after),
        )
        for e in members
    ]


def _identity(e: Entry) -> tuple[tuple[str, str], ...]:
    return tuple((k, v) for k, v in e.keys.items() if k not in {"family", "m"})
