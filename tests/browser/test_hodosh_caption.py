"""The image description task: guidelines first, and a count of characters."""

import pytest
from playwright.sync_api import expect

from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.browser.pages import Open
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser


def test_guidelines_come_first_and_characters_are_counted(open_page: Open) -> None:
    """Start leads to "Image 1 / 5"; 99 characters pass, and the hundredth holds."""
    with serving() as host:
        host.page = example_of(load_task("hodosh_caption")).page
        page = open_page(host.address())
        expect(page.get_by_role("heading", name="Before you start")).to_be_visible()
        expect(page.get_by_role("img", name="A white dog stands")).to_be_visible()
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("heading", name="Image 1 / 5")).to_be_focused()
        box, hint = page.locator("#caption-1"), page.locator("#count-caption-1")
        box.fill("x" * 98 + "\U0001f415é")  # 100 characters as people count
        expect(hint).to_have_text("100 of at most 99 characters")
        page.get_by_role("button", name="Next").click()
        expect(box).to_be_focused()
        expect(page.get_by_text("Please make it shorter")).to_be_visible()
        box.press("Backspace")
        expect(hint).to_have_text("99 of at most 99 characters")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name="Image 2 / 5")).to_be_focused()
