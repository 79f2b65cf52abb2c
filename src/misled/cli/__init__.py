"""The command line: one file a command group, and the exit codes.

    0 done · 1 done, but requests failed or items were left out for bad input
    2 nothing could start or go on, one line names the fix · 130 interrupted, resumable

Nothing but typer is imported before a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException

from misled import __version__
from misled.errors import UserError

__all__ = ["app", "main"]

INTERRUPTED = 130
_LISTS = ("--generator", "--judge", "--model", "--problems", "--reuse")

app = typer.Typer(
    name="misled",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Measure how reasoning chains mislead language models.",
)


def _version(*, value: bool) -> None:
    if value:
        typer.echo(f"misled {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; every error of the user's is one line on stderr and exit 2."""
    if sys.stdout is None:  # closed by the shell: what is printed goes nowhere
        sys.stdout = io.TextIOWrapper(io.BytesIO())
    for stream in (sys.stdout, sys.stderr):  # one that is no UTF-8 shows what it can
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from misled.cli import (  # noqa: F401 - they register
            planned,
            runs,
            studies,
            texts,
            versus,
            views,
        )

        code = app(_spread(sys.argv[1:]) or ["--help"], standalone_mode=False)
        sys.stdout.flush()
    except UserError as error:
        _quit(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except TyperException as error:
        command = getattr(getattr(error, "ctx", None), "command_path", None) or "misled"
        _quit(f"{error.format_message().rstrip('.')}; see {command} --help")
    except OSError as error:
        # The interpreter must not try to flush to it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)
        _quit(f"cannot write the output: {error.strerror or error}")
    if code == INTERRUPTED:
        print("misled: interrupted; run the same command again to go on", file=sys.stderr)
    sys.exit(code)


def _spread(words: list[str]) -> list[str]:
    """`--problems a b` as `--problems a --problems b`: lists may be written either way."""
    spread: list[str] = []
    name = ""
    for word in words:
        if name and not word.startswith("-") and spread[-1] != name:
            spread.append(name)
        elif word.startswith("-"):
            name = word if word in _LISTS else ""
        spread.append(word)
    return spread


def _quit(message: str) -> None:
    from misled.cli.output import say

    say(f"misled: {message}")
    sys.exit(2)
