"""Sets of the Hugging Face hub, read from repositories in the hub's own layouts."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

from misled import hub, problems
from misled.errors import UserError
from misled.hub import KNOWN, Source, find, golds

datasets = pytest.importorskip("datasets", reason="the extra 'hf' (datasets) is not installed")

GSM8K = [
    {
        "question": "Ann has 3 pens and buys 4. How many has she?",
        "answer": "3 + 4 = <<3+4=7>>7\n#### 7",
    },
    {"question": "A town of 70 streets has 1,000 houses a street?", "answer": "Yes.\n#### 70,000"},
]
MATH = [
    {
        "problem": "Halve $1$.",
        "solution": r"It is $\boxed{\frac{1}{2}}$.",
        "answer": r"\frac{1}{2}",
        "subject": "Algebra",
        "level": 1,
        "unique_id": "test/algebra/1.json",
    },
    {
        "problem": "Double $2$.",
        "solution": r"It is $\boxed{4}$.",
        "answer": "4",
        "subject": "Algebra",
        "level": 1,
        "unique_id": "test/algebra/2.json",
    },
]
NQ = [
    {"question": "what do bees make", "answer": ["honey", "wax"]},
    {"question": "what is left of an apple", "answer": ["the core"]},
]
HOTPOT = [
    {
        "id": "5a8b57f25542995d1e6f1371",
        "question": "Do the potter and the smith live in one town?",
        "answer": "yes",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": {"title": ["Potter"], "sent_id": [0]},
        "context": {"title": ["Potter"], "sentences": [["He lives by the sea."]]},
    }
]


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read from the network or from a cache of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


def repository(directory: str, config: str, splits: Mapping[str, Sequence[object]]) -> str:
    """A repository of parquet files, a folder a config, with the README that names them."""
    folder = Path(directory) / config
    folder.mkdir(parents=True)
    for split, rows in splits.items():
        pl.DataFrame(rows).write_parquet(folder / f"{split}-00000-of-00001.parquet")
    named = "\n".join(f"  - split: {s}\n    path: {config}/{s}-*" for s in splits)
    (Path(directory) / "README.md").write_text(
        f"---\nconfigs:\n- config_name: {config}\n  data_files:\n{named}\n---\n# A set\n"
    )
    return directory


def known(name: str, directory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set `name` as it is known, but for where it lies."""
    monkeypatch.setitem(KNOWN, name, replace(KNOWN[name], repository=directory, revision=None))


def test_gsm8k_gives_what_follows_the_four_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    known("gsm8k", repository("./gsm", "main", {"train": GSM8K[1:], "test": GSM8K}), monkeypatch)
    found, rejects = problems.load("hf:gsm8k", None, 0)
    assert not rejects
    assert [(p.id, p.set, p.gold) for p in found] == [
        ("0", "hf:gsm8k", ("7",)),
        ("1", "hf:gsm8k", ("70,000",)),
    ]
    assert found[0].question == GSM8K[0]["question"]
    assert len({p.cluster for p in found}) == 2
    assert [p.gold for p in problems.load("hf:gsm8k@train", None, 0)[0]] == [("70,000",)]
    assert len(problems.load("hf:gsm8k", 1, 0)[0]) == 1


def test_math_500_is_a_jsonl_file_with_problem_and_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("math").mkdir()
    Path("math/test.jsonl").write_text("\n".join(map(json.dumps, MATH)))
    Path("math/README.md").write_text("---\nlanguage:\n- en\n---\n# A set\n")
    known("math500", "./math", monkeypatch)
    found, _ = problems.load("hf:math500", None, 0)
    assert [(p.id, p.question, p.gold) for p in found] == [
        ("test/algebra/1.json", "Halve $1$.", (r"\frac{1}{2}",)),
        ("test/algebra/2.json", "Double $2$.", ("4",)),
    ]


def test_nq_gives_every_alias_and_hotpotqa_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    known("nq", repository("./nq", "nq_open", {"train": NQ, "validation": NQ}), monkeypatch)
    splits = {"train": HOTPOT, "validation": HOTPOT}
    known("hotpotqa", repository("./hotpot", "distractor", splits), monkeypatch)
    assert [p.gold for p in problems.load("hf:nq", None, 0)[0]] == [("honey", "wax"), ("the core",)]
    (only,), _ = problems.load("hf:hotpotqa", None, 0)
    assert (only.id, only.gold) == (HOTPOT[0]["id"], ("yes",))


def test_any_other_set_is_read_by_its_columns_and_its_first_of_the_usual_splits() -> None:
    rows: list[dict[str, Any]] = [
        {"question": "Who mended the net?", "answers": {"text": ["Ida", "Ida"], "at": [3]}}
    ]
    repository("./other", "default", {"train": rows * 3, "validation": rows * 2})
    found, _ = problems.load("hf:./other", None, 0)
    assert [(p.set, p.gold) for p in found] == [("hf:./other", ("Ida",))] * 2
    assert len(problems.load("hf:./other:default@train", None, 0)[0]) == 3


