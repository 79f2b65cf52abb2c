"""Connections that are used again only where nothing has come that nobody asked for.

    aiohttp.ClientSession(connector=Connections(limit=0))

A server (or a proxy) that answers twice leaves its second answer on a connection that
waits for its next request, which would take it for its own. Nothing can tell the two
apart once that request is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from aiohttp.connector import Connection

__all__ = ["Connections"]


class Connections(aiohttp.TCPConnector):
    """A pool that closes a waiting connection on which an answer lies."""

    async def connect(self, *args: Any, **options: Any) -> Connection:
        """A connection, new or used before, on which nothing waits to be read."""
        while True:
            connection = await super().connect(*args, **options)
            protocol = connection.protocol
            if protocol is None or not protocol.should_close:
                return connection
            connection.close()
