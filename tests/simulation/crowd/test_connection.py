"""The crowd's HTTP connection: answers in order, and faults that are said."""

import json
import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from piecework.domain.errors import TransientPlatformError
from piecework.simulation.crowd.browser import Connection
from piecework.simulation.crowd.site import WorkerSite
from tests.simulation.crowd.conftest import START, Market

JSON = {"Accept": "application/json", "Content-Type": "application/json"}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Peer = Callable[..., str]
_SELECTABLE = 1024
"""`select` refuses descriptors from this number on."""


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A server that says one of these things on each connection, and hangs up."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(*lines: bytes) -> str:
        def answer() -> None:
            for line in lines:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(line)

        Thread(target=answer, daemon=True).start()
        host, port = listening.getsockname()
        return f"{host}:{port}"

    yield serve
    listening.close()


def test_requests_sent_ahead_are_done_and_answered_in_order(market: Market) -> None:
    """The later clock is read after the move that was sent before it."""
    connection = Connection(urlsplit(market.endpoint_url).netloc)
    later = START.replace(hour=17).isoformat()
    body = json.dumps({"now": later}).encode()
    replies = [
        connection.send("GET", "/rehearsal/clock", JSON),
        connection.send("PUT", "/rehearsal/clock", JSON, body),
        connection.send("GET", "/rehearsal/clock", JSON),
    ]
    times = [json.loads(reply.read().body)["now"] for reply in reversed(replies)]
    connection.close()
    assert times == [later, later, START.isoformat()]


def test_a_connection_that_the_server_closed_is_opened_again(peer: Peer) -> None:
    """Between two shifts a pass works for longer than a server keeps what is idle."""
    connection = Connection(peer(ANSWER, ANSWER))
    for _ in range(2):
        assert connection.send("GET", "/", JSON).read().body == b"{}"
        _await_end(connection)
    connection.close()


def _await_end(connection: Connection) -> None:
    """Wait until the server's end of the connection has come."""
    assert connection._socket is not None
    connection._socket.recv(1, socket.MSG_PEEK)


def test_a_process_may_have_thousands_of_files_open(peer: Peer) -> None:
    """A notebook or a worker of Prefect may rehearse late in its life."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 4 * _SELECTABLE if hard == resource.RLIM_INFINITY else min(hard, 4 * _SELECTABLE)
    if most <= _SELECTABLE + 50:
        pytest.skip("the limit on open files is too low here")
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        address = peer(ANSWER, ANSWER)
        while stack.enter_context(Path(os.devnull).open("rb")).fileno() < _SELECTABLE:
            pass
        connection = Connection(address)
        stack.callback(connection.close)
        for _ in range(2):
            assert connection.send("GET", "/", JSON).read().body == b"{}"
            _await_end(connection)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}",
        b"HTTP/1.1 nothing\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length",
    ],
)
def test_an_answer_that_breaks_off_is_said_in_a_sentence(peer: Peer, broken: bytes) -> None:
    """And a reply that was still awaited is not waited for."""
    site = WorkerSite(f"http://{peer(broken)}", START)
    with pytest.raises(TransientPlatformError, match="does not answer"):
        site.open_assignments()
    site.close()
