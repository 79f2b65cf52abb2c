"""One run directory, from the first request to the report.

    runs/cpt-1f3a9c02/
        misled.db  plan.toml  tables/  figures/  report.html

`execute` carries a session out and `rows` reads what a directory holds; both
walk the same units over the same store, so the tables of a run that was killed
and resumed, and those of `misled report`, are the same bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from misled.engines import Engine
from misled.errors import UserError
from misled.frontier import Frontier, Limits, Lookup
from misled.ledger import Ledger
from misled.loop import BATCH, run
from misled.progress import Progress
from misled.publishing import Standing
from misled.records import Answer, Request, Response
from misled.session import Session, keep, reopen
from misled.settings import Pace
from misled.sheets import publish as replace_file
from misled.store import Store, lock

__all__ = ["ENGINES", "Standing", "execute", "rows", "standing"]

Beat: TypeAlias = Callable[[Progress, int], None]


class _Lookup:
    """A store's answers, then those of other runs, which are copied on the way."""

    def __init__(self, reader: Store, others: Sequence[Store], store: Store) -> None:
        self._reader, self._others, self._store = reader, others, store
        self._copied: list[tuple[Request, Answer]] = []
        self.reused = 0

    def __call__(self, request: Request) -> Answer | None:
        answer = self._reader.get(request)
        for other in self._others if answer is None else ():
            found = other.get(request, damaged=True)
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


def execute(session: Session, directory: Path, pace: Pace, beat: Beat) -> tuple[Progress, Standing]:
    """Ask all that the plan needs and `directory` does not hold yet; what then stands.

    `beat(progress, units)` is called after each commit. Raises `UserError` where
    nothing could start or go on; the answers that came are kept.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fix = f"{error.strerror}; choose another --run"
        raise UserError(f"cannot create {directory}: {fix}") from None
    path, ledger = directory / "misled.db", Ledger(session.experiment.row)
    with lock(directory), contextlib.ExitStack() as stack:
        store = stack.enter_context(Store(path))
        keep(store, session)
        replace_file(directory / "plan.toml", session.plan.toml.encode())
        if pace.retry_failed:
            store.forget_failures()
        paths = [Path(name) / "misled.db" for name in pace.reuse]
        others = [stack.enter_context(Store(other, read_only=True)) for other in paths]
        lookup = _Lookup(stack.enter_context(store.reader()), others, store)
        counts = store.counts()
        spent = counts.prompt_tokens + counts.completion_tokens
        limits = Limits(pace.max_requests, pace.max_tokens_total, spent)
        done = store.finished()
        fresh = _units(session, done, kept=False)
        frontier = Frontier(fresh, session.experiment.walk, lookup, ledger.add, limits)
        frontier.kept = _units(session, done, kept=True)
        frontier.window = max(frontier.window, 4 * pace.concurrency)
        tell = partial(beat, frontier.progress, session.size)
        engines = _engines(session, pace)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_drive(frontier, engines, store, tell))
        unfinished = _gather(session, frontier.rest(), lookup, ledger)
        lookup.flush()
        frontier.progress.reused = lookup.reused
    return frontier.progress, Standing(ledger, unfinished)


def _units(session: Session, done: set[int], *, kept: bool) -> Iterator[tuple[int, Any]]:
    """The units that were done in an earlier run, or those that were not, by number."""
    return ((i, unit) for i, unit in enumerate(session.units()) if (i in done) == kept)


def standing(session: Session, directory: Path) -> Standing:
    """What `directory` gives, graded again from its answers."""
    ledger = Ledger(session.experiment.row)
    with Store(directory / "misled.db", read_only=True) as store:
        unfinished = _gather(session, enumerate(session.units()), store.get, ledger)
    return Standing(ledger, unfinished)


def rows(directory: Path) -> pl.DataFrame:
    """Every row that `directory` gives; columns as in its study's row."""
    return standing(reopen(directory), directory).rows


def _gather(
    session: Session, units: Iterable[tuple[int, Any]], lookup: Lookup, ledger: Ledger
) -> int:
    """How many of `units` could ask more; the rows that all can give now go into `ledger`."""
    unfinished = 0
    for index, unit in units:
        found = list(session.experiment.walk(unit, lookup))
        kept = [item for item in found if not isinstance(item, Request)]
        unfinished += len(kept) < len(found)
        ledger.add(index, kept)
    return unfinished


async def _drive(
    frontier: Frontier[Any],
    engines: Mapping[str, Engine],
    store: Store,
    tell: Callable[[], None],
) -> None:
    """Run until the end; one interrupt lets what is in flight finish, a second stops at once."""
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
        if frontier.progress.stopped == "interrupted":
            raise KeyboardInterrupt from None
        raise
    finally:  # from now on an interrupt is one of whatever goes on
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)


def _http(session: Session, pace: Pace) -> Engine:
    from misled.engines.http import Http, Rate

    resolved = session.study.models
    rates = {name: Rate(own.rpm, own.tpm) for name, own in session.plan.models.items()}
    return Http(
        lambda r: resolved[f"{r.provider}/{r.model}"], concurrency=pace.concurrency, rates=rates
    )


def _local(_session: Session, _pace: Pace) -> Engine:
    from misled.engines.local import Local

    return Local()


def _planted(session: Session, _pace: Pace) -> Engine:
    from misled.engines.planted import Planted

    return Planted(session.inputs.prompts, judging=session.inputs.judging)


def _algebra(_session: Session, _pace: Pace) -> Engine:
    from misled.engines.algebra import Algebra

    return Algebra()


# The engines by provider, each imported when it is used; every other provider is a server.
ENGINES: dict[str, Callable[[Session, Pace], Engine]] = {
    "algebra": _algebra,
    "local": _local,
    "planted": _planted,
}


def _engines(session: Session, pace: Pace) -> dict[str, Engine]:
    """One engine for each provider of the plan, and what compares formulas for its labels."""
    names = dict.fromkeys(model.provider for model in session.study.models.values())
    if session.plan.study == "judge":
        names["algebra"] = None
    return {name: ENGINES.get(name, _http)(session, pace) for name in names}


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop where the platform has it."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
