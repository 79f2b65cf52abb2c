"""The trials of a run, each with its id, to be listed and to be read.

    Trials(session, rows).index({"mode": "served"})     what a browser filters
    Trials(session, rows).dossiers(store, range(100))   what it opens

What a dossier needs of other trials (the chain's source, the controls, the other verdicts)
is looked up by key, for a batch of dossiers at once. Knows nothing about pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import polars as pl

from misled import dossier_cpt, dossier_judge, reasons, trial_index
from misled.dossiers import Beside, Dossier, Side
from misled.judged import AGAIN, PAIR, SELF
from misled.plans import CONTRASTS
from misled.recall import Kept, recall
from misled.records import Answer, Response
from misled.row import Judged, Row
from misled.session import Session
from misled.store import Store
from misled.trials import CONTROLS

__all__ = ["Trials"]

_Found: TypeAlias = dict[str, Kept]
_Block: TypeAlias = dict[tuple[object, ...], int]

_CELL = (
    *("mode", "method", "attribution", "channel", "structure", "perturbation", "scope", "place"),
    *("d_t", "sample"),
)
_SPOT = ("variant", "k", "place")
_READ_WITH = (*PAIR, *AGAIN, *SELF[::-1])
_TITLES = {
    "answer": "without the chain",
    "reasoning": "with the chain",
    "again_answer": "without the chain, asked again",
    "again_reasoning": "with the chain, asked again",
    "self": "its own answer, in the conversation",
    "self_hidden": "its own answer, without its chain",
    "source": "the chain's source",
    "gate": "the question alone",
    "again": "the question alone, again",
    "clean": "the chain as it was",
    "tampered": "the tampered chain",
    "no_answer_line": "the tampered chain without its conclusion",
    "bare": "the tampered result alone",
    "other_number": "the chain with another number",
    "foreign": "another problem's chain",
}


class Trials:
    """The graded rows of a run; place i of everything is row i of the frame."""

    def __init__(self, session: Session, rows: pl.DataFrame) -> None:
        self.session, self.rows = session, rows
        self.study = session.plan.study
        self._named = rows.select(trial_index.IDENTITY[self.study])
        self._turned = trial_index.turns(rows) if self.study == "judge" else None
        self._block = lru_cache(maxsize=4)(self._indexed)

    def __len__(self) -> int:
        return self.rows.height

    def index(self, texts: dict[str, Any]) -> dict[str, Any]:
        """All trials as columns; `texts` says where their dossiers stand."""
        of = ("set", "problem")
        asked = {(name, each): unit.problem for (name, each, _), unit in self._units.items()}
        known = [(*key, each.question, " | ".join(each.gold)) for key, each in asked.items()]
        said = pl.DataFrame(known, (*of, "question", "accepted"), orient="row")
        frame = self.rows.join(said, on=of, how="left", maintain_order="left")
        return trial_index.packed(frame, self.study, self.ids, texts)

    @cached_property
    def ids(self) -> list[bytes]:
        """The name of each trial, made when asked for: of too many, none is."""
        return trial_index.identities(self.rows, self.study)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each trial stands, by its id."""
        return {name.hex(): place for place, name in enumerate(self.ids)}

    def dossiers(self, store: Store, places: Sequence[int]) -> list[Dossier]:
        """The dossiers of the trials at these places; their texts are read at once."""
        rows = [self._row(place) for place in places]
        others = [list(self._others(place, row)) for place, row in zip(places, rows, strict=True)]
        wanted = {str(row.request) for row in rows}
        wanted |= {str(other.request) for each in others for _, other in each}
        found = recall(store, wanted)
        make = self._judged if self.study == "judge" else self._solved
        return [make(*each, found) for each in zip(places, rows, others, strict=True)]

    # --- rows ----------------------------------------------------------------------------

    def _row(self, place: int) -> Any:
        plain = self.rows.row(place, named=True)
        kind = self.session.experiment.row
        return kind(**plain | {"flags": tuple(plain["flags"] or ())})

    def _id(self, place: int) -> str:
        return self.ids[place].hex()

    @cached_property
    def _units(self) -> dict[tuple[str, str, str], Any]:
        """The units by problem set, problem, and who answers."""
        who = "generator" if self.study == "judge" else "target"
        return {
            (unit.problem.set, unit.problem.id, getattr(unit, who)): unit
            for unit in self.session.units()
        }

    @cached_property
    def _problems(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """The places of the rows of each problem."""
        numbered = self.rows.lazy().select("set", "problem").with_row_index("place").collect()
        grouped = numbered.group_by("set", "problem").agg("place")
        return {(name, problem): tuple(at) for name, problem, at in grouped.iter_rows()}

    def _indexed(self, name: str, problem: str) -> _Block:
        """The rows of one problem by their coordinates."""
        return {self._named.row(place): place for place in self._problems[name, problem]}

    def _at(self, row: Any, **changes: object) -> int | None:
        """Where the trial stands that differs from `row` in this alone."""
        named = {name: getattr(row, name) for name in self._named.columns} | changes
        return self._block(row.set, row.problem).get(tuple(named.values()))

    def _others(self, place: int, row: Any) -> Iterator[tuple[int, Any]]:
        """The trials that `row` is read with, that which its chain or answer comes from first."""
        found = self._with_verdict(row) if self.study == "judge" else self._with_trial(row)
        for other in dict.fromkeys(found):
            if other is not None and other != place:
                yield other, self._row(other)

    def _with_trial(self, row: Row) -> Iterator[int | None]:
        """The source, the gate, and the arms of the same condition."""
        nothing = dict.fromkeys(_CELL) | {"sample": 0}
        yield self._at(row, **nothing | {"mode": "plain", "arm": "source"})
        if row.arm != "source":
            yield self._at(row, **nothing | {"mode": row.mode, "arm": "gate"})
        if row.method is not None:
            arms = ("tampered", *CONTROLS, *CONTRASTS)
            yield from (self._at(row, arm=arm) for arm in arms)

    def _with_verdict(self, row: Judged) -> Iterator[int | None]:
        """The generation, and the plain verdicts of the same judge on it."""
        nothing = dict.fromkeys(("judge", "condition", "shown", *_SPOT)) | {"sample": 0}
        if row.arm == "judge" and row.condition != "null":
            yield self._at(row, **nothing | {"arm": "generate"})
            spot = dict.fromkeys(_SPOT)
            for name in _READ_WITH:
                sample = 1 if name.startswith("again") else 0
                yield self._at(row, **spot | {"condition": name, "sample": sample})

    # --- dossiers ------------------------------------------------------------------------

    def _solved(
        self, place: int, row: Row, others: list[tuple[int, Row]], found: _Found
    ) -> Dossier:
        unit = self._units[row.set, row.problem, row.target]
        request, reply = found.get(str(row.request), (None, None))
        logged = unit.logged(unit.problem)
        if logged is not None:
            source: Answer | None = logged.reply
            reply = source if row.arm == "source" else reply
        else:
            every = (row, *(other for _, other in others))
            source = next((_reply(found, each) for each in every if each.arm == "source"), None)
        return dossier_cpt.dossier(
            dossier_cpt.Case(
                id=self._id(place),
                row=row,
                unit=unit,
                request=request,
                reply=reply,
                source=source if isinstance(source, Response) else None,
                beside=tuple(
                    Beside(
                        _TITLES.get(other.arm, other.arm),
                        self._id(at),
                        reasons.called(other.arm, other.outcome, other.reason),
                    )
                    for at, other in others
                ),
            )
        )

    def _judged(
        self, place: int, row: Judged, others: list[tuple[int, Judged]], found: _Found
    ) -> Dossier:
        unit = self._units[row.set, row.problem, row.generator]
        request, reply = found.get(str(row.request), (None, None))
        generated = [other for _, other in others if other.arm == "generate"]
        logged = unit.logged(unit.problem)
        generation: Answer | None = logged.reply if logged else None
        if logged is None and generated:
            generation = _reply(found, generated[0])
        if row.arm == "generate" and logged is not None:
            reply = logged.reply
        words = unit.study.prompts.verdicts(unit.study.plan.criterion)
        plain = [(place, row), *others] if row.condition in PAIR else others
        sides = [
            Side(
                title=_TITLES[str(other.condition)],
                id=self._id(at),
                facts=_ruling(other),
                sections=dossier_judge.ruling(_reply(found, other), other, words),
            )
            for name in PAIR
            for at, other in plain
            if other.arm == "judge" and other.condition == name and row.condition != "crossed"
        ]
        return dossier_judge.dossier(
            dossier_judge.Case(
                id=self._id(place),
                row=row,
                unit=unit,
                request=request,
                reply=reply,
                generation=generation if isinstance(generation, Response) else None,
                sides=tuple(sides),
                beside=tuple(
                    Beside(
                        _TITLES.get(str(other.condition), "the answer that is judged"),
                        self._id(at),
                        other.verdict or other.outcome,
                    )
                    for at, other in others
                    if other.condition not in PAIR or row.condition == "crossed"
                ),
                turned=self._turned[place] if self._turned is not None else None,
            )
        )


def _reply(found: _Found, row: Any) -> Answer | None:
    kept = found.get(str(row.request))
    return kept[1] if kept else None


def _ruling(row: Judged) -> list[tuple[str, str]]:
    return [("verdict", row.verdict or f"none: {row.reason or row.outcome}")]
