"""Reads and decides assignments: the calls that pay for or reject work."""

import sqlite3
import unicodedata
from typing import Any

from piecework.marketplace.exceptions import Refusal, does_not_exist, request_error, wrong_state
from piecework.marketplace.requester import shapes
from piecework.marketplace.requester.paging import page
from piecework.marketplace.requester.posting import own_hit
from piecework.marketplace.state import assignments
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

OVERRIDE_DAYS = 30
_LONGEST_FEEDBACK = 1024
_SHOWN = ("Submitted", "Approved", "Rejected")

Members = dict[str, Any]


def get_assignment(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """GetAssignment: a submitted assignment and its HIT."""
    row = own_assignment(transaction, requester, members["AssignmentId"])
    if row["status"] not in _SHOWN:
        raise wrong_state(
            "Assignment", row["assignment_id"], state="null", allowed="Reviewable,Approved,Rejected"
        )
    hit = transaction.first_row(shapes.SELECT_HITS + "WHERE hits.id = ?", row["hit"])
    return {"Assignment": shapes.assignment(row), **({"HIT": shapes.hit(hit)} if hit else {})}


def list_assignments_for_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListAssignmentsForHIT: submitted assignments, oldest first."""
    hit = own_hit(transaction, requester, members["HITId"])
    wanted = page(transaction, requester, members, operation="ListAssignmentsForHIT", width=2)
    statuses = members.get("AssignmentStatuses") or _SHOWN
    places = ", ".join("?" for _ in statuses)
    rows = transaction.all(
        f"{shapes.SELECT_ASSIGNMENTS} WHERE assignments.hit = ? "
        "AND (assignments.submitted_ms, assignments.id) > (?, ?) "
        f"AND assignments.status IN ({places}) "
        "ORDER BY assignments.submitted_ms, assignments.id LIMIT ?",
        hit["id"],
        *(wanted.after or (-1, 0)),
        *statuses,
        wanted.size,
    )
    return {
        **wanted.answer(rows, key=("submitted_ms", "id")),
        "Assignments": [shapes.assignment(row) for row in rows],
    }


def approve_assignment(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ApproveAssignment: pay for it; OverrideRejection allows a rejected one too."""
    feedback = _feedback(members)
    row = own_assignment(transaction, requester, members["AssignmentId"])
    if row["status"] == "Rejected" and members.get("OverrideRejection", False):
        _check_override(transaction, row)
        assignments.approve_rejected(transaction, row, feedback=feedback)
        return {}
    _check_submitted(row)
    assignments.approve(transaction, row, at_ms=transaction.now_ms, feedback=feedback)
    return {}


def reject_assignment(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """RejectAssignment: reject it, with a reason that the worker reads."""
    feedback = _feedback(members)
    row = own_assignment(transaction, requester, members["AssignmentId"])
    _check_submitted(row)
    assignments.reject(transaction, row, feedback=feedback)
    return {}


def own_assignment(transaction: Transaction, requester: int, assignment_id: str) -> sqlite3.Row:
    """Return an assignment of one of the requester's HITs in any state.

    Raises: Refusal: the assignment is unknown, or another requester's.
    """
    row = transaction.first_row(
        f"{shapes.SELECT_ASSIGNMENTS} WHERE assignments.assignment_id = ? AND hits.requester = ?",
        assignment_id,
        requester,
    )
    if row is None:
        raise does_not_exist("Assignment", assignment_id)
    return row


def _check_submitted(row: sqlite3.Row) -> None:
    if row["status"] != "Submitted":
        state = row["status"] if row["status"] in _SHOWN else "null"
        raise wrong_state("Assignment", row["assignment_id"], state=state, allowed="Submitted")


def _check_override(transaction: Transaction, row: sqlite3.Row) -> None:
    if row["hit_status"] == "Disposed":
        raise wrong_state(
            "HIT",
            row["hit_id"],
            state="Disposed",
            allowed="Assignable,Unassignable,Reviewable,Reviewing",
        )
    if transaction.now_ms > row["submitted_ms"] + OVERRIDE_DAYS * DAY:
        raise request_error(
            "InvalidAssignmentState",
            f"Assignment {row['assignment_id']} was submitted more than "
            f"{OVERRIDE_DAYS} days ago; its rejection stands.",
        )


def _feedback(members: Members) -> str:
    feedback: str = members.get("RequesterFeedback", "")
    has_control = any(
        unicodedata.category(letter) == "Cc" and letter not in "\t\n\r" for letter in feedback
    )
    if has_control or len(feedback) > _LONGEST_FEEDBACK:
        raise Refusal(
            "InvalidParameterValue",
            f"RequesterFeedback must have at most {_LONGEST_FEEDBACK} characters "
            "and no control characters.",
            turk_code="InvalidParameterValue",
        )
    return feedback
