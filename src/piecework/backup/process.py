"""Litestream as a child process that ends with this one.

If this process is killed, a shell sends Litestream SIGTERM, and Litestream sends the
last commits before it ends. Until then it holds the lock that it has inherited, so a
new process does not start a second Litestream on the same database.
"""

import fcntl
import http.client
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from piecework.backup.restoring import ReplicatedFile, environment, fault_in, write_settings
from piecework.foundation.sqlitefile.files import FOR_OWNER

_RUN_AND_END = """
exec 3<&0
"$@" </dev/null >/dev/null 3<&- &
program=$!
echo "$program"
(read -r _ <&3; kill -TERM "$program") >/dev/null &
watch=$!
wait "$program"
code=$?
kill "$watch"
exit "$code"
"""
"""Runs a program, and sends it SIGTERM once standard input ends.

That is when the process at the other end closes it or is killed. A signal at the death
of the parent (`prctl`) comes once for each of its threads, and the second one stops
Litestream before it has sent the last commits. The program's id goes to standard
output, the lock file, for people who look for the process.
"""

_LOG = logging.getLogger(__name__)

_START_SECONDS = 10.0
_LOOK_SECONDS = 0.02
_END_SECONDS = 30.0
_LOCK_ATTEMPTS = 5


class LitestreamProcess:
    """Litestream for one database; may be started again after it has ended.

    Args:
        program: Litestream's path.
        file: the database and its replica.

    Attributes:
        fault: the last fault that Litestream logged; "" if none.
        faults: how many it has logged.
    """

    def __init__(self, program: Path, file: ReplicatedFile) -> None:
        self._program = program
        self._file = file
        self._process: subprocess.Popen[bytes] | None = None
        self._lock_file: IO[bytes] | None = None
        # The path of a socket must be short.
        self._sockets = Path(tempfile.mkdtemp(prefix="piecework-backup-"))
        self._socket = self._sockets / "control"
        self.fault = ""
        self.faults = 0

    def lock(self) -> bool:
        """Lock the database against another Litestream; return whether it worked."""
        if self._lock_file is None:
            self._lock_file = (self._file.folder / "lock").open("a+b")
            os.fchmod(self._lock_file.fileno(), FOR_OWNER)
        for _ in range(_LOCK_ATTEMPTS):
            with suppress(BlockingIOError):
                fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            # Programs that write look at the lock for an instant.
            time.sleep(_LOOK_SECONDS)
        return False

    def holder(self) -> str:
        """Return the process id of the Litestream that holds the lock."""
        if self._lock_file is None:
            return ""
        self._lock_file.seek(0)
        return self._lock_file.read().decode(errors="replace").strip()

    def start(self) -> None:
        """Start Litestream, and wait until it can be asked; `lock` comes first."""
        if self._lock_file is None:
            raise RuntimeError("the database is not locked")
        settings = self._file.folder / "litestream.yml"
        write_settings(settings, [self._file], socket=self._socket)
        self._socket.unlink(missing_ok=True)
        self.fault = ""
        self._kill_group()
        self._close_input()
        self._lock_file.truncate(0)
        self._process = self._started(settings, self._lock_file)
        deadline = time.monotonic() + _START_SECONDS
        while self.is_alive() and time.monotonic() < deadline:
            if self._socket.exists():
                return
            time.sleep(_LOOK_SECONDS)

    def _started(self, settings: Path, lock: IO[bytes]) -> "subprocess.Popen[bytes]":
        log, written = os.pipe()
        try:
            process = subprocess.Popen(  # noqa: S603 - our own arguments
                [
                    *("/bin/sh", "-c", _RUN_AND_END, "sh", self._program),
                    *("replicate", "-config", settings, "-no-expand-env"),
                ],
                stdin=subprocess.PIPE,
                stdout=lock,
                stderr=written,
                env=environment(),
                # It also holds the end of its log that is read. Otherwise its first
                # line after a kill of this process would end it, before it sends the
                # last commits.
                pass_fds=[lock.fileno(), log],
                # Ctrl-C in a terminal does not reach it: the database ends first.
                process_group=0,
            )
        except BaseException:
            os.close(log)
            raise
        finally:
            os.close(written)
        threading.Thread(target=self._read_log, args=(os.fdopen(log, "rb"),), daemon=True).start()
        return process

    def is_alive(self) -> bool:
        """Return whether Litestream runs."""
        return self._process is not None and self._process.poll() is None

    def exit_code(self) -> int | None:
        """Return how Litestream ended; `None` if it runs or was never started."""
        return None if self._process is None else self._process.poll()

    def complete(self, *, seconds: int) -> None:
        """Return once the replica has all that was committed before the call.

        Raises:
            NotReplicatedError: it is not complete.
        """
        complete(self._socket, self._file.database.absolute(), seconds=seconds)

    def replicated(self) -> int | None:
        """Return the last transaction that the replica has; `None` if that is not known."""
        with suppress(NotReplicatedError, KeyError):
            request = {"path": str(self._file.database.absolute())}
            return int(_synced(self._socket, request, seconds=_START_SECONDS)["replicated_txid"])
        return None

    def end(self, *, at_once: bool = False) -> None:
        """End Litestream, after it has sent the last commits.

        Args:
            at_once: it sends nothing more.
        """
        if self._process is None:
            return
        if at_once:
            self._kill_group()
        self._close_input()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill_group()
            self._process.wait()

    def _close_input(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _kill_group(self) -> None:
        """Kill Litestream and the shell around it, if they may still run."""
        if self._process is None:
            return
        code = self._process.poll()
        # A shell that ended by itself has waited for Litestream, and its id may be
        # another group's by now. One that was killed may leave Litestream behind.
        if code is None or code < 0:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End Litestream, and let another process start it."""
        self.end()
        shutil.rmtree(self._sockets, ignore_errors=True)
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None

    def _read_log(self, lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                text = line.decode(errors="replace").strip()
                _LOG.debug("litestream: %s", text)
                if fault := fault_in(text):
                    self.fault = fault
                    self.faults += 1


_TROUBLED_SECONDS = 5.0
"""How long a fault must last before it is reported: a call may fail now and then."""
_LASTING_SECONDS = 60.0
"""How long a fault must last before a copy that is made once is given up."""


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
        self._failing_since: float | None = None
        self._is_reported = False
        self.last = ""

    @property
    def lasts(self) -> bool:
        """Whether faults have lasted so long that they may not end by themselves."""
        since = self._failing_since
        return since is not None and time.monotonic() - since >= _LASTING_SECONDS

    def note(self, fault: str) -> None:
        """Take in a fault; report it if faults have lasted for some seconds."""
        if time.monotonic() - self._begin(fault) >= _TROUBLED_SECONDS:
            self.report(fault)

    def report(self, fault: str) -> None:
        """Report a fault now, unless the trouble was reported already."""
        self._begin(fault)
        if not self._is_reported:
            self._is_reported = True
            _LOG.warning(
                "the backup to %s has stopped: %s. New commits are only on this "
                "machine until it continues.",
                self._address,
                fault,
            )

    def _begin(self, fault: str) -> float:
        """Take in a fault; return since when there are any."""
        now, self.last = time.monotonic(), fault
        self._since = now if self._since is None else self._since
        self._failing_since = now if self._failing_since is None else self._failing_since
        return self._since

    def is_slow(self) -> None:
        """Take in that the copy is on its way: its faults do not last."""
        self._failing_since = None

    def end(self) -> None:
        """Report that the replica is complete again, if trouble was reported."""
        if self._is_reported and self._since is not None:
            _LOG.warning(
                "the backup to %s continues after %.0f s",
                self._address,
                time.monotonic() - self._since,
            )
        self._since, self._failing_since, self._is_reported = None, None, False


class NotReplicatedError(Exception):
    """Litestream could not complete the replica, or does not answer."""


class NotYetReplicatedError(NotReplicatedError):
    """The time that Litestream had for it was too short."""


_OUT_OF_TIME = "deadline exceeded"
"""What Litestream answers if a call took longer than it was given."""


def complete(control: Path, database: Path, *, seconds: int) -> None:
    """Return once the replica has all that was committed before the call.

    Args:
        control: Litestream's socket.
        database: the database's absolute path.
        seconds: how long to wait.

    Raises:
        NotReplicatedError: it is not complete; the message says why.
        NotYetReplicatedError: it will be complete later.
    """
    request = {"path": str(database), "wait": True, "timeout": seconds}
    position = _synced(control, request, seconds=seconds + 1.0)
    if position["txid"] != position["replicated_txid"]:
        raise NotYetReplicatedError(
            f"the replica is at {position['replicated_txid']} of {position['txid']}"
        )


def _synced(control: Path, request: Mapping[str, object], *, seconds: float) -> dict[str, Any]:
    """Return what Litestream answers to a request to replicate a database."""
    connection = _Connection(control, seconds)
    try:
        connection.request(
            "POST", "/sync", json.dumps(request), {"Content-Type": "application/json"}
        )
        reply = connection.getresponse()
        content = reply.read()
    except (OSError, http.client.HTTPException) as fault:
        raise NotReplicatedError(f"Litestream does not answer ({fault})") from fault
    finally:
        connection.close()
    if reply.status != http.client.OK:
        reason = _reason(content)
        raise (NotYetReplicatedError if _OUT_OF_TIME in reason else NotReplicatedError)(reason)
    position: dict[str, Any] = json.loads(content)
    return position


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _reason(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace").strip()[:200]
