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

from misled.dossiers import LABELS
from misled.flips import FLIPS, KEPT
from misled.judged import BENCH, PAIR

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
        *("target", "method", "d_t", "outcome", "set", "structure", "arm", "reason", "flags"),
        *("channel", "perturbation", "place", "scope", "attribution", "source", "feed", "sample"),
    ),
    "judge": (
        *("judge", "generator", "condition", "label", "verdict", "transition", "outcome", "set"),
        *("arm", "shown", "variant", "k", "place", "reason", "labelled_by", "flags", "sample"),
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
    "cpt": ("problem", "gold", "tampered", "value"),
    "judge": ("problem", "value"),
}
_LABEL = {"true": "right", "false": "wrong"}
_NARROW = 1 << 16  # values that two bytes tell apart
_LONGEST = 120  # characters of a text or a reason in the index


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
    if study == "judge":
        label = pl.col("label").cast(pl.String).replace_strict(_LABEL, default=None)
        frame = frame.with_columns(label, turns(rows))
    columns = [
        *(_coded(frame, name, "facet") for name in FACETS[study]),
        *(_numbers(frame, name) for name in NUMBERS[study]),
        *(_coded(frame, name, "text") for name in TEXTS[study]),
    ]
    return {
        "study": study,
        "n": rows.height,
        "columns": [column for column in columns if column],
        "ids": squeezed(b"".join(ids)),
        "texts": texts,
    }


def squeezed(data: bytes, level: int = 6) -> str:
    """Bytes as base64 of gzip, the same for the same bytes."""
    return base64.b64encode(gzip.compress(data, level, mtime=0)).decode()


def _coded(frame: pl.DataFrame, name: str, kind: str) -> dict[str, Any]:
    """A column as its values, ascending, null last, and the code of each trial."""
    column = frame[name]
    if column.null_count() == frame.height:
        return {}
    if column.dtype == pl.String:
        column = column.str.slice(0, _LONGEST)
    values = column.unique().sort(nulls_last=True)
    codes = column.replace_strict(values, pl.Series(range(len(values)), dtype=pl.UInt32))
    return {
        "name": name,
        "label": LABELS.get(name, name.replace("_", " ")),
        "kind": kind,
        "values": values.to_list(),
        "codes": _bytes(codes.to_numpy(), "<u4" if len(values) > _NARROW else "<u2"),
        **({"list": True} if name == "flags" else {}),
    }


def _numbers(frame: pl.DataFrame, name: str) -> dict[str, Any]:
    column = frame[name].cast(pl.Float32)
    if column.null_count() == frame.height:
        return {}
    return {
        "name": name,
        "label": LABELS.get(name, name.replace("_", " ")),
        "kind": "number",
        "data": _bytes(column.fill_null(float("nan")).to_numpy(), "<f4"),
    }


def _bytes(numbers: npt.NDArray[Any], kind: str) -> str:
    return squeezed(np.ascontiguousarray(numbers, dtype=kind).tobytes())
