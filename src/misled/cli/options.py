"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "FIGURES",
    "Concurrency",
    "DryRun",
    "Figures",
    "Json",
    "MaxRequests",
    "MaxTokens",
    "RetryFailed",
    "Reuse",
    "Run",
    "split",
]

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


Figures = Annotated[
    str, typer.Option(help="Formats of the figures' files: some of svg,png,pdf, or none.")
]
FIGURES = "svg,png,pdf"


def split(values: list[str] | None) -> list[str]:
    """Options that may be repeated or hold commas, as one list."""
    return [name for value in values or () for name in value.split(",") if name]
