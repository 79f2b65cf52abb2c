"""What a model's server accepts and how it wants to be told, as data.

    Capabilities(prefill="content", prefill_message={"partial": True})
    -> {"role": "assistant", "content": "<the prefill>", "partial": true}

Where servers differ in spelling, the spelling is a fragment of JSON that is merged
into the request. What cannot be said is said to be lacking, in a sentence, before
anything is sent. Knows no provider by name.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from misled.records import Prefill, Record, Sampling

__all__ = ["Capabilities", "unsafe"]

Heed = Literal["ok", "ignored", "rejected"]

_HEED: tuple[Heed, ...] = ("ok", "ignored", "rejected")  # from lenient to strict
# What chat templates and tokenizers take for structure, wherever it stands.
_STRUCTURE = re.compile(
    r"</?think>|<\|[^<>|\s]{1,40}\|?>|<(?:channel|turn)\|>|<｜[^<>｜]{1,40}｜>|◁/?think▷"
    r"|\[/?(?:THINK|INST)\]|</?s>|<(?:bos|eos|pad|unk|start_of_turn|end_of_turn)>"
)


class Capabilities(Record, frozen=True):
    """What a model's server accepts, and how it wants to be told.

    Attributes:
        prefill: what can be prefilled; "thinking" includes "content".
        prefill_message: merged into the trailing assistant message.
        prefill_body: merged into the request that has a prefill.
        prefill_root: path of the base URL for a request that has a prefill.
        prefill_needs_thinking_off: a prefill of the content is taken only with thinking off.
        thinking_prefill: what follows a prefilled thinking: more of it ("open"), the answer
            ("closed"), or "both", as asked.
        thinking_field: where a prefilled thinking stands in the trailing message; in "content"
            it stands between `think_open` and (closed) `think_close`.
        think_open: what opens a thinking that stands in the content.
        think_close: what closes it.
        open_body: merged into the request that leaves its prefilled thinking open.
        closed_body: likewise for one that closes it.
        echoes_prefill: the reply may repeat the prefill at its beginning.
        arrival: what shows that a prefilled thinking was not dropped: an echo of it or a count of
            prompt tokens that can hold it ("counted"), an echo alone ("echoed"), or nothing has
            to, since a probe has shown it ("trusted").
        history_reasoning: field for an earlier turn's reasoning; "" where it would get lost.
        temperature: whether temperature and top_p are heeded; `ignored` ones are sent all the same.
        top_k: likewise.
        sampling_thinking: likewise for all three while the model thinks.
        thinks: the model thinks where the request does not say.
        token_parameter: the name of the limit on generated tokens.
        max_tokens: that limit where the request sets none.
        system_role: what a system message is called.
        effort: dotted path of the effort parameter; "" where there is none.
        thinking_on: merged into a request that turns thinking on; empty where none can.
        thinking_off: likewise for off.
        seeded: a seed made from the request's key fixes the reply's randomness.
        extra: merged into every request.
    """

    prefill: Literal["none", "content", "thinking"] = "none"
    prefill_message: dict[str, Any] = {}
    prefill_body: dict[str, Any] = {}
    prefill_root: str = ""
    prefill_needs_thinking_off: bool = False
    thinking_prefill: Literal["unknown", "open", "closed", "both"] = "unknown"
    thinking_field: str = "reasoning_content"
    think_open: str = ""
    think_close: str = ""
    open_body: dict[str, Any] = {}
    closed_body: dict[str, Any] = {}
    echoes_prefill: bool = False
    arrival: Literal["counted", "echoed", "trusted"] = "counted"
    history_reasoning: str = ""
    temperature: Heed = "ok"
    top_k: Heed = "ok"
    sampling_thinking: Heed = "ok"
    thinks: bool = False
    token_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 - no secret
    max_tokens: int | None = None
    system_role: str = "system"
    effort: str = ""
    thinking_on: dict[str, Any] = {}
    thinking_off: dict[str, Any] = {}
    seeded: bool = False
    extra: dict[str, Any] = {}

    def lacks(self, sampling: Sampling, prefill: Prefill | None = None) -> str | None:
        """Why such a request cannot be expressed at all, or None where it can."""
        reason = self._lacks_sampling(sampling)
        return reason or (self._lacks_prefill(sampling, prefill) if prefill is not None else None)

    def _lacks_sampling(self, sampling: Sampling) -> str | None:
        if sampling.effort is not None and not self.effort:
            return "it has no effort parameter"
        if sampling.thinking is not None and not self._switch(on=sampling.thinking):
            return f"its thinking cannot be turned {'on' if sampling.thinking else 'off'}"
        budget, limit = self._budget(sampling), sampling.max_tokens or self.max_tokens
        if budget is not None and limit is not None and budget >= limit:
            return (
                f"its thinking budget of {budget} tokens does not fit into max_tokens = {limit}; "
                "raise that, or lower budget_tokens in its thinking_on"
            )
        return None

    def _lacks_prefill(self, sampling: Sampling, prefill: Prefill) -> str | None:
        if self.prefill == "none" or (prefill.field == "thinking" and self.prefill != "thinking"):
            return f"it cannot continue a prefill of its {prefill.field}"
        if prefill.field == "thinking":
            return self._lacks_thinking(sampling, prefill)
        if self.prefill_needs_thinking_off and self.thinking(sampling):
            return "it continues a prefill only with thinking turned off (thinking = false)"
        return unsafe(prefill.text)

    def _lacks_thinking(self, sampling: Sampling, prefill: Prefill) -> str | None:
        wanted = "closed" if prefill.closed else "open"
        if sampling.thinking is False:
            return "its thinking is turned off, so that none can be continued"
        if self.thinking_prefill == "unknown":
            return (
                "it is not known whether it goes on with a prefilled thinking or closes it; "
                'set thinking_prefill = "open", "closed" or "both" in its capabilities, '
                "once a probe has shown which"
            )
        if self.thinking_prefill not in {wanted, "both"}:
            return f"a prefilled thinking is always {self.thinking_prefill} there"
        own = (tag.strip() for tag in (self.think_open, self.think_close))
        found = next((tag for tag in own if tag and tag in prefill.text), None)
        return _structural(found) if found else unsafe(prefill.text)

    def thinking(self, sampling: Sampling) -> bool:
        """Whether the model thinks, as asked or by itself."""
        return self.thinks if sampling.thinking is None else sampling.thinking

    def heed(self, sampling: Sampling) -> dict[str, Heed]:
        """How each sampling parameter fares: by itself, and while the model thinks."""
        least = self.sampling_thinking if self.thinking(sampling) else "ok"
        alone = {"temperature": self.temperature, "top_p": self.temperature, "top_k": self.top_k}
        return {name: max(how, least, key=_HEED.index) for name, how in alone.items()}

    def unheeded(self, sampling: Sampling) -> list[str]:
        """The sampling parameters that are set and that the model does not heed."""
        heed = self.heed(sampling).items()
        return [n for n, how in heed if how != "ok" and getattr(sampling, n) is not None]

    def _switch(self, *, on: bool) -> dict[str, Any]:
        return self.thinking_on if on else self.thinking_off

    def _budget(self, sampling: Sampling) -> int | None:
        """The tokens that `thinking_on` sets aside, where a request turns it on."""
        inner = self.thinking_on.get("thinking") if sampling.thinking else None
        budget = inner.get("budget_tokens") if isinstance(inner, dict) else None
        return budget if isinstance(budget, int) else None


def unsafe(text: str) -> str | None:
    """Why `text` cannot stand in a model's own turn word for word, or None where it can.

    A template would end the thinking at a tag, or a tokenizer the turn at a special
    token, and the model would see another chain than the one that was sent.
    """
    found = _STRUCTURE.search(text)
    return _structural(found[0]) if found else None


def _structural(tag: str) -> str:
    return f"the text holds {tag!r}, which chat templates read as structure"
