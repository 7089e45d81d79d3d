"""A fresh store, and a clock that stands still."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.clock import FixedClock
from piecework.store import bound
from piecework.store.database import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store in a new file, with a name."""
    opened = open_store(tmp_path / "piecework.db", create=True)
    bound.bind(opened, "name", "a test")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FixedClock:
    """Monday, nine o'clock."""
    return FixedClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
