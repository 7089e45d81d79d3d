"""The caption page is usable by everybody: axe finds nothing, phones need no scroll."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.host import Host
from tests.browser.pages import fits, pass_lesson, violations

pytestmark = pytest.mark.browser

SIZES = {"desktop": (1280, 900), "phone": (360, 780)}


@pytest.mark.parametrize("size", SIZES)
def test_no_state_of_the_page_has_an_axe_violation(
    host: Host, open_page: Callable[..., Page], size: str
) -> None:
    """Empty, with messages, at the end, in a preview, without its picture."""
    width, height = SIZES[size]
    page = open_page(host.address(), width=width, height=height)
    assert violations(page) == []
    page.check('[name="flaws.1"][value=other]')
    page.fill("#caption-1", "There is")
    page.click("#next")
    expect(page.locator("#faults-flaw_other-1 span")).to_be_visible()
    assert violations(page) == []
    page.fill("#caption-1", "A red house with a brown roof by a post")
    page.check('[name="has_text.1"][value=no]')
    page.fill("#flaw_other-1", "a finger")
    page.click("#next")
    expect(page.locator("#comment")).to_be_visible()
    assert violations(page) == []
    host.has_pictures = False
    page.goto(host.preview_address())
    pass_lesson(page)
    expect(page.locator("[data-position='1'] .lost")).to_be_visible()
    assert violations(page) == []


def test_a_zoomed_picture_scrolls_inside_its_frame_only(
    host: Host, open_page: Callable[..., Page]
) -> None:
    """At 360 pixels the page stays as wide as the window, at any zoom and turn."""
    page = open_page(host.address(), width=360, height=780)
    for _ in range(3):
        page.click("[data-position='1'] [data-view=in]")
    page.click("[data-position='1'] [data-view=turn]")
    assert fits(page)


def test_focus_is_visible_wherever_the_keyboard_goes(
    host: Host, open_page: Callable[..., Page]
) -> None:
    """Every element that Tab reaches has an outline of at least two pixels."""
    page = open_page(host.address())
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        element, width = page.evaluate(
            """() => {
              const e = document.activeElement;
              const name = e.id || e.name || e.dataset.view || e.className || e.tagName;
              return [name, parseFloat(getComputedStyle(e).outlineWidth)];
            }"""
        )
        if element == "BODY":
            break
        assert width >= 2, element
        reached.append(element)
    assert {"frame", "caption-1", "flaws.1", "next"} <= set(reached)


def test_without_scripts_the_page_says_what_to_do(
    host: Host, open_page: Callable[..., Page]
) -> None:
    """A browser without JavaScript shows one clear sentence."""
    browser = open_page(host.address()).context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(host.address())
    expect(page.locator("noscript p")).to_be_visible()
    expect(page.locator("noscript p")).to_contain_text("This page needs JavaScript.")
    context.close()
