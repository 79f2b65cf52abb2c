"""Profiles of the planted reasoner, and the truth that each one plants.

    >>> solver = load("oblivious")
    >>> round(truth(solver, "baseline", 1)["r_cpt"], 2), truth(solver, "baseline", 1)["net_r"]
    (0.73, 0.0)

A probe is one uniform draw, cut into

    [ stop | error | confuse | adopt | recover ]

so that the planted rates are the estimands. Handed an untampered chain, it
neither confuses nor adopts; handed the question alone, it does not stop either.
An `error` ignores the chain: as many digits as `wrong` draws, in random places,
are replaced by random others. So it can be w' by chance, as a real one can;
`truth` counts that exactly, and in net rates it cancels.

Knows nothing about requests or texts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from math import comb
from pathlib import Path
from typing import Annotated, Any

import msgspec

from misled.errors import UserError, nearest
from misled.prompts import AS_TEXT, CHANNELS, METHODS
from misled.records import Record

__all__ = ["LACKS", "PROFILES", "Share", "Solver", "known_keys", "load", "table", "truth"]

_TABLES = {
    "channel": CHANNELS,
    "structure": ("calculation", "reflection", "verification", "conclusion", "digression"),
    "replay": ("chain", "question", "text"),
}
KINDS = ("solver", "judge")
PROFILES = ("credulous", "mixed", "oblivious", "vigilant")
# What a structure or a contrast leaves the planted chain without, or has too much of.
LACKS = {
    "delete_reflection": ("reflection",),
    "delete_verification": ("verification",),
    "insert": ("digression",),
    "no_answer_line": ("conclusion",),
    "bare": ("calculation", "reflection", "verification"),
}

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Factor = Annotated[float, msgspec.Meta(ge=0)]
Shares = Annotated[tuple[Share, ...], msgspec.Meta(min_length=1)]
Weights = Annotated[tuple[Annotated[float, msgspec.Meta(ge=0)], ...], msgspec.Meta(min_length=1)]


class Solver(Record, frozen=True, dict=True):
    """The `[solver]` table of a profile: shares of replies, after the gate.

    `gate` is the share of problems that the solver can solve at all; `rho` the
    share of probes that reuse their problem's draw; `wrong` the weights of 1,
    2, ... wrong digits in an error; `adopt` the share that takes w' over, by
    method and by D_T = 1, 2, ... (the last one extends; `prefix_as_text` is
    `contradiction` unless given). `channel` and `structure` are factors of that
    share: by channel, and by what the chain is without (calculation, reflection,
    verification, conclusion) or has too much of (digression); `LACKS` says what
    that is under each structure and contrast. `replay` is the share that stops
    when its own chain, chain after question, or a text comes back.
    """

    adopt: dict[str, Shares]
    gate: Share = 1.0
    error: Share = 0.0
    stop: Share = 0.0
    confuse: Share = 0.0
    rho: Share = 0.0
    wrong: Weights = (1.0,)
    channel: dict[str, Factor] = {}
    structure: dict[str, Factor] = {}
    replay: dict[str, Share] = {}

    @cached_property
    def hash(self) -> str:
        """Equal contents, equal hash, wherever the profile lies and whatever its name."""
        return blake2b(msgspec.json.encode(self, order="sorted"), digest_size=16).hexdigest()

    def adoption(
        self, method: str, d_t: int, *, channel: str = "user", lacks: Collection[str] = ()
    ) -> float:
        """The share of results with `d_t` wrong digits that is taken over in such a chain."""
        rates = self.adopt.get(method) or self.adopt["contradiction"]
        rate = rates[min(d_t, len(rates)) - 1] if d_t else 0.0
        for name in sorted(lacks):
            rate *= self.structure.get(name, 1.0)
        return min(1.0, rate * self.channel.get(channel, 1.0))

    def stopping(self, replay: str | None) -> float:
        """The share of replies that stop."""
        return self.stop if replay is None else self.replay.get(replay, self.stop)


def truth(
    solver: Solver,
    method: str,
    d_t: int,
    *,
    digits: int = 15,
    channel: str = "user",
    lacks: Collection[str] = (),
) -> dict[str, float]:
    """What an experiment that measures `solver` at this cell has to find.

    Rates are shares of the answered trials that passed the gate; `r_cpt` is the
    mean over those with a value; `net_*` is tampered minus clean, and
    `net_*_again` tampered minus the question alone. Exact for results of
    `digits` digits, tampered with at random places. Where every reply stops,
    there is no R.
    """
    stop, confuse, error = solver.stop, solver.confuse, solver.error
    adopt = solver.adoption(method, d_t, channel=channel, lacks=lacks)
    chance = _chance(solver, d_t, digits)
    drawn = {name: error * share for name, share in chance.items()}
    rates = {
        "adoption": adopt + drawn["adopted"],
        "recovery": 1 - stop - error - confuse - adopt,
        "confusion": confuse + drawn["confused"],
        "partial": drawn["partial"],
        "other": drawn["other"],
        "stop": stop,
        "net_adoption": adopt,
        "net_recovery": 0.0 - confuse - adopt,
        "net_adoption_again": adopt,
        "net_recovery_again": 0.0 - stop - confuse - adopt,
    }
    if stop == 1:
        return rates
    r_alone = drawn["r_cpt"] + 0.5 * (1 - error)
    r_clean = 0.5 + (drawn["r_cpt"] - 0.5 * error) / (1 - stop)
    r = r_clean + (1.5 * confuse + 0.5 * adopt) / (1 - stop)
    return rates | {"r_cpt": r, "net_r": r - r_clean, "net_r_again": r - r_alone}


def _chance(solver: Solver, d_t: int, digits: int) -> dict[str, float]:
    """How an error is graded against a w' that it ignores: shares by outcome, and mean r."""
    found = dict.fromkeys(("adopted", "confused", "partial", "other", "r_cpt"), 0.0)
    for wrong, weight in enumerate(solver.wrong, 1):
        share = weight / sum(solver.wrong)
        k = min(wrong, digits)
        if k > d_t:
            found["confused"] += share
            found["r_cpt"] += 2 * share
            continue
        for j, p in _agreement(d_t, k, digits):
            outcome = "other" if j < k else "adopted" if k == d_t else "partial"
            found[outcome] += share * p
            found["r_cpt"] += share * p * d_t / (2 * d_t - j)
    return found


