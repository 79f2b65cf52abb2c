"""Estimates: their values, their intervals and what they refuse to claim."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtrc

from misled import intervals, stats
from misled.intervals import Trials
from misled.records import Estimate

# 26 trials in 12 clusters; the golden values on them are those of statsmodels 0.14
# (WLS with cluster-robust covariance, Wilson limits) and scipy 1.17.
HITS = [1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1]
GROUPS = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6, 7, 7, 7, 8, 8, 9, 10, 11, 11]
WEIGHTS = np.linspace(1, 2, len(HITS))


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def is_sound(estimate: Estimate, least: float, most: float) -> bool:
    """Whether the interval is claimed, has width, holds its value and stays in its range."""
    low, high = ends(estimate)
    assert estimate.value is not None
    return least <= low <= estimate.value <= high <= most and low < high


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (30, 100, 0.21894885294932756, 0.39584854633346667),
        (0, 50, 0.0, 0.07134759913335874),
        (50, 50, 0.9286524008666412, 1.0),
        (1, 20, 0.008881448800795402, 0.2361311934467421),
    ],
)
def test_one_trial_a_cluster_is_wilson(hits: int, n: int, low: float, high: float) -> None:
    estimate = stats.rate([1] * hits + [0] * (n - hits), range(n))
    assert (estimate.n, estimate.clusters, estimate.method) == (n, n, "Wilson")
    assert ends(estimate) == pytest.approx((low, high), abs=1e-12)


def test_several_trials_a_cluster_are_wilson_at_n_eff() -> None:
    estimate = stats.rate(HITS, GROUPS)
    assert estimate.value == pytest.approx(12 / 26)
    assert ends(estimate) == pytest.approx((0.2330080140143708, 0.7074646491139515), abs=1e-9)
    assert (estimate.n, estimate.clusters, estimate.method) == (26, 12, "Wilson at n_eff")


def test_weights_count_in_the_value_and_in_its_variance() -> None:
    estimate = stats.rate(HITS, GROUPS, WEIGHTS)
    assert estimate.value == pytest.approx(0.46358974)
    assert ends(estimate) == pytest.approx((0.23330475502280812, 0.7105270699179113), abs=1e-7)


def test_no_hit_in_clusters_of_several_counts_each_cluster_once() -> None:
    estimate = stats.rate([0] * 60, np.repeat(np.arange(20), 3))
    shrunk = 20 * (1.959963984540054 / 2.093024054408263) ** 2
    assert ends(estimate)[1] == pytest.approx(3.841458820694124 / (shrunk + 3.841458820694124))


def test_clusters_that_agree_perfectly_count_once_each() -> None:
    """n_eff is about G where the trials of a cluster repeat each other, not G times 6."""
    hits = np.repeat([1] * 15 + [0] * 35, 6)
    wide, alone = (
        stats.rate(hits, np.repeat(np.arange(50), 6)),
        stats.rate([1] * 15 + [0] * 35, range(50)),
    )
    assert ends(wide) == pytest.approx(ends(alone), abs=0.01)


def test_clusters_that_are_all_mixed_the_same_way_count_no_more_than_n() -> None:
    """v is 0 where each cluster holds one hit and one miss; n_eff stays at most N."""
    estimate = stats.rate([0, 1] * 30, np.repeat(np.arange(30), 2))
    low, high = ends(estimate)
    assert high - low > np.ptp(ends(stats.rate([0, 1] * 30, range(60))))


def test_r_cpt_follows_mover_on_adoption_and_confusion() -> None:
    """Against a scalar computation of the protocol's formula: 60 resist, 30 adopt, 10 confused."""
    r = [0.5] * 60 + [1.0] * 30 + [2.0] * 10
    a, c, n, z = 0.3, 0.1, 100, 1.959963984540054

    def wilson(p: float) -> tuple[float, float]:
        centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
        return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)

    correlation = -a * c / math.sqrt(a * (1 - a) * c * (1 - c))
    (a_low, a_high), (c_low, c_high) = wilson(a), wilson(c)
    down, up = (
        math.sqrt(da * da + dc * dc + 2 * correlation * da * dc)
        for da, dc in (
            (0.5 * (a - a_low), 1.5 * (c - c_low)),
            (0.5 * (a_high - a), 1.5 * (c_high - c)),
        )
    )
    estimate = stats.r_cpt(r, range(100))
    assert estimate.value == pytest.approx(0.8)
    assert estimate.method == "MOVER"
    assert ends(estimate) == pytest.approx((0.8 - down, 0.8 + up), abs=1e-9)


