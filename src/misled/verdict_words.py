"""The words of verdicts, and the words round them that make or unmake one.

    lexicon(("correct", "incorrect")).accept -> {"correct", "right", "richtig", ...}

All patterns are of lower case and are tried on a few words on either side, never on a
whole text. Does not know in which order they are asked.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from misled.records import Record

__all__ = [
    "ABOUT_ANSWER",
    "ABOUT_PART",
    "ACCORDING",
    "ADDRESSED",
    "ADVERBS",
    "ANSWER_AFTER",
    "CERTAINLY",
    "CONDITION",
    "CONDITION_BEFORE",
    "COPULA",
    "CORRECT",
    "FOLLOWS",
    "FOREIGN",
    "HEAD_OF_PHRASE",
    "HEDGES",
    "INSTEAD",
    "JSON",
    "LABEL_OF_PART",
    "LEAD",
    "NAMED",
    "NEGATED",
    "NEGATED_BELIEF",
    "NEGATION",
    "NOTHING",
    "NOT_IN_PHRASE",
    "ORDERS",
    "OWN",
    "PARTIAL",
    "PHRASE",
    "REPORTS",
    "SUBORDINATE",
    "TRAILING_ADVERBS",
    "UNSURE",
    "WITH_ANSWER",
    "Lexicon",
    "Reason",
    "Side",
    "Verdict",
    "heads",
    "is_settled",
    "lexicon",
]

Side: TypeAlias = Literal["accept", "reject"]
Reason: TypeAlias = Literal["none", "hedged", "partial", "both", "refused", "truncated", "error"]
CORRECT = ("correct", "incorrect")


class Verdict(Record, frozen=True):
    """What was decided; `reason` says why nothing was.

    `hedged` is doubt, a condition or a mere lean, `partial` a verdict by halves, `both`
    two verdicts at once, `error` a server's message, `none` no verdict at all.
    """

    verdict: Side | None
    reason: Reason | None = None


class Lexicon(Record, frozen=True):
    """The words of one question; `loose` words decide only where they stand alone.

    `gradable` words are right by halves: `not entirely correct` decides nothing, but
    `not entirely certain` is not certain. After what matches `follows` a word is still
    a predicate, `subject` is what it is said of, and `denied` reverses it: `certain that it is
    wrong`.
    """

    accept: frozenset[str]
    reject: frozenset[str]
    loose: frozenset[str] = frozenset()
    gradable: bool = True
    follows: str = ""
    subject: str = ""
    denied: str = ""


_ACCEPT = "correct right true accurate valid"
_REJECT = "incorrect wrong false inaccurate invalid untrue erroneous mistaken"
# German, French, Spanish, Portuguese, Italian, Russian, Arabic.
_ACCEPT_ABROAD = (
    "richtig richtige korrekt korrekte wahr zutreffend stimmt "
    "correcte exact exacte juste vrai vraie bonne "
    "correcto correcta cierto cierta verdadero verdadera acertado acertada bien "
    "correto correta certo certa verdadeiro verdadeira exato exata "
    "corretto corretta giusto giusta vero esatto esatta "
    "верно верный верная верное верен верна верным правильно правильный правильная правильное "
    "правилен правильна правильным корректно корректный корректен корректным "
    "صحيح صحيحة صحيحا صحيحه صواب صائب صائبة"
)
_REJECT_ABROAD = (
    "falsch falsche inkorrekt inkorrekte unrichtig unwahr fehlerhaft unzutreffend "
    "incorrecte faux fausse inexact inexacte erroné erronée mauvaise "
    "incorrecto incorrecta falso falsa erróneo errónea equivocado equivocada mal "
    "incorreto incorreta errado errada errôneo errônea "
    "sbagliato sbagliata errato errata scorretto scorretta "
    "неверно неверный неверная неверное неверен неверна неверным неправильно неправильный "
    "неправильная неправильное неправилен неправильна неправильным ошибочно ошибочный ошибочна "
    "ошибочен ошибочным некорректно некорректный некорректен некорректным ложно ложный "
    "خطأ خطا خاطئ خاطئة خاطئه خاطئا"
)
FOREIGN = frozenset((_ACCEPT_ABROAD + " " + _REJECT_ABROAD).split())
_LOOSE_ACCEPT = "accept accepted pass passed"
_LOOSE_REJECT = "reject rejected fail failed"


def lexicon(words: tuple[str, str]) -> Lexicon:
    """The lexicon of a prompt's two verdict words; `not` before the first is its reverse."""
    if words == CORRECT:
        accept, reject = (
            frozenset(f"{here} {abroad}".split())
            for here, abroad in ((_ACCEPT, _ACCEPT_ABROAD), (_REJECT, _REJECT_ABROAD))
        )
        loose = (frozenset(_LOOSE_ACCEPT.split()), frozenset(_LOOSE_REJECT.split()))
        return Lexicon(accept | loose[0], reject | loose[1], loose[0] | loose[1])
    yes, no = words[0].lower(), words[1].lower()
    if yes == "certain":
        return Lexicon(
            frozenset(("certain", "sure")),
            frozenset(("uncertain", "unsure")),
            gradable=False,
            follows=r"\s+(?:that|about|of|this|it|the|whether|if)\b",
            subject=r"|\b(?:i|am|i'm|we|we're)\b",
            denied=r"[^.!?\n]*\b(?:wrong|incorrect|false|not (?:\w+ )?(?:correct|right|true))\b",
        )
    return Lexicon(frozenset((yes,)), frozenset(() if no == f"not {yes}" else (no,)))


