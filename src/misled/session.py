"""A plan with its inputs loaded and its names resolved, and how a store keeps it.

    session = prepare(plan)     ->  session.units(), session.size
    reopen(directory)           ->  the same session, from what the store kept

A store keeps the plan, the prompts and the problems that came from files, and
needs none of them again. Knows nothing about asking: `directory` does that.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path

import msgspec

from misled import __version__, answers, logs, models, problems, prompts
from misled.engines import planted_profile
from misled.errors import StoreError, UserError
from misled.logs import Logged
from misled.plans import Plan
from misled.problems import Reject
from misled.prompts import Prompts
from misled.records import Problem, Record
from misled.settings import sampling
from misled.store import Store
from misled.units import Study, Unit, units

__all__ = ["Inputs", "Session", "default_directory", "keep", "prepare", "reopen"]


class Inputs(Record, frozen=True):
    """What a plan takes from files, kept in the store so that a run needs them once."""

    prompts: Prompts
    problems: dict[str, list[Problem]]
    rejects: dict[str, list[Reject]]
    logged: dict[str, dict[str, Logged]] = {}


class Session(Record, frozen=True):
    """A plan with its inputs loaded and its names resolved; nothing has been asked yet."""

    plan: Plan
    inputs: Inputs
    study: Study

    def units(self) -> Iterator[Unit]:
        """Every unit of the plan, in the order in which they are asked."""
        return units(self.study, self.inputs.problems)

    @property
    def size(self) -> int:
        """The number of units."""
        found = {problems[0].set: len(problems) for problems in self.inputs.problems.values()}
        return sum(found.values()) * len(self.plan.model)

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers has to know of the settings, one sentence each."""
        return [
            f"{name} does not heed {', '.join(unheeded)}; the provider's default was used"
            for name, model in self.study.models.items()
            if (unheeded := model.capabilities.unheeded(sampling(self.plan, name)))
        ]

    @property
    def rejected(self) -> int:
        """Items of problem files that could not be used."""
        return sum(map(len, self.inputs.rejects.values()))


def default_directory(plan: Plan) -> Path:
    """`runs/<study>-<first 8 of the plan's hash>`."""
    return Path("runs") / f"{plan.study}-{plan.hash[:8]}"


def prepare(plan: Plan, inputs: Inputs | None = None) -> Session:
    """`plan` with its inputs loaded (or given) and every name resolved; UserError if one is not."""
    inputs = inputs or _load(plan)
    resolved = {}
    for name in dict.fromkeys([*plan.model, *([plan.source] if plan.source else [])]):
        own = plan.models.get(name)
        resolved[name] = models.resolve(
            name,
            base_url=(own.base_url if own else None) or plan.base_url,
            providers=plan.providers,
            overrides=own.capabilities if own else {},
        )
        lacking = resolved[name].capabilities.lacks(sampling(plan, name))
        if lacking is not None:
            raise UserError(f"{name}: {lacking}")
        if resolved[name].provider == "planted":
            planted_profile.load(resolved[name].name)
    session = Session(plan, inputs, Study(plan, inputs.prompts, resolved, inputs.logged))
    _check_degrees(session)
    return session


def _load(plan: Plan) -> Inputs:
    """Prompts and problems; a gold that is no number cannot be tampered with and is a reject."""
    loaded: dict[str, list[Problem]] = {}
    rejects: dict[str, list[Reject]] = {}
    logged: dict[str, dict[str, Logged]] = {}
    for name in dict.fromkeys(name for cell in plan.cells for name in cell.problems):
        if plan.chains is not None:
            found, logged[name], bad = logs.load(plan.chains, plan.n)
        else:
            found, bad = problems.load(name, plan.n, plan.seed)
        loaded[name] = [p for p in found if answers.canonical(p.gold[0]) is not None]
        texts = [p for p in found if answers.canonical(p.gold[0]) is None]
        rejects[name] = [
            *bad,
            *(Reject(-1, -1, p.id, f"the gold {p.gold[0]!r} is no number") for p in texts),
        ]
        if not loaded[name]:
            raise UserError(f"{name}: no problem has a gold that is a number")
    kept = {name: found for name, found in rejects.items() if found}
    return Inputs(prompts.load(plan.prompts), loaded, kept, logged)


def _check_degrees(session: Session) -> None:
    """A degree that no problem allows is an error before anything is asked."""
    for cell in session.plan.cells:
        if "digits" not in cell.perturbations:
            continue
        golds = [p.gold[0] for name in cell.problems for p in session.inputs.problems[name]]
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
    try:
        plan = msgspec.json.decode(meta["plan"], type=Plan)
        inputs = msgspec.json.decode(meta["inputs"], type=Inputs)
    except (KeyError, msgspec.MsgspecError):
        raise StoreError(
            f"{store.path} holds no plan that this version reads; use the misled that made it"
        ) from None
    return prepare(plan, inputs)


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
    elif meta["plan"] != plan:
        raise StoreError(
            f"{store.path.parent} holds another plan ({_differing(meta['plan'], plan)} differ); "
            "choose another --run"
        )
    elif meta["inputs"] != inputs:
        raise StoreError(
            f"{store.path.parent} was begun with other prompts or problem files; choose another "
            "--run, with --reuse to keep what was answered"
        )


def _differing(old: str, new: str) -> str:
    first, second = (msgspec.json.decode(text, type=dict) for text in (old, new))
    keys = sorted(k for k in {*first, *second} if first.get(k) != second.get(k))
    return ", ".join(keys)
