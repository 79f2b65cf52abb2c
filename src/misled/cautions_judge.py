"""Study B's estimates -> what to be careful about before quoting a number, and where it applies.

    "Fewer than 10 wrong answers; nothing is decided on them": acme/j, answers of g to facts (7)

Knows nothing about how the sentences are set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import polars as pl

from misled.cautions import Caution, Said, gathered
from misled.flips import FLIPS
from misled.judge_plans import NULLS
from misled.judged import AGAIN, BENCH, PAIR
from misled.judging import FEWEST_FLIPS, FEWEST_IN_STRATUM
from misled.overview_judge import Bench, benches
from misled.phrases import Cells, many, percent, points
from misled.records import Entry

__all__ = ["cautions", "thoughts"]

# From here on a report warns; conventions, no findings of their own.
UNREAD = 0.1
NO_ANSWER = 0.1
ONE_SIDED = 0.95
REPEATED = 0.2
DISAGREEING = 0.9
NOTHING_ACCEPTED = 0.1

_UNREAD = ("unreadable", "truncated", "refused")
_EMPTY = ("unsupported", "not_applicable")


def cautions(entries: Iterable[Entry]) -> list[Caution]:
    """What to know before quoting a number, the gravest first; each once, with all its places."""
    lines = list(entries)
    every = benches(lines)
    several = len({bench.keys.get("shown") for bench in every}) > 1
    named = [(bench, _where(bench.keys, shown=several)) for bench in every]
    checks = (_few, _one_sided, _unread, _few_flips, _no_floor, _match_labels, _own, _failed,
              _empty)  # fmt: skip
    labels = Cells(e for e in lines if e.table == "labels")
    of_judges = (said for check in checks for bench, place in named for said in check(bench, place))
    of_answers = (said for check in (_no_answer, _repeated, _disagreeing) for said in check(labels))
    beside = Cells(e for e in lines if e.table in {"reliance", "null_probes"})
    of_probes = (said for check in (_nothing_accepted, _follows) for said in check(beside))
    return gathered(said for part in (of_judges, of_answers, of_probes) for said in part)


def thoughts(rows: pl.DataFrame, silent: Collection[str]) -> Iterator[str]:
    """Which of the judges that were not to think before a verdict did (B.1), as far as is known.

    And whose verdicts a server gave as thinking: they were read there, for want of another.
    """
    asked = rows.filter((pl.col("arm") == "judge") & pl.col("judge").is_in(list(silent)))
    thought = (pl.col("reasoning_tokens") > 0).sum()
    filed = pl.col("flags").cast(pl.List(pl.String)).list.contains("answer_in_reasoning").sum()
    said = asked.group_by("judge", maintain_order=True).agg(
        thought, filed, pl.len().alias("verdicts")
    )
    for judge, count, misfiled, verdicts in said.iter_rows():
        if count:
            yield f"{judge} thought before {count:,} of {verdicts:,} verdicts, and was not to"
        if misfiled:
            yield (
                f"{judge} gave {misfiled:,} of {verdicts:,} verdicts as reasoning, with nothing "
                "after it: they were read there, and may be what it only thought"
            )


def _where(keys: dict[str, str], *, shown: bool) -> str:
    """`acme/j, answers of acme/g to facts`."""
    way = f", shown as {keys['shown']}" if shown and "shown" in keys else ""
    return f"{keys['judge']}, {_answers(keys)}{way}"


def _answers(keys: dict[str, str]) -> str:
    return f"answers of {keys['generator']} to {keys['set']}"


def _few(bench: Bench, place: str) -> Said:
    for name, answers in (("tpr", "right"), ("fpr", "wrong")):
        found = bench.cells.all("judge", name) or bench.cells.all("self", name)
        if found and found[0].n < FEWEST_IN_STRATUM:
            text = f"Fewer than {FEWEST_IN_STRATUM} {answers} answers; nothing is decided on them"
            yield text, f"{place} ({many(found[0].n, f'{answers} answer')})"


def _one_sided(bench: Bench, place: str) -> Said:
    """Who always says the same, of whom TPR and FPR say little."""
    for condition, words in zip(PAIR, ("without the chain", "with the chain"), strict=True):
        passed = bench.rate("pass", condition)
        if passed is None or passed.value is None:
            continue
        for word, share in (("accepts", passed.value), ("rejects", 1 - passed.value)):
            if share >= ONE_SIDED:
                text = f"The judge {word} nearly everything: it hardly judges, and its TPR and FPR"
                yield (
                    f"{text} are both near {int(word == 'accepts')}",
                    f"{place} ({100 * share:.0f}\u00a0% {words})",
                )


def _unread(bench: Bench, place: str) -> Said:
    for e in _counted(bench):
        lost = {name: e.left_out.get(name, 0) for name in _UNREAD}
        total = sum(lost.values())
        if total and total >= UNREAD * (total + e.n):
            each = ", ".join(f"{name} {count}" for name, count in lost.items() if count)
            text = "Many verdicts could not be read, and are on no side; the tables of worst-case"
            yield f"{text} bounds say what they could change", f"{place} ({each} of {total + e.n})"
            return


def _counted(bench: Bench) -> list[Entry]:
    """What counts a bench's items: with and without the chain, by itself, with edited chains."""
    return [
        e for table in ("judge", "self", "controlled") for e in bench.cells.all(table, "alignment")
    ]


