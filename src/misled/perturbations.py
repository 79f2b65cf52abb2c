r"""Perturbations: a chain with another result than its own, all else byte for byte the same.

    >>> chain = Chain("12 + 30 = 42. So the answer is 42.", "")
    >>> PERTURBATIONS["digits"](place="low")(chain, Draws(0, "p", "digits")).text
    '12 + 30 = 45. So the answer is 45.'

The result is replaced where it is written, in each place's own spelling, within
a scope [protocol A.3]: `endings` (each place that states it), `all` (each that
holds it, as an operand, too; an operand of the question that happens to equal
it is one) or `last` (the last ending). What is in scope but cannot take the
change (`1.89 \times 10^9`, words, one digit a line) is counted as unreached.

A result that is a fraction, or lies between 0 and 1, is not applicable: it has
no digits of its own, or begins with a 0 that would have to stay. Does not know
whether the result is right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from misled.draws import Draws
from misled.errors import UserError, nearest
from misled.numbers import Number
from misled.records import Chain, Edit, Edited, NotApplicable
from misled.results import endings, find, places
from misled.values import Value

__all__ = [
    "PERTURBATIONS",
    "PLACES",
    "SCOPES",
    "Perturb",
    "applied",
    "delete_digit",
    "digits",
    "insert_digit",
    "other_number",
    "result_of",
]

Perturb: TypeAlias = Callable[[Chain, Draws], Edited | NotApplicable]
# The unsigned canonical result as it shall be, or why there is none.
_Change: TypeAlias = Callable[[str, Draws], str | NotApplicable]

SCOPES = ("endings", "all", "last")
PLACES = ("random", "high", "low", "anchored")
_LONGEST = 1000  # digits of a result
_ANCHORED = 6  # the study's largest D_T [A §4.1]: an anchor leaves room for as many
_GAP = re.compile(r"\D+")


def result_of(chain: Chain) -> str | None:
    """The chain's own final value, canonical; None if the reasoning states none exactly."""
    found = find(chain)
    return found.value if found else None


def digits(d_t: int = 1, scope: str = "endings", place: str | Sequence[int] = "random") -> Perturb:
    """Replace exactly `d_t` digits of the result by others; the first never becomes 0.

    For equal draws, the places and digits of `d_t` are among those of `d_t + 1`
    [protocol A.3, nested].

    Args:
        d_t: How many digits; more than the result has are not applicable ("digits: ...").
        scope: endings, all or last.
        place: random, high or low (the most or least significant first), anchored (the top
            place is the same for each `d_t`, all others lie below it), or places counted
            from the first digit, of which the first `d_t` are taken.
    """
    if d_t < 1:
        raise UserError(f"digits to tamper with start at 1, not {d_t}")
    if isinstance(place, str) and place not in PLACES:
        raise UserError(nearest("place", place, PLACES))
    return _perturbation(scope, partial(_substituted, d_t=d_t, place=place))


def insert_digit(scope: str = "endings") -> Perturb:
    """Insert one digit into the result, before its point [A §3.3: it breaks the form]."""
    return _perturbation(scope, _lengthened)


def delete_digit(scope: str = "endings") -> Perturb:
    """Delete one digit of the result, before its point [A §3.3: it breaks the form]."""
    return _perturbation(scope, _shortened)


def other_number(scope: str = "endings") -> Perturb:
    """Put a random number of the same form in the result's place (protocol A.6, contrasts)."""
    return _perturbation(scope, _renumbered)


PERTURBATIONS: dict[str, Callable[..., Perturb]] = {
    "digits": digits,
    "insert_digit": insert_digit,
    "delete_digit": delete_digit,
}


def _perturbation(scope: str, change: _Change) -> Perturb:
    if scope not in SCOPES:
        raise UserError(nearest("scope", scope, SCOPES))
    return partial(_perturb, scope, change)


def _perturb(scope: str, change: _Change, chain: Chain, draws: Draws) -> Edited | NotApplicable:
    """The chain with its result changed by `change` in every place of `scope` that takes it."""
    found = _in_scope(chain, scope)
    if found is None:
        return NotApplicable("result: the chain states none")
    result, held, scoped = found
    text, sign = chain.reasoning, "-" if result.value[0] == "-" else ""
    old = result.value.removeprefix("-")
    reached = [place for place in scoped if place.swappable]
    unreached = len(scoped) - len(reached)
    new = change(old, draws) if reached and _has_digits(old) else _refusal(old)
    if isinstance(new, NotApplicable):
        return NotApplicable(new.reason, result.value, unreached, len(held))
    edits = []
    for place in reached:
        before = text[place.start : place.end]
        edits.append(Edit(place.start, place.end, before, _respelled(before, old, new)))
    return Edited(
        text=applied(text, edits),
        result=result.value,
        tampered=sign + new,
        edits=tuple(edits),
        places=_differing(old, new),
        unreached=unreached,
        w_left=len(held) - len(edits),
    )


