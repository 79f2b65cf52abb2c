"""Controlled chains: sound statements, put in without a trace in the chain, nested over k."""

from __future__ import annotations

import doctest
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from misled import interventions
from misled.draws import Draws
from misled.facts import Fact, facts
from misled.interventions import (
    DRAWN,
    PLACES,
    VARIANTS,
    Intervened,
    Intervention,
    content,
    fillers,
    intervene,
    pairs,
)
from misled.numbers import numbers
from misled.records import NotApplicable

CHAIN = """Let me see. The sum of 17 and 25 is what I want.

17 + 25 = 42. Wait, is that so? Check: 42 - 25 = 17. Good.

They ask for the sum alone.

So the answer is forty-two.
"""
CUT = """Let me see. The sum of 17 and 25 is what I want.

Wait, is that so? Good.

They ask for the sum alone.
"""
WORDS = re.compile(r"[\w-]+")

TEXTS = st.lists(
    st.sampled_from(
        ["A claim. ", "so it goes", ". ", "\n", "\n\n", "3 + 4 = 7. ", "？", "。", " "]
    ),
    max_size=30,
).map("".join)
CHAINS = TEXTS | st.text(max_size=80)
SEEDS = st.integers(0, 10_000)


def told(
    chain: str,
    variant: str = "statements",
    k: int = 0,
    place: str = "end",
    *,
    seed: int = 0,
    avoid: tuple[str, ...] = (),
) -> Intervened:
    found = intervene(chain, Intervention(variant, k, place), Draws(seed, "item"), avoid)
    assert isinstance(found, Intervened), found
    return found


def test_the_example_of_the_docstring_holds() -> None:
    assert doctest.testmod(interventions, optionflags=doctest.ELLIPSIS).failed == 0


# --- the bundled statements ------------------------------------------------------------------


def test_there_are_enough_statements_and_fillers_and_none_twice() -> None:
    assert len(pairs()) >= 40
    assert len(fillers()) >= 20
    every = [text for pair in pairs() for text in (pair.true, pair.false, pair.reworded)]
    assert not [text for text, n in Counter([*every, *fillers()]).items() if n > 1]
    for text in (*every, *fillers()):
        assert re.fullmatch(r"[A-Z][^.?!]*\.", text), text


def test_a_counterfactual_twin_differs_in_one_word() -> None:
    for pair in pairs():
        true, false = WORDS.findall(pair.true), WORDS.findall(pair.false)
        assert len(true) == len(false), pair
        assert sum(a != b for a, b in zip(true, false, strict=True)) == 1, pair


def test_a_reworded_statement_says_the_fact_again_and_not_its_twin() -> None:
    for pair in pairs():
        fact = content(pair.true) - content(pair.false)
        assert content(pair.reworded) & fact, pair
        assert not content(pair.reworded) & (content(pair.false) - content(pair.true)), pair


def test_content_is_what_a_text_is_about() -> None:
    assert content("How many legs does a spider have?") == {"many", "leg", "spider"}
    assert content("It has eight legs.") & content("8") == {"8"}
    assert content("It is 1,000 then.") >= {"1000"}


# --- what is put in --------------------------------------------------------------------------


@given(CHAINS, st.sampled_from(VARIANTS[:3]), st.integers(0, 4), st.sampled_from(PLACES), SEEDS)
def test_a_chain_stays_as_it_is_around_what_is_put_in(
    chain: str, variant: str, k: int, place: str, seed: int
) -> None:
    how = Intervention(variant, k, place)
    found = intervene(chain, how, Draws(seed, "item"), ())
    if isinstance(found, NotApplicable):
        assert not chain.strip() or place == "middle"
        return
    added = len(found.text) - len(chain)
    cuts = [
        i
        for i in range(len(chain) + 1)
        if found.text == chain[:i] + found.text[i : i + added] + chain[i:]
    ]
    assert cuts
    block = " ".join(found.statements)
    assert any(found.text[i : i + added].strip() == block for i in cuts)
    assert found.inserted == pytest.approx(added / len(found.text))
    assert found.removed == 0
    before, after = found.text.split(block)
    if place == "begin":
        assert not before.strip()
    if place == "end":
        assert not after.strip()
    if place == "middle":
        assert before.strip()
        assert after.strip()


