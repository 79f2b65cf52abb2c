"""The bundled factual questions: sound, distinct, and drawn in seeded order."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from misled.errors import UserError
from misled.facts import facts, topics
from misled.problems import load

WORDS = re.compile(r"\w+")


def words(text: str) -> list[str]:
    return WORDS.findall(text.casefold())


def holds(text: str, part: str) -> bool:
    """Whether `part` stands in `text` as whole words."""
    found, sought = words(text), words(part)
    return any(found[i : i + len(sought)] == sought for i in range(len(found)))


def test_ids_and_questions_are_unique() -> None:
    assert len(facts()) == 500
    assert len({fact.id for fact in facts()}) == 500
    assert len({fact.question.casefold() for fact in facts()}) == 500
    assert all(fact.id.startswith(f"{fact.topic}-") for fact in facts())


def test_every_question_has_one_to_six_short_golds() -> None:
    for fact in facts():
        assert fact.question.endswith("?"), fact
        assert fact.question == " ".join(fact.question.split()), fact
        assert 1 <= len(fact.gold) <= 6, fact
        assert len(set(fact.gold)) == len(fact.gold), fact
        for gold in fact.gold:
            assert words(gold), fact
            assert gold == gold.strip(), fact
            assert len(gold.split()) <= 5, fact


def test_no_question_holds_its_answer() -> None:
    assert not [f for f in facts() for gold in f.gold if holds(f.question, gold)]


def test_levels_and_topics_are_spread() -> None:
    levels = Counter(fact.level for fact in facts())
    assert set(levels) == {1, 2, 3}
    assert all(150 <= count <= 185 for count in levels.values())
    assert len(topics()) == 12
    assert all(count >= 15 for count in Counter(fact.topic for fact in facts()).values())


def test_the_set_holds_each_question_once_in_seeded_order() -> None:
    found, rejects = load("facts", None, 0)
    assert not rejects
    assert {(p.id, p.question, p.gold) for p in found} == {
        (f.id, f.question, f.gold) for f in facts()
    }
    assert len({p.cluster for p in found}) == len(found) == 500
    assert load("facts", 7, 0)[0] == found[:7]
    assert load("facts", 7, 1)[0] != found[:7]


def test_a_topic_is_a_set_of_its_own() -> None:
    found, _ = load("facts:astronomy", None, 0)
    assert {p.id for p in found} == {f.id for f in facts() if f.topic == "astronomy"}
    assert {p.set for p in found} == {"facts:astronomy"}


@pytest.mark.parametrize(
    ("spec", "n", "message"),
    [
        ("facts:astrology", 1, "unknown topic of facts 'astrology'; did you mean 'astronomy'"),
        ("facts", 501, "facts has 500 questions, 501 were asked for"),
        ("fact", 1, "unknown problem set 'fact'; did you mean 'facts'"),
    ],
)
def test_what_cannot_be_served_is_one_line(spec: str, n: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        load(spec, n, 0)


def test_every_gold_is_right_in_the_ways_a_model_may_write_it() -> None:
    labels = pytest.importorskip("misled.labels", reason="no labels yet")
    wrong = [
        (fact.id, text)
        for fact in facts()
        for gold in fact.gold
        for text in (gold, f"{gold}.", f"The answer is {gold}.", f"**{gold}**", gold.lower())
        if not labels.label(text, fact.gold, of="text").y
    ]
    assert not wrong
