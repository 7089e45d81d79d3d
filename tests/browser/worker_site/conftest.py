"""A rehearsing marketplace with a worker's browser on it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.pages import sign_in
from tests.marketplace.conftest import a_market
from tests.marketplace.market import Market


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-pictures`; a person looks at each before it is committed.

    It is known when this folder is named:
    `pytest tests/browser/worker_site --update-pictures`.
    """
    parser.addoption("--update-pictures", action="store_true", help="take docs' pictures anew")


@pytest.fixture
def update_pictures(request: pytest.FixtureRequest) -> bool:
    """Whether the pictures in the docs are taken anew."""
    return bool(request.config.getoption("--update-pictures", default=False))


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    """A marketplace in which nothing has happened yet."""
    with a_market(tmp_path / "market.db") as market:
        yield market


@pytest.fixture
def open_site(market: Market, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page of the site in a profile of its own, with a session in it."""
    contexts = []

    def opened(
        token: str, path: str = "/worker/hits", *, width: int = 1280, height: int = 900
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        sign_in(page, f"{market.endpoint}/worker/sign-in?token={token}")
        if path != "/worker/hits":
            page.goto(market.endpoint + path)
        return page

    yield opened
    for context in contexts:
        context.close()
