"""`market serve --backup`: the lag is measured, shown, and warned about."""

import json
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.backup import process as trouble_module
from piecework.backup import replicator as replicator_module
from piecework.backup.lag import Identity, identity_of
from piecework.backup.marker import read_address
from piecework.backup.replicator import Replicator
from piecework.backup.restoring import ReplicatedFile, litestream, restore
from piecework.cli.main import main
from piecework.domain.clock import SystemClock
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.watching.metrics import Metrics, MetricsPort
from tests.backup.conftest import litestream_of
from tests.crash.world import can_mount, small_disk, without_room
from tests.marketplace.served_apart import scraped, served_apart

PATIENCE_SECONDS = 60.0


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicator_module, "_REPLICATOR_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(replicator_module, "_FIRST_DELAY_SECONDS", 0.1)
    monkeypatch.setattr(trouble_module, "_TROUBLED_SECONDS", 0.2)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A marketplace's."""
    path = tmp_path / "m.db"
    Backend(path, Rules()).close()
    return path


def _replicator(database: Path, replica: Path) -> Replicator:
    file = ReplicatedFile(database, read_address(str(replica)))
    return Replicator(file, litestream(use="this test"), SystemClock())


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.02)


def _is_whole(replicator: Replicator) -> bool:
    distance = replicator.distance()
    return distance.is_running and not distance.commits


def _commit(database: Path, *, letters: int = 1) -> None:
    with closing(Backend(database, Rules())) as backend, backend.without_catch_up() as transaction:
        row = (os.urandom(8).hex(), "x" * letters)
        transaction.execute("INSERT INTO settings VALUES (?, ?)", *row)


def _fill(database: Path) -> None:
    """Commit until what SQLite has already is used up."""
    for _ in range(400):
        _commit(database, letters=40_000)


