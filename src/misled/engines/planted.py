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

import re
from collections.abc import AsyncGenerator
from functools import lru_cache

import msgspec

from misled import prompts as words
from misled.draws import Draws
from misled.engines import Feed, planted_profile
from misled.engines.planted_chain import adopting, alone, confused, recovering, stopping
from misled.engines.planted_profile import Solver
from misled.engines.planted_ways import Exercise, Story, Task
from misled.errors import UserError
from misled.perturbations import result_of
from misled.prompts import Prompts
from misled.records import Answer, Chain, Failure, Record, Request, Response, Usage
from misled.words import worked

__all__ = ["Planted"]

BATCH = 512
SECONDS = 0.3  # before the first token
TOKENS_PER_SECOND = 80

_SIGNS = {"+": "+", "-": "-", "*": "×", "/": "÷", "//": "÷", "x": "×", "×": "×"}
_TASK = re.compile(r"[^0-9\n]*([0-9]{1,1000}) ?([+×x*]) ?([0-9]{1,1000})[^0-9\n]*")


class _Read(Record, frozen=True):
    """What a request says: the task, and of a probe its method and the chain's result."""

    question: str
    task: Exercise
    method: str | None = None
    seen: str | None = None


class Planted:
    """An engine for `planted/<profile>` models; `prompts` are the words it can read."""

    def __init__(self, prompts: Prompts | None = None) -> None:
        self._prompts = prompts or words.load(None)
        self._solvers: dict[str, Solver] = {}

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
        read = _read(self._prompts, request)
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


# --- reading ---------------------------------------------------------------------------------


def _read(prompts: Prompts, request: Request) -> _Read | str:
    """What `request` says, or why that cannot be told."""
    if len(request.messages) != 1 or request.messages[0].role != "user":
        return "reads a single user message and nothing else"
    text, prefill = request.messages[0].content, request.prefill
    if prefill is not None and prefill.text != prompts.prefix:
        return "does not know this output prefix; run it with the prompts that hold it"
    probe = words.recognise(prompts, text)
    if probe is not None:
        return _handed(probe, prefixed=prefill is not None)
    question = words.question_of(prompts, text)
    if question is None or (task := _task(question)) is None:
        return "sees neither a sum or product alone nor a filter of its prompts nor a bundled word problem"
    return _Read(question, task)


def _handed(probe: words.Recognised, *, prefixed: bool) -> _Read | str:
    if prefixed and probe.filter != "contradiction":
        return f"sees an output prefix after the filter {probe.filter}, which is no method"
    if (task := _task(probe.question)) is None:
        return "sees a filter, but before it no sum or product to solve nor a bundled word problem"
    seen = _stated(probe.chain)
    if seen is None:
        return "finds no result that is a whole number in the chain it was handed"
    return _Read(probe.question, task, "prefix" if prefixed else probe.filter, seen)


@lru_cache(maxsize=4096)
def _task(question: str) -> Exercise | None:
    """The one sum or product in a line with no other number, or a word problem of the templates."""
    if found := _TASK.fullmatch(question):
        a, sign, b = found.groups()
        return Task(int(a), _SIGNS[sign], int(b))
    steps = worked(question)
    if not steps:
        return None
    return Story(tuple((step.name, Task(step.a, _SIGNS[step.sign], step.b)) for step in steps))


@lru_cache(maxsize=1024)
def _stated(chain: str) -> str | None:
    """The final value of `chain`, by the search that tampering uses, if it is a whole number."""
    value = result_of(Chain(reasoning=chain, answer=""))
    return value if value is not None and value.isdecimal() else None


# --- behaving --------------------------------------------------------------------------------


def _behave(solver: Solver, read: _Read, draws: Draws) -> tuple[str, str]:
    """Reasoning and answer, as `solver` draws them (the order of `planted_profile`)."""
    task, seen = read.task, read.seen
    own = _own(solver, read)
    shared = solver.rho > 0 and draws.unit() < solver.rho
    if read.method is None or seen is None:
        if draws.unit() < solver.error:
            own = _erring(solver, str(task.result), draws)
        return alone(task, own, draws)
    u = (Draws(solver.hash, read.question, "shared") if shared else draws).unit()
    d_t = _distance(str(task.result), seen)
    if (u := u - solver.stop) < 0:
        return stopping(task, draws)
    if (u := u - solver.error) < 0:
        return recovering(task, _erring(solver, str(task.result), draws), seen, draws)
    if d_t and (u := u - solver.confuse) < 0:
        return confused(task, _confused(str(task.result), seen, d_t, draws), seen, draws)
    if u < solver.adoption(read.method, d_t):
        return adopting(task, seen, draws)
    return recovering(task, own, seen, draws)


def _own(solver: Solver, read: _Read) -> str:
    """What the solver gets by itself: right for a share `gate` of all questions."""
    result = str(read.task.result)
    if solver.gate == 1:
        return result
    able = Draws(solver.hash, read.question, "gate")
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
    """The reply in full, or cut at the token limit; after an output prefix all of it is content."""
    thought: str | None = reasoning
    content = answer
    if request.prefill is not None:
        thought, content = None, f"{reasoning}\n\n{answer}" if answer else ""
    finish, limit = "stop", request.sampling.max_tokens
    if limit is not None and _tokens(thought or "") + _tokens(content) > limit:
        finish = "length"
        thought = thought if thought is None else thought[: 4 * limit]
        content = content[: 4 * max(0, limit - _tokens(thought or ""))]
    spent = _tokens(thought or "")
    completion = spent + _tokens(content)
    prompt = sum(_tokens(message.content) for message in request.messages)
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
