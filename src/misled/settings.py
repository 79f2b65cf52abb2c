"""What every plan has: how its models are asked, and how fast.

    Settings(seed=0, n=100, temperature=0.6, models={"openai/o3-mini": ModelPlan(effort="high")})

A study's plan adds what is asked. The plan decides every number and its hash
names the run; `Pace` never changes a number. Knows nothing about studies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Literal

import msgspec
import tomli_w
from msgspec.structs import replace

from misled.errors import UserError, nearest
from misled.records import Record, Sampling

__all__ = [
    "ModelPlan",
    "Pace",
    "Prices",
    "Settings",
    "check",
    "known",
    "numbers",
    "positive",
    "sampling",
    "worded",
]


class Prices(Record, frozen=True, omit_defaults=True):
    """Money for a million tokens, in any currency.

    Attributes:
        input: of a prompt's.
        output: of a reply's.
        cached: of a prompt's that come from a cache; as `input` where it is not given.
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, prompt: int, cached: int, completion: int) -> float:
        """Money for so many tokens, where `cached` are of the prompt's."""
        kept = self.input if self.cached is None else self.cached
        paid = self.input * (prompt - cached) + kept * cached + self.output * completion
        return paid / 1e6


class ModelPlan(Record, frozen=True, omit_defaults=True):
    """What one model is asked with; None takes the plan's, then the provider's default.

    `prices`, `rpm` and `tpm` decide no number: they may change while a run goes on.

    Attributes:
        top_p: sampling from the likeliest tokens that make up this probability.
        top_k: sampling from so many of the likeliest tokens.
        thinking: true or false turns the model's thinking on or off, where it has a switch.
        strength: what tables call a judge (B.1), weak or strong; nothing else depends on it.
        prices: money for a million tokens: input, output and, if it differs, cached.
        rpm: requests that the provider allows in a minute.
        tpm: tokens that it allows in a minute.
        capabilities: what is true of this model, over the built-in table of its provider.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    effort: str | None = None
    thinking: bool | None = None
    base_url: str | None = None
    strength: Literal["weak", "strong"] | None = None
    prices: Prices | None = None
    rpm: float | None = None
    tpm: float | None = None
    capabilities: dict[str, Any] = {}


class Settings(Record, frozen=True, omit_defaults=True, kw_only=True):
    """What the plans of all studies have in common.

    Attributes:
        top_p: sampling from the likeliest tokens that make up this probability.
        top_k: sampling from so many of the likeliest tokens.
        models: a `[models."ID"]` table for each model that is asked otherwise than the rest.
        providers: a `[providers.NAME]` table for each server of your own.
    """

    seed: int = 0
    n: int = 20
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
    def asked(self) -> tuple[str, ...]:
        """Every model that the plan asks, each once."""
        return ()

    @property
    def deciding(self) -> bytes:
        """The canonical JSON of all that decides a number."""
        models = {
            name: replace(own, prices=None, rpm=None, tpm=None) for name, own in self.models.items()
        }
        kept = {name: own for name, own in models.items() if own != ModelPlan()}
        return msgspec.json.encode(replace(self, models=kept), order="sorted")

    @property
    def hash(self) -> str:
        """32 hexadecimal digits that name the plan: the hash of what decides its numbers."""
        return blake2b(self.deciding, digest_size=16).hexdigest()

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


def check(plan: Settings) -> None:
    """UserError where a common setting has a value that it cannot have."""
    positive("n", plan.n)
    for settings in (plan, *plan.models.values()):
        for name in ("temperature", "top_p"):
            value = getattr(settings, name)
            if value is not None and not 0 <= value < float("inf"):
                raise UserError(f"{name}: {value} is no number of 0 or more")
    for name, own in plan.models.items():
        if name not in plan.asked:
            raise UserError(nearest("model in [models]", name, plan.asked))
        for key in ("rpm", "tpm"):
            rate = getattr(own, key)
            if rate is not None and not 0 < rate < float("inf"):
                raise UserError(f'[models."{name}"] {key}: {rate} is no number above 0')
        for key, price in msgspec.structs.asdict(own.prices).items() if own.prices else ():
            if price is not None and not 0 <= price < float("inf"):
                raise UserError(f'[models."{name}"] prices: {key} = {price} is no price')


def known(what: str, names: Iterable[str], every: Iterable[str]) -> None:
    """UserError, with the nearest, where one of `names` is none of `every`."""
    for name in names:
        if name not in every:
            raise UserError(nearest(what, name, every))


def positive(what: str, number: int) -> None:
    """UserError where `number` is below 1."""
    if number < 1:
        raise UserError(f"{what}: {number} is below 1")


def worded(error: str, kinds: dict[str, type[Record]], inside: str = "") -> str:
    """Msgspec's message, with the nearest where a key is unknown; a study's `kinds` by table."""
    match = re.search(r"unknown field `([^`]*)`(?: - at `\$\.?([^`]*)`)?", error)
    if match is None:
        return error
    name, where = match[1], match[2] or inside
    every: dict[str, type[Record]] = {"models[...].prices": Prices, "models": ModelPlan, **kinds}
    kind = next(
        (k for prefix, k in every.items() if prefix and where.startswith(prefix)), kinds[""]
    )
    if not where and name in kinds.get("cells", Record).__struct_fields__:
        return f"{name!r} is a key of a [[cells]] table, not of the plan"
    place = f" in {where}" if where else ""
    return nearest("key", name, kind.__struct_fields__) + place


def sampling(plan: Settings, model: str, *, thinking: bool | None = None) -> Sampling:
    """How `model` is asked: its own settings over the plan's; `thinking` where it has none."""
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
        thinking=thinking if own.thinking is None else own.thinking,
    )
