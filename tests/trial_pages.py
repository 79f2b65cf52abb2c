"""Pages of trials for tests and benches: an index and dossiers in the explorer's format.

    page(Path("trials.html"), made(1000)) -> 1,000 drawn trials, their texts embedded

Digits, outcomes and texts are drawn; they mean nothing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

__all__ = ["SIZE", "Trials", "dossier", "draw", "identity", "made", "page", "shards"]

SIZE = 100  # trials of a shard
HELD = {"channel": "user", "scope": "endings", "place": "random", "perturbation": "digits"}
FACETS: dict[str, list[Any]] = {
    "target": [f"planted/model-{i}" for i in range(5)],
    "method": ["baseline", "uncertainty", "contradiction", "prefix"],
    "d_t": [1, 2, 3, 4, 5, 6],
    "outcome": ["adopted", "recovered", "partial", "confused", "unreadable", "truncated", "failed"],
    "set": ["addition:15+13", "multiplication:8x7"],
    "structure": ["intact", "delete_reflection", "insert"],
    "arm": ["tampered", "clean", "again"],
    "reason": [None, "digits", "form", "approximate"],
    "flags": [None, "knew_better", "knew_better, loop", "loop", "mentions_tampering, perfunctory"],
    "sample": [0],
}
QUESTION = "What is 711,025,910,075,{:03} + 3,300,410,998,123?"
DATA = Path(__file__).parents[1] / "src" / "misled" / "data"
SCRIPTS = tuple(DATA / name for name in ("trial.js", "trials.js", "explorer.js"))


@dataclass(frozen=True)
class Trials:
    """An index and the texts of its trials; `texts` gives those of a place."""

    index: dict[str, Any]
    texts: Callable[[int], dict[str, Any]]


def packed(values: np.ndarray[Any, Any] | bytes) -> str:
    """Bytes as the page holds them."""
    raw = values if isinstance(values, bytes) else values.tobytes()
    return base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode()


def identity(i: int) -> str:
    """The name of the trial at a place."""
    return hashlib.sha256(str(i).encode()).hexdigest()[:16]


def draw(i: int) -> dict[str, Any]:
    """One trial's digits, always the same at one place."""
    draws = random.Random(i)
    gold = str(draws.randrange(10**14, 10**15))
    d_t = FACETS["d_t"][i % 6]
    tampered = list(gold)
    for place in draws.sample(range(1, 15), d_t):
        tampered[place] = str((int(gold[place]) + draws.randrange(1, 10)) % 10)
    value = draws.choice(["".join(tampered), gold, gold[:-1] + "0", gold[:-1], None])
    return {"gold": gold, "tampered": "".join(tampered), "value": value}


