"""A toy walk and small engines, to drive the loop without a study."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator

from misled.engines import Feed
from misled.records import Answer, Message, Request, Response, Row


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
    """Answers out of order, `width` at a time, as an HTTP engine does."""

    def __init__(
        self, width: int, answer: Callable[[Request], Answer] = reply, delay: float = 0.0002
    ) -> None:
        self.width = width
        self.reply = answer
        self.delay = delay
        self.asked: Counter[str] = Counter()

    async def answer(self, feed: Feed) -> AsyncGenerator[tuple[Request, Answer], None]:
        flying: dict[asyncio.Task[None], Request] = {}
        take: asyncio.Task[list[Request] | None] | None = None
        ended = False
        while flying or not ended:
            if take is None and not ended and len(flying) < self.width:
                take = asyncio.create_task(feed.take(self.width - len(flying), len(flying)))
            waits = [*flying, *([take] if take else [])]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if take is not None and take.done():
                taken = take.result()
                ended, take = taken is None, None
                for request in taken or ():
                    self.asked[request.key] += 1
                    delay = self.delay * (1 + int(request.key[3:5], 16) % 4)
                    flying[asyncio.create_task(asyncio.sleep(delay))] = request
            for task in [task for task in flying if task.done()]:
                request = flying.pop(task)
                yield request, self.reply(request)


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
