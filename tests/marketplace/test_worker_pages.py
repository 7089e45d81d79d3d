"""List, history and submission of the worker site, as HTTP."""

import re

import httpx
import pytest

from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.workers import discovery
from piecework.marketplace.workers.frames import led_home
from tests.marketplace.market import SCHEMAS, Market, Worker, post

HTML = {"accept": "text/html,application/xhtml+xml,*/*"}
TITLE = re.compile(r"<h2>(.*?)</h2>")


def titles(worker: Worker, **query: str) -> list[str]:
    """Titles on the list as a browser gets it, from the top."""
    reply = worker.http.get("/worker/hits", params=query, headers=HTML)
    assert reply.status_code == 200
    return TITLE.findall(reply.text)


@pytest.fixture
def stocked(market: Market) -> tuple[Market, Worker]:
    """Three groups: one early with two HITs, one dear and quick, one for the few."""
    client, ann = market.requester(), market.worker()
    few = {
        "QualificationTypeId": system.NUMBER_APPROVED,
        "Comparator": "GreaterThan",
        "IntegerValues": [9],
    }
    cheap = {"Title": "Birds", "Reward": "0.10", "Keywords": "wings"}
    for _ in range(2):
        post(client, **cheap)
    post(client, Title="Mugs", Reward="2.00", AssignmentDurationInSeconds=60)
    post(client, Title="Doors", Reward="0.50", QualificationRequirements=[few])
    return market, ann


def test_the_list_is_sorted_as_asked(stocked: tuple[Market, Worker]) -> None:
    """Newest by the newest HIT, reward and count downwards, time upwards."""
    market, ann = stocked
    assert titles(ann) == ["Doors", "Mugs", "Birds"]
    assert titles(ann, sort="reward") == ["Mugs", "Doors", "Birds"]
    assert titles(ann, sort="time") == ["Mugs", "Birds", "Doors"]  # equal: older first
    assert titles(ann, sort="count")[0] == "Birds"
    assert titles(ann, sort="nonsense") == ["Doors", "Mugs", "Birds"]
    post(market.requester(), Title="Birds of another requester")
    assert titles(ann)[0] == "Birds of another requester"


def test_the_list_is_searched_in_all_that_a_group_says(stocked: tuple[Market, Worker]) -> None:
    """Title, description, keywords, requester; every word, in any case."""
    _, ann = stocked
    assert titles(ann, q="bird") == ["Birds"]
    assert titles(ann, q="WINGS") == ["Birds"]
    assert titles(ann, q="requester mug") == ["Mugs"]
    assert titles(ann, q="say what it shows") == ["Doors", "Mugs", "Birds"]
    assert titles(ann, q="nothing") == []
    assert titles(ann, q='"><script>') == []


def test_the_list_is_filtered_by_reward_and_by_what_one_may(stocked: tuple[Market, Worker]) -> None:
    """A minimum is met exactly; what is no amount is left out and said."""
    _, ann = stocked
    assert titles(ann, min="0.50") == ["Doors", "Mugs"]
    assert titles(ann, min="$0.51") == ["Mugs"]
    assert titles(ann, can="1") == ["Mugs", "Birds"]
    for nonsense in ("abc", "nan", "-1", "inf", "1e99"):
        reply = ann.http.get("/worker/hits", params={"min": nonsense}, headers=HTML)
        assert f"“{nonsense}” is not an amount" in reply.text
        assert len(TITLE.findall(reply.text)) == 3


def test_a_long_list_has_pages(market: Market) -> None:
    """Each group is on one page, in order; a page beyond the last is the last."""
    client, ann = market.requester(), market.worker()
    # 27 groups are one page of 25 and one of 2.
    for number in range(discovery.PER_PAGE + 2):
        post(client, Title=f"Group {number:02}")
    first, second = titles(ann), titles(ann, page="2")
    assert first + second == [f"Group {number:02}" for number in reversed(range(27))]
    assert len(second) == 2
    assert titles(ann, page="99") == second
    assert titles(ann, page="-1") == first
    reply = ann.http.get("/worker/hits", params={"q": "group"}, headers=HTML)
    assert 'href="/worker/hits?q=group&amp;sort=newest&amp;page=2"' in reply.text


