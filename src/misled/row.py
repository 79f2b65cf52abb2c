"""A graded trial: what a walk gives, the ledger keeps and every table is made of.

    Row(arm="tampered", problem="a-3", method="baseline", d_t=1, outcome="adopted", r_cpt=1.0, ...)

Flat, so that a run is a frame with a column a field; None where a field does
not apply. Knows nothing about how a trial was asked or graded.
"""

from __future__ import annotations

from misled.records import Record

__all__ = ["Row"]


class Row(Record, frozen=True):
    """One graded trial of study A.

    `arm`: source (the chain's origin), gate (the target alone), tampered, and
    the controls clean and again, which are graded against the tampered result
    of the trial they are paired with (so one reply of theirs gives a row per
    cell); the contrasts no_answer_line, bare, other_number, foreign and
    prefix_as_text, asked beside it; and replay, replay_question and replay_text,
    which send a chain back without tampering (A.8). `mode` names the generation
    mode that gate, `again` and probe share.

    `occurrences` counts the tampered places in the chain as sent, `length` its
    code points, `deleted` the tampered places that a structure took away.
    Tokens are the server's, but where `counted` they are ours (o200k_base).
    """

    arm: str
    problem: str
    set: str
    cluster: str
    target: str
    source: str
    mode: str
    gold: str
    outcome: str
    sample: int = 0
    feed: str | None = None
    attribution: str | None = None
    method: str | None = None
    structure: str | None = None
    channel: str | None = None
    perturbation: str | None = None
    scope: str | None = None
    place: str | None = None
    d_t: int | None = None
    tampered: str | None = None
    request: str | None = None
    reason: str | None = None
    value: str | None = None
    n_adopted: int | None = None
    n_wrong: int | None = None
    r_cpt: float | None = None
    r_hamming: float | None = None
    flags: tuple[str, ...] = ()
    occurrences: int | None = None
    unreached: int | None = None
    w_left: int | None = None
    deleted: int | None = None
    length: int | None = None
    relative_error: float | None = None
    congruent_mod_9: bool | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    answer_tokens: int | None = None
    counted: bool | None = None
    seconds: float | None = None
    attempts: int | None = None
