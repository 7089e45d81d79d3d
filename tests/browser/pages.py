"""What several browser tests say to the caption page, and ask of it."""

from collections.abc import Callable

from playwright.sync_api import FrameLocator, Page, expect

from piecework.hit_templates.tasks import load_task

Open = Callable[..., Page]
RED_HOUSE = "A red house with a brown roof stands beside a post sign"
GREEN_LAWN = "A green lawn under a blue sky, with the sun in a corner"
CANNED = "Quality issues are too severe to recognize visual content."


def sign_in(page: Page, address: str) -> None:
    """Open a link and press the button of the page that it leads to."""
    page.goto(address)
    page.get_by_role("button", name="Sign in as").click()
    page.wait_for_url("**/worker/hits")


def pass_lesson(hit: FrameLocator | Page) -> None:
    """Go on to the first item, if instructions come before it."""
    expect(hit.locator(".step:not([hidden])")).to_be_visible()
    if hit.locator(".step.lesson:not([hidden])").count():
        hit.locator("#next").click()
        expect(hit.locator(".step.lesson")).to_be_hidden()


def tick(hit: FrameLocator, name: str, value: str) -> None:
    """Tick a box of a question's frame by the key: a click may meet a moving page."""
    box = hit.locator(f'[name="{name}"][value="{value}"]')
    box.press("Space")
    expect(box).to_be_checked()


def fill(page: Page, n: int, caption: str) -> None:
    """Answers everything about the item that is shown."""
    page.fill(f"#caption-{n}", caption)
    page.check(f'[name="has_text.{n}"][value=yes]')
    page.check(f'[name="flaws.{n}"][value=none]')


def faults(page: Page, field: str) -> list[str]:
    """The messages beside a field (`caption-1`)."""
    return page.locator(f"#faults-{field} span").all_inner_texts()


def message(rule_name: str) -> str:
    """What a rule says to the worker."""
    return next(rule.message for rule in load_task("caption").rules if rule.name == rule_name)


def draft_keys(page: Page) -> list[str]:
    """Names of the drafts that the page keeps in the browser."""
    keys: list[str] = page.evaluate("Object.keys(window.localStorage)")
    return [key for key in keys if not key.startswith("piecework.read.")]
