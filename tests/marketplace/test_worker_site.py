"""The worker's pages, and the frames beside them."""

from contextlib import closing
from pathlib import Path

import httpx
import pytest
from defusedxml.ElementTree import fromstring

from piecework.marketplace.http.hosts import UnsafeBindError
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.questions import EXTERNAL_NAMESPACE
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.qualification_types import NUMBER_APPROVED
from tests.marketplace.market import HIT_TYPE, Market, Worker, expire, post

HTML = {"accept": "text/html,application/xhtml+xml,*/*"}


def page(worker: Worker, path: str) -> httpx.Response:
    """A page as a browser asks for it."""
    reply = worker.http.get(path, headers=HTML)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    return reply


def test_signing_in_may_lead_to_a_group(market: Market) -> None:
    """A link that names it; anything else in its place leads to the list."""
    group, ann = post(market.requester())["HITGroupId"], market.worker()
    preview = f"/worker/groups/{group}/preview"
    again = {"token": ann.token, "group": group}
    signed_in = ann.http.get("/worker/sign-in", params=again, headers=HTML)
    assert signed_in.headers["location"] == preview
    ann.http.cookies.clear()
    asked = ann.http.get("/worker/sign-in", params=again, headers=HTML).text
    assert f'name="group" value="{group}"' in asked
    for name, target in (
        (group, preview),
        ("", "/worker/hits"),
        ("//evil.example", "/worker/hits"),
        ("../sign-out", "/worker/hits"),
    ):
        ann.http.cookies.clear()
        sent = {"token": ann.token, "group": name}
        reply = ann.http.post("/worker/sign-in", data=sent, headers=HTML)
        assert reply.headers["location"] == target


def test_the_sign_in_page_says_once_whether_work_is_paid(market: Market, tmp_path: Path) -> None:
    """Not in a rehearsal; else to the worker whom the link is for."""
    ann = market.worker()
    ann.http.cookies.clear()
    params = {"token": ann.token}
    rehearsed = ann.http.get("/worker/sign-in", params=params, headers=HTML).text
    assert "no work is paid" in rehearsed
    assert rehearsed.count("paid") == 1
    database = tmp_path / "live.db"
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        new = accounts.NewWorker(handle="bea", country="DE")
        _, token = accounts.add_worker(transaction, new)
    with serve(Marketplace(database)) as running, httpx.Client() as http:
        address = f"{running.endpoint_url}/worker/sign-in?token={token}"
        live = http.get(address, headers=HTML).text
    assert "your work is done and paid as this worker" in live
    assert live.count("paid") == 1


def test_a_worker_goes_from_the_link_to_the_thank_you_page(market: Market) -> None:
    """Sign in, list, preview, accept, submit, next, history: the whole way."""
    client, ann = market.requester(), market.worker()
    first, second = post(client), post(client)
    group = first["HITGroupId"]
    ann.http.cookies.clear()
    asked = ann.http.get("/worker/sign-in", params={"token": ann.token}, headers=HTML)
    assert "set-cookie" not in asked.headers
    assert "Sign in as" in asked.text
    link = ann.http.post("/worker/sign-in", data={"token": ann.token}, headers=HTML)
    assert link.status_code == 303
    assert link.headers["location"] == "/worker/hits"
    cookie = link.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie

    listed = page(ann, "/worker/hits").text
    assert "Describe a picture" in listed
    assert "$0.55" in listed
    assert "10 minutes" in listed
    preview = page(ann, f"/worker/groups/{group}/preview").text
    assert "assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE" in preview
    assert ann.worker_id not in preview

    accepted = ann.http.post(f"/worker/groups/{group}/accept", headers=HTML)
    assert accepted.status_code == 303
    work = page(ann, accepted.headers["location"]).text
    assert 'sandbox="allow-scripts allow-forms allow-same-origin ' in work
    assert f"hitId={first['HITId']}" in work
    assert "Return this HIT" in work

    assignment = accepted.headers["location"].rpartition("/")[2]
    form = {"assignmentId": assignment, "caption": "A bird."}
    thanks = ann.http.post("/mturk/externalSubmit", data=form, headers=HTML)
    assert thanks.status_code == 200
    assert "Thank you" in thanks.text
    assert f"/worker/groups/{group}/preview" in thanks.text
    again = ann.http.post("/mturk/externalSubmit", data=form, headers=HTML)
    assert again.status_code == 409
    assert "submitted" in again.text

    ann.do(group)
    ending = page(ann, f"/worker/assignments/{assignment}/thanks").text
    assert "no more HITs for you" in ending
    client.approve_assignment(AssignmentId=assignment, RequesterFeedback="<b>Nice</b>")
    history = page(ann, "/worker/history").text
    assert "$0.55" in history
    assert "&lt;b&gt;Nice&lt;/b&gt;" in history
    assert second["HITId"] not in history


