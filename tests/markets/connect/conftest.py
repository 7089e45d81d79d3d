"""A town for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import open_page as open_page  # noqa: PLC0414 - a fixture
from tests.browser.worker_site.conftest import update_pictures as update_pictures  # noqa: PLC0414 - a fixture
from tests.markets.connect.town import Town, a_town


@pytest.fixture
def town(tmp_path: Path) -> Iterator[Town]:
    """A marketplace, the offline Connect, and a bridge that is live."""
    with a_town(tmp_path) as town:
        yield town
