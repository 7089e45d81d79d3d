"""The page around a HIT, and the way of a person through the site."""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.qualification_types import NUMBER_APPROVED
from piecework.marketplace.workers import invitations
from tests.browser.pages import sign_in, violations
from tests.browser.worker_site.questions import form, html_question
from tests.marketplace.market import HIT_TYPE, Market, Worker, post

pytestmark = pytest.mark.browser

Opened = Callable[..., Page]

DRAFTING = form(
    extra="""<script>
const draft = document.querySelector("textarea");
const key = "draft." + new URLSearchParams(location.search).get("assignmentId");
draft.value = localStorage.getItem(key) || "";
draft.addEventListener("input", () => localStorage.setItem(key, draft.value));
</script>"""
)


_TOO_LONG = "x" * 66_000


def _hold_time(page: Page, *, is_lost: bool = False) -> list[Route]:
    """Let the site's clock not answer; the requests that wait."""
    held: list[Route] = []
    page.route("**/time", lambda route: route.abort() if is_lost else held.append(route))
    return held


def _answer_time(page: Page, held: list[Route]) -> None:
    for route in held:
        route.continue_()
    page.unroute("**/time")


def accepted(market: Market, worker: Worker, **members: object) -> str:
    """A HIT in the worker's hands; the assignment's id."""
    question = html_question(DRAFTING)
    made = post(market.requester("LAB"), **{"Question": question, **members})
    assignment: str = worker.accept(made["HITGroupId"]).json()["assignment_id"]
    return assignment


def pass_time(market: Market, page: Page, **duration: float) -> None:
    """Let virtual time pass, and the page look at the clock as when it is shown."""
    market.wait(**duration)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def test_time_is_kept_by_the_sites_clock_and_said_when_it_gets_short(
    market: Market, open_site: Opened
) -> None:
    """At five minutes and at one, politely; at the end with what one can do."""
    ann = market.worker()
    assignment = accepted(market, ann)  # ten minutes
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    left, announcement = page.locator("#left"), page.locator("#announcement")
    expect(left).to_have_text("10:00")
    expect(announcement).to_have_attribute("role", "status")
    pass_time(market, page, minutes=4)
    expect(left).to_have_text("06:00")
    expect(announcement).to_be_empty()
    pass_time(market, page, minutes=1)
    expect(announcement).to_have_text("5 minutes left.")
    pass_time(market, page, minutes=4)
    expect(announcement).to_have_text("1 minute left.")
    assert violations(page) == []
    pass_time(market, page, minutes=2)
    expect(announcement).to_have_text("The time for this HIT is over.")
    expect(page.get_by_role("heading", name="The time for")).to_be_visible()
    expect(page.get_by_text("Return this HIT", exact=True)).to_be_hidden()
    assert violations(page) == []


def test_live_the_browsers_clock_only_fills_the_gaps(tmp_path: Path, browser: Browser) -> None:
    """It ticks between questions; what the site says wins, however odd it is here."""
    with (
        closing(Backend(tmp_path / "live.db", Rules())) as backend,
        serve(Marketplace(tmp_path / "live.db")) as running,
    ):
        with backend.transaction() as transaction:
            accounts.add_requester(transaction, "LAB", balance_cents=1000)
            new = accounts.NewWorker(handle="ann", country="DE")
            code = invitations.invite(transaction, new, lifetime_ms=clock.DAY).code
        hit = {**HIT_TYPE, "Question": html_question(DRAFTING)}
        perform_operation(backend, "LAB", "CreateHIT", {**hit, "LifetimeInSeconds": 3600})
        page = browser.new_page()
        page.clock.install()
        sign_in(page, f"{running.endpoint_url}/worker/sign-in?invitation={code}")
        page.get_by_role("button", name="Accept a HIT").click()
        expect(page.locator("#left")).to_have_text(re.compile(r"(10:00|09:5\d)"))
        with page.expect_response("**/time"):
            page.clock.fast_forward("04:00")  # four minutes, in this browser only
        expect(page.locator("#left")).to_have_text(re.compile(r"(10:00|09:5\d)"))
        with page.expect_request("**/time"):
            page.clock.run_for(20_000)
            page.clock.run_for(20_000)
        page.close()


