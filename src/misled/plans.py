"""A study as data: TOML or flags become one frozen `Plan`; `Pace` says how fast.

    study = "cpt"
    seed = 0
    n = 100
    model = ["deepseek/deepseek-flash", "openai/o3-mini"]
    source = "deepseek/deepseek-flash"

    [models."openai/o3-mini"]
    effort = "high"

    [[cells]]
    problems = ["addition:15+13"]
    digits = "1-6"
    methods = ["baseline", "prefix"]

A run is the union of its cells, each a full cross. Knows the names that may
stand in a plan, and nothing about how they are carried out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from misled import judge_plans
from misled.errors import UserError
from misled.judge_plans import FEEDS, JudgePlan
from misled.perturbations import PERTURBATIONS, PLACES, SCOPES
from misled.prompts import AS_TEXT, ATTRIBUTIONS, CHANNELS, METHODS
from misled.records import Record
from misled.settings import Settings, check, known, numbers, positive, worded
from misled.structures import STRUCTURES

__all__ = ["CONTRASTS", "CONTROLS", "STUDIES", "Cell", "Plan", "cell", "parse", "read", "study"]

STUDIES = ("cpt", "judge")
CONTROLS = ("clean", "again")
CONTRASTS = ("no_answer_line", "bare", "other_number", "foreign", AS_TEXT)


class Cell(Record, frozen=True, omit_defaults=True):
    """A full cross of its axes, which `misled cpt` has as options.

    `problems` is empty only until a plan with a chains file fills it in.

    Attributes:
        attribution: as the plan's, for this table alone.
    """

    problems: tuple[str, ...] = ()
    digits: tuple[int, ...] = (1,)
    methods: tuple[str, ...] = ("baseline",)
    structures: tuple[str, ...] = ("intact",)
    channels: tuple[str, ...] = ("user",)
    perturbations: tuple[str, ...] = ("digits",)
    scope: str = "endings"
    place: str | tuple[int, ...] = "random"
    attribution: str | None = None


class Plan(Settings, frozen=True, omit_defaults=True, kw_only=True):
    """Everything that decides what is asked and how it is counted.

    Chains come from `source`, from each target itself, or from the file `chains`.
    What `misled cpt` has as an option is described there.

    Attributes:
        cells: one `[[cells]]` table for each cross; the run is their union.
        study: cpt, or judge for the plan of study B.
    """

    model: tuple[str, ...]
    cells: tuple[Cell, ...]
    study: str = "cpt"
    source: str | None = None
    chains: str | None = None
    feed: str = "reasoning"
    attribution: str = "own"
    samples: int = 1
    controls: tuple[str, ...] = CONTROLS
    contrasts: tuple[str, ...] = ()
    replay: bool = False

    @property
    def asked(self) -> tuple[str, ...]:
        """The targets, and the source where it is another model."""
        return tuple(dict.fromkeys([*self.model, *([self.source] if self.source else [])]))


_KINDS: dict[str, type[Record]] = {"": Plan, "cells": Cell}


def read(path: str) -> Plan | JudgePlan:
    """The plan in the TOML file at `path`; a UserError in one line where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        word = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UserError(f"cannot read plan {path}: {word}") from None
    try:
        return study(msgspec.toml.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise UserError(f"plan {path} is no TOML: {error}") from None
    except UserError as error:
        raise UserError(f"plan {path}: {error}") from None


def study(raw: dict[str, Any]) -> Plan | JudgePlan:
    """The checked plan of the study that `raw` names; that of study A where it names none."""
    known("study", [raw.get("study", "cpt")], STUDIES)
    plain = {key: value for key, value in raw.items() if value is not None}
    return judge_plans.parse(plain) if plain.get("study") == "judge" else parse(plain)


def parse(raw: dict[str, Any]) -> Plan:
    """The checked plan of study A that `raw` describes; lists may stand as one string."""
    plain = {key: value for key, value in raw.items() if value is not None}
    for name in ("model", "controls", "contrasts"):
        if isinstance(plain.get(name), str):
            plain[name] = [plain[name]]
    cells = plain.get("cells")
    if isinstance(cells, list):
        plain["cells"] = [_spelled(cell) if isinstance(cell, dict) else cell for cell in cells]
    try:
        plan = msgspec.convert(plain, Plan)
    except msgspec.ValidationError as error:
        raise UserError(worded(str(error), _KINDS)) from None
    plan = msgspec.structs.replace(plan, model=tuple(dict.fromkeys(plan.model)))
    if plan.chains is not None:
        plan = _of_chains(plan, (f"chains:{plan.chains}",))
    _check(plan)
    return plan


def _of_chains(plan: Plan, problems: tuple[str, ...]) -> Plan:
    """The plan with its chains file as the problem set of every cell."""
    if plan.source is not None:
        raise UserError("source and chains: chains come from a model or from a file, not both")
    if any(cell.problems not in ((), problems) for cell in plan.cells):
        raise UserError("problems: a chains file brings its own; leave them out")
    cells = (msgspec.structs.replace(cell, problems=problems) for cell in plan.cells)
    return msgspec.structs.replace(plan, cells=tuple(cells))


def _spelled(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with lists for strings: `1-6` and `0,2` are numbers, a name is a list of one."""
    plain = {
        key: [value]
        if isinstance(value, str) and key not in ("digits", "scope", "place")
        else value
        for key, value in cell.items()
    }
    for key in ("digits", "place"):
        value = plain.get(key)
        if isinstance(value, str) and (key == "digits" or value[:1].isdigit()):
            plain[key] = numbers(value)
        elif isinstance(value, int):
            plain[key] = [value]
    return plain


def cell(**axes: Any) -> Cell:
    """The checked cell of these axes, spelled as in a plan; UserError where one is unknown."""
    try:
        made = msgspec.convert(_spelled(axes), Cell)
    except msgspec.ValidationError as error:
        raise UserError(worded(str(error), _KINDS, "cells")) from None
    _check_cell(made)
    return made


def _check(plan: Plan) -> None:
    known("study", [plan.study], ("cpt",))
    known("feed", [plan.feed], FEEDS)
    known("attribution", [plan.attribution], ATTRIBUTIONS)
    known("control", plan.controls, CONTROLS)
    known("contrast", plan.contrasts, CONTRASTS)
    positive("samples", plan.samples)
    check(plan)
    if not plan.model:
        raise UserError("model: name at least one, as in --model deepseek/deepseek-flash")
    if not plan.cells:
        raise UserError("cells: a plan needs at least one [[cells]] table")
    for cell in plan.cells:
        _check_cell(cell)


def _check_cell(cell: Cell) -> None:
    for name in ("problems", "digits", "methods", "structures", "channels", "perturbations"):
        if not getattr(cell, name):
            raise UserError(f"{name}: name at least one")
    known("method", cell.methods, METHODS)
    known("structure", cell.structures, STRUCTURES)
    known("channel", cell.channels, CHANNELS)
    if "baseline" not in cell.methods and all(c.startswith("think") for c in cell.channels):
        raise UserError(f"channels: {', '.join(cell.channels)} only takes the method baseline")
    known("perturbation", cell.perturbations, PERTURBATIONS)
    known("scope", [cell.scope], SCOPES)
    known("attribution", [cell.attribution or ATTRIBUTIONS[0]], ATTRIBUTIONS)
    if isinstance(cell.place, str):
        known("place", [cell.place], PLACES)
    elif min(cell.place) < 0 or len(cell.place) < max(cell.digits):
        raise UserError(
            f"place: {', '.join(map(str, cell.place))} is no list of {max(cell.digits)} different "
            "places, counted from 0 at the first digit"
        )
    for degree in cell.digits:
        positive("digits", degree)
