"""The result of the last pass, valid until the store changes.

A pass that finds no work due takes seconds of reading, so its result is kept. Triggers
of the tables delete it at any later write, by any program. The time of the last poll
and the wait until the next one stay.

The quick check before a pass uses the standard library: sqlite-utils loads pandas if it
is installed, which takes most of a second.

The end of a campaign is told once. The event's id is stored before it is sent, so that
a pass that follows a crash sends the same event, which its receiver knows.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from piecework.domain.store_address import StoreAddress
from piecework.foundation.sqlitefile.database import TABLE, names_in
from piecework.foundation.sqlitefile.files import Checkpoints
from piecework.store.connection import Asked
from piecework.store.files import SCHEMA, check_kind

if TYPE_CHECKING:
    from piecework.store.database import Store

_CERTAIN_LAG = timedelta(hours=1)
_ENOUGH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LastPass:
    """What was remembered and still holds.

    Attributes:
        progress: as it was given to `remember`.
        open_hits: ids of the HITs with answers that have not been fetched.
        older: ids of the latest HITs that were posted before all of those.
        hit_types: the types of those HITs.
        polled_at: when the marketplace was asked for news last, if it was.
        wait: how long to wait from then on.
    """

    progress: Mapping[str, object]
    open_hits: frozenset[str]
    older: frozenset[str]
    hit_types: tuple[str, ...]
    polled_at: datetime | None
    wait: timedelta | None


def remember(store: "Store", progress: Mapping[str, object], *, request_digest: str) -> None:
    """Store how far the campaign is, in place of the earlier progress.

    It is not stored if another connection has written since the pass opened the store:
    a person may have stopped the campaign or decided after the progress was read.

    Args:
        store: the campaign's memory, as it was opened for the pass.
        progress: plain values.
        request_digest: digest of the pass's request; it holds only for an equal
            request.
    """
    with store.db.exclusive():
        # With the lock, no other connection writes between this check and the commit.
        if not store.others_have_written():
            store.db.execute(
                "INSERT INTO last_pass (only_row, request_digest, progress) "
                "VALUES (1, ?, ?) ON CONFLICT (only_row) DO UPDATE SET "
                "request_digest = excluded.request_digest, "
                "progress = excluded.progress",
                [request_digest, json.dumps(progress)],
            )


def recall(address: StoreAddress, *, request_digest: str | None = None) -> LastPass | None:
    """Return what is remembered, unless the request or the store has changed.

    Args:
        address: where the campaign's store is; there may be none yet.
        request_digest: as `remember` was given it; without it, any request.
    """
    if not address.url:
        check_kind(address.path)
    try:
        with _connected(address) as connection:
            return None if connection is None else _recall(connection, request_digest)
    except sqlite3.OperationalError:
        # Busy, or another schema: the pass that opens the store reports what is wrong.
        return None


def forget(store: "Store") -> None:
    """Let the next pass find out what is due, as something outside the store is."""
    with store.db.atomic():
        store.db.execute("UPDATE last_pass SET progress = NULL")


def mark_polled(address: StoreAddress, *, at: datetime, wait: timedelta) -> None:
    """Record that the marketplace was asked for news, and how long to wait now."""
    with _connected(address) as connection:
        if connection is None:
            return
        connection.execute(
            "INSERT INTO last_pass (only_row, polled_at, wait_seconds) "
            "VALUES (1, ?, ?) ON CONFLICT (only_row) DO UPDATE SET "
            "polled_at = excluded.polled_at, wait_seconds = excluded.wait_seconds",
            [at.isoformat(), wait.total_seconds()],
        )


def end_to_tell(address: StoreAddress, *, event_id: str) -> str | None:
    """Return the id of the event that tells of the end; `None` if it was told.

    Args:
        address: where the campaign's store is.
        event_id: for the event, unless an earlier pass has given it an id.
    """
    with _connected(address) as connection:
        if connection is None:
            return None
        row = connection.execute("SELECT end_event, end_is_announced FROM last_pass").fetchone()
        if row is not None and row[0] is not None:
            return None if row[1] else str(row[0])
        connection.execute(
            "INSERT INTO last_pass (only_row, end_event) VALUES (1, ?) "
            "ON CONFLICT (only_row) DO UPDATE SET end_event = excluded.end_event",
            [event_id],
        )
        return event_id


def mark_end_announced(address: StoreAddress, *, is_announced: bool) -> None:
    """Record that the end was told, or that the campaign goes on and may end again."""
    with _connected(address) as connection:
        if connection is None:
            return
        event = "end_event" if is_announced else "NULL"
        connection.execute(
            f"UPDATE last_pass SET end_event = {event}, end_is_announced = ? "
            "WHERE end_event IS NOT NULL",
            [int(is_announced)],
        )


@contextmanager
def _connected(address: StoreAddress) -> Iterator[Asked | None]:
    """Connect to a store as it is; `None` if it is missing or of another version."""
    if address.url:
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        with sessions.connected(address) as session:
            yield session
    elif not address.path.is_file():
        yield None
    else:
        with closing(sqlite3.connect(address.path, timeout=30)) as file, file:
            Checkpoints(file, address.path)
            yield file if _is_of_this_version(file) else None


def _is_of_this_version(file: sqlite3.Connection) -> bool:
    """Whether a store has all tables of this version, and no later ones."""
    rows = file.execute(f"SELECT name FROM {TABLE}")
    return {name for (name,) in rows} == names_in(SCHEMA)


def older_hits(connection: Asked) -> frozenset[str]:
    """Return HITs of a store that were planned and posted before all uncollected ones.

    They tell where the news in a listing ends, so the latest thousand of them are
    enough.

    HITs posted less than an hour before those do not count: many calls are under way at
    once, and a HIT is recorded only when its call returns.
    """
    # A HIT may exist from the moment its call was declared; if the reply was lost, a
    # later pass may have found the HIT hours afterwards.
    number, first = connection.execute(
        "SELECT min(hits.rowid), min(coalesce(made_at, posted_at)) FROM hits "
        "LEFT JOIN intents ON operation = 'publish' AND subject_kind = 'hit' "
        "AND subject_id = hit_key "
        "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
    ).fetchone()
    if number is None:
        return frozenset()
    before = (datetime.fromisoformat(first) - _CERTAIN_LAG).isoformat(timespec="microseconds")
    rows = connection.execute(
        "SELECT hit_id FROM hits "
        "WHERE hit_id IS NOT NULL AND rowid < ? AND posted_at < ? "
        "ORDER BY rowid DESC LIMIT ?",
        [number, before, _ENOUGH],
    )
    return frozenset(hit_id for (hit_id,) in rows)


def _recall(connection: Asked, request_digest: str | None) -> LastPass | None:
    row = connection.execute(
        "SELECT request_digest, progress, polled_at, wait_seconds FROM last_pass"
    ).fetchone()
    if row is None or row[1] is None or (request_digest or row[0]) != row[0]:
        return None
    waiting = connection.execute(
        "SELECT hit_id, hit_type_id FROM hits WHERE hit_id IS NOT NULL AND collected_at IS NULL"
    ).fetchall()
    return LastPass(
        progress=json.loads(row[1]),
        open_hits=frozenset(hit_id for hit_id, _ in waiting),
        older=older_hits(connection),
        hit_types=tuple(sorted({hit_type for _, hit_type in waiting})),
        polled_at=datetime.fromisoformat(row[2]) if row[2] else None,
        wait=None if row[3] is None else timedelta(seconds=row[3]),
    )
