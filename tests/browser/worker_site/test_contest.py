"""A worker contests a lost qualification in a real browser, on a desk and a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.pages import violations
from tests.marketplace.market import Market, Worker

pytestmark = pytest.mark.browser

REASON = "You have lost it: of your latest 50 items 39 agreed (78%)."


def lost_qualification(market: Market) -> tuple[str, Worker]:
    """A qualification's type, and the worker who lost it."""
    client, ann = market.requester("LAB"), market.worker()
    made = client.create_qualification_type(
        Name="good at captions in Spanish", Description="x", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    who: dict[str, Any] = {"QualificationTypeId": type_id, "WorkerId": ann.worker_id}
    client.associate_qualification_with_worker(**who)
    client.disassociate_qualification_from_worker(**who, Reason=REASON)
    return type_id, ann


@pytest.mark.parametrize("width", [1280, 390])
def test_a_lost_qualification_is_contested(
    market: Market, open_site: Callable[..., Page], width: int
) -> None:
    """The text is opened, written, sent and shown, and nothing is cut off."""
    type_id, ann = lost_qualification(market)
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


def test_text_that_is_written_before_the_pages_script_stays(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """The script restores a draft only into an unchanged form."""
    _, ann = lost_qualification(market)
    page = open_site(ann.token, "/worker/qualifications")
    text = page.get_by_label("Why is this wrong?")
    page.get_by_text("Contest this").click()
    text.fill("The photos were all white.")
    page.reload()
    expect(text).to_have_value("The photos were all white.")
    held: list[Route] = []
    page.route("**/static/kept.js", lambda route: held.append(route))  # noqa: PLW0108
    page.reload(wait_until="commit")
    page.get_by_text("Contest this").click()
    text.fill("They were all black.")
    held[0].continue_()
    page.wait_for_load_state("load")
    expect(text).to_have_value("They were all black.")
