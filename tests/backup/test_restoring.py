"""Restores of an earlier time, and databases that continue from there."""

import itertools
import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.backup import process, replicator
from piecework.cli.main import main
from piecework.marketplace.state.backend import Backend, Rules
from piecework.store import bound
from piecework.store.database import open_store
from tests.backup.conftest import backed_up_once
from tests.campaign.exchange.conftest import S3
from tests.small_campaign import CAMPAIGN, write_campaign

_PAUSE_SECONDS = 2.1
"""Parts of a replica are dated by the second."""


def _keep(database: Path, key: str) -> None:
    with closing(Backend(database, Rules())) as backend, backend.without_catch_up() as transaction:
        transaction.execute("INSERT INTO settings VALUES (?, '')", key)


def _kept(database: Path) -> set[str]:
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute("SELECT key FROM settings WHERE value = ''")
        return {row[0] for row in rows}


def _restored(replica: Path, file: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["store", "restore", str(replica), str(file), *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_restored_marketplace_says_what_it_is_and_what_is_next(tmp_path: Path) -> None:
    """Its kind, its time and two commands; only the owner can read it."""
    database, replica = tmp_path / "m.db", tmp_path / "replica"
    _keep(database, "first")
    backup = ["store", "backup", str(database), "--to", str(replica), "--once", "--json"]
    copied = CliRunner().invoke(main, backup)
    assert json.loads(copied.stdout) == {"address": str(replica), "copied": [str(database)]}
    copy = tmp_path / "new" / "copy.db"
    shown = _restored(replica, copy)
    facts = json.loads(_restored(replica, tmp_path / "other.db", "--json"))
    assert facts["file"] == str(tmp_path / "other.db")
    assert f"restored the {facts['restored']} to {copy}, as it was at {facts['until']}" in shown
    assert facts["next_step"].replace("other.db", "new/copy.db") in shown
    assert f"restored the marketplace to {copy}, as it was at 20" in shown
    assert "what was written after that is not in it" in shown
    assert f"next: piecework market serve --database {copy} --backup {replica}" in shown
    assert "piecework store reconcile CAMPAIGN" in shown
    assert copy.stat().st_mode & 0o777 == 0o600
    assert _kept(copy) == {"first"}
    Backend(copy, Rules()).close()


def test_credentials_may_be_those_of_a_profile(
    tmp_path: Path, s3: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Amazon's own file, for Litestream as for the marker."""
    del s3
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    credentials = tmp_path / "credentials"
    credentials.write_text("[lab]\naws_access_key_id = a-key\naws_secret_access_key = a-secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    database = tmp_path / "m.db"
    _keep(database, "first")
    backed_up_once(database, "s3://results/m")
    done = CliRunner().invoke(
        main, ["store", "restore", "s3://results/m", str(tmp_path / "copy.db")]
    )
    assert done.exit_code == 0, done.output
    assert _kept(tmp_path / "copy.db") == {"first"}


def test_stores_of_campaigns_get_a_prefix_each(tmp_path: Path) -> None:
    """Named by their campaign files; `--once` sends what is new, and ends."""
    files = []
    for name in ("birds", "trees"):
        folder = tmp_path / name
        folder.mkdir()
        file = write_campaign(folder, CAMPAIGN.replace('"crash"', f'"{name}"'))
        store = folder / "out" / name / "piecework.db"
        store.parent.mkdir(parents=True)
        with closing(open_store(store, create=True)) as opened:
            bound.bind(opened, "name", name)
        files.append(file)
    replica = tmp_path / "replica"
    words = ["store", "backup", *map(str, files), "--to", str(replica), "--once"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    for name in ("birds", "trees"):
        shown = _restored(replica / name, tmp_path / f"{name}.db")
        assert "restored the store to" in shown
        assert "next: piecework store reconcile CAMPAIGN --dry-run" in shown
        open_store(tmp_path / f"{name}.db").close()


@pytest.mark.full
def test_a_marketplace_continues_from_yesterday_at_the_same_address(tmp_path: Path) -> None:
    """What came after is not mixed in, and can still be restored by its time."""
    database, replica = tmp_path / "m.db", tmp_path / "replica"
    moments = []
    for key in ("first", "second"):
        _keep(database, key)
        backed_up_once(database, replica)
        time.sleep(_PAUSE_SECONDS)
        moments.append(datetime.now(UTC).isoformat())  # noqa: TID251 - the file's own time
    (tmp_path / "away").mkdir()
    for name in ("m.db", "m.db-wal", "m.db-shm"):
        if (tmp_path / name).exists():
            (tmp_path / name).rename(tmp_path / "away" / name)
    _restored(replica, database, "--at", moments[0])
    assert _kept(database) == {"first"}

    _keep(database, "third")
    backed_up_once(database, replica)
    _restored(replica, tmp_path / "latest.db")
    assert _kept(tmp_path / "latest.db") == {"first", "third"}
    _restored(replica, tmp_path / "second.db", "--at", moments[1])
    assert _kept(tmp_path / "second.db") == {"first", "second"}


def test_a_copy_that_is_made_once_takes_the_time_that_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow bucket is no fault; one that answers nothing is, after a while."""
    database, replica = tmp_path / "m.db", tmp_path / "replica"
    _keep(database, "first")
    tries = []

    def slow(control: Path, path: Path, *, seconds: int) -> None:
        tries.append(seconds)
        if len(tries) < 6:
            time.sleep(0.3)
            raise process.NotYetReplicatedError("context deadline exceeded")
        complete(control, path, seconds=seconds)

    complete = process.complete
    monkeypatch.setattr(process, "complete", slow)
    monkeypatch.setattr(process, "_LASTING_SECONDS", 1.0)
    monkeypatch.setattr(replicator, "_REPLICATOR_EVERY_SECONDS", 0.05)
    backed_up_once(database, replica)
    assert len(tries) >= 6

    def silent(*_: object, **__: object) -> None:
        raise process.NotReplicatedError("Litestream does not answer")

    _keep(database, "second")
    monkeypatch.setattr(process, "complete", silent)
    words = ["store", "backup", str(database), "--to", str(replica), "--once"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "was not copied whole: Litestream does not answer" in done.output


def test_a_copy_that_is_made_once_ends_if_faults_keep_it_from_getting_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most calls to a bucket that does not answer end before Litestream logs the next fault."""
    database, replica = tmp_path / "m.db", tmp_path / "replica"
    _keep(database, "first")
    backed_up_once(database, replica)
    _keep(database, "second")
    tries, positions = [], itertools.count()

    def out_of_time(control: Path, path: Path, *, seconds: int) -> None:
        tries.append(seconds)
        if len(tries) > 6 and is_advancing:
            return complete(control, path, seconds=seconds)
        time.sleep(0.3)
        raise process.NotYetReplicatedError("context deadline exceeded")

    complete, is_advancing = process.complete, False
    monkeypatch.setattr(process, "complete", out_of_time)
    monkeypatch.setattr(process, "fault_in", lambda _line: "i/o timeout")
    monkeypatch.setattr(process, "_LASTING_SECONDS", 1.0)
    monkeypatch.setattr(replicator, "_REPLICATOR_EVERY_SECONDS", 0.05)
    words = ["store", "backup", str(database), "--to", str(replica), "--once"]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, "was not copied whole: i/o timeout" in done.output) == (1, True)

    tries.clear()
    is_advancing = True
    monkeypatch.setattr(process.LitestreamProcess, "replicated", lambda _: next(positions))
    backed_up_once(database, replica)
    assert len(tries) > 6
