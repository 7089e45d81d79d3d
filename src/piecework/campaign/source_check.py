"""What a look at the whole source of a campaign that grows shows, before it begins."""

from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice

from piecework.campaign.row_faults import faults_of_row
from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.growing import SourceRow
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId

_SHOWN = 5


def warnings_of_source(campaign: Campaign) -> Iterator[str]:
    """Yield what a pass would set aside or leave for later, in sentences."""
    if campaign.growth is None:
        return
    source = campaign.growth.source
    try:
        delivery = source.read()
        faults: list[str] = []
        digests: dict[str, str] = {}
        with closing(delivery):
            for row in chain.from_iterable(delivery.chunks):
                faults += islice(_faults_of(campaign, row, digests), 1)
    except ConfigError as fault:
        yield from fault.faults
        return
    if faults:
        yield f"{plural(len(faults), 'row')} cannot be used and would be set aside"
        yield from faults[:_SHOWN]
    if delivery.unfinished:
        yield f"{source.name}: {delivery.unfinished}"


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
