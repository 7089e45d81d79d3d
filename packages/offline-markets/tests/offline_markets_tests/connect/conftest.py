"""Emulators in memory, and a requester on each."""

from collections.abc import Iterator

import pytest

from offline_markets.connect.options import Options
from offline_markets.connect.server import serving
from offline_markets_tests.connect.requester import START, Requester


@pytest.fixture
def requester() -> Iterator[Requester]:
    """A requester with 10,000.00 dollars and nobody to spend them on."""
    with serving(Options(start=START)) as offline, Requester(offline) as requester:
        yield requester


@pytest.fixture(scope="module")
def lasting() -> Iterator[Requester]:
    """One for all tests of a module that look at nothing but their own project."""
    with serving(Options(start=START)) as offline, Requester(offline) as requester:
        yield requester
