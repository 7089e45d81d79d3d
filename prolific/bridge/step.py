"""One step of the bridge, and the thread that makes one after the other."""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from prolific.bridge import (
    bonuses,
    deciding,
    groups,
    messages,
    reading,
    screening,
    studies,
)
from prolific.bridge.bridge import Bridge
from prolific.bridge.lock import only_bridge

_LOG = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 3.0
LONGEST_WAIT_SECONDS = 120.0
_LOOK_SECONDS = 1.0


def step(bridge: Bridge) -> bool:
    """Bring Prolific in line with the marketplace once; whether any call changed it.

    The order: what is so, then who may come, then what was decided, then money.
    """
    bridge.changes, bridge.faults, bridge.is_due_soon = 0, [], False
    for part in (
        reading.read,
        groups.keep_in_step,
        studies.recruit,
        screening.screen,
        deciding.decide,
        bonuses.pay,
        messages.send,
    ):
        bridge.tried(partial(part, bridge))
    return bridge.changes > 0


def settle(bridge: Bridge, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, whose time stands."""
    for _ in range(most):
        if not step(bridge):
            return


class Running:
    """Makes steps until it is stopped: soon after a change, else ever more rarely."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
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
        wait = FIRST_WAIT_SECONDS
        while not self._stop.is_set():
            try:
                has_changed = step(self._bridge)
            except sqlite3.OperationalError as fault:  # locked, or a full disk
                _LOG.warning("the bridge waits: %s", fault)
                has_changed = False
            except Exception:  # noqa: BLE001 - people wait for pay, so it goes on
                _LOG.exception("a step of the bridge failed")
                has_changed = False
            is_busy = has_changed or self._bridge.is_due_soon
            wait = FIRST_WAIT_SECONDS if is_busy else wait * 2
            wait = min(wait, LONGEST_WAIT_SECONDS)
            if self._wait(wait):
                wait = FIRST_WAIT_SECONDS

    def _wait(self, seconds: float) -> bool:
        """Wait so long, or less if the marketplace changes; whether it did."""
        backend = self._bridge.backend
        version, waited = backend.data_version(), 0.0
        while waited < seconds and not self._stop.wait(_LOOK_SECONDS):
            waited += _LOOK_SECONDS
            if waited >= FIRST_WAIT_SECONDS and backend.data_version() != version:
                return True
        return False