def test_history_adds_up_by_day(market: Market) -> None:
    """Paid, waiting, rejected and bonus, on the day (UTC) they belong to."""
    client, ann = market.requester(), market.worker()
    group = post(client)["HITGroupId"]
    for _ in range(3):
        post(client, LifetimeInSeconds=2 * 86_400)
    paid, refused = ann.do(group), ann.do(group)
    client.approve_assignment(AssignmentId=paid)
    client.reject_assignment(AssignmentId=refused, RequesterFeedback="No <b>birds</b>")
    market.wait(days=1)
    client.send_bonus(
        WorkerId=ann.worker_id, AssignmentId=paid, BonusAmount="0.20", Reason="Thanks"
    )
    ann.do(group)
    text = ann.http.get("/worker/history", headers=HTML).text
    rows = [
        re.sub(r"<[^>]+>", " ", row).split()
        for row in re.findall(r'<tr><th scope="row">.*?</tr>', text, re.DOTALL)
    ]
    # Tuesday: one waits for its $0.55, and the bonus came. Monday: two were sent.
    assert rows == [
        ["Tue,", "6", "Jan", "2026", "1", "$0.00", "$0.55", "$0.20"],
        ["Mon,", "5", "Jan", "2026", "2", "(1", "rejected)", "$0.55", "$0.00", "$0.00"],
    ]
    assert "<dt>Earned</dt><dd>$0.75</dd>" in text
    assert "<dt>Waiting for approval</dt><dd>$0.55</dd>" in text
    assert "No &lt;b&gt;birds&lt;/b&gt;" in text
    assert "<strong>Bonus $0.20:</strong> <bdi>Thanks" in text
    rejected = ann.http.get("/worker/history?state=rejected", headers=HTML).text
    assert rejected.count('<p class="state') == 1


