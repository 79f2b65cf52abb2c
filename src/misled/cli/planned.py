"""`run`, `estimate`, `demo`: a study whose plan is there already."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from misled.cli import app
from misled.cli.carrying import carry_out, forms, start
from misled.cli.options import (
    FIGURES,
    Concurrency,
    DryRun,
    Figures,
    Json,
    MaxRequests,
    MaxTokens,
    RetryFailed,
    Reuse,
    Run,
)
from misled.cli.output import say, write_json

__all__ = ["demo", "estimate", "run"]

# The planted reasoner at the size of the paper's problems (protocol A.2).
PLANTED_CPT: dict[str, Any] = {
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
PLANTED_JUDGE: dict[str, Any] = {
    "study": "judge",
    "judge": ["planted/credulous", "planted/vigilant"],
    "generator": ["planted/oblivious"],
    "n": 150,
    "cells": [
        {
            "problems": ["facts"],
            "conditions": ["answer", "reasoning", "again_answer", "again_reasoning"],
        }
    ],
}
# A model of 135 million parameters on what it can solve; its visible working is the chain.
SMALL: dict[str, Any] = {"feed": "output", "temperature": 0.0, "max_tokens": 160}
EMBEDDED_CPT: dict[str, Any] = SMALL | {
    "model": ["local/smollm2"],
    "n": 57,
    "controls": ["clean"],  # at temperature 0 the question alone gives the gate's reply again
    "cells": [{"problems": ["small"], "digits": "1", "methods": ["baseline", "contradiction"]}],
}
EMBEDDED_JUDGE: dict[str, Any] = SMALL | {
    "study": "judge",
    "judge": ["local/smollm2"],
    "generator": ["local/smollm2"],
    "n": 40,
    "cells": [{"problems": ["facts"], "conditions": ["answer", "reasoning"]}],
}
SIMULATED = "a simulated reasoner of known behaviour"
TOKENS = {"cpt": 8_000, "judge": 5_000}
REAL = "a real model of 135 million parameters, to {:,} tokens"
DEMO: tuple[tuple[str, dict[str, Any], str, int | None], ...] = (
    ("planted-cpt", PLANTED_CPT, f"{SIMULATED} is handed tampered chains", None),
    ("planted-judge", PLANTED_JUDGE, f"{SIMULATED} judges answers", None),
    ("smollm2-cpt", EMBEDDED_CPT, REAL.format(TOKENS["cpt"]), TOKENS["cpt"]),
    ("smollm2-judge", EMBEDDED_JUDGE, REAL.format(TOKENS["judge"]), TOKENS["judge"]),
)


@app.command()
def run(
    plan: Annotated[str, typer.Argument(help="A plan, TOML.")],
    run: Run = None,
    concurrency: Concurrency = 16,
    retry_failed: RetryFailed = False,
    max_requests: MaxRequests = None,
    max_tokens_total: MaxTokens = None,
    reuse: Reuse = None,
    figures: Figures = FIGURES,
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
    start(read(plan), pace, run, dry_run=dry_run, json=json, figures=figures)


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
    run: Annotated[Path, typer.Option("--run", help="Where to put the runs.")] = Path("runs/demo"),
    open_: Annotated[bool, typer.Option("--open", help="Open the reports in a browser.")] = False,
    json: Json = False,
) -> None:
    """Both studies, small: on the planted reasoner, then on a real embedded model."""
    from misled.plans import study
    from misled.session import prepare
    from misled.settings import Pace

    for name, plan, says, tokens in DEMO:
        say(f"misled: {name}: {says}")
        pace = Pace(max_tokens_total=tokens)
        published, _ = carry_out(
            prepare(study(plan)), run / name, pace, json=json, forms=forms(FIGURES)
        )
        if open_:
            typer.launch(str(published.report.absolute()))
