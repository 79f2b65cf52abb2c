"""What is sent is what the golden files say; what comes back is an answer, an error or garbage."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled import models
from misled.errors import ProviderError
from misled.models import Capabilities
from misled.records import Message, Prefill, Request, Response, Sampling, Usage
from misled.wire import WIRES, Wire
from misled.wire.base import error_of_status, one_line
from misled.wire.openai import OpenAI

GOLDEN = Path(__file__).parent / "golden" / "wire"
MODELS = (
    *("openai/gpt-4.1", "openai/o3-mini", "openai/gpt-5.1", "deepseek/deepseek-v4-pro"),
    *("moonshot/kimi-k3", "ark/doubao-seed-1-6-251015", "ark/doubao-seed-2", "dashscope/qwen3-max"),
    *("openrouter/qwen/qwen3-8b", "google/gemini-3-pro", "vllm/Qwen/Qwen3-8B", "sglang/m"),
    *("ollama/qwen3:8b", "llamacpp/m", "local/smollm2"),
)
QUESTION = "What is 637 + 28?"
BEGUN = "I begin with the last digits:"
CASES: dict[str, dict[str, Any]] = {
    "question": {},
    "sampling": {
        "sampling": Sampling(temperature=0.6, top_p=0.95, top_k=20, max_tokens=512),
    },
    "effort": {"sampling": Sampling(effort="low")},
    "thinking off": {"sampling": Sampling(thinking=False)},
    "conversation": {
        "messages": (
            Message("system", "Be brief."),
            Message("user", QUESTION),
            Message("assistant", "665."),
            Message("user", "Are you sure?"),
        )
    },
    "prefill": {"prefill": Prefill("content", BEGUN)},
    "prefill, thinking off": {
        "prefill": Prefill("content", BEGUN),
        "sampling": Sampling(thinking=False),
    },
    "prefill of the thinking": {"prefill": Prefill("thinking", "7 + 8 = 15.")},
}


def ask(model: str = "test/m", **fields: Any) -> Request:
    provider, _, name = model.partition("/")
    named = {"provider": provider, "model": name, "messages": (Message("user", QUESTION),)}
    return Request(**named | fields)


def encoded(wire: Wire, request: Request) -> tuple[dict[str, Any] | None, str]:
    """The body, or None and the reason why there is none."""
    try:
        return wire.encode(request), ""
    except ProviderError as error:
        kind, reason = error.kind, str(error)
    assert kind == "unsupported"
    return None, reason


def sent(model: str, case: str) -> dict[str, Any]:
    """Where a request goes and what it says, or why it cannot be made."""
    known = models.resolve(model)
    if not known.base_url:
        known = msgspec.structs.replace(known, base_url="http://127.0.0.1/v1")
    request = ask(model, **CASES[case])
    body, refused = encoded(WIRES[known.wire](known.capabilities), request)
    if body is None:
        return {"unsupported": refused}
    unheeded = known.capabilities.unheeded(request.sampling)
    whole = {"url": models.endpoint(known, request.prefill), "body": body}
    return whole | ({"unheeded": unheeded} if unheeded else {})


@pytest.mark.parametrize("model", MODELS)
def test_requests_are_those_of_the_golden_file(model: str) -> None:
    """Rewritten by UPDATE_GOLDEN=1: a changed request shows as a diff of its JSON."""
    found = {case: sent(model, case) for case in CASES}
    path = GOLDEN / f"{model.replace('/', '-').replace(':', '-').lower()}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    assert found == json.loads(path.read_text("utf-8"))


def test_every_provider_has_a_golden_file() -> None:
    known = {entry["provider"] for entry in models.listing()}
    assert known - {model.partition("/")[0] for model in MODELS} == {"anthropic", "planted"}
    assert len(list(GOLDEN.iterdir())) == len(MODELS)


def test_parameters_that_are_not_set_are_not_sent() -> None:
    assert OpenAI(Capabilities()).encode(ask()) == {
        "model": "m",
        "messages": [{"role": "user", "content": QUESTION}],
    }


def test_zero_is_a_set_temperature() -> None:
    body = OpenAI(Capabilities()).encode(ask(sampling=Sampling(temperature=0.0)))
    assert body["temperature"] == 0.0


@pytest.mark.parametrize("model", MODELS)
def test_a_prefill_is_sent_or_refused_and_never_dropped(model: str) -> None:
    wire = OpenAI(models.resolve(model).capabilities)
    for field in ("content", "thinking"):
        for thinking in (None, False):
            opened = Prefill("content" if field == "content" else "thinking", BEGUN)
            request = ask(model, prefill=opened, sampling=Sampling(thinking=thinking))
            body, refused = encoded(wire, request)
            if body is None:
                assert refused
            else:
                assert body["messages"][-1]["role"] == "assistant"
                assert BEGUN in body["messages"][-1].values()


def test_reasoning_of_earlier_turns_is_sent_or_refused() -> None:
    turns = (Message("assistant", "665.", reasoning="7 + 8 = 15."), Message("user", "Sure?"))
    with pytest.raises(ProviderError, match="get lost"):
        OpenAI(Capabilities()).encode(ask(messages=turns))
    body = OpenAI(Capabilities(history_reasoning="reasoning")).encode(ask(messages=turns))
    assert body["messages"][0]["reasoning"] == "7 + 8 = 15."


def test_the_capability_table_is_not_changed_by_requests() -> None:
    can = Capabilities(
        prefill="content", thinking_off={"k": {"a": 1}}, extra={"k": {"b": 2}}, effort="k.c"
    )
    request = ask(sampling=Sampling(thinking=False, effort="low"))
    for _ in range(2):
        assert OpenAI(can).encode(request)["k"] == {"a": 1, "b": 2, "c": "low"}
    assert (can.thinking_off, can.extra) == ({"k": {"a": 1}}, {"k": {"b": 2}})


def test_a_seed_depends_on_the_sample_and_not_on_the_lane() -> None:
    wire = OpenAI(Capabilities(seeded=True))
    seeds = [wire.encode(ask(sample=i))["seed"] for i in range(20)]
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 1 << 31 for seed in seeds)
    assert wire.encode(ask(lane="x"))["seed"] == seeds[0]


# --- decoding ------------------------------------------------------------------------


def reply(message: Any, finish: Any = "stop", **more: Any) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return msgspec.json.encode({"choices": [choice], **more})


def decode(body: bytes, request: Request | None = None, **can: Any) -> Response:
    return OpenAI(Capabilities(**can)).decode(body, request or ask())


@pytest.mark.parametrize(
    ("message", "content", "reasoning"),
    [
        ({"content": "665"}, "665", None),
        ({"content": "665", "reasoning_content": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "reasoning": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "thinking": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "reasoning_content": None, "reasoning": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "reasoning_content": "", "reasoning": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "reasoning_content": "7 + 8", "reasoning": "7 + 8"}, "665", "7 + 8"),
        ({"content": "665", "reasoning_content": None}, "665", None),
        ({"content": "665", "reasoning_content": ""}, "665", ""),
        # thinking that used up the limit, and thinking that stopped
        ({"content": None, "reasoning_content": "7 + 8"}, "", "7 + 8"),
        ({"content": "", "reasoning": "7 + 8"}, "", "7 + 8"),
        ({"content": "\n\n", "reasoning": "7 + 8"}, "\n\n", "7 + 8"),
        ({"role": "assistant", "reasoning": "7 + 8"}, "", "7 + 8"),
        ({"role": "assistant", "content": None}, "", None),
        ({"role": "assistant"}, "", None),
        ({"content": None, "tool_calls": [{"id": "1"}]}, "", None),
        # inline tags are another module's business
        ({"content": "<think>7 + 8</think>665"}, "<think>7 + 8</think>665", None),
        # lists of parts
        ({"content": [{"type": "text", "text": "66"}, {"type": "text", "text": "5"}]}, "665", None),
        ({"content": ["66", "5"]}, "665", None),
        ({"content": []}, "", None),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "7 + 8"}]},
                    {"type": "text", "text": "665"},
                ]
            },
            "665",
            "7 + 8",
        ),
        ({"content": [{"type": "image_url", "image_url": {"url": "u"}}]}, "", None),
        # reasoning details: text, summary, encrypted
        (
            {
                "content": "665",
                "reasoning": None,
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "7 + "},
                    {"type": "reasoning.summary", "summary": "8"},
                    {"type": "reasoning.encrypted", "data": "aGk="},
                ],
            },
            "665",
            "7 + 8",
        ),
        ({"content": "665", "reasoning_details": [{"type": "reasoning.encrypted"}]}, "665", ""),
        ({"content": "665", "reasoning": [{"type": "text", "text": "7 + 8"}]}, "665", "7 + 8"),
    ],
)
def test_content_and_reasoning_are_found_wherever_they_are(
    message: dict[str, Any], content: str, reasoning: str | None
) -> None:
    body = reply(message)
    found = decode(body)
    assert (found.content, found.reasoning, found.flags) == (content, reasoning, ())
    assert found.raw == body.decode()


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        *(("stop", "stop"), ("eos", "stop"), ("end_turn", "stop"), ("STOP", "stop")),
        *(("length", "length"), ("max_tokens", "length"), ("MAX_TOKENS", "length")),
        *(("content_filter", "content_filter"), ("SAFETY", "content_filter")),
        *(("tool_calls", "tool_calls"), (None, "unknown"), ("", ""), ("something", "something")),
    ],
)
def test_the_end_is_stop_length_or_content_filter_or_in_the_servers_words(
    said: str | None, finish: str
) -> None:
    assert decode(reply({"content": "665"}, said)).finish == finish


@pytest.mark.parametrize("said", ["insufficient_system_resource", "aborted", "abort", "error"])
def test_a_reply_that_the_server_broke_off_is_no_answer(said: str) -> None:
    with pytest.raises(ProviderError, match=said) as caught:
        decode(reply({"content": "66"}, said))
    assert (caught.value.kind, caught.value.retryable) == ("server", True)


def test_a_refusal_field_is_a_refusal() -> None:
    found = decode(reply({"content": None, "refusal": "I can't help with that."}))
    assert (found.content, found.finish) == ("I can't help with that.", "content_filter")
    assert decode(reply({"content": "665", "refusal": None})).finish == "stop"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Usage()),
        ({"prompt_tokens": None, "completion_tokens": None}, Usage()),
        ({"prompt_tokens": 12, "completion_tokens": 3}, Usage(prompt=12, completion=3)),
        ({"prompt_tokens": 12, "completion_tokens": 0}, Usage(prompt=12)),
        (
            {"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 0}},
            Usage(prompt=12, cached=0),
        ),
        (
            {"prompt_tokens": 12, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 8},
            Usage(prompt=12, cached=8),
        ),
        (
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}},
            Usage(completion=9, reasoning=7),
        ),
        (
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 0}},
            Usage(completion=9, reasoning=0),
        ),
        ({"prompt_tokens": "12", "completion_tokens": 3.0}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": -3}, Usage()),
        ({"prompt_tokens": 10**30, "completion_tokens": [3]}, Usage()),
        ([1, 2], Usage()),
        ("many", Usage()),
    ],
)
def test_usage_is_what_can_be_true_else_nothing(usage: Any, expected: Usage) -> None:
    assert decode(reply({"content": "665"}, usage=usage)).usage == expected


def test_no_reasoning_tokens_beside_reasoning_is_no_count() -> None:
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 0}}
    found = decode(reply({"content": "665", "reasoning": "7 + 8"}, usage=usage))
    assert found.usage == Usage(completion=9)
    silent = decode(reply({"content": ""}, usage={"prompt_tokens": 4, "completion_tokens": 0}))
    assert silent.usage == Usage(prompt=4, completion=0)


OPENED = ask(prefill=Prefill("content", BEGUN + " "))
THOUGHT = ask(prefill=Prefill("thinking", "7 + 8 = 15."))


@pytest.mark.parametrize(
    ("said", "content"),
    [
        (f"{BEGUN} 7 + 8 = 15.", "7 + 8 = 15."),
        (f"{BEGUN}\n7 + 8 = 15.", "\n7 + 8 = 15."),  # the template trimmed its end
        (f"{BEGUN} {BEGUN} 15", f"{BEGUN} 15"),
        (f"{BEGUN} ", ""),
        ("7 + 8 = 15.", "7 + 8 = 15."),
        (f"So: {BEGUN} 15", f"So: {BEGUN} 15"),
        ("", ""),
    ],
)
def test_an_echoed_prefill_is_taken_off_exactly_once(said: str, content: str) -> None:
    can: dict[str, Any] = {"prefill": "content", "echoes_prefill": True}
    assert decode(reply({"content": said}), OPENED, **can).content == content
    assert decode(reply({"content": said}), OPENED, prefill="content").content == said
    assert decode(reply({"content": said}), ask(), **can).content == said


def test_an_echoed_prefill_of_the_thinking_is_taken_off_the_reasoning() -> None:
    body = reply({"content": "665", "reasoning": "7 + 8 = 15. So 5."})
    found = decode(body, THOUGHT, prefill="thinking", echoes_prefill=True)
    assert (found.content, found.reasoning) == ("665", " So 5.")


@pytest.mark.parametrize(
    ("request_", "moved"),
    [
        (OPENED, True),
        (ask(sampling=Sampling(thinking=False)), True),
        (THOUGHT, False),
        (ask(), False),
        (ask(sampling=Sampling(thinking=True)), False),
    ],
)
@pytest.mark.parametrize("content", [None, "", "\n"])
def test_an_answer_filed_as_reasoning_is_the_content_and_flagged(
    request_: Request, content: str | None, *, moved: bool
) -> None:
    found = decode(reply({"content": content, "reasoning_content": "7 + 8 = 15."}), request_)
    if moved:
        assert (found.content, found.reasoning) == ("7 + 8 = 15.", None)
        assert found.flags == ("answer_in_reasoning",)
    else:
        assert (found.content, found.reasoning) == (content or "", "7 + 8 = 15.")
        assert found.flags == ()


def test_an_answer_beside_reasoning_stays_where_it_is() -> None:
    found = decode(reply({"content": "665", "reasoning_content": "7 + 8"}), OPENED)
    assert (found.content, found.reasoning, found.flags) == ("665", "7 + 8", ())


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"message": "slow down", "code": 429}, "rate_limit", True),
        ({"message": "bad gateway", "code": "502"}, "server", True),
        ({"message": "no such model", "code": 404}, "not_found", False),
        ({"message": "who?", "code": 401}, "auth", False),
        ({"message": "odd", "code": "weird"}, "server", True),
        ({"message": "odd", "code": 7}, "server", True),
        ({"message": ["odd"], "code": {}}, "server", True),
        ("overloaded", "server", True),
        ([1], "server", True),
    ],
)
def test_an_error_with_status_200_is_an_error(error: Any, kind: str, *, retryable: bool) -> None:
    with pytest.raises(ProviderError) as caught:
        decode(msgspec.json.encode({"error": error, "choices": []}))
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)


def test_an_empty_error_is_none() -> None:
    assert decode(reply({"content": "665"}, error=None)).content == "665"


@pytest.mark.parametrize("half", [b"\\ud83d", b"\xf0\x9f", b"\\udc00"])
def test_half_a_character_costs_no_paid_answer(half: bytes) -> None:
    body = b'{"choices": [{"message": {"content": "It is 42 ' + half + b'"}}]}'
    decoded = OpenAI(Capabilities()).decode(body, ask())
    assert decoded.content.rstrip("\ufffd") == "It is 42 "


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"null", b"5", b'"665"', b"[]", b"{}", b"<html>", b"\xff\xfe", b"{"),
        *(b'{"choices": null}', b'{"choices": []}', b'{"choices": {}}', b'{"choices": [5]}'),
        *(b'{"choices": [null]}', b'{"choices": [{}]}', b'{"choices": [{"message": null}]}'),
        *(reply({}), reply([]), reply("665"), reply({"foo": "665"}), reply({"content": 665})),
        *(reply({"content": {"text": "665"}}), reply({"content": [665]}), reply({"content": True})),
        *(reply({"content": [{"text": "665"}]}), reply({"content": [{"type": 5, "text": "6"}]})),
        *(reply({"content": [{"type": "text", "text": 665}]}), reply({"content": "6"}, 5)),
        *(reply({"content": "6", "reasoning": 5}), reply({"content": "6"}, ["stop"])),
        reply({"content": "6", "reasoning_details": {"type": "reasoning.text"}}),
        *(b'{"choices": ' + b"[" * 100_000, b'{"a":' * 100_000),
        b'{"choices": [{"message": {"content": ' + b"[" * 400 + b"]" * 400 + b"}}]}",
    ],
)
def test_what_is_no_answer_is_garbage(body: bytes) -> None:
    with pytest.raises(ProviderError) as caught:
        decode(body)
    assert (caught.value.kind, caught.value.retryable) == ("garbage", True)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "content", "thinking", "message", "error", "code", "choices", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)
WHOLE = {
    "id": "c-1",
    "error": None,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "665"}],
                "reasoning_content": "7 + 8",
                "reasoning": None,
                "reasoning_details": [{"type": "reasoning.text", "text": "7"}],
                "refusal": None,
            },
        }
    ],
    "usage": {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    },
}


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The place of every node of a JSON value."""
    below: Any = ()
    if isinstance(value, dict | list):
        below = value.items() if isinstance(value, dict) else enumerate(value)
    return [at, *(path for name, inner in below for path in paths(inner, (*at, name)))]