def test_nothing_typed_is_lost_when_time_is_over(market: Market, open_site: Opened) -> None:
    """It stays on the page, comes back after a late submit, and stands as a draft."""
    ann = market.worker()
    assignment = accepted(market, ann)
    page = open_site(ann.token, f"/worker/assignments/{assignment}", width=390)
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A long caption")
    pass_time(market, page, minutes=11)
    expect(page.get_by_role("heading", name="The time for")).to_be_visible()
    expect(frame.get_by_label("Caption")).to_have_value("A long caption")
    frame.get_by_role("button", name="Send").click()
    expect(frame.get_by_role("heading", name="was not submitted")).to_be_visible()
    expect(frame.get_by_text("A long caption")).to_be_visible()
    page.get_by_role("link", name="See what you can do now").click()
    assert violations(page) == []
    kept = page.frame_locator("iframe").get_by_label("Caption")
    expect(kept).to_have_value("A long caption")
    page.get_by_role("button", name="Accept it again").click()
    expect(page.locator("#left")).to_have_text("10:00")
    states = [row["status"] for row in market.books()["assignments"]]
    assert states == ["Abandoned", "Accepted"]


@pytest.mark.parametrize("obstacle", ["too long", "no session", "no network"])
def test_what_was_typed_is_in_the_form_again_after_it_could_not_be_sent(
    market: Market, open_site: Opened, obstacle: str
) -> None:
    """Also on a page that keeps no draft, below a screen of fields on a phone."""
    ann = market.worker()
    question = html_question(form(extra="<p style='height: 2000px'>A picture</p>"), height=2500)
    assignment = accepted(market, ann, Question=question)
    address = f"/worker/assignments/{assignment}"
    page = open_site(ann.token, address, width=390, height=844)
    frame = page.frame_locator("iframe")
    typed = "x" * 66_000 if obstacle == "too long" else "A caption"
    frame.get_by_label("Caption").fill(typed)
    signed_in = page.context.cookies()
    if obstacle == "no session":
        page.context.clear_cookies()
    page.context.set_offline(obstacle == "no network")
    frame.get_by_role("button", name="Send").click()
    again = page.get_by_role("button", name="Show the HIT again")
    expect(again).to_be_in_viewport()
    if obstacle == "no network":
        expect(page.get_by_text("check your internet connection").first).to_be_visible()
        again.click()
        expect(again).to_be_visible()
        page.context.set_offline(False)
    page.context.add_cookies(
        [
            {"name": kept["name"], "value": kept["value"], "url": market.endpoint}
            for kept in signed_in
        ]
    )
    again.click()
    expect(frame.get_by_label("Caption")).to_have_value(typed)
    expect(again).to_be_hidden()
    frame.get_by_label("Caption").fill("x")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url(f"**{address}/thanks")


@pytest.mark.parametrize("fault", ["fails", "is slow"])
def test_what_was_typed_is_in_the_form_again_however_the_clock_answers(
    market: Market, open_site: Opened, fault: str
) -> None:
    """The question's load is not taken for a lost network, and a late time changes nothing."""
    ann = market.worker()
    assignment = accepted(market, ann, Question=html_question(form()))
    page = open_site(ann.token)
    held = _hold_time(page, is_lost=fault == "fails")
    page.goto(f"{market.endpoint}/worker/assignments/{assignment}")
    again = page.get_by_role("button", name="Show the HIT again")
    caption = page.frame_locator("iframe").get_by_label("Caption")
    caption.fill(_TOO_LONG)
    expect(again).to_be_hidden()
    page.frame_locator("iframe").get_by_role("button", name="Send").click()
    expect(again).to_be_visible()
    _answer_time(page, held)
    again.click()
    expect(caption).to_have_value(_TOO_LONG)
    expect(again).to_be_hidden()


def test_a_late_time_says_nothing_about_a_later_page(market: Market, open_site: Opened) -> None:
    """A requester's own server may ask on several pages; the button leads to the last."""
    ann = market.worker()
    onward = "<button type=button onclick=\"location.href += '&page=2'\">Next</button>"
    assignment = accepted(market, ann, Question=html_question(form(extra=onward)))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    page.locator("iframe").evaluate("frame => { delete frame.dataset.onePage; }")
    held = _hold_time(page)
    again = page.get_by_role("button", name="Show the HIT again")
    frame = page.frame_locator("iframe")
    with page.expect_request("**/time"), page.expect_request("**/frames/**page=2"):
        frame.get_by_role("button", name="Next").click()
    frame.get_by_label("Caption").fill(_TOO_LONG)
    frame.get_by_role("button", name="Send").click()
    expect(again).to_be_visible()
    _answer_time(page, held)
    again.click()
    expect(frame.get_by_label("Caption")).to_have_value(_TOO_LONG)
    expect(again).to_be_hidden()


