"""What a reader of a comparison has to know, a sentence each; and when there is none.

    of_pair(frame, first, run, names)
    -> "Paired, model: b/two against a/one", "Of 348 pairs of ... 348 share the tampered result"

Knows nothing about estimates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from misled import pairing, pairing_judge, versus
from misled.captions import KEYS, label
from misled.errors import UserError
from misled.facing import UNITS
from misled.judge_plans import JudgePlan
from misled.opening import Opened
from misled.plans import Plan
from misled.records import Entry
from misled.sides import AGAINST, Match, Side

__all__ = ["check_common", "family", "of_pair", "remarks", "unfinished"]


def unfinished(runs: Sequence[Opened]) -> Iterator[str]:
    """Runs that could still ask."""
    for run in runs:
        if run.unfinished:
            size = run.session.size
            yield (
                f"{run.side.name} is not finished: {run.unfinished} of {size} units could ask "
                "more; what stands is compared"
            )


def remarks(runs: Sequence[Opened]) -> Iterator[str]:
    """What the settings of one run did, and those of another did not."""
    every = [run.session.notes for run in runs]
    for run, mine in zip(runs, every, strict=True):
        yield from (
            f"{run.side.name}: {note}" for note in mine if not all(note in notes for notes in every)
        )


def check_common(
    frame: pl.DataFrame, runs: tuple[Opened, Opened], names: Mapping[str, Match]
) -> None:
    """UserError, with the reasons and what to do, where no item counts in both runs."""
    if (frame["why"] == "").any():
        return
    lacking = [words for run in runs if (words := _lacking(run))]
    if lacking:
        raise UserError("; ".join(lacking))
    sides, seeds = [run.side for run in runs], [run.session.plan.seed for run in runs]
    counts = frame.group_by("why").len().sort(["len", "why"], descending=[True, False])
    why = [f"{reason} {count}" for reason, count in counts.iter_rows()]
    why = why or [
        f"{KEYS.get(axis, axis)} {found.alone[0]} against {found.alone_other[0]}; pair names "
        f"with --match {found.alone[0]}={found.alone_other[0]}"
        for axis, found in names.items()
        if found.alone and found.alone_other and not found.reference
    ]
    why = why or [
        f"{KEYS.get(axis, axis)} {', '.join(one)} against {', '.join(two)}"
        for axis, one, two in _apart(*sides)
        if not set(one) & set(two)
    ]
    reason = "; ".join(why) or "nothing was asked in both"
    if "another question" in reason and seeds[0] != seeds[1]:
        reason += f" (the seeds differ: {seeds[0]} and {seeds[1]})"
    reason += "".join(f" ({name})" for name in names["set"].reference.values() if AGAINST in name)
    fixes = [fix for word, fix in _FIXES.items() if word in reason]
    unit = UNITS[runs[0].session.plan.study][1]
    raise UserError(
        "; ".join(
            [f"{sides[1].name} has no {unit} in common with {sides[0].name}: {reason}", *fixes]
        )
    )


# What to do about a reason that holds a word.
_FIXES = {
    "failed": "--retry-failed asks again what failed",
    "unasked": "the same command goes on with a run",
    "another question": "compare runs of the same problems and seed",
}
_COMPARED = {
    "cpt": (("tampered",), "trial of a tampered chain"),
    "judge": (("judge", "closed_book"), "verdict"),
}


def _lacking(run: Opened) -> str:
    """Why a run has nothing that could be compared, and what to do; "" where it has something."""
    arms, what = _COMPARED[run.session.plan.study]
    rows = run.side.rows
    if rows["arm"].is_in(arms).any():
        return ""
    lost = rows.filter(~pl.col("outcome").is_in(["recovered", "read"]))
    counts = lost.group_by("arm", "outcome").len().sort("len", "arm", descending=[True, False])
    said = ", ".join(f"{arm} {outcome} {count}" for arm, outcome, count in counts.iter_rows())
    fix = "unasked" if run.unfinished else "failed" if "failed" in said else ""
    told = _FIXES.get(fix, "other problems may give some")
    return f"{run.side.name} holds no {what} ({said}): {told}"


def _apart(one: Side, two: Side) -> Iterator[tuple[str, list[str], list[str]]]:
    """The axes of a cell that are not the same in both runs, with the values of each.

    An axis of which one run has no value at all is told by another one.
    """
    asked = [side.rows.filter(pl.col("arm").is_in(["tampered", "judge", "closed_book"]))
             for side in (one, two)]  # fmt: skip
    for axis in dict.fromkeys((*pairing.CELL, *pairing_judge.CELL)):
        if axis in one.names or axis not in one.rows.columns:
            continue
        value = pl.when(arm="closed_book").then(pl.lit("closed_book")).otherwise(axis)
        values = [[str(x) for x in rows.select(value if axis == "condition" else axis)
                   .to_series().drop_nulls().unique().sort()] for rows in asked]  # fmt: skip
        if all(values) and values[0] != values[1]:
            yield axis, values[0], values[1]


def of_pair(
    frame: pl.DataFrame, first: Opened, run: Opened, names: Mapping[str, Match]
) -> Iterator[str]:
    """Who and what could not be paired, and whether trials of one item are the same trial."""
    one, two = first.side.name, run.side.name
    for axis, found in names.items():
        yield from (
            f"Paired, {KEYS.get(axis, axis)} in {two}: {label}"
            for label in found.reference.values()
            if AGAINST in label
        )
        both = found.alone and found.alone_other
        hint = f" (--match {found.alone[0]}={found.alone_other[0]} pairs two)" if both else ""
        for name, alone in ((one, found.alone), (two, found.alone_other)):
            if alone:
                those = ", ".join(alone)
                yield f"Not paired, {KEYS.get(axis, axis)}: {those}, only in {name}{hint}"
    for axis, mine, theirs in _apart(first.side, run.side):
        for name, values, others in ((one, mine, theirs), (two, theirs, mine)):
            if only := [value for value in values if value not in others]:
                yield f"Not compared, {KEYS.get(axis, axis)}: {', '.join(only)}, only in {name}"
    plans = first.session.plan, run.session.plan
    if plans[0].seed != plans[1].seed:
        yield (
            f"The seeds differ ({plans[0].seed} in {one}, {plans[1].seed} in {two}): what is drawn "
            "by them, such as tampered digits, is not the same"
        )
    origins = [_origin(plan) for plan in plans]
    if origins[0] != origins[1]:
        yield f"Handed on: {origins[0]} in {one}, {origins[1]} in {two}"
    pairs, unit = frame.filter(pl.col("why") == ""), UNITS[plans[0].study][1]
    yield _alike(pairs, f"{pairs.height} {unit}s that {two} and {one} both have")


def _origin(plan: Plan | JudgePlan) -> str:
    """Whose chains or answers were handed on."""
    if isinstance(plan, JudgePlan):
        return f"answers of {', '.join(plan.generator) or plan.answers}"
    return f"chains of {plan.source or plan.chains or 'each model itself'}"


def _alike(pairs: pl.DataFrame, which: str) -> str:
    """How many pairs share what."""
    if pairs["same_reply"].all():
        return f"All {which} are the very same replies, so that every difference is 0 as it stands"
    words = {
        "same_result": "the tampered result",
        "same_chain": "the untampered chain",
        "same_answer": "the answer that is judged",
        "same_reply": "the very same reply, so that their difference is 0 as it stands",
    }
    there = []
    for name, word in words.items():
        if name in pairs.columns and (name != "same_reply" or pairs[name].any()):
            asked = pairs.filter(pl.col("generator") != "") if name == "same_answer" else pairs
            of = f" of {asked.height}" if asked.height < pairs.height else ""
            there += [f"{asked[name].sum()}{of} share {word}"] if asked.height else []
    return f"Of {which} {', '.join(there)}" if there else f"Paired by question: {which}"


def family(tests: Sequence[Entry]) -> str:
    """What was fixed in advance."""
    tested = [e for e in tests if e.p is not None]
    if not tested:
        return "No difference that was fixed in advance could be tested; every p is exploratory"
    what = dict.fromkeys(
        " ".join(filter(None, [label(e.metric.removeprefix(versus.CHANGE)),
                               e.keys.get("method"), e.keys.get("condition")]))
        for e in tested
    )  # fmt: skip
    return (
        f"Holm's p is of the {len(tested)} differences that were fixed in advance "
        f"({', '.join(what)}); every other p is exploratory and not adjusted"
    )
