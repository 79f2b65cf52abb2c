"""Tables: what is counted, over which denominator, and what is left out."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import synthetic
from misled import sheets, trials
from misled.errors import StoreError
from misled.estimates import entries, frame, write
from misled.ledger import Ledger
from misled.records import OUTCOMES, Entry
from misled.row import Row

GOLDEN = Path(__file__).parent / "golden" / "tables"
R = {1: {0: 0.5, 1: 1.0}, 2: {0: 0.5, 1: 2 / 3, 2: 1.0}, 3: {0: 0.5, 1: 0.6, 2: 0.75, 3: 1.0}}


def trial(outcome: str, problem: str = "p0", **fields: Any) -> Row:
    """A tampered trial with D_T = 1 unless told otherwise, and the r that belongs to it."""
    d_t = fields.get("d_t", 1) or 1
    adopted = {"adopted": d_t, "recovered": 0, "partial": 1, "other": 0}.get(outcome)
    r = 2.0 if outcome == "confused" else None if adopted is None else R[d_t][adopted]
    common: dict[str, Any] = {
        "arm": "tampered", "problem": problem, "set": "addition:2+2", "cluster": problem,
        "target": "m", "source": "m", "mode": "plain", "gold": "42", "feed": "reasoning",
        "attribution": "own", "method": "baseline", "structure": "intact", "channel": "user",
        "perturbation": "digits", "scope": "endings", "place": "random", "d_t": 1, "w_left": 0,
        "r_cpt": r, "r_hamming": r, "request": f"{fields.get('arm')} {problem}",
    }  # fmt: skip
    return Row(outcome=outcome, **common | fields)


def tables_of(rows: Sequence[Row]) -> list[Entry]:
    return entries(synthetic.frame(rows))


def pick(found: Sequence[Entry], table: str, metric: str, **keys: str) -> Entry:
    mine = [e for e in found if (e.table, e.metric) == (table, metric)]
    (entry,) = [e for e in mine if keys.items() <= e.keys.items()]
    return entry


def test_rates_share_the_answered_trials_and_name_what_is_left_out() -> None:
    answered = [*("recovered", "recovered", "adopted", "stopped"), "unreadable"]
    lost = ["failed", "failed", "unsupported", "not_applicable"]
    found = tables_of([trial(o, f"p{i}") for i, o in enumerate([*answered, *lost])])
    rates = {o: pick(found, "outcomes", o, arm="tampered") for o in OUTCOMES[3:]}
    assert rates["recovered"].value == pytest.approx(0.4)
    assert sum(e.value or 0 for e in rates.values()) == pytest.approx(1)
    assert {e.n for e in rates.values()} == {5}
    assert rates["adopted"].left_out == {"failed": 2, "unsupported": 1, "not_applicable": 1}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=40))
def test_every_trial_is_either_counted_or_left_out(outcomes: list[str]) -> None:
    found = tables_of([trial(o, f"p{i}") for i, o in enumerate(outcomes)])
    for entry in (e for e in found if e.table in {"outcomes", "cpt"}):
        assert entry.n + sum(entry.left_out.values()) == len(outcomes)


def test_confusion_is_split_by_reason() -> None:
    rows = [trial("confused", "a", reason="form"), trial("confused", "b", reason="digits")]
    found = tables_of([*rows, trial("recovered", "c"), trial("recovered", "d")])
    assert pick(found, "outcomes", "confused").value == pytest.approx(0.5)
    assert pick(found, "outcomes", "confused/form").value == pytest.approx(0.25)


def test_r_and_its_other_readings() -> None:
    rows = [
        trial("adopted", "a"),
        trial("recovered", "b", w_left=3),
        trial("confused", "c", reason="form"),
        trial("other", "d", r_hamming=1.0),
        trial("unreadable", "e"),
        trial("failed", "f"),
    ]
    found = tables_of(rows)
    value = {e.metric: e.value for e in found if e.table == "cpt"}
    assert value["r_cpt"] == pytest.approx((1 + 0.5 + 2 + 0.5) / 4)
    assert value["r_hamming"] == pytest.approx((1 + 0.5 + 2 + 1) / 4)
    assert value["r_cpt_without_form"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert value["r_cpt_lower"] == pytest.approx((4 + 0.5) / 5)
    assert value["r_cpt_upper"] == pytest.approx((4 + 2) / 5)
    assert value["r_cpt_w_left_0"] == pytest.approx((1 + 2 + 0.5) / 3)
    assert value["adopted_read"] == pytest.approx(1 / 4)
    assert value["adopted_w_left_0"] == pytest.approx(1 / 4)
    assert pick(found, "cpt", "r_cpt").left_out == {"failed": 1, "unreadable": 1}


def test_net_rates_are_differences_of_problem_means_answered_in_both_arms() -> None:
    rows = [
        trial("adopted", "a", sample=0),
        trial("recovered", "a", sample=1),
        trial("recovered", "a", sample=0, arm="clean"),
        trial("failed", "a", sample=1, arm="clean"),
        trial("adopted", "b"),
        trial("recovered", "b", arm="clean"),
        trial("adopted", "c"),
        trial("failed", "c", arm="clean"),
    ]
    found = tables_of(rows)
    adoption = pick(found, "net", "net_adoption", against="clean")
    assert adoption.value == pytest.approx((0.5 + 1) / 2)
    assert adoption.n == 2
    assert adoption.left_out == {"clean failed": 2}
    assert pick(found, "net", "net_recovery", against="clean").value == pytest.approx(
        ((0.5 - 1) + (0 - 1)) / 2
    )


def test_net_r_is_over_pairs_with_an_r_in_both() -> None:
    rows = [
        trial("adopted", "a", sample=0),
        trial("recovered", "a", sample=1),
        trial("unreadable", "a", sample=0, arm="clean"),
        trial("recovered", "a", sample=1, arm="clean"),
        trial("adopted", "b"),
        trial("other", "b", arm="clean"),
    ]
    net = pick(tables_of(rows), "net", "net_r", against="clean")
    assert net.value == pytest.approx(((0.5 - 0.5) + (1 - 0.5)) / 2)
    assert net.left_out == {"clean unreadable": 1}


def test_pooling_weighs_degrees_equally_within_a_problem_and_problems_equally() -> None:
    rows = [
        *(trial("adopted", "a", sample=i) for i in range(3)),
        trial("recovered", "a", d_t=2),
        trial("recovered", "b"),
        trial("unreadable", "b", d_t=2),
    ]
    found = tables_of(rows)
    adopted = pick(found, "pooled", "adopted")
    assert adopted.keys["d_t"] == "1-2"
    assert adopted.value == pytest.approx((0.5 + 0) / 2)
    assert adopted.n == 6
    assert pick(found, "pooled", "r_cpt").value == pytest.approx((0.75 + 0.5) / 2)


def test_pooled_net_averages_degrees_within_a_problem() -> None:
    rows = [
        trial("adopted", "a"),
        trial("recovered", "a", arm="clean"),
        trial("recovered", "a", d_t=2),
        trial("recovered", "a", d_t=2, arm="clean"),
    ]
    net = pick(tables_of(rows), "pooled", "net_adoption", against="clean")
    assert net.value == pytest.approx(0.5)
    assert (net.n, net.keys["d_t"]) == (1, "1-2")


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def by_hand(rows: Sequence[Row], score: str) -> dict[tuple[str, str, int], list[float]]:
    """Every known score by arm, problem and D_T, as the protocol's text has it."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        if score == "r_cpt":
            value = row.r_cpt
        else:
            answered = row.outcome not in {"failed", "unsupported", "not_applicable"}
            value = float(row.outcome == score) if answered else None
        if value is not None and row.d_t is not None and row.method == "baseline":
            found.setdefault((row.arm, row.problem, row.d_t), []).append(value)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_of_a_whole_run_are_those_of_plain_arithmetic(seed: int) -> None:
    run = synthetic.Run(problems=15, degrees=(1, 2, 3), samples=3, seed=seed, methods=("baseline",))
    rows = list(synthetic.trials(run))
    found = tables_of(rows)
    problems = sorted({row.problem for row in rows if row.arm == "tampered"})
    for score, net in (("adopted", "net_adoption"), ("recovered", "net_recovery")):
        known = by_hand(rows, score)
        pairs = {
            (p, d): mean(known["tampered", p, d]) - mean(known["clean", p, d])
            for p in problems
            for d in run.degrees
            if ("tampered", p, d) in known and ("clean", p, d) in known
        }
        cell = mean([v for (_, d), v in pairs.items() if d == 2])
        assert pick(found, "net", net, against="clean", d_t="2").value == pytest.approx(cell)
        over = [mean([v for (q, _), v in pairs.items() if q == p]) for p in problems]
        assert pick(found, "pooled", net, against="clean").value == pytest.approx(mean(over))
    r = by_hand(rows, "r_cpt")
    degrees = {p: [d for d in run.degrees if ("tampered", p, d) in r] for p in problems}
    over = [mean([mean(r["tampered", p, d]) for d in ds]) for p, ds in degrees.items() if ds]
    assert pick(found, "pooled", "r_cpt").value == pytest.approx(mean(over))
    cell = mean([x for (arm, _, d), xs in r.items() if (arm, d) == ("tampered", 3) for x in xs])
    assert pick(found, "cpt", "r_cpt", d_t="3").value == pytest.approx(cell)


