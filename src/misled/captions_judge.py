"""What study B's tables, keys and columns are called, and what a reader must know of them.

    METRICS["misled"] -> ("misled", "wrong, rejected without the chain and accepted with it")

`captions` holds both studies'. Knows nothing about numbers.
"""

from __future__ import annotations

__all__ = ["CAPTIONS", "KEYS", "METRICS", "NOTES", "SIZES", "TESTING"]

_DETECTION = ": TPR, FPR, J, d' and c"
_JUDGES = {
    "table1": "Judges without and with the chain, as joint shares",
    "table6": "Judges of the second generator without and with the chain, as joint shares",
    "table7": "Judges of as many right as wrong answers to MATH, as joint shares",
    "table8": "Judges of answers to MATH, as joint shares",
    "table9": "Judges of edited chains, as joint shares",
}
CAPTIONS = {
    "labels": "Generators: accuracy, who labelled it, and agreement of match and verifier",
    "judge": "Judges: joint shares, and TPR, FPR, J, d' and c, by condition",
    "changes": "With the chain minus without, paired by item",
    "transitions": "What became of the verdicts when the chain was shown, each with its floor",
    "floor": "Changed verdicts beyond those of asking twice",
    "show": "Should this judge be shown the chain?",
    "self": "Judging one's own answer in the conversation, and as any judge does (Table 2 of "
    "arXiv 2604.06756)",
    "self_changes": "Judging one's own answer: condition minus condition, paired by item",
    "preference": "A generator's own verdicts minus those of its family, and of others",
    "balanced": "Judges of as many right as wrong answers",
    "controlled": "Judges of edited chains: joint shares, and TPR, FPR, J, d' and c",
    "controlled_changes": "Edited chains against chains without the edit, paired by item",
    "closed_book": "How many questions each judge answers by itself (Figure 4 of arXiv 2604.06756)",
    "breakdowns": "With the chain minus without, by the judge's own answer and by length of chain",
    "strengths": "Weak and strong judges, as the plan calls them, each kind together",
    "strength_changes": "With the chain minus without, by strength, and weak minus strong",
    "corrected": "A generator's accuracy, corrected from the judge's pass rate",
    "reliance": "How much accepting follows the chain, and how much the answer",
    "null_probes": "How often no answer at all is accepted",
    "verdicts": "Verdicts with the chain by those without, as shares of right and wrong answers",
    "bounds_of_changes": "Worst-case bounds of what the chain changes",
    "bounds": "Worst-case bounds: what the metrics can be, whatever the unread verdicts were",
    "label_sensitivity": "Judges under the match's labels, the verifier's, and where they agree",
    "figure2": "What became of the verdicts when the chain was shown",
    "figure3": "Accepting by what stands in the chain",
    "figure4": "Questions that each judge answers by itself",
    **_JUDGES,
    **{f"{name}_detection": words.replace(", as joint shares", _DETECTION)
       for name, words in _JUDGES.items()},
}  # fmt: skip
_TESTS = (
    "p is McNemar's mid-p, the exact p stands in the CSV: with fewer than 6 flips the exact test "
    "can never reject"
)
_HOLM = "Exploratory, except where Holm's p of a family stands beside it"
_JOINT = (
    "Joint shares are of all items: alignment = 1 - overconfidence - conservativeness, "
    "pass = accuracy - conservativeness + overconfidence"
)
_TOGETHER = (
    "n: pairs of verdicts of all judges that the plan calls so, which weigh alike; intervals are "
    "clustered by question"
)
NOTES = {
    "judge": f"{_JOINT}. n: items labelled and read both without and with the chain",
    "changes": f"{_HOLM}. {_TESTS}",
    "transitions": "Floor: the mean share of the same cell when the condition was asked twice",
    "floor": "Exploratory. Genuine change: P(A != B) - [P(A != A') + P(B != B')] / 2, on the items "
    "read all four times; net: a flip's share minus its floor",
    "show": "show: the interval of the change of balanced accuracy lies above 0; hide: below; "
    "no difference: inside the margin; refused: fewer than 10 right or 10 wrong answers",
    "self_changes": f"Exploratory. {_TESTS}",
    "preference": "Exploratory; on the same answers, item by item",
    "balanced": "Chosen for balance: the accuracy is no estimate of the generator's, and none is "
    "corrected from it",
    "controlled_changes": f"{_HOLM}. {_TESTS}. Of several places the p is of t",
    "breakdowns": f"Exploratory. {_TESTS}; the shares of flips and their floors stand there, too",
    "strengths": f"{_TOGETHER}. {_JOINT}",
    "strength_changes": f"Exploratory. {_TOGETHER}. Weak minus strong: the mean change of each "
    "kind, item by item, on those that both read",
    "corrected": "TPR and FPR come from 40 % of the questions, all else from the other 60 %",
    "reliance": "Exploratory; on questions with a right and a wrong generation",
    "verdicts": "Shares of all right, and of all wrong answers, so that those of either add up to "
    "1; n counts them, and is the same in each line",
    "bounds_of_changes": "Of all items that were answered in both conditions, each by itself",
    "bounds": "Of all items that were answered in both conditions, each metric by itself",
    "table7": "Chosen for balance: the accuracy is no estimate of the generator's",
    "table1": _JOINT,
}
TESTING = ("changes", "floor", "self_changes", "preference", "controlled_changes", "breakdowns",
           "strength_changes", "reliance")  # fmt: skip