def test_a_worker_reads_what_he_lacks_and_may_ask_for_it(market: Market) -> None:
    """The list names each unmet requirement; requestable ones have a button."""
    client, ann = market.requester(), market.worker(hits_approved=3, hits_submitted=3)
    kinds = {}
    for name in ("trained", "excluded"):
        made = client.create_qualification_type(
            Name=name, Description="x", QualificationTypeStatus="Active", AutoGranted=True
        )
        kinds[name] = made["QualificationType"]["QualificationTypeId"]
    requirements = [
        {"QualificationTypeId": kinds["trained"], "Comparator": "Exists"},
        {"QualificationTypeId": kinds["excluded"], "Comparator": "DoesNotExist"},
        {"QualificationTypeId": NUMBER_APPROVED, "Comparator": "GreaterThan", "IntegerValues": [2]},
    ]
    made_hit = post(client, QualificationRequirements=requirements)
    listed = page(ann, "/worker/hits").text
    assert "the qualification “trained”" in listed
    assert "Worker_NumberHITsApproved" not in listed  # 3 is more than 2
    path = f"/worker/qualifications/{kinds['trained']}/request"
    assert f'action="{path}"' in listed
    assert kinds["excluded"] not in listed
    assert "Accept a HIT" not in listed
    assert ann.http.post(path, headers=HTML).status_code == 303
    assert "Accept a HIT" in page(ann, "/worker/hits").text
    client.associate_qualification_with_worker(
        QualificationTypeId=kinds["excluded"], WorkerId=ann.worker_id
    )
    listed = page(ann, "/worker/hits").text
    assert "to be without the qualification “excluded”" in listed
    assert kinds["excluded"] not in listed  # nobody can ask to lose one
    assert ann.accept(made_hit["HITGroupId"]).status_code == 409


def test_a_hit_that_nobody_can_take_is_not_previewed(market: Market) -> None:
    """Neither by its id: what is over, or all in hand, is no offer."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    first, second = post(client), post(client)
    group = f"/worker/groups/{first['HITGroupId']}/preview"
    for made in (first, second):
        assert ann.http.get(f"{group}?hit_id={made['HITId']}").status_code == 200
    expire(client, first["HITId"])
    ann.accept(second["HITGroupId"])
    third = post(client)
    for made in (first, second):
        assert bob.http.get(f"{group}?hit_id={made['HITId']}").status_code == 404
    assert bob.http.get(f"{group}?hit_id={third['HITId']}").status_code == 200


def test_a_program_gets_what_a_page_shows(market: Market) -> None:
    """The JSON of list, preview, accept and return, member by member."""
    client, ann = market.requester(), market.worker()
    made = post(client, MaxAssignments=2)
    group = made["HITGroupId"]
    assert ann.groups() == [
        {
            "hit_group_id": group,
            "hit_type_id": made["HITTypeId"],
            "title": HIT_TYPE["Title"],
            "description": HIT_TYPE["Description"],
            "keywords": HIT_TYPE["Keywords"],
            "reward": "0.55",
            "assignment_duration_seconds": 600,
            "available": 1,  # one HIT, though it has two slots
            "requester": "Requester",
            "may_preview": True,
            "may_accept": True,
            "lacks": [],
        }
    ]
    frame = f"{market.frames}/frames/{made['HITId']}"
    preview = ann.http.get(f"/worker/groups/{group}/preview").json()
    assert preview == {
        "hit_id": made["HITId"],
        "frame_url": f"{frame}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={made['HITId']}",
    }
    accepted = ann.accept(group).json()
    site = market.endpoint.replace(":", "%3A").replace("/", "%2F")
    assert accepted == {
        "assignment_id": accepted["assignment_id"],
        "hit_id": made["HITId"],
        "accepted_at": "2026-01-05T09:00:00+00:00",
        "deadline": "2026-01-05T09:10:00+00:00",
        "frame_url": f"{frame}?assignmentId={accepted['assignment_id']}"
        f"&hitId={made['HITId']}&workerId={ann.worker_id}&turkSubmitTo={site}",
    }
    back = ann.give_back(accepted["assignment_id"])
    assert (back.status_code, back.json()["status"]) == (200, "Returned")
    assert ann.give_back(accepted["assignment_id"]).status_code == 409


def test_a_question_is_served_verbatim_and_only_the_site_may_frame_it(market: Market) -> None:
    """The page as the requester wrote it, under a policy of the marketplace's."""
    made = post(market.requester())
    reply = market.http.get(f"{market.frames}/frames/{made['HITId']}")
    assert reply.text == "<!doctype html><title>A question</title><p>What is it?"
    policy = reply.headers["content-security-policy"]
    assert f"frame-ancestors {market.endpoint}" in policy
    assert f"form-action 'self' {market.endpoint}" in policy
    assert market.http.get(f"/frames/{made['HITId']}").status_code == 404
    assert market.http.get(f"{market.frames}/worker/hits").status_code == 404


