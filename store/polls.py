"""When the marketplace was last asked for news, and how long to wait before the next.

A schedule calls every few minutes for days, and each call to a marketplace costs; so
the wait grows while nothing comes and shrinks when much does, and a listing is read no
further than to what is older than all that is waited for. Through the standard library,
like `store.standing`: a look before a pass has to cost next to nothing.
"""

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from store.files import FILE_NAME
from store.times import from_text, to_text

TABLE = "polls"
LEAST = timedelta(minutes=1)
_MOST, _MOST_FAR_OFF = 60, 120
LONGEST = _MOST_FAR_OFF * LEAST
HARVEST = timedelta(hours=6)
"""How long HITs may be open before they are asked for what they have got so far. Most
are done sooner and are asked once; each further look costs a call a HIT."""
_GROWS = 1.5
_QUESTIONS = 2
"""How often, at most, what is left is asked for, if it goes on as it did."""
_SURELY = timedelta(hours=1)


def next_wait(
    wait: timedelta, *, came: int, left: int, least: timedelta = LEAST
) -> timedelta:
    """How long to wait after an answer, if so long was waited before it.

    What is waited for is the end of a batch, so the wait is a part of the time that
    what is left takes at the rate of late, from which it departs by half as much at a
    time. Sixty times the least is the most, twice that while the end is far off.

    Args:
        wait: what was waited before.
        came: how many HITs had become reviewable.
        left: how many are still open.
        least: what is waited in any case.
    """
    if came and not left:
        return wait  # The batch is here; what follows it takes its own time.
    aim = wait * left / (came * _QUESTIONS) if came else wait * _GROWS
    changed = min(max(aim, wait / _GROWS), wait * _GROWS)
    most = _MOST_FAR_OFF if came else _MOST
    return min(max(changed, least), most * least)


def ask_again_at(folder: Path) -> datetime | None:
    """The moment before which the marketplace need not be asked; `None` if any is."""
    with closing(_opened(folder)) as connection:
        row = _row(connection)
    return None if row is None else row[0] + row[1]


def asked(folder: Path, *, at: datetime, came: int, left: int) -> None:
    """Write down that the marketplace was asked, and how many HITs had come."""
    with closing(_opened(folder)) as connection, connection:
        row = _row(connection)
        wait = next_wait(LEAST if row is None else row[1], came=came, left=left)
        connection.execute(
            f"INSERT OR REPLACE INTO {TABLE} VALUES (1, ?, ?)",
            [to_text(at), wait.total_seconds()],
        )


def older(connection: sqlite3.Connection) -> frozenset[str]:
    """HITs of a store that were planned and posted before any that is waited for.

    What was posted less than an hour before does not count: many calls are under way at
    once, and a HIT is written down when its call has come back.
    """
    # Since a HIT's call was declared it may be there; its reply may have been lost, and
    # the HIT found by looking, hours later.
    number, first = connection.execute(
        "SELECT min(hits.rowid), min(coalesce(made_at, posted_at)) FROM hits "
        "LEFT JOIN intents ON intent_key = 'publish:' || hit_key "
        "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
    ).fetchone()
    if number is None:
        return frozenset()
    rows = connection.execute(
        "SELECT hit_id FROM hits "
        "WHERE hit_id IS NOT NULL AND rowid < ? AND posted_at < ?",
        [number, to_text(from_text(first) - _SURELY)],
    )
    return frozenset(hit_id for (hit_id,) in rows)


def _opened(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / FILE_NAME, timeout=30)


def _row(connection: sqlite3.Connection) -> tuple[datetime, timedelta] | None:
    row = connection.execute(f"SELECT asked_at, wait_seconds FROM {TABLE}").fetchone()
    return None if row is None else (from_text(row[0]), timedelta(seconds=row[1]))
