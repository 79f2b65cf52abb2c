"""What the answers of a run cost by the prices of its plan.

    paid(store, {"openai/o3-mini": Prices(1.1, 4.4)})   -> {"openai/o3-mini": 12.30}

A sum of what servers counted; an answer without counts adds nothing, as does what was
asked again and thrown away. Knows nothing about studies or currencies.
"""

from __future__ import annotations

from collections.abc import Mapping

from misled.settings import ModelPlan, Prices
from misled.store import Store

__all__ = ["paid", "prices"]

_SPENT = """
    SELECT r.body ->> '$.provider' || '/' || (r.body ->> '$.model'),
        CAST(total(a.body ->> '$.usage.prompt') AS INTEGER),
        CAST(total(a.body ->> '$.usage.cached') AS INTEGER),
        CAST(total(a.body ->> '$.usage.completion') AS INTEGER)
    FROM answers a JOIN requests r ON r.id = a.id
    WHERE a.kind = 'response' AND json_valid(a.body) AND json_valid(r.body)
    GROUP BY 1 ORDER BY 1
"""


def prices(models: Mapping[str, ModelPlan]) -> dict[str, Prices]:
    """Those of the models that have any."""
    return {name: own.prices for name, own in models.items() if own.prices is not None}


def paid(store: Store, by: Mapping[str, Prices]) -> dict[str, float]:
    """Money by model, of the models that have prices and answered."""
    spent = store.select(_SPENT) if by else []
    return {model: by[model].cost(*tokens) for model, *tokens in spent if model in by}
