"""Old templates run offline: the scripts that Amazon hosted are served from here."""

import json
from collections.abc import Callable
from html import escape
from importlib.resources import files

import pytest
from axe_playwright_python.sync_playwright import Axe
from defusedxml.ElementTree import fromstring
from playwright.sync_api import Browser, FrameLocator, Page, expect

from piecework.hit_templates.own_html.control_kinds import made
from piecework.marketplace import workers
from tests.browser.pages import check
from tests.browser.worker_site.questions import html_question
from tests.hit_templates.own_html import DIRECTIONS
from tests.marketplace.market import Market, post

pytestmark = pytest.mark.browser

OLD = """<script type="text/javascript"
 src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js"></script>
<form name="mturk_form" method="post" id="mturk_form"
 action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" value="" name="assignmentId" id="assignmentId">
<h1>Sentiment</h1><label>Your word <input name="word"></label>
<p><input type="submit" id="submitButton" value="Submit"></p></form>
<script>turkSetAssignmentID();</script>"""

CROWD = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<h1>Birds</h1><crowd-form{traits}>
<crowd-instructions link-text="View instructions" link-type="button">
<short-summary><p>Look.</p></short-summary>
<detailed-instructions><p>Look closely.</p></detailed-instructions>
</crowd-instructions>
<crowd-classifier name="sentiment" categories="['Good', 'Not good']"
 header="How is it?">
<classification-target>It is fine.</classification-target>
<short-instructions>Choose one.</short-instructions>
<full-instructions header="More">Really one.</full-instructions>
</crowd-classifier>
<crowd-input name="tag1" label="A word" required></crowd-input>
<crowd-input name="tag2" label="Another word"></crowd-input>
<crowd-input name="photo" type="file" label="A photo"></crowd-input>
<p>Tell more</p><crowd-text-area name="essay" label="Essay" rows="4"></crowd-text-area>
<crowd-checkbox name="colours" value="Red">Red</crowd-checkbox>
<crowd-checkbox name="colours" value="Green">Green</crowd-checkbox>
<crowd-radio-group><crowd-radio-button name="btn1" value="yes">Yes</crowd-radio-button>
<crowd-radio-button name="btn2" value="no">No</crowd-radio-button></crowd-radio-group>
<crowd-slider name="howMuch" label="How much" min="1" max="10" step="1"></crowd-slider>
<crowd-toggle-button name="theToggler">Toggle</crowd-toggle-button>
<input type="hidden" name="version" value="7">
</crowd-form>"""


def test_a_page_that_states_its_language_alone_has_its_direction(
    browser: Browser,
) -> None:
    """As a page of ours that is made from HTML; a page's own direction counts."""
    script = (files(workers) / "stand_ins" / "crowd-html-elements.js").read_text()
    own = {f'{tag}" dir="ltr': "ltr" for tag in DIRECTIONS}
    page = browser.new_page()
    for stated, direction in {**DIRECTIONS, **own}.items():
        page.set_content(f'<html lang="{stated}"><script>{script}</script>')
        assert (stated, page.locator("html").get_attribute("dir")) == (stated, direction)
    page.close()


def accepted_page(market: Market, open_site: Callable[..., Page], body: str) -> tuple[Page, str]:
    """The work page of a new HIT with this body, and the HIT's id."""
    ann = market.worker()
    made = post(market.requester("LAB"), Question=html_question(body))
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    return page, made["HITId"]


def answers(market: Market, hit_id: str) -> dict[str, str]:
    """What the requester gets: each question with its free text."""
    client = market.requester("LAB")
    (work,) = client.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    return {str(answer[0].text): str(answer[1].text or "") for answer in fromstring(work["Answer"])}


def fill_in(frame: FrameLocator) -> None:
    """Answer the page about birds, by the names that people hear and see."""
    check(frame.get_by_label("Not good", exact=True))
    frame.get_by_label("A word", exact=True).fill("blue")
    frame.get_by_label("A photo").set_input_files(
        {"name": "a.jpg", "mimeType": "image/jpeg", "buffer": b"x"}
    )
    frame.get_by_label("Essay").fill("two\nlines")
    check(frame.get_by_label("Red"))
    check(frame.get_by_label("No", exact=True))
    check(frame.get_by_label("Yes", exact=True))  # which takes No away
    frame.get_by_label("How much").fill("4")
    check(frame.get_by_role("switch", name="Toggle"))


