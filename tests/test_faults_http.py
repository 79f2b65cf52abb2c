"""A run against a server that fails in every way: nothing lost, nothing wrong, nothing unsaid."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from aiohttp import web

from commands import misled
from fault_server import FAULTS
from misled import directory, estimates
from misled.damage import damaged
from misled.engines.http import Http, Limits
from misled.plans import parse
from misled.records import Request, Response
from misled.session import prepare
from misled.settings import Pace
from misled.store import Store
from servers import Requests, ask, completion, model, serving

HERE = Path(__file__).parent
LIMITS = Limits(read=1.0, total=1.5, tries=4, knocks=8, first_pause=0.01, body=8 << 20)


@contextmanager
def faulty(log: Path, *words: str) -> Iterator[int]:
    """The fault server's port; its log tells what it heard."""
    command = [sys.executable, str(HERE / "fault_server.py"), str(log), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def carried_out(place: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """The rows of a whole run of the first study against that server."""
    table = {"base_url": f"http://127.0.0.1:{port}/v1", "prefill": "content"}
    plan = parse(
        {
            "model": ["faulty/m"],
            "n": 10,
            "providers": {"faulty": table},
            "cells": [
                {
                    "problems": ["addition:15+13"],
                    "digits": "1-3",
                    "methods": ["baseline", "uncertainty", "prefix"],
                }
            ],
        }
    )
    session = prepare(plan)
    found = session.study.models["faulty/m"]
    monkeypatch.setitem(
        directory.ENGINES,
        "faulty",
        lambda *_: Http(lambda _: found, concurrency=8, limits=LIMITS),
    )
    _, standing = directory.execute(session, place, Pace(), lambda *_: None)
    return standing.rows


def heard(log: Path) -> Counter[str]:
    return Counter(line.split("\t")[0] for line in log.read_text().splitlines())


def test_a_run_at_thirty_percent_faults_gives_the_tables_of_a_run_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with faulty(tmp_path / "calm.log", "0", "0") as port:
        calm = carried_out(tmp_path / "calm", port, monkeypatch)
    with faulty(tmp_path / "wild.log", "0.3", "0.03") as port:
        wild = carried_out(tmp_path / "wild", port, monkeypatch)
    met = Counter(line.split("\t")[1] for line in (tmp_path / "wild.log").read_text().splitlines())
    assert set(met) - {""} == set(FAULTS)
    with Store(tmp_path / "wild" / "misled.db", read_only=True) as store:
        attempts = {key: body.get("attempts", 1) for key, body in bodies(store)}
        failures = [body for _, body in bodies(store) if "message" in body]
        assert damaged(store) == []
    # Every request is answered, or failed for a reason, and asked as often as it says.
    assert attempts == heard(tmp_path / "wild.log")
    assert failures
    assert all(body["kind"] in KINDS and body["message"] for body in failures)
    # Over the problems that were answered in both, the rows and so the tables are the same.
    hurt = wild.filter(pl.col("outcome") == "failed")["problem"].unique()
    assert 0 < len(hurt) < 10
    left, right = (
        frame.filter(~pl.col("problem").is_in(hurt.implode())).drop("seconds", "attempts")
        for frame in (calm, wild)
    )
    assert left.height > 50
    assert left.equals(right)
    columns = [pl.lit(0.0).alias("seconds"), pl.lit(1).alias("attempts")]
    tables = [estimates.entries(frame.with_columns(columns)) for frame in (left, right)]
    assert tables[0] == tables[1]


KINDS = {"rate_limit", "server", "timeout", "connection", "garbage"}


def bodies(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    query = "SELECT key, a.body FROM answers a JOIN requests USING (id)"
    for key, body in store.scan(query):
        yield key, msgspec.json.decode(body)


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_a_second_answer_on_a_connection_is_never_taken_for_the_next(pause: float) -> None:
    """It comes with the first one, or while the connection waits to be used again."""

    async def twice(request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][0]["content"]
        response = web.json_response(completion(text))
        await response.prepare(request)
        await response.write_eof()
        transport = request.transport
        assert transport is not None
        body = json.dumps(completion("another")).encode()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
        asyncio.get_running_loop().call_later(
            pause / 2, transport.write, head.format(len(body)).encode() + body
        )
        return response

    async def run() -> None:
        async with serving(twice) as server:
            found = model(server.url)
            limits = Limits(read=1.0, tries=2, first_pause=0.01)
            engine = Http(lambda _: found, concurrency=1, limits=limits)
            feed = Requests([ask(f"{i}") for i in range(6)])
            async for request, answer in engine.answer(Slow(feed, pause)):
                feed.given += 1
                assert isinstance(answer, Response)
                assert answer.content == request.messages[0].content

    asyncio.run(run())


@dataclass
class Slow:
    """A feed that waits before it gives, so that connections wait, too."""

    feed: Requests
    pause: float

    async def take(self, n: int, held: int) -> list[Request] | None:
        await asyncio.sleep(self.pause or 0.002)
        return await self.feed.take(n, held)


def test_an_expired_certificate_is_named_and_no_key_is_sent(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from misled.engines.http import Http\n"
        "from servers import ask, ask_all, model\n"
        "found = model(sys.argv[1])\n"
        "(answer,) = asyncio.run(ask_all(Http(lambda _: found), [ask('hi')])).values()\n"
        "print(answer.kind, answer.attempts, answer.message)\n"
    )
    log, pem = tmp_path / "log", HERE / "data" / "expired.pem"
    with faulty(log, "0", "0", str(pem)) as port:
        done = subprocess.run(
            [sys.executable, "-c", code, f"https://127.0.0.1:{port}/v1"],
            env=os.environ | {"SSL_CERT_FILE": str(pem)},
            capture_output=True,
            text=True,
            check=True,
            cwd=HERE,
        )
    assert done.stdout.startswith("connection 1 127.0.0.1:")
    assert "certificate has expired" in done.stdout
    assert log.read_text() == ""


def test_a_key_stands_in_nothing_that_a_run_leaves_or_says(tmp_path: Path) -> None:
    """The server repeats it in replies, in errors, in headers and as a redirect's address."""
    canary = "sk-canary-8d1e04b7"
    turn = iter(range(1000))

    async def parrot(request: web.Request) -> web.StreamResponse:
        said = request.headers["Authorization"]
        headers = {"X-Key": said, "Location": f"https://elsewhere.example/{canary}"}
        kind = next(turn) % 4
        if kind < 2:
            reply = completion(f"{said}: so 7 is the answer.", reasoning_content=said)
            return web.json_response(reply, headers=headers)
        status = (307, 503)[kind - 2]
        return web.Response(status=status, text=f"bad key: {said}", headers=headers)

    async def run() -> subprocess.CompletedProcess[str]:
        async with serving(parrot) as server:
            command = "cpt --model vllm/m --problems addition:15+13 --n 12 --run r --base-url"
            return await asyncio.to_thread(
                misled,
                [*command.split(), server.url],
                tmp_path,
                env=os.environ | {"VLLM_API_KEY": canary},
            )

    done = asyncio.run(run())
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"misled.db", "report.html", "plan.toml"} <= {path.name for path in left}
    texts = [done.stdout.encode(), done.stderr.encode(), *(path.read_bytes() for path in left)]
    assert not any(canary.encode() in text for text in texts)
    assert any(b"[key]" in text for text in texts)
