"""Study B's estimates -> sentences: what a run found for each judge.

    Shown the reasoning, acme/j accepted wrong answers in 41 % [36, 46] instead of
    22 % of 131 (+19 points [+13, +25], Holm's p below 0.001) and right ones in ...

Every sentence quotes estimates and their intervals; what was not tested in
advance says that it explores. None names a cause. Knows nothing about how the
sentences are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from misled.controlled import PLAIN, STATEMENTS
from misled.findings import Finding
from misled.findings_beside import changed, kinds, mixed, probed, tested
from misled.flips import FLIPS
from misled.judged import PAIR, SELF
from misled.overview_judge import Bench, benches, restated
from misled.phrases import Cells, called, counts, percent, points, why
from misled.records import Entry

__all__ = ["findings"]

_STRATA = {"fpr": "wrong", "tpr": "right"}
_ENDS = ("lower", "upper")
_BESIDE = {"preference", "closed_book", "reliance", "null_probes", "labels"}
_SHOWN = {"answer": "Without the reasoning", "reasoning": "Shown the reasoning"}
_CHATTED = "Of its own answers, judged in the conversation"
_OWN = {
    ("self", "reasoning"): f"{_CHATTED} rather than as any judge does, with the chain both times",
    ("self_hidden", "answer"): f"{_CHATTED} rather than as any judge does, without the chain",
    ("self", "self_hidden"): f"{_CHATTED}, with the chain rather than without",
}
_STATED: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("With four true, irrelevant statements put in", "change_pass", {"k": "0", "against": PLAIN}),
    ("For each of the four that is made false", "slope_pass", {}),
    ("With them at the beginning rather than the end", "change_pass", {"against": "end"}),
)
_EDITED: tuple[tuple[str, dict[str, str]], ...] = (
    ("With on-topic filler put in", {"variant": "filler", "against": PLAIN}),
    ("With four statements reworded and still true, against the same four",
     {"variant": "true_edit", "k": "4", "against": "k = 0"}),
    ("With four false statements, against four reworded ones",
     {"variant": STATEMENTS, "k": "4", "against": "true_edit"}),
    ("With another question's chain for its own", {"variant": "placebo", "against": PLAIN}),
    ("Without the sentences that state the answer", {"variant": "chain_cut", "against": PLAIN}),
)  # fmt: skip


def findings(entries: Iterable[Entry]) -> list[Finding]:
    """Weak and strong judges; then each judge, generator, set and way of showing the answer.

    What a judge makes of no answer, or of another's chain, is told once for each set.
    """
    lines = list(entries)
    there = benches(lines)
    several = len({bench.keys.get("shown") for bench in there}) > 1
    beside = Cells(e for e in lines if e.table in _BESIDE)
    found, told = kinds(lines), set[tuple[str, str]]()
    for bench in there:
        judge, generator = bench.keys["judge"], bench.keys["generator"]
        setting = [bench.keys["set"], f"answers of {generator}"]
        setting += [f"shown as {bench.keys['shown']}"] * several
        details = [line for say in _SAID for line in say(bench)]
        details += [line for say in (_preference, _alone) for line in say(bench, beside)]
        if (judge, bench.keys["set"]) not in told:
            details += _once(beside, {"judge": judge, "set": bench.keys["set"]})
        told.add((judge, bench.keys["set"]))
        left_out = tuple(_left_out(bench))
        headline = _headline(bench, restated(beside, bench.keys))
        found.append(Finding(judge, ", ".join(setting), headline, tuple(details), left_out))
    return [*found, *_apart(beside, told)]


def _once(beside: Cells, who: dict[str, str]) -> list[str]:
    """What is asked of a judge on a set, whoever answered."""
    return [line for say in (mixed, probed) for line in say(beside, who)]


def _apart(beside: Cells, told: set[tuple[str, str]]) -> Iterator[Finding]:
    """The judges of whom nothing else was asked."""
    asked = [*beside.all("reliance", "reliance"), *beside.all("null_probes", "pass")]
    for judge, problems in dict.fromkeys((e.keys["judge"], e.keys["set"]) for e in asked):
        said = _once(beside, {"judge": judge, "set": problems})
        if said and (judge, problems) not in told:
            yield Finding(judge, problems, said[0], tuple(said[1:]))


def _headline(bench: Bench, repeated: Entry | None) -> str:
    """What was accepted with the chain and without, or in whatever else was asked.

    Where the answer repeats the chain, that comes first: nothing was shown but the answer.
    """
    judge = called(bench.keys["judge"])
    if all(bench.rate("pass", condition) for condition in PAIR):
        said = [_moved(bench, name) for name in _STRATA]
        shown = "Shown the reasoning" if repeated is None else _restated(repeated)
        return f"{shown}, {judge} accepted {' and '.join(said)}."
    for condition, words in _SHOWN.items():
        if bench.rate("pass", condition):
            rates = {name: bench.rate(name, condition) for name in _STRATA}
            return f"{words}, {judge} accepted {_rates(rates)}."
    for condition in SELF[::-1]:
        rates = {name: bench.one("self", name, condition=condition) for name in _STRATA}
        if any(rates.values()):
            with_it = "with" if condition == "self" else "without"
            return (
                f"In the conversation, {with_it} the chain, {judge} accepted of its own answers "
                f"{_rates(rates)}."
            )
    return f"{judge} was asked about edited chains alone."


def _restated(repeated: Entry) -> str:
    return (
        f"No reasoning was there to show: the answer repeats {100 * (repeated.value or 0):.0f}"
        "\u00a0% of its chain (median), and this run cannot tell what reasoning does. Shown the "
        "same text again as its reasoning"
    )


def _moved(bench: Bench, name: str) -> str:
    """`wrong answers in 41 % [36, 46] instead of 22 % of 131 (+19 points [+13, +25], ...)`."""
    was, now = (bench.rate(name, condition) for condition in PAIR)
    change = bench.one("changes", f"change_{name}")
    answers = f"{_STRATA[name]} answers"
    if was is None or now is None or was.value is None or now.value is None:
        return f"no {answers}, there being none"
    test = "" if change is None else f" ({points(change)}, {tested(change)})"
    return f"{answers} in {percent(now)} instead of {100 * was.value:.0f}\u00a0% of {now.n}{test}"


def _rates(rates: dict[str, Entry | None]) -> str:
    """`wrong answers in 41 % [36, 46] of 131 and right ones in 90 % [82, 95] of 90`."""
    said = [
        f"{_STRATA[name]} ones in {percent(e)} of {e.n}"
        if e is not None and e.value is not None
        else f"no {_STRATA[name]} ones, there being none"
        for name, e in rates.items()
    ]
    return " and ".join(said)


def _decision(bench: Bench) -> Iterator[str]:
    """Whether to show the chain (B.7), and how many items would tell."""
    e, needed = bench.decision, bench.one("show", "needed")
    if e is None:
        return
    margin = f"{100 * float(e.keys['margin']):g} points"
    change = f"balanced accuracy {points(e)}, exploratory"
    settled = "no verdict changed, so that how many items would tell is not known"
    if needed is not None and needed.value is not None:
        items = f"{needed.value:,.0f} items"
        settled = f"a change of {margin} takes about {items} to show, with 80\u00a0% power"
    yield {
        "show": f"Show it the chain: {change}.",
        "hide": f"Hide the chain from it: {change}.",
        "no difference": f"Shown or hidden makes no difference beyond {margin}: {change}.",
        "cannot tell": f"Whether to show it the chain cannot be told from {e.n} items: {change}; "
        f"{settled}.",
        "refused": "Whether to show it the chain is not decided, as there are only "
        f"{e.method.removeprefix('none: ')}.",
    }.get(e.keys["decision"], f"{e.keys['decision']}: {change}.")


def _floor(bench: Bench) -> Iterator[str]:
    """How often it changes its mind anyway (B.5)."""
    changed = bench.one("floor", "changed", answers="all")
    if changed is None or changed.value is None:
        if bench.decision is not None:
            yield "Nothing was asked twice: how many changes chance alone makes is not known."
        return
    again = [bench.one("floor", f"changed_again_{name}", answers="all") for name in PAIR]
    net = bench.one("floor", "net_changed", answers="all")
    twice = [percent(e) for e in again if e is not None and e.value is not None]
    beyond = ""
    if net is not None and net.value is not None:
        beyond = f": {points(net)} beyond what asking twice gives ({tested(net)})"
    yield (
        "Asked the same twice, it changed its verdict on "
        f"{' (without the chain) and '.join(twice)} (with it); shown the chain, on "
        f"{percent(changed)} of {changed.n} items{beyond}."
    )


def _flips(bench: Bench) -> Iterator[str]:
    """The four changes, each with its floor."""
    said = []
    for name in FLIPS:
        e, floor = bench.one("transitions", name), bench.one("transitions", f"{name}_floor")
        if e is None or e.value is None or floor is None:
            return
        least = "no floor" if floor.value is None else f"floor {100 * floor.value:.0f}\u00a0%"
        said.append(f"{name} in {percent(e)} ({least})")
    yield (
        f"Of all items it was {' and '.join(said[:2])}, where the answer is wrong, and "
        f"{' and '.join(said[2:])}, where it is right."
    )


def _detection(bench: Bench) -> Iterator[str]:
    """J without and with the chain; its change is that of balanced accuracy, doubled."""
    both = [bench.rate("youden", condition) for condition in PAIR]
    said = [points(e).lstrip("+") for e in both if e is not None and e.value is not None]
    if len(said) == len(PAIR):
        yield (
            f"Right answers are accepted more often than wrong ones by {said[0]} without the "
            f"chain and {said[1]} with it (Youden's J)."
        )


def _alignment(bench: Bench) -> Iterator[str]:
    """What the changes come to at this generator's accuracy, and where they would cancel."""
    change, right = bench.one("show", "change_alignment"), bench.one("show", "accuracy")
    even = bench.one("show", "break_even")
    if change is None or right is None or change.value is None or right.value is None:
        return
    cancel = ""
    if even is not None and even.value is not None:
        cancel = f"; gains and losses cancel where {percent(even)} are right"
    yield (
        f"With {100 * right.value:.0f}\u00a0% of the answers right, the verdicts that agree with "
        f"the label change by {points(change)}, exploratory{cancel}."
    )


