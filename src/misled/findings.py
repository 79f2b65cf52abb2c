"""Estimates -> sentences: what a run found for each model, and what to be careful about.

    Handed its own chain with one wrong digit, planted/credulous repeated the wrong
    result in 62 % [55, 68] of 200 trials and found the true one in 25 % [19, 31].

Every sentence quotes estimates and their intervals; none states a trend or a
cause. Knows study A's tables and nothing about how the sentences are set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from misled.records import Entry, Record
from misled.sheets import interval, number

__all__ = ["Caution", "Finding", "cautions", "findings"]

# From here on a report warns; conventions, no findings of their own.
FEW = 10
UNREAD = 0.1
WEAK_CONTROL = 0.95
WEAK_AGAIN = 0.9
IN_VIEW = 0.1

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PERTURBED = {
    "insert_digit": "with a digit inserted into its result",
    "delete_digit": "with a digit of its result deleted",
}
_TOLD = {
    "baseline": "handed it without comment",
    "uncertainty": "told that the chain may contain errors",
    "contradiction": "told that the chain contains errors and to ignore them",
    "prefix": "made to begin its answer with a recomputation",
}
_WORDS = {
    "source_wrong": "chain wrong",
    "source_chain_result": "chain ends on another value",
    "source_chain_without_result": "chain without a result",
    "gate_wrong": "not solved alone",
}
_UNREAD = ("unreadable", "stopped", "truncated", "refused")
_POINT = {"method", "mode", "d_t"}

_Said: TypeAlias = Iterator[tuple[str, str]]  # a caution, and a place where it holds


class Finding(Record, frozen=True):
    """What was found for one model under one setting: a sentence, and those that qualify it."""

    target: str
    setting: str
    headline: str
    details: tuple[str, ...]


class Caution(Record, frozen=True):
    """What a reader must know before quoting a number, and where it applies."""

    text: str
    places: tuple[str, ...]


class _Cells:
    """Entries by table, metric and keys, for look-ups by part of the keys."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by: dict[tuple[str, str], list[Entry]] = {}
        self._exact: dict[tuple[str, str, frozenset[tuple[str, str]]], Entry] = {}
        for e in entries:
            self._by.setdefault((e.table, e.metric), []).append(e)
            self._exact[e.table, e.metric, frozenset(e.keys.items())] = e

    def all(self, table: str, metric: str, **keys: str) -> list[Entry]:
        """Every entry whose keys hold `keys`."""
        found = self._by.get((table, metric), ())
        return [e for e in found if keys.items() <= e.keys.items()]

    def one(self, table: str, metric: str, keys: dict[str, str]) -> Entry | None:
        """The entry with these keys, else the first whose keys hold them, if there is one."""
        exact = self._exact.get((table, metric, frozenset(keys.items())))
        return exact or next(iter(self.all(table, metric, **keys)), None)


def findings(entries: Iterable[Entry]) -> list[Finding]:
    """One for each model and setting (problem set, feed, channel, structure ...), intact first.

    Structural edits get none as long as there are intact chains: their tables
    compare them.
    """
    cells = _Cells(entries)
    settings: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
    adopted = cells.all("outcomes", "adopted", arm="tampered")
    intact = [e for e in adopted if e.keys.get("structure") == "intact"]
    for e in intact or adopted:
        setting = tuple((k, v) for k, v in e.keys.items() if k not in _POINT)
        settings.setdefault(setting, []).append(e)
    said: dict[str, set[str]] = {}
    for setting in settings:
        for name, value in setting:
            said.setdefault(name, set()).add(value)
    found = []
    for setting, mine in settings.items():
        keys = dict(setting)
        words = [
            v
            for k, v in setting
            if k == "set" or (k not in {"target", "source"} and len(said[k]) > 1)
        ]
        first = min(int(e.keys.get("d_t", "0")) for e in mine)
        points = [e for e in mine if int(e.keys.get("d_t", "0")) == first]
        details = (*_other_methods(points), *_net(cells, points[0]),
                   *_over_degrees(cells, points[0]), *_left_out(cells, points[0]))  # fmt: skip
        headline = _headline(cells, points[0])
        found.append(Finding(keys["target"], ", ".join(words), headline, details))
    return found


def _headline(cells: _Cells, base: Entry) -> str:
    """Adoption and recovery under the first method, at the lowest D_T."""
    target, source = base.keys["target"], base.keys["source"]
    whose = "its own chain" if target == source else f"a chain of {source}"
    handed = f"Handed {whose} {_changed(base.keys)}, {target}"
    method = base.keys.get("method", "")
    if method != "baseline":
        handed = f"{handed}, {_TOLD.get(method, f'under {method}')},"
    if base.value is None:
        return f"{handed} gave nothing to count: {_why(base)}."
    recovered = cells.one("outcomes", "recovered", base.keys)
    also = f" and found the true one in {_percent(recovered)}" if recovered else ""
    return f"{handed} repeated the wrong result in {_percent(base)} of {base.n} trials{also}."


