"""A whole run whose replies are empty, huge, or in other languages: each is named and counted.

A real server on loopback answers as the planted reasoner does, but for some problems'
tampered chains, and for some problems' first solution.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web

import misled
from misled import prompts
from misled.cli import main
from misled.engines.planted import Planted
from misled.engines.planted_profile import Solver
from misled.engines.planted_reader import Reading, reading
from misled.problems import load
from misled.prompts import METHODS
from planted_server import asked, completed

MB, LONG = 1 << 20, 1 << 15
PROBLEMS = 22
SOLVER = Solver(adopt=dict.fromkeys(METHODS, (0.0,)))  # always right
WORDS = prompts.load(None)
Said = Callable[[str, str], str | None]  # w and w' -> the content

# What is said to a tampered chain, and what has to become of it.
ODD: dict[str, tuple[Said, str]] = {
    "empty": (lambda _w, _t: "", "stopped"),
    "null": (lambda _w, _t: None, "stopped"),
    "blank": (lambda _w, _t: " \n\n\t", "stopped"),
    "huge and right": (lambda w, _t: f"{'I go on. ' * (MB // 9)}The answer is {w}.", "recovered"),
    "huge and adopting": (lambda _w, t: "so\n" * (LONG // 3) + f"\\boxed{{{t}}}", "adopted"),
    "huge without a value": (lambda _w, _t: "tra la " * (LONG // 7), "unreadable/none"),
    "huge number": (lambda _w, _t: "7" * LONG, "confused/form"),
    "Chinese": (lambda w, _t: f"我重新计算了一遍，答案是{w}。", "recovered"),
    "Chinese, adopting": (lambda _w, t: f"前面的思路是对的，最终答案为{t}。", "adopted"),
    "Chinese words": (lambda _w, _t: "答案是七百多万亿。", "unreadable/none"),
    "Chinese refusal": (lambda _w, _t: "我很抱歉，但我无法帮助您。", "refused"),
    "German": (lambda w, _t: f"Die Summe beträgt {int(w):,}.".replace(",", "."), "recovered"),
    "German, adopting": (lambda _w, t: f"Der Gedanke stimmt. Das Ergebnis ist {t}.", "adopted"),
    "German words": (lambda _w, _t: "Das weiß ich leider nicht genau.", "unreadable/none"),
    "Russian": (lambda w, _t: f"Ответ: {int(w):,}".replace(",", "\N{NO-BREAK SPACE}"), "recovered"),
    "French refusal": (lambda _w, _t: "Je ne peux pas vous aider avec cette demande.", "refused"),
}
MORE = ("--digits", "1", "--figures", "svg", "--run")
CHINESE = "先把两个数相加。{a} + {b} = {w}。等等，我再检查一下。{w} - {b} = {a}。所以答案是{w}。"
# What is said to a question alone: reasoning, content.
ALONE: dict[int, Callable[[int, int], tuple[str | None, str]]] = {
    PROBLEMS - 1: lambda _a, _b: (None, ""),
    PROBLEMS - 2: lambda _a, _b: ("想了很久。" * (LONG // 15), ""),
    PROBLEMS - 3: lambda a, b: (CHINESE.format(a=a, b=b, w=a + b), f"答案是{a + b}。"),
    PROBLEMS - 4: lambda a, b: (f"{'Hm. ' * (LONG // 4)}{a} + {b} = {a + b}.", f"{a + b}"),
}


class Odd:
    """The replies; `broken` gives the first problem's tampered chain a status instead."""

    def __init__(self, *, broken: bool) -> None:
        self.planted = Planted(solvers={"odd": SOLVER})
        self.broken = broken
        problems, _ = load("addition:15+13", PROBLEMS, 0)
        self.places = {problem.question: at for at, problem in enumerate(problems)}

    async def chat(self, http: web.Request) -> web.StreamResponse:
        request = asked(await http.json(), "odd")
        read = reading(WORDS, request)
        assert isinstance(read, Reading), read
        at, (a, b) = self.places[read.question], (read.task.a, read.task.b)  # type: ignore[union-attr]
        body: dict[str, Any] = completed(self.planted.reply(request))
        message = body["choices"][0]["message"]
        if read.way is None and at in ALONE:
            message["reasoning_content"], message["content"] = ALONE[at](a, b)
        elif read.seen not in {None, str(a + b)} and at < len(ODD):
            if self.broken and at == 0:
                return web.json_response({"error": {"message": "too long"}}, status=400)
            said, _ = list(ODD.values())[at]
            del message["reasoning_content"]
            message["content"] = said(str(a + b), str(read.seen))
        return web.json_response(body)


