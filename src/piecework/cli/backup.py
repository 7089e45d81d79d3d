"""`backup`: copies stores and marketplaces continuously to a bucket or folder."""

import logging
import signal
import sqlite3
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.serve_backup import replicator_at
from piecework.domain.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from piecework.backup.replicator import Replicator

_CAMPAIGN_FILES = {".toml"}


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="CAMPAIGN|FILE...",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option(
    "--to",
    "address",
    required=True,
    metavar="ADDRESS",
    help="s3://BUCKET/PREFIX or file:///FOLDER. With several files, each gets a "
    "prefix of its own in it, named like the campaign or the file.",
)
@click.option("--once", is_flag=True, help="Copy what is new, then end.")
def backup(files: tuple[Path, ...], address: str, *, once: bool) -> None:
    """Copy stores continuously to a bucket.

    The command runs beside passes, review pages and schedules, and copies what they
    write within seconds, until it is stopped. A campaign file stands for its store. For
    a marketplace, use `piecework serve --backup` instead.

    Examples:
      piecework backup birds.toml --to s3://lab-backups/birds
      piecework backup birds.toml trees.toml --to s3://lab-backups/campaigns
      piecework backup birds.toml --to s3://lab-backups/birds --once
    """
    logs.say_from(logging.INFO)
    replicators: dict[Path, Replicator] = {}
    for name, database in _databases(files).items():
        own = f"{address.rstrip('/')}/{name}" if len(files) > 1 else address
        replicators[database] = replicator_at(database, own, use="piecework backup")
    for database, replicator in replicators.items():
        _check_identity(database)
        replicator.check()
    with ExitStack() as stack:
        for replicator in replicators.values():
            stack.enter_context(replicator.running())
        if not once:
            for database in replicators:
                click.echo(f"backing up {database}; Ctrl-C ends it", err=True)
            _wait_for_end()
    for database, replicator in replicators.items():
        if replicator.missing:
            raise StoreError(f"{database} was not copied whole: {replicator.missing}")
        click.echo(f"{address} has every commit of {database}")


def _wait_for_end() -> None:
    """Wait for Ctrl-C, or for a supervisor's signal."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: ended.set())
    ended.wait()


def _databases(files: tuple[Path, ...]) -> dict[str, Path]:
    """Return the databases by the names of their prefixes.

    Raises:
        ConfigError: a file has no database yet, or two have the same name.
    """
    databases: dict[str, Path] = {}
    for file in files:
        name, database = file.stem, file
        if file.suffix in _CAMPAIGN_FILES:
            name, database = _store_of(file)
        if name in databases:
            raise ConfigError(
                [f"{file} and {databases[name]} would both be copied to {name}"],
                next_step="back them up with a command each",
            )
        if not database.is_file():
            raise ConfigError(
                [f"{database}: there is no store yet"],
                next_step="make the campaign's first pass first; or piecework restore "
                "brings the store back from its backup",
            )
        databases[name] = database
    return databases


def _check_identity(database: Path) -> None:
    """Refuse a file that is not a marketplace or a store.

    Raises:
        ConfigError: it is not.
    """
    from piecework.backup.kinds import identity_of

    try:
        identity = identity_of(database)
    except sqlite3.DatabaseError:
        identity = None
    if identity is None:
        raise ConfigError(
            [f"{database} is not a database of piecework"],
            next_step="name a campaign file, a store or a marketplace's file",
        )


def _store_of(file: Path) -> tuple[str, Path]:
    """Return a campaign's name and its store.

    Raises:
        ConfigError: the store is not a file.
    """
    from piecework.config.campaign_file import parse

    campaign = parse(file)
    if campaign.store.url:
        raise ConfigError(
            [f"{file}: the store is in PostgreSQL ({campaign.store})"],
            next_step="back the database up with PostgreSQL's tools (docs/how-to/postgresql.md)",
        )
    return campaign.tables.name, campaign.store.path
