"""Logged chains: a JSONL file of questions with what some model thought and answered.

    {"question": "What is 2 + 3?", "gold": "5", "raw": "<think>2 + 3 = 5</think>5"}
    ->  Problem(question="What is 2 + 3?", gold=("5",), ...), Logged(raw="<think>2 + 3 = ...")

So any log can be studied without asking for its chains again. A record holds
`raw`, or `reasoning` and perhaps `answer`; `model`, `label` and `id` may be
missing. Whether a chain is finished or right is for whoever uses it to say.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from misled import chains, problems
from misled.errors import UserError
from misled.problems import Reject
from misled.records import Problem, Record, Response

__all__ = ["Logged", "load"]


class Logged(Record, frozen=True, omit_defaults=True):
    """A model's output as a file holds it; `label` says whether it is right, if anybody did."""

    raw: str | None = None
    reasoning: str | None = None
    answer: str | None = None
    model: str | None = None
    label: bool | None = None

    @property
    def reply(self) -> Response:
        """The output as a server would have given it; a chain alone is its own answer."""
        if self.raw is not None:
            finished = chains.split(self.raw).finished
            return Response(self.raw, finish="stop" if finished else "length")
        answer = self.reasoning if self.answer is None else self.answer
        return Response(answer or "", self.reasoning, finish="stop" if answer else "unknown")


def load(
    path: str, spec: str, n: int | None = None, *, chains: bool = True
) -> tuple[list[Problem], dict[str, Logged], tuple[Reject, ...]]:
    """The first `n` problems of a log, the output of each by its id, and the rejects.

    `spec` names the problem set. Without `chains`, a record may hold an answer alone.

    Raises:
        UserError: the file cannot be read, or holds no output.
    """
    found: list[Problem] = []
    logged: dict[str, Logged] = {}
    rejects: list[Reject] = []
    for index, line, record in problems.objects(path):
        read = record if isinstance(record, Reject) else _read(spec, index, record, chains=chains)
        if isinstance(read, Reject):
            rejects.append(replace(read, line=line))
            continue
        found.append(read[0])
        logged[read[0].id] = read[1]
        if len(found) == n:
            break
    if not found:
        first = f"; line {rejects[0].line}: {rejects[0].reason}" if rejects else ""
        raise UserError(f"{path}: the file holds no usable record{first}")
    return found, logged, tuple(rejects)


def _read(
    spec: str, index: int, record: dict[str, Any], *, chains: bool
) -> tuple[Problem, Logged] | Reject:
    try:
        logged = _logged(record, chains=chains)
    except ValueError as error:
        name = record.get("id")
        return Reject(index, -1, None if name is None else str(name), str(error))
    problem = problems.problem(spec, index, record)
    if isinstance(problem, Reject):
        return problem
    # Several models or samples may have answered one question, which is the cluster.
    return replace(problem, cluster=f"{spec}/{problem.question}"), logged


def _logged(record: dict[str, Any], *, chains: bool) -> Logged:
    if isinstance(record.get("answer"), list):
        said = "'answer' is a list: these are golds of a problem file (--problems file:)"
        raise ValueError(said)  # noqa: TRY004 - a value of the user's file, not of our code
    if record.get("gold") is None:
        raise ValueError("'gold' is missing")
    # What a model left empty is no answer, or no reasoning; a chain has to be there.
    blank = ("answer",) if chains else ("answer", "reasoning", "raw")
    texts = {
        key: "" if key in blank and not str(record[key]).strip() else problems.text(record, key)
        for key in ("raw", "reasoning", "answer", "model")
        if record.get(key) is not None
    }
    least = ("raw", "reasoning") if chains else ("raw", "answer")
    if not texts.keys() & set(least):
        raise ValueError(f"neither {least[0]!r} nor {least[1]!r} is there")
    label = record.get("label")
    if label is not None and not isinstance(label, bool):
        raise ValueError("'label' is neither true nor false")
    return Logged(**texts, label=label)
