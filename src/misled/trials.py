"""Graded rows as one sorted frame, and the ways in which tables cut it.

    for piece in pieces(prepare(rows), CELL, ["code"]): 200 tampered, clean and again trials each

A cell is what was done to the chain, how it was sent and to whom; a group is a
cell over all D_T. Controls are repeated in every cell that they are paired
with. What compares arms starts from `means` and `pairs`: a line a problem.
Knows nothing about estimates: it selects, pairs and weighs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from polars import selectors as cs

from misled.flags import FLAGS
from misled.ledger import Rows
from misled.prompts import AS_TEXT, METHODS
from misled.records import OUTCOMES

__all__ = [
    "ANSWERED",
    "CELL",
    "CONTROLS",
    "GROUP",
    "KINDS",
    "PROBLEM",
    "SCORES",
    "SENT",
    "SOLVED",
    "VALUED",
    "WRONG",
    "Keys",
    "Piece",
    "beside",
    "listed",
    "means",
    "pairs",
    "parts",
    "pieces",
    "pool",
    "prepare",
    "probes",
    "text",
    "with_degrees",
    "with_weights",
]

Keys: TypeAlias = dict[str, str]

SOLVED = ("set", "target", "source", "mode")
SENT = (*SOLVED, "feed", "attribution", "channel", "structure", "method")
GROUP = (*SENT[:-1], "perturbation", "scope", "place", "method")
CELL = (*GROUP, "d_t")
PROBLEM = ("cluster", "problem")

UNANSWERED = OUTCOMES[: OUTCOMES.index("truncated")]
ANSWERED = OUTCOMES[len(UNANSWERED) :]
VALUED = OUTCOMES[OUTCOMES.index("recovered") :]
WRONG = VALUED[1:]
CONTROLS = ("clean", "again")
# Reasons that get a rate of their own beside their outcome's, as `kind` numbers them.
KINDS = (
    *("unreadable/none", "unreadable/approximate", "unreadable/ambiguous"),
    *("confused/form", "confused/digits"),
    *("other/own", "other/mixed"),
)
SCORES = ("adopted", "recovered", "r_cpt")

PART = 100_000  # lines that are held beside each other, if not more belong together

_ORDER = {
    "arm": ("source", "gate", "tampered", *CONTROLS),
    "method": (*METHODS, AS_TEXT),
    "structure": ("intact", "delete_reflection", "delete_verification", "insert"),
    "channel": ("user", "assistant", "think", "think_closed"),
    "attribution": ("own", "other"),
    "scope": ("endings", "all", "last"),
    "place": ("random", "anchored", "high", "low"),
}
_TEXTS = (*GROUP, "arm", "problem", "cluster", "reason")
_COUNTS = ("sample", "d_t", "w_left", "length", "occurrences", "deleted")
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "answer_tokens")
_NUMBERS = ("r_cpt", "r_hamming", "relative_error", "seconds")


class Piece(NamedTuple):
    """Adjacent lines of a frame that share their keys, as an `Entry` has them."""

    keys: Keys
    columns: dict[str, npt.NDArray[Any]]
    lines: slice


def prepare(rows: Rows) -> pl.DataFrame:
    """The trials in a fixed order, whatever order the rows came in, with what tables count.

    Texts are `Enum`s, which take a byte or four a line, and sort in the order in which
    a reader expects their values; absent keys are "" so that equal cells are equal in a
    join. Requests, of which there are as many as lines, stay texts, and `reply` numbers them.
    `degree` is D_T as a number, `degrees` those of the group as a plan spells them; `code`
    and `kind` number outcomes and `KINDS`. `adopted` and `recovered` are 0 or 1 in
    answered trials and null elsewhere; each flag is a column.
    """
    request = text(rows["request"])
    flags = rows["flags"].cast(pl.List(pl.String))
    frame = pl.DataFrame(
        {
            **{name: listed(rows[name], _ORDER.get(name, ())) for name in _TEXTS},
            **{name: rows[name].cast(pl.Int64).shrink_dtype() for name in (*_COUNTS, *_TOKENS)},
            **{name: rows[name].cast(pl.Float64) for name in _NUMBERS},
            **{name: flags.list.contains(name).fill_null(value=False) for name in FLAGS},
            "outcome": rows["outcome"].cast(pl.String).cast(pl.Enum(OUTCOMES)),
            "request": request,
            "reply": request.rank("dense"),
            "counted": rows["counted"].cast(pl.Boolean).fill_null(value=False),
        }
    ).with_columns(pl.col("d_t").fill_null(0), pl.col("cluster").to_physical())
    del request, flags
    frame = frame.sort(*CELL, "arm", "problem", "sample", "reply")
    frame = _labelled(frame.with_columns(pl.struct(GROUP).rle_id().alias("group")))
    outcome, answered = pl.col("outcome"), ~pl.col("outcome").is_in(UNANSWERED)
    kinds = {name: number for number, name in enumerate(KINDS)}
    kind = pl.concat_str(outcome, pl.lit("/"), "reason")
    return frame.with_columns(
        pl.struct(CELL).rle_id().alias("cell"),
        outcome.to_physical().cast(pl.Int8).alias("code"),
        answered.alias("answered"),
        kind.replace_strict(kinds, default=-1, return_dtype=pl.Int8).alias("kind"),
        *(
            pl.when(answered).then((outcome == name).cast(pl.Int8)).alias(name)
            for name in SCORES[:2]
        ),
    )


def text(column: pl.Series) -> pl.Series:
    """What a column says, "" where it says nothing."""
    return column.cast(pl.String).fill_null("")


def listed(column: pl.Series, first: Sequence[str] = ()) -> pl.Series:
    """Texts as an `Enum`: "", those of `first`, then all others by themselves."""
    texts, order = text(column), pl.Series(["", *first], dtype=pl.String)
    others = texts.unique().sort()
    return texts.cast(pl.Enum(order.append(others.filter(~others.is_in(order.to_list())))))


def _labelled(frame: pl.DataFrame) -> pl.DataFrame:
    """D_T as a key, and which D_T the group holds: 1-6 or 1,3."""
    asked = frame.filter((pl.col("arm") == "tampered") & (pl.col("d_t") > 0))
    by_group = asked.group_by("group").agg(pl.col("d_t").unique().sort())
    labels = {group: _spelled(found) for group, found in by_group.iter_rows()}
    numbers = sorted(set(frame["d_t"]))
    several = sorted(set(labels.values()) - {str(n) for n in numbers} - {""})
    key = pl.Enum(["", *several, *(str(n) for n in numbers if n)])
    spelled = {0: ""} | {n: str(n) for n in numbers if n}
    return frame.with_columns(
        pl.col("d_t").alias("degree"),
        pl.col("d_t").replace_strict(spelled, return_dtype=key),
        pl.col("group").replace_strict(labels, default="", return_dtype=key).alias("degrees"),
    )


def _spelled(found: Sequence[int]) -> str:
    if len(found) > 1 and list(found) == list(range(found[0], found[-1] + 1)):
        return f"{found[0]}-{found[-1]}"
    return ",".join(map(str, found))


def probes(trials: pl.DataFrame) -> pl.DataFrame:
    """The arms that are probed in every run: tampered and its controls."""
    return trials.filter(pl.col("arm").is_in(["tampered", *CONTROLS]))


def pieces(frame: pl.DataFrame, names: Sequence[str], columns: Sequence[str]) -> Iterator[Piece]:
    """The frame, in which equal `names` are adjacent, cut by them; an `Enum` by its codes."""
    if frame.is_empty():
        return
    runs = frame.select(pl.struct(names).rle_id())[:, 0].to_numpy()
    starts = np.flatnonzero(np.diff(runs, prepend=-1))
    ends = np.append(starts[1:], frame.height)
    cut = frame.select(columns).with_columns(cs.enum().to_physical())
    whole = {name: cut[name].to_numpy() for name in columns}
    keys = frame[starts].select(names).iter_rows()
    for values, start, end in zip(keys, starts.tolist(), ends.tolist(), strict=True):
        named = {name: str(value) for name, value in zip(names, values, strict=True) if value}
        lines = slice(start, end)
        yield Piece(named, {name: column[lines] for name, column in whole.items()}, lines)


def parts(trials: pl.DataFrame, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The trials some at a time, those with equal `names`, with which GROUP begins, together."""
    runs = trials.select(pl.struct(names).rle_id())[:, 0].to_numpy()
    start = 0
    for end in [*(np.flatnonzero(np.diff(runs)) + 1).tolist(), trials.height]:
        if end - start >= PART or end == trials.height:
            yield trials[start:end]
            start = end


