"""Graded trials -> tables of estimates, and the files that hold them.

    rows of one cell: 200 trials, 124 of them adopted
    -> Entry(table="outcomes", metric="adopted", value=0.62, low=0.551, high=0.684, n=200, ...)

Rates share one denominator, the answered trials (protocol A.6). What has no
part in a number stands in its `left_out`, by outcome. An unsupported cell has
no value and names its reason in `method`.

Knows nothing about requests, stores or how an interval is made (`stats`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from msgspec.structs import asdict, replace

from misled import sheets, stats
from misled.records import OUTCOMES, Entry, Estimate
from misled.trials import (
    ANSWERED,
    CELL,
    CONTROLS,
    GROUP,
    SENT,
    SOLVED,
    VALUED,
    WRONG,
    Keys,
    degrees,
    groups,
    paired,
    part,
    prepare,
    probes,
    weighed,
)

__all__ = [
    "controls",
    "cpt",
    "eligibility",
    "entries",
    "figure4",
    "figure4_net",
    "frame",
    "net",
    "outcomes",
    "pooled",
    "write",
]

STUDY = "cpt"
# Reasons that get a rate of their own beside their outcome's.
REASONS = {
    "unreadable": ("none", "approximate", "ambiguous"),
    "confused": ("form", "digits"),
    "other": ("own", "mixed"),
}
# These change the length of the result, so that no digit can be compared (protocol A.3).
WITHOUT_R = ("insert_digit", "delete_digit")
NET = {"adopted": "net_adoption", "recovered": "net_recovery", "r_cpt": "net_r"}

_AGAINST = {("against", arm) for arm in CONTROLS}
_NO_PAIRS = pl.DataFrame(
    schema=dict.fromkeys((*NET, "control"), pl.Float64) | {"cluster": pl.Int64}
)


def entries(rows: pl.DataFrame) -> list[Entry]:
    """Every estimate of study A, tables in reading order; `rows` has a column a field of `Row`."""
    if rows.is_empty():
        return []
    trials = prepare(rows)
    cells, nets = cpt(trials), net(trials)
    return [
        *eligibility(trials),
        *controls(trials),
        *outcomes(trials),
        *cells,
        *nets,
        *pooled(trials),
        *figure4(cells),
        *figure4_net(nets),
    ]


def frame(found: Sequence[Entry]) -> pl.DataFrame:
    """One row an entry, a column a field; `keys` is a struct of all keys, null where absent."""
    names = list(dict.fromkeys(name for e in found for name in e.keys))
    lines = [
        asdict(e)
        | {"keys": {name: e.keys.get(name) for name in names}}
        | {"left_out": [{"outcome": name, "count": n} for name, n in e.left_out.items()]}
        for e in found
    ]
    text, number = pl.String(), pl.Float64()
    schema = dict.fromkeys(("table", "study", "metric"), text) | {
        "keys": pl.Struct(dict.fromkeys(names, text)),
        **dict.fromkeys(("value", "low", "high"), number),
        **dict.fromkeys(("n", "clusters"), pl.Int64()),
        "method": text,
        "left_out": pl.List(pl.Struct({"outcome": text, "count": pl.Int64()})),
    }
    return pl.DataFrame(lines, schema=schema)


def write(found: Sequence[Entry], directory: Path) -> None:
    """`<table>.csv` and `<table>.md` in `directory`, each whole or not at all."""
    for table in dict.fromkeys(entry.table for entry in found):
        mine = [entry for entry in found if entry.table == table]
        sheets.publish(directory / f"{table}.csv", sheets.csv_text(mine).encode())
        sheets.publish(directory / f"{table}.md", sheets.markdown(sheets.sheet(mine)).encode())


def eligibility(trials: pl.DataFrame) -> list[Entry]:
    """Per set, target, source and mode: which problems can be probed [A Algorithm 1].

    `source_right` and `gate_passed` are rates of those that answered;
    `eligible` is the share of all problems, and its `left_out` says why not.
    """
    once = trials.filter(pl.col("arm").is_in(["source", "gate"]) & (pl.col("sample") == 0))
    once = once.unique([*SOLVED, "arm", "problem"], keep="first", maintain_order=True)
    gates = _by(once.filter(pl.col("arm") == "gate"), SOLVED)
    chains = _by(once.filter(pl.col("arm") == "source"), SOLVED[:3])
    for key in chains.keys() - {key[:3] for key in gates}:
        gates[*key, chains[key]["mode"][0]] = once.clear()
    found: list[Entry] = []
    for key in sorted(gates):
        gate, chain = gates[key], chains.get(key[:3], once.clear())
        keys = dict(zip(SOLVED, key, strict=True))
        both = chain.join(
            gate, on=["problem", "cluster"], how="full", coalesce=True, suffix="_gate"
        )
        status = [_status(problem) for problem in both.sort("problem").iter_rows(named=True)]
        both = both.sort("problem").with_columns(outcome=pl.Series(status, dtype=pl.String))
        can = pl.col("outcome") == "eligible"
        found.append(_entry("eligibility", "eligible", keys, _rate(both, can), both.filter(~can)))
        right = (pl.col("outcome") == "recovered") & (pl.col("reason") == "")
        for metric, frame in (("source_right", chain), ("gate_passed", gate)):
            if frame.height:
                answered, dropped = part(frame, pl.col("answered"))
                found.append(_entry("eligibility", metric, keys, _rate(answered, right), dropped))
    return found


def controls(trials: pl.DataFrame) -> list[Entry]:
    """What the controls answer by themselves, each reply counted once.

    Whether w is found does not depend on the w' that a reply is graded
    against, so adopted, confused, partial and other are one outcome, `wrong`.
    """
    wrong = pl.when(pl.col("outcome").is_in(WRONG)).then(pl.lit("wrong")).otherwise("outcome")
    replies = trials.filter(pl.col("outcome") != "not_applicable").with_columns(outcome=wrong)
    found: list[Entry] = []
    for arm, names in zip(CONTROLS, (SENT, SOLVED), strict=True):
        reply = [*names, "problem", "sample", "request"]
        mine = replies.filter(pl.col("arm") == arm)
        mine = mine.unique(reply, keep="first", maintain_order=True).sort(reply)
        for keys, frame in groups(mine, names):
            found += _rates("controls", keys | {"arm": arm}, frame)
    return found


def outcomes(trials: pl.DataFrame) -> list[Entry]:
    """Per cell and arm: the rate of every outcome among the answered trials."""
    found: list[Entry] = []
    for keys, frame in groups(probes(trials), (*CELL, "arm")):
        found += _rates("outcomes", keys, frame)
    return found


def cpt(trials: pl.DataFrame) -> list[Entry]:
    """Per cell: R_CPT [A eq. 2], its other readings and bounds, and adoption beside it."""
    r, hamming, answered = pl.col("r_cpt"), pl.col("r_hamming"), pl.col("answered")
    known, clear = r.is_not_null(), pl.col("w_left") == 0
    readings = (
        ("r_cpt", r, known),
        ("r_hamming", hamming, hamming.is_not_null()),
        ("r_cpt_without_form", r, known & (pl.col("kind") != "confused/form")),
        ("r_cpt_lower", r.fill_null(0.5), answered),
        ("r_cpt_upper", r.fill_null(2.0), answered),
        ("r_cpt_w_left_0", r, known & clear),
    )
    adopted = pl.col("outcome") == "adopted"
    shares = (
        ("adopted_read", pl.col("outcome").is_in(VALUED)),
        ("adopted_w_left_0", answered & clear),
    )
    found: list[Entry] = []
    for keys, frame in groups(trials.filter(pl.col("arm") == "tampered"), CELL):
        for metric, score, kept in readings if _has_r(keys) else ():
            chosen, dropped = part(frame, kept)
            found.append(_entry("cpt", metric, keys, _r_cpt(chosen, score), dropped))
        for metric, kept in shares:
            chosen, dropped = part(frame, kept)
            found.append(_entry("cpt", metric, keys, _rate(chosen, adopted), dropped))
    return found


def net(trials: pl.DataFrame) -> list[Entry]:
    """Per cell: tampered minus control, paired by problem (protocol A.6, Controls)."""
    return list(_nets("net", probes(trials), CELL))


def pooled(trials: pl.DataFrame) -> list[Entry]:
    """Over all D_T of a cell: each counts equally within a problem, and each problem once."""
    nets: dict[frozenset[tuple[str, str]], list[Entry]] = {}
    for entry in _nets("pooled", probes(trials), GROUP):
        nets.setdefault(frozenset(entry.keys.items()) - _AGAINST, []).append(entry)
    found: list[Entry] = []
    for keys, frame in groups(trials.filter(pl.col("arm") == "tampered"), GROUP):
        named = keys | degrees(frame)
        if _has_r(keys):
            known, dropped = part(frame, pl.col("r_cpt").is_not_null())
            estimate = _r_cpt(weighed(known), pl.col("r_cpt"))
            found.append(_entry("pooled", "r_cpt", named, estimate, dropped))
        found += _rates("pooled", named, frame)
        found += nets.get(frozenset(named.items()), [])
    return found


def figure4(cells: Iterable[Entry]) -> list[Entry]:
    """R_CPT against D_T, a line a method, a panel a model [A Fig. 4]: the points of `cpt`."""
    return [replace(e, table="figure4") for e in cells if e.metric == "r_cpt" and "d_t" in e.keys]


def figure4_net(nets: Iterable[Entry]) -> list[Entry]:
    """Its net twin, the only one of which a trend over D_T may be stated: the points of `net`."""
    return [
        replace(e, table="figure4_net")
        for e in nets
        if e.metric == "net_r" and e.keys["against"] == "clean" and "d_t" in e.keys
    ]


def _by(trials: pl.DataFrame, names: Sequence[str]) -> dict[tuple[Any, ...], pl.DataFrame]:
    return dict(trials.group_by(names, maintain_order=True))


def _status(problem: dict[str, Any]) -> str:
    """`eligible`, or why this problem cannot be probed, from its source and gate rows."""
    source, reason, gate = problem["outcome"], problem["reason"], problem["outcome_gate"]
    if source == "recovered" and reason:
        return f"source_{reason}"
    if source not in {None, "recovered"}:
        return f"source_{'wrong' if source in WRONG else source}"
    if gate != "recovered":
        return f"gate_{'wrong' if gate in WRONG else gate or 'unasked'}"
    return "eligible"


def _rates(table: str, keys: Keys, frame: pl.DataFrame) -> list[Entry]:
    """The rate of each outcome, and of its reasons, of one denominator; checked to sum to 1."""
    answered, dropped = part(frame, pl.col("answered"))
    if table == "pooled":
        answered = weighed(answered)
    names = (*ANSWERED[: ANSWERED.index("adopted")], "wrong") if table == "controls" else ANSWERED
    reasons = [f"{name}/{reason}" for name in names for reason in REASONS.get(name, ())]
    hits = answered.select(
        *((pl.col("outcome") == name).alias(name) for name in names),
        *((pl.col("kind") == kind).alias(kind) for kind in reasons),
    )
    clusters, weights = answered["cluster"].to_numpy(), _weights(answered)
    rates = {hit.name: stats.rate(hit.to_numpy(), clusters, weights) for hit in hits}
    total = sum(rates[name].value or 0.0 for name in names)
    if answered.height and abs(total - 1) > 1e-9:
        raise ArithmeticError(f"the rates of {keys} sum to {total}, not to 1")
    return [_entry(table, metric, keys, rate, dropped) for metric, rate in rates.items()]


def _nets(table: str, trials: pl.DataFrame, names: Sequence[str]) -> Iterator[Entry]:
    """Net adoption, recovery and R of each piece cut by `names`, against each control there is."""
    unit = "cell" if table == "net" else "group"
    present = [arm for arm in CONTROLS if arm in set(trials["arm"])]
    pairs = {(arm, score): paired(trials, arm, score, unit) for arm in present for score in NET}
    for keys, frame in groups(trials, names):
        tampered = frame.filter(pl.col("arm") == "tampered")
        named = keys if unit == "cell" else keys | degrees(tampered)
        for (arm, score), by_unit in pairs.items():
            if tampered.is_empty() or (score == "r_cpt" and not _has_r(keys)):
                continue
            both = by_unit.get((frame[unit][0],), _NO_PAIRS)
            first, second = both[score].to_numpy(), both["control"].to_numpy()
            span = 1.5 if score == "r_cpt" else 1.0
            estimate = stats.paired(first, second, both["cluster"].to_numpy(), span=span)
            dropped = frame.filter(pl.col("arm").is_in(["tampered", arm]) & pl.col(score).is_null())
            of_control = pl.concat_str(pl.lit(f"{arm} "), "outcome")
            dropped = dropped.with_columns(
                outcome=pl.when(pl.col("arm") == arm).then(of_control).otherwise("outcome")
            )
            yield _entry(table, NET[score], named | {"against": arm}, estimate, dropped)


def _has_r(keys: Keys) -> bool:
    return keys.get("perturbation") not in WITHOUT_R


def _rate(frame: pl.DataFrame, hit: pl.Expr) -> Estimate:
    hits = frame.select(hit.alias("hit"))["hit"].to_numpy()
    return stats.rate(hits, frame["cluster"].to_numpy(), _weights(frame))


def _r_cpt(frame: pl.DataFrame, score: pl.Expr) -> Estimate:
    scores = frame.select(score.alias("r"))["r"].to_numpy()
    return stats.r_cpt(scores, frame["cluster"].to_numpy(), _weights(frame))


def _weights(frame: pl.DataFrame) -> Any:
    uneven = "weight" in frame.columns and frame["weight"].n_unique() > 1
    return frame["weight"].to_numpy() if uneven else None


def _entry(table: str, metric: str, keys: Keys, estimate: Estimate, dropped: pl.DataFrame) -> Entry:
    """An estimate as a line; where nothing was supported, the reason instead of a method."""
    counts = Counter(dropped["outcome"])
    numbers = asdict(estimate)
    if not estimate.n and "unsupported" in counts:
        lines = dropped.filter(pl.col("outcome") == "unsupported")["reason"]
        numbers["method"] = "unsupported: " + "; ".join(sorted(set(lines)))
    return Entry(
        table=table,
        study=STUDY,
        metric=metric,
        keys=keys,
        left_out={name: counts[name] for name in sorted(counts, key=_rank)},
        **numbers,
    )


def _rank(outcome: str) -> tuple[int, str]:
    """By the protocol's order of outcomes, a control's after the trial's own."""
    known = OUTCOMES.index(outcome) if outcome in OUTCOMES else len(OUTCOMES)
    return (known, outcome)
