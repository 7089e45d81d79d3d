"""An emulator in memory, and a researcher on it."""

from collections.abc import Iterator

import pytest

from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Researcher


@pytest.fixture
def researcher() -> Iterator[Researcher]:
    """A researcher with 10,000.00 pounds and nobody to spend them on."""
    with serve(Options(start=START)) as url, Researcher(url) as researcher:
        yield researcher
