"""A window and a host for each browser test; the Chromium itself is everybody's."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import Host, serving


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a browser profile of its own; a script's error fails.

    Instructions that come before the first item are passed, unless `reads` is false.
    """
    contexts, errors = [], []

    def opened(address: str, *, width: int = 1280, height: int = 900, reads: bool = True) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        lesson = page.locator(".step.briefing:visible")
        if reads and lesson.count():
            page.click("#next")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def host() -> Iterator[Host]:
    """A host that shows the caption page with two pictures."""
    columns = [{"image_id": f"img_{n}", "url": f"/pictures/{n}.svg"} for n in ("one", "two")]
    items = [Item(item_id=ItemId(row["image_id"]), columns=row) for row in columns]
    with serving() as started:
        started.page = render_hit(load_task("caption"), items)
        yield started
