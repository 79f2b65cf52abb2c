"""What the trials of one cell say: who could be probed, outcomes, R_CPT, net of the controls.

    200 trials, 124 of them adopted
    -> Entry(table="outcomes", metric="adopted", value=0.62, low=0.551, high=0.684, n=200, ...)

Rates share one denominator, the answered trials (protocol A.6). What has no
part in a number stands in its `left_out`, by outcome. An unsupported cell has
no value and names its reason in `method`. Knows nothing about other cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import replace

from misled import batches, stats
from misled.lines import FIRST_ANSWERED, NET, SPAN, Counts, counted, entry, even, has_r, line, rates
from misled.records import OUTCOMES, Entry
from misled.trials import (
    CELL,
    CONTROLS,
    GROUP,
    KINDS,
    SCORES,
    SENT,
    SOLVED,
    WRONG,
    Piece,
    pairs,
    pieces,
    pool,
    probes,
    with_weights,
)

__all__ = ["controls", "cpt", "eligibility", "net", "outcomes", "pooled"]

_RECOVERED, _ADOPTED = OUTCOMES.index("recovered"), OUTCOMES.index("adopted")
_FORM = KINDS.index("confused/form")


def eligibility(trials: pl.DataFrame) -> list[Entry]:
    """Per set, target, source and mode: which problems can be probed [A Algorithm 1].

    `source_right` and `gate_passed` are rates of those that answered;
    `eligible` is the share of all problems, and its `left_out` says why not.
    """
    once = trials.filter(pl.col("arm").is_in(["source", "gate"]) & (pl.col("sample") == 0))
    once = once.unique([*SOLVED, "arm", "problem"], keep="first", maintain_order=True)
    gates = dict(once.filter(pl.col("arm") == "gate").group_by(SOLVED, maintain_order=True))
    chains = dict(once.filter(pl.col("arm") == "source").group_by(SOLVED[:3], maintain_order=True))
    for key in chains.keys() - {key[:3] for key in gates}:
        gates[*key, chains[key]["mode"][0]] = once.clear()
    found: list[Entry] = []
    for key in sorted(gates):
        gate, chain = gates[key], chains.get(key[:3], once.clear())
        keys = dict(zip(SOLVED, key, strict=True))
        on = ["problem", "cluster"]
        both = chain.join(gate, on=on, how="full", coalesce=True, suffix="_gate").sort("problem")
        status = [_status(problem) for problem in both.iter_rows(named=True)]
        can = [word == "eligible" for word in status]
        left_out = Counter(word for word in status if word != "eligible")
        estimate = stats.rate(can, both["cluster"].to_numpy())
        found.append(entry("eligibility", "eligible", keys, estimate, left_out))
        right = (pl.col("outcome") == "recovered") & (pl.col("reason") == "")
        for metric, frame in (("source_right", chain), ("gate_passed", gate)):
            if frame.height:
                answered = frame.filter("answered")
                hits = answered.select(right.alias("hit"))["hit"].to_numpy()
                estimate = stats.rate(hits, answered["cluster"].to_numpy())
                left_out = Counter(frame.filter(~pl.col("answered"))["outcome"])
                found.append(entry("eligibility", metric, keys, estimate, left_out))
    return found


def _status(problem: Mapping[str, Any]) -> str:
    """`eligible`, or why this problem cannot be probed, from its source and gate rows."""
    source, reason, gate = problem["outcome"], problem["reason"], problem["outcome_gate"]
    if source == "recovered" and reason:
        return f"source_{reason}"
    if source not in {None, "recovered"}:
        return f"source_{'wrong' if source in WRONG else source}"
    if gate != "recovered":
        return f"gate_{'wrong' if gate in WRONG else gate or 'unasked'}"
    return "eligible"


def controls(trials: pl.DataFrame) -> list[Entry]:
    """What the controls answer by themselves, each reply counted once.

    Whether w is found does not depend on the w' that a reply is graded
    against, so adopted, confused, partial and other are one outcome, `wrong`.
    """
    replies = trials.filter(pl.col("outcome") != "not_applicable")
    found: list[Entry] = []
    for arm, names in zip(CONTROLS, (SENT, SOLVED), strict=True):
        reply = [*names, "problem", "sample", "reply"]
        mine = replies.filter(pl.col("arm") == arm)
        mine = mine.unique(reply, keep="first", maintain_order=True).sort(reply)
        for piece in pieces(mine, names, ("code", "kind", "cluster")):
            keys = piece.keys | {"arm": arm}
            found += rates("controls", piece._replace(keys=keys), mine)
    return found


def outcomes(trials: pl.DataFrame) -> list[Entry]:
    """Per cell and arm: the rate of every outcome among the answered trials."""
    frame = probes(trials)
    found: list[Entry] = []
    for piece in pieces(frame, (*CELL, "arm"), ("code", "kind", "cluster")):
        found += rates("outcomes", piece, frame)
    return found


def cpt(trials: pl.DataFrame) -> list[Entry]:
    """Per cell: R_CPT [A eq. 2], its other readings and bounds, and adoption beside it."""
    frame = trials.filter(pl.col("arm") == "tampered")
    columns = ("code", "kind", "cluster", "r_cpt", "r_hamming", "w_left")
    found: list[Entry] = []
    for piece in pieces(frame, CELL, columns):
        c = piece.columns
        r, hamming, answered = c["r_cpt"], c["r_hamming"], c["code"] >= FIRST_ANSWERED
        known, clear = np.isfinite(r), c["w_left"] == 0
        readings = {
            "r_cpt": (r, known),
            "r_hamming": (hamming, np.isfinite(hamming)),
            "r_cpt_without_form": (r, known & (c["kind"] != _FORM)),
            "r_cpt_lower": (np.where(known, r, 0.5), answered),
            "r_cpt_upper": (np.where(known, r, 2.0), answered),
            "r_cpt_w_left_0": (r, known & clear),
        }
        shares = {
            "adopted_read": c["code"] >= _RECOVERED,
            "adopted_w_left_0": answered & clear,
        }
        estimates = []
        if has_r(piece.keys):
            kept = np.stack([mask for _, mask in readings.values()])
            values = np.where(kept, np.stack([value for value, _ in readings.values()]), 0.5)
            lines = zip(readings, kept, batches.r_cpts(values, c["cluster"], kept), strict=True)
            estimates += list(lines)
        kept = np.stack(list(shares.values()))
        hits = np.broadcast_to(c["code"] == _ADOPTED, kept.shape)
        estimates += list(zip(shares, kept, batches.rates(hits, c["cluster"], kept), strict=True))
        for metric, mask, estimate in estimates:
            left_out = counted(c["code"][~mask])
            found.append(line("cpt", metric, piece, estimate, left_out, frame))
    return found


def net(trials: pl.DataFrame) -> list[Entry]:
    """Per cell: tampered minus control, paired by problem (protocol A.6, Controls)."""
    tampered = trials.filter(pl.col("arm") == "tampered")
    found: dict[int, list[Entry]] = {}
    for control in _present(trials):
        known = _by_unit(pairs(trials, control), "cell")
        lost = _lost(trials, control, "cell")
        for piece in pieces(tampered, CELL, ("cell",)):
            cell = int(piece.columns["cell"][0])
            piece.keys["against"] = control
            found.setdefault(cell, []).extend(
                _nets("net", piece, known.get(cell), lost.get(cell, {}), tampered)
            )
    return [line for lines in found.values() for line in lines]


def pooled(trials: pl.DataFrame) -> list[Entry]:
    """Over all D_T of a cell: each counts equally within a problem, and each problem once."""
    tampered = trials.filter(pl.col("arm") == "tampered")
    tampered = with_weights(tampered, pl.col("answered"), "answered_weight")
    tampered = with_weights(tampered, pl.col("r_cpt").is_not_null(), "known_weight")
    columns = ("group", "code", "kind", "cluster", "r_cpt", "answered_weight", "known_weight")
    arms = {
        control: (_by_unit(pool(pairs(trials, control)), "group"), _lost(trials, control, "group"))
        for control in _present(trials)
    }
    found: list[Entry] = []
    for cut in pieces(tampered, (*GROUP, "degrees"), columns):
        keys = {"d_t" if name == "degrees" else name: value for name, value in cut.keys.items()}
        piece, c, group = cut._replace(keys=keys), cut.columns, int(cut.columns["group"][0])
        if has_r(keys):
            known = np.isfinite(c["r_cpt"])
            r, weights = np.where(known, c["r_cpt"], 0.5), even(c["known_weight"])
            (estimate,) = batches.r_cpts([r], c["cluster"], weights)
            left_out = counted(c["code"][~known])
            found.append(line("pooled", "r_cpt", piece, estimate, left_out, tampered))
        found += rates("pooled", piece, tampered, even(c["answered_weight"]))
        for control, (known, lost) in arms.items():
            paired = piece._replace(keys=keys | {"against": control})
            found += _nets("pooled", paired, known.get(group), lost.get(group, {}), tampered)
    return found


def _nets(
    table: str,
    piece: Piece,
    known: dict[str, Any] | None,
    lost: Mapping[str, Counts],
    frame: pl.DataFrame,
) -> Iterator[Entry]:
    """Net adoption, recovery and R of one cell against one control."""
    for scores in (SCORES[:2], SCORES[2:]):
        if scores == ("r_cpt",) and not has_r(piece.keys):
            continue
        found = [batches.Difference(stats.NOTHING, None)] * len(scores)
        if known is not None:
            first, second = (
                np.stack([known[f"{score}{arm}"] for score in scores]) for arm in ("", "_control")
            )
            both = np.isfinite(first[0])
            first, second, clusters = first[:, both], second[:, both], known["cluster"][both]
            found = batches.paired(first, second, clusters, span=SPAN[scores[0]])
        for score, (estimate, p) in zip(scores, found, strict=True):
            made = line(table, NET[score], piece, estimate, lost.get(score, {}), frame)
            yield replace(made, p=p)


def _by_unit(frame: pl.DataFrame, unit: str) -> dict[int, dict[str, Any]]:
    columns = [unit, "cluster", *SCORES, *(f"{score}_control" for score in SCORES)]
    cut = pieces(frame, [unit], columns)
    return {int(piece.columns[unit][0]): piece.columns for piece in cut}


def _lost(trials: pl.DataFrame, control: str, unit: str) -> dict[int, dict[str, dict[str, int]]]:
    """By unit and score: the trials without one, those of the control as `clean failed`."""
    mine = trials.filter(pl.col("arm").is_in(["tampered", control]))
    found: dict[int, dict[str, dict[str, int]]] = {}
    for score in SCORES:
        counts = mine.filter(pl.col(score).is_null()).group_by(unit, "arm", "outcome").len()
        for key, arm, outcome, count in counts.iter_rows():
            name = f"{control} {outcome}" if arm == control else outcome
            found.setdefault(key, {}).setdefault(score, {})[name] = count
    return found


def _present(trials: pl.DataFrame) -> list[str]:
    arms = set(trials["arm"].unique())
    return [control for control in CONTROLS if control in arms]
