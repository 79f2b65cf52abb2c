r"""What a judge's reply decides: accept, reject, or nothing that can be read (protocol B.3).

    >>> read("At first it looked correct. **Verdict:** incorrect")
    Verdict(verdict='reject', reason=None)
    >>> read("I can't say that it is correct.")
    Verdict(verdict=None, reason='hedged')

A verdict is a word that stands alone, after a label, or as a predicate of the answer;
the last one counts. What is asked, quoted, reported, conditional, offered as one of
two, or said of a step or of "the correct answer" is no verdict, and nothing defaults
to a side. Thinking is cut off before. Does not know what was judged.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache

from misled import verdict_tongues as tongues
from misled import verdict_words as w
from misled.refusals import is_error, is_refusal, lowered
from misled.verdict_words import CORRECT, Lexicon, Reason, Side, Verdict, lexicon

__all__ = ["CORRECT", "Verdict", "read"]

_CUT: dict[str, Reason] = {"length": "truncated", "content_filter": "refused"}
_BACK, _AHEAD = 240, 80  # code points round a word in which its sentence is sought
_FEW = 3  # spaces in a reply that is to the point
_MANY = 400  # verdict words: of a text with more only the end is read
_BOTH = "\ue000"  # stands for two verdicts that were offered as alternatives

_MARKUP = re.compile(
    r"\\(?:boxed|fbox|text\w{0,2}|math\w{2}|underline|mbox|boldsymbol)\s*(?=\{)"
    r"|[*`$\\{}#\[\]✅✓✔❌✗✘\ufe0f]|(?<![^\W_])_|_(?![^\W_])"
)
# What takes no room, Arabic's vowels, and what stands for a character that could not be read.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\xad\u0640\u064b-\u0652\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd\ud800-\udfff]"
)
_STRUCK = re.compile(r"~~[^~\n]{0,200}~~")
_TAG = re.compile(r"</?[a-z][^<>\n]{0,60}>")
_LINE = re.compile(r"^[ \t]*(?:[-•+>][ \t]+|\d{1,2}[.)][ \t]+)", re.MULTILINE)
_ECHO = re.compile(
    r"^[ \t]*(?:>|(?:question|(?:the )?(?:proposed|given|candidate|provided) answer|q|task"
    r"|instructions?)[ \t]*:)"
    r"[^\n]*$",
    re.MULTILINE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{0,400}\"|“[^“”\n]{0,400}”|«[^«»\n]{0,400}»|「[^「」\n]{0,400}」"
    r"|(?<![\w'])'[^'\n]{0,400}'(?!\w)"
)
_STOP = re.compile(r"[.!?\n。！？؟]")
# A word of letters may stand right beside a Chinese one.
_EAST = r"\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_START, _END = rf"(?<![^\W{_EAST}])(?<!-)", rf"(?![^\W{_EAST}]|-)"
_JOINT = (
    r"[\"'”)]{0,2}\s{0,3}(?:,?\s{0,3}\b(?:or|and|nor|vs\.?|versus|oder|ou|o|y|und|et|или|أم|أو)\b|[/|])"
    r"\s{0,3}[(\"'“]{0,2}"
)
_SYMBOLS: dict[str, Side] = {
    "✅": "accept",
    "✓": "accept",
    "✔": "accept",
    "❌": "reject",
    "✗": "reject",
    "✘": "reject",
}
_SENTENCE = re.compile(
    r"[.!?](?=[\s\"')\]]|\Z)|[;|\n。！？；]"
    r"|(?:^|(?<!anything)[\s,])(?:but|however|though|although|yet|so(?! far| much)|therefore|hence"
    r"|thus|because|since|while|nevertheless"
    r"|nonetheless|aber|mais|pero|donc|also|mas|ma|но|однако|لكن)\b(?= |,)"
)
_CLAUSE = re.compile(r"[,:—–(]| - |[-=]>")
_LEADING = re.compile(
    r"\W*(?:(?P<yes>yes|oui|ja|sí|sì|sim|да|نعم|はい|네|예|是的)"
    r"|(?P<no>no|non|nein|não|нет|لا|いいえ|아니[요오]|不是|否))\b\s*(?:[.,!\n—–。、，،-]|\Z)"
    r"(?!\s*i(?:'m| am)(?: not)? (?:ready|able|sorry|here|happy|glad|an?)\b)"
    r"|.{0,200}(?:verdict|answer|judge?ment)\s*:\s*(?:(?P<yes2>yes)|(?P<no2>no))\W*\Z",
    re.DOTALL,
)
_AGREE = re.compile(
    r"\bi (?:(?:fully|completely|strongly|also|must|have to) ){0,2}(?:(?P<yes>agree)"
    r"|(?P<no>disagree))\b"
    r"|\bi (?P<not>do not|don't|cannot|can't) agree\b"
)


def read(text: str, *, finish: str = "stop", words: tuple[str, str] = CORRECT) -> Verdict:
    """The last explicit verdict of a reply without its thinking; `words` are the prompt's two."""
    unread: Reason | None = _CUT.get(finish)
    if unread or not text.strip() or is_error(text):
        return Verdict(None, unread or ("error" if text.strip() else "none"))
    lower = _UNSEEN.sub("", lowered(text).replace("’", "'").replace("‘", "'"))
    known = lexicon(words)
    keyed = _last_match(w.JSON, lower)
    found = _said(lower[max(lower.rfind("}"), keyed.end()) :] if keyed else lower, known)
    if keyed and found.verdict is None:
        return _of_key(keyed, known)
    if found.verdict is None and is_refusal(text):
        return Verdict(None, "refused")
    return found