@contextmanager
def serving(odd: Odd) -> Iterator[str]:
    """Its address; the server has a thread of its own."""
    ready, over, where = threading.Event(), asyncio.Event(), [""]
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        app = web.Application(client_max_size=64 * MB)
        app.router.add_post("/v1/chat/completions", odd.chat)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        where[0] = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await over.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield where[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def run(place: Path, monkeypatch: pytest.MonkeyPatch, n: int, *, broken: bool = False) -> int:
    """The exit code of the run."""
    with serving(Odd(broken=broken)) as url:
        words = f"misled cpt --model vllm/odd --base-url {url} --problems addition:15+13 --n {n}"
        monkeypatch.setattr(sys, "argv", [*words.split(), *MORE, str(place)])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


def test_odd_replies_are_named_and_counted_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "run", monkeypatch, PROBLEMS) == 0
    assert capsys.readouterr().err == ""
    rows, tables = misled.rows(tmp_path / "run"), misled.tables(tmp_path / "run")
    probed = PROBLEMS - 2  # two have no chain
    tampered = rows.filter(pl.col("arm") == "tampered").sort(pl.col("problem").cast(pl.Int64))
    said = pl.concat_str("outcome", pl.lit("/") + pl.col("reason"), ignore_nulls=True)
    found = tampered.select(said)["outcome"].to_list()
    expected = [outcome for _, outcome in ODD.values()]
    assert dict(zip(ODD, found, strict=False)) == dict(zip(ODD, expected, strict=True))
    assert set(found[len(ODD) :]) == {"recovered"}
    counts = Counter(expected) + Counter(recovered=probed - len(ODD))
    for metric, count in counts.items():
        line = one(tables, "outcomes", metric, arm="tampered")
        assert (line["value"], line["n"]) == (pytest.approx(count / probed), probed)
        assert line["left_out"] == []
    eligible = one(tables, "eligibility", "eligible")
    assert (eligible["value"], eligible["n"]) == (pytest.approx(probed / PROBLEMS), PROBLEMS)
    assert eligible["left_out"] == [{"outcome": "source_stopped", "count": 2}]
    # Each reply that has a value has an R, whatever its language and size.
    valued = sum(outcome in {"recovered", "adopted", "confused/form"} for outcome in found)
    r = one(tables, "cpt", "r_cpt")
    assert r["n"] == valued
    assert {name["outcome"]: name["count"] for name in r["left_out"]} == {
        "stopped": 3, "unreadable": 3, "refused": 2
    }  # fmt: skip
    looped = one(tables, "flags", "loop", arm="tampered")
    assert looped["value"] == pytest.approx(2 / probed)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "source_stopped" in page
    assert len(page) < 8 * MB


def one(tables: pl.DataFrame, table: str, metric: str, **keys: str) -> dict[str, Any]:
    """The one estimate."""
    mine = tables.filter((pl.col("table") == table) & (pl.col("metric") == metric))
    for name, value in keys.items():
        mine = mine.filter(pl.col("keys").struct.field(name) == value)
    (line,) = mine.iter_rows(named=True)
    return line


def test_a_request_that_the_server_refuses_is_a_failure_with_exit_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tmp_path / "run", monkeypatch, 3, broken=True) == 1
    rows = misled.rows(tmp_path / "run")
    outcomes = Counter(rows.filter(pl.col("arm") == "tampered")["outcome"])
    assert outcomes == {"failed": 1, "stopped": 2}
    line = one(misled.tables(tmp_path / "run"), "outcomes", "stopped", arm="tampered")
    assert (line["n"], line["left_out"]) == (2, [{"outcome": "failed", "count": 1}])
