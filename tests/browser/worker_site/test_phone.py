"""A HIT on a phone, or in a wide window: one thing scrolls, the picture stays."""

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page, Route, expect

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.pictures import picture_name
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.wire import html_question
from piecework.simulation.pictures.drawing import draw
from piecework.simulation.pictures.scenes import scenes
from tests.browser.pages import pass_lesson, sign_in, tick, violations
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser

CAPTION = "A brown ketchup bottle, a purple box of tea and a green apple on a table"
PHONE = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 800}
WITH_KEYBOARD = {"width": 390, "height": 470}
LEAST_PICTURE = 110
MOST_LOOKS = 750  # fifteen seconds, as for what is expected elsewhere


@pytest.fixture
def market(tmp_path: Path) -> Iterator[Market]:
    """A marketplace with three drawn pictures."""
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for scene in scenes(7, 3):
        (pictures / picture_name(scene.item_id)).write_text(draw(scene), "utf-8")
    with (
        serve(
            Marketplace(tmp_path / "market.db", rehearsal=True, seed=7, pictures=pictures)
        ) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        yield market


@pytest.fixture
def at_work(market: Market, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a phone on a HIT of so many pictures, as somebody who has accepted it."""
    contexts = []

    def opened(pictures: int, *, round_number: int = 0, window: dict[str, int] = PHONE) -> Page:
        context = browser.new_context(viewport=window, has_touch=True)  # type: ignore[arg-type]
        context.set_default_timeout(15_000)
        contexts.append(context)
        task = load_task("caption")
        items = [
            Item(
                item_id=ItemId(scene.item_id),
                columns={
                    "image_id": scene.item_id,
                    "url": f"/pictures/{picture_name(scene.item_id)}",
                },
            )
            for scene in scenes(7, pictures)
        ]
        shown = render_hit(task, items, round_number=round_number)
        post(
            market.requester("LAB"),
            Title=task.title,
            Question=html_question(shown),
            MaxAssignments=2,
        )
        page = context.new_page()
        sign_in(page, f"{market.endpoint}/worker/sign-in?token={market.worker().token}")
        page.get_by_role("button", name="Accept a HIT").click()
        return page

    yield opened
    for context in contexts:
        context.close()


def question(page: Page) -> FrameLocator:
    """The question's frame at its first item, once it is as high as its page."""
    frame, hit = page.locator("iframe"), page.frame_locator("iframe")
    expect(frame).to_have_attribute("style", re.compile(r"height: \d+px"))
    pass_lesson(hit)
    expect(frame).to_have_attribute("style", re.compile(r"height: \d{3,4}px"))
    return hit


def check_nothing_is_hidden(page: Page) -> None:
    """The question's frame need not scroll, once the two pages have told each other."""
    (frame,) = (candidate for candidate in page.frames if candidate != page.main_frame)
    rest = "document.documentElement.scrollHeight - window.innerHeight"
    for _ in range(MOST_LOOKS):
        if frame.evaluate(rest) <= 1:
            return
        page.wait_for_timeout(20)
    pytest.fail("the frame scrolls in itself")


def box(element: Locator) -> tuple[float, float]:
    """Top and bottom of an element, in the window."""
    at = element.bounding_box()
    assert at is not None
    return at["y"], at["y"] + at["height"]


def edges(page: Page, hit: FrameLocator, field: Locator) -> list[float]:
    """Where strip ends, picture and field begin and end, and the keyboard begins."""
    strip = box(page.locator("#strip"))
    picture = box(hit.locator(".pinned .frame"))
    return [strip[1], *picture, *box(field), WITH_KEYBOARD["height"]]


def check_picture_is_in_sight(page: Page, hit: FrameLocator, field: Locator) -> None:
    """Below the time left and above the field, once the two windows have moved it."""
    for _ in range(MOST_LOOKS):
        gaps = [b - a for a, b in itertools.pairwise(edges(page, hit, field))]
        if min(gaps) >= -1 and gaps[1] >= LEAST_PICTURE:
            return
        page.wait_for_timeout(20)
    pytest.fail(f"not one below the other: {edges(page, hit, field)}")


def test_the_picture_stays_in_sight_while_one_types(at_work: Callable[..., Page]) -> None:
    """Below the time left and above the text, also when the keyboard takes a half."""
    page = at_work(2)
    hit = question(page)
    check_nothing_is_hidden(page)
    text = hit.locator("#caption-1")
    text.tap()
    page.set_viewport_size(WITH_KEYBOARD)  # type: ignore[arg-type]
    text.press_sequentially(CAPTION)
    expect(hit.locator(".pinned")).to_be_visible()
    check_picture_is_in_sight(page, hit, text)
    check_nothing_is_hidden(page)
    # Further down it stays as well, where "something else" is to be said.
    tick(hit, "flaws.1", "other")
    other = hit.locator("#flaw_other-1")
    other.tap()
    other.press_sequentially("A finger")
    check_picture_is_in_sight(page, hit, other)
    # At its own place it is whole again, where it was.
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    tick(hit, "has_text.1", "no")
    page.evaluate("scrollTo(0, 0)")
    expect(hit.locator(".pinned")).to_have_count(0)


def test_a_frame_that_was_there_first_grows_too(at_work: Callable[..., Page]) -> None:
    """On a slow line the page around hears only after the question was loaded."""

    def late(route: Route) -> None:
        page.frame_locator("iframe").locator("#caption-1").wait_for(state="attached")
        page.wait_for_timeout(500)
        route.continue_()

    page = at_work(2)
    page.route("**/grow.js", late)
    page.reload(wait_until="commit")
    question(page)
    check_nothing_is_hidden(page)


def test_the_next_picture_begins_at_its_top(at_work: Callable[..., Page]) -> None:
    """Although it is the page around that has to be scrolled."""
    page = at_work(2)
    hit = question(page)
    hit.locator("#caption-1").fill(CAPTION)
    tick(hit, "has_text.1", "no")
    tick(hit, "flaws.1", "none")
    hit.get_by_role("button", name="Next").click()
    heading = hit.locator("#heading-2")
    expect(heading).to_be_in_viewport()
    assert box(page.locator("#strip"))[1] <= box(heading)[0] + 1
    check_nothing_is_hidden(page)


def test_the_title_stands_once_and_words_fit_one_picture(at_work: Callable[..., Page]) -> None:
    """The site says it; the question's own heading is for screen readers."""
    page = at_work(1, round_number=1)
    hit = question(page)
    title = load_task("caption").title
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    own = hit.locator("h1").bounding_box()
    assert own is None or own["width"] <= 1
    expect(hit.get_by_text("You may have seen this picture before")).to_be_visible()
    assert violations(page) == []


def test_a_preview_does_not_scroll_in_itself_either(
    at_work: Callable[..., Page], market: Market
) -> None:
    """One looks at all pictures before one accepts."""
    page = at_work(2)
    bea = market.worker()
    (group,) = bea.groups()
    page.context.clear_cookies()
    sign_in(page, f"{market.endpoint}/worker/sign-in?token={bea.token}")
    page.goto(f"{market.endpoint}/worker/groups/{group['hit_group_id']}/preview")
    question(page)
    check_nothing_is_hidden(page)


def test_a_preview_says_once_that_it_is_one_and_no_notice_is_under_the_dots(
    at_work: Callable[..., Page], market: Market
) -> None:
    """The site says it, so the page does not repeat it; other notices keep apart."""
    page = at_work(2, round_number=1, window=WIDE)
    hit = question(page)
    notice, dots = hit.locator(".notice:visible").first, hit.locator(".dots")
    expect(dots).to_be_visible()
    overlap = """([notice, dots]) => {
      const [a, b] = [notice, dots].map((each) => each.getBoundingClientRect());
      return a.left < b.right && b.left < a.right
        && a.top < b.bottom && b.top < a.bottom;
    }"""
    handles = [notice.element_handle(), dots.element_handle()]
    assert not hit.locator("body").evaluate(f"(_, both) => ({overlap})(both)", handles)
    bea = market.worker()
    (group,) = bea.groups()
    page.context.clear_cookies()
    sign_in(page, f"{market.endpoint}/worker/sign-in?token={bea.token}")
    page.goto(f"{market.endpoint}/worker/groups/{group['hit_group_id']}/preview")
    hit = question(page)
    expect(page.get_by_text("This is a preview.")).to_be_visible()
    expect(hit.locator("#notice-preview")).to_be_hidden()


def test_nonsense_of_a_question_moves_nothing(at_work: Callable[..., Page]) -> None:
    """Heights that are none or too much, and parts of it while nobody works in it."""
    page = at_work(1)
    question(page)
    (frame,) = (candidate for candidate in page.frames if candidate != page.main_frame)
    frame.evaluate(
        "for (const height of ['9', NaN, null, {}]) "
        "parent.postMessage({ pieceworkHeight: height }, '*')"
    )
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    frame.evaluate("parent.postMessage({ pieceworkShow: { top: 900, bottom: 950 } }, '*')")
    frame.evaluate("parent.postMessage({ pieceworkHeight: 1e9 }, '*')")
    expect(page.locator("iframe")).to_have_attribute("style", "height: 30002px;")
    assert page.evaluate("scrollY") == 0


def test_in_a_wide_window_only_the_page_scrolls_too(at_work: Callable[..., Page]) -> None:
    """The picture moves along beside the questions, and ends with them."""
    page = at_work(2, window=WIDE)
    hit = question(page)
    check_nothing_is_hidden(page)
    hit.locator('[name="flaws.1"]').last.scroll_into_view_if_needed()
    expect(hit.locator("[data-position='1'] .frame")).to_be_in_viewport(ratio=0.6)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    picture, steps = hit.locator("[data-position='1'] .left"), hit.locator(".steps")
    for _ in range(MOST_LOOKS):
        if box(picture)[1] <= box(steps)[0]:
            break
        page.wait_for_timeout(20)
    assert box(picture)[1] <= box(steps)[0]


def test_a_page_that_grows_with_its_frame_keeps_a_height(at_work: Callable[..., Page]) -> None:
    """Its messages stop mattering after some changes; the site can still be used."""
    page = at_work(1, window=WIDE)
    question(page)
    (frame,) = (candidate for candidate in page.frames if candidate != page.main_frame)
    frame.evaluate("document.body.style.minHeight = 'calc(100vh + 90px)'")
    height = "document.querySelector('iframe').offsetHeight"
    before = -1
    while (now := page.evaluate(height)) != before:
        before = now
        page.wait_for_timeout(500)
    assert now < 8000
    expect(page.get_by_text("Report a problem")).to_be_attached()
