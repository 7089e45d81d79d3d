"""A database and the write-ahead log beside it: do the two belong together?

SQLite replays whatever log lies beside a database. If an older copy of the database is
put back and the log of its successor is left in place, pages of both are mixed. Both
hold `user_version` in their first page, and each commit adds one to it
(`store.database`): so the first of a log's commits follows the database's own count, or
comes before it where the log was folded in already.
"""

import struct
from pathlib import Path

_LOG_HEADER = struct.Struct(">8sIIIIII")
_FRAME_HEADER = struct.Struct(">IIIIII")
_USER_VERSION = slice(60, 64)


def is_from_later(database: Path) -> bool:
    """Whether the log beside a database begins after the database's last commit."""
    log = database.with_name(f"{database.name}-wal")
    if not (database.is_file() and log.is_file()):
        return False
    with database.open("rb") as file:
        count = int.from_bytes(file.read(100)[_USER_VERSION], "big")
    first = _first_count(log)
    return first is not None and first > count + 1


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
