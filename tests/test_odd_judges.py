"""Judges that answer as they like, behind a real server: what a whole run makes of each."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

from aiohttp import web

from misled.cautions_judge import cautions
from misled.directory import execute
from misled.judgements import entries
from misled.publishing import Published, Standing, publish
from misled.records import Entry
from misled.settings import Pace
from panel import pick
from servers import completion, serving
from test_judge import made

N = 12
ESSAY = "The question has several sides, and each of them deserves a word or two. " * 40
# What each judge says, with its verdict for %; and what becomes of it.
JUDGES: dict[str, tuple[Any, str, str | None]] = {
    "essay": (f"{ESSAY}\n\nSo the answer is %.", "read", None),
    "endless": (ESSAY, "unreadable", "none"),
    "empty": ("", "unreadable", "none"),
    "null": (None, "unreadable", "none"),
    "json": ('{"reason": "it says \\"incorrect\\" } {", "verdict": "%"}', "read", None),
    "fenced": ('```json\n{\n  "verdict": "%",\n  "sure": 0.9\n}\n```', "read", None),
    "broken": ('{"verdict": "corr', "unreadable", "none"),
    "chinese": ("经过检查，答案%。", "read", None),
    "german": ("Die Antwort ist %.", "read", None),
    "tags": ("<think>Is it correct or incorrect?</think>%", "read", None),
    "open": ("<think>It is correct, or is it", "unreadable", "none"),
    "prompt": ("Reply with one word: correct or incorrect.", "unreadable", "both"),
    "refusing": ("I'm sorry, but I can't help with that.", "refused", "refused"),
    "error": ("Error: 429 Too Many Requests", "unreadable", "error"),
    "hidden": ("\u202e%\x00", "read", None),
}
WORDS = {"chinese": ("正确", "不正确"), "german": ("richtig", "falsch")}


async def judge(request: web.Request) -> web.StreamResponse:
    """Right answers are accepted and wrong ones rejected, each in the judge's own manner."""
    body = await request.json()
    name, asked = body["model"], body["messages"][-1]["content"]
    said = JUDGES[name][0]
    if isinstance(said, str):
        accept, reject = WORDS.get(name, ("correct", "incorrect"))
        said = said.replace("%", accept if "\nright\n" in asked else reject)
    return web.json_response(completion(said))


def answers(folder: Path) -> str:
    lines = [
        {"question": f"What is {i} + 3?", "gold": str(i + 3), "reasoning": "I add both of them.",
         "answer": "right" if i % 2 else "wrong", "label": bool(i % 2)}
        for i in range(N)
    ]  # fmt: skip
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return str(path)


async def run(folder: Path) -> tuple[Standing, Published]:
    async with serving(judge) as server:
        session = made(
            judge=[f"odd/{name}" for name in JUDGES],
            answers=answers(folder),
            n=N,
            conditions=["answer", "reasoning"],
            providers={"odd": {"base_url": server.url}},
        )
        _, found = await asyncio.to_thread(
            execute, session, folder / "run", Pace(), lambda *_: None
        )
    return found, publish(session, folder / "run", found, ())


def test_whatever_judges_say_is_read_or_counted_with_its_reason(tmp_path: Path) -> None:
    found, published = asyncio.run(run(tmp_path))
    told: list[Entry] = entries(found.rows)
    for name, (_, outcome, reason) in JUDGES.items():
        mine = found.rows.filter(judge=f"odd/{name}")
        said = Counter(zip(mine["outcome"], mine["reason"], strict=True))
        assert said == {(outcome, reason): 2 * N}, name
        line = pick(told, "judge", "alignment", judge=f"odd/{name}", condition="answer")
        if outcome == "read":
            assert (line.value, line.n, line.left_out) == (1, N, {}), name
        else:
            assert (line.value, line.n) == (None, 0), name
            assert line.left_out == {outcome: N}, name
    warned = "\n".join(f"{c.text} {c.places}" for c in cautions(told))
    assert "Many verdicts could not be read" in warned
    assert "odd/endless" in warned
    assert published.report.is_file()
