"""The algebra system as an engine: its word is kept like any answer, and labels follow it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from misled.deciding import compared, pair
from misled.directory import execute, rows
from misled.engines.algebra import Algebra
from misled.experiments import judge
from misled.mathchild import Checker
from misled.records import Answer, Failure, Request, Response
from misled.rehearsal import estimate
from misled.session import Session
from misled.settings import Pace
from servers import ask_all
from test_judge import made

GOLDS = {r"\frac{\sqrt{3}}{3}": r"\frac{1}{\sqrt{3}}", r"x^2+2x+1": r"(x+1)^2", r"3\pi": r"\pi"}


def session(folder: Path) -> Session:
    """Three logged answers of which only algebra can say that two are right and one is wrong."""
    lines = [
        {"question": f"What is {gold}?", "gold": gold, "raw": rf"\boxed{{{said}}}"}
        for gold, said in GOLDS.items()
    ]
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return made(answers=str(path), conditions=["answer"])


def test_a_pair_on_which_it_dies_is_a_failure_that_can_be_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Checker, "__call__", lambda *_: "crash")
    (answer,) = asyncio.run(ask_all(Algebra(), [pair("x", "y")])).values()
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.fatal, compared(answer)) == ("crash", False, "crash")


def only(request: Request, reply: Answer) -> Callable[[Request], Answer | None]:
    """What a store gives that holds this answer alone."""
    return lambda asked: reply if asked.key == request.key else None


def labels(directory: Path) -> list[bool | None]:
    return rows(directory).filter(arm="generate")["label"].to_list()


def run(folder: Path, name: str = "run", pace: Pace | None = None) -> tuple[int, Path]:
    done, _ = execute(session(folder), folder / name, pace or Pace(), lambda *_: None)
    return done.asked, folder / name


def test_a_pair_is_answered_with_a_word_and_the_versions_that_said_it() -> None:
    asked = [pair("1/2", r"\frac{2}{4}"), pair("x", "y"), pair("((", "1")]
    found = asyncio.run(ask_all(Algebra(), asked))
    assert [compared(found[request]) for request in asked] == ["equal", "different", "unparsed"]
    first = found[asked[0]]
    assert isinstance(first, Response)
    assert set(json.loads(first.raw)) == {"math-verify", "sympy"}


def test_the_walk_waits_for_the_algebra_system_and_takes_its_word(tmp_path: Path) -> None:
    unit = next(session(tmp_path).units())
    (request,) = judge.walk(unit, lambda _: None)
    assert isinstance(request, Request)
    assert (request.provider, request.stage) == ("algebra", "compare")
    cases: list[tuple[Answer, bool | None, str | None]] = [
        (Response("equal"), True, None),
        (Response("different"), False, None),
        (Response("timeout"), None, "timeout"),
        (Response("a word of another version"), None, "crash"),
        (Failure("crash", "it died"), None, "crash"),
    ]
    for reply, label, reason in cases:
        row = next(judge.walk(unit, only(request, reply)))
        assert not isinstance(row, Request)
        assert (row.label, row.reason) == (label, reason)


def test_labels_come_from_the_store_and_not_from_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, directory = run(tmp_path)
    assert labels(directory) == [True, True, False]

    def dead(_checker: Checker, _one: str, _other: str) -> str:
        raise AssertionError

    monkeypatch.setattr(Checker, "__call__", dead)
    assert labels(directory) == [True, True, False]
    assert run(tmp_path)[0] == 0
    _, again = run(tmp_path, "again", Pace(reuse=(str(directory),)))
    assert labels(again) == [True, True, False]


def test_what_compares_formulas_is_no_model_of_an_estimate(tmp_path: Path) -> None:
    assert [bill["model"] for bill in estimate(session(tmp_path))] == ["planted/vigilant"]