def _other_methods(points: Sequence[Entry]) -> Iterator[str]:
    """The wrong result under each other method, a sentence each."""
    for e in points[1:]:
        method = e.keys.get("method", "")
        told = _TOLD.get(method, f"under {method}")
        if e.value is None:
            yield f"{told[0].upper()}{told[1:]}: no value, {_why(e)}."
        else:
            yield f"{told[0].upper()}{told[1:]}, it repeated the wrong result in {_percent(e)}."


def _left_out(cells: _Cells, base: Entry) -> Iterator[str]:
    """How many problems are behind the finding, and what the trials lost."""
    same = {name: base.keys[name] for name in ("set", "target", "source")}
    eligible = cells.one("eligibility", "eligible", same)
    if eligible is not None and eligible.value is not None:
        kept, left = round(eligible.value * eligible.n), _counts(eligible.left_out)
        without = f"; left out: {left}" if left else ""
        yield f"{kept} of {eligible.n} problems could be probed{without}."
    lost = _counts({k: v for k, v in base.left_out.items() if k != "unsupported"})
    if lost:
        yield f"Trials not counted in the first sentence: {lost}."


def _net(cells: _Cells, base: Entry) -> Iterator[str]:
    """The same against the untampered chain, which is what tampering itself does."""
    keys = {k: v for k, v in base.keys.items() if k != "arm"} | {"against": "clean"}
    adoption = cells.one("net", "net_adoption", keys)
    recovery = cells.one("net", "net_recovery", keys)
    if adoption is None or recovery is None or adoption.value is None or recovery.value is None:
        return
    yield (
        f"Net of the same prompt with the untampered chain: the wrong result {_points(adoption)}, "
        f"the true one {_points(recovery)}."
    )


def _over_degrees(cells: _Cells, base: Entry) -> Iterator[str]:
    keys = {k: v for k, v in base.keys.items() if k not in {"arm", "d_t"}}
    pooled = cells.one("pooled", "r_cpt", keys)
    net = cells.one("pooled", "net_r", keys | {"against": "clean"})
    if pooled is None or pooled.value is None:
        return
    over = f"R_CPT over D_T {pooled.keys.get('d_t', '')}: {pooled.value:.2f} {interval(pooled, 2)}"
    beside = (
        f", net {number(net, net.value, 2)} {interval(net, 2)}"
        if net and net.value is not None
        else ""
    )
    yield f"{over}{beside}."


def cautions(entries: Iterable[Entry]) -> list[Caution]:
    """What to know before quoting a number, the gravest first; each once, with all its places."""
    cells = _Cells(entries)
    checks: tuple[Callable[[_Cells], _Said], ...] = (
        _few_problems, _weak_again, _weak_clean, _unread, _in_view, _failed, _unsupported,
        _other_source, _whole_output,
    )  # fmt: skip
    places: dict[str, dict[str, None]] = {}
    for check in checks:
        for text, place in check(cells):
            places.setdefault(text, {})[place] = None
    return [Caution(text, tuple(where)) for text, where in places.items()]


def _few_problems(cells: _Cells) -> _Said:
    for e in cells.all("eligibility", "eligible"):
        kept = round((e.value or 0) * e.n)
        place = f"{_where(e)} ({kept} of {e.n}{_mode(e)})"
        if kept < FEW:
            yield f"Fewer than {FEW} problems could be probed; no interval is claimed", place
        elif 2 * kept < e.n:
            yield "Most problems were left out; the numbers say nothing about those", place
    for e in cells.all("pooled", "adopted"):
        same = {name: e.keys[name] for name in ("set", "target", "source", "mode")}
        eligible = cells.one("eligibility", "eligible", same)
        told = eligible is not None and (eligible.value or 0) * eligible.n < FEW - 0.5
        if 0 < e.clusters < FEW and not told:
            text = f"All trials come from fewer than {FEW} problems or templates"
            yield f"{text}; no interval is claimed", f"{_point(e)} ({e.n} from {e.clusters})"


def _weak_again(cells: _Cells) -> _Said:
    for e in cells.all("controls", "recovered", arm="again"):
        if e.value is not None and e.value < WEAK_AGAIN:
            text = "Asked again without a chain, the model often fails what it had solved once"
            yield f"{text}; read the net values", f"{_where(e)} ({_percent(e)} solved{_mode(e)})"


