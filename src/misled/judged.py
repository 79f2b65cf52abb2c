"""Verdicts as sorted frames, and the ways in which tables cut them.

    for piece in pieces(docket.plain, BENCH, COLUMNS): 500 items, their verdicts by condition

A bench is one judge over the answers of one generator to one problem set. An
item is one generation; a line of `plain` holds its verdicts without and with
the chain and both again, as codes (`CODES`). What compares judges, or a chain
with an edited one, joins lines by item. Knows nothing about estimates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from misled.ledger import Rows
from misled.trials import Piece, listed, pieces, text

__all__ = [
    "AGAIN",
    "BENCH",
    "CODES",
    "COLUMNS",
    "CONDITIONS",
    "ITEM",
    "PAIR",
    "PLACES",
    "SELF",
    "SHARES",
    "SPOT",
    "UNASKED",
    "Columns",
    "Docket",
    "answered",
    "benches",
    "left_out",
    "prepare",
    "read",
]

Columns: TypeAlias = Mapping[Any, npt.NDArray[Any]]

BENCH = ("set", "generator", "judge", "shown")
ITEM = ("cluster", "problem", "sample")
SPOT = ("variant", "place", "k")
PAIR = ("answer", "reasoning")
AGAIN = ("again_answer", "again_reasoning")
SELF = ("self_hidden", "self")
CONDITIONS = (*PAIR, *AGAIN, *SELF, "controlled", "crossed", "null")
VARIANTS = ("statements", "filler", "true_edit", "placebo", "chain_cut")
PLACES = ("begin", "middle", "end")
SHARES = ("inserted", "removed")  # of an edited chain

# A verdict, else why there is none: first those that the judge did answer.
CODES = (
    *("reject", "accept"),
    *("unreadable", "truncated", "refused"),
    *("failed", "unsupported", "not_applicable", "no_answer", "unlabelled"),
)
UNASKED = -1
_FIRST_UNREAD, _FIRST_ABSENT = CODES.index("unreadable"), CODES.index("failed")
_UNLABELLED = CODES.index("unlabelled")
COLUMNS = ("cluster", "problem", "label", *PAIR, *AGAIN)

_ORDER = {"condition": CONDITIONS, "variant": VARIANTS, "place": PLACES, "k": ()}
_TEXTS = (*BENCH, "arm", "problem", "outcome", "verdict", "labelled_by", "strength")
_LABELS = ("label", "matched", "verified")


class Docket(NamedTuple):
    """A run's rows, cut by what they are for."""

    generated: pl.DataFrame  # a line an item
    plain: pl.DataFrame  # a line an item of a bench: PAIR and AGAIN
    own: pl.DataFrame  # the same with SELF, where the generator judges
    controlled: pl.DataFrame  # a line an item and edit of its chain, beside the plain verdicts
    crossed: pl.DataFrame  # an answer with the chain that another answer came from
    null: pl.DataFrame  # a verdict on no answer at all
    closed: pl.DataFrame  # the judge's own answers
    lost: dict[tuple[str, str], Counter[str]]  # items without answer or label, by (set, generator)


def prepare(rows: Rows) -> Docket:
    """The rows in a fixed order, whatever order they came in; `rows` has a column a field."""
    frame = pl.DataFrame(
        {
            **{name: text(rows[name]).cast(pl.Categorical) for name in _TEXTS},
            **{name: listed(rows[name], known) for name, known in _ORDER.items()},
            **{name: rows[name].cast(pl.Boolean).cast(pl.Int8).fill_null(-1) for name in _LABELS},
            "cluster": listed(rows["cluster"]).to_physical().cast(pl.Int64),
            "reply": text(rows["request"]).rank("dense"),
            "sample": rows["sample"].cast(pl.Int64),
            **{name: rows[name].cast(pl.Float64) for name in ("length", *SHARES, "repeated")},
        }
    )
    frame = frame.sort("arm", *BENCH, "condition", *SPOT, *ITEM, "reply")
    said = _coded(_counted(frame.filter(arm="judge")))
    generated = frame.filter(arm="generate")
    plain = _abreast(said, BENCH, (*PAIR, *AGAIN))
    own = said.filter(pl.col("judge") == pl.col("generator"))
    return Docket(
        generated=generated,
        plain=plain,
        own=_abreast(own, BENCH, SELF),
        controlled=_controlled(said, plain),
        crossed=said.filter(condition="crossed"),
        null=said.filter(condition="null"),
        closed=frame.filter(arm="closed_book"),
        lost=_lost(generated),
    )


