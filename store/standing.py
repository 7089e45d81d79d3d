"""What the last whole pass found, for as long as nothing is written after it.

A pass that finds nothing due costs seconds of reading. What it found is remembered with
a tally of the whole store: of every table, how many rows there are and how many of each
column that may be empty. Rows are added and empty columns filled, never more, so an
equal tally means an equal store; and whoever writes need not know of this. A glance
goes through the standard library: sqlite-utils loads pandas where it finds it.
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from store import polls
from store.files import FILE_NAME

if TYPE_CHECKING:
    from store.database import Store

_TABLE = "standing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What was remembered and still holds.

    Attributes:
        progress: as it was given to `remember`.
        open_hits: ids of the HITs whose answers have not been fetched.
        older: ids of HITs that were posted before all of those.
        hit_types: the types of those HITs.
    """

    progress: Mapping[str, object]
    open_hits: frozenset[str]
    older: frozenset[str]
    hit_types: tuple[str, ...]


def remember(store: "Store", progress: Mapping[str, object], *, asked: str) -> None:
    """Keep how far the campaign is, in place of what was kept before.

    Nothing is kept if another connection has written since the pass opened the store: a
    person may stop the campaign, or decide, when the progress has been read already.

    Args:
        store: the campaign's memory, as it was opened for the pass.
        progress: plain values.
        asked: all that the pass was told, as a hash; the next must be told the same.
    """
    store.db.execute("BEGIN IMMEDIATE")
    try:
        store.db.execute(f"DELETE FROM {_TABLE}")
        # Behind the lock: nobody writes between this question and the tally.
        if not store.others_have_written():
            store.db.execute(
                f"INSERT INTO {_TABLE} VALUES (1, ?, ?, ?)",
                [asked, _tally(store.db.conn), json.dumps(progress)],
            )
        store.db.execute("COMMIT")
    except BaseException:
        store.db.rollback()
        raise


def glance(folder: Path, *, asked: str | None = None) -> Glance | None:
    """What is remembered, unless it was asked otherwise or something was written.

    Args:
        folder: the campaign's; there need not be a store in it.
        asked: as `remember` was given it; without it, whatever was asked.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        # A store of an earlier version is brought up to date by the pass that opens it.
        if not {_TABLE, polls.TABLE} <= set(_tables(connection)):
            return None
        row = connection.execute(
            f"SELECT asked, tally, progress FROM {_TABLE}"
        ).fetchone()
        if row is None or (asked or row[0]) != row[0] or row[1] != _tally(connection):
            return None
        waiting = connection.execute(
            "SELECT hit_id, hit_type_id FROM hits "
            "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
        ).fetchall()
        older = polls.older(connection)
    return Glance(
        progress=json.loads(row[2]),
        open_hits=frozenset(hit_id for hit_id, _ in waiting),
        older=older,
        hit_types=tuple(sorted({hit_type for _, hit_type in waiting})),
    )


def _tally(connection: sqlite3.Connection) -> str:
    counts = {}
    for name in _tables(connection):
        if name in {_TABLE, polls.TABLE}:
            continue
        columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        may_be_empty = [f'count("{one[1]}")' for one in columns if not one[3]]
        wanted = ", ".join(["count(*)", *may_be_empty])
        counts[name] = connection.execute(f'SELECT {wanted} FROM "{name}"').fetchone()
    return json.dumps(counts)


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return sorted(str(row[0]) for row in found)
