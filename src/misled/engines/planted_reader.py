"""The planted reasoner's eyes: what a request says, told from its texts alone.

    reading(prompts, request)
    -> Reading(question="What is 8 + 9?", task=Task(8, "+", 9), way=Way("baseline"), seen="27")

A text that cannot be classified gives a sentence that says so. Knows nothing
about profiles: it sees what there is to see.
"""

from __future__ import annotations

import re
from functools import lru_cache

from misled import prompts as words
from misled.chains import steps
from misled.engines.planted_chain import BEGINNINGS
from misled.engines.planted_ways import Exercise, Story, Task
from misled.perturbations import result_of
from misled.prompts import Prompts, Way
from misled.prose import is_prose
from misled.records import Chain, Record, Request
from misled.words import worked

__all__ = ["Reading", "lacking", "reading"]

_SIGNS = {"+": "+", "-": "-", "*": "×", "/": "÷", "//": "÷", "x": "×", "×": "×"}
_ROLES = frozenset({"calculation", "reflection", "verification", "conclusion"})
_DIGIT = re.compile(r"[0-9]")
_TASK = re.compile(r"[^0-9\n]*([0-9]{1,1000}) ?([+×x*]) ?([0-9]{1,1000})[^0-9\n]*")


class Reading(Record, frozen=True):
    """What a request says.

    A probe has a `way`, its chain and the number that the chain states, in `seen`;
    a chain that states none has nothing to adopt. A chain that comes back with
    nothing said of it is a `replay`: chain, question (before the chain) or text
    (no chain at all, and no task).
    """

    question: str
    task: Exercise | None
    way: Way | None = None
    chain: str = ""
    seen: str | None = None
    replay: str | None = None


def reading(prompts: Prompts, request: Request) -> Reading | str:
    """What `request` says, or why that cannot be told."""
    prefill = request.prefill
    if prefill is not None and prefill.field == "content" and prefill.text != prompts.prefix:
        return "does not know this output prefix; run it with the prompts that hold it"
    read = words.read(prompts, request.messages, prefill)
    if read is None:
        return "reads one question, alone or with a chain and a filter of its prompts"
    task = task_of(read.question)
    if read.chain is None or read.way is None:
        return Reading(read.question, task) if task else _replayed(read.question)
    if task is None:
        return "sees a chain, but with it no sum, product or bundled word problem to solve"
    seen = _seen(read.chain, task)
    if seen is not None and not seen.isdecimal():
        return f"finds a result that is no whole number in the chain it was handed: {seen[:40]}"
    return Reading(read.question, task, read.way, read.chain, seen)


@lru_cache(maxsize=4096)
def task_of(question: str) -> Exercise | None:
    """The one sum or product in a line with no other number, or a word problem of the templates."""
    if found := _TASK.fullmatch(question):
        a, sign, b = found.groups()
        return Task(int(a), _SIGNS[sign], int(b))
    worked_out = worked(question)
    if not worked_out:
        return None
    return Story(tuple((step.name, Task(step.a, _SIGNS[step.sign], step.b)) for step in worked_out))


@lru_cache(maxsize=1024)
def stated(chain: str) -> str | None:
    """The final value of `chain`, by the search that tampering uses."""
    return result_of(Chain(reasoning=chain, answer=""))


def _seen(chain: str, task: Exercise) -> str | None:
    """What `chain` gives as the result; an operand is none, so that checks back to it do not count.

    They come last where the concluding line was taken away.
    """
    value = stated(chain)
    last = task.steps[-1][1] if isinstance(task, Story) else task
    if value in {str(last.a), str(last.b)}:
        kept = [step for step in steps(chain) if step.role != "verification"]
        return stated("".join(chain[step.start : step.end] for step in kept)) or value
    return value


@lru_cache(maxsize=1024)
def lacking(chain: str) -> frozenset[str]:
    """The roles that no step of a chain has; or `digression`: it has one too many.

    A verification has numbers: "The same again" verifies nothing by itself.
    """
    lacks = _ROLES - {
        step.role
        for step in steps(chain)
        if step.role != "verification" or _DIGIT.search(chain, step.start, step.end)
    }
    strays = " degrees" in chain or " angle" in chain
    return lacks | ({"digression"} if strays else frozenset())


def _replayed(text: str) -> Reading | str:
    """A chain of its own that came back without a filter, or prose; anything else is unknown."""
    first, _, rest = text.partition("\n\n")
    task = task_of(first)
    if task is not None and rest.startswith(BEGINNINGS):
        return Reading(first, task, chain=rest, seen=stated(rest), replay="question")
    if text.startswith(BEGINNINGS):
        return Reading("", None, chain=text, seen=stated(text), replay="chain")
    if is_prose(text):
        return Reading("", None, chain=text, replay="text")
    return "sees neither a sum, product, bundled word problem or fact nor a filter of its prompts"
