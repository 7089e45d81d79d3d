"""Asks a running Litestream, over its socket, to complete a replica now."""

import http.client
import json
import socket
from pathlib import Path


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
