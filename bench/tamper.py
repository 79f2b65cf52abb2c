"""How fast chains are tampered with: real ones, and one that grows from 1 kB to 10 MB.

    python bench/tamper.py [TRACES_DIR]

Prints chains a second for each scope, the milliseconds of a 2 kB chain apart by
stage, and the seconds of a constructed chain with their growth for each factor
of 10: 10 is linear.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time

from msgspec.structs import replace

from misled.chains import steps
from misled.draws import Draws
from misled.numbers import numbers
from misled.perturbations import PERTURBATIONS, Perturb, result_of
from misled.records import Chain

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
LOOP = (
    "First, 5,210,{i} + 3,004 = 5,213,{i}. Wait, let me check: 5213{i} - 3004 gives 5210{i}.\n\n"
    "Adding the rest, 40,{i} times 12 is 58{{,}}213{{,}}904. So the sum is 58,213,904.\n"
)


def tampered_by(perturb: Perturb) -> Callable[[Chain], object]:
    """The perturbation with a fresh stream for every chain, as a run gives it."""
    return lambda chain: perturb(chain, Draws(0, "bench", "digits"))


def seconds(work: Callable[[Chain], object], chains: Iterable[Chain]) -> float:
    """Processor seconds of `work` on every chain."""
    start = process_time()
    for chain in chains:
        work(chain)
    return process_time() - start


def grown(size: int) -> Chain:
    """A chain of `size` code points that states its result throughout."""
    ending = "So the answer is \\boxed{58213904}."
    loops = "".join(LOOP.format(i=100 + i % 900) for i in range(size // 150))
    return Chain(loops[: size - len(ending)] + ending, "")


def real(directory: Path) -> list[Chain]:
    """The reasoning of every trace in a directory."""
    lines = [line for path in sorted(directory.glob("*.jsonl")) for line in path.open("rb")]
    return [Chain(text, "") for text in (json.loads(line)["reasoning"] for line in lines) if text]


def main() -> None:
    """Print the three tables."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    stages: dict[str, Callable[[Chain], object]] = {
        "numbers": lambda chain: numbers(chain.reasoning),
        "steps": lambda chain: steps(chain.reasoning),
        "result_of": result_of,
    }
    for scope in ("endings", "all", "last"):
        stages[f"digits {scope}"] = tampered_by(PERTURBATIONS["digits"](scope=scope))
    chains = real(directory) if directory.exists() else []
    print(f"{len(chains)} real chains of {sum(len(c.reasoning) for c in chains):,} code points")
    for name, work in stages.items():
        if chains:
            took = seconds(work, chains)
            each = 2000e3 * took / sum(len(c.reasoning) for c in chains)
            print(f"  {name:<15} {len(chains) / took:9,.0f} chains/s {each:7.3f} ms per 2 kB")
    print("one constructed chain")
    for name in ("digits all", "digits endings"):
        before = 0.0
        for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000):
            repeats = max(1, 200_000 // size)
            # Chains that differ, or all but the first would come from the cache.
            chains = [replace(grown(size), answer=str(i)) for i in range(repeats)]
            took = seconds(stages[name], chains) / repeats
            growth = f"x {took / before:5.1f}" if before else ""
            print(f"  {name:<15} {size:>10,} {took:10.4f} s  {growth}")
            before = took


if __name__ == "__main__":
    main()
