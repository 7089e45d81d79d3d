"""Generations of a store: how a copy that was put back is told from the store itself.

Each pass over a store on a marketplace begins a generation, and SQLite's `user_version`
counts the transactions that change something. The two make a mark (`domain.marks`). The
marketplace hears it with every call, after the intent of the call is durable; the store
keeps the marketplace's mark in the transaction that keeps what the marketplace said.
"""

from datetime import datetime

from domain.marks import count, generation
from store.columns import to_text
from store.database import Store, writing


def begin(store: Store, name: str, *, at: datetime) -> None:
    """Begin a generation and let requests carry the store's mark.

    Args:
        store: the campaign's memory, opened with the marks of its platform.
        name: random, and never used before.
        at: when.
    """
    with writing(store):
        store.db.execute(
            "INSERT INTO generations (generation, first_change, began_at) "
            "VALUES (?, ?, ?)",
            [name, store.changes(), to_text(at)],
        )


def has(store: Store, mark: str) -> bool:
    """Whether a moment belongs to this store's past."""
    row = store.db.execute(
        "SELECT first_change, (SELECT min(later.first_change) "
        "FROM generations AS later WHERE later.number > generations.number) "
        "FROM generations WHERE generation = ?",
        [generation(mark)],
    ).fetchone()
    if row is None:
        return False
    first, last = row
    return first <= count(mark) <= (store.changes() if last is None else last)


def seen(store: Store) -> str:
    """The newest mark of the marketplace that the store has kept; "" before any."""
    row = store.db.execute("SELECT mark FROM marketplace_mark").fetchone()
    return str(row[0]) if row else ""


def forget_seen(store: Store) -> None:
    """Let the marketplace's past begin anew, once both were compared."""
    with writing(store):
        store.db.execute("DELETE FROM marketplace_mark")
