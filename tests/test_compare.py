"""`misled compare` on real run directories: what it prints and writes, and how it ends."""

from __future__ import annotations

import json
import shutil
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
from misled.records import Failure, Request
from misled.session import keep, prepare
from misled.settings import Pace
from misled.store import Store
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


def failed(path: Path, **keys: Any) -> Path:
    """A run in which every request failed."""
    session = prepare(misled.plan(**keys))
    path.mkdir()
    with Store(path / "misled.db") as store:
        keep(store, session)
        steps = [step for unit in session.units()
                 for step in session.experiment.walk(unit, store.get)]  # fmt: skip
        none = Failure(kind="http", message="no", status=400)
        store.commit([(step, none) for step in steps if isinstance(step, Request)])
    return path


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
    assert any("All 24 trials" in note and "the very same replies" in note for note in found.notes)
    assert "No difference that was fixed in advance" in found.notes[-1]


def test_another_seed_asks_other_questions(runs: Path) -> None:
    with pytest.raises(UserError, match=r"another question \d+.*the seeds differ: 0 and 1"):
        compare([runs / "a", runs / "seeded"])


def test_a_run_with_nothing_but_failures_says_so_and_what_to_do(runs: Path, tmp_path: Path) -> None:
    solver = failed(tmp_path / "a", model=["planted/mixed"], cells=[CELL], n=3)
    said = r"a holds no trial of a tampered chain \(source failed 3\): --retry-failed asks"
    for pair in ([runs / "a", solver], [solver, runs / "a"]):
        with pytest.raises(UserError, match=said):
            compare(pair)
    judge = failed(tmp_path / "j", study="judge", judge=["planted/mixed"],
                   generator=["planted/mixed"], cells=[JUDGED], n=2)  # fmt: skip
    with pytest.raises(UserError, match=r"j holds no verdict \(generate failed 2\): --retry"):
        compare([runs / "judge", judge])


def test_equal_ids_with_other_questions_are_a_row_of_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "sums.jsonl"
    lines = [f'{{"id": "{i}", "question": "What is {i} + 12?", "gold": "{i + 12}"}}\n'
             for i in range(30, 33)]  # fmt: skip
    cell = CELL | {"problems": [f"file:{path}"], "digits": "1"}
    for name, last in (("one", lines[2]), ("two", lines[2].replace("What is", "Add"))):
        path.write_text("".join([*lines[:2], last]), "utf-8")
        made(tmp_path / name, model=["planted/mixed"], n=3, cells=[cell])
    found = compare([tmp_path / "one", tmp_path / "two"])
    assert "problems' hash" in dict(found.differing)
    assert change(found, "adopted").left_out["another question"] == 1


def test_of_two_equal_runs_it_is_said_that_nothing_differs(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(runs / "a", tmp_path / "copy")
    code, printed, _ = said(capsys, runs / "a", tmp_path / "copy", "--out", tmp_path / "out",
                            "--figures", "none")  # fmt: skip
    assert code == 0
    assert printed.startswith("What differs: nothing")
    assert "are the very same replies" in " ".join(printed.split())
    for name in ("compare.md", "compare.html"):
        text = (tmp_path / "out" / name).read_text("utf-8")
        assert "Nothing: settings, prompts" in text


def test_a_name_that_means_harm_is_a_line_of_text(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "a\n- b\x1b[31m\u202e<b>"
    shutil.copytree(runs / "a", copy)
    for words in ((), ("--json",)):
        code, printed, told = said(capsys, runs / "a", copy, *words)
        assert code == 0
        text = told or printed
        assert not {"\x1b", "\u202e"} & {*text}
        assert "a - b⟨U+001B⟩[31m⟨U+202E⟩<b>" in " ".join(text.split())


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
        *((("no run", "none", "--out", out), "is no directory") for out in ("", "-", "/dev/null")),
    ):
        code, printed, told = said(capsys, *words)
        assert (code, printed, told.count("\n")) == (2, "", 1)
        assert needle in told
