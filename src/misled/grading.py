"""A reply becomes a row: what it says, what it cost, and against which result it is graded.

    row(unit, request, Response(content="So 42."), arm="gate", mode="plain")
    -> Row(arm="gate", outcome="recovered", value="42", ...)

Knows nothing about what was asked for: an arm is a name.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec.structs import asdict, replace

from misled import answers, chains, metrics, tokens
from misled.conditions import Condition
from misled.records import Answer, Failure, Graded, Request, Response
from misled.row import Row
from misled.units import Unit

__all__ = ["lost", "row", "said", "spent", "unasked"]

# A chain has arrived if it made the prompt longer by this share of its tokens as we count them:
# tokenizers differ, most of all in digits and white space.
ARRIVED = 0.25


def unasked(unit: Unit, condition: Condition, **cell: Any) -> Row:
    """A trial that cannot be asked, or cannot be counted, with its outcome and reason."""
    return Row(**_who(unit) | condition.keys | {"arm": "tampered"} | cell)


def row(unit: Unit, request: Request | None, reply: Answer, **cell: Any) -> Row:
    """`reply`, graded against w and, where the cell has one, w' (protocol A.6).

    A reply that was not asked for, but logged, has no request and no cost.
    """
    cell = _who(unit) | {"request": request.key if request else None} | cell
    if isinstance(reply, Failure):
        outcome, reason = "failed", reply.kind
        if reply.kind == "unsupported":  # never sent: the provider cannot be asked this
            outcome, reason = "unsupported", reply.message
        return Row(**cell | {"outcome": outcome, "reason": reason, "attempts": reply.attempts})
    gold = unit.problem.gold[0]
    graded = said(reply.content, reply.reasoning, reply.finish, gold, cell.get("w_left"))
    if graded.value is not None and cell.get("tampered") is not None:
        w, flags = str(answers.canonical(gold)), graded.flags
        graded = replace(metrics.classify(graded.value, w, cell["tampered"]), flags=flags)
    flags = tuple(sorted({*graded.flags, *reply.flags, *cell.pop("flags", ())}))
    cost = spent(reply) if request else {}
    return Row(**asdict(graded) | {"flags": flags} | cost | cell)


def lost(alone: int | None, with_chain: int | None, chain: str) -> str | None:
    """Why it is not shown that `chain`, as an earlier turn, reached the model (protocol A.4).

    From the prompt's tokens without and with it, as the server counts them.
    """
    if alone is None or with_chain is None:
        return "the server counts no prompt tokens, so that the chain's arrival is not shown"
    if with_chain - alone < ARRIVED * tokens.count(chain):
        return f"the chain did not arrive: {with_chain} prompt tokens, {alone} without it"
    return None


def _who(unit: Unit) -> dict[str, Any]:
    return {
        "problem": unit.problem.id,
        "set": unit.problem.set,
        "cluster": unit.problem.cluster,
        "target": unit.target,
        "source": unit.source,
        "gold": unit.problem.gold[0],
    }


# A control's reply is graded against every w' that it is paired with, but read once.
@lru_cache(maxsize=4096)
def said(
    content: str, reasoning: str | None, finish: str, gold: str, w_left: int | None = None
) -> Graded:
    """What a reply says: its answer's value, or all of an output's that marks no answer."""
    chain = chains.of(content, reasoning)
    return metrics.grade(
        chain.answer if chain.delimited else content,
        gold,
        reasoning=chain.reasoning,
        finish=finish,
        w_left=w_left,
    )


@lru_cache(maxsize=4096)
def spent(reply: Response) -> dict[str, Any]:
    """What a reply cost, in tokens and seconds (protocol A.7).

    Where the server splits its count in two, the answer's tokens are the rest;
    else both texts are counted here, and `counted` says so. Reasoning that was
    not returned has no number, unless the server gives one.
    """
    usage = reply.usage
    thought, answer, counted = usage.reasoning, None, False
    if thought is not None and usage.completion is not None:
        answer = max(usage.completion - thought, 0)
    else:
        counted, answer = True, tokens.count(reply.content)
        if thought is None and reply.reasoning is not None:
            thought = tokens.count(reply.reasoning)
    return {
        "prompt_tokens": usage.prompt,
        "cached_tokens": usage.cached,
        "completion_tokens": usage.completion,
        "reasoning_tokens": thought,
        "answer_tokens": answer,
        "counted": counted,
        "seconds": reply.seconds,
        "attempts": reply.attempts,
    }
