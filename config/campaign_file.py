"""A campaign file as written: its tables, checked, and the lines of its keys.

All paths in the file are relative to the file, so that a schedule that starts in
another folder finds the same store and cannot post a second time.
`piecework.campaign.assembling` combines the tables with tasks, heuristics and items.
"""

import hashlib
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from piecework.config.items_file import items_of_folder, read_items
from piecework.config.rewards import faults_of_money
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import at, schema_faults
from piecework.config.trust import refuse_untrusted
from piecework.config.utf8 import read_text
from piecework.config.variables import with_secrets
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.picture_location import PictureLocation
from piecework.domain.store_address import StoreAddress, first_refused, store_address
from piecework.domain.suggestion import did_you_mean

STORE_URL = "PIECEWORK_STORE_URL"
"""The environment variable with the URL of a database for stores."""


_LARGEST_BYTES = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFile:
    """One campaign file, read once.

    Attributes:
        path: the path of the file, as given.
        text: the text of the file.
        source_hash: sha256 of the file's bytes.
        tables: its checked tables.
    """

    path: Path
    text: str
    source_hash: str
    tables: CampaignTables

    @property
    def out(self) -> Path:
        """The folder of the campaign's store, dataset and report."""
        folder = self.tables.output.folder or f"out/{self.tables.name}"
        return (self.path.parent / folder).resolve()

    @property
    def store_url(self) -> str:
        """URL of the database that has the campaign's store; "" for a file.

        `[store] url` counts before the environment variable.

        Raises:
            ConfigError: a variable in the URL is not set, or it has an option that is
                not in the list.
        """
        if self.tables.store.url is None:
            return os.environ.get(STORE_URL, "")
        url = with_secrets(self.tables.store.url)
        if option := first_refused(url):
            where = self.at("store", "url")
            raise ConfigError([f"{where}: the option {option!r} is not allowed here"])
        return url

    @property
    def store(self) -> StoreAddress:
        """Where the campaign's store is."""
        return store_address(self.out, campaign=self.tables.name, url=self.store_url)

    @property
    def pictures(self) -> PictureLocation | None:
        """Where the marketplace gets pictures from, if items name files."""
        if self.tables.items.scenes:
            return PictureLocation(str(self.out / "pictures"))
        return self._own_pictures

    @property
    def _own_pictures(self) -> PictureLocation | None:
        named = self.tables.items.pictures
        return PictureLocation.named(named, beside=self.path.parent) if named else None

    def at(self, *key: str) -> str:
        """Return where a key is, for an error: `birds.toml:8: rewards.reward`."""
        return at(self.path, self.text, key)

    def items(
        self,
        columns: tuple[str, ...],
        *,
        file: Path,
        numbered: bool = False,
        addresses: tuple[str, ...] = ("url",),
        possible: tuple[str, ...] = (),
        is_own: bool = True,
    ) -> tuple[Item, ...]:
        """Read the items of a file that this one names.

        Args:
            columns: the columns that the task's page needs; the first is the id.
            file: the items file.
            numbered: whether to number rows without an id.
            addresses: columns with addresses of pictures.
            possible: columns with an address wherever the cell names a picture.
            is_own: whether `[items] columns` applies to the file.

        Raises:
            ConfigError: it has the faults of the items file.
        """
        # Drawn pictures may be missing: a rehearsal draws the pictures that are named.
        scenes = self.tables.items.scenes or 0
        pictures = None if scenes else self._own_pictures
        return read_items(
            file,
            columns,
            pictures=pictures,
            drawn=scenes,
            renamed=self.tables.items.columns if is_own else {},
            numbered=numbered,
            addresses=addresses,
            possible=possible,
        )

    def items_of_folder(
        self, columns: tuple[str, ...], *, addresses: tuple[str, ...] = ("url",)
    ) -> tuple[Item, ...]:
        """Return an item for each picture in `[items] pictures`, if no file lists them.

        Raises:
            ConfigError: the task needs more columns, or there are no pictures.
        """
        pictures = self._own_pictures
        folder = None if pictures is None else pictures.folder
        assert folder is not None  # noqa: S101 - otherwise the schema requires a file
        try:
            return items_of_folder(folder, columns, addresses=addresses)
        except ConfigError as fault:
            where = self.at("items", "pictures")
            raise ConfigError(
                [f"{where}: {problem}" for problem in fault.faults], next_step=fault.next_step
            ) from fault


def parse(path: Path) -> CampaignFile:
    """Read a campaign file and check each key; items are not read yet.

    Code that has what this returns may open what the file names.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema.
        RefusedForSafety: it names what is outside of its folder, and this user does not
            trust it (`piecework.config.trust`).
    """
    file = parse_untrusted(path)
    refuse_untrusted(file)
    return file


def parse_untrusted(path: Path) -> CampaignFile:
    """Do the same for a file that may come from anyone; what it names stays closed.

    Raises:
        ConfigError: as `parse`.
    """
    if not path.exists():
        others = [other.name for other in path.parent.glob("*.toml")]
        raise ConfigError(
            [f"{path}: no such campaign file{did_you_mean(path.name, others)}"],
            next_step="`piecework init` writes one",
        )
    text = read_text(
        path, name="campaign file", next_step="`piecework init` writes one", most=_LARGEST_BYTES
    )
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return replace(parse_text(path, text), source_hash=digest)


def parse_text(path: Path, text: str) -> CampaignFile:
    """Return the campaign file that this text at this path would be.

    Raises:
        ConfigError: the text is not TOML, or breaks the schema.
    """
    faults: list[str] = []
    try:
        document = tomllib.loads(text)
        faults = [
            f"{at(path, text, ('rewards', *where))}: {sentence}"
            for where, sentence in faults_of_money(document.get("rewards"))
        ]
        if not {"items", "imported"} & document.keys():
            faults.append(f"{at(path, text, ('items',))}: is missing")
        tables = CampaignTables.model_validate(document)
    except ValidationError as fault:
        raise ConfigError([*faults, *schema_faults(path, text, fault)]) from fault
    # Brackets may be nested too deeply, and numbers too long, for Python.
    except (ValueError, RecursionError) as fault:
        if text.lstrip().startswith("<"):
            raise ConfigError(
                [f"{path}: a page of HTML, not a campaign file (TOML)"],
                next_step="write a campaign file for this page: "
                f"piecework init CAMPAIGN.toml --task {path}",
            ) from fault
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
    if faults:
        raise ConfigError(faults)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return CampaignFile(path=path, text=text, source_hash=digest, tables=tables)
