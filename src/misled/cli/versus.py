"""`compare`: two or more runs of one study, paired by item."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misled.cli import app
from misled.cli.carrying import forms
from misled.cli.options import FIGURES, Figures
from misled.cli.output import say, write_json

if TYPE_CHECKING:
    from misled.comparing import Comparison

__all__ = ["compare"]

WIDTH = 100


@app.command()
def compare(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", help="Run directories of one study; the first is the reference."
        ),
    ],
    match: Annotated[
        list[str] | None,
        typer.Option(
            help="A=B: what is called A in the reference is B in another run (a model, a judge, a "
            "generator, a problem set); may be repeated. Without it, names are paired as they "
            "are, and where each run has one, those two."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="A directory for compare.html, .csv, .md, .tex and figures; default: none.",
        ),
    ] = None,
    figures: Figures = FIGURES,
    json: Annotated[
        bool, typer.Option("--json", help="Estimates as JSON Lines on stdout.")
    ] = False,
) -> None:
    """Differences between runs, paired by problem or item, with intervals and tests."""
    from misled import comparing

    shapes, directory = forms(figures), _directory(out)
    found = comparing.compare(directories, match or ())
    if json:
        for note in found.notes:
            say(f"misled: {note}")
        write_json(found.entries)
    else:
        _show(found)
    if directory:
        from misled.versus_page import write

        say(f"misled: written: {write(found, directory, shapes)}")


def _directory(out: str | None) -> Path | None:
    """Where to write; UserError, before anything is read, for what is no directory."""
    from misled.errors import UserError

    if out is None:
        return None
    path = Path(out)
    if out.strip() in {"", "-"} or (path.exists() and not path.is_dir()):
        raise UserError(f"--out {out!r} is no directory; --json prints every difference on stdout")
    return path


def _line(note: str) -> str:
    """A note in one line, whatever the names in it hold."""
    from misled.sheets import visible

    return " ".join(visible(note).split())


def _show(found: Comparison) -> None:
    """What differs, what to be careful with, and the differences that are read first."""
    from rich.console import Console
    from rich.text import Text

    from misled import facing

    console = Console(width=WIDTH, highlight=False)
    console.print(facing.differing_grid(found.names, found.differing))
    for note in found.notes:
        console.print(Text(f"- {_line(note)}"))
    console.print()
    faced = facing.faced(found.entries)
    for grid in facing.terminal(faced, WIDTH):
        console.print(grid)
    if more := len(faced) - len(facing.leading(faced)):
        console.print(
            Text(f"{more} more differences, by D_T or of edited chains: --json, --out DIR")
        )
