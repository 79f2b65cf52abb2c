"""What stands in a run directory becomes tables, figures and the report.

    publish(session, Path("runs/first"), standing) -> Published(entries, summary, report)

Each study has its own tables and drawings; all else is shared. Same rows, same
bytes. Knows nothing about how answers were asked.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import polars as pl

from misled import __version__, chains, sheets
from misled.bills import paid, prices
from misled.judge_plans import JudgePlan
from misled.ledger import Ledger, Rows
from misled.pages import Listed
from misled.plans import Plan
from misled.records import Entry, Response, Usage
from misled.reuse import Reuse, reuse
from misled.session import Session
from misled.settings import ModelPlan
from misled.store import Store

__all__ = ["Published", "Standing", "publish", "tables"]

SHORT = 1500  # characters of a text of the example
_Drawn: TypeAlias = tuple[Any, Callable[..., tuple[bytes, ...]]]  # a drawing, what renders it


class Standing(msgspec.Struct, frozen=True):
    """What a directory's answers give: every row, and how many units could ask more."""

    ledger: Ledger
    unfinished: int

    @property
    def rows(self) -> pl.DataFrame:
        """A frame of them, made anew: tables need none."""
        return self.ledger.frame()


class Published(msgspec.Struct, frozen=True):
    """What `publish` wrote and what it has to say."""

    entries: list[Entry]
    summary: str
    report: Path


def tables(session: Session, rows: Rows) -> list[Entry]:
    """Every estimate of the study's tables."""
    from misled import estimates, judgements

    if session.plan.study == "judge":
        return judgements.entries(rows, seed=session.plan.seed)
    return estimates.entries(rows)


def publish(
    session: Session, directory: Path, found: Standing, forms: Sequence[str] = sheets.FORMATS
) -> Published:
    """Write tables, figures in these `forms`, and the report of what stands into `directory`."""
    from misled import estimates, report

    entries = tables(session, found.ledger)
    estimates.write(entries, directory / "tables")
    with Store(directory / "misled.db", read_only=True) as store:
        drawn, more = _drawn(session, entries, found.ledger, store)
        images = _write(drawn, forms, directory / "figures")
        rows = found.rows
        shown = report.ReportInput(
            entries=tuple(entries),
            study=session.plan.study,
            plan_toml=session.plan.toml,
            stopped=f"{found.unfinished} of {session.size} not finished"
            if found.unfinished
            else None,
            notes=(*session.notes, *_thoughts(session.plan, rows)),
            images=images,
            trials=_trials(session, rows, store),
            example=tuple(_example(session, rows, store)),
            **more,
            **_facts(session, store, rows.height),
        )
    return Published(entries, report.summary(entries), report.write(shown, directory))


def _drawn(
    session: Session, entries: list[Entry], rows: Rows, store: Store
) -> tuple[list[_Drawn], dict[str, Any]]:
    """The study's figures, and those of them that the report cannot draw from entries alone."""
    from misled import effort, figures, figures_effort, figures_judge, trials

    found: list[_Drawn] = []
    more: dict[str, Any] = {}
    if session.plan.study == "judge":
        found += [(each, figures_judge.render) for each in figures_judge.drawings(entries)]
    else:
        prepared = trials.prepare(rows)
        panels = tuple(figures_effort.drawings(entries, effort.strips(prepared)))
        exhibits = tuple(_exhibits(effort.typical(prepared), store))
        found += [(each, figures.render) for each in figures.drawings(entries)]
        found += [(each, figures_effort.render) for each in (*panels, *exhibits)]
        more = {"panels": panels, "exhibits": exhibits}
    return found, more


def _write(found: list[_Drawn], forms: Sequence[str], directory: Path) -> dict[str, bytes]:
    """Writes each figure in these `forms`; as SVG by name, for the report."""
    every = tuple(dict.fromkeys(("svg", *forms)))
    images: dict[str, bytes] = {}
    for drawing, render in found:
        painted = dict(zip(every, render(drawing, *every), strict=True))
        images[drawing.name] = painted["svg"]
        for form in forms:
            sheets.publish(directory / f"{drawing.name}.{form}", painted[form])
    return images


def _trials(session: Session, rows: pl.DataFrame, store: Store) -> Listed | None:
    """The trials as a report lists them; None where there are none."""
    from misled import embedding, explorer

    return None if rows.is_empty() else embedding.embedded(explorer.Trials(session, rows), store)


