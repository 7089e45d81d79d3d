"""The process that replicates databases, and its trial.

Litestream says what it has sent, but not whether it is still there and fits together.
A trial finds files that somebody deleted, and copies that are damaged.

A thread starts Litestream, asks it each second to complete the replica if there are new
commits, and starts it again if it ends. The database is opened by name and through
SQLite only: a process that opens and closes the file itself loses SQLite's locks on it.
"""

import logging
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from piecework.backup.lag import Distance, Identity, Lag, identity_of
from piecework.backup.marker import FOLDER_MODE, RENEWED_EVERY, Claim, TakenOverError
from piecework.backup.process import (
    LitestreamProcess,
    NotReplicatedError,
    NotYetReplicatedError,
    Trouble,
)
from piecework.backup.restoring import DamagedReplicaError, ReplicatedFile, commits_in
from piecework.domain.clock import Clock
from piecework.domain.errors import PieceworkError
from piecework.foundation.sqlitefile.files import fold, is_log_large, wait_for_checkpoints

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
        # The process ends without waiting for it: a restore may take long.
        threading.Thread(
            target=self._run, args=(stopping,), name="backup trial", daemon=True
        ).start()

    def _run(self, stopping: threading.Event) -> None:
        seconds = _FIRST_SECONDS
        while not stopping.wait(seconds):
            try:
                seconds = _EVERY_SECONDS if self._try() else _FIRST_SECONDS
            except (PieceworkError, OSError) as fault:
                # The bucket is unreachable or the disk is full, so nothing is known of the copy.
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


_REPLICATOR_EVERY_SECONDS = 1.0
_FOLD_EVERY_SECONDS = 30.0
_FOLDING = "the log is folded while Litestream does not run"
_LOOK_SECONDS = 0.1
_COMPLETE_SECONDS = 30
_LAST_SECONDS = 10
_FIRST_DELAY_SECONDS, _LONGEST_DELAY_SECONDS = 1.0, 60.0


