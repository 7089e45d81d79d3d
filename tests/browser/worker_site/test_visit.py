"""A participant's visit in a browser: consent, two HITs, the way back; or stopping.

It takes the pictures of `docs/explanation/worker-pages.md`, as
`test_recording` takes those of other pages.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.worker_site.recorder import HEIGHT, WIDTHS, Recorder
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

pytestmark = pytest.mark.browser

_PICTURES = Path(__file__).parents[3] / "docs/explanation/visit"
HTML = (
    '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA['
    '<!doctype html><html lang="en"><title>A picture</title>'
    "<style>body {{ font: 1rem/1.5 system-ui; margin: 1rem }} input {{ font: inherit }}"
    '</style><form method="post" id="mturk_form"><h2>What does picture {0} show?</h2>'
    '<input type="hidden" name="assignmentId" id="assignmentId">'
    '<p><label>In a sentence <input name="caption" required></label></p>'
    "<button>Submit</button></form><script>"
    "const asked = new URLSearchParams(location.search);"
    'document.getElementById("assignmentId").value = asked.get("assignmentId");'
    'document.getElementById("mturk_form").action = '
    'asked.get("turkSubmitTo") + "/mturk/externalSubmit";'
    "</script></html>]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>"
)


def _posted(town: Town) -> None:
    kind = town.requester.create_hit_type(
        Title="Describe pictures for people who cannot see them",
        Description="Say in a sentence what each of two pictures shows.",
        Reward="0.40",
        AssignmentDurationInSeconds=900,
    )["HITTypeId"]
    for number in (1, 2):
        town.requester.create_hit_with_hit_type(
            HITTypeId=kind, Question=HTML.format(number), MaxAssignments=2, LifetimeInSeconds=86_400
        )
    town.settle()


def _link(town: Town, someone: Visitor) -> str:
    query = someone.open(town.study())
    words = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{town.market.endpoint}/visit/arrive?{words}"


def answer(page: Page, caption: str) -> None:
    """Answer the HIT that a page of `HTML` shows."""
    hit = page.frame_locator("iframe")
    hit.get_by_label("In a sentence").fill(caption)
    hit.get_by_role("button", name="Submit").click()


@pytest.mark.parametrize("view", ["phone", pytest.param("desk", marks=pytest.mark.full)])
def test_a_whole_visit(
    tmp_path: Path, open_page: Callable[..., Page], view: str, *, update_pictures: bool
) -> None:
    """Each page is accessible and fits; reload and back lead to where the visit is."""
    with a_town(tmp_path) as town:
        _posted(town)
        someone = town.visitor()
        page = open_page(_link(town, someone), width=WIDTHS[view], height=HEIGHT)
        recorder = Recorder(
            page,
            view,
            folder=_PICTURES if update_pictures else None,
        )
        recorder.look("welcome")
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("Task 1 of 2")).to_be_visible()
        answer(page, "A red bird on a branch.")
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        page.go_back()
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        page.reload()
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        recorder.look("hit")
        answer(page, "A black bird on a roof.")
        expect(page.get_by_text("All done, thank you")).to_be_visible()
        recorder.look("done")
        way_back = page.get_by_role("link", name="Finish on Prolific")
        code = way_back.get_attribute("href").partition("cc=")[2]  # type: ignore[union-attr]
        assert someone.complete(someone.submission_id, code) == "AWAITING REVIEW"


def test_stopping_and_another_account(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    """Who stops reads what to do; a link of another account opens no visit."""
    with a_town(tmp_path) as town:
        _posted(town)
        ann, bob = town.visitor(), town.visitor()
        page = open_page(_link(town, ann), width=WIDTHS["phone"], height=HEIGHT)
        recorder = Recorder(page, "phone", folder=None)
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        page.get_by_text("Stop here").click()
        recorder.look("stop")
        page.get_by_role("button", name="Yes, stop").click()
        expect(page.get_by_text("You have stopped")).to_be_visible()
        recorder.look("stopped")
        forged = _link(town, bob).replace(bob.participant_id, ann.participant_id)
        page.goto(forged)
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("with another account?")).to_be_visible()
        recorder.look("another-account")


@pytest.mark.parametrize("view", ["phone", pytest.param("desk", marks=pytest.mark.full)])
def test_who_is_too_late_reads_what_became_of_it(
    tmp_path: Path, open_page: Callable[..., Page], view: str
) -> None:
    """What was typed stays to be copied, and nothing says that it can be sent again."""
    with a_town(tmp_path) as town:
        _posted(town)
        page = open_page(_link(town, town.visitor()), width=WIDTHS[view], height=HEIGHT)
        recorder = Recorder(page, view, folder=None)
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        answer(page, "A red bird on a branch.")
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        town.wait(hours=3)
        answer(page, "A black bird on a roof.")
        hit = page.frame_locator("iframe")
        expect(hit.get_by_text("A black bird on a roof.")).to_be_visible()
        expect(page.get_by_text("The time for this visit is over")).to_be_visible()
        expect(page.get_by_text("The HIT is still yours")).to_be_hidden()
        recorder.look("time-over")
        page.get_by_role("link", name="See what happens to your submission").click()
        expect(page.get_by_text("your answers were not used")).to_be_visible()
        recorder.look("too-late")
