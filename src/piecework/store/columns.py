"""Values as the store's columns hold them, and inserts that name their columns."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from piecework.store.database import Store

Row = Mapping[str, object]
"""Cells by column name: text, whole numbers, floats or `None`."""


def to_text(moment: datetime) -> str:
    """Convert a time to ISO 8601 text in UTC, which sorts chronologically.

    >>> to_text(datetime(2026, 1, 5, 9, tzinfo=UTC))
    '2026-01-05T09:00:00.000000+00:00'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    """Return the time that `to_text` wrote."""
    return datetime.fromisoformat(text)


def moment(text: str | None) -> datetime | None:
    """Return the time in a column that may be empty."""
    return from_text(text) if text else None


_ROWS_AT_ONCE = 100
"""Rows of one statement; databases limit its values to 32,766."""


def insert(store: Store, table: str, rows: Iterable[Row], *, or_ignore: bool = False) -> None:
    """Insert rows with the same named columns; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        table: the table's name.
        rows: cells by column name.
        or_ignore: skip rows with a key that is already in the table.
    """
    waiting = iter(rows)
    ending = " ON CONFLICT DO NOTHING" if or_ignore else ""
    while together := list(islice(waiting, _ROWS_AT_ONCE)):
        names = list(together[0])
        # Quoted, because a few are reserved words in some databases.
        columns = ", ".join(f'"{name}"' for name in names)
        cells = f"({', '.join('?' * len(names))})"
        store.db.execute(
            f"INSERT INTO {table} ({columns}) VALUES {', '.join([cells] * len(together))}{ending}",
            [row[name] for row in together for name in names],
        )


def read_columns(store: Store, sql: str, *values: object) -> dict[str, list[Any]]:
    """Return the result of a query by column, as lists of equal length."""
    cursor = store.db.execute(sql, values)
    names = [description[0] for description in cursor.description]
    rows = cursor.fetchall()
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
