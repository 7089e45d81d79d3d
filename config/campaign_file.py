"""A campaign file as written: its tables, checked, the lines of its keys, and its values.

All paths in the file are relative to the file, so that a schedule that starts in another
folder finds the same store and cannot post a second time. A rehearsal reads copies of the
files, in its own folder. `piecework.campaign.assembling` combines the tables with tasks,
heuristics and items.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import ValidationError

from piecework.config.items_file import items_of_folder, read_items
from piecework.config.machine_file import MachineFile, StoreTable, machine_file
from piecework.config.posting_tables import ExperimentTable, faults_of_money
from piecework.config.requirements_table import (
    EarnedTable,
    FilterRange,
    FilterShares,
    ParticipantFile,
    wanted_qualification,
)
from piecework.config.results_tables import publication_of, sink_of
from piecework.config.schema import CampaignTables
from piecework.config.schema_faults import at, schema_faults
from piecework.config.shared_files import with_shared
from piecework.config.trust import refuse_untrusted
from piecework.config.user_files import legal_name, read_text
from piecework.domain.campaign import AsNeeded, Posting
from piecework.domain.crowds import MARKETS, Crowds
from piecework.domain.dataset import Publication, Sink
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import Experiment
from piecework.domain.hit import PROLIFIC, Comparator, Item, QualificationRequirement, Share
from piecework.domain.ids import QualificationTypeId
from piecework.domain.pictures import PictureLocation
from piecework.domain.qualifications import EarnedRule
from piecework.domain.store_address import StoreAddress, store_address
from piecework.domain.task import Task
from piecework.domain.text import did_you_mean, shell_word
from piecework.domain.verdicts import PolicyRule

REHEARSALS = "rehearsals"
"""The folder of all rehearsals, in the folder of the campaign's results."""

_LARGEST_BYTES = 10_000_000


def inside(name: str) -> Path:
    """Return where the copy of a named file is, in the folder of the copies.

    >>> inside("data/birds.csv").as_posix(), inside("../birds.csv").as_posix()
    ('data/birds.csv', '_above/birds.csv')
    """
    path = Path(os.path.normpath(name))
    parts = ("_above" if part == ".." else part for part in path.relative_to(path.anchor).parts)
    return Path("_root" if path.is_absolute() else "", *parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignFile:
    """One campaign file, read once.

    Attributes:
        path: the path of the file, as given.
        text: the text of the file.
        source_hash: sha256 of the file's bytes.
        tables: its checked tables.
        rehearsal: the number of the rehearsal that is read; `None` for live work.
        copies: the folder with copies of the files that it names; `None`: they are read
            where they are.
        machine: the machine's file.
        results: the folder of live work, if it does not follow from name and machine.
    """

    path: Path
    text: str
    source_hash: str
    tables: CampaignTables
    rehearsal: int | None = None
    copies: Path | None = None
    machine: MachineFile = field(default_factory=MachineFile)
    results: Path | None = None

    @property
    def live_folder(self) -> Path:
        """The folder of live work, with the folder of the rehearsals inside."""
        usual = self.machine.all_results(self.path) / self.tables.name
        return (self.results or usual).resolve()

    def kept_in(self, folder: Path) -> "CampaignFile":
        """Return the file with results and store in a folder, wherever the machine has them."""
        tables = self.machine.tables.model_copy(update={"store": StoreTable(url="")})
        return replace(self, machine=replace(self.machine, tables=tables), results=folder)

    @property
    def out(self) -> Path:
        """The folder of the store, dataset and report: of live work, or of a rehearsal."""
        if self.rehearsal is None:
            return self.live_folder
        return self.live_folder / REHEARSALS / str(self.rehearsal)

    @property
    def folder(self) -> Path:
        """The folder where files are looked up: the file's own, or that of the copies."""
        return self.copies or self.path.parent

    def named(self, name: str) -> Path:
        """Return the path of a file that this one names, or of its copy."""
        return self.folder / (name if self.copies is None else inside(name))

    @property
    def store_url(self) -> str:
        """URL of the database that has the campaign's store; "" for a file.

        Raises:
            ConfigError: as `MachineFile.store_url`.
        """
        # Rehearsals are files, wherever live work is stored.
        return "" if self.rehearsal is not None else self.machine.store_url

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
        named = self.tables.pictures
        return PictureLocation.named(named, beside=self.path.parent) if named else None

    def at(self, *key: str) -> str:
        """Return where a key is, for an error: `birds.toml:8: reward`."""
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
            stated=(self.tables.items.file or "") if is_own else "",
        )

    def items_of_folder(
        self, columns: tuple[str, ...], *, addresses: tuple[str, ...] = ("url",)
    ) -> tuple[Item, ...]:
        """Return an item for each picture in `pictures`, if no file lists them.

        Raises:
            ConfigError: the task needs more columns, or there are no pictures.
        """
        pictures = self._own_pictures
        folder = None if pictures is None else pictures.folder
        assert folder is not None  # noqa: S101 - otherwise the schema requires a file
        try:
            return items_of_folder(folder, columns, addresses=addresses)
        except ConfigError as fault:
            where = self.at("pictures")
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


