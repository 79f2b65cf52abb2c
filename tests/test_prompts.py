"""Prompts: the exact words, that texts pass through untouched, and what is refused."""

from __future__ import annotations

import doctest
import tomllib
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled import prompts
from misled.errors import UserError
from misled.prompts import ATTRIBUTIONS, FILTERS, METHODS, Prompts, Recognised
from misled.records import Message, Prefill

GOLDEN = Path(__file__).parent / "golden" / "prompts"
BUNDLED = prompts.load(None)
QUESTION = "What is 637 + 28?"
CHAIN = "7 + 8 = 15, write 5, carry 1.\n3 + 2 + 1 = 6.\n\nSo the answer is \\boxed{765}."
CELLS = list(product(METHODS, ATTRIBUTIONS))


def shown(messages: tuple[Message, ...], prefill: Prefill | None) -> str:
    """A request as a person reads it: one header a turn, its text below."""
    parts = [f"--- {message.role}\n{message.content}\n" for message in messages]
    if prefill is not None:
        parts.append(f"--- prefill of {prefill.field}\n{prefill.text}\n")
    return "".join(parts)


@pytest.mark.parametrize(("method", "attribution"), CELLS)
def test_the_words_of_a_probe_are_those_of_its_golden_file(method: str, attribution: str) -> None:
    found = prompts.probe(
        BUNDLED, method=method, question=QUESTION, chain=CHAIN, attribution=attribution
    )
    assert shown(*found) == (GOLDEN / f"{method}-{attribution}.txt").read_text("utf-8")


def test_the_question_alone_is_sent_as_it_is() -> None:
    assert prompts.solve(BUNDLED, QUESTION) == (Message("user", QUESTION),)


def test_the_baseline_is_the_sentence_of_the_study_between_question_and_chain() -> None:
    (message,), prefill = prompts.probe(
        BUNDLED, method="baseline", question=QUESTION, chain=CHAIN, attribution="own"
    )
    assert message.content == f"{QUESTION}\n\nBelow is your previous thought.\n\n{CHAIN}"
    assert prefill is None


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
def test_prefix_is_contradiction_and_the_beginning_of_a_reply(attribution: str) -> None:
    cell = {"question": QUESTION, "chain": CHAIN, "attribution": attribution}
    plain, none = prompts.probe(BUNDLED, method="contradiction", **cell)
    prefixed, prefill = prompts.probe(BUNDLED, method="prefix", **cell)
    assert prefixed == plain
    assert none is None
    assert prefill == prompts.prefill(BUNDLED) == Prefill("content", BUNDLED.prefix)


@given(st.text(), st.text(), st.sampled_from(CELLS))
def test_question_and_chain_pass_through_untouched_and_are_read_back(
    question: str, chain: str, cell: tuple[str, str]
) -> None:
    method, attribution = cell
    (message,), _ = prompts.probe(
        BUNDLED, method=method, question=question, chain=chain, attribution=attribution
    )
    assert message.content.startswith(question)
    assert message.content.endswith(chain)
    name = "contradiction" if method == "prefix" else method
    found = prompts.recognise(BUNDLED, message.content)
    assert found == Recognised(question, name, attribution, chain)
    assert prompts.question_of(BUNDLED, prompts.solve(BUNDLED, question)[0].content) == question


@pytest.mark.parametrize("hostile", ["{filter}", "{chain}{question}", "{0}{}{{", "%s", "\\1\\g<0>"])
def test_placeholders_in_a_text_are_text(hostile: str) -> None:
    (message,), _ = prompts.probe(
        BUNDLED, method="uncertainty", question=hostile, chain=hostile, attribution="other"
    )
    assert message.content.startswith(f"{hostile}\n\nBelow is a previous thought")
    assert message.content.endswith(f"\n\n{hostile}")


def test_a_chain_that_quotes_a_filter_does_not_change_the_method() -> None:
    quoting = f"{CHAIN}\n\n{BUNDLED.contradiction.replace('{thought}', BUNDLED.own)}\n\n{CHAIN}"
    (message,), _ = prompts.probe(
        BUNDLED, method="baseline", question=QUESTION, chain=quoting, attribution="own"
    )
    found = prompts.recognise(BUNDLED, message.content)
    assert found == Recognised(QUESTION, "baseline", "own", quoting)


def test_a_text_without_a_filter_is_no_probe() -> None:
    for text in ("", QUESTION, f"{QUESTION}\n\nHere is a thought.\n\n{CHAIN}"):
        assert prompts.recognise(BUNDLED, text) is None


