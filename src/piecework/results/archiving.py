"""Archive the settled batches of a campaign that grows (`piecework.store.archive`)."""

import logging
import sqlite3
from dataclasses import dataclass

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.text import plural
from piecework.store import archive
from piecework.store.archive import ARCHIVE_FOLDER, Part
from piecework.store.database import Store

KEEP = 20
"""Batches that the command keeps, unless the campaign file says more or less."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What was moved, and how large the store was before and after, in bytes."""

    parts: tuple[Part, ...]
    bytes_before: int
    bytes_after: int

    @property
    def answers(self) -> int:
        """How many answers were moved."""
        return sum(part.answers for part in self.parts)


def archive_folder(store: Store) -> str:
    """Return where the archive of a store is."""
    if store.address.url:
        return f"{store.address}, table archive_files"
    return str(store.address.folder / ARCHIVE_FOLDER)


def archive_settled(opened: OpenedCampaign, *, keep: int, compacts: bool = False) -> Archived:
    """Move what workers wrote in settled batches out of the store.

    The caller holds the campaign's lock.

    Args:
        opened: a campaign that grows.
        keep: how many of the newest batches stay in the store.
        compacts: give the space back to the file system.

    Raises:
        ConfigError: the campaign does not grow.
    """
    if opened.campaign.growth is None:
        raise ConfigError([f"{opened.campaign.path}: only a campaign that grows has an archive"])
    store = opened.store
    before = archive.size_bytes(store)
    parts = tuple(
        archive.move(store, batch, at=opened.clock.now())
        for batch in archive.settled_batches(store, keep=keep)
    )
    if compacts and parts:
        try:
            archive.compact(store)
        except (sqlite3.OperationalError, StoreError) as fault:  # it takes as much space again
            _logger.warning("the store keeps its size on disk: %s", fault)
    moved = Archived(parts=parts, bytes_before=before, bytes_after=archive.size_bytes(store))
    if parts:
        _logger.info(
            "%s of %s moved into %s",
            plural(moved.answers, "answer"),
            plural(len({part.batch for part in parts}), "batch"),
            archive_folder(store),
        )
    return moved