class Replicator:
    """The continuous backup of a database.

    Args:
        file: the database and its replica.
        program: Litestream's path.
        clock: the time, for the marker.
    """

    def __init__(self, file: ReplicatedFile, program: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._claim = Claim(file.address, file.folder)
        self._process = LitestreamProcess(program, file)
        self._trouble = Trouble(file.address.text)
        self._trial = Trial(file, self._confirmed)
        self._thread = threading.Thread(target=self._run, name="backup", daemon=True)
        self._identity: Identity | None = None
        self._lag: Lag | None = None
        self._stopping = threading.Event()
        self._is_running = self._has_begun = self._is_complete = False
        self._known_faults = 0
        self._replicated: int | None = None
        self._renewed_at: float | None = None
        self._folded_at = float("-inf")

    def check(self) -> None:
        """Refuse an address that cannot be used, before anything is started.

        It takes three minutes if an unknown writer of the replica has not said that it
        ended.

        Raises:
            ConfigError: it cannot be read.
            RefusedForSafety: it is another database's, or another process writes it.
            sqlite3.Error: the database cannot be read.
        """
        self._claim.check(identity_of(self._file.database), self._stopping)

    @contextmanager
    def running(self) -> Iterator["Replicator"]:
        """Replicate while the block lasts, also what is committed as it ends.

        The database may be created within the block.
        """
        self._thread.start()
        self._trial.start(self._stopping)
        try:
            yield self
        finally:
            self._stopping.set()
            self._thread.join()
            if self._lag is not None:
                self._lag.close()

    def wait_until_complete(self) -> None:
        """Wait until the replica has every commit, however long that takes.

        It ends too if a fault lasts, or if another process writes the replica; then
        `missing` says why.
        """
        while not self.has_ended and not self._is_complete and not self._trouble.lasts:
            time.sleep(_LOOK_SECONDS)

    @property
    def has_ended(self) -> bool:
        """Whether it copies no more: another process took over, or the disk is full."""
        return not self._thread.is_alive()

    def distance(self) -> Distance:
        """Return how far the replica is behind now."""
        if self._lag is None:
            return Distance(0.0, 0, is_running=False)
        try:
            seconds, commits = self._lag.distance()
        except sqlite3.Error as fault:
            _LOG.warning("the distance of the replica is not known: %s", fault)
            return Distance(float("inf"), 0, is_running=False)
        is_running = self._is_running and not self._trial.fault
        return Distance(seconds, commits, is_running=is_running)

    def _confirmed(self) -> int:
        return 0 if self._lag is None else self._lag.confirmed()

    @property
    def missing(self) -> str:
        """Why the replica may lack a commit; "" if it was completed at the last attempt."""
        if self._is_complete:
            return ""
        return self._trouble.last or "the copy was not completed"

    def _run(self) -> None:
        try:
            if self._wait_for_database() and self._wait_for_lock():
                self._keep_running()
        except OSError as fault:  # a full disk, or a folder without permission
            self._is_complete = False
            self._trouble.report(str(fault))
        except TakenOverError as taken:
            # A last attempt would write over the other process's work.
            self._is_running = self._is_complete = False
            self._process.end(at_once=True)
            self._trouble.report(f"{taken}. This process does not write it again")
        finally:
            self._is_running = False
            self._process.close()
            self._release()

    def _wait_for_database(self) -> bool:
        """Wait until the database has its tables; return false if that was in vain."""
        while True:
            # What is committed as the block ends is sent too, so the last look comes then.
            is_last = self._stopping.is_set()
            with suppress(sqlite3.Error):
                self._identity = identity_of(self._file.database)
            if self._identity is not None:
                self._lag = Lag(self._file.database)
                return True
            if is_last:
                return False
            self._stopping.wait(_LOOK_SECONDS)

    def _wait_for_lock(self) -> bool:
        """Wait until only Litestream will fold the log; false if that was in vain."""
        self._file.folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        while fault := self._lock_fault():
            self._trouble.note(fault)
            if self._stopping.wait(_REPLICATOR_EVERY_SECONDS):
                return False
        return True

    def _lock_fault(self) -> str:
        """Lock the database against other programs; return why that failed, or ""."""
        if not self._process.lock():
            return f"Litestream, process {self._process.holder()}, backs it up already"
        try:
            wait_for_checkpoints(self._file.database)
        except sqlite3.OperationalError as fault:
            return str(fault)
        return ""

    def _keep_running(self) -> None:
        delay = _FIRST_DELAY_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            fault = self._run_once()
            if not self._stopping.is_set() and fault != _FOLDING:
                self._is_running = False
                self._trouble.report(fault)
                if time.monotonic() - began > _LONGEST_DELAY_SECONDS:
                    delay = _FIRST_DELAY_SECONDS
                self._stopping.wait(delay)
                delay = min(2 * delay, _LONGEST_DELAY_SECONDS)
        if not self._process.is_alive():
            with suppress(OSError):
                self._process.start()
        self._complete_last()

    def _run_once(self) -> str:
        """Run Litestream until it ends or this process stops; return why it ended."""
        if self._should_fold():
            self._fold()
        try:
            self._process.start()
        except OSError as fault:  # a full disk, no memory
            return f"Litestream cannot be started ({fault})"
        return self._watch()

    def _should_fold(self) -> bool:
        waited = time.monotonic() - self._folded_at
        return waited > _FOLD_EVERY_SECONDS and is_log_large(self._file.database)

    def _fold(self) -> None:
        self._folded_at = time.monotonic()
        try:
            fold(self._file.database)
        except sqlite3.OperationalError as fault:  # a full disk, or a long reader
            self._trouble.note(f"the log cannot be folded ({fault})")

    def _watch(self) -> str:
        """Keep the replica complete while Litestream runs; return why it ended."""
        while self._process.is_alive() and not self._stopping.is_set():
            if self._may_write():
                self._complete(_COMPLETE_SECONDS)
            if self._should_fold():
                self._process.end()
                return _FOLDING
            self._stopping.wait(_REPLICATOR_EVERY_SECONDS)
        code = self._process.exit_code()
        return self._process.fault or f"Litestream ended with code {code}"

    def _may_write(self) -> bool:
        """Renew the marker when that is due; return false if it could not be written.

        Raises:
            TakenOverError: another process writes the replica.
        """
        now, renewed_at = time.monotonic(), self._renewed_at
        is_first = renewed_at is None
        if renewed_at is not None and (now - renewed_at < RENEWED_EVERY.total_seconds()):
            return True
        if self._identity is None:
            return False
        try:
            self._claim.renew(
                self._identity,
                self._clock.now(),
                commits=self._confirmed(),
                is_first=is_first,
                stopping=self._stopping,
            )
        except PieceworkError as fault:
            self._is_running = self._is_complete = False
            self._trouble.note(str(fault))
            return False
        self._renewed_at = now
        return True

    def _complete(self, seconds: int) -> None:
        """Complete the replica, unless it has every commit already."""
        if self._lag is None:
            return
        try:
            if not self._lag.is_behind() and self._is_running:
                return
            self._process.complete(seconds=seconds)
        except (NotReplicatedError, sqlite3.Error) as fault:
            self._is_running = self._is_complete = False
            self._trouble.note(self._process.fault or str(fault))
            if isinstance(fault, NotYetReplicatedError) and self._is_advancing():
                self._trouble.is_slow()
            return
        self._known_faults = self._process.faults
        self._lag.confirm()
        if not self._has_begun:
            self._has_begun = True
            _LOG.info("the backup to %s has every commit", self._file.address.text)
        self._is_running = self._is_complete = True
        self._process.fault = ""
        self._trouble.end()

    def _is_advancing(self) -> bool:
        """Whether the replica gets further, as far as is known.

        One large file may take long. But after a fault, the replica must have more than
        at the last look: a bucket that does not answer causes faults now and then.
        """
        if self._process.faults == self._known_faults:
            return True
        before, self._replicated = self._replicated, self._process.replicated()
        if before is None or self._replicated is None or self._replicated <= before:
            return False
        self._known_faults = self._process.faults
        return True

    def _complete_last(self) -> None:
        """Send the last commits; say how many are missing if that fails."""
        if self._may_write():
            self._complete(_LAST_SECONDS)
        if missing := self.distance().commits:
            _LOG.warning(
                "the backup to %s lacks the last %d commits", self._file.address.text, missing
            )

    def _release(self) -> None:
        if self._identity is not None and self._renewed_at is not None:
            with suppress(PieceworkError):
                self._claim.release(self._identity, self._clock.now(), commits=self._confirmed())
