"""Structures: whole steps go or come, all else stays, and a tampering survives where it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.answers import is_marked
from misled.asides import on_angles, on_the_task
from misled.chains import of, split
from misled.draws import Draws
from misled.numbers import numbers
from misled.perturbations import PERTURBATIONS, applied
from misled.records import Chain, Edit, Edited, NotApplicable
from misled.results import find, places
from misled.roles import steps
from misled.sentences import sentences
from misled.structures import STRUCTURES, Structure, combine, without_answer

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
DELETIONS = ("delete_reflection", "delete_verification", "delete_random", "delete_random_v")
INSERTIONS = ("insert", "insert_neutral")
CHAIN = (
    "We add 4,120 and 3,305. 4,120 + 3,000 = 7,120. 7,120 + 305 = 7,425.\n\n"
    "Wait, did I carry right? I might have dropped a digit somewhere above.\n\n"
    "Let me check: 7,425 - 3,305 = 4,120. Yes.\n\n"
    "So the answer is 7,425."
)
PIECES = [
    "12 + 30 = 42. ",
    "10 + 30 = 40, plus 2. ",
    "Wait, is that so? ",
    "Hmm.\n",
    "Alternatively, split it:\n\n",
    "Let me check: 42 - 30 = 12. ",
    "Let me check:\n",
    "- Yes, that matches.\n",
    "So the answer is 42.\n\n",
    "**Final Answer**\n\\boxed{42}",
    "There are two tanks. ",
    "\n\n",
    "\n   ",
    " ",
    "等等，不对。",
    "40加2得到42。",
    "验算一下：42减30等于12。",
    ":",
]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=24).map("".join)
chains = (texts | st.text()).map(lambda text: Chain(text, ""))


def edits(name: str, chain: Chain) -> tuple[Edit, ...] | NotApplicable:
    structure = STRUCTURES[name] if name in STRUCTURES else partial(answerless)
    return structure(chain, Draws(0, "problem", "structure"))


def answerless(chain: Chain, draws: Draws) -> tuple[Edit, ...] | NotApplicable:
    """The contrast without an answer as a structure; it draws nothing."""
    assert draws is not None
    return without_answer(chain)


def restructured(name: str, text: str) -> str:
    found = edits(name, Chain(text, ""))
    assert not isinstance(found, NotApplicable), found
    return applied(text, found)


def reason(name: str, text: str) -> str:
    found = edits(name, Chain(text, ""))
    assert isinstance(found, NotApplicable)
    return found.reason


def tampered(chain: Chain, d_t: int = 1, **options: object) -> Edited | NotApplicable:
    return PERTURBATIONS["digits"](d_t=d_t, **options)(chain, Draws(0, "problem", "digits"))


def stripped(text: str, end: int) -> int:
    """`end` without the white space before it."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def check(name: str, text: str, found: tuple[Edit, ...]) -> None:
    """What holds for every structure of every text."""
    at = 0
    starts = {start for start, _ in sentences(text)}
    cuts = {stripped(text, start) for start in (*starts, len(text))}
    after = applied(text, found)
    for edit in found:
        assert at <= edit.start <= edit.end
        assert text[edit.start : edit.end] == edit.before
        at = edit.end
        if edit.before:  # whole sentences, up to white space
            assert not edit.after
            assert {stripped(text, edit.start), stripped(text, edit.end)} <= cuts
        else:
            assert name in INSERTIONS
            assert edit.start in starts
    assert after.count("\n\n\n") <= text.count("\n\n\n")
    assert text[:1].isspace() or not after[:1].isspace()
    assert text[-1:].isspace() or not after[-1:].isspace()


# --- any text --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*STRUCTURES, "no_answer_line"])
@given(chain=chains)
def test_all_but_whole_sentences_stays_on_any_text(name: str, chain: Chain) -> None:
    found = edits(name, chain)
    if not isinstance(found, NotApplicable):
        check(name, chain.reasoning, found)
        assert found == edits(name, chain)


@pytest.mark.parametrize("role", ["reflection", "verification"])
@given(chain=chains)
def test_every_step_of_the_role_goes_and_else_only_what_announces_it(
    role: str, chain: Chain
) -> None:
    text, found = chain.reasoning, edits(f"delete_{role}", chain)
    ours = [step for step in steps(text) if step.role == role]
    if isinstance(found, NotApplicable):
        assert not ours or "nothing" in found.reason
        return
    gone = {i for edit in found for i in range(edit.start, edit.end)}
    for step in steps(text):
        inside = {i for i in range(step.start, step.end) if not text[i].isspace()}
        if step.role == role:
            assert inside <= gone
        else:
            for start, end in sentences(text):
                whole = {i for i in range(start, end) if not text[i].isspace()}
                if whole <= inside and whole & gone:
                    assert text[start:end].rstrip().rstrip("*_ ").endswith((":", "："))


