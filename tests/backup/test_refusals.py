"""Bad input: a sentence, an exit code, and nothing half done."""

import itertools
import json
import sqlite3
import subprocess
import sysconfig
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result

from piecework.backup.lag import identity_of
from piecework.backup.marker import Claim, TakenOverError, read_address
from piecework.cli.main import main
from piecework.domain.clock import SystemClock
from piecework.domain.errors import RefusedForSafety
from piecework.marketplace.state.backend import Backend, Rules
from tests.backup.conftest import backed_up_once
from tests.campaign.exchange.conftest import S3
from tests.crash.world import can_mount, small_disk, without_room

_REFUSED = 3


def _called(*words: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def _marketplace(path: Path) -> Path:
    Backend(path, Rules()).close()
    return path


def _serve(database: Path, address: str) -> Result:
    return _called("market", "serve", "--database", database, "--backup", address)


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "address", ["ftp://host/a", "s3://bucket", "s3:///a", "file://host/a", "file:///"]
)
def test_what_is_no_address_of_a_replica_is_refused(tmp_path: Path, address: str) -> None:
    """Before a database is created."""
    for done in (
        _serve(tmp_path / "m.db", address),
        _called("store", "restore", address, tmp_path / "m.db"),
    ):
        assert done.exit_code == 2
        assert f"{address} is not the address of a replica" in done.stderr
        assert "next: give s3://BUCKET/PREFIX" in done.stderr
    assert not _files(tmp_path)


def test_without_the_extra_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither beside Python nor on the path."""
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    database = _marketplace(tmp_path / "m.db")
    for done, use in (
        (_serve(database, "file:///b"), "--backup"),
        (_called("store", "backup", database, "--to", "/b"), "piecework store backup"),
        (_called("store", "restore", "file:///b", tmp_path / "n.db"), "piecework store restore"),
    ):
        assert done.exit_code == 2
        assert f"{use} needs Litestream, which is not installed" in done.stderr
        assert "next: pip install 'piecework[backup]'" in done.stderr


def test_an_older_litestream_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 0.3 writes replicas of another format."""
    program = tmp_path / "litestream"
    program.write_text("#!/bin/sh\necho v0.3.13\n")
    program.chmod(0o755)
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    done = _called("store", "restore", "file:///b", tmp_path / "m.db")
    assert done.exit_code == 2
    assert f"needs Litestream 0.5.17 or newer, and {program} is v0.3.13" in done.stderr


def test_a_replica_belongs_to_one_database(tmp_path: Path) -> None:
    """A second marketplace does not write over the first one's replica."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    before = {path: path.read_bytes() for path in replica.rglob("*") if path.is_file()}
    second = _marketplace(tmp_path / "second.db")
    for done in (
        _serve(second, f"file://{replica}"),
        _called("store", "backup", second, "--to", replica),
    ):
        assert done.exit_code == _REFUSED
        assert "has the replica of another marketplace" in done.stderr
        assert "next: give each database an address of its own" in done.stderr
    after = {path: path.read_bytes() for path in replica.rglob("*") if path.is_file()}
    assert after == before
    assert not (tmp_path / "second.db-backup").exists()


def test_a_new_marketplace_does_not_replace_the_replica_of_a_lost_one(tmp_path: Path) -> None:
    """An operator who forgets to restore is told so, and no database is created."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    done = _serve(tmp_path / "lost.db", str(replica))
    assert done.exit_code == _REFUSED
    assert "there is no database here: a new one would replace it" in done.stderr
    assert "piecework store restore" in done.stderr
    assert not (tmp_path / "lost.db").exists()