def test_a_control_reply_is_counted_once_by_itself() -> None:
    rows = []
    for d_t in (1, 2):
        for method in ("baseline", "uncertainty"):
            cell = {"d_t": d_t, "method": method}
            rows += [
                trial("recovered", "a", **cell),
                trial("other", "a", arm="again", request="again a", **cell),
                trial("recovered", "b", **cell),
                trial("recovered", "b", arm="again", request="again b", **cell),
                trial("not_applicable", "c", request=None, **cell),
            ]
    found = tables_of(rows)
    wrong = pick(found, "controls", "wrong", arm="again")
    assert wrong.value == pytest.approx(0.5)
    assert wrong.n == 2
    assert "method" not in wrong.keys
    assert pick(found, "outcomes", "other", arm="again", method="baseline", d_t="2").n == 2


def test_eligibility_says_why_a_problem_was_left_out() -> None:
    alone: dict[str, Any] = dict.fromkeys(
        ("method", "structure", "channel", "perturbation", "scope", "place", "d_t", "r_cpt")
    )
    rows = [
        *(trial("recovered", p, arm="source", **alone) for p in ("a", "b", "c")),
        trial("other", "d", arm="source", **alone),
        trial("recovered", "e", arm="source", reason="chain_result", **alone),
        trial("recovered", "a", arm="gate", **alone),
        trial("other", "b", arm="gate", **alone),
        trial("failed", "c", arm="gate", **alone),
    ]
    found = tables_of(rows)
    eligible = pick(found, "eligibility", "eligible", mode="plain")
    assert eligible.value == pytest.approx(0.2)
    assert eligible.n == 5
    assert eligible.left_out == {
        "gate_failed": 1, "gate_wrong": 1, "source_chain_result": 1, "source_wrong": 1,
    }  # fmt: skip
    assert pick(found, "eligibility", "source_right").value == pytest.approx(0.6)
    gate = pick(found, "eligibility", "gate_passed")
    assert gate.value == pytest.approx(0.5)
    assert (gate.n, gate.left_out) == (2, {"failed": 1})


