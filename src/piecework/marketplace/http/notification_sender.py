"""Delivers notifications to a queue or topic on this machine, at least once each.

It reads the file through its own connection, so it sees only committed data, and calls
do not wait for it. It retries failed deliveries with growing delays, and finally gives up
with a log line. If a queue or topic is out of order, nothing else goes there during the
delay; if it refuses a message, only that message waits. A restart continues where it
stopped.
"""

import http.client
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from piecework.foundation.hosts import is_loopback
from piecework.foundation.sqlitefile.files import Checkpoints
from piecework.marketplace.state import clock

_LOG = logging.getLogger(__name__)

MOST_TRIES = 10
_BATCH = 100
_PAUSE_SECONDS = 0.1
_TIMEOUT_SECONDS = 2.0
_FIRST_DELAY_SECONDS = 0.2
_LONGEST_DELAY_SECONDS = 60.0
_WAITING = (
    "SELECT * FROM deliveries WHERE status = 'Waiting' "
    "AND destination NOT IN (SELECT value FROM json_each(?1)) "
    "AND id NOT IN (SELECT value FROM json_each(?1)) ORDER BY id LIMIT ?2"
)


class NotifyAddressError(ValueError):
    """The address is not on this machine."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address to which messages are posted."""

    host: str
    port: int
    path: str


def read_address(url: str) -> Address:
    """Read the address of a local queue or topic server.

    Raises:
        NotifyAddressError: the address is not http, or not on this machine.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 80
    except ValueError as fault:
        raise NotifyAddressError(f"{url[:80]!a} is not an address: {fault}.") from fault
    host = parts.hostname or ""
    if parts.scheme != "http" or not is_loopback(host):
        raise NotifyAddressError(
            f"{url[:80]!a} is not an http address on this machine, the only place for "
            "notifications."
        )
    return Address(host, port, parts.path or "/")


class NotificationSender:
    """Delivers a database's waiting messages to one address until stopped."""

    def __init__(self, database: Path, address: Address) -> None:
        self._database = database
        self._address = address
        self._stop = threading.Event()
        # By destination that is out of order, or by id of a refused message.
        self._not_before: dict[str | int, float] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Deliver while the block lasts."""
        thread = threading.Thread(target=self._run, name="notification sender", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        connection = sqlite3.connect(self._database, isolation_level=None, timeout=_TIMEOUT_SECONDS)
        connection.row_factory = sqlite3.Row
        with closing(connection):
            checkpoints = Checkpoints(connection, self._database)
            while not self._stop.wait(_PAUSE_SECONDS):
                try:
                    checkpoints.choose()
                    self._deliver_waiting(connection)
                except sqlite3.OperationalError as fault:  # locked, or a full disk
                    _LOG.warning("notifications wait: %s", fault)

    def _deliver_waiting(self, connection: sqlite3.Connection) -> None:
        now = time.monotonic()
        self._not_before = {
            delayed: until for delayed, until in self._not_before.items() if until > now
        }
        rows = connection.execute(_WAITING, (json.dumps([*self._not_before]), _BATCH)).fetchall()
        for row in rows:
            if self._stop.is_set():
                return
            if row["destination"] not in self._not_before:
                complaint, delayed = self._post(row)
                self._mark(connection, row, complaint, delayed)

    def _post(self, row: sqlite3.Row) -> tuple[str, str | int]:
        """Send one message; return what went wrong, or "", and what to delay then."""
        service, form = _request(row)
        day = clock.to_datetime(clock.machine_ms()).strftime("%Y%m%d")
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            # Local queue servers do not check the signature, but read the service from
            # it.
            "Authorization": (
                f"AWS4-HMAC-SHA256 Credential=marketplace/{day}/us-east-1/{service}/"
                "aws4_request, SignedHeaders=host, Signature=unsigned"
            ),
        }
        connection = http.client.HTTPConnection(
            self._address.host, self._address.port, timeout=_TIMEOUT_SECONDS
        )
        try:
            with closing(connection):
                connection.request("POST", self._address.path, urlencode(form), headers)
                status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as fault:
            return f"{type(fault).__name__}: {fault}", row["destination"]
        is_taken = http.client.OK <= status < http.client.MULTIPLE_CHOICES
        is_out_of_order = status >= http.client.INTERNAL_SERVER_ERROR
        delayed = row["destination"] if is_out_of_order else row["id"]
        return "" if is_taken else f"HTTP {status}", delayed

    def _mark(
        self, connection: sqlite3.Connection, row: sqlite3.Row, complaint: str, delayed: str | int
    ) -> None:
        tries = row["tries"] + 1
        status = "Delivered"
        if complaint:
            status = "Failed" if tries >= MOST_TRIES else "Waiting"
            if status == "Waiting":
                delay = min(_FIRST_DELAY_SECONDS * 2 ** row["tries"], _LONGEST_DELAY_SECONDS)
                self._not_before[delayed] = time.monotonic() + delay
            _LOG.log(
                logging.ERROR if status == "Failed" else logging.WARNING,
                "notification delivery=%s try=%s not delivered: %s",
                row["id"],
                tries,
                complaint,
            )
        connection.execute(
            "UPDATE deliveries SET status = ?, tries = ? WHERE id = ?", (status, tries, row["id"])
        )


def _request(row: sqlite3.Row) -> tuple[str, dict[str, str]]:
    if row["transport"] == "SQS":
        return "sqs", {
            "Action": "SendMessage",
            "Version": "2012-11-05",
            "QueueUrl": row["destination"],
            "MessageBody": row["document"],
        }
    return "sns", {
        "Action": "Publish",
        "Version": "2010-03-31",
        "TopicArn": row["destination"],
        "Message": row["document"],
    }
