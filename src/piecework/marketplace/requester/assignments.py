"""Assignments: reads what workers sent, approves or rejects it, and pays bonuses.

Files in answers are refused, since the service retired them.
"""

import sqlite3
import unicodedata

from piecework.marketplace.exceptions import (
    Refusal,
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.requester import shapes
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.requester.hits import find_hit, own_hit
from piecework.marketplace.state import assignments, ledger, money, outside_crowd
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.messages import OVERRIDE_DAYS
from piecework.marketplace.state.transaction import Transaction

_LONGEST_FEEDBACK = 1024
_PAGE = 100
_SHOWN = ("Submitted", "Approved", "Rejected")


def get_assignment(call: Call) -> Members:
    """GetAssignment: a submitted assignment and its HIT."""
    row = own_assignment(call)
    if row["status"] not in _SHOWN:
        raise wrong_state(
            "Assignment", row["assignment_id"], state="null", allowed="Reviewable,Approved,Rejected"
        )
    hit = call.transaction.first_row(shapes.SELECT_HITS + "WHERE hits.id = ?", row["hit"])
    return {
        "Assignment": shapes.shape_assignment(row),
        **({"HIT": shapes.shape_hit(hit)} if hit else {}),
    }


def list_assignments_for_hit(call: Call) -> Members:
    """ListAssignmentsForHIT: submitted assignments, oldest first."""
    hit = own_hit(call)
    page = call.page(width=2)
    statuses = call.members.get("AssignmentStatuses") or _SHOWN
    places = ", ".join("?" for _ in statuses)
    rows = call.transaction.all(
        f"{shapes.SELECT_ASSIGNMENTS} WHERE assignments.hit = ? "
        "AND (assignments.submitted_ms, assignments.id) > (?, ?) "
        f"AND assignments.status IN ({places}) "
        "ORDER BY assignments.submitted_ms, assignments.id LIMIT ?",
        hit["id"],
        *(page.after or (-1, 0)),
        *statuses,
        page.size,
    )
    return {
        **page.answer(rows, key=("submitted_ms", "id")),
        "Assignments": [shapes.shape_assignment(row) for row in rows],
    }


def approve_assignment(call: Call) -> Members:
    """ApproveAssignment: pay for it; OverrideRejection allows a rejected one too."""
    feedback = _feedback(call.members)
    row = own_assignment(call)
    if row["status"] == "Rejected" and call.members.get("OverrideRejection", False):
        _check_override(call.transaction, row)
        assignments.approve_rejected(call.transaction, row, feedback=feedback)
        return {}
    _check_submitted(row)
    assignments.approve(call.transaction, row, at_ms=call.transaction.now_ms, feedback=feedback)
    return {}


def reject_assignment(call: Call) -> Members:
    """RejectAssignment: reject it, with a reason that the worker reads."""
    feedback = _feedback(call.members)
    row = own_assignment(call)
    _check_submitted(row)
    assignments.reject(call.transaction, row, feedback=feedback)
    return {}


def list_objections(call: Call, asked: Members, reply: Members) -> None:
    """Add what workers wrote about rejections that stand, by assignment, a page at most."""
    rows = call.transaction.all(
        "SELECT assignment_id, text FROM objections "
        "JOIN assignments ON assignments.id = objections.assignment "
        "JOIN hits ON hits.id = assignments.hit "
        "WHERE hits.requester = ? AND assignments.status = 'Rejected' AND assignment_id > ? "
        "ORDER BY assignment_id LIMIT ?",
        call.requester,
        asked["After"],
        _PAGE,
    )
    reply["PieceworkObjections"] = [
        {"AssignmentId": row["assignment_id"], "Text": row["text"]} for row in rows
    ]


def own_assignment(call: Call) -> sqlite3.Row:
    """Return the assignment of one of the requester's HITs that a call names, in any state.

    Raises: Refusal: the assignment is unknown, or another requester's.
    """
    assignment_id = call.members["AssignmentId"]
    return call.row(
        "Assignment",
        assignment_id,
        f"{shapes.SELECT_ASSIGNMENTS} WHERE assignments.assignment_id = ? AND hits.requester = ?",
        assignment_id,
        call.requester,
    )


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
    outside_crowd.check_payable(transaction, row["worker"])


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


def get_file_upload_url(call: Call) -> Members:
    """GetFileUploadURL: always refused, since no question has a FileUploadAnswer."""
    row = own_assignment(call)
    raise request_error(
        "InvalidParameterValue",
        f"The question {call.members['QuestionIdentifier'][:60]!a} of assignment "
        f"{row['assignment_id']} is not a FileUploadAnswer question.",
    )


WINDOW_DAYS = 183
"""Six months after the submission."""


def send_bonus(call: Call) -> Members:
    """SendBonus: pay the worker of a submitted assignment a bonus."""
    call.refuse_repeat(call.members.get("UniqueRequestToken"))
    row = own_assignment(call)
    if row["submitted_ms"] is None or row["worker_id"] != call.members["WorkerId"]:
        raise does_not_exist("Assignment", call.members["AssignmentId"])
    if call.transaction.now_ms > row["submitted_ms"] + WINDOW_DAYS * DAY:
        raise request_error(
            "InvalidAssignmentState",
            f"Assignment {row['assignment_id']} was submitted more than six months "
            "ago; no bonus can be paid for it.",
        )
    pay_bonus(
        call,
        row["worker"],
        reason="bonus",
        subject=row["assignment_id"],
        assignment=row["id"],
        hit=row["hit"],
    )
    call.remember(call.members.get("UniqueRequestToken"), row["assignment_id"])
    return {}


def pay_bonus(call: Call, worker: int, *, reason: str, subject: str, **columns: object) -> None:
    """Pay a call's BonusAmount and its fee, and store the bonus.

    Args:
        call: the call, with a BonusAmount and a Reason.
        worker: the row id of the worker who is paid.
        reason: what the transfer is, in the ledger.
        subject: what it is for, in the ledger.
        columns: what the bonus belongs to.

    Raises:
        Refusal: the amount is below one cent or too large, funds are insufficient, or no
            list can name the worker.
    """
    transaction = call.transaction
    outside_crowd.check_payable(transaction, worker)
    cents = money.cents(call.members["BonusAmount"])
    if cents < 1:
        raise invalid_parameters("BonusAmount must be at least 0.01.")
    fee_cents = outside_crowd.prices_of_worker(transaction, worker).bonus_fee_cents(cents)
    ledger.pay(
        transaction,
        ledger.available(call.requester),
        credited={ledger.worker_account(worker): cents, ledger.FEES: fee_cents},
        reason=reason,
        subject=subject,
    )
    transaction.insert(
        "bonuses",
        **columns,
        worker=worker,
        cents=cents,
        fee_cents=fee_cents,
        reason=call.members["Reason"],
        paid_ms=transaction.now_ms,
    )


def list_bonus_payments(call: Call) -> Members:
    """ListBonusPayments: of one HIT or of one assignment, oldest first."""
    if ("HITId" in call.members) == ("AssignmentId" in call.members):
        raise invalid_parameters("Give exactly one of HITId and AssignmentId.")
    if "AssignmentId" in call.members:
        condition, key = "bonuses.assignment = ?", own_assignment(call)["id"]
    else:
        condition, key = "bonuses.hit = ?", find_hit(call, call.members["HITId"])["id"]
    return call.list(
        "BonusPayments",
        shapes.shape_bonus_payment,
        "bonuses",
        "SELECT bonuses.*, workers.worker_id, assignments.assignment_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        f"JOIN assignments ON assignments.id = bonuses.assignment WHERE {condition}",
        key,
    )


def get_account_balance(call: Call) -> Members:
    """GetAccountBalance: what may be spent, and what HITs may still cost."""
    return {
        "AvailableBalance": money.currency(ledger.spendable(call.transaction, call.requester)),
        "OnHoldBalance": money.currency(
            ledger.balance(call.transaction, ledger.held(call.requester))
        ),
    }
