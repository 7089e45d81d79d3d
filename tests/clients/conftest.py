"""A rehearsing marketplace, and the clients of other people that are set on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.environments import UnavailableError, python_client
from tests.clients.scene import Scene
from tests.marketplace.conftest import a_market
from tests.marketplace.market import QUESTION, Market


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A marketplace that all clients share; time in it is left alone."""
    with a_market(tmp_path_factory.mktemp("clients") / "market.db") as market:
        yield market


@pytest.fixture(scope="session")
def aws() -> Path:
    """The AWS CLI."""
    try:
        return python_client("awscli") / "aws"
    except UnavailableError as fault:
        pytest.skip(f"the AWS CLI is not here: {fault}")


@pytest.fixture
def scene(standing: Market, aws: Path) -> Scene:
    """A requester whom nobody met before, with a command line."""
    return Scene(standing, aws)


@pytest.fixture(scope="session")
def question_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with a question, as --question file://... wants it."""
    path = tmp_path_factory.mktemp("questions") / "question.xml"
    path.write_text(QUESTION, encoding="utf-8")
    return str(path)
