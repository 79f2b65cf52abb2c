"""Figures 6 and 7 of the first study as data, each with its net twin.

    median tokens of gate, again, clean and tampered   -> figure7
    tampered minus again, beside again minus gate      -> figure7_net

The net of what a question costs is its difference to the same problem solved
alone `again`, paired by problem: what is left of tampered minus gate when the
floor, `again` minus gate, is taken away (A.7). Figure 7 shows it for whole
replies and over methods, Figure 6 for one trial, with its reasoning and its
answer apart, beside the medians over all problems of its cell: a difference of
two single replies says little. Medians, since truncated replies bound them.

Knows nothing about trials nor about drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from misled.effort import Typical
from misled.lines import entry
from misled.records import Entry, Estimate
from misled.trials import Keys

__all__ = ["figure6", "figure7"]

_WHOLE = ("total_tokens", "seconds")
_PARTS = ("total_tokens", "reasoning_tokens", "answer_tokens", "seconds")


def figure7(lines: Iterable[Entry], nets: Iterable[Entry]) -> list[Entry]:
    """Tokens and seconds of intact chains' arms [A Fig. 7], and net: those over all D_T."""
    shown = dict.fromkeys(_WHOLE, "figure7") | {f"net_{q}": "figure7_net" for q in _WHOLE}
    widest: dict[tuple[Any, ...], Entry] = {}
    for e in (*lines, *nets):
        if e.metric in shown and e.keys.get("structure", "intact") == "intact":
            but = tuple(item for item in e.keys.items() if item[0] != "d_t")
            widest.setdefault((e.metric, but), e)  # the line over all D_T comes first
    return [replace(e, table=shown[e.metric]) for e in widest.values()]


def figure6(found: Iterable[Typical], nets: Sequence[Entry]) -> list[Entry]:
    """The trials that Figure 6 shows [A Fig. 6], and net, beside the medians of their cells."""
    trials = list(found)
    plain = [line for trial in trials for line in _trial(trial)]
    return [*plain, *(line for trial in trials for line in _net(trial, nets))]


def _trial(trial: Typical) -> Iterator[Entry]:
    for arm, spent in _replies(trial).items():
        yield from _single("figure6", trial.keys | {"problem": trial.problem, "arm": arm}, spent)


def _net(trial: Typical, nets: Sequence[Entry]) -> Iterator[Entry]:
    """What the trial differs by, then its cell's medians; nothing without `again`."""
    replies = _replies(trial)
    for arm, to in (("again", "gate"), ("tampered", "again")):
        if arm in replies and to in replies:
            more = {
                f"net_{q}": replies[arm][q] - replies[to][q] for q in _PARTS if q in replies[arm]
                and q in replies[to]
            }  # fmt: skip
            keys = trial.keys | {"arm": arm, "to": to, "of": "this trial"}
            yield from _single("figure6_net", keys, more)
    for e in nets:
        names = set(e.keys) - {"arm", "to", "d_t"}
        mine = all(e.keys[name] == trial.keys.get(name) for name in names)
        if mine and e.keys["arm"] != "clean":
            keys = e.keys | {"of": "all problems"}
            yield replace(e, table="figure6_net", keys=keys)


def _single(table: str, keys: Keys, values: dict[str, float]) -> Iterator[Entry]:
    for metric, value in values.items():
        yield entry(table, metric, keys, Estimate(value, None, None, 1, 1, "none: one trial"))


def _replies(trial: Typical) -> dict[str, dict[str, float]]:
    """What each reply took, by arm; seconds where they are known."""
    spent = {
        "gate": (trial.gate_tokens, trial.gate_seconds),
        "again": (trial.again_tokens, trial.again_seconds),
        "tampered": (trial.tokens, trial.seconds),
    }
    return {
        arm: dict(zip(_PARTS, (sum(tokens), *tokens), strict=False))
        | ({} if seconds is None else {"seconds": seconds})
        for arm, (tokens, seconds) in spent.items()
        if tokens is not None
    }
