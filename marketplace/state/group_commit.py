"""Many requests, one sync: whoever wrote is answered when all of it is on the disk.

Requests are worked on one after another, each in a turn of its own. What those wrote
that the event loop had ready at the same time is committed together; meanwhile every
answer waits, also one that only read, since it may have read what could still be lost.

When more has come due than a call should wait for, the rest is done here, between
calls.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from marketplace.state.backend import Backend

_LOG = logging.getLogger(__name__)

_BREATH_SECONDS = 0.001
_PAUSE_SECONDS = 1.0


class GroupCommit:
    """The application, whose answers wait for the disk.

    Args:
        app: what answers.
        backend: whose turns it takes.
    """

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self._app = app
        self._backend = backend
        self._waiting: list[asyncio.Future[None]] = []
        self._is_open = False

    @contextmanager
    def opened(self) -> Iterator["GroupCommit"]:
        """Take the turns of the house together for as long as the block lasts."""
        with self._backend.group_commits(self._has_begun, self._keep_later):
            yield self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, but not before it is true for good."""

        async def send_what_is_safe(message: Message) -> None:
            if self._is_open and message["type"] == "http.response.start":
                await self._commit_is_done()
            await send(message)

        # Who hangs up in the middle of a request has asked nothing.
        with suppress(ClientDisconnect):
            await self._app(scope, receive, send_what_is_safe)

    def _keep_later(self) -> None:
        # Whoever has asked meanwhile comes between.
        asyncio.get_running_loop().call_later(_BREATH_SECONDS, self._keep)

    def _keep(self) -> None:
        try:
            if self._backend.catch_up():
                self._keep_later()
        except sqlite3.Error:  # locked by another process, or a full disk
            _LOG.exception("what has come due waits")
            asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._keep)

    def _has_begun(self) -> None:
        self._is_open = True
        # Requests that are ready already come before it.
        asyncio.get_running_loop().call_soon(self._commit)

    async def _commit_is_done(self) -> None:
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(done)
        await done

    def _commit(self) -> None:
        waiting, self._waiting, self._is_open = self._waiting, [], False
        fault: sqlite3.Error | None = None
        try:
            self._backend.commit()
        except sqlite3.Error as lost:
            fault = lost
        for one in waiting:
            if one.done():  # its request was cancelled
                continue
            if fault is None:
                one.set_result(None)
            else:
                one.set_exception(fault)
