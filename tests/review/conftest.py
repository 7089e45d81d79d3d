"""A review page that is served, and a reviewer's program that opens its link."""

import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.engine.run_pass import run_pass
from piecework.foundation.server.limits import Limits, Listening
from piecework.foundation.signin.person import Role
from piecework.review.desk import Manner
from piecework.review.server import Address, bound_to, server_of
from piecework.review.sessions import Sessions
from tests.browser.conftest import open_page
from tests.engine.conftest import in_folder
from tests.marketplace.market import free_port
from tests.review import stores
from tests.small_campaign import CAMPAIGN

__all__ = ["open_page"]
"""A fixture of another room's tests."""

_USUAL = Limits()
_ALL_REVIEWERS: Mapping[str, Role] = {}
_DECIDED_BY_PEOPLE = CAMPAIGN.replace('by = "policy"', 'by = "person"')


@dataclass(frozen=True, slots=True)
class Served:
    """A page at work.

    Attributes:
        run: its campaign, which the page's thread uses, too.
        links: by reviewer.
        url: of the page, without a slash at its end.
        sessions: who has entered.
    """

    run: OpenedCampaign
    links: dict[str, str]
    url: str
    sessions: Sessions

    @contextmanager
    def client(self, reviewer: str = "ada") -> Iterator[httpx.Client]:
        """A reviewer who has opened the link; sends what a browser's form would."""
        token = self.links[reviewer].partition("#")[2]
        origin = {"Origin": self.url}
        with httpx.Client(base_url=self.url, headers=origin, timeout=30) as client:
            client.post("/enter", data={"token": token}).raise_for_status()
            yield client


Serve = Callable[..., AbstractContextManager[Served]]


@contextmanager
def served(
    opened: OpenedCampaign,
    *names: str,
    manner: Manner | None = None,
    limits: Limits = _USUAL,
    roles: Mapping[str, Role] = _ALL_REVIEWERS,
) -> Iterator[Served]:
    """Serve a campaign's page to these people, in these roles, until the block ends."""
    address = Address(reviewers=names or ("ada", "grace"), limits=limits, roles=roles)
    with (
        bound_to(address) as listening,
        served_at(opened, address, manner or Manner(), listening) as started,
    ):
        yield started


@contextmanager
def served_at(
    opened: OpenedCampaign, address: Address, manner: Manner, listening: Listening
) -> Iterator[Served]:
    """Serve it at a socket that listens."""
    server, sessions = server_of(opened, address, manner, listening)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Served(opened, dict(sessions.links), sessions.origin, sessions)
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def worked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A folder in which ann and bob have worked and two passes were made, and a port.

    The store names the address of its marketplace, so each copy needs the same port.
    """
    folder, port = tmp_path_factory.mktemp("worked"), free_port()
    with in_folder(folder, _DECIDED_BY_PEOPLE, port=port) as (run, people):
        run_pass(run)
        assert people.work() == 2
        run_pass(run)
    return folder, port


@pytest.fixture
def waiting(worked: tuple[Path, int], tmp_path: Path) -> Iterator[CampaignRun]:
    """Bob's capitals wait for a person: two answers, their assignment, an exclusion."""
    folder, port = worked
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    with in_folder(tmp_path, _DECIDED_BY_PEOPLE, port=port) as (run, _):
        yield run


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    """The page of a small store: four workers, four items, all of it waits."""
    with stores.opened(tmp_path) as run, served(run) as started:
        yield started
