"""Workers' requests for qualifications: granted at once, by request, or by a test.

An attempt at a test counts from its beginning, even if the worker does not send it in
time. The next is possible after the type's retry delay since its end, and never if the
type has no delay.
"""

import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.qualifications import grant_qualification
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.ids import next_number
from piecework.marketplace.state.transaction import Transaction

_OFFERED = (
    "qualification_types.deleted_ms IS NULL AND qualification_types.is_requestable = 1 "
    "AND qualification_types.status = 'Active'"
)
_LAST = (
    "SELECT status, at_ms FROM ("
    "SELECT status, requested_ms AS at_ms, 0 AS kind, id FROM qualification_requests "
    "WHERE worker = ?1 AND qualification_type = ?2 UNION ALL "
    "SELECT status, coalesce(ended_ms, started_ms), 1, id FROM test_attempts "
    "WHERE worker = ?1 AND qualification_type = ?2 AND status <> 'Submitted') "
    "ORDER BY at_ms DESC, kind DESC, id DESC LIMIT 1"
)


def request_qualification(
    transaction: Transaction, worker: sqlite3.Row, qualification_type_id: str
) -> str:
    """Request a type: `Granted` if the type allows it, `Pending`, or `Testing`.

    Raises:
        Refusal: the type cannot be requested (404), is held, requested already, or too
            soon (409).
    """
    kind = transaction.first_row(
        "SELECT qualification_types.*, tests.duration_seconds FROM qualification_types "
        "LEFT JOIN tests ON tests.id = qualification_types.test "
        f"WHERE qualification_type_id = ? AND {_OFFERED}",
        qualification_type_id,
    )
    if kind is None:
        raise Refusal(
            "QualificationTypeDoesNotExist", "This qualification cannot be requested.", status=404
        )
    refusal = why_not(transaction, worker, kind)
    if refusal is not None and refusal.kind == "TestBegun":
        return "Testing"
    if refusal is not None:
        raise refusal
    if kind["test"] is not None:
        _begin(transaction, worker, kind)
        return "Testing"
    if kind["auto_granted"]:
        file_request(transaction, worker, kind["id"], status="Granted")
        grant_qualification(transaction, kind["id"], worker["id"], value=kind["auto_granted_value"])
        return "Granted"
    file_request(transaction, worker, kind["id"], status="Pending")
    return "Pending"


def why_not(transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row) -> Refusal | None:
    """Return what keeps a worker from requesting an offered type, or None."""
    last = transaction.first_row(_LAST, worker["id"], kind["id"])
    if last is not None and last["status"] == "Open":
        return Refusal("TestBegun", "You have begun this test.", status=409)
    if last is not None and last["status"] == "Pending":
        return Refusal(
            "QualificationRequestPending", "Your request is waiting for an answer.", status=409
        )
    delay = kind["retry_delay_seconds"]
    if _holds(transaction, worker, kind) and (kind["test"] is None or delay is None):
        return Refusal(
            "QualificationAlreadyExists", "You already have this qualification.", status=409
        )
    return None if last is None else _too_soon(transaction, last, delay)


def file_request(
    transaction: Transaction,
    worker: sqlite3.Row,
    qualification_type: int,
    *,
    status: str,
    test: int | None = None,
    answer: str | None = None,
) -> None:
    """Store a request, with the answered test if any."""
    transaction.execute(
        "INSERT INTO qualification_requests (qualification_request_id, "
        "qualification_type, worker, status, requested_ms, test, answer) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        transaction.id_generator.entity(
            "request", next_number(transaction.conn, "qualification_requests")
        ),
        qualification_type,
        worker["id"],
        status,
        transaction.now_ms,
        test,
        answer,
    )


def _too_soon(transaction: Transaction, last: sqlite3.Row, delay: int | None) -> Refusal | None:
    if delay is None:
        return Refusal(
            "QualificationTypeDoesNotAllowRetake",
            "You can request this qualification only once.",
            status=409,
        )
    if transaction.now_ms < last["at_ms"] + delay * SECOND:
        return Refusal(
            "QualificationTypeRetryDelayNotElapsed",
            "It is too early to request it again.",
            status=409,
        )
    return None


def _begin(transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row) -> None:
    transaction.execute(
        "INSERT INTO test_attempts (qualification_type, worker, test, status, "
        "started_ms, deadline_ms) VALUES (?, ?, ?, 'Open', ?, ?)",
        kind["id"],
        worker["id"],
        kind["test"],
        transaction.now_ms,
        transaction.now_ms + kind["duration_seconds"] * SECOND,
    )


def _holds(transaction: Transaction, worker: sqlite3.Row, kind: sqlite3.Row) -> bool:
    row = transaction.first_row(
        "SELECT 1 FROM qualifications WHERE qualification_type = ? AND worker = ? "
        "AND status = 'Granted'",
        kind["id"],
        worker["id"],
    )
    return row is not None
