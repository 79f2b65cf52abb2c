"""One run, killed again and again with SIGKILL: what is lost, and what is asked twice.

    python bench/kills.py [--kills 100] [--requests 5000] [--width 16]

A server in a process of its own notes each request that arrives and each answer that
it has sent. A run over HTTP with a store on disk is killed at random moments and begun
again, until it ends. Checked after each kill: the store is whole, nothing committed is
asked again, and what was answered and not kept is no more than a batch. Exit 1 else.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aiohttp import web

from misled import models
from misled.damage import damaged
from misled.draws import Draws
from misled.engines.http import Http
from misled.frontier import Frontier, Limits, Lookup
from misled.loop import BATCH, run
from misled.records import Message, Request
from misled.store import Store

SIZE = 5  # requests of a unit: one, then four that depend on its answer


def ask(text: str) -> Request:
    """One question."""
    message = Message("user", text)
    return Request(provider="vllm", model="m", messages=(message,), lane=text.partition("/")[0])


def walk(unit: int, lookup: Lookup) -> Iterator[Request]:
    """A unit of two stages."""
    first = ask(f"{unit}")
    if lookup(first) is None:
        yield first
        return
    for k in range(1, SIZE):
        request = ask(f"{unit}/{k}")
        if lookup(request) is None:
            yield request


def go_on(url: str, path: str, units: int, width: int) -> None:
    """The run: from wherever it stands to its end."""
    model = models.resolve("vllm/m", base_url=url)
    with Store(Path(path)) as store, store.reader() as reader:
        done = store.finished()
        fresh = ((unit, unit) for unit in range(units) if unit not in done)
        frontier = Frontier(fresh, walk, reader.get, lambda *_: None, Limits())
        frontier.kept = ((unit, unit) for unit in sorted(done))
        engine = Http(lambda _: model, concurrency=width)
        asyncio.run(run(frontier, {"vllm": engine}, store, lambda: None))


def serve(log: str) -> None:
    """Answer everything; note what arrives (h) and what has been sent (s)."""
    out = Path(log).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 (lives with the process)

    async def chat(request: web.Request) -> web.StreamResponse:
        key = request.headers["Idempotency-Key"]
        out.write(f"h {key}\n")
        await request.read()
        await asyncio.sleep(0.004 * Draws(key).unit())
        message = {"role": "assistant", "content": "5"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        response = web.json_response({"choices": [choice]})
        await response.prepare(request)
        await response.write_eof()
        out.write(f"s {key}\n")
        return response

    async def forever() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
        await asyncio.Event().wait()

    asyncio.run(forever())


def lines(log: Path, kind: str) -> list[str]:
    """The keys that the server has noted."""
    text = log.read_text("utf-8") if log.exists() else ""
    return [line[2:] for line in text.splitlines() if line[0] == kind]


def committed(path: Path) -> set[str]:
    """The keys in the store, which must be whole."""
    if not path.exists():
        return set()
    with Store(path) as store:
        assert damaged(store) == [], "the store is damaged"
        query = "SELECT key FROM requests WHERE id IN (SELECT id FROM answers)"
        return {row[0] for row in store.scan(query)}


def kill_soon(process: subprocess.Popen[bytes], log: Path, number: int, pause: float) -> None:
    """Kill it when the server has heard `number` requests, and a little later."""
    while process.poll() is None and log.stat().st_size < 38 * number:
        time.sleep(0.002)
    time.sleep(pause)
    process.kill()
    process.wait()
    size = -1
    while size != log.stat().st_size:  # what it had sent still arrives
        size = log.stat().st_size
        time.sleep(0.05)


def torment(place: Path, url: str, log: Path, given: argparse.Namespace) -> None:
    """Begin, kill, look; then let it end."""
    path, draws = place / "misled.db", Draws(0, "kills")
    units = given.requests // SIZE
    command = [sys.executable, __file__, "--child", url, str(path), str(units), str(given.width)]
    lost: list[int] = []
    log.touch()
    for _ in range(given.kills):
        before, heard = committed(path), len(lines(log, "h"))
        process = subprocess.Popen(command)
        more = draws.below(2 * given.requests // given.kills)
        kill_soon(process, log, 2 * (heard + more), 0.02 * draws.unit())
        again = Counter(lines(log, "h")[heard:])
        assert not before & set(again), "a committed request was asked again"
        assert max(again.values(), default=1) == 1, "one life asked a request twice"
        lost.append(len(set(lines(log, "s")) - committed(path)))
    subprocess.run(command, check=True)
    twice = Counter(lines(log, "h"))
    assert set(twice) == committed(path)
    assert len(twice) == units * SIZE
    assert max(lost) <= BATCH, "more was lost than a batch"
    extra = sum(twice.values()) - len(twice)
    print(
        f"{given.kills} kills in {units * SIZE} requests: answered and not kept {sum(lost)} "
        f"(at most {max(lost)} at a kill, {given.width} in flight), asked twice {extra}"
    )


def main() -> None:
    """Serve, go on, or torment."""
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
        return
    if sys.argv[1:2] == ["--child"]:
        go_on(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--requests", type=int, default=5000)
    options.add_argument("--width", type=int, default=16)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "asked.log"
        process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(log)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # clients that die are no news
            text=True,
        )
        assert process.stdout is not None
        try:
            torment(Path(name), process.stdout.readline().strip(), log, given)
        finally:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    main()
