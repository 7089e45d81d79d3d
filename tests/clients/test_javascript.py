"""The AWS SDK for JavaScript, generation 3, unchanged: only its endpoint is set."""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.driven import Driven
from tests.clients.environments import UnavailableError, node_client
from tests.conftest import absent
from tests.marketplace.market import HIT_TYPE, QUESTION, Market

pytestmark = pytest.mark.clients
_DRIVER = Path(__file__).with_name("drivers") / "javascript.cjs"


class Requester:
    """One requester who works with the SDK."""

    def __init__(self, node: Driven) -> None:
        self._node = node
        self.key = "J" + secrets.token_hex(8)

    def send(self, operation: str, **members: object) -> dict[str, Any]:
        """The SDK's result of `new <operation>Command(members)`."""
        reply = self._node.ask(operation, **{"as": self.key, "input": members})
        assert "error" not in reply, reply
        output: dict[str, Any] = reply["result"]
        return output

    def refused(self, operation: str, **members: object) -> dict[str, Any]:
        """The exception that the SDK throws instead."""
        reply = self._node.ask(operation, **{"as": self.key, "input": members})
        assert "error" in reply, reply
        error: dict[str, Any] = reply["error"]
        return error

    def pages(self, operation: str, size: int, **members: object) -> list[Any]:
        """All pages that the SDK's own paginator walks through."""
        message = {"as": self.key, "input": members, "pageSize": size}
        reply = self._node.ask(operation, **message)
        assert "error" not in reply, reply
        pages: list[Any] = reply["pages"]
        return pages

    def post(self, **members: object) -> dict[str, Any]:
        """A HIT of the usual type."""
        usual = {**HIT_TYPE, "LifetimeInSeconds": 86_400, "Question": QUESTION}
        hit: dict[str, Any] = self.send("CreateHIT", **{**usual, **members})["HIT"]
        return hit


@pytest.fixture(scope="session")
def node(standing: Market) -> Iterator[Driven]:
    """The SDK in a process of node's."""
    try:
        home = node_client()
    except UnavailableError as fault:
        absent("node", f"the AWS SDK for JavaScript is not here: {fault}")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL_MTURK": standing.endpoint,
    }
    with Driven(["node", str(_DRIVER)], environment=environment, folder=home) as node:
        yield node


@pytest.fixture
def requester(node: Driven) -> Requester:
    """Somebody whom the marketplace never met."""
    return Requester(node)


def test_a_created_hit_is_got_with_its_moments(requester: Requester) -> None:
    """Numbers on the wire become dates: it expires a day after it was made."""
    made = requester.post(MaxAssignments=2)
    hit = requester.send("GetHIT", HITId=made["HITId"])["HIT"]
    assert hit["NumberOfAssignmentsAvailable"] == 2
    # The rehearsal's clock stands at 2026-01-05 09:00 and is left alone.
    assert hit["CreationTime"].startswith("2026-01-05T09:")
    assert hit["Expiration"].startswith("2026-01-06T09:")


def test_the_paginator_finds_each_hit_once(requester: Requester) -> None:
    """Five HITs in pages of two."""
    ids = [requester.post(RequesterAnnotation=f"n{n}")["HITId"] for n in range(5)]
    pages = requester.pages("ListHITs", 2)
    assert [hit["HITId"] for page in pages for hit in page.get("HITs", [])] == ids[::-1]
    assert max(page["NumResults"] for page in pages) == 2


def test_work_is_listed_approved_and_paid_a_bonus(requester: Requester, standing: Market) -> None:
    """10,000.00 less 0.66 for the work, less 0.50 and 0.10 for the bonus."""
    hit, worker = requester.post(), standing.worker()
    assignment_id = worker.do(hit["HITGroupId"])
    [listed] = requester.send("ListAssignmentsForHIT", HITId=hit["HITId"])["Assignments"]
    assert listed["AssignmentId"] == assignment_id
    assert "A red bird." in listed["Answer"]
    requester.send("ApproveAssignment", AssignmentId=assignment_id)
    requester.send(
        "SendBonus",
        WorkerId=worker.worker_id,
        AssignmentId=assignment_id,
        BonusAmount="0.50",
        Reason="Fine words",
        UniqueRequestToken="once",
    )
    assert requester.send("GetAccountBalance")["AvailableBalance"] == "9998.74"
    [paid] = requester.send("ListBonusPayments", AssignmentId=assignment_id)["BonusPayments"]
    assert paid["BonusAmount"] == "0.50"


