"""Open connections, what their clients must do next, and time limits for it.

A silent connection costs a file descriptor, and a process has few. So there are time
limits for a client's first byte, the rest of a head, a body and for taking a reply, and
never more connections than descriptors allow. For one more, the server closes the
connection that has kept it waiting longest. Sockets are bound before a server runs, so that
its addresses are known at once.
"""

import errno
import logging
import os
import re
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
"""For the database, its log, the listening sockets and the process's first files."""

_FEWEST = 16
_MOST_CONNECTIONS = 10_000
_MOST_BEING_CLOSED = 16
_LOG_EVERY_SECONDS = 1.0


class Owed(Enum):
    """What a client must do next."""

    FIRST_BYTE = "first byte"
    HEAD = "head"
    BODY = "body"
    TAKE_REPLY = "take reply"
    NEXT_REQUEST = "next request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """A server's limits for its clients.

    Attributes:
        first_byte_seconds: from the connection on, including the TLS handshake.
        head_seconds: from the first byte of a request to the end of its head.
        body_seconds: from there to the end of the body.
        reply_seconds: how long a reply may wait for the client.
        whole_reply_seconds: to take a complete reply, at any pace.
        idle_seconds: between two requests; uvicorn itself closes after five.
        connections: the most at once; None for as many as the descriptor limit allows.
    """

    first_byte_seconds: float = 10.0
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    reply_seconds: float = 60.0
    whole_reply_seconds: float = 900.0
    idle_seconds: float = 15.0
    connections: int | None = None

    def seconds(self, owed: Owed) -> float:
        """Return the time limit for a client."""
        return {
            Owed.FIRST_BYTE: self.first_byte_seconds,
            Owed.HEAD: self.head_seconds,
            Owed.BODY: self.body_seconds,
            Owed.TAKE_REPLY: self.reply_seconds,
            Owed.NEXT_REQUEST: self.idle_seconds,
        }[owed]


def most_connections(*, with_proxy: bool) -> int:
    """Return how many connections the descriptor limit allows."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    room = files - _FILES_FOR_OTHERS
    # The proxy opens one more connection for each that it passes on.
    return max(_FEWEST, min(_MOST_CONNECTIONS, room * 2 // 3 if with_proxy else room))


class Connection(socket.socket):
    """An accepted connection, which reports its closing.

    Attributes:
        owed: what its client must do next; None while the server works.
        since: since when, by the monotonic clock.
    """

    def __init__(self, number: int, connections: "Connections") -> None:
        super().__init__(fileno=number)
        self.owed: Owed | None = None
        self.since = 0.0
        self._connections = connections

    def owes(self, owed: Owed | None) -> None:
        """Set what the client must do next; None: it waits for the server."""
        self.owed = owed
        self._connections.note(self)

    def close(self) -> None:
        """Close the connection, and make room for another."""
        self._connections.forget(self)
        super().close()


class Connections:
    """All accepted connections of a server.

    Args:
        limits: the limits of time and number.
        most: the most connections at once, if the limits do not state it.

    Attributes:
        limits: the limits of time and number.
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
        self._logged_at = float("-inf")

    def close(self) -> None:
        """Close the spare descriptor for times without free ones."""
        os.close(self._spare)

    def of(self, transport: Any) -> Connection | None:  # noqa: ANN401 - asyncio's, plain or TLS
        """Return the connection below a transport; None if it is already closed."""
        return self._open.get(transport.get_extra_info("socket").fileno())

    def accept(self, listening: "Listening") -> tuple[socket.socket, Any]:
        """Accept the next connection, if there is room for it.

        Raises:
            BlockingIOError: no connection is waiting.
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
        """Record that a connection's `owed` has changed."""
        self._waited_for.pop(connection, None)
        is_open = connection.fileno() in self._open
        if connection.owed is not None and is_open:
            connection.since = time.monotonic()
            self._waited_for[connection] = None

    def forget(self, connection: Connection) -> None:
        """Forget a closed connection; repeats change nothing."""
        number = connection.fileno()
        if self._open.get(number) is connection:
            del self._open[number]
        self._waited_for.pop(connection, None)
        self._being_closed.discard(connection)

    def let_go_of_the_late(self) -> None:
        """End connections with clients that are over their time limit."""
        now = time.monotonic()
        late = []
        for connection in self._waited_for:
            age = now - connection.since
            if age < self._shortest:
                break  # they are sorted by time
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
        """Close the next connection, so that it does not come again and again.

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
        """Close it as if its client had done so; the event loop then does the rest."""
        self._waited_for.pop(connection, None)
        self._being_closed.add(connection)
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:  # the client was faster
            self._being_closed.discard(connection)

    def _say(self) -> None:
        self._refused += 1
        now = time.monotonic()
        if now - self._logged_at < _LOG_EVERY_SECONDS:
            return
        _LOG.warning(
            "%d connections are open, which is the limit; closed %d that were waiting or new",
            len(self._open),
            self._refused,
        )
        self._logged_at = now
        self._refused = 0


class Listening(socket.socket):
    """A listening socket with counted connections.

    Attributes:
        is_watched: whether its clients' time limits are watched here.
    """

    connections: Connections
    is_watched = True

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept the next connection, for asyncio.

        Raises:
            BlockingIOError: no connection is waiting.
        """
        return self.connections.accept(self)


LOOPBACK = "127.0.0.1"
BACKLOG = 2048


def listen(host: str, port: int, connections: Connections) -> Listening:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        OSError: the port is in use, or not permitted; the message names it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's delay (40 ms a call) only if TCP is named.
    listening = Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.connections = connections
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        message = f"{fault.strerror}: {host} port {port}"
        raise OSError(fault.errno, message) from fault
    return listening


def origin(host: str, listening: socket.socket, *, scheme: str = "http") -> str:
    """Return the origin of a socket's server."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


_MOST = 10_000
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+")


class TokenBucket:
    """Limits calls per second, and at once.

    Args:
        per_second: the rate.
        at_once: the largest burst; None: a tenth of the rate, at least two.
    """

    def __init__(self, per_second: float, *, at_once: float | None = None) -> None:
        self._per_second = per_second
        self._most = max(2.0, per_second / 10) if at_once is None else at_once
        self._tokens = self._most
        self._at: float | None = None

    def take(self, now: float) -> bool:
        """Return whether a call may pass at this time of a steady clock, in seconds."""
        passed = 0.0 if self._at is None else now - self._at
        self._at = now
        self._tokens = min(self._most, self._tokens + passed * self._per_second)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Allowance:
    """A limit on lines at once, and on lines per second in the long run.

    Args:
        at_once: lines that accumulate in quiet times.
        per_second: the rate at which they accumulate.
    """

    def __init__(self, *, at_once: int, per_second: float) -> None:
        self._bucket = TokenBucket(per_second, at_once=at_once)
        self._left_out = 0

    def take(self, now: float) -> int | None:
        """Return how many lines were left out before this one; None if this one is too.

        Args:
            now: the time of a steady clock in seconds.

        >>> allowance = Allowance(at_once=2, per_second=1)
        >>> [allowance.take(now) for now in (0, 0, 0, 0.5, 1)]
        [0, 0, None, None, 2]
        """
        if not self._bucket.take(now):
            self._left_out += 1
            return None
        left_out, self._left_out = self._left_out, 0
        return left_out


class OncePerSecond(logging.Filter):
    """Limits a logger to one line a second for the same message."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_at: dict[str, float] = {}
        self._held_back: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record; add how often it was held back."""
        now = time.monotonic()
        # asyncio puts sockets and addresses into the message itself.
        words = _NUMBERS.sub("#", str(record.msg).partition("\n")[0][:200])
        if now - self._logged_at.get(words, float("-inf")) < _LOG_EVERY_SECONDS:
            self._held_back[words] = self._held_back.get(words, 0) + 1
            return False
        if len(self._logged_at) > _MOST:
            self._logged_at.clear()
            self._held_back.clear()
        self._logged_at[words] = now
        if held_back := self._held_back.pop(words, 0):
            record.msg = f"{record.msg} (and {held_back} times more)"
        return True


def say_once_a_second(*names: str) -> None:
    """Limit loggers to one line a second for the same message."""
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(filter_, OncePerSecond) for filter_ in logger.filters):
            logger.addFilter(OncePerSecond())
