"""A replica that lost files or is damaged is noticed, before and at a restore."""

import logging
import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.backup import replicator as trial_module
from piecework.backup.marker import read_address
from piecework.backup.replicator import Trial
from piecework.backup.restoring import ReplicatedFile
from piecework.cli.main import main
from piecework.marketplace.state.backend import Backend, Rules
from tests.backup.conftest import backed_up_once

PATIENCE_SECONDS = 60.0


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A marketplace's, backed up, with later commits that are backed up too."""
    path = tmp_path / "m.db"
    Backend(path, Rules()).close()
    backed_up_once(path, tmp_path / "replica")
    _commit(path, times=5)
    backed_up_once(path, tmp_path / "replica")
    return path


def _commit(database: Path, *, times: int) -> None:
    with closing(Backend(database, Rules())) as backend:
        for _ in range(times):
            with backend.without_catch_up() as transaction:
                transaction.execute("INSERT INTO settings VALUES (?, 'x')", os.urandom(8).hex())


def _count(database: Path) -> int:
    with closing(sqlite3.connect(database)) as conn:
        return int(conn.execute("PRAGMA user_version").fetchone()[0])


def _lose_the_newest(replica: Path) -> None:
    """Delete the files of the last commits, of all levels."""
    newest = max(path.stem.partition("-")[2] for path in replica.rglob("*.ltx"))
    for path in replica.rglob(f"*-{newest}.ltx"):
        path.unlink()


def _tried(database: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    """Run trials until the first has ended."""
    monkeypatch.setattr(trial_module, "_FIRST_SECONDS", 0.01)
    ended, stopping = threading.Event(), threading.Event()
    attempt = Trial._try

    def once(trial: Trial) -> bool:
        try:
            return attempt(trial)
        finally:
            stopping.set()
            ended.set()

    monkeypatch.setattr(Trial, "_try", once)
    replica = read_address(str(database.with_name("replica")))
    trial = Trial(ReplicatedFile(database, replica), lambda: _count(database))
    trial.start(stopping)
    assert ended.wait(PATIENCE_SECONDS)
    return trial


def test_a_whole_replica_passes(
    database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The trial leaves nothing behind."""
    caplog.set_level(logging.INFO)
    assert _tried(database, monkeypatch).fault == ""
    _wait_for(caplog, "was restored and is whole")
    assert not (database.with_name("m.db-backup") / "trial").exists()


def test_lost_files_are_noticed_by_a_trial(
    database: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is left can be restored, but it is an older state."""
    _lose_the_newest(database.with_name("replica"))
    fault = _tried(database, monkeypatch).fault
    assert "commits that were sent" in fault
    _wait_for(caplog, "cannot be restored: it lacks")


def test_a_restore_refuses_an_older_state_than_was_confirmed(
    database: Path, tmp_path: Path
) -> None:
    """With a time, a person gets what is left."""
    _lose_the_newest(tmp_path / "replica")
    words = ["store", "restore", str(tmp_path / "replica"), str(tmp_path / "copy.db")]
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 1, refused.output
    assert "files were lost there" in refused.output
    assert not (tmp_path / "copy.db").exists()
    restored = CliRunner().invoke(main, [*words, "--at", "2100-01-01T00:00Z"])
    assert restored.exit_code == 0, restored.output
    assert _count(tmp_path / "copy.db") < _count(database)


def _wait_for(caplog: pytest.LogCaptureFixture, words: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while words not in caplog.text:
        assert time.monotonic() < deadline, caplog.text
        time.sleep(0.02)
