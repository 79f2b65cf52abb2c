"""What a run shows while it goes on, and how lines of JSON are written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misled.progress import Progress
    from misled.publishing import Published
    from misled.records import Entry
    from misled.settings import Settings

__all__ = ["busy", "progress", "say", "show", "standing", "write_json"]


def say(text: str) -> None:
    """A line for the person at the terminal, on stderr, whatever names `text` holds."""
    line = " ".join(text.split())
    if not line.isprintable():  # a model, a file or a server may send commands to a terminal
        from misled.sheets import visible

        line = visible(line)
    print(line, file=sys.stderr)


def write_json(records: Iterable[object]) -> None:
    """One JSON line a record, on stdout."""
    import msgspec

    for record in records:
        sys.stdout.buffer.write(msgspec.json.encode(record) + b"\n")
    sys.stdout.buffer.flush()


def show(published: Published, *, json: bool) -> None:
    """The main table, who could be probed, and where the report is; or every estimate as JSON."""
    if json:
        write_json(published.entries)
        return
    print(published.summary)
    for entry in published.entries:
        if (entry.table, entry.metric) == ("eligibility", "eligible"):
            print(_eligible(entry))
    print(f"report: {published.report}")


def _eligible(entry: Entry) -> str:
    """How many problems could be probed in one mode, and why the others could not."""
    where = ", ".join(entry.keys[name] for name in ("set", "target", "mode") if name in entry.keys)
    if (source := entry.keys.get("source")) not in (None, entry.keys.get("target")):
        where += f", chains of {source}"
    left = ", ".join(f"{reason} {count}" for reason, count in entry.left_out.items())
    probed = round((entry.value or 0) * entry.n)
    return f"{where}: {probed} of {entry.n} could be probed" + (f" ({left})" if left else "")


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """A word on stderr while something goes on that has no count; nothing where no terminal is."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(doing)):
        yield


@contextmanager
def progress(what: str, plan: Settings) -> Iterator[Callable[[Progress, int], None]]:
    """A bar with rate and estimate on stderr, and the stages; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _progress, _units: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar
    from rich.text import Text

    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    task = bar.add_task(what, total=None)
    console = Console(stderr=True)
    with Live(bar, console=console, transient=True, refresh_per_second=5) as live:

        def beat(now: Progress, units: int) -> None:
            bar.update(task, total=units, completed=now.units)
            lines = standing(now, bar.tasks[0].elapsed or 0.0, plan)
            live.update(Group(bar, *(Text(line, overflow="ellipsis") for line in lines)))

        yield beat


def standing(now: Progress, elapsed: float, plan: Settings) -> list[str]:
    """A run so far in words: answers and rate, tokens and money, stages, failures by kind."""
    rate = f", {now.answered / elapsed:,.1f} a second" if elapsed > 1 else ""
    first = f"{now.answered:,} answers{rate}, {now.tokens:,} tokens"
    priced = {name: own.prices for name, own in plan.models.items() if own.prices}
    if priced:
        paid = [p.cost(*astuple(now.spent[m])) for m, p in priced.items() if m in now.spent]
        rest = "" if set(plan.asked) <= priced.keys() else " for the models that have prices"
        first += f", cost {sum(paid):,.2f}{rest}"
    lines = [first]
    if now.stages:
        stages = (f"{name} {s.answered:,} of {s.wanted:,}" for name, s in now.stages.items())
        lines.append(f"so far due: {', '.join(stages)}")
    if now.failed:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(now.failures.items()))
        lines.append(f"failed: {kinds}")
    return lines