def test_the_sites_pages_run_only_their_own_scripts(standing: Market) -> None:
    """No inline script, no foreign one; the frame is the only stranger."""
    ann = standing.worker()
    made = post(standing.requester(), Title="Policies")
    work = page(ann, f"/worker/groups/{made['HITGroupId']}/preview")
    policy = work.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert f"frame-src 'self' {standing.frames};" in policy
    for name in ("site.css", "host.js"):
        assert ann.http.get(f"/worker/static/{name}").status_code == 200


def test_titles_are_shown_and_not_run(standing: Market) -> None:
    """A requester's markup is text on the worker's page."""
    ann = standing.worker()
    post(standing.requester(), Title="<script>alert(1)</script>")
    listed = page(ann, "/worker/hits").text
    assert "<script>alert" not in listed
    assert "&lt;script&gt;alert(1)" in listed


def test_an_external_question_is_framed_where_it_lies(standing: Market) -> None:
    """Its address gets the parameters, and its origin may submit."""
    url = "http://localhost:9/page?a=1#part"
    question = (
        f'<ExternalQuestion xmlns="{EXTERNAL_NAMESPACE}">'
        f"<ExternalURL>{url}</ExternalURL><FrameHeight>500</FrameHeight>"
        "</ExternalQuestion>"
    )
    assert fromstring(question) is not None
    ann = standing.worker()
    made = post(standing.requester(), Question=question)
    accepted = ann.accept(made["HITGroupId"]).json()
    address = accepted["frame_url"]
    assert address.startswith("http://localhost:9/page?a=1&assignmentId=")
    assert address.endswith("#part")
    work = page(ann, f"/worker/assignments/{accepted['assignment_id']}")
    assert "frame-src 'self' http://localhost:9;" in (work.headers["content-security-policy"])
    assert 'height="500"' in work.text
    sent = ann.http.post(
        "/mturk/externalSubmit",
        data={"assignmentId": accepted["assignment_id"], "a": "b"},
        headers={"Origin": "http://localhost:9"},
    )
    assert sent.status_code == 200


def test_pictures_are_served_beside_the_questions(tmp_path: Path) -> None:
    """Files of the folder and nothing outside; an SVG by itself runs nothing."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "x.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "secret.txt").write_text("secret")
    options = Marketplace(tmp_path / "m.db", rehearsal=True, pictures=folder)
    with serve(options) as running, httpx.Client() as http:
        reply = http.get(f"{running.frames_url}/pictures/x.svg")
        assert reply.headers["content-type"].startswith("image/svg+xml")
        assert "sandbox" in reply.headers["content-security-policy"]
        for path in ("../secret.txt", "%2e%2e/secret.txt", "missing.svg"):
            assert http.get(f"{running.frames_url}/pictures/{path}").status_code == 404
        same = http.get(f"{running.endpoint_url}/pictures/x.svg")
        assert same.content == reply.content
        assert "sandbox" in same.headers["content-security-policy"]


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org"])  # noqa: S104 - that is the law
def test_a_live_marketplace_keeps_to_this_machine(tmp_path: Path, host: str) -> None:
    """Unless signatures are checked, it says so and does not start."""
    with (
        pytest.raises(UnsafeBindError, match="Without signatures"),
        serve(Marketplace(tmp_path / "m.db", host=host, trust_local=True)),
    ):
        pass
    assert not (tmp_path / "m.db").exists()
