"""Labels, the judges' own answers, and what follows from both.

    500 answers, 116 of them right: 90 by a match, 26 by the verifier
    -> Entry(table="labels", metric="accuracy", value=0.232, ...), "kappa", ...

Knows nothing about how an answer is labelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from misled import batches, judging, stats
from misled.draws import Draws
from misled.intervals import Array
from misled.judged import (
    BENCH,
    COLUMNS,
    PAIR,
    Columns,
    Docket,
    benches,
    left_out,
    read,
)
from misled.records import Entry, Estimate
from misled.rulings import NONE, difference, entry, scores
from misled.trials import Keys

__all__ = ["closed_book", "corrected", "labels", "null_probes", "reliance", "sensitivity"]

LABELLERS = ("deterministic", "match", "verifier", "given")
CALIBRATION = 0.4  # of the questions; the others are the test (B.7)
_UNANSWERED = ("failed", "unsupported", "not_applicable")


def labels(docket: Docket) -> Iterator[Entry]:
    """Per generator: its accuracy, who labelled, and how far match and verifier agree (B.2).

    Accuracy is given without items that have no answer, and with them as wrong.
    """
    names = ("cluster", "outcome", "label", "matched", "verified", "labelled_by", "repeated")
    for piece in benches(docket.generated, ("set", "generator"), names):
        c, keys = piece.columns, piece.keys
        known, lost = c["label"] >= 0, docket.lost.get((keys["set"], keys["generator"]), NONE)
        yield from _accuracy("labels", keys, c, lost)
        by = np.stack([(c["labelled_by"] == name)[known] for name in LABELLERS])
        for name, rate in zip(LABELLERS, batches.rates(by, c["cluster"][known]), strict=True):
            yield entry("labels", f"labelled_by_{name}", keys, rate)
        both = (c["matched"] >= 0) & (c["verified"] >= 0)
        if both.any():
            yield from _agreement(keys, *(c[n][both] for n in ("matched", "verified", "cluster")))
        share = c["repeated"]
        if np.isfinite(share).any():
            there = np.isfinite(share)
            estimate = stats.median(share[there], c["cluster"][there])
            yield entry("labels", "repeated", keys, estimate)


def _accuracy(table: str, keys: Keys, c: Columns, lost: Any) -> Iterator[Entry]:
    known = c["label"] >= 0
    asked = known | (c["outcome"] == "no_answer")
    rates = [stats.rate(c["label"][of] == 1, c["cluster"][of]) for of in (known, asked)]
    yield entry(table, "accuracy", keys, rates[0], lost)
    yield entry(table, "accuracy_no_answer_wrong", keys, rates[1], lost)


def _agreement(keys: Keys, matched: Any, verified: Any, cluster: Any) -> Iterator[Entry]:
    (agreed,) = batches.rates(matched == verified, cluster)
    yield entry("labels", "agreement", keys, agreed)
    one, two = matched == 1, verified == 1
    cells = (one & two, one & ~two, ~one & two, ~one & ~two)
    value, low, high = (
        float(end[0]) for end in judging.kappa(*(np.array([float(x.sum())]) for x in cells))
    )
    n, clusters = agreed.n, agreed.clusters
    if np.isnan(value):
        found = Estimate(None, None, None, n, clusters, "none: both always say the same")
    elif agreed.clusters < stats.FEWEST_CLUSTERS or clusters < n:
        why = "several answers to a question" if clusters < n else "under 10 clusters"
        found = Estimate(value, None, None, n, clusters, f"none: {why}")
    else:
        found = Estimate(value, low, high, n, clusters, "Fleiss, Cohen & Everitt")
    yield entry("labels", "kappa", keys, found)


def sensitivity(docket: Docket) -> Iterator[Entry]:
    """Each judge's metrics under the labels of the match, of the verifier, and where they agree."""
    for piece in benches(docket.plain, BENCH, (*COLUMNS, "matched", "verified")):
        c = piece.columns
        if not ((c["matched"] >= 0) & (c["verified"] >= 0)).any():
            continue
        asked = [name for name in PAIR if (c[name] >= 0).any()]
        agreed = np.where(c["matched"] == c["verified"], c["matched"], -1)
        for name, label in (
            ("match", c["matched"]),
            ("verifier", c["verified"]),
            ("agreed", agreed),
        ):
            mine = {**c, "label": label}
            known = read(mine, *asked)
            items = label[known] == 1, c["cluster"][known]
            for condition in asked:
                keys = piece.keys | {"condition": condition, "labels": name}
                yield from scores("label_sensitivity", keys, (c[condition][known] == 1, *items))


