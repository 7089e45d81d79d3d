"""A marketplace with two markets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.markets.connect.with_prolific.place import Place, a_place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A place in which nothing has happened yet."""
    with a_place(tmp_path) as place:
        yield place
