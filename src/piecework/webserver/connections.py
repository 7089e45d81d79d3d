"""Connections that are open, what their clients owe, and when patience ends.

A client that has connected and says nothing costs a file, and a process has few. So a
client has so long for its first byte, for the rest of a head, for a body and for taking
a reply; and there are never more connections than files allow: for one more, whoever
has kept the server waiting longest is let go.
"""

import errno
import logging
import os
import resource
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from typing import Any

_LOG = logging.getLogger(__name__)

_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_FILES_FOR_OTHERS = 64
"""The database, its log, the listening sockets, and what the process began with."""

_FEWEST = 16
_MOST = 10_000
_MOST_BEING_CLOSED = 16
_LOG_EVERY_SECONDS = 1.0


class Owed(Enum):
    """What a client has to do next."""

    FIRST_BYTE = "first byte"
    HEAD = "head"
    BODY = "body"
    TAKE_REPLY = "take reply"
    NEXT_REQUEST = "next request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How patient a server is with its clients.

    Attributes:
        first_byte_seconds: from the connection on; TLS's greeting is part of it.
        head_seconds: from the first byte of a request to the end of its head.
        body_seconds: from there to the end of the body.
        reply_seconds: how long a reply may wait to be taken.
        whole_reply_seconds: to take all of a reply, however it is taken.
        idle_seconds: between two requests; uvicorn itself closes after five.
        connections: at once; None for as many as the limit of files allows.
    """

    first_byte_seconds: float = 10.0
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    reply_seconds: float = 60.0
    whole_reply_seconds: float = 900.0
    idle_seconds: float = 15.0
    connections: int | None = None

    def seconds(self, owed: Owed) -> float:
        """How long a client may owe it."""
        return {
            Owed.FIRST_BYTE: self.first_byte_seconds,
            Owed.HEAD: self.head_seconds,
            Owed.BODY: self.body_seconds,
            Owed.TAKE_REPLY: self.reply_seconds,
            Owed.NEXT_REQUEST: self.idle_seconds,
        }[owed]


def most_connections(*, with_proxy: bool) -> int:
    """How many connections the limit of files leaves room for."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST
    room = files - _FILES_FOR_OTHERS
    # The proxy opens a connection of its own for each that comes in and goes on.
    return max(_FEWEST, min(_MOST, room * 2 // 3 if with_proxy else room))


class Connection(socket.socket):
    """An accepted connection; it tells when it is closed.

    Attributes:
        owed: what its client has to do next; None while the server is at work.
        since: from when on, by the monotonic clock.
    """

    def __init__(self, number: int, connections: "Connections") -> None:
        super().__init__(fileno=number)
        self.owed: Owed | None = None
        self.since = 0.0
        self._connections = connections

    def owes(self, owed: Owed | None) -> None:
        """The client has to do this next; None: it waits for the server."""
        self.owed = owed
        self._connections.note(self)

    def close(self) -> None:
        """Close it, and make room for another."""
        self._connections.forget(self)
        super().close()


class Connections:
    """All that a server has accepted.

    Args:
        limits: of patience and number.
        most: connections at once, if the limits do not say.

    Attributes:
        limits: of patience and number.
    """

    def __init__(self, limits: Limits, *, most: int) -> None:
        self.limits = limits
        self._most = limits.connections or most
        self._open: dict[int, Connection] = {}
        self._waited_for: OrderedDict[Connection, None] = OrderedDict()
        self._being_closed: set[Connection] = set()
        self._spare = os.open(os.devnull, os.O_RDONLY)
        self._shortest = min(map(limits.seconds, Owed))
        self._refused = 0
        self._said_at = float("-inf")

    def close(self) -> None:
        """Let go of what is kept for the day when there are no files left."""
        os.close(self._spare)

    def of(self, transport: Any) -> Connection | None:  # noqa: ANN401 - asyncio's, plain or TLS
        """The connection below a transport; None if it is closed already."""
        return self._open.get(transport.get_extra_info("socket").fileno())

    def accept(self, listening: "Listening") -> tuple[socket.socket, Any]:
        """The next connection, if there is room for it.

        Raises:
            BlockingIOError: none for now.
        """
        if len(self._being_closed) >= _MOST_BEING_CLOSED:
            raise BlockingIOError
        if len(self._open) - len(self._being_closed) >= self._most:
            self._make_room(listening)
        try:
            number, address = listening._accept()  # type: ignore[attr-defined] # noqa: SLF001 - as `accept` does
        except OSError as fault:
            if fault.errno in _OUT_OF_FILES:
                self._refuse_next(listening)
            raise
        connection = Connection(number, self)
        self._open[number] = connection
        if listening.is_watched:
            connection.owes(Owed.FIRST_BYTE)
        return connection, address

    def note(self, connection: Connection) -> None:
        """A client owes something else now, or nothing."""
        self._waited_for.pop(connection, None)
        is_open = connection.fileno() in self._open
        if connection.owed is not None and is_open:
            connection.since = time.monotonic()
            self._waited_for[connection] = None

    def forget(self, connection: Connection) -> None:
        """A connection is closed; told twice, it is the same."""
        number = connection.fileno()
        if self._open.get(number) is connection:
            del self._open[number]
        self._waited_for.pop(connection, None)
        self._being_closed.discard(connection)

    def let_go_of_the_late(self) -> None:
        """End connections whose clients have owed something for too long."""
        now = time.monotonic()
        late = []
        for connection in self._waited_for:
            age = now - connection.since
            if age < self._shortest:
                break  # they are in order
            if connection.owed and age >= self.limits.seconds(connection.owed):
                late.append(connection)
        for connection in late:
            self._end(connection)

    def _make_room(self, listening: "Listening") -> None:
        if not self._waited_for:
            self._refuse_next(listening)
        self._end(next(iter(self._waited_for)))
        self._say()

    def _refuse_next(self, listening: "Listening") -> None:
        """Close what comes next, lest it come again and again.

        Raises:
            BlockingIOError: always.
        """
        os.close(self._spare)
        try:
            number, _ = listening._accept()  # type: ignore[attr-defined] # noqa: SLF001 - as above
            os.close(number)
        finally:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        self._say()
        raise BlockingIOError

    def _end(self, connection: Connection) -> None:
        """Close it as if its client had: the event loop then does the rest."""
        self._waited_for.pop(connection, None)
        self._being_closed.add(connection)
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:  # the client was faster
            self._being_closed.discard(connection)

    def _say(self) -> None:
        self._refused += 1
        now = time.monotonic()
        if now - self._said_at < _LOG_EVERY_SECONDS:
            return
        _LOG.warning(
            "%d connections are open, and no more may be; let go of %d that kept us "
            "waiting, or had just come",
            len(self._open),
            self._refused,
        )
        self._said_at = now
        self._refused = 0


class Listening(socket.socket):
    """A listening socket, whose connections are counted.

    Attributes:
        is_watched: whether its clients are waited for; else something else does that.
    """

    connections: Connections
    is_watched = True

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection, as asyncio asks for it.

        Raises:
            BlockingIOError: none for now.
        """
        return self.connections.accept(self)
