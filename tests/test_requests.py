"""What is sent to each provider in each channel by each method is what the golden files say.

`python tests/test_requests.py` writes them anew: a changed request is a diff of its JSON.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misled import models
from misled.errors import ProviderError
from misled.models import Capabilities
from misled.records import Message, Prefill, Request, Sampling
from misled.wire import WIRES
from misled.wire.capabilities import unsafe

GOLDEN = Path(__file__).parent / "golden" / "requests"
MODELS = (
    *("openai/gpt-4.1", "openai/o3-mini", "openai/gpt-5", "openai/gpt-5.1"),
    *("anthropic/claude-3-5-haiku-20241022", "anthropic/claude-sonnet-4-5-20250929"),
    *("anthropic/claude-opus-4-6", "anthropic/claude-opus-4-7", "anthropic/claude-opus-5-5"),
    *("deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "moonshot/moonshot-v1-8k"),
    *("ark/doubao-1-5-pro-32k-250115", "ark/doubao-seed-1-6-251015", "ark/doubao-seed-2"),
    *("dashscope/qwen3-max", "dashscope/qwen3-next-80b-a3b-thinking"),
    *("google/gemini-2.5-flash", "google/gemini-3-pro"),
    *("openrouter/qwen/qwen3-8b", "vllm/Qwen/Qwen3-8B", "sglang/m", "ollama/qwen3:8b"),
    *("llamacpp/m", "local/smollm2", "local/weights/qwen3.gguf"),
)
QUESTION = "What is 637 + 28?"
CHAIN = "7 + 8 = 15, so the last digit is 5. The answer is 675."
BEGUN = "I begin with the last digits:"
METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
THINKING = {"thinking on": True, "thinking off": False}


def channel(name: str, method: str) -> dict[str, Any]:
    """The conversation of a channel, in few words of its own."""
    asked = Message("user", QUESTION)
    opening = Prefill("content", BEGUN) if method == "prefix" else None
    said = f"Words of {'contradiction' if opening else method}."
    if name == "user":
        return {"messages": (Message("user", f"{QUESTION}\n{said}\n{CHAIN}"),), "prefill": opening}
    if name == "assistant":
        turns = (asked, Message("assistant", CHAIN), Message("user", said))
        return {"messages": turns, "prefill": opening}
    thought = Prefill("thinking", CHAIN, closed=name == "think_closed")
    return {"messages": (asked,), "prefill": thought}


CHANNELS = (*product(("user", "assistant"), METHODS), ("think", ""), ("think_closed", ""))
CASES: dict[str, dict[str, Any]] = {
    "question": {},
    "sampling": {"sampling": Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=512)},
    "sampling, thinking": {
        "sampling": Sampling(temperature=0.6, top_k=20, max_tokens=32000, thinking=True)
    },
    "effort": {"sampling": Sampling(effort="low")},
    "system": {
        "messages": (
            Message("system", "Be brief."),
            Message("user", QUESTION),
            Message("assistant", "665."),
            Message("user", "Are you sure?"),
        )
    },
    **{f"{name}, {method}" if method else name: channel(name, method) for name, method in CHANNELS},
    **{
        f"{case}, {name}": channel(*case.split(", ")) | {"sampling": Sampling(thinking=thinking)}
        for case, (name, thinking) in product(("user, baseline", "user, prefix"), THINKING.items())
    },
}


def ask(model: str = "test/m", **fields: Any) -> Request:
    provider, _, name = model.partition("/")
    named = {"provider": provider, "model": name, "messages": (Message("user", QUESTION),)}
    return Request(**named | fields)


def encoded(can: Capabilities, request: Request, wire: str = "openai") -> dict[str, Any] | str:
    """The body, or the reason why there is none."""
    try:
        return WIRES[wire](can).encode(request)
    except ProviderError as error:
        kind, reason = error.kind, str(error)
    assert kind == "unsupported"
    return reason


def sent(model: str, case: str) -> dict[str, Any]:
    """Where a request goes and what it says, or why it cannot be made."""
    known = models.resolve(model)
    if not known.base_url:
        known = msgspec.structs.replace(known, base_url="http://127.0.0.1/v1")
    request = ask(model, **CASES[case])
    body = encoded(known.capabilities, request, known.wire)
    if isinstance(body, str):
        return {"unsupported": body}
    unheeded = known.capabilities.unheeded(request.sampling)
    whole = {"url": models.endpoint(known, request.prefill), "body": body}
    return whole | ({"unheeded": unheeded} if unheeded else {})


def found(provider: str) -> dict[str, dict[str, Any]]:
    """All that a golden file holds: by model and case."""
    mine = [model for model in MODELS if model.startswith(f"{provider}/")]
    return {model: {case: sent(model, case) for case in CASES} for model in mine}


PROVIDERS = tuple(dict.fromkeys(model.partition("/")[0] for model in MODELS))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_requests_are_those_of_the_golden_file(provider: str) -> None:
    assert found(provider) == json.loads((GOLDEN / f"{provider}.json").read_text("utf-8"))


def test_every_provider_has_a_golden_file() -> None:
    known = {entry["provider"] for entry in models.listing()}
    assert known - set(PROVIDERS) == {"planted"}
    assert {path.stem for path in GOLDEN.iterdir()} == set(PROVIDERS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_a_request_says_all_of_its_conversation_or_is_refused(model: str, case: str) -> None:
    """No text is dropped in silence, and none is said that was not asked for."""
    request = ask(model, **CASES[case])
    body = sent(model, case).get("body")
    if body is None:
        assert "unsupported" in sent(model, case)
        return
    texts = [text for turn in body["messages"] for text in turn.values() if isinstance(text, str)]
    whole = "\n".join([*texts, body.get("system", "")])
    for message in request.messages:
        assert message.content in whole
    if request.prefill is not None:
        assert body["messages"][-1]["role"] == "assistant"
        assert request.prefill.text in body["messages"][-1].values()


@pytest.mark.parametrize("model", MODELS)
def test_the_paper_s_channel_and_plain_history_are_open_on_every_provider(model: str) -> None:
    for case in ("question", "user, baseline", "assistant, contradiction"):
        assert "body" in sent(model, case)


SUPPORTED = {
    case: {model for model in MODELS if "body" in sent(model, case)}
    for case in ("user, prefix", "user, prefix, thinking off", "think", "think_closed")
}


def test_which_models_continue_a_prefix_is_what_their_pages_say() -> None:
    without_more = {
        *("anthropic/claude-3-5-haiku-20241022", "anthropic/claude-sonnet-4-5-20250929"),
        *("deepseek/deepseek-v4-pro", "moonshot/kimi-k3", "moonshot/moonshot-v1-8k"),
        *("ark/doubao-1-5-pro-32k-250115", "vllm/Qwen/Qwen3-8B", "sglang/m", "llamacpp/m"),
        *("local/smollm2", "local/weights/qwen3.gguf"),
    }
    assert SUPPORTED["user, prefix"] == without_more
    off = SUPPORTED["user, prefix, thinking off"]
    assert off - without_more == {"ark/doubao-seed-1-6-251015", "dashscope/qwen3-max"}


def test_the_thinking_is_prefilled_only_where_it_is_known_what_follows() -> None:
    expected = {"llamacpp/m", "local/weights/qwen3.gguf"}
    assert SUPPORTED["think"] == SUPPORTED["think_closed"] == expected


# --- capabilities ----------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
def test_parameters_that_are_not_set_are_not_sent(wire: str) -> None:
    limit = 9 if wire == "anthropic" else None
    body = encoded(Capabilities(max_tokens=limit), ask(), wire)
    asked = {"model": "m", "messages": [{"role": "user", "content": QUESTION}]}
    assert body == asked | ({"max_tokens": limit} if limit else {})


@pytest.mark.parametrize("wire", WIRES)
def test_encoding_changes_neither_the_request_nor_the_table_and_gives_json(wire: str) -> None:
    can = Capabilities(
        prefill="content",
        thinking_off={"k": {"a": 1}},
        extra={"k": {"b": 2}},
        effort="k.c",
        max_tokens=9,
    )
    sampling = Sampling(thinking=False, effort="low", temperature=0.0)
    request = ask(**channel("assistant", "prefix"), sampling=sampling)
    before = msgspec.json.encode([can, request])
    bodies = [encoded(can, request, wire) for _ in range(2)]
    assert bodies[0] == bodies[1] == json.loads(json.dumps(bodies[0]))
    assert isinstance(bodies[0], dict)
    assert bodies[0]["k"] == {"a": 1, "b": 2, "c": "low"}
    assert bodies[0]["temperature"] == 0.0  # zero is set
    assert msgspec.json.encode([can, request]) == before


@pytest.mark.parametrize("wire", WIRES)
def test_reasoning_of_earlier_turns_is_sent_or_refused(wire: str) -> None:
    turns = (
        Message("user", QUESTION),
        Message("assistant", "665.", reasoning="7 + 8 = 15."),
        Message("user", "Sure?"),
    )
    assert "get lost" in encoded(Capabilities(max_tokens=9), ask(messages=turns), wire)
    can = Capabilities(history_reasoning="reasoning", max_tokens=9)
    body = encoded(can, ask(messages=turns), wire)
    assert isinstance(body, dict)
    assert body["messages"][1]["reasoning"] == "7 + 8 = 15."


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("turns", [(), (Message("user", "Hi"), Message("assistant", "Hello"))])
def test_a_conversation_that_some_servers_would_continue_is_refused(
    wire: str, turns: tuple[Message, ...]
) -> None:
    can = Capabilities(max_tokens=9)
    assert "does not end with the user's turn" in encoded(can, ask(messages=turns), wire)


def test_a_limit_of_the_table_is_sent_where_the_request_sets_none() -> None:
    can = Capabilities(max_tokens=7, token_parameter="max_completion_tokens")
    body = encoded(can, ask())
    assert isinstance(body, dict)
    assert body["max_completion_tokens"] == 7
    body = encoded(can, ask(sampling=Sampling(max_tokens=3)))
    assert isinstance(body, dict)
    assert body["max_completion_tokens"] == 3


def test_a_seed_depends_on_the_sample_and_not_on_the_lane() -> None:
    wire = WIRES["openai"](Capabilities(seeded=True))
    seeds = [wire.encode(ask(sample=i))["seed"] for i in range(20)]
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 1 << 31 for seed in seeds)
    assert wire.encode(ask(lane="x"))["seed"] == seeds[0]


# --- the thinking as a prefill ---------------------------------------------------------------

TAGGED = Capabilities(
    prefill="thinking",
    thinking_prefill="both",
    thinking_field="content",
    think_open="<think>\n",
    think_close="\n</think>\n\n",
    prefill_body={"continue_final_message": True},
)


@pytest.mark.parametrize(
    ("closed", "content"),
    [(False, f"<think>\n{CHAIN}"), (True, f"<think>\n{CHAIN}\n</think>\n\n")],
)
def test_tags_are_laid_round_a_thinking_that_stands_in_the_content(
    content: str, *, closed: bool
) -> None:
    body = encoded(TAGGED, ask(prefill=Prefill("thinking", CHAIN, closed=closed)))
    assert isinstance(body, dict)
    assert body["messages"][-1] == {"role": "assistant", "content": content}
    assert body["continue_final_message"] is True


@pytest.mark.parametrize(
    ("known", "closed", "words"),
    [
        ("unknown", False, "a probe has shown"),
        ("unknown", True, "a probe has shown"),
        ("open", True, "always open"),
        ("closed", False, "always closed"),
        ("open", False, None),
        ("closed", True, None),
        ("both", False, None),
        ("both", True, None),
    ],
)
def test_a_thinking_is_prefilled_as_asked_or_not_at_all(
    known: Any, words: str | None, *, closed: bool
) -> None:
    can = Capabilities(prefill="thinking", thinking_prefill=known)
    body = encoded(can, ask(prefill=Prefill("thinking", CHAIN, closed=closed)))
    if words is None:
        assert isinstance(body, dict)
        assert body["messages"][-1]["reasoning_content"] == CHAIN
        assert body["messages"][-1]["content"] == ""  # servers refuse a turn without it
    else:
        assert words in body


def test_no_thinking_is_prefilled_where_it_is_turned_off() -> None:
    can = Capabilities(prefill="thinking", thinking_prefill="both", thinking_off={"t": 0})
    off = Sampling(thinking=False)
    assert "turned off" in encoded(can, ask(prefill=Prefill("thinking", CHAIN), sampling=off))


def test_deepseek_is_asked_once_it_is_known_what_follows() -> None:
    can = models.resolve("deepseek/m", overrides={"thinking_prefill": "open"}).capabilities
    body = encoded(can, ask(prefill=Prefill("thinking", CHAIN)))
    assert isinstance(body, dict)
    assert body["messages"][-1] == {
        "role": "assistant",
        "content": "",
        "reasoning_content": CHAIN,
        "prefix": True,
    }


TAGS = (
    *("<think>", "</think>", "<|im_end|>", "<|channel|>", "<|eot_id|>", "<｜Assistant｜>"),
    *("<｜end▁of▁sentence｜>", "[THINK]", "[/THINK]", "[INST]", "</s>", "<s>", "<bos>", "<eos>"),
    *("<end_of_turn>", "<start_of_turn>", "◁/think▷", "◁think▷", "<|channel>", "<channel|>"),
)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("tag", TAGS)
def test_a_text_that_templates_read_as_structure_stands_in_no_turn_of_the_model(
    wire: str, tag: str
) -> None:
    """A template would cut the thinking there; the user's own turn is text."""
    text = f"So 5. {tag} The answer is 5."
    can = msgspec.structs.replace(TAGGED, max_tokens=9)
    for opening in (Prefill("content", text), Prefill("thinking", text)):
        assert repr(tag) in encoded(can, ask(prefill=opening), wire)
    turns = (Message("user", QUESTION), Message("assistant", text), Message("user", "Sure?"))
    assert repr(tag) in encoded(can, ask(messages=turns), wire)
    assert isinstance(encoded(can, ask(messages=(Message("user", text),)), wire), dict)