def test_rejected_work_can_still_be_approved(requester: Requester, standing: Market) -> None:
    """First without a cost, then overridden."""
    assignment_id = standing.worker().do(requester.post()["HITGroupId"])
    requester.send("RejectAssignment", AssignmentId=assignment_id, RequesterFeedback="No caption")
    output = requester.send("GetAssignment", AssignmentId=assignment_id)
    assert output["Assignment"]["AssignmentStatus"] == "Rejected"
    requester.send("ApproveAssignment", AssignmentId=assignment_id, OverrideRejection=True)
    assert requester.send("GetAccountBalance")["AvailableBalance"] == "9999.34"


def test_a_refusal_is_the_sdk_s_request_error(requester: Requester) -> None:
    """Its class, its HTTP status and its TurkErrorCode, as the model declares them."""
    fault = requester.refused("GetHIT", HITId="3NOSUCHHIT")
    assert (fault["name"], fault["status"]) == ("RequestError", 400)
    assert fault["isRequestError"]
    assert fault["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    assert "3NOSUCHHIT does not exist" in fault["message"]


def test_an_unmodelled_refusal_keeps_its_name(requester: Requester) -> None:
    """The SDK does not know ParameterValidationError, but names it."""
    fault = requester.refused("GetHIT", HITId="lower-case")
    assert fault["name"] == "ParameterValidationError"
    assert fault["isServiceException"]
    assert not fault["isRequestError"]


def test_a_repeated_token_names_the_first_hit(requester: Requester) -> None:
    """Its id in quotes, as clients parse it."""
    hit_id = requester.post(UniqueRequestToken="once")["HITId"]
    usual = {**HIT_TYPE, "LifetimeInSeconds": 86_400, "Question": QUESTION}
    fault = requester.refused("CreateHIT", **usual, UniqueRequestToken="once")
    assert fault["TurkErrorCode"] == "AWS.MechanicalTurk.HitAlreadyExists"
    assert f'"{hit_id}"' in fault["message"]


def test_a_hit_expires_by_a_date(requester: Requester) -> None:
    """The SDK writes dates as numbers; a past one ends the HIT, and it is deleted."""
    hit_id = requester.post()["HITId"]
    past = {"$date": "2015-01-01T00:00:00Z"}
    requester.send("UpdateExpirationForHIT", HITId=hit_id, ExpireAt=past)
    assert requester.send("GetHIT", HITId=hit_id)["HIT"]["HITStatus"] == "Reviewable"
    requester.send("DeleteHIT", HITId=hit_id)
    assert requester.send("ListHITs")["HITs"] == []


def test_a_qualification_is_made_granted_and_required(
    requester: Requester, standing: Market
) -> None:
    """Only its holder may take the HIT; taken away again, it is shown as revoked."""
    made = requester.send(
        "CreateQualificationType",
        Name=f"Knows birds {secrets.token_hex(4)}",
        Description="Has named birds before.",
        QualificationTypeStatus="Active",
    )
    type_id = made["QualificationType"]["QualificationTypeId"]
    holder, stranger = standing.worker(), standing.worker()
    names = {"QualificationTypeId": type_id, "WorkerId": holder.worker_id}
    requester.send("AssociateQualificationWithWorker", **names, IntegerValue=80)
    hit = requester.post(
        MaxAssignments=2,
        QualificationRequirements=[
            {
                "QualificationTypeId": type_id,
                "Comparator": "GreaterThanOrEqualTo",
                "IntegerValues": [80],
            }
        ],
    )
    assert stranger.accept(hit["HITGroupId"]).status_code == 409
    assert holder.accept(hit["HITGroupId"]).status_code == 201
    score = requester.send("GetQualificationScore", **names)["Qualification"]
    assert (score["IntegerValue"], score["Status"]) == (80, "Granted")
    requester.send("DisassociateQualificationFromWorker", **names)
    fault = requester.refused("GetQualificationScore", **names)
    assert "with a status of: Granted" in fault["message"]


def test_blocks_are_made_listed_and_lifted(requester: Requester, standing: Market) -> None:
    """A block is the requester's own."""
    worker_id = standing.worker().worker_id
    requester.send("CreateWorkerBlock", WorkerId=worker_id, Reason="Sent spam")
    blocks = requester.send("ListWorkerBlocks")["WorkerBlocks"]
    assert blocks == [{"WorkerId": worker_id, "Reason": "Sent spam"}]
    requester.send("DeleteWorkerBlock", WorkerId=worker_id)
    assert requester.send("ListWorkerBlocks")["WorkerBlocks"] == []
