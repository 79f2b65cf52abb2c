"""Two sides of a comparison with known rows, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import ndtr

from misled import ledger, pairing, pairing_judge, versus, versus_judge
from misled.records import Entry
from misled.row import Judged, Row
from misled.sides import Pair, Side, matches
from misled.versus import Labels

AXES = {
    "cpt": ("set", "target", "attribution", "feed"),
    "judge": ("set", "generator", "judge", "shown"),
}
WHO: dict[str, Any] = {
    "set": "addition:2+2", "target": "m", "source": "m", "mode": "plain", "gold": "42",
}  # fmt: skip
CELL: dict[str, Any] = {
    "feed": "reasoning", "attribution": "own", "method": "baseline", "structure": "intact",
    "channel": "user", "perturbation": "digits", "scope": "endings", "place": "random",
}  # fmt: skip


def side(
    name: str,
    rows: pl.DataFrame,
    *,
    problems: Sequence[str] = (),
    questions: Mapping[str, str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Side:
    """The run of these rows; each question is its problem's id, and each text too, unless told."""
    study = "judge" if "judge" in rows.columns else "cpt"
    asked, told, text = questions or {}, texts or {}, pl.String()
    who = "generator" if study == "judge" else "target"
    held = rows.select("set", "problem").unique(maintain_order=True).rows()
    items = product(rows["set"].unique(maintain_order=True), problems) if problems else held
    lines = [(name, p, p, asked.get(p, p)) for name, p in items]
    handed = rows.select("set", who, "problem").unique(maintain_order=True).iter_rows()
    return Side(
        name=name,
        rows=rows,
        problems=pl.DataFrame(
            lines, schema=dict.fromkeys(("set", "problem", "cluster", "question"), text),
            orient="row",
        ),
        texts=pl.DataFrame(
            [(*line, told.get(line[2], line[2])) for line in handed],
            schema=dict.fromkeys(("set", "who", "problem", "text"), text), orient="row",
        ),
        names={
            axis: tuple(rows[axis].drop_nulls().unique(maintain_order=True))
            for axis in AXES[study]
        },
    )  # fmt: skip


def compared(one: Side, two: Side, told: Sequence[Pair] = ()) -> list[Entry]:
    """Every difference of the second from the first."""
    study = "judge" if "judge" in one.rows.columns else "cpt"
    (names,) = matches(one, [two], told)
    labels = Labels(two.name, one.name, study)
    if study == "judge":
        return versus_judge.entries(pairing_judge.aligned(one, two, names), labels)
    return versus.entries(pairing.aligned(one, two, names), labels)


def pick(found: Sequence[Entry], metric: str, **keys: str) -> Entry:
    """The one entry of a metric that has these keys."""
    (entry,) = [e for e in found if e.metric == metric and keys.items() <= e.keys.items()]
    return entry


def gate(problem: str, outcome: str = "recovered", **fields: Any) -> list[Row]:
    """A source's and a gate's row; `outcome` is the gate's."""
    rows = [
        Row(arm="source", problem=problem, cluster=problem, outcome="recovered", **WHO),
        Row(arm="gate", problem=problem, cluster=problem, outcome=outcome, **WHO),
    ]
    return rows if not fields else [Row(**{**each, **fields}) for each in map(_fields, rows)]


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


def trial(problem: str, outcome: str, **fields: Any) -> Row:
    """A tampered trial of D_T 1 that got this reply, at a cost of its own."""
    r = {"recovered": 0.5, "adopted": 1.0, "confused": 2.0, "other": 0.5}.get(outcome)
    item = {"problem": problem, "cluster": problem, "outcome": outcome, "r_cpt": r}
    common = {"arm": "tampered", "d_t": 1, "tampered": "43", "request": f"{problem} {outcome}"}
    return Row(**{**WHO, **CELL, **item, **common, **fields})


def many(
    arms: Mapping[str, npt.NDArray[np.int64]], outcomes: Sequence[str], run: str = "a"
) -> pl.DataFrame:
    """Rows of study A in bulk: `arms` hold an outcome's index for each problem and D_T."""
    shape = next(iter(arms.values())).shape
    problem = np.repeat(np.arange(shape[0]), shape[1]).astype(str)
    parts = []
    for arm, found in arms.items():
        outcome = np.array(outcomes)[found.ravel()]
        frame = pl.DataFrame(
            {"problem": problem, "d_t": np.tile(np.arange(1, shape[1] + 1), shape[0]),
             "outcome": outcome, "request": [f"{run} {arm} {i}" for i in range(problem.size)]}
        )  # fmt: skip
        r = pl.col("outcome").replace_strict(
            {"recovered": 0.5, "adopted": 1.0, "confused": 2.0}, default=None,
            return_dtype=pl.Float64,
        )  # fmt: skip
        parts.append(frame.with_columns(arm=pl.lit(arm), cluster="problem", r_cpt=r))
    rows = pl.concat(parts).with_columns(
        *(pl.lit(value).alias(name) for name, value in (WHO | CELL).items()),
        tampered=pl.lit("43"),
        sample=pl.lit(0),
    )
    return _whole(rows, Row)


