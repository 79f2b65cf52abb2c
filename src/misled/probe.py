"""What a server really does, found with a handful of tiny questions.

    probe(model, world) -> [Finding("prefill", found="goes on", declared="content"), ...]

Models change faster than tables of them. What is found and differs from what is declared
becomes the user's own table (`models.remember`), which is laid over the built-in one. A
question that fails for another reason than a refusal shows nothing, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from misled.engines.http import Http, Limits, World
from misled.errors import UserError
from misled.models import Capabilities, Model
from misled.records import Answer, Failure, Message, Prefill, Record, Request, Response, Sampling

__all__ = ["Finding", "differing", "probe"]

LIMITS = Limits(tries=3, knocks=10, patience=120.0)
REFUSED = {"bad_request", "unsupported"}
WORDS = "Say these six words and nothing else: alpha bravo charlie delta echo foxtrot"
BEGUN = "alpha bravo charly"  # spelled as no model would, so that an echo is no new beginning
THOUGHT = "The user asks for 2 + 3. I count on from 2: 3, 4,"
PAST = "I recall that the sum of two small numbers is found by counting on. " * 4
LONG = "The carry of each column is added to the digits of the column to its left. " * 70
FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


class Finding(Record, frozen=True):
    """One thing that a server does; `sets` are the capabilities that say so."""

    what: str
    found: str
    declared: str | None = None
    detail: str = ""
    sets: dict[str, Any] = {}


def probe(model: Model, world: World) -> list[Finding]:
    """What the model's server does; UserError where it does not answer at all."""
    return asyncio.run(_Probe(model, world).all())


def differing(findings: list[Finding], declared: Capabilities) -> dict[str, Any]:
    """The capabilities that were found to be others than declared."""
    found = {name: value for finding in findings for name, value in finding.sets.items()}
    return {name: value for name, value in found.items() if getattr(declared, name) != value}


@dataclass
class _One:
    """A feed of one request."""

    due: list[Request] = field(default_factory=list)

    async def take(self, _n: int, held: int) -> list[Request] | None:
        due, self.due = self.due, []
        return due or ([] if held else None)


