"""`report`, `status`, `verify`, `export`, `models`, `probe`: what a run or a server holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from misled.cli import app
from misled.cli.carrying import forms
from misled.cli.options import FIGURES, Figures
from misled.cli.output import busy, say, show, write_json

__all__ = ["export", "models", "probe", "report", "status", "verify"]

Directory = Annotated[Path, typer.Argument(help="A run directory.")]
Json = Annotated[bool, typer.Option("--json", help="JSON Lines on stdout.")]

FORMATS = ("parquet", "jsonl", "csv")


@app.command()
def report(directory: Directory, figures: Figures = FIGURES, json: Json = False) -> None:
    """Grade the kept answers again; write tables, figures and the report."""
    from misled.directory import standing
    from misled.publishing import publish
    from misled.session import reopen

    session = reopen(directory)
    with busy("grading the answers again, writing tables, figures and the report"):
        found = publish(session, directory, standing(session, directory), forms(figures))
    show(found, json=json)


@app.command()
def status(directory: Directory, json: Json = False) -> None:
    """How many answers a run holds, what failed, and the tokens spent."""
    import msgspec

    from misled.reuse import AT_ONCE, reuse
    from misled.session import reopen
    from misled.store import Store

    with Store(directory / "misled.db", read_only=True) as store:
        counts = msgspec.structs.asdict(store.counts())
        if 0 < counts["responses"] <= AT_ONCE:  # else the report says it
            found = reuse(store)
            counts |= {"attainable_share": found.attainable, "reached_share": found.reached}
    try:
        session = reopen(directory)
        counts |= {"units": session.size, "rejected_items": session.rejected}
    finally:
        _show_counts(counts, json=json)


def _show_counts(counts: dict[str, Any], *, json: bool) -> None:
    """What was counted, a line each, or as one JSON line."""
    if json:
        write_json([counts])
        return
    for name, value in counts.items():
        shown = "unknown" if value is None else value or 0
        if isinstance(shown, dict):
            shown = ", ".join(f"{kind} {n}" for kind, n in shown.items())
        print(f"{name.replace('_', ' ')}: {f'{shown:.3f}' if isinstance(shown, float) else shown}")


@app.command()
def verify(directory: Directory, json: Json = False) -> None:
    """Hash every request and answer again, add up every batch, and name what is damaged."""
    from misled.damage import damaged
    from misled.errors import StoreError
    from misled.store import Store

    with Store(directory / "misled.db", read_only=True) as store:
        found = damaged(store)
        total = store.counts()
    if json:
        write_json([{"damaged": found, "responses": total.responses}])
    else:
        print("\n".join(found) or f"{total.responses} responses: nothing is damaged")
    if found:
        raise StoreError(
            f"{len(found)} entries of {directory} are damaged; start a new --run with "
            f"--reuse {directory} to keep the rest"
        )


@app.command()
def export(
    directory: Directory,
    to: Annotated[str, typer.Option(help="parquet, jsonl or csv.")] = "jsonl",
    out: Annotated[Path | None, typer.Option(help="A file; default: DIR/trials.FORMAT.")] = None,
) -> None:
    """Write every graded trial, one row each; jsonl goes to stdout with --out -."""
    import sys

    import polars as pl

    from misled.directory import rows
    from misled.errors import UserError, nearest

    if to not in FORMATS:
        raise UserError(nearest("format", to, FORMATS))
    frame = rows(directory)
    path = out or directory / f"trials.{to}"
    target = sys.stdout.buffer if str(path) == "-" else path
    try:
        if to == "parquet":
            frame.write_parquet(target)
        elif to == "csv":
            frame.with_columns(pl.col("flags").list.join(" ")).write_csv(target)
        else:
            frame.write_ndjson(target)
    except OSError as error:
        if "Broken pipe" in str(error):  # polars words it in its own way
            raise BrokenPipeError from None
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    say(f"{frame.height} rows: {path}")


@app.command()
def models(json: Json = False) -> None:
    """List the known providers, their key variables and what they can do."""
    from misled.models import listing

    entries = listing()
    if json:
        write_json(entries)
        return
    for entry in entries:
        known = {key: value for key, value in entry.items() if value not in (None, "")}
        name = known.pop("provider")
        print(f"{name + '/...':<16}" + "  ".join(f"{key} {value}" for key, value in known.items()))


@app.command()
def probe(
    model: Annotated[str, typer.Argument(help="provider/model.")],
    base_url: Annotated[str | None, typer.Option(help="Another server of the provider.")] = None,
    plan: Annotated[
        str | None, typer.Option(help="A plan, TOML, whose [providers] and [models] tables count.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Keep what differs from the table for later runs.")
    ] = False,
    json: Json = False,
) -> None:
    """Ask a server a dozen tiny questions and report what it really does."""
    import os
    from contextlib import ExitStack

    from misled import models, probe
    from misled.engines.http import World
    from misled.engines.local import serving
    from misled.errors import UserError
    from misled.plans import read
    from misled.session import resolved

    world = World(environ=os.environ)
    if plan is None:
        found = models.resolve(model, base_url=base_url)
    else:
        found = resolved(read(plan), model, base_url)
    if found.provider == "planted":
        raise UserError(f"{model} runs on no server: what it does is in its profile")
    with ExitStack() as stack:
        if found.provider == "local":
            found, world = stack.enter_context(serving(found.name))
        findings = probe.probe(found, world)
    other = probe.differing(findings, found.capabilities)
    if json:
        write_json(findings)
    else:
        for finding in findings:
            declared = f" (declared: {finding.declared})" if finding.declared else ""
            detail = f"; {finding.detail}" if finding.detail else ""
            print(f"{finding.what}: {finding.found}{declared}{detail}")
    for name, value in other.items():
        say(f"misled: {name} = {value!r}, not {getattr(found.capabilities, name)!r} as declared")
    if write and other:
        say(f"misled: written into {models.remember(model, other)}")
    elif other:
        say("misled: keep this for later runs with --write")
