"""Connections that a fault can cut before anything is answered."""

import asyncio
from typing import Any

from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class DroppableProtocol(HttpToolsProtocol):
    """HTTP/1.1 whose connection a request can see."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Keep the connection in reach of `request.state`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def drop_connection(request: Request) -> None:
    """Cut the connection; the client cannot know what was done."""
    transport: Any = request.state.transport
    transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue
