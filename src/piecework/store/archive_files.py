"""Where the files of an archive are: beside the store, or in a table of PostgreSQL."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from piecework.domain.errors import StoreError
from piecework.store.database import Store
from piecework.store.files import make_private_folder, write_durably

Kind = Literal["answers", "documents"]
"""What a file of the archive holds."""

FOLDER = "archive"


def write_beside(store: Store, batch: int, part: int, files: Mapping[Kind, bytes]) -> None:
    """Write files durably into the folder of a store in a file; otherwise do nothing.

    They are written before the transaction that records them.
    """
    if store.db.kind == "postgresql":
        return
    for kind, content in files.items():
        path = _path(store, batch, part, kind)
        make_private_folder(path.parent.parent)
        make_private_folder(path.parent)
        write_durably(path, content)


def insert_into(store: Store, part: int, files: Mapping[Kind, bytes]) -> None:
    """Store files in the table of PostgreSQL; part of the caller's transaction.

    For a store in a file, this does nothing.
    """
    if store.db.kind != "postgresql":
        return
    store.db.executemany(
        "INSERT INTO archive_files (part, kind, content) VALUES (?, ?, ?)",
        [(part, kind, content) for kind, content in files.items()],
    )


def read(store: Store, batch: int, part: int, kind: Kind) -> bytes:
    """Return the content of a file.

    Raises:
        StoreError: it is missing.
    """
    if store.db.kind == "postgresql":
        row = store.db.execute(
            "SELECT content FROM archive_files WHERE part = ? AND kind = ?", [part, kind]
        ).fetchone()
        if row is not None:
            return bytes(row[0])
    else:
        path = _path(store, batch, part, kind)
        if path.is_file():
            return path.read_bytes()
    raise StoreError(
        f"{where(store, batch, part, kind)}: a file of the campaign's archive is missing",
        next_step="copy the folder `archive` back to the store's folder; passes "
        "work without it, but exports and reports do not",
    )


def where(store: Store, batch: int, part: int, kind: Kind) -> str:
    """Return where a file is, for a message."""
    if store.db.kind == "postgresql":
        return f"{store.address}, archive_files {part} {kind}"
    return str(_path(store, batch, part, kind))


def _path(store: Store, batch: int, part: int, kind: Kind) -> Path:
    folder = store.address.folder / FOLDER / f"batch={batch:06}"
    return folder / f"{kind}-{part:06}.parquet"
