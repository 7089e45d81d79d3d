"""Serves `/metrics` on a port of its own, on this machine only, in its own thread.

The site's ports may be open to the world, so they never serve it. A scrape that takes
long does not delay the site, whose event loop is another.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from piecework.marketplace.watching.metrics import Metrics
from piecework.webserver.connections import Connections, Limits, Listening
from piecework.webserver.listening import LOOPBACK, is_loopback, listen, origin
from piecework.webserver.server import Server

_MOST_CONNECTIONS = 16
_START_SECONDS = 30.0
_STOP_SECONDS = 1


class MetricsPort:
    """A port for metrics.

    Args:
        metrics: what it serves.
        port: 0 takes a free one.

    Attributes:
        metrics: what it serves.
    """

    def __init__(self, metrics: Metrics, port: int) -> None:
        self.metrics = metrics
        self._port = port

    @contextmanager
    def bound(self) -> Iterator[Listening]:
        """Bind the port for as long as the block lasts.

        Raises:
            OSError: the port is in use; the message names it.
        """
        connections = Connections(Limits(), most=_MOST_CONNECTIONS)
        with closing(connections), closing(listen(LOOPBACK, self._port, connections)) as listening:
            yield listening

    @contextmanager
    def serving(self, listening: Listening, database: Path, currency: str) -> Iterator[str]:
        """Serve the metrics of a process and its database; give their address.

        Args:
            listening: the bound port.
            database: the marketplace's file, already opened by this process.
            currency: the currency of its money.
        """
        with self.metrics.with_figures(database, currency):
            server = Server(_app(self.metrics), listening.connections, stop_seconds=_STOP_SECONDS)
            thread = threading.Thread(
                target=server.run, args=([listening],), name="metrics", daemon=True
            )
            thread.start()
            try:
                _wait_until_started(server, thread)
                yield f"{origin(LOOPBACK, listening)}/metrics"
            finally:
                server.should_exit = True
                thread.join()


def _app(metrics: Metrics) -> Starlette:
    async def answer(request: Request) -> Response:
        if not _is_of_this_machine(request.headers.get("host", "")):
            return PlainTextResponse("Ask for 127.0.0.1.\n", status_code=421)
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/metrics", answer, methods=["GET"])])


def _is_of_this_machine(host: str) -> bool:
    """Return whether a request names this machine.

    A page in a browser on this machine can give its own name this machine's address.
    """
    try:
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The metrics are not served; the log says why.")
        time.sleep(0.005)
