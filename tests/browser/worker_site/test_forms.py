"""Forms in a real browser: a test and a HIT by a person, accessible, held, kept."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import control_faults, violations
from tests.marketplace.documents import choice, form, free_text, key, question
from tests.marketplace.market import Market, post
from tests.marketplace.qualification_types import make

pytestmark = pytest.mark.browser

ASKED = form(
    "<Overview><Title>Birds</Title><Text>Look closely.</Text></Overview>",
    question("bird", choice("robin", "crow"), required=True),
    question(
        "seen",
        choice("beak", "wing", least=2, most=2, style="checkbox"),
        content="<Text>What do you see?</Text>",
    ),
    question("place", choice("tree", "wire", style="dropdown")),
    question("count", free_text('<IsNumeric minValue="1" maxValue="9"/>')),
    question("why", free_text(rest="<NumberOfLinesSuggestion>3</NumberOfLinesSuggestion>")),
)


def check(page: Page) -> None:
    """No fault of `violations`, nor of the controls in the form's own frame."""
    assert violations(page) == []
    assert [fault for frame in page.frames[1:] for fault in control_faults(frame)] == []


def test_a_person_takes_a_test_on_a_phone(market: Market, open_site: Callable[..., Page]) -> None:
    """List, start, held by the browser, graded; by keyboard alone."""
    client, ann = market.requester(), market.worker()
    asked = form(question("bird", choice("robin", "crow"), required=True))
    graded = key({"bird": [(["robin"], 7)]})
    make(client, "Birds", Test=asked, AnswerKey=graded, TestDurationInSeconds=90)
    page = open_site(ann.token, "/worker/qualifications", width=390, height=800)
    check(page)
    page.get_by_role("link", name="Take the test").click()
    begin = page.get_by_role("button", name="Begin the test")
    begin.wait_for()
    check(page)
    begin.press("Enter")
    send = page.get_by_role("button", name="Send the test")
    send.wait_for()
    page.wait_for_load_state()  # its script listens then
    check(page)
    send.press("Enter")
    assert page.url.endswith("/test")  # the browser wants an answer first
    assert page.locator("input:invalid").count() == 2
    page.get_by_label("ROBIN").press("Space")
    send.press("Enter")
    page.get_by_text("with the value 7").wait_for()
    check(page)


def test_a_long_test_shows_a_question_at_a_time_and_keeps_the_answers(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """With its place, in about a screen; the instructions fold; the result is counted."""
    client, ann = market.requester(), market.worker()
    sections = [
        f"<Overview><Title>Part {part}</Title><Text>{'Look closely. ' * 40}</Text></Overview>"
        + "".join(
            question(f"bird_{part}_{n}", choice("robin", "crow"), required=True)
            for n in range(1, 21)
        )
        for part in (1, 2)
    ]
    graded = key({f"bird_{part}_{n}": [(["robin"], 1)] for part in (1, 2) for n in range(1, 21)})
    kind = make(client, "Birds", Test=form(*sections), AnswerKey=graded, TestDurationInSeconds=900)
    page = open_site(ann.token, f"/worker/qualifications/{kind}/test", width=390, height=844)
    page.get_by_role("button", name="Begin the test").click()
    expect(page.locator("#progress span")).to_have_text("1 of 40")
    check(page)
    page.get_by_role("button", name="Next").click()  # nothing is chosen
    expect(page.locator("#progress span")).to_have_text("1 of 40")
    for n in range(1, 13):
        page.get_by_label("ROBIN" if n > 8 else "CROW").locator("visible=true").check()
        page.get_by_role("button", name="Next").click()
        expect(page.locator("#progress span")).to_have_text(f"{n + 1} of 40")
    assert page.evaluate("document.documentElement.scrollHeight") < 900
    page.reload()
    expect(page.locator("#progress span")).to_have_text("13 of 40")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_label("ROBIN").locator("visible=true")).to_be_checked()
    page.get_by_role("button", name="Next").click()
    for _ in range(13, 40):
        page.get_by_label("ROBIN").locator("visible=true").check()
        page.get_by_role("button", name="Next").click()
    page.get_by_label("ROBIN").locator("visible=true").press("Space")
    page.get_by_role("button", name="Send the test").click()
    expect(page.get_by_text("32 of 40 right")).to_be_visible()
    check(page)


def test_an_own_answer_can_be_given_after_an_option_was_chosen(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Radio buttons and the lines of a list cannot be cleared, so one of them has no value."""
    client, ann = market.requester(), market.worker()
    other = "<OtherSelection/>"
    asked = form(
        question("bird", choice("robin", "crow", other=other), required=True),
        question("place", choice("tree", "wire", style="list", other=other), required=True),
    )
    made = post(client, Question=asked)
    page = open_site(ann.token, f"/worker/groups/{made['HITGroupId']}/preview")
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("iframe")
    bird, place = (frame.get_by_role("group", name=f"Question {n}") for n in (1, 2))
    bird.get_by_label("ROBIN").check()
    place.get_by_role("listbox").select_option("wire")
    for group, words in ((bird, "a wren"), (place, "a hedge")):
        group.get_by_role("textbox").fill(words)
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("alert").get_by_text("Please choose at most 1").first.wait_for()
    check(page)
    assert bird.get_by_label("ROBIN").is_checked()
    bird.get_by_role("radio", name="Or your own answer").check()
    place.get_by_role("listbox").select_option(label="Or your own answer")
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    (work,) = client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
    assert "SelectionIdentifier" not in work["Answer"]
    for words in ("a wren", "a hedge"):
        assert f"<OtherSelectionText>{words}</OtherSelectionText>" in work["Answer"]


def test_a_person_does_a_form_hit_and_loses_nothing(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """What no browser can hold comes back with words and everything still there."""
    client, ann = market.requester(), market.worker()
    made = post(client, Question=ASKED)
    path = f"/worker/groups/{made['HITGroupId']}/preview"
    page = open_site(ann.token, path, width=390, height=800)
    check(page)
    assert page.frame_locator("iframe").get_by_label("ROBIN").is_disabled()
    page.get_by_role("button", name="Accept").click()
    frame = page.frame_locator("iframe")
    frame.get_by_label("ROBIN").check()
    frame.get_by_label("BEAK").check()
    frame.get_by_role("group", name="Question 3").get_by_role("combobox").select_option("wire")
    frame.get_by_role("spinbutton").fill("3")
    frame.get_by_role("textbox").fill("It sang.\nTwice.")
    check(page)
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_role("alert").get_by_text("Please choose at least 2").wait_for()
    check(page)
    assert frame.get_by_label("ROBIN").is_checked()
    assert frame.get_by_role("spinbutton").input_value() == "3"
    assert frame.get_by_role("textbox").input_value() == "It sang.\nTwice."
    frame.get_by_label("WING").check()
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    (work,) = client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
    assert "<SelectionIdentifier>wire</SelectionIdentifier>" in work["Answer"]
    assert "<FreeText>It sang.\nTwice.</FreeText>" in work["Answer"]
