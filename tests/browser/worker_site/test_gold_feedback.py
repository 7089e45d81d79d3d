"""What a worker reads who was rejected for gold, on the page where it is read."""

from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from piecework.engine.run_pass import run_pass
from tests.as_needed_campaign import PEOPLE, Voters
from tests.engine.conftest import in_folder
from tests.gold_campaign import AGREED, REASON, TEXT, WHY, write_gold

pytestmark = pytest.mark.browser


def test_reason_and_right_answer_are_read_under_your_work(tmp_path: Path, browser: Browser) -> None:
    """On a phone, whole and escaped, by who was wrong; others read nothing of it."""
    plainly = "A <b>plate</b> & a fork"

    def write(folder: Path, text: str) -> Path:
        path = write_gold(folder, text)
        gold = (folder / "gold.csv").read_text()
        (folder / "gold.csv").write_text(gold.replace(WHY, plainly))
        return path

    pages = []
    with in_folder(tmp_path, TEXT, write=write) as (run, people):
        voters = Voters(people.endpoint, AGREED)
        while run_pass(run).waiting_for != "nobody":
            voters.work()
        for name in PEOPLE:
            with httpx.Client(base_url=people.endpoint) as site:
                people.sign_in(name, site)
                token = site.cookies["worker_session"]
            context = browser.new_context(viewport={"width": 390, "height": 800})
            context.add_cookies(
                [{"name": "worker_session", "value": token, "url": people.endpoint}]
            )
            page = context.new_page()
            page.goto(f"{people.endpoint}/worker/history")
            pages.append(page.locator("main").inner_text())
            if REASON in pages[-1]:
                assert Axe().run(page).violations_count == 0
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= 390
                page.screenshot(path=tmp_path / "told.png", full_page=True)
            context.close()
    (page_with_reason,) = [text for text in pages if REASON in text]
    words = " ".join(page_with_reason.split())
    assert f"The requester's reason: {REASON} The answer to item" in words
    right = 'the known answer is "Incongruent: at least one thing is wrong". '
    assert right + plainly in words
    assert not any(plainly in text for text in pages if text != page_with_reason)