def _few_flips(bench: Bench, place: str) -> Said:
    cells = {name: bench.one("transitions", name) for name in FLIPS}
    counts = {name: round((e.value or 0) * e.n) for name, e in cells.items() if e}
    for y, answers in ((0, "wrong"), (1, "right")):
        flips = [
            counts[name] for name, (right, *_) in FLIPS.items() if right == y and name in counts
        ]
        if flips and sum(flips) < FEWEST_FLIPS:
            text = f"Fewer than {FEWEST_FLIPS} changed verdicts: the exact test can never reject,"
            yield (
                f"{text} whatever they are",
                f"{place} ({many(sum(flips), 'changed verdict')} on {answers} answers)",
            )


def _no_floor(bench: Bench, place: str) -> Said:
    floor = bench.one("transitions", "misled_floor")
    if floor is not None and floor.value is None:
        text = "Nothing was asked twice: a judge that changes its mind by chance cannot be told"
        yield f"{text} from one whom the chain moves; add {' and '.join(AGAIN)}", place


def _match_labels(bench: Bench, _: str) -> Said:
    if any("labels" in e.keys for e in bench.cells.all("judge", "overconfidence")):
        text = "Only a match of texts says that answers are wrong, and it misses spellings:"
        yield f"{text} overconfidence is an upper bound; name a verifier", _answers(bench.keys)


def _own(bench: Bench, _: str) -> Said:
    if bench.keys["judge"] == bench.keys.get("generator"):
        yield "The judge judges its own answers", f"{bench.keys['judge']} on {bench.keys['set']}"


def _failed(bench: Bench, place: str) -> Said:
    count = max((e.left_out.get("failed", 0) for e in _counted(bench)), default=0)
    if count:
        text = "Verdicts that failed are not counted; --retry-failed asks them again"
        yield text, f"{place} ({many(count, 'verdict')})"


def _empty(bench: Bench, place: str) -> Said:
    counts: dict[tuple[str, str], int] = {}
    for e in _counted(bench):
        what = ", ".join(v for k, v in e.keys.items() if k not in {*BENCH, "labels"})
        for why in _EMPTY:
            if why in e.left_out:
                counts[why, what] = e.left_out[why]
    for (why, what), count in counts.items():
        text = "Not every condition can be asked of every item; these are empty, which is no zero"
        yield f"{text}: {why.replace('_', ' ')}", f"{place} ({what}: {count})"


def _no_answer(labels: Cells) -> Said:
    for e in labels.all("labels", "accuracy"):
        lost, unlabelled = (e.left_out.get(name, 0) for name in ("no_answer", "unlabelled"))
        if lost >= max(1.0, NO_ANSWER * (lost + e.n)):
            text = "Many generations hold no answer, and are not judged: what is judged is a choice"
            yield text, f"{_answers(e.keys)} ({lost} of {lost + e.n} hold none)"
        if unlabelled:
            yield (
                "Answers without a label are not counted",
                f"{_answers(e.keys)} ({many(unlabelled, 'answer')})",
            )


def _repeated(labels: Cells) -> Said:
    for e in labels.all("labels", "repeated"):
        if e.value is not None and e.value >= REPEATED:
            text = "The answer repeats much of the chain, so that a judge without it sees it, too"
            share = f"{100 * e.value:.0f}\u00a0% of it in the median"
            yield f"{text}; ask with shown = value", f"{_answers(e.keys)} ({share})"


def _disagreeing(labels: Cells) -> Said:
    for e in labels.all("labels", "agreement"):
        if e.value is not None and e.value < DISAGREEING:
            text = "Match and verifier often disagree on who is right; see the table by labels"
            yield text, f"{_answers(e.keys)} (agreement {percent(e)})"


def _nothing_accepted(beside: Cells) -> Said:
    """Who accepts what is no answer, of whom acceptance says little."""
    for e in beside.all("null_probes", "pass"):
        if e.value is not None and e.value >= NOTHING_ACCEPTED:
            text = "The judge accepts what is no answer at all: what it accepts need not be right"
            shown = NULLS.get(e.keys["variant"], "")
            shown = f"the text \u201c{shown}\u201d" if shown else "an empty text"
            yield text, f"{_asked(e)} ({shown} in {percent(e)})"


def _follows(beside: Cells) -> Said:
    """Who goes by the chain, whatever the answer; and where that rests on few questions."""
    for e in beside.all("reliance", "reliance"):
        answer = beside.one("reliance", "answer_reliance", e.keys)
        if e.clusters < FEWEST_IN_STRATUM:
            text = f"Fewer than {FEWEST_IN_STRATUM} questions have a right and a wrong answer"
            count = many(e.clusters, "question")
            yield f"{text}; no reliance on the chain is claimed", f"{_asked(e)} ({count})"
        elif e.value and e.low and e.low > 0 and answer and e.value >= (answer.value or 0):
            text = "Accepting follows the chain at least as much as the answer that is judged"
            yield text, f"{_asked(e)} ({points(e)})"


def _asked(e: Entry) -> str:
    return f"{e.keys['judge']} on {e.keys['set']}"
