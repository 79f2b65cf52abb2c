"""What comes back is an answer, an error or garbage, whichever dialect it is in."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.errors import ProviderError
from misled.models import Capabilities
from misled.records import Message, Prefill, Request, Response, Sampling, Usage
from misled.wire import WIRES
from misled.wire.base import error_of_status, one_line
from misled.wire.openai import OpenAI

QUESTION = "What is 637 + 28?"
BEGUN = "I begin with the last digits:"


def ask(**fields: Any) -> Request:
    named = {"provider": "test", "model": "m", "messages": (Message("user", QUESTION),)}
    return Request(**named | fields)


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
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 500}},
            Usage(prompt=9),
        ),
        (
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 500}},
            Usage(completion=9),
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
CLOSED = ask(prefill=Prefill("thinking", "7 + 8 = 15.", closed=True))
ARRIVED = {"prompt_tokens": 40, "completion_tokens": 9}


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


def test_an_echo_is_taken_off_whichever_field_it_is_in() -> None:
    """Of the thinking, of an answer filed as reasoning, of one in front of the reasoning."""
    body = reply({"content": "665", "reasoning": "7 + 8 = 15. So 5."})
    found = decode(body, THOUGHT, prefill="thinking", echoes_prefill=True)
    assert (found.content, found.reasoning) == ("665", " So 5.")
    can: dict[str, Any] = {"prefill": "content", "echoes_prefill": True}
    for content, reasoning in ((f"{BEGUN} ", "7 + 8"), (None, f"{BEGUN} 7 + 8")):
        found = decode(reply({"content": content, "reasoning": reasoning}), OPENED, **can)
        assert (found.content, found.reasoning) == ("7 + 8", None)
        assert found.flags == ("answer_in_reasoning",)


def test_a_closed_thinking_that_is_echoed_is_no_reasoning_of_the_reply() -> None:
    """llama.cpp repeats the chain and the line break that its template lays behind it."""
    body = reply({"content": "665", "reasoning_content": "7 + 8 = 15.\n"})
    found = decode(body, CLOSED, prefill="thinking", echoes_prefill=True)
    assert (found.content, (found.reasoning or "").strip(), found.flags) == ("665", "", ())
    silent = reply({"content": "", "reasoning_content": "7 + 8 = 15.\n"})
    found = decode(silent, CLOSED, prefill="thinking", echoes_prefill=True)
    assert (found.content, (found.reasoning or "").strip(), found.flags) == ("", "", ())


TAGGED: dict[str, Any] = {
    "prefill": "thinking",
    "thinking_field": "content",
    "think_open": "<think>\n",
    "think_close": "\n</think>\n\n",
    "echoes_prefill": True,
}


@pytest.mark.parametrize(
    ("message", "content", "reasoning"),
    [
        # no parser: an open thinking that was closed is cut by its tag, later
        ({"content": " So 5.</think>665"}, " So 5.</think>665", None),
        ({"content": "<think>\n7 + 8 = 15. So 5.</think>665"}, " So 5.</think>665", None),
        # and one that was not is no answer, though it stands in the content
        ({"content": " So the answer is 5, wait"}, "", " So the answer is 5, wait"),
        ({"content": "<think>\n7 + 8 = 15. So 6"}, "", " So 6"),
        ({"content": " So 6", "reasoning": ""}, "", " So 6"),
        # a parser that knows that the thinking is open
        ({"content": "665", "reasoning": " So 5."}, "665", " So 5."),
        ({"content": None, "reasoning": " So 5."}, "", " So 5."),
    ],
)
def test_a_thinking_opened_in_the_content_is_thinking_until_it_is_closed(
    message: dict[str, Any], content: str, reasoning: str | None
) -> None:
    found = decode(reply(message, usage=ARRIVED), THOUGHT, **TAGGED)
    assert (found.content, found.reasoning, found.flags) == (content, reasoning, ())


@pytest.mark.parametrize(
    "message",
    [
        {"content": "665"},
        {"content": "<think>\n7 + 8 = 15.\n</think>\n\n665"},
        {"content": None, "reasoning": "665"},
        {"content": "", "reasoning": "7 + 8 = 15.\n</think>\n\n665"},
    ],
)
def test_what_follows_a_closed_thinking_is_the_answer_wherever_it_is_filed(
    message: dict[str, Any],
) -> None:
    found = decode(reply(message, usage=ARRIVED), CLOSED, **TAGGED)
    assert found.content.removeprefix("\n</think>\n\n") == "665"
    assert found.reasoning is None
    assert found.flags == (() if message["content"] else ("answer_in_reasoning",))


LONG = "7 + 8 = 15, and so on. " * 10


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(
    ("usage", "can", "words"),
    [
        (None, {}, "no count of prompt tokens"),
        ({"prompt_tokens": 0}, {}, "no count of prompt tokens"),
        ({"prompt_tokens": 14}, {}, "was dropped: 14 prompt tokens for 85 words"),
        ({"prompt_tokens": 84}, {}, "was dropped"),
        ({"prompt_tokens": 85}, {}, None),
        ({"prompt_tokens": 14}, {"arrival": "trusted"}, None),
        (None, {"arrival": "trusted"}, None),
        ({"prompt_tokens": 85}, {"arrival": "echoed"}, "does not begin with it"),
    ],
)
def test_a_prefilled_thinking_that_did_not_arrive_makes_no_number(
    usage: Any, can: dict[str, Any], words: str | None, *, closed: bool
) -> None:
    """Templates without thinking drop it and the model answers the bare question."""
    asked = ask(prefill=Prefill("thinking", LONG, closed=closed))
    body = reply({"content": "665", "reasoning": "I add"}, usage=usage)
    if words is None:
        assert decode(body, asked, prefill="thinking", **can).content == "665"
        return
    with pytest.raises(ProviderError, match=words) as caught:
        decode(body, asked, prefill="thinking", **can)
    assert (caught.value.kind, caught.value.retryable) == ("unsupported", False)


def test_an_echo_proves_that_the_thinking_arrived() -> None:
    asked = ask(prefill=Prefill("thinking", LONG))
    body = reply({"content": "", "reasoning_content": f"{LONG}So 5."})
    for arrival in ("counted", "echoed", "trusted"):
        found = decode(body, asked, prefill="thinking", echoes_prefill=True, arrival=arrival)
        assert found.reasoning == "So 5."


@pytest.mark.parametrize(
    ("request_", "moved"),
    [
        (OPENED, True),
        (ask(sampling=Sampling(thinking=False)), True),
        (CLOSED, True),
        (THOUGHT, False),
        (ask(), False),
        (ask(sampling=Sampling(thinking=True)), False),
    ],
)
@pytest.mark.parametrize("content", [None, "", "\n"])
def test_an_answer_filed_as_reasoning_is_the_content_and_flagged(
    request_: Request, content: str | None, *, moved: bool
) -> None:
    body = reply({"content": content, "reasoning_content": "So it is 665."}, usage=ARRIVED)
    found = decode(body, request_)
    if moved:
        assert (found.content, found.reasoning) == ("So it is 665.", None)
        assert found.flags == ("answer_in_reasoning",)
    else:
        assert (found.content, found.reasoning) == (content or "", "So it is 665.")
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
        ({"message": "who?", "code": "invalid_api_key"}, "auth", False),
        ({"message": "pay", "code": None, "type": "insufficient_quota"}, "auth", False),
        ({"message": "odd", "code": "weird"}, "server", True),
        ({"message": "odd", "code": "weird", "type": "invalid_request_error"}, "server", True),
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


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e999"])
def test_a_number_that_is_none_costs_no_paid_answer(number: bytes) -> None:
    """Servers in Python write them, as for the logarithm of a probability of 0."""
    body = reply({"content": "It is 42"})[:-1] + b', "logprob": ' + number + b"}"
    assert decode(body).content == "It is 42"


def test_a_reply_without_an_answer_is_quoted() -> None:
    """Gateways word errors in shapes of their own, with status 200."""
    with pytest.raises(ProviderError, match=r"no choices.*InvalidApiKey"):
        decode(b'{"code": "InvalidApiKey", "message": "who?"}')


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
WHOLE: dict[str, dict[str, Any]] = {
    "openai": {
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
    },
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "7 + 8", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "aGk="},
            {"type": "text", "text": "665"},
        ],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 4,
            "cache_creation_input_tokens": 0,
            "output_tokens": 3,
        },
    },
}
NODES = [(wire, path) for wire, whole in WHOLE.items() for path in paths(whole)]
KINDS = {
    *("garbage", "server", "auth", "not_found", "rate_limit", "bad_request", "timeout"),
    "unsupported",
}


def sound(wire: str, body: bytes) -> None:
    """A body decodes to a well-typed answer, or to one of the errors there are."""
    can = Capabilities(prefill="thinking", echoes_prefill=True)
    off = ask(sampling=Sampling(thinking=False))
    for request in (ask(), OPENED, THOUGHT, CLOSED, off):
        found: Response | str
        try:
            found = WIRES[wire](can).decode(body, request)
        except ProviderError as error:
            found = error.kind
        if isinstance(found, str):
            assert found in KINDS
        else:
            assert found == msgspec.json.decode(msgspec.json.encode(found), type=Response)


@pytest.mark.parametrize("wire", WIRES)
def test_every_dialect_says_the_same_of_its_whole_reply(wire: str) -> None:
    found = WIRES[wire](Capabilities()).decode(msgspec.json.encode(WHOLE[wire]), ask())
    assert (found.content, found.reasoning, found.finish) == ("665", "7 + 8", "stop")
    counts = found.usage
    assert (counts.prompt, counts.cached, counts.completion) == (9, 4, 3)


@given(st.sampled_from(NODES), JSON)
def test_any_value_in_any_place_is_an_answer_or_an_error(
    node: tuple[str, tuple[Any, ...]], new: Any
) -> None:
    wire, path = node
    sound(wire, msgspec.json.encode(altered(WHOLE[wire], path, new)))


@given(st.sampled_from(list(WIRES)), JSON | st.binary(max_size=60) | st.integers(0, 400))
def test_any_body_is_an_answer_or_an_error(wire: str, body: Any) -> None:
    if isinstance(body, int) and not isinstance(body, bool):
        body = msgspec.json.encode(WHOLE[wire])[:body]
    sound(wire, body if isinstance(body, bytes) else msgspec.json.encode(body))


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
