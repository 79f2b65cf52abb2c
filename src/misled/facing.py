"""Differences between runs as one looks at them: both values beside each difference.

    sheet(entries) -> a row a score of a cell: n, the reference, the other, the difference, p

Knows nothing about how they came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from rich import box
from rich.table import Table
from rich.text import Text

from misled.captions import KEYS, label
from misled.differing import NOTHING, Differing
from misled.records import Entry, Record
from misled.sheets import Line, Sheet, interval, number, tested, visible
from misled.versus import ALIKE, CHANGE

__all__ = [
    "UNITS",
    "Facing",
    "differing_grid",
    "faced",
    "leading",
    "said",
    "sheet",
    "terminal",
    "unsupported",
]

# What n counts in each study, and what runs are paired by and leave out.
UNITS = {"cpt": ("problem", "trial"), "judge": ("item", "verdict")}

DIGITS = 2
_RUNS = ("run", "against")
_SAME = "same_"
_COLUMNS = ("n", "reference", "other", "difference", "p")
_SHARED = {
    "same_result": "same w'",
    "same_chain": "same chain",
    "same_answer": "same answer",
    "same_reply": "same reply",
}
_NOTE = "Holm's p stands where a difference was fixed in advance; every other p is exploratory"
_TITLE = ("set", "target", "generator", "judge", "feed", "shown")
_USUAL = ("", "reasoning", "user", "intact", "digits", "endings", "random", "own", "content")
_LONGEST = 300  # characters of a setting on a terminal


class Facing(Record, frozen=True):
    """One score of one cell: the reference's value, the other run's, and the difference."""

    keys: dict[str, str]  # without the runs and what pairs share
    reference: Entry
    other: Entry
    change: Entry

    @property
    def score(self) -> str:
        """The name of the score."""
        return self.other.metric


def faced(entries: Sequence[Entry]) -> list[Facing]:
    """The differences among `entries`, each with the two values that it is of."""
    values = {_identity(e, "run", "against"): e for e in entries}
    found = []
    for e in entries:
        if e.metric.startswith(CHANGE):
            metric, run, against, rest = _identity(e, "run", "against")
            name = metric.removeprefix(CHANGE)
            found.append(
                Facing(
                    keys=dict(rest),
                    reference=values[name, against, run, rest],
                    other=values[name, run, against, rest],
                    change=e,
                )
            )
    return found


_Identity = tuple[str, str, str, tuple[tuple[str, str], ...]]


def _identity(e: Entry, run: str, against: str) -> _Identity:
    rest = tuple(
        (name, value) for name, value in e.keys.items()
        if name not in _RUNS and not name.startswith(_SAME)
    )  # fmt: skip
    return e.metric, e.keys[run], e.keys[against], rest


def leading(found: Sequence[Facing], *, edited: bool = False) -> list[Facing]:
    """Those over all D_T, which are read first; those of edited chains only where asked for."""
    first: dict[tuple[str, ...], Facing] = {}
    for each in found:
        cell = [f"{k} {v}" for k, v in each.keys.items() if k != "d_t"]
        runs = [each.change.keys[name] for name in _RUNS]
        if edited or each.keys.get("condition") != "controlled":
            first.setdefault((each.score, *runs, *cell), each)
    return list(first.values())


def sheet(found: Sequence[Facing], caption: str = "") -> Sheet:
    """A row a difference; what pairs share stands at its end."""
    several = len({each.change.keys["run"] for each in found}) > 1
    keys = [each.keys | ({"run": each.change.keys["run"]} if several else {}) for each in found]
    names = list(dict.fromkeys(name for each in keys for name in each))
    values = {name: {each.get(name, "") for each in keys} for name in names}
    constant = {name: min(values[name]) for name in names if len(values[name]) == 1}
    heads = [name for name in names if name not in constant]
    shared = [name for name in _SHARED if any(name in each.change.keys for each in found)]
    unit = UNITS[found[0].change.study if found else "cpt"][0]
    lines = [
        Line(
            keys=(*(key.get(name, "") for name in heads), label(each.score)),
            cells=(*_cells(each), *(each.change.keys.get(name, "") for name in shared)),
            left_out=", ".join(f"{why} {count}" for why, count in each.change.left_out.items()),
        )
        for each, key in zip(found, keys, strict=True)
    ]
    return Sheet(
        caption=caption or f"Each run minus the reference, paired by {unit}",
        constant={KEYS.get(name, name): value for name, value in constant.items()},
        heads=(*(KEYS.get(name, name) for name in heads), "of"),
        columns=(*_COLUMNS, *(_SHARED[name] for name in shared)),
        lines=tuple(lines),
        notes=(f"n counts {unit}s", _NOTE),
    )  # fmt: skip


def _cells(each: Facing) -> tuple[str, ...]:
    change = each.change
    return (
        str(change.n),
        *(
            "" if e.value is None else number(e, e.value, DIGITS)
            for e in (each.reference, each.other)
        ),
        said(change),
        tested(change).removeprefix("p "),
    )


def said(change: Entry) -> str:
    """`-0.21 [-0.33, -0.08]`, or why there is no interval."""
    if change.value is None:
        return "unsupported" if unsupported(change) else "no pair"
    if change.method == ALIKE:
        return "0 (the same replies)"
    return f"{number(change, change.value, DIGITS)} {interval(change, DIGITS)}"


def unsupported(change: Entry) -> bool:
    """Whether there is no pair because one of the runs could not be asked this."""
    return change.value is None and any("unsupported" in why for why in change.left_out)


def terminal(found: Sequence[Facing], width: int) -> Iterator[Table | Text]:
    """A table for each run, problem set and model, of what is read first; what it leaves out."""
    groups: dict[tuple[str, ...], list[Facing]] = {}
    for each in leading(found):
        title = [words for name in _TITLE if (words := _titled(name, each.keys.get(name, "")))]
        groups.setdefault((*title, *(each.change.keys[name] for name in _RUNS)), []).append(each)
    for (*title, run, against), mine in groups.items():
        rest = [{k: v for k, v in each.keys.items() if k not in _TITLE} for each in mine]
        made = sheet([replace(each, keys=keys) for each, keys in zip(mine, rest, strict=True)])
        more = [f"{name} {value}" for name, value in made.constant.items() if value not in _USUAL]
        words = ", ".join([*title, *more])
        yield _grid(f"{words}: {run} against {against}", made, width)
        if lost := _lost(mine):
            what = {"cpt": "trials", "judge": "items"}[mine[0].change.study]
            yield Text(f"{what} left out: {lost}", style="dim")


def _titled(name: str, value: str) -> str:
    """A key as a title has it; "" for what is usual."""
    return "" if value in _USUAL else f"answers of {value}" if name == "generator" else value


def _grid(title: str, made: Sheet, width: int) -> Table:
    """A sheet for a terminal; keys that repeat those of the row above are not said again."""
    grid = Table(box=box.SIMPLE_HEAD, title=Text(visible(title), style="bold"),
                 title_justify="left", padding=(0, int(width > 88), 0, 0))  # fmt: skip
    for head in made.heads[:-1]:
        grid.add_column(head)
    grid.add_column(made.heads[-1], no_wrap=True)
    for column in _COLUMNS:
        grid.add_column(column, justify="right", no_wrap=True)
    before: tuple[str, ...] = ()
    for line in made.lines:
        *mine, score = line.keys
        shown = [""] * len(mine) if tuple(mine) == before else mine
        before = tuple(mine)
        cells = [*shown, score, *line.cells[: len(_COLUMNS)]]
        grid.add_row(*(Text(visible(cell)) for cell in cells))
    return grid


def _lost(found: Sequence[Facing]) -> str:
    """What the rows leave out, as `gate wrong in other 3, no R in other 0-5`."""
    every = [each.change.left_out for each in found]
    words = []
    for why in dict.fromkeys(why for counts in every for why in counts):
        counts = sorted(each.get(why, 0) for each in every)
        span = f"{counts[0]}-{counts[-1]}" if counts[0] != counts[-1] else f"{counts[0]}"
        words.append(f"{visible(why.replace('_', ' '))} {span}")
    return ", ".join(words)


def differing_grid(names: Sequence[str], found: Sequence[Differing]) -> Table | Text:
    """What the runs were made with, where it is not the same."""
    if not found:
        return Text(f"What differs: {NOTHING[0].lower()}{NOTHING[1:]}\n")
    grid = Table(box=box.SIMPLE_HEAD, title=Text("What differs", style="bold"),
                 title_justify="left", padding=(0, 1, 0, 0))  # fmt: skip
    for head in ("", *names):
        grid.add_column(Text(visible(head)), overflow="fold")
    for name, values in found:
        cut = [value if len(value) <= _LONGEST else f"{value[:_LONGEST]} ..." for value in values]
        grid.add_row(*(Text(visible(cell)) for cell in (name, *cut)))
    return grid
