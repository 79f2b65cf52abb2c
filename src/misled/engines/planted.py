"""The planted reasoner: an engine whose behaviour is known, since it was put there.

    async for request, answer in Planted().answer(feed): ...

A request to `planted/mixed` is read as a text, as a model would read it. Which
method it is, the wording of the filter and the output prefix tell; how many
digits were tampered with, the planted reasoner finds out by solving the question
and comparing the result that the chain states. What it then does is drawn from
its profile (`planted_profile`), and written out like a reasoning model's reply
(`planted_chain`). In the second study it answers (`planted_facts`) and judges
(`planted_judge`, `planted_verdicts`). Draws are hashes of the profile's contents
and the request, so a reply is a function of both. A text that it cannot classify
is a Failure: it never guesses.

Knows nothing about runs, rows or what its replies are graded.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TypeAlias

import msgspec

from misled import judge_prompts
from misled import prompts as words
from misled.draws import Draws
from misled.engines import Feed, planted_facts, planted_judge, planted_profile
from misled.engines.planted_chain import (
    adopting,
    alone,
    confused,
    echoing,
    recovering,
    stopping,
    strolling,
)
from misled.engines.planted_facts import known
from misled.engines.planted_judge import Judge
from misled.engines.planted_profile import Solver
from misled.engines.planted_reader import Reading, lacking, reading
from misled.engines.planted_slips import confusing, distance, erring, own
from misled.engines.planted_verdicts import judged, verified
from misled.engines.planted_ways import Exercise
from misled.errors import UserError
from misled.judge_prompts import Checked, JudgePrompts
from misled.prompts import Prompts
from misled.records import Answer, Failure, Request, Response, Usage

__all__ = ["Planted"]

Said: TypeAlias = tuple[str | None, str] | str  # reasoning and answer, or why there is none

BATCH = 512
SECONDS = 0.3  # before the first token
TOKENS_PER_SECOND = 80
PERFECT = Judge(tpr={"answer": 1.0}, fpr={"answer": 0.0})
UNKNOWN = "judges sums, products, bundled word problems and facts; this question is none"


class Planted:
    """An engine for `planted/<profile>` models, which reads the words of `prompts` and `judging`.

    `solvers` are profiles of its own, by name, that judge without error; all
    others are loaded.
    """

    def __init__(
        self,
        prompts: Prompts | None = None,
        solvers: Mapping[str, Solver] | None = None,
        judging: JudgePrompts | None = None,
    ) -> None:
        self._prompts = prompts or words.load(None)
        self._judging = judging or judge_prompts.load(None)
        self._solvers = dict(solvers or {})
        self._judges: dict[str, Judge | None] = dict.fromkeys(self._solvers, PERFECT)

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        """Every request that `feed` gives, each once, with its reply."""
        while batch := await feed.take(BATCH, 0):
            for request in batch:
                yield request, self.reply(request)

    def reply(self, request: Request) -> Answer:
        """The reply to `request`: a function of it and of the profile's contents."""
        try:
            solver, judge = self._profile(request.model)
        except UserError as error:
            return Failure("not_found", str(error), fatal=True)
        said = None if request.prefill else self._judged(request, solver, judge)
        if said is None:
            read = reading(self._prompts, request)
            said = read if isinstance(read, str) else _behave(solver, read, _luck(solver, request))
        if isinstance(said, str):
            return Failure("unclassified", f"planted/{request.model} {said}", fatal=True)
        return _response(request, *said)

    def _judged(self, request: Request, solver: Solver, judge: Judge | None) -> Said | None:
        """Reasoning and answer to a text of the second study; None if it is none."""
        messages = request.messages
        question = judge_prompts.asked(self._judging, messages)
        if question is not None and (task := known(question)) is not None:
            return planted_facts.reply(solver, question, task, _luck(solver, request))
        asked = judge_prompts.read(self._judging, messages) or judge_prompts.checked(
            self._judging, messages
        )
        if asked is None:
            return None
        if judge is None:
            return "has no table [judge] to judge by"
        draws = _luck(judge, request)
        if isinstance(asked, Checked):
            return None, verified(judge, asked, draws)
        said = judged(judge, asked, self._judging.verdicts(asked.criterion), draws)
        return UNKNOWN if said is None else (None, said)

    def _profile(self, name: str) -> tuple[Solver, Judge | None]:
        if name not in self._solvers:
            judge = planted_judge.load_judge(name)
            self._solvers[name], self._judges[name] = planted_profile.load(name), judge
        return self._solvers[name], self._judges[name]


