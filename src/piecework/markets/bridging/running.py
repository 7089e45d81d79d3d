"""The thread that repeats a bridge's steps, and the lock that allows one bridge a market.

Two bridges to one market would each find the same bonuses unpaid. The operating system
releases the lock, which lies beside the marketplace's database, when the process ends, so
a crash leaves nothing to clean up. The lock works only on the machine that holds the
database.
"""

import fcntl
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from piecework.foundation.client.errors import Unusable
from piecework.foundation.tracing.spans import span
from piecework.markets.bridging.accounts import Bridge

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long to wait between steps.

    Attributes:
        first_seconds: the wait after a change, and the shortest between any two steps.
        longest_seconds: while nothing happens, each wait doubles up to this.
        look_seconds: how often to check whether the marketplace has changed.
    """

    first_seconds: float = 3.0
    longest_seconds: float = 120.0
    look_seconds: float = 1.0


class StepObserver(Protocol):
    """Learns of each step, for metrics; it must not raise."""

    def __call__(self, *, seconds: float, faults: int, is_whole: bool) -> None:
        """Take a step's duration, its refused or lost calls, whether it was whole."""


B = TypeVar("B", bound=Bridge)


class Running(Generic[B]):
    """Makes steps until stopped: soon after a change, otherwise less and less often.

    Args:
        bridge: the bridge.
        step: makes one step of it; returns whether a call changed the other market.
        news: set by others to ask for a step sooner.
        pace: how long to wait between steps.
        after_step: learns of each step.
    """

    def __init__(
        self,
        bridge: B,
        step: Callable[[B], bool],
        news: threading.Event | None = None,
        pace: Pace | None = None,
        *,
        after_step: StepObserver | None = None,
    ) -> None:
        self._bridge, self._step = bridge, step
        self._news = news or threading.Event()
        self._pace = pace or Pace()
        self._after_step = after_step
        self._stop = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make steps in a thread for as long as the block lasts.

        Raises:
            Unusable: another bridge is at work on this database.
        """
        thread = threading.Thread(target=self._run, name="bridge", daemon=True)
        with only_bridge(self._bridge.backend.database, self._bridge.market):
            thread.start()
            try:
                yield
            finally:
                self._stop.set()
                thread.join()

    def _run(self) -> None:
        pace = self._pace
        wait = pace.first_seconds
        while not self._stop.is_set():
            self._news.clear()  # News during the step triggers the next one.
            began, is_whole = time.monotonic(), False
            try:
                with span("bridge step", {"piecework.market": self._bridge.market}):
                    has_changed = self._step(self._bridge)
                is_whole = True
            except sqlite3.OperationalError as fault:  # locked, or a full disk
                _LOG.warning("the bridge waits: %s", fault)
                has_changed = False
            except Exception:  # noqa: BLE001 - people wait for pay, so it continues
                _LOG.exception("a step of the bridge failed")
                has_changed = False
            if self._after_step is not None:
                self._after_step(
                    seconds=time.monotonic() - began,
                    faults=len(self._bridge.faults),
                    is_whole=is_whole,
                )
            is_busy = has_changed or self._bridge.is_due_soon
            wait = pace.first_seconds if is_busy else wait * 2
            wait = min(wait, pace.longest_seconds)
            if self._wait(wait):
                wait = pace.first_seconds

    def _wait(self, seconds: float) -> bool:
        """Wait, at most until news or a change here; return whether there was any.

        There are always at least `first_seconds` between two steps.
        """
        backend, pace = self._bridge.backend, self._pace
        version, waited = backend.data_version(), 0.0
        while waited < seconds and not self._stop.wait(pace.look_seconds):
            waited += pace.look_seconds
            if waited < pace.first_seconds:
                continue
            if self._news.is_set() or backend.data_version() != version:
                return True
        return False


SUFFIX = "bridge.lock"


@contextmanager
def only_bridge(database: Path, market: str) -> Iterator[None]:
    """Lock a marketplace's database for as long as the block lasts.

    Args:
        database: the marketplace's database.
        market: the outside market's display name; each market has a bridge.

    Raises:
        Unusable: another bridge holds the lock; the message names its process.
    """
    name = f"{database.name}.{market.lower()}.{SUFFIX}"
    with database.with_name(name).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise Unusable(
                f"{database}: process {holder} already serves it for {market}",
                next_step="use that process, or end it first",
            ) from fault
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
