"""The life of a HIT: its counters decide its state and what is held for it.

Whoever changes a counter, the expiry or the number of assignments calls `settle`, which
works out everything that follows. So the two laws live in one place:

- held = (reward + fee) x (accepted + submitted + free slots, unless expired);
- Assignable while a slot is free and time is left, else Unassignable while somebody
  works, else Reviewable (or Reviewing, if the requester put it aside).
"""

import sqlite3

from marketplace import books, events, money
from marketplace.clock import DAY
from marketplace.exceptions import request_error
from marketplace.turn import Turn

KEPT_DAYS = 120
"""A HIT is disposed of this long after there was nothing left to do."""

FINISHED = ("Reviewable", "Reviewing")


def free_slots(hit: sqlite3.Row) -> int:
    """Assignments that nobody has, whether or not they may still be accepted."""
    taken = hit["accepted"] + hit["submitted"] + hit["approved"] + hit["rejected"]
    return int(hit["max_assignments"]) - int(taken)


def find(turn: Turn, hit: int) -> sqlite3.Row:
    """The HIT of a row id that is known to exist."""
    row = turn.one("SELECT * FROM hits WHERE id = ?", hit)
    if row is None:
        raise LookupError(f"no HIT has the row id {hit}")
    return row


def count(turn: Turn, hit: int, **changes: int) -> sqlite3.Row:
    """Add to counters (`accepted=1`, `submitted=-1`, ...), then settle."""
    terms = ", ".join(f"{counter} = {counter} + :{counter}" for counter in changes)
    turn.conn.execute(
        f"UPDATE hits SET {terms} WHERE id = :hit", {**changes, "hit": hit}
    )
    return settle(turn, hit)


def settle(turn: Turn, hit: int, *, at_ms: int | None = None) -> sqlite3.Row:
    """Bring state, hold and due times in line with counters and expiry.

    Args:
        turn: the turn.
        hit: row id.
        at_ms: when the change happened, if it was before now.

    Raises:
        Refusal: `InsufficientFunds`, if more would have to be held than there is.
    """
    row = find(turn, hit)
    if row["status"] == "Disposed":
        return row
    status = _status(row)
    _move_hold(turn, row)
    if status != row["status"]:
        _enter_state(turn, row, status, at_ms=turn.now_ms if at_ms is None else at_ms)
    return find(turn, hit)


def check_increase(hit: sqlite3.Row, most: int) -> None:
    """Whether a HIT may come to have so many assignments.

    One made with fewer than ten pays the lower fee, so it can never have ten.

    Raises:
        Refusal: `InvalidMaximumAssignmentsIncrease`.
    """
    if hit["max_assignments"] < money.MANY_ASSIGNMENTS <= most:
        raise request_error(
            "InvalidMaximumAssignmentsIncrease",
            "A HIT created with fewer than 10 assignments can have at most 9 "
            f"(HIT {hit['hit_id']} has {hit['max_assignments']}).",
        )


def dispose(turn: Turn, hit: int, *, at_ms: int | None = None) -> None:
    """Take a finished HIT, for which nothing is held, out of the API for good."""
    events.record(turn, "HITDisposed", find(turn, hit), at_ms=at_ms)
    turn.run(
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


def _move_hold(turn: Turn, row: sqlite3.Row) -> None:
    slots = row["accepted"] + row["submitted"]
    if not row["is_expired"]:
        slots += free_slots(row)
    needed = (row["reward_cents"] + row["fee_cents"]) * slots
    missing = needed - row["held_cents"]
    requester = row["requester"]
    if missing > 0:
        books.pay(
            turn,
            books.available(requester),
            legs={books.held(requester): missing},
            reason="hold",
            subject=row["hit_id"],
        )
    elif missing < 0:
        books.pay(
            turn,
            books.held(requester),
            legs={books.available(requester): -missing},
            reason="release",
            subject=row["hit_id"],
        )
    if missing:
        turn.run("UPDATE hits SET held_cents = ? WHERE id = ?", needed, row["id"])


def _enter_state(turn: Turn, row: sqlite3.Row, status: str, *, at_ms: int) -> None:
    change = (status == "Assignable") - (row["status"] == "Assignable")
    if change:
        turn.run(
            "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?",
            change,
            row["hit_type"],
        )
    dispose_ms = at_ms + KEPT_DAYS * DAY if status in FINISHED else None
    turn.run(
        "UPDATE hits SET status = ?, dispose_ms = ?, review_ms = ? WHERE id = ?",
        status,
        dispose_ms,
        at_ms if status == "Reviewable" and row["hit_policy"] else None,
        row["id"],
    )
    if status == "Reviewable":
        events.record(turn, "HITReviewable", row, at_ms=at_ms)
