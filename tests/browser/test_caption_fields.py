"""Answering on the caption page: rules, messages, and the helps beside the fields."""

import pytest
from playwright.sync_api import expect

from tests.browser.host import Host
from tests.browser.pages import CANNED, GREEN_LAWN, RED_HOUSE, Open, faults, fill, message
from tests.conftest import in_full

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("caption", "rules"),
    [
        *in_full(
            ("A red house", ["caption_min_words"]),
            ("There is a red house with a brown roof", ["caption_banned_prefix"]),
            ("It\u2019s a red house with a brown roof here", ["caption_banned_prefix"]),
            (f"{RED_HOUSE}. A sign.", ["caption_one_sentence"]),
        ),
        ("", ["caption_required"]),
        ("This is it.\nA dog", ["caption_min_words", "caption_one_sentence",
                                "caption_banned_prefix"]),
    ],
)  # fmt: skip
def test_a_broken_rule_holds_the_worker_with_its_message(
    host: Host, open_page: Open, caption: str, rules: list[str]
) -> None:
    """Next stays; each message is beside the box, announced, and the box has focus."""
    page = open_page(host.address())
    fill(page, 1, caption)
    page.click("#next")
    assert faults(page, "caption-1") == [message(name) for name in rules]
    box = page.locator("#caption-1")
    expect(box).to_be_focused()
    assert "faults-caption-1" in (box.get_attribute("aria-describedby") or "")
    assert box.get_attribute("aria-invalid") == "true"
    expect(page.locator("#faults-caption-1")).to_have_attribute("role", "alert")
    # Mended, the message goes by itself, and so does the worker.
    box.fill(RED_HOUSE)
    assert faults(page, "caption-1") == []
    page.click("#next")
    expect(page.locator("#heading-2")).to_be_focused()


def test_choices_that_are_missing_are_asked_for(host: Host, open_page: Open) -> None:
    """Each group has its own message; focus goes to the first that is wrong."""
    page = open_page(host.address())
    page.fill("#caption-1", RED_HOUSE)
    page.click("#next")
    assert faults(page, "has_text-1") == [message("has_text_required")]
    assert faults(page, "flaws-1") == [message("flaws_required")]
    expect(page.locator('[name="has_text.1"][value=yes]')).to_be_focused()


def test_something_else_wants_words(host: Host, open_page: Open) -> None:
    """The text is asked for while its box is ticked, and not sent when it is not."""
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    page.check('[name="flaws.1"][value=other]')
    page.click("#next")
    assert faults(page, "flaw_other-1") == [message("flaw_other_required")]
    page.fill("#flaw_other-1", "a finger")
    page.uncheck('[name="flaws.1"][value=other]')
    expect(page.locator("#flaw_other-1")).to_be_hidden()
    page.check('[name="flaws.1"][value=other]')
    expect(page.locator("#flaw_other-1")).to_have_value("a finger")
    page.uncheck('[name="flaws.1"][value=other]')
    page.check('[name="flaws.1"][value=dark]')
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert dict(host.posted[0][1])["flaw_other.1"] == ""


def test_no_rule_is_about_a_hidden_text(host: Host, open_page: Open) -> None:
    """A text that is too long goes with its box: it is not sent."""
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    page.check('[name="flaws.1"][value=other]')
    page.fill("#flaw_other-1", "a" * 201)
    page.click("#next")
    assert faults(page, "flaw_other-1") == [message("flaw_other_max_length")]
    page.uncheck('[name="flaws.1"][value=other]')
    page.check('[name="flaws.1"][value=dark]')
    page.click("#next")
    expect(page.locator("#heading-2")).to_be_focused()


def test_nothing_is_wrong_stands_alone(host: Host, open_page: Open) -> None:
    """Ticking it clears the flaws, ticking a flaw clears it."""
    page = open_page(host.address())
    box = '[name="flaws.1"][value={}]'
    page.check(box.format("blur"))
    page.check(box.format("dark"))
    page.check(box.format("none"))
    expect(page.locator(box.format("blur"))).not_to_be_checked()
    page.check(box.format("blur"))
    expect(page.locator(box.format("none"))).not_to_be_checked()


def test_the_canned_text_is_one_press_and_can_be_undone(host: Host, open_page: Open) -> None:
    """What was written comes back, even after the canned text was changed."""
    page = open_page(host.address())
    button = page.locator("[data-position='1'] [data-fills]")
    box = page.locator("#caption-1")
    expect(button).to_have_text(CANNED)
    button.click()
    expect(box).to_have_value(CANNED)
    box.fill("A red house")
    button.click()
    expect(box).to_have_value(CANNED)
    page.reload()
    expect(button).to_have_text("Bring back my own text")
    box.fill("A mill")
    button.click()
    expect(box).to_have_value("A red house")
    button.click()
    expect(box).to_have_value("A mill")


def test_words_are_counted_while_writing(host: Host, open_page: Open) -> None:
    """The count is the rule's, so it says eight when the rule is content."""
    page = open_page(host.address())
    page.fill("#caption-1", "A 2 oz. can - red")
    expect(page.locator("#count-caption-1")).to_have_text("5 of at least 8 words")
