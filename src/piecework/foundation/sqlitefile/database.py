"""SQLite by sqlite-utils, without pandas and numpy; the schema of a file: its migrations.

sqlite-utils imports both if they are installed, to store values of their types. piecework
stores plain values. With pandas, a marketplace would take twice as long to start and
129 MB of memory instead of 48 MB. Only commands of piecework data import it in this way: a
program that imports piecework may use sqlite-utils for values of its own.

Each SQL file is one migration, in the order of the names, and sqlite-utils records it in
the transaction that applies it. `m001_tables.sql` creates everything. After a release,
each change to the schema is a new file (`m002_...sql`), and released files stay as they
are. Before the first release, changes are made in `m001_tables.sql` itself.

The recorded name contains a digest of the statements. So a database that was created
with other statements, by an older or a newer version, is recognised and refused.
"""

import hashlib
import logging
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from piecework.foundation.sqlitefile.files import FOR_OWNER

_OPTIONAL = ("numpy", "pandas")
_COMMANDS = (
    "piecework.cli.main",
    "piecework.marketplace.__main__",
    "piecework.simulation.rehearsals.marketplace_process",
)


class _NotInstalled:
    """Hides packages from the imports of one thread; others may import them now."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, *_: object) -> None:
        if name in _OPTIONAL and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name, name=name)


@contextmanager
def hidden() -> Iterator[None]:
    """Let this thread find neither pandas nor numpy, unless they are loaded already."""
    finder = _NotInstalled()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _is_command() -> bool:
    """Return whether the process is one of these, also as `python -m` names it."""
    started = getattr(sys.modules["__main__"], "__spec__", None)
    names = {*sys.modules, started.name if started else ""}
    return not names.isdisjoint(_COMMANDS)


with hidden() if _is_command() else nullcontext():
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

__all__ = ["Database", "Migrations"]


TABLE = "_sqlite_migrations"
"""The table in which sqlite-utils records them."""

_DIGITS = 8


def digest_of(script: str) -> str:
    """Return a digest of the statements, without comments and line ends."""
    words = re.sub(r"--.*", "", script).split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:_DIGITS]


@cache
def names_in(folder: Path) -> frozenset[str]:
    """Return the names of all migrations in a folder of SQL files."""
    return frozenset(
        name_of(path, path.read_text(encoding="utf-8")) for path in folder.glob("m[0-9]*.sql")
    )


def name_of(path: Path, script: str) -> str:
    """Return the name of a migration.

    Args:
        path: its file.
        script: the file's text.
    """
    return f"{path.stem}-{digest_of(script)}"


_LOG = logging.getLogger(__name__)
_MOST_TRIES = 500
_TRY_SECONDS = 0.02
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
    "AND name <> '{table}' ORDER BY name"
)
_APPLIED = "SELECT name FROM {table} WHERE migration_set = ? ORDER BY rowid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a database says about the program that created it.

    Attributes:
        tables: the names of its tables. A new database has none.
        is_ours: it records migrations of the same set.
        unknown: recorded migrations that this version does not have.
        is_newer: it has all migrations of this version, and more: a later version of
            piecework brought it up to date.
    """

    tables: tuple[str, ...]
    is_ours: bool
    unknown: tuple[str, ...]

    is_newer: bool = False

    @property
    def is_foreign(self) -> bool:
        """Whether another program created the database."""
        return bool(self.tables) and not self.is_ours


def read_schema(name: str, folder: Path) -> Migrations:
    """Return the migrations of a folder of SQL files, as a set with this name."""
    migrations = Migrations(name)
    for path in sorted(folder.glob("m[0-9]*.sql")):
        script = path.read_text(encoding="utf-8")
        migrations(name=name_of(path, script))(_carrying_out(script))
    return migrations


def statements(script: str) -> Iterator[str]:
    r"""Yield the statements of an SQL script.

    `executescript` is not used, because it commits before it begins.

    >>> list(statements("DROP TABLE a; -- gone;\nDROP TABLE b;"))
    ['DROP TABLE a; -- gone;\n', 'DROP TABLE b;']
    """
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise ValueError(f"this statement has no end: {statement.strip()[:80]}")


def origin(connection: sqlite3.Connection, migrations: Migrations) -> Origin:
    """Return which program created a database, and which version of it."""
    table = migrations.migrations_table
    tables = tuple(str(row[0]) for row in patiently(connection, _TABLES.format(table=table)))
    try:
        rows = patiently(connection, _APPLIED.format(table=table), migrations.name)
    except sqlite3.OperationalError:
        rows = []  # it records no migrations
    applied = [str(row[0]) for row in rows]
    known = {migration.name for migration in migrations._migrations}  # noqa: SLF001 - there is no other way to ask
    return Origin(
        tables=tables,
        is_ours=bool(applied),
        unknown=tuple(name for name in applied if name not in known),
        is_newer=set(applied) > known,
    )


def bring_up_to_date(database: Database, migrations: Migrations) -> None:
    """Apply missing migrations; of several processes that open a file, one does it.

    A database of an earlier version is copied first, beside itself, so that the earlier
    version can continue from there.
    """
    if not migrations.pending(database):
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        # Check again with the lock: the process that held it may have applied all.
        missing = [migration.name for migration in migrations.pending(database)]
        if missing and migrations.applied(database):
            copy = _copy_before(database, missing[0])
            _LOG.warning(
                "this version brings a database up to date; the copy from before is %s", copy
            )
        migrations.apply(database)
        database.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise


def _copy_before(database: Database, migration: str) -> Path:
    """Copy a database, as it was committed last, to a private file beside it."""
    path = Path(database.execute("PRAGMA database_list").fetchone()[2])
    copy = path.with_name(f"{path.name}.before-{migration.partition('-')[0]}")
    part = copy.with_name(f"{copy.name}.part")
    part.unlink(missing_ok=True)
    part.touch(mode=FOR_OWNER)
    try:
        with (
            closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(part)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        part.replace(copy)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return copy


def patiently(
    connection: sqlite3.Connection, statement: str, *values: str
) -> list[tuple[object, ...]]:
    """Return the rows of a statement, and retry while the database is busy.

    SQLite's own timeout does not cover the switch to the write-ahead log, nor queries
    during that switch.
    """
    for _ in range(_MOST_TRIES - 1):
        try:
            return connection.execute(statement, values).fetchall()
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_TRY_SECONDS)
    return connection.execute(statement, values).fetchall()


def _carrying_out(script: str) -> Callable[[Database], None]:
    def migrate(database: Database) -> None:
        for statement in statements(script):
            database.execute(statement)

    return migrate