@given(SEEDS, st.sampled_from(["statements", "true_edit"]))
def test_the_changed_statements_of_k_are_among_those_of_k_plus_1(seed: int, variant: str) -> None:
    by_k = [told(CHAIN, variant, k, seed=seed) for k in range(DRAWN + 1)]
    twins = {pair.true: (pair.false, pair.reworded)[variant == "true_edit"] for pair in pairs()}
    plain = by_k[0].statements
    assert len(set(plain)) == DRAWN
    for k, found in enumerate(by_k):
        assert len(found.changed) == k
        assert found.statements == tuple(
            twins[text] if i in found.changed else text for i, text in enumerate(plain)
        )
    assert all(set(a.changed) < set(b.changed) for a, b in pairwise(by_k))


@given(SEEDS, st.integers(0, 4))
def test_all_variants_and_places_of_an_item_share_its_four_statements(seed: int, k: int) -> None:
    false, reworded = (told(CHAIN, name, k, seed=seed) for name in ("statements", "true_edit"))
    assert false.changed == reworded.changed
    assert told(CHAIN, "statements", k, "begin", seed=seed).statements == false.statements
    filler = told(CHAIN, "filler", k, seed=seed)
    assert (filler.statements, filler.changed) == (told(CHAIN, "filler", seed=seed).statements, ())
    plain = told(CHAIN, seed=seed)
    lengths = [sum(map(len, found.statements)) for found in (filler, plain)]
    assert abs(lengths[0] - lengths[1]) <= 0.15 * lengths[1]


def test_items_differ_in_statements_and_in_which_are_changed() -> None:
    found = [told(CHAIN, k=1, seed=seed) for seed in range(200)]
    assert {text for f in found for text in f.statements} >= {pair.true for pair in pairs()}
    assert {f.changed for f in found} == {(0,), (1,), (2,), (3,)}


@given(st.lists(st.sampled_from(facts()), min_size=1, max_size=3), SEEDS)
def test_nothing_put_in_shares_a_content_word_with_question_answer_and_golds(
    chosen: list[Fact], seed: int
) -> None:
    avoid = tuple(text for fact in chosen for text in (fact.question, *fact.gold))
    shared = content("\n".join(avoid))
    for variant in VARIANTS[:3]:
        found = told(CHAIN, variant, 2, seed=seed, avoid=avoid)
        assert not content(" ".join(found.statements)) & shared


def test_a_paragraph_is_set_off_as_the_chain_sets_off_its_own() -> None:
    paragraphs = CHAIN.count("\n\n")
    for place in PLACES:
        assert told(CHAIN, place=place).text.count("\n\n") == paragraphs + 1
        assert told("One thing.\nAnother thing.", place=place).text.count("\n") == 2
        assert "\n" not in told("One thing. Another thing.", place=place).text
    assert told(CHAIN, place="begin").text.endswith("\n\n" + CHAIN)
    assert told(CHAIN).text.startswith(CHAIN.rstrip() + "\n\n")
    assert told(CHAIN).text.endswith(".\n")


def test_the_middle_is_between_paragraphs_if_one_ends_thereabouts() -> None:
    before, _, after = told(CHAIN, place="middle").text.partition(told(CHAIN).statements[0])
    assert before.endswith("Good.\n\n")
    assert after.endswith("alone.\n\nSo the answer is forty-two.\n")
    sentences = "So it is. " * 10
    middle = told("Well.\n" + sentences, place="middle")
    before = middle.text.partition(middle.statements[0])[0]
    assert 4 <= before.count("So it is.") <= 6