@given(chain=chains, name=st.sampled_from([*STRUCTURES, "no_answer_line"]), d_t=st.integers(1, 2))
def test_a_tampered_place_is_left_whole_or_goes_whole(chain: Chain, name: str, d_t: int) -> None:
    tampering, found = tampered(chain, d_t), edits(name, chain)
    if isinstance(tampering, NotApplicable) or isinstance(found, NotApplicable):
        return
    both = combine(chain, found, tampering)
    if isinstance(both, NotApplicable):
        assert both.reason == "structure: it takes away every tampered place"
        return
    check_combined(chain, found, tampering, both)


def check_combined(chain: Chain, found: tuple[Edit, ...], tampering: Edited, both: Edited) -> None:
    text = chain.reasoning
    assert set(both.edits) <= set(tampering.edits)
    assert both.deleted == len(tampering.edits) - len(both.edits)
    assert (both.result, both.tampered, both.places) == (
        tampering.result,
        tampering.tampered,
        tampering.places,
    )
    assert both.unreached <= tampering.unreached
    assert both.w_left <= tampering.w_left
    every = sorted([*found, *both.edits], key=lambda edit: (edit.start, edit.end))
    assert all(a.end <= b.start for a, b in pairwise(every))
    assert applied(text, every) == both.text
    result = find(chain)
    assert result is not None
    left = [p for p in places(text, result) if not any(e.start <= p.start < e.end for e in every)]
    assert len(left) == both.w_left


# --- own examples ----------------------------------------------------------------------------


def test_intact_changes_nothing() -> None:
    tampering = tampered(Chain(CHAIN, ""))
    assert isinstance(tampering, Edited)
    assert edits("intact", Chain(CHAIN, "")) == ()
    assert combine(Chain(CHAIN, ""), (), tampering) == tampering


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("delete_reflection", CHAIN, CHAIN.replace(CHAIN.split("\n\n")[1] + "\n\n", "")),
        ("delete_verification", CHAIN, CHAIN.replace(CHAIN.split("\n\n")[2] + "\n\n", "")),
        ("no_answer_line", CHAIN, CHAIN.rpartition("\n\n")[0]),
        ("delete_reflection", "1 + 1 = 2. Wait, no.\n\nSo 2.", "1 + 1 = 2.\n\nSo 2."),
        ("delete_reflection", "1 + 1 = 2.\n\nWait, no. 3 + 2 = 5.", "1 + 1 = 2.\n\n3 + 2 = 5."),
        ("delete_reflection", "- 1 + 1 = 2\n- Wait.\n  - 3 + 2 = 5", "- 1 + 1 = 2\n  - 3 + 2 = 5"),
        ("delete_reflection", "Wait, is it 2? 1 + 1 = 2.", "1 + 1 = 2."),
        ("delete_reflection", "1 + 1 = 2. Hmm, maybe not.", "1 + 1 = 2."),
        ("delete_reflection", "1 + 1 = 2.\nOh:\nA sign:\nIs it so?\n3 = 3.", "1 + 1 = 2.\n3 = 3."),
        ("delete_reflection", "1加1得到2。等等，不对。3加2得到5。", "1加1得到2。3加2得到5。"),
        ("no_answer_line", "1 + 1 = 2.\n\n**Final Answer**\n\n\\boxed{2}\n", "1 + 1 = 2.\n"),
    ],
)  # fmt: skip
def test_a_deletion_leaves_the_text_as_if_it_had_been_written_so(
    name: str, text: str, expected: str
) -> None:
    assert restructured(name, text) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("delete_reflection", "1 + 1 = 2.", "structure: the chain has no reflection"),
        ("delete_random", "1 + 1 = 2.", "structure: the chain has no reflection"),
        ("insert", "1 + 1 = 2.", "structure: the chain has no reflection"),
        ("delete_verification", "1 + 1 = 2.", "structure: the chain has no verification"),
        ("no_answer_line", "1 + 1 = 2.", "structure: the chain has no conclusion"),
        ("insert", "1 + 1 = 2. Hmm, no.", "structure: no verification follows a reflection"),
        ("delete_reflection", "Hmm, no. Wait.", "structure: it would leave nothing of the chain"),
        ("delete_random", CHAIN, "structure: too little calculation to match the reflection"),
        ("delete_random_v", "1 + 1 = 2. Hmm.", "structure: the chain has no verification"),
        (
            "delete_random_v",
            f"1 + 1 = 2.{CHAIN[-62:]}",
            "structure: too little calculation to match the verification",
        ),
    ],
)
def test_what_is_missing_is_named(name: str, text: str, expected: str) -> None:
    assert reason(name, text) == expected


