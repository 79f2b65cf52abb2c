"""Coverage and errors of differences between two runs, from rows on: pairing, pooling, estimates.

    python bench/versus.py [--blocks 5]

Two models, or two judges, with planted shares answer the same problems; their
replies hang together by the problem. A block is 200 data sets of each cell.
Coverage is of the planted difference; errors are of two runs of the same model,
how often p < .05 (of J, which has no test, how often its interval leaves out 0).
Rule and verdicts are those of `coverage.py`; bounds are 93 to 97.5 % where at least
10 problems are expected to differ and there are 50, else 90 %. Exit 1 where a cell
fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from coverage import MOST_ERRORS, verdict
from misled.records import Entry

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from twosides import Judges, Models, compared

SETS = 200
TAMPERED = ((0.35, 0.5, 0.1), (0.2, 0.7, 0.05))
CLEAN = ((0.02, 0.9, 0.05), (0.1, 0.8, 0.05))
RARE = ((0.05, 0.9, 0.02), (0.02, 0.95, 0.01))
OFTEN = ((0.9, 0.05, 0.02), (0.6, 0.3, 0.05))
QUIET = ((0.0, 0.97, 0.02), (0.0, 0.97, 0.02))
ACCEPT = (
    {True: (0.75, 0.85), False: (0.3, 0.6)},
    {True: (0.7, 0.75), False: (0.3, 0.35)},
)
GOOD, FAIR = (0.93, 0.975), (0.9, 1.0)
ENOUGH, MANY = 10.0, 50  # problems that are expected to differ, and problems


def main() -> None:
    """Print every cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=5)
    blocks = parser.parse_args().blocks
    began, words = time.perf_counter(), Counter[str]()
    for name, planted in cells():
        for kind, cell, held, n, bound in measured(planted, blocks):
            words[word := verdict(held, n, bound)] += 1
            share = 100 * held / n
            print(f"{name:<22}{kind:<9}{cell:<42}{share:>6.1f}  {n:>5}  {word}", flush=True)
    counts = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    print(f"{words.total()} cells: {counts}; {time.perf_counter() - began:.0f} s")
    sys.exit(1 if words["FAIL"] else 0)


def cells() -> Iterator[tuple[str, Models | Judges]]:
    """What is planted."""
    for problems in (20, 50, 100):
        for rho in (0.0, 0.5):
            yield f"G {problems}, rho {rho:g}", Models(problems, rho, TAMPERED, CLEAN, SETS)
    yield "G 50, rarely adopted", Models(50, 0.5, RARE, QUIET, SETS)
    yield "G 50, often adopted", Models(50, 0.8, OFTEN, QUIET, SETS)
    for items, right in ((60, 0.6), (150, 0.6), (400, 0.6), (150, 0.85)):
        yield f"{items} items, {right:g} right", Judges(items, right, ACCEPT, SETS)


def measured(
    planted: Models | Judges, blocks: int
) -> Iterator[tuple[str, str, int, int, tuple[float, float]]]:
    """Of each cell how often its interval held the truth, and how often its test erred."""
    held, claimed, erred, tested = (Counter[str]() for _ in range(4))
    bound: dict[str, tuple[float, float]] = {}
    for block in range(blocks):
        for e in compared(*planted.runs(block)):
            aim = truth(planted, e)
            if aim is not None and e.low is not None and e.high is not None:
                claimed[_cell(e)] += 1
                held[_cell(e)] += e.low <= aim <= e.high
                enough = e.n >= MANY and differing(planted, e) >= ENOUGH
                bound[_cell(e)] = GOOD if enough else FAIR
        for e in compared(*planted.runs(1000 + block, (0, 0))):
            if e.metric.startswith("change_") and e.low is not None and e.high is not None:
                tested[_cell(e)] += 1
                out = not e.low <= 0 <= e.high
                erred[_cell(e)] += out if e.p is None else e.p < 0.05
    for cell, n in sorted(claimed.items()):
        yield "coverage", cell, held[cell], n, bound[cell]
    for cell, n in sorted(tested.items()):
        yield "errors", cell, erred[cell], n, MOST_ERRORS


def truth(planted: Models | Judges, e: Entry) -> float | None:
    """What an interval has to hold."""
    if isinstance(planted, Models):
        return planted.truth.get(e.metric)
    name = e.metric.removeprefix("change_")
    known = name != e.metric and name in {"tpr", "fpr", "youden"}
    return planted.truth(name, e.keys["condition"]) if known else None


def differing(planted: Models | Judges, e: Entry) -> float:
    """How many problems are expected to differ, were the replies of the two independent."""
    name = e.metric.removeprefix("change_")
    if isinstance(planted, Models):
        place = {"recovered": 1, "confused": 2}.get(name, 0)
        one, two = (shares[place] for shares in planted.tampered)
    else:
        at = 0 if e.keys["condition"] == "answer" else 1
        one, two = (each[name == "tpr"][at] for each in planted.accept)
    return e.n * (one * (1 - two) + two * (1 - one))


def _cell(e: Entry) -> str:
    where = e.keys.get("condition") or f"D_T {e.keys['d_t']}"
    return f"{e.metric.removeprefix('change_')}, {where}"


if __name__ == "__main__":
    main()