def _of_key(keyed: re.Match[str], known: Lexicon) -> Verdict:
    """What a key of a JSON object says."""
    key = keyed["key"].rpartition("_")[2]
    if keyed["text"] is not None:
        return _said(keyed["text"], known)
    if keyed["null"]:
        return Verdict(None, "none")
    return Verdict("accept" if (key in known.reject) == bool(keyed["no"]) else "reject")


def _said(lower: str, known: Lexicon) -> Verdict:
    """The last explicit verdict of a text in lower case."""
    symbol = _SYMBOLS.get(lower.strip(" \n\t.*\ufe0f"))
    if symbol:
        return Verdict(symbol)
    clean = _cleaned(lower, known)
    places = list(_words(known).finditer(clean))[-_MANY:]
    reasons: set[Reason | None] = {"both"} if _BOTH in clean else set()
    instead: Verdict | None = None
    for place in reversed(places):
        found = _judged(clean, place, known)
        at = max(0, place.start() - _BACK), place.start()
        if found.verdict and not (w.ADDRESSED.search(clean, *at) and clean.count(" ") > _FEW):
            if not w.INSTEAD.search(clean, *at):
                return found
            instead = instead or found
        reasons.add(found.reason)
    if instead:
        return instead
    bare = _without_word(clean, known)
    if bare and "hedged" not in reasons:
        return bare
    if w.UNSURE.search(clean):
        reasons.add("hedged")
    elif _BOTH in clean:
        return Verdict(None, "both")
    order: tuple[Reason, ...] = ("partial", "hedged", "both")
    return Verdict(None, next((reason for reason in order if reason in reasons), "none"))


@lru_cache(8)
def _words(known: Lexicon) -> re.Pattern[str]:
    """Every verdict word, and the Chinese ones."""
    return re.compile(
        rf"{_START}(?:{_any(known.accept | known.reject)}){_END}(?!'\w)"
        rf"|{tongues.JOINED if known.gradable else '(?P<no>(?!))(?P<yes>(?!))'}"
    )