def closed_book(docket: Docket) -> Iterator[Entry]:
    """Per judge: how many questions it answers by itself (Figure 4 [B])."""
    names = ("cluster", "outcome", "label")
    for piece in benches(docket.closed, ("set", "judge"), names):
        c = piece.columns
        known = c["label"] >= 0
        asked = known | ~np.isin(c["outcome"], (*_UNANSWERED, "read", "unlabelled"))
        lost = Counter(word if word != "read" else "unlabelled" for word in c["outcome"][~known])
        rates = [stats.rate(c["label"][of] == 1, c["cluster"][of]) for of in (known, asked)]
        yield entry("closed_book", "accuracy", piece.keys, rates[0], lost)
        yield entry("closed_book", "accuracy_no_answer_wrong", piece.keys, rates[1], lost)


def corrected(docket: Docket, seed: int) -> Iterator[Entry]:
    """Per bench and condition: the generator's accuracy from the judge's pass rate (Rogan-Gladen).

    TPR and FPR are those of 40 % of the questions, which are not in the test. On
    the test the labels are known, so that the correction can be seen to work.
    """
    splits: dict[str, set[str]] = {}
    for piece in benches(docket.plain, BENCH, COLUMNS):
        c, problems = piece.columns, piece.keys["set"]
        if problems not in splits:
            mine = docket.plain.filter(set=problems)["problem"].unique()
            splits[problems] = _calibration(seed, problems, mine.to_list())
        chosen = np.isin(c["problem"].astype(str), sorted(splits[problems]))
        for condition in PAIR:
            known = read(c, condition)
            if known.any():
                keys = piece.keys | {"condition": condition}
                sets = [
                    (c[condition][of] == 1, c["label"][of] == 1, c["cluster"][of])
                    for of in (known & chosen, known & ~chosen)
                ]
                out = left_out(c, (condition,), Counter())
                yield from _rogan_gladen(keys, sets[0], sets[1], out)


def _calibration(seed: int, problems: str, ids: Sequence[str]) -> set[str]:
    """So many of the questions, drawn for each by itself."""
    lots = sorted((Draws(seed, problems, name, "calibration").unit(), name) for name in ids)
    return {name for _, name in lots[: round(CALIBRATION * len(lots))]}


def _rogan_gladen(
    keys: Keys, calibration: tuple[Any, Any, Any], test: tuple[Any, Any, Any], out: dict[str, int]
) -> Iterator[Entry]:
    known, found = judging.metrics(*calibration), judging.metrics(*test)
    youden = known["youden"]
    yield entry("corrected", "accuracy", keys, found["accuracy"], out)
    yield entry("corrected", "pass", keys, found["pass"], out)
    yield entry("corrected", "calibration_youden", keys, youden, out)
    n, clusters = found["pass"].n, found["pass"].clusters
    why = _refusal(known, found["pass"])
    estimate = Estimate(None, None, None, n, clusters, f"refused: {why}")
    if why is None:
        said, right, _ = calibration
        counts = ((said & right), right, (said & ~right), ~right)
        passed, size = np.array([test[0].sum() * 1.0]), np.array([float(n)])
        rates = tuple(np.array([float(x.sum())]) for x in counts)
        limits = judging.corrected(passed, size, (rates[0], rates[1], rates[2], rates[3]))
        value, low, high = (float(end[0]) for end in limits)
        estimate = Estimate(value, low, high, n, clusters, "Lang-Reiczigel")
    yield entry("corrected", "corrected_accuracy", keys, estimate, out)