def _weak_clean(cells: _Cells) -> _Said:
    for e in cells.all("pooled", "net_recovery", against="clean"):
        names = ("set", "target", "source", "mode", "feed", "channel", "structure", "method")
        same = {name: e.keys[name] for name in names if name in e.keys}
        clean = cells.one("controls", "recovered", same | {"arm": "clean"})
        if clean is None or clean.value is None or e.low is None or e.high is None:
            continue
        if clean.value < WEAK_CONTROL and e.low <= 0 <= e.high:
            text = (
                "The untampered chain already costs as much: no harm of tampering itself is shown"
            )
            yield text, f"{_point(e)} ({_percent(clean)} recovered there, net {_points(e)})"


def _unread(cells: _Cells) -> _Said:
    for e in cells.all("pooled", "adopted"):
        parts = {name: cells.one("pooled", name, e.keys) for name in _UNREAD}
        shares = {name: part.value for name, part in parts.items() if part and part.value}
        if sum(shares.values()) >= UNREAD:
            each = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
            text = "Many answers hold no value; R_CPT leaves them out, its bounds are in the table"
            yield f"{text} by cell", f"{_point(e)} ({each})"


def _in_view(cells: _Cells) -> _Said:
    seen: dict[str, tuple[int, int]] = {}
    for e in cells.all("cpt", "adopted_w_left_0"):
        whole = cells.one("outcomes", "adopted", e.keys | {"arm": "tampered"})
        n, clear = seen.get(_where(e), (0, 0))
        seen[_where(e)] = (n + (whole.n if whole else e.n), clear + e.n)
    for where, (n, clear) in seen.items():
        if n - clear > IN_VIEW * n:
            text = "The chain still shows the true value somewhere: recovering it can be copying"
            yield (
                f"{text}; see the columns with w out of view",
                f"{where} ({n - clear} of {n} trials)",
            )


def _failed(cells: _Cells) -> _Said:
    lost: dict[str, int] = {}
    for e in cells.all("pooled", "adopted"):
        lost[_where(e)] = lost.get(_where(e), 0) + e.left_out.get("failed", 0)
    for where, count in lost.items():
        if count:
            text = "Trials without an answer are not counted; --retry-failed asks them again"
            yield text, f"{where} ({count})"


def _unsupported(cells: _Cells) -> _Said:
    for e in cells.all("pooled", "adopted"):
        if e.value is None and "unsupported" in e.left_out:
            yield f"Empty cells, which are no zeros: {e.method}", _point(e)


def _other_source(cells: _Cells) -> _Said:
    for e in cells.all("pooled", "adopted"):
        target, source = e.keys["target"], e.keys["source"]
        if target != source:
            own = e.keys.get("attribution") == "own"
            false = ', so that "your previous thought" is not true' if own else ""
            yield f"The chains are those of another model{false}", f"{target} (of {source})"


def _whole_output(cells: _Cells) -> _Said:
    for e in cells.all("pooled", "adopted", feed="output"):
        text = "The whole visible output was handed over, there being no separate reasoning"
        yield f"{text}; never compare it with reasoning alone", _where(e)


def _where(e: Entry) -> str:
    return f"{e.keys['target']} on {e.keys['set']}"


def _point(e: Entry) -> str:
    return f"{_where(e)}, {e.keys.get('method', '')}"


def _mode(e: Entry) -> str:
    """The generation mode, where it is not the plain one."""
    mode = e.keys.get("mode", "plain")
    return "" if mode == "plain" else f", {mode}"


def _changed(keys: dict[str, str]) -> str:
    perturbation, d_t = keys.get("perturbation", ""), int(keys.get("d_t", "0"))
    if perturbation in _PERTURBED:
        return _PERTURBED[perturbation]
    word = _NUMBERS[d_t] if d_t < len(_NUMBERS) else str(d_t)
    return f"with {word} wrong digit{'' if d_t == 1 else 's'}"


def _percent(e: Entry) -> str:
    """`62 % [55, 68]`, unbreakable before the sign, or with why there is no interval."""
    return f"{100 * (e.value or 0):.0f}\u00a0% {interval(e, 0, 100)}"


def _points(e: Entry) -> str:
    """A difference of rates: `+60 points [+52, +67]`."""
    return f"{number(e, e.value or 0, 0, 100)} points {interval(e, 0, 100)}"


def _why(e: Entry) -> str:
    return e.method if "unsupported" in e.left_out else _counts(e.left_out) or "nothing was asked"


def _counts(left_out: dict[str, int]) -> str:
    words = ((_WORDS.get(name, name.replace("_", " ")), count) for name, count in left_out.items())
    return ", ".join(f"{word} {count}" for word, count in words)
