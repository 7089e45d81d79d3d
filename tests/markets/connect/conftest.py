"""A town for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.markets.connect.town import Town, a_town


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A marketplace, the offline Connect, and a bridge that is live."""
    with a_town(tmp_path) as town:
        yield town
