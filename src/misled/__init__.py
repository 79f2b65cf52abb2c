"""Measure how reasoning chains mislead language models.

    import misled

    plan = misled.plan(model=["planted/mixed"], cells=[{"problems": ["addition:15+13"]}])
    done = misled.run(plan, "runs/first")
    misled.rows("runs/first")     # every graded trial, a polars frame
    misled.tables("runs/first")   # every estimate with its interval, a polars frame
    misled.compare(["runs/first", "runs/second"])   # every difference, paired by item

`split`, `tamper` and `grade` are the three tools of the command line, on text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["compare", "grade", "plan", "rows", "run", "split", "steps", "tables", "tamper"]

if TYPE_CHECKING:
    from misled.api import compare, grade, plan, rows, run, split, steps, tables, tamper


def __getattr__(name: str) -> Any:
    """Import the interface when it is first used, so that `misled --help` stays quick."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from misled import api  # noqa: PLC0415 (on first use)

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
