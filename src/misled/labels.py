r"""Whether an answer is right: y, and who says so (protocol B.2).

    >>> label(r"That makes \boxed{\dfrac{3}{6}}.", [r"\frac12"])
    Label(y=True, by='deterministic', matched=None, verified=None, reason=None)
    >>> label("It was Marie Curie.", ["Marie Curie", "Curie"])
    Label(y=True, by='match', matched=True, verified=None, reason=None)

Mathematics is decided by rationals and structure, then by an algebra system; text by
a match, else by a verifier model's reply. Without that, y = False is provisional
(`by` is match). What cannot be decided has no label. A pure function of what it is
given: the algebra system and the verifier's reply are arguments.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from misled.aliases import states
from misled.answers import Unreadable, canonical, read, same
from misled.expressions import Equal, Equality, equal, is_compound, is_formula, tidy
from misled.records import Record
from misled.refusals import is_refusal

__all__ = ["Kind", "Label", "given", "kind", "label", "value", "verifier_verdict"]

Kind: TypeAlias = Literal["math", "text"]


class Label(Record, frozen=True):
    """y, None where there is no label, and what match and verifier say each alone.

    `reason`: of no label none, ambiguous, approximate, unparsed, timeout, memory,
    crash or unverified; of a match alone that says no, provisional.
    """

    y: bool | None
    by: Literal["deterministic", "match", "verifier", "given"] | None = None
    matched: bool | None = None
    verified: bool | None = None
    reason: str | None = None


_SHORT = 40  # code points of what can be a formula and no sentence
_LONGEST = 400  # code points of an answer that is given without a mark
_READ = 100_000  # code points of an answer in which its value is sought: the last
_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_CUE = re.compile(
    r"(?:(?:(?:the|my|our|a)\s{1,3})?(?:(?:final|correct|short)\s{1,3}){0,3}answer"
    r"(?:\s{1,3}to\s[^.:\n]{0,80}?)?(?:\s{1,3}is|\s{1,3}would\s{1,3}be|\s{0,3}[*_]{0,4}\s{0,3}[:：=])"
    r"|####|(?:答案|最终答案)[*_]{0,4}(?:是|为|[:：]))[\s*_:：]*",
    re.IGNORECASE,
)
_ABBREVIATED = (
    r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St|Jr|Sr|No|Mt|vs|ft|Lt))(?<!\b(?:Mrs|Inc|Ltd|Rev|Gen|Col|Sgt))"
)
_END = re.compile(rf"{_ABBREVIATED}[.!?。](?=[\s\"'”’)*\]]*(?:\n|\Z)|\s+[A-Z])|\n\s*\n|\n")
_MATH = re.compile(
    r"\$\$([^$]{1,400})\$\$|\$([^$\n]{1,400})\$|\\\[(.{1,400}?)\\\]|\\\((.{1,400}?)\\\)", re.DOTALL
)
_NAMED = re.compile(r"\\(?:text|mbox|textrm|mathrm)\{(?P<of>[A-Za-z]{2,}(?: [A-Za-z]+)*)\}")
_MARKUP = " \t\n*_`"
_WRAPPING = f"{_MARKUP}\"'“”‘’«»"
_QUOTE = re.compile('["“”«»]')
_VERIFIED = re.compile(
    r"(?:(?:final )?(?:verdict|answer|label|judge?ment)\s*(?::|is)\s*)?(?P<no>in)?correct",
    re.IGNORECASE,
)
_VERIFIED_JSON = re.compile(
    r"\{\s*\"(?:verdict|label)\"\s*:\s*\"(?P<no>in)?correct\"\s*\}", re.IGNORECASE
)


def kind(golds: Iterable[Sequence[str]]) -> Kind:
    """What the gold answers of a whole set are; a set of texts may hold years and counts."""
    items = list(golds)
    formulas = sum(all(map(is_formula, aliases)) for aliases in items)
    return "math" if 2 * formulas > len(items) else "text"


def given(*, right: bool) -> Label:
    """The label that a file gives."""
    return Label(right, "given")


def label(
    answer: str,
    golds: Sequence[str],
    *,
    of: Kind | None = None,
    algebra: Equal | None = None,
    verifier: str | None = None,
) -> Label:
    """The label of an answer; `of` is the kind of its set, else that of its gold answers.

    `verifier` is the reply of a verifier model, whose thinking is cut off.
    """
    answer = answer[-_READ:]
    verified = None if verifier is None else verifier_verdict(verifier)
    found, names = Label(y=None), golds
    if (of or kind([golds])) == "math":
        found = _of_math(answer, golds, algebra)
        names = _names(golds)
    if names and not found.y:
        said = value(answer)
        if said is not None and not is_refusal(answer) and states(said, names):
            return Label(y=True, by="match", matched=True, verified=verified)
        if verifier is None:
            return Label(y=False, by="match", matched=False, reason="provisional")
        found = Label(y=None, matched=False, reason="unverified")
    if found.y is None and verified is not None:
        return Label(verified, "verifier", found.matched, verified)
    return Label(found.y, found.by, found.matched, verified, found.reason)


def _names(golds: Sequence[str]) -> list[str]:
    r"""The words of golds that are words alone, `\text{ellipse}`; no algebra compares these."""
    found = [_NAMED.fullmatch(gold.strip(" $")) for gold in golds]
    return [name["of"] for name in found if name] if all(found) else []


def verifier_verdict(text: str) -> bool | None:
    """What a verifier's whole reply says in one of two words; None for anything else."""
    reply = re.sub(r"[*_`]", "", text).strip(_WRAPPING + ".")
    found = _VERIFIED.fullmatch(reply) or _VERIFIED_JSON.fullmatch(reply)
    return None if found is None else not found["no"]


