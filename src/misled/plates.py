"""The figures of a report as its page shows them, each with its numbers and what it is of.

    groups(PARTS["cpt"], "cpt", entries, panels, exhibits, {"figure4-small": b"<svg ..."})
    -> [Group("Figure 4", "R_CPT by tampered digits", hint, (Figure(...), Figure(...)), ()), ...]

What differs between studies it is given. Knows nothing about how a page is set.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from misled import captions, figures_effort, sheets
from misled.parts import Parts, Plate
from misled.records import Entry, Record

__all__ = ["Figure", "Grid", "Group", "Side", "Texts", "csv", "groups"]

TALL = 1.2
MOST = 6000  # characters of a reply that figure 6 shows


class Grid(Record, frozen=True):
    """A table as the page shows it, with a link to its data; `size` is that of the whole."""

    id: str
    sheet: sheets.Sheet
    csv: str
    size: int = 0


class Figure(Record, frozen=True):
    """A figure as the page shows it, with its table."""

    id: str
    image: str
    alt: str
    caption: str
    of: str
    title: str
    single: bool
    tall: bool
    sheet: sheets.Sheet
    csv: str


class Side(Record, frozen=True):
    """One of the replies of figure 6: what each of its texts is, and the text."""

    heading: str
    parts: tuple[tuple[str, str], ...]


class Texts(Record, frozen=True):
    """Figure 6 as the page shows it: in text, with the drawn figure to take away."""

    id: str
    title: str
    verdict: str
    sides: tuple[Side, ...]
    image: str


class Group(Record, frozen=True):
    """All figures of one number, and how to read them."""

    name: str
    title: str
    hint: str
    first: tuple[Figure, ...]
    rest: tuple[Figure, ...]
    texts: tuple[Texts, ...] = ()
    alike: tuple[str, ...] = ()  # of which texts are left out, since both are the same
    told: Grid | None = None  # what the texts took

    @property
    def others(self) -> list[str]:
        """What the figures are of that are folded."""
        return list(dict.fromkeys(figure.title for figure in self.rest))


def groups(
    parts: Parts,
    study: str,
    entries: Sequence[Entry],
    panels: Sequence[figures_effort.Panels],
    exhibits: Sequence[figures_effort.Exhibit],
    images: Mapping[str, bytes],
) -> list[Group]:
    """The figures by their number in the paper; `images` are drawn already, as SVG by name."""
    found: dict[str, list[Figure]] = {}
    for plate in parts.plates(entries, panels, images):
        found.setdefault(plate.table.partition("_")[0], []).append(_figure(plate))
    of_trials = _of_trials(entries, exhibits, images)
    if exhibits:
        found.setdefault("figure6", [])
    made: list[Group] = []
    hints = parts.hints(entries)
    for table, figures in sorted(found.items()):
        first = [figure for figure in figures[:2] if _beside(figures[0], figure)]
        made.append(
            Group(
                name=table.replace("figure", "Figure "),
                title=captions.caption(table, study),
                hint=hints.get(table, ""),
                first=tuple(first),
                rest=tuple(figures[len(first) :]),
                **(of_trials if table == "figure6" else {}),
            )
        )
    return made


def _of_trials(
    entries: Sequence[Entry],
    exhibits: Sequence[figures_effort.Exhibit],
    images: Mapping[str, bytes],
) -> dict[str, Any]:
    """What figure 6 has besides drawings: the texts of its trials, and what they took."""
    told = [e for e in entries if e.table == "figure6"]
    return {
        "texts": tuple(_texts(exhibits, images)),
        "alike": tuple(each.title for each in exhibits if _is_alike(each)),
        "told": Grid("figure6", sheets.sheet(told), csv(told)) if told and exhibits else None,
    }


def _beside(figure: Figure, other: Figure) -> bool:
    """Whether two stand beside each other: one and its net, or two of half the width."""
    return other.title == figure.title or (figure.single and other.single)


def _figure(plate: Plate) -> Figure:
    return Figure(
        id=plate.id,
        image=_data("image/svg+xml", plate.svg),
        alt=f"Chart: {plate.caption}, {', '.join(plate.models)}. Its numbers follow as a table.",
        caption=plate.caption,
        of=_of(plate.entries),
        title=plate.title,
        single=plate.narrow,
        tall=_is_tall(plate.svg),
        sheet=sheets.sheet(plate.entries),
        csv=csv(plate.entries),
    )


def _of(entries: Sequence[Entry]) -> str:
    """What the bars of a figure are, and of how much each point is."""
    many = [e for e in entries if e.value is not None and e.keys.get("of") != "this trial"]
    if not many:
        return "No cell has a value."
    low, high = min(e.n for e in many), max(e.n for e in many)
    names = sheets.intervals(many)
    bars = f"Bars are 95\u00a0% intervals ({names})" if names else "No interval is claimed"
    sizes = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{bars}; n is {sizes} {sheets.counted(many, many[0].study)} a point."


def _is_tall(svg: bytes) -> bool:
    """Whether a drawing is a fifth higher than it is wide, so that it wants a page of its own."""
    size = re.search(rb'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    return size is not None and float(size[2]) > TALL * float(size[1])


def _is_alike(shown: figures_effort.Exhibit) -> bool:
    """Whether the tampered chain changed nothing in the reply."""
    first, second = shown.sides
    return (first.reasoning, first.answer) == (second.reasoning, second.answer)


def _texts(
    exhibits: Sequence[figures_effort.Exhibit], images: Mapping[str, bytes]
) -> Iterator[Texts]:
    """Figure 6: a trial beside the same problem solved alone, as the model wrote them."""
    for shown in exhibits:
        if _is_alike(shown):
            continue
        svg = images.get(shown.name) or figures_effort.render(shown, "svg")[0]
        yield Texts(
            id=shown.name,
            title=shown.title,
            verdict=shown.verdict,
            sides=tuple(_side(side) for side in shown.sides),
            image=_data("image/svg+xml", svg),
        )


def _side(side: figures_effort.Side) -> Side:
    total = side.reasoning_tokens + side.answer_tokens
    seconds = "" if side.seconds is None else f", {side.seconds:.3g} s"
    parts = (
        (f"reasoning, {side.reasoning_tokens:,} tokens", _cut(side.reasoning)),
        (f"answer, {side.answer_tokens:,} tokens", _cut(side.answer)),
    )[0 if side.reasoning or side.reasoning_tokens else 1 :]
    return Side(f"{side.heading}: {total:,} tokens{seconds}", parts)


def _cut(text: str) -> str:
    """A text without its middle where it is long, and a word where there is none."""
    if len(text) <= MOST:
        return text or "(none)"
    half = MOST // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters ...]\n{text[-half:]}"


def csv(entries: Sequence[Entry]) -> str:
    """The estimates as a link that holds them."""
    return _data("text/csv", sheets.csv_text(entries).encode())


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};charset=utf-8;base64,{base64.b64encode(content).decode()}"
