"""The item, what is asked and the first control are in the first screen of every task."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.messages import FOLDER as TASKS
from piecework.hit_templates.messages import languages
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task, task_names
from tests.browser.host import Host, serving
from tests.browser.pages import SIZES, check, ends_of_first_screen, pass_lesson, violations
from tests.conftest import in_full
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]

PICTURES = {
    shape: f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"/>'
    for shape, (width, height) in {"portrait": (480, 720), "landscape": (640, 420)}.items()
}


def answer_until_an_item(page: Page) -> None:
    """Answer and pass the steps before the first item."""
    while not page.locator(".step.item:visible").count():
        for group in page.locator(".step:visible fieldset").all():
            group.locator("input").first.check()
        for scale in page.locator(".step:visible input[type=range]").all():
            scale.press("ArrowRight")
        page.click("#next")


@pytest.mark.parametrize("shape", ["portrait", *in_full("landscape")])
@pytest.mark.parametrize("size", SIZES)
def test_each_task_begins_in_the_first_screen(open_page: OpenPage, size: str, shape: str) -> None:
    """Without scrolling, whatever had to be read before it, in each language.

    On a desktop also the button to the next item.
    """
    width, height = SIZES[size]
    late = {}
    for name in task_names():
        for language in languages(TASKS / name):
            with serving() as host:
                host.picture = PICTURES[shape]
                host.page = example_of(load_task(name, language)).page
                page = open_page(host.address(), width=width, height=height)
                answer_until_an_item(page)
                page.wait_for_load_state("networkidle")
                ends = ends_of_first_screen(page)
                if size == "desktop":
                    buttons = page.locator(".steps").bounding_box()
                    assert buttons is not None
                    ends["next"] = buttons["y"] + buttons["height"]
                if max(ends.values()) > height:
                    late[name, language] = ends
    assert late == {}


@pytest.fixture
def lesson() -> Iterator[Host]:
    """A task whose instructions fill a screen."""
    with serving() as host:
        host.page = example_of(load_task("expert_rating")).page
        yield host


def test_long_instructions_come_once_before_the_first_item(
    lesson: Host, open_page: OpenPage
) -> None:
    """They are read, folded to a line, and a click away; the next HIT begins with its item."""
    page = open_page(lesson.address(), reads=False)
    heading = page.locator("h2:visible")
    assert heading.inner_text() == "Before you start"
    assert page.locator("#instructions > details").evaluate("each => each.open")
    assert page.locator(".step.item:visible").count() == 0
    beginnings = "all => new Set(all.map(each => each.getBoundingClientRect().left)).size"
    assert page.eval_on_selector_all(".step.briefing > *", beginnings) == 1
    assert violations(page) == []
    page.click("#next")
    assert page.locator(".step.item:visible").count() == 1
    assert not page.locator("#instructions > details").evaluate("each => each.open")
    page.click("#back")
    assert heading.inner_text() == "Before you start"
    assert page.locator("#instructions > details").evaluate("each => each.open")
    page.goto(lesson.address("ASSIGNMENT2"))
    assert page.locator(".step.item:visible").count() == 1


def test_a_page_that_is_loaded_again_goes_on_where_it_was(
    lesson: Host, open_page: OpenPage
) -> None:
    """The instructions count as a step, whether they were read or not."""
    page = open_page(lesson.address(), reads=False)
    page.click("#next")
    page.locator(".step:visible fieldset input").first.check()
    page.click("#next")
    at = page.locator("h2:visible").inner_text()
    page.reload()
    assert page.locator("h2:visible").inner_text() == at


@pytest.mark.parametrize("size", SIZES)
def test_many_items_have_a_line_for_their_progress(open_page: OpenPage, size: str) -> None:
    """Where dots would be too many, also inside of a platform's frame on a phone."""
    task = load_task("expert_rating")
    (row, *_) = example_of(task).items
    items = [Item(item_id=ItemId(f"i{n}"), columns=row.columns) for n in range(30)]
    with serving() as host:
        host.page = render_hit(task, items)
        width, height = SIZES[size]
        page = open_page(f"{host.url}/around", width=width, height=height)
        frame = page.frame_locator("iframe")
        pass_lesson(frame)
        line = frame.locator(".dots progress")
        expect(line).to_be_visible()
        expect(line).to_have_js_property("value", 1)
        check(frame.locator(".step:visible fieldset input").first)
        frame.locator("#next").click()
        expect(line).to_have_js_property("value", 2)
        assert frame.locator("[data-dot]").count() == 0