@pytest.mark.parametrize("r", [0.5, 0.6, 0.75, 1.0, 2.0])
def test_r_cpt_has_an_interval_where_all_trials_agree(r: float) -> None:
    estimate = stats.r_cpt([r] * 40, np.repeat(np.arange(20), 2))
    assert is_sound(estimate, 0.5, 2.0)
    assert estimate.value == pytest.approx(r)


def test_r_cpt_of_adoption_alone_is_the_rate_of_adoption() -> None:
    adopted = np.array([1] * 12 + [0] * 38)
    estimate = stats.r_cpt(0.5 + 0.5 * adopted, range(50))
    expected = 0.5 + 0.5 * np.array(ends(stats.rate(adopted, range(50))))
    assert ends(estimate)[0] == pytest.approx(expected[0])
    assert ends(estimate)[1] > expected[1]  # a confusion may yet come


@pytest.mark.parametrize("adopted", [1, 2, 3, 6, 9])
def test_few_events_have_mid_p_limits(adopted: int) -> None:
    """At the lower one, P(more) + P(as many) / 2 is 2.5 %."""
    r = [1.0] * adopted + [0.5] * (50 - adopted)
    share = 2 * ends(stats.r_cpt(r, range(50)))[0] - 1
    assert (bdtrc(adopted, 50, share) + bdtrc(adopted - 1, 50, share)) / 2 == pytest.approx(0.025)


def test_confusions_that_nobody_shows_repeat_themselves_as_adoption_does() -> None:
    """Each of 50 clusters holds both, so that all 100 trials count, but for t instead of z."""
    estimate = stats.r_cpt([0.5, 1.0] * 50, np.repeat(np.arange(50), 2))
    n = 100 * (1.959963984540054 / 2.009575234489209) ** 2
    adopted = intervals.wilson(np.array([0.5]), np.array([n]))[1][0]
    confused = 1 - 0.05 ** (1 / n)
    expected = 0.75 + math.hypot(0.5 * (adopted - 0.5), 1.5 * confused)
    assert ends(estimate)[1] == pytest.approx(expected, abs=1e-9)


def test_pairs_of_0_and_1_are_bonett_price() -> None:
    """Their formula by hand: 21 pairs, of which 1 gained and 7 lost."""
    first = [1, *[0] * 7, *[1] * 13]
    second = [0, *[1] * 7, *[1] * 13]
    estimate = stats.paired(first, second, range(21))
    gained, lost = 2 / 23, 8 / 23
    half = 1.959963984540054 * math.sqrt((gained + lost - (gained - lost) ** 2) / 23)
    assert estimate.value == pytest.approx(-6 / 21)
    assert ends(estimate) == pytest.approx((gained - lost - half, gained - lost + half))
    assert estimate.method == "Bonett-Price"


def test_other_pairs_are_t_on_cluster_means() -> None:
    """Golden values of scipy.stats.t.interval on the twelve differences."""
    values = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    twice = np.repeat(values, 2) + np.tile([-1, 1], 12)
    for estimate in (
        stats.paired(twice, np.zeros(24), np.repeat(np.arange(12), 2), span=math.inf),
        stats.mean(twice, np.repeat(np.arange(12), 2)),
        stats.mean(values, range(12)),
    ):
        assert estimate.value == pytest.approx(4.333333333333333)
        assert ends(estimate) == pytest.approx((2.722919650449236, 5.94374701621743))
        assert estimate.method == "t on cluster means, under 20 clusters"


