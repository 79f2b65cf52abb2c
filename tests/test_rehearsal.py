"""A run without a model: what it would send, and what that would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from misled.judge_plans import CONDITIONS, JudgePlan
from misled.plans import parse, read, study
from misled.rehearsal import estimate, first_prompts
from misled.session import Session, prepare

PLANS = Path(__file__).parents[1] / "plans"


def session(**changes: Any) -> Session:
    cell = {"problems": ["addition:15+13"], "digits": "1-2"}
    return prepare(parse({"model": ["planted/vigilant"], "n": 3, "cells": [cell]} | changes))


def test_an_estimate_counts_what_a_run_with_every_gate_passed_asks() -> None:
    (bill,) = estimate(session())
    # Of each problem: the gate (its source, too), two tampered chains, one clean, one again.
    assert bill["requests"] == 3 * 5
    assert bill["prompt_tokens"] > bill["requests"] * 20
    assert "money" not in bill


def test_a_set_is_counted_on_its_first_problems_and_carried_over() -> None:
    (bill,) = estimate(session(n=200))
    assert bill["requests"] == 200 * 5


def test_targets_share_the_request_of_their_source() -> None:
    models = ["planted/vigilant", "planted/mixed"]
    bills = estimate(session(model=models, source="planted/mixed"))
    assert {bill["model"]: bill["requests"] for bill in bills} == dict.fromkeys(models, 15)


def test_money_is_said_where_the_plan_has_prices() -> None:
    prices = {"planted/vigilant": {"prices": {"input": 2.0, "output": 8.0}}}
    (bill,) = estimate(session(models=prices), reply_tokens=1000)
    assert bill["completion_tokens"] == 15 * 1000
    money = (2 * bill["prompt_tokens"] + 8 * bill["completion_tokens"]) / 1e6
    assert bill["money"] == pytest.approx(money, abs=1e-4)


def test_longer_replies_make_the_prompts_that_hold_a_chain_longer() -> None:
    (short,), (long,) = estimate(session()), estimate(session(), reply_tokens=3000)
    assert long["prompt_tokens"] > short["prompt_tokens"] + 3 * 3 * 2000


def test_a_problem_that_the_planted_reasoner_cannot_read_is_counted_all_the_same(
    tmp_path: Path,
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"question": "How many legs has a spider?", "gold": "8"}', "utf-8")
    cell = {"problems": [f"file:{path}"]}
    (bill,) = estimate(session(cells=[cell], model=["openai/o3-mini"]))
    assert bill["requests"] == 4


def judges(**changes: Any) -> Session:
    cell = {"problems": ["facts"], "conditions": ["answer", "reasoning"]}
    whole = {"study": "judge", "judge": ["planted/mixed", "openai/gpt-4o"], "n": 3}
    return prepare(study(whole | {"generator": ["planted/vigilant"], "cells": [cell]} | changes))


def test_an_estimate_of_judges_counts_generations_once_and_verdicts_by_judge() -> None:
    bills = {bill["model"]: bill["requests"] for bill in estimate(judges())}
    assert bills == {"planted/vigilant": 3, "planted/mixed": 6, "openai/gpt-4o": 6}


def test_the_first_prompts_of_judges_differ_by_condition() -> None:
    shown = first_prompts(judges())
    cells = [(record["arm"], record.get("judge"), record.get("condition")) for record in shown]
    assert cells == [
        ("generate", None, None),
        ("judge", "planted/mixed", "answer"),
        ("judge", "openai/gpt-4o", "answer"),
        ("judge", "planted/mixed", "reasoning"),
        ("judge", "openai/gpt-4o", "reasoning"),
    ]
    assert all("messages" in record for record in shown)


def test_the_second_papers_plan_asks_for_all_that_it_names() -> None:
    plan = read(str(PLANS / "paper_b.toml"))
    assert isinstance(plan, JudgePlan)
    assert (len(plan.judge), len(plan.generator), plan.n) == (10, 4, 500)
    assert {c for cell in plan.cells for c in cell.conditions} == set(CONDITIONS)


@pytest.mark.parametrize("plan", sorted(PLANS.glob("*_a.toml")), ids=lambda path: path.stem)
def test_the_plans_that_come_with_it_are_valid_and_show_a_prompt_for_each_cell(plan: Path) -> None:
    made = prepare(read(str(plan)))
    shown = first_prompts(made)
    arms = {record["arm"] for record in shown}
    assert {"source", "gate", "tampered", "clean"} <= arms
    tampered = [record for record in shown if record["arm"] == "tampered"]
    asked = [record for record in tampered if "messages" in record]
    reasons = {record["reason"] for record in tampered if "messages" not in record}
    assert len(asked) > len(tampered) / 2
    assert all("prefill" in reason or "structure" in reason for reason in reasons)
