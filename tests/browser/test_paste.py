"""Pages of an experiment that ask not to paste, or refuse pastes, in a real browser."""

from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.experiment import Arm, PastePolicy
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import Host
from tests.browser.pages import RED_HOUSE, Open, fill, fits, violations
from tests.conftest import in_full

pytestmark = pytest.mark.browser

BOX = "#caption-1"
WORDING = "Please write in your own words."


@dataclass
class Shown:
    """A page, and what it sent."""

    page: Page
    host: Host

    def paste(self, text: str) -> None:
        """Paste a text from elsewhere into the caption."""
        self.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.focus(BOX)
        self.page.keyboard.press("Control+V")


def shown(
    host: Host, open_page: Open, paste: PastePolicy, *, language: str = "en", width: int = 1280
) -> Shown:
    """The caption page with one picture and this policy."""
    columns = {"image_id": "a", "url": "/pictures/a.svg"}
    host.page = render_hit(
        replace(load_task("caption"), language=language),
        [Item(item_id=ItemId("a"), columns=columns)],
        arm=Arm(wording=WORDING, paste=paste),
    )
    return Shown(open_page(host.address(), width=width), host)


def test_a_paste_from_elsewhere_is_refused_and_not_counted(host: Host, open_page: Open) -> None:
    """The page says so, to those who see it and those who hear it."""
    own = shown(host, open_page, "blocked")
    expect(own.page.locator("#notice-wording")).to_have_text(WORDING)
    expect(own.page.locator("#notice-paste")).to_contain_text("assistive technology")
    own.paste(RED_HOUSE)
    expect(own.page.locator(BOX)).to_have_value("")
    expect(own.page.locator("#said")).to_contain_text("Pasting is off")
    expect(own.page.locator("#notice-paste.warning")).to_be_visible()
    fill(own.page, 1, RED_HOUSE)
    own.page.click("#send")
    expect(own.page.get_by_text("Thank you")).to_be_visible()
    assert dict(host.posted[0][1])["pastes.1"] == "0"


def test_everything_else_enters_a_text(host: Host, open_page: Open) -> None:
    """Keys, a whole text at once as dictation sends it, a script, moved text."""
    own = shown(host, open_page, "blocked")
    page = own.page
    page.focus(BOX)
    page.keyboard.type("red ")
    page.keyboard.insert_text("house with ")
    expect(page.locator(BOX)).to_have_value("red house with ")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    expect(page.locator(BOX)).to_have_value("")
    page.keyboard.press("Control+V")
    expect(page.locator(BOX)).to_have_value("red house with ")
    page.eval_on_selector(BOX, "(box) => { box.value = 'filled in'; }")
    expect(page.locator(BOX)).to_have_value("filled in")


def test_a_worker_can_turn_pasting_on_by_keys(host: Host, open_page: Open) -> None:
    """Then a paste is counted as on other pages, and nothing else is sent."""
    own = shown(host, open_page, "blocked")
    own.page.focus("#let-paste")
    own.page.keyboard.press("Enter")
    expect(own.page.locator("#said")).to_have_text("Pasting is on now.")
    own.paste(RED_HOUSE)
    expect(own.page.locator(BOX)).to_have_value(RED_HOUSE)
    own.page.check('[name="has_text.1"][value=no]')
    own.page.check('[name="flaws.1"][value=none]')
    own.page.click("#send")
    expect(own.page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    assert sent["pastes.1"] == "1"
    assert [name for name in sent if "paste" in name] == ["pastes.1"]


@pytest.mark.parametrize("paste", ["discouraged", *in_full("allowed")])
def test_other_pages_let_texts_be_pasted(host: Host, open_page: Open, paste: PastePolicy) -> None:
    """A page that asks not to paste says so."""
    own = shown(host, open_page, paste)
    own.paste(RED_HOUSE)
    expect(own.page.locator(BOX)).to_have_value(RED_HOUSE)
    asks = own.page.get_by_text("do not paste texts from elsewhere")
    expect(asks).to_have_count(int(paste == "discouraged"))


@pytest.mark.parametrize(
    ("language", "width"), [("en", 360), *in_full(("he", 1280), ("zh-Hant", 360))]
)
def test_the_notices_are_for_everybody(
    host: Host, open_page: Open, language: str, width: int
) -> None:
    """In each language of the frame, also after a refusal, also on a phone."""
    own = shown(host, open_page, "blocked", language=language, width=width)
    assert violations(own.page) == []
    own.paste(RED_HOUSE)
    expect(own.page.locator("#notice-paste.warning")).to_be_visible()
    assert violations(own.page) == []
    assert fits(own.page)