def test_an_item_counts_once_in_a_pair_whatever_its_cluster_holds() -> None:
    clusters = [0] * 11 + list(range(1, 12))
    first = np.array([0.5] * 11 + [0.0] * 11)
    assert stats.paired(first, 0 * first, clusters).value == pytest.approx(0.25)


def test_where_almost_all_clusters_agree_two_more_widen_the_interval() -> None:
    estimate = stats.paired([0.5] + [0.0] * 49, [0.0] * 50, range(50), span=1.0)
    assert estimate.method == "t on cluster means and two more"
    assert is_sound(estimate, -1, 1)
    low, high = ends(estimate)
    assert low < 0
    assert high > 3 / 50


def test_a_difference_beyond_its_span_is_an_error() -> None:
    with pytest.raises(ValueError, match="larger than 1"):
        stats.paired([2.0] * 10, [0.5] * 10, range(10), span=1.0)


def test_a_slope_is_the_mean_of_those_of_the_clusters() -> None:
    """Against a line fitted to each; those of one x have none, and are not counted."""
    rng = np.random.default_rng(3)
    clusters = rng.permutation(np.repeat(np.arange(25), 4))
    x, y = rng.integers(1, 7, 100).astype(float), rng.normal(size=100)
    x[clusters < 2] = 3.0
    lines = [np.polyfit(x[clusters == g], y[clusters == g], 1)[0] for g in range(2, 25)]
    estimate = stats.slope(x, y, clusters, span=math.inf)
    alone = stats.mean(lines, range(23))
    assert estimate.value == pytest.approx(alone.value)
    assert ends(estimate) == pytest.approx(ends(alone))
    assert (estimate.n, estimate.clusters) == (92, 23)
    assert estimate.method == "t on cluster slopes"


def test_where_almost_all_slopes_agree_two_of_the_largest_widen_the_interval() -> None:
    """y in [-1, 1] on x = 1, 2, 3 has slopes in [-1, 1]."""
    y = np.zeros((50, 3))
    y[0] = (0, 0.5, 1)
    estimate = stats.slope(np.tile([1, 2, 3], 50), y.ravel(), np.repeat(np.arange(50), 3), span=1)
    alone = stats.paired([0.5] + [0.0] * 49, [0.0] * 50, range(50), span=1)
    assert ends(estimate) == pytest.approx(ends(alone))
    assert estimate.method == "t on cluster slopes and two more"


def test_p_is_that_of_a_t_test_or_of_bonett_and_price() -> None:
    """Golden values of scipy.stats.ttest_1samp, and of their z by hand."""
    values = np.array([3.0, -1, 4, -1, 5, -9, 2, 6, -5, 3, 5, 8])
    zero = np.zeros(12)
    t = stats.paired_p(values, zero, range(12), span=math.inf)
    assert t == pytest.approx(0.26231833205744903)
    x, y = np.tile([0.0, 1.0], 12), np.stack([zero, values], 1).ravel()
    assert stats.slope_p(x, y, np.repeat(np.arange(12), 2), span=math.inf) == pytest.approx(t)
    gained, lost = 2 / 23, 8 / 23
    z = (lost - gained) / math.sqrt((gained + lost - (gained - lost) ** 2) / 23)
    p = stats.paired_p([1, *[0] * 7, *[1] * 13], [0, *[1] * 20], range(21))
    assert p == pytest.approx(math.erfc(z / math.sqrt(2)))


def test_no_interval_no_p() -> None:
    few, many = range(9), range(30)
    assert stats.paired_p([1.0] * 9, [0.5] * 9, few) is None
    assert stats.paired_p([7.0] * 30, [5.0] * 30, many, span=math.inf) is None
    assert stats.paired_p([], [], []) is None
    assert stats.slope_p([1, 2] * 9, [0, 1] * 9, np.repeat(few, 2)) is None
    assert stats.slope_p([1] * 30, [0.5] * 30, many) is None
    assert stats.slope([1] * 30, [0.5] * 30, many) == stats.NOTHING
    assert stats.slope_p([], [], []) is None


