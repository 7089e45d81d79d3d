"""The site of the docs: axe finds nothing, a phone shows whole tables, the search has a name.

`make docs` installs what builds it.
"""

import subprocess
import threading
from collections.abc import Iterable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.pages import fits
from tests.conftest import absent

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
_MKDOCS = ROOT / ".piecework/site/venv/bin/mkdocs"
_SAMPLE = ("index.html", "reference/campaign-file.html", "how-to/sign-in.html")
"""The home, the longest tables, and a table whose rows have headings."""

_SCHEMES = {"light": 1280, "dark": 390}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address and the folder of the built site."""
    if not _MKDOCS.exists():
        absent("mkdocs", "the site's builder is not installed (make docs installs it)")
    folder = tmp_path_factory.mktemp("site")
    config = ROOT / "tools/site/mkdocs.yml"
    subprocess.run(
        [str(_MKDOCS), "build", "-q", "-f", str(config), "-d", str(folder)],
        check=True,
        env={"NO_MKDOCS_2_WARNING": "1"},
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    server.server_close()


def _opened(browser: Browser, address: str, scheme: str) -> Page:
    page = browser.new_page(
        viewport={"width": _SCHEMES[scheme], "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page.set_default_timeout(60_000)
    page.goto(address)
    page.wait_for_selector("[data-md-component=search-query]", state="attached")
    return page


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_pages_of_the_docs_can_be_used_by_everybody(
    browser: Browser, site: tuple[str, Path], scheme: str
) -> None:
    """No fault that axe knows, and nothing wider than the window."""
    faults = _faults(browser, site[0], scheme, _SAMPLE)
    assert faults == {}


@pytest.mark.full
@pytest.mark.parametrize("scheme", _SCHEMES)
def test_every_page_of_the_docs_can_be_used_by_everybody(
    browser: Browser, site: tuple[str, Path], scheme: str
) -> None:
    """All pages, also that for addresses that lead nowhere."""
    address, folder = site
    # Examples of templates lie among the pages.
    files = [path for path in folder.rglob("*.html") if "md-search" in path.read_text()]
    pages = sorted(str(path.relative_to(folder)) for path in files)
    assert len(pages) > 60
    assert _faults(browser, address, scheme, pages) == {}


def _faults(
    browser: Browser, address: str, scheme: str, pages: Iterable[str]
) -> dict[str, list[str]]:
    faults = {}
    for name in pages:
        page = _opened(browser, f"{address}/{name}", scheme)
        faults[name] = _violations(page) + ["wider than the window"] * (not fits(page))
        page.close()
    return {name: of_page for name, of_page in faults.items() if of_page}


def _violations(page: Page) -> list[str]:
    """What axe has against the page; the theme alone decides how large its targets are."""
    return [
        f"{fault['id']}: {[node['target'] for node in fault['nodes']]}"
        for fault in Axe().run(page).response["violations"]
    ]


def test_a_cell_says_its_column_on_a_phone(browser: Browser, site: tuple[str, Path]) -> None:
    """No table scrolls sideways, and a reader need not remember the heads."""
    page = _opened(browser, f"{site[0]}/reference/campaign-file.html", "dark")
    cells = page.locator("table td:nth-child(2)")
    name = cells.first.evaluate("cell => getComputedStyle(cell, '::before').content")
    hidden = page.eval_on_selector_all(
        ".md-typeset__scrollwrap",
        "tables => tables.filter(table => table.scrollWidth > table.clientWidth).length",
    )
    page.close()
    assert name == '"type: "'
    assert hidden == 0


def test_the_search_opens_as_a_named_dialog(browser: Browser, site: tuple[str, Path]) -> None:
    """And finds a page."""
    page = _opened(browser, f"{site[0]}/index.html", "light")
    page.get_by_role("dialog", name="Search").locator("input").fill("hourly_wage")
    page.wait_for_selector(".md-search-result__item a")
    assert _violations(page) == []
    page.close()
