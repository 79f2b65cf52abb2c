"""`demo`, `cpt`, `run`: carry a plan out and report it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misled.cli import INTERRUPTED, app
from misled.cli.output import progress, say, write_json

if TYPE_CHECKING:
    from misled.directory import Outcome, Published
    from misled.plans import Pace, Plan
    from misled.session import Session

__all__ = ["cpt", "demo", "run"]

# The planted reasoner at the size of the paper's problems (protocol A.2).
PLANTED = {
    "model": ["planted/mixed"],
    "n": 40,
    "cells": [
        {
            "problems": ["addition:15+13", "multiplication:8x7"],
            "digits": "1-6",
            "methods": ["baseline", "uncertainty", "contradiction", "prefix"],
        }
    ],
}
# A model of 135 million parameters on what it can solve; its visible working is the chain.
EMBEDDED = {
    "model": ["local/smollm2"],
    "n": 57,
    "feed": "output",
    "controls": ["clean"],  # at temperature 0 the question alone gives the gate's reply again
    "temperature": 0.0,
    "max_tokens": 160,
    "cells": [{"problems": ["small"], "digits": "1", "methods": ["baseline", "contradiction"]}],
}
DEMO_TOKENS = 11_000  # about a minute on one core

Run = Annotated[Path | None, typer.Option("--run", help="The run directory.")]
Json = Annotated[bool, typer.Option("--json", help="Estimates as JSON Lines on stdout.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the first prompt of every cell; ask nothing.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests in flight at most.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Ask failed requests again.")]
MaxRequests = Annotated[int | None, typer.Option(min=1, help="Stop after so many requests.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Stop once so many tokens are spent.")]
Reuse = Annotated[list[str] | None, typer.Option(help="Take answers from this run directory.")]


def _split(values: list[str] | None) -> list[str]:
    """Options that may be repeated or hold commas, as one list."""
    return [name for value in values or () for name in value.split(",") if name]


@app.command()
def cpt(
    model: Annotated[list[str], typer.Option(help="A target, provider/model; may be repeated.")],
    problems: Annotated[
        list[str], typer.Option(help="addition:15+13, multiplication:8x7, small, file:PATH.")
    ],
    source: Annotated[str | None, typer.Option(help="Whose chains; default: the target.")] = None,
    n: Annotated[int, typer.Option(min=1, help="Problems of each set.")] = 20,
    digits: Annotated[str, typer.Option(help="Tampering degrees D_T, as 1-6 or 1,3.")] = "1",
    methods: Annotated[
        str, typer.Option(help="baseline, uncertainty, contradiction, prefix.")
    ] = "baseline",
    structures: Annotated[str, typer.Option(help="intact.")] = "intact",
    channels: Annotated[str, typer.Option(help="user.")] = "user",
    perturbations: Annotated[
        str, typer.Option(help="digits, insert_digit, delete_digit.")
    ] = "digits",
    scope: Annotated[str, typer.Option(help="endings, all or last.")] = "endings",
    place: Annotated[str, typer.Option(help="random, high, low, anchored, or 0,2.")] = "random",
    controls: Annotated[str, typer.Option(help="clean, again; none for none.")] = "clean,again",
    feed: Annotated[str, typer.Option(help="reasoning or output.")] = "reasoning",
    attribution: Annotated[str, typer.Option(help="Whose thought: own or other.")] = "own",
    samples: Annotated[int, typer.Option(min=1, help="Samples of each probe.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of problems and tampering.")] = 0,
    prompts: Annotated[str | None, typer.Option(help="A TOML file of prompts.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the server is.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0)] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Of one reply.")] = None,
    effort: Annotated[str | None, typer.Option(help="Reasoning effort.")] = None,
    concurrency: Concurrency = 16,
    retry_failed: RetryFailed = False,
    max_requests: MaxRequests = None,
    max_tokens_total: MaxTokens = None,
    reuse: Reuse = None,
    run: Run = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Study A: hand back chains whose results were tampered with."""
    from misled.plans import Pace, parse

    cell = {
        "problems": _split(problems),
        "digits": digits,
        "methods": methods.split(","),
        "structures": structures.split(","),
        "channels": channels.split(","),
        "perturbations": perturbations.split(","),
        "scope": scope,
        "place": place,
    }
    settings: dict[str, Any] = {
        "study": "cpt",
        "model": _split(model),
        "source": source,
        "n": n,
        "controls": [] if controls == "none" else controls.split(","),
        "feed": feed,
        "attribution": attribution,
        "samples": samples,
        "seed": seed,
        "prompts": prompts,
        "base_url": base_url,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "effort": effort,
        "cells": [cell],
    }
    pace = Pace(concurrency, retry_failed, max_requests, max_tokens_total, tuple(reuse or ()))
    _carry_out(parse(settings), pace, run, dry_run=dry_run, json=json)