def _refusal(known: Mapping[str, Estimate], test: Estimate) -> str | None:
    """Why nothing is corrected by what is known of a judge, None where it can be."""
    youden, few = known["youden"], stats.FEWEST_CLUSTERS
    for name, answers in (("tpr", "right"), ("fpr", "wrong")):
        if known[name].clusters < few:
            return f"fewer than {few} {answers} answers to calibrate on: {known[name].clusters}"
    if youden.low is None or youden.high is None or youden.low <= 0 <= youden.high:
        return "the calibration's J may be 0"
    if test.clusters < few:
        return f"fewer than {few} answers to test on: {test.clusters}"
    return "the test has several answers to a question" if test.clusters < test.n else None


def reliance(docket: Docket) -> Iterator[Entry]:
    """Per judge: how much accepting follows the chain, and how much the answer (B.7).

    On questions with a right and a wrong generation, each answer is shown with
    each chain: half of what a right chain adds to either answer, and a right
    answer to either chain.
    """
    frame = docket.crossed.filter(pl.col("code").is_in([0, 1]) & (pl.col("label") >= 0))
    bench, unit = ("set", "judge", "shown"), ("cluster", "problem")
    cells = frame.group_by(*bench, *unit, "label", pl.col("variant").cast(pl.String)).agg(
        pl.col("code").cast(pl.Float64).mean()
    )
    for which, lines in cells.sort(*bench, *unit).group_by(bench, maintain_order=True):
        keys = {name: value for name, value in zip(bench, which, strict=True) if value}
        by: dict[Any, dict[tuple[int, str], float]] = {}
        for line in lines.iter_rows(named=True):
            by.setdefault((line["cluster"], line["problem"]), {})[
                line["label"], line["variant"]
            ] = line["code"]
        whole = {item: cell for item, cell in by.items() if len(cell) == 4}
        cluster = np.array([item[0] for item in whole])
        rate: dict[tuple[int, str], Array] = {
            (y, chain): np.array([cell[y, chain] for cell in whole.values()])
            for y in (1, 0)
            for chain in ("right", "wrong")
        }
        out = {"incomplete": len(by) - len(whole)} if len(by) > len(whole) else {}
        yield from _reliance(keys, rate, cluster, out)


def _reliance(
    keys: Keys, rate: dict[tuple[int, str], Array], cluster: Any, out: dict[str, int]
) -> Iterator[Entry]:
    names = {1: "right", 0: "wrong"}
    for (y, chain), hits in rate.items():
        (found,) = batches.rates(hits, cluster)
        yield entry("reliance", f"accepted_{names[y]}_answer_{chain}_chain", keys, found, out)
    a, b, c, d = (rate[cell] for cell in ((1, "right"), (0, "right"), (1, "wrong"), (0, "wrong")))
    for name, with_it, without in (
        ("reliance", a + b, c + d),
        ("answer_reliance", a + c, b + d),
    ):
        (gain,) = batches.paired(with_it / 2, without / 2, cluster, span=1.0)
        yield difference("reliance", name, keys, gain, out)


def null_probes(docket: Docket) -> Iterator[Entry]:
    """Per judge: how often it accepts what is no answer at all (B.7)."""
    for piece in benches(docket.null, ("set", "judge", "variant"), ("cluster", "label", "code")):
        c = {**piece.columns, "label": np.zeros(len(piece.columns["code"]))}
        known = read(c, "code")
        (found,) = batches.rates(c["code"][known] == 1, c["cluster"][known])
        yield entry("null_probes", "pass", piece.keys, found, left_out(c, ("code",), Counter()))
