"""The structures that replies hold, and the pages of lists.

Rows become the API's structures; only this module names their members. A list comes in
pages of at most 100 rows, with an opaque token for the rest: the key of the last row
shown, signed for the requester and the request. So every page costs the same, and rows
that arrive meanwhile do not shift pages. A full page always has a token, even if no row
follows, as observed on the service: clients must loop until there is no token.
"""

import base64
import binascii
import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters
from piecework.marketplace.state import hits, money
from piecework.marketplace.state.settings import own_key
from piecework.marketplace.state.transaction import Transaction

_HIT_COLUMNS = (
    "hits.*, questions.question, questions.texts, "
    "hit_types.hit_type_id, hit_types.hit_group_id, "
    "hit_types.title, hit_types.description, hit_types.keywords, "
    "hit_types.duration_seconds, hit_types.auto_approval_seconds, "
    "hit_types.requirements"
)
SELECT_HITS = (
    f"SELECT {_HIT_COLUMNS} FROM hits JOIN hit_types ON hit_types.id = hits.hit_type "
    "JOIN questions ON questions.hit = hits.id "
)
"""Selects rows for `shape_hit`; append the condition."""

SELECT_ASSIGNMENTS = (
    "SELECT assignments.*, hits.hit_id, hits.requester, hits.status AS hit_status, "
    "workers.worker_id FROM assignments JOIN hits ON hits.id = assignments.hit "
    "JOIN workers ON workers.id = assignments.worker "
)
"""Selects rows for `shape_assignment`; append the condition."""

SELECT_QUALIFICATION_TYPES = (
    "SELECT qualification_types.*, tests.form, tests.answer_key, "
    "tests.duration_seconds FROM qualification_types "
    "LEFT JOIN tests ON tests.id = qualification_types.test "
)
"""Selects rows for `shape_qualification_type`; append the condition."""


def shape_time(ms: int) -> float:
    """Return a time as AWS's JSON writes it."""
    return ms / 1000


def shape_hit(row: sqlite3.Row) -> dict[str, Any]:
    """Return a HIT."""
    is_open = row["status"] == "Assignable"
    return {
        "HITId": row["hit_id"],
        "HITTypeId": row["hit_type_id"],
        "HITGroupId": row["hit_group_id"],
        "CreationTime": shape_time(row["created_ms"]),
        "Title": row["title"],
        "Description": row["description"],
        **_optional_member("Question", None if row["texts"] else row["question"]),
        "Keywords": row["keywords"],
        "HITStatus": row["status"],
        "MaxAssignments": row["max_assignments"],
        "Reward": money.currency(row["reward_cents"]),
        "AutoApprovalDelayInSeconds": row["auto_approval_seconds"],
        "Expiration": shape_time(row["expires_ms"]),
        "AssignmentDurationInSeconds": row["duration_seconds"],
        **_optional_member("RequesterAnnotation", row["annotation"]),
        "QualificationRequirements": json.loads(row["requirements"]),
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": row["accepted"],
        "NumberOfAssignmentsAvailable": hits.free_slots(row) if is_open else 0,
        "NumberOfAssignmentsCompleted": row["approved"] + row["rejected"],
    }


def shape_assignment(row: sqlite3.Row) -> dict[str, Any]:
    """Return an Assignment; only submitted ones are shown."""
    return {
        "AssignmentId": row["assignment_id"],
        "WorkerId": row["worker_id"],
        "HITId": row["hit_id"],
        "AssignmentStatus": row["status"],
        "AutoApprovalTime": shape_time(row["auto_approve_ms"]),
        "AcceptTime": shape_time(row["accepted_ms"]),
        "SubmitTime": shape_time(row["submitted_ms"]),
        **_optional_time("ApprovalTime", row["approved_ms"]),
        **_optional_time("RejectionTime", row["rejected_ms"]),
        "Deadline": shape_time(row["deadline_ms"]),
        "Answer": row["answer"],
        **_optional_member("RequesterFeedback", row["feedback"]),
    }


def shape_qualification_type(row: sqlite3.Row, requester: int) -> dict[str, Any]:
    """Return a QualificationType; only its owner sees the answer key."""
    is_own = row["requester"] == requester
    return {
        "QualificationTypeId": row["qualification_type_id"],
        "CreationTime": shape_time(row["created_ms"]),
        "Name": row["name"],
        "Description": row["description"],
        **_optional_member("Keywords", row["keywords"]),
        "QualificationTypeStatus": row["status"],
        **_optional_member("Test", row["form"]),
        **_optional_member("TestDurationInSeconds", row["duration_seconds"]),
        **_optional_member("AnswerKey", row["answer_key"] if is_own else None),
        **_optional_member("RetryDelayInSeconds", row["retry_delay_seconds"]),
        "IsRequestable": bool(row["is_requestable"]),
        "AutoGranted": bool(row["auto_granted"]),
        **_optional_member("AutoGrantedValue", row["auto_granted_value"]),
    }


