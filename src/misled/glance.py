"""A whole run on one screen: a few sentences, and a line for each model or judge and setting.

    acme/closed  addition:15+13   ---o--     35 % [18, 57]   ...   4 of 24 problems: not solved 4

A line has its intervals drawn, the same in words, and what was left out of it. A run
with one line needs none of this: its sentence says as much. Knows nothing about the page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from misled.findings import TOLD, Setting, alone, bare, changed, compared, settings, shown
from misled.judged import PAIR
from misled.overview_judge import Bench, benches, restated
from misled.phrases import Cells, brief, called, counts, percent, points, simulated
from misled.records import Entry, Record

__all__ = ["Glance", "Line", "Mark", "cpt", "judge"]

_RATES = {"fpr": "wrong", "tpr": "right"}
_SHORT = {"uncertainty": "told that it may err", "contradiction": "told to ignore its errors"}
_FIRST = {"baseline": "without comment", "prefix": "made to recompute", **_SHORT}


class Mark(Record, frozen=True):
    """A share and its interval as they are drawn, in a row of their line: a dot or a square.

    It is hollow where the other of its row is compared with it.
    """

    value: float
    low: float | None
    high: float | None
    row: int = 0
    hollow: bool = False


class Line(Record, frozen=True):
    """One model or judge under one setting; lines of one group stand together."""

    group: str
    who: str
    marks: tuple[Mark, ...]
    cells: tuple[str, ...]
    left_out: str


class Glance(Record, frozen=True):
    """`said` is of the whole run; `drawn` names the dot and the square.

    `decisive` says what the numbers are due to, and what was shown to change them.
    """

    said: tuple[str, ...]
    caption: str
    drawn: tuple[str, ...]
    head: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    decisive: tuple[str, ...] = ()


def cpt(entries: Iterable[Entry]) -> Glance | None:
    """Study A: repeating the wrong result at the lowest D_T; None where one finding says it."""
    cells = Cells(entries)
    found = settings(cells)
    if not found[1:]:
        return None
    handed = {changed(setting.base.keys) for setting in found}
    how = f"a chain {handed.pop()}" if len(handed) == 1 else "a tampered chain"
    first = dict.fromkeys(_FIRST.get(s.base.keys.get("method", ""), "as below") for s in found)
    told = dict.fromkeys(_SHORT[s.told.keys["method"]] for s in found if s.told is not None)
    ways = (" or ".join(first), " or ".join(told))
    return Glance(
        said=(*_of_models(cells, found, how), *_problems(cells, found)),
        decisive=tuple(_decisive(cells, found)),
        caption=f"How often each model, handed {how}, repeated the wrong result and found the true "
        "one, in %",
        drawn=tuple(f"wrong result, {way}" for way in ways if way),
        head="model",
        columns=(
            *(f"{way}: {which} result" for way in ways if way for which in ("wrong", "true")),
            f"{ways[0]}, minus clean chain: wrong result",
            "trials",
        ),
        lines=tuple(_model(cells, setting, told=bool(told)) for setting in found),
    )


def _of_models(cells: Cells, found: Sequence[Setting], how: str) -> Iterator[str]:
    models = dict.fromkeys(setting.base.keys["target"] for setting in found)
    kind = "simulated models" if all(map(simulated, models)) else "models"
    who = f"{len(models)} {kind}" if len(models) > 1 else called(next(iter(models)))
    named = _named(found)
    if wrong := _spread({name: s.base for name, s in named.items()}, percent):
        true = _spread({name: _true(cells, s.base) for name, s in named.items()}, percent)
        yield (
            f"Handed {how}, {who} repeated the wrong result in {wrong} of the trials, and found "
            f"the true one in {true}."
        )
    told = [s.told.keys["method"] for s in found if s.told is not None]
    if wrong := _spread({name: s.told for name, s in named.items()}, percent):
        true = _spread({name: _true(cells, s.told) for name, s in named.items()}, percent)
        way = TOLD[told[0]]
        yield f"{way[0].upper()}{way[1:]}: the wrong result in {wrong}, the true one in {true}."
    if spread := _spread({name: _net(cells, s.base) for name, s in named.items()}, points):
        yield (
            "Without such words, minus what the same model answers to its untampered chain: the "
            f"wrong result {spread}."
        )


def _named(found: Sequence[Setting]) -> dict[str, Setting]:
    """Each by what tells it from the others: its model, its setting, or both."""
    models = {s.base.keys["target"] for s in found}
    words = {s.words for s in found}
    if len(words) == 1:
        return {s.base.keys["target"]: s for s in found}
    if len(models) == 1:
        return {s.words: s for s in found}
    return {f"{s.base.keys['target']} on {s.words}": s for s in found}


def _decisive(cells: Cells, found: Sequence[Setting]) -> Iterator[str]:
    """What was shown to change the wrong result, and whether the result alone does as much."""
    named = _named(found)
    by: dict[str, dict[str, Entry | None]] = {}
    for name, setting in named.items():
        for e in compared(cells, setting.base):
            if shown(e) and e.p_adjusted is not None:
                by.setdefault(e.keys["method"], {})[name] = e
    for method, mine in by.items():
        way = TOLD.get(method, f"under {method}")
        yield (
            f"{way[0].upper()}{way[1:]}, rather than told nothing, net of the untampered chain: "
            f"the wrong result {_spread(mine, points)}. Tested in advance; shown in {len(mine)} of "
            f"{len(found)} lines of the table."
        )
    minus = {name: bare(cells, s.base) for name, s in named.items()}
    there = {name: cells.one("contrasts", "adopted", e.keys) for name, e in minus.items() if e}
    if spread := _spread(there, percent):
        said = {alone(e) for e in minus.values() if e is not None}
        what = said.pop() if len(said) == 1 else ""
        yield (
            f"Told the wrong result alone, without a chain: that result in {spread}. The tampered "
            f"chain minus this: {_spread(minus, points)}{f'; {what}' if what else ''}."
        )


def _true(cells: Cells, adopted: Entry | None) -> Entry | None:
    """How often the true result was found where the wrong one was repeated so often."""
    return None if adopted is None else cells.one("outcomes", "recovered", adopted.keys)


def _spread(found: Mapping[str, Entry | None], say: Callable[[Entry], str]) -> str:
    """`21 % [9, 40] (acme/a on facts) to 79 % [52, 92] (acme/b on facts)`; "" without a value.

    Values without an interval are no ends, unless there are no others.
    """
    known = [
        (e.low is None, e.value, say(e), who)
        for who, e in found.items()
        if e is not None and e.value is not None
    ]
    sure = [end for end in known if not end[0]] or known
    if not sure:
        return ""
    first, last = min(sure), max(sure)
    if first[1:3] == last[1:3] and len(sure) == len(found) > 1:
        return first[2]
    return " to ".join(dict.fromkeys(f"{said} ({who})" for _, _, said, who in (first, last)))


def _problems(cells: Cells, found: Sequence[Setting]) -> Iterator[str]:
    """How many problems and trials the sentences before are not of."""
    kept = asked = 0
    why, lost = Counter[str](), Counter[str]()
    for e in {id(e): e for s in found if (e := _eligible(cells, s.base))}.values():
        kept, asked = kept + round((e.value or 0) * e.n), asked + e.n
        why.update(e.left_out)
    for setting in found:
        lost.update({k: v for k, v in setting.base.left_out.items() if k != "unsupported"})
    sizes = {s.base.keys["set"]: e.n for s in found if (e := _eligible(cells, s.base))}
    models = {s.base.keys["target"] for s in found}
    what = "problems"
    if models and asked == sum(sizes.values()) * len(models) != sum(sizes.values()):
        what = f"({sum(sizes.values())} problems x {len(models)} models)"
    said = [f"{asked - kept} of {asked} {what} could not be probed ({counts(why)})"] if why else []
    said += [f"trials are not counted ({counts(lost)})"] if lost else []
    if said:
        yield f"Left out: {'; '.join(said)}."


def _eligible(cells: Cells, base: Entry) -> Entry | None:
    same = {name: base.keys[name] for name in ("set", "target", "source")}
    found = cells.one("eligibility", "eligible", same)
    return found if found is not None and found.value is not None else None


def _net(cells: Cells, base: Entry) -> Entry | None:
    keys = {k: v for k, v in base.keys.items() if k != "arm"} | {"against": "clean"}
    return cells.one("net", "net_adoption", keys)


def _model(cells: Cells, setting: Setting, *, told: bool) -> Line:
    base, eligible = setting.base, _eligible(cells, setting.base)
    both = (base, setting.told) if told else (base,)
    lost = []
    if eligible is not None and eligible.left_out:
        kept = round((eligible.value or 0) * eligible.n)
        lost.append(f"{eligible.n - kept} of {eligible.n} problems: {counts(eligible.left_out)}")
    failed = counts({k: v for k, v in base.left_out.items() if k != "unsupported"})
    lost += [f"trials: {failed}"] if failed else []
    return Line(
        group=setting.words,
        who=base.keys["target"],
        marks=_marks((e, row, False) for row, e in enumerate(both)),
        cells=(
            *(brief(each, 0, 100) for e in both for each in (e, _true(cells, e))),
            brief(_net(cells, base), 0, 100),
            str(base.n),
        ),
        left_out="; ".join(lost),
    )


def _marks(found: Iterable[tuple[Entry | None, int, bool]]) -> tuple[Mark, ...]:
    """A mark for each entry that has a value, given with its row and whether it is hollow."""
    return tuple(
        Mark(e.value, e.low, e.high, row, hollow)
        for e, row, hollow in found
        if e is not None and e.value is not None
    )


def judge(entries: Iterable[Entry]) -> Glance | None:
    """Study B: what each judge accepts without and with the chain; None where one finding does."""
    lines = list(entries)
    found = [bench for bench in benches(lines) if any(bench.rate("pass", c) for c in PAIR)]
    if not found[1:]:
        return None
    labels = Cells(e for e in lines if e.table == "labels")
    shown = len({bench.keys.get("shown") for bench in found}) > 1
    return Glance(
        said=(*_restated(labels, found), *_of_judges(found, shown=shown)),
        caption="What each judge accepts without the chain (hollow) and with it (filled)",
        drawn=("wrong answers accepted", "right answers accepted"),
        head="judge",
        columns=("wrong accepted", "change", "right accepted", "change", "show it?", "items"),
        lines=tuple(_judge(bench, _answers(bench, shown=shown)) for bench in found),
    )


def _rates(bench: Bench, name: str) -> list[Entry]:
    """The rate without the chain and with it, as far as they are known."""
    found = (bench.rate(name, condition) for condition in PAIR)
    return [e for e in found if e is not None and e.value is not None]


def _restated(labels: Cells, found: Sequence[Bench]) -> Iterator[str]:
    """That of some or all no reasoning was there to show, which no number of theirs says."""
    mine = [bench for bench in found if restated(labels, bench.keys)]
    if mine:
        of = "" if len(mine) == len(found) else f" of {len(mine)} of {len(found)} lines below"
        generators = ", ".join(dict.fromkeys(bench.keys["generator"] for bench in mine))
        yield (
            f"No reasoning was there to show{of}: the answers of {generators} repeat their chains, "
            "and what reasoning does cannot be told from them."
        )


def _of_judges(found: Sequence[Bench], *, shown: bool) -> Iterator[str]:
    named = {f"{bench.keys['judge']}, {_answers(bench, shown=shown)}": bench for bench in found}
    for name, answers in _RATES.items():
        changes = {who: bench.one("changes", f"change_{name}") for who, bench in named.items()}
        if spread := _spread(changes, points):
            yield f"With the chain, {answers} answers are accepted more or less often: {spread}."
    decided = Counter(filter(None, map(_decided, found)))
    if decided:
        said = ", ".join(f"{word} {count}" for word, count in decided.most_common())
        yield f"Should they be shown it? Of {decided.total()} judges and settings: {said}."
    lost = Counter[str]()
    for bench in found:
        lost.update(_lost(bench))
    if lost:
        yield f"Left out: items without a label or a verdict in either condition ({counts(lost)})."


def _answers(bench: Bench, *, shown: bool) -> str:
    """`answers of acme/g to facts`, and how they were shown where that differs."""
    keys = bench.keys
    way = f", shown as {keys['shown']}" if shown and "shown" in keys else ""
    return f"answers of {keys['generator']} to {keys['set']}{way}"


def _decided(bench: Bench) -> str:
    word = bench.decision.keys["decision"] if bench.decision else ""
    return "too few items" if word == "refused" else word


def _lost(bench: Bench) -> dict[str, int]:
    found = (bench.rate("pass", condition) for condition in PAIR)
    return next((e.left_out for e in found if e is not None), {})


def _judge(bench: Bench, group: str) -> Line:
    cells = []
    for name in _RATES:
        said = [f"{100 * (e.value or 0):.0f}" for e in _rates(bench, name)]
        cells.append(f"{' to '.join(said)}\u00a0%" if said else "none")
        cells.append(brief(bench.one("changes", f"change_{name}"), 0, 100))
    both = any(_rates(bench, name)[1:] for name in _RATES)
    counted = next(filter(None, (bench.rate("pass", condition) for condition in PAIR)), None)
    return Line(
        group=group,
        who=bench.keys["judge"],
        marks=_marks(
            (e, row, both and e.keys["condition"] == PAIR[0])
            for row, name in enumerate(_RATES)
            for e in _rates(bench, name)
        ),
        cells=(
            *cells,
            _decided(bench),
            str(counted.n) if counted else "0",
        ),
        left_out=counts(_lost(bench)),
    )