def altered(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = altered(copy[path[0]], path[1:], new)
    return copy


KINDS = {"garbage", "server", "auth", "not_found", "rate_limit", "bad_request", "timeout"}


def sound(body: bytes) -> None:
    """A body decodes to a well-typed answer, or to one of the errors there are."""
    for request in (ask(), OPENED, THOUGHT, ask(sampling=Sampling(thinking=False))):
        found: Response | str
        try:
            found = decode(body, request, prefill="thinking", echoes_prefill=True)
        except ProviderError as error:
            found = error.kind
        if isinstance(found, str):
            assert found in KINDS
        else:
            assert found == msgspec.json.decode(msgspec.json.encode(found), type=Response)


@given(st.sampled_from(paths(WHOLE)), JSON)
def test_any_value_in_any_place_is_an_answer_or_an_error(path: tuple[Any, ...], new: Any) -> None:
    sound(msgspec.json.encode(altered(WHOLE, path, new)))


@given(JSON | st.binary(max_size=60) | st.integers(0, 400))
def test_any_body_is_an_answer_or_an_error(body: Any) -> None:
    if isinstance(body, int) and not isinstance(body, bool):
        body = msgspec.json.encode(WHOLE)[:body]
    sound(body if isinstance(body, bytes) else msgspec.json.encode(body))


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_an_echo_comes_off_and_nothing_else(
    prefill: str,
    said: str,
    echoes: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    request = ask(prefill=Prefill("content", prefill))
    body = reply({"content": prefill + said if echoes else said})
    found = decode(body, request, prefill="content", echoes_prefill=echoes)
    assert found.content == said


def test_statuses_are_sorted_by_whether_asking_again_can_help() -> None:
    again = {status for status in range(300, 600) if error_of_status(status, "").retryable}
    assert again == {408, 409, 425, 429, *range(500, 600)}


@given(st.text())
def test_a_message_is_one_short_line(text: str) -> None:
    line = one_line(text, 40)
    assert len(line) <= 40
    assert len(line.splitlines()) <= 1
