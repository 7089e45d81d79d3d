"""Signing in in Chromium, at another's provider with a page of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import violations
from tests.foundation.signin import mock_provider
from tests.review.signing_in import door_at, page_with

OpenPage = Callable[..., Page]


def _at_the_provider(page: Page, person: str) -> None:
    page.locator("input[name=sub]").fill(person)
    page.get_by_role("button", name="Authorize").click()


def _check_both_sizes(page: Page) -> None:
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        assert violations(page) == [], (page.url, width)


@pytest.mark.browser
def test_people_sign_in_with_a_click_and_see_what_their_role_shows(
    tmp_path: Path, open_page: OpenPage
) -> None:
    """A strict cookie survives the way back; a stranger reads whom to ask."""
    with mock_provider.at_work() as issuer, page_with(tmp_path, door_at(issuer)) as at:
        page = open_page(f"{at.url}/card?view=answer&key=A0000-k1.1")
        _check_both_sizes(page)
        page.get_by_role("link", name="Sign in with").click()
        _at_the_provider(page, "rita")
        page.wait_for_url(f"{at.url}/card?view=answer&key=A0000-k1.1")
        expect(page.get_by_text("You are a reader")).to_be_visible()
        expect(page.get_by_role("button", name="Keep")).to_have_count(0)
        page.keyboard.press("k")
        _check_both_sizes(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="You have signed out")).to_be_visible()
        _check_both_sizes(page)
        page.goto(f"{at.url}/")
        page.get_by_role("link", name="Sign in with").click()
        _at_the_provider(page, "eve")
        expect(page.get_by_role("alert")).to_contain_text("Ask Ada, room 12 for one.")
        _check_both_sizes(page)
        page.get_by_role("link", name="Sign in with").click()
        assert "prompt=login" in page.url
        _at_the_provider(page, "ada")
        page.wait_for_url(f"{at.url}/")
        page.goto(f"{at.url}/card?view=answer&key=A0000-k1.1")
        page.keyboard.press("k")
        page.wait_for_url(f"{at.url}/card?view=answer&key=**")
        expect(page.get_by_text("Kept.", exact=True)).to_be_visible()
