"""Study B's findings beside those of one judge on one generator's answers.

    kinds(entries)   -> [Finding("weak and strong judges", "facts, answers of g", "Shown the ...")]
    probed(cells, {"judge": "acme/j", "set": "facts"})
    -> "What is no answer at all it accepted: the empty text in 44 % [31, 58] of 50, ..."

What is said of judges that a plan calls weak or strong, of answers with another's
chain, and of no answer at all; and how a change is quoted. Knows nothing about benches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from misled.findings import Finding
from misled.flips import FLIPS
from misled.phrases import Cells, chance, counts, percent, points
from misled.records import Entry
from misled.rulings import but

__all__ = ["changed", "kinds", "mixed", "probed", "tested"]

_LIKELY = 0.05
_KINDS = ("weak", "strong")
_NULLS = {
    "empty": "the empty text",
    "colon": "a colon alone",
    "thought": "the words that open a chain",
}
_ANSWERS = {"pass": "all answers", "fpr": "wrong ones", "tpr": "right ones"}
_CHANGED = {
    "pass": "Shown the reasoning, judges change how many answers they accept",
    "fpr": "Of wrong answers",
    "tpr": "Of right answers",
    "alignment": "Of verdicts that agree with the label",
}


def changed(e: Entry) -> str:
    """A difference with its test."""
    return f"{points(e)} ({tested(e)})"


def tested(e: Entry) -> str:
    """The test of a difference, and plainly whether one is shown."""
    p = e.p if e.p_adjusted is None else e.p_adjusted
    holds = e.low is not None and e.high is not None and not e.low <= 0 <= e.high
    shown = holds and (p is None or p < _LIKELY)
    return f"{chance(e) or 'exploratory'}{'' if shown else ': no difference shown'}"


def kinds(entries: Iterable[Entry]) -> list[Finding]:
    """One for each setting in which judges of a declared strength decided."""
    cells = Cells(e for e in entries if e.table == "strength_changes")
    settings = [
        but(e.keys, "strength", "against", "judges")
        for e in cells.all("strength_changes", "change_pass", strength=_KINDS[0])
        + cells.all("strength_changes", "change_pass", strength=_KINDS[1])
    ]
    several = len({setting.get("shown") for setting in settings}) > 1
    once = {tuple(sorted(setting.items())): setting for setting in settings}
    return [_kind(cells, setting, several=several) for setting in once.values()]


def _kind(cells: Cells, setting: dict[str, str], *, several: bool) -> Finding:
    """What the chain changes for either kind, and how far they differ in that."""
    there = {kind: setting | {"strength": kind} for kind in _KINDS}
    lines = [*_by_kind(cells, there), *_turned(cells, there)]
    contrast = setting | {"against": _KINDS[1]}
    said = [
        f"of {answers} {changed(e)}"
        for name, answers in _ANSWERS.items()
        if (e := cells.one("strength_changes", f"change_{name}", contrast)) and e.value is not None
    ]
    if said:
        lines.append(f"Weak minus strong, on the same answers: acceptance {', '.join(said)}.")
    about = [setting["set"], f"answers of {setting['generator']}"]
    about += [f"shown as {setting['shown']}"] * several
    return Finding("weak and strong judges", ", ".join(about), lines[0], tuple(lines[1:]))


def _by_kind(cells: Cells, there: dict[str, dict[str, str]]) -> Iterator[str]:
    """The changes of each rate, weak judges first; the first sentence is the headline."""
    for name, words in _CHANGED.items():
        found = {kind: _one(cells, f"change_{name}", keys) for kind, keys in there.items()}
        said = [
            f"the {e.keys['judges']} called {kind} by {changed(e)}"
            for kind, e in found.items()
            if e is not None and e.value is not None
        ]
        if said:
            yield f"{words}: {' and '.join(said)}."


def _turned(cells: Cells, there: dict[str, dict[str, str]]) -> Iterator[str]:
    """The four changes of mind of each kind, with their floors."""
    for kind, keys in there.items():
        said = []
        for name in FLIPS:
            e, floor = (_one(cells, f"flips/{name}{end}", keys) for end in ("", "_floor"))
            if e is not None and e.value is not None:
                least = "no floor"
                if floor is not None and floor.value is not None:
                    least = f"floor {100 * floor.value:.0f}\u00a0%"
                said.append(f"{name} in {percent(e)} ({least})")
        if said:
            yield f"Judges called {kind} were {', '.join(said)} of their pairs of verdicts."


def _one(cells: Cells, metric: str, keys: dict[str, str]) -> Entry | None:
    """The line of one kind, and not the one that sets it against the other."""
    found = cells.all("strength_changes", metric, **keys)
    return next((e for e in found if "against" not in e.keys), None)


def mixed(cells: Cells, who: dict[str, str]) -> Iterator[str]:
    """How far accepting follows the chain, and how far the answer (B.7)."""
    for e in cells.all("reliance", "reliance", **who):
        answer = cells.one("reliance", "answer_reliance", e.keys)
        if e.value is None or answer is None or answer.value is None:
            continue
        way = f", shown as {e.keys['shown']}" if e.keys.get("shown", "content") != "content" else ""
        lost = f"; not counted: {counts(e.left_out)}" if e.left_out else ""
        yield (
            f"On {e.n} questions with a right and a wrong answer{way}, the chain of the right one "
            f"rather than of the wrong one changes its acceptance of either by {changed(e)}, and "
            f"the right answer rather than the wrong one, with either chain, by {changed(answer)}"
            f"{lost}."
        )


def probed(cells: Cells, who: dict[str, str]) -> Iterator[str]:
    """How often no answer at all is accepted (B.7)."""
    said = []
    for name, words in _NULLS.items():
        e = cells.one("null_probes", "pass", who | {"variant": name})
        if e is not None and e.value is not None:
            said.append(f"{words} in {percent(e)} of {e.n}")
    if said:
        yield f"What is no answer at all it accepted: {', '.join(said)}."
