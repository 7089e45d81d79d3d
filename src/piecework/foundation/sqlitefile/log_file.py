"""Check that a database and the write-ahead log beside it belong together.

SQLite replays any log that lies beside a database. If an older copy of the database is
restored and the newer log is left in place, pages of both are mixed. Both hold
`user_version` in their first page, and each commit adds one to it. So the first commit
of a matching log is one after the database's own count, or before it if the log was
already checkpointed.
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
        return False  # the code that opens it reports what is wrong
    try:
        first = _first_count(log)
    except FileNotFoundError:  # SQLite has just removed it
        return False
    return first is not None and first > count + 1


def _count(database: Path) -> int:
    """Return the count in the database itself, without its log.

    SQLite reads it: if this function opened and closed the file, this process would
    lose all its locks on it, and the next process to exit would delete the log.
    """
    address = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as conn:
        # After an interrupted checkpoint the file is shorter than its first page says,
        # and the log has the rest. With this pragma SQLite reads the page anyway.
        conn.execute("PRAGMA writable_schema = ON")
        return int(conn.execute("PRAGMA user_version").fetchone()[0])


def _first_count(log: Path) -> int | None:
    """Return the count in the first copy of the first page that a log holds."""
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER.size)
        if len(header) < _LOG_HEADER.size:
            return None
        _, page_size, _, *salts, _, _ = _LOG_HEADER.unpack(header)
        while len(frame := file.read(_FRAME_HEADER.size)) == _FRAME_HEADER.size:
            page, _, *frame_salts, _, _ = _FRAME_HEADER.unpack(frame)
            # The following frames are left from an earlier use of the file.
            if frame_salts != salts:
                return None
            content = file.read(page_size)
            if page == 1:
                return int.from_bytes(content[_USER_VERSION], "big")
    return None
