"""Posts over connections that are used again: aiohttp's connector and parser, and little else.

    async with Connections(connect=20.0, read=1200.0, total=1800.0, largest=64 << 20) as lines:
        to = lines.address("http://127.0.0.1:8080/v1/chat/completions", {"Authorization": "..."})
        reply = await lines.post(to, {"Idempotency-Key": "b2:..."}, b'{"model": ...}')

A session of aiohttp spends more on one request than all the rest of ours does, on what is
not needed here: cookies, redirects, proxies, bodies of unknown length. So an address
keeps its headers as they go over the wire, and its connections. Nothing is read that
nobody asked for: a server (or a proxy) that answers twice leaves its second answer on a
connection that waits for its next request, which would take it for its own. Such a
connection is closed.

Knows neither providers nor what may be asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from aiohttp.http import HttpProcessingError
from yarl import URL

from misled.errors import ProviderError, UserError

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.streams import StreamReader

__all__ = ["Address", "Connections", "Reply"]

FREE = 15.0  # seconds in which a server is trusted to keep a connection


class Address(NamedTuple):
    """Where to post: what a connection is made by, the head of every post, and what is free."""

    request: aiohttp.ClientRequest
    head: bytes
    free: list[tuple[Connection, float]]  # since when


class Reply(NamedTuple):
    """What came back."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def _lines(headers: Mapping[str, str]) -> bytes:
    """Headers as they go over the wire; UserError for a value that would end its line."""
    for name, value in headers.items():
        if not value.isprintable():
            raise UserError(f"the header {name} would hold a control character")
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()


class Connections(aiohttp.TCPConnector):
    """As many as are asked for at once, since who asks bounds what is in flight.

    Args:
        connect: seconds for a connection.
        read: seconds in which nothing comes.
        total: seconds from the request to the end of its answer.
        largest: bytes of an answer.
    """

    def __init__(self, *, connect: float, read: float, total: float, largest: int) -> None:
        super().__init__(limit=0, ttl_dns_cache=300)
        self._wait = aiohttp.ClientTimeout(connect=total, sock_connect=connect)
        self._read, self._total, self._largest = read, total, largest
        self._addresses: dict[tuple[object, ...], Address] = {}

    def address(self, url: str, headers: Mapping[str, str]) -> Address:
        """Where `url` is; `headers` go with every post to it."""
        named = (url, *headers.items())
        if named not in self._addresses:
            request = aiohttp.ClientRequest("POST", URL(url), headers=headers, loop=self._loop)
            request.headers.popall("Content-Length", None)  # that of the body which it has not
            first = f"POST {request.url.raw_path_qs} HTTP/1.1\r\n".encode()
            self._addresses[named] = Address(request, first + _lines(request.headers), [])
        return self._addresses[named]

    async def _connection(self, to: Address) -> Connection:
        """One on which nothing waits to be read, used before or new."""
        while to.free:
            connection, since = to.free.pop()
            protocol, late = connection.protocol, self._loop.time() - since > FREE
            if not (connection.closed or late or protocol is None or protocol.should_close):
                return connection
            connection.close()
        try:
            return await self.connect(to.request, [], self._wait)
        except TimeoutError:
            raise aiohttp.ConnectionTimeoutError(f"no connection to {to.request.url}") from None

    async def post(self, to: Address, headers: Mapping[str, str], body: bytes) -> Reply:
        """The whole answer; TimeoutError, or an error of aiohttp, where none comes."""
        head = b"%b%bContent-Length: %d\r\n\r\n" % (to.head, _lines(headers), len(body))
        connection = await self._connection(to)
        try:
            reply = await self._exchanged(connection, head + body)
        except BaseException:
            connection.close()
            raise
        to.free.append((connection, self._loop.time()))
        return reply

    async def _exchanged(self, connection: Connection, sent: bytes) -> Reply:
        """What comes back on this connection for what is sent."""
        protocol, transport, loop = connection.protocol, connection.transport, self._loop
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(read_timeout=self._read, read_until_eof=True)
        began = loop.time()
        cut = loop.call_later(self._total, transport.abort)  # asyncio.timeout costs ten times that
        try:
            transport.write(sent)
            protocol.start_timeout()
            message, payload = await protocol.read()
            while 100 <= message.code < 200:
                message, payload = await protocol.read()
            read = await self._body(message.headers, payload)
            return Reply(message.code, message.reason, message.headers, read)
        except HttpProcessingError as error:
            raise aiohttp.ClientPayloadError(error.message) from None
        except (aiohttp.ClientError, OSError):
            if loop.time() - began >= self._total:
                raise TimeoutError from None
            raise
        finally:
            cut.cancel()

    async def _body(self, headers: Mapping[str, str], payload: StreamReader) -> bytes:
        """All of it, unless that is more than may be."""
        # What is as long as it says, and does not unpack to more, is read at once.
        length = headers.get("Content-Length", "")
        if length.isdigit() and int(length) <= self._largest and "Content-Encoding" not in headers:
            return await payload.read()
        chunks: list[bytes] = []
        size = 0
        async for chunk in payload.iter_chunked(1 << 16):
            size += len(chunk)
            if size > self._largest:
                limit = self._largest >> 20
                raise ProviderError("garbage", f"the reply is larger than {limit} MiB")
            chunks.append(chunk)
        return b"".join(chunks)

    async def __aexit__(self, *error: object) -> None:
        """Close them all."""
        for address in self._addresses.values():
            for connection, _ in address.free:
                connection.close()
        await self.close()
