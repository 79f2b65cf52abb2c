"""The paper's figures and table as selections of entries, each with its net twin.

    pooled r_cpt of five models and four methods -> the points of figure 5

An exhibit has the numbers of the table that it shows, under its own name.
Knows nothing about trials nor about drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from misled.prompts import AS_TEXT, METHODS
from misled.records import Entry

__all__ = ["exhibits"]

ARITHMETIC = ("addition", "multiplication", "small")


def exhibits(cells: Sequence[Entry], nets: Sequence[Entry], pooled: Sequence[Entry]) -> list[Entry]:
    """Figures 4, 5 and 8 and Table 1 [A], of R_CPT and of net R, as far as there are points.

    All are of intact chains but figure 8, which is of one method, `baseline` if
    there. None has the contrast `prefix_as_text`.
    """
    cells, nets, pooled = (
        [e for e in table if e.keys.get("method") != AS_TEXT] for table in (cells, nets, pooled)
    )
    clean = [e for e in nets if e.keys.get("against") == "clean"]
    edited = [e for e in pooled if e.keys.get("structure", "intact") != "intact"]
    method = min((e.keys.get("method", "") for e in edited), key=_rank, default="")
    beside = {_but(e, "structure", "d_t") for e in edited if e.keys.get("method", "") == method}
    shows: dict[str, tuple[Sequence[Entry], Sequence[Entry], Callable[[Entry], bool]]] = {
        "table1": (cells, clean, lambda e: _whole(e) and _is_word(e) and _d_t(e) == "1"),
        "figure4": (cells, clean, lambda e: _whole(e) and bool(_d_t(e))),
        "figure5": (pooled, pooled, _whole),
        "figure8": (pooled, pooled, lambda e: _but(e, "structure", "d_t") in beside),
    }
    return [
        line
        for name, (plain, net, shown) in shows.items()
        for line in (
            *_points(name, "r_cpt", filter(shown, plain)),
            *_points(f"{name}_net", "net_r", filter(shown, net)),
        )
    ]


def _points(table: str, metric: str, entries: Iterable[Entry]) -> list[Entry]:
    return [
        replace(e, table=table, p=None)
        for e in entries
        if e.metric == metric and e.keys.get("against", "clean") == "clean"
    ]


def _whole(e: Entry) -> bool:
    return e.keys.get("structure", "intact") == "intact"


def _is_word(e: Entry) -> bool:
    """Whether the set is of worded problems: not one of those that are an operation alone."""
    return e.keys.get("set", "").partition(":")[0] not in ARITHMETIC


def _rank(method: str) -> tuple[int, str]:
    return (METHODS.index(method) if method in METHODS else len(METHODS), method)


def _d_t(e: Entry) -> str:
    return e.keys.get("d_t", "")


def _but(e: Entry, *names: str) -> frozenset[tuple[str, str]]:
    """The keys without some, and without the control of a net value."""
    return frozenset((k, v) for k, v in e.keys.items() if k not in {*names, "against"})
