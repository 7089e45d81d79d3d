"""A store as the release before running totals made it, written by plain SQL."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from piecework.store.migrations import migrations

Rows = Mapping[str, Sequence[Mapping[str, object]]]
"""Rows by table, each by column."""


@contextmanager
def earlier_store(path: Path) -> Iterator[sqlite3.Connection]:
    """A new file with the tables of that release; what is written is kept."""
    with closing(sqlite3.connect(path)) as connection:
        migrations.apply(Database(connection), stop_before="m_running_totals")
        yield connection
        connection.commit()


def write(connection: sqlite3.Connection, rows: Rows) -> None:
    """Add rows, table by table in this order."""
    for table, of_table in rows.items():
        for row in of_table:
            marks = ", ".join("?" * len(row))
            connection.execute(
                f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})",
                list(row.values()),
            )


def taken_back(path: Path) -> None:
    """Bring a store of today, in which no answer came yet, back to that release."""
    aside = path.rename(path.with_name("today.db"))
    with closing(sqlite3.connect(aside)) as today, earlier_store(path) as earlier:
        for table, was in (
            *(("settings", "about"), ("hits", "hits")),
            *(("intents", "intents"), ("ledger", "ledger")),
        ):
            columns = [row[1] for row in earlier.execute(f"PRAGMA table_info({was})")]
            named = ", ".join(columns)
            earlier.executemany(
                f"INSERT INTO {was} ({named}) VALUES ({', '.join('?' * len(columns))})",
                today.execute(f"SELECT {named} FROM {table}"),
            )
    aside.unlink()
