"""Study A as a walk: what is asked when, and which row each answer becomes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest

from misled.engines.planted import Planted
from misled.experiments import cpt
from misled.plans import parse
from misled.records import Answer, Failure, Request, Response
from misled.rows import Row
from misled.session import Session, prepare


def made(**changes: object) -> Session:
    axes = {"digits", "methods", "scope", "place", "perturbations"}
    cell = {"problems": ["addition:15+13"]} | {k: v for k, v in changes.items() if k in axes}
    rest = {key: value for key, value in changes.items() if key not in axes}
    return prepare(parse({"model": ["planted/vigilant"], "n": 3, "cells": [cell]} | rest))


def steps(unit: cpt.Unit, answer: object = None) -> Iterator[tuple[list[Request], list[Row]]]:
    """Walk a unit again and again, answering what it asks."""
    planted, known = Planted(), dict[str, Answer]()
    while True:
        found = list(cpt.walk(unit, lambda request: known.get(request.key)))
        asked = [item for item in found if isinstance(item, Request)]
        yield asked, [item for item in found if isinstance(item, Row)]
        if not asked:
            return
        for request in asked:
            replied = answer(request) if callable(answer) else None
            known[request.key] = replied or planted.reply(request)


def rows(unit: cpt.Unit, answer: object = None) -> list[Row]:
    return list(steps(unit, answer))[-1][1]


def test_a_unit_asks_its_source_and_each_mode_goes_on_when_its_own_gate_is_passed() -> None:
    unit = next(made(digits="1-3", methods=["baseline", "prefix"]).units())
    asked = [{request.key: request for request in part} for part, _ in steps(unit)]
    assert [len(part) for part in asked] == [1, 1 + 3 + 1 + 1, 3 + 1 + 1, 0]
    (source,), (gate, *_) = asked[0].values(), asked[1].values()
    assert source.prefill is None
    assert gate.prefill is not None
    assert gate.messages == source.messages


def test_source_and_plain_gate_share_a_request_where_source_is_target() -> None:
    unit = next(made().units())
    found = rows(unit)
    assert found[0].arm == "source"
    assert found[1].arm == "gate"
    assert found[0].request == found[1].request


def test_again_is_the_next_sample_of_the_gates_question() -> None:
    unit = next(made().units())
    everything = {r.key: r for part, _ in steps(unit) for r in part}
    again = next(row for row in rows(unit) if row.arm == "again")
    gate = next(row for row in rows(unit) if row.arm == "gate")
    first, second = everything[str(gate.request)], everything[str(again.request)]
    assert (first.sample, second.sample) == (0, 1)
    assert msgspec.structs.replace(second, sample=0).key == first.key


def test_a_control_is_graded_against_the_result_of_the_trial_that_it_is_paired_with() -> None:
    unit = next(made(digits="1-6").units())
    found = rows(unit)
    for arm in ("clean", "again"):
        control = [row for row in found if row.arm == arm]
        assert [row.d_t for row in control] == [1, 2, 3, 4, 5, 6]
        assert len({row.request for row in control}) == 1
        assert [r.tampered for r in control] == [r.tampered for r in found if r.arm == "tampered"]


def test_degrees_of_a_problem_nest_and_methods_share_their_tampering() -> None:
    unit = next(made(digits="1-6", methods=["baseline", "contradiction"]).units())
    tampered = [row for row in rows(unit) if row.arm == "tampered"]
    first, second = tampered[:6], tampered[6:]
    assert [row.tampered for row in first] == [row.tampered for row in second]
    places = [
        {i for i, (a, b) in enumerate(zip(row.gold, str(row.tampered), strict=True)) if a != b}
        for row in first
    ]
    assert [len(p) for p in places] == [1, 2, 3, 4, 5, 6]
    assert all(a < b for a, b in pairwise(places))


def test_adding_a_problem_changes_no_request_of_another() -> None:
    few = [request.key for unit in made(n=2).units() for part, _ in steps(unit) for request in part]
    more = [
        request.key for unit in made(n=3).units() for part, _ in steps(unit) for request in part
    ]
    assert more[: len(few)] == few


def test_a_wrong_source_is_counted_and_nothing_more_is_asked() -> None:
    unit = next(made().units())
    (row,) = rows(unit, lambda _: Response(content="I think it is 12.", reasoning="1 + 1 = 12"))
    assert (row.arm, row.outcome) == ("source", "confused")


def test_a_source_whose_chain_ends_on_another_value_than_its_answer_is_not_used() -> None:
    unit = next(made().units())
    gold = unit.problem.gold[0]
    reply = Response(
        content=f"The answer is {gold}.", reasoning="I add them: 52 + 25 = 77. So the answer is 77."
    )
    (row,) = rows(unit, lambda _: reply)
    assert (row.outcome, row.reason) == ("other", "chain_result")


def test_an_output_without_a_reasoning_field_is_fed_whole_and_says_so() -> None:
    unit = next(made().units())
    gold = unit.problem.gold[0]
    reply = Response(content=f"I add them up. The sum is {gold}. So the answer is {gold}.")
    found = rows(unit, lambda _: reply)
    assert {row.feed for row in found} == {"output"}
    asked = [request for part, _ in steps(unit, lambda _: reply) for request in part]
    assert any(reply.content in request.messages[0].content for request in asked)


def test_a_failed_gate_leaves_its_mode_out_and_the_other_goes_on() -> None:
    def answer(request: Request) -> Answer | None:
        return Response(content="It is 5.") if request.prefill else None

    unit = next(made(methods=["baseline", "prefix"]).units())
    found = rows(unit, answer)
    gates = {row.mode: row.outcome for row in found if row.arm == "gate"}
    assert gates == {"plain": "recovered", "prefix": "confused"}
    assert {row.method for row in found if row.arm == "tampered"} == {"baseline"}


def test_a_method_that_the_provider_cannot_do_is_unsupported_and_never_asked() -> None:
    session = made(
        model=["openai/o3-mini"], source="planted/vigilant", methods=["baseline", "prefix"]
    )
    unit = next(session.units())
    planted = Planted()

    def answer(request: Request) -> Answer:
        assert request.prefill is None
        return planted.reply(msgspec.structs.replace(request, provider="planted", model="vigilant"))

    found = rows(unit, answer)
    (row,) = [row for row in found if row.method == "prefix"]
    assert (row.outcome, row.arm) == ("unsupported", "tampered")
    assert row.reason is not None
    assert row.r_cpt is None


def test_more_digits_than_a_result_has_is_not_applicable_with_its_reason() -> None:
    session = made(digits="1-3", n=1)
    problem = msgspec.structs.replace(session.inputs.problems["addition:15+13"][0])
    small = msgspec.structs.replace(problem, question="What is 40 + 2?", gold=("42",))
    unit = msgspec.structs.replace(next(session.units()), problem=small)
    found = [row for row in rows(unit) if row.arm == "tampered"]
    assert [row.outcome for row in found if row.d_t == 3] == ["not_applicable"]
    assert all(row.outcome != "not_applicable" for row in found if row.d_t != 3)


def test_a_failure_is_a_row_with_its_kind_and_no_value() -> None:
    def answer(request: Request) -> Answer | None:
        probe = len(request.messages[0].content) > 200
        return Failure(kind="server", message="boom", status=500, attempts=6) if probe else None

    found = [row for row in rows(next(made().units()), answer) if row.arm == "tampered"]
    assert [(row.outcome, row.reason, row.attempts) for row in found] == [("failed", "server", 6)]
    assert found[0].value is None
    assert found[0].r_cpt is None


def test_a_row_carries_what_a_reply_cost_and_how_large_the_tampering_was() -> None:
    unit = next(made(place="high").units())
    row = next(row for row in rows(unit) if row.arm == "tampered")
    assert row.relative_error is not None
    assert 0.05 < row.relative_error < 10
    assert row.congruent_mod_9 is False
    assert row.occurrences is not None
    assert row.occurrences >= 1
    assert row.prompt_tokens
    assert row.completion_tokens


@pytest.mark.parametrize("perturbation", ["insert_digit", "delete_digit"])
def test_a_changed_length_gives_outcomes_and_no_r(perturbation: str) -> None:
    found = rows(next(made(perturbations=[perturbation]).units()))
    tampered = [row for row in found if row.arm == "tampered"]
    assert len(tampered) == 1
    assert tampered[0].d_t is None
    assert {row.r_cpt for row in found} == {None}
    assert len(str(tampered[0].tampered)) != len(tampered[0].gold)


def test_a_set_spelled_twice_is_one_set() -> None:
    cell = {"problems": ["addition:15+13", "addition"]}
    session = prepare(parse({"model": ["planted/vigilant"], "n": 3, "cells": [cell]}))
    assert len(list(session.units())) == session.size == 3
