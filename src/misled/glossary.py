"""What the words of a report mean, for one who has read nothing else of it.

    words("cpt", ["gate passed", "channel user"])
    -> [("channel", "how the chain is handed over ..."), ("gate", "the problem alone ...")]

Names of columns come from `captions`. Knows nothing about pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from misled import captions

__all__ = ["columns", "words"]

_WORD = re.compile(r"[A-Za-z_'][A-Za-z_0-9']*")
_BOTH = {
    "addition": "of a problem set: sums; the numbers say how many digits the operands have",
    "multiplication": "of a problem set: products; the numbers say how many digits each has",
    "word": "of a problem set: problems in words of one to five steps; the number is the level, "
    "about 10 to that power being the size of the operands",
    "small": "a problem set: products and sums of two one-digit numbers, such as 7 x 8",
    "facts": "a problem set: short factual questions, with accepted answers",
    "file": "of a problem set: questions that a file gives",
    "hf": "of a problem set: questions from the Hugging Face hub",
    "planted": "simulated: a program whose behaviour was set in advance, and no language model",
    "Holm": "Holm's p: p adjusted for all tests of one family, fixed in advance; other p explore",
    "family": "tests that were fixed in advance and are adjusted together",
    "arm": "what a trial asked: the gate, the tampered chain, a control, a contrast ...",
    "mode": "plain, or prefix: the reply is made to begin with given words",
    "feed": "what counts as the chain: reasoning, which a model sets apart from its answer, or "
    "output, all that it wrote",
    "floor": "what chance alone gives: how far two replies to the same request differ",
    "net": "minus the same under a control, problem by problem",
    "truncated": "cut by the token limit",
    "unreadable": "a reply in which no one exact value, or no verdict, can be read",
    "unsupported": "what a model or its server cannot be asked; never counted as 0",
    "not_applicable": "what cannot be done to this chain, so that nothing was asked",
}
_CPT = {
    "problem": "a question with its true result; each is the unit that intervals are made of",
    "target": "the model that is asked",
    "source": "the model whose chain is handed over, and the reply that the chain is of",
    "gate": "the problem alone, asked of the model: only what it solves there is probed",
    "tampered": "handed the chain with its result changed",
    "clean": "the control that is handed the same chain as it was, with the same words",
    "again": "the control that is asked the problem alone a second time",
    "contrast": "what stands beside the tampered chain and is never subtracted from it",
    "no_answer_line": "the contrast whose chain has lost the lines that state the result",
    "bare": "the contrast that is told the tampered result alone, without a chain",
    "other_number": "the contrast whose chain states a random number for its result",
    "foreign": "the contrast that is handed another problem's chain",
    "prefix_as_text": "the contrast that is told in the message what prefix begins the reply with",
    "replay": "the model's own chain sent back without tampering; replay_question with its "
    "question, replay_text a text of that length without mathematics",
    "baseline": "the method that hands the chain over without comment",
    "uncertainty": "the method that says that the chain may contain errors",
    "contradiction": "the method that says that the chain contains errors, and to ignore them",
    "prefix": "the method that says the same and makes the reply begin with a recomputation",
    "D_T": "how many digits of the result were changed",
    "R_CPT": "the compromising rate, D_T / (2 D_T - c), where c of the D_T changed digits are "
    "in the answer: .5 for none of them, 1 for all; 2 is set where the answer is confused",
    "net_r": "R_CPT, minus the same under a control",
    "partial": "the answer has some of the changed digits and is right in all others",
    "confused": "the answer has another length or sign, or more wrong digits than were changed",
    "w": "the true result; w' is the tampered one",
    "attribution": "whose the words call the chain: own (your previous thought) or other",
    "channel": "how the chain is handed over: user (in the message), assistant (as an earlier "
    "turn of the model), think (as its thinking, to be gone on with), think_closed (as its "
    "thinking, which is over)",
    "structure": "what was done to the steps of the chain, tampered and clean alike; intact: "
    "nothing",
    "delete_reflection": "the steps that doubt or change course are taken out",
    "delete_verification": "the steps that check are taken out",
    "insert": "a passage that has nothing to do with the problem is put in",
    "delete_random": "a control of structures: as much calculation is taken out",
    "insert_neutral": "a control of structures: as much text that claims nothing is put in",
    "perturbation": "how the result was changed: digits (D_T of them replaced), insert_digit, "
    "delete_digit",
    "scope": "which mentions of the result were changed: endings (those that state it), all, last",
    "places": "which of its digits: random ones, high, low, anchored (the first of them always "
    "the same, so that errors are of one size)",
    "A1": "family: is the tampered result given more often than after the clean chain?",
    "A2": "family: does a method change that, against baseline?",
    "A3": "family: does an edited chain change it, against the intact one?",
    "A4": "family: does each further changed digit change it?",
    "stopped": "the model ended by itself without an answer",
}
_JUDGE = {
    "generator": "the model whose answers are judged",
    "judge": "the model that says whether an answer is right",
    "item": "one answer to one question, which may be right or wrong",
    "shown": "what of the answer a judge sees: content, all of it, or value, its final value",
    "answer": "the condition without the chain: the judge sees question and answer",
    "reasoning": "the condition with the chain of reasoning before the answer",
    "again_answer": "the condition answer, asked a second time",
    "again_reasoning": "the condition reasoning, asked a second time",
    "self": "the judge has just given this answer itself, in the same conversation",
    "self_hidden": "the same, without its chain",
    "null": "an answer that is none is judged: empty, a colon, or the words that open a chain",
    "crossed": "right and wrong answers, each with the chain of a right and of a wrong one",
    "controlled": "the chain was edited before it was shown",
    "statements": "four sentences that have nothing to do with the question were put in",
    "filler": "on-topic text that claims nothing was put in",
    "true_edit": "statements reworded and still true",
    "placebo": "another question's chain was shown",
    "chain_cut": "the sentences that state the answer were taken out",
    "counterfactual": "how many of the four statements put in are false",
    "closed_book": "the judge answers the question itself",
    "margin": "the change of balanced accuracy that is held to be too small to matter",
    "decision": "show, hide, no difference, cannot tell, or refused for want of items",
    "genuine": "verdicts that change with the chain, beyond those that change when asked twice",
    "match": "labels by comparing texts; verifier: labels by a model",
    "strength": "weak or strong, as the plan calls a judge",
    "balanced": "as many right as wrong answers, by choice",
    "B1": "family: does the chain change how many right, and how many wrong answers are accepted?",
    "B2": "family: do statements put into the chain change what is accepted?",
    "BA": "balanced accuracy: the mean of how often right answers are accepted and wrong rejected",
}
_OF_STUDY = {"cpt": _CPT | _BOTH, "judge": _JUDGE | _BOTH}


def words(study: str, texts: Iterable[str]) -> list[tuple[str, str]]:
    """The words that stand in these texts, with what they mean, in alphabetical order."""
    there = {word for text in texts for word in _WORD.findall(text)}
    there |= {word.removesuffix("s") for word in there} | {f"{word}s" for word in there}
    known = _OF_STUDY[study]
    return [(word, known[word]) for word in sorted(known, key=str.lower) if word in there]


def columns(shown: Collection[str]) -> list[tuple[str, str]]:
    """What the columns of these metrics mean; the ends of worst-case bounds once for all."""
    ends = [
        name for name in shown if name.endswith(("_lower", "_upper")) and not name.startswith("r_")
    ]
    told = [meaning for name, meaning in captions.METRICS.items() if name in {*shown} - {*ends}]
    return [*told, *([captions.BOUNDS] if ends else [])]
