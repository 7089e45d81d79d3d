"""A relay that answers in place of another service's hosts.

A program with a hard-coded endpoint connects to the host of the service. Through the
proxy it reaches this server instead, and no other host.

`relaying` is for a server with an event loop of its own: the relay has a thread, ends TLS,
and passes everything on. `StandInSockets` are for a server whose own loop serves them: TLS
with the certificate of these hosts, and the proxy that connects to it, both on loopback.

The proxy answers CONNECT and connects only to this server. It accepts only the hosts that
the server stands in for, and connects them to its own TLS listener. It never looks up or
contacts an outside host. It refuses all other requests with 403 and logs them, so that a
person learns what a program wanted.
"""

import asyncio
import contextlib
import logging
import shlex
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.foundation.server.limits import BACKLOG, LOOPBACK, Connections, listen, origin

if TYPE_CHECKING:
    from piecework.foundation.server.server import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """The settings of a server that answers as other hosts.

    Attributes:
        hosts: the names of these hosts.
        authority: certificate of the private authority, for programs to trust.
        certificate: key and certificate of the hosts, in one PEM file.
        port: the TLS listener's port, on loopback; 0 takes a free one.
        proxy_port: of the CONNECT proxy, on loopback; 0 takes a free one.
    """

    hosts: tuple[str, ...]
    authority: Path
    certificate: Path
    port: int = 0
    proxy_port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStandIn:
    """A running proxy.

    Attributes:
        authority: certificate of the private authority, for programs to trust.
        proxy_url: the proxy URL for programs.
        tls_port: the port to which the proxy connects.
    """

    authority: Path
    proxy_url: str
    tls_port: int

    def environment(self) -> dict[str, str]:
        """The environment variables for an unchanged program."""
        authority = str(self.authority)
        return {
            "HTTPS_PROXY": self.proxy_url,
            "https_proxy": self.proxy_url,
            # These hosts do not speak plain HTTP; the proxy refuses it.
            "HTTP_PROXY": self.proxy_url,
            "http_proxy": self.proxy_url,
            "NO_PROXY": "localhost,127.0.0.1",
            "no_proxy": "localhost,127.0.0.1",
            "AWS_CA_BUNDLE": authority,
            "REQUESTS_CA_BUNDLE": authority,
            "CURL_CA_BUNDLE": authority,
            "SSL_CERT_FILE": authority,
            "NODE_EXTRA_CA_CERTS": authority,
            "NODE_USE_ENV_PROXY": "1",
        }

    def lines(self) -> list[str]:
        """The same for a shell."""
        return [f"export {name}={shlex.quote(value)}" for name, value in self.environment().items()]


_START_SECONDS = 30.0
_GOODBYE_SECONDS = 0.5
"""How long to wait for a client that does not answer TLS's close message."""


@contextlib.contextmanager
def relaying(settings: StandIn, port: int) -> Iterator[RunningStandIn]:
    """Answer as the hosts for as long as the block lasts.

    Args:
        settings: the hosts, and the certificate for them.
        port: the server's port on loopback.

    Raises:
        OSError: a port is taken.
    """
    relay = _Relay(settings, port)
    thread = threading.Thread(target=relay.run, name="stand-in", daemon=True)
    thread.start()
    try:
        yield relay.started()
    finally:
        relay.stop()
        thread.join()


class _Relay:
    def __init__(self, settings: StandIn, port: int) -> None:
        self._settings, self._port = settings, port
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(settings.certificate)
        self._is_ready = threading.Event()
        self._fault: OSError | None = None
        self._running: RunningStandIn | None = None
        self._loop = asyncio.new_event_loop()
        self._is_over = asyncio.Event()

    def run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    def started(self) -> RunningStandIn:
        self._is_ready.wait(_START_SECONDS)
        if self._running is None:
            raise self._fault or TimeoutError("the stand-in did not start")
        return self._running

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # The loop is closed already.
            self._loop.call_soon_threadsafe(self._is_over.set)

    async def _serve(self) -> None:
        settings = self._settings
        try:
            async with contextlib.AsyncExitStack() as stack:
                behind = await asyncio.start_server(
                    self._pass_on, LOOPBACK, settings.port, ssl=self._tls, backlog=BACKLOG
                )
                stack.push_async_callback(_closed, behind)
                tls_port: int = behind.sockets[0].getsockname()[1]
                proxy = await asyncio.start_server(
                    Tunnel(tls_port, settings.hosts),
                    LOOPBACK,
                    settings.proxy_port,
                    limit=LARGEST_HEAD_BYTES,
                )
                stack.push_async_callback(_closed, proxy)
                proxy_port = proxy.sockets[0].getsockname()[1]
                self._running = RunningStandIn(
                    authority=settings.authority,
                    proxy_url=f"http://{LOOPBACK}:{proxy_port}",
                    tls_port=tls_port,
                )
                self._is_ready.set()
                await self._is_over.wait()
        except OSError as fault:
            self._fault = fault
        finally:
            self._is_ready.set()
            await _cancel_others()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await joined(reader, writer, self._port)
        except (ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass  # A client or the server has gone, or the relay ends.
        finally:
            writer.close()
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await asyncio.wait_for(writer.wait_closed(), _GOODBYE_SECONDS)


async def _closed(server: asyncio.Server) -> None:
    server.close()


async def _cancel_others() -> None:
    # A handshake that ends meanwhile begins another task.
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)  # Their sockets are closed in the loop's next round.


"""How long to wait for an idle client that does not answer TLS's close message."""


class StandInSockets:
    """The two sockets, bound but not yet served.

    Attributes:
        running: the addresses of the proxy.
        sockets: both, for the caller to close.
        tls_port: the port that identifies requests through the proxy.
    """

    def __init__(self, settings: StandIn, connections: Connections) -> None:
        self._hosts = settings.hosts
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(settings.certificate)
        first = listen(LOOPBACK, settings.port, connections)
        try:
            second = listen(LOOPBACK, settings.proxy_port, connections)
        except OSError:
            first.close()
            raise
        # The tunnel waits for heads itself, and ends with its inner connection.
        second.is_watched = False
        self.sockets = [first, second]
        self.tls_port: int = first.getsockname()[1]
        self.running = RunningStandIn(
            authority=settings.authority, proxy_url=origin(LOOPBACK, second), tls_port=self.tls_port
        )

    async def open(self, server: "Server") -> list[asyncio.Server]:
        """Serve both sockets, with the server's own protocol behind TLS."""
        loop = asyncio.get_running_loop()
        behind = await loop.create_server(
            server.new_protocol,
            sock=self.sockets[0],
            ssl=self._tls,
            ssl_shutdown_timeout=_GOODBYE_SECONDS,
            backlog=BACKLOG,
        )
        proxy = await asyncio.start_server(
            Tunnel(self.tls_port, self._hosts), sock=self.sockets[1], limit=LARGEST_HEAD_BYTES
        )
        return [behind, proxy]


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
