"""What a run shows while it goes on, and how lines of JSON are written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from misled.frontier import Progress
    from misled.publishing import Published
    from misled.records import Entry

__all__ = ["progress", "say", "show", "write_json"]


def say(line: str) -> None:
    """A line for the person at the terminal, on stderr."""
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
    left = ", ".join(f"{reason} {count}" for reason, count in entry.left_out.items())
    probed = round((entry.value or 0) * entry.n)
    return f"{where}: {probed} of {entry.n} could be probed" + (f" ({left})" if left else "")


@contextmanager
def progress(what: str) -> Iterator[Callable[[Progress, int], None]]:
    """A bar with rate and estimate on stderr; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _progress, _units: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None, detail="")

        def beat(now: Progress, units: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            rate = now.answered / elapsed if elapsed > 1 else 0.0
            detail = f"{now.answered:,} answers, {rate:,.0f}/s, {now.tokens:,} tokens"
            if now.failed:
                kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(now.failures.items()))
                detail += f", failed: {kinds}"
            bar.update(task, total=units, completed=now.units, detail=detail)

        yield beat
