"""Generations of a store: how to tell a restored copy from the store itself.

Each pass on a marketplace begins a generation, and SQLite's `user_version` counts the
transactions that change data. Together they are a mark (`piecework.domain.marks`).
Every call sends it to the marketplace, once the intent of the call is durable. The
store keeps the marketplace's mark in the transaction that keeps the marketplace's
reply.
"""

import secrets
from datetime import datetime

from piecework.domain.marks import count, generation
from piecework.store.database import Store, to_text, writing
from piecework.store.intents import store_name

_WORD_BYTES = 4


def begin_generation(store: Store, *, at: datetime) -> None:
    """Begin a generation, send the store's mark with requests, and keep marks received.

    Args:
        store: the campaign's memory, opened with the marks of its platform.
        at: when.
    """
    store.marks.store = store_name(store)
    name = secrets.token_hex(_WORD_BYTES)
    with writing(store):
        store.db.execute(
            "INSERT INTO generations (generation, first_change, began_at) VALUES (?, ?, ?)",
            [name, store.changes(), to_text(at)],
        )


def has(store: Store, mark: str) -> bool:
    """Whether a mark belongs to this store's past, or was accepted as such."""
    accepted = store.db.execute("SELECT 1 FROM accepted_marks WHERE mark = ?", [mark])
    if accepted.fetchone() is not None:
        return True
    row = store.db.execute(
        "SELECT first_change, (SELECT min(later.first_change) "
        "FROM generations AS later WHERE later.number > generations.number) "
        "FROM generations WHERE generation = ?",
        [generation(mark)],
    ).fetchone()
    if row is None:
        return False
    first, last = row
    last = store.changes() if last is None else last
    return bool(first <= count(mark) <= last)


def was_restored(store: Store) -> bool:
    """Whether the store was once an older copy of itself."""
    row = store.db.execute("SELECT 1 FROM accepted_marks LIMIT 1").fetchone()
    return row is not None


def seen(store: Store) -> str:
    """Return the newest mark of the marketplace in the store; "" before the first."""
    row = store.db.execute("SELECT mark FROM marketplace_mark").fetchone()
    return str(row[0]) if row else ""


def accept(store: Store, mark: str) -> None:
    """Accept a mark of a newer copy of this store as one of its own past."""
    with writing(store):
        store.db.execute(
            "INSERT INTO accepted_marks (mark) VALUES (?) ON CONFLICT DO NOTHING", [mark]
        )
