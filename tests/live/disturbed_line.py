"""A reverse proxy before a marketplace, on which replies get lost and processes die.

It forwards requests as they are, signatures and Host too, so the marketplace's public
address is this proxy's. While the marketplace is away it answers 502, as proxies do.
"""

import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

Moment = Literal["before", "after"]
Act = Callable[[], object]
_END = b"\r\n\r\n"
_AWAY = b"<html><title>502 Bad Gateway</title></html>"
_BAD_GATEWAY = (
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_AWAY), _AWAY)
)


@dataclass
class Line:
    """What goes through, and what happens at which call.

    Attributes:
        address: URL at which the proxy listens.
        upstream: host and port of the marketplace.
        calls: operations of the requester API, in the order in which they came.
        plan: what to do at the nth call (from 1) of an operation, before it reaches
            the marketplace or after the marketplace has replied; the reply is lost
            then.
        met: what of the plan has happened.
    """

    address: str
    upstream: tuple[str, int]
    calls: list[str] = field(default_factory=list)
    plan: dict[tuple[str, int, Moment], Act] = field(default_factory=dict)
    met: list[tuple[str, int, Moment]] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def number(self, operation: str) -> int:
        """Which call of its operation this one is."""
        with self._lock:
            self.calls.append(operation)
            self._counts[operation] += 1
            return self._counts[operation]

    def strike(self, operation: str, number: int, moment: Moment) -> bool:
        """Let happen what is planned for this moment; whether anything was."""
        act = self.plan.pop((operation, number, moment), None)
        if act is None:
            return False
        act()
        self.met.append((operation, number, moment))
        return True


@contextmanager
def listening(upstream: tuple[str, int]) -> Iterator[Line]:
    """A proxy on a free port of this machine."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                _serve(self.request, line)

    class Proxy(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True
        request_queue_size = 100

    with Proxy(("127.0.0.1", 0), Handler) as proxy:
        line = Line(f"http://127.0.0.1:{proxy.server_address[1]}", upstream)
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield line
        finally:
            proxy.shutdown()
            thread.join()


def _serve(client: socket.socket, line: Line) -> None:
    """Forward the requests of one connection, until one is disturbed."""
    client.settimeout(60)
    while (request := _message(client)) is not None:
        operation = _operation(request)
        number = line.number(operation) if operation else 0
        if line.strike(operation, number, "before"):
            return
        try:
            with socket.create_connection(line.upstream, timeout=60) as marketplace:
                marketplace.sendall(request)
                reply = _message(marketplace)
        except OSError:
            reply = None
        if line.strike(operation, number, "after"):
            return
        client.sendall(_BAD_GATEWAY if reply is None else reply)


def _message(sender: socket.socket) -> bytes | None:
    """A whole request or reply; `None` if the connection ended before."""
    received = b""
    while _END not in received:
        part = sender.recv(65536)
        if not part:
            return None
        received += part
    head, _, body = received.partition(_END)
    left = int(_header(head, b"content-length") or 0) - len(body)
    while left > 0:
        part = sender.recv(65536)
        if not part:
            return None
        received, left = received + part, left - len(part)
    return received


def _operation(request: bytes) -> str:
    """Of the requester API; empty for other requests."""
    target = _header(request.partition(_END)[0], b"x-amz-target").decode("ascii")
    return target.rpartition(".")[2]


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""
