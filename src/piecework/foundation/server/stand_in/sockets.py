"""The two sockets of a server that answers as other hosts.

Both are on loopback: TLS with the certificate of these hosts, and the proxy that
connects to it. The server's own event loop serves them.
"""

import asyncio
import ssl
from typing import TYPE_CHECKING

from piecework.foundation.server.connections import Connections
from piecework.foundation.server.listening import BACKLOG, LOOPBACK, listen, origin
from piecework.foundation.server.stand_in.settings import RunningStandIn, StandIn
from piecework.foundation.server.stand_in.tunnel import LARGEST_HEAD_BYTES, Tunnel

if TYPE_CHECKING:
    from piecework.foundation.server.server import Server

_GOODBYE_SECONDS = 0.5
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
