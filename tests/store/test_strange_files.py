"""A file that is not a store is refused with a message, and left as it was."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from piecework.domain.errors import StoreError
from piecework.domain.store_address import in_folder
from piecework.marketplace.state.backend import Backend, Rules
from piecework.store import last_pass
from piecework.store.database import open_store


def _as_link(path: Path) -> None:
    real = path.with_name("real.db")
    open_store(real, create=True).close()
    path.symlink_to(real)


def _as_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere.db"))


def _as_text(path: Path) -> None:
    path.write_text("campaign = 'birds'\n" * 100)


def _as_linked_log(path: Path) -> None:
    open_store(path, create=True).close()
    secret = path.with_name("secret")
    secret.write_text("kept")
    path.with_name(path.name + "-wal").symlink_to(secret)


def _as_marketplace(path: Path) -> None:
    Backend(path, Rules()).close()


def _as_others(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE birds (name TEXT)")


def _recording(path: Path, statement: str) -> None:
    open_store(path, create=True).close()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(statement)


def _as_earlier(path: Path) -> None:
    _recording(path, "UPDATE _sqlite_migrations SET name = 'm001_eggs'")


def _as_newer(path: Path) -> None:
    _recording(
        path,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('piecework', 'm999_rockets', '2030-01-01')",
    )


STRANGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (_as_link, "is a symbolic link to .*real.db, .* must be a regular file"),
    "dangling link": (_as_dangling_link, "is a symbolic link"),
    "directory": (Path.mkdir, "is a directory, .* must be a regular file"),
    "pipe": (os.mkfifo, "is a pipe, .* must be a regular file"),
    "text": (_as_text, "is not an SQLite database"),
    "linked log": (_as_linked_log, "piecework.db-wal is a symbolic link"),
    "marketplace": (_as_marketplace, "another program's database"),
    "another program's": (_as_others, "another program's database"),
    "earlier": (_as_earlier, "by another version .*schema m001_eggs"),
    "newer": (_as_newer, "by a later version .*schema m999_rockets"),
}


@pytest.mark.parametrize(("make", "sentence"), STRANGE.values(), ids=STRANGE)
@pytest.mark.parametrize("create", [False, True])
def test_what_is_no_store_is_refused_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], None], sentence: str, *, create: bool
) -> None:
    """The error says what to do."""
    path = tmp_path / "piecework.db"
    make(path)
    before = _content(tmp_path)
    with pytest.raises(StoreError, match=sentence) as refused:
        open_store(path, create=create)
    assert refused.value.next_step
    assert _content(tmp_path) == before


@pytest.mark.parametrize("kind", ["link", "directory", "pipe", "text"])
def test_the_quick_look_at_the_last_pass_refuses_it_too(tmp_path: Path, kind: str) -> None:
    """A pass that would find no work due refuses it, too."""
    make, sentence = STRANGE[kind]
    make(tmp_path / "piecework.db")
    with pytest.raises(StoreError, match=sentence):
        last_pass.recall(in_folder(tmp_path))


@pytest.mark.parametrize("kind", ["earlier", "newer"])
def test_the_quick_look_leaves_another_version_to_the_pass(tmp_path: Path, kind: str) -> None:
    """What another version remembers does not hold; the pass opens and refuses it."""
    make, _ = STRANGE[kind]
    store = open_store(tmp_path / "piecework.db", create=True)
    last_pass.remember(store, {"waiting_for": "nobody"}, request_digest="any")
    store.close()
    assert last_pass.recall(in_folder(tmp_path)) is not None
    make(tmp_path / "piecework.db")
    assert last_pass.recall(in_folder(tmp_path)) is None


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() if path.is_file() else b"" for path in folder.iterdir()}
