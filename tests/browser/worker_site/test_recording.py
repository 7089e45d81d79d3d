"""Somebody new earns a dollar: what is lacked, the test, its grade, five pictures.

The pictures in `docs/` are made here, by `pytest tests/browser/worker_site
--update-pictures`; a person looks at each before it is committed.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.pages import pass_lesson, tick
from tests.browser.worker_site.recorder import HEIGHT, WIDTHS, Recorder
from tests.browser.worker_site.scene import CAPTIONS, NAME, WITH_TEXT, campaigning
from tests.marketplace.market import Market

pytestmark = [pytest.mark.browser, pytest.mark.full]

_PICTURES = Path(__file__).parents[3] / "docs/how-to/worker-site"
"""A few are enough; the rest is the same, narrower."""


@pytest.mark.parametrize("view", list(WIDTHS))
def test_somebody_new_takes_the_test_and_does_five_pictures(
    tmp_path: Path, open_page: Callable[..., Page], view: str, *, update_pictures: bool
) -> None:
    """The list leads to the test, its grade to the HIT, and the HIT to its pay."""
    with campaigning(tmp_path) as market:
        ann = market.worker(handle="ann")
        page = open_page(
            f"{market.endpoint}/worker/sign-in?token={ann.token}", width=WIDTHS[view], height=HEIGHT
        )
        page.get_by_role("button", name="Sign in as").click()
        page.wait_for_url("**/worker/hits")
        recorder = Recorder(page, view, folder=_PICTURES if update_pictures else None)
        recorder.look("lacking")
        _take_the_test(page, recorder)
        page.get_by_role("link", name="See the HITs").click()
        recorder.look("acceptable")
        page.get_by_role("button", name="Accept a HIT").click()
        _describe_all(page, recorder)
        page.wait_for_url("**/thanks")
        recorder.look("thanks")
        page.get_by_role("link", name="Your work").first.click()
        expect(page.get_by_text("$1.00").first).to_be_visible()
        recorder.look("earned")
        _check_answers(market)


def _take_the_test(page: Page, recorder: Recorder) -> None:
    page.get_by_role("button", name=f"Take the test for “{NAME}”").click()
    recorder.look("before-the-test")
    page.get_by_role("button", name="Begin the test").click()
    page.get_by_label("A white dog beside a pink bucket").check()
    page.evaluate("scrollTo(0, 0)")
    recorder.look("test")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("I say in my own words").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("“This is a picture of …”").check()
    page.get_by_label("What people in it may think").check()
    page.get_by_role("button", name="Send the test").click()
    # 2 + 1 + 2 of 5 points are 100 per cent.
    expect(page.get_by_text("3 of 3 right")).to_be_visible()
    expect(page.get_by_text("with the value 100")).to_be_visible()
    recorder.look("grade")


def _describe_all(page: Page, recorder: Recorder) -> None:
    hit = page.frame_locator("iframe")
    pass_lesson(hit)
    for number, (name, caption) in enumerate(CAPTIONS.items(), start=1):
        expect(hit.get_by_text(f"Image {number} of 5").first).to_be_visible()
        if number == 1:
            recorder.look("picture")
        _describe(hit, number, caption, has_text=name in WITH_TEXT)
        if number == len(CAPTIONS):
            hit.locator(f'[name="flaws.{number}"]').first.scroll_into_view_if_needed()
            recorder.look("last-picture")
        button = "Submit" if number == len(CAPTIONS) else "Next"
        hit.get_by_role("button", name=button).first.click()


def _describe(hit: FrameLocator, number: int, caption: str, *, has_text: bool) -> None:
    hit.locator(f'[name="caption.{number}"]').press_sequentially(caption)
    choice = "yes" if has_text else "no"
    tick(hit, f"has_text.{number}", choice)
    tick(hit, f"flaws.{number}", "none")


def _check_answers(market: Market) -> None:
    client = market.requester("LAB")
    (hit,) = client.list_hits()["HITs"]
    (work,) = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    for caption in CAPTIONS.values():
        assert f"<FreeText>{caption}</FreeText>" in work["Answer"]
