"""Estimates -> what to be careful about before quoting a number, and where it applies.

    "Fewer than 10 problems could be probed; no interval is claimed": acme/closed on word:6 (4 of 6)

Knows study A's tables and nothing about how the sentences are set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from misled.phrases import Cells, many, mode, percent, point, points, where
from misled.records import Entry, Record
from misled.trials import SENT

__all__ = ["Caution", "Said", "cautions", "gathered"]

# From here on a report warns; conventions, no findings of their own.
FEW = 10
UNREAD = 0.1
WEAK_CONTROL = 0.95
WEAK_AGAIN = 0.9
IN_VIEW = 0.1

_UNREAD = ("unreadable", "stopped", "truncated", "refused")

Said: TypeAlias = Iterator[tuple[str, str]]  # a caution, and a place where it holds


class Caution(Record, frozen=True):
    """What a reader must know before quoting a number, and where it applies."""

    text: str
    places: tuple[str, ...]


def cautions(entries: Iterable[Entry]) -> list[Caution]:
    """What to know before quoting a number, the gravest first; each once, with all its places."""
    cells = Cells(entries)
    checks: tuple[Callable[[Cells], Said], ...] = (
        _few_problems, _weak_again, _weak_clean, _unread, _in_view, _failed, _unsupported,
        _other_source, _whole_output,
    )  # fmt: skip
    return gathered(said for check in checks for said in check(cells))


def gathered(said: Said) -> list[Caution]:
    """Each caution once, with all its places."""
    places: dict[str, dict[str, None]] = {}
    for text, place in said:
        places.setdefault(text, {})[place] = None
    return [Caution(text, tuple(where)) for text, where in places.items()]


def _few_problems(cells: Cells) -> Said:
    for e in cells.all("eligibility", "eligible"):
        kept = round((e.value or 0) * e.n)
        place = f"{where(e)} ({kept} of {e.n} kept{mode(e)})"
        if kept < FEW:
            yield f"Fewer than {FEW} problems could be probed; no interval is claimed", place
        elif 2 * kept < e.n:
            yield "Most problems were left out; the numbers say nothing about those", place
    apart = cells.apart("pooled", "adopted")
    for e in cells.all("pooled", "adopted"):
        same = {name: e.keys[name] for name in ("set", "target", "source", "mode")}
        eligible = cells.one("eligibility", "eligible", same)
        told = eligible is not None and (eligible.value or 0) * eligible.n < FEW - 0.5
        if 0 < e.clusters < FEW and not told:
            text = f"Here fewer than {FEW} problems or templates are behind the number"
            count = f"{many(e.n, 'trial')} of {many(e.clusters, 'problem')}"
            yield f"{text}; no interval is claimed", f"{point(e, apart)} ({count})"


def _weak_again(cells: Cells) -> Said:
    for e in cells.all("controls", "recovered", arm="again"):
        if e.value is not None and e.value < WEAK_AGAIN:
            text = "Asked again without a chain, the model often fails what it had solved once"
            yield f"{text}; read the net values", f"{where(e)} ({percent(e)} solved{mode(e)})"


def _weak_clean(cells: Cells) -> Said:
    apart = cells.apart("pooled", "adopted")
    for e in cells.all("pooled", "net_recovery", against="clean"):
        names = SENT
        same = {name: e.keys[name] for name in names if name in e.keys}
        clean = cells.one("controls", "recovered", same | {"arm": "clean"})
        if clean is None or clean.value is None or e.low is None or e.high is None:
            continue
        if clean.value < WEAK_CONTROL and e.low <= 0 <= e.high:
            text = (
                "The untampered chain already costs as much: no harm of tampering itself is shown"
            )
            said = f"{percent(clean)} found the true result there, net {points(e)}"
            yield text, f"{point(e, apart)} ({said})"


def _unread(cells: Cells) -> Said:
    apart = cells.apart("pooled", "adopted")
    for e in cells.all("pooled", "adopted"):
        parts = {name: cells.one("pooled", name, e.keys) for name in _UNREAD}
        shares = {name: part.value for name, part in parts.items() if part and part.value}
        if sum(shares.values()) >= UNREAD:
            each = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
            text = "Many answers hold no value; R_CPT leaves them out, its bounds are in the table"
            yield f"{text} by cell", f"{point(e, apart)} ({each})"


def _in_view(cells: Cells) -> Said:
    seen: dict[str, tuple[int, int]] = {}
    for e in cells.all("cpt", "adopted_w_left_0"):
        whole = cells.one("outcomes", "adopted", e.keys | {"arm": "tampered"})
        n, clear = seen.get(where(e), (0, 0))
        seen[where(e)] = (n + (whole.n if whole else e.n), clear + e.n)
    for place, (n, clear) in seen.items():
        if n - clear > IN_VIEW * n:
            text = "The chain still shows the true value somewhere: recovering it can be copying"
            yield (
                f"{text}; see the columns \u201cw out of view\u201d by cell: w is that value",
                f"{place} ({n - clear} of {n} trials)",
            )


def _failed(cells: Cells) -> Said:
    lost: dict[str, int] = {}
    for e in cells.all("pooled", "adopted"):
        lost[where(e)] = lost.get(where(e), 0) + e.left_out.get("failed", 0)
    for place, count in lost.items():
        if count:
            text = "Trials without an answer are not counted; --retry-failed asks them again"
            yield text, f"{place} ({many(count, 'trial')})"


def _unsupported(cells: Cells) -> Said:
    apart = cells.apart("pooled", "adopted")
    for e in cells.all("pooled", "adopted"):
        if e.value is None and "unsupported" in e.left_out:
            yield f"Empty cells, which are no zeros: {e.method}", point(e, apart)


def _other_source(cells: Cells) -> Said:
    for e in cells.all("pooled", "adopted"):
        target, source = e.keys["target"], e.keys["source"]
        if target != source:
            own = e.keys.get("attribution") == "own"
            false = ', so that "your previous thought" is not true' if own else ""
            yield f"The chains are those of another model{false}", f"{target} (of {source})"


def _whole_output(cells: Cells) -> Said:
    for e in cells.all("pooled", "adopted", feed="output"):
        text = "The whole visible output was handed over, there being no separate reasoning"
        yield f"{text}; never compare it with reasoning alone", where(e)