# --- other controls --------------------------------------------------------------------------


def cut(chain: str, value: str | None) -> Intervened | NotApplicable:
    return intervene(chain, Intervention("chain_cut"), Draws(0), (), value=value)


@pytest.mark.parametrize(
    ("chain", "value", "left"),
    [
        (CHAIN, "42", CUT),
        ("It is far. It is 1,200 km. Yes.", "1200", "It is far. Yes."),
        ("By road it is far. They say: Lyon. Then lyon it is.", "Lyon", "By road it is far."),
        (
            "He met Ann Lee. She is Ann\nLee. Anna Lee is not she.",
            "Ann Lee",
            "Anna Lee is not she.",
        ),
        (r"Halve it. It is \frac{1}{2}. Fine.", r"\frac{1}{2}", "Halve it. Fine."),
        ("We got 142 and 4.2. It is 42. Good.", "42", "We got 142 and 4.2. Good."),
    ],
)
def test_a_cut_takes_out_the_sentences_that_hold_the_value(
    chain: str, value: str, left: str
) -> None:
    found = cut(chain, value)
    assert isinstance(found, Intervened)
    assert found.text == left
    assert found.removed == pytest.approx(1 - len(left) / len(chain))
    assert found.inserted == 0


@given(st.lists(st.sampled_from(["It is 42. ", "Take 7.\n", "So 4 + 2 = 6. ", "Forty-two! "])))
def test_after_a_cut_the_value_stands_nowhere_and_the_rest_in_order(parts: list[str]) -> None:
    chain = "".join(parts)
    found = cut(chain, "42")
    assume(isinstance(found, Intervened))
    assert isinstance(found, Intervened)
    assert "42" not in {number.value for number in numbers(found.text)}
    kept = [part.strip() for part in parts if "42" not in part and "Forty" not in part]
    assert found.text.split() == " ".join(kept).split()


@pytest.mark.parametrize(
    ("chain", "value", "reason"),
    [
        (CHAIN, None, "no value"),
        (CHAIN, " ", "no value"),
        (CHAIN, "43", "no sentence holds the value"),
        ("It is 42.", "42", "every sentence holds the value"),
        ("", "42", "there is no chain"),
    ],
)
def test_a_cut_that_cannot_be_made_says_why(chain: str, value: str | None, reason: str) -> None:
    found = cut(chain, value)
    assert isinstance(found, NotApplicable)
    assert found.reason.startswith("chain_cut: ")
    assert reason in found.reason


def test_a_placebo_is_the_chain_of_another_item() -> None:
    how = Intervention("placebo")
    assert intervene(CHAIN, how, Draws(0), (), other="9 + 9 = 18.") == Intervened(
        "9 + 9 = 18.", inserted=1, removed=1
    )
    assert isinstance(intervene(CHAIN, how, Draws(0), ()), NotApplicable)


def test_an_item_that_speaks_of_everything_has_no_statement() -> None:
    avoid = [text for pair in pairs() for text in (pair.true, pair.false)]
    for variant in VARIANTS[:3]:
        assert isinstance(intervene(CHAIN, Intervention(variant), Draws(0), avoid), NotApplicable)


@pytest.mark.parametrize(
    "how", [Intervention("statement"), Intervention(place="mid"), Intervention(k=5)]
)
def test_what_is_no_intervention_is_an_error(how: Intervention) -> None:
    with pytest.raises(ValueError, match="is no intervention"):
        intervene(CHAIN, how, Draws(0), ())


@pytest.mark.parametrize("unit", ["7", "wait ", "\n", "42. ", "{", "a.", "<", ",", "四十二。"])
def test_hostile_chains_are_done_with(unit: str) -> None:
    chain = unit * (60_000 // len(unit))
    for place in PLACES:
        intervene(chain, Intervention(k=2, place=place), Draws(0), ())
    cut(chain, "42")
    cut(chain, "wait wait")
