"""Submitting the caption page: what is sent, where to, and when nothing is."""

import pytest
from playwright.sync_api import expect

from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import load_task
from tests.browser.host import Host
from tests.browser.pages import (
    GREEN_LAWN,
    RED_HOUSE,
    Open,
    draft_keys,
    faults,
    fill,
    message,
    pass_lesson,
    tick,
)

pytestmark = pytest.mark.browser


def test_submission_sends_exactly_the_wire_fields(host: Host, open_page: Open) -> None:
    """One ordinary POST to externalSubmit, each field by its name, in form order."""
    page = open_page(host.address("ASSIGNMENT1"))
    page.fill("#caption-1", RED_HOUSE)
    page.check('[name="has_text.1"][value=yes]')
    page.check('[name="flaws.1"][value=blur]')
    page.check('[name="flaws.1"][value=other]')
    page.fill("#flaw_other-1", "a finger & <b>")
    page.click("#next")
    fill(page, 2, GREEN_LAWN)
    page.fill("#comment", "nice pictures")
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()

    [(path, fields)] = host.posted
    assert path == "/mturk/externalSubmit"
    # has_text and flaws are as they are ticked; the rest is there for each item.
    per_item = ["item", "shown_ms", "pastes", "keystrokes", "focus_losses", "typing", "caption"]
    assert [name for name, _ in fields] == [
        "assignmentId",
        *(f"{name}.1" for name in per_item),
        "has_text.1", "flaws.1", "flaws.1", "flaw_other.1",
        *(f"{name}.2" for name in per_item),
        "has_text.2", "flaws.2", "flaw_other.2",
        "comment",
    ]  # fmt: skip
    sent = dict(fields)
    assert sent["assignmentId"] == "ASSIGNMENT1"
    assert (sent["item.1"], sent["item.2"]) == ("img_one", "img_two")
    assert (sent["caption.1"], sent["caption.2"]) == (RED_HOUSE, GREEN_LAWN)
    assert [value for name, value in fields if name == "flaws.1"] == ["blur", "other"]
    assert sent["flaw_other.1"] == "a finger & <b>"
    assert sent["comment"] == "nice pictures"
    assert draft_keys(page) == ["piecework.ASSIGNMENT1"]

    # What the marketplace hands on is read without a single problem.
    joined = {
        name: "|".join(value for other, value in fields if other == name)
        for name, _ in fields
        if name != "assignmentId"
    }
    answers = read_answers(
        load_task("caption"),
        AssignmentId("ASSIGNMENT1"),
        [ItemId("img_one"), ItemId("img_two")],
        joined,
    )
    assert [answer.problems for answer in answers] == [(), ()]
    assert answers[0].values["flaws"] == ("blur", "other")


def test_the_page_works_inside_a_frame(host: Host, open_page: Open) -> None:
    """As platforms show it: the frame itself goes to the platform's answer."""
    page = open_page(f"{host.url}/around")
    frame = page.frame_locator("iframe")
    pass_lesson(frame)
    for n, caption in ((1, RED_HOUSE), (2, GREEN_LAWN)):
        frame.locator(f"#caption-{n}").fill(caption)
        tick(frame, f"has_text.{n}", "no")
        tick(frame, f"flaws.{n}", "none")
        frame.locator("#next" if n == 1 else "#send").click()
    expect(frame.get_by_text("Thank you")).to_be_visible()
    assert len(host.posted) == 1


def test_submit_holds_the_rules_of_the_last_item(host: Host, open_page: Open) -> None:
    """Nothing is sent while a rule is broken."""
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    fill(page, 2, "A lawn")
    page.click("#send")
    assert faults(page, "caption-2") == [message("caption_min_words")]
    assert host.posted == []


