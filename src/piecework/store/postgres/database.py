"""A store in a schema of PostgreSQL: transactions, values and counts like SQLite's.

A transaction keeps other writers out by an advisory lock, which ends with it. SQLite
has one writer at a time too, and the rest of this package relies on that. `atomic`
takes the lock at its first write, and fails if another connection has written since the
transaction began to read. `exclusive` takes it at once.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal, NamedTuple, NoReturn

import psycopg
from psycopg import errors
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.string import StrDumper

from piecework.domain.errors import StoreError, StoreLocked
from piecework.domain.store_address import StoreAddress
from piecework.store.connection import Values

AGAIN = "run the same command again; it loses nothing and does nothing twice"

_TOKENS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|::|\?|:([a-z_][a-z0-9_]*)|%")
_WRITES = ("INSERT", "UPDATE", "DELETE")


_EXPLAINED = (
    (
        errors.InsufficientPrivilege,
        "the database user lacks a right",
        f"grant it (docs/how-to/postgresql.md names all that are needed), then {AGAIN}",
    ),
    (
        errors.LockNotAvailable,
        "another process is writing, and did not end in time",
        f"wait until it ends, or end it, then {AGAIN}",
    ),
    (
        errors.ReadOnlySqlTransaction,
        "the database takes no writes",
        "name the URL of the server that takes writes",
    ),
    (errors.DiskFull, "the disk of the database is full", f"make room on its server, then {AGAIN}"),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        "the connection to the database was lost",
        f"check that the server runs, then {AGAIN}",
    ),
)
"""Errors of the driver, each with its sentence and the next step; the first fits."""


class _Statement(NamedTuple):
    """A statement as psycopg takes it, and whether it writes."""

    text: str
    is_write: bool


@lru_cache(maxsize=1_000)
def translated(sql: str) -> _Statement:
    """Return a statement with psycopg's placeholders instead of SQLite's.

    >>> translated("SELECT '?%' WHERE a = ? AND b = :name").text
    "SELECT '?%%' WHERE a = %s AND b = %(name)s"
    """

    def placeholder(token: re.Match[str]) -> str:
        if token[0] == "?":
            return "%s"
        return f"%({token[1]})s" if token[1] else token[0].replace("%", "%%")

    return _Statement(_TOKENS.sub(placeholder, sql), sql.lstrip()[:6].upper() in _WRITES)


class PostgresDatabase:
    """The connection to a store in PostgreSQL (`piecework.store.connection`).

    If the connection is lost, the next transaction connects again, as a page that is
    open for hours needs it. The session of a pass does not: its lock is lost, too.

    Args:
        connect: returns a connection of psycopg, in autocommit mode, with the schema as
            search path.
        address: where the store is.
        writers: the number of the lock that a writer holds.
    """

    kind: Literal["postgresql"] = "postgresql"

    def __init__(
        self,
        connect: Callable[[], "psycopg.Connection[tuple[Any, ...]]"],
        address: StoreAddress,
        *,
        writers: int,
    ) -> None:
        self._connect, self.address = connect, address
        self.conn = connect()
        self.is_shared = False
        self._writers = writers
        self._keep_out = f"SELECT pg_advisory_xact_lock({writers}); SELECT writes FROM store_counts"
        self._depth = 0
        self._is_writer = False
        self._read_at: int | None = None
        self._written = self._transactions = 0
        self._is_closed = False
        self._lock_seconds: float | None = None
        _adapt(self.conn)

    def wait_for_locks(self, seconds: float) -> None:
        """Wait this long for other writers; else half a minute."""
        self._lock_seconds = seconds
        self._limit_waiting()

    def _limit_waiting(self) -> None:
        if self._lock_seconds is not None:
            self.conn.execute(f"SET lock_timeout = {round(self._lock_seconds * 1000)}")

    def execute(
        self, sql: str, parameters: Values | Mapping[str, Any] | None = None
    ) -> "psycopg.Cursor[tuple[Any, ...]]":
        """Run a statement; outside of a transaction, a write is stored at once."""
        statement = translated(sql)
        if statement.is_write and not self._depth:
            with self.atomic():
                return self.execute(sql, parameters)
        self._connect_again()
        self._prepare_to(statement)
        try:
            cursor = self.conn.execute(statement.text, parameters or ())
        except psycopg.Error as fault:
            self._raise(fault)
        if statement.is_write:
            self._written += max(cursor.rowcount, 0)
        return cursor

    def executemany(self, sql: str, rows: Iterable[Values | Mapping[str, Any]]) -> int:
        """Run a statement for each row; return how many rows it has written."""
        if not self._depth:
            with self.atomic():
                return self.executemany(sql, rows)
        rows = list(rows)
        if not rows:
            return 0
        if len(rows) == 1:
            # Faster: psycopg runs several rows in a pipeline, which takes a round more.
            return max(self.execute(sql, rows[0]).rowcount, 0)
        statement = translated(sql)
        self._prepare_to(statement)
        cursor = self.conn.cursor()
        try:
            cursor.executemany(statement.text, rows)
        except psycopg.Error as fault:
            self._raise(fault)
        number = max(cursor.rowcount, 0)
        self._written += number
        return number

    def query(
        self, sql: str, params: Values | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Return the rows of a query, by column."""
        cursor = self.execute(sql, params)
        names = [column.name for column in cursor.description or ()]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Store what a block writes, or nothing of it if it raises."""
        if not self._depth:
            with self._transaction("BEGIN"):
                yield
            return
        name = f"block_{self._depth}"
        self.run(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            if not self.conn.closed:
                self.run(f"ROLLBACK TO SAVEPOINT {name}; RELEASE SAVEPOINT {name}")
            raise
        else:
            self.run(f"RELEASE SAVEPOINT {name}")
        finally:
            self._depth -= 1

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Open a transaction that keeps other writers waiting from its start."""
        with self._transaction(f"BEGIN; {self._keep_out}"):
            self._is_writer = True
            yield

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other session holds this lock, and keep others waiting.

        It is another lock than that of writers, and holds over several transactions.
        """
        number = self._writers ^ 1
        self.run("SET lock_timeout = 0")
        self.run(f"SELECT pg_advisory_lock({number})")
        # A new connection would not have the lock.
        self.is_shared = True
        try:
            yield
        finally:
            self.is_shared = False
            if not self.conn.closed:
                self.run(f"SELECT pg_advisory_unlock({number})")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        before = self._written
        self._is_writer, self._read_at = False, None
        try:
            self.run(begin)
            self._depth = 1
            yield
            if self._written == before:
                self.run("COMMIT")
            else:
                self.run("UPDATE store_counts SET writes = writes + 1; COMMIT")
                self._transactions += 1
        except BaseException:
            if not self.conn.closed:
                self.run("ROLLBACK")
            raise
        finally:
            self._depth = 0

    def _prepare_to(self, statement: _Statement) -> None:
        """Keep other writers out before the first write of a transaction."""
        if not self._depth or self._is_writer:
            return
        if not statement.is_write:
            if self._read_at is None:
                (self._read_at,) = self.run("SELECT writes FROM store_counts")
            return
        (writes,) = self.run(self._keep_out)
        if self._read_at is not None and self._read_at != writes:
            raise StoreLocked(
                f"{self.address}: another process has written at the same moment", next_step=AGAIN
            )
        self._is_writer = True

    def run(self, statements: str) -> tuple[Any, ...]:
        """Run statements without values; return the first row of the last one."""
        self._connect_again()
        try:
            cursor = self.conn.execute(statements, prepare=False)
            while cursor.nextset():
                pass
            row = cursor.fetchone() if cursor.description else None
        except psycopg.Error as fault:
            self._raise(fault)
        return row or ()

    def _connect_again(self) -> None:
        """Replace a lost connection, unless a transaction or a lock was lost too."""
        is_lost = self.conn.closed and not self._is_closed
        if is_lost and not self._depth and not self.is_shared:
            self.conn = self._connect()
            _adapt(self.conn)
            self._limit_waiting()

    def _raise(self, fault: psycopg.Error) -> NoReturn:
        """Raise what a user can understand, or the fault itself if it is a bug."""
        if (explained := explain(fault, self.address)) is not None:
            raise explained from fault
        raise fault

    def written_by_others(self) -> int:
        """Return a number that changes when another connection writes."""
        (writes,) = self.run("SELECT writes FROM store_counts")
        return int(writes) - self._transactions

    def written(self) -> int:
        """Return a number that changes when this connection writes."""
        return self._written

    def changes(self) -> int:
        """Return the count that `count_change` adds to."""
        (changes,) = self.run("SELECT changes FROM store_counts")
        return int(changes)

    def count_change(self) -> None:
        """Count a transaction that changes data; part of that transaction."""
        self.execute("UPDATE store_counts SET changes = changes + 1")

    def set_changes(self, number: int) -> None:
        """Set that count, in a copy of a store; part of a transaction."""
        self.execute("UPDATE store_counts SET changes = ?", [number])

    def chunks(
        self, sql: str, parameters: Values = (), *, size: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in lists of this size, read by a cursor."""
        try:
            with self.conn.cursor(name="chunks") as cursor:
                cursor.execute(translated(sql).text, parameters)
                while rows := cursor.fetchmany(size):
                    yield rows
        except psycopg.Error as fault:
            self._raise(fault)

    def keep_temporary_on_disk(self) -> None:
        """Do nothing: PostgreSQL's temporary tables may be larger than memory."""

    def size_bytes(self) -> int:
        """Return the size of all tables and indexes, with their free pages."""
        (size,) = self.run(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return int(size)

    def tables(self) -> list[str]:
        """Return the names of all tables of the schema."""
        rows = self.execute(
            "SELECT relname::text FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return [name for (name,) in rows]

    def go_on_numbering(self) -> None:
        """Number later rows after those of a copy; part of its transaction."""
        for table, column in self.execute(
            "SELECT table_name::text, column_name::text FROM "
            "information_schema.columns WHERE table_schema = current_schema() "
            "AND is_identity = 'YES'"
        ).fetchall():
            self.run(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "
                f"(SELECT coalesce(max({column}), 0) + 1 FROM {table}), FALSE)"
            )

    def compact(self) -> None:
        """Give free space back to the file system; it takes as much space again."""
        for table in self.tables():
            self.run(f"VACUUM (FULL) {table}")

    def close(self) -> None:
        """Close the connection, unless a pass holds its lock with it."""
        if not self.is_shared:
            self._is_closed = True
            self.conn.close()


def explain(fault: psycopg.Error, address: StoreAddress) -> StoreError | None:
    """Return a fault of the database as a user can understand it, if it is one."""
    cause = first_line(fault)
    if isinstance(fault, psycopg.DataError) and "NUL" in cause:
        return StoreError(
            f"{address}: a text has the character NUL, which PostgreSQL cannot store",
            next_step="remove it from the file that it comes from",
        )
    for kind, sentence, next_step in _EXPLAINED:
        if isinstance(fault, kind):
            error = StoreLocked if kind is errors.LockNotAvailable else StoreError
            return error(f"{address}: {sentence} ({cause})", next_step=next_step)
    return None


def first_line(fault: Exception) -> str:
    """Return the first line of what the database or its driver says."""
    return str(fault).strip().partition("\n")[0]


class _FlagDumper(Dumper):
    """Flags are 0 and 1, as in SQLite."""

    oid = psycopg.adapters.types["int2"].oid

    def dump(self, obj: object) -> Buffer:
        return b"1" if obj else b"0"


class _FlagLoader(Loader):
    """Conditions are 0 and 1, as in SQLite."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _NumberLoader(Loader):
    """Sums of whole numbers are whole numbers of any size."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text else int(text)


def _adapt(conn: "psycopg.Connection[tuple[Any, ...]]") -> None:
    """Let values be as SQLite takes and returns them."""
    conn.adapters.register_dumper(str, StrDumper)
    for flag in (bool, "numpy.bool", "numpy.bool_"):
        conn.adapters.register_dumper(flag, _FlagDumper)
    conn.adapters.register_loader("bool", _FlagLoader)
    conn.adapters.register_loader("numeric", _NumberLoader)
