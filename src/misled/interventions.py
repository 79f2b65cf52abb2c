r"""Controlled chains: a chain with statements put in that have nothing to do with the question.

    >>> told = intervene("2 + 2 = 4.", Intervention(k=1), Draws(0, "p"), ["Add 2 and 2."])
    >>> told.text, told.changed
    ('2 + 2 = 4. Kangaroos are native to Australia. ... Gold is a gas. ...', (2,))

Four statements of common sense are drawn for an item [protocol B.6], and an
order of them: in `statements` the first k of that order are counterfactual, in
`true_edit` reworded and still true; `filler` has four sentences without a claim
of about their lengths in their stead. An equal stream draws the same four in the
same order, so the counterfactual ones at k are among those at k + 1. None shares
a word with the texts to avoid, except for words that only build sentences.

Of the other controls, `placebo` is another item's chain, and `chain_cut` the
chain without the sentences that state a value.

Knows neither what a judge sees nor whether the chain is right.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from misled.draws import Draws
from misled.numbers import numbers
from misled.perturbations import applied
from misled.records import NotApplicable, Record
from misled.results import places
from misled.sentences import sentences
from misled.structures import without
from misled.values import Value, canonical

__all__ = [
    "DRAWN",
    "PLACES",
    "VARIANTS",
    "Intervened",
    "Intervention",
    "Pair",
    "content",
    "fillers",
    "intervene",
    "pairs",
]

DRAWN = 4  # statements an item
VARIANTS = ("statements", "filler", "true_edit", "placebo", "chain_cut")
PLACES = ("begin", "middle", "end")

_WORD = re.compile(r"\w+")
# What only builds sentences; whatever else two texts share is a common subject.
_FUNCTION_WORDS = (
    "a about after all also among an and any are as at be because been before being between "
    "both but by can could did do does down during each either for from had has have he her "
    "here him his how i if in into is it its just let like made make may me might more most "
    "must my neither no nor not now of off on once one only or other our out over own s same "
    "she should so some such t than that the their them then there these they this those "
    "through to too under until up upon very was we were what when where which while who whom "
    "whose why will with would yes yet you your"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())


class Intervention(Record, frozen=True):
    """What is done to a chain: one of `VARIANTS`, for k of the statements, at one of `PLACES`."""

    variant: str = "statements"
    k: int = 0
    place: str = "end"


class Intervened(Record, frozen=True):
    """A controlled chain; `statements` stand in it in this order.

    `changed` indexes those that are counterfactual or reworded. `inserted` is
    their share of the characters of `text`, with the gap beside them; `removed`
    the share of the chain's characters that were cut.
    """

    text: str
    inserted: float = 0.0
    removed: float = 0.0
    statements: tuple[str, ...] = ()
    changed: tuple[int, ...] = ()


class Pair(Record, frozen=True):
    """A true statement, its counterfactual twin, and the true one in other words."""

    true: str
    false: str
    reworded: str


def intervene(
    chain: str,
    intervention: Intervention,
    draws: Draws,
    avoid: Collection[str],
    *,
    value: str | None = None,
    other: str | None = None,
) -> Intervened | NotApplicable:
    """`chain` under an intervention, or why there is none.

    Args:
        chain: The reasoning.
        intervention: What is done to it.
        draws: A fresh stream, equal for all interventions on one item.
        avoid: Texts that the statements share no content word with: the
            question, the answer and the golds.
        value: The value that `chain_cut` takes out.
        other: The chain of another item, for `placebo`.

    Raises:
        ValueError: the intervention is none of `VARIANTS` or `PLACES`, or k is
            not 0 to 4.
    """
    variant, k = intervention.variant, intervention.k
    if variant not in VARIANTS or intervention.place not in PLACES or not 0 <= k <= DRAWN:
        raise ValueError(f"{intervention} is no intervention")
    if not chain.strip():
        return NotApplicable(f"{variant}: there is no chain")
    if variant == "placebo":
        if other is None or not other.strip():
            return NotApplicable("placebo: there is no chain of another item")
        return Intervened(other, inserted=1.0, removed=1.0)
    if variant == "chain_cut":
        return _cut(chain, value)
    return _told(chain, intervention, draws, avoid)


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, without a plural's `s`, and its numbers."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in _FUNCTION)
    return frozenset(map(_stem, words)) | {number.value for number in numbers(text)}


def pairs() -> tuple[Pair, ...]:
    """The bundled statements."""
    return _bundled().pairs


def fillers() -> tuple[str, ...]:
    """The bundled sentences without a claim."""
    return _bundled().fillers


# --- what is put in --------------------------------------------------------------------------


def _told(
    chain: str, intervention: Intervention, draws: Draws, avoid: Collection[str]
) -> Intervened | NotApplicable:
    """The chain with the four statements of an item, or with fillers in their stead."""
    shared = content("\n".join(avoid))
    free = [pair for pair, words in _contents().items() if not words & shared]
    if len(free) < DRAWN:
        return NotApplicable("statements: too few share no word with the item")
    drawn = draws.sample(free, DRAWN)
    changed = tuple(sorted(draws.shuffled(range(DRAWN))[: intervention.k]))
    if intervention.variant == "filler":
        neutral = [text for text in draws.shuffled(fillers()) if not content(text) & shared]
        if len(neutral) < DRAWN:
            return NotApplicable("filler: too few share no word with the item")
        return _put_in(chain, intervention.place, _matching(drawn, neutral), ())
    false = intervention.variant == "statements"
    parts = [pair.true for pair in drawn]
    for i in changed:
        parts[i] = drawn[i].false if false else drawn[i].reworded
    return _put_in(chain, intervention.place, parts, changed)


def _matching(drawn: Sequence[Pair], neutral: Sequence[str]) -> list[str]:
    """For each statement, the longest first, the filler of the nearest length that is left."""
    left = list(neutral)
    found: dict[int, str] = {}
    for i in sorted(range(len(drawn)), key=lambda i: -len(drawn[i].true)):
        found[i] = min(left, key=lambda text: abs(len(text) - len(drawn[i].true)))
        left.remove(found[i])
    return [found[i] for i in range(len(drawn))]


def _put_in(
    chain: str, place: str, parts: Sequence[str], changed: tuple[int, ...]
) -> Intervened | NotApplicable:
    """The chain with `parts` as one paragraph, set off as the chain sets off its own."""
    gap = "\n\n" if "\n\n" in chain else "\n" if "\n" in chain.strip() else " "
    text = " ".join(parts)
    if place == "begin":
        at = len(chain) - len(chain.lstrip())
        added = text + gap
    elif place == "end":
        at = len(chain.rstrip())
        added = gap + text
    else:
        middle = _middle(chain)
        if middle is None:
            return NotApplicable("middle: the chain is one sentence")
        at = middle
        added = text + (chain[len(chain[:at].rstrip()) : at] or gap)
    whole = chain[:at] + added + chain[at:]
    return Intervened(
        whole, inserted=len(added) / len(whole), statements=tuple(parts), changed=changed
    )


def _middle(chain: str) -> int | None:
    """The end of a sentence nearest to the middle, of a paragraph if one ends thereabouts."""
    last = len(chain.rstrip())
    ends = [end for _, end in sentences(chain) if end < last]
    low, high = len(chain) / 4, 3 * len(chain) / 4
    breaks = [end for end in ends if chain[end - 1] == "\n" and low <= end <= high]
    return min(breaks or ends, key=lambda end: abs(2 * end - len(chain)), default=None)


# --- what is cut -----------------------------------------------------------------------------


def _cut(chain: str, value: str | None) -> Intervened | NotApplicable:
    """The chain without the sentences that hold the value in any spelling."""
    if value is None or not value.strip():
        return NotApplicable("chain_cut: there is no value")
    cut = sentences(chain)
    starts = [start for start, _ in cut]
    chosen: set[int] = set()
    for start, end in _mentions(chain, value):
        chosen |= {*range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1))}
    if not chosen:
        return NotApplicable("chain_cut: no sentence holds the value")
    edits = without(chain, chosen)
    if isinstance(edits, NotApplicable):
        return NotApplicable("chain_cut: every sentence holds the value")
    removed = sum(len(edit.before) for edit in edits)
    return Intervened(applied(chain, edits), removed=removed / len(chain))


def _mentions(chain: str, value: str) -> list[tuple[int, int]]:
    """Where a chain holds a number in any spelling, or else the words of a value."""
    number = canonical(value)
    if number is not None and "/" not in number:
        return [(held.start, held.end) for held in places(chain, Value(0, 0, number))]
    words = r"\s+".join(map(re.escape, value.split()))
    pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    return [found.span() for found in pattern.finditer(chain)]


# --- the bundled file ------------------------------------------------------------------------


class _Bundled(Record, frozen=True):
    pairs: tuple[Pair, ...]
    fillers: tuple[str, ...]


@cache
def _bundled() -> _Bundled:
    table = tomllib.loads((files("misled") / "data" / "statements.toml").read_text("utf-8"))
    pairs = [dict(zip(("true", "false", "reworded"), row, strict=True)) for row in table["pairs"]]
    return msgspec.convert(table | {"pairs": pairs}, _Bundled)


@cache
def _contents() -> dict[Pair, frozenset[str]]:
    """The content words of each pair, in all its forms."""
    return {pair: content(f"{pair.true}\n{pair.false}\n{pair.reworded}") for pair in pairs()}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
