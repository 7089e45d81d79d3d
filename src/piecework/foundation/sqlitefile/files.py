"""The files of a SQLite database: private, intact, and copied into one.

Only its owner may read a database, so it and the files that SQLite keeps beside it are
closed to other users.

SQLite replays any log that lies beside a database. If an older copy of the database is
restored and the newer log is left in place, pages of both are mixed. Both hold
`user_version` in their first page, and each commit adds one to it. So the first commit
of a matching log is one after the database's own count, or before it if the log was
already checkpointed.

SQLite folds the log after a commit, once the log has a thousand pages, and the next
commit restarts it. If that happens while Litestream reads, its copy mixes pages of two
states. So while a backup holds the database's lock file, our connections fold nothing.
The backup folds the log while Litestream does not run.
"""

import fcntl
import sqlite3
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

FOR_OWNER = 0o600
FOR_OTHERS = 0o077
_SIDE_FILES = ("-wal", "-shm", "-journal")
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def files_of(database: Path) -> Iterator[Path]:
    """Yield the database and the files that SQLite keeps beside it, if they exist."""
    for suffix in ("", *_SIDE_FILES):
        file = database.with_name(database.name + suffix)
        if file.is_symlink() or file.exists():
            yield file


def irregular(database: Path) -> str:
    """Say which of the files is not a regular file; "" if all are regular."""
    for file in files_of(database):
        try:
            kind = stat.S_IFMT(file.lstat().st_mode)
        except FileNotFoundError:  # SQLite has just removed it
            continue
        if kind != stat.S_IFREG:
            named = _KINDS.get(kind, "a device")
            target = f" to {file.readlink()}" if kind == stat.S_IFLNK else ""
            return f"{file} is {named}{target}, but must be a regular file"
    return ""


def size_of(file: Path) -> int:
    """Return a file's bytes; 0 if it does not exist, or SQLite has just removed it."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def has_header(database: Path) -> bool:
    """Whether a file is empty or has SQLite's header, perhaps only once it is mended.

    A power cut during the first write may leave a page without its first sector, beside
    the journal that undoes the write.

    SQLite checks this itself: if this function opened and closed the file, this process
    would lose all its locks on it.
    """
    has_journal = size_of(database.with_name(f"{database.name}-journal")) > 0
    address = f"{database.absolute().as_uri()}?{'mode=rw' if has_journal else 'immutable=1'}"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as fault:
            return fault.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def make_private(database: Path) -> None:
    """Close the files to other users; SQLite creates later ones with the same mode."""
    for file in files_of(database):
        close_to_others(file, FOR_OWNER)


def close_to_others(path: Path, mode: int) -> None:
    """Give a file or folder this mode, if other users have any access to it.

    If that fails it stays as it is: it belongs to another user, SQLite has just removed
    it, or the disk is full or read-only.
    """
    with suppress(OSError):
        if path.stat().st_mode & FOR_OTHERS:
            path.chmod(mode)


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


_USUAL_PAGES = 1_000
"""SQLite's default."""

_LAST_RESORT_PAGES = 262_144
"""1 GiB: the backup could not fold the log for long, and the disk must not fill."""

_SMALL_BYTES, _LARGE_BYTES = 64 * 2**20, 512 * 2**20

_PATIENCE_SECONDS = 30.0
_FOLD_SECONDS = 5.0
_LOOK_SECONDS = 0.01


def backup_folder(database: Path) -> Path:
    """Return the private folder beside a database for what a backup keeps locally."""
    return database.with_name(f"{database.name}-backup")


def backup_lock(database: Path) -> Path:
    """Return the file that a backup locks while it copies the database."""
    return backup_folder(database) / "lock"


class Checkpoints:
    """Who folds the log after a commit of this connection.

    Args:
        connection: a connection that writes.
        database: its file.
    """

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._lock = backup_lock(database)
        self._pages = _USUAL_PAGES
        self.choose()

    def choose(self) -> None:
        """Choose for the next commits; call it before each of them."""
        pages = _LAST_RESORT_PAGES if _is_backed_up(self._lock) else _USUAL_PAGES
        if pages != self._pages:
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {pages}").close()
            self._pages = pages


def empty_log(database: Path) -> None:
    """Fold the log into the file and empty it, unless a backup copies it.

    What was deleted stays readable in the log until then.
    """
    if not _is_backed_up(backup_lock(database)):
        fold(database)


def _is_backed_up(lock: Path) -> bool:
    with suppress(FileNotFoundError, NotADirectoryError), lock.open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_for_checkpoints(database: Path) -> None:
    """Return once commits that were chosen before `backup_lock` was held are folded.

    Raises:
        sqlite3.OperationalError: another process has been writing for a long time.
    """
    with closing(
        sqlite3.connect(database, isolation_level=None, timeout=_PATIENCE_SECONDS)
    ) as connection:
        # A connection chooses within its transaction, and folds right after it.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while _is_busy(connection):
            if time.monotonic() > deadline:
                raise sqlite3.OperationalError("another process folds the log")
            time.sleep(_LOOK_SECONDS)


def is_log_large(database: Path) -> bool:
    """Return whether the backup should fold the log.

    After that Litestream sends the whole database. So the log grows to the size of the
    file, within limits.
    """
    log = size_of(database.with_name(f"{database.name}-wal"))
    return log > min(max(_SMALL_BYTES, size_of(database)), _LARGE_BYTES)


def fold(database: Path) -> None:
    """Fold the log into the file and empty it; Litestream does not run meanwhile.

    Readers may delay it: then a part is folded, and the log stays.

    Raises:
        sqlite3.OperationalError: it cannot be written, for example on a full disk.
    """
    with closing(
        sqlite3.connect(database, isolation_level=None, timeout=_FOLD_SECONDS)
    ) as connection:
        # Most of it is folded while programs write; the rest keeps them waiting.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").close()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()


def _is_busy(connection: sqlite3.Connection) -> bool:
    """Fold the log; return whether another connection is doing that."""
    try:
        row = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return True
        raise
    return bool(row[0])