def test_shares_below_are_compared_with_those_of_the_floor() -> None:
    ratios = np.array([0.3] * 10 + [0.5] * 5 + [2.0] * 5)
    floor = np.array([0.9] * 8 + [1.0] * 12)
    for threshold, share in ((1.0, 15 / 20 - 8 / 20), (0.4, 10 / 20)):
        estimate = stats.below(ratios, floor, range(20), threshold=threshold)
        assert estimate.value == pytest.approx(share)
        assert estimate.method == "Bonett-Price"


def test_no_variation_without_bounds_gives_no_interval() -> None:
    for estimate in (
        stats.mean([7.0] * 30, range(30)),
        stats.paired([7.0] * 30, [5.0] * 30, range(30), span=math.inf),
        stats.median([7.0] * 30, range(30)),
    ):
        assert (estimate.low, estimate.high, estimate.method) == (None, None, "none: no variation")


def test_fewer_than_ten_clusters_claim_no_interval() -> None:
    clusters = np.repeat(np.arange(9), 5)
    values = np.tile([0.5, 1.0, 0.5, 2.0, 1.0], 9)
    for estimate in (
        stats.rate(values > 1, clusters),
        stats.r_cpt(values, clusters),
        stats.paired(values, values[::-1], clusters),
        stats.mean(values, clusters),
        stats.median(values, clusters),
    ):
        assert estimate.value is not None
        assert (estimate.low, estimate.high) == (None, None)
        assert (estimate.clusters, estimate.method) == (9, "none: under 10 clusters")


def test_no_trials_give_no_value() -> None:
    nothing = Estimate(None, None, None, 0, 0, "none: no trials")
    assert stats.rate([], []) == stats.r_cpt([], []) == stats.paired([], [], []) == nothing
    assert stats.mean([], []) == stats.median([], []) == nothing
    assert stats.rate([1.0], ["a"], [0.0]) == nothing


@pytest.mark.parametrize(
    "call",
    [
        lambda: stats.rate([0.5] * 10, range(10)),
        lambda: stats.rate([math.nan] * 10, range(10)),
        lambda: stats.rate([1] * 10, range(9)),
        lambda: stats.rate([1] * 10, range(10), [-1.0] * 10),
        lambda: stats.r_cpt([1.5] * 10, range(10)),
        lambda: stats.r_cpt([0.0] * 10, range(10)),
        lambda: stats.paired([1.0] * 10, [1.0] * 9, range(10)),
        lambda: stats.mean([math.inf] * 10, range(10)),
        lambda: stats.below([math.nan] * 10, [1.0] * 10, range(10), threshold=1.0),
        lambda: stats.median([-math.inf] * 10, range(10)),
        lambda: stats.slope([1, 2] * 10, [0, 2] * 10, np.repeat(range(10), 2)),
        lambda: stats.slope([1, 2], [0, 1, 1], [0, 0, 0]),
        lambda: stats.holm([0.5, 1.5]),
        lambda: stats.holm([math.nan]),
    ],
)
def test_what_is_no_rate_no_r_or_no_number_is_an_error(call: object) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=r"."):
        call()


def test_the_median_lies_between_its_order_statistics() -> None:
    """Of 12 values, the third and the tenth: P(Bin(12, .5) <= 2) = .019, and <= 3 is .073."""
    estimate = stats.median(range(1, 13), range(12))
    assert (estimate.value, *ends(estimate)) == (6.5, 3, 10)
    assert estimate.method == "order statistics"


def test_ties_round_the_median_widen_to_the_next_values() -> None:
    estimate = stats.median([1.0] + [2.0] * 40 + [5.0], range(42))
    assert (estimate.value, *ends(estimate)) == (2.0, 1.0, 5.0)