def test_an_unsupported_cell_has_a_reason_and_no_number() -> None:
    rows = [trial("unsupported", f"p{i}", reason="prefix: cannot") for i in range(12)]
    found = tables_of([*rows, trial("recovered", "q", method="uncertainty")])
    mine = [e for e in found if e.keys.get("method") == "baseline"]
    assert {"outcomes", "cpt", "pooled", "figure4"} <= {e.table for e in mine}
    for entry in mine:
        assert (entry.value, entry.low, entry.high, entry.n) == (None, None, None, 0)
        assert entry.method == "unsupported: prefix: cannot"


def test_output_is_never_pooled_with_reasoning() -> None:
    found = tables_of([trial("adopted", "a"), trial("recovered", "b", feed="output")])
    assert pick(found, "pooled", "adopted", feed="reasoning").value == 1
    assert pick(found, "pooled", "adopted", feed="output").value == 0


def test_an_inserted_digit_gives_outcomes_and_no_r() -> None:
    row = trial("confused", reason="form", perturbation="insert_digit", d_t=1)
    found = tables_of([trial("adopted", perturbation="insert_digit", d_t=1, r_cpt=None), row])
    metrics = {e.metric for e in found}
    assert not {m for m in metrics if m.startswith("r_") or m == "net_r"}
    assert {"adopted", "adopted_read"} <= metrics


def test_figure_4_and_its_twin_are_the_points_of_the_tables() -> None:
    found = entries(synthetic.rows(synthetic.Run(problems=12, degrees=(1, 2))))
    for figure, table, metric in (("figure4", "cpt", "r_cpt"), ("figure4_net", "net", "net_r")):
        points = {(tuple(e.keys.items()), e.value, e.low) for e in found if e.table == figure}
        cells = {
            (tuple(e.keys.items()), e.value, e.low)
            for e in found
            if (e.table, e.metric) == (table, metric) and e.keys.get("against") != "again"
        }
        assert points == cells


def test_the_order_of_rows_changes_nothing() -> None:
    rows = list(synthetic.trials(synthetic.Run(problems=12, degrees=(1, 2), samples=2)))
    expected = tables_of(rows)
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        assert tables_of(rows) == expected


