"""Graded trials gathered unit by unit: columns, each unpacked when asked for, or one frame.

A million rows as records would fill the memory; as packed columns they do not, and tables
need no two columns of texts at a time. The order is the units' order, whatever order they
finished in, so that equal stores give equal tables. Knows the fields of a row, not their
meaning.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Protocol, get_args, get_origin, get_type_hints

import polars as pl

from misled.records import Record
from misled.row import Row

__all__ = ["Ledger", "Rows", "schema"]

_TYPES: dict[Any, pl.DataType] = {
    str: pl.String(),
    int: pl.Int64(),
    float: pl.Float64(),
    bool: pl.Boolean(),
    tuple: pl.List(pl.String()),
}

CHUNK = 8192


def _column(kind: object) -> pl.DataType:
    """The column type of a field's type, with or without None."""
    parts = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    plain = next(part for part in parts if part is not NoneType)
    return _TYPES[get_origin(plain) or plain]


def schema(kind: type[Record]) -> dict[str, pl.DataType]:
    """The columns of a kind of row."""
    return {name: _column(hint) for name, hint in get_type_hints(kind).items()}


class Rows(Protocol):
    """Rows by column: a ledger, which unpacks one when asked, or a frame."""

    def __getitem__(self, name: str, /) -> pl.Series:
        """The column of a field."""


class Ledger:
    """Rows by unit, kept as packed columns."""

    def __init__(self, kind: type[Record] = Row) -> None:
        self._schema = schema(kind)
        self._units: list[int] = []
        self._rows: list[Any] = []
        self._chunks: list[bytes] = []
        self._order: pl.Series | None = None

    def add(self, unit: int, rows: Sequence[Any]) -> None:
        """Take the rows of one unit."""
        self._units += [unit] * len(rows)
        self._rows += rows
        if len(self._rows) >= CHUNK:
            self._flush()

    def _flush(self) -> None:
        columns = {
            name: pl.Series(name, [_plain(getattr(row, name)) for row in self._rows], dtype=kind)
            for name, kind in self._schema.items()
        }
        chunk = pl.DataFrame(columns).with_columns(pl.Series("unit", self._units, dtype=pl.Int64))
        packed = io.BytesIO()
        chunk.write_ipc(packed, compression="zstd")
        self._chunks.append(packed.getvalue())
        self._units, self._rows, self._order = [], [], None

    def __getitem__(self, name: str, /) -> pl.Series:
        """One column of every row, in the order of the units."""
        if self._rows or not self._chunks:
            self._flush()
        if self._order is None:
            units = pl.DataFrame({"unit": self._column("unit")}).with_row_index()
            self._order = units.sort("unit", maintain_order=True)["index"]
        return self._column(name).gather(self._order)

    def frame(self) -> pl.DataFrame:
        """Every row, in the order of the units; the columns are the fields of its kind."""
        # Column by column: only one is ever held twice.
        return pl.DataFrame({name: _once(self[name]) for name in self._schema})

    def _column(self, name: str) -> pl.Series:
        """One column of all rows, in the order in which they came."""
        parts = [pl.read_ipc(chunk, columns=[name])[name] for chunk in self._chunks]
        return pl.concat(parts, rechunk=True)


def _once(column: pl.Series) -> pl.Series:
    """The column, its texts held once each where most of them repeat another."""
    if column.dtype != pl.String:
        return column
    texts = column.drop_nulls().unique()
    if len(texts) > len(column) // 8:
        return column
    return texts.gather(column.cast(pl.Enum(texts)).to_physical()).alias(column.name)


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
