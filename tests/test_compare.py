"""`misled compare` on real run directories: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import misled
from misled import cli
from misled.comparing import Comparison, compare
from misled.directory import execute
from misled.errors import UserError
from misled.session import prepare
from misled.settings import Pace
from misled.versus_page import markdown

CELL = {"problems": ["addition:6+5"], "digits": "1-2", "methods": ["baseline"]}
JUDGED = {"problems": ["addition:6+5"], "conditions": ["answer", "reasoning"]}


def made(path: Path, pace: Pace | None = None, **keys: Any) -> Path:
    """A run without tables, figures and report."""
    execute(prepare(misled.plan(**keys)), path, pace or Pace(), lambda *_: None)
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of both studies: another model, other problems, a reused store, and one cut short."""
    folder = tmp_path_factory.mktemp("runs")
    cpt: dict[str, Any] = {"model": ["planted/credulous"], "cells": [CELL], "n": 14}
    made(folder / "a", **cpt)
    made(folder / "b", **cpt | {"model": ["planted/vigilant"], "n": 16})
    made(folder / "seeded", **cpt | {"seed": 1, "n": 4})
    made(folder / "again", Pace(reuse=(str(folder / "a"),)), **cpt | {"n": 12})
    made(folder / "short", Pace(max_requests=40, concurrency=1), **cpt | {"temperature": 0.5})
    made(folder / "two", **cpt | {"model": ["planted/credulous", "planted/mixed"], "n": 12,
                                  "source": "planted/credulous"})  # fmt: skip
    judge: dict[str, Any] = {"study": "judge", "generator": ["planted/mixed"], "n": 12,
                             "cells": [JUDGED]}  # fmt: skip
    made(folder / "judge", **judge, judge=["planted/credulous"])
    words = folder / "words.toml"
    words.write_text('[judge]\nask = "Is it right? Say {accept} or {reject}."\n', "utf-8")
    made(folder / "reworded", **judge, judge=["planted/credulous"], prompts=str(words))
    return folder


def change(found: Comparison, metric: str, **keys: str) -> Any:
    (e,) = [e for e in found.entries if e.metric == f"change_{metric}"
            and keys.items() <= e.keys.items()]  # fmt: skip
    return e


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """How the command ended, and what it printed."""
    sys.argv = ["misled", "compare", *map(str, words)]
    with pytest.raises(SystemExit) as end:
        cli.main()
    done = capsys.readouterr()
    return int(end.value.code or 0), done.out, done.err


def test_two_models_are_paired_by_problem(runs: Path) -> None:
    found = compare([runs / "a", runs / "b"])
    e = change(found, "net_adoption", d_t="1-2")
    assert e.value < -0.4
    assert e.keys["target"] == "planted/vigilant against planted/credulous"
    assert e.keys["same_result"] == f"{2 * e.n} of {2 * e.n}"
    assert e.keys["same_chain"].startswith("0 of")
    assert e.n + sum(e.left_out.values()) / 2 == 16
    assert e.left_out["only in other"] == 4
    assert e.p_adjusted == e.p
    named = dict(found.differing)
    assert named["model"] == ("planted/credulous", "planted/vigilant")
    assert named["n"] == ("14", "16")
    assert "seed" not in named


def test_a_run_that_reused_the_other_differs_by_nothing(runs: Path) -> None:
    found = compare([runs / "a", runs / "again"])
    changes = [e for e in found.entries if e.metric.startswith("change_")]
    assert {(e.value, e.low, e.high, e.p) for e in changes} == {(0, None, None, None)}
    assert any("share the very same reply" in note for note in found.notes)
    assert "No difference that was fixed in advance" in found.notes[-1]


def test_another_seed_asks_other_questions(runs: Path) -> None:
    with pytest.raises(UserError, match=r"another question \d+.*the seeds differ: 0 and 1"):
        compare([runs / "a", runs / "seeded"])


def test_an_unfinished_run_is_compared_and_said_to_be_one(runs: Path) -> None:
    found = compare([runs / "a", runs / "short"])
    assert "could ask more" in found.notes[0]
    e = change(found, "adopted", d_t="1-2")
    assert any(why.startswith("unasked in other") for why in e.left_out)
    assert ("temperature", ("-", "0.5")) in found.differing


def test_names_are_told_and_each_run_is_set_against_the_first(runs: Path) -> None:
    found = compare([runs / "two", runs / "a", runs / "b"], ["planted/mixed=planted/vigilant"])
    pairs = {(e.keys["run"], e.keys["target"]) for e in found.entries if "change" in e.metric}
    assert pairs == {
        (str(runs / "a"), "planted/credulous"),
        (str(runs / "b"), "planted/vigilant against planted/mixed"),
    }
    notes = "\n".join(found.notes)
    assert f"Not paired, model: planted/credulous, only in {runs / 'two'}" in notes
    assert "chains of planted/credulous in" in notes
    with pytest.raises(UserError, match="did you mean 'planted/mixed'"):
        compare([runs / "two", runs / "a"], ["planted/mixt=planted/credulous"])


def test_two_prompt_sets_of_one_judge_on_the_same_answers(runs: Path) -> None:
    found = compare([runs / "judge", runs / "reworded"])
    named = dict(found.differing)
    assert {"prompt.ask", "prompts' hash", "prompts"} <= named.keys()
    e = change(found, "pass", condition="answer")
    assert e.keys["same_answer"] == f"{e.n} of {e.n}"
    assert e.keys["same_reply"] == f"0 of {e.n}"


def test_the_command_prints_and_writes(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, printed, told = said(capsys, runs / "a", runs / "b", "--out", out, "--figures", "svg")
    assert code == 0
    assert printed.startswith("What differs")
    assert "net adoption" in printed
    assert "left out: only in other 4" in printed
    assert "compare.html" in told
    names = {path.name for path in out.iterdir()}
    assert names == {"compare.csv", "compare.html", "compare.md", "compare.tex",
                     "compare-addition-6+5.svg"}  # fmt: skip
    kept = {path.name: path.read_bytes() for path in out.iterdir()}
    assert said(capsys, runs / "a", runs / "b", "--out", out, "--figures", "svg")[0] == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == kept
    frame = misled.compare([runs / "a", runs / "b"])
    assert frame.height == pl.read_csv(out / "compare.csv").height
    assert markdown(compare([runs / "a", runs / "b"])) == (out / "compare.md").read_text("utf-8")


def test_json_is_lines_of_estimates_and_notes_go_to_stderr(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed, told = said(capsys, runs / "a", runs / "short", "--json")
    assert code == 0
    lines = [json.loads(line) for line in printed.splitlines()]
    assert {line["table"] for line in lines} == {"compare"}
    assert {line["study"] for line in lines} == {"cpt"}
    assert {line["keys"]["run"] for line in lines if "change" in line["metric"]} == {
        str(runs / "short")
    }
    assert "could ask more" in told


def test_an_error_is_one_line_and_exit_2(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, needle in (
        ((runs / "a",), "two or more run directories"),
        ((runs / "a", runs / "b" / ".." / "a"), "the same directory"),
        ((runs / "a", runs / "judge"), "compare runs of one study"),
        ((runs / "a", tmp_path), "run directory?"),
        ((runs / "a", runs / "b", "--match", "x"), "no pair of names"),
        ((runs / "a", runs / "b", "--figures", "gif"), "unknown figure format"),
    ):
        code, printed, told = said(capsys, *words)
        assert (code, printed, told.count("\n")) == (2, "", 1)
        assert needle in told
