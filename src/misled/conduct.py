"""Conduct: where models stop without an answer (A.8), and what else replies show (flags, A.6).

    100 chains sent back, 38 replies without an answer -> stopped .38; by prompt tokens .35 .41 .38

Rates are shares of the answered trials. A stop is the model's own end; a reply
that the token limit cut is none. Knows nothing about how a flag is decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from misled import batches, stats
from misled.flags import FLAGS
from misled.lines import FIRST_ANSWERED, counted, entry, line
from misled.records import OUTCOMES, Entry
from misled.trials import ANSWERED, CELL, GROUP, PROBLEM, SENT, SOLVED, Piece, parts, pieces

__all__ = ["answers_in_reasoning", "flagged", "stops"]

_CUT = {"gate": SOLVED, "again": SOLVED, "clean": SENT}
_BINS = 3
_NONE = pl.Series([""])


def stops(trials: pl.DataFrame) -> list[Entry]:
    """Stop rates of each arm but the source; where there are any, by thirds of prompt tokens, too.

    Replays have their thirds always. The thirds of an arm are those of all sets
    of a target together, so that sets can be compared at equal length.
    """
    names = [*SOLVED, "channel", "method", "arm"]
    shared = pl.col("arm").is_in(["gate", "again"])
    reply = [*names, *PROBLEM, "sample", "reply"]
    frame = (
        trials.lazy()
        .filter(pl.col("arm") != "source")
        .select(*reply, "code", "outcome", "reason", "answered", "prompt_tokens")
        .with_columns(pl.col("prompt_tokens").cast(pl.Float64))
        .with_columns(
            pl.when(shared).then(pl.lit("")).otherwise(name).cast(kind).alias(name)
            for name in ("channel", "method")
            for kind in [
                pl.Enum(trials[name].unique().cast(pl.String).append(_NONE).unique().sort())
            ]
        )
        .unique(reply, keep="first")
        .sort(reply)
        .collect()
    )
    cuts = _thirds(frame)
    found: list[Entry] = []
    for piece in pieces(frame, names, ["code", "cluster", "prompt_tokens"]):
        c = piece.columns
        answered, tokens = c["code"] >= FIRST_ANSWERED, c["prompt_tokens"]
        found.append(_stopped(piece, answered, ~answered, frame))
        if not found[-1].value and not piece.keys["arm"].startswith("replay"):
            continue
        edges = cuts.get((piece.keys["target"], piece.keys["arm"]), [])
        for low, high in pairwise(edges):
            within = (tokens > low) & (tokens <= high)
            if (within & answered).any():
                part = {"prompt_tokens": f"{int(low) + 1}-{int(high)}"}
                cut = piece._replace(keys=piece.keys | part)
                found.append(_stopped(cut, within & answered, within & ~answered, frame))
    return found


def flagged(trials: pl.DataFrame) -> list[Entry]:
    """The rate of each flag, per arm and cell; each reply of a control counts once."""
    found: list[Entry] = []
    for piece, mine in _replies(trials):
        columns = piece.columns
        answered = columns["code"] >= FIRST_ANSWERED
        hits = np.stack([columns[name] for name in FLAGS])
        mass = answered.astype(float)
        left_out = counted(columns["code"][~answered])
        for name, rate in zip(FLAGS, batches.rates(hits, columns["cluster"], mass), strict=True):
            found.append(line("flags", name, piece, rate, left_out, mine))
    return found


def answers_in_reasoning(trials: pl.DataFrame) -> list[Entry]:
    """Outcomes with and without the replies whose answer the server filed as reasoning.

    Only of cells that have such replies; elsewhere the two are the same.
    """
    found: list[Entry] = []
    for piece, _ in _replies(trials):
        columns = piece.columns
        answered, misfiled = columns["code"] >= FIRST_ANSWERED, columns["answer_in_reasoning"]
        if not (answered & misfiled).any():
            continue
        hits = columns["code"] == np.arange(FIRST_ANSWERED, len(OUTCOMES))[:, None]
        parts = {"all": answered, "in content": answered & ~misfiled}
        for word, kept in parts.items():
            rates = batches.rates(hits, columns["cluster"], kept.astype(float))
            left_out = counted(columns["code"][~answered])
            if word == "in content":
                left_out["answer_in_reasoning"] = int((answered & misfiled).sum())
            for name, rate in zip(ANSWERED, rates, strict=True):
                keys = piece.keys | {"answers": word}
                found.append(entry("answers_in_reasoning", name, keys, rate, left_out))
    return found


def _replies(trials: pl.DataFrame) -> Iterator[tuple[Piece, pl.DataFrame]]:
    """The replies of each arm but the source, each once in a cell.

    Each piece with the frame that its lines are of.
    """
    arms = [arm for arm in trials["arm"].unique().sort() if arm != "source"]
    for arm in arms:
        names, more = _CUT.get(arm, CELL), ["code", "outcome", "reason", *FLAGS]
        for part in parts(trials, SOLVED if arm in _CUT else GROUP):
            reply = [*_CUT.get(arm, ["cell"]), *PROBLEM, "sample", "reply"]
            mine = part.lazy().filter(pl.col("arm") == arm).sort(reply)
            mine = mine.unique(reply, keep="first", maintain_order=True)
            frame = mine.select(*names, "cluster", *more).collect()
            for piece in pieces(frame, names, ["code", "cluster", *FLAGS]):
                yield piece._replace(keys=piece.keys | {"arm": arm}), frame


def _thirds(mine: pl.DataFrame) -> dict[tuple[str, str], list[float]]:
    """By target and arm: where the thirds of the prompt tokens begin and end."""
    known = mine.filter(pl.col("answered") & pl.col("prompt_tokens").is_not_null())
    found: dict[tuple[str, str], list[float]] = {}
    for (target, arm), part in known.group_by("target", "arm", maintain_order=True):
        tokens = np.sort(part["prompt_tokens"].to_numpy())
        inner = [tokens[len(tokens) * k // _BINS - 1] for k in range(1, _BINS) if len(tokens) >= k]
        edges = sorted({float(tokens[0]) - 1, *map(float, inner), float(tokens[-1])})
        found[str(target), str(arm)] = edges
    return found


def _stopped(piece: Piece, kept: Any, lost: Any, frame: pl.DataFrame) -> Entry:
    code, cluster = piece.columns["code"], piece.columns["cluster"]
    estimate = stats.rate(code[kept] == OUTCOMES.index("stopped"), cluster[kept])
    return line("stops", "stopped", piece, estimate, counted(code[lost]), frame)