def means(trials: pl.DataFrame, arm: str) -> pl.DataFrame:
    """One line a problem of a cell: the mean of each score over the samples of `arm`."""
    mine = trials.filter((pl.col("arm") == arm) & pl.col("adopted").is_not_null())
    found = mine.group_by("cell", *PROBLEM).agg(pl.col(SCORES).mean())
    return _named(trials, found)


def pairs(trials: pl.DataFrame, control: str) -> pl.DataFrame:
    """One line a problem of a cell: mean scores of its tampered trials and of its `control`'s.

    Rates pair the means over samples of problems answered in both arms; R pairs
    the samples that have an r in both (protocol A.6), and is null where none has.
    """
    rates = _joined(trials, control, SCORES[:2], ("cell", *PROBLEM))
    r = _joined(trials, control, SCORES[2:], ("cell", *PROBLEM, "sample"))
    r = r.group_by("cell", *PROBLEM).agg(pl.col(r.columns[-2:]).mean())
    return _named(trials, rates.join(r, on=["cell", *PROBLEM], how="left"))


def _joined(
    trials: pl.DataFrame, control: str, scores: Sequence[str], unit: Sequence[str]
) -> pl.DataFrame:
    known = trials.filter(pl.all_horizontal(pl.col(scores).is_not_null()))
    first, second = (
        known.filter(pl.col("arm") == arm).group_by(unit).agg(pl.col(scores).mean())
        for arm in ("tampered", control)
    )
    return first.join(second, on=list(unit), suffix="_control")