ADVERBS = (
    r"(?:(?:really|indeed|definitely|actually|clearly|certainly|absolutely|simply|just|factually"
    r"|still|also|completely|entirely|totally|wholly|fully|perfectly|quite|very|exactly|precisely"
    r"|100%|undoubtedly|undeniably|in fact|overall|mathematically|technically|therefore|thus|hence"
    r"|then|now|plainly|obviously|thoroughly|not only"
    r"|pretty)\s+)"
)
NEGATION = re.compile(
    r"(?:(?<!\bif )\bnot(?! only)|n't|\bcannot|\bnever|\bno longer|\bby no means|\bin no way"
    r"|\bfar from"
    r"|\banything but|\bnot at all|\bfails?|\bnowhere near|\bnon|\bno"
    rf"|\b(?:is|was|are)nt)\s+(?:{ADVERBS}|(?:to be|be|been|considered|deemed|judged|an?|the"
    rf"|as)\s+){{0,3}}\Z"
)
NEGATED_BELIEF = re.compile(
    r"(?:\bnot|\bcannot|n't|\bnever)\s+(?:\w+\s+)?(?:think|believe|find|consider|deem|accept|agree"
    r"|feel)\b"
    r"|\b(?:not (?:true|the case)|untrue|false) that\b"
)
NOT_IN_PHRASE = re.compile(r"\bnot\b|n't")
NEGATED = re.compile(r"(?:\bnot|n't)(?: \w+){0,2}\s+\Z")
NOTHING = re.compile(r"\bnothing\s+(?:\w+\s+){0,2}\Z|\bnothing (?:about|in) [^.;]{1,60}?\sis\s+\Z")
_WHOLLY = (
    r"(?:entirely|fully|completely|totally|quite|strictly|wholly|exactly|necessarily|always|100%"
    r"|perfectly|absolutely|all)"
)
PARTIAL = re.compile(
    r"(?:\b(?:part(?:ial)?ly|mostly|mainly|largely|almost|nearly|half|halfway|somewhat|sort of"
    rf"|kind of|more or less|not(?: \w+)? {_WHOLLY}|in part)"
    rf"|n't {_WHOLLY})\s+\Z"
)
# What is no doubt although it holds a word of doubt.
CERTAINLY = re.compile(
    r"\b(?:(?:without|beyond|no|not in|little) (?:a |any |the )?(?:shadow of a |reasonable )?doubt"
    r"|even if|as if|can't be|cannot be)\b"
)
HEDGES = re.compile(
    r"(?:\A|[,;:(—-])\s*(?:and |but |only )?provided\b"
    r"(?! (?:by|in|here|above|below|as|for|to|with|without)\b)"
    r"|\bprovided that\b|\b(?:if|whether|unless|assuming|suppose|supposing|might|may"
    r"|could|would be|should be"
    r"|would have been|unable|unsure|uncertain|unclear|unknown|doubt\w*|possibly|perhaps|maybe"
    r"|probably|(?:un)?likely|(?:hard|difficult|impossible|possible) to"
    r"|no (?:way|evidence|reason|proof|basis|grounds)"
    r"|(?:not|never|cannot|can't|n't|won't|couldn't) (?:\w+ )?(?:sure|certain|clear|convinced|able"
    r"|possible|know|say|tell|call|claim|confirm|verify|determine|decide|judge|guarantee|establish"
    r"|conclude|be sure|be certain|assess|evaluate|see|prove|obvious|rule out)"
    r"|hope|wish|guess|imagine|pretend)\b"
)
UNSURE = re.compile(
    r"(?:\bnot|n't) (?:\w+ )?(?:sure|certain|clear)\b|\bun(?:sure|certain|clear)\b|\b(?:cannot"
    r"|can't|can not|unable to|could not"
    r"|couldn't|impossible to) (?:\w+ )?(?:say|tell|determine|decide|judge|verify|confirm|assess"
    r"|know)\b"
    r"|\b(?:don't|do not) know\b|\bdepends\b"
    r"|不[确確]定|不能[确確]定|[无無]法|不知道|不清楚|很[难難][说說]|[わ分]かりません|[わ分]からない"
    r"|모르겠|확실하지|weiß (?:ich )?(?:es )?nicht|no estoy segur|no (?:lo )?sé|pas s[ûu]r"
    r"|ne sais pas|não (?:sei|tenho certeza)|non (?:lo )?so\b|не (?:знаю|уверен)"
    r"|لا أعرف|لا أدري|لست متأكد"
)
REPORTS = re.compile(
    r"\b(?:says?|said|claims?(?= (?:that|the|this|it|to))|claimed|states?(?= (?:that|the|this|it))"
    r"|stated"
    r"|asserts?|argues?|argued|suggests?|insists?|thinks?|believes?|maintains?|asked|asks"
    r"|told|wonder\w*|pretends?|to (?:judge|decide|check|determine|verify|see|assess|evaluate"
    r"|say))\b"
    r"(?! (?:i|we)\b)"
)
ACCORDING = re.compile(r"\baccording to (?!my|our)")
# `You're right` is said to whoever asks, and of nothing that was judged.
ADDRESSED = re.compile(r"\byou(?:'re| are| were)\s+(?:\w+\s+){0,2}\Z")
# What another answer would be decides only where nothing is said of this one.
INSTEAD = re.compile(r"(?:\bthe (?:correct|right) answer (?:is|was|would be)\b:?|\bmust be)\s+\Z")
OWN = re.compile(r"\b(?:i|i'd|i'll|i'm|we|my)\b(?! (?:was|am|were|have been) (?:asked|told))")
ORDERS = re.compile(
    r"\b(?:should|must|asked to|told to) (?:answer|reply|say|respond)\b"
    r"|(?<!i )(?<!i'd )(?<!will )(?<!i'll )\b(?:answer|reply|respond|write|output|print|return"
    r"|choose"
    r"|pick|say|state|put|use|type|label it)\s(?:only |just |either |exactly |simply )?"
    r"(?:with|only|the word|one word|in one word)\b"
)
_PARTS = (
    r"reasoning|steps?|calculations?|computations?|logic|methods?|approach|premises?|parts?|formula"
    r"|arithmetic|spelling|grammar|derivation|algebra|equations?|assumptions?|explanation|argument"
    r"|chain|working|first|second|question|units?|date|year|name|facts?|details?|setup|set-up|sum"
    r"|numbers?|sentences?|options?|choices?|thought|analysis|work|idea|definition|format(?:ting)?"
    r"|citation|reference|multiplication|addition|subtraction|division|sign|notation|alternative"
)
ABOUT_PART = re.compile(rf"\b(?:{_PARTS})\b")
_ANSWERS = (
    r"answers?|response|reply|claim|statement|solution|result|conclusion|verdict|judge?ment"
    r"|assessment|evaluation|student|model|assistant|author|candidate|output|final value"
    r"|it|he|she|they|you|which|everything|this one|that one"
)
ABOUT_ANSWER = re.compile(
    rf"\b(?:{_ANSWERS})\b|\b(?:this|that|these)(?='s|\s*\Z|\s+(?:is|was|are|to be)\b)"
)
SUBORDINATE = re.compile(
    r"\b(?:of|to|for|behind|in|from|on|about|given|giving|leading|with|as stated|that (?:leads"
    r"|supports))\b"
)
COPULA = re.compile(
    r"(?:\b(?:is|was|are|be|been|being|remains?|stays|seems?|appears?|looks?|sounds?|got|as"
    r"|deem(?:ed)?"
    r"|judged?|considered|rated?|marked?|found|find|call|isn't|wasn't|aren't"
    r"|isn|wasn|aren|isnt|wasnt|arent|n't)"
    r"|'s|'re|'m|\bam"
    # `is clear and`
    r"|\b(?:is|was) (?:both )?(?!not|never|no\b|neither|nor|hardly|less|so\b|too\b)[a-z-]+,? and)"
    r"\s*\Z"
)
# `judge the answer correct`, `the answer: correct`
NAMED = re.compile(
    r"\b(?:(?:find|found|judge|consider|deem|call|mark|rate|hold|think|declare"
    r"|rule)\s+(?:\w+\s+){0,4})?"
    r"(?:it|answer|response|claim|statement|solution|result|verdict)\s*\Z"
)
# `this is the right answer`, `gives a wrong answer`
PHRASE = re.compile(
    r"\b(?:is|was|'s|isn't|wasn't|be|are|gives?|gave|provides?|provided|reach(?:es|ed)?|contains?"
    r"|states?"
    r"|stated|offers?|not|n't)\s+(?:\w+\s+)?(?:the|an?)\s*\Z"
)
ANSWER_AFTER = re.compile(
    r"\s+(?:final )?(?:answer|response|result|solution|conclusion|verdict|one|statement|claim)"
    r"(?=\s*(?:\Z|[.,;:!)\n—–-]| (?:to|for|because|since|as|and|here|given|in|of)\b))"
)
WITH_ANSWER = re.compile(r"\s+(?:with|in|about) (?:the|this|that|it)\b|\s*(?:\Z|[.,;:!\n])")
FOLLOWS = (
    r"\s*(?:\Z|[.,;:!()\]—–|\n-]|->|→)|\s+(?:because|since|as|and|but|in|for|with|given|according"
    r"|when"
    r"|here|overall|too|however|though|although|so|while|on|at|by(?! the (?:user|author|student"
    r"|prompt|grader|teacher))|from|due|based|within"
    r"|if|unless|only|after all|to within|enough|yet|under|per"
    r"|for sure)\b"
)
LEAD = re.compile(
    rf"\s*(?:(?:yes|so|therefore|thus|hence|overall|finally|and|or rather"
    rf"|is|am|it's|its|it is"
    rf"|final"
    r"|(?:my |the |final )*(?:verdict|answer|response|judge?ment)(?: is)?"
    r"|i(?: would|'d| will|'ll| must| have to|'m going to|'m)? (?:say|judge|answer|vote|conclude"
    r"|go with|going with|reply"
    r"|mark|rate)"
    r"(?: (?:that )?(?:it|this|with)(?: is)?)?|i am|i'm|yes,? i am|[=>|/-]+"
    rf"|most)\s+|{ADVERBS})*\Z"
)
LABEL_OF_PART = re.compile(
    rf"(?<!answer to this )(?<!answer to the )(?:\b(?:{_PARTS}|statement \w|claim \w"
    r"|answer (?:[b-z]|\d+)\b|q|problem|\d+|hint|prompt"
    r"|instructions?|task|example)\b)[^:\n]{0,24}:\s*\Z"
)
CONDITION = re.compile(r"\s+(?:if|unless|assuming|provided|only if|under the assumption)\b")
CONDITION_BEFORE = re.compile(
    r"\s*(?:and )?(?:if|assuming|unless|suppose|supposing|provided(?! (?:answer|response|solution"
    r"|result|value)))\b"
)
TRAILING_ADVERBS = re.compile(rf"(?<![\w'-]){ADVERBS}{{1,4}}\Z")
# Before `is the right answer`: nothing, or what is shown.
HEAD_OF_PHRASE = re.compile(
    r"(?:\b(?:this|that|it|he|she|they|(?:the|this|that|given|proposed) (?:\w+ )?(?:answer"
    r"|response|value"
    r"|result|solution|student|model|one|statement|claim)))(?:\s+(?:does|did"
    r"|do))?\s*\Z"
)
_KEY = r"verdict|judge?ment|assessment|evaluation|decision|conclusion|rating|label|answer|result"
JSON = re.compile(
    rf"[\"'](?:final[_ ])?(?P<key>{_KEY}|(?:is[_ ]|answer[_ ]is[_ ])?(?:correct|right|true"
    rf"|accurate|valid"
    r"|certain)|(?:is[_ ])?(?:incorrect|wrong|false))[\"']\s*:\s*"
    r"(?:\"(?P<text>[^\"\n]{0,120})\"|(?P<yes>true|1\b)|(?P<no>false|0\b)|(?P<null>null|none))"
)


def is_settled(left: str) -> bool:
    """Whether what stands before a verdict word holds no doubt and no condition."""
    return HEDGES.search(CERTAINLY.sub(" ", left)) is None


def heads(left: str, also: str = "") -> list[bool]:
    """Of each thing that may be spoken of, in order, whether it is the answer or its author.

    What hangs on another by a preposition (`the reasoning behind the answer`) is left out.
    """
    named = re.compile(f"(?P<answer>{ABOUT_ANSWER.pattern}{also})|{ABOUT_PART.pattern}")
    found: list[bool] = []
    end = 0
    for match in named.finditer(left):
        if not (found and SUBORDINATE.search(left, end, match.start())):
            found.append(match["answer"] is not None)
        end = match.end()
    return found
