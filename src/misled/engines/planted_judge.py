"""Profiles of the planted judge, and the truth that each one plants.

    >>> judge = load_judge("oblivious")
    >>> found = truth_judge(judge, accuracy=0.5)
    >>> found["change_tpr"], found["net_changed"]
    (0.0, 0.0)

It knows whether the shown answer is right, and accepts it with a chance that
depends on that, on whether a chain is shown, on whose answer it is and on what
was put into the chain. A verdict is one uniform draw below that chance. Of a
share `rho` of the items all verdicts are cut from one draw, which is the
item's own: they turn only where the chance does.

Knows nothing about requests or texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Annotated

import msgspec

from misled.engines.planted_profile import Share, known_keys, table
from misled.errors import UserError
from misled.records import Record

__all__ = ["CONDITIONS", "Judge", "load_judge", "truth_judge"]

CONDITIONS = ("answer", "reasoning", "self", "self_hidden")
# What a condition is judged like, where the profile does not say.
_LIKE = {"reasoning": "answer", "self": "reasoning", "self_hidden": "answer"}

Shift = Annotated[float, msgspec.Meta(ge=-1, le=1)]


class Judge(Record, frozen=True, dict=True):
    """The `[judge]` table of a profile: shares of verdicts.

    `tpr` and `fpr` are the shares of right and of wrong answers that are
    accepted, by condition: `answer` has to be there, and stands for `reasoning`
    and `self_hidden`, as `reasoning` does for `self`. To these are added
    `fluency` where sentences were put into the chain, `per_counterfactual` for
    each of them that is false, and `self_bonus` for an answer of its own; the
    sum is cut to [0, 1]. `unreadable` is the share of replies without a
    verdict, `rho` that of items with one draw for all verdicts, `verify_error`
    that of wrong replies as a verifier.
    """

    tpr: dict[str, Share]
    fpr: dict[str, Share]
    per_counterfactual: Shift = 0.0
    fluency: Shift = 0.0
    self_bonus: Shift = 0.0
    unreadable: Share = 0.0
    rho: Share = 0.0
    verify_error: Share = 0.0

    @cached_property
    def hash(self) -> str:
        """Equal contents, equal hash, wherever the profile lies and whatever its name."""
        return blake2b(msgspec.json.encode(self, order="sorted"), digest_size=16).hexdigest()

    def accepts(self, condition: str, k: int | None = None, *, right: bool) -> float:
        """The chance that an answer is accepted; `k` false ones of what was put in, if anything."""
        rates = self.tpr if right else self.fpr
        name = condition
        while name not in rates:
            name = _LIKE[name]
        chance = rates[name] + (self.self_bonus if condition.startswith("self") else 0.0)
        if k is not None:
            chance += self.fluency + k * self.per_counterfactual
        return min(1.0, max(0.0, chance))


def load_judge(name: str) -> Judge | None:
    """The judge of a profile, or None where it has no table `[judge]`.

    Raises:
        UserError: as `planted_profile.load` does.
    """
    given = table(name, "judge")
    if given is None:
        return None
    known_keys(name, "key", given, Judge.__struct_fields__)
    for rates in ("tpr", "fpr"):
        shares = given.get(rates)
        if not isinstance(shares, dict) or "answer" not in shares:
            raise UserError(f"planted/{name}: [judge] needs {rates}.answer")
        known_keys(name, "condition", shares, CONDITIONS)
    try:
        return msgspec.convert(given, Judge)
    except msgspec.ValidationError as error:
        raise UserError(f"planted/{name}: {error}".replace("$.", "$.judge.")) from None


# --- truth -----------------------------------------------------------------------------------


def truth_judge(
    judge: Judge,
    accuracy: float,
    *,
    pair: tuple[str, str] = ("answer", "reasoning"),
    ks: Sequence[int] = range(5),
) -> dict[str, float]:
    """What an experiment that measures `judge` has to find, by the names of its tables.

    `accuracy` is the share of right answers among those that are judged. Of each
    condition `<condition>/<metric>`, and `k=<k>/<metric>` of a chain with k
    false sentences put in (protocol B.4); the changes, flips and floors from the
    first condition of `pair` to the second (B.5, B.7); slopes over `ks` (B.6).
    """
    found: dict[str, float] = {}
    for condition in CONDITIONS:
        found |= _scores(f"{condition}/", judge, condition, accuracy)
    for k in ks:
        found |= _scores(f"k={k}/", judge, "reasoning", accuracy, k)
    tpr, fpr = (
        [judge.accepts(condition, right=right) for condition in pair] for right in (True, False)
    )
    found |= _changes(tpr[1] - tpr[0], fpr[1] - fpr[0], accuracy)
    found |= _flips(judge.rho, tpr, fpr, accuracy)
    return found | _slopes(judge, accuracy, ks)


def _scores(
    prefix: str, judge: Judge, condition: str, accuracy: float, k: int | None = None
) -> dict[str, float]:
    tpr, fpr = (judge.accepts(condition, k, right=right) for right in (True, False))
    over, conservative = (1 - accuracy) * fpr, accuracy * (1 - tpr)
    shares = {
        "alignment": 1 - over - conservative,
        "pass": accuracy * tpr + over,
        "overconfidence": over,
        "conservativeness": conservative,
        "accuracy": accuracy,
        "tpr": tpr,
        "fpr": fpr,
        "youden": tpr - fpr,
    }
    return {prefix + name: share for name, share in shares.items()}


def _changes(tpr: float, fpr: float, accuracy: float) -> dict[str, float]:
    """Of changes of TPR and FPR."""
    return {
        "change_tpr": tpr,
        "change_fpr": fpr,
        "change_pass": accuracy * tpr + (1 - accuracy) * fpr,
        "change_alignment": accuracy * tpr - (1 - accuracy) * fpr,
        "change_balanced_accuracy": (tpr - fpr) / 2,
    }


def _flips(
    rho: float, tpr: Sequence[float], fpr: Sequence[float], accuracy: float
) -> dict[str, float]:
    """Shares of items that turn, by how; the same of a condition asked twice; what is beyond it."""
    gained, lost, floors, beyond = {}, {}, {}, 0.0
    for name, (before, after), share in (("right", tpr, accuracy), ("wrong", fpr, 1 - accuracy)):
        change = abs(after - before)
        beyond += share * (rho * change + (1 - rho) * change**2)
        gained[name] = share * _turned(rho, before, after)
        lost[name] = share * _turned(rho, 1 - before, 1 - after)
        floors[name] = share * (_turned(rho, before, before) + _turned(rho, after, after)) / 2
    flips = {
        "misled": gained["wrong"],
        "corrected": lost["wrong"],
        "reassured": gained["right"],
        "overcritical": lost["right"],
    }
    found = {**flips, "changed": sum(flips.values())}
    for name, least in (("misled", "wrong"), ("corrected", "wrong"), ("reassured", "right"),
                        ("overcritical", "right")):  # fmt: skip
        found[f"{name}_floor"] = floors[least]
        found[f"net_{name}"] = flips[name] - floors[least]
    return found | {"net_changed": beyond}


def _turned(rho: float, before: float, after: float) -> float:
    """P(reject, then accept) at two chances of accepting."""
    return rho * max(0.0, after - before) + (1 - rho) * (1 - before) * after


def _slopes(judge: Judge, accuracy: float, ks: Sequence[int]) -> dict[str, float]:
    """The least-squares slopes of accepting on k."""
    middle = sum(ks) / len(ks)
    spread = sum((k - middle) ** 2 for k in ks)
    if not spread:
        return {}
    tpr, fpr = (
        sum((k - middle) * judge.accepts("reasoning", k, right=right) for k in ks) / spread
        for right in (True, False)
    )
    slope = accuracy * tpr + (1 - accuracy) * fpr
    return {"slope_tpr": tpr, "slope_fpr": fpr, "slope_pass": slope}