def test_a_template_of_the_old_script_submits_here(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Its form goes to this site, not to the host that is built in."""
    page, hit = accepted_page(market, open_site, OLD)
    frame = page.frame_locator("iframe")
    frame.get_by_label("Your word").fill("joy")
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    assert answers(market, hit) == {"word": "joy"}


def test_a_form_that_names_amazons_host_submits_here(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Without any script of Amazon's, as its own guide had it: no answer is lost."""
    bare = OLD.partition("</script>")[2].replace(
        "turkSetAssignmentID()",
        "document.getElementById('assignmentId').value = "
        "new URLSearchParams(location.search).get('assignmentId')",
    )
    page, hit = accepted_page(market, open_site, bare)
    frame = page.frame_locator("iframe")
    frame.get_by_label("Your word").fill("joy")
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    assert answers(market, hit) == {"word": "joy"}


def test_the_old_script_gives_parameters_as_they_stand_in_the_address(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Encoded, as Amazon's did; a default where there is none."""
    page, hit = accepted_page(market, open_site, OLD)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_label("Your word")).to_be_visible()
    parameters = page.frames[1].evaluate(
        "[turkGetParam('hitId', 'x'), turkGetParam('none', 'x'), "
        "turkGetParam('turkSubmitTo').slice(0, 10), turkGetSubmitToHost()]"
    )
    assert parameters == [hit, "x", "http%3A%2F", market.endpoint]


def test_a_preview_of_an_old_template_cannot_be_submitted(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """Both scripts switch the button off and say why."""
    ann = market.worker()
    texts = []
    for body, name in ((OLD, "You must ACCEPT the HIT"), (CROWD, "Submit")):
        question = html_question(body.replace("{traits}", ""))
        made = post(market.requester("LAB"), Question=question, Title=name)
        page = open_site(ann.token, f"/worker/groups/{made['HITGroupId']}/preview")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("button", name=name)).to_be_disabled()
        texts.append(frame.locator("body").inner_text())
    assert "Accept the HIT before you can submit it." in texts[1]


def test_a_crowd_form_sends_one_field_of_json(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """A list of one object: text as text, boxes as booleans, empty text and files left out."""
    page, hit = accepted_page(market, open_site, CROWD.replace("{traits}", ""))
    frame = page.frame_locator("iframe")
    fill_in(frame)
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    sent = answers(market, hit)
    assert list(sent) == ["taskAnswers"]
    # From the documentation's samples, element by element.
    assert json.loads(sent["taskAnswers"]) == [
        {
            "btn1": {"yes": True},
            "btn2": {"no": False},
            "colours": {"Green": False, "Red": True},
            "essay": "two\nlines",
            "howMuch": 4,
            "sentiment": {"label": "Not good"},
            "tag1": "blue",
            "theToggler": {"on": True},
            "version": "7",
        }
    ]


def test_a_flattened_crowd_form_sends_a_field_for_each_value(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """With answer-format="flatten-objects" the names are joined by dots."""
    traits = ' answer-format="flatten-objects"'
    page, hit = accepted_page(market, open_site, CROWD.replace("{traits}", traits))
    frame = page.frame_locator("iframe")
    fill_in(frame)
    frame.get_by_role("button", name="Submit").click()
    page.wait_for_url("**/thanks")
    sent = answers(market, hit)
    assert sent["sentiment.label"] == "Not good"
    assert sent["colours.Red"] == "true"
    assert sent["tag1"] == "blue"
    assert "taskAnswers" not in sent


def test_a_crowd_form_with_gaps_is_not_sent(market: Market, open_site: Callable[..., Page]) -> None:
    """A required word and a category are asked for, and the page's own veto counts."""
    body = CROWD.replace("{traits}", "") + (
        "<script>document.querySelector('crowd-form').onsubmit = (event) => {"
        "if (window.isForbidden) event.preventDefault(); };</script>"
    )
    page, _ = accepted_page(market, open_site, body)
    frame = page.frame_locator("iframe")
    submit = frame.get_by_role("button", name="Submit")
    submit.click()
    expect(frame.get_by_label("A word", exact=True)).to_be_focused()
    frame.get_by_label("A word", exact=True).fill("blue")
    submit.click()
    expect(frame.get_by_text("Choose an answer.")).to_be_visible()
    expect(frame.get_by_label("Good", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    page.frames[1].evaluate("window.isForbidden = true")
    submit.click()
    page.frames[1].evaluate("window.isForbidden = false")
    assert [assignment["status"] for assignment in market.books()["assignments"]] == ["Accepted"]
    submit.click()
    page.wait_for_url("**/thanks")


def test_a_crowd_form_whose_sending_hangs_can_be_sent_again(
    market: Market, open_site: Callable[..., Page]
) -> None:
    """After a change of an answer, or a while; it never has two forms to send."""
    body = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
    <crowd-form><crowd-input name="word" label="A word"></crowd-input></crowd-form>"""
    page, _ = accepted_page(market, open_site, body)
    frame = page.frame_locator("iframe")
    submit, word = frame.get_by_role("button", name="Submit"), frame.get_by_label("A word")
    word.fill("blue")
    page.frames[1].evaluate(
        """() => {
          window.sent = 0;
          HTMLFormElement.prototype.submit = () => { window.sent += 1; };
          window.setTimeout = (act, after) => { window.later = [act, after]; };
        }"""
    )
    submit.click()
    submit.click()
    assert page.frames[1].evaluate("window.sent") == 1
    word.fill("red")
    submit.click()
    submit.click()
    assert page.frames[1].evaluate("window.sent") == 2
    assert page.frames[1].evaluate("(window.later[0](), window.later[1])") == 20_000
    submit.click()
    assert page.frames[1].evaluate("window.sent") == 3
    (form,) = frame.locator(".crowd-answers").all()
    assert "red" in form.inner_html()


@pytest.mark.parametrize(
    ("stated", "option"),
    [
        ("{ text: 'None of them' }", ["None of them"]),
        ('{"text": "None of them"}', ["None of them"]),
        ("{'text': 'None of them',}", ["None of them"]),
        ('{ "text" : "None \\u0026 \\"nothing\\"" }', ['None & "nothing"']),
        ("{ text: 'It isn\\'t there' }", ["It isn't there"]),
        ('{ context: "x" }', []),
        ("{}", []),
        ("", []),
    ],
)
def test_page_and_python_agree_on_the_option_that_excludes_others(
    market: Market, open_site: Callable[..., Page], stated: str, option: list[str]
) -> None:
    """As JavaScript and as JSON write it."""
    name = "crowd-classifier-multi-select"
    traits = {"name": "tags", "categories": "['a', 'b']", "exclusion-category": stated}
    written = " ".join(f'{key}="{escape(value)}"' for key, value in traits.items())
    page, _ = accepted_page(
        market,
        open_site,
        '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
        f"<crowd-form><{name} {written}></{name}></crowd-form>",
    )
    boxes = page.frame_locator("iframe").locator("input[type=checkbox]")
    expect(boxes.first).to_be_visible()
    control, _ = made(name, traits) or (None, None)
    assert control is not None
    shown = boxes.evaluate_all("(boxes) => boxes.map((box) => box.value)")
    assert shown == [*control.options] == ["a", "b", *option]


def test_an_element_that_is_absent_says_so(market: Market, open_site: Callable[..., Page]) -> None:
    """Loudly, with what to do; nothing that lacks its answer is sent."""
    body = (
        '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
        '<h1>Box</h1><crowd-form><crowd-3d-point-cloud name="box"></crowd-3d-point-cloud>'
        "</crowd-form>"
    )
    page, _ = accepted_page(market, open_site, body)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("alert")).to_contain_text("is not available here")
    frame.get_by_role("button", name="Submit").click()
    assert [assignment["status"] for assignment in market.books()["assignments"]] == ["Accepted"]


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.full)])
def test_crowd_elements_are_accessible_and_fit(
    market: Market, open_site: Callable[..., Page], width: int
) -> None:
    """Axe finds nothing, and nothing is wider than the window."""
    ann = market.worker()
    question = html_question(CROWD.replace("{traits}", ""))
    made = post(market.requester("LAB"), Question=question)
    accepted = ann.accept(made["HITGroupId"]).json()
    page = open_site(ann.token, width=width)
    # Nothing may frame the page but the site, so it is looked at by itself.
    page.goto(accepted["frame_url"])
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