def _self(bench: Bench) -> Iterator[str]:
    """Its own answers, in the conversation and as any judge."""
    for (condition, against), words in _OWN.items():
        keys = {"condition": condition, "against": against}
        yield from _both(bench.cells, "self_changes", keys, words)


def _both(cells: Cells, table: str, keys: dict[str, str], words: str) -> Iterator[str]:
    found = {y: cells.one(table, f"change_{name}", keys) for name, y in _STRATA.items()}
    said = [f"of {y} ones {changed(e)}" for y, e in found.items() if e and e.value is not None]
    if said:
        yield f"{words}: acceptance {' and '.join(said)}."


def _preference(bench: Bench, beside: Cells) -> Iterator[str]:
    """Its own answers beside the verdicts of others on them."""
    if bench.keys["judge"] != bench.keys["generator"]:
        return
    who = {name: value for name, value in bench.keys.items() if name != "judge"}
    for against, others in (("family", "others of its family"), ("others", "other families")):
        for condition, shown in zip(PAIR, ("without the chain", "with the chain"), strict=True):
            keys = who | {"condition": condition, "against": against}
            words = f"Its verdicts minus those of {others} on its own answers, {shown}"
            yield from _both(beside, "preference", keys, words)


def _edits(bench: Bench) -> Iterator[str]:
    """Statements in the chain: what was tested in advance, or would have been."""
    for words, metric, keys in _STATED:
        found = bench.cells.all("controlled_changes", metric, variant=STATEMENTS, **keys)
        for e in sorted(found, key=_pooled_first)[:1]:
            where = (
                "" if "against" in keys and keys["against"] == "end" else f" ({e.keys['place']})"
            )
            yield from _accepted(e, f"{words}{where}")


