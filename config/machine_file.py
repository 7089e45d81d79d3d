"""The machine's file, `piecework.toml`: what holds for all campaigns on a machine.

Where results are written, which database has the stores, and what the marketplace takes.
A campaign file that moves to another machine says none of it. Commands, flows and programs
find the file by one rule, so that they find the same store: the environment variable
`PIECEWORK_CONFIG` names it, or it is `piecework.toml` beside the campaign file.

The file also has options of long-running commands (`piecework.cli.configuration`).
"""

import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from piecework.config.named import Names, Words
from piecework.config.posting_tables import Fees
from piecework.config.schema_faults import at, schema_faults
from piecework.config.user_files import COMMANDS, CONFIG, read_text, with_secrets
from piecework.domain.errors import ConfigError
from piecework.domain.money import NAMES, Currency, currency_of
from piecework.domain.store_address import first_refused

STORE_URL = "PIECEWORK_STORE_URL"
"""The environment variable with the URL of a database for stores."""

FILE_NAME = "piecework.toml"
"""The name of the machine's file beside a campaign file."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OutputTable(_Strict):
    """`[output]`: where the results of all campaigns are written."""

    folder: Annotated[Words, Names.OUTPUT] | None = None


class StoreTable(_Strict):
    """`[store]`: the database that holds the campaigns' stores."""

    url: Annotated[str, StringConstraints(max_length=2_000), Names.DATABASE] | None = None


class MachineFileTables(_Strict):
    """The tables for campaigns."""

    output: OutputTable = OutputTable()
    store: StoreTable = StoreTable()
    fees: Fees = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFile:
    """The machine's file; a machine without a file has empty tables.

    Attributes:
        path: its path; `None` on a machine without a file.
        text: its text.
        tables: its checked tables.
        is_named: whether the environment names it. One beside a campaign file may come
            from anyone, as the campaign file may.
    """

    path: Path | None = None
    text: str = ""
    tables: MachineFileTables = field(default_factory=MachineFileTables)
    is_named: bool = False

    @property
    def folder(self) -> Path | None:
        """The folder of all results, if the file names one."""
        named = self.tables.output.folder
        return None if named is None or self.path is None else self.path.parent / named

    def all_results(self, campaign: Path) -> Path:
        """Return the folder with a folder for each campaign's results.

        Args:
            campaign: the path of the campaign file, which has it beside it by default.
        """
        return self.folder or campaign.parent / "out"

    @property
    def store_url(self) -> str:
        """URL of the database for stores; "" for files. The environment counts after the file.

        Raises:
            ConfigError: a variable in the URL is not set, or it has an option that is
                not in the list.
        """
        if self.tables.store.url is None:
            return with_secrets(os.environ.get(STORE_URL, ""))
        url = with_secrets(self.tables.store.url)
        if option := first_refused(url):
            raise ConfigError([f"{self.at('store', 'url')}: the option {option!r} is not allowed"])
        return url

    def at(self, *key: str | int) -> str:
        """Return where a key is, for an error: `piecework.toml:2: store.url`."""
        return at(self.path or Path(FILE_NAME), self.text, key)

    def faults_of_currency(self, currency: Currency) -> Iterator[str]:
        """Yield why fees do not fit a campaign in a currency: their least is in another."""
        fees: list[dict[str, Any]] = tomllib.loads(self.text).get("fees", [])
        for number, table in enumerate(fees):
            least = table.get("minimum", "")
            other = currency_of(least)
            if other not in {None, currency}:
                yield (
                    f'{self.at("fees", number, "minimum")}: "{least}" is in {NAMES[other]}, '
                    f"but the campaign is in {NAMES[currency]}; state the amount without a sign"
                )


def machine_path(campaign: Path) -> Path | None:
    """Return the path of the machine's file for a campaign file; `None` without a file."""
    if named := os.environ.get(CONFIG):
        return Path(named)
    beside = campaign.parent / FILE_NAME
    return beside if beside.is_file() and beside != campaign else None


def machine_file(campaign: Path) -> MachineFile:
    """Read the machine's file for a campaign file.

    Raises:
        ConfigError: the file that `PIECEWORK_CONFIG` names is missing, or the file cannot
            be read, is not TOML, or has a key or value that does not fit.
    """
    path = machine_path(campaign)
    if path is None:
        return MachineFile()
    is_named = bool(os.environ.get(CONFIG))
    if is_named and not path.is_file():
        raise ConfigError([f"{CONFIG}: no such file: {path}"])
    text = read_text(path, name="machine's file")
    return MachineFile(path=path, text=text, tables=tables_of(path, text), is_named=is_named)


def tables_of(path: Path, text: str) -> MachineFileTables:
    """Return the tables for campaigns, checked; those of commands are checked by them.

    Raises:
        ConfigError: it is not TOML, or has a key or value that does not fit.
    """
    try:
        document = tomllib.loads(text)
        tables = {name: table for name, table in document.items() if name not in COMMANDS}
        return MachineFileTables.model_validate(tables)
    except ValidationError as fault:
        raise ConfigError(schema_faults(path, text, fault, schema=MachineFileTables)) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
