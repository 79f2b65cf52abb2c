"""Tokens: exact in one piece or in many, on any text, in linear time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misled import tokens

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
WHOLE = tokens._vocabulary()
HARD = "aB1 ,.:;!?/\\\n\r\t'_é字。，́½Ⅷ\u00a0\u2028\u200b🙂-"


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        ("hello world", 2),
        ("1234567", 3),
        ("The sum is 12,345.", 8),
        ("<|endoftext|>", 7),
        ("\ud800", 1),
    ],
)
def test_texts_of_known_length(text: str, n: int) -> None:
    assert tokens.count(text) == n


@settings(max_examples=400)
@given(st.text(st.sampled_from(HARD), max_size=60) | st.text(max_size=60))
def test_a_cut_is_where_the_tokenizer_cuts_anyway(text: str) -> None:
    pieces = re.compile(rf".+?(?:\Z|{tokens._CUT})", re.DOTALL).findall(text)
    assert "".join(pieces) == text
    assert sum(map(tokens.count, pieces)) == tokens.count(text)


@pytest.mark.parametrize(
    "unit", ["so 17 + 4 is 21. ", "所以结果是二十一，对吗？", "x" * 70 + "\n", "Wait,\n\n", "a, "]
)
def test_a_long_text_is_counted_exactly(unit: str) -> None:
    text = unit * (130_000 // len(unit))
    assert len(tokens._PIECES.findall(text)) > 2
    assert tokens.count(text) == len(WHOLE.encode_ordinary(text))


@pytest.mark.parametrize(
    "unit", ["7", "a", " ", "\n", "字", "<", "wait ", "🙂", "\ufdfa", "\u0301"]
)
def test_any_text_is_counted_in_linear_time(unit: str) -> None:
    text = unit * (2_000_000 // len(unit))
    began = time.perf_counter()
    n = tokens.count(text)
    assert time.perf_counter() - began < 10
    assert 0 < n <= 4 * len(text)


def test_a_blind_cut_adds_two_tokens_at_most() -> None:
    for unit in ("7", "abcdefghij", "Ab", "_", "é", "/-", "\u0301", "字"):
        text = unit * (150_000 // len(unit))
        assert 0 <= tokens.count(text) - len(WHOLE.encode_ordinary(text)) <= 6


def test_the_vocabulary_is_loaded_when_something_is_counted() -> None:
    code = "import sys, misled.tokens; print('bpe_openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_real_outputs_are_counted_as_in_one_piece() -> None:
    if not TRACES.is_dir():
        pytest.skip("no real traces beside the repository")
    for path in sorted(TRACES.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines()[::6]:
            record = json.loads(line)
            text = record["raw"] or record["reasoning"] or ""
            assert tokens.count(text) == len(WHOLE.encode_ordinary(text))
