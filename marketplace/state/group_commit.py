"""Many requests, one sync: replies wait until what they tell of is durable.

Everything here runs on the one event loop that serves, so nothing here needs a lock:

1. Requests are worked on one after another, each in transactions of its own. The first
   that writes calls `_schedule_commit`, which puts `_commit` behind all that the loop
   has ready, so requests that have arrived already come before it.
2. Until then every reply waits at its first byte, also that of a request which only
   read: it may have read what could still be lost.
3. `_commit` makes all of it durable at once and lets the replies go, or fails them all.

When more has come due than a call should wait for, `_work_off_backlog` does the rest,
one slice at a time, with calls in between.
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

MARK_HEADER = b"x-piecework-mark"
_REQUESTERS = b"x-amzn-requestid"
"""The header that each reply to a requester has, and no page."""
_PAUSE_SECONDS = 0.001
_PAUSE_AFTER_FAULT_SECONDS = 1.0


class GroupCommit:
    """The application, whose replies wait for the disk.

    Args:
        app: what answers.
        backend: whose transactions share commits.
    """

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self._app = app
        self._backend = backend
        self._waiting_replies: list[asyncio.Future[None]] = []
        self._is_scheduled = False

    @contextmanager
    def opened(self) -> Iterator["GroupCommit"]:
        """Share commits for as long as the block lasts."""
        with self._backend.group_commits(
            self._schedule_commit, self._schedule_backlog_work
        ):
            yield self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, but not before what the answer tells of is durable."""

        async def send_when_durable(message: Message) -> None:
            if message["type"] == "http.response.start":
                if self._is_scheduled:
                    await self._next_commit()
                self._add_mark(message)
            await send(message)

        # A client that hangs up in the middle of a request has asked nothing.
        with suppress(ClientDisconnect):
            await self._app(scope, receive, send_when_durable)

    def _add_mark(self, message: Message) -> None:
        """Say in a requester's reply which moment of the database it tells of."""
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
            if reply.done():  # its request was cancelled
                continue
            if fault is None:
                reply.set_result(None)
            else:
                reply.set_exception(fault)

    def _schedule_backlog_work(self) -> None:
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._work_off_backlog)

    def _work_off_backlog(self) -> None:
        try:
            if self._backend.catch_up():
                self._schedule_backlog_work()
        except sqlite3.Error:  # locked by another process, or a full disk
            _LOG.exception("what has come due waits")
            asyncio.get_running_loop().call_later(
                _PAUSE_AFTER_FAULT_SECONDS, self._work_off_backlog
            )
