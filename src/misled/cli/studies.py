"""`demo`, `cpt`, `run`: carry a plan out and report it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misled.cli import app
from misled.cli.output import progress, say, write_json

if TYPE_CHECKING:
    from misled.plan import Pace, Plan
    from misled.session import Outcome, Session

__all__ = ["cpt", "demo", "run"]

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
    from misled.plan import Pace, parse

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
    from misled.plan import Pace, read

    pace = Pace(concurrency, retry_failed, max_requests, max_tokens_total, tuple(reuse or ()))
    _carry_out(read(plan), pace, run, dry_run=dry_run, json=json)


def _carry_out(plan: Plan, pace: Pace, run: Path | None, *, dry_run: bool, json: bool) -> None:
    """Ask, report, print the main table; the exit code says how it went."""
    from misled.session import default_directory, prepare

    session = prepare(plan)
    if dry_run:
        from misled.rehearsal import first_prompts

        records = first_prompts(session)
        write_json(records) if json else print("\n".join(map(str, records)))
        return
    directory = run or default_directory(plan)
    outcome = _report(session, directory, pace, json=json)
    if outcome.progress.stopped == "interrupted":
        raise KeyboardInterrupt
    if outcome.progress.failed or session.rejected:
        raise typer.Exit(1)
