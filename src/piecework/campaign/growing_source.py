"""The source of a campaign that grows: how it is read, its first rows, and its faults."""

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from piecework.campaign.questions import faults_of_row
from piecework.config import campaign_file as values
from piecework.config.campaign_file import CampaignFile
from piecework.config.input_tables import GrowsTable, is_read_as_it_arrives
from piecework.config.sources import PictureFolder, TableFile
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, Growth, Source, SourceRow
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.pictures import PictureLocation
from piecework.domain.task import Task
from piecework.domain.text import plural
from piecework.hit_templates.own_html.task import ITEM_ID
from piecework.store import dealt_items
from piecework.store.database import Store, exists, open_store

if TYPE_CHECKING:
    from piecework.config.item_pictures import Pictures


def first_rows(file: CampaignFile, task: Task) -> tuple[Item, ...]:
    """Return the first rows of a source that grows, as an example of its items.

    After the first pass they come from the store, so that a pass does its other work
    even if the source cannot be read.
    """
    most = (file.tables.grows or GrowsTable()).batch
    if exists(file.store):
        with closing(open_store(file.store)) as store:
            if items := dealt_items.first_rows(store, most):
                return tuple(items)
    with closing(usable_items(source_of(file, task))) as usable:
        return tuple(islice(usable, most))


def source_of(file: CampaignFile, task: Task) -> Source:
    """Return the source of a campaign that grows."""
    table, page = file.tables.items, task.html_page
    pictures = file.pictures
    addresses, files = task.picture_columns, _files_of(pictures)
    possible = () if page is None else page.possible_addresses
    if table.query is not None:
        # Most campaigns need neither a database nor Parquet files.
        from piecework.campaign.exchange.databases import Query  # noqa: PLC0415

        return Query(
            database=table.file or "",
            statement=table.query,
            beside=file.path.parent,
            columns=_needed(task),
            renamed=table.columns,
            addresses=addresses,
            possible=possible,
        )
    if table.file is not None and is_read_as_it_arrives(table.file):
        from piecework.campaign.exchange.table_source import TableFolder  # noqa: PLC0415

        return TableFolder(
            address=table.file,
            beside=file.path.parent,
            columns=_needed(task),
            pictures=pictures,
            renamed=table.columns,
            addresses=addresses,
            possible=possible,
            files=files,
        )
    if table.file is not None:
        return TableFile(
            path=file.path.parent / table.file,
            columns=_needed(task),
            pictures=pictures,
            drawn=table.scenes or 0,
            renamed=table.columns,
            addresses=addresses,
            possible=possible,
            files=files,
        )
    assert pictures is not None  # noqa: S101 - otherwise the schema requires a file
    if page is not None:
        needed = tuple(name for name in page.possible_addresses if name in task.optional_columns)
        addresses = task.picture_columns or needed
    if pictures.folder is not None:
        return PictureFolder(path=pictures.folder, columns=_needed(task), addresses=addresses)
    from piecework.campaign.exchange.picture_bucket import PictureBucket, PicturesInBucket  # noqa: PLC0415

    return PicturesInBucket(
        bucket=PictureBucket(pictures.address), columns=_needed(task), addresses=addresses
    )


def _needed(task: Task) -> tuple[str, ...]:
    """Return the columns that a row needs; an address that is missing may arrive later."""
    addresses = () if task.html_page is None else task.html_page.addresses
    return tuple(dict.fromkeys((*task.columns, *addresses)))


def _files_of(pictures: PictureLocation | None) -> "Pictures | None":
    if pictures is None:
        return None
    if pictures.folder is not None:
        from piecework.config.item_pictures import FolderPictures  # noqa: PLC0415

        return FolderPictures(pictures.folder)
    from piecework.campaign.exchange.picture_bucket import PictureBucket  # noqa: PLC0415

    return PictureBucket(pictures.address)


def usable_items(rows: Source) -> Generator[Item, None, None]:
    """Yield the rows of a source that can become items, each id once.

    A source that cannot be read yields none.
    """
    seen: set[str] = set()
    try:
        with closing(rows.read()) as delivery:
            for row in chain.from_iterable(delivery.chunks):
                is_bad = row.fault or row.row_id in seen or rows.faults(row)
                seen.add(row.row_id)
                if not is_bad:
                    yield Item(item_id=ItemId(row.row_id), columns=dict(row.cells))
    except ConfigError:
        return


