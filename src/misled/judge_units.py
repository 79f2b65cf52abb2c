"""A unit of study B: one problem and one generator, for every judge, and its requests.

    for unit in units(study, problems): ...      problem by problem, generator by generator

Knows what a question to a model is made of, and nothing about what is asked when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from misled.judge_plans import ONCE, JudgePlan, Point, points
from misled.judge_prompts import JudgePrompts
from misled.labels import Kind
from misled.logs import Logged
from misled.models import Model
from misled.records import Message, Problem, Record, Request, Sampling
from misled.settings import ModelPlan, sampling
from misled.units import following

__all__ = ["JudgeStudy", "JudgeUnit", "units"]


class JudgeStudy(Record, frozen=True):
    """What every unit of a run shares; `logged` holds answers from a file, by set and id.

    `kinds` says of each problem set whether its golds are formulas or texts.
    """

    plan: JudgePlan
    prompts: JudgePrompts
    models: Mapping[str, Model]
    kinds: Mapping[str, Kind]
    logged: Mapping[str, Mapping[str, Logged]] = {}


class JudgeUnit(Record, frozen=True):
    """One problem and one generator under all points of the plan's cells.

    `once` are the points of a question, whatever the generator: in one of its units.
    """

    study: JudgeStudy
    problem: Problem
    generator: str
    points: tuple[Point, ...]
    once: tuple[Point, ...] = ()
    neighbours: tuple[Problem, ...] = ()

    def logged(self, problem: Problem) -> Logged | None:
        """The answer that a file holds for `problem`, where the plan has such a file."""
        return self.study.logged.get(problem.set, {}).get(problem.id)

    def ask(
        self, model: str, messages: tuple[Message, ...], sample: int = 0, *, judging: bool
    ) -> Request:
        """One question to `model`, in the lane of its problem; judges do not think (B.1)."""
        plan = self.study.plan
        provider, _, name = model.partition("/")
        own = plan.models.get(model)
        return Request(
            provider=provider,
            model=name,
            host=(own.base_url if own else None) or plan.base_url,
            messages=messages,
            sampling=self._judging(model) if judging else sampling(plan, model),
            sample=sample,
            lane=f"{model} {self.problem.set} {self.problem.id}",
            stage="judge" if judging else "answer",
        )

    def _judging(self, model: str) -> Sampling:
        """The model's sampling with thinking as the plan has it, where it can be switched."""
        plan = self.study.plan
        own = plan.models.get(model, ModelPlan())
        if own.thinking is not None:
            return sampling(plan, model)
        switched = sampling(plan, model, thinking=plan.thinking)
        lacks = self.study.models[model].capabilities.lacks(switched)
        return switched if lacks is None else sampling(plan, model)


def units(study: JudgeStudy, problems: Mapping[str, list[Problem]]) -> Iterator[JudgeUnit]:
    """Every unit of a plan, problem by problem, so that generators' answers come together."""
    plan = study.plan
    named = {found[0].set: found for found in problems.values()}
    crosses: dict[str, dict[Point, None]] = {name: {} for name in named}
    for cell in plan.cells:
        for name in cell.problems:
            where = problems[name][0].set
            crosses[where].update(dict.fromkeys(points(cell)))
    for name, cross in crosses.items():
        far = any(point.variant == "placebo" for point in cross)
        each = tuple(point for point in cross if point.condition not in ONCE)
        once = tuple(point for point in cross if point.condition in ONCE)
        for index, problem in enumerate(named[name]):
            near = following(named[name], index) if far else ()
            for place, generator in enumerate(plan.generator or (_author(study, problem),)):
                yield JudgeUnit(study, problem, generator, each, () if place else once, near)


def _author(study: JudgeStudy, problem: Problem) -> str:
    """Who gave the answer of a file: its model, else the file."""
    return study.logged[problem.set][problem.id].model or str(study.plan.answers)