def shape_qualification(row: sqlite3.Row) -> dict[str, Any]:
    """Return a Qualification."""
    return {
        "QualificationTypeId": row["qualification_type_id"],
        "WorkerId": row["worker_id"],
        "GrantTime": shape_time(row["granted_ms"]),
        "IntegerValue": row["value"],
        "Status": row["status"],
    }


def shape_qualification_request(row: sqlite3.Row) -> dict[str, Any]:
    """Return a QualificationRequest, with the test as the worker saw it."""
    return {
        "QualificationRequestId": row["qualification_request_id"],
        "QualificationTypeId": row["qualification_type_id"],
        "WorkerId": row["worker_id"],
        **_optional_member("Test", row["form"]),
        **_optional_member("Answer", row["answer"]),
        "SubmitTime": shape_time(row["requested_ms"]),
    }


def shape_review_result(row: sqlite3.Row) -> dict[str, Any]:
    """Return a ReviewResultDetail."""
    return {
        "ActionId": row["action_id"],
        "SubjectId": row["subject_id"],
        "SubjectType": row["subject_type"],
        **_optional_member("QuestionId", row["question"]),
        "Key": row["name"],
        "Value": row["value"],
    }


def shape_review_action(row: sqlite3.Row) -> dict[str, Any]:
    """Return a ReviewActionDetail."""
    return {
        "ActionId": row["action_id"],
        "ActionName": row["name"],
        "TargetId": row["subject_id"],
        "TargetType": row["subject_type"],
        "Status": row["status"],
        **_optional_time("CompleteTime", row["done_ms"]),
        "Result": row["value"],
        **_optional_member("ErrorCode", row["error_code"]),
    }


def shape_bonus_payment(row: sqlite3.Row) -> dict[str, Any]:
    """Return a BonusPayment."""
    return {
        "WorkerId": row["worker_id"],
        "BonusAmount": money.currency(row["cents"]),
        "AssignmentId": row["assignment_id"],
        "Reason": row["reason"],
        "GrantTime": shape_time(row["paid_ms"]),
    }


def _optional_member(name: str, value: object) -> dict[str, object]:
    return {} if value is None else {name: value}


def _optional_time(name: str, ms: int | None) -> dict[str, object]:
    return {} if ms is None else {name: shape_time(ms)}


DEFAULT_SIZE = 10
_NOT_COMPARED = ("NextToken", "MaxResults")
_PAGING_KEY = "paging_key"
_MAC_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page to fetch.

    Attributes:
        size: the number of rows.
        after: key of the previous page's last row; empty for the first page.
        digest: the requester and the request, as text.
        key: the key that signs tokens.
    """

    size: int
    after: tuple[int, ...]
    digest: str
    key: bytes

    def answer(
        self, rows: Sequence[sqlite3.Row], *, key: Sequence[str] = ("id",)
    ) -> dict[str, Any]:
        """Return `NumResults`, and `NextToken` for every page with a row.

        So every list ends with an empty page. Clients written for the service rely on
        both (Mephisto reads the token of each page that is not empty).
        """
        counted: dict[str, Any] = {"NumResults": len(rows)}
        if rows:
            last = [rows[-1][column] for column in key]
            document = json.dumps(last).encode()
            signed = _mac(self.key, self.digest, document) + document
            counted["NextToken"] = base64.urlsafe_b64encode(signed).decode()
        return counted


def requested_page(
    transaction: Transaction,
    requester: int,
    members: Mapping[str, Any],
    *,
    operation: str,
    width: int = 1,
) -> Page:
    """Return the page that a request asks for.

    Args:
        transaction: the transaction that fetches it.
        requester: the requester, for whom alone the token is valid.
        members: the request's members.
        operation: the operation to which the token must belong.
        width: the number of columns in the key.

    Raises:
        Refusal: the token belongs to other arguments, or is not a token.
    """
    arguments = {k: v for k, v in members.items() if k not in _NOT_COMPARED}
    digest = json.dumps([requester, operation, width, arguments], sort_keys=True)
    key = own_key(transaction, _PAGING_KEY)
    after: tuple[int, ...] = ()
    if "NextToken" in members:
        after = _read_token(members["NextToken"], digest, key)
    return Page(size=members.get("MaxResults", DEFAULT_SIZE), after=after, digest=digest, key=key)


def _read_token(token: str, digest: str, key: bytes) -> tuple[int, ...]:
    try:
        signed = base64.b64decode(token, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid_token() from None
    mac, document = signed[:_MAC_BYTES], signed[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, digest, document)):
        raise _invalid_token()
    return tuple(json.loads(document))


def _mac(key: bytes, digest: str, document: bytes) -> bytes:
    words = digest.encode() + b"\x00" + document
    return hmac.digest(key, words, hashlib.sha256)[:_MAC_BYTES]


def _invalid_token() -> Exception:
    return invalid_parameters("This operation did not issue this NextToken for these arguments.")
