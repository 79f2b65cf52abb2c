"""Study B's tests that were fixed in advance, and its published tables as selections.

    judge entries of Qwen3-8B's answers -> table1, and table1_detection beside it

A family holds one setting: content where it was shown, else the value; B2 the
first generator. All else explores. Knows nothing about verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from misled import stats
from misled.judged import PAIR
from misled.judging import JOINT, METRICS
from misled.records import Entry
from misled.rulings import but, distinct

__all__ = ["adjusted", "exhibits", "families"]

GENERATORS = {"table1": "qwen3-8b", "table6": "deepseek-v3.1"}  # of the paper
SHOWN = ("content", "value")
_SAYS = ("family", "m")


def families(entries: Sequence[Entry]) -> list[Entry]:
    """Every member of B1 and B2 with Holm's p (protocol, Statistics)."""
    changed = [e for e in entries if e.table == "changes"]
    moved = [e for e in entries if e.table == "controlled_changes"]
    found: list[Entry] = []
    for problems in distinct([*changed, *moved], "set"):
        mine = _main([e for e in changed if e.keys["set"] == problems])
        for generator in distinct(mine, "generator"):
            rates = ("change_tpr", "change_fpr")
            found += _holm("B1", [e for e in mine if e.keys["generator"] == generator
                                  and e.metric in rates])  # fmt: skip
        mine = _main([e for e in moved if e.keys["set"] == problems])
        first = distinct(mine, "generator")[:1]
        found += _holm("B2", list(_edits([e for e in mine if e.keys["generator"] in first])))
    return found


def _main(entries: Sequence[Entry]) -> list[Entry]:
    """Those of one way to show the answer."""
    there = distinct(entries, "shown")
    main = next((shown for shown in SHOWN if shown in there), "")
    return [e for e in entries if e.keys.get("shown", "") == main]


def _edits(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Per judge: k = 0 against plain, the slope over k, begin against end; over places."""
    tests: tuple[Callable[[Entry], bool], ...] = (
        lambda e: e.metric == "change_pass" and _is(e, k="0", against="plain"),
        lambda e: e.metric == "slope_pass",
        lambda e: e.metric == "change_pass" and _is(e, against="end"),
    )
    for judge in distinct(entries, "judge"):
        for test in tests:
            mine = [e for e in entries if _is(e, judge=judge, variant="statements") and test(e)]
            yield from sorted(mine, key=lambda e: " and " not in e.keys["place"])[:1]


def _is(e: Entry, **keys: str) -> bool:
    return keys.items() <= e.keys.items()


def _holm(family: str, members: Sequence[Entry]) -> list[Entry]:
    tests = [e.p for e in members if e.p is not None]
    after = iter(stats.holm(tests).tolist())
    return [
        replace(
            e,
            table="families",
            keys={"family": family, "m": str(len(tests)), "metric": e.metric} | e.keys,
            p_adjusted=None if e.p is None else next(after),
        )
        for e in members
    ]


def adjusted(entries: Iterable[Entry], tests: Iterable[Entry]) -> list[Entry]:
    """The entries, where they are a family's members with its adjusted p."""
    by = {_identity(e): e.p_adjusted for e in tests}
    return [replace(e, p_adjusted=by[_identity(e)]) if _identity(e) in by else e for e in entries]


def _identity(e: Entry) -> tuple[str, frozenset[tuple[str, str]]]:
    return e.metric, frozenset(but(e.keys, *_SAYS, "metric").items())


def exhibits(
    judged: Sequence[Entry], balanced: Sequence[Entry], controlled: Sequence[Entry]
) -> list[Entry]:
    """Tables 1, 6, 7, 8 and 9 [B], each of joint shares, with TPR, FPR, J, d' and c as its twin.

    Table 1 has the paper's generator, or the first; tables 7 and 8 are of MATH.
    """
    plain = [e for e in judged if e.keys.get("condition") in PAIR]
    generators = distinct(plain, "generator")
    first = _like(generators, GENERATORS["table1"]) or generators[:1]
    tables = {
        "table1": [e for e in plain if e.keys["generator"] in first],
        "table6": [
            e for e in plain if e.keys["generator"] in _like(generators, GENERATORS["table6"])
        ],
        "table7": [e for e in balanced if _is_math(e)],
        "table8": [e for e in plain if _is_math(e) and e.keys["generator"] in first],
        "table9": controlled,
    }
    return [
        replace(e, table=f"{name}{end}")
        for name, mine in tables.items()
        for end, metrics in (("", JOINT), ("_detection", METRICS[len(JOINT) :]))
        for e in mine
        if e.metric in metrics
    ]


def _like(generators: Sequence[str], name: str) -> list[str]:
    return [generator for generator in generators if name in generator.lower()]


def _is_math(e: Entry) -> bool:
    return "math" in e.keys["set"].lower()