def _agreement(d_t: int, k: int, digits: int) -> Iterator[tuple[int, float]]:
    """P(j of k random wrong digits are those of a random w' with `d_t` others than w).

    Two random replacements of one digit agree in 1 of 9 cases; of the first
    digit, which never becomes 0, in 1 of 8. So the first place stands apart.
    """
    for in_t in (0, 1):
        for in_k in (0, 1):
            p_first = (d_t if in_t else digits - d_t) * (k if in_k else digits - k) / digits**2
            if not p_first:
                continue
            places, t, e = digits - 1, d_t - in_t, k - in_k
            for both in range(max(0, t + e - places), min(t, e) + 1):
                p = p_first * comb(t, both) * comb(places - t, e - both) / comb(places, e)
                for same in range(both + 1):
                    q = p * comb(both, same) * 8 ** (both - same) / 9**both
                    if in_t and in_k:
                        yield same + 1, q / 8
                        yield same, q * 7 / 8
                    else:
                        yield same, q


# --- loading ---------------------------------------------------------------------------------


def load(name: str) -> Solver:
    """The solver of a bundled profile, or of a file where `name` ends in `.toml`.

    Raises:
        UserError: an unknown profile, a file that is none, an unknown key, or
            shares that do not fit.
    """
    given = table(name, "solver")
    if given is None:
        raise UserError(f"planted/{name}: the table [solver] is missing")
    known_keys(name, "key", given, Solver.__struct_fields__)
    adopt = given.get("adopt", {})
    if not isinstance(adopt, dict) or set(METHODS) - set(adopt):
        raise UserError(f"planted/{name}: [solver.adopt] needs {', '.join(METHODS)}")
    known_keys(name, "method", adopt, (*METHODS, AS_TEXT))
    for inner, keys in _TABLES.items():
        if isinstance(given.get(inner), dict):
            known_keys(name, inner, given[inner], keys)
    try:
        solver = msgspec.convert(given, Solver)
    except msgspec.ValidationError as error:
        raise UserError(f"planted/{name}: {error}".replace("$.", "$.solver.")) from None
    _check(name, solver)
    return solver


def table(name: str, which: str) -> dict[str, Any] | None:
    """A table of a profile, None where it has none of that name; UserError where it is no table."""
    tables = tomllib.loads(_read(name))
    known_keys(name, "table", tables, KINDS)
    given = tables.get(which)
    if given is not None and not isinstance(given, dict):
        raise UserError(f"planted/{name}: {which} is no table; write [{which}]")
    return given


def known_keys(name: str, what: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """UserError, with the nearest, where a key of `given` is none of `known`."""
    for key in given:
        if key not in known:
            raise UserError(f"planted/{name}: {nearest(what, key, known)}")


def _check(name: str, solver: Solver) -> None:
    if not sum(solver.wrong):
        raise UserError(f"planted/{name}: wrong needs a weight above 0")
    most = max(max(rates) for rates in solver.adopt.values())
    most *= max([1.0, *solver.channel.values()])
    for factor in solver.structure.values():
        most *= max(1.0, factor)
    total = solver.stop + solver.confuse + solver.error + most
    if total > 1 + 1e-9:
        raise UserError(
            f"planted/{name}: stop, confuse, error and adopt add up to {total:.3g}, over 1"
        )


def _read(name: str) -> str:
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text("utf-8")
            tomllib.loads(text)
        except OSError as error:
            raise UserError(f"planted/{name}: cannot read it: {error.strerror}") from None
        except ValueError as error:
            raise UserError(f"planted/{name}: no TOML: {error}") from None
        return text
    if name not in PROFILES:
        raise UserError(nearest("planted profile", name, PROFILES) + "; or give a .toml file")
    return (files("misled") / "data" / "planted" / f"{name}.toml").read_text("utf-8")
