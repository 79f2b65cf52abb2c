"""What a prefix cache could have given to the requests of a run, and what servers' caches gave.

    reuse(store)   -> Reuse(attainable=0.61, given=0.58)

`attainable` is a share of the prompts' characters: what a cache that forgets nothing need
not work out again (`cache`). Characters and not tokens, since each model has its own.
`given` is the share of prompt tokens that came from a cache, of the prompts for which the
server says how many did.

Knows nothing about studies.
"""

from __future__ import annotations

import msgspec

from misled.cache import shared
from misled.records import Message, Prefill, Record
from misled.store import Store

__all__ = ["AT_ONCE", "Reuse", "reuse"]

AT_ONCE = 20_000  # answers that are looked through in a fraction of a second


class Reuse(Record, frozen=True):
    """Shares of the prompts; None where there is nothing to tell."""

    attainable: float | None
    given: float | None

    @property
    def reached(self) -> float | None:
        """What was given, of what could be had."""
        return None if self.given is None or not self.attainable else self.given / self.attainable


class _Prompt(msgspec.Struct):
    """The part of a request that a cache may have seen before, and whose cache that is."""

    provider: str
    model: str
    messages: tuple[Message, ...]
    host: str | None = None
    prefill: Prefill | None = None

    @property
    def text(self) -> str:
        turns = [f"{turn.role}\n{turn.reasoning or ''}{turn.content}" for turn in self.messages]
        return "\n".join([*turns, self.prefill.text] if self.prefill else turns)


def reuse(store: Store) -> Reuse:
    """That of all requests that were answered."""
    # Sorted, a prompt shares with its neighbour what it shares with any; the file sorts more
    # than fits into memory.
    query = (
        "SELECT body FROM requests WHERE id IN (SELECT id FROM answers WHERE kind = 'response') "
        "ORDER BY body"
    )
    last: dict[tuple[str, str, str | None], str] = {}
    characters = saved = 0
    for (body,) in store.scan(query):
        try:
            prompt = msgspec.json.decode(body, type=_Prompt)
        except (msgspec.MsgspecError, TypeError):  # damaged, which `verify` names
            continue
        text, server = prompt.text, (prompt.provider, prompt.model, prompt.host)
        saved += shared(last.get(server, ""), text)
        characters += len(text)
        last[server] = text
    counts = store.counts()
    given = counts.cached_tokens
    return Reuse(
        attainable=saved / characters if characters else None,
        given=None if given is None else given / counts.counted_tokens,
    )
