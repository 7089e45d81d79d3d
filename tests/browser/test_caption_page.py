"""The caption page in a real browser, as workers use it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from domain.hit import Item
from domain.ids import AssignmentId, ItemId
from hit_templates.answers import read_answers
from hit_templates.render import render_hit
from hit_templates.tasks import load_task
from tests.browser.host import Host

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
ONE = "A red house with a brown roof stands beside a post sign"
TWO = "A green lawn under a blue sky, with the sun in a corner"
CANNED = "Quality issues are too severe to recognize visual content."


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
    return next(
        rule.message for rule in load_task("caption").rules if rule.name == rule_name
    )


def draft_keys(page: Page) -> list[str]:
    """Names of what the page keeps in the browser."""
    keys: list[str] = page.evaluate("Object.keys(window.localStorage)")
    return keys


def test_submission_sends_exactly_the_wire_fields(host: Host, open_page: Open) -> None:
    """One ordinary POST to externalSubmit, each field by its name, in form order."""
    page = open_page(host.address("ASSIGNMENT1"))
    page.fill("#caption-1", ONE)
    page.check('[name="has_text.1"][value=yes]')
    page.check('[name="flaws.1"][value=blur]')
    page.check('[name="flaws.1"][value=other]')
    page.fill("#flaw_other-1", "a finger & <b>")
    page.click("#next")
    fill(page, 2, TWO)
    page.fill("#comment", "nice pictures")
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()

    [(path, fields)] = host.posted
    assert path == "/mturk/externalSubmit"
    # has_text and flaws are as they are ticked; the rest is there for each item.
    per_item = ["item", "shown_ms", "pastes", "keystrokes", "focus_losses", "caption"]
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
    assert (sent["caption.1"], sent["caption.2"]) == (ONE, TWO)
    assert [value for name, value in fields if name == "flaws.1"] == ["blur", "other"]
    assert sent["flaw_other.1"] == "a finger & <b>"
    assert sent["comment"] == "nice pictures"
    assert draft_keys(page) == []

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
    for n, caption in ((1, ONE), (2, TWO)):
        frame.locator(f"#caption-{n}").fill(caption)
        frame.locator(f'[name="has_text.{n}"][value=no]').check()
        frame.locator(f'[name="flaws.{n}"][value=none]').check()
        frame.locator("#next" if n == 1 else "#send").click()
    expect(frame.get_by_text("Thank you")).to_be_visible()
    assert len(host.posted) == 1


@pytest.mark.parametrize(
    ("caption", "rules"),
    [
        ("", ["caption_required"]),
        ("A red house", ["caption_min_words"]),
        ("There is a red house with a brown roof", ["caption_banned_prefix"]),
        ("It\u2019s a red house with a brown roof here", ["caption_banned_prefix"]),
        (f"{ONE}. A sign.", ["caption_one_sentence"]),
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
    box.fill(ONE)
    assert faults(page, "caption-1") == []
    page.click("#next")
    expect(page.locator("#heading-2")).to_be_focused()


def test_choices_that_are_missing_are_asked_for(host: Host, open_page: Open) -> None:
    """Each group has its own message; focus goes to the first that is wrong."""
    page = open_page(host.address())
    page.fill("#caption-1", ONE)
    page.click("#next")
    assert faults(page, "has_text-1") == [message("has_text_required")]
    assert faults(page, "flaws-1") == [message("flaws_required")]
    expect(page.locator('[name="has_text.1"][value=yes]')).to_be_focused()


def test_something_else_wants_words(host: Host, open_page: Open) -> None:
    """The text is asked for while its box is ticked, and not sent when it is not."""
    page = open_page(host.address())
    fill(page, 1, ONE)
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
    fill(page, 2, TWO)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert dict(host.posted[0][1])["flaw_other.1"] == ""


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


def test_submit_holds_the_rules_of_the_last_item(host: Host, open_page: Open) -> None:
    """Nothing is sent while a rule is broken."""
    page = open_page(host.address())
    fill(page, 1, ONE)
    page.click("#next")
    fill(page, 2, "A lawn")
    page.click("#send")
    assert faults(page, "caption-2") == [message("caption_min_words")]
    assert host.posted == []


def test_back_and_reload_keep_everything(host: Host, open_page: Open) -> None:
    """Back is allowed with broken rules; after a reload all is where it was."""
    page = open_page(host.address())
    fill(page, 1, ONE)
    page.click("#next")
    page.fill("#caption-2", "A lawn")  # too short: Back is allowed all the same
    page.check('[name="flaws.2"][value=other]')
    page.fill("#flaw_other-2", "a thumb")
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(ONE)
    page.fill("#caption-1", f"{ONE} now")
    page.click("#next")
    page.fill("#comment", "so far")
    page.reload()
    expect(page.locator("#heading-2")).to_have_text("Image 2 of 2")
    expect(page.locator("#heading-2")).to_be_visible()
    expect(page.locator("#caption-2")).to_have_value("A lawn")
    expect(page.locator("#flaw_other-2")).to_have_value("a thumb")
    expect(page.locator("#comment")).to_have_value("so far")
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(f"{ONE} now")
    expect(page.locator('[name="has_text.1"][value=yes]')).to_be_checked()
    expect(page.locator('[name="flaws.1"][value=none]')).to_be_checked()


def test_drafts_of_assignments_do_not_mix(host: Host, open_page: Open) -> None:
    """The next assignment in the same browser begins empty."""
    page = open_page(host.address("ASSIGNMENT1"))
    page.fill("#caption-1", ONE)
    page.goto(host.address("ASSIGNMENT2"))
    expect(page.locator("#caption-1")).to_have_value("")
    page.goto(host.address("ASSIGNMENT1"))
    expect(page.locator("#caption-1")).to_have_value(ONE)


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
    expect(page.locator("#notice-drafts")).to_be_visible()
    fill(page, 1, ONE)
    page.click("#next")
    fill(page, 2, TWO)
    page.click("#back")
    expect(page.locator("#caption-1")).to_have_value(ONE)
    page.click("#next")
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()


def test_enter_neither_submits_nor_loses_anything(host: Host, open_page: Open) -> None:
    """In the text box it is a line break, elsewhere in a field nothing happens."""
    page = open_page(host.address())
    page.click("#caption-1")
    page.keyboard.type(ONE[:12])
    page.keyboard.press("Enter")
    page.keyboard.type(ONE[12:])
    page.check('[name="flaws.1"][value=other]')
    page.fill("#flaw_other-1", "a finger")
    page.locator("#flaw_other-1").press("Enter")
    page.locator('[name="flaws.1"][value=other]').press("Enter")
    expect(page.locator("#caption-1")).to_have_value(f"{ONE[:12]}\n{ONE[12:]}")
    expect(page.locator("#heading-1")).to_be_visible()
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

    for n, caption in ((1, ONE), (2, TWO)):
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
    assert sent["caption.1"] == ONE
    assert sent["has_text.2"] == "no"
    assert sent["flaws.2"] == "blur"
    # Each letter was a key press; nothing else in a text box was.
    assert int(sent["keystrokes.1"]) == len(ONE) + 1  # and the Tab that left the box
    assert int(sent["keystrokes.2"]) == len(TWO) + 1


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
    page.wait_for_timeout(100)
    assert host.posted == []
    assert draft_keys(page) == []


@pytest.mark.parametrize("where", ["javascript:alert(1)//", "", "nowhere"])
def test_an_address_that_is_no_host_is_not_submitted_to(
    host: Host, open_page: Open, where: str
) -> None:
    """A link cannot make the page run a script, and the worker is told."""
    page = open_page(host.address(turkSubmitTo=where))
    expect(page.locator("#notice-address")).to_be_visible()
    fill(page, 1, ONE)
    page.click("#next")
    expect(page.locator("#send")).to_be_disabled()


def test_the_canned_text_is_one_press_and_can_be_undone(
    host: Host, open_page: Open
) -> None:
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
    expect(button).to_have_text("Bring back what I wrote")
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


def test_a_picture_can_be_zoomed_turned_and_reset(host: Host, open_page: Open) -> None:
    """Buttons change the picture as they say; the frame then scrolls to all of it."""
    page = open_page(host.address())
    viewer = page.locator("[data-position='1'] [data-viewer]")
    picture, frame = viewer.locator("img"), viewer.locator(".frame")
    state = viewer.locator("[data-view-state]")

    def size() -> tuple[float, float]:
        box = picture.bounding_box()
        assert box is not None
        return box["width"], box["height"]

    expect(state).to_have_text("Whole picture")
    width, height = size()
    outside = frame.bounding_box()
    assert outside is not None
    assert width <= outside["width"] + 1
    assert height <= outside["height"] + 1
    assert width / height == pytest.approx(640 / 420, rel=0.01)

    viewer.get_by_text("Zoom in").click()
    assert size()[0] == pytest.approx(1.5 * width, rel=0.01)
    assert frame.evaluate("(e) => e.scrollWidth > e.clientWidth")
    viewer.get_by_text("Zoom out").click()
    expect(viewer.get_by_text("Zoom out")).to_be_disabled()
    viewer.get_by_text("Rotate").click()
    expect(state).to_have_text("Whole picture, turned by 90°")
    turned = size()
    assert turned[1] / turned[0] == pytest.approx(640 / 420, rel=0.01)
    assert turned[1] <= outside["height"] + 1
    viewer.get_by_text("Reset").click()
    expect(state).to_have_text("Whole picture")
    assert size() == pytest.approx((width, height))


def test_a_picture_that_does_not_load_can_be_tried_again_or_given_up(
    host: Host, open_page: Open
) -> None:
    """The worker is told, can retry, and can still say that nothing is seen."""
    host.has_pictures = False
    page = open_page(host.address())
    lost = page.locator("[data-position='1'] .lost")
    expect(lost).to_contain_text("did not load")
    lost.get_by_role("button").click()
    expect(lost).to_be_visible()
    page.locator("[data-position='1'] [data-fills]").click()
    expect(page.locator("#caption-1")).to_have_value(CANNED)
    host.has_pictures = True
    lost.get_by_role("button").click()
    expect(lost).to_be_hidden()
    expect(page.locator("[data-position='1'] img")).to_be_visible()
    assert host.asked.count("/pictures/one.svg") == 3


def test_time_pastes_and_leaving_are_counted_for_the_item_shown(
    host: Host, open_page: Open
) -> None:
    """Measures go to the item that was on screen, and survive a reload."""
    page = open_page("about:blank")
    page.clock.install(time=0)
    page.goto(host.address())
    page.clock.run_for(20_000)
    fill(page, 1, ONE)
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
    fill(page, 2, TWO)
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
    hide = """(state) => {
      const value = {value: state, configurable: true};
      Object.defineProperty(document, 'visibilityState', value);
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    page.evaluate(hide, "hidden")
    page.clock.run_for(600_000)
    page.evaluate(hide, "visible")
    fill(page, 1, ONE)
    page.click("#next")
    fill(page, 2, TWO)
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    sent = dict(host.posted[0][1])
    assert int(sent["shown_ms.1"]) < 60_000
    assert sent["focus_losses.1"] == "1"


def test_the_worker_is_told_what_is_measured(host: Host, open_page: Open) -> None:
    """In plain words, on every page, before anything is sent."""
    page = open_page(host.address())
    expect(page.locator("footer")).to_contain_text("What this page measures.")
    expect(page.locator("footer")).to_contain_text("how often you paste")


def test_the_page_asks_for_nothing_but_itself_and_its_pictures(
    host: Host, open_page: Open
) -> None:
    """No font, script or picture comes from anywhere else."""
    page = open_page("about:blank")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(host.address(), wait_until="networkidle")
    assert set(asked) - {"data:,"} == {
        host.address(),
        f"{host.url}/pictures/one.svg",
        f"{host.url}/pictures/two.svg",
    }


def test_a_hostile_item_runs_nothing(host: Host, open_page: Open) -> None:
    """Markup in an item's id is sent back as text."""
    hostile = """"><script>window.ran = 1</script><img src=x onerror="ran=1">'"""
    columns = {"image_id": hostile, "url": "/pictures/one.svg"}
    host.page = render_hit(
        load_task("caption"), [Item(item_id=ItemId(hostile), columns=columns)]
    )
    page = open_page(host.address())
    fill(page, 1, ONE)
    assert page.evaluate("window.ran") is None
    page.click("#send")
    expect(page.get_by_text("Thank you")).to_be_visible()
    assert dict(host.posted[0][1])["item.1"] == hostile