@dataclass(frozen=True)
class _Probe:
    model: Model
    world: World

    async def all(self) -> list[Finding]:
        """Every finding, the cheap ones first."""
        plain = await self._ask("What is 2 + 3? Answer with the number alone.", max_tokens=256)
        if isinstance(plain, Failure):
            raise UserError(f"{self.model.id} cannot be probed: {plain.message}")
        findings = [_reasoning(plain), await self._temperature(), await self._prefill()]
        findings += [finding async for finding in self._thinking()]
        return [*findings, await self._history(), await self._cache()]

    async def _ask(
        self,
        *messages: str | Message,
        can: dict[str, Any] | None = None,
        prefill: Prefill | None = None,
        **sampling: Any,
    ) -> Answer:
        """One answer, with these capabilities instead of the declared ones."""
        capabilities = msgspec.structs.replace(self.model.capabilities, **(can or {}))
        variant = msgspec.structs.replace(self.model, capabilities=capabilities)
        request = Request(
            provider=variant.provider,
            model=variant.name,
            messages=tuple(Message("user", m) if isinstance(m, str) else m for m in messages),
            sampling=Sampling(**({"max_tokens": 48} | sampling)),
            prefill=prefill,
        )
        engine = Http(lambda _: variant, concurrency=1, limits=LIMITS, world=self.world)
        async with aclosing(engine.answer(_One([request]))) as answers:
            return (await anext(answers))[1]

    async def _temperature(self) -> Finding:
        can = {"temperature": "ok", "sampling_thinking": "ok"}
        answer = await self._ask("Say yes.", can=can, temperature=0.7)
        declared = self.model.capabilities.temperature
        if isinstance(answer, Response):
            taken = "ignored" if declared == "ignored" else "ok"  # an answer cannot tell them apart
            return Finding("temperature", "accepted", declared, sets={"temperature": taken})
        return _failed("temperature", declared, answer, {"temperature": "rejected"})

    async def _prefill(self) -> Finding:
        """Whether a prefilled answer is taken, repeated, and gone on with."""
        can = self.model.capabilities
        given = {"prefill": "content" if can.prefill == "none" else can.prefill}
        off = {"thinking": False} if can.prefill_needs_thinking_off else {}
        prefill = Prefill("content", BEGUN)
        answer = await self._ask(
            WORDS, can=given | {"echoes_prefill": False}, prefill=prefill, **off
        )
        if isinstance(answer, Failure):
            return _failed("prefill", can.prefill, answer, {"prefill": "none"})
        said = answer.content.strip()
        echoed = said.startswith(BEGUN)
        detail = f"the reply begins {said[:40]!r}"
        if not echoed and said.lower().startswith("alpha"):
            return Finding("prefill", "begins anew", can.prefill, detail, {"prefill": "none"})
        gone_on = said.removeprefix(BEGUN).strip(" ,.\n").lower().startswith("delta")
        found = ("goes on" if gone_on else "accepted") + (", repeating it" if echoed else "")
        sets: dict[str, Any] = {"echoes_prefill": echoed} if echoed or gone_on else {}
        # That it went on is proof; that it was accepted is none where nothing is declared.
        if echoed or gone_on or can.prefill != "none":
            sets |= given
        return Finding("prefill", found, can.prefill, detail, sets)

    async def _thinking(self) -> AsyncIterator[Finding]:
        """Whether a prefilled thinking goes on, or is closed; as it is spelled in the table."""
        can = self.model.capabilities
        if can.prefill != "thinking":
            yield Finding("thinking prefill", "not tried: no spelling is declared", can.prefill)
            return
        works = []
        for closed in (False, True):
            name = "closed" if closed else "open"
            answer = await self._ask(
                "What is 2 + 3?",
                can={"thinking_prefill": "both"},
                prefill=Prefill("thinking", THOUGHT, closed),
                max_tokens=256,
            )
            if isinstance(answer, Failure):
                yield _failed(f"thinking prefill, {name}", can.thinking_prefill, answer, {})
                continue
            thinks = bool((answer.reasoning or "").strip())
            works += [name] if thinks != closed else []
            found = "goes on thinking" if thinks else "answers"
            yield Finding(f"thinking prefill, {name}", found, can.thinking_prefill)
        if works:
            which = "both" if len(works) == 2 else works[0]
            sets = {"thinking_prefill": which}
            yield Finding("thinking prefill", which, can.thinking_prefill, sets=sets)

    async def _history(self) -> Finding:
        """Whether thinking that is sent back with an earlier turn reaches the model."""
        declared = self.model.capabilities.history_reasoning
        name = declared or "reasoning_content"
        counts = []
        for reasoning in (None, PAST):
            past = Message("assistant", "5", reasoning)
            answer = await self._ask(
                "What is 2 + 3?", past, "And 3 + 4?", can={"history_reasoning": name}
            )
            if isinstance(answer, Failure):
                return _failed("earlier thinking", declared, answer, {"history_reasoning": ""})
            counts.append(answer.usage.prompt)
        without, with_it = counts
        if without is None or with_it is None:
            return Finding("earlier thinking", "unknown: prompt tokens are not counted", declared)
        kept = with_it - without > len(PAST.split()) // 2
        detail = f"{without} prompt tokens without, {with_it} with {len(PAST.split())} words of it"
        sets = {"history_reasoning": name if kept else ""}
        return Finding(
            "earlier thinking", f"kept in {name}" if kept else "left out", declared, detail, sets
        )

    async def _cache(self) -> Finding:
        """The tokens of a repeated prompt that come from a cache."""
        await self._ask(LONG + "Say yes.", max_tokens=16)
        answer = await self._ask(LONG + "Say yes.", max_tokens=16)
        if isinstance(answer, Failure):
            return _failed("prefix cache", None, answer, {})
        usage = answer.usage
        if usage.cached is None:
            return Finding("prefix cache", "unknown: cached tokens are not counted")
        return Finding("prefix cache", f"{usage.cached} of {usage.prompt} tokens on a repeat")


def _failed(what: str, declared: str | None, answer: Failure, sets: dict[str, Any]) -> Finding:
    """A refusal shows that it cannot be done; another failure shows nothing."""
    if answer.kind in REFUSED:
        return Finding(what, "refused", declared, answer.message, sets)
    return Finding(what, f"unknown: {answer.kind}", declared, answer.message)


def _reasoning(answer: Response) -> Finding:
    """The field of a reply that holds reasoning."""
    try:
        body = msgspec.json.decode(answer.raw)
        message = body["choices"][0]["message"] if "choices" in body else body
    except (msgspec.DecodeError, LookupError, TypeError):
        message = {}
    names = [name for name in FIELDS if message.get(name)]
    if not names and answer.reasoning:
        names = ["parts of the content"]
    if not names and "<think>" in answer.content:
        names = ["tags in the content"]
    return Finding("reasoning comes in", " and ".join(names) or "no field of its own")