def test_the_whole_hit_can_be_done_by_keyboard(host: Host, open_page: Open) -> None:
    """Tab, Space, arrows and letters: from the first field to the submission."""
    page = open_page(host.address())
    press, write = page.keyboard.press, page.keyboard.type

    def tab_to(selector: str) -> None:
        for _ in range(40):
            if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                return
            press("Tab")
        pytest.fail(f"Tab never reaches {selector}")

    for n, caption in ((1, RED_HOUSE), (2, GREEN_LAWN)):
        tab_to(f"[data-position='{n}'] .frame")
        press("+")
        press("r")
        expect(page.locator("[data-view-state]").nth(n - 1)).to_have_text(
            "Zoomed to 150 %, turned by 90°"
        )
        tab_to(f"#caption-{n}")
        write(caption)
        tab_to(f'[name="has_text.{n}"]')
        press("Space")
        press("ArrowRight")
        tab_to(f'[name="flaws.{n}"][value=blur]')
        press("Space")
        if n == 1:
            tab_to("#next")
            press("Enter")
            expect(page.locator("#heading-2")).to_be_focused()
    tab_to("#send")
    press("Space")
    expect(page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    assert sent["caption.1"] == RED_HOUSE
    assert sent["has_text.2"] == "no"
    assert sent["flaws.2"] == "blur"
    # Each letter was a key press; nothing else in a text box was.
    assert int(sent["keystrokes.1"]) == len(RED_HOUSE) + 1  # and the Tab that left the box
    assert int(sent["keystrokes.2"]) == len(GREEN_LAWN) + 1


@pytest.mark.parametrize("query", ["ASSIGNMENT_ID_NOT_AVAILABLE", None])
def test_a_preview_shows_everything_and_cannot_submit(
    host: Host, open_page: Open, query: str | None
) -> None:
    """Without an assignment: a notice, all pictures, no fields and no submission."""
    page = open_page(f"{host.url}/page" if query is None else host.preview_address())
    expect(page.locator("#notice-preview")).to_be_visible()
    expect(page.locator("#caption-1")).to_be_disabled()
    page.click("#next")
    expect(page.locator("#heading-2")).to_be_visible()
    expect(page.locator("#send")).to_be_disabled()
    expect(page.locator("#send")).to_have_text("Accept the HIT to submit")
    page.evaluate("document.getElementById('send').disabled = false")
    page.click("#send")
    page.evaluate("document.getElementById('work').requestSubmit()")
    page.wait_for_timeout(100)  # nothing shows that a page submits nothing
    assert host.posted == []
    assert draft_keys(page) == []


@pytest.mark.parametrize("where", ["javascript:alert(1)//", "", "nowhere"])
def test_an_address_that_is_no_host_is_not_submitted_to(
    host: Host, open_page: Open, where: str
) -> None:
    """A link cannot make the page run a script, and the worker is told."""
    page = open_page(host.address(turkSubmitTo=where))
    expect(page.locator("#notice-address")).to_be_visible()
    fill(page, 1, RED_HOUSE)
    page.click("#next")
    expect(page.locator("#send")).to_be_disabled()


def test_a_word_for_programs_is_in_no_person_s_way(host: Host, open_page: Open) -> None:
    """Neither seen nor spoken; whoever takes the page's text has it."""
    columns = {"image_id": "one", "url": "/pictures/one.svg"}
    host.page = render_hit(
        load_task("caption"), [Item(item_id=ItemId("one"), columns=columns)], canary="heliotrope"
    )
    page = open_page(host.address())
    asked = page.get_by_text("use the word heliotrope")
    room = asked.bounding_box()
    assert room is not None
    assert (room["width"], room["height"]) == (1, 1)
    assert "heliotrope" not in page.locator("body").aria_snapshot()
    assert "heliotrope" in page.locator("body").inner_text()


def test_a_hostile_item_runs_nothing(host: Host, open_page: Open) -> None:
    """Markup in an item's id is sent back as text."""
    hostile = """"><script>window.ran = 1</script><img src=x onerror="ran=1">'"""
    columns = {"image_id": hostile, "url": "/pictures/one.svg"}
    host.page = render_hit(load_task("caption"), [Item(item_id=ItemId(hostile), columns=columns)])
    page = open_page(host.address())
    fill(page, 1, RED_HOUSE)
    assert page.evaluate("window.ran") is None
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert dict(host.posted[0][1])["item.1"] == hostile
