"""The wire itself: who is asked, what is refused, and in which words."""

import json
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.requester.api import OPERATIONS
from piecework.marketplace.requester.wire import TARGET_PREFIX, operation_names
from tests.marketplace.market import HIT_TYPE, QUESTION, Market, expire, post, refusal


def call(
    standing: Market,
    operation: str = "GetAccountBalance",
    *,
    body: bytes = b"{}",
    key: str = "KEY",
    **headers: str,
) -> httpx.Response:
    """A call by hand; an empty header is left out."""
    scope = "20260105/us-east-1/mturk-requester/aws4_request"
    sent = {
        "X-Amz-Target": TARGET_PREFIX + operation,
        "Authorization": f"AWS4-HMAC-SHA256 Credential={key}/{scope}",
        "Content-Type": "application/x-amz-json-1.1",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    kept = {name: value for name, value in sent.items() if value}
    return standing.http.post("/", content=body, headers=kept)


def test_a_reply_is_aws_json_with_a_request_id(standing: Market) -> None:
    """Content type, id and body are what botocore reads; empty outputs are `{}`."""
    reply = call(standing)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/x-amz-json-1.1"
    assert reply.headers["x-amzn-requestid"]
    assert reply.json() == {"AvailableBalance": "10000.00", "OnHoldBalance": "0.00"}
    ann = standing.worker()
    body = json.dumps({"WorkerId": ann.worker_id, "Reason": "x"}).encode()
    assert call(standing, "CreateWorkerBlock", body=body).text == "{}"


def test_an_error_has_type_code_and_a_number_at_the_end(standing: Market) -> None:
    """`__type`, `TurkErrorCode`, and a Message that nobody can compare by equality."""
    reply = call(standing, "GetHIT", body=b'{"HITId": "NONE"}')
    assert reply.status_code == 400
    document = reply.json()
    assert document["__type"] == "RequestError"
    assert document["TurkErrorCode"] == "AWS.MechanicalTurk.HITDoesNotExist"
    words, _, number = document["Message"].rpartition(" ")
    assert words == "HIT NONE does not exist."
    assert number.strip("()").isdigit()


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"X_Amz_Target": ""}, 400, "UnknownOperationException"),
        ({"X_Amz_Target": "DynamoDB.GetItem"}, 400, "UnknownOperationException"),
        ({"X_Amz_Target": TARGET_PREFIX}, 400, "UnknownOperationException"),
        ({"X_Amz_Target": TARGET_PREFIX + "GetHITs"}, 400, "UnknownOperationException"),
        ({"Authorization": ""}, 400, "MissingAuthenticationTokenException"),
        ({"Authorization": "Bearer x"}, 400, "MissingAuthenticationTokenException"),
    ],
)
def test_a_call_without_address_or_sender_is_refused(
    standing: Market, headers: dict[str, str], status: int, kind: str
) -> None:
    """AWS's own error types, so that clients know them."""
    sent: dict[str, Any] = dict(headers)
    reply = call(standing, **sent)
    assert (reply.status_code, reply.json()["__type"]) == (status, kind)


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b'{"a":' * 900 + b"1"]
)
def test_a_body_that_is_no_json_is_refused(standing: Market, body: bytes) -> None:
    """SerializationException, whatever the bytes."""
    reply = call(standing, body=body)
    assert reply.status_code == 400
    assert reply.json()["__type"] == "SerializationException"


def test_a_body_above_a_mebibyte_is_refused(standing: Market) -> None:
    """413, before anything is parsed."""
    assert call(standing, body=b" " * 1_048_577).status_code == 413


def test_every_operation_of_the_model_is_built() -> None:
    """All 39, and nothing that the model does not know."""
    assert set(OPERATIONS) == set(operation_names())
    assert len(OPERATIONS) == 39


