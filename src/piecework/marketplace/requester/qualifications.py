"""Qualifications: a requester's own marks for workers, granted and revoked.

They serve as soft blocks, or as proof of passed training.
"""

import sqlite3
from typing import Any

from piecework.marketplace.exceptions import (
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.forms.answer_key import check_against
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.requester import hit_types, shapes
from piecework.marketplace.requester.shapes import requested_page
from piecework.marketplace.state import accounts, messages
from piecework.marketplace.state.qualification_types import NOT_REQUESTABLE, NOT_SHOWN
from piecework.marketplace.state.transaction import Transaction, next_number

_YEAR_SECONDS = 31_536_000
_WITH_TEST = ("AnswerKey", "TestDurationInSeconds")
_LONGEST_NAME = 200
_LONGEST_TEXT = 2000
_NAMES_TAKEN = (
    "SELECT qualification_type_id FROM qualification_types AS kinds "
    "WHERE requester = ? AND name = ? AND (deleted_ms IS NULL OR EXISTS "
    "(SELECT 1 FROM hit_type_qualifications JOIN hits USING (hit_type) "
    "WHERE qualification_type = kinds.id AND hits.status <> 'Disposed'))"
)
"""A deleted type keeps its name until no HIT requires it any more."""

Members = dict[str, Any]


def create_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateQualificationType: a requester's names are unique."""
    name = hit_types.at_most("Name", members["Name"], least=1, most=_LONGEST_NAME)
    row = transaction.first_row(_NAMES_TAKEN, requester, name)
    if row is not None:
        raise request_error(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name: "
            f'"{row["qualification_type_id"]}".',
        )
    type_id = transaction.id_generator.entity(
        "qualification type", next_number(transaction.conn, "qualification_types")
    )
    auto_granted = members.get("AutoGranted", False)
    test = _keep_test(transaction, members)
    _check_no_automatic_grant(has_test=test is not None, auto_granted=auto_granted)
    transaction.execute(
        "INSERT INTO qualification_types (qualification_type_id, requester, name, "
        "description, keywords, status, is_requestable, test, retry_delay_seconds, "
        "auto_granted, auto_granted_value, created_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        type_id,
        requester,
        name,
        hit_types.at_most("Description", members["Description"], least=1, most=_LONGEST_TEXT),
        members.get("Keywords"),
        members["QualificationTypeStatus"],
        not {NOT_REQUESTABLE, NOT_SHOWN} & set((members.get("Keywords") or "").split()),
        test,
        _retry_delay(members),
        auto_granted,
        _auto_granted_value(members, auto_granted=auto_granted),
        transaction.now_ms,
    )
    return _shaped_type(transaction, requester, type_id)


def get_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """GetQualificationType: any requester's type or a built-in one."""
    return _shaped_type(transaction, requester, members["QualificationTypeId"])


def list_qualification_types(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListQualificationTypes: search name, description and keywords."""
    wanted = requested_page(transaction, requester, members, operation="ListQualificationTypes")
    conditions = ["deleted_ms IS NULL", "qualification_types.id > ?"]
    values: list[object] = [wanted.after[0] if wanted.after else 0]
    if members["MustBeRequestable"]:
        conditions.append("is_requestable = 1")
    if members.get("MustBeOwnedByCaller", False):
        conditions.append("requester = ?")
        values.append(requester)
    if members.get("Query"):
        conditions.append(
            "instr(lower(name || ' ' || description || ' ' || "
            "coalesce(keywords, '')), lower(?)) > 0"
        )
        values.append(members["Query"])
    rows = transaction.all(
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE {' AND '.join(conditions)} "
        "ORDER BY qualification_types.id LIMIT ?",
        *values,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "QualificationTypes": [shapes.shape_qualification_type(row, requester) for row in rows],
    }


def update_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateQualificationType: the name and the keywords cannot change.

    A test can be added, or replaced with its key and duration, but not removed.
    """
    row = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    auto_granted = members.get("AutoGranted", bool(row["auto_granted"]))
    value = members.get("AutoGrantedValue", row["auto_granted_value"])
    test = _keep_test(transaction, members) or row["test"]
    _check_no_automatic_grant(has_test=test is not None, auto_granted=auto_granted)
    if "AutoGrantedValue" in members and not auto_granted:
        raise invalid_parameters("AutoGrantedValue needs AutoGranted.")
    transaction.execute(
        "UPDATE qualification_types SET description = ?, status = ?, test = ?, "
        "retry_delay_seconds = ?, auto_granted = ?, auto_granted_value = ? "
        "WHERE id = ?",
        hit_types.at_most(
            "Description",
            members.get("Description", row["description"]),
            least=1,
            most=_LONGEST_TEXT,
        ),
        members.get("QualificationTypeStatus", row["status"]),
        test,
        _retry_delay({"RetryDelayInSeconds": row["retry_delay_seconds"], **members}),
        auto_granted,
        (1 if value is None else value) if auto_granted else None,
        row["id"],
    )
    return _shaped_type(transaction, requester, row["qualification_type_id"])


def delete_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """DeleteQualificationType: also delete HIT types that require it; keep grants."""
    row = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    transaction.execute(
        "UPDATE qualification_types SET deleted_ms = ? WHERE id = ?", transaction.now_ms, row["id"]
    )
    transaction.execute(
        "UPDATE qualification_requests SET status = 'Rejected', "
        "reason = 'The qualification type was deleted.' "
        "WHERE qualification_type = ? AND status = 'Pending'",
        row["id"],
    )
    transaction.execute(
        "UPDATE hit_types SET deleted_ms = ? WHERE requester = ? AND id IN "
        "(SELECT hit_type FROM hit_type_qualifications WHERE qualification_type = ?)",
        transaction.now_ms,
        requester,
        row["id"],
    )
    return {}


def find_qualification_type(transaction: Transaction, type_id: str) -> sqlite3.Row:
    """Return a qualification type of any requester.

    Raises: Refusal: the type is unknown or deleted.
    """
    row = transaction.first_row(
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE qualification_type_id = ? "
        "AND deleted_ms IS NULL",
        type_id,
    )
    if row is None:
        raise does_not_exist("QualificationType", type_id)
    return row


def own_qualification_type(transaction: Transaction, requester: int, type_id: str) -> sqlite3.Row:
    """Return the requester's own qualification type.

    Raises: Refusal: the type is unknown, deleted, or another requester's.
    """
    row = find_qualification_type(transaction, type_id)
    if row["requester"] != requester:
        raise does_not_exist("QualificationType", type_id)
    return row


def _shaped_type(transaction: Transaction, requester: int, type_id: str) -> dict[str, Any]:
    row = find_qualification_type(transaction, type_id)
    return {"QualificationType": shapes.shape_qualification_type(row, requester)}


def _retry_delay(members: Members) -> int | None:
    delay: int | None = members.get("RetryDelayInSeconds")
    if delay is not None and delay < 0:
        raise invalid_parameters("RetryDelayInSeconds must not be negative.")
    return delay


def _auto_granted_value(members: Members, *, auto_granted: bool) -> int | None:
    if not auto_granted:
        if "AutoGrantedValue" in members:
            raise invalid_parameters("AutoGrantedValue needs AutoGranted.")
        return None
    value: int = members.get("AutoGrantedValue", 1)
    return value


def _keep_test(transaction: Transaction, members: Members) -> int | None:
    """Store a request's test and return its row id, or None without a test.

    Form, key and duration belong together: a request that changes one sends all. A
    duration without a test is ignored, since clients send it with every new type.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if "Test" not in members:
        is_new = "QualificationTypeId" not in members
        for name in _WITH_TEST[: 1 if is_new else 2]:
            if name in members:
                raise invalid_parameters(f"{name} needs Test in the same request.")
        return None
    if "TestDurationInSeconds" not in members:
        raise invalid_parameters("Test needs TestDurationInSeconds.")
    duration = hit_types.in_range(
        "TestDurationInSeconds", members["TestDurationInSeconds"], low=1, high=_YEAR_SECONDS
    )
    form = read_form(members["Test"])
    if "AnswerKey" in members:
        check_against(members["AnswerKey"], form)
    return transaction.execute(
        "INSERT INTO tests (form, answer_key, duration_seconds) VALUES (?, ?, ?)",
        members["Test"],
        members.get("AnswerKey"),
        duration,
    )


def _check_no_automatic_grant(*, has_test: bool, auto_granted: bool) -> None:
    """Check that a type is granted on request or after a test, not both.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if has_test and auto_granted:
        raise invalid_parameters("A type with a Test cannot be AutoGranted.")


_SELECT_HELD = (
    "SELECT qualifications.*, workers.worker_id, "
    "qualification_types.qualification_type_id FROM qualifications "
    "JOIN workers ON workers.id = qualifications.worker "
    "JOIN qualification_types "
    "ON qualification_types.id = qualifications.qualification_type "
)


def associate_qualification_with_worker(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """AssociateQualificationWithWorker: grant, grant again, or change the value."""
    kind = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    worker = accounts.find_worker(transaction, members["WorkerId"])
    grant_qualification(transaction, kind["id"], worker["id"], value=members.get("IntegerValue", 1))
    if members.get("SendNotification", True):
        messages.send_message(
            transaction,
            requester=requester,
            worker=worker["id"],
            subject=f"You have been granted the qualification {kind['name']}",
            text=f"{kind['name']}: {kind['description']}",
        )
    return {}


def disassociate_qualification_from_worker(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """DisassociateQualificationFromWorker: revoke a worker's qualification."""
    kind = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    row = _held_qualification(transaction, kind["qualification_type_id"], members["WorkerId"])
    transaction.execute(
        "UPDATE qualifications SET status = 'Revoked', revoked_ms = ?, reason = ? WHERE id = ?",
        transaction.now_ms,
        members.get("Reason"),
        row["id"],
    )
    messages.send_message(
        transaction,
        requester=requester,
        worker=row["worker"],
        subject=f"The qualification {kind['name']} was taken from you",
        text=members.get("Reason", "No reason was given."),
    )
    return {}


def get_qualification_score(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """GetQualificationScore: a worker's qualification of the requester's own type."""
    kind = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    row = _held_qualification(transaction, kind["qualification_type_id"], members["WorkerId"])
    return {"Qualification": shapes.shape_qualification(row)}


def list_workers_with_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListWorkersWithQualificationType: workers who hold it (or held it: Revoked)."""
    kind = own_qualification_type(transaction, requester, members["QualificationTypeId"])
    wanted = requested_page(
        transaction, requester, members, operation="ListWorkersWithQualificationType"
    )
    rows = transaction.all(
        f"{_SELECT_HELD} WHERE qualifications.qualification_type = ? "
        "AND qualifications.status = ? AND qualifications.id > ? "
        "ORDER BY qualifications.id LIMIT ?",
        kind["id"],
        members.get("Status", "Granted"),
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "Qualifications": [shapes.shape_qualification(row) for row in rows],
    }


def list_qualification_requests(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListQualificationRequests: pending ones for own types, or for one of them."""
    wanted = requested_page(transaction, requester, members, operation="ListQualificationRequests")
    condition, key = "qualification_types.requester = ?", requester
    if "QualificationTypeId" in members:
        kind = own_qualification_type(transaction, requester, members["QualificationTypeId"])
        condition, key = "qualification_types.id = ?", kind["id"]
    rows = transaction.all(
        "SELECT qualification_requests.*, workers.worker_id, tests.form, "
        "qualification_types.qualification_type_id FROM qualification_requests "
        "LEFT JOIN tests ON tests.id = qualification_requests.test "
        "JOIN workers ON workers.id = qualification_requests.worker "
        "JOIN qualification_types "
        "ON qualification_types.id = qualification_requests.qualification_type "
        f"WHERE {condition} AND qualification_requests.status = 'Pending' "
        "AND qualification_requests.id > ? ORDER BY qualification_requests.id LIMIT ?",
        key,
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "QualificationRequests": [shapes.shape_qualification_request(row) for row in rows],
    }


def accept_qualification_request(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """AcceptQualificationRequest: grant a requested qualification."""
    row = _pending_request(transaction, requester, members["QualificationRequestId"])
    transaction.execute(
        "UPDATE qualification_requests SET status = 'Granted' WHERE id = ?", row["id"]
    )
    grant_qualification(
        transaction, row["qualification_type"], row["worker"], value=members.get("IntegerValue", 1)
    )
    return {}


def reject_qualification_request(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """RejectQualificationRequest: refuse a request, with an optional reason."""
    row = _pending_request(transaction, requester, members["QualificationRequestId"])
    transaction.execute(
        "UPDATE qualification_requests SET status = 'Rejected', reason = ? WHERE id = ?",
        members.get("Reason"),
        row["id"],
    )
    return {}


def grant_qualification(
    transaction: Transaction, qualification_type: int, worker: int, *, value: int
) -> None:
    """Grant the worker the qualification with this value."""
    transaction.execute(
        "INSERT INTO qualifications (qualification_type, worker, value, status, "
        "granted_ms) VALUES (?, ?, ?, 'Granted', ?) "
        "ON CONFLICT (qualification_type, worker) DO UPDATE SET "
        "value = excluded.value, status = 'Granted', granted_ms = excluded.granted_ms, "
        "revoked_ms = NULL, reason = NULL",
        qualification_type,
        worker,
        value,
        transaction.now_ms,
    )


def _held_qualification(transaction: Transaction, type_id: str, worker_id: str) -> sqlite3.Row:
    row = transaction.first_row(
        f"{_SELECT_HELD} WHERE qualification_types.qualification_type_id = ? "
        "AND workers.worker_id = ?",
        type_id,
        worker_id,
    )
    if row is None:
        raise does_not_exist("Qualification", f"{type_id} of worker {worker_id}")
    if row["status"] != "Granted":
        raise wrong_state("Qualification", type_id, state=row["status"], allowed="Granted")
    return row


def _pending_request(transaction: Transaction, requester: int, request_id: str) -> sqlite3.Row:
    row = transaction.first_row(
        "SELECT qualification_requests.* FROM qualification_requests "
        "JOIN qualification_types "
        "ON qualification_types.id = qualification_requests.qualification_type "
        "WHERE qualification_request_id = ? AND requester = ?",
        request_id,
        requester,
    )
    if row is None:
        raise does_not_exist("QualificationRequest", request_id)
    if row["status"] != "Pending":
        raise wrong_state(
            "QualificationRequest", request_id, state=row["status"], allowed="Pending"
        )
    return row
