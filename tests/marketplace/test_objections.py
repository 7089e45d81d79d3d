"""Workers read why they lost a qualification, and contest it in their own words."""

import json
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.state import messages
from tests.marketplace.market import Market, Worker

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
