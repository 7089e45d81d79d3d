"""The worker's pages in a real browser: one way through them, each page accessible."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.pages import violations
from tests.browser.worker_site.questions import form, html_question
from tests.conftest import in_full
from tests.marketplace.market import Market, Worker, post

pytestmark = pytest.mark.browser


def follow(control: Locator) -> None:
    """Click, and wait for the page that comes: while it loads, there is no document."""
    with control.page.expect_navigation():
        control.click()


def test_a_person_does_a_hit_on_a_phone(market: Market, open_site: Callable[..., Page]) -> None:
    """List, preview, accept, submit in the frame, thank-you, return, history."""
    client, ann = market.requester(), market.worker()
    post(client, Question=html_question(form()))
    post(client, Question=html_question(form()))
    page = open_site(ann.token, width=390, height=800)
    assert violations(page) == []
    follow(page.get_by_role("link", name="Preview Describe a picture"))
    assert violations(page) == []
    follow(page.get_by_role("button", name="Accept"))
    assert violations(page) == []
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A red bird.")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")
    assert violations(page) == []
    follow(page.get_by_role("button", name="Accept the next HIT"))
    page.get_by_text("Return this HIT", exact=True).click()
    assert violations(page) == []
    page.get_by_role("button", name="Yes, return this HIT").click()
    page.wait_for_url("**/worker/hits")
    follow(page.get_by_role("link", name="Your work"))
    assert violations(page) == []
    states = [assignment["status"] for assignment in market.books()["assignments"]]
    assert states == ["Submitted", "Returned"]
    (hit,) = client.list_reviewable_hits()["HITs"]
    (work,) = client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "<FreeText>A red bird.</FreeText>" in work["Answer"]


LONG = {"Title": "Describe " * 14, "Description": "x" * 700, "Keywords": "bird, " * 40}


def post_many(market: Market) -> None:
    """Thirty kinds of HITs, and another one for those who hold a qualification."""
    client = market.requester("LAB")
    for number in range(30):
        post(client, **LONG, Reward=f"0.{number + 10}", AssignmentDurationInSeconds=60 + number)
    kind = client.create_qualification_type(
        Name="n" * 120, Description="d" * 900, QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    need = {"QualificationTypeId": kind, "Comparator": "Exists", "ActionsGuarded": "Accept"}
    post(client, **LONG, Reward="9.99", QualificationRequirements=[need])


def do_many(market: Market, worker: Worker) -> str:
    """Work that waits, was approved, rejected and objected to; return one assignment."""
    client, long = market.requester("LAB"), "A red bird. " * 60
    groups = worker.groups()[:5]
    first, second, third, *_, last = [
        worker.do(group["hit_group_id"], caption=long) for group in groups
    ]
    client.approve_assignment(AssignmentId=first, RequesterFeedback=long)
    for rejected in (second, third):
        client.reject_assignment(AssignmentId=rejected, RequesterFeedback=long)
    worker.http.post(f"/worker/assignments/{third}/objection", data={"text": "It is.\n" * 200})
    client.send_bonus(
        WorkerId=worker.worker_id, AssignmentId=first, BonusAmount="1.00", Reason=long
    )
    client.notify_workers(Subject="s" * 200, MessageText=long, WorkerIds=[worker.worker_id])
    return last


LISTS = ("/worker/hits", "/worker/history", "/worker/qualifications")


@pytest.mark.parametrize(
    ("width", "height"), [(390, 844), *in_full((844, 390), (427, 300), (1280, 900))]
)
def test_every_list_is_usable_empty_and_long_and_with_what_went_wrong(
    market: Market, open_site: Callable[..., Page], width: int, height: int
) -> None:
    """HITs, work and qualifications of one who is new and of one who did a lot; refusals.

    On a phone, held sideways too, at 300 % and on a desktop.
    """
    ann = market.worker()
    page = open_site(ann.token, width=width, height=height)

    def look(*paths: str) -> None:
        for path in paths:
            page.goto(f"{market.endpoint}{path}")
            page.eval_on_selector_all("details", "all => all.forEach((e) => { e.open = true; })")
            assert violations(page) == [], path

    look(*LISTS, "/worker/nowhere")
    post_many(market)
    searches = ("?q=nothing", "?min=a+lot", "?page=2", "?sort=reward&can=1")
    look(*(f"/worker/hits{search}" for search in searches))
    assert "30 groups of HITs of 31 (show all), page 1 of 2" in page.inner_text("main")
    done = do_many(market, ann)
    taken = ann.accept(ann.groups()[0]["hit_group_id"]).json()["assignment_id"]
    look(*LISTS, "/worker/history?state=rejected")
    ann.give_back(taken)
    look(*(f"/worker/assignments/{each}" for each in (f"{done}/thanks", done, taken)))
    look(f"/worker/sign-in?token={market.worker().token}")
    page.goto(f"{market.endpoint}/worker/hits")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    assert violations(page) == []
    look("/worker/history")