class _Meanwhile(threading.Event):
    """Lets no time pass: what happens in it is called instead."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = happens
        self.waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        """Let something happen."""
        del timeout
        self.waits += 1
        self._happens()
        return self.is_set()


@pytest.mark.parametrize("ahead", [timedelta(days=-400), timedelta(), timedelta(days=400)])
def test_two_processes_do_not_write_one_replica(tmp_path: Path, ahead: timedelta) -> None:
    """Who still writes is told by a marker that is renewed, however wrong a clock is."""
    database = _marketplace(tmp_path / "m.db")
    identity = identity_of(database)
    assert identity is not None
    address, now = read_address(str(tmp_path / "replica")), SystemClock().now()
    silence = _Meanwhile(lambda: None)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    here, there = (Claim(address, tmp_path / name) for name in ("here", "there"))

    def renew(claim: Claim, at: datetime, *, is_first: bool = False) -> None:
        claim.renew(identity, at, commits=0, is_first=is_first, stopping=silence)

    renew(here, now + ahead, is_first=True)
    moments = itertools.count(1)
    at_work = _Meanwhile(lambda: renew(here, now + ahead + timedelta(minutes=next(moments))))
    with pytest.raises(RefusedForSafety, match="writes this replica"):
        there.check(identity, at_work)
    # The same folder: it is the same database after a crash, and need not wait.
    Claim(address, tmp_path / "here").check(identity, silence)
    assert silence.waits == 0
    # It has died: after some silence the other begins, and does not wait twice.
    there.check(identity, silence)
    waits = silence.waits
    renew(there, now, is_first=True)
    assert silence.waits == waits > 0
    with pytest.raises(TakenOverError, match="writes this replica"):
        renew(here, now + ahead)
    # The first does not say that the second has ended; who stops meanwhile does not begin.
    here.release(identity, now + ahead, commits=0)
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(RefusedForSafety):
        here.check(identity, stopping)
    # It ends while it is watched.
    here.check(identity, _Meanwhile(lambda: there.release(identity, now, commits=0)))


def test_files_of_something_else_are_not_mixed_with_a_replica(tmp_path: Path) -> None:
    """An address that holds anything without a marker."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").touch()
    database = _marketplace(tmp_path / "m.db")
    done = _serve(database, str(tmp_path / "photos"))
    assert done.exit_code == _REFUSED
    assert "has files that are not a replica of piecework, such as a.jpg" in done.stderr


def test_a_bucket_that_does_not_exist(tmp_path: Path, s3: S3) -> None:
    """The marketplace does not start without the backup that was asked for."""
    del s3
    database = _marketplace(tmp_path / "m.db")
    for done in (
        _serve(database, "s3://nowhere/a"),
        _called("store", "restore", "s3://nowhere/a", tmp_path / "n.db"),
    ):
        assert done.exit_code == 2
        assert "s3://nowhere/a: there is no bucket nowhere" in done.stderr