def test_history_goes_back_to_the_beginning(market: Market) -> None:
    """Fifty assignments a page, none twice, none left out."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    for _ in range(52):
        reply = ann.accept(made["HITGroupId"], hit_id=made["HITId"])
        ann.give_back(reply.json()["assignment_id"])
    text = ann.http.get("/worker/history", headers=HTML).text
    assert text.count('<p class="state') == 50
    earlier = re.search(r'href="(/worker/history\?state=all&amp;before=\d+)"', text)
    assert earlier is not None
    path = earlier[1].replace("&amp;", "&")
    assert ann.http.get(path, headers=HTML).text.count('<p class="state') == 2
    for odd in ("x", "-1", "9" * 30):
        reply = ann.http.get(f"/worker/history?before={odd}", headers=HTML)
        assert reply.status_code == 200


def test_the_clock_of_an_assignment_is_its_workers_alone(market: Market) -> None:
    """Seconds by this side's clock; nothing for others, zero when it is over."""
    client, ann, eve = market.requester(), market.worker(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    path = f"/worker/assignments/{assignment}/time"
    assert ann.http.get(path).json() == {"status": "Accepted", "seconds_left": 600}
    assert eve.http.get(path).status_code == 404
    market.wait(seconds=601)
    assert ann.http.get(path).json() == {"status": "Abandoned", "seconds_left": 0}


def browser(site: str, origin: str | None) -> dict[str, str]:
    """Headers of a browser's form."""
    headers = {"Sec-Fetch-Site": site, **HTML}
    return headers if origin is None else {**headers, "Origin": origin}


def state(market: Market) -> list[str]:
    """States of all assignments."""
    return [assignment["status"] for assignment in market.books()["assignments"]]


def test_a_frames_form_is_shown_back_and_taken_from_the_sites_own_page(market: Market) -> None:
    """Nothing is stored by the first, everything by the second."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    form = {"assignmentId": assignment, "caption": 'A "red" <b>'}
    address = "/mturk/externalSubmit"
    headers = browser("same-site", market.frames)
    first = ann.http.post(address, data=form, headers=headers)
    assert first.status_code == 200
    assert "A &#34;red&#34; &lt;b&gt;" in first.text
    assert "frame-ancestors 'self'" in first.headers["content-security-policy"]
    assert state(market) == ["Accepted"]
    headers = browser("same-origin", market.endpoint)
    assert ann.http.post(address, data=form, headers=headers).status_code == 200
    assert state(market) == ["Submitted"]


def test_a_form_may_have_an_empty_field_for_its_assignment_too(market: Market) -> None:
    """Old templates repeat it; two assignments, or none, are refused."""
    made = post(market.requester())
    ann = market.worker()
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]

    def sent(*named: str) -> int:
        form = {"assignmentId": named, "caption": "A red bird."}
        return ann.http.post("/mturk/externalSubmit", data=form).status_code

    assert [sent(), sent(""), sent(assignment, "A" * 30)] == [400, 400, 400]
    assert state(market) == ["Accepted"]
    assert sent("", assignment, "", assignment) == 200
    assert state(market) == ["Submitted"]


def test_an_external_page_is_known_by_its_origin(market: Market) -> None:
    """However its address writes the host; the page that frames it allows that origin."""
    namespace = f"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
    question = (
        f'<ExternalQuestion xmlns="{namespace}"><ExternalURL>https://Task.Example.ORG:443/q'
        "</ExternalURL><FrameHeight>400</FrameHeight></ExternalQuestion>"
    )
    client, ann = market.requester(), market.worker()
    made = post(client, Question=question)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    page = ann.http.get(f"/worker/assignments/{assignment}", headers=HTML)
    policy = page.headers["content-security-policy"]
    assert "frame-src 'self' https://task.example.org;" in policy
    sent = ann.http.post(
        "/mturk/externalSubmit",
        data={"assignmentId": assignment, "caption": "A red bird."},
        headers=browser("cross-site", "https://task.example.org"),
    )
    assert sent.status_code == 200


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        ("cross-site", "https://evil.example"),
        ("cross-site", None),
        ("same-site", "null"),
        ("same-origin", "https://evil.example"),
    ],
)
def test_a_strangers_form_is_refused(market: Market, site: str, origin: str | None) -> None:
    """By POST and by GET, 403, and nothing changes."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    form = {"assignmentId": assignment, "a": "b"}
    headers = browser(site, origin)
    sent = ann.http.post("/mturk/externalSubmit", data=form, headers=headers)
    assert sent.status_code == 403
    sent = ann.http.get("/mturk/externalSubmit", params=form, headers=headers)
    assert sent.status_code == 403
    assert state(market) == ["Accepted"]


@pytest.mark.parametrize("path", ["return", "accept", "sign-out", "ask"])
@pytest.mark.parametrize("site", ["same-site", "cross-site", "none"])
def test_acting_takes_a_page_of_the_site(standing: Market, path: str, site: str) -> None:
    """Whatever a browser says it did not send from here is refused, origin or not."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    address = {
        "return": f"/worker/assignments/{assignment}/return",
        "accept": f"/worker/groups/{made['HITGroupId']}/accept",
        "sign-out": "/worker/sign-out",
        "ask": "/worker/qualifications/X/request",
    }[path]
    for origin in (None, standing.endpoint):
        reply = ann.http.post(address, headers=browser(site, origin))
        assert reply.status_code == 403
    assert ann.give_back(assignment).status_code == 200


def test_programs_submit_by_get_too(market: Market) -> None:
    """As the service took it: the query is the form."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    form = {"assignmentId": assignment, "caption": "A bird & co"}
    reply = ann.http.get("/mturk/externalSubmit", params=form)
    assert reply.json() == {"assignment_id": assignment, "status": "Submitted"}
    (work,) = client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"]
    assert "A bird &amp; co" in work["Answer"]
    assert ann.http.get("/mturk/externalSubmit").status_code == 400


def test_what_comes_too_late_is_handed_back(market: Market) -> None:
    """A page with the reason and every field; to a program only the reason."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    market.wait(minutes=11)
    form = {"assignmentId": assignment, "caption": "A <long> caption"}
    late = ann.http.post("/mturk/externalSubmit", data=form, headers=HTML)
    assert late.status_code == 409
    assert "Its time has ended." in late.text
    assert "A &lt;long&gt; caption" in late.text
    assert ann.submit(assignment).json()["error"] == "AssignmentNotOpen"
    page = ann.http.get(f"/worker/assignments/{assignment}", headers=HTML)
    assert page.status_code == 409
    assert "Accept it again" in page.text
    assert f"assignmentId={assignment}" in page.text  # its draft is found by this


@pytest.mark.parametrize(
    ("site", "origin", "is_handed_back"),
    [
        ("same-origin", "site", True),
        (None, "frames", True),  # an older browser sends the frame's form at once
        (None, "https://evil.example", False),
    ],
)
def test_what_was_typed_in_a_session_that_ended_is_handed_back(
    market: Market, site: str | None, origin: str, *, is_handed_back: bool
) -> None:
    """Only from a form of the HIT: a stranger's text is not shown here."""
    client, ann = market.requester(), market.worker()
    assignment = ann.accept(post(client)["HITGroupId"]).json()["assignment_id"]
    ann.http.cookies.clear()
    home = {"site": market.endpoint, "frames": market.frames}
    headers = HTML | {"Origin": home.get(origin, origin)}
    if site is not None:
        headers["Sec-Fetch-Site"] = site
    form = {"assignmentId": assignment, "caption": "A <long> caption"}
    late = ann.http.post("/mturk/externalSubmit", data=form, headers=headers)
    assert late.status_code == 401
    assert "You are not signed in." in late.text
    assert ("A &lt;long&gt; caption" in late.text) is is_handed_back
    assert state(market) == ["Accepted"]


def test_a_preview_that_is_submitted_says_what_to_do(standing: Market) -> None:
    """Nobody loses time on a page that looked like work."""
    ann = standing.worker()
    form = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "caption": "A bird"}
    reply = ann.http.post(
        "/mturk/externalSubmit", data=form, headers=browser("same-site", standing.frames)
    )
    assert reply.status_code == 409
    assert "This was a preview." in reply.text
    assert "A bird" in reply.text