@pytest.mark.parametrize("lost", [0, 1], ids=["from the question", "from the site's page"])
def test_a_form_lost_in_a_moment_without_network_leads_back(
    market: Market, open_site: Opened, lost: int
) -> None:
    """Also if the site answers again before the page can ask it."""
    ann = market.worker()
    assignment = accepted(market, ann, Question=html_question(form()))
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    sent: list[Route] = []

    def lose(route: Route) -> None:
        sent.append(route)
        if len(sent) == lost + 1:
            route.abort()
        else:
            route.continue_()

    page.route("**/mturk/externalSubmit", lose)
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A caption")
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_text("check your internet connection").first).to_be_visible()
    page.get_by_role("button", name="Show the HIT again").click()
    expect(frame.get_by_label("Caption")).to_have_value("A caption")
    frame.get_by_role("button", name="Send").click()
    page.wait_for_url("**/thanks")


def test_returning_asks_first(market: Market, open_site: Opened) -> None:
    """The question is on the page, reached by keyboard; work goes on meanwhile."""
    ann = market.worker()
    assignment = accepted(market, ann)
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    sure = page.get_by_role("button", name="Yes, return this HIT")
    expect(sure).to_be_hidden()
    page.get_by_text("Return this HIT", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Do you want to give back this HIT?")).to_be_visible()
    assert violations(page) == []
    assert market.books()["assignments"][0]["status"] == "Accepted"
    page.keyboard.press("Tab")
    expect(sure).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/worker/hits")
    assert market.books()["assignments"][0]["status"] == "Returned"


def test_a_hit_that_ended_in_another_tab_is_said_to_be_over(
    market: Market, open_site: Opened
) -> None:
    """Its clock does not run to nothing, and the site says what happened."""
    ann = market.worker()
    assignment = accepted(market, ann)
    page = open_site(ann.token, f"/worker/assignments/{assignment}")
    expect(page.locator("#left")).to_have_text("10:00")
    ann.give_back(assignment)
    pass_time(market, page, seconds=1)
    expect(page.get_by_role("heading", name="You returned this HIT")).to_be_visible()


def test_one_hit_after_the_other_until_there_is_none(market: Market, open_site: Opened) -> None:
    """The box accepts the next HIT after each; the last one ends with thanks."""
    ann = market.worker()
    made = [post(market.requester("LAB"), Question=html_question(DRAFTING)) for _ in range(3)]
    first = ann.accept(made[0]["HITGroupId"]).json()["assignment_id"]
    page = open_site(ann.token, f"/worker/assignments/{first}")
    page.get_by_label("Accept the next HIT automatically").check()
    seen = []
    for number in range(3):
        expect(page.get_by_label("Accept the next HIT automatically")).to_be_checked()
        seen.append(page.url)
        frame = page.frame_locator("iframe")
        frame.get_by_label("Caption").fill(f"caption {number}")
        frame.get_by_role("button", name="Send").click()
        page.wait_for_function("(before) => location.href !== before", arg=seen[-1])
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_text("There are no more HITs for you")).to_be_visible()
    assert len(set(seen)) == 3
    assert violations(page) == []


def test_thanks_say_what_waits_and_what_is_left(market: Market, open_site: Opened) -> None:
    """The reward that waits for approval, and the HITs that the worker may do next."""
    ann, client = market.worker(), market.requester("LAB")
    made = [post(client, Question=html_question(DRAFTING)) for _ in range(3)]
    first = ann.accept(made[0]["HITGroupId"]).json()["assignment_id"]
    page = open_site(ann.token, f"/worker/assignments/{first}")
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("a bird")
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    sums = page.locator("dl.sums > div")
    expect(sums).to_have_text(["Waiting for approval$0.55", "HITs for you2"])
    assert violations(page) == []
    page.get_by_role("link", name="Your work").first.click()
    own = page.locator(".own-answers")
    expect(own).to_be_hidden()
    page.get_by_text("Your answers").click()
    expect(own).to_contain_text("a bird")
    assert violations(page) == []


