"""A server that answers chat completions at once, or after a planted latency; for `over_http.py`.

    python http_server.py [median seconds]

Prints its port. Written on the bare protocol, so that it is no bottleneck. The
latency of a request is lognormal, a function of the number that its prompt begins with.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import sys
from statistics import NormalDist

import uvloop

__all__ = ["latency"]

SIGMA = 1.0  # of the logarithm: one request in a hundred takes ten times the median
SAYS = {
    "id": "chatcmpl-0",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "The sum is 55. " * 20},
        }
    ],
    "usage": {"prompt_tokens": 500, "completion_tokens": 120, "total_tokens": 620},
}
BODY = json.dumps(SAYS).encode()
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY
NUMBER = re.compile(rb"No (\d+) ")


def latency(number: int, median: float) -> float:
    """Seconds of request `number`: quantiles of the lognormal in a fixed, scattered order."""
    u = (number * 0.6180339887498949 + 0.5) % 1
    return median * math.exp(SIGMA * NormalDist().inv_cdf(min(max(u, 1e-3), 1 - 1e-3)))


class Chat(asyncio.Protocol):
    """One connection: a request is complete when its body is."""

    def __init__(self, median: float) -> None:
        self.median = median
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, body = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])  # type: ignore[index]
        if len(body) < length:
            return
        self.data = body[length:]
        if not self.median:
            self.transport.write(REPLY)  # type: ignore[attr-defined]
            return
        number = NUMBER.search(body)
        seconds = latency(int(number[1]) if number else 0, self.median)
        asyncio.get_running_loop().call_later(seconds, self.transport.write, REPLY)  # type: ignore[attr-defined]


async def main(median: float) -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Chat(median), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0))
