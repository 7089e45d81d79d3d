"""The life of a HIT: its counters determine its state and its held money.

Code that changes a counter, the expiry or the number of assignments calls `settle`,
which derives the rest. So the two laws are in one place:

- held = (reward + fee) x (accepted + submitted + free slots, unless expired);
- Assignable while a slot is free and time is left, else Unassignable while a
  worker works, else Reviewable (or Reviewing, if the requester put it aside).
"""

import sqlite3
from typing import Any

from piecework.marketplace.exceptions import request_error
from piecework.marketplace.state import events, ledger, money
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

KEPT_DAYS = 120
"""A HIT is disposed of this long after its last change."""

FINISHED = ("Reviewable", "Reviewing")

COLUMNS = (
    "hits.id, hits.hit_id, hits.requester, hits.hit_type, hits.status, "
    "hits.max_assignments, hits.accepted, hits.submitted, hits.approved, "
    "hits.rejected, hits.reward_cents, hits.fee_cents, hits.held_cents, "
    "hits.created_ms, hits.expires_ms, hits.is_expired, hits.assignment_policy, "
    "hits.hit_policy"
)
"""The columns that decide about a HIT. Its question is in a separate table, because
every step of every worker would read and write its tens of kilobytes several times."""


def free_slots(hit: sqlite3.Row) -> int:
    """Count assignments that no worker has, even if they are no longer offered."""
    taken = hit["accepted"] + hit["submitted"] + hit["approved"] + hit["rejected"]
    return int(hit["max_assignments"]) - int(taken)


def find(transaction: Transaction, hit: int) -> sqlite3.Row:
    """Return the HIT (`COLUMNS`) with an existing row id."""
    row = transaction.first_row(f"SELECT {COLUMNS} FROM hits WHERE id = ?", hit)
    if row is None:
        raise LookupError(f"no HIT has the row id {hit}")
    return row


def create(transaction: Transaction, hit_type: sqlite3.Row, **columns: object) -> int:
    """Insert a HIT as it begins, Assignable and with its money held; return its row id.

    Args:
        transaction: the open one.
        hit_type: a row of `hit_types`.
        columns: `hit_id`, `requester`, `max_assignments`, `reward_cents`, `fee_cents`,
            `expires_ms` (not before now) and what does not decide.

    Raises:
        Refusal: `InsufficientFunds`, if the account cannot cover the hold.
    """
    hit: dict[str, Any] = {**columns, "hit_type": hit_type["id"], "is_expired": 0}
    needed = (hit["reward_cents"] + hit["fee_cents"]) * hit["max_assignments"]
    _hold(transaction, hit, needed)
    transaction.execute(_ONE_MORE, 1, hit_type["id"])
    row_id = transaction.insert(
        "hits", **hit, status="Assignable", held_cents=needed, created_ms=transaction.now_ms
    )
    events.record(transaction, "HITCreated", hit)
    return row_id


def count(transaction: Transaction, hit: int, **changes: int) -> None:
    """Add to counters (`accepted=1`, `submitted=-1`, ...), then settle."""
    terms = ", ".join(f"{counter} = {counter} + :{counter}" for counter in changes)
    transaction.conn.execute(f"UPDATE hits SET {terms} WHERE id = :hit", {**changes, "hit": hit})
    settle(transaction, hit)


def settle(transaction: Transaction, hit: int, *, at_ms: int | None = None) -> None:
    """Bring state, hold and due times in line with counters and expiry.

    Args:
        transaction: the open one.
        hit: the row id.
        at_ms: when the change happened, if it was before now.

    Raises:
        Refusal: `InsufficientFunds`, if the account cannot cover the hold.
    """
    row = find(transaction, hit)
    if row["status"] == "Disposed":
        return
    status = _status(row)
    _move_hold(transaction, row)
    if status != row["status"]:
        _enter_state(transaction, row, status, at_ms=transaction.now_ms if at_ms is None else at_ms)


def check_increase(hit: sqlite3.Row, most: int) -> None:
    """Check that a HIT may have `most` assignments.

    A HIT created with fewer than ten pays the lower fee, so it can never have ten.

    Raises:
        Refusal: `InvalidMaximumAssignmentsIncrease`.
    """
    if hit["max_assignments"] < money.MANY_ASSIGNMENTS <= most:
        raise request_error(
            "InvalidMaximumAssignmentsIncrease",
            "A HIT created with fewer than 10 assignments can have at most 9 "
            f"(HIT {hit['hit_id']} has {hit['max_assignments']}).",
        )


def dispose(transaction: Transaction, hit: int, *, at_ms: int | None = None) -> None:
    """Remove a finished HIT without held money permanently from the API."""
    events.record(transaction, "HITDisposed", find(transaction, hit), at_ms=at_ms)
    transaction.execute(
        "UPDATE hits SET status = 'Disposed', dispose_ms = NULL, is_expired = 1, "
        "review_ms = NULL WHERE id = ?",
        hit,
    )


def _status(row: sqlite3.Row) -> str:
    if free_slots(row) > 0 and not row["is_expired"]:
        return "Assignable"
    if row["accepted"] > 0:
        return "Unassignable"
    return "Reviewing" if row["status"] == "Reviewing" else "Reviewable"


def _move_hold(transaction: Transaction, row: sqlite3.Row) -> None:
    slots = row["accepted"] + row["submitted"]
    if not row["is_expired"]:
        slots += free_slots(row)
    needed = (row["reward_cents"] + row["fee_cents"]) * slots
    missing = needed - row["held_cents"]
    requester = row["requester"]
    if missing > 0:
        _hold(transaction, row, missing)
    elif missing < 0:
        ledger.pay(
            transaction,
            ledger.held(requester),
            credited={ledger.available(requester): -missing},
            reason="release",
            subject=row["hit_id"],
        )
    if missing:
        transaction.execute("UPDATE hits SET held_cents = ? WHERE id = ?", needed, row["id"])


def _hold(transaction: Transaction, hit: events.Hit, cents: int) -> None:
    ledger.pay(
        transaction,
        ledger.available(hit["requester"]),
        credited={ledger.held(hit["requester"]): cents},
        reason="hold",
        subject=hit["hit_id"],
    )


_ONE_MORE = "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?"


def _enter_state(transaction: Transaction, row: sqlite3.Row, status: str, *, at_ms: int) -> None:
    change = (status == "Assignable") - (row["status"] == "Assignable")
    if change:
        transaction.execute(_ONE_MORE, change, row["hit_type"])
    dispose_ms = at_ms + KEPT_DAYS * DAY if status in FINISHED else None
    transaction.execute(
        "UPDATE hits SET status = ?, dispose_ms = ?, review_ms = ? WHERE id = ?",
        status,
        dispose_ms,
        at_ms if status == "Reviewable" and row["hit_policy"] else None,
        row["id"],
    )
    if status == "Reviewable":
        events.record(transaction, "HITReviewable", row, at_ms=at_ms)
