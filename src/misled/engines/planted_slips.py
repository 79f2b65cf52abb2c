"""What the planted reasoner gets by itself, and how it slips.

    >>> replaced("849", 3, Draws("doc"))
    '188'

Values are strings of digits. A slip replaces as many digits as the profile's
`wrong` draws; a confused value has another length, or too many wrong digits.
Knows nothing about texts or requests.
"""

from __future__ import annotations

from collections.abc import Callable

from misled.draws import Draws
from misled.engines.planted_profile import Solver

__all__ = ["confusing", "distance", "erring", "own", "replaced"]


def own(solver: Solver, question: str, right: str, wrong: Callable[[Draws], str]) -> str:
    """What the solver gets for a question: `right` for a share `gate` of all questions."""
    if solver.gate == 1:
        return right
    able = Draws(solver.hash, question, "gate")
    return right if able.unit() < solver.gate else wrong(able)


def erring(solver: Solver, result: str, draws: Draws) -> str:
    """`result` with as many wrong digits as `solver.wrong` draws."""
    rest = draws.unit() * sum(solver.wrong)
    wrong = 1
    for weight in solver.wrong[:-1]:
        if (rest := rest - weight) < 0:
            break
        wrong += 1
    return replaced(result, min(wrong, len(result)), draws)


def confusing(result: str, seen: str, d_t: int, draws: Draws) -> str:
    """A value of another length than w and w', or with more than `d_t` wrong digits."""
    n = len(result)
    if len(seen) == n > d_t and draws.below(2):
        return replaced(result, d_t + 1 + draws.below(min(3, n - d_t)), draws)
    if n > 1 and len(seen) >= n and draws.below(2):
        place = 1 + draws.below(n - 1)
        return result[:place] + result[place + 1 :]
    longer = result
    while len(longer) <= max(n, len(seen)):
        place = 1 + draws.below(len(longer))
        longer = f"{longer[:place]}{draws.below(10)}{longer[place:]}"
    return longer


def replaced(value: str, k: int, draws: Draws) -> str:
    """`value` with exactly `k` digits replaced by others; the first never becomes 0."""
    digits = list(value)
    for place in draws.sample(range(len(digits)), k):
        others = "123456789" if place == 0 else "0123456789"
        digits[place] = draws.choice(others.replace(digits[place], ""))
    return "".join(digits)


def distance(result: str, seen: str) -> int:
    """D_T: the digits in which the two differ; a digit too many or too few counts as one."""
    if len(result) != len(seen):
        return 1
    return sum(a != b for a, b in zip(result, seen, strict=True))
