"""A running marketplace for tests that speak its protocols.

With PIECEWORK_ENDPOINT (and PIECEWORK_FRAMES) set, tests that need no file of their own
talk to that rehearsing marketplace; they use access keys and handles that nobody used.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from marketplace.house import House, Rules
from marketplace.server import serve
from tests.marketplace.market import START, Market


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    """A marketplace that rehearses: a new one, or the one at PIECEWORK_ENDPOINT."""
    with ExitStack() as stack:
        endpoint = os.environ.get("PIECEWORK_ENDPOINT", "")
        frames = os.environ.get("PIECEWORK_FRAMES", "")
        if not endpoint:
            running = stack.enter_context(
                serve(tmp_path / "market.db", rehearsal=True, seed=7, start=START)
            )
            endpoint, frames = running.endpoint_url, running.frames_url
        yield Market(endpoint, frames, stack)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house without doors, for laws about its inside."""
    opened = House(
        tmp_path / "house.db", Rules(rehearsal=True, seed=7, start=START)
    )
    yield opened
    opened.close()
