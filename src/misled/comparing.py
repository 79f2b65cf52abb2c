"""Run directories against the first of them: what differs between them, and every difference.

    compare([Path("runs/a"), Path("runs/b")])
    -> Comparison(names=("runs/a", "runs/b"), differing=(("model", ("m1", "m2")), ...), ...)

Each directory is graded again from its answers, as `misled report` does. Writes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from misled import pairing, pairing_judge, provisos, versus, versus_judge
from misled.differing import Differing, differing
from misled.errors import UserError
from misled.opening import opened
from misled.records import Entry, Record
from misled.sides import Match, Side, matches, pairs_of
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


class _Study(NamedTuple):
    """How runs of a study are paired, counted and tested."""

    aligned: Callable[[Side, Side, Mapping[str, Match]], pl.DataFrame]
    entries: Callable[[pl.DataFrame, Labels], list[Entry]]
    primary: Callable[[Sequence[Entry]], list[Entry]]


_STUDIES = {
    "cpt": _Study(pairing.aligned, versus.entries, versus.primary),
    "judge": _Study(pairing_judge.aligned, versus_judge.entries, versus_judge.primary),
}


def compare(directories: Sequence[Path], match: Sequence[str] = ()) -> Comparison:
    """Every run against the first; `match` pairs names, as `A=B`.

    Raises:
        UserError: fewer than two runs, one twice, of two studies, or without a common item.
    """
    told = pairs_of(match)
    _check(directories)
    runs = [opened(path) for path in directories]
    studies = {run.session.plan.study: run.side.name for run in runs}
    if len(studies) > 1:
        words = " and ".join(f"{name} is of {study}" for study, name in studies.items())
        raise UserError(f"{words}: compare runs of one study")
    first, *others = runs
    study = first.session.plan.study
    how = _STUDIES[study]
    found: list[Entry] = []
    notes = [*provisos.unfinished(runs), *provisos.remarks(runs)]
    for run, names in zip(
        others, matches(first.side, [run.side for run in others], told), strict=True
    ):
        frame = how.aligned(first.side, run.side, names)
        provisos.check_common(frame, (first, run), names)
        found += how.entries(frame, Labels(run.side.name, first.side.name, study))
        notes += provisos.of_pair(frame, first, run, names)
    tests = how.primary(found)
    found = versus.adjusted(found, tests)
    return Comparison(
        study=study,
        names=tuple(run.side.name for run in runs),
        differing=tuple(differing([run.facts for run in runs])),
        notes=(*notes, provisos.family(tests)),
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