def _pooled_first(e: Entry) -> tuple[bool, bool]:
    return e.p_adjusted is None, " and " not in e.keys["place"]


def _controls(bench: Bench) -> Iterator[str]:
    """The other edits of the chain, all exploratory."""
    for words, keys in _EDITED:
        for e in bench.cells.all("controlled_changes", "change_pass", **keys):
            where = f" ({e.keys['place']})" if "place" in e.keys else ""
            yield from _accepted(e, f"{words}{where}")


def _accepted(e: Entry, words: str) -> Iterator[str]:
    if e.value is None:
        yield f"{words}: nothing to compare, {why(e)}."
    else:
        yield f"{words}: acceptance {changed(e)}."


def _alone(bench: Bench, beside: Cells) -> Iterator[str]:
    """How many of the questions it answers by itself (Figure 4)."""
    keys = {name: bench.keys[name] for name in ("set", "judge")}
    e = beside.one("closed_book", "accuracy", keys)
    if e is not None and e.value is not None:
        yield f"By itself it answered {percent(e)} of {e.n} questions rightly."


def _left_out(bench: Bench) -> Iterator[str]:
    """What the first sentence does not count, and what unread verdicts could change of it."""
    first = next((e for c in PAIR if (e := bench.rate("pass", c))), None)
    if first is not None and first.left_out:
        yield f"Items not counted: {counts(first.left_out)}."
    said = []
    for name, y in _STRATA.items():
        ends = [bench.one("bounds_of_changes", f"change_{name}_{end}") for end in _ENDS]
        low, high = (None if e is None else e.value for e in ends)
        if low is not None and high is not None:
            span = dict.fromkeys(f"{100 * end:+.0f}" for end in (low, high))
            said.append(f"{y} ones by {' to '.join(span)} points")
    if said:
        yield (
            "Whatever the unread verdicts were, the chain changes what this judge accepts of "
            f"these items: {' and '.join(said)}."
        )


_SAID = (_decision, _floor, _flips, _detection, _alignment, _self, _edits, _controls)
