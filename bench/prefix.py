"""Prompt tokens from the cache, and the time: lanes against plan order and shuffled.

    python bench/prefix.py [--rounds 5] [--cache 0]

The embedded model behind two slots, 36 prompts of about 520 tokens in 6 groups: in a
group, a question, a chain with one of six results at its end, and a filter. Each order is
carried out by the loop over HTTP, two requests in flight, on a server that was started for
it; what is attainable is counted on the server's own tokens. `--cache` is how many MiB of
prompts the server keeps beside those in its slots (0: none, as most servers).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.request import Request as Post
from urllib.request import urlopen

import msgspec

from misled import models
from misled.cache import attainable
from misled.draws import Draws
from misled.engines import weights
from misled.engines.http import Http, World
from misled.frontier import Frontier, Limits, Lookup
from misled.loop import run
from misled.records import Message, Request, Sampling
from misled.store import Store

GROUPS, EACH, SLOTS = 6, 6, 2
KEY = "BENCH_KEY"
STEP = "Then the carry is added to column {} of problem {}, which gives {}, and {} is kept. "


def prompt(group: int, variant: int) -> str:
    """A question, a chain whose end depends on the variant, and a filter."""
    steps = "".join(STEP.format(k, group, 3 * k + group, k % 10) for k in range(17))
    return (
        f"What is {417 + group} + {263 * (group + 1)}?\n\nBelow is your previous thought.\n\n"
        f"{steps}So the result is {1000 * group + 7 * variant}.\n\nGive the answer."
    )


def request(group: int, variant: int, *, lanes: bool) -> Request:
    """One of 36; without lanes, each is a lane of its own."""
    return Request(
        provider="local",
        model="smollm2",
        messages=(Message("user", prompt(group, variant)),),
        sampling=Sampling(temperature=0.0, max_tokens=2),
        lane=f"{group}" if lanes else f"{group} {variant}",
    )


@contextmanager
def served(cache: int) -> Iterator[tuple[str, str]]:
    """A server of its own with two slots: address and key."""
    key = secrets.token_hex(16)
    settings = {"path": str(weights.smollm2(print)), "key": key, "slots": SLOTS, "cache": cache}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "misled.engines.embedded"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        print(json.dumps(settings), file=process.stdin, flush=True)
        yield json.loads(process.stdout.readline())["address"], key
    finally:
        process.kill()
        process.communicate()


def tokens(address: str, key: str) -> list[tuple[int, ...]]:
    """Each prompt in the server's tokens, its template around it."""

    def ask(path: str, body: object) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        with urlopen(Post(address + path, msgspec.json.encode(body), headers)) as reply:
            return msgspec.json.decode(reply.read(), type=dict[str, object])

    found = []
    for group in range(GROUPS):
        for variant in range(EACH):
            messages = [{"role": "user", "content": prompt(group, variant)}]
            text = ask("/apply-template", {"messages": messages})["prompt"]
            body = {"content": text, "add_special": True}
            found.append(msgspec.convert(ask("/tokenize", body)["tokens"], tuple[int, ...]))
    return found


def carried_out(order: str, address: str, key: str) -> tuple[int, int, float]:
    """Cached and prompt tokens, and seconds, of all prompts in this order."""
    pairs = [(group, variant) for group in range(GROUPS) for variant in range(EACH)]
    if order == "shuffled":
        pairs = Draws(0, "order").shuffled(pairs)
    lanes = order == "lanes"

    def walk(unit: int, lookup: Lookup) -> Iterator[Request]:
        mine = pairs[EACH * unit : EACH * unit + EACH] if lanes else [pairs[unit]]
        for pair in mine:
            asked = request(*pair, lanes=lanes)
            if lookup(asked) is None:
                yield asked

    found = msgspec.structs.replace(
        models.resolve("local/smollm2"), base_url=f"{address}/v1", key_env=KEY
    )
    engine = Http(lambda _: found, concurrency=SLOTS, world=World(environ={KEY: key}))
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "misled.db"
        with Store(path) as store, store.reader() as reader:
            units = enumerate(range(GROUPS if lanes else len(pairs)))
            frontier = Frontier(units, walk, reader.get, lambda *_: None, Limits())
            began = time.perf_counter()
            asyncio.run(run(frontier, {"local": engine}, store, lambda: None))
            took = time.perf_counter() - began
    progress = frontier.progress
    assert progress.answered == GROUPS * EACH
    assert not progress.failed, progress.failures
    (spent,) = progress.spent.values()
    return spent.cached, spent.prompt, took


def main() -> None:
    """Measure each order on a fresh server, in turn."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--cache", type=int, default=0)
    given = options.parse_args()
    with served(given.cache) as (address, key):
        prompts = tokens(address, key)
    best = attainable(prompts)
    size = sum(map(len, prompts)) / len(prompts)
    print(f"{len(prompts)} prompts of {size:.0f} tokens, {best} of them attainable from a cache")
    shares: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for _ in range(given.rounds):
        for order in ("plan order", "shuffled", "lanes"):
            with served(given.cache) as (address, key):
                cached, total, took = carried_out(order, address, key)
            assert total == sum(map(len, prompts))
            shares.setdefault(order, []).append(cached / best)
            times.setdefault(order, []).append(took)
    for order, found in shares.items():
        each = [a / b for a, b in zip(times["lanes"], times[order], strict=True)]
        print(
            f"{order:<11} {median(found):.3f} of attainable, {median(times[order]):5.1f} s; "
            f"lanes take {median(each):.2f} of its time"
        )


if __name__ == "__main__":
    main()
