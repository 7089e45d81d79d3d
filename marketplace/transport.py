"""What lies below HTTP: limits on what a stranger sends, and lost connections."""

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LARGEST_BODY_BYTES = 1_048_576


class DroppableProtocol(H11Protocol):
    """HTTP/1.1 whose connection a request can see, so that a rehearsal can cut it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Keep the connection in reach of `request.state`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def drop_connection(request: Request) -> None:
    """Cut the connection before anything is said; the client cannot know more."""
    transport: Any = request.state.transport
    transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue


class BodyLimit:
    """Refuses bodies above a mebibyte with 413, announced or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what arrives."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > LARGEST_BODY_BYTES:
                raise HTTPException(
                    413, f"A request has at most {LARGEST_BODY_BYTES} bytes."
                )
            return message

        await self._app(scope, counted, send)
