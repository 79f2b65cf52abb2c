"""Tampering: exactly the result changes, by exactly the digits asked for, wherever it is stated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.answers import numbers, same
from misled.draws import Draws
from misled.errors import UserError
from misled.perturbations import PERTURBATIONS, result_of
from misled.records import Chain, Edited, NotApplicable

TRACES = Path(__file__).parents[2] / "shared" / "data" / "traces"
SCOPES = ("endings", "all", "last")


def tamper(text: str, name: str = "digits", **options: object) -> Edited | NotApplicable:
    """`text` as a chain without an answer, tampered with under a fixed stream."""
    return PERTURBATIONS[name](**options)(Chain(text, ""), Draws(0, "problem", "digits"))


def edited(text: str, name: str = "digits", **options: object) -> Edited:
    """The tampered chain of a text that can be tampered with."""
    found = tamper(text, name, **options)
    assert isinstance(found, Edited), found
    return found


def bare(value: str) -> str:
    """The digits of a value or a form, as ASCII."""
    return "".join(str(int(c)) for c in value if c.isdecimal())


def check(before: str, found: Edited, d_t: int) -> None:
    """The invariants of protocol A.3."""
    after = found.text
    assert len(before) == len(after)
    changed = {i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b}
    assert all(before[i].isdecimal() and after[i].isdecimal() for i in changed)
    old, new = bare(found.result), bare(found.tampered)
    assert len(old) == len(new)
    assert tuple(i for i in range(len(old)) if old[i] != new[i]) == found.places
    assert len(found.places) == d_t
    assert new[0] != "0"
    end = 0
    for edit in found.edits:
        assert edit.start >= end
        end = edit.end
        changed -= set(range(edit.start, edit.end))
        assert before[edit.start : edit.end] == edit.before
        assert after[edit.start : edit.end] == edit.after
        assert bare(edit.before).startswith(old)
        assert bare(edit.after).startswith(new)
    assert not changed
    assert found.edits


# --- random chains ---------------------------------------------------------------------------

SPELLINGS = ("{}", "{:,}", "{:,}.00", "${:,}", "({})", "**{:,}**", '"{}"', "\\boxed{{{:,}}}")
GAPS = (",", "{,}", ",\\!", "\\,", " ", "\u00a0", "\u202f")
STATING = (
    "So the sum is {}.",
    "12 + 5 = {}.",
    "Check: {} is the sum once more.",
    "Adding up the columns,\n\n  412\n+ 903\n-----\n{}\n",
    "Therefore the answer is {}.",
    "That gives {}, as before.",
)
USING = (
    "Now {} - 7 is the rest.",
    "We have 3 × {} in it.",
    "Take 8 from {} + 1 then.",
)
FILLING = (
    "Let me see. ",
    "Wait, is that so? ",
    "First take 12 and 5 apart. ",
    "Step 3: carry on. ",
    "Hmm, {n}7 and 9{n} are others, and so is 3{n}.5. ",
    "It lies near {n}1.2, below 4{n}4. ",
)


def spell(n: int, spelling: str, gap: str) -> str:
    return spelling.format(n).replace(",", gap) if "," in spelling else spelling.format(n)


@st.composite
def built_chains(draw: st.DrawFn) -> tuple[str, int, list[tuple[int, int]], int]:
    """A chain, its result, where that stands, and how many of the places state it."""
    n = draw(st.integers(1000, 10**15))
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    stated = at = 0
    for _ in range(draw(st.integers(1, 8))):
        states = draw(st.booleans())
        spellings = SPELLINGS if states else SPELLINGS[:5]  # a box is never an operand
        form = spell(n, draw(st.sampled_from(spellings)), draw(st.sampled_from(GAPS)))
        before, after = draw(st.sampled_from(STATING if states else USING)).split("{}")
        filler = draw(st.sampled_from(FILLING)).format(n=n)
        first = at + len(filler) + len(before)
        spans.append((first, first + len(form)))
        parts.append(filler + before + form + after + " ")
        at += len(parts[-1])
        stated += states
    ending = "So the final answer is "
    spans.append((at + len(ending), at + len(ending) + len(str(n))))
    return "".join(parts) + ending + f"{n}.", n, spans, stated + 1


@given(built_chains(), st.integers(1, 6))
def test_all_changes_every_place_of_the_result_and_no_other_number(
    built: tuple[str, int, list[tuple[int, int]], int], d_t: int
) -> None:
    text, n, spans, _ = built
    found = tamper(text, d_t=d_t, scope="all")
    if d_t > len(str(n)):
        assert isinstance(found, NotApplicable)
        assert found.reason.startswith("digits:")
        return
    assert isinstance(found, Edited)
    check(text, found, d_t)
    assert found.result == str(n)
    assert (found.unreached, found.w_left) == (0, 0)
    assert len(found.edits) == len(spans)
    for edit, (start, end) in zip(found.edits, spans, strict=True):
        assert start <= edit.start < edit.end <= end
    assert found.result not in {number.value for number in numbers(found.text)}


@given(built_chains(), st.integers(1, 4), st.sampled_from(["random", "high", "low", "anchored"]))
def test_endings_are_the_places_that_state_the_result_and_the_rest_is_left_and_counted(
    built: tuple[str, int, list[tuple[int, int]], int], d_t: int, place: str
) -> None:
    text, n, spans, stated = built
    everywhere = edited(text, d_t=d_t, scope="all", place=place)
    endings = edited(text, d_t=d_t, scope="endings", place=place)
    last = edited(text, d_t=d_t, scope="last", place=place)
    for found in (everywhere, endings, last):
        check(text, found, d_t)
        assert found.tampered == everywhere.tampered
        left = [number for number in numbers(found.text) if number.value == str(n)]
        assert found.w_left == len(left) == len(spans) - len(found.edits)
    assert set(endings.edits) <= set(everywhere.edits)
    assert len(endings.edits) == stated
    assert last.edits == endings.edits[-1:]


@given(
    st.integers(0, 10**12), st.sampled_from(["random", "high", "low", "anchored"]), st.integers()
)
def test_places_and_digits_nest_and_the_value_is_that_of_the_chain(
    n: int, place: str, seed: int
) -> None:
    chain = Chain(f"1 + 2 = {n}.", "")
    size = len(str(n))
    steps = []
    for d_t in range(1, min(size, 6) + 1):
        found = PERTURBATIONS["digits"](d_t=d_t, place=place)(chain, Draws(seed, "p", "digits"))
        assert isinstance(found, Edited)
        check(chain.reasoning, found, d_t)
        steps.append({i: found.tampered[i] for i in found.places})
    for fewer, more in pairwise(steps):
        assert fewer.items() < more.items()
    if place == "high":
        assert set(steps[-1]) == set(range(len(steps)))
    if place == "low":
        assert set(steps[-1]) == set(range(size - len(steps), size))
    if place == "anchored":
        assert {min(step) for step in steps} == {min(steps[0])}


# --- forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        *(
            "54063",
            "54,063",
            "54{,}063",
            "54,\\!063",
            "54\\,063",
            "54 063",
            "54\u2009063",
            "54_063",
        ),
        *("５４，０６３", "$54,063", "\\$54{,}063.00", "54063%", "-54,063", "−54063", "54.063,0"),
    ],
)
def test_each_form_keeps_its_script_its_separators_and_its_sign(form: str) -> None:
    found = edited(f"Adding up gives {form}. So the answer is {form}.", d_t=3)
    check(f"Adding up gives {form}. So the answer is {form}.", found, 3)
    assert len(found.edits) == 2
    assert all(edit.before in form for edit in found.edits)


def test_a_result_with_its_sign_holds_where_the_difference_is_stated() -> None:
    text = "63 - 22 = 41, and the other way round it is negative. So the answer is -41."
    found = edited(text, scope="all")
    assert [edit.before for edit in found.edits] == ["41", "-41"]
    assert found.tampered[0] == "-"
    assert found.w_left == 0


def test_the_last_decimal_never_becomes_0_and_trailing_zeros_stay() -> None:
    text = "2.5 × 3.5 = 8.750. So the answer is 8.75."
    for seed in range(40):
        made = PERTURBATIONS["digits"](d_t=3)(Chain(text, ""), Draws(seed))
        assert isinstance(made, Edited)
        check(text, made, 3)
        assert made.text[16] == "0"
        assert made.tampered[-1] != "0"


def test_a_decimal_without_its_point_is_the_result_in_hundredths() -> None:
    text = "In cents: 410075 + 320010 = 730085. So the answer is 7300.85."
    found = edited(text, scope="all", d_t=2)
    assert [edit.before for edit in found.edits] == ["730085", "7300.85"]
    assert found.w_left == 0


def test_forms_that_take_no_digits_are_left_and_counted() -> None:
    text = (
        "It is 2.5 \\times 10^3 or so. In words: two thousand five hundred. The digits: 2 5 0 0.\n"
        "So the answer is 2500."
    )
    found = edited(text, scope="all", d_t=4)
    assert [edit.before for edit in found.edits] == ["2500"]
    assert (found.unreached, found.w_left) == (3, 3)


def test_one_digit_never_becomes_0_and_takes_no_second() -> None:
    for seed in range(60):
        made = PERTURBATIONS["digits"]()(Chain("2 + 5 = 7", ""), Draws(seed))
        assert isinstance(made, Edited)
        assert made.tampered in set("12345689")
    refused = tamper("2 + 5 = 7", d_t=2)
    assert isinstance(refused, NotApplicable)
    assert refused.reason == "digits: the result has 1, fewer than 2"
    assert (refused.result, refused.w_left) == ("7", 1)


def test_listed_places_count_from_the_first_digit() -> None:
    found = edited("So the answer is 8,641.", d_t=2, place=[3, 0])
    assert found.places == (0, 3)
    assert found.text[18:22] == ",64" + found.tampered[3]
    refused = tamper("So the answer is 8,641.", d_t=1, place=[4])
    assert isinstance(refused, NotApplicable)
    assert refused.reason.startswith("digits:")


def test_inserting_and_deleting_change_the_length_and_group_anew() -> None:
    text = "13 × 5 = 64,065, no: 64,065.50. Hmm. So the answer is 64{,}065."
    longer = edited(text, "insert_digit", scope="all")
    shorter = edited(text, "delete_digit", scope="all")
    assert len(longer.tampered) == 6
    assert len(shorter.tampered) == 4
    assert [edit.after for edit in longer.edits] == [
        f"{longer.tampered[:3]},{longer.tampered[3:]}",
        f"{longer.tampered[:3]}{{,}}{longer.tampered[3:]}",
    ]
    assert [edit.after for edit in shorter.edits] == [
        f"{shorter.tampered[:1]},{shorter.tampered[1:]}",
        f"{shorter.tampered[:1]}{{,}}{shorter.tampered[1:]}",
    ]
    assert "64,065.50" in longer.text


@given(st.integers(0, 10**9), st.sampled_from(["insert_digit", "delete_digit"]), st.integers())
def test_a_value_of_another_length_begins_with_no_0_and_is_another(
    n: int, name: str, seed: int
) -> None:
    chain = Chain(f"So the answer is {n:,}.5.", "")
    made = PERTURBATIONS[name]()(chain, Draws(seed))
    if isinstance(made, NotApplicable):
        assert n < 10
        return
    assert made.tampered != made.result
    assert made.tampered[0] != "0"
    assert made.tampered.endswith(".5")
    assert result_of(Chain(made.text, "")) == made.tampered


# --- what states the result ------------------------------------------------------------------


def reached(text: str, scope: str) -> str:
    """The text with a `#` for each digit of the places in scope; the last line only concludes."""
    chain = f"{text}\nSo the answer is 42."
    found = edited(chain, scope=scope)
    assert result_of(Chain(chain, "")) == "42"
    for edit in found.edits:
        chain = chain[: edit.start] + "#" * len(edit.before) + chain[edit.end :]
    assert chain.endswith("##.")
    return chain.rpartition("\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        "f(42) = 7, g(7) = ##.",
        "f(7, 42) = 9.",
        "\\gcd(42, 7) = 7 and \\sin\\left(42\\right) = 1.",
        "f^{-1}(42) = 6 and a[42] = 3.",
        "Then 3(42) = 126.",
        "Compute print(42) next.",
    ],
)
def test_an_argument_is_the_result_but_does_not_state_it(text: str) -> None:
    assert reached(text, "endings") == text
    assert reached(text, "all") == text.replace("42", "##")


@pytest.mark.parametrize(
    "text",
    [
        "12:42 is the time.",
        "It opens at 9:42, so be there.",
        "It lasts 42:10 in all.",
        "The 42nd place is hers, and the 42^{nd} row.",
        "It is the 42-th: x_42 = 3 and x_{42} = 3.",
        "Step 42: carry on.",
        "By equation (42), and figure 42, this holds.",
        "See page 42, or Rule 42 of section 42.",
        "Seat #42 is hers.",
        "第42页有说明。",
        "第四十二页有说明。",
    ],
)
@pytest.mark.parametrize("scope", ["endings", "all"])
def test_a_name_an_ordinal_and_a_time_are_not_the_result(text: str, scope: str) -> None:
    assert reached(text, scope) == text
    assert edited(f"{text}\nSo the answer is 42.", scope="all").w_left == 0


def test_a_ratio_holds_the_result_and_a_page_may_be_the_result() -> None:
    assert reached("The ratio is 10:42 here.", "all") == "The ratio is 10:## here."
    found = edited("It is on page 42. So the answer is page 42.", scope="all")
    assert len(found.edits) == 2


@pytest.mark.parametrize(
    "text",
    [
        "17 + 25 = 42, as I said; so 42.",
        "It is thus 42. Hence 42! Therefore, 42 apples.",
        "Let me see. Yes 42.",
        "Yes, 42.",
        "That can be said better. 42.",
        "Is that right? 42.",
        "Right! 42 apples.",
        "I am sure now. **42**",
        "She is right, i.e. $42 in all.",
        "She has them all (that is 42).",
        "Both ways agree, namely 42.",
        "That's 42, and it's 42.",
        "She takes six of seven, which is 42. It would be 42.",
        "I'll go with 42.",
        "Result is 42 and the exact value is 42.",
        "So 42 should be the right number.",
        "六乘七，即42",
        "所以42。因此，42。",
    ],
)
def test_a_restatement_is_an_ending_whatever_it_is_part_of(text: str) -> None:
    assert reached(text, "endings") == text.replace("42", "##")


@pytest.mark.parametrize(
    "text",
    [
        "Is it 42?",
        "Wait, so is the answer 42?",
        "Hmm, does that give 42 apples?",
        "Could it be 42 in all?",
        "是42吗？",
        "If the answer is 42, she is late.",
        "Suppose there are 42 of them.",
        "Then 42 is even. 42 has two digits.",
        "Yes, 42 and 7 are even.",
        "So 42 - 17 is the rest.",
        "Yes (42 > 7).",
        "A. 42. B. 7.",
        "如果是42，就不对。",
    ],
)
def test_a_question_a_condition_and_a_remark_state_nothing(text: str) -> None:
    assert reached(text, "endings") == text
    assert reached(text, "all") == text.replace("42", "##")


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Is it 42? Yes. 42.", "Is it 42? Yes. ##."),
        ("Is 17 + 25 = 42? I get 42?", "Is 17 + 25 = ##? I get ##?"),
        ("If I add 25, I get 42.", "If I add 25, I get ##."),
        ("If I add 25 I get 42.", "If I add 25 I get ##."),
        ("So it comes to 42 apples? Let me check.", "So it comes to ## apples? Let me check."),
        ("Now f(6) + (17 + 19 = 42) is it.", "Now f(6) + (17 + 19 = ##) is it."),
    ],
)
def test_what_is_doubted_after_it_was_stated_is_stated(text: str, after: str) -> None:
    assert reached(text, "endings") == after


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("四十二", "42"), ("十七", "17"), ("二十", "20"), ("一百零二", "102"), ("两百", "200")),
        *(("一千零五", "1005"), ("九千九百九十九", "9999"), ("三百六十", "360")),
    ],
)
def test_a_chinese_numeral_is_left_and_counted(written: str, value: str) -> None:
    text = f"加起来等于{written}。答案是{value}。"
    for scope in ("endings", "all"):
        found = edited(text, scope=scope)
        assert len(found.edits) == 1
        assert (found.unreached, found.w_left) == (1, 1)


@pytest.mark.parametrize(
    "written",
    ["第四十二", "四十二万", "三百四十二", "四十二点五", "四十二分之一", "四二", "一百四十二"],
)
def test_other_chinese_numerals_are_not_the_result(written: str) -> None:
    assert edited(f"这里有{written}。答案是42。", scope="all").w_left == 0


def test_a_lone_chinese_character_is_a_numeral_where_it_is_stated() -> None:
    assert edited("等于七。七天。是七个。答案是7。", scope="all").w_left == 1
    assert edited("十二月。答案是12。", scope="all").w_left == 0
    assert edited("一百二。答案是102。", scope="all").w_left == 0


# --- the chain's own result ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("7 * 8 = 56", "56"),
        ("56", "56"),
        ("The answer is 54. Wait, 7 * 8 = 56. So the answer is 56.", "56"),
        ("\\boxed{54} is wrong. Thus \\boxed{56}.", "56"),
        ("So the product is 56, which is\n\n\\[\\boxed{56\\text{ m}}\\]", "56"),
        ("First, 8 rows of 7. Multiplying them, 8 × 7 = 56 seats.\n", "56"),
        ("Dividing 112 by 2 gives 56.\n\nTherefore, Ann needs 56 more seats.\n", "56"),
        ("It is 5.6 \\times 10^1, so the answer is approximately 56.", None),
        ("I will multiply the 8 rows by 7 seats to find the total.", None),
        ("The answer is 56. So she lives in \\boxed{\\text{Rome}}.", None),
        ("Error code: 503 - overloaded", None),
        ("", None),
    ],
)
def test_the_result_is_what_the_chain_concludes_with(text: str, result: str | None) -> None:
    assert result_of(Chain(text, "The answer is 99.")) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("So the answer is 7/9.", "result: a fraction"),
        ("So the answer is 0.75.", "result: below 1"),
        ("So the answer is seven.", "scope:"),
        ("Hmm.", "result: the chain states none"),
        ("So the answer is " + "7" * 1001 + ".", "result: longer"),
    ],
)
def test_what_cannot_be_tampered_with_says_why(text: str, reason: str) -> None:
    found = tamper(text)
    assert isinstance(found, NotApplicable)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    "options", [{"scope": "everywhere"}, {"place": "middle"}, {"d_t": 0}, {"scope": "ending"}]
)
def test_an_unknown_option_is_the_user_s_to_mend(options: dict[str, object]) -> None:
    with pytest.raises(UserError):
        PERTURBATIONS["digits"](**options)


@given(st.text(max_size=80) | st.text(alphabet="0123456789,.{}\\ /-$=aeinorsw\n", max_size=80))
def test_any_text_is_tampered_with_or_refused(text: str) -> None:
    for name in PERTURBATIONS:
        for scope in SCOPES:
            found = tamper(text, name, scope=scope)
            if isinstance(found, Edited) and name == "digits":
                check(text, found, 1)


@pytest.mark.parametrize(
    "unit", ["1,", "= 1 ", "7", "the answer is 42. ", "1 2 ", "\\boxed{1", "f(", "so 42. ", "十"]
)
def test_hostile_chains_take_linear_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    found = tamper(text, scope="all")
    assert isinstance(found, Edited) == (unit in ("= 1 ", "the answer is 42. ", "so 42. "))


# --- real chains -----------------------------------------------------------------------------


def real_chains() -> Iterator[tuple[str, Chain, str | None]]:
    """Every chain with its name, and the gold value where the source judged it right."""
    for path in sorted(TRACES.glob("*.jsonl")):
        for i, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            right = "class_Correct" in row["flags"] and len(row["reasoning"]) > 80
            gold = row["gold"] if right else None
            yield f"{path.stem}:{i}", Chain(row["reasoning"] or "", row["answer"] or ""), gold


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
@pytest.mark.parametrize("scope", SCOPES)
def test_no_invariant_breaks_on_any_real_chain(scope: str) -> None:
    done = 0
    for i, (name, chain, _) in enumerate(real_chains()):
        # The roles of steps, which `all` does not need, take most of the time.
        degrees = (1, 2 + i % 5) if scope == "all" else (1 + i % 6,)
        for d_t in degrees:
            found = PERTURBATIONS["digits"](d_t=d_t, scope=scope)(chain, Draws(0, name, "digits"))
            if isinstance(found, Edited):
                check(chain.reasoning, found, d_t)
                assert scope != "all" or found.w_left == found.unreached
                done += 1
    assert done > 150


@pytest.mark.skipif(not TRACES.exists(), reason="the real traces are not here")
def test_a_chain_that_its_source_judged_right_concludes_with_gold() -> None:
    pairs = [(result_of(chain), gold) for _, chain, gold in real_chains() if gold is not None]
    assert len(pairs) > 60
    hits = sum(result is not None and same(result, gold) for result, gold in pairs)
    assert hits >= 0.95 * len(pairs)
