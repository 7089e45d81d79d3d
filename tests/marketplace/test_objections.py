"""Workers read why work was rejected or a qualification lost, and contest it in their words."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.requester import assignments
from piecework.marketplace.state import messages
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import objections_from_wire
from tests.marketplace.market import Market, Worker, post

HTML = {"accept": "text/html"}
REASON = "You have lost it: of your latest 50 items 39 agreed (78 %)."


@pytest.fixture
def ann(market: Market) -> Worker:
    """A worker who lost a qualification."""
    return market.worker()


@pytest.fixture
def type_id(market: Market, ann: Worker) -> str:
    """The qualification that she lost."""
    client = market.requester("LAB")
    made = client.create_qualification_type(
        Name="good at blur", Description="Good work.", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    client.associate_qualification_with_worker(QualificationTypeId=type_id, WorkerId=ann.worker_id)
    client.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=ann.worker_id, Reason=REASON
    )
    return type_id


def contest(worker: Worker, type_id: str, text: str, **headers: str) -> httpx.Response:
    """Send an objection."""
    address = f"/worker/qualifications/{type_id}/objection"
    return worker.http.post(address, data={"text": text}, headers=headers)


def test_a_worker_contests_and_the_requester_reads_it(
    ann: Worker, type_id: str, tmp_path: Path
) -> None:
    """With the reason; the worker sees what was sent."""
    page = ann.http.get("/worker/qualifications", headers=HTML).text
    assert REASON in page
    assert "Contest this" in page
    assert contest(ann, type_id, "The page\nwas \x1b[31mbroken.").status_code == 201
    [lost] = ann.http.get("/worker/qualifications").json()["lost"]
    assert (lost["name"], lost["reason"], lost["was_held"]) == ("good at blur", REASON, True)
    assert lost["objections"] == ["The page\nwas \x1b[31mbroken."]
    assert "broken." in ann.http.get("/worker/qualifications", headers=HTML).text
    words = ["market", "problems", "--database", str(tmp_path / "market.db")]
    output = CliRunner().invoke(main, words).stdout
    assert f"worker {ann.worker_id} contests: no qualification good at blur" in output
    assert "    The page\n    was \\x1b[31mbroken." in output
    [problem] = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert (problem["worker_id"], problem["because"]) == (ann.worker_id, REASON)
    other = CliRunner().invoke(main, [*words, "somebody else"]).stdout
    assert "no worker has reported" in other


def test_what_is_given_back_is_no_longer_lost(market: Market, ann: Worker, type_id: str) -> None:
    """And there is nothing to contest."""
    market.requester("LAB").associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=ann.worker_id
    )
    shown = ann.http.get("/worker/qualifications").json()
    assert (len(shown["held"]), shown["lost"]) == (1, [])
    assert contest(ann, type_id, "Thank you.").status_code == 404


def test_a_refused_request_can_be_contested(market: Market, ann: Worker) -> None:
    """Until the worker has it."""
    client = market.requester("LAB")
    made = client.create_qualification_type(
        Name="birds", Description="x", QualificationTypeStatus="Active"
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    ann.http.post(f"/worker/qualifications/{type_id}/request")
    assert contest(ann, type_id, "Not yet.").status_code == 404
    [request] = client.list_qualification_requests()["QualificationRequests"]
    client.reject_qualification_request(
        QualificationRequestId=request["QualificationRequestId"], Reason="Too new."
    )
    [lost] = ann.http.get("/worker/qualifications").json()["lost"]
    assert (lost["reason"], lost["was_held"]) == ("Too new.", False)
    assert contest(ann, type_id, "I am not.").status_code == 201


def test_objections_have_an_end(market: Market, ann: Worker, type_id: str) -> None:
    """Empty or endless ones, too many, strangers' and other sites' are refused."""
    for text in ("", "  ", "x" * (messages.LONGEST_TEXT + 1)):
        assert contest(ann, type_id, text).status_code == 422
    for _ in range(messages.MOST_OBJECTIONS_A_DAY):
        assert contest(ann, type_id, "No.").status_code == 201
    assert contest(ann, type_id, "No.").status_code == 429
    market.wait(days=1)
    assert contest(ann, type_id, "No.").status_code == 201
    assert contest(market.worker(), type_id, "Not mine.").status_code == 404
    sent = contest(ann, type_id, "x", origin="https://elsewhere.example")
    assert sent.status_code == 403


def object_to(worker: Worker, assignment_id: str, text: str, **headers: str) -> httpx.Response:
    """Object to a rejection."""
    address = f"/worker/assignments/{assignment_id}/objection"
    return worker.http.post(address, data={"text": text}, headers=headers)


def platform(market: Market, key: str) -> MTurk:
    """The marketplace as a requester's pipeline sees it."""
    made = MTurk(market.endpoint, access_key=key, secret_key="any")  # noqa: S106
    market._open.callback(made._client.close)
    return made


