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
from misled.prompts import AS_TEXT, ATTRIBUTIONS, FILTERS, METHODS, Prompts, Read, Way
from misled.records import Message, Prefill

GOLDEN = Path(__file__).parent / "golden" / "prompts"
BUNDLED = prompts.load(None)
QUESTION = "What is 637 + 28?"
CHAIN = "7 + 8 = 15, write 5, carry 1.\n3 + 2 + 1 = 6.\n\nSo the answer is \\boxed{765}."
WAYS = [
    *(Way(*cell) for cell in product((*METHODS, AS_TEXT), ATTRIBUTIONS, ("user", "assistant"))),
    *(Way(channel=channel) for channel in ("think", "think_closed")),
]


def named(way: Way) -> str:
    return f"{way.method}-{way.attribution}-{way.channel}"


def shown(messages: tuple[Message, ...], prefill: Prefill | None) -> str:
    """A request as a person reads it: one header a turn, its text below."""
    parts = [f"--- {message.role}\n{message.content}\n" for message in messages]
    if prefill is not None:
        parts.append(f"--- prefill of {prefill.field}\n{prefill.text}\n")
    return "".join(parts)


@pytest.mark.parametrize("way", WAYS, ids=named)
def test_the_words_of_a_probe_are_those_of_its_golden_file(way: Way) -> None:
    found = prompts.probe(BUNDLED, way, question=QUESTION, chain=CHAIN)
    assert shown(*found) == (GOLDEN / f"{named(way)}.txt").read_text("utf-8")


def test_the_question_alone_is_sent_as_it_is() -> None:
    assert prompts.solve(BUNDLED, QUESTION) == (Message("user", QUESTION),)


def test_the_baseline_is_the_sentence_of_the_study_between_question_and_chain() -> None:
    (message,), prefill = prompts.probe(BUNDLED, Way(), question=QUESTION, chain=CHAIN)
    assert message.content == f"{QUESTION}\n\nBelow is your previous thought.\n\n{CHAIN}"
    assert prefill is None


@pytest.mark.parametrize("attribution", ATTRIBUTIONS)
@pytest.mark.parametrize("channel", ["user", "assistant"])
def test_prefix_is_contradiction_and_the_beginning_of_a_reply(
    attribution: str, channel: str
) -> None:
    texts = {"question": QUESTION, "chain": CHAIN}
    plain, none = prompts.probe(BUNDLED, Way("contradiction", attribution, channel), **texts)
    prefixed, prefill = prompts.probe(BUNDLED, Way("prefix", attribution, channel), **texts)
    assert prefixed == plain
    assert none is None
    assert prefill == prompts.prefill(BUNDLED) == Prefill("content", BUNDLED.prefix)


def test_prefix_as_text_says_the_same_sentence_in_the_users_message() -> None:
    texts = {"question": QUESTION, "chain": CHAIN}
    (told,), none = prompts.probe(BUNDLED, Way(AS_TEXT), **texts)
    (plain,), _ = prompts.probe(BUNDLED, Way("contradiction"), **texts)
    assert none is None
    assert told.content.replace(f"\n\n{BUNDLED.prefix}", "") == plain.content


def test_a_chain_in_the_thinking_stands_in_no_message() -> None:
    messages, prefill = prompts.probe(
        BUNDLED, Way(channel="think_closed"), question=QUESTION, chain=CHAIN
    )
    assert messages == prompts.solve(BUNDLED, QUESTION)
    assert prefill == Prefill("thinking", CHAIN, closed=True)


@pytest.mark.parametrize("channel", ["think", "think_closed"])
def test_the_thinking_has_no_place_for_a_filter(channel: str) -> None:
    for method in (*METHODS[1:], AS_TEXT):
        way = Way(method, "own", channel)
        assert way.impossible == f"the channel {channel} has no place for the words of {method}"
        with pytest.raises(UserError, match="has no place"):
            prompts.probe(BUNDLED, way, question=QUESTION, chain=CHAIN)


@given(st.text(), st.text(), st.sampled_from(WAYS))
def test_question_and_chain_pass_through_untouched_and_are_read_back(
    question: str, chain: str, way: Way
) -> None:
    messages, prefill = prompts.probe(BUNDLED, way, question=question, chain=chain)
    texts = [*(message.content for message in messages), prefill.text if prefill else ""]
    assert texts[0].startswith(question)
    assert any(text.endswith(chain) for text in texts)
    assert prompts.read(BUNDLED, messages, prefill) == Read(question, way, chain)
    assert prompts.read(BUNDLED, prompts.solve(BUNDLED, question), None) == Read(question)


