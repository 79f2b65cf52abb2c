"""The planted reasoner: it does what its profile says, and says when it cannot read."""

from __future__ import annotations

import asyncio
import doctest
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from scipy.stats import binom

from misled import answers, chains, prompts
from misled.draws import Draws
from misled.engines import planted_chain, planted_profile, planted_reader, planted_slips
from misled.engines.planted import Planted
from misled.engines.planted_chain import Task, alone, confused, recovering
from misled.engines.planted_profile import PROFILES, Solver, load, truth
from misled.engines.planted_slips import confusing, replaced
from misled.errors import UserError
from misled.metrics import classify, grade
from misled.perturbations import PERTURBATIONS, applied, result_of
from misled.problems import load as problems
from misled.prompts import ATTRIBUTIONS, METHODS
from misled.records import (
    Answer,
    Chain,
    Edited,
    Failure,
    Graded,
    Message,
    NotApplicable,
    Prefill,
    Problem,
    Request,
    Response,
    Sampling,
)
from misled.structures import STRUCTURES, combine, without_answer

WORDS = prompts.load(None)
PLANTED = Planted()
SETS = ("addition:15+13", "multiplication:8x7", "addition:4+3", "small")
PAPER = [Task(842067217716076, "+", 7116445958734), Task(90130189, "×", 3296423)]
TASKS = [
    *PAPER,
    Task(999999999999999, "+", 1),
    Task(50000000, "×", 4000000),
    Task(384, "×", 7),
    Task(7, "×", 384),
    Task(57, "+", 8),
    Task(7, "×", 8),
    Task(1, "×", 1),
    Task(8, "+", 9),
    Task(1, "+", 1),
]


def ask(
    model: str, messages: tuple[Message, ...], prefill: Prefill | None = None, n: int = 0
) -> Request:
    return Request("planted", model, messages, prefill=prefill, sample=n)


def solved(model: str, problem: Problem, sample: int = 0) -> Response:
    reply = PLANTED.reply(ask(model, prompts.solve(WORDS, problem.question), n=sample))
    assert isinstance(reply, Response)
    return reply


def handed(
    model: str,
    problem: Problem,
    chain: str,
    method: str,
    *,
    attribution: str = "own",
    channel: str = "user",
    sample: int = 0,
) -> Answer:
    way = prompts.Way(method, attribution, channel)
    messages, prefill = prompts.probe(WORDS, way, question=problem.question, chain=chain)
    return PLANTED.reply(ask(model, messages, prefill, sample))


def tampered(chain: Chain, problem: Problem, d_t: int, scope: str = "endings") -> Edited:
    edited = PERTURBATIONS["digits"](d_t=d_t, scope=scope)(
        chain, Draws(0, problem.cluster, "digits")
    )
    assert isinstance(edited, Edited), edited
    return edited


def graded(reply: Answer, gold: str, wrong: str | None = None) -> Graded:
    assert isinstance(reply, Response), reply
    return grade(
        reply.content, gold, tampered=wrong, reasoning=reply.reasoning, finish=reply.finish
    )


@cache
def right_chains(n: int, spec: str = "addition:15+13") -> list[tuple[Problem, Chain]]:
    """Problems with a chain of `vigilant` that is right."""
    return [
        (problem, chains.of(reply.content, reply.reasoning))
        for problem in problems(spec, n, 0)[0]
        if graded(reply := solved("vigilant", problem), problem.gold[0]).outcome == "recovered"
    ]


