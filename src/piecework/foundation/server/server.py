"""A web server with limits: on connections, on heads and bodies, and on its log."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from piecework.foundation.server.limits import Connections, say_once_a_second
from piecework.foundation.server.transport import DroppableProtocol

_STOP_SECONDS = 3
_TICKS_A_MINUTE = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A server's TLS certificate.

    Attributes:
        chain: PEM file of the certificate and its intermediate certificates.
        key: PEM file of its key.
    """

    chain: Path
    key: Path


class Opener(Protocol):
    """Opens more sockets on a server's event loop."""

    async def open(self, server: "Server") -> list[asyncio.Server]:
        """Serve the sockets; return the servers to close at the end."""


class Server(uvicorn.Server):
    """Uvicorn's server, but it ends connections with late clients.

    Args:
        app: the application.
        connections: the listening sockets' connections.
        certificate: for TLS; None: plain HTTP.
        opener: opens more sockets.
        each_minute: called on the event loop, first a minute after the start.
        stop_seconds: how long running requests may take when it stops.
        at_end: called once it has stopped.
    """

    def __init__(
        self,
        app: ASGIApp,
        connections: Connections,
        *,
        certificate: Certificate | None = None,
        opener: Opener | None = None,
        each_minute: Callable[[], None] | None = None,
        stop_seconds: int = _STOP_SECONDS,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        self._connections = connections
        self._at_end = at_end
        config = _config(app, self.new_protocol, certificate, stop_seconds)
        super().__init__(config)
        # Load now, not when it runs, so that a bad certificate raises in the caller.
        self.config.load()
        self._opener = opener
        self._each_minute = each_minute
        # Outsiders can trigger their messages as often as they like.
        say_once_a_second("asyncio", "uvicorn.error")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve all sockets."""
        await super().startup(sockets)
        if self._opener is not None:
            self.servers += await self._opener.open(self)

    async def on_tick(self, counter: int) -> bool:
        """Run ten times a second; return whether to stop."""
        self._connections.let_go_of_the_late()
        if self._each_minute and counter % _TICKS_A_MINUTE == _TICKS_A_MINUTE - 1:
            self._each_minute()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections, then what the application works with."""
        await super().shutdown(sockets)
        if self._at_end is not None:
            self._at_end()

    def new_protocol(self, **options: Any) -> asyncio.Protocol:  # noqa: ANN401 - uvicorn's
        """Return the protocol of a new connection, as uvicorn's own sockets do."""
        usual = {
            "config": self.config,
            "server_state": self.server_state,
            "app_state": self.lifespan.state,
        }
        return DroppableProtocol(connections=self._connections, **(usual | options))


def _config(
    app: ASGIApp,
    new_protocol: Callable[..., asyncio.Protocol],
    certificate: Certificate | None,
    stop_seconds: int,
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=new_protocol,  # type: ignore[arg-type] # called as a class would be
        # uvloop is 10 % faster, but accepts one connection per iteration: under full
        # load the last of 500 waited for 1.5 s.
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=stop_seconds,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