def value(text: str, *, of: Kind = "text") -> str | None:
    """The final value alone: what is boxed or marked, a number, or a whole short answer."""
    text = text[-_READ:]
    boxed = _boxed(text)
    if boxed is not None:
        return boxed
    cued = _cued(text)
    if of == "math":
        said = cued or _brief(text) or ""
        # A judge that is shown 0.5 for 50 % would be shown another answer.
        if said.lower().endswith(("%", "percent", "per cent")) and canonical(said) is not None:
            return said
        if cued is not None and canonical(cued) is None and is_formula(cued):
            return cued
        number = read(text, integer=False)
        if isinstance(number, str):
            return number
        return cued or _last_formula(text) or _brief(text)
    return cued or _brief(text)


def _of_math(answer: str, golds: Sequence[str], algebra: Equal | None) -> Label:
    """Numbers as rationals, formulas by their structure, the rest by algebra."""
    boxed = _boxed(answer)
    candidates = [boxed] if boxed is not None else _formulas(answer)
    found: list[Equality] = []
    for candidate in candidates:
        found = [equal(gold, candidate, algebra) for gold in golds]
        if "equal" in found:
            return Label(y=True, by="deterministic")
    numeric = all(canonical(gold) is not None for gold in golds)
    compound = bool(candidates) and (is_compound(candidates[0]) or len(candidates[0]) < _SHORT)
    other = compound and is_formula(candidates[0]) and set(found) == {"different"}
    if boxed is None and numeric and not (other and is_compound(candidates[0])):
        stated = _number(answer)
        if isinstance(stated, Unreadable):
            if other:
                return Label(y=False, by="deterministic")
            return Label(None, reason=stated.reason)
        right = any(same(stated, canonical(gold) or "") for gold in golds)
        return Label(right, "deterministic")
    if not candidates:
        return Label(None, reason="none")
    unknown = [each for each in found if each != "different"]
    return Label(None, reason=unknown[0]) if unknown else Label(y=False, by="deterministic")


def _number(answer: str) -> str | Unreadable:
    """The number that an answer states: all that follows its mark if no word, else what is read."""
    cued = _cued(answer) or ""
    whole = None if any(map(str.isalpha, cued)) else canonical(tidy(cued))
    return read(answer, integer=False) if whole is None else whole


def _formulas(answer: str) -> list[str]:
    """What an answer without a box may state as its formula: by a mark, else in its last line."""
    cued = _cued(answer)
    if cued is not None:
        inner = _last_formula(cued)
        return [cued, inner] if inner and inner != cued else [cued]
    brief = _brief(answer)
    inner = _last_formula(answer)
    return [each for each in (brief, inner) if each]


def _last_formula(text: str) -> str | None:
    """The last formula between delimiters."""
    last = _last(_MATH, text)
    return next(group for group in last.groups() if group).strip() if last else None


def _boxed(text: str) -> str | None:
    """The content of the last closed box that holds something; joined ones are one list."""
    contents: list[tuple[int, int, str]] = []
    starts: list[tuple[int, int] | None] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "}":
            opening = starts.pop() if starts else None
            if opening:
                contents.append((opening[0], brace.end(), text[opening[1] : brace.start()]))
        elif brace[0][-1] == "{" and brace[0] != "\\{":
            starts.append(brace.span() if brace[0] != "{" else None)
    contents = [each for each in contents if len(each[2]) <= _LONGEST and each[2].strip(" .…_?")]
    if not contents:
        return None
    start, _, content = contents[-1]
    for lo, hi, other in reversed(contents[:-1]):
        if re.fullmatch(r"[\s$,;]*(?:and|or)?[\s$,;]*", text[hi:start]) is None:
            break
        start, content = lo, f"{other}, {content}"
    return content.strip()


def _cued(text: str) -> str | None:
    """What follows the last mark of an answer, to the end of its sentence."""
    last = _last(_CUE, text)
    if last is None:
        return None
    end = _END.search(text, last.end())
    said = _unwrapped(text[last.end() : end.start() if end else len(text)])
    return said if 0 < len(said) <= _LONGEST else None


def _brief(text: str) -> str | None:
    """The whole text without markup, if it is one line of a few words."""
    said = _unwrapped(text)
    return said if said and "\n" not in said and len(said) <= _LONGEST else None


def _unwrapped(text: str) -> str:
    """The text without markup, stop and quotation marks round the whole of it."""
    for _ in range(3):  # `"**Oslo**."`
        said = text.strip(_MARKUP).rstrip(".").strip(_MARKUP)
        text = said.strip(_WRAPPING)
        if _QUOTE.search(text):  # they are of a part: `is "mice"`
            return said
    return text


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)
