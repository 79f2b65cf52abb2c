"""`misled view`: who gets what from the server, on runs of both studies, done and going on."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest

from misled.directory import execute, rows
from misled.errors import UserError
from misled.plans import study
from misled.session import prepare
from misled.settings import Pace
from misled.viewing import Server, Viewed, serve

CELLS = {"cpt": {"problems": ["addition:15+13"]}, "judge": {"problems": ["facts"]}}
ASKED = {"cpt": {"model": ["planted/mixed"]},
         "judge": {"judge": ["planted/mixed"], "generator": ["planted/credulous"]}}  # fmt: skip


def made(directory: Path, name: str, **pace: Any) -> Path:
    plan = study({"study": name, "n": 3, "cells": [CELLS[name]]} | ASKED[name])
    execute(prepare(plan), directory, Pace(**pace), lambda *_: None)
    return directory


@contextmanager
def serving(directory: Path) -> Iterator[Server]:
    with serve(Viewed(directory)) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("runs") / "first", "cpt")


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[Server]:
    with serving(run) as found:
        yield found


class Said(msgspec.Struct):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


def ask(
    server: Server, path: str = "", method: str = "GET", *, token: str | None = None, host: str = ""
) -> Said:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    address = f"/{server.token if token is None else token}/{path}"
    connection.request(method, address, headers={"Host": host} if host else {})
    reply = connection.getresponse()
    found = Said(reply.status, dict(reply.getheaders()), reply.read())
    connection.close()
    return found


def index(page: bytes) -> dict[str, Any]:
    block = re.search(rb'id="trials-index">([^<]*)<', page)
    assert block
    found: dict[str, Any] = json.loads(block[1])
    return found


def test_the_page_has_the_index_and_may_run_its_own_script_alone(server: Server, run: Path) -> None:
    found = ask(server)
    assert (found.status, found.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert index(found.body)["n"] == rows(run).height
    assert index(found.body)["texts"] == {"mode": "served"}
    policy = found.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert "unsafe-eval" not in policy
    assert found.headers["Cache-Control"] == "no-store"
    assert b"A snapshot" not in found.body


@pytest.mark.parametrize("name", ["cpt", "judge"])
def test_every_trial_of_either_study_has_its_texts(name: str, tmp_path: Path) -> None:
    with serving(made(tmp_path / "run", name)) as server:
        ids = list(server.viewed._trials.places)
        for each in ids:
            found = ask(server, f"trial/{each}.json")
            assert (found.status, found.headers["Content-Type"]) == (200, "application/json")
            dossier = json.loads(found.body)
            assert dossier["id"] == each
            assert dossier["why"]
        assert len(ids) == rows(tmp_path / "run").height


def test_an_unknown_trial_is_not_found(server: Server) -> None:
    found = ask(server, "trial/0123456789abcdef.json")
    assert found.status == 404
    assert "no such trial" in json.loads(found.body)["error"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1:1@e"])
def test_a_page_of_another_name_gets_nothing(server: Server, host: str) -> None:
    found = ask(server, host=host)
    assert found.status == 403
    assert b"trials-index" not in found.body


def test_this_machine_may_be_called_localhost(server: Server) -> None:
    assert ask(server, host=f"localhost:{server.server_port}").status == 200


@pytest.mark.parametrize("token", ["", "x", "A" * 32, "%2e%2e", ".."])
def test_without_the_token_there_is_nothing(server: Server, token: str) -> None:
    found = ask(server, token=token)
    assert found.status == 404
    assert server.token.encode() not in found.body


@pytest.mark.parametrize(
    "path",
    [
        *("misled.db", "../misled.db", "trial/../misled.db", "trial/..%2f..%2fmisled.db.json"),
        *("trial/", "trial/0123456789abcdef", "trial/0123456789ABCDEF.json", "/", "%00", "trial?x"),
        "trial/" + "0" * 3000,
    ],
)
def test_no_path_leads_anywhere_else(server: Server, path: str) -> None:
    assert ask(server, path).status == 404


def test_a_query_changes_nothing_and_without_the_slash_the_browser_is_sent_there(
    server: Server,
) -> None:
    page = server.viewed.page
    assert ask(server, "?utm=1&x=/../").body == page
    for query in ("", "?x=1"):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
        connection.request("GET", f"/{server.token}{query}")
        reply = connection.getresponse()
        assert (reply.status, reply.headers["Location"]) == (308, f"/{server.token}/")
        connection.close()
    connection.request("GET", f"/{'A' * 32}?x=1")
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_turned_away(server: Server, method: str) -> None:
    found = ask(server, method=method)
    assert (found.status, found.headers["Allow"]) == (405, "GET, HEAD")


def test_head_has_the_headers_and_no_body(server: Server) -> None:
    found = ask(server, method="HEAD")
    assert (found.status, found.body) == (200, b"")
    assert int(found.headers["Content-Length"]) == len(server.viewed.page)


def test_what_is_no_request_is_turned_away_without_markup(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.connect()
    connection.sock.sendall(b"<script>alert(1)</script>\r\n\r\n")
    said = connection.sock.recv(10_000)
    connection.close()
    assert b"not answered" in said
    assert b"<" not in said
    connection.connect()
    host = f"127.0.0.1:{server.server_port}".encode()
    connection.sock.sendall(b"GET /\xe9/ HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
    assert b" 404 " in connection.sock.recv(10_000)
    connection.close()
    assert ask(server).status == 200


def test_several_ask_at_once_and_each_gets_what_it_asked_for(server: Server) -> None:
    ids = list(server.viewed._trials.places)[:40]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda each: ask(server, f"trial/{each}.json"), ids))
    assert [json.loads(each.body)["id"] for each in found] == ids


def test_a_run_that_is_not_done_shows_what_stands(tmp_path: Path) -> None:
    directory = made(tmp_path / "run", "cpt", max_requests=8)
    with serving(directory) as server:
        stood = index(ask(server).body)["n"]
        assert stood > 0
        assert server.viewed.unfinished
        assert b"A snapshot of 20" in ask(server).body
        made(directory, "cpt")  # it goes on while it is looked at
        assert index(ask(server).body)["n"] == stood
        for each in server.viewed._trials.places:
            assert ask(server, f"trial/{each}.json").status == 200
    assert rows(directory).height > stood


def test_a_run_without_trials_says_so(tmp_path: Path) -> None:
    directory = made(tmp_path / "run", "cpt", max_requests=0)
    with pytest.raises(UserError, match="holds no graded trial yet"):
        Viewed(directory)


def test_a_port_that_is_taken_is_one_line(server: Server, run: Path) -> None:
    with pytest.raises(UserError, match="choose another --port"):
        serve(Viewed(run), server.server_port)


def test_the_command_prints_the_address_and_ends_well_on_an_interrupt(run: Path) -> None:
    command = [sys.executable, "-m", "misled", "view", str(run), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout
        url = json.loads(child.stdout.readline())["url"]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/", url)
        assert found
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=10)
        connection.request("GET", f"/{found[2]}/")
        assert connection.getresponse().status == 200
        connection.close()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=10)
    assert (child.returncode, out) == (0, b"")
    assert b"Traceback" not in err
