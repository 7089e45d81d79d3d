"""A worker contests a lost qualification in a real browser, on a desk and a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import violations
from tests.marketplace.market import Market

pytestmark = pytest.mark.browser

REASON = "You have lost it: of your latest 50 items 39 agreed (78%)."


@pytest.mark.parametrize("width", [1280, 390])
def test_a_lost_qualification_is_contested(
    market: Market, open_site: Callable[..., Page], width: int
) -> None:
    """The text is opened, written, sent and shown, and nothing is cut off."""
    client, ann = market.requester("LAB"), market.worker()
    made = client.create_qualification_type(
        Name="good at captions in Spanish", Description="x", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    who: dict[str, Any] = {"QualificationTypeId": type_id, "WorkerId": ann.worker_id}
    client.associate_qualification_with_worker(**who)
    client.disassociate_qualification_from_worker(**who, Reason=REASON)
    page = open_site(ann.token, "/worker/qualifications", width=width)
    expect(page.get_by_text(REASON)).to_be_visible()
    text = page.get_by_label("Why is this wrong?")
    expect(text).to_be_hidden()
    page.get_by_text("Contest this").click()
    text.fill("The photos were all white.\nPlease look again.")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Send to the requester").click()
    expect(page.get_by_text("The photos were all white.")).to_be_visible()
    expect(page).to_have_url(f"{market.endpoint}/worker/qualifications#{type_id}")