def test_a_deletion_counts_the_tampered_places_that_it_takes_away() -> None:
    chain = Chain(CHAIN.replace("Yes.", "So 7,425 it is, and 4,120 + 3,305 = 7,425."), "")
    tampering, found = tampered(chain), edits("delete_verification", chain)
    assert isinstance(tampering, Edited)
    assert not isinstance(found, NotApplicable)
    both = combine(chain, found, tampering)
    assert isinstance(both, Edited)
    assert both.deleted > 0
    assert len(both.edits) + both.deleted == len(tampering.edits)
    check_combined(chain, found, tampering, both)


def test_a_structure_that_takes_every_tampered_place_does_not_apply() -> None:
    chain = Chain("So the answer is 425. Hmm, maybe.", "")
    tampering, found = tampered(chain), without_answer(chain)
    assert isinstance(tampering, Edited)
    assert not isinstance(found, NotApplicable)
    assert isinstance(combine(chain, found, tampering), NotApplicable)


@pytest.mark.parametrize("scope", ["endings", "all", "last"])
def test_unreached_places_are_counted_anew_in_every_scope(scope: str) -> None:
    text = (
        "6 * 7 = 42. 42 + 1 = 43. Check: 6 + 36 = forty-two. Check: 40 + 2 = 42. The answer is 42."
    )
    chain = Chain(f"{text} Hmm, no.", "")
    tampering, found = tampered(chain, scope=scope), edits("delete_verification", chain)
    assert isinstance(tampering, Edited)
    assert not isinstance(found, NotApplicable)
    both = combine(chain, found, tampering)
    assert isinstance(both, Edited)
    assert both.unreached == 0


# --- insertions and controls -----------------------------------------------------------------


@pytest.mark.parametrize("name", INSERTIONS)
def test_an_insertion_stands_before_the_verification_in_a_paragraph_of_its_own(name: str) -> None:
    before, after = CHAIN.split("\n\nLet me check")
    found = restructured(name, CHAIN)
    assert found.startswith(f"{before}\n\n")
    assert found.endswith(f"\n\nLet me check{after}")


def test_an_insertion_goes_before_what_announces_the_check_and_not_before_a_mere_yes() -> None:
    text = "1 + 1 = 2. Wait, is it? Yes. 3 + 2 = 5. One more look:\nLet me check: 5 - 2 = 3."
    found = edits("insert", Chain(text, ""))
    assert not isinstance(found, NotApplicable)
    assert text[found[0].start :].startswith("One more look")


@given(st.lists(st.integers(101, 1699), max_size=300), st.integers(0, 99), st.integers(1, 60))
def test_an_angle_shares_no_number_with_the_chain_and_is_right(
    tenths: list[int], seed: int, n: int
) -> None:
    chain = ". ".join(f"{t / 10}" for t in tenths)
    written = " ".join(islice(on_angles(chain, Draws(seed)), n))
    ours = {number.value for number in numbers(written)}
    assert not ours & {number.value for number in numbers(chain)}
    for a, sign, b, c in re.findall(r"([\d.]+) ([+-]) ([\d.]+) = ([\d.]+\d)", written):
        assert round(float(a) + (1 if sign == "+" else -1) * float(b), 1) == float(c)


def test_an_angle_without_free_numbers_is_only_talked_about() -> None:
    chain = " ".join(str(t / 10) for t in range(101, 1700))
    assert not numbers(" ".join(islice(on_angles(chain, Draws(0)), 50)))


def test_neutral_text_holds_no_number_and_repeats_itself_late() -> None:
    written = list(islice(on_the_task(CHAIN, Draws(0)), 70))
    assert not numbers(" ".join(written))
    assert not re.search(r"\d", "".join(written))
    assert len(set(written)) == 70


