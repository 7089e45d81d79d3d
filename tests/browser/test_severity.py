"""The slider of the severity task: no place counts before somebody means it."""

import io
from collections.abc import Callable

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.conftest import in_full
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def to_the_first_trial(page: Page) -> None:
    """Past the introduction and the consent."""
    page.click("#next")
    page.get_by_text("I agree").click()
    page.click("#next")


def test_an_untouched_slider_is_seen_in_forced_colours(open_page: Open) -> None:
    """High contrast takes away backgrounds, and the thumb is not shown before a touch."""
    with serving() as host:
        host.page = example_of(load_task("severity")).page
        page = open_page(host.address())
        page.emulate_media(forced_colors="active", reduced_motion="reduce")
        to_the_first_trial(page)
        slider = page.locator(".step:visible input[type=range]")
        with Image.open(io.BytesIO(slider.screenshot())) as picture:
            greys = set(picture.convert("L").tobytes())
        assert max(greys) - min(greys) > 100


def test_an_untouched_slider_is_refused_and_a_click_is_an_answer(open_page: Open) -> None:
    """Going on is refused with a message; 80 % of the way along is about 80."""
    example = example_of(load_task("severity"))
    with serving() as host:
        host.page = example.page
        page = open_page(host.address())
        to_the_first_trial(page)
        page.click("#next")
        step = page.locator(".step:visible")
        refusal = step.get_by_role("alert").filter(has_text="move the slider")
        expect(refusal).to_be_visible()
        slider = step.locator("input[type=range]")
        expect(slider).to_be_focused()
        box = slider.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
        expect(refusal).to_have_count(0)
        assert 78 <= int(slider.input_value()) <= 82
        page.click("#next")
        expect(page.get_by_role("heading", name="Practice 2 of 2")).to_be_visible()


def test_the_middle_can_be_meant_and_a_reload_forgets_nothing(open_page: Open) -> None:
    """Enter takes the place where the slider stands; what is untouched stays so."""
    example = example_of(load_task("severity"))
    with serving() as host:
        host.page = example.page
        page = open_page(host.address())
        to_the_first_trial(page)
        page.locator(".step:visible input[type=range]").focus()
        page.keyboard.press("Enter")
        page.click("#next")
        page.reload()
        sliders = page.locator("input[name^='practice.quality']")
        expect(sliders.nth(0)).not_to_have_class("untouched")
        assert sliders.nth(0).input_value() == "50"
        expect(sliders.nth(1)).to_have_class("untouched")
        expect(page.get_by_role("heading", name="Practice 2 of 2")).to_be_visible()


def test_without_consent_nobody_goes_on(open_page: Open) -> None:
    """The message says what to do instead."""
    example = example_of(load_task("severity"))
    with serving() as host:
        host.page = example.page
        page = open_page(host.address())
        page.click("#next")
        page.get_by_text("I do not agree").click()
        page.click("#next")
        expect(page.get_by_text("please return this HIT")).to_be_visible()
        expect(page.get_by_role("heading", name="Your consent")).to_be_visible()


@pytest.mark.parametrize("width", [390, *in_full(1280)])
@pytest.mark.parametrize("language", ["en", "zh-Hant"])
def test_the_instruction_stands_before_each_item(
    open_page: Open, width: int, language: str
) -> None:
    """Above the picture, in the trials and in the main part, and never folded."""
    task = load_task("severity", language)
    words = task.texts["instructions"].replace("**", "")[:12]
    with serving() as host:
        host.page = example_of(task).page
        page = open_page(host.preview_address(), width=width, height=800)
        shown = 0
        while page.locator("#next").is_visible():
            page.click("#next")
            if page.locator(".step.item:visible").count():
                instruction = page.locator("#instructions").get_by_text(words)
                expect(instruction).to_be_visible()
                above, picture = (
                    locator.bounding_box()
                    for locator in (instruction, page.locator(".viewer:visible"))
                )
                assert above is not None
                assert picture is not None
                assert above["y"] + above["height"] <= picture["y"]
                shown += 1
        assert shown > 2