VALID: dict[str, Any] = {**HIT_TYPE, "LifetimeInSeconds": 60, "Question": QUESTION}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"Title": None}, "Missing required parameter Title"),
        ({"Colour": "red"}, "Unknown parameter Colour"),
        ({"Title": 5}, "Title must be a string"),
        ({"Title": ""}, "Title must have from 1 to 128"),
        ({"Title": "x" * 129}, "Title must have from 1 to 128"),
        ({"Title": "\ud800"}, "UTF-8"),
        ({"Description": "x" * 2001}, "Description must have"),
        ({"Keywords": "x" * 1001}, "Keywords must have"),
        ({"RequesterAnnotation": "x" * 256}, "RequesterAnnotation must have"),
        ({"RequesterAnnotation": "\ud800"}, "UTF-8"),
        ({"Reward": 0.5}, "Reward must be a string"),
        ({"Reward": "1,50"}, "Reward must match"),
        ({"Reward": "-1"}, "Reward must match"),
        ({"Reward": "1.00\n"}, "Reward must match"),
        ({"Reward": "9" * 1_000_000}, "is too large"),
        ({"Reward": "10000000000.01"}, "is too large"),
        ({"PieceworkKeepApart": ["\ud800"]}, "UTF-8"),
        ({"AssignmentDurationInSeconds": 29}, "from 30 to 31536000"),
        ({"AssignmentDurationInSeconds": 31_536_001}, "from 30 to 31536000"),
        ({"AssignmentDurationInSeconds": True}, "must be an integer"),
        ({"AssignmentDurationInSeconds": 2**63}, "out of range"),
        ({"AutoApprovalDelayInSeconds": -1}, "from 0 to 2592000"),
        ({"AutoApprovalDelayInSeconds": 2_592_001}, "from 0 to 2592000"),
        ({"LifetimeInSeconds": 29}, "LifetimeInSeconds"),
        ({"MaxAssignments": 0}, "MaxAssignments must be from 1"),
        ({"MaxAssignments": 10**9 + 1}, "MaxAssignments must be from 1"),
        ({"UniqueRequestToken": "x" * 65}, "at most 64"),
        ({"UniqueRequestToken": ""}, "at least 1"),
        ({"QualificationRequirements": {}}, "must be a list"),
        ({"QualificationRequirements": [1]}, "must be an object"),
        ({"Question": None}, "one of Question and HITLayoutId"),
        ({"HITLayoutParameters": []}, "needs HITLayoutId"),
        ({"AssignmentReviewPolicy": {"PolicyName": "x"}}, "must be ScoreMyKnownAnswers"),
    ],
)
def test_parameters_are_held_to_model_and_documents(
    standing: Market, change: dict[str, Any], complaint: str
) -> None:
    """ParameterValidationError with the complaint, and nothing is made."""
    body = json.dumps({**VALID, **change}).encode()
    reply = call(standing, "CreateHIT", body=body)
    assert reply.status_code == 400, reply.text
    assert reply.json()["__type"] == "ParameterValidationError"
    assert complaint in reply.json()["Message"]
    assert standing.requester("KEY").list_hits()["HITs"] == []


HALF = "\ud800"
"""Half of a letter, which JSON can carry and UTF-8 cannot."""


@pytest.mark.parametrize(
    ("operation", "members"),
    [
        ("ListAssignmentsForHIT", {"HITId": "x", "PieceworkListTogether": [HALF]}),
        ("GetAccountBalance", {"PieceworkPictures": [HALF]}),
        ("GetAccountBalance", {"PieceworkMarks": {"Store": HALF, "Seen": None}}),
        ("GetAccountBalance", {"PieceworkObjections": {"After": HALF}}),
        ("GetAccountBalance", {"PieceworkCompensations": {"Prefix": HALF, "After": ""}}),
        (
            "SendBonus",
            {
                "PieceworkCompensation": HALF,
                "WorkerId": "x",
                "BonusAmount": "1",
                "Reason": "x",
            },
        ),
        (
            "CreateHITType",
            {
                **HIT_TYPE,
                "PieceworkWorkerLimits": [{"Name": HALF, "Most": 1, "IsOfBatch": False}],
            },
        ),
    ],
)
def test_texts_of_extensions_are_text(
    standing: Market, operation: str, members: dict[str, object]
) -> None:
    """As those of the operations themselves."""
    reply = call(standing, operation, body=json.dumps(members).encode())
    assert reply.status_code == 400, reply.text
    assert "UTF-8" in reply.json()["Message"]


def test_all_faults_of_a_request_are_told_at_once(standing: Market) -> None:
    """Nobody mends one fault to meet the next."""
    body = json.dumps({**VALID, "Title": 1, "Reward": "x", "Colour": 1}).encode()
    message = call(standing, "CreateHIT", body=body).json()["Message"]
    assert all(name in message for name in ("Title", "Reward", "Colour"))


def test_null_members_count_as_absent(standing: Market) -> None:
    """As AWS's JSON has it."""
    body = json.dumps({**VALID, "Keywords": None}).encode()
    assert call(standing, "CreateHIT", body=body, key="K2").json()["HIT"]["Keywords"] == ""


def test_moments_are_numbers_or_iso_text(standing: Market) -> None:
    """Both ways to send a timestamp mean the same."""
    client = standing.requester()
    made = post(client)
    for moment in (1_767_700_000, "2026-01-06T11:46:41Z"):
        expire(client, made["HITId"], moment)
    hit = client.get_hit(HITId=made["HITId"])["HIT"]
    assert hit["Expiration"].timestamp() == 1_767_700_001
    with pytest.raises(ClientError) as caught:
        expire(client, made["HITId"], 4_000_000_000)
    assert refusal(caught.value)[0] == "ParameterValidationError"


def test_a_layout_does_not_exist(standing: Market) -> None:
    """HIT layouts were made in a web page of the service's; here is none."""
    body = json.dumps({**VALID, "Question": None, "HITLayoutId": "ABC"}).encode()
    reply = call(standing, "CreateHIT", body=body)
    assert reply.json()["TurkErrorCode"].endswith("HITLayoutDoesNotExist")