# --- behaving --------------------------------------------------------------------------------


def _luck(profile: Solver | Judge, request: Request) -> Draws:
    """The request's own draws; without its model's name, since that may be a file's."""
    return Draws(profile.hash, msgspec.structs.replace(request, model="", lane="").key)


def _behave(solver: Solver, read: Reading, draws: Draws) -> tuple[str, str]:
    """Reasoning and answer, as `solver` draws them."""
    if read.task is None:
        return _replaying(solver, read, draws)
    result = str(read.task.result)
    value = own(solver, read.question, result, lambda luck: erring(solver, result, luck))
    shared = solver.rho > 0 and draws.unit() < solver.rho
    if read.way is not None or read.replay is not None:
        u = (Draws(solver.hash, read.question, "shared") if shared else draws).unit()
        return _handed(solver, read, read.task, (value, u), draws)
    if draws.unit() < solver.error:
        value = erring(solver, result, draws)
    return alone(read.task, value, draws)


def _handed(
    solver: Solver, read: Reading, task: Exercise, drawn: tuple[str, float], draws: Draws
) -> tuple[str, str]:
    """What it makes of a chain: its own value and a draw decide (order of `planted_profile`)."""
    (value, u), result = drawn, str(task.result)
    seen = result if read.seen is None else read.seen
    d_t = distance(result, seen)
    if (u := u - solver.stopping(read.replay)) < 0:
        return stopping(task, draws)
    if (u := u - solver.error) < 0:
        return recovering(task, erring(solver, result, draws), seen, draws)
    if d_t and (u := u - solver.confuse) < 0:
        return confused(task, confusing(result, seen, d_t, draws), seen, draws)
    if u < _adoption(solver, read, d_t):
        return adopting(task, seen, draws)
    return recovering(task, value, seen, draws)


def _replaying(solver: Solver, read: Reading, draws: Draws) -> tuple[str, str]:
    """What it makes of a text without a question."""
    if draws.unit() < solver.stopping(read.replay):
        return "", ""
    return strolling(draws) if read.seen is None else echoing(read.seen, draws)


def _adoption(solver: Solver, read: Reading, d_t: int) -> float:
    """The share of such chains whose result is taken over; none of one that only came back."""
    if read.way is None:
        return 0.0
    lacks = lacking(read.chain) if solver.structure else frozenset()
    return solver.adoption(read.way.method, d_t, channel=read.way.channel, lacks=lacks)


# --- the reply -------------------------------------------------------------------------------


def _response(request: Request, reasoning: str | None, answer: str) -> Response:
    """The reply in full, or cut at the token limit.

    After an output prefix all of it is content; after closed thinking it thinks no more.
    """
    thought, content, prefill = reasoning, answer, request.prefill
    if prefill is not None and prefill.field == "content":
        thought, content = None, f"{reasoning}\n\n{answer}" if answer else ""
    elif prefill is not None and prefill.closed:
        thought = None
    finish, limit = "stop", request.sampling.max_tokens
    if limit is not None and _tokens(thought or "") + _tokens(content) > limit:
        finish = "length"
        thought = thought if thought is None else thought[: 4 * limit]
        content = content[: 4 * max(0, limit - _tokens(thought or ""))]
    spent = _tokens(thought or "")
    completion = spent + _tokens(content)
    texts = [*(message.content for message in request.messages), prefill.text if prefill else ""]
    prompt = sum(map(_tokens, texts))
    return Response(
        content=content,
        reasoning=thought,
        finish=finish,
        usage=Usage(prompt=prompt, completion=completion, reasoning=spent),
        seconds=round(SECONDS + completion / TOKENS_PER_SECOND, 3),
    )


def _tokens(text: str) -> int:
    """About as many as a tokenizer makes of arithmetic."""
    return -(-len(text) // 4)
