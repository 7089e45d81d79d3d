"""Sockets and the server on them: bound first, so that addresses are known at once.

A marketplace with an AWS proxy has two sockets more, on loopback: TLS with the
certificate of Amazon's hosts, and the proxy that leads there. One event loop serves
all.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from marketplace.aws_proxy.settings import AwsProxy, RunningAwsProxy
from marketplace.aws_proxy.tunnel import LARGEST_HEAD_BYTES, Tunnel
from marketplace.http.connections import Connections, Listening, say_once_a_second
from marketplace.http.transport import DroppableProtocol

LOOPBACK = "127.0.0.1"

_STOP_SECONDS = 3
_GOODBYE_SECONDS = 0.5
"""How long an idle client is waited for that does not answer TLS's goodbye."""
BACKLOG = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What a server shows over TLS.

    Attributes:
        chain: PEM file of the certificate and whatever stands between it and a root.
        key: PEM file of its key.
    """

    chain: Path
    key: Path


class AwsProxySockets:
    """The two sockets of the AWS proxy; bound, not yet answered.

    Attributes:
        standing_in: where they are.
        sockets: both, for the caller to close.
        tls_port: by which a request is known to have come in this way.
    """

    def __init__(self, settings: AwsProxy, connections: Connections) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(settings.certificate)
        first = listen(LOOPBACK, settings.port, connections)
        try:
            second = listen(LOOPBACK, settings.proxy_port, connections)
        except OSError:
            first.close()
            raise
        # The tunnel waits for heads itself, and is over when what it leads to is.
        second.is_watched = False
        self.sockets = [first, second]
        self.tls_port: int = first.getsockname()[1]
        self.aws_proxy = RunningAwsProxy(
            authority=settings.authority,
            proxy_url=origin(LOOPBACK, second),
            tls_port=self.tls_port,
        )

    async def open(self, server: "Server") -> list[asyncio.Server]:
        """Answer at both, with the server's own protocol behind TLS."""
        loop = asyncio.get_running_loop()
        behind = await loop.create_server(
            server.new_protocol,
            sock=self.sockets[0],
            ssl=self._tls,
            ssl_shutdown_timeout=_GOODBYE_SECONDS,
            backlog=BACKLOG,
        )
        proxy = await asyncio.start_server(
            Tunnel(self.tls_port), sock=self.sockets[1], limit=LARGEST_HEAD_BYTES
        )
        return [behind, proxy]


class Server(uvicorn.Server):
    """Uvicorn's server, with the sockets of the AWS proxy if there are any."""

    def __init__(
        self,
        app: ASGIApp,
        connections: Connections,
        *,
        certificate: Certificate | None = None,
        aws_proxy: AwsProxySockets | None = None,
    ) -> None:
        self._connections = connections
        super().__init__(_config(app, self.new_protocol, certificate))
        # Now and not when it runs: a bad certificate is the caller's fault.
        self.config.load()
        self._aws_proxy = aws_proxy
        # What strangers can make them say, as often as they like.
        say_once_a_second("asyncio", "uvicorn.error", "marketplace.forms.patterns")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer at all sockets."""
        await super().startup(sockets)
        if self._aws_proxy is not None:
            self.servers += await self._aws_proxy.open(self)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second; whether to stop."""
        self._connections.let_go_of_the_late()
        return await super().on_tick(counter)

    def new_protocol(self, **given: Any) -> asyncio.Protocol:  # noqa: ANN401 - uvicorn's
        """One more connection, as uvicorn's own sockets make it."""
        usual = {
            "config": self.config,
            "server_state": self.server_state,
            "app_state": self.lifespan.state,
        }
        return DroppableProtocol(connections=self._connections, **(usual | given))


def listen(host: str, port: int, connections: Connections) -> Listening:
    """A listening socket; port 0 takes a free one.

    Raises:
        OSError: the port is taken, or not ours; the message names it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay (40 ms a call) off only where TCP is named.
    listening = Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.connections = connections
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        said = f"{fault.strerror}: {host} port {port}"
        raise OSError(fault.errno, said) from fault
    return listening


def origin(host: str, listening: socket.socket, *, scheme: str = "http") -> str:
    """The origin of what answers at a socket."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Whether it stands for all addresses, and so is none that a browser can open."""
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def _config(
    app: ASGIApp,
    new_protocol: Callable[..., asyncio.Protocol],
    certificate: Certificate | None,
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=new_protocol,  # type: ignore[arg-type] # called as a class would be
        # uvloop is a tenth faster, but takes in one new connection a round: under full
        # load the last of 500 waited for 1.5 s.
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
