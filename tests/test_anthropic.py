"""Anthropic's Messages: what is sent, what comes back, and the way through the engine."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from aiohttp import web

from misled import models
from misled.engines.http import Http, Limits, World
from misled.errors import ProviderError
from misled.models import Capabilities
from misled.records import Answer, Failure, Message, Prefill, Request, Response, Sampling, Usage
from misled.wire import WIRES
from servers import Handler, Server, ask_all, fail, script, serving

CAN = Capabilities(max_tokens=900, prefill="content", history_reasoning="")
WIRE = WIRES["anthropic"](CAN)
CANARY = "sk-ant-canary-1234"


def ask(text: str = "What is 2 + 3?", **fields: Any) -> Request:
    named = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
    return Request(**named | {"messages": (Message("user", text),)} | fields)


def message(*blocks: Any, **more: Any) -> dict[str, Any]:
    """A whole reply of these content blocks."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": list(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 4},
    } | more


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def decode(reply: Any, request: Request | None = None, wire: Any = WIRE) -> Response:
    found = wire.decode(msgspec.json.encode(reply), request or ask())
    assert isinstance(found, Response)
    return found


# --- requests --------------------------------------------------------------------------------


def refusal(request: Request, **can: Any) -> str:
    wire = WIRES["anthropic"](msgspec.structs.replace(CAN, **can))
    with pytest.raises(ProviderError) as caught:
        wire.encode(request)
    assert (caught.value.kind, caught.value.retryable) == ("unsupported", False)
    return str(caught.value)


def test_the_system_s_words_stand_beside_the_conversation() -> None:
    turns = (Message("system", "Be brief."), Message("system", "Add."), Message("user", "2 + 3?"))
    assert WIRE.encode(ask(messages=turns)) == {
        "model": "claude-sonnet-4-5",
        "system": "Be brief.\n\nAdd.",
        "messages": [{"role": "user", "content": "2 + 3?"}],
        "max_tokens": 900,
    }
    late = (Message("user", "2 + 3?"), Message("system", "Be brief."), Message("user", "Now."))
    assert "has to come first" in refusal(ask(messages=late))


def test_a_limit_is_needed_from_the_plan_or_the_table() -> None:
    assert WIRE.encode(ask(sampling=Sampling(max_tokens=7)))["max_tokens"] == 7
    assert "set max_tokens" in refusal(ask(), max_tokens=None)


@pytest.mark.parametrize("words", ["So: ", "So:\n", " ", "So:\u2003"])
def test_a_prefill_that_ends_in_white_space_is_refused(words: str) -> None:
    assert "white space" in refusal(ask(prefill=Prefill("content", words)))


def test_a_prefill_is_the_last_message() -> None:
    turns = WIRE.encode(ask(prefill=Prefill("content", "So:")))["messages"]
    assert turns[-1] == {"role": "assistant", "content": "So:"}


def test_thinking_cannot_be_sent_since_its_signature_would_not_fit() -> None:
    """Neither as a prefill nor in an earlier turn: an edited block is answered with 400."""
    assert "of its thinking" in refusal(ask(prefill=Prefill("thinking", "2 + 3 is 6.")))
    turns = (Message("assistant", "6", reasoning="2 + 3 is 6."), Message("user", "Sure?"))
    assert "get lost" in refusal(ask(messages=turns))


# --- replies ---------------------------------------------------------------------------------

SIGNED = {"type": "thinking", "thinking": "2 + 3 is 5.", "signature": "c2lnbmF0dXJl"}
HIDDEN = {"type": "redacted_thinking", "data": "aGlkZGVu"}
OMITTED = {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl"}


@pytest.mark.parametrize(
    ("blocks", "content", "reasoning"),
    [
        ([text("5")], "5", None),
        ([text("It is "), text("5")], "It is 5", None),
        ([SIGNED, text("5")], "5", "2 + 3 is 5."),
        ([SIGNED, HIDDEN, SIGNED, text("5")], "5", "2 + 3 is 5.2 + 3 is 5."),
        ([HIDDEN, text("5")], "5", ""),
        ([OMITTED, text("5")], "5", ""),
        ([SIGNED], "", "2 + 3 is 5."),
        ([], "", None),
        ([{"type": "tool_use", "id": "t", "name": "add", "input": {}}], "", None),
        ([{"type": "text", "text": "5", "citations": None}], "5", None),
    ],
)
def test_blocks_are_content_or_reasoning(
    blocks: list[Any], content: str, reasoning: str | None
) -> None:
    found = decode(message(*blocks))
    assert (found.content, found.reasoning, found.flags) == (content, reasoning, ())


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        *(("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length")),
        *(("model_context_window_exceeded", "length"), ("refusal", "content_filter")),
        *(("tool_use", "tool_use"), ("of_next_year", "of_next_year"), (None, "unknown")),
    ],
)
def test_the_end_is_stop_length_or_content_filter_or_in_the_server_s_words(
    said: str | None, finish: str
) -> None:
    assert decode(message(text("5"), stop_reason=said)).finish == finish


