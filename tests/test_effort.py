"""Effort: medians, ratios and their floor, with truncated replies as bounds and none as values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import synthetic
from misled import conduct, effort, exhibits_effort
from misled.records import Entry
from misled.row import Row
from misled.trials import prepare

WHERE = {
    "feed": "reasoning", "attribution": "own", "method": "baseline", "structure": "intact",
    "channel": "user", "perturbation": "digits", "scope": "endings", "place": "random", "d_t": 1,
}  # fmt: skip


def reply(arm: str, problem: int, tokens: int | None, **fields: Any) -> Row:
    """A reply of so many tokens, 9 of 10 of them reasoning."""
    spent = {} if tokens is None else {
        "completion_tokens": tokens, "reasoning_tokens": tokens - tokens // 10,
        "answer_tokens": tokens // 10, "seconds": tokens / 100,
    }  # fmt: skip
    where = {} if arm == "gate" else WHERE
    common: dict[str, Any] = {
        "arm": arm, "problem": f"{problem:04}", "set": "addition:2+2", "cluster": f"{problem:04}",
        "target": "m", "source": "m", "mode": "plain", "gold": "42", "outcome": "recovered",
        "request": f"{arm} {problem}", "prompt_tokens": 50 + problem,
    }  # fmt: skip
    return Row(**common | where | spent | fields)


def trials(rows: Sequence[Row]) -> pl.DataFrame:
    return prepare(synthetic.frame(rows))


def a_run(tokens: Callable[[str, int], int], n: int = 40, **fields: Any) -> list[Row]:
    arms = ("gate", "again", "clean", "tampered")
    return [reply(arm, i, tokens(arm, i), **fields) for i in range(n) for arm in arms]


def pick(found: Sequence[Entry], metric: str, **keys: str) -> Entry:
    (line,) = [e for e in found if e.metric == metric and keys.items() <= e.keys.items()]
    return line


def test_medians_of_each_arm_with_order_statistics() -> None:
    rows = a_run(lambda arm, i: {"gate": 1000, "again": 2000}.get(arm, 3000) + 10 * (i - 20), 41)
    found = effort.effort(trials(rows))
    for arm, middle in (("gate", 1000), ("again", 2000), ("clean", 3000), ("tampered", 3000)):
        line = pick(found, "total_tokens", arm=arm)
        assert (line.value, line.low, line.high) == (middle, middle - 70, middle + 70)
        assert (line.n, line.left_out, line.method) == (41, {}, "order statistics")
    assert pick(found, "seconds", arm="gate").value == 10.0
    assert pick(found, "reasoning_tokens", arm="gate").value == 900
    assert pick(found, "answer_tokens", arm="gate").value == 100


def test_only_problems_that_were_probed_count() -> None:
    rows = [*a_run(lambda *_: 100, 12), *(reply("gate", i, 900) for i in range(50, 90))]
    assert pick(effort.effort(trials(rows)), "total_tokens", arm="gate").value == 100


def test_a_reply_that_is_graded_in_many_cells_counts_once() -> None:
    rows = a_run(lambda _, i: 100 + i, 12)
    rows += [reply(arm, i, 100 + i, d_t=2) for arm in ("again", "clean") for i in range(12)]
    rows += [reply("tampered", i, 300 + i, d_t=2, request=f"two {i}") for i in range(12)]
    found = effort.effort(trials(rows))
    assert pick(found, "total_tokens", arm="again").n == 12
    assert pick(found, "total_tokens", arm="clean").n == 12
    by_degree = {d: pick(found, "total_tokens", arm="tampered", d_t=d) for d in ("1-2", "1", "2")}
    assert {d: line.n for d, line in by_degree.items()} == {"1-2": 24, "1": 12, "2": 12}
    pooled = pick(effort.ratios(trials(rows)), "tokens_ratio", arm="tampered", to="gate")
    assert (pooled.keys["d_t"], pooled.n, pooled.clusters) == ("1-2", 24, 12)


def test_ratios_pair_problems_and_stand_beside_their_floor() -> None:
    size = {"gate": 1.0, "again": 1.1, "clean": 0.8, "tampered": 0.3}
    rows = a_run(lambda arm, i: round(size[arm] * 1000 * (1 + i)))
    found = effort.ratios(trials(rows))
    gate = {"arm": "tampered", "to": "gate"}
    assert pick(found, "tokens_ratio", **gate).value == pytest.approx(0.3)
    assert pick(found, "tokens_ratio", arm="tampered", to="again").value == pytest.approx(3 / 11)
    assert pick(found, "tokens_ratio", arm="again", to="gate").value == pytest.approx(1.1)
    assert pick(found, "tokens_below_1", **gate).value == 1
    assert pick(found, "tokens_below_04", **gate).value == 1
    assert pick(found, "tokens_below_04", arm="clean", to="gate").value == 0
    assert pick(found, "net_tokens_below_1", **gate).value == 1
    assert pick(found, "seconds_ratio", **gate).value == pytest.approx(0.3)
    assert not [e for e in found if e.keys["arm"] == "again" and e.metric.startswith("net_")]


def test_of_two_equal_arms_half_the_ratios_lie_below_1_and_the_net_is_0() -> None:
    rng = np.random.default_rng(5)
    draws = {arm: rng.lognormal(6, 0.5, 400) for arm in ("gate", "again", "clean", "tampered")}
    found = effort.ratios(trials(a_run(lambda arm, i: round(draws[arm][i]), 400)))
    share = pick(found, "tokens_below_1", arm="tampered", to="gate")
    net = pick(found, "net_tokens_below_1", arm="tampered", to="gate")
    assert share.low is not None
    assert share.high is not None
    assert share.low < 0.5 < share.high
    assert net.low is not None
    assert net.high is not None
    assert net.low < 0 < net.high
    assert net.method == "Bonett-Price"


def test_a_truncated_reply_is_a_bound_and_no_value() -> None:
    few = [reply("tampered", i, 500, outcome="truncated", request=f"t {i}") for i in range(40, 45)]
    rows = a_run(lambda _, i: 100 + i)
    for arm in ("gate", "again"):
        rows += [reply(arm, i, 100 + i) for i in range(40, 45)]
    line = pick(effort.effort(trials([*rows, *few])), "total_tokens", arm="tampered")
    assert (line.value, line.n, line.left_out) == (122, 40, {"truncated": 5})
    low = [row for row in few if row.outcome == "truncated"]
    cut_early = [
        reply("tampered", i, 10, outcome="truncated", request=f"t {i}") for i in range(40, 45)
    ]
    line = pick(effort.effort(trials([*rows, *cut_early])), "total_tokens", arm="tampered")
    assert (line.value, line.low, line.high) == (None, None, None)
    assert line.method == "none: censored, at least 117 and at most 122"
    ratio = pick(effort.ratios(trials([*rows, *low])), "tokens_below_1", arm="tampered", to="gate")
    assert (ratio.n, ratio.value, ratio.left_out) == (45, 0, {})
    ratio = pick(
        effort.ratios(trials([*rows, *cut_early])), "tokens_below_1", arm="tampered", to="gate"
    )
    assert (ratio.n, ratio.left_out) == (40, {"truncated": 5})


def test_a_median_among_truncated_replies_is_not_given() -> None:
    rows = a_run(lambda _, i: 100 + i, 12)
    rows = [row for row in rows if row.arm != "tampered"]
    rows += [reply("tampered", i, 512, outcome="truncated") for i in range(8)]
    rows += [reply("tampered", i, 80) for i in range(8, 12)]
    line = pick(effort.effort(trials(rows)), "total_tokens", arm="tampered")
    assert (line.value, line.method) == (None, "none: censored, at least 512")
    assert line.left_out == {"truncated": 8}


def test_reasoning_is_whole_where_the_cut_came_in_the_answer() -> None:
    rows = a_run(lambda *_: 100, 12)
    rows = [row for row in rows if row.arm != "tampered"]
    rows += [reply("tampered", i, 200 + i, outcome="truncated") for i in range(12)]
    found = effort.effort(trials(rows))
    assert pick(found, "reasoning_tokens", arm="tampered").value == 185.5
    assert pick(found, "answer_tokens", arm="tampered").value is None


def test_tokens_of_two_tokenizers_never_meet() -> None:
    rows = a_run(lambda *_: 100, 12)
    rows = [row for row in rows if row.arm != "tampered"]
    rows += [reply("tampered", i, 50, counted=True) for i in range(12)]
    assert not [e for e in effort.ratios(trials(rows)) if e.keys["arm"] == "tampered"]
    found = effort.effort(trials(rows))
    assert pick(found, "total_tokens", arm="tampered", tokens="counted").value == 50


def test_what_we_counted_adds_up_and_what_the_server_counted_is_its_own() -> None:
    odd: dict[str, Any] = {"completion_tokens": 170, "reasoning_tokens": 60, "answer_tokens": 40}
    rows = [
        reply(arm, i, 9, counted=True, **odd) for arm in ("gate", "tampered") for i in range(12)
    ]
    assert pick(effort.effort(trials(rows)), "total_tokens", arm="gate").value == 100
    odd |= {"answer_tokens": None}
    rows = [reply(arm, i, 9, **odd) for arm in ("gate", "tampered") for i in range(12)]
    found = effort.effort(trials(rows))
    assert pick(found, "total_tokens", arm="gate").value == 170
    assert pick(found, "answer_tokens", arm="gate").value == 110


def test_planted_replies_have_no_seconds() -> None:
    rows = a_run(lambda *_: 100, 12, seconds=0.0)
    trial_frame = trials(rows)
    assert not [e for e in effort.effort(trial_frame) if e.metric == "seconds"]
    assert not [e for e in effort.ratios(trial_frame) if e.metric.startswith("seconds")]


def test_what_has_no_tokens_or_no_partner_is_left_out_by_name() -> None:
    rows = a_run(lambda *_: 100, 12)
    rows += [reply("tampered", 20, None, outcome="failed"), reply("tampered", 21, None)]
    rows += [reply("tampered", 22, 100), reply("tampered", 23, 100)]
    rows += [reply("gate", 23, None)]
    found = effort.ratios(trials(rows))
    line = pick(found, "tokens_ratio", arm="tampered", to="gate")
    assert line.n == 12
    assert line.left_out == {"failed": 1, "gate unasked": 2, "gate uncounted": 1}


def test_samples_pair_with_their_own_again() -> None:
    rows = a_run(lambda *_: 100, 12)
    for sample in (1, 2):
        more = {"sample": sample}
        rows += [
            reply("again", i, 100 * (sample + 1), request=f"a{sample} {i}", **more)
            for i in range(12)
        ]
        rows += [
            reply("tampered", i, 50 * (sample + 1), request=f"t{sample} {i}", **more)
            for i in range(12)
        ]
    rows = [row for row in rows if (row.arm, row.sample) != ("tampered", 0)]
    line = pick(effort.ratios(trials(rows)), "tokens_ratio", arm="tampered", to="again")
    assert (line.value, line.n, line.clusters) == (0.5, 24, 12)


def test_a_difference_to_again_is_what_the_floor_leaves_of_that_to_the_gate() -> None:
    more = {"gate": 0, "again": 40, "clean": -100, "tampered": 300}
    wide = {"gate": 5, "again": 6, "clean": 8, "tampered": 9}
    rows = a_run(lambda arm, i: 1000 + more[arm] + (i - 20) * wide[arm], 41)
    found = effort.differences(trials(rows))
    for arm, to, middle in (
        ("again", "gate", 40), ("clean", "again", -140), ("tampered", "again", 260)
    ):  # fmt: skip
        line = pick(found, "net_total_tokens", arm=arm, to=to)
        assert (line.value, line.n, line.method) == (middle, 41, "order statistics")
        assert line.low is not None
        assert line.low <= middle
    line = pick(found, "net_total_tokens", arm="tampered")
    assert (line.low, line.high) == (260 - 7 * 3, 260 + 7 * 3)
    assert pick(found, "net_seconds", arm="again").value == pytest.approx(0.4)
    parts = [
        pick(found, f"net_{part}_tokens", arm="tampered").value for part in ("reasoning", "answer")
    ]
    assert parts == [234, 26]


def test_a_cut_reply_bounds_a_difference_from_the_side_that_it_is_on() -> None:
    rows = [*a_run(lambda arm, i: 100 + i + 50 * (arm == "tampered"), 20)]
    cut = {"tampered": range(20, 23), "again": range(23, 26)}
    for arm in ("gate", "again", "tampered"):
        rows += [
            reply(arm, i, 110, outcome="truncated" if i in cut.get(arm, ()) else "recovered")
            for i in range(20, 26)
        ]
    rows += [reply(arm, 26, 110, outcome="truncated") for arm in ("again", "tampered")]
    line = pick(effort.differences(trials(rows)), "net_total_tokens", arm="tampered")
    assert (line.value, line.n, line.clusters) == (50, 20, 27)
    assert line.left_out == {"truncated": 7}
    rows += [reply("gate", i, 10, request=f"g{i}") for i in range(40, 70)]
    rows += [reply("again", i, 900, outcome="truncated") for i in range(40, 70)]
    rows += [reply("tampered", i, 10, request=f"t{i}") for i in range(40, 70)]
    line = pick(effort.differences(trials(rows)), "net_total_tokens", arm="tampered")
    assert (line.value, line.low, line.high) == (None, None, None)
    assert line.method == "none: censored, at most -890"


def test_net_differences_pair_samples_with_their_own_again() -> None:
    rows = [reply("gate", i, 100) for i in range(12)]
    for sample in (0, 1):
        more = {"sample": sample}
        rows += [reply("again", i, 100 + 500 * sample, request=f"a{sample}{i}", **more)
                 for i in range(12)]  # fmt: skip
        rows += [reply("tampered", i, 90 + 500 * sample, request=f"t{sample}{i}", **more)
                 for i in range(12)]  # fmt: skip
    line = pick(effort.differences(trials(rows)), "net_total_tokens", arm="tampered")
    assert (line.value, line.n, line.clusters) == (-10, 24, 12)


def test_figure_7_and_its_net_twin_are_of_intact_chains_over_all_degrees() -> None:
    rows = a_run(lambda _, i: 100 + i, 12)
    more: dict[str, dict[str, Any]] = {"d": {"d_t": 2}, "s": {"structure": "insert"}}
    for word, keys in more.items():
        rows += [reply("tampered", i, 300 + i, request=f"{word}{i}", **keys) for i in range(12)]
    frame = trials(rows)
    found = exhibits_effort.figure7(effort.effort(frame), effort.differences(frame))
    for table, quantity in (("figure7", "total_tokens"), ("figure7_net", "net_total_tokens")):
        (line,) = [
            e for e in found if (e.table, e.metric, e.keys["arm"]) == (table, quantity, "tampered")
        ]
        assert (line.keys["d_t"], line.n) == ("1-2", 24)
    assert {e.keys.get("structure", "intact") for e in found} == {"intact"}


def test_figure_6_has_the_trials_tokens_and_net_beside_the_medians_of_its_cell() -> None:
    size = {"gate": 1000, "again": 1100, "clean": 500}
    frame = trials(a_run(lambda arm, i: size.get(arm, 100 + i), 21))
    nets = effort.differences(frame)
    found = exhibits_effort.figure6(effort.typical(frame), nets)
    plain = {e.keys["arm"]: e.value for e in found
             if (e.table, e.metric) == ("figure6", "total_tokens")}  # fmt: skip
    assert plain == {"gate": 1000, "again": 1100, "tampered": 110}
    net = [e for e in found if (e.table, e.metric) == ("figure6_net", "net_total_tokens")]
    assert [(e.keys["arm"], e.keys["of"], e.value, e.n, e.low is None) for e in net] == [
        ("again", "this trial", 100, 1, True),
        ("tampered", "this trial", -990, 1, True),
        ("again", "all problems", 100, 21, True),
        ("tampered", "all problems", -990, 21, False),
    ]


def test_figure_6_has_no_net_without_the_question_alone_again() -> None:
    rows = [row for row in a_run(lambda _, i: 100 + i, 12) if row.arm != "again"]
    frame = trials(rows)
    assert effort.differences(frame) == []
    found = exhibits_effort.figure6(effort.typical(frame), [])
    assert {e.table for e in found} == {"figure6"}
    cut = [reply("again", i, 100, outcome="truncated") for i in range(12)]
    (shown,) = effort.typical(trials([*rows, *cut]))
    assert (shown.again_tokens, shown.again_seconds) == (None, None)


def test_the_trial_of_figure_6_is_of_an_intact_chain_where_there_is_one() -> None:
    rows = a_run(lambda arm, i: 1000 if arm == "gate" else 100 + i, 11)
    rows += [reply("tampered", i, 5, request=f"s{i}", structure="insert") for i in range(11)]
    (found,) = effort.typical(trials(rows))
    assert (found.keys["structure"], found.problem) == ("intact", "0005")


def test_strips_are_what_the_medians_were_made_of() -> None:
    frame = trials(a_run(lambda _, i: 100 + i, 15))
    medians = {
        (e.metric, tuple(e.keys.items())): e
        for e in (*effort.effort(frame), *effort.differences(frame))
    }
    found = effort.strips(frame)
    assert {(s.quantity, tuple(s.keys.items())) for s in found} == set(medians)
    for strip in found:
        line = medians[strip.quantity, tuple(strip.keys.items())]
        assert (len(strip.values), float(np.median(strip.values))) == (line.n, line.value)


def test_the_typical_trial_has_the_median_ratio() -> None:
    rows = a_run(lambda arm, i: 1000 if arm == "gate" else 100 + i, 21)
    (found,) = effort.typical(trials(rows))
    assert found.problem == "0010"
    assert found.ratio == pytest.approx(0.11)
    assert (found.gate_request, found.request) == ("gate 10", "tampered 10")
    assert (found.gate_tokens, found.tokens) == ((900, 100), (99, 11))
    assert found.keys["d_t"] == "1"
    assert effort.typical(trials([row for row in rows if row.arm != "tampered"])) == []


def test_rows_in_another_order_give_the_same_lines() -> None:
    rows = a_run(lambda arm, i: 100 + i * len(arm), 12)
    first, second = trials(rows), trials(rows[::-1])
    assert effort.effort(first) == effort.effort(second)
    assert effort.ratios(first) == effort.ratios(second)
    assert effort.differences(first) == effort.differences(second)
    assert effort.typical(first) == effort.typical(second)


def test_no_rows_give_no_lines() -> None:
    frame = trials(a_run(lambda *_: 1, 1)).clear()
    tables = (effort.effort, effort.ratios, effort.differences, conduct.stops, conduct.flagged)
    for table in tables:
        assert table(frame) == []


def test_stops_are_the_models_own_ends_by_set_arm_and_length() -> None:
    rows = a_run(lambda *_: 100, 30)
    for i in range(30):
        outcome = "stopped" if i >= 20 else "truncated" if i >= 15 else "recovered"
        rows.append(reply("replay", i, 0, outcome=outcome, method=None, d_t=None))
        rows.append(reply("replay", i, 0, outcome="recovered", set="word", method=None, d_t=None))
    found = conduct.stops(trials(rows))
    whole = [e for e in found if e.keys["arm"] == "replay" and "prompt_tokens" not in e.keys]
    assert {e.keys["set"]: e.value for e in whole} == {"addition:2+2": 1 / 3, "word": 0}
    assert all(e.n == 30 and e.method.startswith("Wilson") for e in whole)
    thirds = [e for e in found if e.keys["arm"] == "replay" and "prompt_tokens" in e.keys]
    assert [(e.keys["set"], e.keys["prompt_tokens"], e.value) for e in thirds] == [
        ("addition:2+2", "50-59", 0), ("addition:2+2", "60-69", 0), ("addition:2+2", "70-79", 1),
        ("word", "50-59", 0), ("word", "60-69", 0), ("word", "70-79", 0),
    ]  # fmt: skip
    probes = [e for e in found if e.keys["arm"] == "tampered"]
    assert [(e.n, e.value, e.keys.get("prompt_tokens")) for e in probes] == [(30, 0, None)]


def test_a_stop_rate_leaves_out_what_was_not_answered() -> None:
    rows = [reply("replay", i, None, outcome="failed" if i < 4 else "stopped") for i in range(20)]
    line = conduct.stops(trials(rows))[0]
    assert (line.value, line.n, line.left_out) == (1, 16, {"failed": 4})


def test_flags_are_rates_of_the_answered_trials_and_controls_count_once() -> None:
    rows = a_run(lambda *_: 100, 20)
    rows += [reply("clean", i, 100, d_t=2) for i in range(20)]
    rows = [
        Row(**{f: getattr(row, f) for f in Row.__struct_fields__} | {"flags": ("loop",)})
        if row.arm in {"tampered", "clean"} and int(row.problem) < 5
        else row
        for row in rows
    ]
    rows += [reply("tampered", 30, None, outcome="failed")]
    found = conduct.flagged(trials(rows))
    for arm, n in (("tampered", 20), ("clean", 20), ("gate", 20)):
        line = pick(found, "loop", arm=arm)
        assert (line.value, line.n) == (0 if arm == "gate" else 0.25, n)
    assert pick(found, "loop", arm="tampered").left_out == {"failed": 1}
    assert pick(found, "knew_better", arm="tampered").value == 0


def test_outcomes_are_given_with_and_without_answers_that_were_filed_as_reasoning() -> None:
    rows = a_run(lambda *_: 100, 20)
    assert conduct.answers_in_reasoning(trials(rows)) == []
    rows += [
        reply("tampered", i, 100, outcome="adopted", flags=("answer_in_reasoning",))
        for i in range(20, 30)
    ]
    found = conduct.answers_in_reasoning(trials(rows))
    assert {e.keys["arm"] for e in found} == {"tampered"}
    assert pick(found, "adopted", answers="all").value == pytest.approx(1 / 3)
    apart = pick(found, "adopted", answers="in content")
    assert (apart.value, apart.n, apart.left_out) == (0, 20, {"answer_in_reasoning": 10})