def test_a_ledger_gives_the_tables_of_its_frame_and_makes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = synthetic.Run(methods=("baseline",), degrees=(1,), problems=12, samples=2)
    rows = list(synthetic.trials(run))
    units, ledger = [rows[i : i + 40] for i in range(0, len(rows), 40)], Ledger()
    for number in reversed(range(len(units))):
        ledger.add(number, units[number])
        assert len(ledger["arm"]) == sum(map(len, units[number:]))
    expected = entries(ledger.frame())
    assert expected == tables_of(rows)
    monkeypatch.delattr(Ledger, "frame")
    assert entries(ledger) == expected


def test_how_many_lines_are_held_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    run = synthetic.Run(methods=("baseline", "prefix"), problems=12, degrees=(1, 2))
    whole = entries(synthetic.rows(run))
    assert len(list(trials.parts(trials.prepare(synthetic.rows(run)), trials.GROUP))) == 1
    monkeypatch.setattr(trials, "PART", 1)
    assert len(list(trials.parts(trials.prepare(synthetic.rows(run)), trials.GROUP))) > 1
    assert entries(synthetic.rows(run)) == whole


def test_no_rows_give_no_entries() -> None:
    assert entries(Ledger()) == []
    assert frame([]).height == 0


def test_the_frame_has_a_column_a_field() -> None:
    table = frame(tables_of([trial("adopted"), trial("failed", "b")]))
    assert table.columns == list(Entry.__struct_fields__)
    keys = table["keys"].struct.field("method")
    assert set(keys.drop_nulls()) == {"baseline"}


def golden_run() -> list[Entry]:
    """What the golden tables hold; `python tests/test_estimates.py` writes them anew."""
    run = synthetic.Run(
        targets=("planted/credulous", "acme/closed"), cannot_prefix=("acme/closed",),
        methods=("baseline", "prefix"), problems=20, degrees=(1, 2), seed=3,
    )  # fmt: skip
    return entries(synthetic.rows(run))


def test_tables_are_the_golden_ones_byte_for_byte(tmp_path: Path) -> None:
    write(golden_run(), tmp_path)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_bytes() for path in GOLDEN.iterdir()}


def test_a_table_that_cannot_be_written_says_so_and_keeps_the_old_one(tmp_path: Path) -> None:
    found = tables_of([trial("adopted")])
    write(found, tmp_path)
    (tmp_path / ".pooled.csv.part").mkdir()
    before = (tmp_path / "pooled.csv").read_bytes()
    with pytest.raises(StoreError, match=r"cannot write .*pooled\.csv"):
        write(found, tmp_path)
    assert (tmp_path / "pooled.csv").read_bytes() == before


def test_below_ten_problems_the_value_stands_alone() -> None:
    found = tables_of([trial("adopted", f"p{i}") for i in range(9)])
    entry = pick(found, "outcomes", "adopted")
    assert (entry.value, entry.low) == (1, None)
    assert sheets.show(entry) == "1.000 (n < 10 problems)"


def test_numbers_have_ten_digits_in_csv_and_three_in_markdown() -> None:
    found = tables_of([trial(o, f"p{i}") for i, o in enumerate(["adopted", *["recovered"] * 29])])
    adopted = [pick(found, "outcomes", "adopted")]
    assert ",0.03333333333," in sheets.csv_text(adopted)
    assert "| 0.033 [" in sheets.markdown(sheets.sheet(adopted))


def test_a_name_cannot_break_a_table() -> None:
    rows = [trial("adopted", target="a|b\u202e,\n<i>x"), trial("adopted", target="m")]
    adopted = [e for e in tables_of(rows) if (e.table, e.metric) == ("pooled", "adopted")]
    (line,) = [x for x in sheets.markdown(sheets.sheet(adopted)).splitlines() if "202E" in x]
    assert line.startswith(r"| a\|b⟨U+202E⟩, \<i>x | ")
    assert sheets.csv_text(adopted).count("\u202e") == 0


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\u200b", "\u2066", "\ufeff", "\ud800", "\u3164"])
def test_what_cannot_be_seen_is_written_out(sign: str) -> None:
    assert sheets.visible(f"a{sign}b") == f"a⟨U+{ord(sign):04X}⟩b"


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    kinds = {unicodedata.category(sign) for sign in sheets.visible(text) if sign not in "\n\t"}
    assert not kinds & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


def test_what_can_be_seen_stays() -> None:
    assert sheets.visible("12\u202f345 = 六, é") == "12\u202f345 = 六, é"


if __name__ == "__main__":
    write(golden_run(), GOLDEN)