def test_a_turn_that_was_paused_is_no_answer() -> None:
    with pytest.raises(ProviderError, match="pause_turn") as caught:
        decode(message(text("Let me"), stop_reason="pause_turn"))
    assert (caught.value.kind, caught.value.retryable) == ("server", True)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 4}, Usage(prompt=9, completion=4)),
        (
            {
                "input_tokens": 9,
                "cache_read_input_tokens": 2000,
                "cache_creation_input_tokens": 100,
                "output_tokens": 4,
            },
            Usage(prompt=2109, cached=2000, completion=4),
        ),
        (
            {"input_tokens": 9, "cache_read_input_tokens": None, "output_tokens": 4},
            Usage(prompt=9, completion=4),
        ),
        (
            {"input_tokens": 0, "cache_read_input_tokens": 50, "output_tokens": 4},
            Usage(prompt=50, cached=50, completion=4),
        ),
        ({"cache_read_input_tokens": 50}, Usage()),
        ({"input_tokens": 0, "output_tokens": 0}, Usage()),
        ({"input_tokens": -1, "output_tokens": "4"}, Usage()),
        *((None, Usage()), ([], Usage())),
    ],
)
def test_the_prompt_counts_what_was_cached(usage: Any, expected: Usage) -> None:
    assert decode(message(text("5"), usage=usage)).usage == expected


def test_what_follows_a_prefill_is_the_content_alone() -> None:
    """The server never repeats the prefill; a reply that says it again said it itself."""
    found = decode(message(text(" So: 5")), ask(prefill=Prefill("content", "So:")))
    assert found.content == " So: 5"


@pytest.mark.parametrize(
    ("kind", "expected", "retryable"),
    [
        *(("overloaded_error", "server", True), ("api_error", "server", True)),
        *(("timeout_error", "server", True), ("rate_limit_error", "rate_limit", True)),
        *(("authentication_error", "auth", False), ("permission_error", "auth", False)),
        *(("billing_error", "auth", False), ("not_found_error", "not_found", False)),
        *(("invalid_request_error", "bad_request", False),),
        *(("request_too_large", "bad_request", False), ("of_next_year", "server", True)),
        *((None, "server", True), (["api_error"], "server", True)),
    ],
)
def test_an_error_with_status_200_is_an_error(kind: Any, expected: str, *, retryable: bool) -> None:
    error = {"type": kind, "message": "No.\nNot now."}
    with pytest.raises(ProviderError, match=r"^No\. Not now\.$") as caught:
        decode({"type": "error", "error": error, "request_id": "req_1"})
    assert (caught.value.kind, caught.value.retryable) == (expected, retryable)


@pytest.mark.parametrize("error", [None, [], "no", {}, {"message": 5}])
def test_an_error_without_words_is_one_all_the_same(error: Any) -> None:
    with pytest.raises(ProviderError) as caught:
        decode({"type": "error", "error": error})
    assert (caught.value.kind, caught.value.retryable) == ("server", True)


@pytest.mark.parametrize(
    "reply",
    [
        *({}, {"type": "message"}, {"content": None}, {"content": "5"}, {"content": {}}),
        *(message(5), message({"text": "5"}), message({"type": "text", "text": 5})),
        {"choices": [{"message": {"content": "5"}, "finish_reason": "stop"}]},
    ],
)
def test_what_is_no_answer_is_garbage(reply: Any) -> None:
    with pytest.raises(ProviderError) as caught:
        decode(reply)
    assert (caught.value.kind, caught.value.retryable) == ("garbage", True)


