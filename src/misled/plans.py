"""A study as data: TOML or flags become one frozen `Plan`; `Pace` says how fast.

    study = "cpt"
    seed = 0
    n = 100
    model = ["deepseek/deepseek-flash", "openai/o3-mini"]
    source = "deepseek/deepseek-flash"

    [models."openai/o3-mini"]
    effort = "high"

    [[cells]]
    problems = ["addition:15+13"]
    digits = "1-6"
    methods = ["baseline", "prefix"]

A run is the union of its cells, each a full cross. The plan decides what is
asked and its hash names the run; `Pace` never changes a number. Knows the
names that may stand in a plan, and nothing about how they are carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from misled.errors import UserError, nearest
from misled.perturbations import PERTURBATIONS, PLACES, SCOPES
from misled.prompts import AS_TEXT, ATTRIBUTIONS, CHANNELS, METHODS
from misled.records import Record, Sampling
from misled.structures import STRUCTURES

__all__ = [
    "CONTRASTS",
    "CONTROLS",
    "Cell",
    "ModelPlan",
    "Pace",
    "Plan",
    "Prices",
    "cell",
    "numbers",
    "parse",
    "read",
    "sampling",
]

STUDIES = ("cpt",)
CONTROLS = ("clean", "again")
CONTRASTS = ("no_answer_line", "bare", "other_number", "foreign", AS_TEXT)
FEEDS = ("reasoning", "output")


class Prices(Record, frozen=True, omit_defaults=True):
    """Money for a million tokens, in any currency; `cached` None is as dear as `input`."""

    input: float
    output: float
    cached: float | None = None


class ModelPlan(Record, frozen=True, omit_defaults=True):
    """What one model is asked with; None takes the plan's, then the provider's default.

    `capabilities` overrides the built-in table, since models change faster than releases.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    effort: str | None = None
    thinking: bool | None = None
    base_url: str | None = None
    prices: Prices | None = None
    capabilities: dict[str, Any] = {}


class Cell(Record, frozen=True, omit_defaults=True):
    """A full cross of its axes; `digits` are tampering degrees D_T.

    `problems` is empty only until a plan with a chains file fills it in;
    `attribution` None takes the plan's.
    """

    problems: tuple[str, ...] = ()
    digits: tuple[int, ...] = (1,)
    methods: tuple[str, ...] = ("baseline",)
    structures: tuple[str, ...] = ("intact",)
    channels: tuple[str, ...] = ("user",)
    perturbations: tuple[str, ...] = ("digits",)
    scope: str = "endings"
    place: str | tuple[int, ...] = "random"
    attribution: str | None = None


class Plan(Record, frozen=True, omit_defaults=True):
    """Everything that decides what is asked and how it is counted.

    Chains come from `source`, from each target itself, or from the file `chains`.
    """

    model: tuple[str, ...]
    cells: tuple[Cell, ...]
    study: str = "cpt"
    seed: int = 0
    n: int = 20
    source: str | None = None
    chains: str | None = None
    feed: str = "reasoning"
    attribution: str = "own"
    samples: int = 1
    controls: tuple[str, ...] = CONTROLS
    contrasts: tuple[str, ...] = ()
    replay: bool = False
    prompts: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    effort: str | None = None
    models: dict[str, ModelPlan] = {}
    providers: dict[str, dict[str, Any]] = {}

    @property
    def hash(self) -> str:
        """32 hexadecimal digits of the plan's canonical JSON."""
        body = msgspec.json.encode(self, order="sorted")
        return blake2b(body, digest_size=16).hexdigest()

    @property
    def toml(self) -> str:
        """The plan as a file that `read` takes back to an equal plan."""
        return tomli_w.dumps(msgspec.to_builtins(self))


class Pace(Record, frozen=True):
    """How fast and how far; no number in a table depends on it."""

    concurrency: int = 16
    retry_failed: bool = False
    max_requests: int | None = None
    max_tokens_total: int | None = None
    reuse: tuple[str, ...] = ()


def numbers(text: str) -> tuple[int, ...]:
    """`1-3,6` as (1, 2, 3, 6); a UserError where it is not such a list."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:\s*-\s*(\d{1,4}))?\s*", part)
        if match is None:
            raise UserError(f"{text!r} is not a list of numbers such as 1-6 or 1,3")
        low = int(match[1])
        found += range(low, int(match[2] or low) + 1)
    return tuple(dict.fromkeys(found))


def read(path: str) -> Plan:
    """The plan in the TOML file at `path`; a UserError in one line where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        word = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UserError(f"cannot read plan {path}: {word}") from None
    try:
        return parse(msgspec.toml.decode(text))
    except (msgspec.DecodeError, RecursionError) as error:
        raise UserError(f"plan {path}: {error}") from None
    except UserError as error:
        raise UserError(f"plan {path}: {error}") from None