def _counted(frame: pl.DataFrame) -> pl.DataFrame:
    """With samples counted from each condition's first: what is asked again is the next one."""
    of = [*BENCH, "condition", *SPOT, "problem"]
    return frame.with_columns(
        pl.col("sample").fill_null(0).rank("dense").over(of).cast(pl.Int64) - 1
    )


def _coded(frame: pl.DataFrame) -> pl.DataFrame:
    """With `code`: the verdict, or why there is none."""
    why = pl.when(pl.col("outcome") == "read").then(pl.col("verdict")).otherwise(pl.col("outcome"))
    code = why.replace_strict(CODES, range(len(CODES)), return_dtype=pl.Int8)
    return frame.with_columns(
        pl.when((pl.col("label") < 0) & (code < _FIRST_ABSENT) & (pl.col("condition") != "null"))
        .then(pl.lit(_UNLABELLED, pl.Int8))
        .otherwise(code)
        .alias("code")
    )


def _abreast(said: pl.DataFrame, bench: Sequence[str], conditions: Sequence[str]) -> pl.DataFrame:
    """A line an item of a bench, with a column of codes for each condition."""
    mine = said.filter(pl.col("condition").cast(pl.String).is_in(conditions))
    lines = mine.group_by(*bench, *ITEM, maintain_order=True).agg(
        pl.col(*_LABELS, "labelled_by", "strength").first(), pl.col("length").max()
    )
    for condition in conditions:
        codes = mine.filter(pl.col("condition") == condition).unique(
            [*bench, *ITEM], keep="first", maintain_order=True
        )
        codes = codes.select(*bench, *ITEM, pl.col("code").alias(condition))
        lines = lines.join(codes, on=[*bench, *ITEM], how="left", maintain_order="left")
    return lines.with_columns(pl.col(conditions).fill_null(UNASKED)).sort(*bench, *ITEM)


def _controlled(said: pl.DataFrame, plain: pl.DataFrame) -> pl.DataFrame:
    on = [*BENCH, *ITEM]
    beside = plain.select(*on, "reasoning")
    mine = said.filter(condition="controlled").join(beside, on=on, how="left")
    return mine.with_columns(pl.col("reasoning").fill_null(UNASKED)).sort(*BENCH, *SPOT, *ITEM)


def _lost(generated: pl.DataFrame) -> dict[tuple[str, str], Counter[str]]:
    found: dict[tuple[str, str], Counter[str]] = {}
    lines = generated.select("set", "generator", "outcome", "label").iter_rows()
    for problems, generator, outcome, label in lines:
        why = outcome if outcome != "read" else "unlabelled" if label < 0 else ""
        if why:
            found.setdefault((problems, generator), Counter())[why] += 1
    return found


def benches(frame: pl.DataFrame, names: Sequence[str], columns: Sequence[str]) -> Iterable[Piece]:
    """The frame cut by `names`, each piece with its keys."""
    return pieces(frame.sort(*names, *ITEM), names, columns)


def read(columns: Columns, *conditions: Hashable) -> npt.NDArray[np.bool_]:
    """Which items are labelled and have a verdict in all of `conditions`."""
    known = columns["label"] >= 0
    for name in conditions:
        known = known & (columns[name] >= 0) & (columns[name] < _FIRST_UNREAD)
    return np.asarray(known)


def answered(columns: Columns, *conditions: Hashable) -> npt.NDArray[np.bool_]:
    """Which items are labelled and have a reply in all of `conditions`, read or not."""
    known = columns["label"] >= 0
    for name in conditions:
        known = known & (columns[name] >= 0) & (columns[name] < _FIRST_ABSENT)
    return np.asarray(known)


def left_out(
    columns: Columns, conditions: Sequence[Hashable], lost: Counter[str]
) -> dict[str, int]:
    """Why items of these conditions are not in a number, each by its first reason."""
    counts: Counter[str] = Counter()
    known = read(columns, *conditions)
    for code in np.stack([columns[name] for name in conditions], axis=1)[~known].tolist():
        why = next((c for c in code if c >= _FIRST_UNREAD or c == UNASKED), UNASKED)
        counts["unasked" if why == UNASKED else CODES[why]] += 1
    for why, count in lost.items():
        counts[why] = max(counts[why], count)
    return {name: counts[name] for name in (*CODES, "unasked") if counts[name]}