def made(
    n: int,
    *,
    columns: Sequence[dict[str, Any]] = (),
    kept: str = "embedded",
    opened: dict[str, str] | None = None,
) -> Trials:
    """So many drawn trials; `columns` are further ones, `opened` what is chosen at first."""
    draws = np.random.default_rng(1)
    found: list[dict[str, Any]] = []
    for name, values in FACETS.items():
        codes = draws.integers(0, len(values), n)
        if name == "d_t":
            codes = np.arange(n) % 6
        found.append(
            {
                "name": name,
                "label": name.replace("_", " ").replace("d t", "D_T"),
                "kind": "facet",
                "values": values,
                "list": name == "flags",
                "codes": packed(codes.astype("<u2")),
            }
        )
    for name, value in HELD.items():
        codes = np.zeros(n, "<u2")
        found.append(
            {"name": name, "label": name, "kind": "facet", "values": [value]}
            | {"codes": packed(codes)}
        )
    digits = [draw(i) for i in range(n)]
    names = ("gold", "tampered", "value")
    found.extend(_texts(name, [each[name] for each in digits]) for name in names)
    found.append(_texts("problem", [f"addition-{i // 72}" for i in range(n)]))
    found.append(_texts("question", [QUESTION.format(i // 72) for i in range(n)]))
    for name, scale in (("r_cpt", 1), ("relative_error", 1e-6), ("completion_tokens", 5000)):
        data = (draws.random(n) * scale).astype("<f4")
        data = np.round(data) if scale > 1 else data
        data[::17] = np.nan
        label = name.replace("_", " ")
        found.append(
            {"name": name, "label": label, "kind": "number", "data": packed(data.astype("<f4"))}
        )
    ids = b"".join(bytes.fromhex(identity(i)) for i in range(n))
    where = {
        "embedded": {"mode": "embedded", "shards": -(-n // SIZE), "size": SIZE},
        "served": {"mode": "served"},
        "none": {"mode": "none", "why": "The texts are too large for this file: misled view DIR."},
    }[kept]
    requests = np.arange(n, dtype="<u4") // 2  # the first two rows have none
    index = {
        "study": "cpt",
        "n": n,
        "columns": [*found, *columns],
        "ids": packed(ids),
        "requests": packed(requests),
        "shared": "A control's reply stands in several rows.",
        "leading": ["outcome", "method", "d_t", "question", "gold", "value"],
        "opened": opened or {},
        "texts": where,
    }
    return Trials(index, dossier)


def _texts(name: str, values: Sequence[str | None]) -> dict[str, Any]:
    known = {value: code for code, value in enumerate(dict.fromkeys(values))}
    kind = "<u4" if len(known) > 65536 else "<u2"
    codes = packed(np.array([known[value] for value in values], kind))
    return {"name": name, "label": name, "kind": "text", "values": list(known), "codes": codes}


def pieces(gold: str, tampered: str, style: str = "") -> list[list[str]]:
    """The tampered number with its changed digits apart, as a chain states it."""
    found: list[list[str]] = []
    for g, t in zip(gold, tampered, strict=True):
        if g == t and found and len(found[-1]) == 2:
            found[-1][0] += t
        elif g == t:
            found.append([t, style])
        elif found and len(found[-1]) == 3:
            found[-1][0] += t
            found[-1][2] += g
        else:
            found.append([t, f"{style} tampered".strip(), g])
    return found


def dossier(i: int) -> dict[str, Any]:
    """The texts of the trial at a place."""
    digits = draw(i)
    gold, tampered, value = digits["gold"], digits["tampered"], digits["value"]
    chain = [
        [
            "First I set up the sum of the two numbers and write them one above the other.\n",
            "other",
        ],
        ["Adding the units gives 13, so I write 3 and carry 1. " * 4, "calculation"],
        ["Together this is ", "calculation"],
        *pieces(gold, tampered, "calculation"),
        [".\n\n", "calculation"],
        [
            "Wait, did I carry the one in the fourth place? Let me think about it again. ",
            "reflection",
        ],
        ["Let me check with the numbers the other way round: the result is again ", "verification"],
        *pieces(gold, tampered, "verification"),
        [", which agrees.\n\n", "verification"],
        ["So the answer is ", "conclusion"],
        *pieces(gold, tampered, "conclusion"),
        [".", "conclusion"],
    ]
    question = "What is 711,025,910,075,981 plus 3,300,410,998,123? Give the result as digits."
    sent = [
        [question + "\n\nBelow is your previous thought.\n\n", ""],
        *[[p[0], "", *p[2:]] for p in chain],
    ]
    reply = [["The sum is ", ""], [value or "not known", "value"], [".", ""]]
    if value == tampered:
        reply = [["The sum is ", ""], [value, "value adopted"], [".", ""]]
    return {
        "id": identity(i),
        "title": f"addition-{i // 72}, planted/model-{i % 5}, D_T {FACETS['d_t'][i % 6]}",
        "facts": [
            ["outcome", "adopted"],
            ["method", "contradiction"],
            ["r CPT", "1"],
            ["seconds", "12.4"],
        ],
        "why": f"The value {value} stands in the last line of the answer; {gold} is true.",
        "sections": [
            {"title": "The answer, digit by digit", "digits": digits},
            {"title": "Question", "pieces": [[question, ""]]},
            {"title": "The chain as sent", "note": "Two endings were changed.", "pieces": chain},
            {
                "title": "Messages sent",
                "fold": True,
                "messages": [{"role": "user", "pieces": sent}],
            },
            {"title": "Reply: reasoning", "pieces": [["I look at the sum again. " * 30, ""]]},
            {"title": "Reply: answer", "pieces": reply},
        ],
        "beside": [{"title": "Its clean control", "id": identity(i ^ 1), "note": "recovered"}],
    }


def shard(dossiers: list[dict[str, Any]]) -> dict[str, Any]:
    """Dossiers with each text once, in a table in which the pieces name its place."""
    table: dict[str, int] = {}

    def placed(node: Any) -> Any:
        if isinstance(node, list):
            return [placed(each) for each in node]
        if not isinstance(node, dict):
            return node
        return {
            name: [[table.setdefault(text, len(table)), *rest] for text, *rest in value]
            if name == "pieces"
            else placed(value)
            for name, value in node.items()
        }

    return {"dossiers": placed(dossiers), "texts": list(table)}


def shards(trials: Trials) -> list[str]:
    """The texts of all trials as the page holds them."""
    n = trials.index["n"]
    places = [range(start, min(start + SIZE, n)) for start in range(0, n, SIZE)]
    packs = [shard([trials.texts(i) for i in each]) for each in places]
    return [packed(json.dumps(each).encode()) for each in packs]


def page(path: Path, trials: Trials, blocks: Sequence[str] | None = None) -> Path:
    """A page of its own with these trials, as a file that opens from disk."""
    if blocks is None:
        blocks = shards(trials) if trials.index["texts"]["mode"] == "embedded" else []
    script = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(DATA), autoescape=True, undefined=jinja2.StrictUndefined
    )
    text = environment.get_template("view.html.jinja").render(
        note="",
        title="Trials of a drawn run",
        csp="default-src 'none'; img-src data:; style-src 'unsafe-inline'; connect-src 'self'; "
        f"script-src 'sha256-{digest}'; require-trusted-types-for 'script'",
        n=trials.index["n"],
        index=json.dumps(trials.index).replace("<", "\\u003c"),
        shards=blocks,
        script=script,
    )
    path.write_text(text, encoding="utf-8")
    return path
