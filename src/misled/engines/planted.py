"""The planted reasoner: an engine whose behaviour is known, since it was put there.

    async for request, answer in Planted().answer(feed): ...

A request to `planted/mixed` is read as a text, as a model would read it. Which
method it is, the wording of the filter and the output prefix tell; how many
digits were tampered with, the planted reasoner finds out by solving the question
and comparing the result that the chain states. What it then does is drawn from
its profile (`planted_profile`), and written out like a reasoning model's reply
(`planted_chain`). Draws are hashes of the profile's contents and the request,
so a reply is a function of both. A text that it cannot classify is a Failure:
it never guesses.

Knows nothing about runs, rows or what its replies are graded.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

import msgspec

from misled import prompts as words
from misled.draws import Draws
from misled.engines import Feed, planted_profile
from misled.engines.planted_chain import (
    adopting,
    alone,
    confused,
    echoing,
    recovering,
    stopping,
    strolling,
)
from misled.engines.planted_profile import Solver
from misled.engines.planted_reader import Reading, lacking, reading
from misled.engines.planted_ways import Exercise
from misled.errors import UserError
from misled.prompts import Prompts
from misled.records import Answer, Failure, Request, Response, Usage

__all__ = ["Planted"]

BATCH = 512
SECONDS = 0.3  # before the first token
TOKENS_PER_SECOND = 80


class Planted:
    """An engine for `planted/<profile>` models; `prompts` are the words it can read.

    `solvers` are profiles of its own, by name; all others are loaded.
    """

    def __init__(
        self, prompts: Prompts | None = None, solvers: Mapping[str, Solver] | None = None
    ) -> None:
        self._prompts = prompts or words.load(None)
        self._solvers = dict(solvers or {})

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        """Every request that `feed` gives, each once, with its reply."""
        while batch := await feed.take(BATCH, 0):
            for request in batch:
                yield request, self.reply(request)

    def reply(self, request: Request) -> Answer:
        """The reply to `request`: a function of it and of the profile's contents."""
        try:
            solver = self._solver(request.model)
        except UserError as error:
            return Failure("not_found", str(error), fatal=True)
        read = reading(self._prompts, request)
        if isinstance(read, str):
            return Failure("unclassified", f"planted/{request.model} {read}", fatal=True)
        # The name is left out: a profile behaves the same wherever its file lies.
        draws = Draws(solver.hash, msgspec.structs.replace(request, model="", lane="").key)
        reasoning, answer = _behave(solver, read, draws)
        return _response(request, reasoning, answer)

    def _solver(self, name: str) -> Solver:
        if name not in self._solvers:
            self._solvers[name] = planted_profile.load(name)
        return self._solvers[name]


# --- behaving --------------------------------------------------------------------------------


def _behave(solver: Solver, read: Reading, draws: Draws) -> tuple[str, str]:
    """Reasoning and answer, as `solver` draws them."""
    if read.task is None:
        return _replaying(solver, read, draws)
    own = _own(solver, read.question, str(read.task.result))
    shared = solver.rho > 0 and draws.unit() < solver.rho
    if read.way is not None or read.replay is not None:
        u = (Draws(solver.hash, read.question, "shared") if shared else draws).unit()
        return _handed(solver, read, read.task, (own, u), draws)
    if draws.unit() < solver.error:
        own = _erring(solver, str(read.task.result), draws)
    return alone(read.task, own, draws)


def _handed(
    solver: Solver, read: Reading, task: Exercise, drawn: tuple[str, float], draws: Draws
) -> tuple[str, str]:
    """What it makes of a chain: its own value and a draw decide (order of `planted_profile`)."""
    (own, u), result = drawn, str(task.result)
    seen = result if read.seen is None else read.seen
    d_t = _distance(result, seen)
    if (u := u - solver.stopping(read.replay)) < 0:
        return stopping(task, draws)
    if (u := u - solver.error) < 0:
        return recovering(task, _erring(solver, result, draws), seen, draws)
    if d_t and (u := u - solver.confuse) < 0:
        return confused(task, _confused(result, seen, d_t, draws), seen, draws)
    if u < _adoption(solver, read, d_t):
        return adopting(task, seen, draws)
    return recovering(task, own, seen, draws)


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


def _own(solver: Solver, question: str, result: str) -> str:
    """What the solver gets by itself: right for a share `gate` of all questions."""
    if solver.gate == 1:
        return result
    able = Draws(solver.hash, question, "gate")
    return result if able.unit() < solver.gate else _erring(solver, result, able)


def _erring(solver: Solver, result: str, draws: Draws) -> str:
    """`result` with as many wrong digits as `solver.wrong` draws."""
    rest = draws.unit() * sum(solver.wrong)
    wrong = 1
    for weight in solver.wrong[:-1]:
        if (rest := rest - weight) < 0:
            break
        wrong += 1
    return _replaced(result, min(wrong, len(result)), draws)


def _confused(result: str, seen: str, d_t: int, draws: Draws) -> str:
    """A value of another length than w and w', or with more than `d_t` wrong digits."""
    n = len(result)
    if len(seen) == n > d_t and draws.below(2):
        return _replaced(result, d_t + 1 + draws.below(min(3, n - d_t)), draws)
    if n > 1 and len(seen) >= n and draws.below(2):
        place = 1 + draws.below(n - 1)
        return result[:place] + result[place + 1 :]
    longer = result
    while len(longer) <= max(n, len(seen)):
        place = 1 + draws.below(len(longer))
        longer = f"{longer[:place]}{draws.below(10)}{longer[place:]}"
    return longer


def _replaced(value: str, k: int, draws: Draws) -> str:
    """`value` with exactly `k` digits replaced by others; the first never becomes 0."""
    digits = list(value)
    for place in draws.sample(range(len(digits)), k):
        others = "123456789" if place == 0 else "0123456789"
        digits[place] = draws.choice(others.replace(digits[place], ""))
    return "".join(digits)


def _distance(result: str, seen: str) -> int:
    """D_T: the digits in which the two differ; a digit too many or too few counts as one."""
    if len(result) != len(seen):
        return 1
    return sum(a != b for a, b in zip(result, seen, strict=True))


# --- the reply -------------------------------------------------------------------------------


def _response(request: Request, reasoning: str, answer: str) -> Response:
    """The reply in full, or cut at the token limit.

    After an output prefix all of it is content; after closed thinking it thinks no more.
    """
    thought: str | None = reasoning
    content, prefill = answer, request.prefill
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
