"""Problem sets: what they hold, that they are stable, and what they refuse."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import misled.problems
from misled.errors import UserError
from misled.metrics import grade
from misled.problems import load
from misled.records import Problem

JUDGE = Path(__file__).parents[2] / "shared" / "data" / "judge"
COUNTS = st.integers(1, 20)


def operands(problem: Problem) -> tuple[int, str, int]:
    found = re.fullmatch(r"What is ([0-9]+) ([+×]) ([0-9]+)\?", problem.question)
    assert found
    return int(found[1]), found[2], int(found[3])


def problems(spec: str, n: int | None, seed: int = 0) -> list[Problem]:
    found, rejects = load(spec, n, seed)
    assert not rejects
    return found


@given(COUNTS, COUNTS, st.integers())
def test_operands_have_the_asked_digit_counts_and_gold_is_their_result(
    first: int, second: int, seed: int
) -> None:
    for spec, sign in (
        (f"addition:{first}+{second}", "+"),
        (f"multiplication:{first}x{second}", "×"),
    ):
        for problem in problems(spec, 3, seed):
            a, shown, b = operands(problem)
            assert (len(str(a)), shown, len(str(b))) == (first, sign, second)
            assert problem.gold == (str(a + b if sign == "+" else a * b),)


@pytest.mark.parametrize("spec", ["addition:15+13", "multiplication:8x7", "small", "word:6"])
def test_asking_for_more_keeps_the_problems_there_are_and_another_seed_changes_them(
    spec: str,
) -> None:
    assert problems(spec, 40)[:7] == problems(spec, 7)
    assert problems(spec, 7, seed=1) != problems(spec, 7)


def test_a_seeded_problem_never_changes() -> None:
    """A published run names its problems by set, seed and index alone."""
    assert problems("addition:15+13", 2)[1] == Problem(
        id="1",
        set="addition:15+13",
        question="What is 842067217716076 + 7116445958734?",
        gold=("849183663674810",),
        cluster="addition:15+13/1",
    )
    assert problems("multiplication:8x7", 1)[0].question == "What is 90130189 × 3296423?"


def test_the_size_of_the_paper_is_the_default() -> None:
    assert problems("addition", 3) == problems("addition:15+13", 3)
    assert problems("multiplication", 3) == problems("multiplication:8x7", 3)
    assert problems("word", 3) == problems("word:6", 3)


def test_a_set_can_be_drawn_to_its_last_problem_without_a_duplicate() -> None:
    assert len({operands(problem) for problem in problems("addition:1+1", 81)}) == 81
    with pytest.raises(UserError, match="has 81 different problems, 82 were asked for"):
        load("addition:1+1", 82, 0)


def test_small_holds_57_problems_whose_two_digit_result_is_no_operand() -> None:
    found = problems("small", None)
    pairs = {(sign, *sorted((a, b))) for a, sign, b in map(operands, found)}
    assert len(found) == len(pairs) == 57
    for problem in found:
        a, _, b = operands(problem)
        assert len(problem.gold[0]) == 2
        assert int(problem.gold[0]) not in {a, b}
    with pytest.raises(UserError, match="small has 57 different problems, 58"):
        load("small", 58, 0)


@pytest.mark.parametrize("spec", ["addition:15+13", "multiplication:8x7", "small", "word:6"])
def test_the_grader_accepts_every_gold(spec: str) -> None:
    for problem in problems(spec, 50):
        assert grade(problem.gold[0], problem.gold[0]).outcome == "recovered"


@pytest.mark.parametrize(
    ("spec", "n", "message"),
    [
        ("adition:15+13", 1, "unknown problem set 'adition'; did you mean 'addition'"),
        ("addition:15x13", 1, r"give the digit counts of both operands.*addition:8\+7"),
        ("addition:0+3", 1, "give the digit counts"),
        ("addition:1001+3", 1, "each 1 to 1000"),
        ("multiplication:8", 1, "multiplication:8x7"),
        ("multiplication:٨x٧", 1, "give the digit counts"),
        ("small:3", 1, "small takes no size"),
        ("word:7", 1, "word:7: the levels are 1 to 6.*as in word:6"),
        ("word:0", 1, "the levels are 1 to 6"),
        ("word:06", 1, "the levels are 1 to 6"),
        ("word:six", 1, "the levels are 1 to 6"),
        ("addition:15+13", None, "say how many problems with --n"),
        ("word:6", None, "say how many problems with --n"),
        ("addition:15+13", 0, "give at least 1"),
        ("file:", 1, "give a path"),
        ("file:no/such.jsonl", 1, "cannot read no/such.jsonl: No such file"),
        ("file:.", 1, r"cannot read \.: "),
        ("file:a\0b", 1, "cannot read"),
    ],
)
def test_a_spec_that_cannot_be_served_says_why_in_one_line(
    spec: str, n: int | None, message: str
) -> None:
    with pytest.raises(UserError, match=message) as error:
        load(spec, n, 0)
    assert "\n" not in str(error.value)


def written(path: Path, *lines: str | bytes) -> str:
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines))
    return f"file:{path}"


def test_a_file_gives_its_problems_in_order_with_gold_or_aliases(tmp_path: Path) -> None:
    spec = written(
        tmp_path / "p.jsonl",
        b'\xef\xbb\xbf{"question": "How many legs have 3 dogs?", "gold": "12", "id": "dogs"}',
        "",
        '{"question": "Capital of Peru?", "answer": ["Lima", "Ciudad de Lima"], "level": 1}',
        '{"question": "What is 2 + 3?", "gold": 5, "id": 7}\r',
    )
    found = problems(spec, None)
    assert [(p.id, p.gold) for p in found] == [
        ("dogs", ("12",)),
        ("1", ("Lima", "Ciudad de Lima")),
        ("7", ("5",)),
    ]
    assert {p.set for p in found} == {spec}
    assert len({p.cluster for p in found}) == 3
    assert problems(spec, 2) == found[:2]
    assert problems(spec, 99) == found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "no JSON"),
        (b'{"question": "\xff", "gold": "1"}', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "not an object"),
        ("null", "not an object"),
        ('{"gold": "1"}', "'question' is missing"),
        ('{"question": " ", "gold": "1"}', "'question' is empty"),
        ('{"question": ["a"], "gold": "1"}', "'question' is not a text"),
        ('{"question": "a"}', "neither 'gold' nor 'answer'"),
        ('{"question": "a", "gold": null}', "neither 'gold' nor 'answer'"),
        ('{"question": "a", "gold": ""}', "'gold' is empty"),
        ('{"question": "a", "gold": 2.5}', "'gold' holds something"),
        ('{"question": "a", "gold": true}', "'gold' holds something"),
        ('{"question": "a", "answer": []}', "'answer' is empty"),
        ('{"question": "a", "answer": [null]}', "'answer' holds something"),
        ('{"question": "a", "answer": "so it is 4"}', "'answer' is not a list of aliases"),
        ('{"question": "a", "gold": "1", "id": {}}', "'id' is not a text"),
        ('{"question": "a", "gold": "1", "id": "good"}', "'good' was there before"),
    ],
)
def test_a_bad_record_is_named_and_the_rest_goes_on(
    tmp_path: Path, line: str | bytes, reason: str
) -> None:
    good = '{"question": "What is 1 + 1?", "gold": "2", "id": "good"}'
    last = '{"question": "What is 1 + 2?", "gold": "3"}'
    found, (reject,) = load(written(tmp_path / "p.jsonl", good, "", line, last), None, 0)
    assert [p.id for p in found] == ["good", "2"]
    assert (reject.index, reject.line) == (1, 3)
    assert reason in reject.reason


def test_a_reject_is_named_by_its_id_where_it_has_one(tmp_path: Path) -> None:
    spec = written(tmp_path / "p.jsonl", '{"question": "a", "gold": "1"}', '{"id": "x7"}')
    assert [reject.id for reject in load(spec, None, 0)[1]] == ["x7"]


@pytest.mark.parametrize("text", ["", "\n\n", "not JSON\n{}", '[{"question": "a"}]'])
def test_a_file_without_a_usable_problem_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="holds no usable problem"):
        load(written(tmp_path / "p.jsonl", text), None, 0)


@pytest.mark.skipif(not JUDGE.is_dir(), reason="the published sets are not beside the repository")
@pytest.mark.parametrize("name", ["nq_500", "hq_500", "math500", "gsm8k_500"])
def test_published_sets_load_whole(name: str) -> None:
    assert len(problems(f"file:{JUDGE / name}.jsonl", None)) == 500


def test_the_example_of_the_docstring_holds() -> None:
    assert doctest.testmod(misled.problems).failed == 0
