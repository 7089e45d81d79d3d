"""What the caption page measures, and that it says so."""

import pytest
from playwright.sync_api import expect

from tests.browser.host import Host
from tests.browser.pages import GREEN_LAWN, RED_HOUSE, Open, fill, pass_lesson

pytestmark = pytest.mark.browser


def test_time_pastes_and_leaving_are_counted_for_the_item_shown(
    host: Host, open_page: Open
) -> None:
    """Measures go to the item that was on screen, and survive a reload."""
    page = open_page("about:blank")
    page.clock.install(time=0)
    page.goto(host.address())
    pass_lesson(page)
    page.clock.run_for(20_000)
    fill(page, 1, RED_HOUSE)
    page.evaluate(
        "document.getElementById('caption-1').dispatchEvent("
        "new ClipboardEvent('paste', {bubbles: true}))"
    )
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.evaluate("window.dispatchEvent(new Event('blur'))")  # still away: once
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.reload()
    page.clock.run_for(5_000)
    page.click("#next")
    page.clock.run_for(7_000)
    fill(page, 2, GREEN_LAWN)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    assert sent["pastes.1"] == "1"
    assert sent["pastes.2"] == "0"
    assert sent["focus_losses.1"] == "1"
    assert sent["focus_losses.2"] == "0"
    # 20 s, then 5 s after the reload; 7 s for the second; the clock also ticks by
    # itself for the second or two that the test takes.
    assert 25_000 <= int(sent["shown_ms.1"]) <= 35_000
    assert 7_000 <= int(sent["shown_ms.2"]) <= 17_000


def test_hidden_time_is_not_shown_time(host: Host, open_page: Open) -> None:
    """While the tab is hidden, the clock of the item stands still."""
    page = open_page("about:blank")
    page.clock.install(time=0)
    page.goto(host.address())
    pass_lesson(page)
    hide = """(state) => {
      const value = {value: state, configurable: true};
      Object.defineProperty(document, 'visibilityState', value);
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    page.evaluate(hide, "hidden")
    page.clock.run_for(600_000)
    page.evaluate(hide, "visible")
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    assert int(sent["shown_ms.1"]) < 60_000
    assert sent["focus_losses.1"] == "1"


def test_the_worker_is_told_what_is_measured(host: Host, open_page: Open) -> None:
    """In plain words, on every page, before anything is sent."""
    page = open_page(host.address())
    expect(page.locator("footer")).to_contain_text("What this page measures")
    expect(page.locator("footer")).to_contain_text("how often you paste")
    sentence = page.get_by_text("how often you paste")
    expect(sentence).to_be_visible()
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    expect(sentence).to_be_hidden()  # it was read, and is a click away, in the next HIT too
    page.goto(host.address("ASSIGNMENT2"))
    expect(sentence).to_be_hidden()
    page.get_by_text("What this page measures").click()
    expect(sentence).to_be_visible()
