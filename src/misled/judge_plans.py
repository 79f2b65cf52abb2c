"""Study B as data: which judges decide on whose answers, under which conditions.

    study = "judge"
    n = 200
    judge = ["openai/gpt-4o", "local/smollm2"]
    generator = ["local/smollm2"]

    [[cells]]
    problems = ["facts"]
    conditions = ["answer", "reasoning", "again_answer", "again_reasoning"]

A run is the union of its cells. Knows the names that may stand in such a plan,
and nothing about how they are carried out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec

from misled.errors import UserError
from misled.records import Record
from misled.settings import Settings, check, known, numbers, positive, worded

__all__ = [
    "CONDITIONS",
    "CRITERIA",
    "NULLS",
    "ONCE",
    "JudgeCell",
    "JudgePlan",
    "Point",
    "parse",
    "points",
]

CONDITIONS = (
    "answer",
    "reasoning",
    "again_answer",
    "again_reasoning",
    "self",
    "self_hidden",
    "controlled",
    "closed_book",
    "crossed",
    "null",
)
ONCE = ("closed_book", "crossed", "null")  # of a question, whatever the generator
NULLS = {"empty": "", "colon": ":", "thought": "Thought process:"}  # answers that are none
CRITERIA = ("correct", "certainty")
FEEDS = ("reasoning", "output")
SHOWN = ("content", "value")
VARIANTS = ("statements", "filler", "true_edit", "placebo", "chain_cut")
PLACED = ("statements", "filler", "true_edit")  # text is put in, at a place
COUNTED = ("statements", "true_edit")  # of four statements, k are changed
PLACES = ("begin", "middle", "end")
STATEMENTS = 4


class JudgeCell(Record, frozen=True, omit_defaults=True):
    """A full cross of its axes; the last three are those of `controlled` (protocol B.6).

    `problems` is empty only until a plan with an answers file fills it in.
    """

    problems: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ("answer", "reasoning")
    shown: tuple[str, ...] = ("content",)
    variants: tuple[str, ...] = ("statements",)
    counterfactual: tuple[int, ...] = (0, 1, 2, 3, 4)
    places: tuple[str, ...] = ("end",)


class JudgePlan(Settings, frozen=True, omit_defaults=True, kw_only=True):
    """Everything that decides what is asked and how it is counted.

    Answers come from the `generator` models or from the file `answers`; text
    answers that match no gold are decided by the `verifier`, where there is one.
    `feed` = output takes an output that sets no reasoning apart for reasoning.
    `thinking` is that of judges whose thinking can be turned on or off (off [B]).
    What `misled judge` has as an option is described there.

    Attributes:
        cells: one `[[cells]]` table for each cross; the run is their union.
        study: judge.
    """

    study: str
    judge: tuple[str, ...]
    cells: tuple[JudgeCell, ...]
    generator: tuple[str, ...] = ()
    answers: str | None = None
    verifier: str | None = None
    criterion: str = "correct"
    feed: str = "reasoning"
    thinking: bool = False

    @property
    def asked(self) -> tuple[str, ...]:
        """Judges, generators and the verifier."""
        verifier = [] if self.verifier is None else [self.verifier]
        return tuple(dict.fromkeys([*self.judge, *self.generator, *verifier]))


class Point(Record, frozen=True):
    """What one verdict is asked on: a condition, and of `controlled` its intervention."""

    condition: str
    shown: str
    variant: str | None = None
    k: int | None = None
    place: str | None = None


_KINDS: dict[str, type[Record]] = {"": JudgePlan, "cells": JudgeCell}


def points(cell: JudgeCell) -> Iterator[Point]:
    """Every point of a cell; `variant` names what is shown where that is no generation."""
    for condition, shown in product(cell.conditions, cell.shown):
        if condition == "closed_book":
            yield Point(condition, "content")
        elif condition == "null":
            yield from (Point(condition, "content", variant) for variant in NULLS)
        if condition in {"closed_book", "null"}:
            continue
        if condition != "controlled":
            yield Point(condition, shown)
            continue
        for variant in cell.variants:
            places = cell.places if variant in PLACED else (None,)
            counts = cell.counterfactual if variant in COUNTED else (None,)
            for place, k in product(places, counts):
                if (variant, k) != ("true_edit", 0):  # nothing is reworded: statements with k = 0
                    yield Point(condition, shown, variant, k, place)


def parse(plain: dict[str, Any]) -> JudgePlan:
    """The checked plan that `plain` describes; lists may stand as one string."""
    for name in ("judge", "generator"):
        if isinstance(plain.get(name), str):
            plain[name] = [plain[name]]
    cells = plain.get("cells")
    if isinstance(cells, list):
        plain["cells"] = [_spelled(cell) if isinstance(cell, dict) else cell for cell in cells]
    try:
        plan = msgspec.convert(plain, JudgePlan)
    except msgspec.ValidationError as error:
        raise UserError(worded(str(error), _KINDS)) from None
    names = {name: tuple(dict.fromkeys(getattr(plan, name))) for name in ("judge", "generator")}
    plan = msgspec.structs.replace(plan, **names)
    if plan.answers is not None:
        plan = _of_answers(plan, (f"answers:{plan.answers}",))
    _check(plan)
    return plan


def _spelled(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with lists for strings: `0-4` are numbers, a name is a list of one."""
    plain = {k: [v] if isinstance(v, str) else v for k, v in cell.items()}
    value = cell.get("counterfactual")
    if isinstance(value, str):
        plain["counterfactual"] = numbers(value)
    elif isinstance(value, int):
        plain["counterfactual"] = [value]
    return plain


def _of_answers(plan: JudgePlan, problems: tuple[str, ...]) -> JudgePlan:
    """The plan with its answers file as the problem set of every cell."""
    if plan.generator:
        raise UserError("generator and answers: answers come from models or from a file, not both")
    if any(cell.problems not in ((), problems) for cell in plan.cells):
        raise UserError("problems: an answers file brings its own; leave them out")
    cells = (msgspec.structs.replace(cell, problems=problems) for cell in plan.cells)
    return msgspec.structs.replace(plan, cells=tuple(cells))


def _check(plan: JudgePlan) -> None:
    check(plan)
    known("study", [plan.study], ("judge",))
    known("criterion", [plan.criterion], CRITERIA)
    known("feed", [plan.feed], FEEDS)
    if not plan.judge:
        raise UserError("judge: name at least one, as in --judge openai/gpt-4o")
    if not plan.generator and plan.answers is None:
        raise UserError("generator: name at least one, or an answers file with --answers")
    if not plan.cells:
        raise UserError("cells: a plan needs at least one [[cells]] table")
    for cell in plan.cells:
        for name in JudgeCell.__struct_fields__:
            if not getattr(cell, name):
                raise UserError(f"{name}: name at least one")
        known("condition", cell.conditions, CONDITIONS)
        known("shown", cell.shown, SHOWN)
        known("variant", cell.variants, VARIANTS)
        known("place", cell.places, PLACES)
        if not all(0 <= k <= STATEMENTS for k in cell.counterfactual):
            raise UserError(f"counterfactual: of {STATEMENTS} statements, 0 to {STATEMENTS}")
        asked = sorted({"self", "self_hidden", "crossed"} & set(cell.conditions))
        if plan.answers is not None and asked:
            raise UserError(
                f"{asked[0]}: needs a generator that is asked; an answers file has none"
            )
        if "crossed" in asked and not plan.generator[1:]:
            raise UserError("crossed: needs two generators, one right and one wrong; name another")
    positive("n", plan.n)
