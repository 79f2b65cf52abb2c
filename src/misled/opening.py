"""A run directory opened for a comparison: graded again, its items and texts told apart.

    opened(Path("runs/a")) -> Opened(side=Side("runs/a", rows, problems, ...), session=..., ...)

Knows nothing about the other runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from misled.directory import standing
from misled.errors import UserError
from misled.judge_plans import JudgePlan
from misled.plans import Plan
from misled.records import Response
from misled.session import Session, reopen
from misled.sides import Side
from misled.store import Store

__all__ = ["Opened", "opened"]

# Which rows are what was handed on, a chain or an answer, and whose they are.
_ORIGINS = {"cpt": ("source", "target"), "judge": ("generate", "generator")}
_SHORT = 12  # characters of a digest that is shown


class Opened(NamedTuple):
    """A directory's session, what stands in it, and what its store says of itself."""

    side: Side
    session: Session
    unfinished: int
    meta: Mapping[str, str]
    dates: str

    @property
    def facts(self) -> dict[str, Any]:
        """What the run was made with: plan, prompts, versions, problems; when it was answered."""
        session, plan = self.session, self.session.plan
        words = session.inputs.judging if isinstance(plan, JudgePlan) else session.inputs.prompts
        problems = session.inputs.problems
        return {
            **{name: msgspec.to_builtins(getattr(plan, name)) for name in plan.__struct_fields__},
            "prompts' hash": words.hash,
            "prompt": msgspec.to_builtins(words),
            "misled": self.meta.get("misled"),
            "Python": self.meta.get("python"),
            "problems": {name: len(found) for name, found in problems.items()},
            **_hashes(session),
            "answers from": self.dates,
        }


def _hashes(session: Session) -> dict[str, list[str]]:
    """A digest of each problem set and each file of outputs: equal names are no equal texts."""
    sets, logged = session.inputs.problems.values(), session.inputs.logged.values()
    outputs = [[(name, each.reply) for name, each in found.items()] for found in logged]
    return {
        "problems' hash": [
            _digest(*(x for p in found for x in (p.id, p.question, *p.gold)))[:_SHORT]
            for found in sets
        ],
        "outputs' hash": [
            _digest(*(x for name, r in found for x in (name, r.reasoning or "", r.content)))[
                :_SHORT
            ]
            for found in outputs
        ],
    }


def opened(directory: Path) -> Opened:
    """The run in `directory`; UserError where it holds no answer yet."""
    session = reopen(directory)
    found = standing(session, directory)
    rows = found.rows
    if rows.is_empty():
        raise UserError(f"{directory} holds no answer yet: run it first")
    with Store(directory / "misled.db", read_only=True) as store:
        texts = pl.DataFrame(
            list(_texts(session, rows, store)),
            schema=dict.fromkeys(("set", "who", "problem", "text"), pl.String()),
            orient="row",
        ).unique(["set", "who", "problem"], keep="first", maintain_order=True)
        meta, span = store.meta(), store.span()
    side = Side(
        name=str(directory),
        rows=rows,
        problems=_problems(session),
        texts=texts,
        names=_names(session, rows),
        logged=bool(session.inputs.logged),
    )
    dates = " to ".join(end[:16].replace("T", " ") for end in span if end)
    return Opened(side, session, found.unfinished, meta, dates)


def _problems(session: Session) -> pl.DataFrame:
    """Each problem with a digest of its question and golds: equal ids are no equal questions."""
    lines = [
        (problem.set, problem.id, problem.cluster, _digest(problem.question, *problem.gold))
        for problems in session.inputs.problems.values()
        for problem in problems
    ]
    names = ("set", "problem", "cluster", "question")
    return pl.DataFrame(lines, schema=dict.fromkeys(names, pl.String()), orient="row").unique(
        ["set", "problem"], keep="first", maintain_order=True
    )


def _texts(session: Session, rows: pl.DataFrame, store: Store) -> Iterator[tuple[str, ...]]:
    """The digest of each chain or answer that was handed on, by set, model and problem."""
    logged, (arm, who) = session.inputs.logged, _ORIGINS[session.plan.study]
    mine = rows.filter(pl.col("arm") == arm).select("set", who, "problem", "request")
    for line in mine.unique(maintain_order=True).iter_rows():
        problems, model, problem, request = line
        given = logged.get(problems, {}).get(problem)
        reply = given.reply if given else store.reply(request) if request else None
        if isinstance(reply, Response):
            yield problems, model, problem, _digest(reply.reasoning or "", reply.content)


def _digest(*texts: str) -> str:
    return blake2b(msgspec.json.encode(texts), digest_size=16).hexdigest()


def _names(session: Session, rows: pl.DataFrame) -> dict[str, tuple[str, ...]]:
    """The names of each axis that may be called otherwise in another run."""
    plan = session.plan
    sets = tuple(problems[0].set for problems in session.inputs.problems.values())
    asked = rows.filter(pl.col("arm").is_in(["tampered", "judge"]))
    if isinstance(plan, Plan):
        seen = {axis: _seen(asked, axis) for axis in ("attribution", "feed")}
        return {"set": sets, "target": plan.model} | seen
    generators = tuple(dict.fromkeys([*plan.generator, *_seen(rows, "generator")]))
    named = {"set": sets, "generator": generators, "judge": plan.judge}
    return named | {"shown": _seen(asked, "shown")}


def _seen(rows: pl.DataFrame, axis: str) -> tuple[str, ...]:
    return tuple(rows[axis].drop_nulls().unique(maintain_order=True))
