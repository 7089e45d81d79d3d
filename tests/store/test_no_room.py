"""A store on a full disk can only be read."""

import sqlite3
from pathlib import Path

import pytest

from piecework.cli.errors import explain
from piecework.domain.errors import StoreError
from piecework.store import bound
from piecework.store.database import open_store
from tests.crash.world import World, can_mount, small_disk

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")


def test_a_store_that_was_closed_is_read_on_a_full_disk(tmp_path: Path) -> None:
    """There is no space for a log, which reading does not need; writing is refused."""
    world = World(tmp_path)
    with small_disk(world.out):
        path = world.out / "piecework.db"
        store = open_store(path, create=True)
        bound.bind(store, "name", "birds")
        store.close()
        world.strike("disk full")
        store = open_store(path)
        assert bound.read_bound(store).name == "birds"
        with pytest.raises(sqlite3.OperationalError) as refused:
            bound.bind(store, "campaign", "birds")
        assert "attempt to write" in explain(refused.value)[0]
        store.close()
        world.mend()
        store = open_store(path)
        bound.bind(store, "campaign", "birds")
        store.close()


def test_a_store_is_not_born_on_a_full_disk(tmp_path: Path) -> None:
    """The error says what to check, and no file is left that looks like a store."""
    world = World(tmp_path)
    with small_disk(world.out):
        world.strike("disk full")
        path = world.out / "piecework.db"
        with pytest.raises(StoreError, match="cannot be used"):
            open_store(path, create=True)
        world.mend()
        open_store(path, create=True).close()
