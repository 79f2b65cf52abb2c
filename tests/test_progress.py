"""What a person sees of a run while it goes on, and what decides no number of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import fresh, misled
from misled.bills import paid, prices
from misled.cli.output import standing
from misled.errors import StoreError, UserError
from misled.ledger import Ledger
from misled.plans import Plan, parse
from misled.progress import Progress, Spent, Stage
from misled.publishing import Standing, publish
from misled.records import Failure, Request, Response, Usage
from misled.session import keep, prepare, reopen
from misled.store import Store

PRICED = {"openai/a": {"prices": {"input": 2.0, "output": 8.0, "cached": 0.5}, "rpm": 60.0}}


def plan(**changes: Any) -> Plan:
    raw = {"model": ["openai/a"], "cells": [{"problems": ["addition:3+3"]}], "n": 2}
    return parse(raw | changes)


def request(stage: str, model: str = "a") -> Request:
    return Request("openai", model, messages=(), stage=stage)


def test_answers_are_counted_by_stage_and_tokens_by_model() -> None:
    now = Progress()
    for stage in ("solve", "probe", "probe"):
        now.want(request(stage))
    now.count(request("solve"), Response("4", usage=Usage(10, 4, 3)))
    now.count(request("probe", "b"), Response("4", usage=Usage(5, None, 2)))
    now.count(request("probe"), Failure("timeout", "late"))
    assert now.stages == {"solve": Stage(1, 1), "probe": Stage(2, 2)}
    assert now.spent == {"openai/a": Spent(10, 4, 3), "openai/b": Spent(5, 0, 2)}
    assert (now.answered, now.failed, now.failures, now.tokens) == (3, 1, {"timeout": 1}, 20)


def test_a_run_in_words_has_rate_tokens_cost_stages_and_failures() -> None:
    now = Progress(answered=1200, failed=2, failures={"timeout": 2}, stages={"solve": Stage(9, 8)})
    now.spent["openai/a"] = Spent(2_000_000, 1_000_000, 500_000)
    assert standing(now, 60.0, plan(models=PRICED)) == [
        "1,200 answers, 20.0 a second, 2,500,000 tokens, cost 6.50",
        "so far due: solve 8 of 9",
        "failed: timeout 2",
    ]


def test_a_cost_of_some_models_says_that_it_is_not_of_all() -> None:
    both = plan(model=["openai/a", "openai/b"], models=PRICED)
    assert standing(Progress(), 0.0, both) == [
        "0 answers, 0 tokens, cost 0.00 for the models that have prices"
    ]


def test_prices_and_rates_are_no_part_of_what_names_a_run() -> None:
    assert plan(models=PRICED).hash == plan().hash
    assert plan(models={"openai/a": {"effort": "high"}}).hash != plan().hash


def test_a_run_goes_on_under_other_prices_and_rates(tmp_path: Path) -> None:
    with Store(tmp_path / "misled.db") as store:
        keep(store, prepare(plan()))
        store.commit([(request("solve"), Response("4"))])
        keep(store, prepare(plan(models=PRICED)))
        assert '"rpm":60' in store.meta()["plan"]


@pytest.mark.parametrize("rate", [0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_is_no_rate_is_refused(rate: float) -> None:
    with pytest.raises(UserError, match="rpm"):
        plan(models={"openai/a": {"rpm": rate}})


def test_on_a_terminal_a_run_shows_its_stages_and_elsewhere_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "misled", "cpt", "--model", "planted/mixed", "--n", "40"]
    command += ["--problems", "addition:8+8", "--digits", "1-2", "--figures", "none"]
    ours, theirs = pty.openpty()
    environ = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    watched = [*command, "--run", str(tmp_path / "a")]
    process = subprocess.Popen(watched, stdout=subprocess.PIPE, stderr=theirs, env=environ)
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    out, _ = process.communicate()
    assert process.returncode == 0
    assert b"so far due: solve" in seen
    assert b"tokens" in seen
    assert b"so far due" not in out
    silent = misled([*command[3:], "--run", tmp_path / "b"], tmp_path)
    assert (silent.returncode, silent.stderr) == (0, "")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


def test_a_run_with_failed_requests_says_so_and_how_to_ask_again(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "Who wrote it?", "gold": "12"}\n')
    command = f"cpt --model planted/mixed --figures none --problems file:{path} --run run"
    done = misled(command, tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line == "misled: 1 trials failed (unclassified 1); to ask again: --retry-failed"


def test_a_run_that_was_stopped_before_its_first_answer_has_a_report(tmp_path: Path) -> None:
    with Store(tmp_path / "misled.db") as store:
        keep(store, prepare(plan()))
    session = reopen(tmp_path)
    publish(session, tmp_path, Standing(Ledger(session.experiment.row), 2), ())
    assert (tmp_path / "report.html").is_file()


def test_an_export_into_a_closed_pipe_ends_without_a_word(tmp_path: Path) -> None:
    asked = "cpt --model planted/mixed --figures none --problems addition:8+8 --digits 1-2 --n 40"
    assert misled(f"{asked} --run run", tmp_path).returncode == 0
    run = tmp_path / "run"
    export = [sys.executable, "-m", "misled", "export", str(run), "--to", "jsonl", "--out", "-"]
    process = subprocess.Popen(export, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate()
    assert (process.returncode, said) == (1, b"")


def test_money_is_counted_by_the_prices_of_the_models_that_have_any(tmp_path: Path) -> None:
    batch = [
        (Request("openai", "a", messages=(), sample=n), Response("4", usage=Usage(1_000_000, 0, 0)))
        for n in range(2)
    ]
    batch.append((Request("openai", "b", messages=()), Response("4", usage=Usage(9, None, 9))))
    with Store(tmp_path / "misled.db") as store:
        store.commit(batch)
        assert paid(store, prices(plan(models=PRICED).models)) == {"openai/a": 4.0}
        assert paid(store, {}) == {}


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_price_that_is_no_price_is_refused(price: float) -> None:
    with pytest.raises(UserError, match="output"):
        plan(models={"openai/a": {"prices": {"input": 1.0, "output": price}}})


def test_a_price_of_no_known_kind_is_told_the_nearest() -> None:
    with pytest.raises(UserError, match=r"'ouput'; did you mean 'output'\?"):
        plan(models={"openai/a": {"prices": {"input": 1.0, "ouput": 2.0}}})


def test_another_plan_is_told_by_the_keys_that_differ(tmp_path: Path) -> None:
    with Store(tmp_path / "misled.db") as store:
        keep(store, prepare(plan()))
        store.commit([(request("solve"), Response("4"))])
        with pytest.raises(StoreError, match=r"models\.openai/a\.effort differ"):
            keep(store, prepare(plan(models={"openai/a": {"effort": "high"}})))


def test_an_output_that_is_not_utf_8_shows_what_it_can(tmp_path: Path) -> None:
    environ = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = "cpt --model planted/mixed --figures none --problems addition:8+8 --n 3 --run run"
    done = fresh(command, tmp_path, env=environ)
    assert done.returncode == 0
    assert "\\u2500" in done.stdout
