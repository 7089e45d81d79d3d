"""The marketplace's own time, in whole milliseconds since 1970 (UTC).

Live, it is the machine's, if that is trusted (`clock_jumps`). In a campaign's rehearsal
it stands still until a program moves it. In a rehearsal that people and their programs
use, it runs with the machine's, ahead by as much as it was moved. A rehearsal's time is
stored in the database, and never runs backwards.
"""

import sqlite3
from datetime import UTC, datetime, timedelta

from piecework.marketplace.exceptions import Refusal

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

DEFAULT_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday morning, fixed so that the same seed gives the same rehearsal."""

END_OF_TIME = datetime(2200, 1, 1, tzinfo=UTC)
"""The upper limit of virtual time."""

SIGNATURE_SKEW = timedelta(minutes=15)
"""The largest difference between a signature's time and the machine's."""

SECOND = 1000
DAY = 24 * 3600 * SECOND


def moment_of(text: str) -> datetime:
    """Parse an ISO 8601 time; without a zone it is UTC.

    Raises:
        ValueError: the text is not a time, or not from 1970 to 2199.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _EPOCH <= moment < END_OF_TIME:
        raise ValueError(f"{text} is not from 1970 to {END_OF_TIME.year - 1}.")
    return moment


def to_ms(moment: datetime) -> int:
    """Convert an aware datetime to milliseconds."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_datetime(ms: int) -> datetime:
    """Convert milliseconds to an aware datetime in UTC."""
    return _EPOCH + timedelta(milliseconds=ms)


def machine_ms() -> int:
    """Return the machine's current time."""
    return to_ms(datetime.now(UTC))  # noqa: TID251 - the one place that may


def virtual_ms(conn: sqlite3.Connection) -> int | None:
    """Return the rehearsal's current time; None in a live database."""
    row = conn.execute("SELECT value FROM settings WHERE key = 'now_ms'").fetchone()
    if row is not None:
        return int(row[0])
    ahead_ms = _ahead_ms(conn)
    return None if ahead_ms is None else machine_ms() + ahead_ms


def runs(conn: sqlite3.Connection) -> bool:
    """Return whether a rehearsal's clock runs on its own."""
    return _ahead_ms(conn) is not None


def let_run(conn: sqlite3.Connection, start_ms: int) -> None:
    """Let a rehearsal's clock run from this time on."""
    conn.execute("DELETE FROM settings WHERE key = 'now_ms'")
    _keep(conn, "ahead_ms", start_ms - machine_ms())


def let_stand(conn: sqlite3.Connection, now_ms: int) -> None:
    """Stop a rehearsal's clock at this time."""
    conn.execute("DELETE FROM settings WHERE key = 'ahead_ms'")
    _keep(conn, "now_ms", now_ms)


def move(conn: sqlite3.Connection, now_ms: int) -> None:
    """Set virtual time; while it runs, a time in the past changes nothing.

    Raises:
        Refusal: time would run backwards (409).
    """
    present = virtual_ms(conn)
    if present is not None and now_ms < present:
        if runs(conn):
            return
        raise Refusal(
            "ClockRunsForward",
            f"It is already {to_datetime(present).isoformat()}; time only advances.",
            status=409,
        )
    _set(conn, now_ms)


def advance(conn: sqlite3.Connection, now_ms: int) -> bool:
    """Set virtual time unless it is already later; return whether it was set."""
    present = virtual_ms(conn)
    if present is not None and now_ms <= present:
        return False
    _set(conn, now_ms)
    return True


def last_known_ms(conn: sqlite3.Connection) -> int | None:
    """Return the last time stored in a live database, or None."""
    row = conn.execute("SELECT value FROM settings WHERE key = 'known_ms'").fetchone()
    return None if row is None else int(row[0])


def keep_known_ms(conn: sqlite3.Connection, known_ms: int) -> None:
    """Store the time in a live database, so that the next start can compare it."""
    _keep(conn, "known_ms", known_ms)


def keep_checked_ms(conn: sqlite3.Connection, checked_ms: int) -> None:
    """Store when a program last asked whether the database can be written."""
    _keep(conn, "checked_ms", checked_ms)


def _set(conn: sqlite3.Connection, now_ms: int) -> None:
    if runs(conn):
        let_run(conn, now_ms)
    else:
        _keep(conn, "now_ms", now_ms)


def _ahead_ms(conn: sqlite3.Connection) -> int | None:
    row = conn.execute("SELECT value FROM settings WHERE key = 'ahead_ms'").fetchone()
    return None if row is None else int(row[0])


def _keep(conn: sqlite3.Connection, key: str, value: int) -> None:
    conn.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, str(value)),
    )