@pytest.mark.parametrize("width", [360, pytest.param(1280, marks=pytest.mark.full)])
def test_each_page_is_accessible_and_fits(market: Market, open_site: Opened, width: int) -> None:
    """List with what one lacks, empty search, preview, history with all outcomes."""
    ann, client = market.worker(), market.requester("LAB")
    need = {
        "QualificationTypeId": NUMBER_APPROVED,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [500],
    }
    post(client, Title="For the experienced", QualificationRequirements=[need])
    post(client, Title="W" * 120, Keywords="a" * 150, Question=html_question(DRAFTING))
    group = post(client)["HITGroupId"]
    for number in range(3):
        post(client)
        done = ann.do(group)
        if number == 0:
            client.approve_assignment(AssignmentId=done)
            client.send_bonus(
                WorkerId=ann.worker_id,
                AssignmentId=done,
                BonusAmount="0.20",
                Reason="Well said, " + "v" * 90,
            )
        elif number == 1:
            client.reject_assignment(AssignmentId=done, RequesterFeedback="r" * 300)
    accepted(market, ann)
    page = open_site(ann.token, width=width)
    assert violations(page) == []
    page.get_by_role("searchbox", name="Search").fill("nothing like it")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No HITs match your search.")).to_be_visible()
    assert violations(page) == []
    page.goto(f"{market.endpoint}/worker/groups/{group}/preview")
    assert violations(page) == []
    page.get_by_role("link", name="Your work").click()
    expect(page.get_by_text("The requester's reason")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="not signed in")).to_be_visible()
    assert violations(page) == []


def test_the_keyboard_goes_all_the_way_and_is_seen(market: Market, open_site: Opened) -> None:
    """Each stop of Tab on the list has an outline of at least two pixels."""
    ann = market.worker()
    post(market.requester("LAB"), Question=html_question(DRAFTING))
    page = open_site(ann.token)
    reached: list[str] = []
    for _ in range(20):
        page.keyboard.press("Tab")
        name, width = page.evaluate(
            """() => { const e = document.activeElement;
              return [e.id || e.textContent.trim() || e.tagName,
                parseFloat(getComputedStyle(e).outlineWidth)]; }"""
        )
        if name.startswith("Skip") and reached:
            break
        assert width >= 2, name
        reached.append(name)
        if name.startswith("Accept a HIT"):
            page.keyboard.press("Enter")
            break
    assert {"HITs", "Your work", "Sign out", "q", "min", "sort", "can"} <= set(reached)
    page.wait_for_url("**/worker/assignments/*")


def test_without_scripts_a_person_finds_accepts_and_returns(
    market: Market, open_site: Opened
) -> None:
    """Everything but the question itself is plain HTML."""
    ann = market.worker()
    post(market.requester("LAB"), Question=html_question(DRAFTING))
    browser = open_site(ann.token).context.browser
    assert browser is not None
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, f"{market.endpoint}/worker/sign-in?token={ann.token}")
    page.get_by_role("searchbox", name="Search").fill("PICTURE describe")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Accept a HIT").click()
    expect(page.locator("#left")).to_have_text("10 minutes")
    page.get_by_text("Return this HIT", exact=True).click()
    page.get_by_role("button", name="Yes, return this HIT").click()
    page.wait_for_url("**/worker/hits")
    context.close()
    assert market.books()["assignments"][0]["status"] == "Returned"


def test_an_answer_sent_before_the_pages_script_moves_on(market: Market, open_site: Opened) -> None:
    """A slow network delays the script; the reply in the frame counts all the same."""
    ann = market.worker()
    assignment = accepted(market, ann)
    page = open_site(ann.token)
    held: list[Route] = []
    page.route("**/static/host.js", lambda route: held.append(route))  # noqa: PLW0108
    address = f"{market.endpoint}/worker/assignments/{assignment}"
    page.goto(address, wait_until="commit")
    frame = page.frame_locator("iframe")
    frame.get_by_label("Caption").fill("A long caption")
    frame.get_by_role("button", name="Send").click()
    expect(frame.get_by_role("heading", name="Thank you")).to_be_visible()
    held[0].continue_()
    page.wait_for_url("**/thanks")
