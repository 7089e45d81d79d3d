"""The structures that replies hold; only this module names their members."""

import json
import sqlite3
from typing import Any

from piecework.marketplace.state import hits, money

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
