"""A stub of the API for each test; what it was asked is held to Prolific's document."""

from collections.abc import Iterator

import pytest

from tests.markets.prolific import openapi
from tests.markets.prolific.stub import Stub, serving


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server that answers as the test says."""
    with serving() as running:
        yield running
        if openapi.FILE.exists():
            faults = [fault for asked in running.asked for fault in openapi.faults_of(asked)]
            assert not faults