KEYS = {
    "k": "counterfactual",
    "without": "without the chain",
    "closed_book": "own answer",
}
_SHARES = {
    "alignment": ("alignment", "verdicts that agree with the label"),
    "pass": ("pass", "answers accepted"),
    "overconfidence": ("overconfidence", "wrong and accepted, of all items"),
    "conservativeness": ("conservativeness", "right and rejected, of all items"),
    "accuracy": ("accuracy", "answers that are right"),
    "tpr": ("TPR", "right answers accepted, of the right ones"),
    "fpr": ("FPR", "wrong answers accepted, of the wrong ones"),
    "youden": ("J", "TPR - FPR: 0 tells nothing, 1 is perfect"),
    "d_prime": ("d'", "how far a judge tells right from wrong, in standard deviations"),
    "criterion": ("c", "how strict a judge is: above 0 it rejects more than it accepts"),
}
_FLIPS = {
    "misled": ("misled", "wrong: rejected without the chain and accepted with it"),
    "corrected": ("corrected", "wrong: accepted without the chain and rejected with it"),
    "reassured": ("reassured", "right: rejected without the chain and accepted with it"),
    "overcritical": ("overcritical", "right: accepted without the chain and rejected with it"),
    "unchanged": ("unchanged", "the same verdict both times"),
}
_CHANGES = {
    "change_pass": ("change in pass", "accepted, minus the same in what it is set against"),
    "change_alignment": ("change in alignment", "alignment, minus the same likewise"),
    "change_tpr": ("change in TPR", "right answers accepted, minus the same likewise"),
    "change_fpr": ("change in FPR", "wrong answers accepted, minus the same likewise"),
}
METRICS = {
    **_SHARES,
    "accuracy_no_answer_wrong": ("no answer as wrong", "accuracy with items without an answer"),
    "labelled_by_deterministic": ("by rule", "labels that exact comparison gave"),
    "labelled_by_match": ("by match", "labels that a match of texts gave"),
    "labelled_by_verifier": ("by verifier", "labels that a model gave"),
    "labelled_by_given": ("given", "labels that came with the answers"),
    "agreement": ("agreement", "match and verifier say the same"),
    "kappa": ("kappa", "Cohen's kappa of match and verifier"),
    "repeated": ("repeated", "median share of the chain's runs of 8 words that the answer repeats"),
    "inserted": ("inserted", "median share of the shown chain that was put in"),
    "removed": ("removed", "median share of the generator's chain that was taken out"),
    **{
        key: line
        for name, (short, words) in _FLIPS.items()
        for key, line in (
            (name, (short, words)),
            (f"{name}_floor", (f"{short}, floor", f"{words}, when asked twice")),
        )
    },
    **_CHANGES,
    "change_balanced_accuracy": ("change in BA", "half of the gains among right and among wrong"),
    "break_even": ("break-even", "the accuracy of a generator at which the chain changes nothing"),
    "needed": ("items needed", "for 80 % power at a change of the margin"),
    "changed": ("changed", "other verdict with the chain than without"),
    "changed_again_answer": ("changed, answer again", "other verdict the second time, no chain"),
    "changed_again_reasoning": ("changed, chain again", "other verdict the second time, with it"),
    "net_changed": ("genuine change", "changed, minus half of those two"),
    **{f"net_{name}": (f"{name}, net", "its share minus its floor") for name in list(_FLIPS)[:4]},
    "slope_pass": ("pass a statement", "change of pass for one more false statement, by item"),
    "slope_tpr": ("TPR a statement", "the same among right answers"),
    "slope_fpr": ("FPR a statement", "the same among wrong answers"),
    "calibration_youden": ("J, calibration", "J on the questions that calibrate"),
    "corrected_accuracy": ("corrected accuracy", "(pass - FPR) / (TPR - FPR)"),
    "reliance": ("reliance on the chain", "half of what a right chain adds to either answer"),
    "answer_reliance": ("on the answer", "half of what a right answer adds to either chain"),
    "with_reject": ("rejected with it", "rejected with the chain"),
    "with_accept": ("accepted with it", "accepted with the chain"),
    "with_unreadable": ("unread with it", "no verdict could be read with the chain"),
    **{
        f"{name}_{end}": (f"{line[0]}, {word}", f"{word} that it can be, however the unread were")
        for name, line in (_SHARES | _CHANGES).items()
        for end, word in (("lower", "least"), ("upper", "most"))
    },
}  # fmt: skip
SIZES = ("needed",)
