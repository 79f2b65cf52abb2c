"""Whether a short text states a name, a date or a number of a list of aliases.

    >>> states("It was Marie Curie", ["Marie Curie", "M. Curie"])
    True
    >>> states("not Marie Curie", ["Marie Curie"])
    False

By normalised equality, or as a run of whole tokens in a brief affirmation (protocol
B.2). Does not know what was asked, nor of any synonym that is not in the list.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from misled.values import canonical

__all__ = ["states"]

_BRIEF = 10  # tokens: in a longer answer an alias may stand for anything [protocol B.2]
_TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+|%")
_GROUPS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INITIALS = re.compile(r"(?<![^\W_])([^\W\d_])\.(?=[^\W\d_]\b|[\s,]|\Z)")
_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_MONTHS = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
_ARTICLES = frozenset(("the", "a", "an"))
_SMALL = {
    w: str(n)
    for n, w in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
}
# Words in an answer that take back or leave open what stands beside them.
_UNSAID = frozenset(
    [
        "not",
        "no",
        "never",
        "neither",
        "nor",
        "or",
        "isn",
        "wasn",
        "aren",
        "weren",
        "doesn",
        "didn",
        "don",
        "cannot",
        "isnt",
        "wasnt",
        "without",
        "except",
        "unlike",
        "either",
        "if",
        "unknown",
        "unsure",
        "maybe",
        "perhaps",
        "possibly",
        "instead",
        "rather",
        "than",
    ]
)


def states(said: str, golds: Sequence[str]) -> bool:
    """Whether a short answer states one of the aliases."""
    tokens, number = _tokens(said), canonical(said)
    return any(
        _hold(tokens, _tokens(gold)) or (number is not None and number == canonical(gold))
        for gold in golds
    )


def _hold(tokens: list[str], gold: list[str]) -> bool:
    """Whether the tokens are those of the alias, or hold them in a brief affirmation."""
    if not gold:
        return False
    if tokens == gold or (_MONTHS & set(gold) and sorted(tokens) == sorted(gold)):
        return True
    if gold[0] in ("yes", "no") and len(gold) == 1:
        other = "no" if gold[0] == "yes" else "yes"
        return tokens[:1] == gold and other not in tokens
    if len(tokens) > _BRIEF:
        return False
    width = len(gold)
    for start in range(len(tokens) - width + 1):
        if tokens[start : start + width] == gold:
            return not _UNSAID & set(tokens[:start] + tokens[start + width :])
    return False


def _tokens(text: str) -> list[str]:
    """The words of a text: no case, accents, articles, grouping; small numbers as digits."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c)).replace("&", " and ")
    plain = re.sub(r"['’`]", "", _GROUPS.sub("", _INITIALS.sub(r"\1 ", plain)))
    words = _TOKEN.findall(_IDEOGRAPH.sub(r" \1 ", plain))
    found: list[str] = []
    single = False
    for word in words:
        letter = len(word) == 1 and word.isalpha() and word.isascii()
        if letter and single:
            found[-1] += word
        elif word not in _ARTICLES or letter:
            found.append(_SMALL.get(word, word))
        single = letter
    return found
