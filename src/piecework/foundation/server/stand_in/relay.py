"""Answers as other hosts in front of a server that speaks plain HTTP on loopback.

For a server with an event loop of its own: the relay has a thread, ends TLS, and passes
everything on.
"""

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Iterator

from piecework.foundation.server.listening import BACKLOG, LOOPBACK
from piecework.foundation.server.stand_in.settings import RunningStandIn, StandIn
from piecework.foundation.server.stand_in.tunnel import LARGEST_HEAD_BYTES, Tunnel, joined

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
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # Their sockets are closed in the loop's next round.
