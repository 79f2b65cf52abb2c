"""The HTTP engine against real servers that answer, refuse, stall and lie."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
import pytest
from aiohttp import web

from misled.engines.http import Http, Limits, World
from misled.errors import UserError
from misled.models import Model
from misled.records import Answer, Failure, Prefill, Request, Response
from servers import (
    Handler,
    Requests,
    ask,
    ask_all,
    completion,
    echo,
    fail,
    half,
    model,
    never,
    reset,
    say,
    script,
    send,
    serving,
)

CANARY = "sk-canary-5f3a9c0270"


@dataclass
class Clock:
    """Time that passes only in `sleep`, which is heard."""

    time: float = 0.0
    pauses: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds

    def world(self, **environ: str) -> World:
        return World(
            environ=environ,
            clock=lambda: self.time,
            sleep=self.sleep,
            random=lambda: 0.5,
            now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC),
        )


def asked(handler: Handler, *, limits: Limits | None = None) -> tuple[Answer, list[float], int]:
    """The answer to one request, the pauses before it, and how often the server was asked."""

    async def run() -> tuple[Answer, list[float], int]:
        clock = Clock()
        async with serving(handler) as server:
            engine = Http(lambda _: model(server.url), limits=limits, world=clock.world())
            (answer,) = (await ask_all(engine, [ask("2 + 3")])).values()
            return answer, clock.pauses, len(server.seen)

    return asyncio.run(run())


def failure(answer: Answer) -> Failure:
    assert isinstance(answer, Failure), answer
    return answer


def response(answer: Answer) -> Response:
    assert isinstance(answer, Response), answer
    return answer


def test_every_request_is_sent_once_and_gets_its_own_answer() -> None:
    async def run() -> None:
        async with serving(echo()) as server:
            engine = Http(lambda _: model(server.url), concurrency=7)
            found = await ask_all(engine, [ask(f"question {i}") for i in range(100)])
            assert {r.messages[0].content: response(a).content for r, a in found.items()} == {
                f"question {i}": f"question {i}" for i in range(100)
            }
            assert len(server.seen) == 100
            assert 1 < server.most <= 7

    asyncio.run(run())


def test_connections_are_used_again() -> None:
    peers = set()

    async def noted(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return web.json_response(completion())

    async def run() -> None:
        async with serving(noted) as server:
            engine = Http(lambda _: model(server.url), concurrency=3)
            await ask_all(engine, [ask(f"{i}") for i in range(60)])

    asyncio.run(run())
    assert len(peers) == 3


def test_a_request_goes_to_the_path_of_its_wire_with_the_key_as_bearer() -> None:
    async def run() -> None:
        async with serving(say()) as server:
            keyed = model(f"{server.url}/v1", key_env="TEST_KEY")
            engine = Http(lambda _: keyed, world=Clock().world(TEST_KEY=f" {CANARY}\n"))
            await ask_all(engine, [ask("2 + 3")])
            ((path, headers, body),) = server.seen
            assert path == "/v1/chat/completions"
            assert headers["Authorization"] == f"Bearer {CANARY}"
            assert headers["Content-Type"] == "application/json"
            assert body == {"model": "m", "messages": [{"role": "user", "content": "2 + 3"}]}

    asyncio.run(run())


@pytest.mark.parametrize(
    "fault",
    [
        *(fail(status) for status in (408, 409, 429, 500, 502, 503, 504, 529)),
        *(reset, half),
        *(send(b'{"choices": [{"mess'), send(b""), send(b"{}"), send(b'{"error": "overloaded"}')),
        *(send(b"<!DOCTYPE html><p>Bad gateway</p>", "text/html"), send(b"5", "text/plain")),
    ],
)
def test_what_may_pass_is_asked_again(fault: Handler) -> None:
    answer, pauses, count = asked(script(fault, fault, say()))
    assert response(answer).content == "5"
    assert response(answer).attempts == count == 3
    assert pauses == [0.25, 0.5]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((400, "bad_request"), (401, "auth"), (402, "auth"), (403, "auth"), (404, "not_found")),
        *((405, "bad_request"), (413, "bad_request"), (422, "bad_request")),
    ],
)
def test_what_would_fail_again_is_a_failure_at_once(status: int, kind: str) -> None:
    answer, pauses, count = asked(fail(status, '{"error": {"message": "no such\\nthing"}}'))
    found = failure(answer)
    assert (found.kind, found.status, found.attempts, found.fatal) == (kind, status, 1, True)
    assert "no such thing" in found.message
    assert (pauses, count) == ([], 1)


@pytest.mark.parametrize("name", ["insufficient_quota", "exceeded_current_quota_error"])
def test_an_empty_account_is_no_passing_rate_limit(name: str) -> None:
    body = f'{{"error": {{"type": "{name}", "message": "check your plan"}}}}'
    found = failure(asked(fail(429, body))[0])
    assert (found.kind, found.attempts, found.fatal) == ("auth", 1, True)


def test_a_prompt_above_the_context_fails_alone() -> None:
    body = '{"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long"}}'
    found = failure(asked(fail(400, body))[0])
    assert (found.kind, found.attempts, found.fatal) == ("too_long", 1, False)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"error": {"code": "content_filter", "message": "the content management policy"}}'),
        (400, '{"error": {"code": "invalid_prompt", "message": "against our usage policy"}}'),
        (400, '{"code": "data_inspection_failed", "message": "inappropriate content"}'),
        (400, '{"error": {"code": "SensitiveContentDetected", "message": "sensitive"}}'),
        (400, '{"error": {"message": "Content Exists Risk", "type": "invalid_request_error"}}'),
        (403, '{"error": {"code": 403, "message": "This model requires moderation."}}'),
    ],
)
def test_a_text_that_a_filter_turns_away_fails_alone(status: int, body: str) -> None:
    answer, _, count = asked(fail(status, body))
    found = failure(answer)
    assert (found.kind, found.fatal, count) == ("filtered", False, 1)


def test_a_server_that_turns_all_away_is_knocked_at_more_often() -> None:
    answer, pauses, count = asked(fail(429), limits=Limits(tries=3, knocks=9))
    assert (failure(answer).kind, failure(answer).attempts, count) == ("rate_limit", 9, 9)
    assert not failure(answer).fatal
    assert max(pauses) == 30.0


def test_attempts_end_and_the_failure_says_how_many_there_were() -> None:
    answer, pauses, count = asked(fail(503, "busy"), limits=Limits(tries=4))
    found = failure(answer)
    assert (found.kind, found.status, found.attempts, found.fatal) == ("server", 503, 4, False)
    assert found.message.endswith("answered 503: busy")
    assert count == 4
    assert pauses == [0.25, 0.5, 1.0]


def test_no_attempt_begins_after_the_patience_is_spent() -> None:
    answer, pauses, count = asked(fail(500), limits=Limits(tries=99, patience=10, longest_pause=4))
    assert sum(pauses) <= 10
    assert failure(answer).attempts == count == len(pauses) + 1 < 99
    assert max(pauses) == 2.0


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "2.5"}, 2.5),
        # a date counts by the server's clock, else by ours (12:00)
        (
            {
                "Retry_After": "Mon, 30 Nov 2026 13:00:09 GMT",
                "Date": "Mon, 30 Nov 2026 13:00:00 GMT",
            },
            9.0,
        ),
        ({"Retry_After": "Mon, 30 Nov 2026 12:00:05 GMT", "Date": "today"}, 5.0),
        ({"Retry_After": "Mon, 30 Nov 2026 12:00:05", "Date": "today"}, 5.0),
        # and what is no time is no wait
        *(({"Retry_After": text}, 0.0) for text in ("-3", "nan", "inf", "1e999", "soon", "", "0")),
        ({"Retry_After": "Mon, 30 Nov 99999 12:00:05 GMT", "Date": "today"}, 0.0),
        ({"Retry_After": "Mon, 30 Nov 2020 12:00:05 GMT", "Date": "today"}, 0.0),
    ],
)
def test_the_server_says_how_long_to_wait(headers: dict[str, str], wait: float) -> None:
    answer, pauses, _ = asked(script(fail(429, **headers), say()))
    assert response(answer).attempts == 2
    assert pauses == [wait + 0.25]


def test_a_wait_beyond_the_patience_ends_the_attempts() -> None:
    answer, pauses, count = asked(fail(429, Retry_After="86400"))
    assert (failure(answer).kind, pauses, count) == ("rate_limit", [], 1)
    assert failure(answer).fatal  # so would the next one be: ten in a row end the run


def test_seconds_are_those_of_the_attempt_that_succeeded() -> None:
    async def slow(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.15)
        return web.json_response(completion())

    async def run() -> None:
        async with serving(script(fail(500), slow, say())) as server:
            limits = Limits(first_pause=0.4)
            engine = Http(lambda _: model(server.url), concurrency=1, limits=limits)
            found = await ask_all(engine, [ask("slow"), ask("queued")])
            first, second = (response(answer) for answer in found.values())
            assert 0.15 <= first.seconds < 0.35
            assert second.seconds < 0.15

    asyncio.run(run())


def test_heartbeats_before_the_json_are_passed_over() -> None:
    body = json.dumps(completion()).encode()
    for noise in (
        b"\n\n \n",
        b": keep-alive\n\n: keep-alive\r\n\r\n",
        b"\xef\xbb\xbf",
        b":\n" * 9999,
    ):
        assert response(asked(send(noise + body))[0]).content == "5"


def test_a_flood_of_heartbeats_is_read_in_linear_time() -> None:
    for noise in (b":\n", b" ", b":", b"\n", b" :\n"):
        flood = noise * (4_000_000 // len(noise))
        assert failure(asked(send(flood), limits=Limits(tries=1))[0]).kind == "garbage"


def test_a_reply_above_the_limit_is_garbage_and_is_not_read_to_its_end() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        while True:
            await stream.write(b" " * 65536)

    answer, _, count = asked(endless, limits=Limits(body=1 << 20))
    found = failure(answer)
    assert (found.kind, count) == ("garbage", 1)
    assert found.message.endswith(": the reply is larger than 1 MiB")


def test_a_reply_that_unpacks_to_more_than_the_limit_is_garbage() -> None:
    async def bomb(_: web.Request) -> web.StreamResponse:
        packed = gzip.compress(b" " * (16 << 20))
        return web.Response(body=packed, headers={"Content-Encoding": "gzip"})

    answer, _, _ = asked(bomb, limits=Limits(body=1 << 20))
    assert failure(answer).kind == "garbage"


def test_a_body_that_cannot_be_unpacked_is_asked_for_again() -> None:
    async def torn(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"no gzip at all", headers={"Content-Encoding": "gzip"})

    assert response(asked(script(torn, say()))[0]).attempts == 2


def test_html_with_status_200_is_garbage_that_shows_its_beginning() -> None:
    found = failure(asked(send(b"<html><p>Sign in</p>", "text/html"), limits=Limits(tries=2))[0])
    assert (found.kind, found.fatal, found.attempts) == ("garbage", False, 2)
    assert "<html><p>Sign in</p>" in found.message


def test_a_server_that_never_answers_is_a_time_out() -> None:
    answer, _, count = asked(never, limits=Limits(read=0.05, tries=2))
    assert (failure(answer).kind, failure(answer).attempts, count) == ("timeout", 2, 2)
    answer, _, _ = asked(never, limits=Limits(total=0.05, tries=1))
    assert failure(answer).kind == "timeout"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_not_there_is_named_at_once() -> None:
    clock = Clock()
    nowhere = model(f"http://127.0.0.1:{free_port()}/v1")
    engine = Http(lambda _: nowhere, world=clock.world())
    (answer,) = asyncio.run(ask_all(engine, [ask("2 + 3")])).values()
    found = failure(answer)
    assert (found.kind, found.attempts, clock.pauses) == ("connection", 1, [])
    assert nowhere.base_url.removeprefix("http://").removesuffix("/v1") in found.message
    assert found.message.endswith("is the server running?")


def test_a_server_that_goes_away_in_the_middle_is_waited_for() -> None:
    async def run() -> None:
        clock = Clock()
        async with serving(say()) as server:
            engine = Http(lambda _: model(server.url), limits=Limits(tries=3), world=clock.world())
            await ask_all(engine, [ask("there")])
        (answer,) = (await ask_all(engine, [ask("gone")])).values()
        assert (failure(answer).kind, failure(answer).attempts) == ("connection", 3)

    asyncio.run(run())


def test_a_key_that_is_not_set_is_named_and_nothing_is_sent() -> None:
    async def run() -> None:
        async with serving(say()) as server:
            keyed = model(server.url, key_env="TEST_KEY")
            engine = Http(lambda _: keyed, world=Clock().world(TEST_KEY=" "))
            (answer,) = (await ask_all(engine, [ask("2 + 3")])).values()
            found = failure(answer)
            assert (found.kind, found.fatal, found.attempts) == ("auth", True, 0)
            assert found.message == "test/m needs an API key: set the variable TEST_KEY"
            assert server.seen == []

    asyncio.run(run())


def test_a_key_that_would_end_its_line_is_not_sent() -> None:
    async def run() -> None:
        async with serving(say()) as server:
            keyed = model(server.url, key_env="TEST_KEY")
            split = f"{CANARY}\r\nX-Other: 1"
            engine = Http(lambda _: keyed, world=Clock().world(TEST_KEY=split))
            (answer,) = (await ask_all(engine, [ask("2 + 3")])).values()
            assert (failure(answer).kind, server.seen) == ("auth", [])
            assert CANARY not in failure(answer).message

    asyncio.run(run())


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n%b",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n%b",
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%b",
    ],
)
def test_a_reply_is_read_however_it_is_framed(reply: bytes) -> None:
    body = json.dumps(completion("5 " * 3000)).encode()
    numbers = [len(body)] * (reply.count(b"%") - 1)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.splitlines() if line.startswith(b"Content-Length"))
        await reader.readexactly(int(length.split()[1]))
        for start in range(0, len(reply % (*numbers, body)), 2500):
            writer.write((reply % (*numbers, body))[start : start + 2500])
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            engine = Http(lambda _: model(url), limits=Limits(tries=1))
            found = await ask_all(engine, [ask("a"), ask("b"), ask("c")])
        assert {response(a).content for a in found.values()} == {"5 " * 3000}

    asyncio.run(run())


def test_an_answer_that_does_not_end_is_cut_off_in_time() -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse()
        await stream.prepare(request)
        while True:
            await stream.write(b" ")
            await asyncio.sleep(0.02)

    answer, _, _ = asked(trickle, limits=Limits(read=1.0, total=0.15, tries=1))
    assert failure(answer).kind == "timeout"


def test_a_redirect_is_not_followed_and_takes_no_key_along() -> None:
    async def run() -> None:
        async with serving(say()) as other:
            away = fail(307, Location=f"{other.url}/v1")
            async with serving(away) as server:
                keyed = model(server.url, key_env="TEST_KEY")
                engine = Http(lambda _: keyed, world=Clock().world(TEST_KEY=CANARY))
                (answer,) = (await ask_all(engine, [ask("2 + 3")])).values()
                assert (failure(answer).kind, failure(answer).fatal) == ("not_found", True)
                assert f"redirects to {other.url}/v1" in failure(answer).message
                assert other.seen == []

    asyncio.run(run())


@pytest.mark.parametrize("key", [CANARY, "sk/canary+5f<3a9>c0270"])
def test_a_key_that_a_server_repeats_stands_nowhere(key: str) -> None:
    """Not as it is, not as JSON may spell it, and not cut in two."""
    ways = (key, key.replace("/", r"\/"), "".join(rf"\u{ord(c):04X}" for c in key))
    body = json.dumps(completion("You sent {}.")).replace("{}", "%s and %s and %s") % ways

    async def parrot(request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == f"Bearer {key}"
        asks = (await request.json())["messages"][0]["content"]
        if asks == "fail":
            said = '{"error": {"message": "bad key: ' + ", ".join(ways) + '"}}'
            return web.Response(status=401, text=said)
        if asks == "go":
            away = "https://elsewhere.example/" + "x" * 580 + key
            return web.Response(status=307, headers={"Location": away})
        return web.Response(text=body)

    async def run() -> None:
        async with serving(parrot) as server:
            keyed = model(server.url, key_env="TEST_KEY")
            engine = Http(lambda _: keyed, world=Clock().world(TEST_KEY=key))
            found = await ask_all(engine, [ask("fail"), ask("answer"), ask("go")])
            told = msgspec.json.encode([*found.values()]).decode()
            assert key[:6] not in told
            assert told.count("[key]") >= 9  # of the failure, the content, the raw reply
            assert "u0073" not in told

    asyncio.run(run())


def test_half_a_character_in_a_header_is_no_fault_of_ours() -> None:
    async def away(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.write(
            b"HTTP/1.1 302 F\xff\r\nLocation: /\xff\xfe\r\nContent-Length: 0\r\n\r\n"
        )
        return await never(request)

    found = failure(asked(away)[0])
    assert (found.kind, found.status) == ("not_found", 302)
    assert msgspec.json.encode(found)


def test_what_a_wire_cannot_express_is_unsupported_and_not_asked() -> None:
    async def run() -> None:
        async with serving(say()) as server:
            engine = Http(lambda _: model(server.url))
            opened = ask("2 + 3", prefill=Prefill("content", "Step by step:"))
            (answer,) = (await ask_all(engine, [opened])).values()
            assert (failure(answer).kind, failure(answer).attempts) == ("unsupported", 0)
            assert "prefill" in failure(answer).message
            assert server.seen == []

    asyncio.run(run())


def test_an_exception_in_between_is_a_failure_with_its_name() -> None:
    def broken(_: Request) -> Model:
        raise KeyError("oh no")

    def unknown(_: Request) -> Model:
        raise UserError("unknown provider 'tset'")

    (answer,) = asyncio.run(ask_all(Http(broken), [ask("2 + 3")])).values()
    assert (failure(answer).kind, failure(answer).message) == ("internal", "KeyError: 'oh no'")
    (answer,) = asyncio.run(ask_all(Http(unknown), [ask("2 + 3")])).values()
    assert (failure(answer).kind, failure(answer).fatal) == ("not_found", True)


def test_a_finished_request_makes_room_while_its_answer_waits() -> None:
    async def run() -> None:
        async with serving(echo()) as server:
            engine = Http(lambda _: model(server.url), concurrency=2)
            feed = Requests([ask(f"{i}") for i in range(10)])
            async with aclosing(engine.answer(feed)) as answers:
                await anext(answers)
                feed.given += 1
                await asyncio.sleep(0.2)  # as a slow commit does
                assert len(server.seen) == 10

    asyncio.run(run())


@dataclass
class Dependent:
    """A feed whose next request is due only when the last one was answered."""

    left: int
    open: bool = False
    waits: int = 0

    async def take(self, _n: int, held: int) -> list[Request] | None:
        if self.open:
            assert held == 1
            self.waits += 1
            return []
        if not self.left:
            return None
        self.left -= 1
        self.open = True
        return [ask(f"{self.left}")]


def test_nothing_due_is_waited_out() -> None:
    async def run() -> None:
        async with serving(echo()) as server:
            feed = Dependent(5)
            count = 0
            async for _ in Http(lambda _: model(server.url)).answer(feed):
                feed.open = False
                count += 1
            assert (count, server.most) == (5, 1)
            assert feed.waits < 50

    asyncio.run(run())


def test_an_error_of_the_feed_ends_the_engine() -> None:
    class Broken:
        async def take(self, _n: int, _held: int) -> list[Request] | None:
            raise UserError("no more")

    async def run() -> None:
        with pytest.raises(UserError, match="no more"):
            await anext(Http(lambda _: model("http://127.0.0.1:1")).answer(Broken()))

    asyncio.run(run())


def test_closing_the_engine_ends_what_is_in_flight() -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        if (await request.json())["messages"][0]["content"] == "fast":
            return web.json_response(completion())
        return await never(request)

    async def run() -> None:
        async with serving(slow) as server:
            engine = Http(lambda _: model(server.url), concurrency=4)
            due = [ask(text) for text in ("fast", "a", "b", "c")]
            async with aclosing(engine.answer(Requests(due))) as answers:
                request, _ = await anext(answers)
                assert request.messages[0].content == "fast"
                assert server.open == 3
            for _ in range(100):
                if not server.open:
                    break
                await asyncio.sleep(0.01)
            assert server.open == 0
            assert {task for task in asyncio.all_tasks() if "_answer" in repr(task)} == set()

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(3))
def test_thirty_percent_faults_lose_nothing_and_answer_nothing_twice(seed: int) -> None:
    async def run() -> None:
        faults = [fail(429, Retry_After="0"), fail(500), fail(529), reset, half, send(b"<html>")]
        count = 0

        async def handler(request: web.Request) -> web.StreamResponse:
            nonlocal count
            count += 1
            if (count * 7 + seed) % 10 < 3:
                return await faults[count % len(faults)](request)
            return await echo()(request)

        async with serving(handler) as server:
            engine = Http(lambda _: model(server.url), concurrency=8, world=Clock().world())
            found = await ask_all(engine, [ask(f"{i}") for i in range(120)])
            assert len(found) == 120
            for request, answer in found.items():
                if isinstance(answer, Response):
                    assert answer.content == request.messages[0].content
                else:
                    assert answer.kind in {"rate_limit", "server", "connection", "garbage"}
            assert len(server.seen) == sum(answer.attempts for answer in found.values())

    asyncio.run(run())
