"""A graded trial: what a walk gives, the ledger keeps and every table is made of.

    Row(arm="tampered", problem="a-3", method="baseline", d_t=1, outcome="adopted", r_cpt=1.0, ...)

Flat, so that a run is a frame with a column a field; None where a field does
not apply. Knows nothing about how a trial was asked or graded.
"""

from __future__ import annotations

from misled.records import Record

__all__ = ["Judged", "Row"]


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


class Judged(Record, frozen=True):
    """One line of study B: a generation with its label, or one verdict on it.

    `arm`: generate (the item itself: its value, its label, and whether there is
    an answer at all), judge (a verdict) or closed_book (the judge answers the
    question). `condition` of a verdict: answer, reasoning, again_answer,
    again_reasoning, self, self_hidden or controlled; for the last, `variant` is
    statements, filler, true_edit, placebo or chain_cut, `k` the counterfactual
    statements of four and `place` begin, middle or end.

    `label` is y: whether the answer is right; `labelled_by` deterministic,
    match, verifier or given (by the file), and `matched`, `verified` what those
    two say alone. `verdict` is accept or reject, None where none was read.
    `outcome`: read, unreadable, or why there is nothing to read: failed,
    unsupported, not_applicable, truncated, refused, no_answer, unlabelled.
    `inserted` is the share of the shown chain's characters that was put in,
    `removed` that of the generator's chain that was taken out, and `repeated` the
    share of the chain's runs of eight words that the answer repeats.
    """

    arm: str
    problem: str
    set: str
    cluster: str
    generator: str
    outcome: str
    judge: str | None = None
    condition: str | None = None
    shown: str | None = None
    label: bool | None = None
    labelled_by: str | None = None
    matched: bool | None = None
    verified: bool | None = None
    verdict: str | None = None
    value: str | None = None
    variant: str | None = None
    k: int | None = None
    place: str | None = None
    sample: int = 0
    mode: str | None = None
    request: str | None = None
    reason: str | None = None
    flags: tuple[str, ...] = ()
    length: int | None = None
    inserted: float | None = None
    removed: float | None = None
    repeated: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    answer_tokens: int | None = None
    counted: bool | None = None
    seconds: float | None = None
    attempts: int | None = None
