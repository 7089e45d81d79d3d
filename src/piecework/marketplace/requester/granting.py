"""Grants and revokes qualifications, for soft blocks or passed training."""

import sqlite3
from typing import Any

from piecework.marketplace.exceptions import does_not_exist, wrong_state
from piecework.marketplace.requester import qualification_types, shapes
from piecework.marketplace.requester.paging import page
from piecework.marketplace.state import accounts, messages
from piecework.marketplace.state.transaction import Transaction

Members = dict[str, Any]

_SELECT = (
    "SELECT qualifications.*, workers.worker_id, "
    "qualification_types.qualification_type_id FROM qualifications "
    "JOIN workers ON workers.id = qualifications.worker "
    "JOIN qualification_types "
    "ON qualification_types.id = qualifications.qualification_type "
)


def associate_qualification(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """AssociateQualificationWithWorker: grant, grant again, or change the value."""
    kind = qualification_types.find_own(transaction, requester, members["QualificationTypeId"])
    worker = accounts.find_worker(transaction, members["WorkerId"])
    grant(transaction, kind["id"], worker["id"], value=members.get("IntegerValue", 1))
    if members.get("SendNotification", True):
        messages.send(
            transaction,
            requester=requester,
            worker=worker["id"],
            subject=f"You have been granted the qualification {kind['name']}",
            text=f"{kind['name']}: {kind['description']}",
        )
    return {}


def disassociate_qualification(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """DisassociateQualificationFromWorker: revoke a worker's qualification."""
    kind = qualification_types.find_own(transaction, requester, members["QualificationTypeId"])
    row = _held(transaction, kind["qualification_type_id"], members["WorkerId"])
    transaction.execute(
        "UPDATE qualifications SET status = 'Revoked', revoked_ms = ?, reason = ? WHERE id = ?",
        transaction.now_ms,
        members.get("Reason"),
        row["id"],
    )
    messages.send(
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
    kind = qualification_types.find_own(transaction, requester, members["QualificationTypeId"])
    row = _held(transaction, kind["qualification_type_id"], members["WorkerId"])
    return {"Qualification": shapes.qualification(row)}


def list_workers_with_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListWorkersWithQualificationType: workers who hold it (or held it: Revoked)."""
    kind = qualification_types.find_own(transaction, requester, members["QualificationTypeId"])
    wanted = page(transaction, requester, members, operation="ListWorkersWithQualificationType")
    rows = transaction.all(
        f"{_SELECT} WHERE qualifications.qualification_type = ? "
        "AND qualifications.status = ? AND qualifications.id > ? "
        "ORDER BY qualifications.id LIMIT ?",
        kind["id"],
        members.get("Status", "Granted"),
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {**wanted.answer(rows), "Qualifications": [shapes.qualification(row) for row in rows]}


def list_qualification_requests(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListQualificationRequests: pending ones for own types, or for one of them."""
    wanted = page(transaction, requester, members, operation="ListQualificationRequests")
    condition, key = "qualification_types.requester = ?", requester
    if "QualificationTypeId" in members:
        kind = qualification_types.find_own(transaction, requester, members["QualificationTypeId"])
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
        "QualificationRequests": [shapes.qualification_request(row) for row in rows],
    }


def accept_qualification_request(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """AcceptQualificationRequest: grant a requested qualification."""
    row = _pending(transaction, requester, members["QualificationRequestId"])
    transaction.execute(
        "UPDATE qualification_requests SET status = 'Granted' WHERE id = ?", row["id"]
    )
    grant(
        transaction, row["qualification_type"], row["worker"], value=members.get("IntegerValue", 1)
    )
    return {}


def reject_qualification_request(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """RejectQualificationRequest: refuse a request, with an optional reason."""
    row = _pending(transaction, requester, members["QualificationRequestId"])
    transaction.execute(
        "UPDATE qualification_requests SET status = 'Rejected', reason = ? WHERE id = ?",
        members.get("Reason"),
        row["id"],
    )
    return {}


def grant(transaction: Transaction, qualification_type: int, worker: int, *, value: int) -> None:
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


def _held(transaction: Transaction, type_id: str, worker_id: str) -> sqlite3.Row:
    row = transaction.first_row(
        f"{_SELECT} WHERE qualification_types.qualification_type_id = ? AND workers.worker_id = ?",
        type_id,
        worker_id,
    )
    if row is None:
        raise does_not_exist("Qualification", f"{type_id} of worker {worker_id}")
    if row["status"] != "Granted":
        raise wrong_state("Qualification", type_id, state=row["status"], allowed="Granted")
    return row


def _pending(transaction: Transaction, requester: int, request_id: str) -> sqlite3.Row:
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
