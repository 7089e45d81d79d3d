"""The picture of the caption page: zoomed, turned, lost, and from nowhere else."""

import pytest
from playwright.sync_api import expect

from tests.browser.host import Host
from tests.browser.pages import CANNED, Open

pytestmark = pytest.mark.browser


def test_a_picture_can_be_zoomed_turned_and_reset(host: Host, open_page: Open) -> None:
    """Buttons change the picture as they say; the frame then scrolls to all of it."""
    page = open_page(host.address())
    viewer = page.locator("[data-position='1'] [data-viewer]")
    picture, frame = viewer.locator("img"), viewer.locator(".frame")
    state = viewer.locator("[data-view-state]")

    def size() -> tuple[float, float]:
        box = picture.bounding_box()
        assert box is not None
        return box["width"], box["height"]

    expect(state).to_have_text("Whole picture")
    width, height = size()
    outside = frame.bounding_box()
    assert outside is not None
    assert width <= outside["width"] + 1
    assert height <= outside["height"] + 1
    assert width / height == pytest.approx(640 / 420, rel=0.01)

    viewer.get_by_text("Zoom in").click()
    assert size()[0] == pytest.approx(1.5 * width, rel=0.01)
    assert frame.evaluate("(e) => e.scrollWidth > e.clientWidth")
    viewer.get_by_text("Zoom out").click()
    expect(viewer.get_by_text("Zoom out")).to_be_disabled()
    viewer.get_by_text("Rotate").click()
    expect(state).to_have_text("Whole picture, turned by 90°")
    turned = size()
    assert turned[1] / turned[0] == pytest.approx(640 / 420, rel=0.01)
    assert turned[1] <= outside["height"] + 1
    viewer.get_by_text("Reset").click()
    expect(state).to_have_text("Whole picture")
    assert size() == pytest.approx((width, height))


def test_a_picture_is_zoomed_from_its_middle_in_any_direction(host: Host, open_page: Open) -> None:
    """Where lines begin at the right, the zoomed picture does not jump there."""
    page = open_page(host.address())
    page.evaluate("document.documentElement.dir = 'rtl'")
    frame = page.locator(".frame").first
    page.locator("[data-view=in]").first.click()
    page.locator("[data-view=in]").first.click()
    at, reach = frame.evaluate("e => [e.scrollLeft, e.scrollWidth - e.clientWidth]")
    assert 0.3 < at / reach < 0.7


def test_a_picture_that_does_not_load_can_be_tried_again_or_given_up(
    host: Host, open_page: Open
) -> None:
    """The worker is told, can retry, and can still say that nothing is seen."""
    host.has_pictures = False
    page = open_page(host.address())
    lost = page.locator("[data-position='1'] .lost")
    expect(lost).to_contain_text("did not load")
    lost.get_by_role("button").click()
    expect(lost).to_be_visible()
    page.locator("[data-position='1'] [data-fills]").click()
    expect(page.locator("#caption-1")).to_have_value(CANNED)
    host.has_pictures = True
    lost.get_by_role("button").click()
    expect(lost).to_be_hidden()
    expect(page.locator("[data-position='1'] img")).to_be_visible()
    assert host.asked.count("/pictures/one.svg") == 3


def test_the_page_asks_for_nothing_but_itself_and_its_pictures(host: Host, open_page: Open) -> None:
    """No font, script or picture comes from anywhere else."""
    page = open_page("about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(host.address(), wait_until="networkidle")
    assert set(asked) - {"data:,"} == {
        host.address(),
        f"{host.url}/pictures/one.svg",
        f"{host.url}/pictures/two.svg",
    }