def test_a_median_among_censored_values_is_none() -> None:
    """A trial cut by the token limit took at least as long: it is infinite."""
    inf = math.inf
    one = stats.median([*range(1, 12), inf], range(12))
    assert (one.value, *ends(one)) == (6.5, 3, 10)
    some = stats.median([*range(1, 9), *[inf] * 4], range(12))
    assert (some.value, some.low, some.high, some.method) == (6.5, None, None, "none: censored")
    most = stats.median([*range(1, 7), *[inf] * 6], range(12))
    assert (most.value, most.low, most.n, most.method) == (None, None, 12, "none: censored")


def test_clusters_that_repeat_themselves_widen_the_median() -> None:
    values = np.arange(40.0)
    once = stats.median(values, range(40))
    again = stats.median(np.repeat(values, 5), np.repeat(np.arange(40), 5))
    assert np.ptp(ends(again)) >= np.ptp(ends(once))


@pytest.mark.parametrize(
    ("gained", "lost", "exact", "mid"),
    [
        (10, 3, 0.09228515625, 0.05737304687500002),
        (3, 10, 0.09228515625, 0.05737304687500002),
        (5, 0, 0.0625, 0.03125),
        (6, 0, 0.03125, 0.015625),
        (20, 9, 0.06142834573984146, 0.04277394525706768),
        (4, 4, 1.0, 1.0),
        (0, 0, 1.0, 1.0),
    ],
)
def test_mcnemar(gained: int, lost: int, exact: float, mid: float) -> None:
    found = stats.mcnemar(gained, lost)
    assert (found.exact_p, found.mid_p) == pytest.approx((exact, mid))


def test_so_few_flips_can_never_reject() -> None:
    assert all(stats.mcnemar(k, 5 - k).exact_p > 0.05 for k in range(6))
    assert all(stats.mcnemar(k, 4 - k).mid_p > 0.05 for k in range(5))


def test_holm_adjusts_as_statsmodels_does() -> None:
    assert stats.holm([0.01, 0.04, 0.03, 0.005, 0.2]).tolist() == pytest.approx(
        [0.04, 0.09, 0.09, 0.025, 0.2]
    )
    assert stats.holm([]).tolist() == []


outcomes = st.lists(st.sampled_from([0.5, 0.6, 2 / 3, 0.75, 1.0, 2.0]), min_size=10, max_size=60)


@given(outcomes, st.integers(1, 4))
def test_every_interval_has_width_and_holds_its_value(r: list[float], per: int) -> None:
    values = np.repeat(r, per)
    clusters = np.arange(values.size) // per
    assert is_sound(stats.r_cpt(values, clusters), 0.5, 2.0)
    assert is_sound(stats.rate(values == 1, clusters), 0.0, 1.0)
    assert is_sound(stats.paired(values, values[::-1], clusters), -1.5, 1.5)
    assert is_sound(stats.paired(values == 1, values[::-1] == 1, clusters, span=1.0), -1.0, 1.0)


