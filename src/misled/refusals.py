"""Whether a text is no attempt at an answer: a clear refusal, or a server's error message.

    >>> is_refusal("I'm sorry, but I can't help with that.")
    True
    >>> is_refusal("It does not mean that I can't help with that. I can't find the sum.")
    False

Conservative: to be unable to *find* something is no refusal, nor is one that is
negated, conditional or quoted; ten languages. Whether the text states a value all the
same is not known here.
"""

from __future__ import annotations

import re

__all__ = ["is_error", "is_refusal", "lowered"]

# A refusal opens a reply; what comes later talks about something else.
_WINDOW = 600

_REFUSALS = {
    "en": (
        r"\bi(?: am|'m)?(?: really| simply| just| unfortunately)?"
        r" (?:can't|cannot|can not|won't|will not"
        r"|(?:unable|unwilling|not able|not allowed|not permitted|not willing) to) (?:\w+ ){0,2}?"
        r"(?:help(?! but\b| \w+ing\b)|assist|comply|engage|participate|fulfil|accommodate"
        r"|(?:answer|discuss|process|provide|share|respond to|continue with|carry out)"
        r" (?:this|that|these|those|your|such|any)\b)"
        r"|\bi(?: must| have to| will have to|'ll have to| need to)?(?: respectfully| politely)?"
        r" (?:decline|refuse) (?:to|this|that|your)\b"
    ),
    "de": (
        r"\b(?:ich (?:kann|darf|werde)|(?:kann|darf|werde) ich)(?: \w+){0,5} nicht(?: \w+)?"
        r" (?:helfen|weiterhelfen|unterstützen|nachkommen|mitwirken|beantworten|behilflich)"
        r"|\bich (?:muss (?:\w+ ){0,3}ablehnen|lehne (?:\w+ ){1,3}ab|weigere mich)\b"
    ),
    "fr": (
        r"\bje ne (?:peux|puis|pourrai)(?: malheureusement)?(?: pas)?(?: vous| te)? ?(?:t')?"
        r"(?:aider|assister|donner suite|participer|me conformer"
        r"|(?:répondre|accéder) à (?:cette|votre|ta|ce)|fournir (?:cette|ces|ce))"
        r"|\bje (?:refuse de (?:répondre|participer|vous|t')|dois (?:refuser|décliner))"
    ),
    "es": (
        r"\b(?:no (?:puedo|podré|me es posible)|me niego a|debo negarme a) (?:\w+ )?"
        r"(?:ayudar|asistir|cumplir|atender|colaborar|participar"
        r"|(?:responder a|proporcionar) (?:esa|esta|ese|este|eso|esto|tu|su)\b)"
    ),
    "pt": (
        r"\b(?:não (?:posso|consigo|poderei)|recuso-me a) (?:\w+ )?"
        r"(?:ajudar|auxiliar|atender|cumprir|colaborar|participar"
        r"|(?:responder a|fornecer) (?:essa|esta|esse|este|isso|isto)\b)"
    ),
    "it": (
        r"\b(?:non (?:posso|sono in grado di)|mi rifiuto di|devo rifiutarmi di) (?:\w+ )?"
        r"(?:aiutar|assister|soddisfare|collaborare|partecipare|(?:rispondere a|fornire) quest)"
    ),
    "ru": (
        r"\b(?:не (?:могу|смогу|буду|имею права)|отказываюсь)(?: \w+){0,2} "
        r"(?:помочь|помогать|содействовать|обсуждать"
        r"|(?:ответить на|отвечать на|выполнить|предоставить) (?:это|эт|ваш|так))"
    ),
    "zh": (
        r"(?:我|抱歉|对不起)[^。！？\n]{0,9}?(?:无法|不能|没法|不便)[^。！？，\n]{0,4}"
        r"(?:协助|帮助|帮你|帮您|帮到|满足|(?:回答|提供|完成|处理)(?:这|此|该|你|您|相关))"
        r"|我(?:必须|只能|不得不|选择)?拒绝(?:回答|提供|协助|这|此|你|您)"
    ),
    # A double negation goes on after the ending.
    "ja": (
        r"(?:お手伝い|お答え|お応え|ご協力|対応)(?:する)?(?:こと)?(?:は|が|を)?"
        r"(?:でき(?:ません|かねます)|いたしかねます|しかねます)(?!わけ|こと)"
        r"|(?:お断り|拒否)(?:いた)?します"
    ),
    "ko": (
        r"(?:도와 ?드릴|도와 ?줄|도움을 드릴|답변 ?(?:해 )?드릴|답변할|응답할) ?수(?:가|는)? ?"
        r"없(?:습니다|어요|네요)"
    ),
}
_REFUSAL = re.compile("|".join(_REFUSALS.values()))  # of lower case
# What, shortly before it, turns a refusal into something else.
_UNSAID = re.compile(
    r"(?:(?:\b(?:not?|never|nor|nicht|kein|keinen|pas|non|não|не)|n't)(?: \w+){0,2}"
    r"|\b(?:if|whether|unless|wenn|falls|si|se|если)|不是|并非|如果|若)[ ,]*$"
    r"|[\"“”«»‘「『][^\"“”«»‘「『」』]{0,40}$"
)
# What servers and gateways send for an answer: a body of JSON or HTML, or a line of text.
_BODY = re.compile(
    r"\s*(?:\{\s*[\"'](?:error|detail|fault)[\"']\s*:|<(?:!doctype|html|head|title|\?xml)\b)",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"\s*\[?(?:[A-Za-z]*(?:Error|ERROR|Exception)\b|error\b|Traceback\b|HTTP\b"
    r"|[45]\d\d\s[A-Z][a-z]+"
    r"|\[?truncated\b)"
)
_TOLD = re.compile(
    r"\b(?:rate limit|too many requests|tim(?:ed|e)[ -]?out|quota|overloaded"
    r"|internal (?:server )?error"
    r"|bad (?:gateway|request)|gateway time-?out|service unavailable|context (?:length|window)"
    r"|maximum context"
    r"|(?:retry|try again|retrying) (?:after|in) \d|an error occurred"
    r"|(?:status|error) code|(?:re)?connect error|request failed"
    r"|connection (?:refused|reset"
    r"|error)|api key|unauthori[sz]ed|\d+ tokens\])",
    re.IGNORECASE,
)
_BRIEF = 400  # code points: a longer text that names an error is about something else


def is_error(text: str, *, body: bool = False) -> bool:
    """True where `text` is a server's error message; with `body`, only one of JSON or HTML."""
    if _BODY.match(text):
        return True
    if body:
        return False
    told = len(text) <= _BRIEF and _TOLD.search(text)
    return bool(told) or _MESSAGE.match(text) is not None


def lowered(text: str) -> str:
    """The text in lower case, offsets kept: patterns search that twice as fast as with a flag."""
    return text.replace("\u0130", "I").lower()  # the one letter that would become two


def is_refusal(text: str) -> bool:
    """True where the opening of `text` declines the request in so many words."""
    opening = lowered(text[:_WINDOW]).replace("’", "'")
    return any(
        not _UNSAID.search(opening[max(0, match.start() - 60) : match.start()])
        for match in _REFUSAL.finditer(opening)
    )
