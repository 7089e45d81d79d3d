"""The page of error categories: Table 1 of its guidelines, and its examples."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def columns(page: Page) -> list[list[str]]:
    """The values of the boxes that are shown, by column, from the left."""
    boxes = page.evaluate(
        """() => Array.from(document.querySelectorAll(".item [type=checkbox]"))
          .filter((box) => box.checkVisibility())
          .map((box) => [box.value, box.getBoundingClientRect().left,
                         box.getBoundingClientRect().top])"""
    )
    lefts = sorted({round(left) for _, left, _ in boxes})
    return [
        [value for value, left, _ in sorted(boxes, key=lambda box: box[2]) if round(left) == at]
        for at in lefts
    ]


def test_the_categories_are_in_the_five_columns_of_the_guidelines(open_page: Open) -> None:
    """Four rows each; "General" has two columns."""
    with serving() as host:
        host.page = example_of(load_task("error_categories")).page
        page = open_page(host.preview_address(), width=1280, height=800)
        while page.locator(".step.item:visible").count() == 0:
            page.click("#next")
        first, *_, fourth, fifth = columns(page)
        assert first == ["age", "gender", "type_of_clothing", "color_of_clothing"]
        assert fourth == ["stance", "activity", "position", "number"]
        assert fifth == ["scene", "other", "color", "unrelated"]
        assert len(columns(page)) == 5


def test_the_pictures_of_the_examples_are_drawn(open_page: Open) -> None:
    """Twenty parts of one drawing, which the page carries compressed."""
    with serving() as host:
        host.page = example_of(load_task("error_categories")).page
        page = open_page(host.preview_address(), width=1280, height=800)
        page.wait_for_function("document.body.style.getPropertyValue('--sheet').startsWith('url(')")
        sizes = page.evaluate(
            "[document.getElementById('examples').naturalWidth,"
            " document.querySelectorAll('.examples i').length]"
        )
        assert sizes == [2400, 20]