def test_a_model_s_own_tags_are_structure_to_it() -> None:
    own = msgspec.structs.replace(TAGGED, think_open="<mull>", think_close="</mull>")
    request = ask(prefill=Prefill("thinking", "So 5. </mull> 5"))
    assert "</mull>" in encoded(own, request)
    assert isinstance(encoded(TAGGED, request), dict)


@pytest.mark.parametrize(
    "text",
    [
        *("", "3 < 5 and 7 > 2", "a <b> c", "|x| < 3", "[1, 2]", "f(x) = <x, y>", "I think so."),
        *("if x<y|z then", "<thinker>", "\\left<|x|\\right>"[:9], "2 <= |a - b| <= 3"),
    ],
)
def test_ordinary_mathematics_is_no_structure(text: str) -> None:
    assert unsafe(text) is None


@pytest.mark.parametrize("unit", ["<", "<|", "<｜", "[", "<|a", "</", "◁", "|>", "< "])
def test_hostile_texts_are_searched_in_linear_time(unit: str) -> None:
    assert unsafe(unit * (2_000_000 // len(unit))) is None


def write() -> None:
    """Write every golden file, a line a case."""
    for provider in PROVIDERS:
        blocks = []
        for model, cases in found(provider).items():
            lines = (f"  {json.dumps(case)}: {json.dumps(case_)}" for case, case_ in cases.items())
            blocks.append(f"{json.dumps(model)}: {{\n" + ",\n".join(lines) + "\n}")
        path = GOLDEN / f"{provider}.json"
        path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", "utf-8")


if __name__ == "__main__":
    write()
