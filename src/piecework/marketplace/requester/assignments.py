"""Assignments: reads what workers sent, approves or rejects it, and pays bonuses.

Files in answers are refused, since the service retired them.
"""

import sqlite3
import unicodedata
from typing import Any

from piecework.marketplace.exceptions import (
    Refusal,
    already_processed,
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.requester import shapes
from piecework.marketplace.requester.hits import own_hit
from piecework.marketplace.requester.shapes import requested_page
from piecework.marketplace.state import assignments, ledger, money, outside_market, settings
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
    return {
        "Assignment": shapes.shape_assignment(row),
        **({"HIT": shapes.shape_hit(hit)} if hit else {}),
    }


def list_assignments_for_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListAssignmentsForHIT: submitted assignments, oldest first."""
    hit = own_hit(transaction, requester, members["HITId"])
    wanted = requested_page(
        transaction, requester, members, operation="ListAssignmentsForHIT", width=2
    )
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
        "Assignments": [shapes.shape_assignment(row) for row in rows],
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


def get_file_upload_url(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """GetFileUploadURL: always refused, since no question has a FileUploadAnswer."""
    row = own_assignment(transaction, requester, members["AssignmentId"])
    raise request_error(
        "InvalidParameterValue",
        f"The question {members['QuestionIdentifier'][:60]!a} of assignment "
        f"{row['assignment_id']} is not a FileUploadAnswer question.",
    )


WINDOW_DAYS = 183
"""Six months after the submission."""
_OPERATION = "SendBonus"


def send_bonus(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """SendBonus: pay the worker of a submitted assignment a bonus."""
    token = members.get("UniqueRequestToken")
    if token and settings.earlier_subject(
        transaction, requester, operation=_OPERATION, token=token
    ):
        raise already_processed(token)
    row = own_assignment(transaction, requester, members["AssignmentId"])
    if row["submitted_ms"] is None or row["worker_id"] != members["WorkerId"]:
        raise does_not_exist("Assignment", members["AssignmentId"])
    if transaction.now_ms > row["submitted_ms"] + WINDOW_DAYS * DAY:
        raise request_error(
            "InvalidAssignmentState",
            f"Assignment {row['assignment_id']} was submitted more than six months "
            "ago; no bonus can be paid for it.",
        )
    cents = bonus_cents(members["BonusAmount"])
    prices = outside_market.prices_of_worker(transaction, row["worker"])
    fee_cents = prices.bonus_fee_cents(cents)
    ledger.pay(
        transaction,
        ledger.available(requester),
        credited={ledger.worker_account(row["worker"]): cents, ledger.FEES: fee_cents},
        reason="bonus",
        subject=row["assignment_id"],
    )
    transaction.execute(
        "INSERT INTO bonuses (assignment, hit, worker, cents, fee_cents, reason, "
        "paid_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
        row["id"],
        row["hit"],
        row["worker"],
        cents,
        fee_cents,
        members["Reason"],
        transaction.now_ms,
    )
    if token:
        settings.remember_token(
            transaction, requester, operation=_OPERATION, token=token, subject=row["assignment_id"]
        )
    return {}


def bonus_cents(amount: str) -> int:
    """Return the cents of a BonusAmount.

    Raises:
        Refusal: it is below one cent, or too large.
    """
    cents = money.cents(amount)
    if cents < 1:
        raise invalid_parameters("BonusAmount must be at least 0.01.")
    return cents


def list_bonus_payments(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListBonusPayments: of one HIT or of one assignment, oldest first."""
    wanted = requested_page(transaction, requester, members, operation="ListBonusPayments")
    if ("HITId" in members) == ("AssignmentId" in members):
        raise invalid_parameters("Give exactly one of HITId and AssignmentId.")
    if "AssignmentId" in members:
        assignment = own_assignment(transaction, requester, members["AssignmentId"])
        condition, key = "bonuses.assignment = ?", assignment["id"]
    else:
        condition, key = ("bonuses.hit = ?", _row_of_hit(transaction, requester, members["HITId"]))
    rows = transaction.all(
        "SELECT bonuses.*, workers.worker_id, assignments.assignment_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        "JOIN assignments ON assignments.id = bonuses.assignment "
        f"WHERE {condition} AND bonuses.id > ? ORDER BY bonuses.id LIMIT ?",
        key,
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "BonusPayments": [shapes.shape_bonus_payment(row) for row in rows],
    }


def _row_of_hit(transaction: Transaction, requester: int, hit_id: str) -> int:
    row = transaction.first_row(
        "SELECT id FROM hits WHERE hit_id = ? AND requester = ?", hit_id, requester
    )
    if row is None:
        raise does_not_exist("HIT", hit_id)
    return int(row["id"])


def get_account_balance(
    transaction: Transaction, requester: int, _members: Members
) -> dict[str, Any]:
    """GetAccountBalance: what may be spent, and what HITs may still cost."""
    return {
        "AvailableBalance": money.currency(ledger.spendable(transaction, requester)),
        "OnHoldBalance": money.currency(ledger.balance(transaction, ledger.held(requester))),
    }
