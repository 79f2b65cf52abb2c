"""Many estimates at once are those that `stats` gives one by one."""

from __future__ import annotations

import numpy as np
import pytest

from misled import batches, stats

WAYS = [(40, 40), (40, 12), (12, 4), (200, 60)]


def draws(trials: int, clusters: int, seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    single = clusters == trials
    return rng, np.arange(trials) if single else rng.integers(0, clusters, trials)


@pytest.mark.parametrize(("trials", "clusters"), WAYS)
def test_rates_and_r_are_those_of_each_row_without_its_trials_of_weight_0(
    trials: int, clusters: int
) -> None:
    rng, label = draws(trials, clusters, 1)
    hits = rng.random((5, trials)) < np.array([[0], [0.02], [0.3], [0.9], [1]])
    r = rng.choice([0.5, 0.75, 1, 2], (5, trials))
    weights = rng.choice([0.0, 0.5, 1.0], (5, trials))
    weights[0] = 0
    weights[1] = 1
    together = batches.rates(hits, label, weights)
    assert together == [
        stats.rate(x[w > 0], label[w > 0], w[w > 0]) for x, w in zip(hits, weights, strict=True)
    ]
    for got, x, w in zip(batches.r_cpts(r, label, weights), r, weights, strict=True):
        want = stats.r_cpt(x[w > 0], label[w > 0], w[w > 0])
        assert (got.n, got.clusters, got.method) == (want.n, want.clusters, want.method)
        assert got.low == (want.low and pytest.approx(want.low))
        assert got.high == (want.high and pytest.approx(want.high))


@pytest.mark.parametrize(("trials", "clusters"), WAYS)
def test_differences_are_those_of_each_row(trials: int, clusters: int) -> None:
    rng, label = draws(trials, clusters, 2)
    for values in ([0, 1], [0, 0.5, 1]):
        pair = rng.choice(values, (2, 3, trials))
        pair[0, 0] = pair[1, 0]
        for (got, p), x, y in zip(
            batches.paired(pair[0], pair[1], label, span=1), *pair, strict=True
        ):
            want = stats.paired(x, y, label, span=1)
            assert (got.value, got.low, got.high) == pytest.approx(
                (want.value, want.low, want.high)
            )
            assert (got.n, got.clusters) == (want.n, want.clusters)
            assert p == (want.low and pytest.approx(stats.paired_p(x, y, label, span=1)))


def test_no_trials_are_nothing_and_a_difference_has_a_span() -> None:
    nothing = np.empty((2, 0))
    assert batches.rates(nothing, []) == [stats.NOTHING] * 2
    assert batches.paired(nothing, nothing, [], span=1) == [(stats.NOTHING, None)] * 2
    with pytest.raises(ValueError, match="larger than 1"):
        batches.paired([[2.0]], [[0.0]], [1], span=1)