@app.command()
def run(
    plan: Annotated[str, typer.Argument(help="A plan, TOML.")],
    run: Run = None,
    concurrency: Concurrency = 16,
    retry_failed: RetryFailed = False,
    max_requests: MaxRequests = None,
    max_tokens_total: MaxTokens = None,
    reuse: Reuse = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Carry out a plan from a file."""
    from misled.plans import Pace, read

    pace = Pace(concurrency, retry_failed, max_requests, max_tokens_total, tuple(reuse or ()))
    _carry_out(read(plan), pace, run, dry_run=dry_run, json=json)


@app.command()
def demo(
    run: Annotated[Path, typer.Option("--run", help="Where to put both runs.")] = Path("runs/demo"),
    open_: Annotated[bool, typer.Option("--open", help="Open the reports in a browser.")] = False,
    json: Json = False,
) -> None:
    """Study A twice, small: on the planted reasoner, then on a real embedded model."""
    from misled.plans import Pace, parse
    from misled.session import prepare

    planted = parse(PLANTED)
    embedded = parse(EMBEDDED)
    for name, plan, pace in (
        ("planted", planted, Pace()),
        ("smollm2", embedded, Pace(max_tokens_total=DEMO_TOKENS)),
    ):
        session = prepare(plan)
        outcome, published = _conduct(session, run / name, pace)
        if json:
            write_json(published.entries)
        else:
            print(published.summary)
            print(
                f"{outcome.progress.units} of {session.size} problems; report: {published.report}"
            )
        if open_:
            typer.launch(str(published.report.absolute()))


def _carry_out(plan: Plan, pace: Pace, run: Path | None, *, dry_run: bool, json: bool) -> None:
    """Ask, report, print the main table; the exit code says how it went."""
    from misled.session import default_directory, prepare

    session = prepare(plan)
    for note in session.notes:
        say(f"misled: {note}")
    for name, rejects in session.inputs.rejects.items():
        for reject in rejects:
            where = f"line {reject.line}" if reject.line > 0 else f"id {reject.id}"
            say(f"misled: {name}, {where}: {reject.reason}; left out")
    if dry_run:
        from misled.rehearsal import first_prompts

        _show_prompts(first_prompts(session), json=json)
        return
    directory = run or default_directory(plan)
    outcome, published = _conduct(session, directory, pace)
    if json:
        write_json(published.entries)
    else:
        print(published.summary)
        print(f"report: {published.report}")
    if outcome.progress.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if outcome.progress.stopped:
        say(f"misled: {outcome.progress.stopped}; the same command without it goes on")
    if session.rejected or "failed" in outcome.rows["outcome"]:
        raise typer.Exit(1)


def _conduct(session: Session, directory: Path, pace: Pace) -> tuple[Outcome, Published]:
    """Carry a session out with progress, then publish it."""
    from misled.directory import execute, publish

    with progress(str(directory)) as beat:
        outcome = execute(session, directory, pace, beat)
    return outcome, publish(session, directory, outcome.rows, outcome.progress.stopped)


def _show_prompts(records: list[dict[str, Any]], *, json: bool) -> None:
    """The first prompt of every cell, as JSON Lines or as text."""
    if json:
        write_json(records)
        return
    for record in records:
        messages = record.pop("messages", [])
        prefill = record.pop("prefill", None)
        print("--- " + "  ".join(f"{k}={v}" for k, v in record.items()))
        for message in messages:
            print(f"[{message['role']}]\n{message['content']}")
        if prefill:
            print(f"[assistant, prefilled {prefill['field']}]\n{prefill['text']}")
