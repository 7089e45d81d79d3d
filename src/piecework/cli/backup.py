"""`backup` and `restore`: copies of stores and marketplaces in a bucket or folder.

The copies are made continuously, also by `serve`, whose options for it stand here.
"""

import json
import logging
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.options import JSON
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.text import shell_word

if TYPE_CHECKING:
    from piecework.backup.replicator import Replicator
    from piecework.backup.restoring import Restored

_CAMPAIGN_FILES = {".toml"}
_LOOK_SECONDS = 1.0


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
@JSON
def backup(files: tuple[Path, ...], address: str, *, once: bool, as_json: bool) -> None:
    """Copy stores continuously to a bucket.

    The command copies within seconds what passes and reviews write, until it is stopped.
    A campaign file stands for its store. A marketplace has `market serve --backup`.

    Examples:
      piecework store backup birds.toml --to s3://lab-backups/birds
      piecework store backup birds.toml --to s3://lab-backups/birds --once
    """
    logs.say_from(logging.INFO)
    replicators: dict[Path, Replicator] = {}
    for name, database in _databases(files).items():
        own = f"{address.rstrip('/')}/{name}" if len(files) > 1 else address
        replicators[database] = replicator_at(database, own, use="piecework store backup")
    for database, replicator in replicators.items():
        _check_identity(database)
        replicator.check()
    with ExitStack() as stack:
        for replicator in replicators.values():
            stack.enter_context(replicator.running())
        _wait(replicators, once=once)
    for database, replicator in replicators.items():
        if replicator.missing:
            raise StoreError(f"{database} was not copied whole: {replicator.missing}")
        if not as_json:
            click.echo(f"{address} has every commit of {database}")
    if as_json:
        facts = {"address": address, "copied": [*map(str, replicators)]}
        click.echo(json.dumps(facts, indent=2))


def _wait(replicators: "dict[Path, Replicator]", *, once: bool) -> None:
    """Wait until the copies are complete if `once`, or else for Ctrl-C or a signal.

    It ends too if one of them can continue no more, so that a supervisor learns of it.
    """
    if once:
        for replicator in replicators.values():
            replicator.wait_until_complete()
        return
    for database in replicators:
        click.echo(f"backing up {database}; Ctrl-C ends it", err=True)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: ended.set())
    while not any(replicator.has_ended for replicator in replicators.values()):
        if ended.wait(_LOOK_SECONDS):
            return


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
                next_step="make the campaign's first pass first; or piecework store restore "
                "brings the store back from its backup",
            )
        databases[name] = database
    return databases


def _check_identity(database: Path) -> None:
    """Refuse a file that is not a marketplace or a store.

    Raises:
        ConfigError: it is not.
    """
    from piecework.backup.lag import identity_of

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


@click.command()
@click.argument("address")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--at",
    "moment",
    default="",
    metavar="ISO-TIME",
    help="Restore the state of this time, such as 2027-01-15T08:00Z; default: the latest.",
)
@JSON
def restore(address: str, file: Path, moment: str, *, as_json: bool) -> None:
    """Bring a database back from its backup.

    FILE must not exist. The restored file is checked before it gets its name. The
    command says which state it has, and what to do next.

    Examples:
      piecework store restore s3://lab-backups/marketplace marketplace.db
      piecework store restore s3://lab-backups/birds out/birds/piecework.db
      piecework store restore s3://lab-backups/birds old.db --at 2027-01-15T08:00Z
    """
    from piecework.backup.marker import read_address
    from piecework.backup.restoring import restore as restore_database

    at = _moment(moment) if moment else None
    _say(restore_database(read_address(address), file, at=at), address, as_json=as_json)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise ConfigError([f"--at: {text} is not a time such as 2027-01-15T08:00Z"]) from fault
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _say(restored: "Restored", address: str, *, as_json: bool) -> None:
    kind, next_step = restored.identity.kind, "piecework store reconcile CAMPAIGN --dry-run"
    until = restored.until.isoformat(timespec="seconds")
    if kind == "marketplace":
        next_step = (
            f"piecework market serve --database {shell_word(restored.file)} --backup "
            f"{shell_word(address)} and the other options as before; then piecework store "
            "reconcile CAMPAIGN for each campaign on it"
        )
    if as_json:
        facts = {"restored": kind, "file": str(restored.file), "until": until}
        click.echo(json.dumps(facts | {"next_step": next_step}, indent=2))
        return
    click.echo(f"restored the {kind} to {restored.file}, as it was at {until}")
    click.echo("what was written after that is not in it")
    click.echo(f"next: {next_step}")


BACKUP = click.option(
    "--backup",
    default="",
    metavar="ADDRESS",
    help="Copy the database continuously to s3://BUCKET/PREFIX or file:///FOLDER.",
)


def replicator_of(backup: str, database: Path, *, is_rehearsal: bool) -> "Replicator | None":
    """Return the backup that is wanted, once its address was seen to be usable.

    Args:
        backup: the address of the replica; "" for no backup.
        database: the marketplace's file.
        is_rehearsal: whether it is served with --rehearsal.

    Raises:
        ConfigError: Litestream is not installed, or the address cannot be used.
        RefusedForSafety: the address has another database's replica.
    """
    if not backup:
        return None
    if is_rehearsal:
        raise ConfigError(["--backup does not go with --rehearsal"])
    replicator = replicator_at(database, backup, use="--backup")
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
    from piecework.backup.marker import read_address
    from piecework.backup.replicator import Replicator
    from piecework.backup.restoring import ReplicatedFile, litestream
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
