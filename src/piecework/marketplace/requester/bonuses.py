"""Bonuses: money on top of a reward, for one assignment of a worker."""

from typing import Any

from piecework.marketplace.exceptions import (
    already_processed,
    does_not_exist,
    invalid_parameters,
    request_error,
)
from piecework.marketplace.requester import shapes
from piecework.marketplace.requester.judging import own_assignment
from piecework.marketplace.requester.paging import page
from piecework.marketplace.state import ledger, money, outside_market, request_tokens
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

WINDOW_DAYS = 183
"""Six months after the submission."""
_OPERATION = "SendBonus"

Members = dict[str, Any]


def send_bonus(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """SendBonus: pay the worker of a submitted assignment a bonus."""
    token = members.get("UniqueRequestToken")
    if token and request_tokens.earlier(transaction, requester, operation=_OPERATION, token=token):
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
        request_tokens.remember(
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
    wanted = page(transaction, requester, members, operation="ListBonusPayments")
    if ("HITId" in members) == ("AssignmentId" in members):
        raise invalid_parameters("Give exactly one of HITId and AssignmentId.")
    if "AssignmentId" in members:
        assignment = own_assignment(transaction, requester, members["AssignmentId"])
        condition, key = "bonuses.assignment = ?", assignment["id"]
    else:
        condition, key = ("bonuses.hit = ?", _hit(transaction, requester, members["HITId"]))
    rows = transaction.all(
        "SELECT bonuses.*, workers.worker_id, assignments.assignment_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        "JOIN assignments ON assignments.id = bonuses.assignment "
        f"WHERE {condition} AND bonuses.id > ? ORDER BY bonuses.id LIMIT ?",
        key,
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {**wanted.answer(rows), "BonusPayments": [shapes.bonus_payment(row) for row in rows]}


def _hit(transaction: Transaction, requester: int, hit_id: str) -> int:
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
