"""Shares one disk sync among requests: replies wait until their data is durable.

Everything here runs on the serving event loop, so it does not need a lock:

1. Requests are handled one after another, each in its own transactions. The first that
  writes calls `_schedule_commit`, which queues `_commit` behind everything ready in the
  loop, so that requests already received come before it.
2. Until then every reply waits before its first byte, even to a request that only read:
  it may have read data that could still be lost.
3. `_commit` makes all of it durable at once and releases the replies. If it fails, none
  of it has happened, and each reply is replaced by one that says so.

While another program writes to the database, requests that may write wait before they
begin, and all others are served.

If more work is due than a call should wait for, `_work_off_backlog` does the rest in
slices, with calls in between.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from piecework.foundation.server import security_log
from piecework.marketplace.state.backend import Backend

_LOG = logging.getLogger(__name__)

MARK_HEADER = b"x-piecework-mark"
_REQUESTERS = b"x-amzn-requestid"
"""A header that only replies to requesters have."""
_READING = {"GET", "HEAD"}
_LOCK_SECONDS = 2.0
"""How long a request waits until other programs have written."""
_LOOK_SECONDS = 0.05
_PAUSE_SECONDS = 0.001
_PAUSE_AFTER_FAULT_SECONDS = 1.0


class NotStoredError(Exception):
    """The commit for which a reply waited failed."""


class GroupCommit:
    """An application with replies that wait for the disk.

    Args:
        app: the application that answers.
        backend: the backend with shared commits.
        not_stored: makes the reply to a request that could not be stored.
    """

    def __init__(
        self, app: ASGIApp, backend: Backend, not_stored: Callable[[Request], Response]
    ) -> None:
        self._app = app
        self._backend = backend
        self._not_stored = not_stored
        self._waiting_replies: list[asyncio.Future[None]] = []
        self._is_scheduled = False

    @contextmanager
    def opened(self) -> Iterator["GroupCommit"]:
        """Share commits while the block lasts."""
        with self._backend.group_commits(self._schedule_commit, self._schedule_backlog_work):
            yield self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer after the answer's data is durable."""
        has_begun = False

        async def send_when_durable(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                if self._is_scheduled:
                    await self._next_commit()
                self._add_mark(message)
                security_log.write_noted(scope)
            has_begun = True
            await send(message)

        if scope["type"] == "http" and scope["method"] not in _READING:
            await self._wait_for_lock()
        try:
            # A client that disconnects in the middle of a request made no request.
            with suppress(ClientDisconnect):
                await self._app(scope, receive, send_when_durable)
        except (NotStoredError, sqlite3.OperationalError) as fault:
            if has_begun:
                raise
            security_log.forget_noted(scope)
            _LOG.warning("a request was not stored: %s", fault)
            await self._not_stored(Request(scope))(scope, receive, send)

    async def _wait_for_lock(self) -> None:
        """Wait until no other program writes, but not for long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _LOCK_SECONDS
        while self._backend.is_locked() and loop.time() < until:  # noqa: ASYNC110 - another process's lock sends no event
            await asyncio.sleep(_LOOK_SECONDS)

    def _add_mark(self, message: Message) -> None:
        """Add the database's mark to a requester's reply."""
        headers = message["headers"]
        if any(name.lower() == _REQUESTERS for name, _ in headers):
            mark = self._backend.mark() or ""
            message["headers"] = [*headers, (MARK_HEADER, mark.encode())]

    def _schedule_commit(self) -> None:
        self._is_scheduled = True
        asyncio.get_running_loop().call_soon(self._commit)

    async def _next_commit(self) -> None:
        is_committed = asyncio.get_running_loop().create_future()
        self._waiting_replies.append(is_committed)
        await is_committed

    def _commit(self) -> None:
        replies, self._waiting_replies = self._waiting_replies, []
        self._is_scheduled = False
        fault: sqlite3.Error | None = None
        try:
            self._backend.commit()
        except sqlite3.Error as lost:
            fault = lost
        for reply in replies:
            if reply.done():  # the request was cancelled
                continue
            if fault is None:
                reply.set_result(None)
            else:
                reply.set_exception(NotStoredError(str(fault)))

    def _schedule_backlog_work(self) -> None:
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._work_off_backlog)

    def _work_off_backlog(self) -> None:
        try:
            if self._backend.catch_up():
                self._schedule_backlog_work()
        except sqlite3.Error as fault:  # a lock or a full disk
            _LOG.warning("due work waits: %s", fault)
            asyncio.get_running_loop().call_later(
                _PAUSE_AFTER_FAULT_SECONDS, self._work_off_backlog
            )
