"""Where picture, sentence and question stand, in a wide window and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Locator, Page

from piecework.hit_templates.tasks import load_task, task_names
from tests.browser.host import serving
from tests.browser.test_first_screen import answer_until_an_item
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def _box(locator: Locator) -> FloatRect:
    box = locator.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("name", ["congruency", "expert_rating"])
def test_the_sentence_is_beside_the_picture_and_above_its_question(
    open_page: Open, name: str
) -> None:
    """A worker reads it and answers without a look past the picture's end."""
    with serving() as host:
        host.page = example_of(load_task(name)).page
        page = open_page(host.preview_address(), width=1280, height=800)
        item = page.locator(".step.item:visible")
        picture, sentence = _box(item.locator(".viewer")), _box(item.locator(".quoted"))
        assert sentence["x"] > picture["x"] + picture["width"]
        assert sentence["y"] < _box(item.locator("legend"))["y"]


@pytest.mark.parametrize("name", ["congruency", "pairwise"])
def test_a_wide_window_shows_the_first_item_below_its_instructions(
    open_page: Open, name: str
) -> None:
    """The instructions are in two columns, so the question is in view."""
    with serving() as host:
        host.page = example_of(load_task(name)).page
        page = open_page(host.preview_address(), width=1280, height=800)
        assert _box(page.locator(".step.item:visible legend").first)["y"] < 700


def test_a_wide_picture_has_no_empty_bands_on_a_phone(open_page: Open) -> None:
    """The frame is as tall as the picture, not as a share of the screen."""
    with serving() as host:
        host.page = example_of(load_task("congruency")).page
        page = open_page(host.preview_address(), width=390, height=844)
        item = page.locator(".step.item:visible")
        frame, picture = _box(item.locator(".frame")), _box(item.locator(".stage"))
        assert frame["height"] - picture["height"] < 4
        assert frame["width"] - picture["width"] < 4


ASKED_OF_FAULT = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const fault = [...step.querySelectorAll(".faults")].find((each) => each.children.length);
  const asked = fault.closest(".field").querySelector("legend, label").getBoundingClientRect();
  const copy = document.querySelector(".pinned")?.getBoundingClientRect().bottom ?? 0;
  return asked.top >= copy - 1 && asked.bottom <= innerHeight ? "" : `${asked.top} below ${copy}`;
}"""


@pytest.mark.parametrize("window", [(390, 844), (844, 390)], ids=("phone", "sideways"))
def test_a_jump_to_a_fault_shows_what_is_asked(open_page: Open, window: tuple[int, int]) -> None:
    """The small copy of the picture does not hide it, on platforms whose pages do not help."""
    covered = {}
    for name in task_names():
        with serving() as host:
            host.page = example_of(load_task(name)).page
            page = open_page(host.address(), width=window[0], height=window[1])
            answer_until_an_item(page)
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            page.wait_for_timeout(150)  # the copy appears
            page.locator("#next, #send").locator("visible=true").click()
            page.wait_for_timeout(150)
            if hidden := page.evaluate(ASKED_OF_FAULT):
                covered[name] = hidden
    assert covered == {}
