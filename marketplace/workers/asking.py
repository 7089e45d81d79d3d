"""Asking for a qualification, as a worker may."""

import sqlite3

from marketplace.clock import SECOND
from marketplace.exceptions import Refusal
from marketplace.ids import next_number
from marketplace.requester.granting import grant
from marketplace.turn import Turn


def request_qualification(
    turn: Turn, worker: sqlite3.Row, qualification_type_id: str
) -> str:
    """Ask; `Granted` at once where the type says so, else `Pending`.

    Raises:
        Refusal: cannot be requested (404), held, asked for already, too soon (409).
    """
    kind = turn.one(
        "SELECT * FROM qualification_types WHERE qualification_type_id = ? "
        "AND deleted_ms IS NULL AND is_requestable = 1 AND status = 'Active'",
        qualification_type_id,
    )
    if kind is None:
        raise Refusal(
            "QualificationTypeDoesNotExist",
            "There is no such qualification to ask for.",
            status=404,
        )
    _check_not_held(turn, worker, kind)
    _check_retake(turn, worker, kind)
    status = "Granted" if kind["auto_granted"] else "Pending"
    turn.run(
        "INSERT INTO qualification_requests (qualification_request_id, "
        "qualification_type, worker, status, requested_ms) VALUES (?, ?, ?, ?, ?)",
        turn.mint.entity("request", next_number(turn.conn, "qualification_requests")),
        kind["id"],
        worker["id"],
        status,
        turn.now_ms,
    )
    if kind["auto_granted"]:
        grant(turn, kind["id"], worker["id"], value=kind["auto_granted_value"])
    return status


def _check_not_held(turn: Turn, worker: sqlite3.Row, kind: sqlite3.Row) -> None:
    row = turn.one(
        "SELECT status FROM qualifications WHERE qualification_type = ? AND worker = ?",
        kind["id"],
        worker["id"],
    )
    if row is not None and row["status"] == "Granted":
        raise Refusal("QualificationAlreadyExists", "You hold it already.", status=409)


def _check_retake(turn: Turn, worker: sqlite3.Row, kind: sqlite3.Row) -> None:
    last = turn.one(
        "SELECT * FROM qualification_requests WHERE worker = ? "
        "AND qualification_type = ? ORDER BY id DESC LIMIT 1",
        worker["id"],
        kind["id"],
    )
    if last is None:
        return
    if last["status"] == "Pending":
        raise Refusal(
            "QualificationRequestPending", "Your request is being read.", status=409
        )
    if kind["retry_delay_seconds"] is None:
        raise Refusal(
            "QualificationTypeDoesNotAllowRetake",
            "This qualification can be asked for once only.",
            status=409,
        )
    if turn.now_ms < last["requested_ms"] + kind["retry_delay_seconds"] * SECOND:
        raise Refusal(
            "QualificationTypeRetryDelayNotElapsed",
            "It is too soon to ask for it again.",
            status=409,
        )