@pytest.mark.parametrize(
    ("written", "served"),
    [
        (
            '<script src="https://s3.amazonaws.com/mturk-public/externalHIT_v1.js">',
            '<script src="F/stand-ins/externalHIT_v1.js">',
        ),
        (
            "<script src='//assets.crowd.aws/crowd-html-elements.js?v=1'>",
            "<script src='F/stand-ins/crowd-html-elements.js?v=1'>",
        ),
        (
            "see https://assets.crowd.aws/crowd-html-elements.js in the text",
            "see https://assets.crowd.aws/crowd-html-elements.js in the text",
        ),
        ('"https://assets.crowd.aws/other.js"', '"https://assets.crowd.aws/other.js"'),
        (
            "action='http://workersandbox.mturk.com/mturk/externalSubmit'",
            "action='S/mturk/externalSubmit'",
        ),
        (
            '"https://www.mturk.com/mturk/externalSubmitter"',
            '"https://www.mturk.com/mturk/externalSubmitter"',
        ),
    ],
)
def test_only_two_scripts_and_where_a_form_is_sent_are_led_home(written: str, served: str) -> None:
    """In quotes, by any scheme; everything else stays as it was written."""
    assert led_home(written, "F", "S") == served


def test_the_stored_question_stays_verbatim(standing: Market) -> None:
    """The requester gets back what was posted, whatever the frame was served."""
    client = standing.requester()
    script = '<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>'
    question = post(client)["Question"].replace("<p>", script + "<p>")
    made = post(client, Question=question)
    assert client.get_hit(HITId=made["HITId"])["HIT"]["Question"] == question
    served = httpx.get(f"{standing.frames}/frames/{made['HITId']}").text
    assert "assets.crowd.aws" not in served
    for name in ("crowd-html-elements.js", "externalHIT_v1.js"):
        reply = httpx.get(f"{standing.frames}/stand-ins/{name}")
        assert reply.headers["content-type"].startswith("text/javascript")
    assert httpx.get(f"{standing.frames}/stand-ins/../site.py").status_code == 404


def test_messages_of_requesters_are_shown(market: Market) -> None:
    """Whatever NotifyWorkers sent is in the history, as text."""
    client, ann = market.requester(), market.worker()
    done = ann.do(post(client)["HITGroupId"])
    client.approve_assignment(AssignmentId=done)  # strangers cannot be written to
    assert "<h2>Messages</h2>" not in ann.http.get("/worker/history", headers=HTML).text
    client.notify_workers(Subject="New HITs", MessageText="<i>Come</i>", WorkerIds=[ann.worker_id])
    text = ann.http.get("/worker/history", headers=HTML).text
    assert "New HITs" in text
    assert "&lt;i&gt;Come&lt;/i&gt;" in text
