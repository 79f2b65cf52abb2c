r"""What a reply says of values that are not its own: what others said, what it rejects.

    >>> own_words("The sum is 42, but the previous thought gave 47.")
    'The sum is 42, but the                         .'

Such remarks are blanked and offsets kept, so that the rest reads as if nothing
else had been said: the claims of others (`the thought claims 47`, `you said`,
`I first got`), values that are denied (`47 is wrong`, `~~47~~`, `instead of
47`) or taken back by the next sentence, and values that are no result of
anything (`carry the 1`, `4 tens`, `128 tokens`). A remark ends where the sentence
turns back to what the reply itself holds (`but`, `should be`, `is correct:`).

Knows nothing about what is final. A pattern looks at most a few words around
a place, so that the work is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

from misled.refusals import lowered
from misled.values import Value, ahead, is_negated, is_operand, is_stated, values

__all__ = ["LEAD", "blanked", "own_words", "sentences"]

Span: TypeAlias = tuple[int, int]

_LOOK = 64
_CLOSERS = " \t\r\n*_)\"'”’`$"
_CLAUSE = 240  # code points that a remark on what others said reaches at most
_NEAR = r"[ \t*_`$)\]}\"'”’]*"  # what may stand after a value in its line
_MANY = 64  # values: a sentence with more is a listing, only its end is looked at

_END = re.compile(r"[.!?](?=[\s\"'”’)*\]$}]|\Z)|[。！？]|\n")
LEAD = r"[\s*_#>`~•|(（\[✓✔✅☑🔍️:-]*"

# --- what others said ---
_TEXT = (
    r"(?:thoughts?(?: process)?|thinking|answer|calculation|computation|solution|chain|reasoning"
    r"|conclusion|response|attempt|claim|analysis|explanation|work(?:ing)?|trace|result|output"
    r"|statement|message)"
)
_AMOUNT = r"(?:sum|total|value|figure|number|product|difference|line)"
_SAID = (
    r"(?:said|say|says|stat(?:ed|es)|claim(?:ed|s)|wrote|writes|gave|got|had|concluded|concludes"
    r"|mentioned|computed|calculated|obtained|found|thought|answered|made|put|arrived)"
)
_OTHERS = re.compile(
    r"\b(?:previous|earlier|prior|former|preceding|tampered|incorrect|wrong|erroneous|mistaken"
    rf"|faulty|flawed|claimed|stated|alleged|old)\s(?:[a-z-]+\s){{0,2}}?(?:{_TEXT}|{_AMOUNT})\b"
    r"|\b(?:your|given(?! the| that)|provided|supplied|original|initial|above|first)\s"
    rf"(?:[a-z-]+\s)??{_TEXT}\b"
    r"|\b(?:the|this|that|my|your|its|in|whose) thought\b(?!s? (?:experiment|of you))"
    r"|\b(?:thought|chain|draft|trace)[’']s\b"
    rf"|\b{_TEXT}\s(?:above|provided|given|shown)\b(?! is\b)"
    rf"|(?<!as )\byou(?: \w+ly| have| had| also)? {_SAID}\b"
    r"|\bi(?: had|'d| have)?(?: previously| earlier| initially| originally| first| once"
    rf"| mistakenly| wrongly| incorrectly)+ {_SAID}\b"
    rf"|\b(?:earlier|previously|before|initially|originally|at first),? (?:i|we|it|you) {_SAID}\b"
    r"|\bi thought\b|\b(?:incorrectly|mistakenly|wrongly|erroneously|falsely)\s[a-z]+"
    r"|\b(?:it|which|that|chain|text|prompt|calculation|reasoning)(?: also| then| \w+ly)? "
    r"(?:says|said|states|stated|claims|claimed|wrote|asserts|asserted|concluded|concludes)\b"
    r"|\bi (?:get|got|have|find|found)\s[^.,;\n]{1,48}[,;]\s"
    r"((?:it|they)\s(?:has|have|had|gets?|got)\b)"
    r"|\b(?:your|previous|earlier|prior|former|wrong|incorrect|erroneous|mistaken|claimed|stated"
    r"|thought[’']s)\s[*$`\\(\"“]*(?=\d)"
    r"|(?:之前|先前|此前|原来|原先|前面|上面|上述|早先)(?:的|我|你|您)*(?:思考|思路|推理|计算|过程|想法"
    r"|答案|结果|结论|得到|得出|算|说|给出|认为|写)"
    r"|(?:你|您)(?:的)?(?:思考|思路|推理|计算|答案|结果|结论|得到|得出|算|说|给出|认为|写)"
    r"|我之前|我原来|我先前|思考(?:过程)?(?:中|里)|之前的(?=\s?\d)"
)
# Where the sentence comes back to what the reply itself holds.
_TURN = re.compile(
    r"[;；→⇒]|\s[—–-]{1,2}\s"
    r"|\b(?:but|however|yet|whereas|while|so|therefore|thus|hence|although|instead)\b"
    r"|\b(?:should|must|needs? to|ought)\b"
    r"|\b(?:is|was|are|were|looks?|seems?)\s(?:indeed |also |entirely |fully |all )?"
    r"(?:correct|right|accurate|valid|true|fine|verified|confirmed|sound)\b"
    r"|\b(?:is|was|has|contains?|had)\s(?:an? |clearly |not |some |\w+ly )?"
    r"(?:correct|right|wrong|incorrect|errors?|mistakes?|slip|flawed|faulty)\b(?=[^.\d]{0,60}[:,])"
    r"|\bcorrectly\b|\b(?:shows?|confirms?|proves?|demonstrates?|establishes)\b"
    r"|\bmy\s(?:own\s)?(?:re)?(?:calculation|computation|check)\b"
    r"|\b(?:the|my)\s(?:correct|right|true|actual|real|new|proper)\b"
    r"|[,:)]\s?(?:it|that)(?:[’']s| is| equals)\b|[,:)]\s?(?:actually|in fact)\b"
    r"|[,:)]\s?(?:and )?i (?:get|find|found|got|obtain|compute|calculate|have)\b"
    r"|(?:有误|错误|有错|不对|是错的)[，：,:]|可知|可得|得知|[，,]\s?(?:但|正确|应|所以|实际|而|因此|其实|不过)|应(?:该|当)?(?:为|是)"
    r"|是(?:正确|对)的|(?:没有?(?:任何)?(?:问题|错误|错)|无误|正确)(?=[，,；])"
    r"|\b(?:has|had|have|contains?|contained)\s(?:no|zero)\s(?:\w+\s)?(?:errors?|mistakes?|flaws?"
    r"|problems?|issues?|slips?)\b"
)
_BESIDE = re.compile(  # what leads a phrase in that says what the reply looked at
    r"\b(?:based on|from|after|upon|following|using|given|agree\w* with|same \w+ as|confirm\w*"
    r"|(?:check|review|verifi|examin|re-?read|retrac|follow)ed|[a-z]+ing(?: (?:at|through|over|to"
    r"|on))?"
    r"|(?:\A|[.!?\n] ?)with|(?:\A|[.!?\n] ?)\w+ing\b[^,.;\d]{0,40} (?:in|of|from|by)"
    r"|as (?:\w+ )?(?:in|by|from))\s"
    r"(?:(?:the|my|your|this|our|its)\s)?(?:steps in the )?\Z"
)
_CONCEDED = re.compile(
    r"\b(?:although|though|while|whereas|despite|unlike|contrary to|in contrast to|regardless of"
    r"|ignoring|disregarding|(?:independent|regardless)(?:ly)? of|(?:setting|leaving) aside"
    r"|without (?:relying on|using|following|trusting))\b"
    r"[^,.;\n]{0,24}\Z|(?:虽然|尽管)[^，。\n]{0,8}\Z"
)
_SOUND = re.compile(  # what is said of others' text before it is named
    r"\b(?:(?:no|any)\s(?:\w+\s)?(?:errors?|mistakes?|flaws?|problems?|issues?|slips?|fault)"
    r"|nothing (?:is |was )?wrong)\s(?:with|in)\s(?:(?:the|your|this|that)\s)?\Z"
)
_COMMA = re.compile(r"[,，:：]\s?(?!which|that|who)")
_BASED = re.compile(r"\bbased on\b[^,.;\d]{0,40}\Z")
_PHRASE_END = re.compile(r"[^,.;:\d]{0,48}(?:[,，:](?!\s*which)|\band\b)")
_HELD = re.compile(rf"(?<![\d.,])\d[\d,.]*{_NEAR}(?:in|from|of|by)\s(?:(?:the|my|your)\s)?\Z")
_FAULT = re.compile(
    r"\b(?:wrong|incorrect|mistaken|errors?|mistakes?|not (?:correct|right|true))\b"
    r"|n[’']t (?:correct|right)"
)
_AFTERWARDS = re.compile(  # a value, and only then whose it is
    rf"{_NEAR}(?:(?:as |was |is )?(?:given|stated|claimed|found|written|reached)\s)?"
    r"(?:in|from|of|by) (?:the|my|your) (?:\w+ )?"
    r"(?:thought|thinking|chain|reasoning|calculation|attempt|trace)\b"
)

# --- what the reply rejects ---
_STRUCK = re.compile(
    r"~~[^~\n]{1,400}~~|<(?:del|s|strike)>[^<\n]{1,400}</(?:del|s|strike)>"
    r"|\\(?:cancel|sout|st|xcancel)\{[^{}\n]{0,400}\}"
)
_CROSS = re.compile(r"[❌✗✘✖🚫]")
_WRONG_LABEL = re.compile(
    rf"{LEAD}(?:incorrect|wrong|mistake|error|erroneous|not(?=\s?[:：])|错误|错|before|was|old"
    rf"|previous(?:ly)?"
    r"|tampered|thought)[a-z ]{0,24}[*_`]*\s?[:：]"
)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|cannot|can't|isn't|wasn't|never|n't)(?: be| equal| to be| the| exactly| actually"
    r"| really| simply)*|\b(?:instead of|rather than|(?:differ|deviat)\w* (?:from|by)"
    r"|different (?:from|to)|unlike|contrary to|as opposed to|in place of|than|versus|vs\.?"
    r"|(?<=[(（])(?:it )?(?:was|previously|originally|formerly|before|earlier|not)"
    r"|(?:off|less|more|high|low|wrong|incorrect|larger|smaller|greater)\b[^.;]{0,40}\bby"
    r"|not (?:\w+ )?(?:convinced|sure|certain)(?: that| if| whether)?"
    r"|(?:might|could|may)(?: well)? be|off by|corrected from|changed from|(?:\A"
    r"|[.!?\n] ?)(?:change|replace|correct(?= the))"
    r"|whether|doubt(?: that)?"
    r"|(?:can(?:no|')t|need to|have to) (?:verify|confirm|recalculate|recompute|recheck)"
    r"|(?:check|see|verify|know|sure) if|correct(?:s|ing)|replac(?:es|ing)|fix(?:es|ing))"
    r"(?: the| that| your| my)?(?: value| answer| result)?(?: of)?"
    r"|不是|而非|并非|不等于|不应(?:该)?(?:为|是))\Z"
)
_WRONG = (
    r"(?:(?:(?:clearly|also|actually|therefore|thus|simply|definitely|in fact|still|indeed) )*"
    r"(?:wrong|incorrect|mistaken|false|erroneous|invalid|inaccurate|not (?:the )?(?:correct|right"
    r"|true|accurate)|an? (?:\w+ )?(?:error|mistake|slip|typo)|too (?:large|small|high|low|big)"
    r"|off\b|the (?:wrong|tampered)))"
)
_NOT_AFTER = re.compile(
    rf"{_NEAR}[,)]?(?:\s(?:as (?:given|stated|claimed|in)|given (?!that)|stated|found|in|from|of)\b"
    r"[^.;\d]{0,60}?)?"
    rf"\s?(?:,?\s?which )?\b(?:(?:is|was|were|seems|looks|appears|must be|would be|to be)\s{_WRONG}"
    rf"|(?:isn't|wasn't|can't be|cannot be|is not|was not)\s(?:the )?(?:correct|right|true)"
    r"|(?:has|had|contains?|contained)\s(?:an? |some )?(?:\w+ )?(?:errors?|mistakes?)"
    r"|(?:should|must|has to|needs to)\s(?:be|read|have been|say)\b"
    r"|(?:should|must|has to|needs to|was|is|to)\s?(?:be )?(?:replaced|corrected|changed)\b)"
    rf"|{_NEAR}(?:→|->|=>|\\to\b){_NEAR}[*$`]*\d"
    rf"|{_NEAR}(?:[❌✗✘✖]|\s?[(（]?(?:wrong|incorrect|错误|有误|不正确|不对|是错|是不对)|的?(?:错|有误)"
    r"|(?:是|为)?(?:错误|不正确|不对))"
)
_BACK = re.compile(  # a sentence that takes back what was said before it
    rf"{LEAD}(?:(?:but|however|no|wait|oh|hmm|actually|sorry|oops)[,.]? )*"
    r"(?:(?:this|that|it|which)(?:[’']s| is| was| seems| looks)\s"
    rf"{_WRONG}|(?:这|那)(?:个结果)?是?(?:错|不对|不正确))"
)

# --- what is no value of a result at all ---
_PLACE_BEFORE = re.compile(
    r"(?:\bdigits?\b[^.;,]{0,16}(?:sum|add|total)\w*(?: up)?(?: to| is)?|\bcarr(?:y|ied|ying"
    r"|ies)(?: over)?(?: the| a| of)?|\bcarry\s?[=:]"
    r"|\bwrite(?: down)?(?: the)?"
    r"|\bborrow(?:ing)?(?: the| a)?|\bdigits?(?: (?:is|was|are|of|a|from|should be|in|place))*"
    r"|\b(?:place|column)(?: (?:is|was|from|should be))|进位?|进"
    r"|\b(?:question|problem|exercise|page|page \d+ of|part|q)\s?#?\Z)\s?[=:]?\Z"
)
_PLACE_AFTER = re.compile(
    rf"{_NEAR}(?<=[ *_`)])(?:(?:in|at) the (?:\w+[- ])?(?:ones|units?|tens?|hundreds?"
    r"|thousands?|millions?|hundred-thousands?)\b"
    r"|tens\b|ones\b|hundreds\b|(?:decimal|significant)\b|digits?\b|tokens?\b|(?:%|percent) sure)"
    r"|-digit|\s?(?:位数|位小数|个十|个一)"
)
_TIMES = re.compile(
    rf"{_NEAR}(?<=[ *_`)])(?:different |separate |other |independent )?(?:times|ways|methods)\b"
)
_CHECKED = re.compile(r"\b(?:verif|check|confirm|review|comput|calculat)\w*[^.]{0,40}\Z")
_ASKED = re.compile(
    rf"{LEAD}(?:i would (?:start|begin|first)"
    r"|you (?:asked|want|wanted|gave)|the (?:question|problem|task) (?:asks|is)|i (?:will"
    r"|need to|have to|am going to)|let me|let[’']?s|we (?:need|have|are asked) to|to solve)\b"
)
_META = re.compile(
    rf"{LEAD}(?:tokens?|confidence|certainty|truncated)\b[^:：.\n]{{0,20}}(?:[:：=]|\d)"
)
_PARTS_OF = re.compile(
    r"\b(?:(?:sum|product|difference|quotient|addition|multiplication)\s(?:of|between)"
    r"|add(?:ing)?|summing|multiplying|combining)(?: the (?:two )?numbers| both)?[\s*_`$\\(]*\Z"
)
_JOINED = re.compile(rf"{_NEAR},?\s?(?:and|with|to|plus|by|,)\s[*_`$\\(]*")
_ADD_UP = re.compile(
    rf"{_NEAR}(?<=[ *_`)])(?:\w+\s)?(?:add(?:s|ed)? (?:up )?to|sums? (?:up )?to|add up|come to"
    rf"|make|combined"
    r"|together|are added|in all make)\b"
)
_NOT_NEWLINE = re.compile(r"[^\n]")


def own_words(text: str) -> str:
    """The text with blanks for what others said, what is rejected and what is no result."""
    said = blanked(text, (match.span() for match in _STRUCK.finditer(text)))
    said = blanked(said, _crossed(lowered(said)))
    said = blanked(said, _of_others(lowered(said)))
    return blanked(said, _void(said, lowered(said)))


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with spaces for the spans, which ascend; ends of lines are kept."""
    parts: list[str] = []
    at = 0
    for lo, hi in spans:
        if hi > at:
            start = max(lo, at)
            parts += (text[at:start], _NOT_NEWLINE.sub(" ", text[start:hi]))
            at = hi
    return "".join((*parts, text[at:])) if parts else text


