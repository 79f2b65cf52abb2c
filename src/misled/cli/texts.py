"""`split`, `tamper`, `grade`: records in, one JSON line each out, as a stream."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from misled.cli import app

if TYPE_CHECKING:
    from misled.contracts import RecordError

__all__ = ["grade", "split", "tamper"]

File = Annotated[str, typer.Argument(help="A file, or - for standard input.")]
Format = Annotated[
    str,
    typer.Option("--format", help="auto, jsonl (a record a line) or text (all of it is `raw`)."),
]
Json = Annotated[bool, typer.Option("--json", help="JSON Lines on stdout (it always is, here).")]

FORMATS = ("auto", "jsonl", "text")
BOM = b"\xef\xbb\xbf"


@app.command()
def split(file: File = "-", format_: Format = "auto", json: Json = False) -> None:
    """Cut outputs into reasoning, answer and steps with roles."""
    from misled import contracts

    _serve(file, format_, lambda record, _: contracts.split(record))


@app.command()
def tamper(
    file: File = "-",
    digits: Annotated[int, typer.Option(min=1, help="How many digits to change (D_T).")] = 1,
    scope: Annotated[str, typer.Option(help="endings, all or last.")] = "endings",
    place: Annotated[
        str, typer.Option(help="random, high, low, anchored, or places such as 0,2.")
    ] = "random",
    perturbation: Annotated[
        str, typer.Option(help="digits, insert_digit or delete_digit.")
    ] = "digits",
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    format_: Format = "auto",
    json: Json = False,
) -> None:
    """Tamper with the result that each chain states."""
    from misled import contracts
    from misled.draws import Draws
    from misled.plans import cell

    made = cell(problems="-", digits=digits, scope=scope, place=place, perturbations=perturbation)
    options: dict[str, Any] = {"scope": scope}
    if perturbation == "digits":
        options |= {"d_t": digits, "place": made.place}

    def one(record: dict[str, Any], name: str) -> dict[str, Any]:
        return contracts.tamper(record, Draws(seed, name, perturbation), perturbation, **options)

    _serve(file, format_, one)


@app.command()
def grade(file: File = "-", format_: Format = "auto", json: Json = False) -> None:
    """Read the value of each answer and give it its outcome."""
    from misled import contracts

    _serve(file, format_, lambda record, _: contracts.grade(record))


def _serve(file: str, format_: str, one: Callable[[dict[str, Any], str], dict[str, Any]]) -> None:
    """Answer each record with a line; a bad one with its error, exit 1 in the end.

    Where every record asked for more digits than its result has, nothing could
    be done: exit 2.
    """
    import msgspec

    from misled.contracts import RecordError
    from misled.errors import UserError, nearest

    if format_ not in FORMATS:
        raise UserError(nearest("format", format_, FORMATS))
    good = bad = too_long = 0
    message = ""
    for index, record in enumerate(_records(file, format_)):
        name = {"index": index}
        try:
            if isinstance(record, RecordError):
                raise record
            if isinstance(record.get("id"), str | int):
                name = {"id": record["id"]}
            line = name | one(record, str(next(iter(name.values()))))
            good += 1
        except RecordError as error:
            bad += 1
            too_long += error.kind == "digits"
            message = str(error)
            line = {"index": index} | name | {"error": {"kind": error.kind, "message": message}}
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
    sys.stdout.buffer.flush()
    if too_long and too_long == good + bad:
        raise UserError(message)
    if bad:
        raise typer.Exit(1)


def _records(file: str, format_: str) -> Iterator[dict[str, Any] | RecordError]:
    """The records of `file`, one at a time; an exception stands for one that is none."""
    import msgspec

    from misled.contracts import RecordError
    from misled.errors import UserError

    try:
        with _opened(file) as stream:
            first = b""
            while not first.strip() and (line := stream.readline()):
                first += line if first else line.removeprefix(BOM)
            if format_ == "text" or (format_ == "auto" and not _is_object(first)):
                yield {"raw": (first + stream.read()).decode()}
                return
            for line in chain([first], stream):
                if not line.strip():
                    continue
                try:
                    yield msgspec.json.decode(line, type=dict[str, Any])
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    yield RecordError("json", f"not a JSON object: {error}")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"cannot read {file}: it is not UTF-8 text") from None


def _opened(file: str) -> BinaryIO:
    return sys.stdin.buffer if file == "-" else Path(file).open("rb")


def _is_object(line: bytes) -> bool:
    """Whether a line is a JSON object, as the first of a JSONL file is, usable or not."""
    try:
        return isinstance(json.loads(line), dict)
    except RecursionError:
        return line.lstrip().startswith(b"{")
    except ValueError:
        return False
