"""Report a store damaged by a disk or a program with a message, not a traceback."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from piecework.domain.errors import StoreError
from piecework.store.database import Store

_ODD = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)


@contextmanager
def damage_check(store: Store) -> Iterator[None]:
    """Raise an error that says the store is damaged, if that is why a block fails.

    The whole file is read only then. An invalid value, or a page that SQLite finds out
    of order, explains the failure; otherwise it is a bug in piecework.

    Raises:
        StoreError: it is damaged.
    """
    try:
        yield
    except sqlite3.DatabaseError as fault:
        if _kind(fault) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise _damaged(store, str(fault)) from fault
        if "decode to UTF-8" in str(fault) or "malformed JSON" in str(fault):
            raise _damaged(store, "a text in it is not valid") from fault
        raise
    except _ODD as fault:
        if store.db.kind != "sqlite":
            raise  # PostgreSQL checks its own files
        if (complaint := _complaint(store)) is not None:
            raise _damaged(store, complaint) from fault
        raise


def _complaint(store: Store) -> str | None:
    """Return what is wrong with a store's file; `None` if no damage is found."""
    try:
        (integrity,) = store.db.execute("PRAGMA integrity_check(1)").fetchone()
        if integrity != "ok":
            return str(integrity)
        for query in _QUESTIONS:
            if store.db.execute(query).fetchone() is not None:
                return "a value in it is not valid"
    except sqlite3.DatabaseError as fault:
        return str(fault)
    return None


_JSON = {"hits": "item_ids", "intents": "arguments", "answers": "fields"}
_MOMENTS = {
    "hits": ("posted_at", "collected_at", "looked_at"),
    "intents": ("made_at", "done_at"),
    "assignments": ("accepted_at", "submitted_at"),
    "decisions": ("decided_at",),
}
_QUESTIONS = (
    *(
        # The fields of an answer in the archive are empty.
        f"SELECT 1 FROM {table} WHERE NOT json_valid({column}) "
        f"AND NOT ({column} = '' AND '{table}' = 'answers')"
        for table, column in _JSON.items()
    ),
    *(
        # SQLite also accepts a plain number as a day. Imported results may lack the
        # times when work began or ended.
        f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL "
        f"AND NOT ({column} = '' AND '{table}' = 'assignments') "
        f"AND (length({column}) < 19 OR julianday({column}) IS NULL)"
        for table, columns in _MOMENTS.items()
        for column in columns
    ),
)
"""Each query finds a value that this package never wrote."""


def _damaged(store: Store, complaint: str) -> StoreError:
    return StoreError(
        f"{store.address}: the store is damaged ({complaint})",
        next_step="restore a copy of it; piecework then refuses to post again what was "
        "posted after the copy was made",
    )


def _kind(fault: sqlite3.Error) -> int:
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF
