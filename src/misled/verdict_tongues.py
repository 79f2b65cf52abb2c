"""Verdicts in other languages than English: what a word decides in its sentence.

    spaced("no creo que la respuesta sea ", "correcta", ".", accept=True) -> Verdict("reject")
    joined("答案是", "错误", "。", accept=False)                            -> Verdict("reject")

Where spaces part words, a clause decides only if each of its words is known, so that a
negation that is not understood decides nothing; only what belongs to a noun for the
answer may be anything. Chinese, Japanese and Korean are matched piece by piece. A
language is added by its words. All patterns are of lower case and tried on a few words.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from misled.records import Record
from misled.verdict_words import FOREIGN, Verdict

__all__ = ["JOINED", "is_foreign", "is_joined", "joined", "spaced"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_ALONE = _set("bien mal bonne mauvaise")

_COPULAS = _set(
    """
    ist sei war est soit es está sea esté é seja esteja era è sia parece semble sembra является
    есть был هي هو كانت تكون
    """
)
_ANSWERS = _set(
    """
    antwort lösung aussage behauptung réponse affirmation solution respuesta afirmación solución
    resposta afirmação solução risposta affermazione soluzione ответ ответом утверждение решение
    الإجابة الاجابة الجواب إجابة اجابة جواب
    """
)
_BEFORE_ITS_WORD = _set("réponse respuesta resposta risposta")
_BELIEFS = _set(
    """
    glaube denke finde meine halte pense crois considère trouve juge creo pienso considero
    acho penso credo ritengo считаю думаю полагаю أعتقد أرى
    """
)
_ADVERBS = _set(
    """
    bien ganz völlig absolut eindeutig leider tatsächlich wirklich daher somit also deshalb
    überhaupt durchaus tout à fait du totalement complètement absolument clairement
    malheureusement donc completamente totalmente absolutamente claramente lamentablemente
    efectivamente tanto affatto infelizmente portanto assolutamente purtroppo quindi muy muito
    molto très абсолютно совершенно полностью явно действительно к сожалению вообще вовсе тоже
    поэтому تماما
    """
)
_LINKS = _set("dass daß que qu che что أن")
_NOT = _set("no non não nao не غير لا ليس ليست")  # stands before what it denies
_VERBS_OF_NOT = _set("ليس ليست")
_NOT_BEHIND = _set("nicht keine kein keineswegs pas")  # may stand behind a verb
_DENIABLE = _COPULAS | _BELIEFS | _ADVERBS
_OTHERS = _set(
    """
    das dies diese es sie er c ce cela ça elle il ella eso esto esta este ela ele isso isto essa
    questo questa это этот эта она он данный هذا هذه
    der die den ein eine la le l un une el una o a os uma um lo ne n
    ich j je yo eu io я für so por
    ja nein oui sí sim да нет نعم verdict veredicto veredito verdetto urteil bewertung
    вердикт вывод الحكم conclusion conclusión conclusão fazit final finale
    """
)
_KNOWN = _COPULAS | _ANSWERS | _BELIEFS | _ADVERBS | _LINKS | _NOT_BEHIND | _OTHERS
_SHOWN = _COPULAS | _set("это هذا هذه halte")  # said of what is before us
_MARKS = _set(
    """
    ist est soit está é è является nicht pas não не ليس antwort réponse respuesta resposta
    risposta ответ ce cela das это eso isso questo الإجابة الجواب urteil veredicto вердикт
    """
)
_ENGLISH = _set("the is isn was this are not answer")
_PARTS = re.compile(
    r"\b(?:rechenweg|rechnung|begründung|gedankengang|argumentation|schritte?|raisonnement|calculs?"
    r"|étapes?|méthode|razonamiento|cálculos?|pasos?|método|raciocínio|passos?|ragionamento|calcolo"
    r"|рассужд\w+|вычислени\w+|расч[её]т\w*|логика|шаги?|метод|التفكير|الحساب|الخطوات|المنطق)\b"
)
_DOUBT = re.compile(
    r"\b(?:vielleicht|wahrscheinlich|vermutlich|möglicherweise|eventuell|wenn|falls|ob|könnte|kann"
    r"|wäre|peut|probablement|sais|sûre?|serait|pourrait|quizás?|tal vez|probablemente"
    r"|posiblemente|puede|puedo|podría|sé|sería|talvez|provavelmente|possivelmente|pode|posso"
    r"|poderia|sei se|seria|forse|probabilmente|può|potrebbe|sarebbe|возможно|вероятно"
    r"|наверное|может|могу|если|ли|знаю|уверена?|кажется|ربما|قد|يمكن|إذا|إن|لو|هل|أعرف"
    r"|متأكدا?|segur[oa]|certeza|sicher|dit|disent|dice|dicen|diz|afirma|sagt|behauptet|affirme"
    r"|sostiene|selon|según|segundo|laut|secondo|говорит|утверждает|يقول|تقول)\b"
    r"|\bs[ie]\b(?!\s*[,.])"
)
_HALF = re.compile(
    r"\b(?:teilweise|partiellement|presque|parcialmente|casi|quase|parzialmente|quasi|fast"
    r"|nicht ganz|pas (?:tout à fait|entièrement|complètement|totalement)|no del todo"
    r"|n(?:o|ão|on) (?:es |está |é |è )?(?:completamente|totalmente|inteiramente|del tutto)"
    r"|не (?:совсем|полностью|вполне)|частично|почти|отчасти)\s+\Z"
)
_HALF_BEHIND = re.compile(r"\s+(?:جزئيا|en partie|en parte|in parte|em parte|zum teil|teilweise)\b")
_CLAUSE = re.compile(r"(?P<mark>[,:;،—–]| - )(?!\s*(?:что|dass|daß|que|che)\b)")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_NOUN = re.compile(r"\s+(?:antwort|lösung|réponse|solution|ответ|решение)\b")
_WHY = (
    r"weil|denn|da|car|parce|puisque|porque|pues|ya que|pois|perché|poiché|потому|поскольку|так как"
    r"|لأن|لأنها|لأنه|para|für|pour|per|aber|pero|mais|mas|ma"
)
# `Richtig: 12` names what would be right.
_ENDS = re.compile(rf"\s*(?:\Z|[.!;,\n)。،؛–—]|:(?!\s*\S{{1,30}}\s*\Z))|\s+(?:{_WHY})\b")
_CLOSES = re.compile(r"\s*(?:[.!\n]|\Z)")
_DENIED = re.compile(r"\s+(?:so |leider )?nicht\b")
_VERB_LAST = re.compile(r"\s+(?:ist|sei|war)\b")
_SLACK = 5  # words that may belong to the noun for the answer, before a copula
_EAST = "\u0370"  # letters beyond Latin: the copula is left out there
# What denies in ways that are not followed.
_UNDOING = re.compile(
    r"\b(?:nunca|jamás|jamais|niemals|nie|mai|никогда|aucune?|ningun[oa]|ningún|nessun[oa]?|nenhuma?"
    r"|guère|rien|nada|niente|nichts|weder|noch|nem|nadie|loin|lejos|longe|tampoco|никак\w*|ни"
    r"|нельзя|kaum|лишь|لم|لن|ما)\b"
)


def is_foreign(word: str, before: str) -> bool:
    """Whether a word is of another language than English, or stands in a sentence of one."""
    words = _WORD.findall(before)
    return word in FOREIGN or not (_MARKS.isdisjoint(words) or _ENGLISH & {*words})


def spaced(sentence: str, word: str, after: str, *, accept: bool) -> Verdict:
    """What a word decides after `sentence`, in a language that parts its words by spaces."""
    if _HALF.search(sentence) or _HALF_BEHIND.match(after):
        return Verdict(None, "partial")
    if _DOUBT.search(sentence) or re.match(r"\s+ли\b", after):
        return Verdict(None, "hedged")
    marks = list(_CLAUSE.finditer(sentence))
    tokens = _WORD.findall(sentence[marks[-1].end() :] if marks else sentence)
    if marks and marks[-1]["mark"] == ":" and not _is_label(sentence[: marks[-1].start()]):
        return Verdict(None, "none")
    denials = _denials(tokens, word)
    if denials is None or _UNDOING.search(sentence) or not _is_said(tokens, word, after):
        return Verdict(None, "none")
    denied = (denials + (_DENIED.match(after) is not None)) % 2 == 1
    return Verdict("accept" if accept is not denied else "reject")


def _is_label(text: str) -> bool:
    """Whether what stands before a colon is a label of a verdict."""
    return not _PARTS.search(text) and _KNOWN.issuperset(_WORD.findall(text)[-3:])


def _denials(tokens: list[str], word: str) -> int | None:
    """How many negations a clause holds; None where it holds what is not understood."""
    count = strange = 0
    slack = 0
    for token, then in zip_longest(tokens, tokens[1:], fillvalue=""):
        if token in _NOT:
            also = _ANSWERS if token in _VERBS_OF_NOT else frozenset[str]()
            if then and then not in _DENIABLE | also:
                return None
            count += 1
        elif token in _NOT_BEHIND:
            count += 1
        elif token in _ANSWERS:
            slack = _SLACK
        elif token in _COPULAS:
            slack = strange = 0
        elif token not in _KNOWN and then not in _ANSWERS:  # unlike `die gegebene Antwort`
            slack, strange = slack - 1, strange + 1
            if slack < 0 or count:
                return None
    return None if strange > (word >= _EAST) else count


def _is_said(tokens: list[str], word: str, after: str) -> bool:
    """Whether the word is said of the answer, and is no attribute of another one."""
    noun = _NOUN.match(after)
    if noun and tokens:
        return not _SHOWN.isdisjoint(tokens) and _ENDS.match(after, noun.end()) is not None
    if noun:
        return _CLOSES.match(after, noun.end()) is not None
    last = tokens[-1] if tokens else ""
    if word in _NEVER_ALONE and last not in _COPULAS:
        return False
    if last in _BEFORE_ITS_WORD and len(tokens) > 1 and _SHOWN.isdisjoint(tokens):
        return False  # `la respuesta correcta, Oslo`
    behind = _DENIED.match(after)
    if behind is None and not _LINKS.isdisjoint(tokens):
        behind = _VERB_LAST.match(after)
    return _ENDS.match(after, behind.end() if behind else 0) is not None


class _Script(Record, frozen=True):
    """What unmakes a verdict in a writing without spaces: before it, and behind it.

    `part` is what else may be right, `of_answer` makes the word an attribute (`the right
    answer is`) unless `shown` stands before it.
    """

    part: re.Pattern[str]
    half: re.Pattern[str]
    doubt: re.Pattern[str]
    denial: re.Pattern[str]
    shown: re.Pattern[str]
    of_answer: re.Pattern[str]
    doubted: re.Pattern[str]
    denied: re.Pattern[str]


_NEVER = re.compile(r"(?!)")
# In simplified and in traditional characters.
_CHINESE = _Script(
    part=re.compile(
        r"(?:步|推理|[计計]算|[过過]程|方法|公式|前提|部分|思路|如果|假如|若|是否|用[户戶]"
        r"|[题題]目)[^，。\n]{0,12}\Z"
    ),
    half=re.compile(r"(?:部分|基本|不完全|不一定|大致|[几幾]乎)(?:是)?\Z"),
    doubt=re.compile(
        r"不[确確]定|[无無]法|不能[说說]|可能|也[许許]|大概|或[许許]|不知道|[难難]以|[应應][该該]"
        r"|不清楚|似乎"
    ),
    denial=re.compile(r"(?:[并並]不|[并並]非|不是|[并並][没沒]有?|[没沒]有|不|不算)\Z"),
    shown=re.compile(r"[这這此该該]就?不?是\Z"),
    of_answer=re.compile(r"的?(?:答案|值|[结結]果|[选選][项項]|做法|[说說]法|方法|是)"),
    doubted=_NEVER,
    denied=_NEVER,
)
_JAPANESE = _Script(
    part=re.compile(
        r"(?:推論|計算|手順|過程|途中|式|方法|考え方|前提|論理|説明|段階|ステップ|理由)"
        r"(?:(?!答|結論)[^、。\n]){0,14}\Z"
    ),
    half=re.compile(r"(?:部分的に?|一部|一部は|ほぼ|ほとんど|概ね|おおむね|ある程度)\Z"),
    doubt=re.compile(r"もし|おそらく|恐らく|たぶん|多分|可能性|仮に|によると|によれば"),
    denial=_NEVER,
    shown=_NEVER,
    of_answer=re.compile(
        r"(?:な|の)?(?:答え|回答|解答|値|選択肢|結果|解)?(?:は|が(?!あ|含|見|存)|を|と(?!判断|思|考|いえ|言え)|:|：)"
    ),
    doubted=re.compile(
        r"(?:答え|回答|解答)?(?:だ|です|である)?(?:か(?!ら)|かも|なら|場合|とすれば|とは限|はず|でしょう"
        r"|だろう|と(?:主張|述べ|書|言って))|ければ"
        r"|、?とは?(?:(?:言|い)(?:え|い切れ|いきれ)(?:な|ま)|思[わえ](?:な|ま|ませ)|思いませ|考え(?:られ)?(?:な|ませ))"
    ),
    denied=re.compile(r"\s?(?:では|じゃ)\s?(?:な[いくし]|ありません)"),
)
_KOREAN = _Script(
    part=re.compile(
        r"(?:풀이|계산|추론|과정|논리|설명|단계|방법|근거)(?:(?!답|응답|결론)[^,.\n]){0,12}\Z"
    ),
    half=re.compile(r"(?:부분적으로|일부|일부는|거의|대체로|어느 정도)\s?\Z"),
    doubt=re.compile(r"아마|어쩌면|만약|만일|혹시|모르|따르면"),
    denial=_NEVER,
    shown=_NEVER,
    of_answer=re.compile(r"\s?(?:답|정답)?(?:은|이(?!라고 판단|다|에|네|었)|을|과|:|：)(?!\s?아)"),
    doubted=re.compile(
        r"\s?(?:답)?(?:인지|일|인가|이라면|라면|이라고 (?:주장|말)|까|또는|혹은)"
        r"|다?고\s?(?:(?:할|볼|말할|생각할)\s?수\s?없|생각하지\s?않|보지\s?않|보기 어)"
    ),
    denied=re.compile(r"\s?(?:하지\s?않|(?:답변|정답|답)?[은이가]?\s?(?:아니|아닙))"),
)
_NO_ERROR = (  # `no error`, `is no error`
    r"(?:では|じゃ|が|は|も)\s?(?:な[いかし]|なく|ありません|ございません|見[当つ]|見られ)|ありません"
)
JOINED = (
    r"(?P<no>不正[解確]|誤答|正しく(?:は|も)?(?:な[いくかし]|あ?りません|ございません)"
    r"|正し(?:い|く)と(?:は|も)(?:(?:言|い)え(?:な|ま)|思(?:わな|いませ|えな|えませ))|(?:正しい(?:答え|回答|解答|もの)?|正解|正確)"
    r"(?:では|じゃ)(?:な[いくかし]|ありません|ございません)"
    r"|合って(?:は)?い?(?:な[いく]|ません)|(?:間違|まちが|誤)って(?:い?る|い?ます|い?た|い?まし)"
    rf"|(?:間違い|間違え|まちがい|誤り)(?!{_NO_ERROR}|なく)"
    r"|(?<![^\s、。，,:：])違(?:う|います)"
    r"|오답(?!이? ?아)|틀(?:렸|린|립니다|림|려|리다)|(?:맞|옳)지(?:는|도)?\s?(?:않|못)"
    r"|(?:정확|타당)하지(?:는)?\s?(?:않|못)|올바르지(?:는)?\s?(?:않|못)"
    r"|정답(?:이|은)?\s?아[니닙님]|정답이라고 (?:할|볼) 수 없"
    r"|부정확|잘못(?:되(?!지)|된|됐|입니다)"
    r"|不太?正[确確]|[并並]?不[对對]|不[准準][确確]|有[误誤]|[错錯][误誤]|是[错錯]|[错錯]了|答[错錯]"
    r"|(?<![^\s:：,，。])[错錯](?=[\s。！!.,，]|\Z))"
    r"|(?P<yes>正しい|正解|合って(?:い?る|い?ます)|その通り|そのとおり"
    r"|(?:間違|まちが|誤)ってい?(?:な[いく]|ません)"
    rf"|(?:間違い|間違え|まちがい|誤り)(?:{_NO_ERROR})"
    r"|정답|맞(?:는(?= ?답)|습니다|아요|음|다|지만|으나|고)|옳(?:습니다|음|다)"
    r"|정확(?:합니다|함|하다|해요)"
    r"|올바(?:릅니다|름|르다|른)|틀리지(?:는)?\s?않|오답이?\s?아|잘못되지\s?않|오류(?:가|는)?\s?없"
    r"|[没沒]有?[错錯][误誤]?|[无無][误誤]|正[确確]|[准準][确確]|是[对對]|[对對]的|答[对對]"
    r"|(?<![^\s:：,，。])[对對](?=[\s。！!.,，]|\Z))"
)
_STOP = re.compile(r"[。！？；\n]|[.!?](?=\s|\Z)")
_KANA, _HANGUL = re.compile(r"[\u3041-\u30ff]"), re.compile(r"[\uac00-\ud7a3]")
_BESIDE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3][\s:：,，、。]{0,2}\Z")


def is_joined(before: str) -> bool:
    """Whether a word of Latin letters stands behind such writing."""
    return _BESIDE.search(before) is not None


def joined(before: str, word: str, after: str, *, accept: bool) -> Verdict:
    """What a word decides in a sentence of Chinese, Japanese or Korean."""
    stops = list(_STOP.finditer(before))
    sentence = before[stops[-1].end() :] if stops else before
    said = sentence + word + after[: stop.start() if (stop := _STOP.search(after)) else None]
    script = _CHINESE
    if _HANGUL.search(said):
        script = _KOREAN
    elif _KANA.search(said):
        script = _JAPANESE
    if script.half.search(sentence):
        return Verdict(None, "partial")
    if script.doubt.search(sentence) or script.doubted.match(after):
        return Verdict(None, "hedged")
    of_answer = script.of_answer.match(after) and not script.shown.search(sentence)
    if of_answer or script.part.search(sentence):
        return Verdict(None, "none")
    denial = word[0] not in "没沒无無不並并" and script.denial.search(sentence)
    denied = denial or script.denied.match(after)
    return Verdict("accept" if accept is not bool(denied) else "reject")