def test_a_bucket_that_refuses_the_credentials(
    tmp_path: Path, s3: S3, s3_endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moto refuses every key once it was told to check them."""
    del s3
    requests.post(f"{s3_endpoint}/moto-api/reset-auth", data="0", timeout=30).raise_for_status()
    try:
        done = _serve(_marketplace(tmp_path / "m.db"), "s3://results/a")
        restored = _called("store", "restore", "s3://results/a", tmp_path / "n.db")
    finally:
        requests.post(
            f"{s3_endpoint}/moto-api/reset-auth", data="inf", timeout=30
        ).raise_for_status()
    del monkeypatch
    for each in (done, restored):
        assert each.exit_code == 2
        assert "s3://results/a: cannot be used (" in each.stderr
        assert "next: check the address, the credentials" in each.stderr
    assert not (tmp_path / "n.db").exists()


def test_a_restore_never_replaces_a_file(tmp_path: Path) -> None:
    """Not the database, and not a log of it that was left behind."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    for name in ("m.db", "n.db-wal"):
        existing = tmp_path / name
        existing.write_bytes(b"kept")
        done = _called("store", "restore", replica, tmp_path / name.removesuffix("-wal"))
        assert done.exit_code == 2
        assert f"{existing} exists, and a restore never replaces a file" in done.stderr
        assert existing.read_bytes() == b"kept"


def test_an_empty_address_has_nothing_to_restore(tmp_path: Path, s3: S3) -> None:
    """Neither a folder, nor a bucket, nor one with a marker alone."""
    for address in (str(tmp_path / "none"), "s3://results/empty"):
        done = _called("store", "restore", address, tmp_path / "m.db")
        assert done.exit_code == 2
        assert f"{address} has no replica" in done.stderr
    marker = json.dumps(
        {
            "kind": "store",
            "word": "a",
            "writer": "b",
            "session": "c",
            "host": "d",
            "at": "2027-01-15T08:00:00+00:00",
            "is_open": False,
        }
    )
    s3.put_object(Bucket="results", Key="begun/piecework.json", Body=marker.encode())
    done = _called("store", "restore", "s3://results/begun", tmp_path / "m.db")
    assert done.exit_code == 2
    assert "nothing was copied before it was lost" in done.stderr
    assert not _files(tmp_path)


def test_a_moment_before_the_replica_is_refused(tmp_path: Path) -> None:
    """And a text that is no time."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    done = _called("store", "restore", replica, tmp_path / "m.db", "--at", "2020-01-01")
    assert done.exit_code == 2
    assert "which is later" in done.stderr
    done = _called("store", "restore", replica, tmp_path / "m.db", "--at", "yesterday")
    assert done.exit_code == 2
    assert "--at: yesterday is not a time" in done.stderr
    assert not (tmp_path / "m.db").exists()


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    """The restore says so; with room, the same command succeeds."""
    replica, folder = tmp_path / "replica", tmp_path / "disk"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    with small_disk(folder):
        before = _files(folder)
        with without_room(folder):
            done = _called("store", "restore", replica, folder / "m.db")
            assert done.exit_code == 1
            assert "next: " in done.stderr
            assert "Traceback" not in done.stderr
            assert not {name for name in _files(folder) if "m.db" in name}
        assert _files(folder) == before
        assert _called("store", "restore", replica, folder / "m.db").exit_code == 0


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_restore_that_lacks_a_single_confirmed_commit_is_refused(
    tmp_path: Path, lost: int
) -> None:
    """The marker counts commits that were sent; `--at` restores what is left."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    marker = replica / "piecework.json"
    content = json.loads(marker.read_text())
    content["commits"] += lost
    marker.write_text(json.dumps(content))
    done = _called("store", "restore", replica, tmp_path / "m.db")
    assert (tmp_path / "m.db").exists() == (done.exit_code == 0) == (lost == 0)
    if lost:
        assert f"lacks {lost} commits that the backup had sent" in done.stderr
        words = ("store", "restore", replica, tmp_path / "m.db", "--at", "2999-01-01")
        assert _called(*words).exit_code == 0


def test_a_restore_of_another_database_is_refused(tmp_path: Path) -> None:
    """The marker says which database was copied; another one's files lie there."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    marker = replica / "piecework.json"
    marker.write_text(json.dumps(json.loads(marker.read_text()) | {"word": "another"}))
    done = _called("store", "restore", replica, tmp_path / "m.db")
    assert done.exit_code == 1
    assert "has another database than it should" in done.stderr
    assert not (tmp_path / "m.db").exists()


def test_a_damaged_replica_gets_no_name(tmp_path: Path) -> None:
    """What comes back is checked before it is put where it was wanted."""
    replica = tmp_path / "replica"
    backed_up_once(_marketplace(tmp_path / "first.db"), replica)
    for part in replica.rglob("*.ltx"):
        content = bytearray(part.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
        part.write_bytes(content)
    done = _called("store", "restore", replica, tmp_path / "m.db")
    assert done.exit_code == 1
    assert not (tmp_path / "m.db").exists()


def test_a_file_of_another_program_is_not_backed_up(tmp_path: Path) -> None:
    """It has no identity, so nothing would say whose replica it is."""
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as conn:
        conn.execute("CREATE TABLE a (b)")
    done = _called("store", "backup", other, "--to", tmp_path / "replica", "--once")
    assert done.exit_code == 2
    assert f"{other} is not a database of piecework" in done.stderr
    text = tmp_path / "notes.txt"
    text.write_text("no database, but long enough to look like a file of one" * 9)
    done = _called("store", "backup", text, "--to", tmp_path / "replica", "--once")
    assert done.exit_code == 2
    assert f"{text} is not a database of piecework" in done.stderr


def test_the_configuration_is_private_and_has_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Litestream reads them from the environment."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret-of-the-test")
    database = _marketplace(tmp_path / "m.db")
    backed_up_once(database, tmp_path / "replica")
    folder = tmp_path / "m.db-backup"
    assert folder.stat().st_mode & 0o777 == 0o700
    settings = folder / "litestream.yml"
    assert settings.stat().st_mode & 0o777 == 0o600
    assert "the-secret-of-the-test" not in settings.read_text()
    assert subprocess.run(["true"], check=True).returncode == 0
