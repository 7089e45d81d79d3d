"""Restores the replica of a running backup now and then, to see that it can be done.

Litestream says what it has sent, but not whether it is still there and fits together.
A trial finds files that somebody deleted, and copies that are damaged.
"""

import logging
import shutil
import threading
from collections.abc import Callable

from piecework.backup.program import ReplicatedFile
from piecework.backup.restoring import DamagedReplicaError, commits_in
from piecework.domain.errors import PieceworkError

_LOG = logging.getLogger(__name__)

_FIRST_SECONDS, _EVERY_SECONDS = 300.0, 86_400.0
_NEXT_STEP = (
    "begin a new replica (docs/how-to/back-up-and-restore.md#if-the-bucket-has-lost-its-replica)"
)


class Trial:
    """Trial restores of one replica, in a thread of its own.

    Args:
        file: the database and its replica.
        confirmed: returns how many commits the replica has at least.

    Attributes:
        fault: what the last trial found; "" if the replica was whole.
    """

    def __init__(self, file: ReplicatedFile, confirmed: Callable[[], int]) -> None:
        self._file = file
        self._confirmed = confirmed
        self.fault = ""

    def start(self, stopping: threading.Event) -> None:
        """Try the replica five minutes from now and then each day, until an event."""
        # It is not waited for: a restore may take long, and the process shall end.
        threading.Thread(
            target=self._run, args=(stopping,), name="backup trial", daemon=True
        ).start()

    def _run(self, stopping: threading.Event) -> None:
        seconds = _FIRST_SECONDS
        while not stopping.wait(seconds):
            try:
                seconds = _EVERY_SECONDS if self._try() else _FIRST_SECONDS
            except (PieceworkError, OSError) as fault:
                # The bucket is away, or the disk is full: it says nothing of the copy.
                _LOG.warning("the backup to %s could not be tried: %s", self._address, fault)
                seconds = _FIRST_SECONDS

    def _try(self) -> bool:
        """Restore the replica; return whether it is whole.

        Raises:
            PieceworkError: nothing could be restored.
            OSError: the disk cannot be written.
        """
        confirmed = self._confirmed()
        folder = self._file.folder / "trial"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            commits = commits_in(self._file.address, folder)
        except DamagedReplicaError as fault:
            self.fault = str(fault)
        else:
            self.fault = ""
            if commits < confirmed:
                self.fault = f"it lacks {confirmed - commits} commits that were sent"
        if self.fault:
            _LOG.warning(
                "the backup to %s cannot be restored: %s; %s", self._address, self.fault, _NEXT_STEP
            )
            return False
        _LOG.info("the backup to %s was restored and is whole", self._address)
        return True

    @property
    def _address(self) -> str:
        return self._file.address.text
