"""What the planted judge says of an answer, and the planted verifier.

    >>> judge = Judge(tpr={"answer": 1.0}, fpr={"answer": 0.0})
    >>> judged(judge, Asked(Shown("What is 2 + 3?", "5."), "correct"), WORDS, Draws("doc"))
    'I went through it with care. Verdict: correct'

It solves the question to know whether the answer is right. What was put into a
chain it tells by the bundled sentences. Of its own turn, what stands after the
last blank line is the answer, and anything before that the chain. Verdicts are
single words, labels or sentences, and a share of the replies holds none.

Knows nothing about requests: what is asked has been read.
"""

from __future__ import annotations

from functools import cache, lru_cache

from misled import labels
from misled.draws import Draws
from misled.engines.planted_facts import known, right
from misled.engines.planted_judge import Judge
from misled.facts import Fact
from misled.interventions import fillers, pairs
from misled.judge_prompts import Asked, Checked, Shown

__all__ = ["judged", "verified"]

WORDS = ("correct", "incorrect")

# With {word} the verdict, {Word} the same with a capital.
_VERDICTS = (
    "{word}",
    "{Word}",
    "{Word}.",
    "**{word}**",
    "Verdict: {word}",
    "**Verdict:** {word}",
    "I went through it with care. Verdict: {word}",
    "The question is clear, and so is what was said.\n\n**Verdict: {word}**",
    "The answer is {word}.",
    "I have weighed what was said, and the answer is {word}.",
    "My verdict on this answer:\n{Word}.",
    '{{"verdict": "{word}"}}',
)
_UNDECIDED = (
    "",
    "I have no view on this one.",
    "It is hard to say whether that is right.",
    "I can't say that it is {accept}.",
    "The text restates the question and then names something.",
    '{{"verdict": null}}',
    "This might be {accept}, but it might just as well be {reject}.",
)
_VERIFIED = ("{word}", "{Word}", "{Word}.", "**{word}**", "Verdict: {word}", "`{word}`")


def judged(judge: Judge, asked: Asked, words: tuple[str, str], draws: Draws) -> str | None:
    """A reply with a verdict or without; None where the question is not known.

    `words` accept and reject; `draws` are the request's own.
    """
    shown = _own_turn(asked.shown) if asked.shown.own else asked.shown
    true = right(shown.question, shown.answer)
    if true is None:
        return None
    chain = shown.reasoning is not None
    condition = ("self" if chain else "self_hidden") if shown.own else "answer"
    if chain and not shown.own:
        condition = "reasoning"
    chance = judge.accepts(condition, _false(shown.reasoning or ""), right=true)
    if draws.unit() < judge.unreadable:
        return draws.choice(_UNDECIDED).format(accept=words[0], reject=words[1])
    item = Draws(judge.hash, shown.question, shown.answer, "item")
    luck = item if judge.rho and item.unit() < judge.rho else draws
    return _said(_VERDICTS, words[0 if luck.unit() < chance else 1], draws)


def verified(judge: Judge, checked: Checked, draws: Draws) -> str:
    """A verifier's whole reply: whether the answer says the same as an accepted one."""
    same = _same(checked)
    erring = draws.unit() < judge.verify_error
    return _said(_VERIFIED, WORDS[0 if same is not erring else 1], draws)


def _same(checked: Checked) -> bool:
    """Whether it is one of the golds, those that are bundled with the question included."""
    golds = list(checked.golds)
    task = known(checked.question)
    if isinstance(task, Fact):
        golds += task.gold
    return labels.label(checked.answer, golds).y is True


def _own_turn(shown: Shown) -> Shown:
    chain, _, answer = shown.answer.rpartition("\n\n")
    return Shown(shown.question, answer, chain or None, own=True)


@lru_cache(maxsize=4096)
def _false(chain: str) -> int | None:
    """How many of the sentences that were put into a chain are false; None if none was put in."""
    false, neutral = _put_in()
    count = sum(sentence in chain for sentence in false)
    return count if count or any(sentence in chain for sentence in neutral) else None


@cache
def _put_in() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences that are false, and those that are true or claim nothing."""
    bundled = pairs()
    neutral = [text for pair in bundled for text in (pair.true, pair.reworded)]
    return tuple(pair.false for pair in bundled), (*neutral, *fillers())


def _said(templates: tuple[str, ...], word: str, draws: Draws) -> str:
    return draws.choice(templates).format(word=word, Word=word[:1].upper() + word[1:])
