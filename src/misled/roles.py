r"""Roles: what each sentence of a chain does, and the steps that follow from it.

    >>> text = "15 * 3 = 45. Wait, is that right? Let me check: 15 + 30 = 45. So the answer is 45."
    >>> [(text[s.start:s.end].split()[0], s.role) for s in steps(text)]
    [('15', 'calculation'), ('Wait,', 'reflection'), ('Let', 'verification'), ('So', 'conclusion')]

A sentence is read by its cues, each a phrase of the tables below: where it
opens, what it doubts, what it checks, what it states. A keyword alone decides
little: *but* turns the thought round only together with a hedge, a negation or
a question, and "Wait, let me check" is a check. Context adds two things. A
check stays open over the sentences that carry it out; and "therefore ..." is a
conclusion where the chain then stops, doubts or checks, else a step of the
calculation. The phrases are English and Chinese, with a little Japanese.

Does not know whether a calculation is right, nor which value is the result.
"""

from __future__ import annotations

import re

from misled.records import Role, Step
from misled.sentences import sentences

__all__ = ["sentences", "steps"]

# --------------------------------------------------------------------------- cues


def _any(phrases: str) -> str:
    r"""One alternation of the lines; a space is any one white space, `\` goes on below."""
    lines = phrases.strip().replace("\\\n", "").split("\n")
    return "(?:" + "|".join(lines).replace(" ", r"\s") + ")"


