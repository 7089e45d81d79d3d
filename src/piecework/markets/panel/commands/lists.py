"""`panel`: an example panel, links of persons, and whom a panel has to pay."""

import fcntl
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click
from pydantic import ValidationError

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON, WholeNumber
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError, RefusedForSafety, StoreError
from piecework.domain.text import plural
from piecework.marketplace.state import clock

if TYPE_CHECKING:
    from piecework.marketplace.state.transaction import Transaction
    from piecework.markets.panel.arrivals import Secrets
    from piecework.markets.panel.panel_file import Panel
    from piecework.markets.panel.pay_list import PayList, PayRecord, RecordedList


_EXAMPLE = "piecework market panel example external shows a panel file"


def read_panel(path: Path) -> "Panel":
    """Read a panel file.

    Raises:
        ConfigError: the file has faults; each is a sentence with line and key.
    """
    from piecework.config.schema_faults import schema_faults
    from piecework.markets.panel.panel_file import Panel

    text = read_text(path, name="panel file", next_step=_EXAMPLE)
    try:
        return Panel.model_validate(tomllib.loads(text)).beside(path)
    except ValidationError as fault:
        faults = schema_faults(path, text, fault, schema=Panel)
        raise ConfigError(faults, next_step=_EXAMPLE) from fault
    except (ValueError, RecursionError) as fault:  # as for a campaign file
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault


def read_secrets(path: Path, panel: "Panel", *, for_links: bool = True) -> "Secrets":
    """Read the secrets that a panel file names.

    Args:
        path: the panel file.
        panel: its contents.
        for_links: whether links are read or made; a pay list needs no such secret.

    Raises:
        ConfigError: a secret is missing, or its file is not private.
    """
    from piecework.markets.panel.arrivals import Secrets, UnusableError

    try:
        return Secrets.read(panel, os.environ, for_links=for_links)
    except UnusableError as fault:
        raise ConfigError([f"{path}: {fault}"]) from fault


_NAMES = ("clickworker", "external", "microworkers", "sona")


@click.command("example")
@click.argument("name", metavar="PANEL", type=click.Choice(_NAMES))
def panel_example(*, name: str) -> None:
    """Print a ready-made panel file.

    PANEL is the name of a panel, or `external` for any with an external link. Comments in
    the file say what is a guess.

    Examples:
      piecework market panel example external > panel.toml
      piecework market panel example sona
    """
    folder = files("piecework.markets.panel") / "ready_made"
    click.echo((folder / f"{name}.toml").read_text(encoding="utf-8"), nl=False)


@click.command("link")
@click.argument("panel_file", type=click.Path(path_type=Path))
@click.argument("person")
@click.option("--session", default="", help="Id of the participation.")
@click.option("--project", default="", help="The panel's project.")
@click.option(
    "--site-url",
    default="http://127.0.0.1:8080",
    show_default=True,
    help="URL at which browsers reach the site.",
)
def panel_link(*, panel_file: Path, person: str, session: str, project: str, site_url: str) -> None:
    """Print a person's link, to try it.

    PANEL_FILE describes the panel, and PERSON is an id there. The link is as the panel
    would make it, with its signature or secret, so do not publish it.

    Examples:
      piecework market panel link panel.toml P123
      piecework market panel link panel.toml P123 --session S456
    """
    from piecework.marketplace.exceptions import Refusal
    from piecework.markets.panel.arrivals import Ids, Links, UnusableError, proof_of

    panel = read_panel(panel_file)
    secrets = read_secrets(panel_file, panel)
    ids = Ids(person=person, session=session or person, project=project)
    query = {
        parameter: ids.values()[name] for name, parameter in panel.link.names().items() if parameter
    }
    if panel.verification.parameter:
        query[panel.verification.parameter] = proof_of(panel, secrets, ids)
    try:
        Links(panel, secrets).read(query)
    except Refusal as refusal:
        raise ConfigError(
            [f"these ids make no link: {refusal.message}"],
            next_step="piecework market panel link --help",
        ) from refusal
    except UnusableError as fault:
        raise ConfigError([f"{panel_file}: {fault}"]) from fault
    click.echo(f"{site_url.rstrip('/')}/visit/arrive?{urlencode(query)}")


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
    help="A list that you sent and compared with what the panel paid, and that a "
    "restored copy of the database does not know; repeatable.",
)
@click.option(
    "--compared",
    is_flag=True,
    help="You compared all lists that the database or its record does not know.",
)
@DATABASE
@JSON
def panel_pay_list(
    *,
    panel_file: Path,
    file: Path,
    again: int | None,
    sent: tuple[Path, ...],
    compared: bool,
    database: Path,
    as_json: bool,
) -> None:
    """Write whom the panel must pay.

    FILE is a new CSV file with each visit whose HITs are all decided, its approved
    rewards, and each bonus, without what earlier lists had. PANEL_FILE states the
    columns.

    Call an interrupted command again: it completes the list.

    DATABASE.pay-lists records each list. Do not restore it with the database. If the two
    differ, compare them with what the panel paid (--sent, --compared).

    Examples:
      piecework market panel pay-list panel.toml monday.csv
      piecework market panel pay-list panel.toml copy.csv --again 3
    """
    panel = read_panel(panel_file)
    secrets = read_secrets(panel_file, panel, for_links=False)
    with _only_writer(database):
        listed = (
            _due(panel, secrets, file, database, sent=sent, compared=compared)
            if again is None
            else _earlier(panel, secrets, again, database)
        )
        if again is not None and listed is not None:
            _write(file, listed.table)
    _say(panel, listed, file, as_json=as_json)


