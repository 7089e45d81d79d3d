"""Where picture, sentence and question stand, in a wide window and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task, task_names
from tests.browser.host import serving
from tests.browser.pages import SIZES, ends_of_first_screen, long_lines, violations
from tests.browser.test_first_screen import answer_until_an_item
from tests.conftest import in_full
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


_TEXTS = {
    "Latin": "Donaudampfschifffahrtsgesellschaft" * 60,
    "Hebrew": "בית אדום עומד ליד עמוד. " * 90,
    "Chinese": "一座紅色的房子立在柱子旁邊。" * 150,
}
_PICTURES = {"wide": (12_000, 60), "tall": (60, 12_000), "dot": (1, 1)}
_EXTREME = [("correction", "Hebrew", "dot"), ("crowd_judgement", "Latin", "wide")]
_TASKS = [name for name in task_names() if name != "hodosh_qualification"]
_HIDDEN = """() => {
  const step = document.querySelector(".step:not([hidden])");
  const hidden = [];
  for (const control of step.querySelectorAll("label:has(input), textarea, input, button")) {
    if (!control.checkVisibility() || control.disabled) continue;
    control.scrollIntoView({ block: "center" });
    const box = control.getBoundingClientRect();
    const at = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    if (!at || !(control.contains(at) || at.contains(control))) hidden.push(control.outerHTML);
  }
  return hidden;
}"""


@pytest.mark.parametrize(
    ("name", "script", "picture"),
    [
        *_EXTREME,
        *in_full(*((name, "Latin", "tall") for name in _TASKS)),
        *in_full(*((name, "Chinese", "wide") for name in _TASKS)),
    ],
)
def test_texts_of_2000_letters_and_extreme_pictures_fit(
    open_page: Open, name: str, script: str, picture: str
) -> None:
    """On a desktop, a phone, a phone held sideways and at 300 %, in forced colours too.

    Desktop and phone show item, question and first control in the first screen.
    """
    example = example_of(load_task(name))
    width, height = _PICTURES[picture]
    items = [
        Item(
            item_id=item.item_id,
            columns={
                # The two texts of a pair must differ.
                key: f"{place} {_TEXTS[script]}"[:2000] if " " in value else value
                for place, (key, value) in enumerate(item.columns.items())
            },
        )
        for item in example.items
    ]
    with serving() as host:
        host.page = render_hit(example.task, items, practice=example.practice)
        drawn = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"/>'
        host.pictures = {item.columns.get("url", "").rpartition("/")[2]: drawn for item in items}
        for window in (*SIZES.values(), (844, 390), (427, 300)):
            page = open_page(host.address(), width=window[0], height=window[1])
            page.emulate_media(forced_colors="active" if window == (390, 844) else "none")
            answer_until_an_item(page)
            page.wait_for_load_state("networkidle")
            if window in SIZES.values():
                assert max(ends_of_first_screen(page).values()) <= window[1], window
            assert violations(page) == [], window
            assert page.evaluate(_HIDDEN) == [], window


def test_a_long_option_is_chosen_by_a_click_on_its_text(open_page: Open) -> None:
    """Its text scrolls and can have the focus; once more leaves the option."""
    example = example_of(load_task("crowd_judgement"))
    columns = {
        key: f"{place} {_TEXTS['Hebrew']}"[:2000] if " " in value else value
        for place, (key, value) in enumerate(example.items[0].columns.items())
    }
    with serving() as host:
        host.page = render_hit(example.task, [Item(item_id=ItemId("one"), columns=columns)])
        page = open_page(host.address())
        option = page.locator(".step:visible .options label").first
        text = option.locator("span")
        expect(text).to_have_attribute("tabindex", "0")
        for is_chosen in (True, False):
            text.click()
            expect(option.locator("input")).to_be_checked(checked=is_chosen)


def test_a_long_draft_has_more_room_and_is_read_from_its_side(open_page: Open) -> None:
    """Hebrew stands at the right, also in a page in English."""
    task = load_task("correction")
    columns = {**example_of(task).items[0].columns, "description": _TEXTS["Hebrew"][:2000]}
    with serving() as host:
        host.page = render_hit(task, [Item(item_id=ItemId("one"), columns=columns)])
        page = open_page(host.address())
        box = page.locator(".step:visible textarea")
        assert _box(box)["height"] > 250
        assert box.evaluate("each => getComputedStyle(each).unicodeBidi") == "plaintext"


@pytest.mark.parametrize("window", [(390, 844), (844, 390)], ids=("phone", "sideways"))
def test_a_jump_to_a_fault_shows_what_is_asked(open_page: Open, window: tuple[int, int]) -> None:
    """The small copy of the picture does not hide it, on platforms whose pages do not help.

    No line of the task is too long to read.
    """
    covered = {}
    for name in task_names():
        with serving() as host:
            host.page = example_of(load_task(name)).page
            page = open_page(host.address(), width=window[0], height=window[1])
            answer_until_an_item(page)
            assert long_lines(page) == [], name
            page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            page.wait_for_timeout(150)  # the copy appears
            page.locator("#next, #send").locator("visible=true").click()
            page.wait_for_timeout(150)
            if hidden := page.evaluate(ASKED_OF_FAULT):
                covered[name] = hidden
    assert covered == {}
