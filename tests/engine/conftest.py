"""A campaign on a real marketplace, without Prefect: steps and scripted people."""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.engine.opening import open_on_marketplace
from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.small_campaign import CAMPAIGN, write_campaign

Opened = tuple[CampaignRun, People]
Write = Callable[[Path, str], Path]
Open = Callable[..., AbstractContextManager[Opened]]


@contextmanager
def in_folder(
    folder: Path,
    text: str = CAMPAIGN,
    *,
    pictures: int = 4,
    write: Write | None = None,
    port: int = 0,
) -> Iterator[Opened]:
    """A campaign of a folder, opened on a marketplace of its own.

    Args:
        folder: where it is written.
        text: its file.
        pictures: items of the small campaign of the crash suite.
        write: writes another campaign's files, and says where its file is.
        port: of the marketplace; a store that is opened again needs the same.
    """
    path = write_campaign(folder, text, pictures=pictures) if write is None else write(folder, text)
    with (
        pytest.MonkeyPatch.context() as patch,
        serve(
            Marketplace(
                folder / "marketplace.db",
                rehearsal=True,
                seed=1,
                start=datetime(2026, 1, 5, 9, tzinfo=UTC),
                port=port,
            )
        ) as running,
    ):
        patch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
        campaign = load_campaign(path)
        with open_on_marketplace(campaign, running.endpoint_url, live=False) as run:
            yield run, People(running.endpoint_url)


@pytest.fixture
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens the small campaign of the crash suite, changed as a test needs it."""
    # Some tests go on with commands after the block.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    return functools.partial(in_folder, tmp_path)


@pytest.fixture
def campaign_text() -> str:
    """The campaign file, as the crash suite has it."""
    return CAMPAIGN
