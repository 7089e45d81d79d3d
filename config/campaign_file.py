"""A campaign file as written: its tables, checked, and the lines of its keys.

All paths in the file are relative to the file, so that a schedule that starts in
another folder finds the same store and cannot post a second time.
`piecework.campaign.assembling` combines the tables with tasks, heuristics and items.
"""

import hashlib
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from piecework.config.items_file import items_of_folder, read_items
from piecework.config.rewards import faults_of_money
from piecework.config.schema import CampaignTables
from piecework.config.utf8 import read_text
from piecework.config.variables import with_secrets
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.lines import Location, line_of
from piecework.domain.picture_location import PictureLocation
from piecework.domain.store_address import StoreAddress, store_address
from piecework.domain.suggestion import did_you_mean

STORE_URL = "PIECEWORK_STORE_URL"
"""The environment variable with the URL of a database for stores."""


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
            ConfigError: a variable in the URL is not set.
        """
        if self.tables.store.url is None:
            return os.environ.get(STORE_URL, "")
        return with_secrets(self.tables.store.url)

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
        return _at(self.path, self.text, key)

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
                [f"{where}: {problem}" for problem in fault.faults],
                next_step=fault.next_step,
            ) from fault


def parse(path: Path) -> CampaignFile:
    """Read a campaign file and check each key; items are not read yet.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema.
    """
    if not path.exists():
        others = [other.name for other in path.parent.glob("*.toml")]
        raise ConfigError(
            [f"{path}: no such campaign file{did_you_mean(path.name, others)}"],
            next_step="`piecework init` writes one",
        )
    text = read_text(
        path,
        name="campaign file",
        next_step="`piecework init` writes one",
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
            f"{_at(path, text, ('rewards', *where))}: {sentence}"
            for where, sentence in faults_of_money(document.get("rewards"))
        ]
        if not {"items", "imported"} & document.keys():
            faults.append(f"{_at(path, text, ('items',))}: is missing")
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


def schema_faults(
    path: Path,
    text: str,
    fault: ValidationError,
    *,
    schema: type[BaseModel] = CampaignTables,
) -> list[str]:
    """Return where a TOML file breaks its schema, each fault with line and key."""
    faults = []
    for error in fault.errors(include_url=False):
        location = [part for part in error["loc"] if not _is_branch(part)]
        where = _at(path, text, location)
        if error["type"] == "extra_forbidden":
            known = _keys_of(location[:-1], schema)
            faults.append(
                f"{where}: no such key{did_you_mean(str(location[-1]), known)}"
            )
        elif error["type"] == "missing":
            faults.append(f"{where}: is missing")
        else:
            message = error["msg"].removeprefix("Value error, ")
            faults.append(f"{where}: {message} (found {error['input']!r:.80})")
    return faults


def _keys_of(table: Sequence[str | int], schema: type[BaseModel]) -> list[str]:
    """Return the keys that a table may have; empty if the table is not known."""
    model: Any = schema
    for part in table:
        field = getattr(model, "model_fields", {}).get(part)
        if field is not None:
            model = field.annotation
        elif not isinstance(part, int):
            return []
        # Take the table X from `X | None` and `tuple[X, ...]`.
        kinds = [_bare(kind) for kind in get_args(model)]
        model = next((kind for kind in kinds if _is_table(kind)), model)
    return list(model.model_fields) if _is_table(model) else []


def _bare(kind: object) -> object:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _is_table(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _at(path: Path, text: str, location: Location) -> str:
    line = line_of(text, location)
    where = f"{path}:{line}" if line else str(path)
    return f"{where}: {'.'.join(map(str, location)) or 'the file'}"


def _is_branch(part: str | int) -> bool:
    # pydantic puts the branch of a union in the location; no key has such a name.
    return isinstance(part, str) and part.startswith(("dict[", "literal[", "branch["))
