"""Control a running backup, and say what is wrong with it."""

import http.client
import json
import logging
import socket
import time
from pathlib import Path

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


class NotReplicatedError(Exception):
    """Litestream could not complete the replica, or does not answer."""


def complete(control: Path, database: Path, *, seconds: int) -> None:
    """Return once the replica has all that was committed before the call.

    Args:
        control: Litestream's socket.
        database: the database's absolute path.
        seconds: how long to wait.

    Raises:
        NotReplicatedError: it is not complete; the message says why.
    """
    request = {"path": str(database), "wait": True, "timeout": seconds}
    connection = _Connection(control, seconds + 1.0)
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
        raise NotReplicatedError(_reason(content))
    position = json.loads(content)
    if position["txid"] != position["replicated_txid"]:
        raise NotReplicatedError(
            f"the replica is at {position['replicated_txid']} of {position['txid']}"
        )


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
