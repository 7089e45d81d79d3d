"""The continuous backup of a marketplace: options of `serve`, and what starts it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import WholeNumber, grouped
from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.backup.replicator import Replicator


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOptions:
    """Where the marketplace is backed up, and how far that may be behind."""

    backup: str
    backup_limit: int


BACKUP = grouped(
    "backing_up",
    BackupOptions,
    click.option(
        "--backup",
        default="",
        metavar="ADDRESS",
        help="Copy the database continuously to s3://BUCKET/PREFIX or file:///FOLDER.",
    ),
    click.option(
        "--backup-limit",
        type=WholeNumber(1, 86_400),
        default=300,
        show_default=True,
        help="Seconds that the backup may be behind before /readyz answers 503.",
    ),
)


def replicator_of(
    options: BackupOptions, database: Path, *, is_rehearsal: bool
) -> "Replicator | None":
    """Return the backup that is wanted, once its address was seen to be usable.

    Args:
        options: what is wanted.
        database: the marketplace's file.
        is_rehearsal: whether it is served with --rehearsal.

    Raises:
        ConfigError: Litestream is not installed, or the address cannot be used.
        RefusedForSafety: the address has another database's replica.
    """
    if not options.backup:
        return None
    if is_rehearsal:
        raise ConfigError(["--backup does not go with --rehearsal"])
    replicator = replicator_at(database, options.backup, use="--backup")
    # What is wrong with the file itself is reported where it is opened.
    with suppress(sqlite3.Error):
        replicator.check()
    return replicator


def replicator_at(database: Path, address: str, *, use: str) -> "Replicator":
    """Return the backup of a database.

    Args:
        database: the file.
        address: the replica's, as the user wrote it.
        use: what asked for it, as the beginning of a message.

    Raises:
        ConfigError: Litestream is not installed, or this is no address of a replica.
    """
    from piecework.backup.address import read_address
    from piecework.backup.program import ReplicatedFile, litestream
    from piecework.backup.replicator import Replicator
    from piecework.domain.clock import SystemClock

    file = ReplicatedFile(database, read_address(address))
    return Replicator(file, litestream(use=use), SystemClock())


@contextmanager
def backed_up(replicator: "Replicator | None") -> Iterator[None]:
    """Back up while the block lasts, if that is wanted."""
    if replicator is None:
        yield
        return
    with replicator.running():
        yield
