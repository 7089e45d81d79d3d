"""A running marketplace for tests that speak its protocols.

With PIECEWORK_ENDPOINT (and PIECEWORK_FRAMES) set, tests that need no file of their own
talk to that rehearsing marketplace; they use access keys and handles that nobody used.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.state.backend import Backend, Rules
from tests.marketplace.market import START, Market


@contextmanager
def a_market(database: Path) -> Iterator[Market]:
    """A new marketplace that rehearses, or the one at PIECEWORK_ENDPOINT."""
    with ExitStack() as stack:
        endpoint = os.environ.get("PIECEWORK_ENDPOINT", "")
        frames = os.environ.get("PIECEWORK_FRAMES", "")
        if not endpoint:
            running = stack.enter_context(
                serve(Marketplace(database, rehearsal=True, seed=7, start=START))
            )
            endpoint, frames = running.endpoint_url, running.frames_url
        market = Market(endpoint, frames)
        stack.callback(market.close)
        yield market


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    """A marketplace in which nothing has happened yet."""
    with a_market(tmp_path / "market.db") as market:
        yield market


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A marketplace for tests that leave time alone and bring their own requester."""
    with a_market(tmp_path_factory.mktemp("standing") / "market.db") as market:
        yield market


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """A marketplace without its addresses, for laws about its inside."""
    opened = Backend(tmp_path / "backend.db", Rules(rehearsal=True, seed=7, start=START))
    yield opened
    opened.close()
