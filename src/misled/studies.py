"""STUDIES: name -> what a run needs of a study; to add one, write its walk and a line here.

    STUDIES["cpt"].walk(unit, lookup) -> Iterator[Request | Row]

Knows nothing about how a study's rows become tables (`publishing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from misled import judge_units, units
from misled.experiments import cpt, judge
from misled.records import Problem, Record
from misled.row import Judged, Row

__all__ = ["STUDIES", "Experiment"]


class Experiment(NamedTuple):
    """A study's walk, its units, the kind of its rows, and the axes that tell its cells apart."""

    walk: Callable[..., Iterator[Any]]
    units: Callable[[Any, Mapping[str, list[Problem]]], Iterator[Any]]
    row: type[Record]
    axes: tuple[str, ...]


STUDIES: dict[str, Experiment] = {
    "cpt": Experiment(
        cpt.walk,
        units.units,
        Row,
        (
            "set",
            "target",
            "method",
            "structure",
            "channel",
            "perturbation",
            "scope",
            "place",
            "d_t",
        ),
    ),
    "judge": Experiment(
        judge.walk,
        judge_units.units,
        Judged,
        ("set", "generator", "judge", "condition", "shown", "variant", "k", "place"),
    ),
}