def _count(database: Path) -> int:
    with closing(sqlite3.connect(database)) as conn:
        return int(conn.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _served(database: Path, replicator: Replicator, limit: int) -> Iterator[list[str]]:
    port = MetricsPort(Metrics(replica=replicator), 0)
    with (
        replicator.running(),
        serve(
            Marketplace(database, metrics=port, replica=replicator, replica_limit_seconds=limit)
        ) as running,
    ):
        yield [running.endpoint_url, running.metrics_url]


def test_the_lag_is_shown_and_beyond_the_limit_it_is_not_ready(
    tmp_path: Path, database: Path
) -> None:
    """While Litestream stands still, commits are missing, and their age grows."""
    replicator = _replicator(database, tmp_path / "replica")
    with _served(database, replicator, limit=1) as (site, metrics):
        _wait_for(lambda: _is_whole(replicator))
        ready = httpx.get(f"{site}/readyz")
        assert ready.status_code == 200
        assert ready.json()["backup"] in {"replica 0 s behind", "replica 1 s behind"}
        os.kill(litestream_of(database), signal.SIGSTOP)
        try:
            _commit(database)
            _wait_for(lambda: httpx.get(f"{site}/readyz").status_code == 503)
            figures = scraped(metrics)
            assert figures["piecework_backup_lag_seconds"] > 1
            assert figures["piecework_backup_lag_commits"] >= 1
            behind = httpx.get(f"{site}/readyz").json()
            assert behind["database"] == "writable"
            assert behind["backup"].startswith("replica ")
            assert httpx.get(f"{site}/healthz").status_code == 200
        finally:
            os.kill(litestream_of(database), signal.SIGCONT)
        _wait_for(lambda: httpx.get(f"{site}/readyz").status_code == 200)
        assert scraped(metrics)["piecework_backup_running"] == 1


def test_what_the_lag_calls_safe_is_in_the_replica(tmp_path: Path, database: Path) -> None:
    """Read as a restore reads it, and not as Litestream says."""
    replica = tmp_path / "replica"
    replicator = _replicator(database, replica)
    with replicator.running():
        for number in range(5):
            _commit(database)
            _wait_for(lambda: _is_whole(replicator))
            copy = tmp_path / f"copy-{number}.db"
            restored = restore(read_address(str(replica)), copy)
            assert restored.commits >= _count(database)


def test_a_stop_and_its_end_are_warned_of_once(
    tmp_path: Path, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Litestream is killed, three times; it is started again each time."""
    replicator = _replicator(database, tmp_path / "replica")
    with replicator.running():
        for _ in range(3):
            _wait_for(lambda: _is_whole(replicator))
            caplog.clear()
            killed = litestream_of(database)
            os.kill(killed, signal.SIGKILL)
            _commit(database)
            _wait_for(lambda: "continues after" in caplog.text)
            assert litestream_of(database) != killed
            warnings = [
                record.getMessage()
                for record in caplog.records
                if record.levelno == logging.WARNING
            ]
            assert len(warnings) == 2, warnings
            assert "has stopped: Litestream ended with code 137" in warnings[0]
            assert "continues after" in warnings[1]


def test_a_replica_that_cannot_be_written_is_warned_of(
    tmp_path: Path, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder of the replica has gone away behind a file; then it is back."""
    replica = tmp_path / "replica"
    replicator = _replicator(database, replica)
    with replicator.running():
        _wait_for(lambda: _is_whole(replicator))
        shutil.move(replica, tmp_path / "away")
        replica.touch()
        _commit(database)
        _wait_for(lambda: "has stopped: " in caplog.text)
        assert not replicator.distance().is_running
        replica.unlink()
        shutil.move(tmp_path / "away", replica)
        _wait_for(lambda: _is_whole(replicator))
        assert "continues after" in caplog.text


def test_a_process_stops_when_another_has_taken_over(
    tmp_path: Path,
    database: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It sends nothing more, not even its last commits, and says so."""
    monkeypatch.setattr(replicator_module, "RENEWED_EVERY", timedelta(seconds=0.2))
    replica = tmp_path / "replica"
    replicator = _replicator(database, replica)
    with replicator.running():
        _wait_for(lambda: _is_whole(replicator))
        process = litestream_of(database)
        marker = json.loads((replica / "piecework.json").read_text())
        taken = json.dumps({**marker, "session": "another", "host": "elsewhere"})
        (replica / "piecework.json").write_text(taken)
        _wait_for(lambda: not _is_alive(process))
        parts = sorted((replica / "ltx").rglob("*.ltx"))
        _commit(database)
        _wait_for(lambda: replicator.distance().commits > 0)
        assert not replicator.distance().is_running
    assert "another process, on elsewhere, writes this replica" in caplog.text
    assert "another process, on elsewhere, writes this replica" in replicator.missing
    assert sorted((replica / "ltx").rglob("*.ltx")) == parts
    assert json.loads((replica / "piecework.json").read_text())["session"] == "another"


def test_a_copy_that_cannot_be_renewed_is_not_called_complete(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replica goes away while nothing is written; what is committed then is missing."""
    monkeypatch.setattr(replicator_module, "RENEWED_EVERY", timedelta(seconds=0.2))
    monkeypatch.setattr(replicator_module, "_LAST_SECONDS", 1)
    replica = tmp_path / "replica"
    replicator = _replicator(database, replica)
    with replicator.running():
        _wait_for(lambda: _is_whole(replicator))
        assert replicator.missing == ""
        shutil.move(replica, tmp_path / "away")
        replica.touch()
        _wait_for(lambda: not replicator.distance().is_running)
        _commit(database)
    assert f"{replica}: cannot be used" in replicator.missing


def test_the_command_ends_when_another_process_has_taken_over(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that whoever started it learns of it, and may start it again."""
    monkeypatch.setattr(replicator_module, "RENEWED_EVERY", timedelta(seconds=0.2))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    marker = tmp_path / "replica" / "piecework.json"

    def take_over() -> None:
        _wait_for(lambda: (tmp_path / "replica" / "ltx").is_dir() and marker.is_file())
        marker.write_text(json.dumps({**json.loads(marker.read_text()), "session": "another"}))

    with ThreadPoolExecutor(1) as pool:
        taking = pool.submit(take_over)
        words = ["store", "backup", str(database), "--to", str(tmp_path / "replica")]
        done = CliRunner().invoke(main, words)
        taking.result()
    assert done.exit_code == 1
    assert f"{database} was not copied whole: another process" in done.stderr
    assert "has every commit" not in done.stdout


def test_two_programs_on_one_machine_do_not_both_back_up(
    tmp_path: Path, database: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The second says which process does; it continues when the first ends."""
    first, second = (_replicator(database, tmp_path / "replica") for _ in range(2))
    with first.running():
        _wait_for(lambda: _is_whole(first))
        process = litestream_of(database)
        with second.running():
            _wait_for(lambda: "backs it up already" in caplog.text)
            assert f"Litestream, process {process}, backs it up" in caplog.text
            assert not second.distance().is_running
            assert litestream_of(database) == process


def test_the_last_commits_are_sent_when_the_marketplace_ends(tmp_path: Path) -> None:
    """A new file, served as a process and ended by a supervisor's signal."""
    database, replica = tmp_path / "new.db", tmp_path / "replica"
    with served_apart(database, "--backup", str(replica)) as apart:
        assert httpx.get(f"{apart.site}/healthz").status_code == 200
    restored = restore(read_address(str(replica)), tmp_path / "copy.db")
    assert restored.identity.kind == "marketplace"
    assert restored.commits == _count(database)


def test_a_database_that_is_made_just_before_the_end_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process stops before the backup has seen that there is a database."""
    monkeypatch.setattr(replicator_module, "_LOOK_SECONDS", 600)
    database = tmp_path / "new.db"
    replicator = _replicator(database, tmp_path / "replica")
    looked = threading.Event()

    def look(path: Path) -> Identity | None:
        try:
            return identity_of(path)
        finally:
            looked.set()

    monkeypatch.setattr(replicator_module, "identity_of", look)
    with replicator.running():
        assert looked.wait(PATIENCE_SECONDS)
        Backend(database, Rules()).close()
    restored = restore(read_address(str(tmp_path / "replica")), tmp_path / "copy.db")
    assert restored.commits == _count(database)


def test_litestream_ends_with_a_marketplace_that_is_killed(tmp_path: Path) -> None:
    """It sends the last commits first: only the process is lost, not the machine."""
    database, replica = tmp_path / "new.db", tmp_path / "replica"
    with served_apart(database, "--backup", str(replica)) as apart:
        _wait_for((tmp_path / "new.db-backup" / "lock").exists)
        _wait_for((replica / "ltx").is_dir)
        process = litestream_of(database)
        for _ in range(20):
            _commit(database)
        apart.process.kill()
        apart.process.wait()
        _wait_for(lambda: not _is_alive(process))
    restored = restore(read_address(str(replica)), tmp_path / "copy.db")
    assert restored.commits == _count(database)


def _is_alive(process: int) -> bool:
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(shown) and not shown.startswith("Z")


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_after_a_full_disk_marketplace_and_backup_continue(tmp_path: Path) -> None:
    """What was refused is in neither; all that was stored is in the replica."""
    disk, replica = tmp_path / "disk", tmp_path / "replica"
    with small_disk(disk, 8_000_000):
        database = disk / "m.db"
        Backend(database, Rules()).close()
        replicator = _replicator(database, replica)
        with _served(database, replicator, limit=60) as (site, _):
            _wait_for(lambda: _is_whole(replicator))
            with without_room(disk), pytest.raises(sqlite3.OperationalError):
                _fill(database)
            stored = _count(database)
            # No restart: the first commit with room is taken, and copied.
            _commit(database)
            assert _count(database) > stored
            _wait_for(lambda: _is_whole(replicator))
            assert httpx.get(f"{site}/readyz").status_code == 200
        restored = restore(read_address(str(replica)), tmp_path / "copy.db")
        assert restored.commits == _count(database)
