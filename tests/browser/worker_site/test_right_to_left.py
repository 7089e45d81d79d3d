"""A Hebrew HIT in a Hebrew browser: the whole site reads from right to left."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.platforms.wire import html_question
from tests.browser.pages import violations
from tests.conftest import in_full
from tests.hit_templates.examples import example_of
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser


@pytest.fixture
def hebrew(market: Market, browser: Browser) -> Iterator[Callable[[int], Page]]:
    """Opens the list of HITs in a Hebrew browser of some width."""
    contexts = []

    def opened(width: int) -> Page:
        context = browser.new_context(locale="he-IL", viewport={"width": width, "height": 800})
        contexts.append(context)
        page = context.new_page()
        task = load_task("caption")
        page_of_hit = render_hit(replace(task, language="he"), example_of(task).items)
        post(market.requester("LAB"), Question=html_question(page_of_hit))
        token = market.worker().token
        page.goto(f"{market.endpoint}/worker/sign-in?token={token}")
        page.locator("main button").click()
        page.wait_for_url("**/worker/hits")
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [1280, *in_full(390)])
def test_the_site_and_the_hit_are_mirrored(hebrew: Callable[[int], Page], width: int) -> None:
    """Menu and picture begin at the right; axe finds nothing; nothing is cut off."""
    page = hebrew(width)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    first, last = page.locator(".menu a").first, page.locator(".menu button")
    start, end = first.bounding_box(), last.bounding_box()
    assert start is not None
    assert end is not None
    assert start["x"] > end["x"]
    assert violations(page) == []
    page.locator("form[action*=accept] button").click()
    hit = page.frame_locator("iframe")
    expect(hit.locator("html")).to_have_attribute("dir", "rtl")
    back, following = hit.locator("#back").bounding_box(), hit.locator("#next")
    expect(following).to_contain_text("הבא")
    ahead = following.bounding_box()
    assert back is not None
    assert ahead is not None
    assert back["x"] > ahead["x"]
    assert violations(page) == []
    assert "Time left" not in page.inner_text("main")


def test_a_hebrew_text_on_an_english_page_ends_at_its_left(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """The sign at its end is beside its last letter; the text begins where others do."""
    post(market.requester("LAB"), Title="שלום!", Description="שלום לך!")
    page = open_site(market.worker().token)
    for text in (
        page.get_by_role("heading", name="שלום!"),
        page.get_by_text("שלום לך!", exact=True),
    ):
        first, last, edge = text.evaluate(
            """element => {
                const at = (n) => {
                    const range = document.createRange();
                    range.setStart(element.firstChild, n);
                    range.setEnd(element.firstChild, n + 1);
                    return range.getBoundingClientRect().left;
                };
                const { length } = element.textContent;
                return [at(0), at(length - 1), element.getBoundingClientRect().left];
            }"""
        )
        assert first > last
        assert last - edge < 2
