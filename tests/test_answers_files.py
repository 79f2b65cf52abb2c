"""Files of answers as people keep them: what is left out is named, and the rest goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import misled
from misled.cli.carrying import FEW
from misled.errors import UserError
from misled.plans import study
from misled.session import prepare
from test_cli import one_line
from test_judge import made

JUDGE = "judge --judge planted/vigilant --figures none --run r"


def record(name: str, **fields: Any) -> dict[str, Any]:
    known = {"question": f"What is 2 + {len(name)}?", "gold": str(2 + len(name))}
    return {"id": name} | known | fields


def written(folder: Path, *records: object) -> None:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")


def test_answers_without_reasoning_are_named_and_the_others_are_judged(tmp_path: Path) -> None:
    whole = {"reasoning": "I add both.", "answer": "5"}
    bare = [record(f"bare{i}", answer="5") for i in range(FEW + 1)]
    bare.append(record("blank", answer="5", reasoning=" "))
    written(tmp_path, record("whole", **whole), record("raw", raw="<think>I add.</think>5"), *bare,
            record("empty", answer=""), record("nothing", raw="\n"))  # fmt: skip
    done = misled(f"{JUDGE} --answers a.jsonl --conditions answer,reasoning", tmp_path)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    names = ", ".join(each["id"] for each in bare[:FEW])
    assert line == (
        f"misled: answers without the reasoning that a condition needs: 7 ({names} and 2 more); "
        "left out there"
    )
    exported = misled("export r --out -", tmp_path).stdout.splitlines()
    rows = [row for row in map(json.loads, exported) if row["arm"] == "judge"]
    read = [(row["problem"], row["condition"]) for row in rows if row["outcome"] == "read"]
    assert {name for name, condition in read if condition == "reasoning"} <= {"whole", "raw"}
    assert {row["problem"] for row in rows if row["outcome"] == "not_applicable"} == {
        each["id"] for each in bare
    }
    lost = [json.loads(row) for row in exported if '"no_answer"' in row]
    assert [(row["problem"], row["reason"]) for row in lost] == [
        ("empty", "empty"),
        ("nothing", "empty"),
    ]


def test_where_no_condition_needs_reasoning_nothing_is_said_of_it(tmp_path: Path) -> None:
    written(tmp_path, record("bare", answer="5"))
    done = misled(f"{JUDGE} --answers a.jsonl --conditions answer", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_of_more_than_n_says_that_only_the_first_are_used(tmp_path: Path) -> None:
    written(tmp_path, *(record(f"i{k}", answer="5") for k in range(4)))
    done = misled(f"{JUDGE} --answers a.jsonl --conditions answer --n 3", tmp_path)
    assert "the first 3 that can be used; --n N" in done.stderr


def test_every_line_that_is_no_answer_is_named_with_its_reason(tmp_path: Path) -> None:
    odd = {
        "the id 'good' was there before": record("good", answer="6"),
        "'gold' is empty": record("gold", gold="", answer="6"),
        "neither 'raw' nor 'answer' is there": record("none"),
        "'answer' is a list: these are golds of a problem file": record("list", answer=["6"]),
        "'label' is neither true nor false": record("label", answer="6", label="yes"),
        "not an object": "[1, 2]",
        "no JSON": "}{",
    }
    good = record("good", reasoning="I add both.", answer="6")
    written(tmp_path, good, *odd.values(), record("golds", gold=[], answer="6"))
    done = misled(f"{JUDGE} --answers a.jsonl", tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert len(lines) == len(odd) + 1
    for at, (line, reason) in enumerate(zip(lines, [*odd, "'gold' is empty"], strict=True), 2):
        assert line.startswith(f"misled: answers:a.jsonl, line {at}: {reason}")
        assert line.endswith("; left out")
    assert "report: r/report.html" in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no usable record"),
        ("\n\n", "holds no usable record"),
        ('{"question": "q"}', "line 1: 'gold' is missing"),
        ("\x00\x01\x02", "line 1: no JSON"),
    ],
)
def test_a_file_without_an_answer_ends_the_run_in_one_line(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "a.jsonl").write_text(text)
    plan = {"study": "judge", "judge": ["planted/vigilant"], "cells": [{}]}
    with pytest.raises(UserError, match=words) as error:
        prepare(study(plan | {"answers": str(tmp_path / "a.jsonl")}))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_ends_the_run_in_one_line(tmp_path: Path) -> None:
    one_line(misled(f"{JUDGE} --answers none.jsonl", tmp_path), "cannot read none.jsonl")


def test_conditions_that_need_several_generators_say_so(tmp_path: Path) -> None:
    written(tmp_path, record("good", answer="6"))
    with pytest.raises(UserError, match="crossed: needs a generator that is asked"):
        made(answers=str(tmp_path / "a.jsonl"), conditions=["crossed"])
    with pytest.raises(UserError, match="crossed: needs two generators"):
        made(conditions=["crossed"])
