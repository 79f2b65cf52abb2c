"""A plan with its inputs loaded and its names resolved, and how a store keeps it.

    session = prepare(plan)     ->  session.units(), session.size
    reopen(directory)           ->  the same session, from what the store kept

A store keeps the plan, the prompts and the problems that came from files, and
needs none of them again. Knows nothing about asking: `directory` does that.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from misled import (
    __version__,
    answers,
    judge_prompts,
    labels,
    logs,
    models,
    problems,
    prompts,
    showing,
)
from misled.engines import planted_judge, planted_profile
from misled.errors import StoreError, UserError
from misled.judge_plans import JudgePlan
from misled.judge_prompts import JudgePrompts
from misled.judge_units import JudgeStudy
from misled.logs import Logged
from misled.models import Model
from misled.plans import Plan
from misled.problems import Reject
from misled.prompts import Prompts
from misled.records import Problem, Record
from misled.settings import sampling
from misled.store import Store
from misled.studies import STUDIES, Experiment
from misled.units import Study

__all__ = ["Inputs", "Session", "default_directory", "keep", "prepare", "reopen", "resolved"]


class Inputs(Record, frozen=True):
    """What a plan takes from files, kept in the store so that a run needs them once."""

    prompts: Prompts
    judging: JudgePrompts
    problems: dict[str, list[Problem]]
    rejects: dict[str, list[Reject]]
    logged: dict[str, dict[str, Logged]] = {}


class Session(Record, frozen=True):
    """A plan with its inputs loaded and its names resolved; nothing has been asked yet."""

    plan: Plan | JudgePlan
    inputs: Inputs
    study: Study | JudgeStudy

    @property
    def experiment(self) -> Experiment:
        """The study's walk and what belongs to it."""
        return STUDIES[self.plan.study]

    def units(self) -> Iterator[Any]:
        """Every unit of the plan, in the order in which they are asked."""
        return self.experiment.units(self.study, self.inputs.problems)

    @property
    def size(self) -> int:
        """The number of units."""
        found = {problems[0].set: len(problems) for problems in self.inputs.problems.values()}
        plan = self.plan
        each = plan.model if isinstance(plan, Plan) else plan.generator
        return sum(found.values()) * max(1, len(each))

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers has to know of the settings, one sentence each."""
        found: list[str] = []
        for name, model in self.study.models.items():
            asked, can = sampling(self.plan, name), model.capabilities
            found += models.disagreeing(model)
            if unheeded := can.unheeded(asked):
                found.append(
                    f"{name} does not heed {', '.join(unheeded)}; the provider's default was used"
                )
            if can.max_tokens is not None and asked.max_tokens is None:
                found.append(
                    f"{name} needs a limit and the plan has none: {can.max_tokens:,} tokens a reply"
                )
        return found

    @property
    def lacking(self) -> list[str]:
        """Ids of an answers file's items without the reasoning that the plan's conditions need."""
        if not isinstance(self.plan, JudgePlan) or self.plan.answers is None:
            return []
        return [unit.problem.id for unit in self.units() if showing.lacks(unit)]

    @property
    def first(self) -> list[str]:
        """Files of which the first `n` items are used: there may be more in them."""
        logged, found = self.inputs.logged, self.inputs.problems
        files = [name for name in found if name in logged or name.startswith("file:")]
        return [name for name in files if len(found[name]) == self.plan.n]

    @property
    def rejected(self) -> int:
        """Items of problem files that could not be used."""
        return sum(map(len, self.inputs.rejects.values()))


def default_directory(plan: Plan | JudgePlan) -> Path:
    """`runs/<study>-<first 8 of the plan's hash>`."""
    return Path("runs") / f"{plan.study}-{plan.hash[:8]}"


def prepare(plan: Plan | JudgePlan, inputs: Inputs | None = None) -> Session:
    """`plan` with its inputs loaded (or given) and every name resolved; UserError if one is not."""
    inputs = inputs or _load(plan)
    found = {name: _askable(plan, name) for name in plan.asked}
    if isinstance(plan, JudgePlan):
        return Session(plan, inputs, _judging(plan, inputs, found))
    session = Session(plan, inputs, Study(plan, inputs.prompts, found, inputs.logged))
    _check_degrees(plan, inputs)
    return session


def resolved(plan: Plan | JudgePlan, name: str, base_url: str | None = None) -> Model:
    """The model that the plan means by `name`, at `base_url` where that is given."""
    own = plan.models.get(name)
    return models.resolve(
        name,
        base_url=base_url or (own.base_url if own else None) or plan.base_url,
        providers=plan.providers,
        overrides=own.capabilities if own else {},
    )


def _askable(plan: Plan | JudgePlan, name: str) -> Model:
    """A model of the plan, which can be asked as the plan wants it."""
    model = resolved(plan, name)
    lacking = model.capabilities.lacks(sampling(plan, name))
    if lacking is not None:
        raise UserError(f"{name}: {lacking}")
    if model.provider == "planted":
        planted_profile.load(model.name)
        judge = planted_judge.load_judge(model.name)
        if judge is None and isinstance(plan, JudgePlan) and name in plan.judge:
            raise UserError(f"{name}: the profile has no [judge] table, so that it cannot judge")
    return model


def _judging(plan: JudgePlan, inputs: Inputs, found: dict[str, Model]) -> JudgeStudy:
    """Study B with the kind of each set's golds, by which answers are labelled."""
    golds = {found[0].set: [p.gold for p in found] for found in inputs.problems.values()}
    return JudgeStudy(
        plan=plan,
        prompts=inputs.judging,
        models=found,
        kinds={name: labels.kind(each) for name, each in golds.items()},
        logged=inputs.logged,
    )


