"""The worker's pages in a real browser: one way through them, each page accessible."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page

from tests.browser.pages import violations
from tests.browser.worker_site.questions import form, html_question
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser


def follow(control: Locator) -> None:
    """Click, and wait for the page that comes: while it loads, there is no document."""
    with control.page.expect_navigation():
        control.click()


def test_a_person_does_a_hit_on_a_phone(market: Market, open_site: Callable[..., Page]) -> None:
    """List, preview, accept, submit in the frame, thank-you, return, history."""
    client, ann = market.requester(), market.worker()
    post(client, Question=html_question(form()))
    post(client, Question=html_question(form()))
    page = open_site(ann.token, width=390, height=800)
    assert violations(page) == []
    follow(page.get_by_role("link", name="Preview Describe a picture"))
    assert violations(page) == []
    follow(page.get_by_role("button", name="Accept"))
    assert violations(page) == []
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A red bird.")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")
    assert violations(page) == []
    follow(page.get_by_role("button", name="Accept the next HIT"))
    page.get_by_text("Return this HIT", exact=True).click()
    assert violations(page) == []
    page.get_by_role("button", name="Yes, return this HIT").click()
    page.wait_for_url("**/worker/hits")
    follow(page.get_by_role("link", name="Your work"))
    assert violations(page) == []
    states = [assignment["status"] for assignment in market.books()["assignments"]]
    assert states == ["Submitted", "Returned"]
    (hit,) = client.list_reviewable_hits()["HITs"]
    (work,) = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "<FreeText>A red bird.</FreeText>" in work["Answer"]
