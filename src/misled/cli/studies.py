"""`demo`, `cpt`, `run`, `estimate`: carry a plan out and report it, or say what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from misled.cli import INTERRUPTED, app
from misled.cli.output import progress, say, show, write_json

if TYPE_CHECKING:
    from misled.judge_plans import JudgePlan
    from misled.plans import Plan
    from misled.publishing import Published
    from misled.session import Session
    from misled.settings import Pace

__all__ = ["cpt", "demo", "estimate", "run"]

# The planted reasoner at the size of the paper's problems (protocol A.2).
PLANTED: dict[str, Any] = {
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
EMBEDDED: dict[str, Any] = {
    "model": ["local/smollm2"],
    "n": 57,
    "feed": "output",
    "controls": ["clean"],  # at temperature 0 the question alone gives the gate's reply again
    "temperature": 0.0,
    "max_tokens": 160,
    "cells": [{"problems": ["small"], "digits": "1", "methods": ["baseline", "contradiction"]}],
}
DEMO_TOKENS = 9_000
DEMO_SAYS = {
    "planted": "a simulated reasoner of known behaviour, on problems of the paper's size",
    "smollm2": f"a real model of 135 million parameters, to {DEMO_TOKENS:,} tokens",
}

Run = Annotated[
    Path | None, typer.Option("--run", help="The run directory; default: runs/STUDY-HASH.")
]
Json = Annotated[bool, typer.Option("--json", help="Estimates as JSON Lines on stdout.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the first prompt of every cell; ask nothing.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests in flight at most.")]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Ask failed requests again.")]
MaxRequests = Annotated[int | None, typer.Option(min=1, help="Stop after so many requests.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Stop once the run has spent so many tokens.")
]
Reuse = Annotated[
    list[str] | None, typer.Option(help="A run directory to take answers from; may be repeated.")
]


def _split(values: list[str] | None) -> list[str]:
    """Options that may be repeated or hold commas, as one list."""
    return [name for value in values or () for name in value.split(",") if name]


@app.command()
def cpt(
    model: Annotated[list[str], typer.Option(help="A target, provider/model; may be repeated.")],
    problems: Annotated[
        list[str] | None,
        typer.Option(
            help="addition:15+13, multiplication:8x7 (digits of the operands), word:6 (levels 1 "
            "to 6), small, or file:PATH (JSON Lines of question, gold and id); may be repeated."
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(help="Whose chains; default: the target.")] = None,
    chains: Annotated[
        str | None,
        typer.Option(
            help="A file of chains instead (JSON Lines of question, gold, and raw or reasoning)."
        ),
    ] = None,
    n: Annotated[int, typer.Option(min=1, help="Problems of each set.")] = 20,
    digits: Annotated[str, typer.Option(help="Tampering degrees D_T, as 1-6 or 1,3.")] = "1",
    methods: Annotated[
        str,
        typer.Option(
            help="baseline (here is your thought), uncertainty (it may be wrong), contradiction "
            "(it is wrong), prefix (the same, and the reply begins with a recomputation)."
        ),
    ] = "baseline",
    structures: Annotated[
        str,
        typer.Option(
            help="intact, delete_reflection, delete_verification, insert, and the controls "
            "delete_random, insert_neutral."
        ),
    ] = "intact",
    channels: Annotated[
        str,
        typer.Option(
            help="user (in the user message), assistant (as the model's own turn), think or "
            "think_closed (as its own thinking)."
        ),
    ] = "user",
    perturbations: Annotated[
        str, typer.Option(help="digits (D_T are replaced), insert_digit, delete_digit.")
    ] = "digits",
    scope: Annotated[
        str,
        typer.Option(
            help="endings (where the result is stated), all (wherever it stands) or last."
        ),
    ] = "endings",
    place: Annotated[
        str,
        typer.Option(
            help="Which digits: random, high or low (the first or the last), anchored (one top "
            "place a problem, the others below it), or places from 0 such as 0,2."
        ),
    ] = "random",
    controls: Annotated[
        str,
        typer.Option(
            help="clean (the chain untouched), again (the question alone once more), or none."
        ),
    ] = "clean,again",
    contrasts: Annotated[
        str | None,
        typer.Option(
            help="no_answer_line, bare (only the answer), other_number, foreign (another "
            "problem's chain), prefix_as_text."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Send the target's own chain back alone, too.")
    ] = False,
    feed: Annotated[
        str,
        typer.Option(
            help="What is handed back: reasoning, or the whole output (taken where there is none)."
        ),
    ] = "reasoning",
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
    from misled.plans import parse
    from misled.settings import Pace

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
        "chains": chains,
        "n": n,
        "controls": [] if controls == "none" else controls.split(","),
        "contrasts": contrasts.split(",") if contrasts else [],
        "replay": replay,
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
    _study(parse(settings), pace, run, dry_run=dry_run, json=json)


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
    """Carry out a plan from a file; that of a run directory goes on with the run."""
    from misled.plans import read
    from misled.settings import Pace

    pace = Pace(concurrency, retry_failed, max_requests, max_tokens_total, tuple(reuse or ()))
    own = Path(plan).parent
    if run is None and (own / "misled.db").is_file():
        run = own
    _study(read(plan), pace, run, dry_run=dry_run, json=json)


@app.command()
def estimate(
    plan: Annotated[str, typer.Argument(help="A plan, TOML.")],
    reply_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens of a reply and of a chain; default: the planted one's."),
    ] = None,
    json: Json = False,
) -> None:
    """What a plan would ask at most, in requests, tokens and money; asks nothing."""
    from misled.plans import read
    from misled.rehearsal import estimate as counted
    from misled.session import prepare

    bills = counted(prepare(read(plan)), reply_tokens)
    if json:
        write_json(bills)
        return
    for bill in [*bills, _total(bills)]:
        money = f"  {bill['money']:>12,.2f}" if "money" in bill else ""
        print(
            f"{bill['model']:<36} {bill['requests']:>10,} requests"
            f" {bill['prompt_tokens']:>14,} prompt tokens"
            f" {bill['completion_tokens']:>14,} completion tokens{money}"
        )
    assumed = (
        "the planted reasoner's length" if reply_tokens is None else f"{reply_tokens:,} tokens"
    )
    say(f"misled: every gate passed, every reply of {assumed}, nothing cached")


def _total(bills: list[dict[str, Any]]) -> dict[str, Any]:
    """All models together; money only where every model has prices."""
    total: dict[str, Any] = {"model": "total"}
    for name in ("requests", "prompt_tokens", "completion_tokens", "money"):
        if all(name in bill for bill in bills):
            total[name] = sum(bill[name] for bill in bills)
    return total


@app.command()
def demo(
    run: Annotated[Path, typer.Option("--run", help="Where to put both runs.")] = Path("runs/demo"),
    open_: Annotated[bool, typer.Option("--open", help="Open the reports in a browser.")] = False,
    json: Json = False,
) -> None:
    """Study A twice, small: on the planted reasoner, then on a real embedded model."""
    from misled.plans import parse
    from misled.session import prepare
    from misled.settings import Pace

    for name, plan, pace in (
        ("planted", PLANTED, Pace()),
        ("smollm2", EMBEDDED, Pace(max_tokens_total=DEMO_TOKENS)),
    ):
        say(f"misled: {', '.join(plan['model'])}: {DEMO_SAYS[name]}")
        published, _ = _carry_out(prepare(parse(plan)), run / name, pace, json=json)
        if open_:
            typer.launch(str(published.report.absolute()))


def _study(
    plan: Plan | JudgePlan, pace: Pace, run: Path | None, *, dry_run: bool, json: bool
) -> None:
    """Carry a plan out or, dry, show what it would send; exit 1 where something was left out."""
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

        say("misled: nothing is asked; the chains shown are the planted reasoner's")
        _show_prompts(first_prompts(session), json=json)
        return
    _, failed = _carry_out(session, run or default_directory(plan), pace, json=json)
    if session.rejected or failed:
        raise typer.Exit(1)


def _carry_out(
    session: Session, directory: Path, pace: Pace, *, json: bool
) -> tuple[Published, bool]:
    """Ask, publish and print the main table; what was published, and whether requests failed."""
    from misled.directory import execute
    from misled.publishing import publish

    with progress(str(directory)) as beat:
        done, found = execute(session, directory, pace, beat)
    published = publish(session, directory, found)
    show(published, json=json)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if done.stopped:
        say(f"misled: {done.stopped}: {found.unfinished} of {session.size} are not finished")
    return published, "failed" in found.rows["outcome"]


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