_MARKS = r"[\s>#*_\-+•–—(\"“'`\[]*(?:(?:step\s)?\d{1,2}[.):]\s)?[\s*_\"“'`(\[]*"
_OPENING = re.compile(_MARKS)
# What may stand before the word that tells: "Okay, so maybe ..." opens with "maybe".
_FILLER = re.compile(r"(?:(?:okay|ok|so|well|and|alright|then|now|also|yeah|but)[,.]?\s){0,2}")
_TURN = re.compile(
    _any(r"""
(?:wait|hm+|uh|um+|huh|oh|ah|oops|nope|alternatively|actually|careful|unless)\b
hold (?:on|up)\b
no(?=[,!.?:;]| wait| no\b| that\b)
(?:or )?(?:maybe|perhaps|possibly)\b
or (?:is|are|could|does|should|the|it|if|would|am)\b
(?:what (?:if|about|else)|how about|on second thought|scratch that)\b
another (?:thought|idea|possibility|possible|approach|way|angle|option|interpretation|point)\b
is (?:there|it|that|this)\b
that's (?:strange|odd|weird|wrong|interesting|confusing|not)\b
等等|等一下|不对|不[，,]|不过|但|然而|另外|或者|也许|或许|可能|其实|实际上|换|重新|很遗憾|奇怪|嗯|咦
しかし|でも|待って|ただし
""")
)
_CONTRAST = re.compile(
    r"(?:but(?! (?:note|since|we need))|however|though|although|yet|still|except|only if)\b"
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|may|could|would|probably|likely|seem(?:s|ed)?|think|guess"
    r"|believe|presumably|typical(?:ly)?|sometimes|often|usually|if|unless|or|not|no|never|nothing"
    r"|without|cannot|only|just|wrong|incorrect|depends?)\b|n't\b"
)
_DOUBT = re.compile(
    r"\b"
    + _any(r"""
(?:i'm|i am|we're|we are) (?:\w+ ){0,2}(?:not|unsure|uncertain|stuck|confus|misre|overthink|missing)
not (?:\w+ )?(?:sure|certain|clear|confident|convinced|right|correct|helpful|possible|working|match)
(?:mistake|typo|misread|misremember|misinterpret|misunderst|miscalc|miscount|confus|overthink)
(?:overcomplic|ambigu|unclear|contradict|inconsisten|suspicious|discrepan|puzzl|tricky|strange)
(?:weird|unlikely|doubt|wonder|speculat|made an error|an error|error in)
(?:do|does|did|is|are|was|would|could)(?:n't| not) (?:\w+ )?(?:make sense|match|seem|fit|work|help\
|add up|right|correct|equal|look|apply|mention|specif|say|give|provide)
(?:i|we) (?:don't|do not) (?:\w+ )?(?:know|recall|remember)
(?:(?:this|it) can(?:'t|not)|that can't) be
can(?:'t|not) (?:\w+ )?(?:be (?:right|correct|determined)|determine|recall|remember|find|solve\
|compute|know|use|figure)
i (?:might|may|could|must) (?:be|have)\b
(?:reconsider|re-?evaluate|re-?think|re-?examine|re-?calc|re-?comput|redo|revisit)
(?:think|look|try|start|begin) (?:\w+ )?(?:again|over|differently|otherwise|something else\
|from scratch)
(?:another|different|alternative|other) (?:way|approach|method|interpretation|possibilit|angle\
|path|perspective|thought)
too (?:big|small|large|high|low|simple|easy|straightforward)
to be (?:careful|mindful)
(?:that|this|it)(?:'s| is|isn't) (?:\w+ )?(?:not|wrong|odd|impossible|off)\b
without (?:more|additional|any|knowing|further|their|an|the)\b
(?:not given|(?:it|that|this) depends)\b
consider(?:ing)? (?:if|whether|other|any)\b
(?:should|am|did|do) i\b
""")
    + r"|[,;:(—] ?(?:but )?(?:wait|hold on|hmm+)\b"
    + r"|\b(?:so|then|therefore|instance|example),? (?:maybe|perhaps)\b"
    + r"|(?<!first), (?:maybe|perhaps) (?:it|he|she|they|there|the|we|i|this|that)\b"
    + r"|不(?:太|大)?(?:确定|对(?![称应])|行|合理|正确|符合|合适|等于)|错误|错了|有误"
    r"|[看算搞弄写]错|疑惑|困惑|糊涂|矛盾|重新|(?<!看)是否|仍然|[吗呢吧][？?]|难道|奇怪|另一种|换[一个种]|再想|再试"
    r"|漏了|其[他它]的?(?:方式|方法|组合)|调整|失败|无法|好像|有可能|本当|かな"
)
_CHECK = re.compile(
    r"\b"
    + _any(r"""
(?:let's|let me|let us|i'll|i will|(?:i|we) (?:should|can|must|need to)|to) (?:\w+ ){0,2}\
(?:(?:double|triple|cross|sanity|re)[- ]?)?(?:check|verify|confirm|validate|(?:make|be) sure)
(?:let's|let me|let us|i'll|(?:i|we) (?:should|need to)) (?:\w+ )?(?:test (?:it|this|that)|re-?read)
(?:double|re|cross|sanity|final|quick|one more|another)[- ]?(?:check|validat|verif|read)
(?:verification|verifying|checking|we verify|be thorough)
(?:plug|substitut|put)\w* (?:\w+ ){0,4}back
(?:check|verify)(?=[:,]| if| that)
""")
    + r"|验证|检查|核对|验算|确认|检验|代入|確認|検証"
)
_AFFIRM = re.compile(
    _any(r"""
(?:yes|yep|yeah|yup|indeed)\b
(?:right|correct|good|great|perfect|exactly)(?=\s*(?:[,.:;!)*]|\Z)| match)
(?:[\w']+,? ){0,2}(?:seems|looks|sounds|checks) (?:right|correct|good|fine|okay|out)\b
(?:[\w']+,? ){0,3}(?:that|this|it|everything|which|all|math|they)\
(?:'s|(?: \w+)? (?:is|are|seems?|looks?|sounds?|makes?|checks|adds|match(?:es)?|confirms|works)) \
(?:\w+ )?(?:right|correct|sense|out|up|good|solid|fine|okay|consistent|valid|the same|our)
(?:the )?same (?:answer|result|thing|number)
(?:对|是的|没错|正确|好)[，,。！]
[^，,。]{0,12}(?:正确|无误|没有问题|吻合|一致)
""")
)
_FINAL = re.compile(
    r"\\boxed|\b"
    + _any(r"""
final (?:\w+ )?(?:answer|result|decision|output|message)
(?:the|my|our|correct|this|numeric) (?:\w+ )?(?:answer|option|choice) (?:is|should|must|w|has|=|to)
answer ?(?:is|:(?! ?<)|should|must|would be|choice:|=)
(?:so|thus|therefore|hence),? (?:the )?(?:correct )?(?:answer|option|choice)
(?:produce|output|reply with|respond with) (?:the |just )*(?:final|answer|numeric|only|["“]?-?\d)
(?:in (?:conclusion|summary)|to (?:sum up|summari[sz]e|conclude)|conclusion)\b
putting (?:it|this|that|everything|all)(?: all)? together
""")
    + r"|答案(?:是|为|应|就)|最终|最后的?结果|综上|总结|结论|答えは"
)
# "How many are left?" plans the next step; "Is it 5?" doubts the last one.
_PLAN = re.compile(
    r"\b(?:how (?:many|much|long|far|old|do|can)|what(?:'s| is| are| was| would)|where|who|when)\b"
)
_CALCULATION = re.compile(
    r"\d\s?(?:[=+*×÷/^≈<>]|\\times|\\cdot|\\div|\s[-−]|[-−]\s)"
    r"|[\w)}\]$]\s?(?:[=≈≥≤≠]|\\neq|\\approx|\\geq|\\leq)|\\frac|\\sqrt"
    r"|\b(?:carr(?:y|ies|ying)|borrow|multipl(?:y|ied|ying)|divid(?:e|ed|ing)|subtract(?:ing|ed)?"
    r"|add|adding|plus|minus|times|squared|equals|calculat(?:e|ing)|comput(?:e|ing)|remainder"
    r"|divisible|units|tens|hundreds)\b"
    r"|计算|得到|等于|相[加减乘除]|[乘除减加]以?\s?\d|得\s?\d"
)
_FIGURES = re.compile(r"(?=\D*\d)[\d\s.,+\-=*/×()$|\\\[\]{}^]*\Z")
_THEREFORE = re.compile(r"(?:therefore|thus|hence|consequently|so|in total|altogether|overall)\b")
_ASIDE = re.compile(r"(?:now|next|so|therefore|then|the (?:problem|question)|moving|step)\b|[#第]")
_HANGS = re.compile(r"(?:because|which|whereas)\b")  # on the sentence before
_DIGIT = re.compile(r"\d")
_EQUATES = re.compile(r"[=≈]")

