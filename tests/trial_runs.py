"""Small planted runs of both studies in which every arm and condition occurs, for tests of trials.

run = carried("judge", tmp_path) -> its session, rows and store
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from misled.directory import execute
from misled.dossiers import Dossier, Section
from misled.explorer import Trials
from misled.plans import study
from misled.session import Session, prepare
from misled.settings import Pace
from misled.store import Store

__all__ = ["CPT", "JUDGE", "Run", "carried", "said", "texts"]

CPT: dict[str, Any] = {
    "study": "cpt",
    "model": ["planted/mixed", "planted/credulous"],
    "source": "planted/mixed",
    "models": {"planted/credulous": {"capabilities": {"prefill": "none"}}},
    "n": 2,
    "replay": True,
    "contrasts": ["no_answer_line", "bare", "other_number", "foreign", "prefix_as_text"],
    "cells": [
        {
            "problems": ["addition:15+13"],
            "digits": [1, 3],
            "methods": ["baseline", "prefix"],
            "scope": "all",
        },
        {
            "problems": ["multiplication:8x7"],
            "digits": [2],
            "methods": ["baseline"],
            "structures": ["delete_reflection", "insert", "delete_random"],
        },
        {
            "problems": ["multiplication:8x7"],
            "digits": [2],
            "methods": ["baseline"],
            "perturbations": ["digits", "insert_digit", "delete_digit"],
            "channels": ["user", "assistant", "think"],
        },
    ],
}
JUDGE: dict[str, Any] = {
    "study": "judge",
    "seed": 7,
    "judge": ["planted/vigilant", "planted/mixed"],
    "generator": ["planted/mixed", "planted/credulous"],
    "verifier": "planted/mixed",
    "n": 3,
    "cells": [
        {
            "problems": ["facts", "addition:4+3"],
            "conditions": [
                *("answer", "reasoning", "again_answer", "again_reasoning", "self", "self_hidden"),
                *("controlled", "closed_book", "crossed", "null"),
            ],
            "variants": ["statements", "filler", "true_edit", "placebo", "chain_cut"],
            "counterfactual": [0, 2],
            "places": ["begin", "end"],
            "shown": ["content", "value"],
        }
    ],
}


class Run(NamedTuple):
    """A run that is done."""

    session: Session
    rows: pl.DataFrame
    directory: Path

    @property
    def trials(self) -> Trials:
        return Trials(self.session, self.rows)

    @contextmanager
    def store(self) -> Iterator[Store]:
        with Store(self.directory / "misled.db", read_only=True) as store:
            yield store

    def dossiers(self) -> list[Dossier]:
        trials = self.trials
        with self.store() as store:
            return trials.dossiers(store, range(len(trials)))


def carried(plan: dict[str, Any], directory: Path) -> Run:
    """The run of a plan, whole."""
    session = prepare(study(dict(plan)))
    _, found = execute(session, directory, Pace(), lambda *_: None)
    return Run(session, found.rows, directory)


def said(section: Any) -> str:
    """The text of a section or a message, its pieces joined."""
    return "".join(piece[0] for piece in section.pieces)


def texts(dossier: Dossier) -> dict[str, Section]:
    """The sections by their titles."""
    return {section.title: section for section in dossier.sections}
