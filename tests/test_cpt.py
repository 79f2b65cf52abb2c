"""Study A as a walk: what is asked when, and which row each answer becomes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from misled.engines.planted import Planted
from misled.errors import UserError
from misled.experiments import cpt
from misled.plans import parse
from misled.records import Answer, Failure, Request, Response
from misled.row import Row
from misled.session import Session, prepare
from misled.units import Unit


def made(**changes: object) -> Session:
    axes = {"digits", "methods", "scope", "place", "perturbations", "structures", "channels"}
    own = {} if "chains" in changes else {"problems": ["addition:15+13"]}
    cell = own | {k: v for k, v in changes.items() if k in axes}
    rest = {key: value for key, value in changes.items() if key not in axes}
    return prepare(parse({"model": ["planted/vigilant"], "n": 3, "cells": [cell]} | rest))


def steps(unit: Unit, answer: object = None) -> Iterator[tuple[list[Request], list[Row]]]:
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


def rows(unit: Unit, answer: object = None) -> list[Row]:
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


# --- structures, channels, contrasts, replay, logged chains ----------------------------------


def by_arm(found: list[Row]) -> dict[str, list[Row]]:
    arms: dict[str, list[Row]] = {}
    for row in found:
        arms.setdefault(row.arm, []).append(row)
    return arms


def requests(unit: Unit, answer: object = None) -> dict[str, Request]:
    return {request.key: request for part, _ in steps(unit, answer) for request in part}


def test_a_structure_is_applied_to_the_tampered_and_the_clean_chain() -> None:
    unit = next(made(structures=["intact", "delete_verification"]).units())
    found, asked = by_arm(rows(unit)), requests(unit)
    for arm in ("tampered", "clean"):
        whole, cut = found[arm]
        assert (whole.structure, cut.structure) == ("intact", "delete_verification")
        assert whole.length is not None
        assert cut.length is not None
        assert cut.length < whole.length
        text = asked[str(cut.request)].messages[0].content
        assert len(text) == len(asked[str(whole.request)].messages[0].content) - (
            whole.length - cut.length
        )
    assert [row.tampered for row in found["clean"]] == [row.tampered for row in found["tampered"]]
    assert len({row.request for row in found["again"]}) == 1


def test_a_structure_without_its_role_is_not_applicable_and_never_asked_unchanged() -> None:
    unit = next(made(structures=["delete_reflection"]).units())
    gold = unit.problem.gold[0]
    plain = Response(content=f"The answer is {gold}.", reasoning=f"1 + 1 = 2. So it is {gold}.")
    found = by_arm(rows(unit, lambda _: plain))
    assert [row.outcome for row in found["tampered"]] == ["not_applicable"]
    assert found.keys() == {"source", "gate", "tampered"}
    assert str(found["tampered"][0].reason).startswith("structure: ")


@pytest.mark.parametrize("channel", ["assistant", "think", "think_closed"])
def test_a_channel_hands_the_chain_over_as_a_turn_or_as_thinking(channel: str) -> None:
    unit = next(made(channels=[channel]).units())
    found, asked = by_arm(rows(unit)), requests(unit)
    (row,) = found["tampered"]
    assert row.channel == channel
    request = asked[str(row.request)]
    if channel == "assistant":
        assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    else:
        assert request.prefill is not None
        assert request.prefill.field == "thinking"
    assert row.outcome not in {"unsupported", "failed"}


@pytest.mark.parametrize(("prompt", "reason"), [(None, "counts no prompt"), (8, "did not arrive")])
def test_a_chain_that_is_not_shown_to_have_arrived_is_unsupported(
    prompt: int | None, reason: str
) -> None:
    def answer(request: Request) -> Answer:
        reply = Planted().reply(request)
        assert isinstance(reply, Response)
        usage = msgspec.structs.replace(reply.usage, prompt=prompt)
        return msgspec.structs.replace(reply, usage=usage)

    found = by_arm(rows(next(made(channels=["assistant"]).units()), answer))
    for arm in ("tampered", "clean"):
        (row,) = found[arm]
        assert row.outcome == "unsupported"
        assert reason in str(row.reason)
        assert row.value is None


def test_the_thinking_takes_no_filter_so_that_other_methods_are_left_out_of_it() -> None:
    unit = next(made(channels=["user", "think"], methods=["baseline", "uncertainty"]).units())
    ways = [(condition.way.channel, condition.way.method) for condition in unit.conditions]
    assert ways == [("user", "baseline"), ("user", "uncertainty"), ("think", "baseline")]
    with pytest.raises(UserError, match="only takes the method baseline"):
        made(channels=["think"], methods=["uncertainty"])


def test_contrasts_stand_beside_the_trial_and_are_graded_against_its_result() -> None:
    names = ["no_answer_line", "bare", "other_number", "foreign"]
    unit = next(made(contrasts=names, digits="1-2").units())
    found, asked = by_arm(rows(unit)), requests(unit)
    for name in names:
        assert [row.d_t for row in found[name]] == [1, 2]
    first = found["tampered"][0]
    bare = asked[str(found["bare"][0].request)].messages[0].content
    assert bare.endswith(f"The answer is {first.tampered}.")
    assert found["bare"][0].tampered == found["foreign"][0].tampered == first.tampered
    other = found["other_number"]
    assert other[0].tampered == other[1].tampered != first.tampered
    assert len(str(other[0].tampered)) == len(first.gold)
    foreign = asked[str(found["foreign"][0].request)].messages[0].content
    assert first.gold not in foreign.replace(",", "").replace(" ", "")
    assert found["no_answer_line"][0].length is not None
    assert found["no_answer_line"][0].length < (first.length or 0)


def test_a_foreign_chain_waits_for_its_neighbours_and_asks_them_what_they_ask_themselves() -> None:
    first, *others = made(contrasts=["foreign"], n=3).units()
    own = {request.key for unit in others for request in next(steps(unit))[0]}
    assert own <= requests(first).keys()


def test_one_problem_alone_has_no_foreign_chain() -> None:
    found = by_arm(rows(next(made(contrasts=["foreign"], n=1).units())))
    assert [row.outcome for row in found["foreign"]] == ["not_applicable"]


def test_prefix_as_text_is_a_method_of_its_own_in_the_plain_mode() -> None:
    unit = next(made(methods=["prefix"], contrasts=["prefix_as_text"]).units())
    found = by_arm(rows(unit))
    methods = {row.method: row.mode for row in found["tampered"]}
    assert methods == {"prefix": "prefix", "prefix_as_text": "plain"}
    assert [row.mode for row in found["gate"]] == ["prefix", "plain"]


def test_replay_sends_the_targets_own_chain_back_as_it_is() -> None:
    unit = next(made(replay=True).units())
    found, asked = by_arm(rows(unit)), requests(unit)
    gate = Planted().reply(asked[str(found["gate"][0].request)])
    assert isinstance(gate, Response)
    assert asked[str(found["replay"][0].request)].messages[0].content == gate.reasoning
    text = asked[str(found["replay_question"][0].request)].messages[0].content
    assert text == f"{unit.problem.question}\n\n{gate.reasoning}"
    prose = asked[str(found["replay_text"][0].request)].messages[0].content
    assert not any(sign.isdigit() for sign in prose)
    assert len(gate.reasoning or "") <= len(prose) < len(gate.reasoning or "") + 120
    assert {row.attribution for arm in found if "replay" in arm for row in found[arm]} == {"own"}


def test_a_target_that_shows_no_reasoning_is_sent_the_sources_chain_and_it_is_marked() -> None:
    session = made(model=["planted/vigilant"], source="planted/credulous", replay=True)
    unit = next(session.units())

    def answer(request: Request) -> Answer:
        reply = Planted().reply(request)
        assert isinstance(reply, Response)
        hidden = request.model == "vigilant"
        return msgspec.structs.replace(reply, reasoning=None) if hidden else reply

    found = by_arm(rows(unit, answer))
    assert {row.attribution for row in found["replay"]} == {"other"}


def chains_file(path: Path, *records: object) -> str:
    path.write_bytes(b"\n".join(msgspec.json.encode(record) for record in records))
    return str(path)


def test_logged_chains_need_no_source(tmp_path: Path) -> None:
    record = {"question": "What is 17 + 25?", "gold": "42", "model": "lab/r9"}
    chain = "17 + 25 = 42. Wait, let me check: 42 - 25 = 17. So the answer is 42."
    file = chains_file(
        tmp_path / "chains.jsonl",
        record | {"id": "whole", "raw": f"<think>{chain}</think>The answer is 42."},
        record | {"id": "parts", "reasoning": chain, "answer": "It is 42."},
        record | {"id": "alone", "reasoning": chain},
    )
    session = made(chains=file)
    for unit in session.units():
        found, asked = by_arm(rows(unit)), requests(unit)
        assert all(request.messages != () for request in asked.values())
        (source,) = found["source"]
        assert (source.outcome, source.request, source.source) == ("recovered", None, "lab/r9")
        assert source.completion_tokens is None
        assert len(found["tampered"]) == 1
        assert found["tampered"][0].occurrences == 2


@pytest.mark.parametrize(
    ("record", "outcome", "reason"),
    [
        ({"raw": "<think>17 + 25 = 42, hence"}, "truncated", None),
        ({"raw": "<think>I add.</think>42"}, "other", "chain_without_result"),
        ({"raw": "<think>So the answer is 47.</think>42"}, "other", "chain_result"),
        ({"reasoning": "So the answer is 47.", "answer": "It is 47."}, "other", "own"),
        ({"reasoning": "So the answer is 42.", "answer": ""}, "unreadable", "none"),
    ],
)
def test_a_logged_chain_that_cannot_be_used_is_counted_with_its_reason(
    tmp_path: Path, record: dict[str, str], outcome: str, reason: str | None
) -> None:
    file = chains_file(tmp_path / "c.jsonl", {"question": "17 + 25?", "gold": "42"} | record)
    (row,) = rows(next(made(chains=file).units()))
    assert (row.arm, row.outcome, row.reason) == ("source", outcome, reason)


def test_records_of_a_chains_file_that_are_none_are_rejected_with_their_line(
    tmp_path: Path,
) -> None:
    good = {"question": "17 + 25?", "gold": "42", "reasoning": "So the answer is 42."}
    file = chains_file(
        tmp_path / "c.jsonl",
        {"gold": "42", "reasoning": "x"},
        {"question": "q", "reasoning": "x"},
        {"question": "q", "gold": "42"},
        good | {"answer": ["42", "forty-two"]},
        good | {"label": "yes"},
        7,
        good,
    )
    session = made(chains=file)
    (rejects,) = session.inputs.rejects.values()
    assert [reject.line for reject in rejects] == [1, 2, 3, 4, 5, 6]
    assert "--problems file:" in rejects[3].reason
    assert session.size == 1


def test_a_plan_takes_chains_from_a_file_or_from_a_model() -> None:
    with pytest.raises(UserError, match="not both"):
        made(chains="c.jsonl", source="planted/vigilant")
    with pytest.raises(UserError, match="brings its own"):
        parse({"model": ["planted/mixed"], "chains": "c", "cells": [{"problems": ["small"]}]})