@given(outcomes, st.integers(1, 3), st.sampled_from([0.5, 1.0, 1.5]))
def test_p_is_below_5_percent_where_the_interval_leaves_out_0(
    r: list[float], per: int, flat: float
) -> None:
    first = np.repeat(r, per)
    second, clusters = np.minimum(first, flat), np.arange(first.size) // per
    x = np.arange(first.size) % 3
    pairs = (
        (stats.paired(first, second, clusters), stats.paired_p(first, second, clusters)),
        (
            stats.paired(first >= 1, second >= 1, clusters, span=1),
            stats.paired_p(first >= 1, second >= 1, clusters, span=1),
        ),
        (
            stats.slope(x, first - second, clusters // 2),
            stats.slope_p(x, first - second, clusters // 2),
        ),
    )
    for estimate, p in pairs:
        assert (p is None) == (estimate.low is None)
        if p is not None:
            low, high = ends(estimate)
            assert (p < 0.05) == (low > 0 or high < 0)
            assert 0 <= p <= 1


@given(outcomes, st.integers(1, 3))
def test_order_and_labels_do_not_matter(r: list[float], per: int) -> None:
    clusters = np.arange(len(r)) // per
    order = np.random.default_rng(len(r)).permutation(len(r))
    names = [f"problem/{cluster}" for cluster in clusters[order]]
    for estimate in (stats.r_cpt, stats.mean, stats.median):
        there = estimate(r, clusters)
        here = estimate(np.asarray(r)[order], names)
        assert here.method == there.method
        assert here.value == pytest.approx(there.value)
        if there.low is not None:
            assert ends(here) == pytest.approx(ends(there))


@given(outcomes)
def test_equal_weights_are_no_weights_and_weight_0_is_no_trial(r: list[float]) -> None:
    clusters = np.arange(len(r)) // 2
    plain = stats.r_cpt(r, clusters)
    heavy = stats.r_cpt([*r, 2.0], [*clusters, 99], [0.25] * len(r) + [0.0])
    assert (heavy.n, heavy.clusters, heavy.method) == (plain.n, plain.clusters, plain.method)
    assert heavy.value == pytest.approx(plain.value)
    if plain.low is not None:
        assert ends(heavy) == pytest.approx(ends(plain))


def test_the_cores_give_for_many_data_sets_what_they_give_for_each() -> None:
    rng = np.random.default_rng(5)
    r = rng.choice([0.5, 0.75, 1.0, 2.0], size=(40, 60), p=[0.4, 0.1, 0.4, 0.1])
    weights = (rng.random((40, 60)) < 0.9).astype(np.float64)
    clusters = np.repeat(np.arange(20), 3)
    _, low, high = intervals.r_cpt(Trials(r, weights, np.arange(0, 60, 3)))
    for seed in range(40):
        one = stats.r_cpt(r[seed], clusters, weights[seed])
        assert ends(one) == pytest.approx((low[seed], high[seed]))


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = Path(__file__).parents[1] / "bench" / "coverage.py"
    spec = importlib.util.spec_from_file_location("coverage_bench", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_intervals_cover_planted_truths(bench: ModuleType) -> None:
    """A few cells of the calibration; `bench/coverage.py` has all of them."""
    cells = [
        bench.Cell("wilson", 100, adopt=(0.1,)),
        bench.Cell("rate", 50, 6, 0.5, (0.3,)),
        bench.Cell("R", 50, 6, 0.5, (0.6,), 0.1),
        bench.Cell("R", 50, 1, 0.0, (0.9,), 0.1),
        bench.Cell("R", 50, 2, 0.0, (0.9,), 0.02),
        bench.Cell("R", 50, 1, 0.0, (0.0,), 0.0034),
        bench.Cell("net adoption", 50, 6, 0.5, (0.5,), control=0.05),
        bench.Cell("net R", 50, 2, 0.5, (0.3,), 0.05),
        bench.Cell("slope", 50, 6, 0.5, bench.STRAIGHT, stop=0.2, control=0.05),
    ]
    verdicts = [
        bench.verdict(bench.coverage(cell, 1500), 1500, bench.bounds(cell)) for cell in cells
    ]
    assert verdicts == ["ok"] * len(cells)


def test_tests_err_rarely_where_nothing_differs(bench: ModuleType) -> None:
    cells = [
        bench.Cell("paired error", 20, 1, 0.0, (0.3,), control=0.3),
        bench.Cell("paired error", 50, 6, 0.5, (0.3,), control=0.3),
        bench.Cell("slope error", 20, 6, 0.5, (0.5,), control=0.5),
    ]
    verdicts = [bench.verdict(bench.errors(cell, 1500), 1500, bench.bounds(cell)) for cell in cells]
    assert verdicts == ["ok"] * len(cells)


def test_a_cell_fails_only_where_chance_cannot_explain_it(bench: ModuleType) -> None:
    assert bench.verdict(9_250, 10_000, (0.93, 0.975)) == "ok"
    assert bench.verdict(9_200, 10_000, (0.93, 0.975)) == "FAIL"
    assert bench.verdict(9_900, 10_000, (0.93, 0.975)) == "FAIL"
    assert bench.verdict(0, 10, bench.NO_BOUND) == "reported"