@lru_cache(8)
def _pairs(known: Lexicon) -> re.Pattern[str]:
    """Two verdicts offered as alternatives."""
    yes, no = _any(known.accept), _any(known.reject)
    back = rf"|(?:{no}){_JOINT}(?:{yes})" if no else ""
    return re.compile(
        rf"(?<![\w-])(?:(?:{yes}){_JOINT}(?:not (?:{yes})"
        rf"|not\b{'|' if no else ''}{no}){back})(?![\w-])"
        r"|正[确確](?:或者?|[还還]是)(?:不正[确確]|[错錯][误誤])|[对對](?:或者?|[还還]是)[错錯]"
        r"|(?:정답|맞음)(?:인지)?,?\s?(?:또는|혹은|이나|아니면)\s?(?:오답|틀림)|正しいか、?(?:間違い|誤り|不正解)か"
        r"|(?:正解|正しい)(?:または|か、?)(?:不正解|間違い|誤り)"
    )


@lru_cache(8)
def _twice(known: Lexicon) -> re.Pattern[str]:
    """A verdict offered beside itself: one verdict."""
    return re.compile(rf"(?<![\w-])({_any(known.accept | known.reject)}){_JOINT}\1(?![\w-]|\s+\w)")


def _any(words: frozenset[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def _cleaned(lower: str, known: Lexicon) -> str:
    """The text without markup, echoes, quotations and alternatives."""
    text = _STRUCK.sub(" ", lower)
    whole = _TAG.sub("\n", text).strip()
    if whole[:1] + whole[-1:] in {'""', "“”"} and not set(whole[1:-1]) & set('"“”'):
        whole = whole[1:-1]
    echoless = _ECHO.sub(" ", whole)
    text = _MARKUP.sub("", echoless if echoless.strip() else whole)
    text = _pairs(known).sub(_BOTH, _twice(known).sub(r"\1", text))
    text = _QUOTED.sub(lambda quoted: _unquoted(quoted[0], known), text)
    text = _LINE.sub("", text).strip()
    return text[1:-1] if text[:1] == "(" and text.find(")") == len(text) - 1 else text


def _unquoted(quoted: str, known: Lexicon) -> str:
    """A quotation: a verdict of few words stays, and one that holds no verdict word."""
    inner = quoted[1:-1]
    if len(inner.split()) <= 3 or _words(known).search(inner) is None:
        return f" {inner} "
    return " … "


def _judged(text: str, place: re.Match[str], known: Lexicon) -> Verdict:
    """What the word at `place` decides in its sentence."""
    start, end = place.span()
    before, after = text[max(0, start - _BACK) : start], text[end : end + _AHEAD]
    stop = _STOP.search(after)
    if stop and stop[0] in "?？":
        return Verdict(None, "none")
    accept = place["yes"] is not None or place[0] in known.accept
    if place["yes"] or place["no"] or tongues.is_joined(before):
        return tongues.joined(before, place[0], after, accept=accept)
    sentence = before[_last(_SENTENCE, before) :]
    if tongues.is_foreign(place[0], sentence):
        return tongues.spaced(sentence, place[0], after, accept=accept)
    if _follows(known).match(after):
        loose = place[0] in known.loose
        found = _predicate(sentence, accept=accept, known=known, loose=loose)
    else:
        found = _attribute(sentence, after, accept=accept)
    if w.CONDITION.match(after) and found.verdict:
        return Verdict(None, "hedged")
    if found.verdict and known.denied and re.match(known.denied, after):
        return Verdict("reject") if found.verdict == "accept" else Verdict(None, "hedged")
    return found


@lru_cache(8)
def _follows(known: Lexicon) -> re.Pattern[str]:
    """What may follow a word that is a predicate."""
    return re.compile(w.FOLLOWS + (f"|{known.follows}" if known.follows else ""))


def _predicate(sentence: str, *, accept: bool, known: Lexicon, loose: bool) -> Verdict:
    """What a word decides that stands alone or is said of something."""
    clause = sentence[_last(_CLAUSE, sentence) :]
    if w.PARTIAL.search(sentence) and (known.gradable or not w.NEGATED.search(sentence)):
        return Verdict(None, "partial")
    rest, negated = _negation(sentence, accept=accept)
    label = sentence[: len(sentence) - len(clause)]
    shorter = rest[len(label) :]
    said: Side = "accept" if accept is not negated else "reject"
    if w.ORDERS.search(clause):
        return Verdict(None, "none")
    if w.LEAD.fullmatch(shorter):
        found = _alone(label, shorter, said)
        if found:
            return found
    if loose or not (w.COPULA.search(rest) or w.NAMED.search(rest)):
        return Verdict(None, "none" if w.is_settled(clause) else "hedged")
    return _of_subject(rest, said, known)


def _alone(label: str, lead: str, said: Side) -> Verdict | None:
    """What a word says that stands alone after a label; None if it hangs on what is there."""
    if not lead.strip() and (w.LABEL_OF_PART.search(label) or label.endswith("(")):
        return Verdict(None, "none")
    predicate = w.COPULA.search(lead) is not None
    doubted = predicate and not label.endswith(":") and not w.is_settled(label)
    if doubted or w.CONDITION_BEFORE.match(label):
        return Verdict(None, "hedged")
    return None if predicate and w.ABOUT_PART.search(label) else Verdict(said)


def _attribute(sentence: str, after: str, *, accept: bool) -> Verdict:
    """What `right` decides in `this is the right answer`, and in `nothing wrong with it`."""
    nothing = w.NOTHING.search(sentence)
    if nothing and not accept and w.WITH_ANSWER.match(after):
        return Verdict("accept")
    if w.ANSWER_AFTER.match(after) and (phrase := w.PHRASE.search(sentence)):
        negated = w.NOT_IN_PHRASE.search(phrase[0]) is not None
        said: Side = "accept" if accept is not negated else "reject"
        head = w.HEAD_OF_PHRASE.search(sentence[: phrase.start()])
        if head and w.is_settled(sentence):
            return Verdict(said)
    return Verdict(None, "none")


def _negation(sentence: str, *, accept: bool) -> tuple[str, bool]:
    """The sentence without what negates the word after it, and whether something does."""
    rest, negated = sentence, False
    if not accept and (nothing := w.NOTHING.search(rest)):
        return rest[: nothing.start()] + "it is ", True
    while found := w.NEGATION.search(rest):
        copula = " is " if "be " in found[0] else " "  # `cannot be right`
        rest, negated = rest[: found.start()] + copula, not negated
    trimmed = w.TRAILING_ADVERBS.sub("", rest)
    if w.NEGATED_BELIEF.search(trimmed):
        return trimmed, not negated
    return trimmed, negated


def _of_subject(rest: str, said: Side, known: Lexicon) -> Verdict:
    """`said`, if it is said of the answer, and by the judge."""
    clause = rest[_last(_CLAUSE, rest) :]
    near = clause if w.heads(clause, known.subject) else rest
    if not w.is_settled(near) or w.CONDITION_BEFORE.match(rest):
        return Verdict(None, "hedged")
    reported = w.REPORTS.search(near) and not w.OWN.search(near)
    if reported or w.ACCORDING.search(rest):
        return Verdict(None, "none")
    heads = w.heads(near, known.subject)
    return Verdict(said) if heads and heads[-1] else Verdict(None, "none")


def _without_word(clean: str, known: Lexicon) -> Verdict | None:
    """What yes or no says at the head of a reply, or that the judge agrees."""
    if not known.gradable or w.UNSURE.search(clean):
        return None
    agreed = _last_match(_AGREE, clean)
    if agreed:
        return Verdict("accept" if agreed["yes"] else "reject")
    lead = _LEADING.match(clean)
    return Verdict("accept" if lead["yes"] or lead["yes2"] else "reject") if lead else None


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _last(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match of `pattern` ends, or 0."""
    found = _last_match(pattern, text)
    return found.end() if found else 0
