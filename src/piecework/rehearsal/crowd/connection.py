"""A thin client of HTTP/1.1, because a rehearsal sends several requests a picture.

Requests may be sent before earlier ones were answered: they go out over one connection,
so the marketplace works on them in the order in which they were sent, and meanwhile the
crowd prepares what comes next.
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
    """What came back.

    Attributes:
        headers: values by name in small letters; the last of each name.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body, which is UTF-8."""
        return self.body.decode(errors="replace")

    def json(self) -> object:
        """The body's JSON value.

        Raises:
            ValueError: it is no JSON.
        """
        return json.loads(self.body)


class Reply:
    """A response that may still be on its way."""

    def __init__(self, connection: "Connection", path: str) -> None:
        self._connection = connection
        self._response: Response | None = None
        self.path = path

    def read(self) -> Response:
        """The response; waits for it, and for those of earlier requests.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        while self._response is None:
            self._connection.receive_next()
        return self._response

    def arrive(self, response: Response) -> None:
        """Take the response that belongs to this request."""
        self._response = response


class Connection:
    """One kept-alive connection, made when it is first needed.

    Args:
        authority: host and port, as a URL has them.
    """

    def __init__(self, authority: str) -> None:
        parts = urlsplit(f"//{authority}")
        self._authority = authority
        self._address = (parts.hostname or "", parts.port or _PORT)
        self._socket: socket.socket | None = None
        self._stream: IO[bytes] | None = None
        self._awaited: deque[Reply] = deque()

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Reply:
        """Send a request; its reply can be read at any later time.

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
        """Read the response to the oldest request that has none yet.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        if self._stream is None or not self._awaited:
            raise ConnectionError("the connection broke before the answer came")
        try:
            response = _read_response(self._stream)
        except (OSError, ValueError) as fault:
            self.close()
            raise ConnectionError(str(fault)) from fault
        self._awaited.popleft().arrive(response)
        if response.headers.get("connection", "").lower() == "close":
            self.close()

    def close(self) -> None:
        """Let go of the connection; what was not answered yet never will be."""
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
            self._socket = socket.create_connection(
                self._address, timeout=_SECONDS_TO_WAIT
            )
            # Nagle's delay would keep a second request back until the first's answer.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._stream = self._socket.makefile("rb")
        return self._socket


def _has_ended(idle: socket.socket) -> bool:
    """Whether the server closed a connection: while idle it sends nothing else."""
    return bool(select.select([idle], [], [], 0)[0])


def _read_response(stream: IO[bytes]) -> Response:
    protocol, _, rest = _line(stream).partition(" ")
    if not protocol.startswith("HTTP/1."):
        raise ValueError("the answer is no HTTP")
    status = int(rest[:3])
    headers: dict[str, str] = {}
    while line := _line(stream):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    # The marketplace says of everything how long it is.
    length = int(headers.get("content-length", "0"))
    body = stream.read(length)
    if len(body) < length:
        raise ConnectionError("the answer broke off")
    return Response(status=status, headers=headers, body=body)


def _line(stream: IO[bytes]) -> str:
    line = stream.readline(_LONGEST_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise ConnectionError("the connection was closed")
    return line.rstrip(b"\r\n").decode("latin-1")