def _example(session: Session, rows: pl.DataFrame, store: Store) -> Iterator[tuple[str, str]]:
    """The first problem with a chain that was handed over or shown: its texts, each with its name.

    Nothing where the chain came from a file, or nothing was probed.
    """
    if rows.is_empty():
        return
    judged = session.plan.study == "judge"
    arm, who, ends = (
        ("generate", "generator", ["read"]) if judged else ("source", "source", ["recovered"])
    )
    probed = rows.filter(pl.col("outcome").is_in(["adopted", "recovered", "read"]))
    probed = probed.filter(pl.col("arm") == ("judge" if judged else "tampered"))
    made = rows.filter((pl.col("arm") == arm) & pl.col("outcome").is_in(ends))
    for row in made.join(probed, on=["set", "problem", who], how="semi").iter_rows(named=True):
        reply = store.reply(row["request"]) if row["request"] else None
        if isinstance(reply, Response):
            every = (p for found in session.inputs.problems.values() for p in found)
            named = (row["set"], row["problem"])
            asked = next((p for p in every if (p.set, p.id) == named), None)
            if asked is not None:
                yield f"problem, of {asked.set}", asked.question
                yield "accepted answers", ", ".join(asked.gold)
            chain = chains.of(reply.content, reply.reasoning)
            yield f"chain of {row[who]}", _short(chain.reasoning or reply.content)
            if chain.reasoning:
                yield "its answer", _short(chain.answer)
            return


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[:SHORT]} [... {len(text) - SHORT:,} characters]"


def _thoughts(plan: Plan | JudgePlan, rows: pl.DataFrame) -> Iterator[str]:
    """Of which judges a report says that they thought, though their thinking was to be off."""
    from misled import cautions_judge

    if isinstance(plan, JudgePlan) and not rows.is_empty():
        own = {name: plan.models.get(name, ModelPlan()).thinking for name in plan.asked}
        silent = [name for name, on in own.items() if not (plan.thinking if on is None else on)]
        yield from cautions_judge.thoughts(rows, silent)


def _exhibits(found: list[Any], store: Store) -> Iterator[Any]:
    """Figure 6: the median trial of each set and target, with the texts of its two replies."""
    from misled import figures_effort

    for trial in found:
        texts = []
        for key, tokens in ((trial.gate_request, trial.gate_tokens), (trial.request, trial.tokens)):
            reply = store.reply(key)
            if isinstance(reply, Response):
                chain = chains.of(reply.content, reply.reasoning)
                # What was not counted as reasoning is shown as it was counted.
                apart = (chain.reasoning, chain.answer) if tokens[0] else ("", reply.content)
                texts.append(apart)
        if len(texts) == 2:
            yield figures_effort.exhibit(trial, *texts)


def _facts(session: Session, store: Store, trials: int) -> dict[str, Any]:
    """What was run and what it cost, as a report shows it."""
    counts, meta = store.counts(), store.meta()
    began, ended = store.span()
    facts = {
        **_models(session),
        "seed": str(session.plan.seed),
        "answers from": f"{began} to {ended}" if began else "none yet",
        "prompts": (
            session.inputs.judging if session.plan.study == "judge" else session.inputs.prompts
        ).hash,
        "plan": session.plan.hash,
        "misled": meta.get("misled", __version__),
        "Python": meta.get("python", platform.python_version()),
    }
    facts |= _cache(reuse(store))
    spent = paid(store, prices(session.plan.models))
    facts |= {f"cost, {model}": f"{money:,.2f}" for model, money in spent.items()}
    failed = sum(counts.failures.values())
    rejected = {"items left out of problem files": session.rejected} if session.rejected else {}
    return {
        "facts": facts,
        "counts": {
            **_sizes(session),
            "requests": counts.responses + failed,
            "answered": counts.responses,
            "failed": failed,
            "trials graded": trials,
        }
        | rejected,
        "failures": counts.failures,
        "usage": Usage(counts.prompt_tokens, counts.cached_tokens, counts.completion_tokens),
    }


def _sizes(session: Session) -> dict[str, int]:
    """How many problems there are, and for how many models each is a task of its own."""
    plan = session.plan
    asked, who = (plan.model, "model") if isinstance(plan, Plan) else (plan.generator, "generator")
    names = len(asked) or 1
    problems = session.size // names
    return {
        f"problem{'s' * (problems != 1)}": problems,
        f"{who}{'s' * (names != 1)}": names,
    }


def _cache(found: Reuse) -> dict[str, str]:
    """What a prefix cache could have given, and what it gave, where that is known."""
    shown = {
        "a prefix cache can give": (found.attainable, "% of the characters of the prompts"),
        "servers' caches gave": (found.given, "% of the prompt tokens that they speak of"),
        "reached of what a cache can give": (found.reached, "%"),
    }
    told = {name: f"{100 * x:.1f} {of}" for name, (x, of) in shown.items() if x is not None}
    if found.reached is not None and found.reached > 1:
        told["reached of what a cache can give"] = (
            "all of it: the servers' share, of tokens, is above this one, of characters"
        )
    return told


def _models(session: Session) -> dict[str, str]:
    """Which models a report says that were asked, and for what."""
    plan = session.plan
    if isinstance(plan, Plan):
        source = plan.source or plan.chains or "each target its own"
        return {"models": ", ".join(plan.model), "source": source}
    given = {
        "judges": ", ".join(plan.judge),
        "generators": ", ".join(plan.generator) or str(plan.answers),
    }
    return given | ({"verifier": plan.verifier} if plan.verifier else {})
