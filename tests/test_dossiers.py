"""What a reader is shown of one trial: all that was sent and received, rightly marked, and why."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misled import metrics, reasons, reasons_judge, replies
from misled.answers import canonical
from misled.dossiers import LONGEST, Dossier, Section
from misled.numbers import ascii_digits
from misled.recall import recall
from misled.records import OUTCOMES, Failure, Response
from misled.row import Judged, Row
from trial_runs import CPT, JUDGE, Run, carried, said, texts

GOLDEN = Path(__file__).parent / "golden" / "dossiers"


@pytest.fixture(scope="module")
def cpt(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Run, list[dict[str, Any]], list[Dossier]]:
    return opened(CPT, tmp_path_factory.mktemp("cpt"))


@pytest.fixture(scope="module")
def judge(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Run, list[dict[str, Any]], list[Dossier]]:
    return opened(JUDGE, tmp_path_factory.mktemp("judge"))


Opened = tuple[Run, list[dict[str, Any]], list[Dossier]]


def opened(plan: dict[str, Any], directory: Path) -> Opened:
    run = carried(plan, directory)
    return run, run.rows.to_dicts(), run.dossiers()


# --- what was sent and received ----------------------------------------------------------------


def whole(found: Opened) -> None:
    """The messages are those of the store, and so is the reply, to the letter."""
    run, rows, dossiers = found
    with run.store() as store:
        kept = recall(store, [str(row["request"]) for row in rows])
    assert kept
    for row, dossier in zip(rows, dossiers, strict=True):
        shown = texts(dossier)
        if row["request"] not in kept:
            assert "Messages sent" not in shown
            continue
        request, reply = kept[row["request"]]
        turns = shown["Messages sent"].messages
        sent = [message.content for message in request.messages]
        sent += [request.prefill.text] if request.prefill else []
        assert [said(turn) for turn in turns] == sent
        assert isinstance(reply, Response)
        parts = [section for section in dossier.sections if section.title.startswith("Reply")]
        assert "".join(map(said, parts)) == (reply.reasoning or "") + reply.content


def test_what_is_shown_of_a_solver_is_what_was_sent_and_received(cpt: Opened) -> None:
    whole(cpt)


def test_what_is_shown_of_a_judge_is_what_was_sent_and_received(judge: Opened) -> None:
    whole(judge)


def test_the_runs_have_every_arm_and_condition(cpt: Opened, judge: Opened) -> None:
    arms = {row["arm"] for row in cpt[1]}
    assert arms == {
        *("source", "gate", "tampered", "clean", "again", "no_answer_line", "bare", "other_number"),
        *("foreign", "replay", "replay_question", "replay_text"),
    }
    outcomes = {row["outcome"] for row in cpt[1]}
    assert {"adopted", "recovered", "not_applicable", "unsupported"} <= outcomes
    conditions = {row["condition"] for row in judge[1]}
    assert conditions == {*JUDGE["cells"][0]["conditions"], None} - {"closed_book"}


# --- study A -----------------------------------------------------------------------------------


def test_in_every_changed_place_so_many_digits_are_marked_as_were_changed(cpt: Opened) -> None:
    checked = 0
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        chain = texts(dossier).get("The chain as sent")
        if row["arm"] != "tampered" or row["perturbation"] != "digits" or chain is None:
            continue
        changed = [piece for piece in chain.pieces if "tampered" in piece[1]]
        assert sum(len(piece[0]) for piece in changed) == row["occurrences"] * row["d_t"]
        assert all(a != b for p in changed for a, b in zip(p[0], p[2], strict=True))
        assert f"{row['occurrences']} place" in chain.note
        checked += 1
    assert checked > 20


def test_the_chain_as_sent_stands_in_the_messages_with_its_marks(cpt: Opened) -> None:
    for dossier in cpt[2]:
        shown = texts(dossier)
        chain = shown.get("The chain as sent")
        if chain is None:
            continue
        turns = shown["Messages sent"].messages
        (turn,) = [turn for turn in turns if said(chain) in said(turn)]
        marks = [piece for piece in turn.pieces if "tampered" in piece[1]]
        assert marks == [piece for piece in chain.pieces if "tampered" in piece[1]]
        assert {style for _, style, *_ in chain.pieces} & {"calculation", "other", "conclusion"}


def test_clean_chains_have_no_mark_but_what_a_structure_put_in(cpt: Opened) -> None:
    put = Counter[str]()
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        chain = texts(dossier).get("The chain as sent")
        if row["arm"] == "clean" and chain is not None:
            styles = " ".join(piece[1] for piece in chain.pieces)
            assert "tampered" not in styles
            put[row["structure"]] += "inserted" in styles
            if row["structure"].startswith("delete"):
                assert "characters taken out" in chain.note
    assert put["insert"]
    assert not put["intact"]


def test_digits_are_aligned_as_they_were_graded(cpt: Opened) -> None:
    seen = Counter[str]()
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        shown = texts(dossier).get("The answer, digit by digit")
        if row["value"] is None:
            assert shown is None
            continue
        assert shown
        assert shown.digits
        did = Counter(place[3] for place in shown.digits.rows)
        if row["reason"] == "form":
            assert not did
        elif row["n_adopted"] is not None:
            assert did["adopted"] == row["n_adopted"]
            assert did["adopted"] + did["wrong"] == row["n_wrong"]
            assert did["adopted"] + did["kept"] <= len(row["tampered"])
            for column, name in enumerate(("gold", "tampered", "value")):
                assert "".join(p[column] for p in shown.digits.rows) == row[name]
        seen += did
    assert min(seen[name] for name in ("same", "kept", "adopted", "wrong")) > 0


def test_the_value_is_marked_in_the_reply_and_in_it_the_digits_taken_over(cpt: Opened) -> None:
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        pieces = [
            piece
            for section in dossier.sections
            if section.title.startswith("Reply")
            for piece in section.pieces
            if "value" in piece[1].split()
        ]
        value = "".join(piece[0] for piece in pieces)
        assert (canonical(value) if value else None) == row["value"]
        taken = "".join(piece[0] for piece in pieces if "adopted" in piece[1])
        assert len(ascii_digits(taken)) == (row["n_adopted"] or 0)


def test_what_was_not_asked_says_why_and_shows_the_chain(cpt: Opened) -> None:
    seen = Counter[str]()
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        if row["outcome"] not in {"not_applicable", "unsupported"}:
            continue
        seen[row["outcome"]] += 1
        assert row["reason"] in dossier.why
        titles = texts(dossier)
        assert not [title for title in titles if title.startswith("Reply")]
        if row["arm"] == "tampered":
            assert {
                "The chain, of which nothing was sent",
                "The chain that would have been sent",
            } & {*titles}
    assert len(seen) == 2


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Run:
    plan = {"study": "cpt", "model": ["planted/credulous"], "n": 1, "cells": [
        {"problems": ["addition:15+13"], "digits": [2], "methods": ["baseline"]}]}  # fmt: skip
    return carried(plan, tmp_path_factory.mktemp("single"))


def otherwise(run: Run, **changes: Any) -> dict[str, Section]:
    """The tampered trial, as a version shows it whose study differs in this."""
    (unit,) = run.session.units()
    study = msgspec.structs.replace(unit.study, **changes)
    trials = run.trials
    key = (unit.problem.set, unit.problem.id, unit.target)
    trials._units[key] = msgspec.structs.replace(unit, study=study)
    place = run.rows["arm"].to_list().index("tampered")
    with run.store() as store:
        (found,) = trials.dossiers(store, [place])
    return texts(found)


def test_a_chain_that_this_version_tampers_with_otherwise_is_shown_without_marks(
    single: Run,
) -> None:
    plan = msgspec.structs.replace(single.session.plan, seed=1)
    shown = otherwise(single, plan=plan)
    chain = shown["The chain as sent"]
    assert "nothing is marked" in chain.note
    assert not [piece for piece in chain.pieces if "tampered" in piece[1]]
    assert said(chain) in said(shown["Messages sent"].messages[0])


def test_a_chain_is_found_in_words_that_this_version_does_not_know(single: Run) -> None:
    words = msgspec.structs.replace(
        single.session.inputs.prompts, probe="{chain} {filter} {question}"
    )
    shown = otherwise(single, prompts=words)
    chain = shown["The chain as sent"]
    assert [piece for piece in chain.pieces if "tampered" in piece[1]]
    assert said(chain) in said(shown["Messages sent"].messages[0])


def test_what_a_method_says_of_the_chain_stands_in_the_open(cpt: Opened) -> None:
    words = cpt[0].session.inputs.prompts
    seen = Counter[str]()
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        shown = texts(dossier)
        around = shown.get("What was said of the chain")
        given = shown.get("The beginning of the reply, as given")
        if "Messages sent" not in shown or "The chain as sent" not in shown or row["mode"] == "x":
            assert around is None
            continue
        if row["arm"].startswith("replay") or row["channel"] == "think":
            assert around is None
            continue
        assert around is not None
        assert not around.fold
        assert said(around) in "".join(said(turn) for turn in shown["Messages sent"].messages)
        warns = row["method"] in {"contradiction", "prefix", "prefix_as_text"}
        assert ("It does contain errors" in said(around)) == warns
        assert (given is not None) == (row["method"] == "prefix")
        assert given is None or said(given) == words.prefix
        seen[row["method"]] += 1
    assert {"baseline", "prefix", "prefix_as_text"} <= {*seen}


def test_a_title_names_who_was_asked_how_and_what_came_of_it(cpt: Opened, judge: Opened) -> None:
    for row, dossier in zip(cpt[1], cpt[2], strict=True):
        head = dossier.title.partition(" (")[0]
        who, _, outcome = head.rpartition(": ")
        assert outcome == reasons.called(row["arm"], row["outcome"], row["reason"])
        assert outcome == dict(dossier.facts)["outcome"]
        degree = f"D_T {row['d_t']}" if row["d_t"] is not None else None
        assert who.split(", ") == [x for x in (row["target"], row["method"], degree) if x]
        assert f"{row['set']} {row['problem']}, {row['arm']}" in dossier.title
    for row, dossier in zip(judge[1], judge[2], strict=True):
        asked = row["arm"] in {"judge", "closed_book"}
        assert dossier.title.startswith(row["judge" if asked else "generator"])
        assert row["verdict"] is None or f": {row['verdict']}" in dossier.title


@pytest.mark.parametrize(
    ("arm", "outcome", "reason", "name"),
    [
        ("tampered", "recovered", None, "recovered"),
        ("bare", "adopted", None, "adopted"),
        ("gate", "recovered", None, "right"),
        ("clean", "adopted", None, "wrong, as if adopted"),
        ("again", "partial", None, "wrong"),
        ("source", "other", "own", "wrong"),
        ("source", "other", "chain_result", "right, but not its chain"),
        ("gate", "truncated", None, "truncated"),
    ],
)
def test_where_nothing_tampered_was_shown_an_outcome_is_right_or_wrong(
    arm: str, outcome: str, reason: str | None, name: str
) -> None:
    assert reasons.called(arm, outcome, reason) == name


# --- study B -----------------------------------------------------------------------------------


def test_every_verdict_is_marked_where_it_was_read(judge: Opened) -> None:
    marked = Counter[str]()
    for row, dossier in zip(judge[1], judge[2], strict=True):
        if row["verdict"] is None:
            continue
        pieces = [p for s in dossier.sections if s.title.startswith("Reply") for p in s.pieces]
        (word,) = [piece[0] for piece in pieces if "verdict" in piece[1]]
        marked[f"{row['verdict']} {word.lower()}"] += 1
    assert {"accept correct", "reject incorrect"} <= {*marked}


def test_both_verdicts_stand_side_by_side_with_what_the_chain_did(judge: Opened) -> None:
    turned = Counter[str]()
    by_id = {dossier.id: row for row, dossier in zip(judge[1], judge[2], strict=True)}
    for row, dossier in zip(judge[1], judge[2], strict=True):
        if row["condition"] not in {"answer", "reasoning"}:
            continue
        assert [side.title for side in dossier.sides] == ["without the chain", "with the chain"]
        said_both = [by_id[side.id]["verdict"] for side in dossier.sides]
        for side, verdict in zip(dossier.sides, said_both, strict=True):
            assert dict(side.facts)["verdict"] == verdict or verdict is None
            assert [p for p in side.sections[0].pieces if "verdict" in p[1]] or verdict is None
        found = dict(dossier.facts).get("transition")
        assert found == reasons_judge.transition(row["label"], *said_both)
        turned[str(found)] += 1
        if found in {"misled", "corrected", "reassured", "overcritical"}:
            assert found in dossier.why
    assert {"misled", "corrected", "reassured", "overcritical"} <= {*turned}


def test_a_chain_is_shown_as_shown_only_where_the_judge_was_shown_it(judge: Opened) -> None:
    hidden = {"answer", "again_answer", "self_hidden"}
    for row, dossier in zip(judge[1], judge[2], strict=True):
        if row["arm"] != "judge" or row["outcome"] == "not_applicable":
            continue
        shown = texts(dossier)
        assert ("The chain as shown" in shown) == (row["condition"] not in {*hidden, "null"})
        sent = "".join(said(turn) for turn in shown["Messages sent"].messages)
        assert said(shown["The answer that was judged"]) in sent
        if "The chain as shown" in shown:
            assert said(shown["The chain as shown"]) in sent
        if row["condition"] in hidden:
            assert shown["The chain, which the judge was not shown"].fold


def test_statements_that_were_put_in_are_marked_and_false_ones_with_what_is_true(
    judge: Opened,
) -> None:
    for row, dossier in zip(judge[1], judge[2], strict=True):
        chain = texts(dossier).get("The chain as shown")
        if row["condition"] != "controlled" or chain is None:
            continue
        put = [piece for piece in chain.pieces if "inserted" in piece[1]]
        false = [piece for piece in put if "tampered" in piece[1]]
        if row["variant"] in {"statements", "filler", "true_edit"}:
            assert "4 sentences put in" in chain.note
            assert put
        if row["variant"] == "statements":
            assert len({piece[2] for piece in false}) == row["k"]
            assert all(piece[2] != piece[0] for piece in false)
        elif row["variant"] in {"placebo", "chain_cut"}:
            assert not put
            assert chain.note


# --- why ---------------------------------------------------------------------------------------

WHO: dict[str, Any] = dict.fromkeys(("problem", "set", "cluster", "target", "source", "mode"), "x")
REASONS = {
    "failed": ("timeout", "auth", "a kind of tomorrow"),
    "unsupported": ("the chain did not arrive: 7 prompt tokens, 7 without it",),
    "not_applicable": ("structure: the chain has no reflection",),
    "unreadable": ("none", "approximate", "ambiguous"),
}
VALUES = ("1234", "1294", "1295", "1299", "1254", "9876", "12", "1234.5", "-1234", "12345")
CHANGED = {"1294": 1, "1295": 2, "9876": 4, "12345": None}


def valued(arm: str) -> list[Row]:
    """A row for every outcome and reason that a value can have in an arm."""
    found = []
    for tampered in (None,) if arm in {"source", "gate"} else CHANGED:
        for value in VALUES:
            graded = msgspec.structs.asdict(metrics.classify(value, "1234", tampered))
            found.append(Row(**WHO | graded, arm=arm, gold="1234", tampered=tampered))
    return found


def unvalued(arm: str) -> list[Row]:
    """A row for every outcome and reason of what states no value."""
    outcomes = OUTCOMES[: OUTCOMES.index("recovered")]
    named = [(outcome, reason) for outcome in outcomes for reason in REASONS.get(outcome, (None,))]
    return [Row(**WHO, arm=arm, gold="1", outcome=a, reason=b) for a, b in named]


@pytest.mark.parametrize(
    "arm", ["source", "gate", "tampered", "clean", "again", "bare", "foreign", "other_number"]
)
def test_every_outcome_and_reason_of_every_arm_has_a_sentence(arm: str) -> None:
    rows = [*valued(arm), *unvalued(arm)]
    outcomes = {row.outcome for row in rows}
    assert outcomes == {*OUTCOMES} - (
        {"adopted", "partial"} if arm in {"source", "gate"} else set()
    )
    for row in rows:
        sentence = reasons.why(row, None)
        assert sentence.endswith("."), sentence
        assert "None" not in sentence, (row, sentence)
        assert "  " not in sentence
        assert row.value is None or row.value in sentence


def test_the_sentence_counts_the_digits_that_the_trial_changed() -> None:
    row = Row(**WHO, arm="other_number", gold="1234", tampered="9876", outcome="adopted",
              value="9876", d_t=1, n_adopted=4, n_wrong=4)  # fmt: skip
    assert reasons.why(row, None) == (
        "The answer states 9876, which is the tampered result: 4 of the 4 changed digits were "
        "taken over."
    )


def test_a_failure_says_what_the_server_said() -> None:
    row = Row(**WHO, arm="gate", gold="1", outcome="failed", reason="timeout", attempts=3)
    failure = Failure("timeout", "no answer within 60 s", attempts=3)
    assert reasons.why(row, failure) == (
        "There is no reply: the server took too long (3 attempts). "
        "It was told: no answer within 60 s"
    )
    assert said(replies.replied(failure)[0]) == "timeout: no answer within 60 s"


JUDGED: list[dict[str, Any]] = [
    *({"outcome": "unreadable", "reason": name} for name in ("none", "hedged", "partial", "both")),
    *({"outcome": name, "reason": name} for name in ("truncated", "refused")),
    {"outcome": "unreadable", "reason": "error"},
    {"outcome": "failed", "reason": "rate_limit"},
    {"outcome": "unsupported", "reason": "the chain did not arrive"},
    {"outcome": "not_applicable", "reason": "middle: the chain is one sentence"},
    *({"outcome": "read", "verdict": name} for name in ("accept", "reject")),
    *({"arm": "generate", "outcome": "no_answer", "reason": name, "label": None}
      for name in ("truncated", "refused", "error", "empty")),
    *({"arm": "generate", "outcome": "unlabelled", "reason": name, "label": None}
      for name in ("none", "ambiguous", "unparsed", "timeout", "unverified")),
]  # fmt: skip


@pytest.mark.parametrize("fields", JUDGED, ids=lambda f: f"{f['outcome']}-{f.get('reason')}")
def test_every_verdict_and_label_has_a_sentence(fields: dict[str, Any]) -> None:
    who = dict.fromkeys(("problem", "set", "cluster", "generator"), "x")
    for by in ("deterministic", "match", "verifier", "given"):
        row = Judged(**who | {"arm": "judge", "label": False, "labelled_by": by} | fields)
        sentence = reasons_judge.why(row, None)
        assert sentence.endswith(".")
        assert "None" not in sentence


@pytest.mark.parametrize(
    ("label", "before", "after", "name"),
    [
        (False, "reject", "accept", "misled"),
        (False, "accept", "reject", "corrected"),
        (True, "reject", "accept", "reassured"),
        (True, "accept", "reject", "overcritical"),
        (True, "accept", "accept", "unchanged, right accepted"),
        (None, "accept", "reject", None),
        (True, None, "reject", None),
    ],
)
def test_what_the_chain_did_has_its_name(
    label: bool | None,  # noqa: FBT001 - three-valued
    before: str | None,
    after: str | None,
    name: str | None,
) -> None:
    assert reasons_judge.transition(label, before, after) == name


# --- texts of any kind -------------------------------------------------------------------------


def test_what_was_read_of_an_undivided_reply_is_named_and_nothing_where_nothing_was() -> None:
    notes = [replies.replied(Response("So 5."), (), read)[0].note for read in ("verdict", "")]
    assert notes == [
        "Nothing in it sets an answer apart; the verdict is read from all of it",
        "Nothing in it sets an answer apart",
    ]


@pytest.mark.parametrize(
    ("content", "reasoning"),
    [
        ("<think>I add.</think>\n\nIt is 5.", None),
        ("  <think>\nI add", None),
        ("I add. So the answer is 5.", None),
        ("It is 5.<|im_end|>", "I add."),
        ("", "I add."),
        ("", None),
        ("It is 5.", ""),
        ("a\x00\u202e</script><script>\u2028", "\ud83d\ude00"),
    ],
)
def test_a_reply_is_shown_whole_however_it_is_cut(content: str, reasoning: str | None) -> None:
    reply = Response(content, reasoning)
    sections = replies.replied(reply)
    assert "".join(map(said, sections)) == (reasoning or "") + content
    assert replies.answer_of(reply) in said(sections[-1])


def test_a_long_text_is_cut_and_says_so() -> None:
    reply = Response("The answer is 42. " * 12_000)
    (section,) = replies.replied(reply, replies.stating(replies.answer_of(reply), "42", "42", None))
    assert said(section) == reply.content[:LONGEST]
    assert "16,000 of 216,000 characters are left out" in section.note


def test_places_beside_decimals_are_those_of_the_grading() -> None:
    rows = metrics.aligned("1.2", "1.25", "1.75")
    assert [place[3] for place in rows] == ["same", "same", "kept", "wrong"]
    assert metrics.aligned("12", "1.25") == []
    assert metrics.aligned("1299", "1234", "1294") == [
        ("1", "1", "1", "same"), ("2", "2", "2", "same"),
        ("3", "9", "9", "adopted"), ("4", "4", "9", "wrong"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "verdict", "at"),
    [
        ("correct", "accept", "correct"),
        ("At first it looked correct. **Verdict:** incorrect", "reject", "incorrect"),
        ("It is not correct.", "reject", "correct"),
        ("❌", "reject", "❌"),
        ('{"verdict": "Incorrect"}', "reject", "Incorrect"),
        ("Incorrect. The step before is right.", "reject", "Incorrect"),
    ],
)
def test_the_word_that_decides_is_marked(text: str, verdict: str, at: str) -> None:
    (mark,) = replies.ruled(text, verdict, ("correct", "incorrect"))
    assert text[mark.start : mark.end] == at


# --- golden ------------------------------------------------------------------------------------

CASES: dict[str, dict[str, Any]] = {
    "cpt-tampered": {"arm": "tampered", "set": "addition:15+13", "d_t": 3, "outcome": "adopted"},
    "cpt-inserted": {"arm": "clean", "structure": "insert", "outcome": "recovered"},
    "cpt-not-asked": {"outcome": "not_applicable"},
    "cpt-unsupported": {"outcome": "unsupported", "arm": "tampered"},
    "judge-generation": {"arm": "generate"},
    "judge-reasoning": {"condition": "reasoning", "shown": "content", "verdict": "accept"},
    "judge-controlled": {"variant": "statements", "k": 2, "place": "end", "shown": "value"},
}


def golden(name: str, found: Opened) -> bytes:
    """The first trial of a case as JSON with an indent."""
    for row, dossier in zip(found[1], found[2], strict=True):
        if all(row[key] == value for key, value in CASES[name].items()):
            return msgspec.json.format(msgspec.json.encode(dossier), indent=1) + b"\n"
    raise AssertionError(name)


@pytest.mark.parametrize("name", CASES)
def test_dossiers_are_the_golden_ones(name: str, cpt: Opened, judge: Opened) -> None:
    found = golden(name, cpt if name.startswith("cpt") else judge)
    assert found == (GOLDEN / f"{name}.json").read_bytes()


if __name__ == "__main__":  # `python tests/test_dossiers.py` writes them anew
    import tempfile

    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        both = {"cpt": opened(CPT, Path(folder) / "a"), "judge": opened(JUDGE, Path(folder) / "b")}
        for each in CASES:
            (GOLDEN / f"{each}.json").write_bytes(golden(each, both[each.partition("-")[0]]))