def profile(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


def adopting(**rates: list[float]) -> str:
    """A profile that adopts at `rates`, and does nothing else but recover."""
    lines = [f"{method} = {rates.get(method, [0.0])}" for method in METHODS]
    return "[solver]\n[solver.adopt]\n" + "\n".join(lines)


@pytest.mark.parametrize("module", [planted_chain, planted_profile, planted_slips])
def test_the_examples_of_the_docstrings_hold(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


# --- rates -----------------------------------------------------------------------------------


def within(hits: int, n: int, p: float) -> bool:
    """Whether `hits` of `n` fit the rate `p`, but for a chance of 1 in 100,000."""
    return bool(binom.ppf(5e-6, n, p) <= hits <= binom.isf(5e-6, n, p))


@pytest.mark.parametrize(
    ("model", "method", "d_t"),
    [
        ("mixed", "baseline", 1),
        ("mixed", "prefix", 3),
        ("credulous", "uncertainty", 6),
        ("vigilant", "baseline", 2),
        ("oblivious", "baseline", 1),
        ("oblivious", "contradiction", 3),
    ],
)
def test_replies_come_at_the_planted_rates(model: str, method: str, d_t: int) -> None:
    found: Counter[str] = Counter()
    total = 0.0
    for problem, chain in right_chains(400):
        if graded(solved(model, problem), problem.gold[0]).outcome != "recovered":
            continue
        edited = tampered(chain, problem, d_t)
        one = graded(handed(model, problem, edited.text, method), problem.gold[0], edited.tampered)
        found[one.outcome] += 1
        total += one.r_cpt or 0.0
    n = found.total()
    planted = truth(load(model), method, d_t)
    shares = {
        "adopted": "adoption",
        "recovered": "recovery",
        "confused": "confusion",
        "partial": "partial",
        "other": "other",
        "stopped": "stop",
    }
    assert set(found) <= set(shares)
    for outcome, rate in shares.items():
        assert within(found[outcome], n, planted[rate]), (outcome, found[outcome] / n, planted)
    assert abs(total / (n - found["stopped"]) - planted["r_cpt"]) < 0.1


def test_the_question_alone_is_solved_at_the_gate_and_missed_at_the_error_rate() -> None:
    found = problems("addition:15+13", 600, 0)[0]
    first = [graded(solved("mixed", p), p.gold[0]).outcome == "recovered" for p in found]
    again = [graded(solved("mixed", p, 1), p.gold[0]).outcome == "recovered" for p in found]
    assert within(sum(first), len(first), 0.9 * 0.96)
    passed = [two for one, two in zip(first, again, strict=True) if one]
    assert within(sum(passed), len(passed), 0.96)


def test_an_untampered_chain_is_neither_adopted_nor_confusing() -> None:
    found = Counter(
        graded(handed("mixed", problem, chain.reasoning, "baseline"), problem.gold[0]).outcome
        for problem, chain in right_chains(400)[:100]
    )
    assert set(found) <= {"recovered", "stopped", "other"}


def test_rho_makes_a_problems_probes_share_one_draw(tmp_path: Path) -> None:
    half = {method: [0.5] for method in METHODS}
    text = adopting(**half).replace("[solver]", "[solver]\nrho = RHO")
    apart = profile(tmp_path / "apart.toml", text.replace("RHO", "0.0"))
    same = profile(tmp_path / "same.toml", text.replace("RHO", "1.0"))
    outcomes: dict[str, list[int]] = {apart: [], same: []}
    for problem, chain in right_chains(40):
        edited = tampered(chain, problem, 2)
        for model, counts in outcomes.items():
            replies = [handed(model, problem, edited.text, method) for method in METHODS]
            adopted = [
                graded(r, problem.gold[0], edited.tampered).outcome == "adopted" for r in replies
            ]
            counts.append(sum(adopted))
    assert set(outcomes[same]) == {0, 4}
    assert set(outcomes[apart]) & {1, 2, 3}


# --- truth -----------------------------------------------------------------------------------


def replacements(w: str, k: int) -> Iterator[tuple[str, float]]:
    """Every value with exactly `k` digits other than w's, and its chance."""
    places = list(combinations(range(len(w)), k))
    for chosen in places:
        choices = [[d for d in "0123456789" if d != w[i] and (i or d != "0")] for i in chosen]
        for digits in product(*choices):
            value = list(w)
            p = 1 / len(places)
            for i, digit, options in zip(chosen, digits, choices, strict=True):
                value[i] = digit
                p /= len(options)
            yield "".join(value), p


@pytest.mark.parametrize("w", ["7", "57", "457"])
def test_truth_counts_chance_exactly(w: str) -> None:
    """Against every pair of an error and a w', graded by the grader."""
    weights = (0.6, 0.4)[: len(w)]
    solver = Solver(dict.fromkeys(METHODS, (0.0,)), error=1.0, wrong=weights)
    for d_t in range(1, min(2, len(w)) + 1):
        found = dict.fromkeys(("adopted", "confused", "partial", "other", "r"), 0.0)
        for k, weight in enumerate(weights, 1):
            for (v, p), (changed, q) in product(replacements(w, k), replacements(w, d_t)):
                one = classify(v, w, changed)
                share = weight / sum(weights) * p * q
                found[one.outcome] += share
                found["r"] += share * (one.r_cpt or 0)
        planted = truth(solver, "baseline", d_t, digits=len(w))
        assert planted["adoption"] == pytest.approx(found["adopted"])
        assert planted["confusion"] == pytest.approx(found["confused"])
        assert planted["partial"] == pytest.approx(found["partial"])
        assert planted["other"] == pytest.approx(found["other"])
        assert planted["r_cpt"] == pytest.approx(found["r"])


def test_oblivious_has_the_papers_trend_in_r_and_none_in_net_r() -> None:
    cells = [truth(load("oblivious"), "baseline", d_t) for d_t in range(1, 7)]
    assert [round(cell["r_cpt"], 2) for cell in cells] == [0.73, 0.65, 0.58, 0.5, 0.5, 0.5]
    for cell in cells:
        net = [value for name, value in cell.items() if name.startswith("net_")]
        assert net == pytest.approx([0.0] * 6)


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("method", METHODS)
def test_the_planted_rates_sum_to_one(name: str, method: str) -> None:
    for d_t in range(1, 8):
        cell = truth(load(name), method, d_t)
        parts = ("adoption", "recovery", "confusion", "partial", "other", "stop")
        assert sum(cell[part] for part in parts) == pytest.approx(1)
        assert cell["recovery"] >= 0


def test_a_solver_that_always_stops_has_no_r() -> None:
    assert "r_cpt" not in truth(Solver(dict.fromkeys(METHODS, (0.0,)), stop=1.0), "baseline", 1)


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "attribution"), list(product(METHODS, ATTRIBUTIONS)))
def test_the_method_is_read_from_the_wording(tmp_path: Path, method: str, attribution: str) -> None:
    model = profile(tmp_path / "p.toml", adopting(**{method: [1.0]}))
    for problem, chain in right_chains(40)[:5]:
        edited = tampered(chain, problem, 1)
        for probed in METHODS:
            reply = handed(model, problem, edited.text, probed, attribution=attribution)
            outcome = "adopted" if probed == method else "recovered"
            assert graded(reply, problem.gold[0], edited.tampered).outcome == outcome


