"""The parts of which every dialect's reply is made, and what they say put together.

    parsed(b'{"choices": ...}')                -> the object
    parts([{"type": "text", "text": "5"}])      -> ("5", None)
    answered(Said("5", None, "stop", Usage()), can, request, raw)  -> Response

No type is trusted: a body is an answer, an error, or garbage. `answered` puts right
what servers do to a prefill: repeat it, file what follows it in the wrong field, or
drop it. A server that begins a new message instead of going on cannot be told apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from misled.errors import ProviderError
from misled.records import Prefill, Request, Response, Usage
from misled.wire.base import garbage, one_line, unsupported
from misled.wire.capabilities import Capabilities
from misled.wire.requests import in_content

__all__ = ["Said", "answered", "count", "finished", "object_of", "parsed", "parts"]

_FINISH = {
    **dict.fromkeys(("eos", "eos_token", "end_turn", "stop_sequence", "completed"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_length"), "length"),
    "model_context_window_exceeded": "length",
    **dict.fromkeys(("safety", "refusal", "sensitive", "prohibited_content"), "content_filter"),
}
# The server gave up in the middle: what came so far is no answer.
_BROKEN_OFF = {"abort", "aborted", "error", "insufficient_system_resource", "pause_turn"}


class Said(NamedTuple):
    """What a reply says; `reasoning` is None where it has no place for it."""

    content: str
    reasoning: str | None
    finish: str
    usage: Usage


def answered(said: Said, can: Capabilities, request: Request, raw: bytes) -> Response:
    """The response: what follows the prefill, in the field that it belongs to.

    An answer that the server filed as reasoning (where the request left no thinking to
    do) is the content again, and flagged. Thinking that was opened in the content and
    never closed is reasoning. ProviderError("unsupported") where a prefilled thinking
    did not arrive.
    """
    prefill = request.prefill
    content, reasoning = _continuation(said, can, request)
    flags: tuple[str, ...] = ()
    opened = prefill is not None and prefill.field == "thinking" and not prefill.closed
    answering = request.sampling.thinking is False or (prefill is not None and not opened)
    if answering and reasoning and reasoning.strip() and not content.strip():
        content, reasoning, flags = reasoning, None, ("answer_in_reasoning",)
    closing = can.think_close.strip() or "</think>"
    if opened and can.thinking_field == "content" and not reasoning and closing not in content:
        content, reasoning = "", content
    return Response(
        content=content,
        reasoning=reasoning,
        finish=said.finish,
        usage=_plausible(said.usage, spoke=bool(content), thought=bool(reasoning)),
        raw=raw.decode("utf-8", "replace"),
        flags=flags,
    )


def _continuation(said: Said, can: Capabilities, request: Request) -> tuple[str, str | None]:
    """Content and reasoning after the prefill, wherever it was repeated."""
    content, reasoning, prefill = said.content, said.reasoning, request.prefill
    if prefill is None:
        return content, reasoning
    if can.echoes_prefill:
        echoes = (in_content(can, prefill), prefill.text)
        content = _without(echoes, content)
        reasoning = None if reasoning is None else _without(echoes, reasoning)
    echoed = (content, reasoning) != (said.content, said.reasoning)
    if prefill.field == "thinking" and not echoed and can.arrival != "trusted":
        reason = _lost(said.usage.prompt, can, request, prefill)
        if reason is not None:
            raise unsupported(request, reason)
    return content, reasoning


def _without(echoes: Iterable[str], text: str) -> str:
    """`text` after an echo of the prefill; a template may have trimmed the echo."""
    for echo in echoes:
        for shape in (echo, echo.rstrip(), echo.strip()):
            if shape and text.startswith(shape):
                return text[len(shape) :]
    return text


def _lost(prompt: int | None, can: Capabilities, request: Request, prefill: Prefill) -> str | None:
    """Why a thinking without an echo did not arrive: a template without thinking drops it.

    A word takes at least one token.
    """
    if can.arrival == "echoed":
        return "the thinking was dropped: the reply does not begin with it"
    texts = [message.content for message in request.messages]
    words = sum(len(text.split()) for text in (*texts, prefill.text))
    if not prompt:
        return "no count of prompt tokens shows that the thinking arrived"
    if prompt < words:
        return f"the thinking was dropped: {prompt} prompt tokens for {words} words"
    return None


def _plausible(usage: Usage, *, spoke: bool, thought: bool) -> Usage:
    """Counts that can be true: an all-zero usage counts nothing, and no part is above its whole."""
    prompt = usage.prompt or None
    completion, reasoning = usage.completion, usage.reasoning
    if completion and reasoning and reasoning > completion:
        reasoning = None
    return Usage(
        prompt=prompt,
        cached=usage.cached if prompt and (usage.cached or 0) <= prompt else None,
        completion=None if not completion and (spoke or thought or not prompt) else completion,
        reasoning=None if not reasoning and (thought or not completion) else reasoning,
    )


def count(value: object) -> int | None:
    """A plausible number of tokens, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1 << 53 else None


def finished(reason: object) -> str:
    """Map to stop, length or content_filter, else the server's own word; `unknown` for none."""
    if reason is None:
        return "unknown"
    if not isinstance(reason, str):
        raise garbage("its finish reason is no text")
    word = reason.lower()
    if word in _BROKEN_OFF:
        raise ProviderError("server", f"the server broke off ({word})", retryable=True)
    return _FINISH.get(word, word)


def parts(value: object) -> tuple[str, str | None]:
    """A text, or a list of typed parts, as (text, thinking); None where no part is thinking."""
    if value is None:
        return "", None
    if isinstance(value, str):
        return value, None
    if not isinstance(value, list):
        raise garbage("its content is neither text nor parts")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in value:
        kind = "text" if isinstance(part, str) else object_of(part, "content part").get("type")
        if not isinstance(kind, str):
            raise garbage("a content part has no type")
        aside = kind.startswith(("thinking", "redacted_thinking", "reasoning"))
        (thoughts if aside else texts).append(_text(part))
    return "".join(texts), "".join(thoughts) if thoughts else None


def _text(part: object) -> str:
    """The text of a part, which may itself be a list of texts; "" for an encrypted one."""
    if isinstance(part, dict):
        fields = (part.get(name) for name in ("text", "thinking", "reasoning", "summary"))
        part = next((field for field in fields if field is not None), "")
    lines = part if isinstance(part, list) else [part]
    texts = []
    for line in lines:
        text = line.get("text", "") if isinstance(line, dict) else line
        if not isinstance(text, str):
            raise garbage("a content part holds something else than text")
        texts.append(text)
    return "".join(texts)


def parsed(body: bytes) -> dict[str, Any]:
    """The object in `body`; half a character or a NaN in it costs no paid answer."""
    try:
        try:
            return object_of(msgspec.json.decode(body), "body")
        except msgspec.DecodeError:
            return object_of(_mended(body), "body")
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise garbage(one_line(str(error), 120), body) from None


def _mended(body: bytes) -> object:
    """A body that Python's own reader takes; U+FFFD for half a character (a cut emoji) in it."""
    text = json.dumps(json.loads(body.decode("utf-8", "replace")), ensure_ascii=False)
    return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def object_of(value: object, what: str) -> dict[str, Any]:
    """`value`, which has to be an object."""
    if not isinstance(value, dict):
        raise garbage(f"its {what} is no object")
    return value
