"""A web server with limits on untrusted input and its log, strict cookies, and lost connections.

Cookies are read as RFC 6265, section 4.2.1, says. A browser guards names with the prefix
`__Host-`: only the host itself can set them. It compares bytes, so this reader must do so
too. A reader that strips more than a browser does (`str.strip` strips U+00A0 and U+0085)
would confuse a cookie of another name with ours, which any host of the same domain can set.
"""

import asyncio
import contextlib
import logging
import re
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import uvicorn
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from piecework.foundation.server.limits import Connection, Connections, Owed, say_once_a_second

LARGEST_BODY_BYTES = 1_048_576
LARGEST_HEAD_BYTES = 65_536


class DroppableProtocol(HttpToolsProtocol):
    """HTTP/1.1 with access to the connection, so that a rehearsal can cut it.

    The parser itself would collect headers without limit. Here a head ends or is
    refused, and `connections` learns what the client must do next.
    """

    _head_bytes: int | None = 0
    _chunk_bytes = 0
    _connection: Connection | None = None
    _first_pause: float | None = None

    def __init__(self, *, connections: Connections, **options: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(**options)
        self._connections = connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Make the connection available in `request.state`."""
        super().connection_made(transport)
        self._connection = self._connections.of(transport)
        self.app_state = {**self.app_state, "transport": transport}

    def data_received(self, data: bytes) -> None:
        """Parse the data, but refuse a request head that does not end."""
        connection = self._connection
        if connection and connection.owed in (Owed.FIRST_BYTE, Owed.NEXT_REQUEST):
            connection.owes(Owed.HEAD)
        self._chunk_bytes = len(data)
        super().data_received(data)
        if self._head_bytes is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD_BYTES:
                self.send_400_response(
                    f"A request head may have at most {LARGEST_HEAD_BYTES} bytes."
                )

    def on_headers_complete(self) -> None:
        """The head has ended; count what follows as the body."""
        self._head_bytes = self._first_pause = None
        super().on_headers_complete()
        self._client_owes(Owed.BODY)

    def on_message_complete(self) -> None:
        """Count what follows as the head of another request."""
        self._head_bytes = -self._chunk_bytes
        super().on_message_complete()
        # A request may be answered before its body has ended.
        is_answered = self.cycle.response_complete
        self._client_owes(Owed.NEXT_REQUEST if is_answered else None)

    def on_response_complete(self) -> None:
        """The reply is complete; another request is next, if it has not arrived."""
        has_next = bool(self.pipeline)
        super().on_response_complete()
        if not has_next:
            is_slow = self.flow.write_paused
            self._client_owes(Owed.TAKE_REPLY if is_slow else Owed.NEXT_REQUEST)

    def _client_owes(self, owed: Owed | None) -> None:
        if self._connection is not None:
            self._connection.owes(owed)

    def pause_writing(self) -> None:
        """The client does not take its reply."""
        super().pause_writing()
        self._first_pause = self._first_pause or time.monotonic()
        self._client_owes(Owed.TAKE_REPLY)

    def resume_writing(self) -> None:
        """The client has taken data; the limit for the complete reply still runs."""
        super().resume_writing()
        taken_seconds = time.monotonic() - (self._first_pause or time.monotonic())
        if taken_seconds > self._connections.limits.whole_reply_seconds:
            self.transport.abort()
            return
        is_answered = self.cycle.response_complete
        self._client_owes(Owed.NEXT_REQUEST if is_answered else None)


async def drop_connection(request: Request) -> None:
    """Cut the connection before the reply, which the client never learns."""
    transport: Any = request.state.transport
    transport.abort()
    while (await request.receive())["type"] != "http.disconnect":
        continue


class BodyLimit:
    """Refuses bodies above a mebibyte with 413, with or without a length header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body's bytes."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > LARGEST_BODY_BYTES:
                raise HTTPException(413, f"A request may have at most {LARGEST_BODY_BYTES} bytes.")
            return message

        await self._app(scope, counted, send)


def is_body_length(header: bytes) -> bool:
    """Return whether a Content-Length header names a body that `BodyLimit` lets pass.

    >>> is_body_length(b"12"), is_body_length(b"1048577"), is_body_length(b"-1")
    (True, False, False)
    """
    return header.isdigit() and len(header) < 16 and int(header) <= LARGEST_BODY_BYTES  # noqa: PLR2004


_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OCTETS = rb"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*"
_VALUE = re.compile(rb'%b|"%b"' % (_OCTETS, _OCTETS))


_OTHER_CHARSET = re.compile(r'charset(?!\s*=\s*"?utf-8"?\s*(?:;|$))', re.IGNORECASE)


def is_in_utf8(content_type: str) -> bool:
    """Return whether a body of this type is in UTF-8, as browsers send all forms.

    In other encodings, such as UTF-7, a field may be no text that can be stored.

    >>> is_in_utf8("multipart/form-data; boundary=x; charset=UTF-8")
    True
    >>> is_in_utf8("multipart/form-data; charset=utf-7; boundary=x")
    False
    """
    return _OTHER_CHARSET.search(content_type) is None


class DuplicateCookieError(Exception):
    """A request has a cookie more than once; another page has set one of them."""


def cookie_values(headers: Iterable[tuple[bytes, bytes]], name: str) -> list[str]:
    r"""Return the values of a cookie, one for each time that the request has it.

    Only space and tab are stripped. Cookies with an invalid name or value are skipped.

    Args:
        headers: the request's headers, as in ASGI.
        name: the cookie's name.

    >>> cookie_values([(b"cookie", b"a=1; b=2;\ta=\"3\"")], "a")
    ['1', '3']
    >>> cookie_values([(b"cookie", b"\xa0a=1; \x85a=2; A=3; a=4\xa0; a; a=\"5")], "a")
    []
    """
    wanted = name.encode("ascii")
    values = []
    for header, content in headers:
        if header.lower() != b"cookie":
            continue
        for pair in content.split(b";"):
            key, equals, value = (part.strip(b" \t") for part in pair.partition(b"="))
            is_plain = _TOKEN.fullmatch(key) and _VALUE.fullmatch(value)
            if equals and key == wanted and is_plain:
                values.append(value.strip(b'"').decode("ascii"))
    return values


def only_cookie(connection: HTTPConnection, name: str) -> str:
    """Return the value of a cookie; "" if the request does not have it.

    Raises:
        DuplicateCookieError: the request has it more than once.
    """
    values = cookie_values(connection.scope["headers"], name)
    if len(values) > 1:
        raise DuplicateCookieError(name)
    return values[0] if values else ""


_STOP_SECONDS = 3
_TICK_SECONDS = 0.1
_TICKS_A_MINUTE = 600
_TICKS_A_DAY = 1440 * _TICKS_A_MINUTE
_POLL_SECONDS = 0.005


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
        self._woken: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._is_to_exit = False
        config = _config(app, self.new_protocol, certificate, stop_seconds)
        super().__init__(config)
        # Load now, not when it runs, so that a bad certificate raises in the caller.
        self.config.load()
        self._opener = opener
        self._each_minute = each_minute
        # Outsiders can trigger their messages as often as they like.
        say_once_a_second("asyncio", "uvicorn.error")

    @property
    def should_exit(self) -> bool:
        """Whether it stops; set from any thread or signal handler, it stops at once."""
        return self._is_to_exit

    @should_exit.setter
    def should_exit(self, is_to_exit: bool) -> None:
        self._is_to_exit = is_to_exit
        if is_to_exit and self._woken is not None:
            loop, woken = self._woken
            with contextlib.suppress(RuntimeError):  # it has stopped already
                loop.call_soon_threadsafe(woken.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve all sockets."""
        await super().startup(sockets)
        if self._opener is not None:
            self.servers += await self._opener.open(self)

    async def main_loop(self) -> None:
        """Tick until it should stop, and then do not wait for the next tick."""
        counter, woken = 0, asyncio.Event()
        self._woken = asyncio.get_running_loop(), woken
        while not await self.on_tick(counter):
            counter = (counter + 1) % _TICKS_A_DAY
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), _TICK_SECONDS)

    async def on_tick(self, counter: int) -> bool:
        """Run ten times a second; return whether to stop."""
        self._connections.let_go_of_the_late()
        if self._each_minute and counter % _TICKS_A_MINUTE == _TICKS_A_MINUTE - 1:
            self._each_minute()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections, then what the application works with.

        In place of uvicorn's, which pauses for a tenth of a second and looks for the end of
        connections as rarely.
        """
        for server in self.servers:
            server.close()
        for listening in sockets or []:
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            await asyncio.wait_for(self._until_ended(), self.config.timeout_graceful_shutdown)
        except TimeoutError:
            late = len(self.server_state.tasks)
            log = logging.getLogger("uvicorn.error")
            log.warning("%s requests did not end in time and are cut off", late)
            for task in self.server_state.tasks:
                task.cancel()
        if self._at_end is not None:
            self._at_end()

    async def _until_ended(self) -> None:
        state = self.server_state
        # Both are plain sets of uvicorn: no event says when they become empty.
        while (state.connections or state.tasks) and not self.force_exit:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        for server in self.servers:
            await server.wait_closed()

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