def sentences(text: str) -> Iterator[Span]:
    """The sentences and lines of a text, tiling it; those of white space alone are left out."""
    start = 0
    for stop in _END.finditer(text):
        if stop.start() > start or stop[0] != "\n":
            yield start, stop.end()
        start = stop.end()
    if start < len(text):
        yield start, len(text)


def _crossed(text: str) -> Iterator[Span]:
    """Lines that are crossed out or labelled as wrong."""
    for lo, hi in sentences(text):
        if _WRONG_LABEL.match(text, lo, hi) or _CROSS.search(text, lo, hi):
            yield lo, hi


def _of_others(text: str) -> Iterator[Span]:
    """What others said, from where they are named to where the sentence turns."""
    end = 0
    for match in _OTHERS.finditer(text):
        lo = match.start(1) if match[1] else match.start()
        if lo < end:
            continue
        aside = _BESIDE.search(text, max(0, lo - _LOOK), lo)
        if (aside and _PHRASE_END.match(text, match.end())) or _BASED.search(
            text, max(0, lo - _LOOK), lo
        ):
            continue
        limit = min(len(text), match.end() + _CLAUSE)
        stop = _END.search(text, match.end(), limit)
        limit = stop.start() if stop else limit
        told = max(0, lo - _LOOK), lo
        conceded = _CONCEDED.search(text, *told) or _SOUND.search(text, *told)
        turn = (_COMMA if conceded else _TURN).search(text, match.end(), limit)
        end = turn.start() if turn else limit
        if _FAULT.search(text, match.end(), end):
            held = _HELD.search(text, max(0, lo - _LOOK), lo)
            lo = held.start() if held else lo
        yield lo, end


