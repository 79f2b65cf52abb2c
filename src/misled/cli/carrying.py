"""Carry a plan out, publish it, and say what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from misled.cli import INTERRUPTED
from misled.cli.output import busy, progress, say, show, write_json

if TYPE_CHECKING:
    from misled.judge_plans import JudgePlan
    from misled.plans import Plan
    from misled.publishing import Published
    from misled.session import Session
    from misled.settings import Pace

__all__ = ["carry_out", "forms", "start"]

FEW = 5  # ids that a line names


def forms(figures: str) -> tuple[str, ...]:
    """The formats that `--figures` names; UserError where one is unknown."""
    from misled.errors import UserError, nearest
    from misled.sheets import FORMATS

    found = () if figures == "none" else tuple(figures.split(","))
    for name in found:
        if name not in FORMATS:
            raise UserError(nearest("figure format", name, (*FORMATS, "none")))
    return found


def start(
    plan: Plan | JudgePlan,
    pace: Pace,
    run: Path | None,
    *,
    dry_run: bool,
    json: bool,
    figures: str,
) -> None:
    """Carry a plan out or, dry, show what it would send; exit 1 where something was left out."""
    from misled.session import default_directory, prepare

    shapes, session = forms(figures), prepare(plan)
    for note in session.notes:
        say(f"misled: {note}")
    for name in session.first:
        say(f"misled: {name}: the first {plan.n:,} that can be used; --n N takes N of them")
    for name, rejects in session.inputs.rejects.items():
        for reject in rejects:
            where = f"line {reject.line}" if reject.line > 0 else f"id {reject.id}"
            say(f"misled: {name}, {where}: {reject.reason}; left out")
    lacking = session.lacking
    if lacking:
        more = f" and {len(lacking) - FEW:,} more" if len(lacking) > FEW else ""
        said = f"answers without the reasoning that a condition needs: {len(lacking):,}"
        say(f"misled: {said} ({', '.join(lacking[:FEW])}{more}); left out there")
    if dry_run:
        from misled.rehearsal import first_prompts

        say("misled: nothing is asked; the chains shown are the planted reasoner's")
        _show_prompts(first_prompts(session), json=json)
        return
    directory = run or default_directory(plan)
    _, failed = carry_out(session, directory, pace, json=json, forms=shapes)
    if session.rejected or lacking or failed:
        raise typer.Exit(1)


def carry_out(
    session: Session,
    directory: Path,
    pace: Pace,
    *,
    json: bool,
    forms: Sequence[str],
) -> tuple[Published, bool]:
    """Ask, publish and print the main table; what was published, and whether requests failed."""
    from misled.directory import execute
    from misled.publishing import publish

    with progress(str(directory), session.plan) as beat:
        done, found = execute(session, directory, pace, beat)
    with busy("writing tables, figures and the report"):
        published = publish(session, directory, found, forms)
    show(published, json=json)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if done.stopped:
        say(f"misled: {done.stopped}: {found.unfinished} of {session.size} are not finished")
    failed = Counter(found.ledger["reason"].filter(found.ledger["outcome"] == "failed"))
    if failed:
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(failed.items()))
        say(f"misled: {failed.total():,} trials failed ({kinds}); to ask again: --retry-failed")
    return published, bool(failed)


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