@pytest.mark.parametrize("hostile", ["{filter}", "{chain}{question}", "{0}{}{{", "%s", "\\1\\g<0>"])
def test_placeholders_in_a_text_are_text(hostile: str) -> None:
    (message,), _ = prompts.probe(
        BUNDLED, Way("uncertainty", "other"), question=hostile, chain=hostile
    )
    assert message.content.startswith(f"{hostile}\n\nBelow is a previous thought")
    assert message.content.endswith(f"\n\n{hostile}")


def test_a_chain_that_quotes_a_filter_does_not_change_the_method() -> None:
    said = "Below is your previous thought. It does contain errors; ignore them"
    assert said in prompts.probe(BUNDLED, Way("contradiction"), question="", chain="")[0][0].content
    quoting = f"{CHAIN}\n\n{said} and find the right answer.\n\n{CHAIN}"
    messages, _ = prompts.probe(BUNDLED, Way(), question=QUESTION, chain=quoting)
    assert prompts.read(BUNDLED, messages, None) == Read(QUESTION, Way(), quoting)


def test_a_text_without_a_filter_is_a_question() -> None:
    for text in ("", QUESTION, f"{QUESTION}\n\nHere is a thought.\n\n{CHAIN}"):
        assert prompts.read(BUNDLED, (Message("user", text),), None) == Read(text)


def test_other_turns_and_an_opening_without_its_method_are_not_read() -> None:
    turns = prompts.probe(BUNDLED, Way(channel="assistant"), question=QUESTION, chain=CHAIN)[0]
    opening = prompts.prefill(BUNDLED)
    assert prompts.read(BUNDLED, turns[:2], None) is None
    assert prompts.read(BUNDLED, turns[::-1], None) is None
    assert prompts.read(BUNDLED, turns, opening) is None
    messages, _ = prompts.probe(BUNDLED, Way(), question=QUESTION, chain=CHAIN)
    assert prompts.read(BUNDLED, messages, opening) is None


def test_a_chain_comes_back_alone_or_after_its_question_with_nothing_said_of_it() -> None:
    assert prompts.replay(BUNDLED, CHAIN) == (Message("user", CHAIN),)
    (message,) = prompts.replay(BUNDLED, CHAIN, QUESTION)
    assert message.content == f"{QUESTION}\n\n{CHAIN}"
    assert prompts.bare(BUNDLED, "42") == "The answer is 42."


def test_unknown_methods_and_attributions_name_the_nearest() -> None:
    texts = {"question": QUESTION, "chain": CHAIN}
    with pytest.raises(UserError, match="unknown method 'basline'; did you mean 'baseline'"):
        prompts.probe(BUNDLED, Way("basline"), **texts)
    with pytest.raises(UserError, match="unknown attribution 'others'; did you mean 'other'"):
        prompts.probe(BUNDLED, Way(attribution="others"), **texts)
    with pytest.raises(UserError, match="unknown channel 'asistant'; did you mean 'assistant'"):
        prompts.probe(BUNDLED, Way(channel="asistant"), **texts)


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
        way = Way(method, attribution)
        messages, _ = prompts.probe(own, way, question=QUESTION, chain=CHAIN)
        assert prompts.read(own, messages, None) == Read(QUESTION, way, CHAIN)


def test_reading_back_is_linear_in_hostile_text(tmp_path: Path) -> None:
    own = prompts.load(written(tmp_path / "p.toml", "[cpt]\nprobe = '{question}{filter}{chain}.'"))
    text = "Below is your previous thought." * 70_000
    assert prompts.read(own, (Message("user", text[:-1]),), None) == Read(text[:-1])
    found = prompts.read(own, (Message("user", text),), None)
    assert found is not None
    assert (found.question, found.way) == ("", Way())
    hostile = "\n\nBelow is your previous thought" * 70_000
    assert prompts.read(BUNDLED, (Message("user", hostile),), None) == Read(hostile)


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
        ("[cpt]\nsolve = 'Answer!'", r"solve has to hold \{question\} exactly once"),
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


if __name__ == "__main__":
    for way in WAYS:
        text = shown(*prompts.probe(BUNDLED, way, question=QUESTION, chain=CHAIN))
        (GOLDEN / f"{named(way)}.txt").write_text(text, "utf-8")
