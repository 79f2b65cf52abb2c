"""A unit: one problem and one target under all conditions, and the requests it can make.

    for unit in units(study, problems): ...      problem by problem, target by target

Knows what a question to a model is made of, and nothing about what is asked when.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from msgspec.structs import replace

from misled import prompts
from misled.conditions import Condition, conditions
from misled.logs import Logged
from misled.models import Model
from misled.plans import Plan
from misled.records import Message, Prefill, Problem, Record, Request
from misled.settings import sampling

__all__ = ["Study", "Unit", "following", "units"]

# Of so many problems after its own a unit takes the foreign chain of nearest length.
NEIGHBOURS = 8
SOLVE, PROBE = "solve", "probe"  # the question alone, and all else


class Study(Record, frozen=True):
    """What every unit of a run shares; `logged` holds chains from a file, by set and id."""

    plan: Plan
    prompts: prompts.Prompts
    models: Mapping[str, Model]
    logged: Mapping[str, Mapping[str, Logged]] = {}


class Unit(Record, frozen=True):
    """One problem and one target under all conditions of the plan's cells."""

    study: Study
    problem: Problem
    target: str
    conditions: tuple[Condition, ...]
    neighbours: tuple[Problem, ...] = ()

    @property
    def source(self) -> str:
        """The model whose chain is handed over; of a logged chain, its model or its file."""
        logged = self.logged(self.problem)
        if logged is not None:
            return logged.model or str(self.study.plan.chains)
        return self.study.plan.source or self.target

    def logged(self, problem: Problem) -> Logged | None:
        """The chain that a file holds for `problem`, where the plan has such a file."""
        return self.study.logged.get(problem.set, {}).get(problem.id)

    def lacks(self, prefill: Prefill | None) -> str | None:
        """Why the target cannot be asked with such a prefill, or None where it can."""
        asked = sampling(self.study.plan, self.target)
        return self.study.models[self.target].capabilities.lacks(asked, prefill)

    def opening(self, mode: str) -> Prefill | None:
        """What the target's reply begins with in a generation mode."""
        return prompts.prefill(self.study.prompts) if mode == "prefix" else None

    def source_request(self, problem: Problem) -> Request:
        """The question whose reply is the chain of `problem`."""
        messages = prompts.solve(self.study.prompts, problem.question)
        return replace(self._ask(self.source, problem, messages), stage=SOLVE)

    def alone(self, mode: str, sample: int) -> Request:
        """The question alone in a generation mode: gate at sample 0, `again` after it."""
        messages = prompts.solve(self.study.prompts, self.problem.question)
        return replace(self.ask(messages, self.opening(mode), sample), stage=SOLVE)

    def ask(
        self, messages: tuple[Message, ...], prefill: Prefill | None = None, sample: int = 0
    ) -> Request:
        """One question to the target, in the lane of this problem."""
        return self._ask(self.target, self.problem, messages, prefill, sample)

    def _ask(
        self,
        model: str,
        problem: Problem,
        messages: tuple[Message, ...],
        prefill: Prefill | None = None,
        sample: int = 0,
    ) -> Request:
        plan = self.study.plan
        provider, _, name = model.partition("/")
        own = plan.models.get(model)
        return Request(
            provider=provider,
            model=name,
            host=(own.base_url if own else None) or plan.base_url,
            messages=messages,
            sampling=sampling(plan, model),
            sample=sample,
            prefill=prefill,
            lane=f"{model} {problem.set} {problem.id}",
            stage=PROBE,
        )


def units(study: Study, problems: Mapping[str, list[Problem]]) -> Iterator[Unit]:
    """Every unit of a plan, problem by problem, so that targets share their source's reply."""
    named = {found[0].set: found for found in problems.values()}
    crosses: dict[str, dict[Condition, None]] = {name: {} for name in named}
    for cell in study.plan.cells:
        for name in cell.problems:
            crosses[problems[name][0].set].update(dict.fromkeys(conditions(study.plan, cell)))
    far = "foreign" in study.plan.contrasts
    for name, cross in crosses.items():
        for (index, problem), target in product(enumerate(named[name]), study.plan.model):
            near = following(named[name], index) if far else ()
            yield Unit(study, problem, target, tuple(cross), near)


def following(problems: Sequence[Problem], index: int) -> tuple[Problem, ...]:
    """The next problems of a set, which goes on from its beginning."""
    count = min(NEIGHBOURS, len(problems) - 1)
    return tuple(islice((problems[(index + 1 + i) % len(problems)] for i in range(count)), count))
