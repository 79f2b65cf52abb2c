"""Study B at a glance: its question, its main table, and the same for a terminal.

    facts, answers of acme/g (46 % [42, 50] right of 500)
    acme/j  500  TPR 85 to 90     FPR 22 to 41        ...  hide
                     +5 [+1, +9]      +19 [+13, +25]

A line is one judge over the answers of one generator to one problem set. Knows
nothing about the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich import box
from rich.table import Table
from rich.text import Text

from misled.captions import KEYS, note
from misled.judged import BENCH, PAIR
from misled.phrases import Cells, brief, counts, listed, percent, simulations
from misled.records import Entry
from misled.sheets import Line, Sheet, number, show, visible

__all__ = ["Bench", "benches", "lead", "main", "restated", "terminal"]

RESTATED = 0.9  # of a chain, in the answer that is judged: from here on it adds nothing

_TABLES = ("judge", "changes", "transitions", "floor", "show", "self", "self_changes",
           "controlled", "controlled_changes", "bounds_of_changes")  # fmt: skip
_COLUMNS = (
    *("n", "show the chain?", "TPR without", "TPR with", "TPR change"),
    *("FPR without", "FPR with", "FPR change", "genuine", "right"),
)
_NOTE = (
    "n: items read both without and with the chain. TPR: right answers accepted; FPR: wrong ones. "
    "Genuine: other verdicts with the chain, beyond those of asking twice. Right: the generator's "
    "accuracy on these items"
)


class Bench(NamedTuple):
    """One judge over the answers of one generator to one problem set, shown in one way."""

    keys: dict[str, str]
    cells: Cells

    def one(self, table: str, metric: str, **keys: str) -> Entry | None:
        """The estimate of this bench, if there is one."""
        return self.cells.one(table, metric, self.keys | keys)

    def rate(self, metric: str, condition: str) -> Entry | None:
        """A metric of the items read without and with the chain."""
        return self.one("judge", metric, condition=condition)

    @property
    def decision(self) -> Entry | None:
        """The change of balanced accuracy, with `decision` among its keys."""
        return self.one("show", "change_balanced_accuracy")


def benches(entries: Iterable[Entry]) -> list[Bench]:
    """Every bench that has a verdict, in the order of the tables."""
    found: dict[tuple[str, ...], list[Entry]] = {}
    for e in entries:
        if e.table in _TABLES:
            found.setdefault(tuple(e.keys.get(name, "") for name in BENCH), []).append(e)
    return [
        Bench({k: v for k, v in zip(BENCH, who, strict=True) if v}, Cells(mine))
        for who, mine in sorted(found.items())
    ]


def restated(labels: Cells, bench: dict[str, str]) -> Entry | None:
    """How much of the chain the answer repeats, where it is all but the whole; else None."""
    names = ("set", "generator")
    same: dict[str, str] = {name: bench[name] for name in names if name in bench}
    e = labels.one("labels", "repeated", same)
    whole = bench.get("shown", "content") == "content"
    return e if whole and e is not None and (e.value or 0) >= RESTATED else None


def lead(entries: Sequence[Entry]) -> str:
    """What was asked of whom."""
    names = ("judge", "generator", "set")
    judges, generators, sets = (
        dict.fromkeys(e.keys[name] for e in entries if e.keys.get(name)) for name in names
    )
    of = f" on the answers of {listed(generators, 'models')}" if generators else ""
    return (
        "Judges decide whether an answer is right: from the answer alone, and with the chain of "
        "reasoning that led to it. Does the chain help them, or talk them into wrong answers? "
        f"Here: {listed(judges, 'judges')}{of} to {listed(sets, 'problem sets')}."
        f"{simulations((*judges, *generators))}"
    )


def main(entries: Sequence[Entry]) -> tuple[Sheet, list[Entry]] | None:
    """The main table, and the entries that it is made of; None without any verdict."""
    there = [bench for bench in benches(entries) if any(_rates(bench))]
    if not there:
        return None
    values = {name: {bench.keys.get(name, "") for bench in there} for name in BENCH}
    heads = [name for name in BENCH if len(values[name]) > 1 or name == "judge"]
    rows = [_row(bench) for bench in there]
    lines = [
        Line(tuple(bench.keys.get(name, "") for name in heads), cells, _left_out(used))
        for bench, (cells, used) in zip(there, rows, strict=True)
    ]
    sheet = Sheet(
        caption="Judges without and with the chain",
        constant={KEYS.get(n, n): min(values[n]) for n in BENCH if n not in heads},
        heads=tuple(KEYS.get(name, name) for name in heads),
        columns=_COLUMNS,
        lines=tuple(lines),
        notes=(_NOTE, f"Show the chain? {note('show', 'judge')}"),
    )
    return sheet, [e for _, used in rows for e in used]


def _rates(bench: Bench) -> list[Entry | None]:
    return [bench.rate(name, condition) for name in ("tpr", "fpr") for condition in PAIR]


def _row(bench: Bench) -> tuple[tuple[str, ...], list[Entry]]:
    right = next(filter(None, (bench.rate("accuracy", c) for c in PAIR)), None)
    tpr, tpr_with, fpr, fpr_with = _rates(bench)
    changes = [bench.one("changes", f"change_{name}") for name in ("tpr", "fpr")]
    genuine = bench.one("floor", "net_changed", answers="all")
    found = [tpr, tpr_with, changes[0], fpr, fpr_with, changes[1], genuine, right]
    cells = ["" if e is None else _stacked(show(e, 2)) for e in found]
    if genuine is None and changes[0]:
        cells[-2] = "no floor"
    n = "" if right is None else str(right.n)
    decided = bench.decision
    used = [e for e in (*found, decided) if e is not None]
    return (n, _stacked(_decision(bench, 2, 1)), *cells), used


def _stacked(text: str) -> str:
    """The interval, or why there is none, below its number."""
    return text.replace(" [", "\n[").replace(" (", "\n(")


def _decision(bench: Bench, digits: int, scale: float) -> str:
    """`hide`, and below it the change of balanced accuracy; `cannot tell`, and the n that would."""
    decided, needed = bench.decision, bench.one("show", "needed")
    if decided is None:
        return ""
    word = decided.keys["decision"]
    if word == "cannot tell" and needed is not None and needed.value is not None:
        return f"{word}:\n{needed.value:,.0f} items"
    if word == "refused":
        return f"{word}:\n{decided.method.removeprefix('none: ')}"
    return f"{word}\n{brief(decided, digits, scale)}"


def _left_out(used: Iterable[Entry]) -> str:
    counts: dict[str, int] = {}
    for e in used:
        for why, count in e.left_out.items():
            counts[why] = max(count, counts.get(why, 0))
    return ", ".join(f"{why.replace('_', ' ')} {count}" for why, count in counts.items())


def terminal(entries: Sequence[Entry], width: int) -> Iterator[Table]:
    """A table a problem set and generator: for each judge the rates, and below them the changes."""
    there = [bench for bench in benches(entries) if any(_rates(bench))]
    several = len({bench.keys.get("shown") for bench in there}) > 1
    groups: dict[tuple[str, str], list[Bench]] = {}
    for bench in there:
        groups.setdefault((bench.keys["set"], bench.keys["generator"]), []).append(bench)
    labels = Cells(e for e in entries if e.table == "labels")
    for (problems, generator), mine in groups.items():
        title = _answers(labels, problems, generator)
        grid = Table(box=box.SIMPLE_HEAD, title=Text(visible(title), style="bold"),
                     title_justify="left", padding=(0, int(width > 88), 0, 0))  # fmt: skip
        grid.add_column("judge", overflow="fold")
        if several:
            grid.add_column("shown")
        for column in ("n", "TPR %", "FPR %", "genuine change", "show the chain?"):
            grid.add_column(column, no_wrap=True)
        for bench in mine:
            shown = [bench.keys.get("shown", "")] if several else []
            line = [bench.keys["judge"], *shown, *_terminal_line(bench)]
            grid.add_row(*(Text(visible(cell)) for cell in line))
        yield grid
    for e in labels.all("labels", "accuracy"):
        if (e.keys["set"], e.keys["generator"]) not in groups:
            yield _without_verdicts(e, _answers(labels, e.keys["set"], e.keys["generator"]))


def _answers(labels: Cells, problems: str, generator: str) -> str:
    """`facts, answers of acme/g (46 % [42, 50] right of 500)`."""
    right = labels.one("labels", "accuracy", {"set": problems, "generator": generator})
    share = f" ({percent(right)} right of {right.n})" if right and right.value is not None else ""
    return f"{problems}, answers of {generator}{share}".replace("\u00a0", " ")


def _without_verdicts(e: Entry, title: str) -> Table:
    """Why the answers of a generator have no line: a screen that says nothing reads as success."""
    said = "no judge was asked with or without the chain; the report has what was asked"
    if not e.n:
        said = f"none of them is judged: {counts(e.left_out)}"
    grid = Table.grid()
    grid.add_row(Text(visible(f"{title}: {said}")))
    return grid


def _terminal_line(bench: Bench) -> Iterator[str]:
    rates = _rates(bench)
    yield next((str(e.n) for c in PAIR if (e := bench.rate("accuracy", c))), "")
    for name, pair in (("tpr", rates[:2]), ("fpr", rates[2:])):
        both = " to ".join(_whole(e) for e in pair if e is not None)
        change = bench.one("changes", f"change_{name}")
        yield f"{both}\n{brief(change, 0, 100)}" if change else both
    genuine = bench.one("floor", "net_changed", answers="all")
    yield brief(genuine, 0, 100) if genuine or not bench.decision else "no floor"
    yield _decision(bench, 0, 100)


def _whole(e: Entry) -> str:
    return "none" if e.value is None else number(e, e.value, 0, 100)
