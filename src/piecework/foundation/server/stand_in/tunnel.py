"""A CONNECT proxy that only connects to this server.

It accepts only the hosts that the server stands in for, and connects them to its own
TLS listener. It never looks up or contacts an outside host. It refuses all other
requests with 403 and logs them, so that a person learns what a program wanted.
"""

import asyncio
import logging

from piecework.foundation.server.listening import LOOPBACK

_LOG = logging.getLogger(__name__)

LARGEST_HEAD_BYTES = 16_384
_HEAD_SECONDS = 10.0
_PIECE_BYTES = 65_536
_LONGEST_SHOWN = 120
_HTTPS = "443"


class Tunnel:
    """Handles the proxy's connections.

    Args:
        port: the TLS listener's port on loopback.
        hosts: the hosts that it connects to there.
    """

    def __init__(self, port: int, hosts: tuple[str, ...]) -> None:
        self._port, self._hosts = port, hosts

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one connection until it ends."""
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), timeout=_HEAD_SECONDS)
            await self._answer(head, reader, writer)
        except (
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            TimeoutError,
            ConnectionError,
        ):
            _LOG.info("a connection to the proxy sent no request that it understands")
        except asyncio.CancelledError:
            # The loop ends; asyncio before 3.12 would log this as an error.
            _LOG.info("a connection to the proxy was open when the server stopped")
        finally:
            writer.close()

    async def _answer(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        target = connect_target(head, self._hosts)
        if target is None:
            shown = ascii(head.split(b"\r\n")[0].decode("latin-1")[:_LONGEST_SHOWN])
            _LOG.warning("proxy refused request=%s", shown)
            writer.write(_refusal(shown, self._hosts))
            await writer.drain()
            return
        await joined(reader, writer, self._port, b"HTTP/1.1 200 Connection established\r\n\r\n")


async def joined(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, greeting: bytes = b""
) -> None:
    """Connect a client to a port on loopback until the server closes.

    Args:
        reader: what the client sends.
        writer: to the client.
        port: the server's.
        greeting: sent to the client once the server is reached.
    """
    inner_reader, inner_writer = await asyncio.open_connection(LOOPBACK, port)
    writer.write(greeting)
    upward = asyncio.create_task(_pass_on(reader, inner_writer))
    try:
        # It ends when the server closes; a client that keeps its connection for later
        # cannot hold it open.
        await _pass_on(inner_reader, writer)
    finally:
        upward.cancel()
        inner_writer.close()


def connect_target(head: bytes, hosts: tuple[str, ...]) -> str | None:
    """Return the host that a CONNECT names if it is one of these; else None."""
    words = head.split(b"\r\n")[0].decode("latin-1").split(" ")
    if words[0] != "CONNECT" or len(words) != len(("CONNECT", "target", "HTTP/1.1")):
        return None
    host, colon, port = words[1].rpartition(":")
    host = host.lower().removesuffix(".")
    return host if colon and port == _HTTPS and host in hosts else None


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        else:
            writer.close()  # TLS has no end in one direction.
    except ConnectionError:
        writer.close()


def _refusal(shown: str, hosts: tuple[str, ...]) -> bytes:
    body = (
        f"piecework's proxy connects only to {' and '.join(hosts)}, and answers for "
        f"them itself. Refused: {shown}\n"
    ).encode()
    return (
        b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Connection: close\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    )
