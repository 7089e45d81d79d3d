"""What is no marketplace's file is refused in a sentence, and left as it was."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.storage import WrongDatabaseError
from piecework.store.database import open_store

LIVE = Rules()


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _as_link(path: Path) -> None:
    real = path.with_name("real.db")
    Backend(real, LIVE).close()
    path.symlink_to(real)


def _as_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere.db"))


def _as_text(path: Path) -> None:
    path.write_text("campaign = 'birds'\n" * 100)


def _as_linked_log(path: Path) -> None:
    Backend(path, LIVE).close()
    secret = path.with_name("secret")
    secret.write_text("kept")
    path.with_name(path.name + "-wal").symlink_to(secret)


def _as_store(path: Path) -> None:
    open_store(path, create=True).close()


def _as_others(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE birds (name TEXT)")


def _recording(path: Path, statement: str) -> None:
    Backend(path, LIVE).close()
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(statement)


def _as_earlier(path: Path) -> None:
    _recording(path, "UPDATE _sqlite_migrations SET name = 'm001_eggs'")


def _as_newer(path: Path) -> None:
    _recording(
        path,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('marketplace', 'm999_rockets', '2030-01-01')",
    )


STRANGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "link": (_as_link, "is a symbolic link to .*real.db"),
    "dangling link": (_as_dangling_link, "is a symbolic link to .*nowhere.db"),
    "directory": (Path.mkdir, "is a directory, .* must be a regular file"),
    "pipe": (os.mkfifo, "is a pipe, .* must be a regular file"),
    "text": (_as_text, "is not an SQLite database"),
    "linked log": (_as_linked_log, "m.db-wal is a symbolic link"),
    "store": (_as_store, "another program's database .*not a marketplace's"),
    "another program's": (_as_others, r"the tables birds\), not a marketplace's"),
    "earlier": (_as_earlier, "made by another version .*schema m001_eggs"),
    "newer": (_as_newer, "by a later version .*schema m999_rockets"),
}


def _state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.iterdir()
    }


@pytest.mark.parametrize(("make", "sentence"), STRANGE.values(), ids=STRANGE)
def test_what_is_no_marketplaces_file_is_refused_and_left_as_it_was(
    tmp_path: Path, make: Callable[[Path], None], sentence: str
) -> None:
    """By whatever opens it; the commands say so, and what to do."""
    database = tmp_path / "m.db"
    make(database)
    before = _state(tmp_path)
    with pytest.raises(WrongDatabaseError, match=sentence):
        Backend(database, LIVE)
    serving = ["market", "serve", "--database", str(database), "--port", "0"]
    for words, code in (
        ([*serving, "--frames-port", "0"], 1),
        (["market", "account", "list", "--database", str(database)], 2),
    ):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == code, done.output
        assert str(database) in done.output
        assert "Traceback" not in done.output
    assert _state(tmp_path) == before


def test_a_copy_that_others_could_read_is_closed_when_it_is_served(tmp_path: Path) -> None:
    """The file, its log and its index, as a copy with mode 0644 brings them back."""
    database = tmp_path / "m.db"
    with closing(Backend(database, LIVE)) as backend:
        with backend.transaction() as transaction:
            transaction.execute("INSERT INTO settings VALUES ('colour', 'red')")
        # As they lie after a kill.
        copies = {file.name: file.read_bytes() for file in (database, *(tmp_path.glob("m.db-*")))}
    assert set(copies) == {"m.db", "m.db-wal", "m.db-shm"}
    for name, content in copies.items():
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o644)
    with serve(Marketplace(database, trust_local=True)) as running:
        assert httpx.get(f"{running.endpoint_url}/worker/hits").status_code == 401
        modes = {file.name: _mode(file) for file in tmp_path.iterdir()}
        assert modes == dict.fromkeys(copies, 0o600)


def test_a_command_beside_the_server_closes_the_file_too(tmp_path: Path) -> None:
    """Nobody has to serve it first."""
    database = tmp_path / "m.db"
    Backend(database, LIVE).close()
    database.chmod(0o664)
    done = CliRunner().invoke(main, ["market", "account", "list", "--database", str(database)])
    assert done.exit_code == 0
    assert _mode(database) == 0o600