@pytest.mark.parametrize("spec", SETS)
@pytest.mark.parametrize("scope", ["endings", "all", "last"])
def test_the_number_of_tampered_digits_is_found_by_solving(
    tmp_path: Path, spec: str, scope: str
) -> None:
    model = profile(tmp_path / "p.toml", adopting(baseline=[0.0, 1.0, 0.0]))
    for problem, chain in right_chains(40, spec)[:10]:
        for d_t in range(1, min(7, len(problem.gold[0]) + 1)):
            edited = tampered(chain, problem, d_t, scope)
            reply = handed(model, problem, edited.text, "baseline")
            outcome = "adopted" if d_t == 2 else "recovered"
            assert graded(reply, problem.gold[0], edited.tampered).outcome == outcome


@pytest.mark.parametrize("name", ["insert_digit", "delete_digit"])
def test_another_length_counts_as_one_digit(tmp_path: Path, name: str) -> None:
    model = profile(tmp_path / "p.toml", adopting(baseline=[1.0, 0.0]))
    for problem, chain in right_chains(40)[:10]:
        edited = PERTURBATIONS[name]()(chain, Draws(0, problem.cluster, name))
        assert isinstance(edited, Edited)
        reply = handed(model, problem, edited.text, "baseline")
        assert graded(reply, problem.gold[0], edited.tampered).outcome == "adopted"


