"""The migrations of a marketplace's database: one SQL file each, in the order of names.

sqlite-utils records each by its file's name, in the transaction that carries it out. A
file that has been released is never changed or renamed; what comes later is a new file.
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

_FOLDER = Path(__file__).parent


def statements(script: str) -> Iterator[str]:
    r"""The statements of an SQL script, one after another.

    `executescript` would do without them, but commits before it begins.

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


def _carries_out(script: str) -> Callable[[Database], None]:
    def migrate(db: Database) -> None:
        for statement in statements(script):
            db.execute(statement)

    return migrate


def _read_migrations() -> Migrations:
    known = Migrations("marketplace")
    for path in sorted(_FOLDER.glob("m[0-9]*.sql")):
        known(name=path.stem)(_carries_out(path.read_text(encoding="utf-8")))
    return known


migrations = _read_migrations()
