"""The trials of a run as a list: ids, columns, what a report holds of them and what not."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from misled import embedding, judgements, pages, report, trial_index
from misled.embedding import embedded, shared
from misled.explorer import Trials
from misled.flips import FLIPS
from misled.trials import ANSWERED, CELL, VALUED, pairs, prepare
from trial_runs import CPT, JUDGE, Run, carried

# Columns that say a field of the rows in other words.
CALLED = ("transition", "label", "flags", "outcome", "counted")
HOSTILE = '</script><script>alert(1)</script><!-- \u2028\u2029 \u202e & "'


@pytest.fixture(scope="module")
def cpt(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return carried(CPT, tmp_path_factory.mktemp("cpt"))


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return carried(JUDGE, tmp_path_factory.mktemp("judge"))


@pytest.fixture(params=["cpt", "judge"])
def run(request: pytest.FixtureRequest) -> Run:
    found: Run = request.getfixturevalue(request.param)
    return found


def unpacked(text: str, kind: str) -> list[Any]:
    raw = gzip.decompress(base64.b64decode(text))
    return list(np.frombuffer(raw, kind).tolist())


def column(index: dict[str, Any], name: str) -> list[Any]:
    """A column of the index as the page reads it."""
    found = next(each for each in index["columns"] if each["name"] == name)
    if found["kind"] == "number":
        return [None if math.isnan(x) else x for x in unpacked(found["data"], "<f4")]
    size = len(gzip.decompress(base64.b64decode(found["codes"]))) // index["n"]
    return [found["values"][code] for code in unpacked(found["codes"], f"<u{size}")]


# --- ids ---------------------------------------------------------------------------------------


def test_every_trial_has_an_id_of_its_own(run: Run) -> None:
    assert len({*run.trials.ids}) == run.rows.height
    assert {len(each) for each in run.trials.ids} == {8}


def test_an_id_does_not_depend_on_the_place_or_on_other_trials(run: Run) -> None:
    study = run.session.plan.study
    whole = run.trials.ids
    order = pl.Series(np.random.default_rng(0).permutation(run.rows.height)[: run.rows.height // 2])
    part = trial_index.identities(run.rows[order], study)
    assert part == [whole[i] for i in order]


def test_the_same_plan_gives_the_same_ids_in_any_run(judge: Run, tmp_path: Path) -> None:
    assert carried(JUDGE, tmp_path).trials.ids == judge.trials.ids


def test_coordinates_that_read_alike_when_joined_have_other_ids() -> None:
    names = dict.fromkeys(trial_index.IDENTITY["judge"], "x") | {"sample": 0, "k": 0}
    frame = pl.DataFrame([names | {"set": "a:1", "problem": "b"},
                          names | {"set": "a", "problem": "1:b"}])  # fmt: skip
    assert len({*trial_index.identities(frame, "judge")}) == 2


# --- columns -----------------------------------------------------------------------------------


def test_the_columns_say_what_the_rows_say(run: Run) -> None:
    study = run.session.plan.study
    index = json.loads(pages.shown(run.trials.index({"mode": "served"})))
    assert (index["study"], index["n"]) == (study, run.rows.height)
    ids = gzip.decompress(base64.b64decode(index["ids"]))
    assert [ids[i : i + 8] for i in range(0, len(ids), 8)] == run.trials.ids
    names = [each["name"] for each in index["columns"]]
    for name in (*trial_index.FACETS[study], *trial_index.TEXTS[study]):
        if name in {*CALLED, "question", "accepted"}:
            continue
        want = run.rows[name].to_list()
        assert (name in names) == any(value is not None for value in want)
        if name in names:
            assert column(index, name) == want
    for name in trial_index.NUMBERS[study]:
        if name in names:
            assert column(index, name) == run.rows[name].cast(pl.Float32).to_list()


def test_the_page_opens_on_what_was_tampered_or_judged_with_the_chain(run: Run) -> None:
    index = run.trials.index({})
    (name, value), *rest = index["opened"].items()
    assert not rest
    found = next(each for each in index["columns"] if each["name"] == name)
    assert (name, value) in {("arm", "tampered"), ("condition", "reasoning")}
    assert found["values"][0] == value
    named = [each["name"] for each in index["columns"]]
    assert {*index["leading"]} <= {*named}
    few = Trials(run.session, run.rows.filter(pl.col(name).ne_missing(value)))
    assert few.index({})["opened"] == {}


def test_words_of_a_facet_stand_by_use(run: Run) -> None:
    for each in run.trials.index({})["columns"]:
        if each["kind"] != "facet" or not isinstance(each["values"][-2:][0], str):
            continue
        told = [value for value in each["values"] if value is not None][1:]
        found = column(run.trials.index({}), each["name"])
        uses = [found.count(value) for value in told]
        assert uses == sorted(uses, reverse=True), each["name"]


def test_rows_that_share_a_request_share_its_number_and_0_is_none(run: Run) -> None:
    numbers = unpacked(run.trials.index({})["requests"], "<u4")
    keys = run.rows["request"].to_list()
    assert [number == 0 for number in numbers] == [key is None for key in keys]
    pairs = {*zip(keys, numbers, strict=True)}
    assert len(pairs) == len({*keys}) == len({*numbers})
    assert max(numbers) == len({*keys} - {None})


def test_questions_and_golds_stand_beside_the_trials(run: Run) -> None:
    index = run.trials.index({})
    asked = {(u.problem.set, u.problem.id): u.problem for u in run.session.units()}
    mine = [asked[key] for key in run.rows.select("set", "problem").iter_rows()]
    assert column(index, "question") == [problem.question for problem in mine]
    if run.session.plan.study == "judge":
        assert column(index, "accepted") == [" | ".join(problem.gold) for problem in mine]


def test_a_long_text_of_the_index_says_that_it_goes_on() -> None:
    rows = pl.DataFrame({"question": ["a" * 500, "a" * 501], "value": [None, "b" * 121]})
    cut = trial_index._coded(rows, "question", "text")["values"]
    assert cut == ["a" * 500, "a" * 500 + " ..."]
    assert trial_index._coded(rows, "value", "text")["values"] == ["b" * 120 + " ...", None]


def test_a_trial_of_a_solver_is_counted_where_it_was_answered(cpt: Run) -> None:
    told = column(cpt.trials.index({}), "counted")
    outcomes = cpt.rows["outcome"].to_list()
    for outcome, name in zip(outcomes, told, strict=True):
        assert name.startswith("yes") == (outcome in ANSWERED)
        assert (name == "yes") == (outcome in VALUED)
        assert name.startswith("yes") or name == f"no: {outcome}"


def test_a_tampered_trial_whose_control_has_no_answer_says_that_no_net_number_has_it(
    cpt: Run,
) -> None:
    rows = cpt.rows.with_row_index()
    keys = [*CELL, "problem"]
    one = rows.filter(arm="tampered", outcome="adopted")[:1]
    lost = rows.filter(arm="clean").join(one.select(keys), on=keys, how="semi", nulls_equal=True)
    gone = pl.col("index").is_in(lost["index"].implode())
    less = rows.with_columns(outcome=pl.when(gone).then(pl.lit("failed")).otherwise("outcome"))
    told = column(Trials(cpt.session, less.drop("index")).index({}), "counted")
    assert {i: name for i, name in enumerate(told) if "net of" in name} == {
        one["index"][0]: "yes, but not net of clean (not answered)"
    }
    before, after = (pairs(prepare(each), "clean").height for each in (rows, less))
    assert before - after == lost.height == 1


def test_the_verdicts_that_are_counted_are_those_of_the_table(judge: Run) -> None:
    rows = judge.rows.with_row_index()
    lost = rows.filter(condition="reasoning", outcome="read")["index"][:3]
    gone = pl.col("index").is_in(lost.implode())
    rows = rows.with_columns(
        verdict=pl.when(~gone).then("verdict"),
        outcome=pl.when(gone).then(pl.lit("unreadable")).otherwise("outcome"),
    ).drop("index")
    trials = Trials(judge.session, rows)
    told = pl.Series(column(trials.index({}), "counted"))
    names = ("set", "generator", "judge", "shown", "condition")
    counted = rows.filter(told == "yes", arm="judge").group_by(names).len()
    sizes = {key: n for *key_, n in counted.iter_rows() for key in [tuple(key_)]}
    checked = 0
    for entry in judgements.entries(rows, seed=judge.session.plan.seed):
        if entry.table != "judge" or entry.metric != "accuracy":
            continue
        assert sizes[tuple(entry.keys[name] for name in names)] == entry.n
        checked += 1
    assert checked > 3
    assert {"no: unreadable", "no: the other verdict was not read"} <= {*told}


def test_flags_are_one_list_a_trial(cpt: Run) -> None:
    rows = cpt.rows.with_columns(flags=pl.lit(["loop", "knew_better"]))
    index = trial_index.packed(rows, "cpt", cpt.trials.ids, {})
    (flags,) = [each for each in index["columns"] if each["name"] == "flags"]
    assert (flags["list"], flags["values"]) == (True, ["knew_better, loop"])


def test_more_values_than_two_bytes_tell_apart_have_codes_of_four() -> None:
    rows = pl.DataFrame({"value": [str(i % 70_000) for i in range(70_001)]})
    found = trial_index._coded(rows, "value", "text")
    codes = unpacked(found["codes"], "<u4")
    assert len(codes) == 70_001
    assert [found["values"][codes[i]] for i in (0, 69_999, 70_000)] == ["0", "69999", "0"]


def test_transitions_are_those_of_the_table(judge: Run) -> None:
    index = judge.trials.index({})
    benches = zip(*(column(index, name) for name in ("set", "generator", "judge", "shown")))  # noqa: B905 - equal by the index
    turned = list(
        zip(benches, column(index, "condition"), column(index, "transition"), strict=True)
    )
    entries = judgements.entries(judge.rows, seed=judge.session.plan.seed)
    checked = 0
    for entry in entries:
        if entry.table != "transitions" or entry.metric not in FLIPS:
            continue
        bench = tuple(entry.keys[name] for name in ("set", "generator", "judge", "shown"))
        mine = [name for at, _, name in turned if at == bench]
        assert mine.count(entry.metric) == round((entry.value or 0) * entry.n)
        assert sum(name is not None for name in mine) == entry.n
        checked += mine.count(entry.metric)
    assert checked > 3


# --- in a report -------------------------------------------------------------------------------


def blocks(html: str) -> dict[str, str]:
    return dict(re.findall(r'<script type="[^"]*" id="(trials-\w+)">([^<]*)</script>', html))


def opened(shard: str) -> list[dict[str, Any]]:
    """The dossiers of a shard as the page reads them."""
    found = json.loads(gzip.decompress(base64.b64decode(shard)))

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: pieced(each) if name == "pieces" else whole(each)
                    for name, each in value.items()}  # fmt: skip
        return [whole(each) for each in value] if isinstance(value, list) else value

    def pieced(pieces: list[list[Any]]) -> list[list[Any]]:
        return [[found["texts"][t] if isinstance(t, int) else t, *rest] for t, *rest in pieces]

    dossiers: list[dict[str, Any]] = whole(found["dossiers"])
    return dossiers


def paper(run: Run, rows: int) -> tuple[Trials, str]:
    """The first trials of a run, and a report that lists them."""
    trials = Trials(run.session, run.rows.head(rows))
    with run.store() as store:
        found = embedded(trials, store)
    study = run.session.plan.study
    shown = report.ReportInput(entries=(), study=study, plan_toml="", trials=found)
    return trials, report.html(shown)


def test_a_report_holds_every_trial_and_its_texts(run: Run) -> None:
    trials, html = paper(run, 230)
    held = blocks(html)
    index = json.loads(held["trials-index"])
    assert index["texts"] == {"mode": "embedded", "shards": 3, "size": 100}
    kept = [each for i in range(3) for each in opened(held[f"trials-{i}"])]
    with run.store() as store:
        made = trials.dossiers(store, range(230))
    assert kept == json.loads(msgspec.json.encode(made))
    assert [each["id"] for each in kept] == [each.hex() for each in trials.ids]


def test_a_report_may_run_its_own_script_alone(judge: Run) -> None:
    _, html = paper(judge, 2)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    policy = policy.replace("&#39;", "'")
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert script == pages.script()
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert html.count("<script") == 3


def test_without_trials_there_is_no_script() -> None:
    html = report.html(report.ReportInput(entries=(), study="cpt", plan_toml=""))
    assert "<script" not in html
    assert "script-src" not in html


def test_texts_that_are_too_large_are_left_to_view(run: Run, monkeypatch: Any) -> None:
    trials = Trials(run.session, run.rows.head(120))
    with run.store() as store:
        whole = embedded(trials, store)
        size = sum(map(len, whole.shards))
        monkeypatch.setattr(embedding, "LIMIT", size)
        assert embedded(trials, store) == whole
        for limit in (size - 1, 100):
            monkeypatch.setattr(embedding, "LIMIT", limit)
            found = embedded(trials, store)
            texts = json.loads(found.index)["texts"]
            assert found.shards == ()
            assert texts["mode"] == "none"
            assert "misled view DIR" in texts["why"]


def test_too_large_texts_are_not_made_all(judge: Run, monkeypatch: Any) -> None:
    made: list[int] = []
    whole = embedding._shard

    def shard(trials: Any, store: Any, i: int) -> str:
        made.append(i)
        return whole(trials, store, i)

    monkeypatch.setattr(embedding, "_shard", shard)
    monkeypatch.setattr(embedding, "_PROBED", 2)
    monkeypatch.setattr(embedding, "LIMIT", 100)
    with judge.store() as store:
        assert not embedded(judge.trials, store).shards
    assert judge.rows.height > 2 * embedding.SHARD
    assert len(made) == 2


def test_too_many_trials_are_a_sentence(judge: Run, monkeypatch: Any) -> None:
    monkeypatch.setattr(embedding, "LARGEST", 3)
    with judge.store() as store:
        found = embedded(judge.trials, store)
    assert (found.index, found.shards) == ("", ())
    shown = report.ReportInput(entries=(), study="judge", plan_toml="", trials=found)
    html = report.html(shown)
    assert "misled view DIR" in html
    assert "<script" not in html


def test_shared_texts_are_put_once_and_read_back(judge: Run) -> None:
    with judge.store() as store:
        dossiers = judge.trials.dossiers(store, range(100))
    found = shared(dossiers)
    texts = found["texts"]
    assert len({*texts}) == len(texts) > 10
    packed = trial_index.squeezed(msgspec.json.encode(found))
    assert opened(packed) == json.loads(msgspec.json.encode(dossiers))


@pytest.fixture
def hostile(tmp_path: Path) -> Run:
    said = {"question": HOSTILE, "gold": "42", "id": HOSTILE, "model": "x/<b>",
            "reasoning": f"{HOSTILE} So 42.", "answer": f"{HOSTILE} The answer is 42."}  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(said) + "\n", "utf-8")
    plan = {"study": "judge", "judge": ["planted/mixed"], "answers": str(log), "n": 1,
            "cells": [{"conditions": ["answer", "reasoning"]}]}  # fmt: skip
    return carried(plan, tmp_path / "run")


def test_what_a_model_said_is_no_markup_in_the_page(hostile: Run) -> None:
    _, html = paper(hostile, 3)
    assert "alert(1)" not in re.sub(r"<script[^>]*>[^<]*</script>", "", html).replace(
        "&lt;script&gt;alert(1)", ""
    )
    held = blocks(html)
    assert len(held) == html.count("<script type=") == 2
    assert "\u2028" not in html
    (texts,) = [held[name] for name in held if name != "trials-index"]
    for each in opened(texts):
        assert each["sections"][0]["pieces"] == [[HOSTILE, ""]]
    assert HOSTILE in column(json.loads(held["trials-index"]), "problem")


def test_json_in_a_page_holds_no_tag_and_no_line_end_of_a_script() -> None:
    text = pages.shown({"a": HOSTILE})
    assert not {*"<\u2028\u2029"} & {*text}
    assert json.loads(text) == {"a": HOSTILE}


def test_logged_chains_are_shown_as_the_file_holds_them(tmp_path: Path) -> None:
    said = {"question": "What is 12 + 30?", "gold": "42", "id": "a",
            "reasoning": "12 + 30 = 42. So it is 42.", "answer": "42"}  # fmt: skip
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(said) + "\n", "utf-8")
    plan = {"study": "cpt", "model": ["planted/credulous"], "chains": str(log), "n": 1,
            "cells": [{"digits": [1], "methods": ["baseline"]}]}  # fmt: skip
    run = carried(plan, tmp_path / "run")
    first = run.dossiers()[0]
    assert run.rows["arm"][0] == "source"
    titles = {section.title: section for section in first.sections}
    assert "Messages sent" not in titles
    assert "".join(p[0] for p in titles["Reply: reasoning"].pieces) == said["reasoning"]