def verdicts(
    label: npt.NDArray[np.bool_],
    said: Mapping[str, npt.NDArray[np.bool_]],
    run: str = "a",
    judge: str = "acme/j",
) -> pl.DataFrame:
    """Rows of study B in bulk: whether each item is right, and what was said by condition."""
    problem = [f"q{i:06}" for i in range(label.size)]
    who = {"set": "facts", "generator": "acme/g", "cluster": None}
    given = pl.DataFrame({"problem": problem, "label": label})
    parts = [given.with_columns(arm=pl.lit("generate"), outcome=pl.lit("read"))]
    for condition, accepts in said.items():
        fixed = {"arm": "judge", "outcome": "read", "judge": judge, "shown": "content"}
        parts.append(
            given.with_columns(
                *(pl.lit(value).alias(name) for name, value in fixed.items()),
                condition=pl.lit(condition),
                verdict=pl.Series(np.where(accepts, "accept", "reject")),
                request=pl.Series([f"{run} {condition} {i}" for i in range(label.size)]),
            )
        )
    rows = pl.concat(parts, how="diagonal").with_columns(
        *(pl.lit(value, pl.String).alias(name) for name, value in who.items())
    )
    return _whole(rows.with_columns(cluster="problem"), Judged)


class Models(NamedTuple):
    """Two models on `sets` data sets, each a problem set; a share `rho` reuses its problem's draw.

    `tampered` and `clean` hold P(adopted), P(recovered) and P(confused) of each model.
    """

    problems: int
    rho: float
    tampered: Sequence[tuple[float, float, float]]
    clean: Sequence[tuple[float, float, float]]
    sets: int = 40
    degrees: int = 2

    @property
    def truth(self) -> dict[str, float]:
        """What the second differs by, by metric."""
        one, two = self.tampered
        names = ("change_adopted", "change_recovered", "change_confused")
        plain = {name: b - a for name, a, b in zip(names, one, two, strict=True)}
        sham = self.clean[1][0] - self.clean[0][0]
        return plain | {"change_net_adoption": plain["change_adopted"] - sham}

    def runs(self, seed: int, who: tuple[int, int] = (0, 1)) -> tuple[Side, Side]:
        """A run of each of `who`, on the same problems."""
        chance = np.random.default_rng(seed)
        shape = self.sets * self.problems, self.degrees
        common = np.broadcast_to(chance.random((shape[0], 1)), shape)
        found = []
        for place, model in enumerate(who):
            arms = {}
            for arm, shares in (("tampered", self.tampered[model]), ("clean", self.clean[model])):
                draw = np.where(chance.random(shape) < self.rho, common, chance.random(shape))
                arms[arm] = np.searchsorted(np.cumsum(shares), draw, side="right")
            names = ("adopted", "recovered", "confused", "other")
            number = (pl.col("problem").cast(pl.Int64) // self.problems).cast(pl.String)
            found.append(many(arms, names, run=str(place)).with_columns(set=number))
        return side("a", found[0]), side("b", found[1])


class Judges(NamedTuple):
    """Two judges on `sets` data sets; what they say hangs in part on how hard an item is.

    `accept` holds P(accept) without and with the chain, of right and of wrong answers.
    """

    items: int
    right: float
    accept: Sequence[Mapping[bool, tuple[float, float]]]
    sets: int = 40

    def truth(self, metric: str, condition: str) -> float:
        """What the second differs by."""
        if metric == "youden":
            return self.truth("tpr", condition) - self.truth("fpr", condition)
        ends = [each[metric == "tpr"] for each in self.accept]
        without, shown = (two - one for one, two in zip(*ends, strict=True))
        return float({"answer": without, "reasoning": shown}.get(condition, shown - without))

    def runs(self, seed: int, who: tuple[int, int] = (0, 1)) -> tuple[Side, Side]:
        """A run of each of `who`, on the same answers."""
        chance = np.random.default_rng(seed)
        n = self.sets * self.items
        label, hard = chance.random(n) < self.right, chance.standard_normal(n)
        found = []
        for place, judge in enumerate(who):
            said = {}
            for at, name in enumerate(("answer", "reasoning")):
                share = np.where(label, *(self.accept[judge][y][at] for y in (True, False)))
                said[name] = ndtr((hard + chance.standard_normal(n)) / np.sqrt(2)) < share
            number = pl.col("problem").str.slice(1).cast(pl.Int64) // self.items
            rows = verdicts(label, said, run=str(place))
            found.append(rows.with_columns(set=number.cast(pl.String)))
        return side("a", found[0]), side("b", found[1])


def _whole(rows: pl.DataFrame, kind: type[Row | Judged]) -> pl.DataFrame:
    """With a column a field, as a ledger has them."""
    schema = ledger.schema(kind)
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit(None)).cast(form).alias(name)
        for name, form in schema.items()
    )
