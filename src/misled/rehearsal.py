"""A run without a model: the same walk over planted answers, to show what would be sent.

    first_prompts(session) -> [{"arm": "tampered", "method": "baseline", ..., "messages": [...]}]

The planted reasoner answers for every model of the plan, so the prompts are the
exact ones but for the chain, which is its own. Nothing is asked and nothing is
written. Where it cannot read a problem, only the question alone is shown.
"""

from __future__ import annotations

from typing import Any

import msgspec

from misled.engines.planted import Planted
from misled.experiments import cpt
from misled.records import Answer, Request
from misled.rows import Row
from misled.session import Session

__all__ = ["first_prompts"]

PROFILE = "credulous"  # passes every gate
AXES = ("set", "target", "method", "structure", "channel", "perturbation", "scope", "place", "d_t")


def first_prompts(session: Session) -> list[dict[str, Any]]:
    """The first prompt of every cell, one record each, in the order of the plan."""
    planted = Planted(session.inputs.prompts)
    shown: dict[tuple[object, ...], dict[str, Any]] = {}
    seen: set[tuple[str, str]] = set()
    for unit in session.units():
        if (unit.problem.set, unit.target) in seen:
            continue
        seen.add((unit.problem.set, unit.target))
        asked: dict[str, Request] = {}

        def lookup(request: Request, asked: dict[str, Request] = asked) -> Answer:
            asked[request.key] = request
            stand_in = msgspec.structs.replace(request, provider="planted", model=PROFILE)
            return planted.reply(stand_in)

        for row in cpt.walk(unit, lookup):
            if isinstance(row, Row):
                cell = (row.arm, row.mode, *(getattr(row, axis) for axis in AXES))
                shown.setdefault(cell, _shown(row, asked.get(row.request or "")))
    return list(shown.values())


def _shown(row: Row, request: Request | None) -> dict[str, Any]:
    """A cell and its prompt; a cell that is not asked has its reason instead."""
    cell = {"arm": row.arm} | {
        axis: value for axis in AXES if (value := getattr(row, axis)) is not None
    }
    if request is None:
        return cell | {"outcome": row.outcome, "reason": row.reason}
    body = msgspec.json.decode(request.body)
    return cell | {"messages": body["messages"], "prefill": body.get("prefill")}
