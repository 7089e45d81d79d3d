"""What is said when the machine refuses: a full disk, a lock, a missing right."""

import errno
import sqlite3

_THEN = "then run the same command again; nothing is lost and nothing is done twice"

_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}


def sentence(fault: OSError | sqlite3.Error) -> tuple[str, str]:
    """What went wrong, and what to do next."""
    if _is_full(fault):
        return f"the disk is full: {fault}", f"make room (`df -h .`), {_THEN}"
    if _code(fault) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return (
            f"another program holds the store for longer than we wait: {fault}",
            f"end it (`fuser -v` on piecework.db names it), {_THEN}",
        )
    if _code(fault) in _UNWRITABLE:
        return (
            f"the store cannot be written: {fault}",
            f"look whether the disk is full (`df -h .`) or a right is missing, {_THEN}",
        )
    return f"the machine refused: {fault}", f"mend that, {_THEN}"


def _is_full(fault: OSError | sqlite3.Error) -> bool:
    if isinstance(fault, OSError):
        return fault.errno in {errno.ENOSPC, errno.EDQUOT}
    return _code(fault) == sqlite3.SQLITE_FULL


def _code(fault: OSError | sqlite3.Error) -> int:
    # The lowest byte is the kind; the rest says more about it.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF
