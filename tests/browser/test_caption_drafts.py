"""Nothing that was typed into the caption page is lost."""

import pytest
from playwright.sync_api import expect

from tests.browser.host import Host
from tests.browser.pages import GREEN_LAWN, RED_HOUSE, Open, draft_keys, fill, pass_lesson

pytestmark = pytest.mark.browser


def test_back_and_reload_keep_everything(host: Host, open_page: Open) -> None:
    """Back is allowed with broken rules; after a reload all is where it was."""
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    page.fill("#caption-2", "A lawn")  # too short: Back is allowed all the same
    page.check('[name="flaws.2"][value=other]')
    page.fill("#flaw_other-2", "a thumb")
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)
    page.fill("#caption-1", f"{RED_HOUSE} now")
    page.click("#next")
    page.fill("#comment", "so far")
    page.reload()
    expect(page.locator("#heading-2")).to_have_text("Image 2 of 2")
    expect(page.locator("#heading-2")).to_be_visible()
    expect(page.locator("#caption-2")).to_have_value("A lawn")
    expect(page.locator("#flaw_other-2")).to_have_value("a thumb")
    expect(page.locator("#comment")).to_have_value("so far")
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(f"{RED_HOUSE} now")
    expect(page.locator('[name="has_text.1"][value=yes]')).to_be_checked()
    expect(page.locator('[name="flaws.1"][value=none]')).to_be_checked()


def test_drafts_of_assignments_do_not_mix(host: Host, open_page: Open) -> None:
    """The next assignment in the same browser begins empty."""
    page = open_page(host.address("ASSIGNMENT1"))
    page.fill("#caption-1", RED_HOUSE)
    page.goto(host.address("ASSIGNMENT2"))
    expect(page.locator("#caption-1")).to_have_value("")
    page.goto(host.address("ASSIGNMENT1"))
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)


def test_what_was_sent_into_the_void_can_be_sent_again(host: Host, open_page: Open) -> None:
    """If the submission never arrives, opening the assignment again shows it all."""
    page = open_page(host.address(turkSubmitTo="http://127.0.0.1:9"))
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.click("#send")
    # The browser shows its own page, which would break a navigation off.
    page.wait_for_url("chrome-error://**")
    page.goto(host.address())
    expect(page.locator("#caption-2")).to_have_value(GREEN_LAWN)
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)


def test_drafts_are_forgotten_after_a_week(host: Host, open_page: Open) -> None:
    """What is older goes when the page is opened next; what is not ours stays."""
    page = open_page(host.address())
    page.fill("#caption-1", RED_HOUSE)
    page.evaluate(
        """() => {
          const eightDays = 8 * 24 * 3600 * 1000;
          const old = JSON.stringify({ savedAt: Date.now() - eightDays });
          window.localStorage.setItem("piecework.OLD", old);
          window.localStorage.setItem("somebody else's", "not JSON");
        }"""
    )
    page.reload()
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)
    assert sorted(draft_keys(page)) == ["piecework.ASSIGNMENT1", "somebody else's"]


def test_a_tab_that_is_only_looked_at_replaces_no_newer_draft(host: Host, open_page: Open) -> None:
    """It shows what another tab has kept since, and keeps that when it is closed."""
    old = open_page(host.address())
    new = old.context.new_page()
    new.goto(host.address())
    new.fill("#caption-1", RED_HOUSE)
    new.close()
    old.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(old.locator("#caption-1")).to_have_value(RED_HOUSE)
    old.evaluate("window.dispatchEvent(new PageTransitionEvent('pagehide'))")
    old.reload()
    expect(old.locator("#caption-1")).to_have_value(RED_HOUSE)
    old.fill("#caption-1", GREEN_LAWN)
    old.reload()
    expect(old.locator("#caption-1")).to_have_value(GREEN_LAWN)


def test_a_page_that_stays_after_submit_can_be_sent_again(host: Host, open_page: Open) -> None:
    """The browser's button stops a slow submission; what is written then is kept, too."""
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.evaluate("HTMLFormElement.prototype.submit = () => {}")  # as if it was stopped
    page.click("#send")
    expect(page.locator("#send")).to_be_disabled()
    page.fill("#caption-2", f"{GREEN_LAWN} today")
    expect(page.locator("#send")).to_be_enabled()
    page.reload()
    expect(page.locator("#caption-2")).to_have_value(f"{GREEN_LAWN} today")


REFUSED = """Object.defineProperty(window, 'localStorage', {
  get() { throw new DOMException('no', 'SecurityError'); } })"""
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full'); }"


@pytest.mark.parametrize("refusal", [REFUSED, FULL], ids=["refused", "full"])
def test_without_storage_the_page_works_and_says_so(
    host: Host, open_page: Open, refusal: str
) -> None:
    """A browser that refuses storage costs the worker nothing but the reload."""
    page = open_page("about:blank")
    page.add_init_script(refusal)
    page.goto(host.address())
    pass_lesson(page)
    expect(page.locator("#notice-drafts")).to_be_visible()
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)
    page.click("#next")
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()


def test_enter_neither_submits_nor_loses_anything(host: Host, open_page: Open) -> None:
    """In the text box it is a line break, elsewhere in a field nothing happens."""
    page = open_page(host.address())
    page.click("#caption-1")
    page.keyboard.type(RED_HOUSE[:12])
    page.keyboard.press("Enter")
    page.keyboard.type(RED_HOUSE[12:])
    page.check('[name="flaws.1"][value=other]')
    page.fill("#flaw_other-1", "a finger")
    page.locator("#flaw_other-1").press("Enter")
    page.locator('[name="flaws.1"][value=other]').press("Enter")
    expect(page.locator("#caption-1")).to_have_value(f"{RED_HOUSE[:12]}\n{RED_HOUSE[12:]}")
    expect(page.locator("#heading-1")).to_be_visible()
    assert host.posted == []
