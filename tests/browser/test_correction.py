"""Corrections in a browser: the change is shown, and questioned once."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import serving
from tests.browser.pages import violations
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def test_a_change_is_shown_in_words_and_can_be_taken_back(open_page: Open) -> None:
    """Removed and inserted words are marked, told to who listens, and fit a phone."""
    with serving() as host:
        host.page = example_of(load_task("correction")).page
        page = open_page(host.address(), width=390, height=844)
        step = page.locator(".step:visible")
        box, change = step.locator("textarea"), step.locator(".difference")
        before = box.input_value()
        expect(change).to_be_hidden()
        first, second, *rest = before.split(" ")
        box.fill(" ".join([first, "white", *rest]))
        expect(change.locator("del")).to_have_text(f"removed: {second}")
        expect(change.locator("ins")).to_have_text("inserted: white")
        assert violations(page) == []
        step.get_by_text("Start again").click()
        expect(box).to_have_value(before)
        expect(change).to_be_hidden()


def test_more_than_the_kind_of_error_is_questioned_once(open_page: Open) -> None:
    """A color for a color passes; more is asked about, and then the worker decides."""
    with serving() as host:
        host.page = example_of(load_task("correction")).page
        page = open_page(host.address())
        step = page.locator(".step:visible")
        box = step.locator("textarea")
        box.fill(box.input_value() + " Really.")
        step.get_by_text("I corrected this error").click()
        page.click("#next")
        expect(page.get_by_text("more than colors")).to_be_visible()
        page.click("#next")
        expect(page.locator("#steps-note")).to_have_text("Image 2 of 3")


def test_a_trial_is_compared_with_its_own_text(open_page: Open) -> None:
    """Left unchanged it passes as without the error, and changed as corrected."""
    example = example_of(load_task("correction"))
    trials = [replace(item, item_id=ItemId(f"trial_{n}")) for n, item in enumerate(example.items)]
    with serving() as host:
        host.page = render_hit(example.task, example.items, practice=trials[:2])
        page = open_page(host.address())
        place, step = page.locator("#steps-note"), page.locator(".step:visible")
        expect(place).to_have_text("Practice 1 of 2")
        box = step.locator("textarea")
        box.fill(box.input_value().replace("red", "white"))
        step.get_by_text("I left it: there is no").click()
        page.click("#next")
        expect(step.get_by_text("do not match")).to_be_visible()
        step.get_by_text("I corrected this error").click()
        page.click("#next")
        expect(place).to_have_text("Practice 2 of 2")
        step.get_by_text("I left it: there is no").click()
        page.click("#next")
        expect(place).to_have_text("Image 1 of 3")
