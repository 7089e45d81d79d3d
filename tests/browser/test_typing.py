"""What a page records of how a text was entered, in a real browser."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from piecework.domain.assignment import TypingRecord, typing_records
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import Host
from tests.browser.pages import CANNED, GREEN_LAWN, RED_HOUSE, Open, fill
from tests.browser.typists import BY_NAME, enter
from tests.conftest import in_full
from tests.hit_templates.examples import example_of

pytestmark = pytest.mark.browser

NAMES = ("caption", "flaw_other")
COLUMNS = {"image_id": "a", "url": "/pictures/a.svg"}


def sent_records(host: Host, page: Page, n: int = 1) -> dict[str, TypingRecord]:
    """Submit the page; return the records of an item."""
    for position in (1, 2):
        page.check(f'[name="has_text.{position}"][value=yes]')
        page.check(f'[name="flaws.{position}"][value=none]')
        if position == 1:
            page.click("#next")
            page.locator("#caption-2").fill(GREEN_LAWN)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    records = typing_records(sent[f"typing.{n}"], NAMES)
    assert records is not None
    assert RED_HOUSE[:10] not in sent[f"typing.{n}"]
    return records


def test_keys_are_counted_with_their_rhythm(host: Host, open_page: Open) -> None:
    """Corrections and pauses too; a box that stayed empty has no record."""
    page = open_page(host.address())
    page.focus("#caption-1")
    page.keyboard.type(f"{RED_HOUSE}xy", delay=40)
    # Pauses are counted from one second, and long ones from two.
    page.wait_for_timeout(1100)
    page.keyboard.press("Backspace")
    page.wait_for_timeout(2100)
    page.keyboard.press("Backspace")
    records = sent_records(host, page)
    own = records["caption"]
    assert own.kinds["insertText"] == (len(RED_HOUSE) + 2, len(RED_HOUSE) + 2)
    assert own.kinds["deleteContentBackward"] == (2, 0)
    assert (own.corrections, own.removed, own.length) == (2, 2, len(RED_HOUSE))
    assert own.pauses == (2, 1)
    # Each key but the first follows another; two of the intervals are pauses.
    assert own.intervals == len(RED_HOUSE) + 2 - 1
    # The keys come 40 ms apart, later on a busy machine, and never as late as a pause.
    assert 38 <= own.median < 1000
    assert (own.untrusted, own.outside, own.inside) == ((0, 0), 0, 0)
    assert (own.unseen, own.quick, own.start) == (0, 0, 0)
    assert "flaw_other" not in records


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("pasted", lambda own: own.outside),
        ("set by a script, without events", lambda own: own.unseen),
        ("filled in by one event", lambda own: own.quick),
        *in_full(
            ("pasted in pieces", lambda own: own.outside),
            ("events made by a script", lambda own: own.untrusted[1]),
        ),
    ],
)
def test_what_was_not_typed_is_counted_by_its_way(
    host: Host, open_page: Open, name: str, counted: Callable[[TypingRecord], int]
) -> None:
    """Nearly all characters; between pieces, a person types a space."""
    page = open_page(host.address())
    enter(page, BY_NAME[name], seed=1)
    own = sent_records(host, page)["caption"]
    assert counted(own) >= 0.85 * own.length


@pytest.mark.parametrize(
    "name",
    [
        "dictated",
        *in_full("composed by an input method", "typed on a phone that corrects and completes"),
    ],
)
def test_other_ways_to_write_look_like_no_machine(host: Host, open_page: Open, name: str) -> None:
    """Compositions, corrections and speech are trusted events without a paste."""
    page = open_page(host.address())
    enter(page, BY_NAME[name], seed=1)
    own = sent_records(host, page)["caption"]
    assert (own.untrusted, own.outside, own.unseen, own.quick) == ((0, 0), 0, 0, 0)
    assert own.length > 0


def test_a_draft_that_is_kept_meanwhile_ends_no_burst(host: Host, open_page: Open) -> None:
    """Speech that comes in two events is one burst; so is what a program writes bit by bit."""
    page = open_page(host.address())
    page.focus("#caption-1")
    page.evaluate(
        """(text) => {
          const box = document.getElementById("caption-1");
          const half = Math.floor(text.length / 2);
          for (const end of [half, text.length]) {
            box.value = text.slice(0, end);
            const event = new InputEvent("input", { bubbles: true, inputType: "insertText" });
            Object.defineProperty(event, "timeStamp", { value: 5000 + (end === half ? 0 : 4) });
            box.dispatchEvent(event);
          }
        }""",
        RED_HOUSE,
    )
    own = sent_records(host, page)["caption"]
    assert own.bursts == (1, len(RED_HOUSE))


def test_a_composition_counts_what_it_adds(host: Host, open_page: Open) -> None:
    """Six letters become two characters: neither a paste nor a burst."""
    page = open_page(host.address())
    page.locator("#caption-1").fill(RED_HOUSE)
    devtools = page.context.new_cdp_session(page)
    for end in range(1, 7):
        page.wait_for_timeout(30)  # longer than what the page takes for a burst
        letters = {"text": "hongse"[:end], "selectionStart": end, "selectionEnd": end}
        devtools.send("Input.imeSetComposition", letters)
    page.wait_for_timeout(30)
    devtools.send("Input.insertText", {"text": "紅色"})
    own = sent_records(host, page)["caption"]
    assert own.kinds["insertCompositionText"] == (7, 8)
    assert own.bursts == (1, len(RED_HOUSE))  # the beginning was filled in at once
    assert own.length == len(RED_HOUSE) + 2


def test_a_text_copied_on_the_page_is_told_from_another(host: Host, open_page: Open) -> None:
    """Only that is recorded: neither text is sent."""
    page = open_page(host.address())
    page.focus("#caption-1")
    page.keyboard.type(RED_HOUSE)
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+X")
    page.keyboard.press("Control+V")
    own = sent_records(host, page)["caption"]
    assert (own.inside, own.outside) == (len(RED_HOUSE), 0)
    assert own.kinds["insertFromPaste"] == (1, len(RED_HOUSE))


def test_a_draft_and_the_canned_text_are_not_the_worker_s_typing(
    host: Host, open_page: Open
) -> None:
    """The page itself puts them there; what was counted before a reload stays."""
    page = open_page(host.address())
    page.focus("#caption-1")
    page.keyboard.type(RED_HOUSE, delay=15)
    page.reload()
    page.click("[data-fills='caption.1']")
    expect(page.locator("#caption-1")).to_have_value(CANNED)
    page.click("[data-fills='caption.1']")
    expect(page.locator("#caption-1")).to_have_value(RED_HOUSE)
    own = sent_records(host, page)["caption"]
    assert own.kinds == {"insertText": (len(RED_HOUSE), len(RED_HOUSE))}
    assert (own.unseen, own.start, own.length) == (0, 0, len(RED_HOUSE))


def test_a_campaign_can_switch_it_off(host: Host, open_page: Open) -> None:
    """Then the page has no such script and field, and does not speak of it."""
    page = open_page(host.address())
    expect(page.locator("footer")).to_contain_text("how each text is entered")
    host.page = render_hit(
        load_task("caption"), [Item(item_id=ItemId("a"), columns=COLUMNS)], records_typing=False
    )
    page.goto(host.address())
    expect(page.locator("footer")).not_to_contain_text("how each text is entered")
    fill(page, 1, RED_HOUSE)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert not [name for name, _ in host.posted[0][1] if "typing" in name]


def test_records_of_many_texts_leave_room_for_the_answers(host: Host, open_page: Open) -> None:
    """Those that do not fit are left out whole."""
    task = replace(load_task("caption"), items_per_hit=40)
    items = [
        Item(item_id=ItemId(f"{n}"), columns=COLUMNS | {"image_id": f"{n}"}) for n in range(40)
    ]
    host.page = render_hit(task, items)
    page = open_page(host.address())
    sent = page.evaluate(
        """() => {
          const typing = window.pieceworkTyping();
          typing.begin();
          const boxes = ".item :is(textarea, [type=text])";
          document.querySelectorAll(boxes).forEach((box) => {
            box.value = "x".repeat(900);
          });
          typing.send(document.getElementById("work"));
          return Array.from(
            document.querySelectorAll("[name^='typing.']"), (field) => field.value);
        }"""
    )
    read = [typing_records(text, NAMES) for text in sent if text]
    assert 20 < len(read) < 40
    assert None not in read
    assert sum(map(len, sent)) <= 12_000


def test_a_text_to_correct_is_nothing_that_the_worker_entered(host: Host, open_page: Open) -> None:
    """The record counts from the text that the box begins with."""
    host.page = example_of(load_task("correction")).page
    page = open_page(host.address())
    box = page.locator(".step:visible textarea")
    before = box.input_value()
    box.focus()
    page.keyboard.press("End")
    page.keyboard.type(" now", delay=20)
    box.dispatch_event("change")
    draft = page.evaluate("() => JSON.parse(window.localStorage['piecework.ASSIGNMENT1']).typing")
    own = draft["correction.1"]
    assert (own["start"], own["unseen"], own["quick"]) == (len(before), 0, 0)
    assert own["kinds"] == {"insertText": [4, 4]}
