"""A fresh store of each kind, and a clock that stands still."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.clock import FixedClock
from piecework.domain.store_address import StoreAddress
from piecework.store import bound
from piecework.store.database import Store, open_store
from tests.stores import KINDS, address_of


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> StoreAddress:
    """Where a new store may be: a file, or a schema of PostgreSQL."""
    return address_of(request, tmp_path)


@pytest.fixture
def store(address: StoreAddress) -> Iterator[Store]:
    """An open store, with a name."""
    opened = open_store(address, create=True)
    bound.bind(opened, "name", "a test")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FixedClock:
    """Monday, nine o'clock."""
    return FixedClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
