"""Whether a person has stopped the campaign, until the stop is undone.

Every stop stays in the table, so that a report can say when no HITs were posted.
Another process may write a stop during a pass; the pass reads it before each HIT.
"""

from datetime import datetime

from piecework.store.columns import from_text, to_text
from piecework.store.database import Store


def stop(store: Store, *, at: datetime) -> bool:
    """Record that no more HITs are to be posted; return whether that is new."""
    with store.db.atomic():
        written = store.db.execute(
            "INSERT INTO stops (stopped_at) SELECT ? "
            "WHERE NOT EXISTS (SELECT 1 FROM stops WHERE undone_at IS NULL)",
            [to_text(at)],
        )
    return bool(written.rowcount)


def undo(store: Store, *, at: datetime) -> bool:
    """Let the campaign continue; return whether it was stopped."""
    with store.db.atomic():
        written = store.db.execute(
            "UPDATE stops SET undone_at = ? WHERE undone_at IS NULL", [to_text(at)]
        )
    return bool(written.rowcount)


def stopped_at(store: Store) -> datetime | None:
    """Return since when the campaign is stopped; `None` if it is not."""
    row = store.db.execute("SELECT stopped_at FROM stops WHERE undone_at IS NULL").fetchone()
    return from_text(row[0]) if row else None


def undone(store: Store) -> int:
    """Return how often the campaign was stopped and continued."""
    row = store.db.execute("SELECT count(*) FROM stops WHERE undone_at IS NOT NULL").fetchone()
    return int(row[0])
