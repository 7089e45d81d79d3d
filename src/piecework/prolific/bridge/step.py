"""One step of the bridge, and the thread that repeats steps."""

import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from piecework.prolific.bridge import (
    bonuses,
    comparing,
    deciding,
    filter_types,
    groups,
    messages,
    reading,
    screening,
    studies,
)
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.lock import only_bridge

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


def step(bridge: Bridge) -> bool:
    """Update Prolific to match the marketplace; return whether a call changed it.

    It reads the state, then updates who may take part, then carries out decisions, then
    pays. Nothing is published or paid before the file is compared with Prolific.
    """
    bridge.changes, bridge.faults, bridge.is_due_soon = 0, [], False
    bridge.is_throttled = False
    bridge.tried(partial(comparing.compare, bridge))
    for part, spends in (
        (filter_types.offer, False),
        (reading.read_prolific, False),
        (groups.keep_in_step, False),
        (studies.recruit, True),
        (screening.screen, True),
        (deciding.decide, False),
        (bonuses.pay, True),
        (messages.send, False),
    ):
        if bridge.is_compared or not spends:
            bridge.tried(partial(part, bridge))
    return bridge.changes > 0


def settle(bridge: Bridge, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, where time is frozen."""
    for _ in range(most):
        if not step(bridge):
            return


class StepObserver(Protocol):
    """Learns of each step, for metrics; it must not raise."""

    def __call__(self, *, seconds: float, faults: int, is_whole: bool) -> None:
        """Take a step's duration, its refused or lost calls, whether it was whole."""


class Running:
    """Makes steps until stopped: soon after a change, otherwise less and less often.

    Args:
        bridge: the bridge.
        news: set by others to ask for a step sooner.
        pace: how long to wait between steps.
        after_step: learns of each step.
    """

    def __init__(
        self,
        bridge: Bridge,
        news: threading.Event | None = None,
        pace: Pace | None = None,
        *,
        after_step: StepObserver | None = None,
    ) -> None:
        self._bridge = bridge
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
        thread = threading.Thread(target=self._run, name="prolific bridge", daemon=True)
        with only_bridge(self._bridge.backend.database):
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
                has_changed = step(self._bridge)
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