# --------------------------------------------------------------------------- steps

_STATED = 3  # the first sentences restate the question; their question marks are not doubts


def steps(reasoning: str) -> tuple[Step, ...]:
    """Maximal runs of sentences of one role; they tile `reasoning` without gap or overlap."""
    found: list[Step] = []
    spans = sentences(reasoning)
    for (start, end), role in zip(spans, _roles(reasoning, spans), strict=True):
        begin = found.pop().start if found and found[-1].role == role else start
        found.append(Step(begin, end, role))
    return tuple(found)


def _roles(text: str, spans: list[tuple[int, int]]) -> list[Role]:
    """One role a sentence: by its own cues, by the check that is open, by what follows."""
    # Neither replacement nor lower() changes the length, so that offsets hold.
    low = text.replace("\u0130", "I").lower().replace("’", "'")
    roles: list[Role] = []
    before: Role = "other"
    checking = paragraph = announced = False
    for number, (start, end) in enumerate(spans):
        at = _skip(_OPENING, low, start, end)
        role, checks = _role(low, at, end, "verification" if checking else before, number)
        if announced and before == "conclusion" and role in {"calculation", "other"}:
            role = "conclusion"
        if role == "other" and _HANGS.match(low, at, end):
            role = before
        if checks:
            checking = True
        elif role in {"reflection", "conclusion"} or (
            paragraph and (role == "other" or _ASIDE.match(low, at, end))
        ):
            checking = False
        elif checking:
            role = "verification"
        roles.append(role)
        before = role
        tail = low[max(start, end - 12) : end]
        announced = tail.rstrip().endswith((":", "：", "**"))
        paragraph = tail.count("\n") > 1 and not checks
    _conclude(low, spans, roles)
    return roles


def _role(low: str, at: int, end: int, before: Role, number: int) -> tuple[Role, bool]:
    """The role of the sentence that opens at `at`, and whether it opens a check."""
    word = _skip(_FILLER, low, at, end)
    turns = _TURN.match(low, at, end) or (word > at and _TURN.match(low, word, end))
    doubts = _DOUBT.search(low, at, end)
    asks = low[max(at, end - 8) : end].rstrip(" \n\t*_)").endswith(("?", "？"))
    reckons = _CALCULATION.search(low, at, end) or _FIGURES.match(low, at, end)
    checks = bool(_CHECK.search(low, at, end))
    doubt = 2 * bool(turns) + 2 * bool(doubts)
    if _CONTRAST.match(low, at, end):
        doubt += 2 if asks or _HEDGE.search(low, at, end) else 1
    if asks and number >= _STATED:
        plain = before == "verification" or _PLAN.search(low, at, end)
        doubt += 1 if plain or (reckons and before != "reflection") else 2
    sure = not (turns or doubts or asks)
    if checks:
        return "reflection" if turns else "verification", True
    if _FINAL.search(low, at, end) and (sure or doubt < 2):
        return "conclusion", False
    if not (doubts or asks) and (_AFFIRM.match(low, at, end) or _AFFIRM.match(low, word, end)):
        return "verification", False
    if doubt >= 2:
        return "reflection", False
    if reckons or (before == "calculation" and _DIGIT.search(low, at, end)):
        return "calculation", False
    return "other", False


def _conclude(low: str, spans: list[tuple[int, int]], roles: list[Role]) -> None:
    """Make "therefore ..." a conclusion where the chain then stops, doubts or checks."""
    after: Role = "conclusion"
    for number in range(len(spans) - 1, -1, -1):
        start, end = spans[number]
        if after not in {"calculation", "other"} and roles[number] in {"calculation", "other"}:
            at = _skip(_OPENING, low, start, end)
            word = _THEREFORE.match(low, at, end)
            if (
                word
                and (word.group() != "so" or _DIGIT.search(low, at, end))
                and not _EQUATES.search(low, at, end)
            ):
                roles[number] = "conclusion"
        after = roles[number]


def _skip(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Where `pattern`, which may match nothing, ends."""
    match = pattern.match(text, start, end)
    return match.end() if match else start
