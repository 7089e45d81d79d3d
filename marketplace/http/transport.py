"""What lies below HTTP: limits on what a stranger sends, and lost connections."""

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_BODY_BYTES = 1_048_576
LARGEST_HEAD_BYTES = 65_536


class DroppableProtocol(HttpToolsProtocol):
    """HTTP/1.1 whose connection a request can see, so that a rehearsal can cut it.

    The parser itself would gather headers for ever; here a head ends or is refused.
    """

    _head_bytes: int | None = 0
    _chunk_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Keep the connection in reach of `request.state`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}

    def data_received(self, data: bytes) -> None:
        """Parse, unless the head of a request does not end."""
        self._chunk_bytes = len(data)
        super().data_received(data)
        if self._head_bytes is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD_BYTES:
                self.send_400_response(
                    f"The head of a request has at most {LARGEST_HEAD_BYTES} bytes."
                )

    def on_headers_complete(self) -> None:
        """The head has ended; what comes is counted as the body."""
        self._head_bytes = None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What comes is the head of another request; counted from the next bytes."""
        self._head_bytes = -self._chunk_bytes
        super().on_message_complete()


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
