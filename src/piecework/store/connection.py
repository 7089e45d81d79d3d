"""What the store asks of a database: the same of SQLite and of PostgreSQL.

All queries of this package are written in SQL that both accept, with `?` or `:name` for
values. This interface has the few things that differ: how a transaction keeps other
writers out, how writes are counted, and what the database itself can do. SQLite's
implementation is `piecework.store.sqlite_database`, PostgreSQL's
`piecework.store.postgres.database`.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

Values = Sequence[Any] | dict[str, Any]
"""Values for `?`, or by name for `:name`."""


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows a statement has written."""
        ...

    @property
    def description(self) -> Any:  # noqa: ANN401 - a tuple per column, the name first
        """The columns of a query."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a tuple of any cells, or `None`
        """Return the next row; `None` after the last."""
        ...

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return the next rows, fewer at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Yield all remaining rows."""
        ...


class Asked(Protocol):
    """A connection of any kind, also one of the driver itself, that is only asked."""

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:  # noqa: ANN401 - the drivers' own
        """Run a statement."""
        ...


class Connection(Protocol):
    """A connection to a store's database."""

    @property
    def kind(self) -> Literal["sqlite", "postgresql"]:
        """What the database is."""
        ...

    @property
    def conn(self) -> Any:  # noqa: ANN401 - sqlite3's or psycopg's
        """The driver's own connection, for those who watch or measure it."""
        ...

    def execute(self, sql: str, parameters: Values | None = None, /) -> Rows:
        """Run a statement; outside of a transaction, a write is stored at once."""
        ...

    def wait_for_locks(self, seconds: float) -> None:
        """Wait this long for other writers; else half a minute."""
        ...

    def executemany(self, sql: str, rows: Iterable[Values | Mapping[str, Any]]) -> int:
        """Run a statement for each row; return how many rows it has written.

        Part of the caller's transaction.
        """
        ...

    def query(
        self, sql: str, params: Values | None = None, /
    ) -> Generator[dict[str, Any], None, None]:
        """Return the rows of a query, by column."""
        ...

    def atomic(self) -> AbstractContextManager[object]:
        """Store what a block writes, or nothing of it if it raises.

        Blocks may be nested.
        """
        ...

    def exclusive(self) -> AbstractContextManager[object]:
        """Open a transaction that keeps other writers waiting from its start."""
        ...

    def written_by_others(self) -> int:
        """Return a number that changes when another connection writes."""
        ...

    def written(self) -> int:
        """Return a number that changes when this connection writes."""
        ...

    def changes(self) -> int:
        """Return the count that `count_change` adds to."""
        ...

    def count_change(self) -> None:
        """Count a transaction that changes data; part of that transaction."""
        ...

    def set_changes(self, number: int) -> None:
        """Set that count, in a copy of a store; part of a transaction."""
        ...

    def chunks(
        self, sql: str, parameters: Values = (), /, *, size: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in lists of this size, a list in memory at a time.

        Part of the caller's transaction.
        """
        ...

    def keep_temporary_on_disk(self) -> None:
        """Let temporary tables be larger than memory."""
        ...

    def size_bytes(self) -> int:
        """Return the size of all tables and indexes."""
        ...

    def compact(self) -> None:
        """Give free space back to the file system."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
