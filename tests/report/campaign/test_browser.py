"""The page in a real browser: axe finds nothing, nothing runs, nothing is fetched."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from piecework.report.page import render_report
from tests.report.campaign import by_hand, hostile, made_up

_PAGES = {
    "empty": made_up.empty(),
    "real": by_hand.small(is_rehearsal=False),
    "large": made_up.large(items=60),
    "hostile": hostile.campaign(hostile.NASTY),
}

_SHORT = {("hostile", 390), ("large", 1280)}
"""What is looked at each time."""

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("name", "width"),
    [
        pytest.param(*(name, width), marks=() if (name, width) in _SHORT else (pytest.mark.full,))
        for name in _PAGES
        for width in (1280, 390)
    ],
)
def test_everybody_can_read_it(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """No fault that axe knows, no sideways scrolling, no request, no dialog."""
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES[name]), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    requests: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto(file.as_uri())
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")

    results = Axe().run(page)
    scroll_width = page.evaluate("document.documentElement.scrollWidth")
    page.close()

    assert results.violations_count == 0, results.generate_report()
    assert scroll_width <= width
    assert [url for url in requests if not url.startswith("data:")] == [file.as_uri()]
    assert dialogs == []


@pytest.mark.full
def test_dark_screens_can_be_read_as_well(browser: Browser, tmp_path: Path) -> None:
    """Every colour has its contrast there too, and the page is dark."""
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES["real"]), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    violations = Axe().run(page).response["violations"]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()

    assert not [(violation["id"], violation["nodes"][0]["html"]) for violation in violations]
    assert ground == "rgb(14, 18, 22)"


def test_nothing_is_cut_off_on_paper(browser: Browser, tmp_path: Path) -> None:
    """On the width of A4 between margins no table stands out, and pictures show."""
    file = tmp_path / "report.html"
    file.write_text(render_report(_PAGES["large"]), encoding="utf-8")
    page = browser.new_page(viewport={"width": 680, "height": 900})
    page.emulate_media(media="print")
    page.goto(file.as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    shown = page.evaluate("[...document.images].every(one => one.complete)")
    page.close()

    assert width <= 680
    assert shown
