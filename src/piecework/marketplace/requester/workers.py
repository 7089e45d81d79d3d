"""Workers: blocks, and compensations for those who have no assignment.

A block is the hard kind, which hides all of a requester's HITs. A compensation is a bonus
without an assignment to attach it to. A requester pays it to people whom the requester's
own faults hurt: a page that broke, or a HIT that no worker could submit. It has a name of
the requester's choice. Each name is paid once and never forgotten, and the list of
compensations shows what was paid.
"""

import sqlite3
from typing import Any

from piecework.marketplace.exceptions import already_processed, invalid_parameters, request_error
from piecework.marketplace.requester.assignments import bonus_cents
from piecework.marketplace.requester.shapes import requested_page
from piecework.marketplace.state import accounts, ledger, money, outside_market
from piecework.marketplace.state.accounts import find_worker
from piecework.marketplace.state.transaction import Transaction

MOST_BLOCKS = 100_000

Members = dict[str, Any]


def create_worker_block(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateWorkerBlock: a repeat replaces the reason."""
    worker = accounts.find_worker(transaction, members["WorkerId"])
    count = transaction.first_row("SELECT count(*) FROM blocks WHERE requester = ?", requester)
    if count is not None and count[0] >= MOST_BLOCKS:
        raise request_error(
            "PermissionDenied", f"A requester may block at most {MOST_BLOCKS} workers."
        )
    transaction.execute(
        "INSERT INTO blocks (requester, worker, reason) VALUES (?, ?, ?) "
        "ON CONFLICT (requester, worker) DO UPDATE SET reason = excluded.reason",
        requester,
        worker["id"],
        members["Reason"],
    )
    return {}


def delete_worker_block(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """DeleteWorkerBlock: succeeds even if the worker is not blocked."""
    worker = accounts.find_worker(transaction, members["WorkerId"])
    transaction.execute(
        "DELETE FROM blocks WHERE requester = ? AND worker = ?", requester, worker["id"]
    )
    return {}


def list_worker_blocks(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListWorkerBlocks: oldest first."""
    wanted = requested_page(transaction, requester, members, operation="ListWorkerBlocks")
    rows = transaction.all(
        "SELECT blocks.id, blocks.reason, workers.worker_id FROM blocks "
        "JOIN workers ON workers.id = blocks.worker "
        "WHERE blocks.requester = ? AND blocks.id > ? ORDER BY blocks.id LIMIT ?",
        requester,
        wanted.after[0] if wanted.after else 0,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "WorkerBlocks": [{"WorkerId": row["worker_id"], "Reason": row["reason"]} for row in rows],
    }


_LONGEST_NAME = 400
_PAGE = 100


def check_compensation_name(member: str, value: object) -> str:
    """Return a compensation's name, or refuse it."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise invalid_parameters(f"{member} must be a text of 1 to {_LONGEST_NAME} characters.")
    return value


def check_compensation_page(member: str, value: object) -> Members:
    """Return which compensations are wanted, or refuse the value."""
    is_page = (
        isinstance(value, dict)
        and set(value) == {"Prefix", "After"}
        and all(isinstance(text, str) and len(text) <= _LONGEST_NAME for text in value.values())
    )
    if not is_page or not isinstance(value, dict):
        raise invalid_parameters(
            f"{member} must have Prefix and After, texts of at most {_LONGEST_NAME} characters."
        )
    return value


def send_compensation(
    transaction: Transaction, requester: int, members: Members, name: str
) -> Members:
    """Pay a compensation; the same name a second time is refused.

    Raises:
        Refusal: the worker is unknown, accepted no HIT of this requester, or cannot be
            paid by the market that sent them.
    """
    if "AssignmentId" in members:
        raise invalid_parameters("Give either AssignmentId or PieceworkCompensation, not both.")
    if transaction.first_row(
        "SELECT 1 FROM bonuses WHERE requester = ? AND name = ?", requester, name
    ):
        raise already_processed(members.get("UniqueRequestToken") or name)
    worker = find_worker(transaction, members["WorkerId"])
    visit = _paying_visit(transaction, requester, worker)
    cents = bonus_cents(members["BonusAmount"])
    prices = outside_market.prices_of_worker(transaction, worker["id"])
    fee_cents = prices.bonus_fee_cents(cents)
    ledger.pay(
        transaction,
        ledger.available(requester),
        credited={ledger.worker_account(worker["id"]): cents, ledger.FEES: fee_cents},
        reason="compensation",
        subject=name,
    )
    transaction.execute(
        "INSERT INTO bonuses (worker, requester, name, paid_visit, cents, fee_cents, "
        "reason, paid_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        worker["id"],
        requester,
        name,
        visit,
        cents,
        fee_cents,
        members["Reason"],
        transaction.now_ms,
    )
    return {}


def list_compensations(
    transaction: Transaction, requester: int, *, prefix: str, after: str
) -> list[Members]:
    """Return compensations whose names have a prefix, by name, a page at most."""
    rows = transaction.all(
        "SELECT bonuses.*, worker_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        "WHERE requester = ? AND substr(name, 1, length(?)) = ? AND name > ? "
        "ORDER BY name LIMIT ?",
        requester,
        prefix,
        prefix,
        after,
        _PAGE,
    )
    return [
        {
            "Name": row["name"],
            "WorkerId": row["worker_id"],
            "BonusAmount": money.currency(row["cents"]),
            "Reason": row["reason"],
        }
        for row in rows
    ]


def _paying_visit(transaction: Transaction, requester: int, worker: sqlite3.Row) -> int | None:
    """Return the visit through which another market pays; `None` for own workers.

    Raises:
        Refusal: the worker never worked for this requester.
    """
    if worker["comes_by_visits"]:
        row = transaction.first_row(
            "SELECT visits.id FROM visits JOIN studies ON studies.id = visits.study "
            "JOIN hit_types ON hit_types.id = studies.hit_type "
            "WHERE visits.worker = ? AND hit_types.requester = ? "
            "ORDER BY visits.id DESC LIMIT 1",
            worker["id"],
            requester,
        )
        if row is None:
            raise request_error(
                "NoSubmission",
                f"Worker {worker['worker_id']} has no submission in a study of this "
                "requester, so the market that sent this person cannot pay them.",
            )
        return int(row["id"])
    if not transaction.first_row(
        "SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ? AND hits.requester = ? LIMIT 1",
        worker["id"],
        requester,
    ):
        raise request_error(
            "NoHITAccepted", f"Worker {worker['worker_id']} has accepted no HIT of this requester."
        )
    return None