def test_unknown_methods_and_attributions_name_the_nearest() -> None:
    cell = {"question": QUESTION, "chain": CHAIN}
    with pytest.raises(UserError, match="unknown method 'basline'; did you mean 'baseline'"):
        prompts.probe(BUNDLED, method="basline", attribution="own", **cell)
    with pytest.raises(UserError, match="unknown attribution 'others'; did you mean 'other'"):
        prompts.probe(BUNDLED, method="baseline", attribution="others", **cell)


def written(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def test_a_file_replaces_words_key_by_key_and_the_hash_follows(tmp_path: Path) -> None:
    path = written(tmp_path / "p.toml", '[cpt]\nuncertainty = "See {thought}, perhaps wrong."\n')
    own = prompts.load(path)
    assert own.uncertainty == "See {thought}, perhaps wrong."
    assert own.baseline == BUNDLED.baseline
    assert own.hash != BUNDLED.hash
    assert prompts.load(None).hash == BUNDLED.hash
    assert prompts.load(written(tmp_path / "empty.toml", "")).hash == BUNDLED.hash


@pytest.mark.parametrize(
    "probe",
    [
        "{chain}\n\n{filter}\n\n{question}",
        "{filter}\n\n{question}\n----\n{chain}\nEND {braces}",
        "Q: {question} F: {filter} C: {chain}",
    ],
)
def test_any_order_of_the_parts_is_read_back(tmp_path: Path, probe: str) -> None:
    own = prompts.load(written(tmp_path / "p.toml", f"[cpt]\nprobe = '''{probe}'''\n"))
    for method, attribution in product(FILTERS, ATTRIBUTIONS):
        (message,), _ = prompts.probe(
            own, method=method, question=QUESTION, chain=CHAIN, attribution=attribution
        )
        found = prompts.recognise(own, message.content)
        assert found == Recognised(QUESTION, method, attribution, CHAIN)


def test_reading_back_is_linear_in_hostile_text(tmp_path: Path) -> None:
    own = prompts.load(written(tmp_path / "p.toml", "[cpt]\nprobe = '{question}{filter}{chain}.'"))
    text = BUNDLED.baseline.replace("{thought}", BUNDLED.own) * 70_000
    assert prompts.recognise(own, text[:-1]) is None
    found = prompts.recognise(own, text)
    assert found is not None
    assert found.question == ""
    assert prompts.recognise(BUNDLED, "\n\nBelow is your previous thought" * 70_000) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[cpt", "is no TOML"),
        ("[ctp]\n", "unknown table 'ctp'; did you mean 'cpt'"),
        ("baseline = 'See {thought}.'", r"baseline stands in no table; write \[cpt\] above it"),
        ("[cpt]\nbasline = 'x'", "unknown key 'basline'; did you mean 'baseline'"),
        ("[cpt]\nprefix = 3", "prefix has to be a text"),
        ("[cpt]\nprefix = ' '", "prefix has to be a text"),
        ("[cpt]\nprefix = 'Step 1:'", "prefix holds a digit"),
        ("[cpt]\nprefix = 'Step １:'", "prefix holds a digit"),
        ("[cpt]\nprefix = 'Again: '", "prefix ends in white space"),
        ("[cpt]\nsolve = 'Answer!'", r"solve has to hold \{question\}, each exactly once"),
        ("[cpt]\nsolve = '{question} {chain}'", "solve has to hold"),
        ("[cpt]\nprobe = '{question} {filter}'", r"\{question\}, \{filter\}, \{chain\}"),
        ("[cpt]\nprobe = '{question}{question}{filter}{chain}'", "probe has to hold"),
        ("[cpt]\nbaseline = 'See below.'", r"baseline has to hold \{thought\}"),
        (
            "[cpt]\nuncertainty = 'Below is {thought}.'",
            r"baseline \(own\) and uncertainty \(own\) have the same filter",
        ),
        ("[cpt]\nother = 'your previous thought'", r"baseline \(own\) and baseline \(other\)"),
    ],
)
def test_words_that_would_spoil_a_run_are_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as error:
        prompts.load(written(tmp_path / "p.toml", text))
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read .*none.toml: No such file"):
        prompts.load(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(UserError, match="is no TOML"):
        prompts.load(str(tmp_path / "bad.toml"))


def test_the_bundled_words_obey_the_rules_for_a_users_own(tmp_path: Path) -> None:
    text = (files("misled") / "data" / "prompts.toml").read_text("utf-8")
    assert prompts.load(written(tmp_path / "p.toml", text)) == BUNDLED
    assert set(tomllib.loads(text)["cpt"]) == set(Prompts.__struct_fields__)


def test_the_example_of_the_docstring_holds() -> None:
    assert doctest.testmod(prompts).failed == 0
