"""The access log: one line of JSON for each request, written by a thread of its own.

Requests never wait for the log. If it cannot be written, because the disk is full or a
pipe is not read, lines are lost and counted, and serving continues.

A file may be rotated at any time. Before each write, the thread compares the path with
the file that it has open, and opens the path again if they differ. Lines are appended,
so the file may also be copied and truncated.
"""

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from piecework.marketplace.state import clock
from piecework.marketplace.watching.watched_requests import AnsweredRequest

_LOG = logging.getLogger(__name__)

MOST_WAITING = 20_000
_BATCH = 1000
_PAUSE_SECONDS = 0.1
"""Between two writes, so that a write has many lines under load."""
_STOP_SECONDS = 3.0
_Line = tuple[int, AnsweredRequest]
"""The time of a reply, and its request."""


class AccessLog:
    """A log of requests, in a file or on standard output.

    Args:
        path: the file; None is standard output.
        count_lost: learns how many lines were lost.
    """

    def __init__(self, path: Path | None, count_lost: Callable[[int], None] | None = None) -> None:
        self._path = path
        self._count_lost = count_lost
        self._waiting: queue.Queue[_Line] = queue.Queue(MOST_WAITING)
        self._stop = threading.Event()
        self._file: int | None = None
        self._is_torn = False
        self._lost = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Write lines while the block lasts.

        Raises:
            OSError: the file cannot be opened.
        """
        self._open()
        thread = threading.Thread(target=self._run, name="access log", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            # A pipe that is not read would block the end.
            thread.join(_STOP_SECONDS)

    def observe_request(self, answered: AnsweredRequest) -> None:
        """Queue a line."""
        try:
            self._waiting.put_nowait((clock.machine_ms(), answered))
        except queue.Full:
            self._lose(1)

    def _run(self) -> None:
        while not self._stop.wait(_PAUSE_SECONDS):
            self._write_waiting()
        self._write_waiting()
        self._close()

    def _write_waiting(self) -> None:
        while lines := self._next_lines():
            self._write(lines)

    def _next_lines(self) -> list[_Line]:
        lines: list[_Line] = []
        while len(lines) < _BATCH:
            try:
                lines.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return lines

    def _write(self, lines: list[_Line]) -> None:
        text = "".join(f"{json.dumps(_members(*line))}\n" for line in lines).encode()
        if self._is_torn:
            text = b"\n" + text
        try:
            self._reopen_if_rotated()
            written = os.write(self._file if self._file is not None else -1, text)
        except OSError as fault:
            self._lose(len(lines), fault)
            return
        if written < len(text):
            # A full disk takes a part.
            self._is_torn = not text[:written].endswith(b"\n")
            self._lose(text[written:].count(b"\n"))
            return
        self._is_torn = False
        if self._lost:
            _LOG.warning("the access log is written again; %d lines are lost", self._lost)
            self._lost = 0

    def _reopen_if_rotated(self) -> None:
        if self._path is None:
            return
        if self._file is not None:
            opened = os.fstat(self._file)
            try:
                if os.path.samestat(opened, self._path.stat()):
                    return
            except FileNotFoundError:
                pass
        self._close()
        self._open()

    def _open(self) -> None:
        if self._path is None:
            self._file = sys.stdout.fileno()
            return
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        # The log holds access keys of requesters, so only its owner may read it.
        self._file = os.open(self._path, flags, 0o600)
        self._is_torn = False

    def _close(self) -> None:
        if self._path is not None and self._file is not None:
            os.close(self._file)
            self._file = None

    def _lose(self, lines: int, fault: OSError | None = None) -> None:
        if not self._lost:
            reason = fault or "its disk or its reader is too slow"
            _LOG.warning("the access log loses lines: %s", reason)
        self._lost += lines
        if self._count_lost is not None:
            self._count_lost(lines)


def _members(at_ms: int, answered: AnsweredRequest) -> dict[str, Any]:
    """Return a line's members; those that do not apply are left out."""
    facts = answered.facts
    optional = {"operation": facts.operation, "error": facts.error, "requester": facts.requester}
    return {
        "time": clock.to_datetime(at_ms).isoformat(timespec="milliseconds"),
        "request": facts.request_id,
        "method": answered.method,
        "route": answered.route or None,
        **{name: value for name, value in optional.items() if value},
        "status": answered.status,
        "bytes": answered.size,
        "ms": round(answered.seconds * 1000, 2),
    }