def _load(plan: Plan | JudgePlan) -> Inputs:
    """Prompts, problems and logged chains, with what of the files cannot be used."""
    loaded: dict[str, list[Problem]] = {}
    rejects: dict[str, list[Reject]] = {}
    logged: dict[str, dict[str, Logged]] = {}
    log = plan.chains if isinstance(plan, Plan) else plan.answers
    for name in dict.fromkeys(name for cell in plan.cells for name in cell.problems):
        if log is not None:
            found, logged[name], bad = logs.load(log, name, plan.n, chains=isinstance(plan, Plan))
        else:
            found, bad = problems.load(name, plan.n, plan.seed)
        loaded[name], rejects[name] = found, list(bad)
        if isinstance(plan, Plan):
            loaded[name], texts = _numeric(name, found)
            rejects[name] += texts
    kept = {name: found for name, found in rejects.items() if found}
    words = (prompts.load(plan.prompts), judge_prompts.load(plan.prompts))
    return Inputs(*words, loaded, kept, logged)


def _numeric(name: str, found: list[Problem]) -> tuple[list[Problem], list[Reject]]:
    """A gold that is no number cannot be tampered with and is a reject."""
    kept = [p for p in found if answers.canonical(p.gold[0]) is not None]
    if not kept:
        raise UserError(f"{name}: no problem has a gold that is a number")
    texts = [p for p in found if answers.canonical(p.gold[0]) is None]
    return kept, [Reject(-1, -1, p.id, f"the gold {p.gold[0]!r} is no number") for p in texts]


def _check_degrees(plan: Plan, inputs: Inputs) -> None:
    """A degree that no problem allows is an error before anything is asked."""
    for cell in plan.cells:
        if "digits" not in cell.perturbations:
            continue
        golds = [p.gold[0] for name in cell.problems for p in inputs.problems[name]]
        longest = max(sum(map(str.isdigit, answers.canonical(gold) or "")) for gold in golds)
        places = [] if isinstance(cell.place, str) else cell.place[: max(cell.digits)]
        if places and max(places) >= longest:
            raise UserError(
                f"place: no result has a digit {max(places)}; the last is {longest - 1}"
            )
        if max(cell.digits) > longest:
            raise UserError(
                f"digits: no problem of {', '.join(cell.problems)} has {max(cell.digits)} digits "
                f"in its result; the longest has {longest}"
            )


def reopen(directory: Path) -> Session:
    """The session that `directory` was made with."""
    with Store(directory / "misled.db", read_only=True) as store:
        return _kept(store)


def _kept(store: Store) -> Session:
    meta = store.meta()
    plan = _plan(store, meta)
    with _readable(store):
        inputs = msgspec.json.decode(meta["inputs"], type=Inputs)
    return prepare(plan, inputs)


def _plan(store: Store, meta: dict[str, str]) -> Plan | JudgePlan:
    with _readable(store):
        kind = msgspec.json.decode(meta["plan"], type=dict).get("study", "cpt")
        return msgspec.json.decode(meta["plan"], type=JudgePlan if kind == "judge" else Plan)


@contextmanager
def _readable(store: Store) -> Iterator[None]:
    """One line for a store that another version wrote."""
    try:
        yield
    except (KeyError, msgspec.MsgspecError):
        raise StoreError(
            f"{store.path} holds no plan that this version reads; use the misled that made it"
        ) from None


def keep(store: Store, session: Session) -> None:
    """Write plan and inputs into a store without answers; refuse one of another plan."""
    counts = store.counts()
    meta = store.meta() if counts.responses or counts.failures else {}
    plan = msgspec.json.encode(session.plan, order="sorted").decode()
    inputs = msgspec.json.encode(session.inputs, order="sorted").decode()
    if "plan" not in meta:
        store.set_meta(
            {
                "plan": plan,
                "inputs": inputs,
                "misled": __version__,
                "python": platform.python_version(),
            }
        )
        return
    before, now = _plan(store, meta).deciding, session.plan.deciding
    if before != now:
        raise StoreError(
            f"{store.path.parent} holds another plan ({_differing(before, now)} differ); "
            "choose another --run"
        )
    if meta["inputs"] != inputs:
        raise StoreError(
            f"{store.path.parent} was begun with other prompts or problem files; choose another "
            "--run, with --reuse to keep what was answered"
        )
    if meta["plan"] != plan:  # other prices or rates
        store.set_meta({"plan": plan})


def _differing(old: bytes, new: bytes) -> str:
    first, second = (dict(_leaves(msgspec.json.decode(text))) for text in (old, new))
    return ", ".join(sorted(k for k in {*first, *second} if first.get(k) != second.get(k)))


def _leaves(plain: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """What a plan's tables hold, by dotted key; lists are one thing."""
    if not isinstance(plain, dict):
        yield name, plain
        return
    for key, value in plain.items():
        yield from _leaves(value, f"{name}.{key}" if name else key)
