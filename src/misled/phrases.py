"""How estimates are found and quoted in sentences.

    percent(entry) -> "62 % [55, 68]"

Knows nothing about what is said of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from misled.captions import KEYS
from misled.records import Entry
from misled.sheets import interval, number

__all__ = [
    "Cells",
    "brief",
    "called",
    "chance",
    "counts",
    "listed",
    "many",
    "mode",
    "percent",
    "point",
    "points",
    "simulated",
    "simulations",
    "titled",
    "where",
    "why",
]

_NAMED = {"target", "set", "method", "mode", "source", "d_t"}
FEW = 3  # names that a sentence can hold
_WORDS = {
    "source_wrong": "chain wrong",
    "source_chain_result": "chain ends on another value",
    "source_chain_without_result": "chain without a result",
    "gate_wrong": "not solved alone",
}


class Cells:
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

    def apart(self, table: str, metric: str) -> list[str]:
        """The keys in which these entries differ."""
        values: dict[str, set[str]] = {}
        for e in self._by.get((table, metric), ()):
            for name, value in e.keys.items():
                values.setdefault(name, set()).add(value)
        return [name for name, found in values.items() if len(found) > 1]

    def one(self, table: str, metric: str, keys: dict[str, str]) -> Entry | None:
        """The entry with these keys, else the first whose keys hold them, if there is one."""
        exact = self._exact.get((table, metric, frozenset(keys.items())))
        return exact or next(iter(self.all(table, metric, **keys)), None)


def listed(names: Iterable[str], what: str) -> str:
    """`acme/a and acme/b`, or `5 models` where there are more than three."""
    *rest, last = found = list(names) or [f"no {what}"]
    if len(rest) >= FEW:
        return f"{len(rest) + 1} {'simulated ' * all(map(simulated, found))}{what}"
    return f"{', '.join(rest)} and {last}" if rest else last


def simulated(name: str) -> bool:
    """Whether it is no language model, but a program whose behaviour was set."""
    return name.startswith("planted/")


def called(name: str) -> str:
    """`the simulated planted/mixed`, or a model's name as it is."""
    return f"the simulated {name}" if simulated(name) else name


def simulations(models: Iterable[str]) -> str:
    """That some or all of them are no language models, as a sentence after another."""
    names = list(dict.fromkeys(models))
    planted = [name for name in names if simulated(name)]
    if not planted:
        return ""
    who = "All of them are" if names[1:] else "It is"
    if len(planted) < len(names):
        who = f"{listed(planted, 'models')} {'are' if planted[1:] else 'is'}"
    return (
        f" {who} simulated, by a program whose behaviour was set in advance: the numbers say "
        "nothing about any language model."
    )


def titled(title: str, entries: Iterable[Entry]) -> str:
    """A title, and whether nobody but simulated models was asked."""
    names = {e.keys[who] for e in entries for who in ("target", "judge") if e.keys.get(who)}
    return f"{title} (simulated models)" if names and all(map(simulated, names)) else title


def many(n: int, what: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def where(e: Entry) -> str:
    """`acme/closed on addition:15+13`."""
    return f"{e.keys['target']} on {e.keys['set']}"


def point(e: Entry, apart: Iterable[str] = ()) -> str:
    """The same with the method, and with those of its other keys that tell it from others."""
    names = ["method", *(name for name in apart if name in e.keys and name not in _NAMED)]
    said = (f"{KEYS.get(name, name)} {e.keys.get(name, '')}" for name in names)
    return ", ".join([where(e), *said])


def mode(e: Entry) -> str:
    """The generation mode, where it is not the plain one."""
    mode = e.keys.get("mode", "plain")
    return "" if mode == "plain" else f", mode {mode}"


def percent(e: Entry) -> str:
    """`62 % [55, 68]`, unbreakable before the sign, or with why there is no interval."""
    return f"{100 * (e.value or 0):.0f}\u00a0% {interval(e, 0, 100)}"


def points(e: Entry) -> str:
    """A difference of rates: `+60 points [+52, +67]`."""
    return f"{number(e, e.value or 0, 0, 100)} points {interval(e, 0, 100)}"


def chance(e: Entry) -> str:
    """`Holm p 0.012` for a test fixed in advance, else `exploratory, p 0.004`; "" untested."""
    if e.p is None:
        return ""
    p = e.p if e.p_adjusted is None else e.p_adjusted
    word = "exploratory, p" if e.p_adjusted is None else "Holm's p"
    return f"{word} {p:.3f}" if p >= 0.0005 else f"{word} below 0.001"


def why(e: Entry) -> str:
    """Why an entry has no value."""
    return e.method if "unsupported" in e.left_out else counts(e.left_out) or "nothing was asked"


def counts(left_out: dict[str, int]) -> str:
    """`chain wrong 3, not solved alone 2`."""
    words = ((_WORDS.get(name, name.replace("_", " ")), count) for name, count in left_out.items())
    return ", ".join(f"{word} {count}" for word, count in words)


def brief(entry: Entry | None, digits: int, scale: float) -> str:
    """The number and its interval, `*` for one that is not claimed; "" where there is no entry."""
    if entry is None:
        return ""
    if entry.value is None:
        return "unsupported" if "unsupported" in entry.left_out else "no value"
    value = number(entry, entry.value, digits, scale)
    claimed = entry.low is not None
    return f"{value} {interval(entry, digits, scale) if claimed else '*'}"
