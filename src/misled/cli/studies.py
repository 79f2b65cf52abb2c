"""`cpt`, `judge`: a study whose plan is given by options."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from misled.cli import app
from misled.cli.carrying import start
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
    split,
)

__all__ = ["cpt", "judge"]


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
            "delete_random, delete_random_v, insert_neutral."
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
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Of sampling; default: the provider's.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of one reply at most.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="Reasoning effort, in the provider's words.")
    ] = None,
    concurrency: Concurrency = 16,
    retry_failed: RetryFailed = False,
    max_requests: MaxRequests = None,
    max_tokens_total: MaxTokens = None,
    reuse: Reuse = None,
    run: Run = None,
    figures: Figures = FIGURES,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Study A: hand back chains whose results were tampered with."""
    from misled.plans import parse
    from misled.settings import Pace

    cell = {
        "problems": split(problems),
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
        "model": split(model),
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
    start(parse(settings), pace, run, dry_run=dry_run, json=json, figures=figures)


@app.command()
def judge(
    judge: Annotated[list[str], typer.Option(help="A judge, provider/model; may be repeated.")],
    generator: Annotated[
        list[str] | None, typer.Option(help="Whose answers are judged; may be repeated.")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(
            help="A file of answers instead (JSON Lines of question, gold, and raw or answer, with "
            "reasoning, label, model and id where known)."
        ),
    ] = None,
    problems: Annotated[
        list[str] | None,
        typer.Option(
            help="facts, addition:15+13, word:6, file:PATH or hf:gsm8k (math500, nq, hotpotqa, "
            "ORG/NAME); may be repeated."
        ),
    ] = None,
    n: Annotated[int, typer.Option(min=1, help="Problems of each set.")] = 20,
    conditions: Annotated[
        str,
        typer.Option(
            help="answer, reasoning, again_answer, again_reasoning (the floor), self, self_hidden, "
            "controlled, closed_book, crossed (one generator's answer with another's chain), null "
            "(no answer at all)."
        ),
    ] = "answer,reasoning,again_answer,again_reasoning",
    shown: Annotated[
        str, typer.Option(help="content (the whole answer) or value (its final value alone).")
    ] = "content",
    variants: Annotated[
        str,
        typer.Option(
            help="Of controlled: statements, filler, true_edit, placebo (another question's "
            "chain), chain_cut (without the sentences that state the answer)."
        ),
    ] = "statements",
    counterfactual: Annotated[
        str, typer.Option(help="How many of the four statements are false, as 0-4.")
    ] = "0-4",
    places: Annotated[str, typer.Option(help="begin, middle, end of the chain.")] = "end",
    verifier: Annotated[
        str | None, typer.Option(help="A model that decides on text answers that match no gold.")
    ] = None,
    feed: Annotated[
        str,
        typer.Option(
            help="output: an output that sets no reasoning apart is shown whole as reasoning."
        ),
    ] = "reasoning",
    criterion: Annotated[
        str, typer.Option(help="correct, or certainty: a stricter question.")
    ] = "correct",
    thinking: Annotated[
        bool, typer.Option("--thinking", help="Let judges think where they can be told not to.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of problems and statements.")] = 0,
    prompts: Annotated[str | None, typer.Option(help="A TOML file of prompts.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the server is.")] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Of sampling; default: the provider's.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of one reply at most.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="Reasoning effort, in the provider's words.")
    ] = None,
    concurrency: Concurrency = 16,
    retry_failed: RetryFailed = False,
    max_requests: MaxRequests = None,
    max_tokens_total: MaxTokens = None,
    reuse: Reuse = None,
    run: Run = None,
    figures: Figures = FIGURES,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Study B: judge answers with and without the reasoning behind them."""
    from misled.plans import study
    from misled.settings import Pace

    cell = {
        "problems": split(problems),
        "conditions": conditions.split(","),
        "shown": shown.split(","),
        "variants": variants.split(","),
        "counterfactual": counterfactual,
        "places": places.split(","),
    }
    settings: dict[str, Any] = {
        "study": "judge",
        "judge": split(judge),
        "generator": split(generator),
        "answers": answers,
        "n": n,
        "verifier": verifier,
        "criterion": criterion,
        "feed": feed,
        "thinking": thinking,
        "seed": seed,
        "prompts": prompts,
        "base_url": base_url,
        "temperature": temperature,
        "max_tokens": max_tokens,
        "effort": effort,
        "cells": [cell],
    }
    pace = Pace(concurrency, retry_failed, max_requests, max_tokens_total, tuple(reuse or ()))
    start(study(settings), pace, run, dry_run=dry_run, json=json, figures=figures)