# A chain is tampered with in many degrees, in places that are the same for all.
@lru_cache(maxsize=16)
def _in_scope(chain: Chain, scope: str) -> tuple[Value, list[Number], list[Number]] | None:
    """The chain's result, every place that holds it, and those in `scope`; None without one."""
    result = find(chain)
    if result is None:
        return None
    held = places(chain.reasoning, result)
    scoped = held if scope == "all" else endings(chain.reasoning, result, held)
    return result, held, scoped[-1:] if scope == "last" else scoped


def _has_digits(old: str) -> bool:
    return "/" not in old and not old.startswith("0.") and len(old) <= _LONGEST


def _refusal(old: str) -> NotApplicable:
    """Why a result of this kind, or in no place that takes a change, is left as it is."""
    if "/" in old:
        return NotApplicable("result: a fraction has no digits of its own")
    if old.startswith("0."):
        return NotApplicable("result: below 1, so that its first digit is 0")
    if len(old) > _LONGEST:
        return NotApplicable(f"result: longer than {_LONGEST} digits")
    return NotApplicable("scope: no place in scope takes a change of digits")


def _substituted(
    old: str, draws: Draws, *, d_t: int, place: str | Sequence[int]
) -> str | NotApplicable:
    """`old` with `d_t` digits replaced; all is drawn for every place, so that choices nest."""
    plain = old.replace(".", "")
    if d_t > len(plain):
        return NotApplicable(f"digits: the result has {len(plain)}, fewer than {d_t}")
    # No first digit and no last decimal is 0, so that the new value has the same form.
    nonzero = {0} if plain == old else {0, len(plain) - 1}
    other = [
        draws.choice([d for d in "0123456789" if d != c and (d != "0" or i not in nonzero)])
        for i, c in enumerate(plain)
    ]
    order = _order(place, len(plain), draws)
    if d_t > len(order) or not all(0 <= i < len(plain) for i in order[:d_t]):
        return NotApplicable(f"digits: {d_t} of {len(plain)} cannot be placed as {place!r}")
    taken = set(order[:d_t])
    new = "".join(other[i] if i in taken else c for i, c in enumerate(plain))
    point = old.find(".")
    return new if point < 0 else f"{new[:point]}.{new[point:]}"


def _order(place: str | Sequence[int], n: int, draws: Draws) -> list[int]:
    """The places of `n` digits, in the order in which they are taken."""
    if not isinstance(place, str):
        return list(dict.fromkeys(place))
    if place == "high":
        return list(range(n))
    if place == "low":
        return list(range(n - 1, -1, -1))
    if place == "random":
        return draws.shuffled(range(n))
    top = draws.below(n - min(_ANCHORED, n) + 1)
    return [top, *draws.shuffled(range(top + 1, n))]


def _renumbered(old: str, draws: Draws) -> str:
    """Digits drawn anew until the number is another one; no first digit or last decimal is 0."""
    last = len(old) - 1 if "." in old else 0
    while True:
        new = "".join(
            c if c == "." else draws.choice("123456789" if i in {0, last} else "0123456789")
            for i, c in enumerate(old)
        )
        if new != old:
            return new


def _lengthened(old: str, draws: Draws) -> str:
    """`old` with one digit more before its point, the first of which is not 0."""
    whole, point, part = old.partition(".")
    at = draws.below(len(whole) + 1)
    if whole == "0":
        at = 0
    more = draws.choice("123456789" if at == 0 else "0123456789")
    return whole[:at] + more + whole[at:] + point + part


def _shortened(old: str, draws: Draws) -> str | NotApplicable:
    """`old` with one digit less before its point, the first of which is not 0."""
    whole, point, part = old.partition(".")
    kept = [i for i in range(len(whole)) if (whole[:i] + whole[i + 1 :])[:1] not in ("", "0")]
    if not kept:
        return NotApplicable(f"digits: none of {len(whole)} can be deleted")
    at = draws.choice(kept)
    return whole[:at] + whole[at + 1 :] + point + part


def _respelled(form: str, old: str, new: str) -> str:
    """The surface form of `old` with the value `new`, in the same script and notation."""
    at = [i for i, c in enumerate(form) if c.isdecimal()]
    zero = ord(form[at[0]]) - unicodedata.decimal(form[at[0]])
    spelled = [chr(zero + int(d)) for d in new.replace(".", "")]
    if len(old) == len(new):
        written = list(form)
        for i, digit in zip(at, spelled, strict=False):
            written[i] = digit
        return "".join(written)
    # Of another length, the digits before the point are grouped anew.
    first, last = at[0], at[len(old.partition(".")[0]) - 1] + 1
    gap = _GAP.search(form, first, last)
    whole = "".join(spelled[: len(new.partition(".")[0])])
    if gap:
        head = len(whole) % 3
        groups = [whole[:head], *(whole[i : i + 3] for i in range(head, len(whole), 3))]
        whole = gap[0].join(filter(None, groups))
    return form[:first] + whole + form[last:]


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits, which are ascending and disjoint."""
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.start], edit.after]
        at = edit.end
    return "".join([*parts, text[at:]])


def _differing(old: str, new: str) -> tuple[int, ...]:
    """The places of `old` whose digits `new` changed; none where the length changed."""
    pairs = list(zip(old.replace(".", ""), new.replace(".", ""), strict=False))
    return tuple(i for i, (a, b) in enumerate(pairs) if a != b) if len(old) == len(new) else ()
