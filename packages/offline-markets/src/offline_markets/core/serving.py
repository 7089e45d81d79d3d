"""Run an offline market's application in a thread or as a process.

A fault can cut a connection before the answer.
"""

import asyncio
import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_START_SECONDS = 30.0
_STOP_SECONDS = 3
_TICK_SECONDS = 0.01
_ENDING = (signal.SIGINT, signal.SIGTERM)


class DroppableProtocol(HttpToolsProtocol):
    """An HTTP/1.1 protocol that gives requests access to their connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Make the connection available in `request.state`."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


async def drop_connection(request: Request) -> None:
    """Cut the connection, so that the client cannot know what was done."""
    transport: Any = request.state.transport
    transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue


class _Server(uvicorn.Server):
    """Uvicorn's server, but it stops at once: uvicorn's own takes a quarter of a second."""

    async def main_loop(self) -> None:
        """Look a hundred times a second whether it should stop."""
        tick = 0
        while not await self.on_tick(tick):
            tick += 1
            await asyncio.sleep(_TICK_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections; a request that runs may end first."""
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        deadline = time.monotonic() + _STOP_SECONDS
        # Both are plain sets of uvicorn: no event says when they become empty.
        while (state.connections or state.tasks) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_TICK_SECONDS)
        for task in state.tasks:
            task.cancel()


class Listening:
    """An application behind a port that listens already.

    Attributes:
        url: its origin.
    """

    def __init__(self, app: Starlette, listening: socket.socket, host: str) -> None:
        self._listening = listening
        self._server = _Server(
            uvicorn.Config(
                app,
                http=DroppableProtocol,
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
            )
        )
        self.url = f"http://{host}:{listening.getsockname()[1]}"

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[str]:
        """Serve in a thread for as long as the block lasts; yield the URL."""
        thread = threading.Thread(
            target=self._server.run, args=([self._listening],), name="offline market", daemon=True
        )
        thread.start()
        try:
            self._wait_until_started(thread)
            yield self.url
        finally:
            self._server.should_exit = True
            thread.join()

    def forever(self) -> None:
        """Serve until the process is interrupted or terminated; then raise `SystemExit`."""
        # To raise while the server's coroutine is made would leave it behind with a warning.
        for number in _ENDING:
            signal.signal(number, self._stop)
        self._server.run([self._listening])
        raise SystemExit(0)

    def _stop(self, _number: int, _frame: object) -> None:
        self._server.should_exit = True

    def _wait_until_started(self, thread: threading.Thread) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("The emulator did not start; its log shows why.")
            time.sleep(0.005)


@contextlib.contextmanager
def opened_port(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on a port; 0 picks a free one.

    Raises:
        OSError: the port is in use or forbidden; the message names it.
    """
    # asyncio disables Nagle's delay (40 ms a call) only if TCP is named.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    with contextlib.closing(listening):
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(128)
        except OSError as fault:
            message = f"{fault.strerror}: {host} port {port}"
            raise OSError(fault.errno, message) from fault
        yield listening


def end_by_signals() -> None:
    """End the process plainly when it is interrupted or terminated before it serves."""
    for number in _ENDING:
        signal.signal(number, _leave)


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)
