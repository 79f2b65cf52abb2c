"""Run directories against the first of them: what differs between them, and every difference.

    compare([Path("runs/a"), Path("runs/b")])
    -> Comparison(names=("runs/a", "runs/b"), differing=(("model", ("m1", "m2")), ...), ...)

Each directory is graded again from its answers, as `misled report` does. Writes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from misled import pairing, pairing_judge, versus, versus_judge
from misled.captions import label
from misled.differing import Differing, differing
from misled.directory import Standing, standing
from misled.errors import UserError
from misled.judge_plans import JudgePlan
from misled.plans import Plan
from misled.records import Entry, Record, Response
from misled.session import Session, reopen
from misled.sides import AGAINST, Match, Side, matches, pairs_of
from misled.store import Store
from misled.versus import Labels

__all__ = ["Comparison", "compare"]


class Comparison(Record, frozen=True):
    """Runs of one study against the first of them.

    `differing` is what they were made with, where it is not the same; `notes`
    what a reader of the differences has to know, one sentence each.
    """

    study: str
    names: tuple[str, ...]
    differing: tuple[Differing, ...]
    notes: tuple[str, ...]
    entries: tuple[Entry, ...]


class _Opened(NamedTuple):
    """A directory's session, what stands in it, and what its store says of itself."""

    side: Side
    session: Session
    unfinished: int
    meta: Mapping[str, str]
    span: str


class _Study(NamedTuple):
    """How runs of a study are paired, counted and tested; which rows are what was handed on."""

    aligned: Callable[[Side, Side, Mapping[str, Match]], pl.DataFrame]
    entries: Callable[[pl.DataFrame, Labels], list[Entry]]
    primary: Callable[[Sequence[Entry]], list[Entry]]
    origin: str
    who: str


_STUDIES = {
    "cpt": _Study(pairing.aligned, versus.entries, versus.primary, "source", "target"),
    "judge": _Study(
        pairing_judge.aligned, versus_judge.entries, versus_judge.primary, "generate", "generator"
    ),
}


def compare(directories: Sequence[Path], match: Sequence[str] = ()) -> Comparison:
    """Every run against the first; `match` pairs names, as `A=B`.

    Raises:
        UserError: fewer than two runs, one twice, of two studies, or without a common item.
    """
    told = pairs_of(match)
    _check(directories)
    runs = [_open(path) for path in directories]
    studies = {run.session.plan.study: run.side.name for run in runs}
    if len(studies) > 1:
        words = " and ".join(f"{name} is of {study}" for study, name in studies.items())
        raise UserError(f"{words}: compare runs of one study")
    first, *others = runs
    study = first.session.plan.study
    how = _STUDIES[study]
    found: list[Entry] = []
    notes = [*_unfinished(runs), *_remarks(runs)]
    for run, names in zip(
        others, matches(first.side, [run.side for run in others], told), strict=True
    ):
        frame = how.aligned(first.side, run.side, names)
        _check_common(frame, (first, run), names)
        found += how.entries(frame, Labels(run.side.name, first.side.name, study))
        notes += _of_pair(frame, first, run, names)
    tests = how.primary(found)
    found = versus.adjusted(found, tests)
    return Comparison(
        study=study,
        names=tuple(run.side.name for run in runs),
        differing=tuple(differing([_facts(run) for run in runs])),
        notes=(*notes, _family(tests)),
        entries=tuple(found),
    )


def _check(directories: Sequence[Path]) -> None:
    if len(directories) < 2:
        raise UserError("compare takes two or more run directories, the first is the reference")
    seen: dict[Path, Path] = {}
    for path in directories:
        where = path.resolve()
        if where in seen:
            raise UserError(f"{path} and {seen[where]} are the same directory: name two runs")
        seen[where] = path


# --- what a run is ---------------------------------------------------------------------------


def _open(directory: Path) -> _Opened:
    session = reopen(directory)
    found = standing(session, directory)
    how = _STUDIES[session.plan.study]
    with Store(directory / "misled.db", read_only=True) as store:
        texts = pl.DataFrame(
            list(_texts(session, found.rows, store, how)),
            schema=dict.fromkeys(("set", "who", "problem", "text"), pl.String()),
            orient="row",
        )
        meta, span = store.meta(), store.span()
    side = Side(
        name=str(directory),
        rows=found.rows,
        problems=_problems(session),
        texts=texts,
        names=_names(session.plan, found),
        logged=bool(session.inputs.logged),
    )
    dates = f"{span[0]} to {span[1]}" if span[0] else "none yet"
    return _Opened(side, session, found.unfinished, meta, dates)