def rejected(market: Market, worker: Worker, *, hits: int = 1) -> list[str]:
    """Assignments of a worker that their requester rejected with a reason."""
    client, made = market.requester("LAB"), []
    for _ in range(hits):
        made.append(worker.do(post(client)["HITGroupId"]))
        client.reject_assignment(AssignmentId=made[-1], RequesterFeedback="No bird in it.")
    return made


def test_a_worker_objects_to_a_rejection_once_and_the_requester_reads_it(
    market: Market, ann: Worker, tmp_path: Path
) -> None:
    """Beside their own answer and the reason; a stranger's text is shown, not run."""
    (assignment,) = rejected(market, ann)
    page = ann.http.get("/worker/history", headers=HTML).text
    assert "No bird in it." in page
    assert "A red bird." in page
    assert "Object to the rejection" in page
    assert object_to(ann, assignment, "<b>It is</b>\nred \x1b[31mand a bird.").status_code == 201
    assert object_to(ann, assignment, "And again.").status_code == 409
    page = ann.http.get("/worker/history", headers=HTML).text
    assert "&lt;b&gt;It is&lt;/b&gt;" in page
    assert "Object to the rejection" not in page
    words = ["market", "problems", "--database", str(tmp_path / "market.db")]
    output = CliRunner().invoke(main, words).stdout
    assert f"objects to the rejection of {assignment} (your reason: No bird in it.)" in output
    assert "    <b>It is</b>\n    red \\x1b[31mand a bird." in output
    [objection] = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    assert (objection["assignment_id"], objection["because"]) == (assignment, "No bird in it.")


def test_a_rejection_that_was_taken_back_is_no_longer_objected_to(
    market: Market, ann: Worker, tmp_path: Path
) -> None:
    """The worker still sees what they wrote; the requester's list is empty."""
    (assignment,) = rejected(market, ann)
    object_to(ann, assignment, "It is red.")
    market.requester("LAB").approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    assert "It is red." in ann.http.get("/worker/history", headers=HTML).text
    words = ["market", "problems", "--database", str(tmp_path / "market.db")]
    assert "no worker has reported" in CliRunner().invoke(main, words).stdout


def test_only_their_requester_reads_objections_over_the_api(
    market: Market, ann: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, verbatim, and while the rejection stands."""
    monkeypatch.setattr(assignments, "_PAGE", 2)
    first, *rest = rejected(market, ann, hits=5)
    for assignment in (first, *rest):
        object_to(ann, assignment, f"<b>{assignment}</b>\nis \x1b[31mred.")
    market.requester("LAB").approve_assignment(AssignmentId=first, OverrideRejection=True)
    assert platform(market, "LAB").objections() == {
        assignment: f"<b>{assignment}</b>\nis \x1b[31mred." for assignment in rest
    }
    assert platform(market, "ANOTHER").objections() == {}


@pytest.mark.parametrize("page", [True, "", {}, {"After": 1}, {"After": "x" * 201}, {"Aft": ""}])
def test_a_page_of_objections_has_an_assignment_before_it(market: Market, page: object) -> None:
    """Other values are refused."""
    client = market.requester("LAB")

    def ask(params: dict[str, Any], **_: object) -> None:
        params["body"] = json.dumps({"PieceworkObjections": page}).encode()

    client.meta.events.register("before-call.mturk.GetAccountBalance", ask)
    with pytest.raises(ClientError, match="must have After"):
        client.get_account_balance()


@pytest.mark.parametrize("wire", [None, 7, "text", [7], [{"AssignmentId": "a"}], ["text"]])
def test_a_reply_of_another_form_is_no_objection(wire: object) -> None:
    """A marketplace's reply is not trusted."""
    with pytest.raises(ValueError, match="not objections"):
        objections_from_wire(wire)


def test_objections_to_rejections_have_an_end(market: Market, ann: Worker) -> None:
    """What is not rejected, strangers', other sites', endless, too many and late ones."""
    client = market.requester("LAB")
    waiting = ann.do(post(client)["HITGroupId"])
    assert object_to(ann, waiting, "Pay me.").status_code == 409
    first, *rest = rejected(market, ann, hits=messages.MOST_PROBLEMS_A_DAY + 2)
    assert object_to(market.worker(), first, "Not mine.").status_code == 404
    for text in ("", " \n ", "x" * (messages.LONGEST_TEXT + 1)):
        assert object_to(ann, first, text).status_code == 422
    assert object_to(ann, first, "x", origin="https://elsewhere.example").status_code == 403
    for assignment in rest[:-1]:
        assert object_to(ann, assignment, "Why?").status_code == 201
    assert object_to(ann, first, "Why?").status_code == 429
    market.wait(days=messages.OVERRIDE_DAYS - 1)
    full = "a\r\n" * (messages.LONGEST_TEXT // 2)  # as many characters as the box takes
    assert object_to(ann, first, full).status_code == 201
    assert full.replace("\r", "").strip() in platform(market, "LAB").objections().values()
    market.wait(days=2)
    assert object_to(ann, rest[-1], "Why?").status_code == 409
    assert "Object to the rejection" not in ann.http.get("/worker/history", headers=HTML).text
