"""The machine of a Prolific marketplace is lost, with the last second of its work.

Marketplace, bridge and the offline Prolific are processes. The replica stands still
while a participant answers and enters the code at Prolific, so that these answers are
certainly lost. Then everything is killed, the file is deleted, and it is restored.
"""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.backup.marker import read_address
from piecework.backup.restoring import restore
from piecework.cli.main import main
from tests.backup.conftest import litestream_of
from tests.marketplace.served_apart import until
from tests.markets.prolific.bridge.served import Served
from tests.markets.prolific.bridge.town import Visitor

REWARD_PENCE = 110


def _is_in_replica(replica: Path, folder: Path, query: str) -> Callable[[], bool]:
    """Whether a restore has rows that a query finds."""

    def is_there() -> bool:
        copy = folder / "looked-at.db"
        copy.unlink(missing_ok=True)
        shutil.rmtree(folder / "looked-at.db-backup", ignore_errors=True)
        restore(read_address(str(replica)), copy)
        return bool(_rows(copy, query))

    return is_there


def _rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as conn:
        return conn.execute(query).fetchall()


@pytest.mark.full
def test_answers_that_are_lost_with_the_machine_are_paid_once(tmp_path: Path) -> None:
    """A person says that the participant is paid; no second study is published."""
    replica = tmp_path / "replica"
    with ExitStack() as stack:
        served = Served(tmp_path, stack, words=("--backup", str(replica)))
        served.post(2)
        someone = Visitor(served.endpoint, served.researcher, country="GB")
        stack.enter_context(someone.http)
        until(someone.studies)
        [study] = someone.studies()
        assert someone.arrive(study).status_code == 201
        until(_is_in_replica(replica, tmp_path, "SELECT 1 FROM visits"))

        os.kill(litestream_of(served.database), signal.SIGSTOP)
        visit = someone.visit()
        while visit["stage"] == "Open":
            visit = someone.answer()
        someone.complete(someone.submission_id, visit["code"])
        os.kill(litestream_of(served.database), signal.SIGKILL)
        served.process.kill()
        served.process.wait()
        for file in tmp_path.glob("market.db*"):
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()

        words = ["store", "restore", str(replica), str(served.database)]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        served.process = served.serve("--backup", str(replica))
        until(lambda: f"--pay-lost {study}" in served.command("status").stdout)
        paid = served.command("reconcile", "--pay-lost", study)
        assert (paid.returncode, paid.stderr) == (0, "")
        until(lambda: served.researcher.books()["submissions"][0]["status"] == "APPROVED")
        [submission] = served.researcher.books()["submissions"]
        assert submission["reward_paid"] == REWARD_PENCE
        # The HITs are still open, and another participant does them.
        other = Visitor(served.endpoint, served.researcher, country="GB")
        stack.enter_context(other.http)
        until(other.studies)
        [again] = other.studies()
        other.work(again)
        submissions = served.researcher.books()["submissions"]
        assert len(submissions) == 2
