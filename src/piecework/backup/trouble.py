"""Warns once when a replica stops, and once when it continues."""

import logging
import time

_LOG = logging.getLogger(__name__)

_TROUBLED_SECONDS = 5.0
"""How long a fault must last before it is reported: a call may fail now and then."""


class Trouble:
    """What keeps a replica from being complete, for the log.

    Args:
        address: the replica's.

    Attributes:
        last: the last fault; "" before any.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._since: float | None = None
        self._is_reported = False
        self.last = ""

    def note(self, fault: str) -> None:
        """Take in a fault; report it if faults have lasted for some seconds."""
        self.last = fault
        if self._since is None:
            self._since = time.monotonic()
        if time.monotonic() - self._since >= _TROUBLED_SECONDS:
            self.report(fault)

    def report(self, fault: str) -> None:
        """Report a fault now, unless the trouble was reported already."""
        self.last = fault
        if self._since is None:
            self._since = time.monotonic()
        if not self._is_reported:
            self._is_reported = True
            _LOG.warning(
                "the backup to %s has stopped: %s. New commits are only on this "
                "machine until it continues.",
                self._address,
                fault,
            )

    def end(self) -> None:
        """Report that the replica is complete again, if trouble was reported."""
        if self._is_reported and self._since is not None:
            _LOG.warning(
                "the backup to %s continues after %.0f s",
                self._address,
                time.monotonic() - self._since,
            )
        self._since, self._is_reported = None, False
