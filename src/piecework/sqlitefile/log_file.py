"""A database and the write-ahead log beside it: do the two belong together?

SQLite replays whatever log lies beside a database. If an older copy of the database is
put back and the log of its successor is left in place, pages of both are mixed. Both
hold `user_version` in their first page, and the writer of the database adds one to it
with each commit. So the first of a log's commits follows the database's own count, or
comes before it where the log was folded in already.
"""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

_LOG_HEADER = struct.Struct(">8sIIIIII")
_FRAME_HEADER = struct.Struct(">IIIIII")
_USER_VERSION = slice(60, 64)


def is_from_later(database: Path) -> bool:
    """Whether the log beside a database begins after the database's last commit."""
    log = database.with_name(f"{database.name}-wal")
    if not (database.is_file() and log.is_file()):
        return False
    try:
        count = _count(database)
    except sqlite3.DatabaseError:
        return False  # what opens it says what is wrong with it
    first = _first_count(log)
    return first is not None and first > count + 1


def _count(database: Path) -> int:
    """The count in the database itself, without its log.

    SQLite reads it: closing a file that it has open elsewhere in this process would let
    go of all its locks there, and the next process to leave would delete the log.
    """
    address = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as conn:
        # Where folding the log in was cut off, the file is shorter than its first page
        # says. The log has the rest; only so does SQLite read the page by itself.
        conn.execute("PRAGMA writable_schema = ON")
        return int(conn.execute("PRAGMA user_version").fetchone()[0])


def _first_count(log: Path) -> int | None:
    """The count in the first copy of the first page that a log holds."""
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER.size)
        if len(header) < _LOG_HEADER.size:
            return None
        _, page_size, _, *salts, _, _ = _LOG_HEADER.unpack(header)
        while len(frame := file.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            page, _, *frame_salts, _, _ = _FRAME_HEADER.unpack(frame)
            # What follows is left of an earlier use of the file.
            if frame_salts != salts:
                return None
            content = file.read(page_size)
            if page == 1:
                return int.from_bytes(content[_USER_VERSION], "big")
    return None
