"""Bytes to a server and back, as no HTTP library would send them."""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

SOON_SECONDS = 20.0


@contextlib.contextmanager
def connected(url: str, *, tls: ssl.SSLContext | None = None) -> Iterator[socket.socket]:
    """A connection to where a server is."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    with socket.create_connection((host, parts.port), timeout=SOON_SECONDS) as plain:
        if tls is None:
            yield plain
            return
        with tls.wrap_socket(plain, server_hostname=host) as wrapped:
            yield wrapped


def answer_to(url: str, request: bytes, *, tls: ssl.SSLContext | None = None) -> bytes:
    """All that a server says until it closes the connection."""
    with connected(url, tls=tls) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    return answer
