"""A client that costs next to nothing: prepared bytes out, replies counted.

boto3 takes about a millisecond of processor time a call, so it would measure itself.
"""

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from piecework.marketplace.requester.wire import TARGET_PREFIX

KEY = "BENCH"
"""The requester of all calls; a rehearsal looks at the key's name only."""

HOST = "marketplace"
"""Stands in prepared bytes for the marketplace's own, which a line knows."""

_ANY_HOST = f"Host: {HOST}\r\n".encode()
_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back."""

    status: int
    body: bytes


class Line(asyncio.Protocol):
    """One connection that is kept open; one request at a time."""

    def __init__(self, host: str) -> None:
        self._host = f"Host: {host}\r\n".encode()
        self._received = bytearray()
        self._missing = -1
        self._answer: asyncio.Future[Reply] | None = None
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way out."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Whoever waits, waits no longer."""
        self._transport = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("closed"))

    def data_received(self, data: bytes) -> None:
        """Hand over the reply as soon as it is complete."""
        self._received += data
        if self._missing < 0:
            end = self._received.find(_END_OF_HEAD)
            if end < 0:
                return
            head = bytes(self._received[:end]).lower()
            _, _, rest = head.partition(_LENGTH)
            length = int(rest.split(b"\r\n", 1)[0])
            self._missing = end + len(_END_OF_HEAD) + length
        if len(self._received) >= self._missing:
            received, self._received = self._received, bytearray()
            self._missing = -1
            assert self._answer is not None
            body = bytes(received[received.find(_END_OF_HEAD) + 4 :])
            self._answer.set_result(Reply(status=int(received[9:12]), body=body))

    async def ask(self, request: bytes) -> Reply:
        """Send prepared bytes and wait for the reply."""
        if self._transport is None:
            raise ConnectionResetError("The marketplace hung up.")
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request.replace(_ANY_HOST, self._host, 1))
        return await self._answer

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


async def connect(origin: str) -> Line:
    """A line to a marketplace."""
    parts = urlsplit(origin)
    assert parts.hostname is not None
    assert parts.port is not None
    _, line = await asyncio.get_running_loop().create_connection(
        lambda: Line(parts.netloc), parts.hostname, parts.port
    )
    return line


def call(operation: str, /, **members: object) -> bytes:
    """A requester's call as bytes, without a signature."""
    body = json.dumps(members).encode()
    return request_of(
        "POST /",
        body,
        "Content-Type: application/x-amz-json-1.1",
        f"X-Amz-Target: {TARGET_PREFIX}{operation}",
        f"Authorization: AWS4-HMAC-SHA256 Credential={KEY}/20260105/us-east-1/x",
    )


def worker_call(what: str, token: str, form: str = "") -> bytes:
    """A worker's request as bytes; for example `GET /worker/hits`."""
    return request_of(
        what,
        form.encode(),
        "Accept: application/json",
        "Content-Type: application/x-www-form-urlencoded",
        f"Cookie: worker_session={token}",
    )


def request_of(what: str, body: bytes, *headers: str) -> bytes:
    """A request as bytes, for any marketplace."""
    head = [f"{what} HTTP/1.1", f"Host: {HOST}", *headers]
    head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + _END_OF_HEAD + body