def _problems(session: Session) -> pl.DataFrame:
    """Each problem with a digest of its question and golds: equal ids are no equal questions."""
    lines = [
        (problem.set, problem.id, problem.cluster, _digest(problem.question, *problem.gold))
        for problems in session.inputs.problems.values()
        for problem in problems
    ]
    names = ("set", "problem", "cluster", "question")
    return pl.DataFrame(lines, schema=dict.fromkeys(names, pl.String()), orient="row").unique(
        ["set", "problem"], keep="first", maintain_order=True
    )


def _texts(
    session: Session, rows: pl.DataFrame, store: Store, how: _Study
) -> Iterator[tuple[str, ...]]:
    """The digest of each chain or answer that was handed on, by set, model and problem."""
    logged = session.inputs.logged
    mine = rows.filter(pl.col("arm") == how.origin).select("set", how.who, "problem", "request")
    for line in mine.unique(maintain_order=True).iter_rows():
        problems, who, problem, request = line
        given = logged.get(problems, {}).get(problem)
        reply = given.reply if given else store.reply(request) if request else None
        if isinstance(reply, Response):
            yield problems, who, problem, _digest(reply.reasoning or "", reply.content)


def _digest(*texts: str) -> str:
    return blake2b(msgspec.json.encode(texts), digest_size=16).hexdigest()


def _names(plan: Plan | JudgePlan, found: Standing) -> dict[str, tuple[str, ...]]:
    """The names of each axis that may be called otherwise in another run."""
    rows = found.rows
    if isinstance(plan, Plan):
        named = {"set": (), "target": plan.model, "attribution": (), "feed": ()}
        arm = rows.filter(arm="tampered")
    else:
        named = {"set": (), "generator": plan.generator, "judge": plan.judge, "shown": ()}
        arm = rows.filter(arm="judge")
    for axis, asked in named.items():
        frame = rows if axis in {"set", "generator"} else arm
        seen = () if axis == "judge" else frame[axis].drop_nulls().unique(maintain_order=True)
        named[axis] = tuple(dict.fromkeys([*asked, *seen]))
    return named


def _facts(run: _Opened) -> dict[str, Any]:
    """What a run was made with: plan, prompts, versions, problems; and when it was answered."""
    session, plan = run.session, run.session.plan
    words = session.inputs.judging if isinstance(plan, JudgePlan) else session.inputs.prompts
    return {
        **{name: msgspec.to_builtins(getattr(plan, name)) for name in plan.__struct_fields__},
        "prompts' hash": words.hash,
        "prompt": msgspec.to_builtins(words),
        "misled": run.meta.get("misled"),
        "Python": run.meta.get("python"),
        "problems": {name: len(problems) for name, problems in session.inputs.problems.items()},
        "answers from": run.span,
    }


# --- what a reader has to know ---------------------------------------------------------------


def _unfinished(runs: Sequence[_Opened]) -> Iterator[str]:
    for run in runs:
        if run.unfinished:
            size = run.session.size
            yield (
                f"{run.side.name} is not finished: {run.unfinished} of {size} units could ask "
                "more; what stands is compared"
            )


def _remarks(runs: Sequence[_Opened]) -> Iterator[str]:
    """What the settings of one run did, and those of another did not."""
    every = [run.session.notes for run in runs]
    for run, mine in zip(runs, every, strict=True):
        yield from (
            f"{run.side.name}: {note}" for note in mine if not all(note in notes for notes in every)
        )


