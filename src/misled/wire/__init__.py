"""Socket: provider dialects, pure JSON <-> records, no input or output.

    wire = WIRES["openai"](capabilities)
    body = wire.encode(request)
    response = wire.decode(reply, request)

A new dialect is one file and one line in `WIRES`.
"""

from __future__ import annotations

from collections.abc import Callable

from misled.wire.anthropic import Anthropic
from misled.wire.base import Wire
from misled.wire.capabilities import Capabilities
from misled.wire.openai import OpenAI

__all__ = ["WIRES", "Capabilities", "Wire"]

WIRES: dict[str, Callable[[Capabilities], Wire]] = {"anthropic": Anthropic, "openai": OpenAI}
