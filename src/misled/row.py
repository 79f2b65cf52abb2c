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

    Controls are graded against the tampered result of the trial that they are paired
    with, so one reply of theirs gives a row per cell.

    Attributes:
        arm: source (the chain's origin), gate (the target alone), tampered; the controls
            clean and again; the contrasts no_answer_line, bare, other_number, foreign and
            prefix_as_text; replay, replay_question and replay_text, which send a chain back
            without tampering (A.8).
        problem: the problem's id, unique in its set.
        set: the problem set, as the plan names it.
        cluster: the unit of resampling: the problem, or its template.
        target: the model that is asked.
        source: the model whose chain is handed over; of a logged chain, its model or its file.
        mode: the generation mode that gate, `again` and probe share: plain or prefix.
        gold: the true result w.
        outcome: how the trial ended (A.6).
        sample: which sample of the probe, from 0; a control has that of its trial.
        feed: what is handed back: the reasoning, or the whole output.
        attribution: whose thought the filter says it is: own or other.
        method: the prompting method (A.4).
        structure: what was done to the steps of the chain (A.5).
        channel: how the chain is handed over (A.4).
        perturbation: how the result is tampered with (A.3).
        scope: which occurrences of the result change (A.3).
        place: which of its digits change (A.3).
        d_t: how many digits change, D_T; null for insert_digit and delete_digit.
        tampered: the tampered result w'.
        request: the key of the request in the store; null for a chain from a file.
        reason: what refines the outcome, or why there is no number.
        value: the value v that was read from the reply.
        n_adopted: tampered places at which v has the tampered digit.
        n_wrong: places at which v differs from w.
        r_cpt: D_T / (2 D_T - n_adopted), or 2 where confused (A.6).
        r_hamming: the same with n_wrong for n_adopted.
        flags: what else the reply shows (A.6); never changes the outcome.
        occurrences: tampered places in the chain as sent.
        unreached: places in scope in a form that takes no change of digits.
        w_left: occurrences of w that the chain as sent still shows.
        deleted: tampered places that a structure took away.
        length: code points of the chain as sent.
        relative_error: |w' - w| / |w|.
        congruent_mod_9: whether w' and w leave the same remainder by 9.
        prompt_tokens: tokens of the prompt, as the server counts.
        cached_tokens: those of them that came from the server's cache.
        completion_tokens: tokens of the reply, as the server counts.
        reasoning_tokens: those of its reasoning; null where neither server nor text tells.
        answer_tokens: those of its answer.
        counted: whether the two before are counted here (o200k_base), not by the server.
        seconds: of the attempt that succeeded, without queueing.
        attempts: attempts that the request took; 0 if it was never sent.
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

    Attributes:
        arm: generate (the item itself: its value, its label, whether there is an answer at
            all), judge (a verdict) or closed_book (the judge answers the question).
        problem: the question's id, unique in its set.
        set: the problem set, as the plan names it.
        cluster: the unit of resampling: the question.
        generator: whose answer it is; of a logged one, its model or its file.
        outcome: read, unreadable, or why there is nothing to read: failed, unsupported,
            not_applicable, truncated, refused, no_answer, unlabelled.
        judge: who decides.
        strength: weak or strong, as the plan calls the judge; null where it does not.
        condition: what the judge is shown: answer, reasoning, again_answer, again_reasoning,
            self, self_hidden, controlled, crossed or null (B.1, B.6, B.7).
        shown: the answer's whole content, or its final value.
        label: whether the answer is right, y.
        labelled_by: who says so: deterministic, match, verifier or given (by the file).
        matched: what the match alone says.
        verified: what the verifier alone says.
        verdict: accept or reject; null where none was read.
        value: the final value of the answer.
        variant: of controlled, what was done to the chain: statements, filler, true_edit,
            placebo, chain_cut; of crossed, whether its chain is that of a right or a wrong
            answer; of null, what stood for the answer.
        k: how many of the four statements are counterfactual; of true_edit, reworded.
        place: where text is put in: begin, middle or end.
        sample: which sample of the same request it is: 1 for again_..., else 0.
        mode: null; study A's generation mode.
        request: the key of the request in the store; null for an answer from a file.
        reason: why there is no verdict, label or answer.
        flags: what was put right when the reply was read.
        length: code points of the chain.
        inserted: the share of the shown chain's characters that was put in.
        removed: the share of the generator's chain that was taken out.
        repeated: the share of the chain's runs of eight words that the answer repeats.
        prompt_tokens: tokens of the prompt, as the server counts.
        cached_tokens: those of them that came from the server's cache.
        completion_tokens: tokens of the reply, as the server counts.
        reasoning_tokens: those of its reasoning; null where neither server nor text tells.
        answer_tokens: those of its answer.
        counted: whether the two before are counted here (o200k_base), not by the server.
        seconds: of the attempt that succeeded, without queueing.
        attempts: attempts that the request took; 0 if it was never sent.
    """

    arm: str
    problem: str
    set: str
    cluster: str
    generator: str
    outcome: str
    judge: str | None = None
    strength: str | None = None
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
