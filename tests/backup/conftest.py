"""What tests of backups share: S3 as moto serves it, and small databases."""

import os
import signal
from pathlib import Path

from click.testing import CliRunner

from piecework.cli.main import main
from tests.campaign.exchange.conftest import s3, s3_endpoint

__all__ = ["backed_up_once", "end_litestream", "litestream_of", "s3", "s3_endpoint"]


def backed_up_once(database: Path, replica: Path | str) -> None:
    """Copy a database to an address, as `piecework store backup --once` does."""
    words = ["store", "backup", str(database), "--to", str(replica), "--once"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output


def litestream_of(database: Path) -> int:
    """The process id of the Litestream that replicates a database."""
    lock = database.with_name(f"{database.name}-backup") / "lock"
    return int(lock.read_text())


def end_litestream(database: Path) -> None:
    """Kill it: it sends nothing more."""
    os.kill(litestream_of(database), signal.SIGKILL)