def test_words_of_the_user_are_read_by_an_engine_that_has_them(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(
        "[cpt]\nsolve='Q: {question} A:'\nprobe='{question} ({filter}) {chain}'\n", "utf-8"
    )
    own = prompts.load(str(path))
    question = "What is 12 + 34?"
    messages, prefill = prompts.probe(
        own, prompts.Way("prefix"), question=question, chain="So the answer is 47."
    )
    alone_ = prompts.solve(own, question)
    assert isinstance(Planted(own).reply(ask("vigilant", messages, prefill)), Response)
    assert isinstance(Planted(own).reply(ask("vigilant", alone_)), Response)
    assert isinstance(PLANTED.reply(ask("vigilant", messages, prefill)), Failure)


def user(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


FILTER = "\n\nBelow is your previous thought.\n\n"
PREFIX = Prefill("content", WORDS.prefix)


@pytest.mark.parametrize(
    ("messages", "prefill", "reason"),
    [
        (user(""), None, "neither a sum, product"),
        (user("Which river is longer, the Rhine or the Oder?"), None, "neither a sum"),
        (user("What is 12 - 3?"), None, "neither a sum"),
        (user("What is 1 + 2 + 3?"), None, "neither a sum"),
        (user("What is 12 + 34?\n\nSome other filter.\n\nSo it is 47."), None, "neither a sum"),
        (user(f"Which river?{FILTER}So it is 47."), None, "no sum, product"),
        (user(f"What is 12 + 34?{FILTER}So the answer is 46.5."), None, "no whole number"),
        (user(f"What is 12 + 34?{FILTER}So the answer is 47."), PREFIX, "reads one question"),
        (user("What is 12 + 34?"), Prefill("content", "Sure:"), "does not know this output prefix"),
        (user("What is 12 + 34?") * 2, None, "reads one question"),
        ((Message("system", "What is 12 + 34?"),), None, "reads one question"),
        ((), None, "reads one question"),
    ],
)
def test_a_text_that_it_cannot_classify_is_a_failure_that_says_so(
    messages: tuple[Message, ...], prefill: Prefill | None, reason: str
) -> None:
    reply = PLANTED.reply(ask("credulous", messages, prefill))
    assert isinstance(reply, Failure)
    assert (reply.kind, reply.fatal) == ("unclassified", True)
    assert reply.message.startswith("planted/credulous ")
    assert reason in reply.message


def test_an_unknown_profile_is_a_failure_that_names_the_nearest() -> None:
    reply = PLANTED.reply(ask("credulos", user("What is 12 + 34?")))
    assert isinstance(reply, Failure)
    assert reply.kind == "not_found"
    assert "did you mean 'credulous'" in reply.message


# --- replies ---------------------------------------------------------------------------------


def test_a_reply_is_a_function_of_the_request_and_the_profiles_contents(tmp_path: Path) -> None:
    problem = problems("addition:15+13", 1, 0)[0][0]
    first = solved("mixed", problem)
    request = ask("mixed", prompts.solve(WORDS, problem.question))
    assert Planted().reply(request) == first
    assert Planted().reply(msgspec.structs.replace(request, lane="other")) == first
    assert solved("mixed", problem, 1) != first
    text = adopting(baseline=[0.5])
    one, two = (profile(tmp_path / name, text) for name in ("one.toml", "two.toml"))
    assert solved(one, problem) == solved(two, problem) != first


@pytest.mark.parametrize("task", TASKS)
def test_every_chain_states_its_value_3_to_8_times_and_is_read_exactly(task: Task) -> None:
    for value in (str(task.result), str(task.result + 1)):
        for seed in range(60):
            reasoning, answer = alone(task, value, Draws(seed))
            assert answers.read(answer) == value
            assert result_of(Chain(reasoning=reasoning, answer=answer)) == value
            stated = len(
                re.findall(
                    rf"(?<!\d){value}(?!\d)",
                    re.sub(r"(?<=\d)(,|\{,\}| |\u202f)(?=\d{3})", "", reasoning),
                )
            )
            assert stated >= 3
            if task in PAPER:
                assert stated <= 8


@pytest.mark.parametrize("task", TASKS)
def test_continuations_of_an_output_prefix_are_read_exactly(task: Task) -> None:
    w, seen = str(task.result), str(task.result + 3)
    for seed in range(60):
        for reply, value in (
            (recovering(task, w, seen, Draws(seed)), w),
            (confused(task, f"{w}7", seen, Draws(seed)), f"{w}7"),
            (alone(task, w, Draws(seed)), w),
        ):
            assert answers.read("\n\n".join(reply)) == value


def test_chains_have_the_roles_of_a_reasoning_models_chain() -> None:
    for problem, chain in right_chains(40):
        steps = chains.steps(chain.reasoning)
        roles = {step.role for step in steps}
        assert roles >= {"calculation", "reflection", "verification", "conclusion"}, problem
        assert 400 < len(chain.reasoning) < 2500


def test_confused_values_grade_as_confused_at_every_d_t() -> None:
    for w in ("7", "57", "457", "849183663674810"):
        for d_t in range(1, len(w) + 1):
            for seed in range(40):
                draws = Draws(w, d_t, seed)
                changed = replaced(w, d_t, draws)
                value = confusing(w, changed, d_t, draws)
                assert classify(value, w, changed).outcome == "confused"


@pytest.mark.parametrize("seen", ["3", "36743", "849"])
def test_confused_values_differ_in_length_from_both_where_those_differ(seen: str) -> None:
    for w in ("8", "5674"):
        for seed in range(40):
            value = confusing(w, seen, 1, Draws(seed))
            assert value != seen
            assert classify(value, w, seen).outcome == "confused"


def test_a_reply_after_an_output_prefix_is_all_content() -> None:
    problem, chain = right_chains(40)[0]
    reply = handed("vigilant", problem, chain.reasoning, "prefix")
    assert isinstance(reply, Response)
    assert reply.reasoning is None
    assert len(reply.content) > 300
    assert not reply.content.startswith(WORDS.prefix)


def test_usage_and_seconds_follow_the_length_of_the_reply() -> None:
    reply = solved("vigilant", problems("multiplication:8x7", 1, 0)[0][0])
    usage = reply.usage
    assert usage.prompt is not None
    assert usage.reasoning is not None
    assert usage.completion is not None
    assert usage.reasoning == -(-len(reply.reasoning or "") // 4)
    assert usage.completion == usage.reasoning - (-len(reply.content) // 4)
    assert reply.seconds == round(0.3 + usage.completion / 80, 3)


def test_a_token_limit_cuts_the_thought_before_the_answer() -> None:
    problem = problems("addition:15+13", 1, 0)[0][0]
    request = ask("vigilant", prompts.solve(WORDS, problem.question))
    reply = PLANTED.reply(msgspec.structs.replace(request, sampling=Sampling(max_tokens=50)))
    assert isinstance(reply, Response)
    assert (reply.finish, reply.content, reply.usage.completion) == ("length", "", 50)
    assert grade(reply.content, problem.gold[0], finish=reply.finish).outcome == "truncated"


class Pile:
    """A feed of everything at once."""

    def __init__(self, requests: list[Request]) -> None:
        self.requests = requests

    async def take(self, n: int, held: int) -> list[Request] | None:
        assert held == 0
        taken, self.requests = self.requests[:n], self.requests[n:]
        return taken or None


def test_the_engine_answers_each_request_of_its_feed_once() -> None:
    found = problems("addition:4+3", 700, 0)[0]
    asked = [ask("mixed", prompts.solve(WORDS, p.question)) for p in found]

    async def run() -> list[tuple[Request, Answer]]:
        return [pair async for pair in PLANTED.answer(Pile(asked))]

    pairs = asyncio.run(run())
    assert [request for request, _ in pairs] == asked
    assert [reply for _, reply in pairs] == [PLANTED.reply(request) for request in asked]


# --- profiles --------------------------------------------------------------------------------

ADOPT = adopting()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[solver", "no TOML"),
        ("", r"the table \[solver\] is missing"),
        ("solver = 3", r"solver is no table; write \[solver\]"),
        ("[sover]\n" + ADOPT, "unknown table 'sover'; did you mean 'solver'"),
        ("[solver]\ngate = 1", r"\[solver.adopt\] needs baseline, uncertainty"),
        (
            ADOPT.replace("[solver]\n", "[solver]\ngat = 1\n"),
            "unknown key 'gat'; did you mean 'gate'",
        ),
        (ADOPT + "\nbaselin = [1]", "unknown method 'baselin'; did you mean 'baseline'"),
        (ADOPT.replace("[solver]\n", "[solver]\nstop = 1.5\n"), r"<= 1.0 - at `\$.solver.stop`"),
        (ADOPT.replace("[solver]\n", "[solver]\nstop = 'no'\n"), r"`\$.solver.stop`"),
        (ADOPT.replace("[solver]\n", "[solver]\nstop = nan\n"), r"`\$.solver.stop`"),
        (ADOPT.replace("[solver]\n", "[solver]\nwrong = [0]\n"), "a weight above 0"),
        (ADOPT.replace("prefix = [0.0]", "prefix = []"), r"`\$.solver.adopt"),
        (
            adopting(prefix=[0.2, 0.9]).replace("[solver]\n", "[solver]\nstop = 0.2\n"),
            "add up to 1.1, over 1",
        ),
    ],
)
def test_a_profile_that_does_not_hold_together_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UserError, match=message) as error:
        load(profile(tmp_path / "p.toml", text))
    assert "\n" not in str(error.value)


def test_a_profile_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(
        UserError, match="unknown planted profile 'vigilnt'; did you mean 'vigilant'"
    ):
        load("vigilnt")
    with pytest.raises(UserError, match="cannot read it: No such file"):
        load("no/such.toml")


# --- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_an_inserted_aside_is_seen_whatever_its_words_and_a_neutral_text_is_none(
    seed: int,
) -> None:
    chain, _ = alone(PAPER[0], str(PAPER[0].result), Draws("chain", seed))
    for name, seen in (("insert", {"digression"}), ("insert_neutral", set[str]())):
        edits = STRUCTURES[name](Chain(chain, ""), Draws(seed))
        assert not isinstance(edits, NotApplicable)
        assert planted_reader.lacking(applied(chain, edits)) == seen


@pytest.mark.parametrize("name", [*STRUCTURES, "no_answer_line"])
def test_what_a_structure_takes_away_is_what_the_reader_misses(name: str) -> None:
    lacks = set(planted_profile.LACKS.get(name, ()))
    for task, seed in product(PAPER, range(20)):
        chain = Chain(alone(task, str(task.result), Draws(task.a, seed))[0], "")
        edits = (
            without_answer(chain)
            if name == "no_answer_line"
            else STRUCTURES[name](chain, Draws(seed))
        )
        if not isinstance(edits, NotApplicable):
            assert planted_reader.lacking(applied(chain.reasoning, edits)) == lacks


def test_a_chain_without_its_conclusion_still_states_the_tampered_result() -> None:
    """Its last equation may be a check that goes back to an operand, which is no result."""
    for task, seed in product(PAPER, range(30)):
        chain = Chain(alone(task, str(task.result), Draws(task.a, seed))[0], "")
        edits, tampered = without_answer(chain), PERTURBATIONS["digits"]()(chain, Draws(seed))
        assert not isinstance(edits, NotApplicable)
        assert isinstance(tampered, Edited)
        cut = combine(chain, edits, tampered)
        assert isinstance(cut, Edited)
        question = f"What is {task.a} {task.sign} {task.b}?"
        messages, _ = prompts.probe(WORDS, prompts.Way(), question=question, chain=cut.text)
        read = planted_reader.reading(WORDS, ask("vigilant", messages))
        assert isinstance(read, planted_reader.Reading)
        assert read.seen == tampered.tampered
