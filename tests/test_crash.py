"""Killed or interrupted at any moment, a run goes on and gives the tables of one that was not."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Running, misled, started
from misled.directory import execute
from misled.draws import Draws
from misled.plans import parse
from misled.session import prepare
from misled.settings import Pace
from misled.store import Store

KILLS = 4
CONCURRENCY = 4


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    log = tmp_path / "asked.log"
    script = Path(__file__).with_name("planted_server.py")
    process = subprocess.Popen(
        [sys.executable, str(script), str(log), "mixed"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1", log
    process.kill()
    process.wait()
    process.stdout.close()


def command(url: str, directory: Path) -> list[str]:
    options = "--problems addition:15+13 --n 12 --digits 1-3 --methods baseline,uncertainty,prefix"
    return [
        *("cpt", "--model", "llamacpp/m", "--base-url", url),
        *options.split(),
        *("--concurrency", str(CONCURRENCY), "--figures", "none", "--run", str(directory)),
    ]


def committed(directory: Path) -> set[str]:
    path = directory / "misled.db"
    if not path.exists():
        return set()
    with Store(path) as store:
        query = "SELECT key FROM requests WHERE id IN (SELECT id FROM answers)"
        return {row[0] for row in store.scan(query)}


def tables(directory: Path) -> dict[str, list[bytes]]:
    """Every table, but for what replies took in seconds."""
    found = sorted((directory / "tables").glob("*.csv"))
    lines = {path.name: path.read_bytes().splitlines() for path in found}
    return {name: [line for line in rows if b"seconds" not in line] for name, rows in lines.items()}


def test_twenty_kills_lose_no_more_than_what_was_under_way() -> None:
    """Its own checks are in the script, which does the same at size: 100 kills, 5,000 requests."""
    script = Path(__file__).parents[1] / "bench" / "kills.py"
    done = subprocess.run(
        [sys.executable, str(script), "--kills", "20", "--requests", "1000"],
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("20 kills in 1000 requests")


def test_a_study_killed_again_and_again_gives_the_tables_of_one_that_was_not(
    tmp_path: Path, server: tuple[str, Path]
) -> None:
    url, log = server
    draws = Draws(0, "kills")
    killed, asked_before = 0, set[str]()
    directory = tmp_path / "killed"
    while True:
        before = committed(directory)
        seen = len(log.read_text().splitlines()) if log.exists() else 0
        process = started(command(url, directory), tmp_path)
        if killed < KILLS:
            wait_for_requests(log, seen + draws.below(60), process)
            time.sleep(draws.unit() * 0.03)
            process.send_signal(signal.SIGKILL)
            killed += 1
        done = process.ended()
        asked = log.read_text().splitlines()[seen:]
        assert not before & set(asked), "a committed request was asked again"
        asked_before |= set(asked)
        if done.returncode == 0:
            break
        assert killed <= KILLS, done.stderr
    counts = Counter(log.read_text().splitlines())
    twice = sum(counts.values()) - len(counts)
    assert set(counts) == committed(directory)
    sys.stdout.write(f"kills survived {killed}, asked twice {twice} of {len(counts)}\n")

    calm = tmp_path / "calm"
    done = misled(command(url, calm), tmp_path)
    assert done.returncode == 0, done.stderr
    assert tables(directory) == tables(calm)


def wait_for_requests(log: Path, number: int, process: Running) -> None:
    """Until the server has heard so many requests, or the run has ended."""
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if log.exists() and len(log.read_text().splitlines()) >= number:
            return
        time.sleep(0.005)


def hanging() -> tuple[socket.socket, str]:
    """A server that takes every connection and never answers."""
    server = socket.create_server(("127.0.0.1", 0))
    return server, f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_first_interrupt_lets_what_is_in_flight_finish_and_asks_no_more(tmp_path: Path) -> None:
    server, url = hanging()
    said = b'{"choices": [{"message": {"content": "5"}, "finish_reason": "stop"}]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with server:
        process = started(command(url, tmp_path / "run"), tmp_path)
        server.settimeout(60)
        flying = [server.accept()[0] for _ in range(CONCURRENCY)]
        for connection in flying:
            assert connection.recv(1) == b"P"
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        for connection in flying:
            connection.sendall(head % len(said) + said)
        done = process.ended(60)
        for connection in flying:
            assert connection.recv(1 << 20).count(b"POST /v1") == 0  # none after the first
            connection.close()
    assert done.returncode == 130, done.stderr
    assert len(committed(tmp_path / "run")) == CONCURRENCY


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_second_interrupt_stops_within_two_seconds(tmp_path: Path) -> None:
    server, url = hanging()
    with server:
        words = [sys.executable, "-m", "misled", *command(url, tmp_path / "run")]
        process = subprocess.Popen(words, stderr=subprocess.PIPE)
        server.settimeout(60)
        connection, _ = server.accept()
        assert connection.recv(1) == b"P"  # the first request is under way
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)  # what is in flight may still finish
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert time.monotonic() - began < 2
        connection.close()
    assert process.returncode == 130
    assert errors.decode() == "misled: interrupted; run the same command again to go on\n"


def test_after_the_last_answer_an_interrupt_ends_what_is_being_written(tmp_path: Path) -> None:
    """A large run writes its report for minutes; an interrupt in them was not heard."""
    session = prepare(parse({"model": ["planted/mixed"], "n": 1, "cells": [{"problems": "small"}]}))
    execute(session, tmp_path / "run", Pace(), lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
