"""The points of a plan's cells: how a chain is tampered with and how it is handed back.

    conditions(plan, cell)  ->  Condition(way=Way("baseline", "own", "user"), d_t=1, ...), ...

Knows nothing about problems, models or requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from misled.plans import Cell, Plan
from misled.prompts import AS_TEXT, Way
from misled.records import Record

__all__ = ["Condition", "conditions"]


class Condition(Record, frozen=True):
    """One point: what is done to the chain, and the way in which it is handed over."""

    way: Way
    structure: str
    perturbation: str
    scope: str
    place: str | tuple[int, ...]
    d_t: int | None

    @property
    def mode(self) -> str:
        """The generation mode that gate, probe and `again` share (protocol A.1)."""
        return "prefix" if self.way.method == "prefix" else "plain"

    @property
    def options(self) -> tuple[tuple[str, Any], ...]:
        """What the perturbation is made with."""
        if self.d_t is None:
            return (("scope", self.scope),)
        return (("scope", self.scope), ("d_t", self.d_t), ("place", self.place))

    @property
    def keys(self) -> dict[str, Any]:
        """The coordinates that a row has of it."""
        place = self.place if isinstance(self.place, str) else ",".join(map(str, self.place))
        return {
            "mode": self.mode,
            "method": self.way.method,
            "attribution": self.way.attribution,
            "channel": self.way.channel,
            "structure": self.structure,
            "perturbation": self.perturbation,
            "scope": self.scope,
            "place": place,
            "d_t": self.d_t,
        }


def conditions(plan: Plan, cell: Cell) -> Iterator[Condition]:
    """Every condition of a cell; a perturbation without degrees stands once.

    The contrast `prefix_as_text` is one more method where there is `prefix`: it
    has its own gate's mode, trials and controls, of intact chains. Ways that there
    are not (a filter in a channel without a place for one) are left out.
    """
    methods = list(cell.methods)
    if AS_TEXT in plan.contrasts and "prefix" in methods:
        methods.append(AS_TEXT)
    axes = (cell.perturbations, cell.structures, cell.channels, methods)
    for perturbation, structure, channel, method in product(*axes):
        way = Way(method, cell.attribution or plan.attribution, channel)
        if way.impossible or (method == AS_TEXT and structure != "intact"):
            continue
        for d_t in cell.digits if perturbation == "digits" else (None,):
            yield Condition(
                way=way,
                structure=structure,
                perturbation=perturbation,
                scope=cell.scope,
                place=cell.place,
                d_t=d_t,
            )