def _named(trials: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """With the keys of each cell, in the order of trials."""
    cells = trials.unique("cell").select("cell", "group", "degree", "degrees", *CELL)
    return found.join(cells, on="cell").sort("cell", *PROBLEM)


def beside(frame: pl.DataFrame, axis: str, base: str, *, apart: Sequence[str] = ()) -> pl.DataFrame:
    """Lines of a cell with those of the same problem where `axis` is `base`, as `<score>_base`.

    `apart` are keys in which the two may differ.
    """
    scores = [name for name in frame.columns if name.startswith(SCORES)]
    on = [name for name in (*CELL, *PROBLEM) if name not in {axis, *apart}]
    known = frame.filter(pl.col(axis) == base).select(*on, pl.col(scores).name.suffix("_base"))
    both = frame.filter(pl.col(axis) != base).join(known, on=on).sort("cell", *PROBLEM)
    mine = {score: [name for name in both.columns if name.startswith(score)] for score in SCORES}
    return both.with_columns(
        pl.when(pl.all_horizontal(pl.col(names).is_not_null())).then(pl.col(names))
        for names in mine.values()
    )


def pool(frame: pl.DataFrame) -> pl.DataFrame:
    """Lines of cells as lines of groups: each D_T counts equally within a problem."""
    scores = [name for name in frame.columns if name.startswith(SCORES)]
    keys = [name for name in frame.columns if name in GROUP]
    unit = ["group", *PROBLEM]
    return (
        frame.group_by(unit)
        .agg(pl.col([*keys, "degrees"]).first(), pl.col(scores).mean())
        .rename({"degrees": "d_t"})
        .sort(unit)
    )


def with_degrees(frame: pl.DataFrame) -> pl.DataFrame:
    """Lines of groups, and where a group has several D_T those of its cells after them."""
    pooled = pool(frame)
    cells = frame.filter(pl.col("d_t") != pl.col("degrees")).select(pooled.columns)
    return pl.concat([pooled, cells]).sort("group", "d_t", *PROBLEM)


def with_weights(frame: pl.DataFrame, kept: pl.Expr, name: str) -> pl.DataFrame:
    """With a weight: of those `kept`, each problem 1, shared by its D_T, and by trials of each."""
    trials_of_degree = kept.sum().over("group", "problem", "degree")
    degrees_of_problem = pl.col("degree").filter(kept).n_unique().over("group", "problem")
    weight = pl.when(kept).then(1 / (trials_of_degree * degrees_of_problem)).otherwise(0.0)
    return frame.with_columns(weight.alias(name))
