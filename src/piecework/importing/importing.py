"""Import files into a campaign: first understand and show them, then write.

Each assignment is stored once even if it is in several files. Only files that were
understood first (`understanding`) are written. If the process dies, a part is stored;
importing the same files again adds the rest.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from piecework.campaign.assembling import assemble
from piecework.campaign.binding import is_typed_by, keep_typed_by
from piecework.campaign.deriving import standard_rules
from piecework.campaign.draft import free_name
from piecework.campaign.opened import OpenedCampaign
from piecework.config.campaign_file import CampaignFile, parse, parse_text
from piecework.config.user_files import legal_name, write_new
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.field import MERGED
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.imported import ImportedFile, Reading
from piecework.domain.task import Task
from piecework.engine.opening import open_for_import
from piecework.hit_templates.tasks import load_task
from piecework.importing.imported_text import (
    columns_name,
    columns_text,
    imported_text,
    policy_text,
)
from piecework.importing.readers.recognise import Source, recognise
from piecework.importing.readers.rows import OF_FILE, ImportedRow, NotSent, Read, Unreadable
from piecework.importing.typing_rows import RowIds, RowTyper, is_same_row, row_of
from piecework.importing.understanding import Understanding, understand
from piecework.store import imports
from piecework.store.forgetting import forgotten
from piecework.store.imports import ImportedAssignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Files that were understood, and the campaign to import them into.

    Attributes:
        path: the campaign file.
        campaign: the campaign in the file, if it exists.
        understood: `None` if no files are given, to reread the stored ones.
    """

    path: Path
    campaign: Campaign | None
    sources: tuple[Source, ...]
    understood: Understanding | None


def understand_files(
    paths: Sequence[Path], *, into: Path, reading: Reading, task_name: str = ""
) -> Import:
    """Understand files, without writing anything.

    Args:
        paths: the files.
        into: the campaign file, which may exist.
        reading: what is known about their columns; the campaign file takes precedence.
        task_name: a task of the gallery, if known.

    Raises:
        ConfigError: a file cannot be read, or the campaign is not an imported one.
    """
    campaign = _known(into)
    if campaign is not None:
        reading = campaign.imported or reading
    task = load_task(task_name) if task_name else None
    if campaign is not None:
        task = campaign.task
    sources = tuple(recognise(paths, replace(reading, marks=_marks(task, reading))))
    if campaign is None and not sources:
        raise ConfigError([f"{into}: there is no such campaign, and no files to import were given"])
    understood = understand(sources, reading, task=task) if sources else None
    return Import(path=into, campaign=campaign, sources=sources, understood=understood)


def _marks(task: Task | None, reading: Reading) -> dict[str, str]:
    """Return the kind of marks of each answer that is a field; "" if it has no marks."""
    kinds: dict[str, str] = {part: kind for kind, part in MERGED.items()}
    if task is not None:
        marks = {field.sent_as or field.name: kinds.get(field.regions, "") for field in task.fields}
    else:
        marks = {
            name: str(stated.get("marks", ""))
            for name, stated in reading.fields.items()
            if {"kind", "marks"} & stated.keys()
        }
    return {reading.answers.get(name, name): kind for name, kind in marks.items()}


def import_files(planned: Import) -> tuple[Campaign, list[ImportedFile]]:
    """Write the campaign file if there is none, and import the files into its store.

    Raises:
        ConfigError: the campaign file to write has faults, or another file has the name
            of its file of columns.
        StoreError: the store belongs to something else.
    """
    campaign = planned.campaign
    if campaign is None:
        assert planned.understood is not None  # noqa: S101 - there are files then
        name = free_name(planned.path, legal_name(planned.path.stem, "imported"))
        campaign = assemble(write_campaign(planned.path, planned.understood, name))
    return campaign, keep_files(campaign, planned.sources)


def write_campaign(path: Path, understood: Understanding, name: str) -> CampaignFile:
    """Write a new campaign file with a campaign's name, and its file of columns.

    Raises:
        ConfigError: as `import_files`.
    """
    text = imported_text(name, understood, file_name=path.name)
    with TemporaryDirectory() as folder:
        _write_columns(Path(folder, path.name), understood)
        draft = parse_text(path, text, folder=Path(folder)).kept_in(Path(folder))
        campaign = assemble(draft)
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_columns(path, understood)
    write_new(path, text + policy_text(standard_rules(campaign.task, ())))
    return parse(path)


def _write_columns(campaign: Path, understood: Understanding) -> None:
    """Write the file of columns beside a campaign file; the same one may be there."""
    text, path = columns_text(understood), campaign.with_name(columns_name(campaign.name))
    if not text:
        return
    if path.exists() and path.read_bytes() != text.encode():
        raise ConfigError(
            [f"{path}: another file has the name of this campaign's file of columns"],
            next_step=f"move it away, or name another campaign: --as OTHER{campaign.suffix}",
        )
    if not path.exists():
        write_new(path, text)


def _known(path: Path) -> Campaign | None:
    if not path.exists():
        return None
    campaign = assemble(parse(path))
    if campaign.imported is None:
        raise ConfigError(
            [f"{path}: is a campaign that collects its own answers"],
            next_step="import the answers into a separate campaign: --as OTHER.toml",
        )
    return campaign


_AT_ONCE = 500
"""The number of rows held in memory and written in one transaction."""

_PIECE = 1 << 20
_LONGEST_KEPT = 100_000
_CONFLICT = (
    "differs from the assignment with this id that was imported before, which is kept unchanged"
)
_OTHER_PERSON = (
    "a file of this name had another answer about the item, which is kept; if this is another "
    "person's file, rename it"
)
_T = TypeVar("_T")