@pytest.mark.parametrize("name", INSERTIONS)
@given(n=st.integers(1, 40), seed=st.integers(0, 9))
def test_an_insertion_is_as_long_as_a_reflection_to_within_a_sentence(
    name: str, n: int, seed: int
) -> None:
    doubt = " ".join(["Hmm, maybe that is not what was meant."] * n)
    chain = Chain(f"1 + 1 = 2. {doubt} Let me check: 2 - 1 = 1.", "")
    found = STRUCTURES[name](chain, Draws(seed))
    assert not isinstance(found, NotApplicable)
    assert abs(len(found[0].after) - len(doubt)) <= 60


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 50))
def test_a_control_deletes_calculation_without_the_result_as_long_as_what_it_controls(
    doubts: int, checks: int, seed: int
) -> None:
    doubt, check = "Hmm, maybe not so. " * doubts, "Let me verify: 300 - 9 = 291. " * checks
    sums = " ".join(f"{i} + {i + 7} = {2 * i + 7}." for i in range(200, 260))
    chain = Chain(f"{sums} 500 + 9 = 509. {doubt}{check}So the answer is 509.", "")
    for name, matched in (("delete_random", doubt), ("delete_random_v", check)):
        found = STRUCTURES[name](chain, Draws(seed))
        assert not isinstance(found, NotApplicable)
        gone = "".join(edit.before for edit in found)
        assert not any(word in gone for word in ("509", "Hmm", "verify"))
        assert abs(len(gone) - len(matched)) <= 12


def test_the_control_depends_on_the_draws() -> None:
    sums = "\n\n".join(f"{i} + {i + 7} = {2 * i + 7}.\n\nNext one." for i in range(200, 260))
    chain = Chain(f"{sums}\n\nHmm, maybe not so.", "")
    assert len({STRUCTURES["delete_random"](chain, Draws(seed)) for seed in range(9)}) > 1


# --- real and hostile text -------------------------------------------------------------------


@cache
def real_chains() -> tuple[tuple[str, Chain], ...]:
    return tuple(_real_chains())


def _real_chains() -> Iterator[tuple[str, Chain]]:
    """Every eighth real chain that is short, so that the test stays fast; the rest was measured."""
    for path in sorted(TRACES.glob("*.jsonl")):
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines()[::8]):
            row = json.loads(line)
            chain = split(row["raw"]) if row["raw"] else of(row["answer"] or "", row["reasoning"])
            if 0 < len(chain.reasoning) < 6000:
                yield f"{path.stem}:{i}", chain


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
def test_no_invariant_breaks_on_real_chains() -> None:
    applicable = dict.fromkeys([*STRUCTURES, "no_answer_line"], 0)
    for _, chain in real_chains():
        tampering = tampered(chain)
        for name in applicable:
            found = edits(name, chain)
            if isinstance(found, NotApplicable):
                continue
            applicable[name] += 1
            check(name, chain.reasoning, found)
            both = combine(chain, found, tampering) if isinstance(tampering, Edited) else None
            if isinstance(both, Edited) and isinstance(tampering, Edited):
                check_combined(chain, found, tampering, both)
                assert not name.startswith("delete_random") or both.deleted == 0
    total = len(real_chains())
    assert total > 50
    assert applicable["delete_reflection"] >= 0.8 * total
    assert applicable["delete_verification"] >= 0.7 * total
    assert applicable["no_answer_line"] >= 0.8 * total


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
def test_a_real_chain_without_its_answer_says_it_no_more_and_still_calculates() -> None:
    said = lost = tried = 0
    for _, chain in real_chains():
        found = without_answer(chain)
        if isinstance(found, NotApplicable):
            continue
        text = applied(chain.reasoning, found)
        before, after = ({s.role for s in steps(t)} for t in (chain.reasoning, text))
        tried += 1
        lost += "calculation" in before - after
        said += is_marked(text)
    assert max(said, lost) <= 0.05 * tried


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
def test_real_insertions_share_no_number_and_have_the_median_length() -> None:
    for _, chain in real_chains():
        text = chain.reasoning
        lengths = [s.end - s.start for s in steps(text) if s.role == "reflection"]
        for name in INSERTIONS:
            found = edits(name, chain)
            if isinstance(found, NotApplicable):
                continue
            new = found[0].after
            assert not {n.value for n in numbers(new)} & {n.value for n in numbers(text)}
            assert abs(len(new) - median(lengths)) <= 90


@pytest.mark.parametrize(
    "unit", ["Wait:\n", "12 = 42. Wait? Check. ", "\n", "wait ", "( ", "。", "42"]
)
@pytest.mark.parametrize("name", STRUCTURES)
def test_hostile_text_takes_linear_time(unit: str, name: str) -> None:
    chain = Chain(unit * (60_000 // len(unit)), "")
    found = edits(name, chain)
    assert isinstance(found, NotApplicable) or applied(chain.reasoning, found) is not None


def test_a_structure_is_a_function_of_chain_and_draws() -> None:
    structures: list[Structure] = list(STRUCTURES.values())
    assert len(structures) == 7
