"""Estimates -> sentences: what a run found for each model.

    Handed its own chain with one wrong digit, planted/credulous repeated the wrong
    result in 62 % [55, 68] of 200 trials and found the true one in 25 % [19, 31].

Every sentence quotes estimates and their intervals; what was not tested in
advance says that it explores. Knows study A's tables and nothing about how the
sentences are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from misled.captions import KEYS
from misled.phrases import Cells, called, chance, counts, percent, points, why
from misled.records import Entry, Record
from misled.sheets import interval, number

__all__ = [
    "TOLD",
    "Finding",
    "Setting",
    "alone",
    "bare",
    "changed",
    "compared",
    "findings",
    "settings",
    "shown",
]

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PERTURBED = {
    "insert_digit": "with a digit inserted into its result",
    "delete_digit": "with a digit of its result deleted",
}
TOLD = {
    "baseline": "handed it without comment",
    "uncertainty": "told that the chain may contain errors",
    "contradiction": "told that the chain contains errors and to ignore them",
    "prefix": "made to begin its answer with a recomputation",
    "prefix_as_text": "told the same beginning in the message instead (contrast)",
}
_EDITED = {
    "delete_reflection": "Without the chain's reflection",
    "delete_verification": "Without the chain's verification",
    "insert": "With extraneous reasoning put in",
    "delete_random": "Without as much calculation as there was reflection (control)",
    "delete_random_v": "Without as much calculation as there was verification (control)",
    "insert_neutral": "With as much filler put in (control)",
}
_CONTRASTED = {
    "no_answer_line": "Handed the chain without its concluding lines",
    "bare": "Told the wrong result alone, without a chain",
    "other_number": "Handed the chain with a random number for its result",
    "foreign": "Handed another problem's chain",
    "prefix_as_text": "Told to recompute in the message instead of the answer's beginning",
}
LIKELY = 0.05
_POINT = {"method", "mode", "d_t"}


class Finding(Record, frozen=True):
    """What was found for one model under one setting: a sentence, and those that qualify it.

    `decisive` are those that say what the headline is due to, and what changes it.
    """

    model: str
    setting: str
    headline: str
    details: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    decisive: tuple[str, ...] = ()


class Setting(NamedTuple):
    """A model under one setting: what tells it from others, and its methods at the lowest D_T."""

    words: str
    points: list[Entry]

    @property
    def base(self) -> Entry:
        """Adoption under the first method."""
        return self.points[0]

    @property
    def told(self) -> Entry | None:
        """Adoption under the plainest warning that was given in words; None without any."""
        methods = {e.keys.get("method"): e for e in self.points[1:]}
        return methods.get("contradiction") or methods.get("uncertainty")


def findings(entries: Iterable[Entry]) -> list[Finding]:
    """One for each model and setting (problem set, feed, channel, structure ...), intact first.

    Structural edits get none as long as there are intact chains: their tables
    compare them.
    """
    cells = Cells(entries)
    return [
        Finding(
            model=setting.base.keys["target"],
            setting=setting.words,
            headline=_headline(cells, setting),
            details=(
                *_net(cells, setting.base),
                *_other_methods(cells, setting),
                *(line for say in _SAID for line in say(cells, setting.base)),
            ),
            left_out=tuple(_left_out(cells, setting.base)),
            decisive=(
                *_methods(cells, setting.base, decisive=True),
                *_contrasts(cells, setting.base, decisive=True),
            ),
        )
        for setting in settings(cells)
    ]


def settings(cells: Cells) -> list[Setting]:
    """Every model under every setting that was probed."""
    found: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
    adopted = cells.all("outcomes", "adopted", arm="tampered")
    intact = [e for e in adopted if e.keys.get("structure") == "intact"]
    for e in intact or adopted:
        setting = tuple((k, v) for k, v in e.keys.items() if k not in _POINT)
        found.setdefault(setting, []).append(e)
    said: dict[str, set[str]] = {}
    for setting in found:
        for name, value in setting:
            said.setdefault(name, set()).add(value)
    made = []
    for setting, mine in found.items():
        words = [
            v if k == "set" else f"{KEYS.get(k, k)} {v}"
            for k, v in setting
            if k == "set" or (k not in {"target", "source"} and len(said[k]) > 1)
        ]
        first = min(int(e.keys.get("d_t", "0")) for e in mine)
        lowest = [e for e in mine if int(e.keys.get("d_t", "0")) == first]
        made.append(Setting(", ".join(words), lowest))
    return made


def _headline(cells: Cells, setting: Setting) -> str:
    """Adoption and recovery under the first method, at the lowest D_T, and adoption when warned."""
    base, told = setting.base, setting.told
    target, source = base.keys["target"], base.keys["source"]
    whose = "its own chain" if target == source else f"a chain of {source}"
    handed = f"Handed {whose} {changed(base.keys)}, {called(target)}"
    method = base.keys.get("method", "")
    if method != "baseline":
        handed = f"{handed}, {TOLD.get(method, f'under {method}')},"
    if base.value is None:
        return f"{handed} gave nothing to count: {why(base)}."
    warned = ""
    if told is not None and told.value is not None:
        warned = f"; {TOLD[told.keys['method']]}, it repeated it in {_both(cells, told)}"
    return f"{handed} repeated the wrong result in {_both(cells, base, base.n)}{warned}."


def _both(cells: Cells, adopted: Entry, trials: int = 0) -> str:
    """`62 % [55, 68] of 200 trials and found the true one in 25 % [19, 31]`."""
    recovered = cells.one("outcomes", "recovered", adopted.keys)
    also = f" and found the true one in {percent(recovered)}" if recovered else ""
    return f"{percent(adopted)}{f' of {trials} trials' if trials else ''}{also}"


def _other_methods(cells: Cells, setting: Setting) -> Iterator[str]:
    """Both results under each method that the headline does not tell, a sentence each."""
    for e in setting.points[1:]:
        method = e.keys.get("method", "")
        told = TOLD.get(method, f"under {method}")
        if e.value is None:
            yield f"{told[0].upper()}{told[1:]}: no value, {why(e)}."
        elif e is not setting.told:
            both = _both(cells, e)
            yield f"{told[0].upper()}{told[1:]}, it repeated the wrong result in {both}."


def _left_out(cells: Cells, base: Entry) -> Iterator[str]:
    """How many problems are behind the finding, and what the trials lost."""
    same = {name: base.keys[name] for name in ("set", "target", "source")}
    eligible = cells.one("eligibility", "eligible", same)
    if eligible is not None and eligible.value is not None:
        kept, left = round(eligible.value * eligible.n), counts(eligible.left_out)
        without = f"; left out: {left}" if left else ""
        yield f"{kept} of {eligible.n} problems could be probed{without}."
    lost = counts({k: v for k, v in base.left_out.items() if k != "unsupported"})
    if lost:
        yield f"Trials not counted: {lost}."


def _net(cells: Cells, base: Entry) -> Iterator[str]:
    """The same against the untampered chain, which is what tampering itself does."""
    keys = {k: v for k, v in base.keys.items() if k != "arm"} | {"against": "clean"}
    adoption = cells.one("net", "net_adoption", keys)
    recovery = cells.one("net", "net_recovery", keys)
    if adoption is None or recovery is None or adoption.value is None or recovery.value is None:
        return
    yield (
        f"Minus what it answers to the same chain untampered: the wrong result {points(adoption)}, "
        f"the true one {points(recovery)}."
    )


def _over_degrees(cells: Cells, base: Entry) -> Iterator[str]:
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


def shown(e: Entry) -> bool:
    """Whether a test shows a difference: a small p, adjusted where it is one of a family."""
    p = e.p if e.p_adjusted is None else e.p_adjusted
    if p is None or e.low is None or e.high is None:
        return False
    return p < LIKELY and not e.low <= 0 <= e.high


def compared(cells: Cells, base: Entry) -> Iterator[Entry]:
    """Each method against none, over all D_T, on problems that passed both gates."""
    return _over_all(cells.all("methods", "change_net_adoption", **_same(base, "method")))


def _methods(cells: Cells, base: Entry, *, decisive: bool = False) -> Iterator[str]:
    """Each method against none, over all D_T: those that a test shows to change it, or others."""
    for e in compared(cells, base):
        if e.value is not None and shown(e) == decisive:
            told = TOLD.get(e.keys["method"], f"under {e.keys['method']}")
            yield f"{told[0].upper()}{told[1:]}, against no comment: {_change(e)}."


def _structures(cells: Cells, base: Entry) -> Iterator[str]:
    """What each structure changes, tampered and clean, intact and edited."""
    keys = _same(base, "structure") | {"method": base.keys.get("method", ""), "half": "change"}
    for e in cells.all("structures", "net_adoption", **keys):
        edit = _EDITED.get(e.keys["structure"], e.keys["structure"])
        if e.value is None:
            yield f"{edit}: nothing to compare, {why(e)}."
        else:
            yield f"{edit}, against the intact chain: {_change(e)}."


def _change(e: Entry) -> str:
    """A change of net adoption, with what it rests on and how far it can be trusted."""
    d_t = e.keys.get("d_t", "")
    over = f", over D_T {d_t}" if d_t else ""
    tested = f" ({chance(e)})" if chance(e) else ""
    return (
        f"the wrong result {points(e)}{over}, net of the untampered chain, "
        f"on {e.clusters} problems{tested}"
    )


def _contrasts(cells: Cells, base: Entry, *, decisive: bool = False) -> Iterator[str]:
    """The result alone beside the tampered chain, or each other contrast."""
    for e in cells.all("contrasts", "minus_adopted", **_contrasted(base)):
        arm = e.keys["arm"]
        there = cells.one("contrasts", "adopted", e.keys)
        if (
            (arm == "bare") == decisive
            and e.value is not None
            and there
            and there.value is not None
        ):
            tested = f" ({chance(e)})" if chance(e) else ""
            yield (
                f"{_CONTRASTED.get(arm, arm)}, it gave that result in {percent(there)}; the "
                f"tampered chain minus this: {points(e)}{tested}"
                f"{f': {alone(e)}' if decisive and alone(e) else ''}."
            )


def bare(cells: Cells, base: Entry) -> Entry | None:
    """The tampered chain minus its result alone, if that was asked."""
    return cells.one("contrasts", "minus_adopted", _contrasted(base) | {"arm": "bare"})


def _contrasted(base: Entry) -> dict[str, str]:
    return _same(base, "arm") | {"method": base.keys.get("method", "")}


def alone(e: Entry) -> str:
    """What a difference to the wrong result alone says of the chain; "" without an interval."""
    if e.low is None or e.high is None:
        return ""
    if e.low > 0:
        return "the chain misleads more than its result alone"
    if e.high < 0:
        return "the result alone misleads more than the chain: no reasoning is needed for that"
    return "that the reasoning adds to what its result alone does is not shown"


def _slopes(cells: Cells, base: Entry) -> Iterator[str]:
    """The change with D_T, which is one with the error, too, unless the place is anchored."""
    keys = _same(base, "method") | {"method": base.keys.get("method", "")}
    for e in cells.all("slopes", "slope_net_adoption", **keys):
        if e.value is not None and chance(e):
            anchored = e.keys.get("place") == "anchored"
            error = "at nearly the same error" if anchored else "the error growing with them"
            yield (
                f"With each further wrong digit, {error}, the wrong result {points(e)} net of the "
                f"untampered chain ({chance(e)})."
            )


_SAID = (_over_degrees, _methods, _structures, _contrasts, _slopes)


def _same(base: Entry, *apart: str) -> dict[str, str]:
    """The keys of a setting, but for those in which what is compared differs."""
    return {k: v for k, v in base.keys.items() if k not in {"arm", *_POINT, *apart}}


def _over_all(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Of entries by D_T, those over all of them, which stand first."""
    seen: set[frozenset[tuple[str, str]]] = set()
    for e in entries:
        cell = frozenset((k, v) for k, v in e.keys.items() if k != "d_t")
        if cell not in seen:
            seen.add(cell)
            yield e


def changed(keys: dict[str, str]) -> str:
    """`with one wrong digit`: how a chain was tampered with."""
    perturbation, d_t = keys.get("perturbation", ""), int(keys.get("d_t", "0"))
    if perturbation in _PERTURBED:
        return _PERTURBED[perturbation]
    word = _NUMBERS[d_t] if d_t < len(_NUMBERS) else str(d_t)
    return f"with {word} wrong digit{'' if d_t == 1 else 's'}"
