"""A minimal, fast HTTP/1.1 client: a rehearsal sends several requests per picture.

Requests can be sent before earlier ones are answered. They use one connection, so the
marketplace handles them in order while the crowd prepares the next one.
"""

import json
import select
import socket
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO
from urllib.parse import urlsplit

_PORT = 80
_SECONDS_TO_WAIT = 60.0
_LONGEST_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response.

    Attributes:
        headers: values by lower-case name; the last one if a name repeats.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Return the body, decoded as UTF-8."""
        return self.body.decode(errors="replace")

    def json(self) -> object:
        """Return the body's JSON value.

        Raises:
            ValueError: it is not JSON.
        """
        return json.loads(self.body)


class Reply:
    """A response that may not have arrived yet."""

    def __init__(self, connection: "Connection", path: str) -> None:
        self._connection = connection
        self._response: Response | None = None
        self.path = path

    def read(self) -> Response:
        """Wait for the response, and those of earlier requests, and return it.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        while self._response is None:
            self._connection.receive_next()
        return self._response

    def arrive(self, response: Response) -> None:
        """Store the response to this request."""
        self._response = response


class Connection:
    """One keep-alive connection, opened when first needed.

    Args:
        authority: host and port, as in a URL.
    """

    def __init__(self, authority: str) -> None:
        parts = urlsplit(f"//{authority}")
        self._authority = authority
        self._address = (parts.hostname or "", parts.port or _PORT)
        self._socket: socket.socket | None = None
        self._stream: IO[bytes] | None = None
        self._awaited: deque[Reply] = deque()

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """Send a request; its reply can be read at any time later.

        Raises:
            OSError: nothing listens there, or the connection broke.
        """
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method != "GET":
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join((*lines, "", "")).encode("latin-1")
        self._open().sendall(head + body)
        reply = Reply(self, path)
        self._awaited.append(reply)
        return reply

    def receive_next(self) -> None:
        """Read the response to the oldest unanswered request.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        if self._stream is None or not self._awaited:
            raise ConnectionError("the connection broke before the answer arrived")
        try:
            response = _read_response(self._stream)
        except (OSError, ValueError) as fault:
            self.close()
            raise ConnectionError(str(fault)) from fault
        self._awaited.popleft().arrive(response)
        if response.headers.get("connection", "").lower() == "close":
            self.close()

    def close(self) -> None:
        """Close the connection; unanswered requests stay unanswered."""
        self._awaited.clear()
        if self._stream is not None:
            self._stream.close()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._stream = None

    def _open(self) -> socket.socket:
        if self._socket is not None and not self._awaited and _has_ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=_SECONDS_TO_WAIT)
            # Nagle's delay would hold back a second request until the first is
            # answered.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._stream = self._socket.makefile("rb")
        return self._socket


def _has_ended(idle: socket.socket) -> bool:
    """Return whether the server closed an idle connection."""
    # `select` refuses the descriptors of a process that has more than a thousand open.
    waiting = select.poll()
    waiting.register(idle, select.POLLIN)
    return bool(waiting.poll(0))


def _read_response(stream: IO[bytes]) -> Response:
    protocol, _, rest = _line(stream).partition(" ")
    if not protocol.startswith("HTTP/1."):
        raise ValueError("the answer is not HTTP")
    status = int(rest[:3])
    headers: dict[str, str] = {}
    while line := _line(stream):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    # The marketplace always sends the length.
    length = int(headers.get("content-length", "0"))
    body = stream.read(length)
    if len(body) < length:
        raise ConnectionError("the answer was cut off")
    return Response(status=status, headers=headers, body=body)


def _line(stream: IO[bytes]) -> str:
    line = stream.readline(_LONGEST_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise ConnectionError("the connection was closed")
    return line.rstrip(b"\r\n").decode("latin-1")
