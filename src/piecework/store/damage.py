"""A store whose bytes a disk or a program has changed: a sentence, no traceback."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import StoreError
from piecework.store.database import Store

_ODD = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)


@contextmanager
def damage_told(store: Store) -> Iterator[None]:
    """Say that the store is damaged, if that is why a block fails.

    Only then is the whole file read: a value that makes no sense in it, or a page that
    SQLite finds out of order, explains what otherwise is a fault of ours.

    Raises:
        StoreError: it is damaged.
    """
    try:
        yield
    except sqlite3.DatabaseError as fault:
        if _kind(fault) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise _damaged(store.path, str(fault)) from fault
        if "decode to UTF-8" in str(fault) or "malformed JSON" in str(fault):
            raise _damaged(store.path, "a text in it is none") from fault
        raise
    except _ODD as fault:
        if (complaint := _complaint(store)) is not None:
            raise _damaged(store.path, complaint) from fault
        raise


def _complaint(store: Store) -> str | None:
    """What is wrong with a store's file; `None` if nothing is found."""
    try:
        (integrity,) = store.db.execute("PRAGMA integrity_check(1)").fetchone()
        if integrity != "ok":
            return str(integrity)
        for query in _QUESTIONS:
            if store.db.execute(query).fetchone() is not None:
                return "a value in it makes no sense"
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
        f"SELECT 1 FROM {table} WHERE NOT json_valid({column})"
        for table, column in _JSON.items()
    ),
    *(
        # SQLite takes a plain number for a day, too.
        # Imported results may not say when work began or ended.
        f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL "
        f"AND NOT ({column} = '' AND '{table}' = 'assignments') "
        f"AND (length({column}) < 19 OR julianday({column}) IS NULL)"
        for table, columns in _MOMENTS.items()
        for column in columns
    ),
)
"""Each finds a value that this package never wrote."""


def _damaged(path: Path, complaint: str) -> StoreError:
    return StoreError(
        f"{path}: the store is damaged ({complaint})",
        next_step="bring a copy of it back; what was posted since is refused rather "
        "than posted again",
    )


def _kind(fault: sqlite3.Error) -> int:
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF
