r"""Every word of study B, from `data/prompts.toml` or the user's own file.

    >>> words = load(None)
    >>> shown = Shown("What is 2 + 3?", "5.", reasoning="2 and 3 make 5.")
    >>> print(judge(words, shown)[0].content[-64:])
    <BLANKLINE>
    Is the answer right? Reply with one word: correct or incorrect.

With and without the reasoning a prompt differs in the reasoning's block alone.
Texts stand between marks that none of them holds. `read` reads prompts back.

Knows nothing about models or about what is right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b

import msgspec
from msgspec.structs import asdict

from misled.errors import UserError
from misled.fences import fence
from misled.judge_plans import CRITERIA
from misled.records import Message, Record
from misled.templates import check_holes, fill, parts, words

__all__ = [
    "Asked",
    "Checked",
    "JudgePrompts",
    "Shown",
    "asked",
    "checked",
    "generate",
    "judge",
    "load",
    "outside",
    "own",
    "read",
    "verify",
]

_HOLES: dict[str, tuple[str, ...]] = {
    "generate": ("question",),
    "judge": ("question", "chain", "answer", "ask"),
    "chain": ("reasoning",),
    "verify": ("question", "golds", "answer"),
    **dict.fromkeys(("ask", "own", "certainty_ask", "certainty_own"), ("accept", "reject")),
}


class JudgePrompts(Record, frozen=True, dict=True):
    """The words of study B; the keys are explained in `data/prompts.toml`."""

    generate: str
    judge: str
    chain: str
    ask: str
    own: str
    accept: str
    reject: str
    certainty_ask: str
    certainty_own: str
    certainty_accept: str
    certainty_reject: str
    verify: str

    @cached_property
    def hash(self) -> str:
        """`b2:` and 32 hexadecimal digits: equal words, equal hash."""
        body = msgspec.json.encode({"judge": self}, order="sorted")
        return "b2:" + blake2b(body, digest_size=16).hexdigest()

    def verdicts(self, criterion: str) -> tuple[str, str]:
        """The words that accept and reject."""
        if criterion == "certainty":
            return self.certainty_accept, self.certainty_reject
        return self.accept, self.reject


class Shown(Record, frozen=True):
    """What a judge sees; without reasoning the condition `answer`. `own`: right after giving it.

    `known` is the generator's own chain, shown or not: the marks are made of it, so
    that they are the same in both conditions.
    """

    question: str
    answer: str
    reasoning: str | None = None
    own: bool = False
    known: str = ""


class Asked(Record, frozen=True):
    """What a verdict is asked on, and by which criterion."""

    shown: Shown
    criterion: str


class Checked(Record, frozen=True):
    """What a verifier is asked."""

    question: str
    golds: tuple[str, ...]
    answer: str


_MARK = re.compile(r"<text-([0-9a-f]{12})>")


def load(path: str | None) -> JudgePrompts:
    """The bundled words, with those of the user's TOML file in their place.

    Raises:
        UserError: the file cannot be read, has an unknown key, or a text lacks a hole.
    """
    prompts = JudgePrompts(**words("judge", path))
    if path is not None:
        check_holes(path, asdict(prompts), _HOLES)
        for criterion in CRITERIA:
            accept, reject = prompts.verdicts(criterion)
            if accept.casefold() == reject.casefold():
                raise UserError(f"{path}: {criterion}: both verdicts are {accept!r}")
    return prompts


def generate(prompts: JudgePrompts, question: str) -> tuple[Message, ...]:
    """The question, to whoever has to answer it."""
    return (Message("user", fill(prompts.generate, question=question)),)


def judge(prompts: JudgePrompts, shown: Shown, criterion: str = "correct") -> tuple[Message, ...]:
    """Question, reasoning where it is shown, and answer, in one message (protocol B.1)."""
    seen = shown.reasoning or ""
    question, answer, chain = _fenced(
        shown.question,
        shown.answer,
        seen,
        made_of=[shown.question, shown.answer, shown.known or seen],
    )
    text = fill(
        prompts.judge,
        question=question,
        chain="" if shown.reasoning is None else fill(prompts.chain, reasoning=chain),
        answer=answer,
        ask=_ask(prompts, criterion, own=False),
    )
    return (Message("user", text),)


def own(
    prompts: JudgePrompts, question: str, said: str, criterion: str = "correct"
) -> tuple[Message, ...]:
    """The generator's own turn, and the question whether it is right (B.1, self)."""
    asked = Message("user", _ask(prompts, criterion, own=True))
    return (*generate(prompts, question), Message("assistant", said), asked)


def verify(
    prompts: JudgePrompts, question: str, golds: tuple[str, ...], answer: str
) -> tuple[Message, ...]:
    """Whether an answer says the same as one of the golds (B.2)."""
    asked, listed, said = _fenced(question, "\n".join(golds), answer)
    return (Message("user", fill(prompts.verify, question=asked, golds=listed, answer=said)),)


def outside(prompts: JudgePrompts, criterion: str) -> str:
    """The words of a prompt beside what it shows, for the leak check (B.3)."""
    asks = [_ask(prompts, criterion, own=own) for own in (False, True)]
    return "\n".join([fill(prompts.judge, chain="", ask=asks[0]), asks[1]])


def _fenced(*texts: str, made_of: Sequence[str] = ()) -> list[str]:
    """Each text between marks that none of them holds, made of some of them if that will do."""
    left, right = fence([text for text in made_of or texts if text])
    if any(left in text or right in text for text in texts):
        left, right = fence(texts)
    return [f"{left}\n{text}\n{right}" for text in texts]


# --- reading back ----------------------------------------------------------------------------


def read(prompts: JudgePrompts, messages: tuple[Message, ...]) -> Asked | None:
    """What `judge` or `own` asks, told from its texts; None where neither made `messages`.

    Of a model's own turn the whole is the answer.
    """
    last = messages[-1].content if messages else ""
    if len(messages) == 3:
        question = asked(prompts, messages[:1])
        criterion = _asks(prompts).get((last, True))
        if question is None or criterion is None:
            return None
        return Asked(Shown(question, messages[1].content, own=True), criterion)
    if len(messages) != 1:
        return None
    for (ask, own), criterion in _asks(prompts).items():
        for chain in () if own or ask not in last else (prompts.chain, ""):
            template = fill(prompts.judge, chain=chain, ask=ask)
            texts = _unfenced(template, ("question", "reasoning", "answer"), last)
            if texts is not None:
                shown = Shown(texts["question"], texts["answer"], texts.get("reasoning"))
                return Asked(shown, criterion)
    return None


def checked(prompts: JudgePrompts, messages: tuple[Message, ...]) -> Checked | None:
    """What `verify` asks, told from its text; None where it did not make `messages`."""
    if len(messages) != 1:
        return None
    texts = _unfenced(prompts.verify, ("question", "golds", "answer"), messages[0].content)
    if texts is None:
        return None
    return Checked(texts["question"], tuple(texts["golds"].split("\n")), texts["answer"])


def asked(prompts: JudgePrompts, messages: tuple[Message, ...]) -> str | None:
    """The question that `generate` puts; None where it did not make `messages`."""
    head, _, tail = parts(prompts.generate, ("question",))
    text = messages[0].content if len(messages) == 1 else ""
    question = text[len(head) : len(text) - len(tail)]
    return question if f"{head}{question}{tail}" == text else None


def _unfenced(template: str, names: Sequence[str], text: str) -> dict[str, str] | None:
    """What stands between the marks of `text`, if `template` was filled with fenced texts."""
    mark = _MARK.search(text)
    if mark is None:
        return None
    left, right = f"<text-{mark[1]}>\n", f"\n</text-{mark[1]}>"
    inner = [piece.partition(right)[0] for piece in text.split(left)[1:]]
    holes = parts(template, names)[1::2]
    if len(inner) != len(holes):
        return None
    texts = dict(zip(holes, inner, strict=True))
    fenced = {name: f"{left}{said}{right}" for name, said in texts.items()}
    return texts if fill(template, **fenced) == text else None


@lru_cache(maxsize=16)
def _asks(prompts: JudgePrompts) -> dict[tuple[str, bool], str]:
    """The criterion of each question for a verdict, of another's answer and of its own."""
    return {(_ask(prompts, c, own=own), own): c for c in CRITERIA for own in (False, True)}


def _ask(prompts: JudgePrompts, criterion: str, *, own: bool) -> str:
    accept, reject = prompts.verdicts(criterion)
    name = "own" if own else "ask"
    template = getattr(prompts, f"certainty_{name}" if criterion == "certainty" else name)
    return fill(template, accept=accept, reject=reject)