def keep_files(campaign: Campaign, sources: Sequence[Source]) -> list[ImportedFile]:
    """Import files into the campaign's store, creating it if necessary.

    Raises:
        CampaignBusy: another process is working on the campaign.
        StoreError: the store belongs to something else.
    """
    with open_for_import(campaign) as opened:
        if not is_typed_by(opened.store, campaign):
            _type_anew(opened)
        kept = [_keep_file(opened, source) for source in sources]
        with opened.store.db.atomic():
            imports.count_slots(opened.store)
    return kept


def _type_anew(opened: OpenedCampaign) -> None:
    """Convert all answers again with the campaign's current fields."""
    typer = RowTyper(opened.campaign)
    rows = opened.store.db.execute("SELECT assignment_id, raw FROM raw_answers").fetchall()
    with opened.store.db.atomic():
        for assignment_id, raw in rows:
            answers = typer.answers(row_of(raw), AssignmentId(assignment_id))
            imports.retype(opened.store, answers)
    keep_typed_by(opened.store, opened.campaign)


def _keep_file(opened: OpenedCampaign, source: Source) -> ImportedFile:
    keeper = _FileKeeper(opened, source)
    for rows in _pieces(source.rows(), _AT_ONCE):
        with opened.store.db.atomic():
            keeper.keep(rows)
    return keeper.counts


class _FileKeeper:
    """Imports one file into a store, in chunks."""

    def __init__(self, opened: OpenedCampaign, source: Source) -> None:
        self._opened, self._store = opened, opened.store
        self._at = opened.clock.now()
        self._typer, self._ids = RowTyper(opened.campaign), RowIds(opened.pseudonym_key)
        self._items: set[ItemId] = set()
        self.counts = ImportedFile(
            file=source.path.name, sha256=_digest(source.path), format_name=source.format_name
        )
        with self._store.db.atomic():
            self._number = imports.begin_import(self._store, self.counts, at=self._at)

    def keep(self, rows: Iterable[Read]) -> None:
        """Store rows as part of the caller's transaction."""
        arrived = []
        for row in rows:
            if isinstance(row, ImportedRow):
                arrived.append((row, self._typer.assignment(row, self._ids)))
            elif isinstance(row, NotSent):
                self._count("not_sent")
            else:
                self._put_aside(row)
        new = self._new(arrived)
        imports.keep_imported(
            self._store, new, campaign=self._opened.campaign.name, number=self._number, at=self._at
        )
        self._count("assignments", len(new))
        imports.end(self._store, self._number, self.counts)

    def _new(
        self, arrived: list[tuple[ImportedRow, ImportedAssignment]]
    ) -> list[ImportedAssignment]:
        """Return the new assignments; update the decisions on the others.

        Rows of workers whose data were deleted at their request count as known.
        """
        gone = forgotten(self._store, (assignment.worker_id for _, assignment in arrived))
        self._count("known", sum(each.worker_id in gone for _, each in arrived))
        arrived = [(row, each) for row, each in arrived if each.worker_id not in gone]
        ids = (assignment.assignment_id for _, assignment in arrived)
        known = imports.known_raw(self._store, ids)
        new: dict[AssignmentId, ImportedAssignment] = {}
        again: list[ImportedAssignment] = []
        items: list[dict[str, str]] = []
        for row, assignment in arrived:
            twin = new.get(assignment.assignment_id)
            before = twin.raw if twin else known.get(assignment.assignment_id)
            if before is None:
                new[assignment.assignment_id] = assignment
                if not self._items.issuperset(assignment.item_ids):
                    self._items.update(assignment.item_ids)
                    items += self._typer.items(row)
            elif not is_same_row(before, assignment.raw):
                is_of_file = assignment.worker_id.startswith(OF_FILE)
                fault = _OTHER_PERSON if is_of_file else f"{assignment.assignment_id} {_CONFLICT}"
                if is_of_file and not self.counts.conflict:
                    self.counts = replace(self.counts, conflict=f"line {row.line}: {fault}")
                self._put_aside(
                    Unreadable(line=row.line, fault=fault, worker_id=assignment.worker_id)
                )
            else:
                self._count("known")
                if twin is None:
                    again.append(assignment)
        imports.keep_items(self._store, items, key=self._typer.key)
        imports.keep_outcomes(self._store, again, number=self._number)
        return list(new.values())

    def _put_aside(self, row: Unreadable) -> None:
        """Set a row aside; of a forgotten worker's row only where it is."""
        self._count("unreadable")
        ids = {row.worker_id} if row.worker_id else {cell.strip() for cell in row.cells} - {""}
        if forgotten(self._store, ids):
            row = replace(row, fault="", cells=(), worker_id="")
        longest = _LONGEST_KEPT // max(1, len(row.cells))
        imports.keep_unreadable(
            self._store,
            self._number,
            self.counts.unreadable,
            line=row.line,
            column=row.column,
            fault=row.fault,
            cells=json.dumps([cell[:longest] for cell in row.cells]),
            worker_id=row.worker_id,
        )

    def _count(self, name: str, number: int = 1) -> None:
        counted = getattr(self.counts, name) + number
        self.counts = replace(self.counts, **{name: counted})


def _pieces(rows: Iterable[_T], size: int) -> Iterator[list[_T]]:
    iterator = iter(rows)
    while piece := list(islice(iterator, size)):
        yield piece


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    for file in files:
        with file.open("rb") as content:
            while piece := content.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()
