"""Connections that a fault can cut before the answer."""

import asyncio
from typing import Any

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class DroppableProtocol(HttpToolsProtocol):
    """An HTTP/1.1 protocol that gives requests access to their connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Make the connection available in `request.state`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def drop_connection(request: Request) -> None:
    """Cut the connection, so that the client cannot know what was done."""
    transport: Any = request.state.transport
    transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue
