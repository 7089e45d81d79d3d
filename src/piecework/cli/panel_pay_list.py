"""`panel pay-list`: writes the list from which a panel pays."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON, WholeNumber
from piecework.cli.panel_file import read_panel, read_secrets
from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError, RefusedForSafety

if TYPE_CHECKING:
    from piecework.panel.panel_file import Panel
    from piecework.panel.pay_list import PayList
    from piecework.panel.secrets import Secrets

_LOCK = ".pay-list.lock"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@click.command("pay-list")
@click.argument("panel_file", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--again",
    type=WholeNumber(1, 1_000_000_000),
    metavar="NUMBER",
    help="Write an earlier list once more, for a FILE that was lost.",
)
@click.option(
    "--sent",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    metavar="EARLIER",
    help="A list that you sent and that a restored copy of the database does not know; "
    "repeatable.",
)
@DATABASE
@JSON
def panel_pay_list(
    *,
    panel_file: Path,
    file: Path,
    again: int | None,
    sent: tuple[Path, ...],
    database: Path,
    as_json: bool,
) -> None:
    """Write whom the panel must pay.

    PANEL_FILE states the columns. FILE is a new CSV file, which only you can read. It
    has each visit whose HITs are all decided, with the sum of the approved rewards,
    and each bonus. What was on an earlier list is not listed again.

    The server may run meanwhile. If the command is interrupted, call it again: it
    completes the interrupted list.

    Examples:
      piecework panel pay-list panel.toml monday.csv
      piecework panel pay-list panel.toml copy.csv --again 3
    """
    from piecework.panel.pay_list import mark_written

    panel = read_panel(panel_file)
    secrets = read_secrets(panel_file, panel, for_links=False)
    with _only_writer(database):
        listed = (
            _due(panel, secrets, file, database, sent=sent)
            if again is None
            else _earlier(panel, secrets, again, database)
        )
        if listed is not None:
            _write(file, listed.table)
            with transaction_in(database) as transaction:
                mark_written(transaction, listed.number)
    _say(panel, listed, file, as_json=as_json)


def _due(
    panel: "Panel",
    secrets: "Secrets",
    file: Path,
    database: Path,
    *,
    sent: tuple[Path, ...],
) -> "PayList | None":
    """Return the list to write: an interrupted one, or a new one."""
    from piecework.panel.panel_crowd import ways_out
    from piecework.panel.pay_list import make, mark_written, unwritten

    texts = [read_text(earlier, name="list of --sent") for earlier in sent]
    with transaction_in(database) as transaction:
        ways = ways_out(transaction, panel, secrets)
        begun = unwritten(transaction, panel, ways)
        if begun is not None:
            is_complete = _has(Path(begun.file), begun.table)
            end = "complete there" if is_complete else "not complete, so it is written"
            click.echo(
                f"list {begun.number} for {begun.file} was interrupted; it is {end}",
                err=True,
            )
            if not is_complete or Path(begun.file) == file.absolute():
                return begun
            mark_written(transaction, begun.number)
        _refuse_existing(file)
        return make(transaction, panel, ways, file=str(file.absolute()), sent=texts)


def _earlier(
    panel: "Panel", secrets: "Secrets", number: int, database: Path
) -> "PayList":
    from piecework.panel.panel_crowd import ways_out
    from piecework.panel.pay_list import read

    with transaction_in(database) as transaction:
        ways = ways_out(transaction, panel, secrets)
        listed = read(transaction, panel, ways, number)
    if listed is None:
        raise ConfigError([f"{database} has no list {number} of panel {panel.name}"])
    return listed


@contextmanager
def _only_writer(database: Path) -> Iterator[None]:
    """Let no other process write a list of this marketplace meanwhile.

    The operating system ends the lock with the process.

    Raises:
        RefusedForSafety: another process writes one.
    """
    if not database.exists():
        yield  # The next step says that the file is missing.
        return
    with database.with_name(database.name + _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise RefusedForSafety(
                f"{database}: another process is writing a pay list",
                next_step="wait for it, then call the command again",
            ) from fault
        yield


def _write(file: Path, table: str) -> None:
    """Write a file, whole or not at all; the same file may be there already.

    Raises:
        ConfigError: another file has its name, or the folder cannot be written.
    """
    if _has(file, table):
        return
    part = file.with_name(f".{file.name}.part")
    try:
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, _NEW, 0o600), "w", encoding="utf-8") as opened:
            opened.write(table)
            opened.flush()
            os.fsync(opened.fileno())
        try:
            os.link(part, file)  # Unlike a rename, it never replaces a file.
        finally:
            part.unlink()
        folder = os.open(file.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except FileExistsError:
        _refuse_existing(file)
    except OSError as fault:
        raise ConfigError(
            [f"{file}: the list cannot be written ({fault.strerror})"],
            next_step="call the command again with another FILE; the list is kept",
        ) from fault


def _has(file: Path, table: str) -> bool:
    try:
        return file.read_bytes() == table.encode()
    except OSError:
        return False


def _refuse_existing(file: Path) -> None:
    if file.exists():
        raise ConfigError([f"{file} exists already; name a new file"])


def _say(
    panel: "Panel", listed: "PayList | None", file: Path, *, as_json: bool
) -> None:
    from piecework.marketplace.state.money import PriceList

    if as_json:
        document = (
            {"list": None, "lines": 0, "cents": 0}
            if listed is None
            else {
                "list": listed.number,
                "lines": listed.lines,
                "cents": listed.cents,
                "file": str(file),
            }
        )
        click.echo(json.dumps({**document, "currency": panel.pay.currency}))
    elif listed is None:
        click.echo("no payment is due, so no file was written")
    else:
        shown = PriceList(currency=panel.pay.currency).shown(listed.cents)
        click.echo(
            f"list {listed.number}: {listed.lines} lines, {shown} in all, in {file}"
        )
