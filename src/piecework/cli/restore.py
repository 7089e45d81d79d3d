"""`restore`: brings a database back from its replica."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.domain.errors import ConfigError

if TYPE_CHECKING:
    from piecework.backup.restoring import Restored


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
def restore(address: str, file: Path, moment: str) -> None:
    """Bring a database back from its backup.

    FILE must not exist. The restored file is checked before it gets its name. The
    command says which state it has, and what to do next.

    Examples:
      piecework restore s3://lab-backups/marketplace marketplace.db
      piecework restore s3://lab-backups/birds out/birds/piecework.db
      piecework restore s3://lab-backups/birds old.db --at 2027-01-15T08:00Z
    """
    from piecework.backup.address import read_address
    from piecework.backup.restoring import restore as restore_database

    at = _moment(moment) if moment else None
    _say(restore_database(read_address(address), file, at=at), address)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as fault:
        raise ConfigError([f"--at: {text} is not a time such as 2027-01-15T08:00Z"]) from fault
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _say(restored: "Restored", address: str) -> None:
    kind = restored.identity.kind
    until = restored.until.isoformat(timespec="seconds")
    click.echo(f"restored the {kind} to {restored.file}, as it was at {until}")
    click.echo("what was written after that is not in it")
    if kind == "marketplace":
        click.echo(
            f"next: piecework serve --database {restored.file} --backup {address} and "
            "the other options as before; then piecework reconcile CAMPAIGN for each "
            "campaign on it"
        )
    else:
        click.echo("next: piecework reconcile CAMPAIGN --dry-run")
