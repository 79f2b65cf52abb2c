"""Every trial of a run as columns for a browser: facets, numbers and short texts, and its id.

    packed(frame, "cpt", {"mode": "served"})
    -> {"study": "cpt", "n": 1234, "columns": [{"name": "outcome", "kind": "facet", ...}], ...}

A facet or text is a list of values and a code for each trial; codes, numbers and ids are
packed bytes (little-endian, gzip, base64). A trial's id is a hash of what it is, not of
its place. Knows nothing about what was said in a trial.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from misled import reasons
from misled.dossiers import LABELS
from misled.flips import FLIPS, KEPT
from misled.judged import AGAIN, BENCH, PAIR
from misled.trials import CELL, CONTROLS, UNANSWERED, VALUED

__all__ = ["IDENTITY", "identities", "packed", "squeezed", "turns"]

# What makes a trial this trial, in any run.
IDENTITY: dict[str, tuple[str, ...]] = {
    "cpt": (
        *("arm", "target", "source", "set", "problem", "mode", "method", "attribution", "channel"),
        *("structure", "perturbation", "scope", "place", "d_t", "sample"),
    ),
    "judge": (
        *("arm", "judge", "generator", "set", "problem", "condition", "shown", "variant", "k"),
        *("place", "sample"),
    ),
}
FACETS: dict[str, tuple[str, ...]] = {
    "cpt": (
        *("arm", "target", "method", "d_t", "outcome", "counted", "set", "structure", "reason"),
        *("flags", "channel", "perturbation", "place", "scope", "attribution", "source", "feed"),
        "sample",
    ),
    "judge": (
        *("condition", "judge", "generator", "label", "verdict", "transition", "outcome"),
        *("counted", "set", "arm", "shown", "variant", "k", "place", "reason", "labelled_by"),
        *("flags", "sample"),
    ),
}
NUMBERS: dict[str, tuple[str, ...]] = {
    "cpt": (
        *("r_cpt", "n_adopted", "n_wrong", "relative_error", "prompt_tokens"),
        *("completion_tokens", "seconds"),
    ),
    "judge": ("length", "inserted", "repeated", "prompt_tokens", "completion_tokens", "seconds"),
}
TEXTS: dict[str, tuple[str, ...]] = {
    "cpt": ("question", "gold", "tampered", "value", "problem"),
    "judge": ("question", "accepted", "value", "problem"),
}
# What a list shows first, a filter shows first, and a page shows alone until asked.
LEADING: dict[str, tuple[str, ...]] = {
    "cpt": ("outcome", "target", "method", "d_t", "question", "gold", "value"),
    "judge": ("transition", "judge", "label", "verdict", "question", "accepted", "value"),
}
_FIRST = {"arm": "tampered", "condition": "reasoning", "outcome": "adopted", "transition": "misled"}
OPENED = {"cpt": ("arm", "tampered"), "judge": ("condition", "reasoning")}
_NOTES = {
    "arm": "Whose trial it is: the tampered chain's, or a control's",
    "outcome": "Where nothing tampered was shown, a reply is right or wrong",
    "counted": "Whether the rates of the tables count it; a difference, both of a pair. Net of a "
    "control counts problems that it answered, too",
    "transition": "What the chain did to the verdict; stands at the verdict with the chain",
}
_SHARED = {
    "cpt": "A control's reply stands beside every cell that it is compared with, in a row each.",
    "judge": "A request that several rows share was asked once, and its reply stands in each.",
}
_OWN = {"counted": "counted", "accepted": "accepted answers"}
_LABEL = {"true": "right", "false": "wrong"}
_NARROW = 1 << 16  # values that two bytes tell apart
_LONGEST = 120  # characters of a text or a reason in the index
_SOUGHT = 500  # of a question


def identities(rows: pl.DataFrame, study: str) -> list[bytes]:
    """Eight bytes for each trial: a hash of its coordinates, each with its length before it."""
    named = [pl.col(name).cast(pl.String).fill_null("\0") for name in IDENTITY[study]]
    sized = [part for text in named for part in (text.str.len_bytes().cast(pl.String), text)]
    keys = rows.select(pl.concat_str(sized, separator=":"))
    return [blake2b(key.encode(), digest_size=8).digest() for key in keys.to_series()]


def turns(rows: pl.DataFrame) -> pl.Series:
    """What the chain did to each verdict of the two plain conditions; null where unknown."""
    on = [*BENCH, "problem", "sample"]
    said = rows.with_row_index().filter(
        pl.col("arm") == "judge",
        pl.col("condition").is_in(PAIR),
        pl.col("verdict").is_not_null(),
        pl.col("label").is_not_null(),
    )
    cell = pl.struct("label", pl.col("verdict") == "accept", pl.col("after") == "accept")
    first, second = (said.filter(condition=name) for name in PAIR)
    both = first.join(
        second.select(*on, pl.col("verdict").alias("after"), pl.col("index").alias("second")),
        on=on,
        nulls_equal=True,
    ).select("index", "second", cell.alias("cell"))
    names = {cell: name for name, cell in FLIPS.items()}
    names |= {cell: f"unchanged, {name.replace('_', ' ')}" for name, cell in KEPT.items()}
    told: list[str | None] = [None] * rows.height
    for one, other, found in both.iter_rows():
        told[one] = told[other] = names[tuple(map(int, found.values()))]  # type: ignore[index]
    return pl.Series("transition", told, dtype=pl.String)


def packed(
    rows: pl.DataFrame, study: str, ids: Sequence[bytes], texts: dict[str, Any]
) -> dict[str, Any]:
    """The index; a column without any value is left out. `texts` says where dossiers stand."""
    frame = rows.with_columns(pl.col("flags").list.sort().list.join(", "))
    frame = _of_judge(frame) if study == "judge" else _of_cpt(frame)
    columns = [
        *(_coded(frame, name, "facet") for name in FACETS[study] if name in frame),
        *(_numbers(frame, name) for name in NUMBERS[study]),
        *(_coded(frame, name, "text") for name in TEXTS[study] if name in frame),
    ]
    name, value = OPENED[study]
    requests = rows["request"].rank("dense").fill_null(0)
    return {
        "study": study,
        "n": rows.height,
        "columns": [column for column in columns if column],
        "ids": squeezed(b"".join(ids)),
        "requests": _bytes(requests.to_numpy(), "<u4"),
        "shared": _SHARED[study],
        "leading": LEADING[study],
        "opened": {name: value} if (rows[name] == value).any() else {},
        "texts": texts,
    }


def _of_cpt(frame: pl.DataFrame) -> pl.DataFrame:
    """With outcomes as they are called, and whether the rates count a trial."""
    of = ("arm", "outcome", "reason")
    known = frame.select(of).unique()
    told = [(reasons.called(*each), _tallied(each[1])) for each in known.iter_rows()]
    said = pl.DataFrame(told, ("called", "tallied"), orient="row")
    both = frame.join(
        known.hstack(said), on=of, how="left", nulls_equal=True, maintain_order="left"
    )
    return both.with_columns(_counted(), outcome=pl.col("called"))


def _counted() -> pl.Expr:
    """Whether rates count a trial, and which controls of its problem have no answer (A.6)."""
    arm, answered = pl.col("arm"), ~pl.col("outcome").is_in(UNANSWERED)
    lacking = [
        pl.when(
            (arm == control).any().over(CELL)
            & ~((arm == control) & answered).any().over(*CELL, "problem")
        ).then(pl.lit(control))
        for control in CONTROLS
    ]
    names = pl.concat_str(lacking, separator=" and ", ignore_nulls=True)
    told = pl.col("tallied") + ", but not net of " + names + " (not answered)"
    return (
        pl.when((arm == "tampered") & answered & (names != ""))
        .then(told)
        .otherwise("tallied")
        .alias("counted")
    )


def _tallied(outcome: str) -> str:
    if outcome in UNANSWERED:
        return f"no: {outcome}"
    return "yes" if outcome in VALUED else "yes, without a value"


def _of_judge(frame: pl.DataFrame) -> pl.DataFrame:
    """With labels in words, transitions where the chain is shown, and what the rates count."""
    condition, label, outcome = pl.col("condition"), pl.col("label"), pl.col("outcome")
    label = pl.when(condition.eq_missing("null")).then(pl.lit(value=True)).otherwise(label)
    judged, verdict = pl.col("arm") == "judge", pl.col("verdict").is_not_null()
    read = judged & verdict & label.is_not_null()
    pair = pl.when(condition.is_in(PAIR)).then(1).when(condition.is_in(AGAIN)).then(2)
    asked = condition.n_unique().over(*BENCH, pair)
    there = read.sum().over(*BENCH, pair, "problem", "sample")
    unread = pl.when(outcome == "read").then(pl.lit("no verdict")).otherwise(outcome)
    counted = (
        pl.when(judged & ~verdict)
        .then(pl.lit("no: ") + unread)
        .when(label.is_null())
        .then(pl.lit("no: the answer has no label"))
        .when(judged & pair.is_not_null() & (there < asked))
        .then(pl.lit("no: the other verdict was not read"))
        .otherwise(pl.lit("yes"))
    )
    told = pl.col("label").cast(pl.String).replace_strict(_LABEL, default=None)
    turned = pl.when(condition == PAIR[1]).then(turns(frame))
    return frame.with_columns(label=told, transition=turned, counted=counted)


def squeezed(data: bytes, level: int = 6) -> str:
    """Bytes as base64 of gzip, the same for the same bytes."""
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode()


def _coded(frame: pl.DataFrame, name: str, kind: str) -> dict[str, Any]:
    """A column as its values, the code of each trial, and how a reader knows it.

    Words of a facet by use, all else ascending; null last.
    """
    column = frame[name]
    if column.null_count() == frame.height:
        return {}
    if column.dtype == pl.String:
        column = _cut(column, _SOUGHT if name == "question" else _LONGEST)
    values = column.unique().sort(nulls_last=True)
    if kind == "facet" and column.dtype == pl.String:
        used = dict(column.value_counts().iter_rows())
        order = sorted(values, key=lambda v: (v is None, v != _FIRST.get(name), -used[v], v or ""))
        values = pl.Series(order, dtype=pl.String)
    codes = column.replace_strict(values, pl.Series(range(len(values)), dtype=pl.UInt32))
    return {
        **_named(name, kind),
        "values": values.to_list(),
        "codes": _bytes(codes.to_numpy(), "<u4" if len(values) > _NARROW else "<u2"),
        **({"list": True} if name == "flags" else {}),
    }


def _cut(column: pl.Series, size: int) -> pl.Series:
    """Texts up to a size; one that went on ends in dots."""
    head = column.str.slice(0, size)
    told = pl.when(column.str.len_chars() > size).then(head + " ...").otherwise(head)
    return pl.select(told).to_series()


def _named(name: str, kind: str) -> dict[str, Any]:
    """What a column is called; a note where the name does not speak for itself."""
    label = _OWN.get(name) or LABELS.get(name, name.replace("_", " "))
    note = {"note": _NOTES[name]} if name in _NOTES else {}
    return {"name": name, "label": label, "kind": kind, **note}


def _numbers(frame: pl.DataFrame, name: str) -> dict[str, Any]:
    column = frame[name].cast(pl.Float32)
    if column.null_count() == frame.height:
        return {}
    data = column.fill_null(float("nan")).to_numpy()
    return {**_named(name, "number"), "data": _bytes(data, "<f4")}


def _bytes(numbers: npt.NDArray[Any], kind: str) -> str:
    return squeezed(np.ascontiguousarray(numbers, dtype=kind).tobytes())