def _void(text: str, low: str) -> list[Span]:
    """Values that are rejected, and those that equal one rejected later; counts and places."""
    found = values(text)
    starts = [value.start for value in found]
    gone: list[Span] = []
    denied: dict[str, int] = {}
    before: list[Value] = []
    for lo, hi in sentences(text):
        here = found[bisect_left(starts, lo) : bisect_left(starts, hi)][-_MANY:]
        if before and _BACK.match(low, lo, hi):
            gone += ((value.start, value.end) for value in before)
        before = here
        parts = _parts(low, here)
        if here and _says_nothing(text, low, (lo, hi), here):
            gone.append((lo, hi))
            continue
        for value in here:
            if is_negated(text, value) or _NOT_AFTER.match(low, value.end, value.end + _CLAUSE):
                gone.append((value.start, value.end))
                denied[value.value] = value.start
            elif value in parts or _is_passed_over(low, value):
                gone.append((value.start, value.end))
    late = (value for value in found if value.start < denied.get(value.value, 0))
    gone += ((value.start, value.end) for value in late if not is_operand(text, value))
    return sorted(gone)


def _says_nothing(text: str, low: str, span: Span, here: list[Value]) -> bool:
    """Whether the sentence asks, repeats the question, or counts what the reply took."""
    lo, hi = span
    if text[lo:hi].rstrip(_CLOSERS)[-1:] in tuple("?？") or _META.match(low, lo, hi):
        return True
    return bool(_ASKED.match(low, lo, hi)) and not any(is_stated(text, value) for value in here)


