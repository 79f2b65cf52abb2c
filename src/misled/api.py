"""The Python interface, the same as the command line's: `import misled` offers it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from misled import comparing, publishing, session
from misled import directory as runs
from misled.chains import split, steps
from misled.draws import Draws
from misled.errors import UserError, nearest
from misled.estimates import frame
from misled.judge_plans import JudgePlan
from misled.metrics import grade
from misled.perturbations import PERTURBATIONS
from misled.plans import Plan, study
from misled.records import Chain, Edited, NotApplicable
from misled.settings import Pace

__all__ = ["compare", "grade", "plan", "rows", "run", "split", "steps", "tables", "tamper"]


def plan(**keys: Any) -> Plan | JudgePlan:
    """A checked plan; keys as in a plan file, UserError where one is unknown."""
    return study(keys)


def run(plan: Plan | JudgePlan, directory: str | Path | None = None, **pace: Any) -> Path:
    """Carry `plan` out and publish it; the run directory. `pace` as in `misled.settings.Pace`.

    Not to be called from a running event loop.
    """
    made = session.prepare(plan)
    path = Path(directory) if directory else session.default_directory(plan)
    _, found = runs.execute(made, path, Pace(**pace), lambda _progress, _units: None)
    publishing.publish(made, path, found)
    return path


def rows(directory: str | Path) -> pl.DataFrame:
    """Every graded trial of a run, one row each; columns as in its study's row (`misled.row`)."""
    return runs.rows(Path(directory))


def tables(directory: str | Path) -> pl.DataFrame:
    """Every estimate of a run, one row each; columns are the fields of `Entry`."""
    path = Path(directory)
    made = session.reopen(path)
    return frame(publishing.tables(made, runs.standing(made, path).ledger))


def compare(directories: Sequence[str | Path], match: Sequence[str] = ()) -> pl.DataFrame:
    """Every difference of runs from the first of them, one row each, with both values beside it.

    Columns as in `tables`. `match` pairs names that differ, as `A=B`.
    """
    return frame(comparing.compare([Path(path) for path in directories], match).entries)


def tamper(
    chain: str | Chain,
    *,
    perturbation: str = "digits",
    seed: int = 0,
    name: str = "",
    **options: Any,
) -> Edited | NotApplicable:
    """`chain` (a reasoning text) with its own result tampered with; `options` as d_t, scope, place.

    Equal `seed` and `name` give nested tamperings over d_t (protocol A.3).
    """
    made = Chain(reasoning=chain, answer="") if isinstance(chain, str) else chain
    if perturbation not in PERTURBATIONS:
        raise UserError(nearest("perturbation", perturbation, PERTURBATIONS))
    return PERTURBATIONS[perturbation](**options)(made, Draws(seed, name, perturbation))
