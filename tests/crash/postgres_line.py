"""A line to PostgreSQL that is cut at a chosen transaction, in both directions."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

Moment = Literal["before", "after"]
_COMMIT = b"UPDATE store_counts SET writes = writes + 1; COMMIT"
"""What a transaction that has written ends with."""
_AT_ONCE = struct.pack("ii", 1, 0)


@dataclass(slots=True)
class Line:
    """What goes through.

    Attributes:
        url: of the database, at the end of this line.
        upstream: where the server listens.
        commits: how many transactions that write have reached their end.
        cut_at: the transaction (from 1) whose end cuts the line.
        moment: before the server gets its COMMIT, or after it has carried it out; the
            reply is lost then.
        was_cut: whether that has happened.
    """

    url: str
    upstream: tuple[str, int]
    commits: int = 0
    cut_at: int = 0
    moment: Moment = "before"
    was_cut: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_cut_by(self, sent: bytes) -> bool:
        """Count a transaction's end; whether the line is cut there."""
        if _COMMIT not in sent:
            return False
        with self._lock:
            self.commits += 1
            self.was_cut |= self.commits == self.cut_at
            return self.commits == self.cut_at


@contextmanager
def line_to(url: str) -> Iterator[Line]:
    """Forward connections of a free port of this machine to a database."""
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        user = f"{parts.username}@" if parts.username else ""
        here = urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{port}"))
        line = Line(here, (parts.hostname, parts.port))
        accepting = threading.Thread(target=_accept, args=(listener, line), daemon=True)
        accepting.start()
        yield line
        # It wakes `accept`, which closing alone does not.
        listener.shutdown(socket.SHUT_RDWR)
    accepting.join(10)


def _accept(listener: socket.socket, line: Line) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_serve, args=(client, line), daemon=True).start()


def _serve(client: socket.socket, line: Line) -> None:
    with client, socket.create_connection(line.upstream) as server, suppress(OSError):
        is_muted = threading.Event()
        arguments = (server, client, is_muted)
        back = threading.Thread(target=_send_back, args=arguments, daemon=True)
        back.start()
        while sent := client.recv(65536):
            if not line.is_cut_by(sent):
                server.sendall(sent)
                continue
            is_muted.set()
            if line.moment == "after":
                server.sendall(sent)
                # It ends the session once it has carried out what it has read.
                server.shutdown(socket.SHUT_WR)
                back.join(30)
            _reset(client)
            _reset(server)
            return
        _reset(server)


def _send_back(server: socket.socket, client: socket.socket, is_muted: threading.Event) -> None:
    with suppress(OSError):
        while sent := server.recv(65536):
            if not is_muted.is_set():
                client.sendall(sent)
        if not is_muted.is_set():
            client.shutdown(socket.SHUT_RDWR)


def _reset(connection: socket.socket) -> None:
    """Close at once, with RST, as a middlebox does that drops a connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    with suppress(OSError):
        # Closing alone does not end what another thread waits for.
        connection.shutdown(socket.SHUT_RD)
    connection.close()
