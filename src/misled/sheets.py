"""Estimates as text: one number, a table for a reader, a file for a program.

    show(entry) -> "0.620 [0.551, 0.684]"

A `Sheet` is what one looks at: a row a cell, a column a metric. CSV is long, a
line an estimate. Names come from plans, files and models: characters that
cannot be seen are written out (`visible`). Knows nothing about studies.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from misled.captions import (
    ACROSS,
    KEYS,
    METRICS,
    SIGNED,
    SIZES,
    TESTING,
    caption,
    label,
    note,
)
from misled.errors import StoreError
from misled.records import OUTCOMES, Entry, Record
from misled.trials import CONTROLS

__all__ = [
    "FORMATS",
    "Line",
    "Sheet",
    "counted",
    "csv_text",
    "escaped",
    "interval",
    "intervals",
    "markdown",
    "number",
    "publish",
    "sheet",
    "show",
    "tested",
    "visible",
]

FORMATS = ("svg", "png", "pdf")  # of figures

_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Blank or combining by their nature, though their category does not say so.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164}
_BLANK |= {0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
_SAID = ("unsupported", "refused")  # ways in which there is no number, told below a table
_UNUSUAL = re.compile(r"[^\n\t -~]")


class Line(Record, frozen=True):
    """One row of a sheet."""

    keys: tuple[str, ...]
    cells: tuple[str, ...]
    left_out: str


class Sheet(Record, frozen=True):
    """A table for a reader; `constant` holds the keys that all its rows share."""

    caption: str
    constant: dict[str, str]
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def visible(text: str) -> str:
    """`text` with control, bidirectional and zero-width characters as `⟨U+202E⟩`."""
    return _UNUSUAL.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    sign = found[0]
    hidden = unicodedata.category(sign) in _INVISIBLE or ord(sign) in _BLANK
    return f"⟨U+{ord(sign):04X}⟩" if hidden else sign


def show(entry: Entry, digits: int = 3) -> str:
    """`0.620 [0.551, 0.684]`, or the words that stand for a number or an interval not claimed."""
    if entry.value is None:
        return "unsupported" if entry.left_out.get("unsupported") else "no value"
    return f"{number(entry, entry.value, digits)} {interval(entry, digits)}"


def number(entry: Entry, value: float, digits: int = 3, scale: float = 1) -> str:
    """`value` to so many digits, with its sign where `entry` is a difference; never `-0`."""
    sign = "+" if entry.metric.startswith(SIGNED) else ""
    digits = min(digits, 1) if entry.metric in SIZES else digits
    rounded = round(scale * value, digits) + 0.0
    return f"{rounded:{sign}.{digits}f}"


def interval(entry: Entry, digits: int = 3, scale: float = 1) -> str:
    """`[0.551, 0.684]`, or why there is none."""
    if entry.low is None or entry.high is None:
        few = "(n < 10 items)" if entry.study == "judge" else "(n < 10 problems)"
        return few if entry.clusters < 10 else "(no interval)"
    low, high = (number(entry, limit, digits, scale) for limit in (entry.low, entry.high))
    return f"[{low}, {high}]"


def sheet(entries: Sequence[Entry], *, digits: int = 3, n_of: str | None = None) -> Sheet:
    """One table's entries with a row a cell and a column a metric, without refinements.

    (`confused/form` and the like stand in the CSV.) Each number has its n unless
    a row shares one; `n_of` names a metric whose n stands for its row.
    """
    chosen = [e for e in entries if "/" not in e.metric]
    table, study = (chosen[0].table, chosen[0].study) if chosen else ("", "cpt")
    if table == "families":
        chosen = [replace(e, metric="estimate", keys=_of_family(e.keys)) for e in chosen]
    across = _across(table, chosen)
    names = list(dict.fromkeys(name for e in chosen for name in e.keys if name != across))
    values = {name: {e.keys.get(name, "") for e in chosen} for name in names}
    constant = {name: min(values[name]) for name in names if len(values[name]) == 1}
    if len(values.get("source", ())) > 1 and all(
        e.keys.get("source") == e.keys.get("target") for e in chosen
    ):
        constant["source"] = "each model itself"
    heads = [name for name in names if name not in constant]
    modeless = [name for name in heads if name != "mode"]
    if across == "method" or _distinct(chosen, heads) == _distinct(chosen, modeless):
        heads = modeless  # where the method implies it
    columns = _ordered({(e.metric, e.keys.get(across, "")): None for e in chosen}, across)
    others = {value for _, value in columns if value}
    if across == "against" and len(others) == 1:
        constant[across] = min(others)
    cells: dict[tuple[str, ...], dict[tuple[str, str], Entry]] = {}
    for e in chosen:
        row = cells.setdefault(tuple(e.keys.get(name, "") for name in heads), {})
        row[e.metric, e.keys.get(across, "")] = e
    counted = {} if n_of is None else {keys: row[n_of, ""].n for keys, row in cells.items()}
    if all(len({e.n for e in row.values()}) == 1 for row in cells.values()):
        counted = {keys: next(iter(row.values())).n for keys, row in cells.items()}
    lines = []
    for keys, row in cells.items():
        numbers = [_cell(row.get(column), digits, alone=not counted) for column in columns]
        n = [str(counted[keys])] if counted else []
        lines.append(Line(keys, (*n, *numbers), _left_out(row.values())))
    reasons = {e.method for e in chosen if e.method.startswith(_SAID)}
    return Sheet(
        caption=caption(table, study),
        constant={KEYS.get(name, name): value for name, value in constant.items()},
        heads=tuple(KEYS.get(name, name) for name in heads),
        columns=(*(["n"] if counted else []), *_heads(columns, across)),
        lines=tuple(lines),
        notes=(*filter(None, [note(table, study)]), *sorted(reasons), *_made(chosen, study)),
    )


def _made(entries: Sequence[Entry], study: str) -> Iterator[str]:
    """What n counts, and what the brackets are."""
    if entries:
        names = intervals(entries)
        brackets = f"; brackets hold 95\u00a0% intervals ({names})" if names else ""
        yield f"n counts {counted(entries, study)}{brackets}"


def counted(entries: Sequence[Entry], study: str) -> str:
    """What n counts."""
    if study == "judge":
        return "items"
    return "problems" if all(e.n == e.clusters for e in entries) else "trials"


def intervals(entries: Sequence[Entry]) -> str:
    """How the intervals were made; "" where none is claimed."""
    kinds = {e.method for e in entries if e.low is not None}
    return ", ".join(sorted({re.split(r"[,;]| and two more", kind)[0] for kind in kinds}))


def _of_family(keys: dict[str, str]) -> dict[str, str]:
    """With the metric in words where a family has several, else without what it fixes for all."""
    if "metric" in keys:
        return keys | {"metric": label(keys["metric"])}
    return {name: value for name, value in keys.items() if name not in {"half", "against"}}


def _across(table: str, entries: Iterable[Entry]) -> str:
    """The key whose values are columns, beside or instead of metrics."""
    others = {e.keys["against"] for e in entries if "against" in e.keys}
    return ACROSS.get(table, "against" if others <= set(CONTROLS) else "")


def _heads(columns: Sequence[tuple[str, str]], across: str) -> Iterator[str]:
    against = {value for _, value in columns if value}
    for metric, value in columns:
        if across == "against":
            yield label(metric) + (f" against {value}" if len(against) > 1 and value else "")
        else:
            yield value or label(metric)


def _distinct(entries: Iterable[Entry], names: Sequence[str]) -> int:
    return len({tuple(e.keys.get(name) for name in names) for e in entries})


def _ordered(columns: Iterable[tuple[str, str]], across: str) -> list[tuple[str, str]]:
    """By metric, then clean before again, or as they come."""
    known = list(METRICS)

    def place(column: tuple[str, str]) -> tuple[int, str, bool]:
        metric, value = column
        at = known.index(metric) if metric in METRICS else len(known)
        return at, metric, across == "against" and value == "again"

    return sorted(columns, key=place)


def _cell(entry: Entry | None, digits: int, *, alone: bool) -> str:
    if entry is None:
        return ""
    text = show(entry, digits)
    if entry.value is None:
        return text
    p = f", {tested(entry)}" if entry.p is not None and entry.table in TESTING else ""
    return f"{text}{p}, n {entry.n}" if alone else text + p


def tested(entry: Entry) -> str:
    """`p 0.012`, with Holm's p where the test belongs to a family."""
    words = [] if entry.p is None else [_chance("p", entry.p)]
    if entry.p_adjusted is not None:
        words.append(_chance("Holm", entry.p_adjusted))
    return ", ".join(words)


