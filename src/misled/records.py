"""The vocabulary: frozen records that every other module takes and gives.

A record never fills up as it travels; the next stage makes a new one. The
whole of a run in one line of nouns:

    Problem -> Request -> Response -> Chain -> Edited -> Request -> Response -> Row -> Estimate

A `Request` is worth its key, the blake2b of its canonical JSON: the same
question is the same row of the store in any run. Fields at their default are
left out of that JSON, so a field added later changes no key that exists.

Knows nothing about files, providers or studies.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Literal, TypeAlias

import msgspec

__all__ = [
    "OUTCOMES",
    "Answer",
    "Chain",
    "Edit",
    "Edited",
    "Entry",
    "Estimate",
    "Failure",
    "Graded",
    "Message",
    "NotApplicable",
    "Prefill",
    "Problem",
    "Request",
    "Response",
    "Role",
    "Sampling",
    "Step",
    "Usage",
]

Role: TypeAlias = Literal["calculation", "reflection", "verification", "conclusion", "other"]

# Every trial ends in exactly one of these; the order is the protocol's (A.6).
OUTCOMES = (
    "failed",
    "unsupported",
    "not_applicable",
    "truncated",
    "refused",
    "stopped",
    "unreadable",
    "recovered",
    "adopted",
    "confused",
    "partial",
    "other",
)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all records: immutable, compared by value, strict about fields."""


class Problem(Record, frozen=True):
    """One question with its accepted golds; `cluster` is the unit of resampling.

    `set` is the name it was asked for by (`addition:15+13`); `id` is unique in the set.
    """

    id: str
    set: str
    question: str
    gold: tuple[str, ...]
    cluster: str


class Message(Record, frozen=True, omit_defaults=True):
    """One turn; `reasoning` is thinking that is sent back with an assistant turn."""

    role: Literal["system", "user", "assistant"]
    content: str
    reasoning: str | None = None


class Prefill(Record, frozen=True, omit_defaults=True):
    """Text that the model has to continue, in its answer or in its thinking.

    `closed` thinking is over: the model goes on with its answer.
    """

    field: Literal["content", "thinking"]
    text: str
    closed: bool = False


class Sampling(Record, frozen=True, omit_defaults=True):
    """How to generate; None leaves a parameter to the provider's default."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    effort: str | None = None
    thinking: bool | None = None


class Request(Record, frozen=True, omit_defaults=True, dict=True):
    """One question to one model. `sample` tells repeated draws of it apart.

    `lane` groups requests that share a long prefix, `stage` those of one kind for
    whoever watches a run; neither is part of the key.
    """

    provider: str
    model: str
    messages: tuple[Message, ...]
    host: str | None = None
    sampling: Sampling = Sampling()
    sample: int = 0
    prefill: Prefill | None = None
    lane: str = ""
    stage: str = ""

    @cached_property
    def body(self) -> bytes:
        """The canonical JSON: sorted keys, defaults, lane and stage left out."""
        plain = msgspec.to_builtins(self)
        plain.pop("lane", None)
        plain.pop("stage", None)
        return msgspec.json.encode(plain, order="sorted")

    @cached_property
    def key(self) -> str:
        """`b2:` and 32 hexadecimal digits."""
        return "b2:" + blake2b(self.body, digest_size=16).hexdigest()


class Usage(Record, frozen=True, omit_defaults=True):
    """Token counts as the server gave them; None where it gave none."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoning: int | None = None


class Response(Record, frozen=True, omit_defaults=True):
    """What a model returned.

    `content` is the continuation alone: an echoed prefill is taken off, once.
    `reasoning` is None where the server has no such field. `finish` is stop,
    length, content_filter or the server's own word. `seconds` are those of the
    attempt that succeeded, without queueing. `raw` is the server's JSON.
    `flags` says what was put right on the way (`answer_in_reasoning`).
    """

    content: str
    reasoning: str | None = None
    finish: str = "stop"
    usage: Usage = Usage()
    seconds: float = 0.0
    attempts: int = 1
    raw: str = ""
    flags: tuple[str, ...] = ()