def parse_text(path: Path, text: str, *, folder: Path | None = None) -> CampaignFile:
    """Return the campaign file that this text at this path would be.

    Args:
        path: the path of the file.
        text: the text of the file.
        folder: where the files are whose tables belong to it; `None`: beside it.

    Raises:
        ConfigError: the text is not TOML, or breaks the schema; or the machine's file has
            a fault.
    """
    faults: list[str] = []
    machine = machine_file(path)
    try:
        stated, folder = tomllib.loads(text), folder or path.parent
        document, faults = with_shared(stated, folder=folder, at=lambda *key: at(path, text, key))
        if document.pop("currency", None) is not None:
            where = at(path, text, ("currency",))
            faults.append(
                f'{where}: no such key; the sign of an amount says it, such as reward = "£0.40"; '
                "an amount without a sign is in US dollars"
            )
        faults += [
            f"{at(path, text, where)}: {sentence}"
            for where, sentence in faults_of_money(document, text)
        ]
        if not {"items", "pictures", "imported"} & document.keys():
            where = at(path, text, ("items",))
            faults.append(f'{where}: is missing; write items = "photos/", or items = "birds.csv"')
        tables = CampaignTables.model_validate({"name": legal_name(path.stem), **document})
    except ValidationError as fault:
        raise ConfigError([*faults, *schema_faults(path, text, fault)]) from fault
    # Brackets may be nested too deeply, and numbers too long, for Python.
    except (ValueError, RecursionError) as fault:
        if text.lstrip().startswith("<"):
            raise ConfigError(
                [f"{path}: a page of HTML, not a campaign file (TOML)"],
                next_step="write a campaign file for this page: "
                f"piecework init CAMPAIGN.toml --task {shell_word(path)}",
            ) from fault
        raise ConfigError([f"{path}: not valid TOML: {fault}"]) from fault
    faults += machine.faults_of_currency(tables.currency)
    if faults:
        raise ConfigError(faults)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return CampaignFile(path=path, text=text, source_hash=digest, tables=tables, machine=machine)


# MTurk's system qualification types (API reference, data structures).
NUMBER_HITS_APPROVED = QualificationTypeId("00000000000000000040")
PERCENT_APPROVED = QualificationTypeId("000000000000000000L0")
LOCALE = QualificationTypeId("00000000000000000071")

HOUR = 3600
"""Seconds in an hour."""

Heuristics = Mapping[str, Mapping[str, object] | None]


def heuristics(tables: CampaignTables) -> Heuristics:
    """Return settings by heuristic; `None` for a heuristic that is switched off."""
    return {
        name: None if settings is False else settings
        for name, settings in tables.heuristics.items()
    }


def policy(tables: CampaignTables) -> tuple[PolicyRule, ...]:
    """Return the rules of the policy, in the file's order."""
    return tuple(
        PolicyRule(
            subject_kind=rule.on,
            any_of=rule.any_of,
            at_least=rule.at_least,
            share=rule.share,
            suspicion_above=rule.suspicion_above,
            then=rule.then,
            because=rule.because,
        )
        for rule in tables.decisions.rule
    )


def posting(tables: CampaignTables, task: Task, *, batches: int) -> Posting:
    """Return how HITs are posted in these batches, with the task's defaults."""
    table, asked = tables.posting, tables.answers
    minutes = table.assignment_minutes
    return Posting(
        batches=batches,
        assignments=asked if isinstance(asked, int) else asked.least,
        items_per_hit=table.items_per_hit or task.items_per_hit,
        lifetime_seconds=round(table.lifetime_hours * HOUR),
        assignment_duration_seconds=(
            round(minutes * 60) if minutes else task.assignment_duration_seconds
        ),
        auto_approval_delay_seconds=round(table.auto_approval_hours * HOUR),
        max_rounds=table.max_rounds,
        as_needed=None if isinstance(asked, int) else AsNeeded(most=asked.most, until=asked.until),
        records_typing=table.records_typing,
    )


