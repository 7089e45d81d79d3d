"""A visit of a participant of Connect in a browser: consent, two HITs, the code.

It takes the pictures of `docs/how-to/connect.md`.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.worker_site.recorder import HEIGHT, WIDTHS, Recorder
from tests.browser.worker_site.test_visit import HTML, answer
from tests.conftest import in_full
from tests.markets.connect.town import a_town

pytestmark = pytest.mark.browser

_PICTURES = Path(__file__).parents[3] / "docs/explanation/connect-visit"


@pytest.mark.parametrize("view", ["phone", *in_full("desk")])
def test_a_whole_visit_and_the_code_entered_at_connect(
    tmp_path: Path, open_page: Callable[..., Page], view: str, *, update_pictures: bool
) -> None:
    """Each page is accessible and fits; the code is one that Connect accepts."""
    with a_town(tmp_path) as town:
        for number in (1, 2):
            town.post(
                1,
                Title="Describe pictures for people who cannot see them",
                Description="Say in a sentence what each of two pictures shows.",
                Reward="0.40",
                question=HTML.format(number),
            )
        town.settle()
        place = town.connect.arrive(town.project())
        page = open_page(place.url, width=WIDTHS[view], height=HEIGHT)
        recorder = Recorder(page, view, folder=_PICTURES if update_pictures else None)
        recorder.look("welcome")
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        answer(page, "A red bird on a branch.")
        expect(page.get_by_text("Task 2 of 2")).to_be_visible()
        recorder.look("hit")
        answer(page, "A black bird on a roof.")
        expect(page.get_by_text("All done, thank you")).to_be_visible()
        recorder.look("done")
        [study] = town.rows("SELECT code FROM studies")
        expect(page.get_by_text(study["code"])).to_be_visible()
        page.goto(place.complete_url)
        page.get_by_role("textbox").fill(study["code"])
        page.get_by_role("button").first.click()
        assert town.status_of(place.assignment_id)["status"] == "Pending"
        page.goto(place.url)
        expect(page.get_by_text("All done, thank you")).to_be_visible()
        page.context.clear_cookies()
        page.goto(place.url)
        page.get_by_label("I have read this").check()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("Your assignment is finished")).to_be_visible()
        recorder.look("finished-before")
