"""Raw outputs of any model, cut into reasoning and answer: own examples, any text, real traces."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.chains import of, split
from misled.records import Chain

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
real = pytest.mark.skipif(not TRACES.is_dir(), reason="the real traces are not here")

PIECES = [
    "<think>",
    "</think>",
    "< think >",
    "<answer>",
    "</answer>",
    "<|im_end|>",
    "<|im_start|>assistant<|im_sep|>",
    "<|im_start|>user",
    "<|channel>thought",
    "<channel|>",
    "<|channel|>analysis<|message|>",
    "<|channel|>final<|message|>",
    "</s>",
    "<｜end▁of▁sentence｜>",
    "think\n",
    "answer\n",
    "\n",
    "\n\n",
    " ",
    "so the answer is 7.",
    "4 + 3 = 7. ",
    "the ",
    '"',
    "**Answer**: 7",
]
texts = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


@given(texts)
def test_any_text_is_cut_into_two_slices_of_itself(raw: str) -> None:
    chain = split(raw)
    for part, span in (
        (chain.reasoning, chain.reasoning_span),
        (chain.answer, chain.answer_span),
    ):
        assert (span is None) == (part == "")
        assert part == part.strip()
        if span:
            assert raw[span[0] : span[1]] == part
    if chain.reasoning_span and chain.answer_span:
        assert chain.reasoning_span[1] <= chain.answer_span[0]


@given(st.text(alphabet=st.characters(exclude_characters="<[◁"), min_size=1))
def test_a_text_without_delimiters_is_lost_in_no_part(text: str) -> None:
    raw = f"x {text}"  # no lone word that would be a delimiter
    chain = split(raw)
    assert not chain.delimited
    assert re.sub(r"\s", "", chain.reasoning + chain.answer) == re.sub(r"\s", "", raw)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a b.", "\n", " c", "<think>\nd"])))
def test_outside_the_parts_stand_only_tags_white_space_and_a_preamble(pieces: list[str]) -> None:
    raw = "".join(pieces)
    chain = split(raw)
    start, end = chain.reasoning_span or chain.answer_span or (0, 0)
    second = chain.answer_span or (end, end)
    between, after = raw[end : second[0]], raw[second[1] :]
    if chain.reasoning_span:
        assert not re.sub(r"</?think>|\s", "", between)
    if start < second[1]:
        assert not re.sub(r"</?think>|\s", "", after)


WORK = "4 + 3 is 7."
FAMILIES = {
    "tags": f"<think>\n{WORK}\n</think>\n\nIt is 7.",
    "opened by the template": f"{WORK}</think>It is 7.",
    "spaced": f"< think >\n{WORK}\n</ think >\n< answer >\nIt is 7.\n</ answer >",
    "full-width colon": f"<think>：\n{WORK}\n</think>：It is 7.",
    "answer tags": f"<think>{WORK}</think>\n<answer> It is 7. </answer>",
    "no closing tag": f"<think>{WORK}\n<answer> It is 7. </answer>",
    "other word": f"<thinking>{WORK}</thinking>It is 7.",
    "rationale": f"<rationale>\n{WORK}\n</rationale>\nIt is 7.",
    "namespace": f"<seed:think>{WORK}</seed:think>It is 7.",
    "brackets": f"[THINK]{WORK}[/THINK]It is 7.",
    "diamonds": f"◁think▷{WORK}◁/think▷It is 7.",
    "channels": f"<|channel>thought\n{WORK}<channel|>It is 7.",
    "harmony": f"<|channel|>analysis<|message|>{WORK}<|end|><|start|>assistant"
    "<|channel|>final<|message|>It is 7.<|return|>",
    "harmony, decoded": f"analysis{WORK}assistantfinalIt is 7.",
    "bare lines": f"think\n{WORK}\nanswer\nIt is 7.",
    "turn tokens": f"<|im_start|>think\n{WORK}\n<|im_start|>answer\nIt is 7.<|im_end|>",
    "thought and solution": f"<|begin_of_thought|>{WORK}<|end_of_thought|>\n"
    "<|begin_of_solution|>It is 7.<|end_of_solution|>",
    "thinking and response": f"<|START_THINKING|>{WORK}<|END_THINKING|>"
    "<|START_RESPONSE|>It is 7.<|END_RESPONSE|>",
    "stray tokens": f"<｜begin▁of▁sentence｜><think>{WORK}</think>"
    "It is 7.<｜end▁of▁sentence｜></s>",
    "doubled tags": f"<think> <think>{WORK}</think>\n</think>It is 7.",
    "preamble": f"Here is my take.<think>{WORK}</think>It is 7.",
    "made-up turn": f"{WORK}</think>It is 7.<|im_end|>\n<|im_start|>user\nAnd 5 + 5?<|im_end|>",
    "conversation": f"<|im_start|>user\n4 + 3?<|im_end|>\n<|im_start|>assistant\n<think>{WORK}"
    "</think>It is 7.<|im_end|>",
    "replayed turn": f"9</think><|im_start|>assistant<|im_sep|>{WORK}</think>It is 7.",
    "closed answer": f"<think>{WORK}</think>It is 7.</think>",
}


@pytest.mark.parametrize("raw", FAMILIES.values(), ids=FAMILIES.keys())
def test_every_family_of_delimiters_gives_the_same_two_parts(raw: str) -> None:
    chain = split(raw)
    assert (chain.reasoning, chain.answer) == (WORK, "It is 7.")
    assert chain.finished
    assert chain.delimited


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("8</think>No: 4 + 3 is 7.\n\nI answer 7.</think>7", "7"),
        ("A.\n\n</think>\n\nIt is 8. But again:\n\n</think>\n\nIt is 7.", "It is 7."),
        ("4 + 3 = 1</think>7? No, 4 + 3 is 7.\n\nSo 7.</think>\n7", "7"),
        ("<think>a</think>It is 8.\n<think>b</think>It is 7.", "It is 7."),
        ("<answer>8</answer>\n\nWait, no.\n\n<answer>7</answer>", "7"),
        ("<think>a</think>\n<answer>x</think>\n<answer>y</think>\n<answer>7</answer>", "7"),
    ],
)
def test_the_last_delimiter_decides(raw: str, answer: str) -> None:
    chain = split(raw)
    assert chain.answer == answer
    assert chain.finished


@pytest.mark.parametrize(
    "raw",
    [
        "<think>\n4 + 3 is 7, and 7 times 12",
        "<think>So the answer is 7.",
        "<think>a</think>It is 8.\n<think>Or is it",
        "<|channel>thought\n4 + 3",
        "think\n4 + 3 is",
        "<think>" + "**Final Answer**\n\\boxed{7}\n\n" * 20,
    ],
)
def test_thinking_that_is_never_closed_has_an_empty_answer(raw: str) -> None:
    chain = split(raw)
    assert (chain.answer, chain.answer_span, chain.finished) == ("", None, False)
    assert chain.reasoning


@pytest.mark.parametrize("reply", ["**Answer**: D", "**Final Answer**\n\\boxed{7}", "答案：7"])
def test_a_forgotten_tag_before_a_marked_answer_is_no_cut(reply: str) -> None:
    chain = split(f"<think>\nIt could be B. No, D fits.\n\n{reply}")
    assert (chain.answer, chain.finished, chain.delimited) == (reply, True, False)


@pytest.mark.parametrize(
    "raw",
    [
        "4 + 3 is 7, as within the <think> block.</think>It is 7.",
        'I close with "</think>" and go on.</think>It is 7.',
        "Now the </think> tag has to come.</think>It is 7.",
        "The form is `<answer>`, I see.</think>It is 7.",
        "End with 'Answer: <answer>'.</think>It is 7.",
    ],
)
def test_a_delimiter_that_is_only_named_is_text(raw: str) -> None:
    assert split(raw).answer == "It is 7."


def test_an_answer_may_name_a_tag() -> None:
    answer = "Models close their thinking with the </think> tag."
    assert split(f"<think>Easy.</think>{answer}").answer == answer


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        ("4 + 3 = 7.\n\nSo the answer is 7.", "So the answer is 7."),
        ("4 + 3 = 7.\n\n**Final Answer**\n\n\\boxed{7}", "**Final Answer**\n\n\\boxed{7}"),
        ("Four is even.\n\nThree is odd.", "Three is odd."),
        ("Three is odd.", "Three is odd."),
        ("Error after 3 attempts: Error code: 500", "Error after 3 attempts: Error code: 500"),
        ("", ""),
        (" \n", ""),
        ("<|im_end|>", ""),
    ],
)
def test_without_delimiters_the_answer_is_the_conclusion_or_the_last_paragraph(
    raw: str, answer: str
) -> None:
    chain = split(raw)
    assert chain.answer == answer
    assert not chain.delimited


def test_a_model_that_stops_after_its_thinking_has_finished_with_nothing() -> None:
    assert split("<think>4 + 3 is 7.</think>") == Chain(
        reasoning="4 + 3 is 7.", answer="", reasoning_span=(7, 18)
    )


def test_thinking_that_is_switched_off_leaves_an_answer_alone() -> None:
    assert split("<think>\n\n</think>\n\n7") == Chain(
        reasoning="", answer="7", answer_span=(19, 20)
    )


def test_struck_text_does_not_end_an_answer() -> None:
    assert split("a</think>It is <s>8</s> 7.").answer == "It is <s>8</s> 7."


@pytest.mark.parametrize("reasoning", [None, "", " \n"])
def test_a_response_without_a_reasoning_field_is_split(reasoning: str | None) -> None:
    assert of("<think>a</think>7", reasoning) == split("<think>a</think>7")


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("It is 7.\n", "It is 7.\n"),
        ("</think>\n\n7", "7"),
        ("<think>more</think>7", "7"),
        ("7<|im_end|>", "7"),
        ("", ""),
    ],
)
def test_a_reasoning_field_stays_as_it_is_and_the_content_is_the_answer(
    content: str, answer: str
) -> None:
    chain = of(content, " 4 + 3\n")
    assert (chain.reasoning, chain.answer) == (" 4 + 3\n", answer)
    assert (chain.reasoning_span, chain.answer_span) == (None, None)


@pytest.mark.parametrize(
    "unit",
    [
        "<think>",
        "</think>",
        "\n<answer>x",
        "<think>\n",
        "wait ",
        "1.",
        "。",
        "<",
        "</s>",
        "\n",
        "x ",
    ],
)
def test_hostile_text_is_split_in_linear_time(unit: str) -> None:
    raw = "<think>" + unit * (200_000 // len(unit))
    chain = split(raw)
    assert len(chain.reasoning) + len(chain.answer) <= len(raw)


def outputs() -> list[tuple[str, dict[str, Any]]]:
    """Every real raw output, with the name of its file."""
    return [
        (path.stem, record)
        for path in sorted(TRACES.glob("*.jsonl"))
        for record in map(json.loads, path.read_text().splitlines())
        if record["raw"]
    ]


@real
def test_on_real_outputs_both_parts_are_slices_and_no_tag_stands_in_an_answer() -> None:
    for name, record in outputs():
        chain = split(record["raw"])
        for part, span in (
            (chain.reasoning, chain.reasoning_span),
            (chain.answer, chain.answer_span),
        ):
            assert not span or record["raw"][span[0] : span[1]] == part
        assert not re.search(r"</?think>|<\|im_|</s>|<channel\|>", chain.answer), name


@real
def test_on_real_outputs_nothing_but_delimiters_and_replayed_turns_is_left_out() -> None:
    mark = r"</?\s?(?:think|answer|solution)\s?>[:：]?|<\|channel>thought|<channel\|>|\s"
    mark += r"|<unk>|\d+</think><\|im_start\|>assistant<\|im_sep\|>|^\s*think\n|^answer$"
    for name, record in outputs():
        raw, chain = record["raw"], split(record["raw"])
        spans = [span for span in (chain.reasoning_span, chain.answer_span) if span]
        edges = [0, *(edge for span in spans for edge in span), len(raw)]
        outside = [raw[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        assert not any(
            re.sub(mark, "", gap, flags=re.MULTILINE | re.IGNORECASE) for gap in outside
        ), name


@real
def test_on_real_outputs_with_several_closing_tags_the_answer_is_right() -> None:
    cases = [
        record
        for name, record in outputs()
        if name == "arith_tagged" and "multi_close" in record["flags"]
    ]
    right = [r for r in cases if str(r["gold"]) in split(r["raw"]).answer]
    assert len(right) == len(cases) > 0


@real
def test_on_real_outputs_only_those_cut_have_no_answer() -> None:
    for name, record in outputs():
        chain = split(record["raw"])
        if "truncated_length" in record["flags"]:
            assert (chain.answer, chain.finished) == ("", False)
        if "missing_close" not in record["flags"] and name != "datawhale_r1_countdown_zh":
            assert chain.answer
            assert chain.finished
