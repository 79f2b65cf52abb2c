"""Structures, channels, contrasts and replays: what is planted is found by a whole run.

`bench/behaviour.py` measures the same over many seeds, with coverage.
"""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import mean

import pytest

from misled import estimates
from misled.directory import execute
from misled.engines import planted_profile
from misled.engines.planted_profile import LACKS, Solver, truth
from misled.plans import parse
from misled.records import Entry
from misled.session import prepare
from misled.settings import Pace

SEEDS = (0, 1)
FAR = 4.0  # standard errors
PROFILE = """
[solver]
error = 0.02
stop = 0.02
rho = 0.2
[solver.adopt]
baseline = [0.9]
uncertainty = [0.9]
contradiction = [0.9]
prefix = [0.9]
[solver.channel]
think = 0.3
[solver.structure]
calculation = 0.8
reflection = 0.4
verification = 0.5
digression = 0.2
conclusion = 0.3
[solver.replay]
chain = 0.9
question = 0.5
text = 0.1
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Solver, list[list[Entry]]]:
    """What is planted, and the tables of a run for each seed."""
    folder = tmp_path_factory.mktemp("behaviour")
    profile = folder / "profile.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    return planted_profile.load(str(profile)), [tables(profile, seed) for seed in SEEDS]


def tables(profile: Path, seed: int) -> list[Entry]:
    cell = {"problems": ["addition:15+13"], "digits": [1], "methods": ["baseline"]}
    edited = cell | {"structures": ["intact", "delete_reflection", "delete_verification", "insert"]}
    made = parse({
        "model": [f"planted/{profile}"], "n": 30, "seed": seed, "replay": True,
        "contrasts": ["bare", "other_number", "no_answer_line"],
        "cells": [edited, cell | {"channels": ["think"]}],
    })  # fmt: skip
    _, standing = execute(prepare(made), profile.parent / f"{seed}", Pace(), lambda *_: None)
    return estimates.entries(standing.rows)


def pick(runs: list[list[Entry]], table: str, metric: str, **keys: str) -> list[Entry]:
    """The one estimate of each run."""
    return [
        next(e for e in run
             if (e.table, e.metric) == (table, metric) and keys.items() <= e.keys.items())
        for run in runs
    ]  # fmt: skip


def off(entries: list[Entry], planted: float) -> float:
    """By how many standard errors the runs together miss a value."""
    errors = [((e.high or 0) - (e.low or 0)) / 2 / 1.96 for e in entries]
    assert all(errors)
    error = sqrt(sum(x * x for x in errors)) / len(errors)
    return abs(mean(e.value or 0 for e in entries) - planted) / error


@pytest.mark.parametrize("structure", ["delete_reflection", "delete_verification", "insert"])
def test_what_a_structure_takes_from_adoption_is_found(
    found: tuple[Solver, list[list[Entry]]], structure: str
) -> None:
    solver, runs = found
    intact = truth(solver, "baseline", 1)
    edited = truth(solver, "baseline", 1, lacks=LACKS[structure])
    for metric in ("net_adoption", "net_recovery", "net_r"):
        keys = {"structure": structure}
        change = edited[metric] - intact[metric]
        assert off(pick(runs, "structures", metric, half="edited", **keys), edited[metric]) < FAR
        lines = pick(runs, "structures", metric, half="change", **keys)
        assert off(lines, change) < FAR < off(lines, 0)
        assert all(e.p is not None and e.p < 0.05 for e in lines)


def test_a_channel_of_its_own_rate_is_found(found: tuple[Solver, list[list[Entry]]]) -> None:
    solver, runs = found
    planted = {name: truth(solver, "baseline", 1, channel=name) for name in ("user", "think")}
    for name, rates in planted.items():
        keys = {"channel": name, "structure": "intact"}
        adopted = pick(runs, "pooled", "adopted", **keys)
        assert off(adopted, rates["adoption"]) < FAR
        nets = pick(runs, "pooled", "net_r", against="clean", **keys)
        assert off(nets, rates["net_r"]) < FAR
    assert off(adopted, planted["user"]["adoption"]) > FAR


@pytest.mark.parametrize("contrast", ["bare", "no_answer_line", "other_number"])
def test_what_a_contrast_leaves_of_adoption_is_found(
    found: tuple[Solver, list[list[Entry]]], contrast: str
) -> None:
    solver, runs = found
    whole = truth(solver, "baseline", 1)["adoption"]
    left = truth(solver, "baseline", 1, lacks=LACKS.get(contrast, ()))["adoption"]
    keys = {"arm": contrast, "channel": "user"}
    assert off(pick(runs, "contrasts", "adopted", **keys), left) < FAR
    minus = pick(runs, "contrasts", "minus_adopted", **keys)
    assert off(minus, whole - left) < FAR
    if contrast in LACKS:
        assert off(minus, 0) > FAR


def test_replays_stop_at_the_planted_shares(found: tuple[Solver, list[list[Entry]]]) -> None:
    solver, runs = found
    arms = {"replay": "chain", "replay_question": "question", "replay_text": "text"}
    for arm, name in arms.items():
        lines = pick(runs, "stops", "stopped", arm=arm)
        assert off(lines, solver.replay[name]) < FAR
        assert off(lines, solver.stop) > FAR or name == "text"
