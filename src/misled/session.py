"""One run directory, from the plan to the report.

    runs/cpt-1f3a9c02/
        misled.db  plan.toml  tables/  figures/  report.html

`execute` carries a plan out and `rows` reads what a directory holds; both walk
the same units over the same store, so the tables of a run that was killed and
resumed, and those of `misled report`, are the same bytes. The directory keeps
the plan, the prompts and the problems that came from files, and needs none of
them again.
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
import polars as pl

from misled import __version__, models, problems, prompts
from misled.engines import Engine
from misled.errors import StoreError, UserError
from misled.experiments import cpt
from misled.ledger import Ledger
from misled.plan import Pace, Plan
from misled.records import Answer, Problem, Record, Request, Response, Row
from misled.run import BATCH, Frontier, Limits, Progress, run
from misled.store import Store, lock

__all__ = ["Session", "default_directory", "execute", "prepare", "reopen"]

Beat = Callable[[Progress, int], None]


class Inputs(Record, frozen=True):
    """What a plan takes from files, kept in the store so that a run needs them once."""

    prompts: prompts.Prompts
    problems: dict[str, list[Problem]]
    rejects: dict[str, list[problems.Reject]]


class Session(Record, frozen=True):
    """A plan with its inputs loaded and its names resolved; nothing has been asked yet."""

    plan: Plan
    inputs: Inputs
    study: cpt.Study

    def units(self) -> Iterator[cpt.Unit]:
        """Every unit of the plan, in the order in which they are asked."""
        return cpt.units(self.study, self.inputs.problems)

    @property
    def size(self) -> int:
        """The number of units."""
        sets = {name for cell in self.plan.cells for name in cell.problems}
        return sum(len(self.inputs.problems[name]) for name in sets) * len(self.plan.model)

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
    session = Session(plan, inputs, cpt.Study(plan, inputs.prompts, resolved))
    _check_degrees(session)
    return session


def _load(plan: Plan) -> Inputs:
    loaded, rejects = {}, {}
    for name in dict.fromkeys(name for cell in plan.cells for name in cell.problems):
        loaded[name], rejects[name] = problems.load(name, plan.n, plan.seed)
    return Inputs(prompts.load(plan.prompts), loaded, {k: v for k, v in rejects.items() if v})


def _check_degrees(session: Session) -> None:
    """A degree that no problem allows is an error before anything is asked."""
    for cell in session.plan.cells:
        if "digits" not in cell.perturbations:
            continue
        golds = [p.gold[0] for name in cell.problems for p in session.inputs.problems[name]]
        longest = max(sum(c.isdigit() for c in gold) for gold in golds)
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


def _keep(store: Store, session: Session) -> None:
    """Write plan and inputs into a new store; refuse a store of another plan."""
    meta = store.meta()
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


class Outcome(msgspec.Struct, frozen=True):
    """What `execute` did, and every row that the directory now gives."""

    progress: Progress
    rows: pl.DataFrame


class _Lookup:
    """A store's answers, then those of other runs, which are copied on the way."""

    def __init__(self, reader: Store, others: Sequence[Store], store: Store) -> None:
        self._reader, self._others, self._store = reader, others, store
        self._copied: list[tuple[Request, Answer]] = []
        self.reused = 0

    def __call__(self, request: Request) -> Answer | None:
        answer = self._reader.get(request)
        for other in self._others if answer is None else ():
            found = other.get(request)
            if isinstance(found, Response):
                answer = found
                self.reused += 1
                self._copied.append((request, found))
                break
        if len(self._copied) >= BATCH:
            self.flush()
        return answer

    def flush(self) -> None:
        """Make what was copied durable."""
        copied, self._copied = self._copied, []
        if copied:
            self._store.commit(copied)


def execute(session: Session, directory: Path, pace: Pace, beat: Beat) -> Outcome:
    """Ask all that the plan needs and `directory` does not hold yet; what then stands.

    `beat(progress, units)` is called after each commit. Raises `UserError` where
    nothing could start or go on; the answers that came are kept.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = f"{error.strerror}; choose another --run"
        raise UserError(f"cannot create {directory}: {fix}") from None
    path, ledger = directory / "misled.db", Ledger()
    with lock(directory), contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(path))
        _keep(store, session)
        _replace(directory / "plan.toml", session.plan.toml)
        if pace.retry_failed:
            store.forget_failures()
        stores = [path, *(Path(name) / "misled.db" for name in pace.reuse)]
        reader, *others = [stack.enter_context(Store(p, read_only=True)) for p in stores]
        lookup = _Lookup(reader, others, store)
        limits = Limits(pace.max_requests, pace.max_tokens_total)
        frontier = Frontier(session.units(), cpt.walk, lookup, ledger.add, limits)
        frontier.window = max(frontier.window, 4 * pace.concurrency)
        tell = partial(beat, frontier.progress, session.size)
        engines = _engines(session, pace)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_drive(frontier, engines, store, tell))
        for index, unit in frontier.rest():
            ledger.add(index, _standing(unit, lookup))
        lookup.flush()
        frontier.progress.reused = lookup.reused
    return Outcome(frontier.progress, ledger.frame())


def rows(directory: Path) -> pl.DataFrame:
    """Every row that `directory` gives, graded again from its answers; columns as in `Row`."""
    session, ledger = reopen(directory), Ledger()
    with Store(directory / "misled.db", read_only=True) as store:
        for index, unit in enumerate(session.units()):
            ledger.add(index, _standing(unit, store.get))
    return ledger.frame()


def _standing(unit: cpt.Unit, lookup: Callable[[Request], Answer | None]) -> list[Row]:
    """The rows that a unit can give now; what it would still ask is left out."""
    return [item for item in cpt.walk(unit, lookup) if isinstance(item, Row)]


async def _drive(
    frontier: Frontier[cpt.Unit],
    engines: Mapping[str, Engine],
    store: Store,
    tell: Callable[[], None],
) -> None:
    """Run until the end; one interrupt lets what is in flight finish, a second does not."""
    task = asyncio.current_task()

    def interrupt() -> None:
        if frontier.progress.stopped == "interrupted" and task is not None:
            task.cancel()
        frontier.stop("interrupted")

    loop = asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        await run(frontier, engines, store, tell)
    except asyncio.CancelledError:
        if frontier.progress.stopped != "interrupted":
            raise


def _replace(path: Path, text: str) -> None:
    """Write `text` whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
