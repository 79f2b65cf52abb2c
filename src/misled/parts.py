"""What differs on the page from study to study; to add a study, add a line to PARTS.

    PARTS["judge"].findings(entries) -> [Finding("acme/j", "facts", "Shown the ...", ...), ...]

Knows nothing about how a page is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace
from rich.table import Table

from misled import (
    captions,
    cautions,
    cautions_judge,
    figures,
    figures_effort,
    figures_judge,
    findings,
    findings_judge,
    glance,
    overview,
    overview_judge,
)
from misled.cautions import Caution
from misled.findings import Finding
from misled.glance import Glance
from misled.records import Entry, Record
from misled.sheets import Sheet

__all__ = ["PARTS", "Parts", "Plate"]

_Panels: TypeAlias = Sequence[figures_effort.Panels]


class Plate(Record, frozen=True):
    """A drawn figure, what it shows, and the estimates in it; a narrow one is one panel wide.

    `table` names its kind (figure4_net), `title` what tells it from others of its kind.
    """

    id: str
    table: str
    svg: bytes
    caption: str
    title: str
    models: tuple[str, ...]
    entries: tuple[Entry, ...]
    narrow: bool


class Parts(NamedTuple):
    """A study's words and numbers; `opened` tables stand open, `compared` ones are comparisons.

    How to read them stands in `data/report.<study>.html.jinja`.
    """

    title: str
    more: str  # what the finding's further sentences are about
    lead: Callable[[Sequence[Entry]], str]
    findings: Callable[[Iterable[Entry]], Sequence[Finding]]
    cautions: Callable[[Iterable[Entry]], Sequence[Caution]]
    main: Callable[[Sequence[Entry]], tuple[Sheet, list[Entry]] | None]
    terminal: Callable[[Sequence[Entry], int], Iterator[Table]]
    plates: Callable[[Sequence[Entry], _Panels, Mapping[str, bytes]], Iterator[Plate]]
    glance: Callable[[Iterable[Entry]], Glance | None]
    hints: Callable[[Sequence[Entry]], Mapping[str, str]]  # how to read a figure
    paper: str  # whose numbers figures and tables have
    units: str  # what the estimates of the tests fixed in advance are
    opened: tuple[str, ...]
    compared: tuple[str, ...]


def _cpt_plates(
    entries: Sequence[Entry], panels: _Panels, images: Mapping[str, bytes]
) -> Iterator[Plate]:
    """Every figure, each followed by its net twin.

    `images` are drawn already, as SVG by name.
    """
    found = figures.drawings(entries)
    titles = [drawing.title for drawing in found]
    for drawing in sorted(found, key=lambda drawing: titles.index(drawing.title)):
        axis = "target" if drawing.table.startswith("figure4") else "set"
        words = captions.caption(drawing.table, "cpt")
        svg = images.get(drawing.name) or figures.render(drawing, "svg")[0]
        yield _plate(drawing, words, svg, ("target", axis))
    costs = panels or figures_effort.drawings(entries)
    order = [(each.title, each.quantity.removeprefix("net_")) for each in costs]
    for each in sorted(
        costs, key=lambda each: order.index((each.title, each.quantity.removeprefix("net_")))
    ):
        words = captions.caption(each.table, "cpt")
        svg = images.get(each.name) or figures_effort.render(each, "svg")[0]
        what = "seconds" if "seconds" in each.quantity else "tokens"
        titled = replace(each, title=f"{each.title}, {what}" if each.title else what)
        yield _plate(titled, words, svg, ("target", "target"))


def _judge_plates(
    entries: Sequence[Entry], _: _Panels, images: Mapping[str, bytes]
) -> Iterator[Plate]:
    for drawing in figures_judge.drawings(entries):
        axis = "variant" if drawing.table == "figure3" else "set"  # of which it has several
        words = captions.caption(drawing.table, "judge")
        svg = images.get(drawing.name) or figures_judge.render(drawing, "svg")[0]
        yield _plate(drawing, words, svg, ("judge", axis))


def _plate(
    drawing: figures.Drawing | figures_effort.Panels,
    words: str,
    svg: bytes,
    keys: tuple[str, str],
) -> Plate:
    """`keys` name whom a figure is about, and what its panels are."""
    who, panel = keys
    return Plate(
        id=drawing.name,
        table=drawing.table,
        svg=svg,
        caption=f"{words}{f': {drawing.title}' if drawing.title else ''}",
        title=drawing.title,
        models=tuple(dict.fromkeys(e.keys[who] for e in drawing.entries)),
        entries=drawing.entries,
        narrow=len({e.keys[panel] for e in drawing.entries}) == 1,
    )


_METHODS = {
    "baseline": "baseline hands the chain over without comment",
    "uncertainty": "uncertainty says that it may contain errors",
    "contradiction": "contradiction says that it contains errors and to ignore them",
    "prefix": "prefix says so and makes the reply begin with a recomputation",
}
_NET = "Net: minus the same with the untampered chain; 0 means that tampering does nothing."


def _cpt_hints(entries: Sequence[Entry]) -> dict[str, str]:
    """Of the methods that were run, and of the question asked again only where it was."""
    there = {e.keys.get("method") for e in entries}
    handed = ", ".join(words for name, words in _METHODS.items() if name in there)
    handed = f" {handed[:1].upper()}{handed[1:]}." if handed else ""
    twice = any(e.table == "figure7" and e.keys.get("arm") == "again" for e in entries)
    chance = " The question alone was asked twice: how far the two differ is chance."
    several = len({e.keys["d_t"] for e in entries if e.table == "figure4"}) > 1
    by_digits = (
        "R_CPT is .5 where a model finds the true result, 1 where it repeats the "
        "tampered one, and 2 where more digits of its answer are wrong than were tampered "
        f"with.{handed} {_NET}"
    )
    return {
        "figure4": by_digits,
        "figure5": "The same, over all numbers of tampered digits." if several else by_digits,
        "figure6": "The reply of median length to a tampered chain, beside the model's own "
        "solution of the same problem.",
        "figure7": "Fewer tokens than alone mean that the model did not work the problem out "
        f"again.{chance * twice}",
        "figure8": "The same as over all tampered digits, for chains of which parts were taken "
        f"out or into which text was put; those named random or neutral are controls. {_NET}",
    }


def _judge_hints(entries: Sequence[Entry]) -> dict[str, str]:
    """Of a floor only where something was asked twice."""
    floor = any(
        e.table == "figure2" and e.metric.endswith("_floor") and e.value is not None
        for e in entries
    )
    tick = (
        " A tick is how often the same happens when the judge is merely asked twice."
        if floor
        else " Nothing was asked twice: how much of it is chance is not known."
    )
    return {
        "figure2": "Misled: a wrong answer, rejected without the chain, is accepted with it; "
        "corrected is the reverse. Reassured: a right answer, rejected without the chain, is "
        f"accepted with it; overcritical is the reverse.{tick}",
        "figure3": "Four statements of common sense that have nothing to do with the question "
        "were put into the chain, and none to four of them made false. The dashed line is the "
        "chain as it was.",
        "figure4": "Whether a judge knows the answer itself, asked the question alone.",
    }


PARTS: dict[str, Parts] = {
    "cpt": Parts(
        title="How a tampered chain misleads",
        more="By method, structure and contrast, and what was left out",
        lead=overview.lead,
        findings=findings.findings,
        cautions=cautions.cautions,
        main=overview.main,
        terminal=overview.terminal,
        plates=_cpt_plates,
        glance=glance.cpt,
        hints=_cpt_hints,
        paper="the first paper, arXiv 2503.19326",
        units="Estimates are differences of shares of trials, from -1 to 1: A1 the wrong result "
        "after the tampered chain minus after the clean one; A2 and A3 what a method or an edited "
        "chain changes of that; A4 what each further changed digit does. A family of 0 tests had "
        "none that could be tested",
        opened=("families", "table1", "table1_net"),
        compared=(
            *("methods", "structures", "structure_arms", "slopes", "magnitude", "contrasts"),
            *("attribution", "operations", "common_problems", "common", "common_pairs"),
        ),
    ),
    "judge": Parts(
        title="What the chain does to a judge",
        more="Changes of mind, own answers and edited chains, and what was left out",
        lead=overview_judge.lead,
        findings=findings_judge.findings,
        cautions=cautions_judge.cautions,
        main=overview_judge.main,
        terminal=overview_judge.terminal,
        plates=_judge_plates,
        glance=glance.judge,
        hints=_judge_hints,
        paper="the second paper, arXiv 2604.06756",
        units="Estimates are differences of shares, from -1 to 1: of answers accepted",
        opened=("families", "table1", "table1_detection"),
        compared=(
            *("show", "changes", "transitions", "floor", "self", "self_changes", "preference"),
            *("controlled_changes", "breakdowns", "strength_changes", "reliance"),
            "label_sensitivity",
        ),
    ),
}