class Failure(Record, frozen=True, omit_defaults=True):
    """A request that got no answer: data with a reason, never a score, never text.

    `kind`: auth, bad_request, not_found, rate_limit, server, timeout,
    connection, too_long (for the model's context), filtered (its text was turned
    away), garbage (an answer that is none), unsupported (never sent: the provider
    cannot be asked this), unclassified (the planted reasoner cannot read the text),
    internal. What is `fatal` would fail again. `attempts` is 0 for what was never sent.
    """

    kind: str
    message: str
    status: int | None = None
    attempts: int = 1
    fatal: bool = False


Answer: TypeAlias = Response | Failure


class Chain(Record, frozen=True):
    """A model's output cut in two; spans index the raw text it was cut from.

    `finished` is False where the thinking was opened and never closed.
    `delimited` is False where the text itself had to tell where the answer begins.
    """

    reasoning: str
    answer: str
    reasoning_span: tuple[int, int] | None = None
    answer_span: tuple[int, int] | None = None
    finished: bool = True
    delimited: bool = True


class Step(Record, frozen=True):
    """A maximal run of sentences of one role; offsets count code points of `reasoning`."""

    start: int
    end: int
    role: Role


class Edit(Record, frozen=True):
    """One place of the input, replaced: a whole surface form of the value."""

    start: int
    end: int
    before: str
    after: str


class Edited(Record, frozen=True):
    """A perturbed chain. `edits` index the input, ascending.

    `result` is the chain's own final value and `tampered` what it says now,
    both canonical. `places` are the indices into the result's digits that
    changed. `unreached` counts places in scope that cannot take the change;
    `w_left` occurrences of `result` that the text still holds; `deleted` those
    places of a tampering that a structure took away, which are in no edit.
    """

    text: str
    result: str
    tampered: str
    edits: tuple[Edit, ...]
    places: tuple[int, ...] = ()
    unreached: int = 0
    w_left: int = 0
    deleted: int = 0


class NotApplicable(Record, frozen=True):
    """The perturbation cannot be applied to this chain, and why."""

    reason: str
    result: str | None = None
    unreached: int = 0
    w_left: int = 0


class Graded(Record, frozen=True):
    """The verdict on one reply (protocol A.6); None where a number is undefined.

    `outcome` is one of `OUTCOMES`; `reason` refines it (approximate, ambiguous,
    form, digits, own, mixed ...).
    """

    outcome: str
    reason: str | None = None
    value: str | None = None
    d_t: int | None = None
    n_adopted: int | None = None
    n_wrong: int | None = None
    r_cpt: float | None = None
    r_hamming: float | None = None
    flags: tuple[str, ...] = ()


class Estimate(Record, frozen=True):
    """A number as it leaves: with its interval, its n and how it was made.

    `low` and `high` are None where no interval is claimed; `value` is None
    where nothing was observed. `clusters` is the number of problems behind `n`.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str


class Entry(Record, frozen=True, omit_defaults=True):
    """One line of a table: an estimate, the cell it belongs to, what was left out.

    Attributes:
        table: the table that it is a line of.
        study: cpt or judge.
        metric: what is estimated.
        keys: the cell: coordinates such as set, target, method and d_t, by name.
        value: the estimate; null where nothing was observed.
        low: the lower end of the interval of 95 %; null where none is claimed.
        high: its upper end.
        n: trials or pairs behind the value.
        clusters: problems, templates or questions behind them.
        method: how the interval was made.
        left_out: what is not in n, and how often, by outcome or reason.
        p: of a test against 0, two-sided.
        p_adjusted: the same by Holm, where the test is of a family that was fixed in advance.
    """

    table: str
    study: str
    metric: str
    keys: dict[str, str]
    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    method: str
    left_out: dict[str, int]
    p: float | None = None
    p_adjusted: float | None = None