def parse(raw: dict[str, Any]) -> Plan:
    """The checked plan that `raw` describes; lists may stand as one string."""
    plain = {key: value for key, value in raw.items() if value is not None}
    for name in ("model", "controls", "contrasts"):
        if isinstance(plain.get(name), str):
            plain[name] = [plain[name]]
    cells = plain.get("cells")
    if isinstance(cells, list):
        plain["cells"] = [_spelled(cell) if isinstance(cell, dict) else cell for cell in cells]
    try:
        plan = msgspec.convert(plain, Plan)
    except msgspec.ValidationError as error:
        raise UserError(_worded(str(error))) from None
    plan = msgspec.structs.replace(plan, model=tuple(dict.fromkeys(plan.model)))
    if plan.chains is not None:
        plan = _of_chains(plan, (f"chains:{plan.chains}",))
    _check(plan)
    return plan


def _of_chains(plan: Plan, problems: tuple[str, ...]) -> Plan:
    """The plan with its chains file as the problem set of every cell."""
    if plan.source is not None:
        raise UserError("source and chains: chains come from a model or from a file, not both")
    if any(cell.problems not in ((), problems) for cell in plan.cells):
        raise UserError("problems: a chains file brings its own; leave them out")
    cells = (msgspec.structs.replace(cell, problems=problems) for cell in plan.cells)
    return msgspec.structs.replace(plan, cells=tuple(cells))


def _spelled(cell: dict[str, Any]) -> dict[str, Any]:
    """A cell with lists for strings: `1-6` and `0,2` are numbers, a name is a list of one."""
    plain = {
        key: [value]
        if isinstance(value, str) and key not in ("digits", "scope", "place")
        else value
        for key, value in cell.items()
    }
    for key in ("digits", "place"):
        value = plain.get(key)
        if isinstance(value, str) and (key == "digits" or value[:1].isdigit()):
            plain[key] = numbers(value)
        elif isinstance(value, int):
            plain[key] = [value]
    return plain


def cell(**axes: Any) -> Cell:
    """The checked cell of these axes, spelled as in a plan; UserError where one is unknown."""
    try:
        made = msgspec.convert(_spelled(axes), Cell)
    except msgspec.ValidationError as error:
        raise UserError(_worded(str(error), "cells")) from None
    _check_cell(made)
    return made


def _worded(error: str, inside: str = "") -> str:
    """Msgspec's message, with the nearest key where one is unknown."""
    match = re.search(r"unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?", error)
    if match is None:
        return error
    name, where = match[1], match[2] or inside
    kind: type[Record] = Plan
    if where.startswith("cells"):
        kind = Cell
    elif where.startswith("models"):
        kind = ModelPlan
    place = f" in {where}" if where else ""
    return nearest("key", name, kind.__struct_fields__) + place


def _check(plan: Plan) -> None:
    _known("study", [plan.study], STUDIES)
    _known("feed", [plan.feed], FEEDS)
    _known("attribution", [plan.attribution], ATTRIBUTIONS)
    _known("control", plan.controls, CONTROLS)
    _known("contrast", plan.contrasts, CONTRASTS)
    _positive("n", plan.n)
    _positive("samples", plan.samples)
    for settings in (plan, *plan.models.values()):
        for name in ("temperature", "top_p"):
            value = getattr(settings, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UserError(f"{name}: {value} is no number of 0 or more")
    if not plan.model:
        raise UserError("model: name at least one, as in --model deepseek/deepseek-flash")
    if not plan.cells:
        raise UserError("cells: a plan needs at least one [[cells]] table")
    asked = {*plan.model, *([plan.source] if plan.source else [])}
    for name in plan.models:
        if name not in asked:
            raise UserError(nearest("model in [models]", name, asked))
    for cell in plan.cells:
        _check_cell(cell)


def _check_cell(cell: Cell) -> None:
    for name in ("problems", "digits", "methods", "structures", "channels", "perturbations"):
        if not getattr(cell, name):
            raise UserError(f"{name}: name at least one")
    _known("method", cell.methods, METHODS)
    _known("structure", cell.structures, STRUCTURES)
    _known("channel", cell.channels, CHANNELS)
    if "baseline" not in cell.methods and all(c.startswith("think") for c in cell.channels):
        raise UserError(f"channels: {', '.join(cell.channels)} only takes the method baseline")
    _known("perturbation", cell.perturbations, PERTURBATIONS)
    _known("scope", [cell.scope], SCOPES)
    _known("attribution", [cell.attribution or ATTRIBUTIONS[0]], ATTRIBUTIONS)
    if isinstance(cell.place, str):
        _known("place", [cell.place], PLACES)
    elif min(cell.place) < 0 or len(cell.place) < max(cell.digits):
        raise UserError(
            f"place: {', '.join(map(str, cell.place))} is no list of {max(cell.digits)} different "
            "places, counted from 0 at the first digit"
        )
    for degree in cell.digits:
        _positive("digits", degree)


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            raise UserError(nearest(what, name, known))


def _positive(what: str, number: int) -> None:
    if number < 1:
        raise UserError(f"{what}: {number} is below 1")


def sampling(plan: Plan, model: str) -> Sampling:
    """How `model` is asked: its own settings over the plan's."""
    own = plan.models.get(model, ModelPlan())

    def pick(name: str) -> Any:
        value = getattr(own, name)
        return value if value is not None else getattr(plan, name)

    return Sampling(
        temperature=pick("temperature"),
        top_p=pick("top_p"),
        top_k=pick("top_k"),
        max_tokens=pick("max_tokens"),
        effort=pick("effort"),
        thinking=own.thinking,
    )