def _chance(name: str, p: float) -> str:
    return f"{name} {p:.3f}" if p >= 0.0005 else f"{name} < 0.001"


def _left_out(row: Iterable[Entry]) -> str:
    """What no metric of the row could count, as `failed 2, unreadable 5`."""
    counts: dict[str, int] = {}
    for e in row:
        for outcome, count in e.left_out.items():
            if outcome.rpartition(" ")[2] not in _VALUED:
                counts[outcome] = max(count, counts.get(outcome, 0))
    return ", ".join(f"{outcome} {count}" for outcome, count in counts.items())


_VALUED = OUTCOMES[OUTCOMES.index("recovered") :]


_COLUMNS = (
    *("metric", "value", "low", "high", "n", "clusters", "interval"),
    *("p", "p_adjusted", "left_out"),
)


def csv_text(entries: Sequence[Entry]) -> str:
    """One line an estimate, numbers to 10 significant digits; `interval` says how it was made."""
    names = list(dict.fromkeys(name for e in entries for name in e.keys))
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(
        [
            *names,
            *[
                "metric",
                "value",
                "low",
                "high",
                "n",
                "clusters",
                "interval",
                "p",
                "p_adjusted",
                "left_out",
            ],
        ]
    )
    for e in entries:
        numbers = [_plain(x) for x in (e.value, e.low, e.high)]
        chances = [_plain(x) for x in (e.p, e.p_adjusted)]
        left_out = "; ".join(f"{outcome}={count}" for outcome, count in e.left_out.items())
        keys = [visible(e.keys.get(name, "")) for name in names]
        method = visible(e.method)
        lines.writerow([*keys, e.metric, *numbers, e.n, e.clusters, method, *chances, left_out])
    return out.getvalue()


def _plain(x: float | None) -> str:
    return "" if x is None else repr(float(f"{x:.10g}"))


def markdown(table: Sheet) -> str:
    """The sheet as a Markdown table under its caption."""
    shared = ", ".join(f"{name} {escaped(value)}" for name, value in table.constant.items())
    head = [*table.heads, *table.columns, "left out"]
    rule = ["---"] * len(table.heads) + ["---:"] * len(table.columns) + ["---"]
    body = [[*map(escaped, line.keys), *line.cells, escaped(line.left_out)] for line in table.lines]
    rows = "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *body])
    notes = "".join(f"\n{escaped(note)}\n" for note in table.notes)
    return f"{table.caption}{f' ({shared})' if shared else ''}.\n\n{rows}\n{notes}"


def escaped(text: str) -> str:
    """Text that Markdown shows as it stands, in one line."""
    return re.sub(r"([\\|<*`])", r"\\\1", visible(text).replace("\n", " "))


def publish(path: Path, data: bytes) -> None:
    """`path` holds `data`, or what it held before: never half of it."""
    scratch = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(data)
        scratch.replace(path)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {path}: {error.strerror}; free space or permit it"
        ) from error
