"""The worker's pages in a real browser: one way through them, each page accessible."""

import shutil
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from tests.marketplace.market import SCHEMAS, Market, post

pytestmark = pytest.mark.browser

FORM = """<!doctype html><html lang="en"><title>Caption</title><main><h1>Caption</h1>
<form method="post"><input type="hidden" name="assignmentId">
<label>Caption <input name="caption"></label> <button>Submit</button></form></main>
<script>
const given = new URLSearchParams(location.search);
const form = document.forms[0];
form.elements.assignmentId.value = given.get("assignmentId");
form.action = given.get("turkSubmitTo") + "/mturk/externalSubmit";
</script></html>"""
QUESTION = (
    f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"><HTMLContent>'
    f"<![CDATA[{FORM}]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)


@pytest.fixture
def page() -> Iterator[Page]:
    """A window of a phone's width."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed (tests/need_chromium.sh installs it)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_page(viewport={"width": 390, "height": 800})
        opened.set_default_timeout(10_000)
        yield opened
        browser.close()


def check(page: Page) -> None:
    """No fault that axe knows, and nothing wider than the phone."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390


def test_a_person_does_a_hit_on_a_phone(market: Market, page: Page) -> None:
    """List, preview, accept, submit in the frame, thank-you, return, history."""
    client, ann = market.requester(), market.worker()
    post(client, Question=QUESTION)
    post(client, Question=QUESTION)
    page.goto(f"{market.endpoint}/worker/sign-in?token={ann.token}")
    check(page)
    page.get_by_role("link", name="Preview Describe a picture").click()
    check(page)
    page.get_by_role("button", name="Accept").click()
    check(page)
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A red bird.")
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    check(page)
    page.get_by_role("button", name="Accept the next HIT").click()
    page.get_by_text("Return this HIT", exact=True).click()
    check(page)
    page.get_by_role("button", name="Yes, return this HIT").click()
    page.wait_for_url("**/worker/hits")
    page.get_by_role("link", name="Your work").click()
    check(page)
    states = [one["status"] for one in market.books()["assignments"]]
    assert states == ["Submitted", "Returned"]
    (hit,) = client.list_reviewable_hits()["HITs"]
    (work,) = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "<FreeText>A red bird.</FreeText>" in work["Answer"]
