"""The marketplace's own time, in whole milliseconds since 1970 (UTC).

Live, it is the machine's, as far as that is believed (`clock_jumps`). In a rehearsal of
a campaign it stands still until a program moves it; in one that people and their
programs use it runs beside the machine's, as far ahead as it was moved. A rehearsal's
time is kept in the database, and never runs backwards.
"""

import sqlite3
from datetime import UTC, datetime, timedelta

from piecework.marketplace.exceptions import Refusal

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

DEFAULT_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday morning; fixed, so that the same seed rehearses the same."""

END_OF_TIME = datetime(2200, 1, 1, tzinfo=UTC)
"""Virtual time is before this."""

SIGNATURE_SKEW = timedelta(minutes=15)
"""So far may the time that a signature names lie from the machine's."""

SECOND = 1000
DAY = 24 * 3600 * SECOND


def moment_of(text: str) -> datetime:
    """A moment of virtual time as ISO 8601 writes it; in UTC, if it names no zone.

    Raises:
        ValueError: it is none, or not from 1970 to 2199.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _EPOCH <= moment < END_OF_TIME:
        raise ValueError(f"{text} is not from 1970 to {END_OF_TIME.year - 1}.")
    return moment


def to_ms(moment: datetime) -> int:
    """An aware moment as milliseconds."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_datetime(ms: int) -> datetime:
    """Milliseconds as an aware moment in UTC."""
    return _EPOCH + timedelta(milliseconds=ms)


def machine_ms() -> int:
    """The machine's present."""
    return to_ms(datetime.now(UTC))  # noqa: TID251 - the one place that may


def virtual_ms(conn: sqlite3.Connection) -> int | None:
    """The rehearsal's present; None in a live database."""
    row = conn.execute("SELECT value FROM settings WHERE key = 'now_ms'").fetchone()
    if row is not None:
        return int(row[0])
    ahead_ms = _ahead_ms(conn)
    return None if ahead_ms is None else machine_ms() + ahead_ms


def runs(conn: sqlite3.Connection) -> bool:
    """Whether a rehearsal's clock runs by itself."""
    return _ahead_ms(conn) is not None


def let_run(conn: sqlite3.Connection, start_ms: int) -> None:
    """Let a rehearsal's clock run from this moment on."""
    conn.execute("DELETE FROM settings WHERE key = 'now_ms'")
    _keep(conn, "ahead_ms", start_ms - machine_ms())


def let_stand(conn: sqlite3.Connection, now_ms: int) -> None:
    """Let a rehearsal's clock stand at this moment."""
    conn.execute("DELETE FROM settings WHERE key = 'ahead_ms'")
    _keep(conn, "now_ms", now_ms)


def move(conn: sqlite3.Connection, now_ms: int) -> None:
    """Set virtual time; while it runs, a moment that has passed changes nothing.

    Raises:
        Refusal: time would run backwards (409).
    """
    present = virtual_ms(conn)
    if present is not None and now_ms < present:
        if runs(conn):
            return
        raise Refusal(
            "ClockRunsForward",
            f"It is {to_datetime(present).isoformat()} already; time only moves on.",
            status=409,
        )
    _set(conn, now_ms)


def advance(conn: sqlite3.Connection, now_ms: int) -> bool:
    """Set virtual time, unless it is that late already; whether it was set."""
    present = virtual_ms(conn)
    if present is not None and now_ms <= present:
        return False
    _set(conn, now_ms)
    return True


def last_known_ms(conn: sqlite3.Connection) -> int | None:
    """The last moment that a live database was told; None: it was told none."""
    row = conn.execute("SELECT value FROM settings WHERE key = 'known_ms'").fetchone()
    return None if row is None else int(row[0])


def keep_known_ms(conn: sqlite3.Connection, known_ms: int) -> None:
    """Tell a live database the moment, for its next start."""
    _keep(conn, "known_ms", known_ms)


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