def test_rows_that_state_no_problem_are_rejects() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "question": "Who sings?", "answer": ["the cook"]},
        {"id": "b", "question": " ", "answer": ["the cook"]},
        {"id": "c", "question": "Who cooks?", "answer": []},
        {"id": "d", "question": "Who rows?", "answer": None},
        {"id": "a", "question": "Who sleeps?", "answer": ["the cook"]},
    ]
    repository("./odd", "default", {"test": rows})
    found, rejects = problems.load("hf:./odd", None, 0)
    assert [p.id for p in found] == ["a"]
    assert [(r.line, r.id) for r in rejects] == [(2, "b"), (3, "c"), (4, "d"), (5, "a")]
    assert rejects[-1].reason == "the id 'a' was there before"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gsm9k", "unknown set 'gsm9k'; did you mean 'gsm8k'.*hf:ORG/NAME"),
        ("", "write hf:NAME or hf:ORG/NAME"),
        ("a/b@test@train", "write hf:NAME or hf:ORG/NAME"),
        ("gsm8k", "hf:gsm8k: the hub cannot be reached.*HF_ENDPOINT.*file:PATH"),
        ("some/set", "hf:some/set: the hub cannot be reached.*HF_ENDPOINT.*file:PATH"),
        ("./none", "./none is no directory"),
        ("./two", "hf:./two: .*config.*first.*second"),
        ("./two:third", "hf:./two:third: .*third.*first"),
        ("./two:first@test", "hf:./two:first@test: .*test"),
        ("./two:first", "name a split, @ and one of odd"),
        ("./two:first@odd", "no columns that are known as question and answer; it has head, tail"),
        ("org/set", "org/set also lies here: write hf:./org/set to read that"),
    ],
)
def test_a_set_that_cannot_be_read_says_why_in_one_line(name: str, message: str) -> None:
    repository("./two", "first", {"odd": [{"head": "x", "tail": "y"}]})
    readme = Path("two/README.md").read_text()
    second = "- config_name: second\n  data_files: first/odd-*\n---\n#"
    Path("two/README.md").write_text(readme.replace("---\n#", second))
    Path("org/set").mkdir(parents=True)
    with pytest.raises(UserError, match=message) as error:
        problems.load(f"hf:{name}", None, 0)
    assert "\n" not in str(error.value)


def test_a_set_is_read_without_a_word_of_its_libraries(capfd: pytest.CaptureFixture[str]) -> None:
    repository("./loud", "default", {"test": GSM8K * 500})
    logs = [logging.getLogger(name) for name in ("datasets", "huggingface_hub")]
    before = [log.level for log in logs]
    problems.load("hf:./loud", None, 0)
    with pytest.raises(UserError, match="cannot be reached"):
        problems.load("hf:gsm8k", 1, 0)
    assert capfd.readouterr() == ("", "")
    assert not datasets.are_progress_bars_disabled()
    assert [log.level for log in logs] == before


def test_without_the_package_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"pip install 'misled\[hf\]'"):
        problems.load("hf:gsm8k", 1, 0)


def test_a_name_says_config_split_and_revision_and_known_sets_are_pinned() -> None:
    assert find("a/b:c@d#0ff") == Source("a/b", "c", "d", "0ff")
    assert find("hotpotqa:fullwiki") == replace(KNOWN["hotpotqa"], config="fullwiki")
    assert all(len(source.revision or "") == 40 for source in KNOWN.values())


def test_the_commit_that_was_read_is_known_from_where_datasets_keeps_it(tmp_path: Path) -> None:
    revision = "0123456789abcdef0123456789abcdef01234567"
    kept = tmp_path / "kept" / "0.0.0" / revision
    with datasets.arrow_writer.ArrowWriter(path=str(tmp_path / "x.arrow")) as writer:
        writer.write(GSM8K[0])
        writer.finalize()
    kept.mkdir(parents=True)
    (tmp_path / "x.arrow").rename(kept / "x.arrow")
    assert hub.commit(datasets.Dataset.from_file(str(kept / "x.arrow"))) == revision
    repository("./other", "default", {"test": GSM8K})
    assert hub.commit(datasets.load_dataset("./other", split="test")) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("7", ["7"]),
        ("a #### b", ["a #### b"]),
        ("####7\n#### -1,200", ["-1,200"]),
        (["x", "y", "x"], ["x", "y"]),
        ({"value": "x", "aliases": ["y", "x"], "normalized_value": "z"}, ["x", "y"]),
        ({"text": []}, []),
        (None, [None]),
        (5, [5]),
    ],
)
def test_golds_of_a_cell(answer: object, expected: list[object]) -> None:
    assert golds(answer) == expected
