"""Verdicts -> the tables of study B.

    500 items read with and without the chain, 317 verdicts right without it
    -> Entry(table="judge", metric="alignment", keys={"condition": "answer", ...}, value=0.634, ...)

Numbers count the items that are labelled and read in both conditions (protocol
B.4); what has no part stands in `left_out`, by reason. TPR, FPR, J, d' and c
stand beside every joint share. Knows nothing about requests or stores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from misled import batches, flips, labelling, strengths
from misled.controlled import controlled, controlled_changes
from misled.draws import Draws
from misled.exhibits_judge import adjusted, exhibits, families
from misled.judged import (
    AGAIN,
    BENCH,
    CODES,
    COLUMNS,
    ITEM,
    PAIR,
    SELF,
    UNASKED,
    Columns,
    Docket,
    answered,
    benches,
    left_out,
    prepare,
    read,
)
from misled.ledger import Rows
from misled.records import Entry, Estimate
from misled.rulings import difference, entry, scores, shifts, uncertain, uncertain_changes
from misled.trials import Keys

__all__ = ["entries", "family"]

UPPER_BOUND = "match: overconfidence is an upper bound"

_READ = ("reject", "accept", "unreadable")
# What is set against what among a model's judgements of its own answers [B Table 2].
_OWN = (("self", "self_hidden"), ("self", "reasoning"), ("self_hidden", "answer"), PAIR[::-1])


def entries(rows: Rows, *, seed: int = 0) -> list[Entry]:
    """Every estimate of study B, tables in reading order; a column of `rows` a field of `Judged`.

    `seed` draws the balanced subset and the calibration set.
    """
    if rows["arm"].is_empty():
        return []
    docket = prepare(rows)
    judged, changed = list(judge(docket)), list(flips.changes(docket))
    even, edited = list(balanced(docket, seed)), list(controlled(docket))
    moved = list(controlled_changes(docket))
    tests = families([*changed, *moved])
    return [
        *labelling.labels(docket),
        *tests,
        *judged,
        *adjusted(changed, tests),
        *flips.transitions(docket),
        *flips.floor(docket),
        *flips.show(docket),
        *own(docket),
        *preference(docket),
        *even,
        *edited,
        *adjusted(moved, tests),
        *labelling.closed_book(docket),
        *flips.breakdowns(docket),
        *strengths.strengths(docket),
        *strengths.changes(docket),
        *labelling.corrected(docket, seed),
        *labelling.reliance(docket),
        *labelling.null_probes(docket),
        *verdicts(docket),
        *bounds(docket),
        *labelling.sensitivity(docket),
        *exhibits(judged, even, edited),
    ]


def judge(docket: Docket) -> Iterator[Entry]:
    """Per bench and condition: every metric of B.4, of the items read with and without the chain.

    The conditions asked a second time count the items read in both of theirs.
    """
    for piece in benches(docket.plain, BENCH, (*COLUMNS, "labelled_by")):
        c, lost = piece.columns, _lost(docket, piece.keys)
        keys = piece.keys | _provisional(c)
        for pair in (PAIR, AGAIN):
            yield from _scores("judge", keys, c, pair, lost)


def _scores(
    table: str, keys: Keys, c: Columns, conditions: Sequence[str], lost: Counter[str]
) -> Iterator[Entry]:
    """Of those conditions that were asked at all, on the items read in all of them."""
    asked = [name for name in conditions if (c[name] >= 0).any()]
    known = read(c, *asked)
    out = left_out(c, asked, lost) if asked else {}
    for name in asked:
        mine = c[name][known] == 1, c["label"][known] == 1, c["cluster"][known]
        yield from scores(table, keys | {"condition": name}, mine, out)


def _provisional(c: Columns) -> Keys:
    """Where only a match labelled a wrong answer, which another spelling may have made right."""
    wrong = (c["label"] == 0) & (c["labelled_by"] == "match")
    return {"labels": UPPER_BOUND} if wrong.any() else {}


def _lost(docket: Docket, keys: Keys) -> Counter[str]:
    return docket.lost.get((keys["set"], keys["generator"]), Counter())


def verdicts(docket: Docket) -> Iterator[Entry]:
    """Per bench, for right and wrong answers: the verdicts with the chain by those without (B.4).

    Shares of the items that were answered both times; `unreadable` holds
    truncated and refused replies, too.
    """
    for piece in benches(docket.plain, BENCH, COLUMNS):
        c = piece.columns
        known = answered(c, *PAIR)
        if not known.any():
            continue
        said = [np.minimum(c[name], CODES.index("unreadable")) for name in PAIR]
        for y, label in (("right", 1), ("wrong", 0)):
            of = known & (c["label"] == label)
            hits = [(said[0][of] == i) & (said[1][of] == j) for i in range(3) for j in range(3)]
            rates = iter(batches.rates(np.stack(hits), c["cluster"][of]))
            for first in _READ:
                keys = piece.keys | {"answers": y, "without": first}
                for second in _READ:
                    yield entry("verdicts", f"with_{second}", keys, next(rates))


def bounds(docket: Docket) -> Iterator[Entry]:
    """Per bench and condition with unread verdicts: what the metrics can be at worst (B.4)."""
    for piece in benches(docket.plain, BENCH, COLUMNS):
        c = piece.columns
        asked = [name for name in PAIR if (c[name] >= 0).any()]
        there = answered(c, *asked)
        if not asked or not (there & ~read(c, *asked)).any():
            continue
        items = c["label"][there] == 1, c["cluster"][there]
        said = [(c[name][there] == 1, read(c, name)[there]) for name in asked]
        for name, verdict in zip(asked, said, strict=True):
            yield from uncertain("bounds", piece.keys | {"condition": name}, verdict, items)
        if len(said) == len(PAIR):
            keys = piece.keys | {"condition": PAIR[1], "against": PAIR[0]}
            yield from uncertain_changes("bounds_of_changes", keys, (said[0], said[1]), items)


def own(docket: Docket) -> Iterator[Entry]:
    """Per generator that judges itself: in the conversation, and as any judge (Table 2 [B])."""
    if docket.own.is_empty():
        return
    external = docket.plain.drop("label", "matched", "verified", "labelled_by", "length")
    frame = docket.own.join(external, on=[*BENCH, *ITEM], how="left")
    frame = frame.with_columns(pl.col(*PAIR, *AGAIN).fill_null(UNASKED))
    for piece in benches(frame, BENCH, (*COLUMNS, *SELF)):
        c, lost = piece.columns, _lost(docket, piece.keys)
        conditions = [name for name in (*PAIR, *SELF) if (c[name] >= 0).any()]
        yield from _scores("self", piece.keys, c, conditions, lost)
        known = read(c, *conditions)
        items = c["label"][known] == 1, c["cluster"][known]
        out = left_out(c, conditions, lost)
        for second, first in _OWN:
            if {first, second} <= set(conditions):
                keys = piece.keys | {"condition": second, "against": first}
                pair = c[first][known] == 1, c[second][known] == 1
                yield from shifts("self_changes", keys, pair, items, out)


def family(model: str) -> str:
    """The family of a model, by the first letters of its name: dashscope/qwen3-8b -> qwen."""
    name = model.rpartition("/")[2].lower()
    found = re.search(r"[a-z]+", name)
    return found[0] if found else name


def preference(docket: Docket) -> Iterator[Entry]:
    """Per generator that judges: its verdicts minus those of its family, and of others (B.7).

    On the same answers: own minus the mean of the other judges that read the item.
    """
    long = docket.plain.unpivot(
        PAIR, index=["set", "generator", "shown", "judge", *ITEM, "label"],
        variable_name="condition", value_name="code",
    ).filter(pl.col("code").is_in([0, 1]) & (pl.col("label") >= 0))  # fmt: skip
    bench = ("set", "generator", "shown", "condition")
    on = [*bench, *ITEM]
    mine = long.filter(pl.col("judge") == pl.col("generator"))
    rest = long.filter(pl.col("judge") != pl.col("generator"))
    models = {*rest["judge"].unique(), *rest["generator"].unique()}
    kin = {model: family(model) for model in models}
    same = pl.col("judge").replace(kin) == pl.col("generator").replace(kin)
    rest = rest.with_columns(
        pl.when(same).then(pl.lit("family")).otherwise(pl.lit("others")).alias("against")
    )
    mean = rest.group_by(*on, "against").agg(pl.col("code").cast(pl.Float64).mean().alias("theirs"))
    frame = mine.join(mean, on=on)
    for piece in benches(frame, (*bench, "against"), ("cluster", "label", "code", "theirs")):
        c = piece.columns
        for name, of in (("tpr", c["label"] == 1), ("fpr", c["label"] == 0)):
            (found,) = batches.paired(c["code"][of], c["theirs"][of], c["cluster"][of], span=1.0)
            yield difference("preference", f"change_{name}", piece.keys, found)


def balanced(docket: Docket, seed: int) -> Iterator[Entry]:
    """Per bench and condition, of equally many right and wrong answers (Table 7 [B]).

    The same items for all judges; no accuracy is corrected here, since half of
    the answers are right by choice.
    """
    chosen: dict[tuple[str, str], frozenset[tuple[str, int]]] = {}
    for piece in benches(docket.plain, BENCH, (*COLUMNS, "sample")):
        c, where = piece.columns, (piece.keys["set"], piece.keys["generator"])
        if where not in chosen:
            mine = docket.plain.filter(set=where[0], generator=where[1])
            chosen[where] = _even(mine.unique([*ITEM]).sort(*ITEM), where, seed)
        items = zip(c["problem"].tolist(), c["sample"].tolist(), strict=True)
        of = np.fromiter((item in chosen[where] for item in items), bool, len(c["label"]))
        if of.any():
            subset = {name: values[of] for name, values in c.items()}
            yield from _scores("balanced", piece.keys, subset, PAIR, Counter())
            refused = Estimate(None, None, None, int(of.sum()), 0, "refused: balanced by choice")
            yield entry("balanced", "corrected_accuracy", piece.keys, refused)


def _even(items: pl.DataFrame, where: tuple[str, str], seed: int) -> frozenset[tuple[str, int]]:
    """As many right as wrong items, drawn for each by itself."""
    lots: dict[int, list[tuple[float, tuple[str, int]]]] = {0: [], 1: []}
    for problem, sample, label in items.select("problem", "sample", "label").iter_rows():
        if label >= 0:
            lot = Draws(seed, *where, problem, sample, "balanced").unit()
            lots[label].append((lot, (problem, sample)))
    size = min(map(len, lots.values()))
    return frozenset(item for half in lots.values() for _, item in sorted(half)[:size])