def _is_passed_over(low: str, value: Value) -> bool:
    """Whether another value is preferred to it (`rather than 47`), or others hold it.

    Likewise a carry, a digit in its place, the number of a page, or a count of checks.
    """
    near = value.end, value.end + _LOOK
    if _AFTERWARDS.match(low, *near) or _PLACE_AFTER.match(low, *near):
        return True
    left = ahead(low, value.start)
    if not left.rstrip(" =:#.")[-1:].isalpha():  # no word leads to it
        return False
    if _NOT_BEFORE.search(left) or _PLACE_BEFORE.search(left):
        return True
    checked = _CHECKED.search(low, max(0, value.start - _LOOK), value.start)
    return checked is not None and _TIMES.match(low, *near) is not None


def _parts(text: str, here: list[Value]) -> list[Value]:
    """Values that are only put together: `the sum of 17 and 25`, `17 and 25 add up to 42`."""
    found: list[Value] = []
    for value, after in pairwise([*here, None]):
        if value and after and _PARTS_OF.search(text, max(0, value.start - _LOOK), value.start):
            joined = _JOINED.fullmatch(text, value.end, after.start)
            found += [value, after] if joined else []
    last: Value | None = None
    for value in reversed(here):
        tied = last and _JOINED.fullmatch(text, value.end, last.start)
        if tied or _ADD_UP.match(text, value.end, value.end + _LOOK):
            found.append(value)
            last = value
    return found
