"""`misled split`, `tamper`, `grade`: the contracts that other programs use."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import commands

CHAIN = "I add 17 and 25. 17 + 25 = 42. Let me check: 42 - 25 = 17. So the answer is 42."
TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"


def misled(*arguments: str, feed: str | bytes = "") -> subprocess.CompletedProcess[str]:
    return commands.misled(arguments, Path.cwd(), feed=feed)


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.encode().splitlines()]


def test_split_gives_both_parts_with_their_spans_and_tiling_steps() -> None:
    raw = f"<think>{CHAIN}</think>\n\nThe answer is 42."
    done = misled("split", "-", "--json", feed=json.dumps({"id": "a", "raw": raw}))
    (line,) = lines(done)
    assert done.returncode == 0
    assert line["id"] == "a"
    assert (line["reasoning"], line["answer"]) == (CHAIN, "The answer is 42.")
    for part in ("reasoning", "answer"):
        start, end = line["spans"][part]
        assert raw[start:end] == line[part]
    edges = [step["start"] for step in line["steps"]] + [line["steps"][-1]["end"]]
    assert edges[0] == 0
    assert edges[-1] == len(CHAIN)
    assert [step["end"] for step in line["steps"]] == edges[1:]


def test_split_of_two_fields_has_no_spans_in_a_text_that_is_not_there() -> None:
    (line,) = lines(misled("split", feed=json.dumps({"reasoning": CHAIN, "answer": "42"})))
    assert line["index"] == 0
    assert line["spans"] == {"reasoning": None, "answer": None}


def test_a_text_that_is_no_jsonl_is_one_record() -> None:
    (line,) = lines(misled("split", feed=f"{CHAIN}\n\n{CHAIN}"))
    assert line["index"] == 0
    (line,) = lines(misled("split", "--format", "text", feed='{"raw": "x"}'))
    assert line["answer"] == '{"raw": "x"}'


def test_tamper_edits_the_input_in_place_and_nowhere_else() -> None:
    raw = f"<think>{CHAIN}</think>The answer is 42."
    done = misled("tamper", "-", "--digits", "2", "--seed", "3", feed=json.dumps({"raw": raw}))
    (line,) = lines(done)
    assert done.returncode == 0
    assert line["result"] == "42"
    text = raw
    for edit in line["edits"]:
        assert raw[edit["start"] : edit["end"]] == edit["before"] == "42"
        text = text[: edit["start"]] + edit["after"] + text[edit["end"] :]
    assert text == line["text"] != raw
    assert line["text"].endswith("</think>The answer is 42.")
    assert type(line["unreached"]) is type(line["w_left"]) is int


def test_degrees_nest_for_the_same_record_and_seed() -> None:
    record = json.dumps({"id": 7, "reasoning": "12345 + 1 = 12346. The answer is 12346."})
    results = []
    for degree in "12345":
        (line,) = lines(misled("tamper", "--digits", degree, feed=record))
        results.append(line["tampered"])
    changed = [{(i, c) for i, c in enumerate(r) if c != "12346"[i]} for r in results]
    assert [len(places) for places in changed] == [1, 2, 3, 4, 5]
    assert all(a < b for a, b in pairwise(changed))


def test_a_chain_without_a_result_is_not_applicable_and_no_error() -> None:
    done = misled("tamper", feed=json.dumps({"reasoning": "I do not know what to say here."}))
    (line,) = lines(done)
    assert done.returncode == 0
    assert line["text"] is None
    assert line["edits"] == []
    assert line["reason"]


def test_more_digits_than_the_result_has_is_exit_2_in_one_line() -> None:
    done = misled("tamper", "--digits", "3", feed=CHAIN)
    assert done.returncode == 2
    assert "digits" in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_digits_than_one_of_several_results_has_is_that_records_error() -> None:
    long = json.dumps({"reasoning": "The sum is 12345. The answer is 12345."})
    done = misled("tamper", "--digits", "3", feed=f"{json.dumps({'reasoning': CHAIN})}\n{long}\n")
    first, second = lines(done)
    assert done.returncode == 1
    assert first["error"]["kind"] == "digits"
    assert second["tampered"] != "12345"


def test_grade_gives_value_outcome_and_r() -> None:
    record = {"answer": "The answer is **43**.", "gold": "42", "tampered": "43"}
    done = misled("grade", "-", "--json", feed=json.dumps(record))
    (line,) = lines(done)
    assert done.returncode == 0
    assert line == {
        "index": 0,
        "value": "43",
        "outcome": "adopted",
        "reason": None,
        "d_t": 1,
        "n_adopted": 1,
        "n_wrong": 1,
        "r_cpt": 1.0,
        "r_hamming": 1.0,
        "flags": [],
    }


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ("[1]", "json"),
        ("{", "json"),
        ('{"answer": "1"}', "missing"),
        ('{"answer": "1", "gold": 1}', "type"),
        ('{"answer": "1", "gold": "one"}', "value"),
        ('{"answer": "1", "gold": "1", "tampered": "1"}', "value"),
        ('{"answer": null, "gold": "1"}', "type"),
    ],
)
def test_a_bad_record_is_named_and_the_rest_goes_on(record: str, kind: str) -> None:
    good = '{"id": "g", "answer": "1", "gold": "1"}'
    done = misled("grade", feed=f"{good}\n{record}\n\n{good}\n")
    first, bad, last = lines(done)
    assert done.returncode == 1
    assert first["outcome"] == last["outcome"] == "recovered"
    assert bad["index"] == 1
    assert bad["error"]["kind"] == kind
    assert "\n" not in bad["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("split", "nowhere.txt"), "nowhere.txt"),
        (("tamper", "--scope", "ending"), "endings"),
        (("tamper", "--place", "hihg"), "high"),
        (("tamper", "--perturbation", "digit"), "digits"),
        (("split", "--format", "json"), "jsonl"),
    ],
)
def test_what_cannot_start_is_exit_2_with_one_line_that_names_the_fix(
    arguments: tuple[str, ...], word: str
) -> None:
    done = misled(*arguments, feed="x")
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in done.stderr
    assert done.stderr.count("\n") == 1


def test_bytes_that_are_no_text_are_one_line() -> None:
    done = misled("split", feed=b"\xff\xfe\x00")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    done = misled("grade", feed=b'{"answer": "1", "gold": "1"}\n{"answer": "\xff"}\n')
    assert done.returncode == 1
    assert lines(done)[1]["error"]["kind"] == "json"


@pytest.mark.skipif(not TRACES.is_dir(), reason="needs the shared traces")
@pytest.mark.parametrize(
    ("scope", "degree", "part"),
    [("endings", 1, slice(0, None, 2)), ("last", 6, slice(1, None, 2)), ("all", 3, slice(None))],
    ids=["endings", "last", "all"],
)
def test_on_every_real_trace_only_the_asked_digits_change(
    scope: str, degree: int, part: slice
) -> None:
    """The steps of a trace take most of the time, so that one of two scopes has it."""
    texts = [
        json.loads(line)["reasoning"]
        for path in sorted(TRACES.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    texts = [text for text in texts if text][part]
    feed = "".join(json.dumps({"reasoning": text}) + "\n" for text in texts)
    done = misled("tamper", "--digits", str(degree), "--scope", scope, feed=feed)
    assert done.returncode == int(degree > 1), "short results are errors of their records"
    tampered = 0
    for text, line in zip(texts, lines(done), strict=True):
        if not line.get("text"):
            continue
        tampered += 1
        places = [i for i, (a, b) in enumerate(zip(text, line["text"], strict=True)) if a != b]
        spans = [range(edit["start"], edit["end"]) for edit in line["edits"]]
        assert all(any(place in span for span in spans) for place in places)
        assert all(text[i].isdigit() and line["text"][i].isdigit() for i in places)
        digits = [[c for c in line[key] if c.isdigit()] for key in ("result", "tampered")]
        assert sum(a != b for a, b in zip(*digits, strict=True)) == degree
        assert digits[1][0] != "0" or digits[0][0] == "0"
    assert tampered > len(texts) // 12


def test_thinking_inside_an_answer_is_not_graded() -> None:
    records = [
        {"answer": "<think>it could be 47</think>It is 42.", "gold": "42", "tampered": "47"},
        {"answer": "<think>the answer is 47, hmm", "gold": "42", "tampered": "47"},
    ]
    feed = "".join(json.dumps(record) + "\n" for record in records)
    assert [line["outcome"] for line in lines(misled("grade", feed=feed))] == [
        *("recovered", "stopped")
    ]


def test_a_finish_outside_the_contract_is_an_error_and_no_grade() -> None:
    record = {"answer": "The answer is 4", "gold": "42", "finish": "max_tokens"}
    done = misled("grade", feed=json.dumps(record))
    assert done.returncode == 1
    assert lines(done)[0]["error"]["kind"] == "type"


def test_a_byte_order_mark_or_half_a_character_does_not_make_a_file_one_text() -> None:
    good = '{"reasoning": "12 + 1 = 13. The answer is 13."}\n'
    done = misled("tamper", feed=b"\xef\xbb\xbf" + good.encode() * 2)
    assert [line["result"] for line in lines(done)] == ["13", "13"]
    done = misled("tamper", feed='{"reasoning": "\\ud800"}\n' + good)
    bad, fine = lines(done)
    assert bad["error"]["kind"] == "json"
    assert fine["result"] == "13"


def test_json_of_any_depth_is_a_bad_record_and_the_rest_goes_on() -> None:
    deep = '{"answer": "42", "gold": "42", "a": ' + "[" * 100_000 + "]" * 100_000 + "}"
    done = misled("grade", feed=deep + '\n{"answer": "42", "gold": "42"}\n')
    bad, fine = lines(done)
    assert done.returncode == 1
    assert bad["error"]["kind"] == "json"
    assert fine["outcome"] == "recovered"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "misled", "split"],
            input=b"x" * 100,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"No space left" in done.stderr