# --- through the engine ----------------------------------------------------------------------


async def messages(request: web.Request) -> web.StreamResponse:
    """A server that is as strict as Anthropic's in what this package has to get right."""
    body = await request.json()
    last, allowed = body["messages"][-1], {"model", "messages", "system", "max_tokens", "thinking"}
    faults = {
        "anthropic-version: header is required": "anthropic-version" not in request.headers,
        "max_tokens: Field required": "max_tokens" not in body,
        "Extra inputs are not permitted": bool(body.keys() - allowed - {"temperature"}),
        "final assistant content cannot end with trailing whitespace": (
            last["role"] == "assistant" and last["content"] != last["content"].rstrip()
        ),
        "roles have to be user or assistant": any(
            turn["role"] not in {"user", "assistant"} for turn in body["messages"]
        ),
    }
    for fault, found in faults.items():
        if found:
            return error(400, "invalid_request_error", fault)
    if request.headers.get("x-api-key") != CANARY:
        return error(401, "authentication_error", "invalid x-api-key")
    thought = [SIGNED] if body.get("thinking", {}).get("type") == "enabled" else []
    return web.json_response(message(*thought, text(" 5")))


def error(status: int, kind: str, words: str) -> web.Response:
    told = {"type": "error", "error": {"type": kind, "message": words}}
    return web.json_response(told, status=status)


def asked(handler: Handler, *requests: Request, key: str = CANARY) -> tuple[list[Answer], Server]:
    """The engine's answers, with pauses that take no time."""

    async def rest(_: float) -> None:
        return None

    async def run() -> tuple[list[Answer], Server]:
        async with serving(handler) as server:
            table = {"anthropic": {"base_url": f"{server.url}/v1", "key_env": "OWN_KEY"}}
            engine = Http(
                lambda r: models.resolve(f"anthropic/{r.model}", providers=table),
                limits=Limits(tries=3),
                world=World(environ={"OWN_KEY": key}, sleep=rest),
            )
            found = await ask_all(engine, requests)
            return [found[request] for request in requests], server

    return asyncio.run(run())


def test_a_model_of_anthropic_is_asked_from_its_name_to_its_answer() -> None:
    prefixed = ask(prefill=Prefill("content", "I add:"))
    thinking = ask(sampling=Sampling(thinking=True, max_tokens=9000))
    system = ask(messages=(Message("system", "Be brief."), Message("user", "2 + 3?")))
    answers, server = asked(messages, ask(), prefixed, thinking, system)
    for answer in answers:
        assert isinstance(answer, Response), answer
        assert (answer.content, answer.finish) == (" 5", "stop")
        assert answer.usage == Usage(prompt=9, completion=4)
        assert answer.reasoning == ("2 + 3 is 5." if answer is answers[2] else None)
    for path, headers, _ in server.seen:
        assert path == "/v1/messages"
        assert headers["x-api-key"] == CANARY
        assert "Authorization" not in headers


def test_an_overloaded_server_is_asked_again() -> None:
    told = '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    (answer,), server = asked(
        script(fail(529, told), fail(429, told, Retry_After="1"), messages), ask()
    )
    assert isinstance(answer, Response)
    assert answer.attempts == len(server.seen) == 3


def test_a_wrong_key_ends_at_once_and_stays_unsaid() -> None:
    (answer,), server = asked(messages, ask(), key="sk-ant-other")
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.fatal, answer.attempts) == ("auth", True, 1)
    assert "invalid x-api-key" in answer.message
    assert "sk-ant-other" not in answer.message
    assert len(server.seen) == 1


def test_a_prompt_that_is_too_long_is_the_item_s_own_failure() -> None:
    words = "prompt is too long: 213105 tokens > 200000 maximum"
    told = msgspec.json.encode({"error": {"type": "invalid_request_error", "message": words}})
    (answer,), _ = asked(fail(400, told.decode()), ask())
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.fatal) == ("too_long", False)


def test_a_newer_model_is_never_sent_a_prefill() -> None:
    newer = ask(model="claude-opus-4-7", prefill=Prefill("content", "I add:"))
    (answer,), server = asked(messages, newer)
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.attempts, server.seen) == ("unsupported", 0, [])