def _check_common(
    frame: pl.DataFrame, runs: tuple[_Opened, _Opened], names: Mapping[str, Match]
) -> None:
    """UserError, with the reasons, where no item counts in both runs."""
    if (frame["why"] == "").any():
        return
    sides, seeds = [run.side for run in runs], [run.session.plan.seed for run in runs]
    counts = frame.filter(pl.col("why") != "").group_by("why").len().sort("len", descending=True)
    why = [f"{reason} {count}" for reason, count in counts.iter_rows()]
    why = why or [
        f"{axis} is {', '.join(found.alone)} there and {', '.join(found.alone_other)} here (pair "
        f"names with --match {found.alone[0]}={found.alone_other[0]})"
        for axis, found in names.items()
        if found.alone and found.alone_other and not found.reference
    ]
    why = why or [
        f"{axis} is {', '.join(one)} there and {', '.join(two)} here"
        for axis, one, two in _apart(*sides)
        if not set(one) & set(two)
    ]
    reason = "; ".join(why) or "no cell was asked in both"
    if "another question" in reason and seeds[0] != seeds[1]:
        reason += f" (the seeds differ: {seeds[0]} and {seeds[1]})"
    raise UserError(f"{sides[1].name} has no item in common with {sides[0].name}: {reason}")


def _apart(one: Side, two: Side) -> Iterator[tuple[str, list[str], list[str]]]:
    """The axes of a cell that are not the same in both runs, with the values of each."""
    for axis in (*pairing.CELL, *pairing_judge.CELL):
        if axis in one.names or axis not in one.rows.columns:
            continue
        values = [
            [str(x) for x in side.rows.filter(pl.col("arm").is_in(["tampered", "judge"]))[axis]
             .drop_nulls().unique().sort()]
            for side in (one, two)
        ]  # fmt: skip
        if values[0] != values[1]:
            yield axis, values[0], values[1]


def _of_pair(
    frame: pl.DataFrame, first: _Opened, run: _Opened, names: Mapping[str, Match]
) -> Iterator[str]:
    """Who and what could not be paired, and whether trials of one item are the same trial."""
    one, two = first.side.name, run.side.name
    for axis, found in names.items():
        yield from (
            f"paired, {axis}: {label}" for label in found.reference.values() if AGAINST in label
        )
        for name, alone in ((one, found.alone), (two, found.alone_other)):
            if alone:
                yield f"not paired, {axis}: {', '.join(alone)}, only in {name}"
    for axis, mine, theirs in _apart(first.side, run.side):
        for name, values, others in ((one, mine, theirs), (two, theirs, mine)):
            if only := [value for value in values if value not in others]:
                yield f"not compared, {axis}: {', '.join(only)}, only in {name}"
    plans = first.session.plan, run.session.plan
    if plans[0].seed != plans[1].seed:
        yield (
            f"the seeds differ ({plans[0].seed} in {one}, {plans[1].seed} in {two}): what is drawn "
            "by them, such as tampered digits, is not the same"
        )
    origins = [_origin(plan) for plan in plans]
    if origins[0] != origins[1]:
        yield f"{origins[0]} in {one}, {origins[1]} in {two}"
    yield _alike(frame.filter(pl.col("why") == ""), f"{two} and {one}")


def _origin(plan: Plan | JudgePlan) -> str:
    """Whose chains or answers were handed on."""
    if isinstance(plan, JudgePlan):
        return f"answers of {', '.join(plan.generator) or plan.answers}"
    return f"chains of {plan.source or plan.chains or 'each model itself'}"


def _alike(pairs: pl.DataFrame, who: str) -> str:
    """How many pairs share what."""
    words = {
        "same_result": "the tampered result",
        "same_chain": "the untampered chain",
        "same_answer": "the answer that is judged",
        "same_reply": "the very same reply, so that their difference is 0 as it stands",
    }
    there = [
        f"{pairs[name].sum()} share {word}"
        for name, word in words.items()
        if name in pairs.columns and (name != "same_reply" or pairs[name].any())
    ]
    return f"of {pairs.height} pairs of {who} {', '.join(there)}"


def _family(tests: Sequence[Entry]) -> str:
    """What was fixed in advance."""
    tested = [e for e in tests if e.p is not None]
    if not tested:
        return "no difference that was fixed in advance could be tested; every p is exploratory"
    what = dict.fromkeys(
        " ".join(filter(None, [label(e.metric.removeprefix(versus.CHANGE)),
                               e.keys.get("method"), e.keys.get("condition")]))
        for e in tested
    )  # fmt: skip
    return (
        f"Holm's p is of the {len(tested)} differences that were fixed in advance "
        f"({', '.join(what)}); every other p is exploratory and not adjusted"
    )