def crowds(tables: CampaignTables) -> Crowds | None:
    """Return which markets the HITs go to; `None` for the marketplace's first market."""
    if tables.markets is None:
        return None
    if tables.cheapest_within_hours is not None:
        seconds = round(tables.cheapest_within_hours * HOUR)
        return Crowds(cheapest=tuple(tables.markets), within_seconds=seconds)
    return Crowds(
        percent=tuple((name, tables.markets[name]) for name in MARKETS if name in tables.markets)
    )


def experiment(table: ExperimentTable | None) -> Experiment | None:
    """Return the experiment with the page, if there is one."""
    if table is None:
        return None
    return Experiment(wordings=table.wordings, pastes=table.paste)


def earned(tables: tuple[EarnedTable, ...], folder: Path) -> tuple[EarnedRule, ...]:
    """Return when workers earn qualifications; records are relative to the folder."""
    return tuple(
        EarnedRule(
            name=table.name,
            kind=table.kind,
            agreement=table.agreement,
            over=table.over,
            revoke_below=table.revoke_below,
            forget_days=table.forget_after_days,
            records=folder / table.records,
        )
        for table in tables
    )


def requirements(tables: CampaignTables) -> tuple[QualificationRequirement, ...]:
    """Return who may accept a HIT, in MTurk's terms."""
    table = tables.requirements
    built_in = []
    if table.approved_hits_above is not None:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=NUMBER_HITS_APPROVED,
                comparator="GreaterThan",
                integer_values=(table.approved_hits_above,),
            )
        )
    if table.approval_rate_at_least is not None:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=PERCENT_APPROVED,
                comparator="GreaterThanOrEqualTo",
                integer_values=(table.approval_rate_at_least,),
            )
        )
    if table.countries:
        built_in.append(
            QualificationRequirement(
                qualification_type_id=LOCALE, comparator="In", locales=table.countries
            )
        )
    return (
        *built_in,
        *of_prolific(tables),
        *(
            QualificationRequirement(
                qualification_type_id=QualificationTypeId(type_id),
                comparator=comparator,
                integer_values=values,
            )
            for type_id, comparator, values in map(wanted_qualification, table.qualifications)
        ),
    )


def of_prolific(tables: CampaignTables) -> Iterator[QualificationRequirement]:
    """Yield what participants of Prolific have to answer about themselves."""
    for name, wanted in (tables.prolific or {}).items():
        type_id = _type_of_filter(name)
        if isinstance(wanted, ParticipantFile):
            continue
        if not isinstance(wanted, FilterRange):
            choices = wanted.choices if isinstance(wanted, FilterShares) else wanted
            yield QualificationRequirement(
                qualification_type_id=type_id, comparator="In", integer_values=choices
            )
            continue
        ends: tuple[tuple[Comparator, int | None], ...] = (
            ("GreaterThanOrEqualTo", wanted.at_least),
            ("LessThanOrEqualTo", wanted.at_most),
        )
        for comparator, end in ends:
            if end is not None:
                yield QualificationRequirement(
                    qualification_type_id=type_id, comparator=comparator, integer_values=(end,)
                )


def shares(tables: CampaignTables) -> tuple[Share, ...]:
    """Return how the visits are divided among the choices of filters."""
    return tuple(
        Share(
            type_id=_type_of_filter(name),
            percent=tuple(zip(wanted.choices, wanted.percent, strict=True)),
        )
        for name, wanted in (tables.prolific or {}).items()
        if isinstance(wanted, FilterShares)
    )


def _type_of_filter(name: str) -> QualificationTypeId:
    return QualificationTypeId(PROLIFIC + "".join(filter(str.isalnum, name.upper())))


def publication(tables: CampaignTables) -> Publication:
    """Return what the requester states for readers of the dataset."""
    return publication_of(tables.card, tables.dataset, grows=tables.grows is not None)


def has_releases(tables: CampaignTables) -> bool:
    """Return whether the dataset is released: if it has sinks, or if it grows.

    A dataset that grows and is not written as Parquet is not released by itself.
    """
    grows = tables.grows is not None
    return bool(tables.sink) or (grows and "parquet" in (tables.formats or ("parquet",)))


def sinks(tables: CampaignTables) -> tuple[Sink, ...]:
    """Return where else the releases go."""
    return tuple(sink_of(*parts) for parts in tables.sink)
