"""Study B as a walk: what is asked when, and which row each answer becomes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misled import judge_prompts
from misled.engines.planted import Planted
from misled.errors import UserError
from misled.experiments import judge
from misled.interventions import pairs
from misled.judge_units import JudgeUnit
from misled.plans import study
from misled.records import Answer, Failure, Message, Request, Response, Usage
from misled.row import Judged
from misled.session import Session, prepare

WORDS = judge_prompts.load(None)
PLANTED = Planted()
FALSE = [pair.false for pair in pairs()]
AXES = {"conditions", "shown", "variants", "counterfactual", "places", "problems"}
BOTH = ["answer", "reasoning"]

Reply = Callable[[Request], Answer | None]


def made(**changes: Any) -> Session:
    own = {} if "answers" in changes else {"problems": ["facts"]}
    cell = own | {key: value for key, value in changes.items() if key in AXES}
    rest = {key: value for key, value in changes.items() if key not in AXES}
    rest = {"judge": ["planted/vigilant"], "n": 3, "cells": [cell]} | rest
    if "answers" not in rest:
        rest = {"generator": ["planted/mixed"]} | rest
    return prepare(study({"study": "judge"} | rest))


def steps(
    unit: JudgeUnit, answer: Reply | None = None
) -> Iterator[tuple[list[Request], list[Judged]]]:
    """Walk a unit again and again, answering what it asks."""
    known = dict[str, Answer]()
    while True:
        found = list(judge.walk(unit, lambda request: known.get(request.key)))
        asked = [item for item in found if isinstance(item, Request)]
        yield asked, [item for item in found if isinstance(item, Judged)]
        if not asked:
            return
        for request in asked:
            replied = answer(request) if answer else None
            known[request.key] = replied or PLANTED.reply(request)


def rows(unit: JudgeUnit, answer: Reply | None = None) -> list[Judged]:
    return list(steps(unit, answer))[-1][1]


def requests(unit: JudgeUnit, answer: Reply | None = None) -> dict[str, Request]:
    return {request.key: request for asked, _ in steps(unit, answer) for request in asked}


def verdicts(found: list[Judged]) -> list[Judged]:
    return [row for row in found if row.arm == "judge"]


def seen(request: Request) -> judge_prompts.Shown:
    asked = judge_prompts.read(WORDS, request.messages)
    assert asked is not None
    return asked.shown


def is_generation(request: Request) -> bool:
    return judge_prompts.asked(WORDS, request.messages) is not None


def saying(text: str, **fields: Any) -> Reply:
    """Every judge says `text`; generations are the planted ones."""
    return lambda request: None if is_generation(request) else Response(text, **fields)


def generating(reply: Answer) -> Reply:
    return lambda request: reply if is_generation(request) else None


# --- what is asked ---------------------------------------------------------------------------


def test_a_unit_generates_first_and_then_asks_every_judge_in_every_condition() -> None:
    session = made(judge=["planted/vigilant", "planted/credulous"], conditions=BOTH)
    asked = [part for part, _ in steps(next(session.units()))]
    assert [len(part) for part in asked] == [1, 4, 0]
    assert [request.model for request in asked[1]] == ["vigilant", "credulous"] * 2
    shown = [seen(request) for request in asked[1]]
    assert [each.reasoning is None for each in shown] == [True, True, False, False]


def test_with_and_without_the_chain_prompts_differ_in_the_chains_block_alone() -> None:
    unit = next(made(conditions=BOTH).units())
    _, without, with_it = requests(unit).values()
    chain = seen(with_it).reasoning
    whole = with_it.messages[0].content
    start = whole.index("Reasoning that led to the answer:")
    end = whole.index("Answer:\n", start + whole[start:].index(str(chain)) + len(str(chain)))
    assert whole[:start] + whole[end:] == without.messages[0].content


def test_again_is_the_next_sample_of_the_same_question() -> None:
    unit = next(made(conditions=[*BOTH, "again_answer", "again_reasoning"]).units())
    known = requests(unit)
    by = {row.condition: known[str(row.request)] for row in verdicts(rows(unit))}
    for name in BOTH:
        first, second = by[name], by[f"again_{name}"]
        assert (first.sample, second.sample) == (0, 1)
        assert msgspec.structs.replace(second, sample=0).key == first.key


def test_self_is_the_generators_own_conversation_with_its_chain_and_self_hidden_without() -> None:
    session = made(judge=["planted/vigilant", "planted/mixed"], conditions=["self", "self_hidden"])
    unit = next(session.units())
    generation, own, hidden = requests(unit).values()
    reply = PLANTED.reply(generation)
    assert isinstance(reply, Response)
    assert {own.model, hidden.model} == {"mixed"}
    for request, said in ((own, f"{reply.reasoning}\n\n{reply.content}"), (hidden, reply.content)):
        assert [message.role for message in request.messages] == ["user", "assistant", "user"]
        assert request.messages[0] == generation.messages[0]
        assert request.messages[1] == Message("assistant", said)
    assert [row.judge for row in verdicts(rows(unit))] == ["planted/mixed"] * 2


def test_the_value_is_shown_alone_where_that_is_asked_for() -> None:
    session = made(shown=["content", "value"], problems=["addition:4+3"], conditions=BOTH)
    unit = next(session.units())
    (generated, *judged), known = rows(unit), requests(unit)
    for row in judged:
        shown = seen(known[str(row.request)])
        assert (shown.answer == generated.value) is (row.shown == "value")
        assert "Answer" in shown.answer or row.shown == "value"


def test_an_answer_without_a_value_is_not_shown_as_one() -> None:
    unit = next(made(shown=["value"], conditions=["answer"]).units())
    reply = Response("I cannot make up my mind.\nIt is a river.\nIt may be a lake.", "I weigh it.")
    (row,) = verdicts(rows(unit, generating(reply)))
    assert (row.outcome, row.reason) == ("not_applicable", "value: the answer states none")


def test_counterfactual_statements_nest_over_k_and_are_those_of_the_question() -> None:
    session = made(
        conditions=["controlled"],
        generator=["planted/mixed", "planted/vigilant"],
        variants=["statements", "true_edit", "filler"],
        places=["begin", "end"],
    )
    false: dict[tuple[str, str, int], set[str]] = {}
    for unit in list(session.units())[:2]:
        known = requests(unit)
        judged = verdicts(rows(unit))
        assert len(judged) == 2 * (5 + 4 + 1)
        for row in judged:
            chain = str(seen(known[str(row.request)]).reasoning)
            held = {text for text in FALSE if text in chain}
            assert len(held) == (row.k or 0 if row.variant == "statements" else 0)
            assert row.length == len(chain)
            assert row.inserted is not None
            assert 0 < row.inserted < 0.5
            assert row.removed == 0
            if row.variant == "statements":
                false[row.generator, str(row.place), row.k or 0] = held
    for (generator, place, k), held in false.items():
        assert held == false["planted/mixed", "begin", k], (generator, place)
        assert held >= false[generator, place, max(k - 1, 0)]


def test_a_placebo_waits_for_its_neighbours_and_takes_the_chain_of_nearest_length() -> None:
    session = made(conditions=["controlled"], variants=["placebo", "chain_cut"], n=6)
    unit = next(session.units())
    walks = list(steps(unit))
    assert [len(part) for part, _ in walks] == [1, 5 + 1, 1, 0]
    assert [[row.variant for row in verdicts(found)] for _, found in walks] == [
        [],
        [],
        ["chain_cut"],
        ["placebo", "chain_cut"],
    ]
    own, *others = (PLANTED.reply(request) for request in [*walks[0][0], *walks[1][0][:5]])
    known = requests(unit)
    placebo = next(row for row in walks[-1][1] if row.variant == "placebo")
    lengths = [len(str(getattr(each, "reasoning", ""))) for each in (own, *others)]
    chain = seen(known[str(placebo.request)]).reasoning
    assert chain in [getattr(other, "reasoning", None) for other in others]
    assert abs(len(str(chain)) - lengths[0]) == min(abs(n - lengths[0]) for n in lengths[1:])
    cut = next(row for row in walks[-1][1] if row.variant == "chain_cut")
    assert (placebo.inserted, placebo.removed) == (1, 1)
    assert cut.inserted == 0
    assert cut.removed == pytest.approx(1 - (cut.length or 0) / lengths[0])


def test_without_another_chain_there_is_no_placebo() -> None:
    unit = next(made(conditions=["controlled"], variants=["placebo"], n=1).units())
    (row,) = verdicts(rows(unit))
    assert (row.outcome, row.reason) == (
        "not_applicable",
        "placebo: there is no chain of another question",
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I'm sorry, but I can't help with that.", "refused"),
        ("Error: 429 Too Many Requests", "error"),
        ("<html><title>502 Bad Gateway</title></html>", "error"),
        (" \n", "empty"),
    ],
)
def test_a_refusal_or_an_error_that_came_as_an_answer_is_no_wrong_answer(
    said: str, reason: str
) -> None:
    unit = next(made(conditions=["answer"], n=1).units())
    (row,) = rows(unit, lambda _: Response(said, "I think about it."))
    assert (row.arm, row.outcome, row.reason, row.label) == ("generate", "no_answer", reason, None)


def test_no_answer_at_all_is_judged_once_a_question() -> None:
    first, second = list(
        made(generator=["planted/mixed", "planted/vigilant"], conditions=["null"], n=1).units()
    )
    found = verdicts(rows(first))
    assert [row.variant for row in found] == ["empty", "colon", "thought"]
    assert {row.label for row in found} == {None}
    assert {row.outcome for row in found} == {"read"}
    asked = requests(first)
    answers = [seen(asked[str(row.request)]).answer for row in found]
    assert answers == ["", ":", "Thought process:"]
    assert not verdicts(rows(second))


def test_a_right_and_a_wrong_answer_are_each_shown_with_each_chain() -> None:
    def answer(request: Request) -> Answer | None:
        if request.model == "oblivious" and judge_prompts.read(WORDS, request.messages) is None:
            return Response("Answer: Atlantis", "It has to be a place. So it is Atlantis.")
        return None

    models = ["planted/vigilant", "planted/oblivious"]
    session = made(generator=models, conditions=["reasoning", "crossed"], n=8)
    units = list(session.units())
    crossed = 0
    for first, second in zip(units[::2], units[1::2], strict=True):
        found = verdicts(rows(first, answer))
        mine = [row for row in found if row.condition == "crossed"]
        assert not [row for row in rows(second, answer) if row.condition == "crossed"]
        if not mine:
            continue
        crossed += 1
        cells = {(row.label, row.variant): row for row in mine}
        assert cells.keys() == {(y, of) for y in (True, False) for of in ("right", "wrong")}
        own = [row for row in found if row.condition == "reasoning"]
        assert cells[True, "right"].request == own[0].request
        asked = requests(first, answer)
        shown = seen(asked[str(cells[True, "wrong"].request)])
        assert "Atlantis" in str(shown.reasoning)
        assert "Atlantis" not in shown.answer
    assert crossed >= 5


def test_an_output_that_sets_no_reasoning_apart_is_its_own_where_the_plan_says_so() -> None:
    said = "Spiders are arachnids, and these have 4 pairs of legs. So the answer is 8."
    plain = Response(said, None)

    def answer(request: Request) -> Answer | None:
        return plain if judge_prompts.read(WORDS, request.messages) is None else None

    cell = {"conditions": BOTH, "problems": ["addition:1+1"], "n": 1}
    whole = verdicts(rows(next(made(feed="output", **cell).units()), answer))
    assert [row.outcome for row in whole] == ["read", "read"]
    asked = requests(next(made(feed="output", **cell).units()), answer)
    shown = seen(asked[str(whole[1].request)])
    assert (shown.reasoning, shown.answer) == (said, "8")
    apart = verdicts(rows(next(made(**cell).units()), answer))
    assert [row.outcome for row in apart] == ["read", "not_applicable"]


def test_a_judge_answers_closed_book_once_a_question() -> None:
    session = made(
        generator=["planted/mixed", "planted/vigilant"],
        judge=["planted/vigilant", "planted/credulous"],
        conditions=["answer", "closed_book"],
    )
    first, second = list(session.units())[:2]
    closed = [row for row in rows(first) if row.arm == "closed_book"]
    assert [row.judge for row in closed] == ["planted/vigilant", "planted/credulous"]
    assert {row.outcome for row in closed} == {"read"}
    assert not [row for row in rows(second) if row.arm == "closed_book"]
    (generated,) = [row for row in rows(second) if row.arm == "generate"]
    assert generated.request == closed[0].request


def test_adding_a_problem_a_judge_or_a_generator_changes_no_request_of_another() -> None:
    conditions = [*BOTH, "controlled"]
    few = requests(next(made(n=2, conditions=conditions).units()))
    more = made(
        n=3,
        generator=["planted/mixed", "planted/vigilant"],
        judge=["planted/vigilant", "planted/oblivious"],
        conditions=conditions,
    )
    assert few.keys() <= requests(next(more.units())).keys()


def test_judges_do_not_think_where_that_can_be_turned_off() -> None:
    session = made(judge=["dashscope/qwen3-8b", "planted/vigilant"], conditions=["answer"])
    _, switched, fixed = requests_of(session, saying("correct"))
    assert (switched.sampling.thinking, fixed.sampling.thinking) == (False, None)


def requests_of(session: Session, answer: Reply) -> list[Request]:
    return [r for asked, _ in steps(next(session.units()), answer) for r in asked]


# --- which row each answer becomes -----------------------------------------------------------


def test_a_verdict_is_read_beside_its_label() -> None:
    unit = next(made(conditions=BOTH).units())
    generated, *judged = rows(unit, saying("**Verdict:** incorrect"))
    assert (generated.arm, generated.outcome) == ("generate", "read")
    assert generated.label is not None
    assert generated.labelled_by == "match"
    for row in judged:
        assert (row.outcome, row.verdict, row.reason) == ("read", "reject", None)
        assert (row.label, row.matched) == (generated.label, generated.matched)
    assert judged[0].length is None
    assert judged[1].length == generated.length


@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        (Response("I think that both are fine ways to see it."), "unreadable", "none"),
        (Response("I can't say that it is correct."), "unreadable", "hedged"),
        (Response(""), "unreadable", "none"),
        (Response("<think>It is correct.</think>"), "unreadable", "none"),
        (Response("correct", finish="length"), "truncated", "truncated"),
        (Response("", finish="content_filter"), "refused", "refused"),
        (Failure("server", "500", status=500, attempts=4), "failed", "server"),
        (Failure("unsupported", "cannot be asked", attempts=0), "unsupported", "cannot be asked"),
    ],
)
def test_what_is_no_verdict_is_on_no_side_and_says_why(
    reply: Answer, outcome: str, reason: str
) -> None:
    unit = next(made(conditions=BOTH).units())
    found = verdicts(rows(unit, lambda request: None if is_generation(request) else reply))
    assert len(found) == 2
    for row in found:
        assert (row.outcome, row.reason, row.verdict) == (outcome, reason, None)
        assert row.request is not None


def test_a_judges_thinking_decides_nothing() -> None:
    unit = next(made(conditions=["answer"]).units())
    for reply in (
        Response("<think>It looks correct.</think>\nincorrect"),
        Response("incorrect", reasoning="It looks correct."),
    ):
        (row,) = verdicts(rows(unit, lambda r, reply=reply: None if is_generation(r) else reply))  # type: ignore[misc]
        assert row.verdict == "reject"


@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        (Response("", "I weigh it.", finish="length"), "no_answer", "truncated"),
        (Response("", "I weigh it.", finish="content_filter"), "no_answer", "refused"),
        (Response(" \n", "I weigh it."), "no_answer", "empty"),
        (Response("<think>I weigh it.</think>"), "no_answer", "empty"),
        (Response("I weigh it.\n\n**Answer:**"), "no_answer", "empty"),
        (Response("**Answer:** \n", "I weigh it."), "no_answer", "empty"),
        (Failure("timeout", "too slow", attempts=3), "failed", "timeout"),
        (Failure("unsupported", "no such model", attempts=0), "unsupported", "no such model"),
    ],
)
def test_a_generation_without_an_answer_is_counted_and_not_judged(
    reply: Answer, outcome: str, reason: str
) -> None:
    unit = next(made(conditions=[*BOTH, "closed_book"], judge=["planted/mixed"]).units())
    generated, closed = rows(unit, generating(reply))
    for row in (generated, closed):
        assert (row.outcome, row.reason, row.label) == (outcome, reason, None)
    assert (generated.arm, closed.arm) == ("generate", "closed_book")


def test_a_generation_that_cannot_be_labelled_is_counted_and_not_judged() -> None:
    unit = next(made(problems=["addition:4+3"], conditions=BOTH).units())
    reply = Response("It is 12 or it is 99.", reasoning="I add.")
    (row,) = rows(unit, generating(reply))
    assert (row.arm, row.outcome, row.reason) == ("generate", "unlabelled", "ambiguous")


def test_an_answer_without_reasoning_is_judged_without_it_only() -> None:
    session = made(conditions=[*BOTH, "self", "self_hidden", "controlled"], counterfactual=[0])
    found = verdicts(rows(next(session.units()), generating(Response("It is the Danube."))))
    outcomes = {row.condition: (row.outcome, row.reason) for row in found}
    lacking = ("not_applicable", "reasoning: there is none beside the answer")
    assert [name for name, said in outcomes.items() if said == lacking] == [
        "reasoning",
        "self",
        "controlled",
    ]
    assert {outcomes[name][0] for name in ("answer", "self_hidden")} == {"read"}


@pytest.mark.parametrize("before", ["", "<think>\n\n</think>\n\n"])
@pytest.mark.parametrize(
    "mark",
    [
        "**Answer:**",
        "Final answer:",
        "### The Final Answer:",
        "Answer：",
        "答案：",
        "**最终答案**：",
    ],
)
def test_a_last_line_that_begins_with_answer_sets_the_reasoning_apart(
    before: str, mark: str
) -> None:
    unit = next(made(conditions=["reasoning"]).units())
    said = f"It flows through Vienna.\nSo it is the Danube.\n\n{mark} Danube"
    reply = Response(before + said)
    generated, judged = rows(unit, generating(reply))
    assert (generated.value, generated.length) == ("Danube", 45)
    assert (judged.outcome, judged.length) == ("read", 45)


def test_a_chain_that_quotes_the_prompt_is_no_leak() -> None:
    unit = next(made(conditions=[*BOTH, "self_hidden"]).units())
    words = judge_prompts.outside(WORDS, "correct")
    asked = judge_prompts.own(WORDS, unit.problem.question, "Danube")
    quoted = " ".join([words, *(message.content for message in asked)])
    found = verdicts(rows(unit, generating(Response("Answer: Danube", f"I was told: {quoted}"))))
    assert {row.outcome for row in found} == {"read"}


@pytest.mark.parametrize(("condition", "maker"), [("answer", "judge"), ("self_hidden", "own")])
def test_a_prompt_that_holds_a_chain_it_should_not_is_an_error(
    monkeypatch: pytest.MonkeyPatch, condition: str, maker: str
) -> None:
    chain = "The river that flows through Vienna, Budapest and Belgrade is the Danube."
    honest = getattr(judge_prompts, maker)

    def leaking(*given: object, **more: object) -> tuple[Message, ...]:
        first, *others = honest(*given, **more)
        return (Message("user", f"{first.content}\n{chain}"), *others)

    monkeypatch.setattr(judge_prompts, maker, leaking)
    unit = next(made(conditions=[condition]).units())
    with pytest.raises(ArithmeticError, match="holds it"):
        rows(unit, generating(Response("Answer: Danube", chain)))


def test_certainty_is_asked_and_read_in_its_own_words() -> None:
    unit = next(made(conditions=["answer"], criterion="certainty").units())
    (row,) = verdicts(rows(unit, saying("I am not certain.")))
    assert row.verdict == "reject"
    (row,) = verdicts(rows(unit))
    assert row.outcome == "read"


# --- the chain's arrival ---------------------------------------------------------------------


def counting(own: int | None, hidden: int | None, first: int = 40) -> Reply:
    """Prompt tokens as a server counts them: of self, of self_hidden, and of the question."""

    def answer(request: Request) -> Answer | None:
        reply = PLANTED.reply(request)
        if not isinstance(reply, Response):
            return reply
        count: int | None = first
        if len(request.messages) == 3:
            count = own if "\n\n" in request.messages[1].content else hidden
        return msgspec.structs.replace(reply, usage=Usage(prompt=count))

    return answer


@pytest.mark.parametrize(
    ("conditions", "counts", "outcome"),
    [
        (["self", "self_hidden"], counting(300, 100), "read"),
        (["self", "self_hidden"], counting(101, 100), "unsupported"),
        (["self", "self_hidden"], counting(None, None), "unsupported"),
        (["self"], counting(300, None), "read"),
        (["self"], counting(75, None), "unsupported"),
    ],
)
def test_a_chain_that_did_not_reach_the_generator_gives_no_verdict(
    conditions: list[str], counts: Reply, outcome: str
) -> None:
    unit = next(made(conditions=conditions, judge=["planted/mixed"]).units())
    row = next(row for row in rows(unit, counts) if row.condition == "self")
    assert row.outcome == outcome
    assert (row.verdict is None) is (outcome == "unsupported")
    assert (row.reason is None) is (outcome == "read")


# --- the verifier ----------------------------------------------------------------------------


def verifying(text: str, **fields: Any) -> Reply:
    def answer(request: Request) -> Answer | None:
        asked = judge_prompts.checked(WORDS, request.messages) is not None
        return Response(text, **fields) if asked else None

    return answer


def test_a_text_answer_waits_for_the_verifier_whose_word_is_kept_beside_the_match() -> None:
    session = made(conditions=["answer"], verifier="planted/vigilant", n=40)
    found = []
    for unit in session.units():
        walks = list(steps(unit))
        assert [len(part) for part, _ in walks] == [1, 1, 1, 0]
        assert walks[1][1] == []
        found.append(walks[-1][1][0])
    assert {row.labelled_by for row in found} == {"match", "verifier"}
    assert all(row.verified is not None and row.matched is not None for row in found)
    assert all(row.labelled_by == "match" for row in found if row.matched)
    assert sum(row.verified is row.matched for row in found) >= 38


def test_the_verifier_overrules_a_match_that_says_no_and_not_one_that_says_yes() -> None:
    unit = next(made(conditions=["answer"], verifier="planted/vigilant").units())
    gold = unit.problem.gold[0]
    for said, verified, right in (
        ("Answer: some other words for it", "correct", True),
        ("Answer: some other words for it", "incorrect", False),
        (f"Answer: {gold}", "incorrect", True),
    ):

        def answer(request: Request, said: str = said, verified: str = verified) -> Answer | None:
            told = verifying(verified)(request)
            return told or generating(Response(said, "I weigh it."))(request)

        assert rows(unit, answer)[0].label is right


def test_a_verifier_whose_server_gives_no_reason_for_the_end_decides() -> None:
    unit = next(made(conditions=["answer"], verifier="planted/vigilant").units())

    def answer(request: Request) -> Answer | None:
        if judge_prompts.checked(WORDS, request.messages) is not None:
            return Response("correct", finish="unknown")
        return generating(Response("Answer: some other words for it", "I weigh it."))(request)

    assert rows(unit, answer)[0].label is True


@pytest.mark.parametrize(
    "reply",
    [
        Response("It means something else, I think.\n\ncorrect"),
        Response("correct", finish="length"),
        Response(""),
        Failure("server", "500"),
    ],
)
def test_a_verifier_that_does_not_decide_leaves_the_item_unlabelled(reply: Answer) -> None:
    unit = next(made(conditions=["answer"], verifier="planted/vigilant").units())

    def answer(request: Request) -> Answer | None:
        if judge_prompts.checked(WORDS, request.messages) is not None:
            return reply
        return generating(Response("Answer: some other words", "I weigh it."))(request)

    (row,) = rows(unit, answer)
    assert (row.outcome, row.reason, row.label) == ("unlabelled", "unverified", None)


def test_a_number_is_not_put_to_the_verifier() -> None:
    session = made(problems=["addition:4+3"], conditions=["answer"], verifier="planted/vigilant")
    assert [len(part) for part, _ in steps(next(session.units()))] == [1, 1, 0]


# --- answers from a file ---------------------------------------------------------------------

LOG: list[dict[str, Any]] = [
    {"id": "a", "raw": "<think>Two and three make five.</think>Answer: 5", "model": "some/model"},
    {"id": "b", "answer": "Answer: 6"},
    {"id": "c", "reasoning": "I would say six.", "answer": "Answer: 6", "label": True},
    {"id": "d", "raw": "<think>Two and three, which"},
    {"id": "e", "reasoning": "I am done.", "answer": ""},
]


def logged(path: Path, **changes: Any) -> list[JudgeUnit]:
    lines = [json.dumps({"question": "What is 2 + 3?", "gold": "5"} | line) for line in LOG]
    (path / "log.jsonl").write_text("\n".join(lines), "utf-8")
    session = made(answers=str(path / "log.jsonl"), n=10, **changes)
    return list(session.units())


def test_answers_of_a_file_are_labelled_and_judged_without_asking_for_them(tmp_path: Path) -> None:
    first, bare, given, *lacking = logged(tmp_path, conditions=BOTH)
    assert first.generator == "some/model"
    assert bare.generator.endswith("log.jsonl")
    generated, *judged = rows(first)
    assert (generated.label, generated.labelled_by, generated.request) == (
        True,
        "deterministic",
        None,
    )
    assert [row.outcome for row in judged] == ["read", "read"]
    generated, *judged = rows(bare)
    assert generated.label is False
    assert [row.outcome for row in judged] == ["read", "not_applicable"]
    generated, *judged = rows(given)
    assert (generated.label, generated.labelled_by) == (True, "given")
    assert {row.label for row in judged} == {True}
    reasons = [(row.outcome, row.reason) for unit in lacking for row in rows(unit)]
    assert reasons == [("no_answer", "truncated"), ("no_answer", "empty")]


def test_the_placebo_of_a_logged_answer_is_the_chain_of_another_question(tmp_path: Path) -> None:
    unit = logged(tmp_path, conditions=["controlled"], variants=["placebo"])[0]
    (row,) = verdicts(rows(unit))
    assert row.outcome == "not_applicable"


def test_a_verifier_without_a_name_is_refused() -> None:
    with pytest.raises(UserError, match="PROVIDER/MODEL"):
        made(conditions=["answer"], verifier="")
