"""A rehearsal's clock, moved by a separate call or by a header of any other call.

`X-Rehearsal-Now: MILLISECONDS` (since 1970, UTC) saves a program the separate call: the
clock moves to that time and due work is done before the request is served. A time in
the past changes nothing, so concurrent requests are not refused for the order in which
they arrive.
"""

import asyncio
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import replies
from piecework.webserver.listening import is_loopback

HEADER = "x-rehearsal-now"

_NAME = HEADER.encode()
_MILLISECONDS = re.compile(rb"[0-9]{1,15}")
_SENT_BY_BROWSERS = (b"origin", b"sec-fetch-site")
_LOOK_SECONDS = 0.005


class VirtualTime:
    """The application of a rehearsal, which may advance time before each request."""

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self._app = app
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Move the clock to the time in the header, then serve the request."""
        try:
            now_ms = _asked_for(scope["headers"])
        except Refusal as refusal:
            reply = replies.refused(Request(scope), refusal)
            await reply(scope, receive, send)
            return
        if now_ms is not None and self._backend.advance_clock(now_ms):
            await do_what_is_due(self._backend)
        await self._app(scope, receive, send)


async def do_what_is_due(backend: Backend) -> None:
    """Do all due work, letting other calls run in between."""
    backend.catch_up()
    while backend.has_backlog:  # noqa: ASYNC110 - the backend has no event loop
        await asyncio.sleep(_LOOK_SECONDS)


def check_is_program(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse browsers, so that a question's page cannot change its rehearsal.

    Args:
        headers: the request's headers, with names in lower case.

    Raises:
        Refusal: the request has a browser's origin headers, or came by a name that
            others can use (403).
    """
    headers = list(headers)
    if any(name in _SENT_BY_BROWSERS for name, _ in headers):
        raise Refusal("ProgramsOnly", "The controls are for programs, not for pages.", status=403)
    check_is_local(headers)


def check_is_local(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a request by a name that is not this machine's alone, as through a proxy.

    Args:
        headers: the request's headers, with names in lower case.

    Raises:
        Refusal: its host is not a loopback address or name (403).
    """
    host = next((value for name, value in headers if name == b"host"), b"")
    name = (urlsplit(f"//{host.decode('latin-1')}").hostname or "").rstrip(".")
    if not (is_loopback(name) or name.endswith(".localhost")):
        raise Refusal(
            "ThisMachineOnly",
            "Calls need no signature here, so only programs on this machine may make "
            "them, at http://127.0.0.1:PORT. For other machines, serve without "
            "--rehearsal and --trust-local, with keys of `piecework requester add`.",
            status=403,
        )


def _asked_for(headers: list[tuple[bytes, bytes]]) -> int | None:
    value = next((value for name, value in headers if name == _NAME), None)
    if value is None:
        return None
    check_is_program(headers)
    end_of_time = clock.to_ms(clock.END_OF_TIME)
    if not _MILLISECONDS.fullmatch(value) or int(value) >= end_of_time:
        raise Refusal(
            "BadRequest",
            f"{HEADER} takes whole milliseconds since 1970, before {clock.END_OF_TIME.year}.",
        )
    return int(value)
