"""What tables, their keys and their columns are called, and what a reader must know of them.

    METRICS["net_adoption"] -> ("net adoption", "adopted, minus the same under the control")

Knows nothing about numbers.
"""

from __future__ import annotations

from misled import captions_judge

__all__ = [
    "ACROSS",
    "BOUNDS",
    "KEYS",
    "METRICS",
    "SIGNED",
    "SIZES",
    "TESTING",
    "caption",
    "label",
    "note",
]

CAPTIONS = {
    "eligibility": "Which problems could be probed: chain right, problem solved alone",
    "families": "Tests that were fixed in advance, by family",
    "controls": "What the controls answer by themselves, each reply counted once",
    "outcomes": "Outcomes as shares of the answered trials",
    "cpt": "Compromising rate by cell, its other readings, and adoption",
    "net": "Tampered minus control, paired by problem; n counts problems",
    "pooled": "Pooled over the tampered digits, each degree weighted equally within a problem",
    "methods": "Method against method: each minus baseline, paired by problem",
    "structures": "Net of the clean chain, while intact and when edited, and its change",
    "structure_arms": "What each structure is answered, how often it applies, and its size",
    "slopes": "Change for each further tampered digit, within a problem",
    "magnitude": "One tampered digit: net of the clean chain by relative error and by place",
    "contrasts": "Contrasts beside tampered and clean, and tampered minus each of them",
    "attribution": "The chain said to be another's, minus the same said to be the model's own",
    "operations": "Net adoption under addition minus that under multiplication",
    "common_problems": "How many of the problems that a model solved alone all models solved",
    "common": "Models on the problems that all of them solved alone",
    "common_pairs": "Model minus model on the problems that all solved alone, paired by problem",
    "effort": "Median tokens and seconds of each reply, on the problems that were probed",
    "effort_ratios": "Effort beside that of the same problem solved alone, and of a second time",
    "effort_net": "Tokens and seconds beyond those of the same problem alone again, and the floor",
    "stops": "Stops without an answer: by arm, and by thirds of the prompt tokens",
    "flags": "What else replies show, as shares of the answered trials",
    "answers_in_reasoning": "Outcomes with and without answers that were filed as reasoning",
    "table1": "R_CPT on problems in words, one tampered digit",
    "table1_net": "Net R_CPT on problems in words, one tampered digit: tampered minus clean chain",
    "figure4": "R_CPT by tampered digits",
    "figure4_net": "Net R_CPT by tampered digits: tampered minus clean chain",
    "figure5": "R_CPT over all tampered digits, by method",
    "figure5_net": "Net R_CPT over all tampered digits, by method: tampered minus clean chain",
    "figure6": "Tokens of one trial with the tampered chain, beside the same problem alone",
    "figure6_net": "Tokens of one trial beyond those of alone again, beside all its problems'",
    "figure7": "Tokens and seconds of each question, alone and with a chain",
    "figure7_net": "Tokens and seconds of each question beyond those of alone again",
    "figure8": "R_CPT over all tampered digits, by structure of the chain",
    "figure8_net": "Net R_CPT over all tampered digits, by structure: tampered minus clean chain",
}
_EXPLORES = "Exploratory: p is not adjusted for the number of comparisons"
_EXCEPT = f"{_EXPLORES}, except where Holm's p of a family stands beside it"
_NET = (
    "Medians of differences, paired by problem: a chain's reply minus again, which is the gate's "
    "floor taken away; beside them again minus gate, which chance and the gate's selection set "
    "apart. Truncated replies bound a difference, and are left out of n"
)
_APPLIES = "Each structure on the problems that it applies to; the table of structures pairs"
NOTES = {
    "families": "Holm's p is adjusted over the m tests of its family; intervals are not adjusted",
    "methods": _EXCEPT,
    "structures": _EXCEPT,
    "slopes": f"{_EXCEPT}. Resistance to more digits is told from that to larger errors only "
    "where the place is anchored",
    "magnitude": "Exploratory; decades hold different problems",
    "contrasts": f"{_EXPLORES}. A contrast is never subtracted from a headline",
    "attribution": _EXPLORES,
    "operations": "Exploratory; the operations share no problems, so nothing is paired",
    "common": "Exploratory",
    "common_pairs": _EXPLORES,
    "effort": "Truncated replies count as at least what they took, and are left out of n",
    "effort_ratios": "Of two equal distributions half the ratios lie below 1: the net is the share "
    "minus that of the second time alone (again) to the first (gate)",
    "effort_net": _NET,
    "stops": "A stop is the model's own end: a reply cut by the token limit is none",
    "figure6": "The trial of median ratio to the gate, of its problems and model",
    "figure6_net": f"{_NET}. One trial's own difference has no interval",
    "figure7_net": _NET,
    "figure7": "Truncated replies count as at least what they took, and are left out of n",
    "figure8": _APPLIES,
    "figure8_net": _APPLIES,
}
# Tables whose columns are the values of a key instead of metrics.
ACROSS = {
    "table1": "method",
    "table1_net": "method",
    "figure5": "method",
    "figure5_net": "method",
    "figure8": "structure",
    "figure8_net": "structure",
}
# Tables that show a p in their cells; in others it stands in the CSV alone.
TESTING = (
    "families",
    "methods",
    "structures",
    "slopes",
    "contrasts",
    "attribution",
    "common_pairs",
    *captions_judge.TESTING,
)
KEYS = {
    "set": "problems",
    "target": "model",
    "source": "chains of",
    "place": "places",
    "d_t": "D_T",
    "half": "chain",
    "m": "tests",
    "relative_error": "relative error",
    "to": "beside",
    "tokens": "tokens of",
    "prompt_tokens": "prompt tokens",
}
# Columns stand in this order; a metric without a line here comes last, under its own name.
METRICS = {
    "eligible": ("eligible", "share of all problems that can be probed"),
    "source_right": ("chain right", "source replies whose chain and answer end on the gold value"),
    "gate_passed": ("gate passed", "problems that the model solves alone, in this mode"),
    "r_cpt": (
        "R_CPT",
        "mean compromising rate where a value was read: .5 resists, 1 adopts, 2 is confused",
    ),
    "r_hamming": ("R, Hamming", "R_CPT with every wrong digit counted as compromised"),
    "r_cpt_without_form": ("R without form", "R_CPT without values of another length or sign"),
    "r_cpt_lower": ("R, missing .5", "R_CPT if every unread answer had resisted"),
    "r_cpt_upper": ("R, missing 2", "R_CPT if every unread answer had been confused"),
    "r_cpt_w_left_0": ("R, w out of view", "R_CPT where the chain no longer shows the true value"),
    "adopted_read": ("adopted of read", "adopted, as a share of the values read"),
    "adopted_w_left_0": (
        "adopted, w out of view",
        "adopted, where the chain no longer shows the true value",
    ),
    "recovered": ("recovered", "the answer is the true value"),
    "adopted": ("adopted", "the answer is the tampered value"),
    "wrong": ("wrong", "the answer is any other value than the true one"),
    "partial": ("partial", "some tampered digits taken over, no other digit wrong"),
    "confused": ("confused", "another length or sign, or more digits wrong than were tampered"),
    "other": ("other", "another wrong value"),
    "unreadable": ("unreadable", "no one exact value can be read"),
    "stopped": ("stopped", "the model ended by itself without an answer"),
    "truncated": ("truncated", "cut by the token limit"),
    "refused": ("refused", "the model or its provider declined"),
    "estimate": ("estimate", "what the family tests against 0"),
    "net_adoption": ("net adoption", "adopted, minus the same under the control"),
    "net_recovery": ("net recovery", "recovered, minus the same under the control"),
    "net_r": ("net R", "R, minus the same under the control, where both have one"),
    "change_adopted": ("change in adopted", "adopted, minus the same in what it is set against"),
    "change_recovered": ("change in recovered", "recovered, minus the same likewise"),
    "change_r_cpt": ("change in R_CPT", "R_CPT, minus the same likewise"),
    "change_net_adoption": ("change in net adoption", "net adoption, minus the same likewise"),
    "minus_adopted": ("tampered minus this: adopted", "adopted under tampering, minus here"),
    "minus_recovered": ("tampered minus this: recovered", "recovered likewise"),
    "slope_net_adoption": ("net adoption a digit", "change of net adoption for one more digit"),
    "slope_net_r": ("net R a digit", "change of net R for one more digit"),
    "total_tokens": ("tokens", "median tokens of reasoning and answer"),
    "reasoning_tokens": ("reasoning tokens", "median tokens of the reasoning"),
    "answer_tokens": ("answer tokens", "median tokens of the answer"),
    "seconds": ("seconds", "median seconds of the attempt that succeeded"),
    "tokens_ratio": ("ratio of tokens", "median ratio of tokens, paired by problem"),
    "tokens_below_1": ("fewer tokens", "share with fewer tokens, against T_CPT >= T_init"),
    "net_tokens_below_1": ("fewer, net", "that share, minus the share of again to gate"),
    "tokens_below_04": ("under .4", "share with less than .4 of the tokens"),
    "net_tokens_below_04": ("under .4, net", "that share, minus the share of again to gate"),
    "reasoning_ratio": ("ratio of reasoning", "median ratio of reasoning tokens"),
    "seconds_ratio": ("ratio of seconds", "median ratio of seconds"),
    "seconds_below_1": ("less time", "share with fewer seconds"),
    "net_seconds_below_1": ("less time, net", "that share, minus again to gate"),
    "seconds_below_04": ("time under .4", "share with less than .4 of the seconds"),
    "net_seconds_below_04": ("time under .4, net", "that share, minus again to gate"),
    "net_total_tokens": ("tokens, net", "median difference in tokens, paired by problem"),
    "net_reasoning_tokens": ("reasoning, net", "median difference in reasoning tokens"),
    "net_answer_tokens": ("answer, net", "median difference in answer tokens"),
    "net_seconds": ("seconds, net", "median difference in seconds"),
    "answer_in_reasoning": ("answer in reasoning", "the server filed the answer as reasoning"),
    "reasoning_in_answer": ("reasoning in answer", "the answer opens as the reasoning does"),
    "knew_better": ("knew better", "states the true value and ends on another"),
    "loop": ("loop", "mostly the same sentences again and again"),
    "mentions_tampering": ("mentions tampering", "says that the handed chain is wrong"),
    "perfunctory": ("perfunctory", "less than .4 of the gate's tokens and no calculation"),
    "applies": ("applies", "share of problems whose chain has what the structure takes or needs"),
    "length": ("length", "median code points of the chain as sent"),
    "occurrences": ("occurrences", "median places that state the tampered result"),
    "deleted": ("deleted", "median tampered places that the structure took away"),
    "common_items": ("common", "share of the problems that a model solved that all solved"),
}
BOUNDS = (
    "..., least and ..., most",
    "what it can be at least and at most, however the unread were",
)
SIGNED = ("net_", "change_", "minus_", "slope_", "estimate", "reliance", "answer_reliance")
SIZES = (  # shown with one decimal
    *("length", "occurrences", "deleted"),
    *("total_tokens", "reasoning_tokens", "answer_tokens", "seconds"),
    *("net_total_tokens", "net_reasoning_tokens", "net_answer_tokens", "net_seconds"),
    *captions_judge.SIZES,
)

# A table of this name may be of either study.
_OF_STUDY = {
    "cpt": (CAPTIONS, NOTES),
    "judge": (CAPTIONS | captions_judge.CAPTIONS, NOTES | captions_judge.NOTES),
}
KEYS |= captions_judge.KEYS
METRICS |= captions_judge.METRICS
METRICS["floor"] = ("floor", "other verdict when the same is asked again, half without the chain")
# The change of what only runs are compared by.
METRICS |= {
    f"change_{name}": (
        f"change in {METRICS[name][0]}",
        f"{METRICS[name][0]}, minus the same likewise",
    )
    for name in (
        *("confused", "stopped", "net_r", "youden", "overconfidence", "conservativeness"),
        *("changed", "floor", "net_changed", "accuracy", "reliance", "answer_reliance"),
    )
}


def caption(table: str, study: str) -> str:
    """What a study's table or figure is called."""
    return _OF_STUDY[study][0].get(table, table)


def note(table: str, study: str) -> str:
    """What a reader must know of a study's table; often nothing."""
    return _OF_STUDY[study][1].get(table, "")


def label(metric: str) -> str:
    """The metric's name for a reader."""
    return METRICS[metric][0] if metric in METRICS else metric.replace("_", " ")
