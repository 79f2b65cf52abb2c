"""A toy walk and small engines, to drive the loop without a study."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import msgspec

from misled.draws import Draws
from misled.engines import Feed
from misled.engines.pool import pooled
from misled.records import Answer, Message, Request, Response
from misled.row import Row


def ask(text: str, lane: str = "") -> Request:
    """A request of one user message to the provider `toy`."""
    return Request(
        provider="toy", model="m", messages=(Message(role="user", content=text),), lane=lane
    )


def walk(unit: int, lookup: Callable[[Request], Answer | None]) -> Iterator[Request | Row]:
    """Ask one question, then three that depend on its answer and one shared by all units."""
    first = ask(f"{unit}", lane=f"{unit}")
    reply = lookup(first)
    if not isinstance(reply, Response):
        if reply is None:
            yield first
        return
    for text in (f"{reply.content}/a", f"{reply.content}/b", f"{reply.content}/c", "shared"):
        request = ask(text, lane=f"{unit}")
        answer = lookup(request)
        if answer is None:
            yield request
        elif isinstance(answer, Response):
            yield Row(
                arm="tampered",
                problem=str(unit),
                set="toy",
                cluster=str(unit),
                target="toy/m",
                source="toy/m",
                mode="plain",
                gold="0",
                outcome="recovered",
                value=answer.content,
            )


def reply(request: Request) -> Response:
    """What every toy engine says: a function of the request."""
    return Response(content=f"<{request.messages[0].content}>")


class Pool:
    """Answers out of order, `width` at a time, through the pool that HTTP uses."""

    def __init__(
        self, width: int, answer: Callable[[Request], Answer] = reply, delay: float = 0.0002
    ) -> None:
        self.width = width
        self.reply = answer
        self.delay = delay
        self.asked: Counter[str] = Counter()

    def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        return pooled(feed, self.ask, self.width)

    async def ask(self, request: Request) -> Answer:
        self.asked[request.key] += 1
        luck = Draws(request.key, self.width).below(5)
        if luck:
            await asyncio.sleep(self.delay * (luck - 1))
        return self.reply(request)


class Batches:
    """Answers only in files of `size`, sent when nothing more comes, as a batch API does."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.files: list[int] = []
        self.asked: Counter[str] = Counter()

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        held: list[Request] = []
        while (taken := await feed.take(self.size - len(held), len(held))) is not None:
            held += taken
            if held and (not taken or len(held) == self.size):
                self.files.append(len(held))
                file, held = held, []
                await asyncio.sleep(0.001)
                for request in reversed(file):
                    self.asked[request.key] += 1
                    yield request, reply(request)


class Overnight:
    """Sends what is due to a provider that answers a day later, and ends; a later process asks.

    The provider is a directory: a file of requests is answered by a file of answers. What
    was sent is known by its key, so that a second process fetches and does not send again.
    """

    def __init__(self, provider: Path) -> None:
        self.provider = provider

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        answers = self._answers()
        held: list[Request] = []
        while taken := await feed.take(500, len(held)):
            for request in taken:
                if request.key in answers:
                    yield request, answers[request.key]
                else:
                    held.append(request)
        self._send(held)

    def _answers(self) -> dict[str, Response]:
        found: dict[str, Response] = {}
        for path in self.provider.glob("*.out"):
            found |= msgspec.json.decode(path.read_bytes(), type=dict[str, Response])
        return found

    def _send(self, requests: list[Request]) -> None:
        files = sorted(self.provider.glob("*.in"))
        sent = {key for path in files for key in msgspec.json.decode(path.read_bytes())}
        new = {request.key: request for request in requests if request.key not in sent}
        if new:
            (self.provider / f"{len(files):03}.in").write_bytes(msgspec.json.encode(new))


def night(provider: Path) -> int:
    """The provider answers all files that it has; how many requests they hold."""
    count = 0
    for path in provider.glob("*.in"):
        requests = msgspec.json.decode(path.read_bytes(), type=dict[str, Request])
        answers = {key: reply(request) for key, request in requests.items()}
        path.with_suffix(".out").write_bytes(msgspec.json.encode(answers))
        count += len(requests)
    return count