def first_fault(source: Source, delivery: Delivery) -> tuple[list[str], str]:
    """Return why a reading has no usable row, by its first row, and what helps."""
    row = next(chain.from_iterable(delivery.chunks), None)
    if row is None and delivery.unfinished:
        return [f"{source.name}: {delivery.unfinished}"], "write the file to its end"
    if row is None:
        return [], "add the first row, or write a page of your own: piecework init --new-task"
    if row.fault:
        return [f"{row.located}: {row.fault}"], "correct the row"
    id_words = f'write in [items]: columns = {{ {ITEM_ID} = "..." }}, or give each row an id'
    return source.faults(row)[:1], "correct the row" if row.row_id else id_words


def growth_of(file: CampaignFile, task: Task) -> Growth | None:
    """Return how a campaign grows; `None` for a campaign with fixed items."""
    table, grows = file.tables.items, file.tables.grows
    if grows is None:
        return None
    parts = [
        [table.file, file.tables.pictures, dict(table.columns), task.columns],
        [table.query],
        [grows.on_change, grows.on_removal],
        [task.name, task.version, task.own.digest if task.own else ""],
    ]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return Growth(
        source=source_of(file, task),
        settings=digest[:16],
        batch_size=grows.batch,
        batch_every_seconds=round(grows.every_hours * values.HOUR),
        on_change=grows.on_change,
        on_removal=grows.on_removal,
        a_day=file.tables.rehearsal.rows_a_day,
        archive_after=grows.archive_after_batches,
    )


_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSource:
    """What the next pass would find in a source.

    Attributes:
        new: the ids of rows that it would take in; the store has none of them yet.
        warnings: what it would set aside or leave for later, in sentences.
    """

    new: AbstractSet[str] = frozenset()
    warnings: Sequence[str] = ()


def see_source(campaign: Campaign, store: Store | None) -> SeenSource:
    """Read the source of a campaign once; a campaign with fixed items has none."""
    if campaign.growth is None:
        return SeenSource()
    source = campaign.growth.source
    # Each picture of a bucket would be a call.
    is_near = campaign.pictures is not None and campaign.pictures.folder is not None
    faults: list[str] = []
    digests: dict[str, str] = {}
    usable = set[str]()
    try:
        delivery = source.read()
        with closing(delivery):
            for chunk in delivery.chunks:
                awaited = source.awaited(chunk) if is_near else {}
                for row in chunk:
                    of_row = (*_faults_of(campaign, row, digests), *awaited_faults(row, awaited))
                    if of_row:
                        faults.append(of_row[0])
                    else:
                        usable.add(row.row_id)
    except ConfigError as fault:
        return SeenSource(warnings=fault.faults)
    warnings = []
    if faults:
        warnings.append(f"{plural(len(faults), 'row')} cannot be used and would be set aside")
        warnings += faults[:_SHOWN]
    if delivery.unfinished:
        warnings.append(f"{source.name}: {delivery.unfinished}")
    known = set() if store is None else {str(item_id) for item_id in dealt_items.all_ids(store)}
    return SeenSource(new=usable - known, warnings=warnings)


def awaited_faults(row: SourceRow, awaited: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return why a row waits for its pictures, each with its place."""
    return [f"{row.located}: {why}" for why in awaited.get(row.row_id, {}).values()]


def _faults_of(campaign: Campaign, row: SourceRow, digests: dict[str, str]) -> Iterator[str]:
    if row.fault:
        yield f"{row.located}: {row.fault}"
        return
    assert campaign.growth is not None  # noqa: S101 - checked by the caller
    yield from campaign.growth.source.faults(row)
    digest = row.digest(None)
    if digests.setdefault(row.row_id, digest) != digest:
        yield f"{row.located}: {row.row_id!r} was used before, with other cells"
    item = Item(item_id=ItemId(row.row_id), columns=row.cells)
    yield from (f"{row.located}: {fault}" for fault in faults_of_row(campaign, item))
