"""Requests a second against a local server: misled, durable, and others that do the same.

    python bench/over_http.py [--rounds 11] [--lm-eval PYTHON] [--profile]

Three things are measured, 64 requests in flight, prompts of 2 kB, server in a process
of its own, medians over rounds in which the contenders take turns:

    bare      aiohttp and uvloop, the same body encoded, the reply's JSON decoded, nothing kept
    misled    the whole loop: walk, lanes, engine, decoding, commits on disk
    lm-eval   lm-evaluation-harness, `local-chat-completions` (with --lm-eval, the Python of an
              environment that has it: pip install "lm_eval[api]")

and, with lognormal latencies (median .5 s, 2,000 requests), how near misled comes to the
ideal: a list schedule of the same latencies in the same order on 64 slots.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import heapq
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import aiohttp
import msgspec
import uvloop

from http_server import latency
from misled import models
from misled.engines import Feed
from misled.engines.http import Http
from misled.frontier import Frontier, Limits, Lookup
from misled.loop import run
from misled.records import Answer, Message, Request
from misled.row import Row
from misled.store import Store

WIDTH = 64
TEXT = "The carry of the column before is added to the digits of this one. " * 30
LM_EVAL = """
import sys, time, logging
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalChatCompletion
from lm_eval.models.api_models import JsonChatStr
import json
logging.disable(logging.CRITICAL)
url, n, text = sys.argv[1], int(sys.argv[2]), sys.argv[3]
lm = LocalChatCompletion(base_url=url + "/chat/completions", model="m", num_concurrent=64)
def ask(i):
    chat = JsonChatStr(json.dumps([{"role": "user", "content": f"No {i} {text}"[:2000]}]))
    return Instance("generate_until", {}, (chat, {"until": [], "max_gen_toks": 256}), i)
requests = [ask(i) for i in range(n)]
began = time.perf_counter()
found = lm.generate_until(requests, disable_tqdm=True)
seconds = time.perf_counter() - began
assert len(found) == n and all(found), found[:3]
print(n / seconds)
"""


def prompt(number: int) -> str:
    """Two kilobytes."""
    return f"No {number} {TEXT}"[:2000]


@contextmanager
def server(seconds: float = 0.0) -> Iterator[str]:
    """The base URL of a server with this median latency."""
    script = Path(__file__).with_name("http_server.py")
    process = subprocess.Popen(
        [sys.executable, str(script), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.communicate()


async def bare(url: str, n: int) -> None:
    """What any client has to do."""
    numbers = iter(range(n))

    async def worker(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            body = {"model": "m", "messages": [{"role": "user", "content": prompt(number)}]}
            headers = {"Content-Type": "application/json"}
            data = msgspec.json.encode(body)
            async with session.post(f"{url}/chat/completions", data=data, headers=headers) as reply:
                reply.raise_for_status()
                found = msgspec.json.decode(await reply.read())
                assert found["choices"][0]["message"]["content"]

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        await asyncio.gather(*(worker(session) for _ in range(WIDTH)))


def ask(number: int) -> Request:
    """One question; eight in a row share a lane."""
    message = Message("user", prompt(number))
    return Request(provider="vllm", model="m", messages=(message,), lane=f"{number // 8}")


def walk(unit: int, lookup: Lookup) -> Iterator[Request | Row]:
    """Eight requests a unit."""
    for k in range(8):
        request = ask(8 * unit + k)
        if lookup(request) is None:
            yield request


@dataclass
class Noted:
    """A feed that notes the order in which its requests are begun."""

    feed: Feed
    order: list[int]

    async def take(self, n: int, held: int) -> list[Request] | None:
        """What the feed gives."""
        requests = await self.feed.take(n, held)
        self.order += [int(r.messages[0].content.split(maxsplit=2)[1]) for r in requests or ()]
        return requests


class InOrder(Http):
    """The engine, its order noted."""

    order: list[int]

    def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer]]:
        """As `Http`."""
        self.order = []
        return super().answer(Noted(feed, self.order))


async def misled(url: str, n: int, kind: type[Http] = Http) -> Http:
    """Everything that a run does; its engine."""
    model = models.resolve("vllm/m", base_url=url)
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as place:
        path = Path(place) / "misled.db"
        with Store(path) as store, store.reader() as reader:
            units = enumerate(range(n // 8))
            frontier = Frontier(units, walk, reader.get, lambda *_: None, Limits())
            frontier.window = 4 * WIDTH
            engine = kind(lambda _: model, concurrency=WIDTH)
            await run(frontier, {"vllm": engine}, store, lambda: None)
            counts = store.counts()
            assert counts.responses == frontier.progress.answered == n, counts
    return engine


def lm_eval(python: str, url: str, n: int) -> float:
    """Requests a second of lm-evaluation-harness."""
    done = subprocess.run(
        [python, "-c", LM_EVAL, url, str(n), TEXT], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return float(done.stdout.split()[-1])


def timed(work: Coroutine[None, None, object]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    uvloop.run(work)
    return time.perf_counter() - began


def ideal(latencies: list[float]) -> float:
    """Seconds of a list schedule on `WIDTH` slots."""
    slots = [0.0] * WIDTH
    for seconds in latencies:
        heapq.heapreplace(slots, slots[0] + seconds)
    return max(slots)


def throughput(rounds: int, n: int, python: str | None) -> None:
    """Rates without latency, and their ratios within a round."""
    rates: dict[str, list[float]] = {"bare": [], "misled": []}
    spent: dict[str, list[float]] = {"bare": [], "misled": []}
    with server() as url:
        timed(bare(url, n // 4))
        for _ in range(rounds):
            for name, work in (("bare", bare), ("misled", misled)):
                before = time.process_time()
                rates[name].append(n / timed(work(url, n)))
                spent[name].append(1e6 * (time.process_time() - before) / n)
            if python:
                rates.setdefault("lm-eval", []).append(lm_eval(python, url, n))
    for name, found in rates.items():
        print(
            f"{name:<8} {median(found):7,.0f} requests/s  ({', '.join(f'{r:,.0f}' for r in found)})"
        )
    for name, each in spent.items():
        print(f"{name:<8} {median(each):7,.0f} us of processor a request, all threads")
    for other in ("bare", "lm-eval"):
        if other in rates:
            each = [a / b for a, b in zip(rates["misled"], rates[other], strict=True)]
            print(f"misled / {other}: median {median(each):.2f} of {[round(e, 2) for e in each]}")


def with_latency(n: int, seconds: float) -> None:
    """How near misled comes to the ideal schedule."""
    with server(seconds) as url:
        began = time.perf_counter()
        engine = uvloop.run(misled(url, n, InOrder))
        took = time.perf_counter() - began
    assert isinstance(engine, InOrder)
    best = ideal([latency(number, seconds) for number in engine.order])
    print(f"latency {seconds} s, {n} requests: {took:.1f} s, ideal {best:.1f} s: {best / took:.3f}")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--n", type=int, default=20_000)
    options.add_argument("--lm-eval", default=None)
    options.add_argument("--profile", action="store_true")
    options.add_argument("--no-latency", action="store_true")
    given = options.parse_args()
    if given.profile:
        with server() as url, cProfile.Profile() as profile:
            timed(misled(url, given.n))
        pstats.Stats(profile).sort_stats("tottime").print_stats(40)
        return
    throughput(given.rounds, given.n, given.lm_eval)
    if not given.no_latency:
        with_latency(2000, 0.5)


if __name__ == "__main__":
    main()