def _due(
    panel: "Panel",
    secrets: "Secrets",
    file: Path,
    database: Path,
    *,
    sent: tuple[Path, ...],
    compared: bool,
) -> "PayList | None":
    """Write the list that is due: an interrupted one, or a new one."""
    from piecework.markets.panel.panel_crowd import ways_out
    from piecework.markets.panel.pay_list import keys, make, mark_written, unwritten

    with transaction_in(database) as transaction:
        record = _record(database)
        _compare(transaction, panel, secrets, record, sent=sent, compared=compared)
        ways = ways_out(transaction, panel, secrets)
        listed = unwritten(transaction, panel, ways)
        if listed is not None:
            key = listed.recorded.key
            begun = Path(listed.file)
            is_complete = record.is_written(key) or _has(begun, listed.table)
            end = "complete there" if is_complete else "not complete, so it is written"
            click.echo(
                f"list {listed.number} for {listed.file} was interrupted; it is {end}", err=True
            )
            if is_complete and begun != file.absolute():
                record.add(listed.recorded)
                record.note_written(key)
                mark_written(transaction, listed.number)
                listed = None
        if listed is None:
            _refuse_existing(file)
            known = record.sent(panel.name, known=keys(transaction, panel))
            listed = make(transaction, panel, ways, file=str(file.absolute()), sent=known)
    if listed is None:
        return None
    # The order matters: after a kill at any moment, no line can be listed twice.
    record.add(listed.recorded)
    if not record.is_written(listed.recorded.key):
        _write(file, listed.table)
        record.note_written(listed.recorded.key)
    with transaction_in(database) as transaction:
        mark_written(transaction, listed.number)
    return listed


def _record(database: Path) -> "PayRecord":
    from piecework.markets.panel.pay_list import PayRecord

    try:
        return PayRecord.beside(database)
    except (ValueError, OSError) as fault:
        raise StoreError(
            str(fault), next_step="bring the file back from its own copy; it says who was listed"
        ) from fault


def _compare(
    transaction: "Transaction",
    panel: "Panel",
    secrets: "Secrets",
    record: "PayRecord",
    *,
    sent: tuple[Path, ...],
    compared: bool,
) -> None:
    """Refuse lists that only the database or only the record knows.

    Raises:
        RefusedForSafety: a person has to compare them first.
    """
    from piecework.markets.panel import pay_list
    from piecework.markets.panel.panel_crowd import ways_out
    from piecework.markets.panel.pay_list import digest_of

    ways = ways_out(transaction, panel, secrets)
    recorded = record.lists(panel.name)
    own = {
        listed.recorded.key: listed
        for number in pay_list.numbers(transaction, panel)
        if (listed := pay_list.read_pay_list(transaction, panel, ways, number)) is not None
    }
    texts = {
        digest_of(text): (str(earlier.absolute()), text)
        for earlier in sent
        for text in [read_text(earlier, name="list of --sent")]
    }
    others = [
        each
        for each in recorded
        if each.key not in own and each.key not in pay_list.compared(transaction)
    ]
    foreign = [each for each in others if each.digest not in texts]
    keys = {each.key for each in recorded}
    missing = [listed for key, listed in own.items() if key not in keys and listed.is_written]
    if not compared and (foreign or (missing and not sent)):
        raise _unequal(record, foreign, missing)
    known = {each.digest for each in recorded}
    known |= {listed.recorded.digest for listed in own.values()}
    now = clock.to_datetime(transaction.now_ms).isoformat(timespec="seconds")
    named = [
        record.add_file(panel.name, file, text, made=now)
        for digest, (file, text) in texts.items()
        if digest not in known
    ]
    for listed in missing:
        record.add(listed.recorded)
        record.note_written(listed.recorded.key)
    pay_list.note_compared(transaction, [*named, *(each.key for each in others)])


def _unequal(
    record: "PayRecord", foreign: "list[RecordedList]", missing: "list[PayList]"
) -> RefusedForSafety:
    lines = [
        f"the database does not know list {each.number} of {each.made}, in "
        f"{each.file}, with {plural(len(each.payments) or len(each.rows), 'payment')}"
        for each in foreign
    ]
    lines += [
        f"the record does not know list {listed.number}, in {listed.file}" for listed in missing
    ]
    return RefusedForSafety(
        f"{record.file} and the database know different lists, as after a restore; "
        "nothing is listed until you have compared them with what the panel paid: "
        + "; ".join(lines),
        next_step="if the record lies elsewhere, put it there. Otherwise name each "
        "list that the database or the record lacks with --sent LIST, or give "
        "--compared if there is no other: no payment of a recorded list is listed "
        "again",
    )


def _earlier(panel: "Panel", secrets: "Secrets", number: int, database: Path) -> "PayList":
    from piecework.markets.panel.panel_crowd import ways_out
    from piecework.markets.panel.pay_list import read_pay_list

    with transaction_in(database) as transaction:
        ways = ways_out(transaction, panel, secrets)
        listed = read_pay_list(transaction, panel, ways, number)
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


def _say(panel: "Panel", listed: "PayList | None", file: Path, *, as_json: bool) -> None:
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
        click.echo(f"list {listed.number}: {listed.lines} lines, {shown} in all, in {file}")
