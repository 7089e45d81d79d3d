"""Applies the effects of time: expiry, abandonment, approval, disposal, deletion.

Before each transaction, `catch_up` looks up due work in a few partial indexes and does
each part as of its due time. So a clock that jumps a month leaves the same state as one
that ticked through it. It does a limited number at a time, so that 200,000 HITs that
expire together do not keep one call waiting. The rest is a backlog, and until it is
done, transactions first update the HITs they use (`settle`).
"""

import sqlite3

from piecework.marketplace.state import assignments, events, hits, reviewing, visits
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

_ABANDONED = (
    "SELECT *, deadline_ms AS at_ms FROM assignments WHERE status = 'Accepted' AND deadline_ms < ?"
)
_EXPIRED = (
    "SELECT id, hit_id, requester, hit_type, expires_ms AS at_ms FROM hits "
    "WHERE is_expired = 0 AND expires_ms <= ?"
)
_UNDECIDED = (
    "SELECT *, auto_approve_ms AS at_ms FROM assignments "
    "WHERE status = 'Submitted' AND auto_approve_ms <= ?"
)
_DISPOSABLE = "SELECT id, dispose_ms FROM hits WHERE dispose_ms IS NOT NULL AND dispose_ms <= ?"
_LATE = (
    "UPDATE test_attempts SET status = 'Late', ended_ms = deadline_ms WHERE id IN "
    "(SELECT id FROM test_attempts WHERE status = 'Open' AND deadline_ms < ?1 {} LIMIT ?2)"
)
_FORGET = (
    "DELETE FROM request_tokens WHERE (requester, operation, token) IN "
    "(SELECT requester, operation, token FROM request_tokens WHERE made_ms <= ? "
    "LIMIT ?)"
)


SLICE = 25
"""This much due work takes a few milliseconds."""

TOKEN_LIFE = DAY
"""MTurk remembers request tokens for 24 hours.

These are counted (`Transaction.counted_ms`): a clock that is set ahead must not let a
call be done twice.
"""

_EVENTS_IN_ONE = 8
"""This many events are deleted in the time of one other piece of work."""

_ANYTHING = (
    "SELECT EXISTS (SELECT 1 FROM assignments "
    "WHERE status = 'Accepted' AND deadline_ms < ?1) OR EXISTS "
    "(SELECT 1 FROM assignments "
    "WHERE status = 'Submitted' AND auto_approve_ms <= ?1) OR EXISTS "
    "(SELECT 1 FROM assignments WHERE review_ms IS NOT NULL) OR EXISTS "
    "(SELECT 1 FROM hits WHERE is_expired = 0 AND expires_ms <= ?1) OR EXISTS "
    "(SELECT 1 FROM hits WHERE review_ms IS NOT NULL) OR EXISTS "
    "(SELECT 1 FROM hits WHERE dispose_ms IS NOT NULL AND dispose_ms <= ?1) OR EXISTS "
    "(SELECT 1 FROM test_attempts WHERE status = 'Open' AND deadline_ms < ?1) "
    "OR EXISTS (SELECT 1 FROM request_tokens WHERE made_ms <= ?2) "
    f"OR EXISTS (SELECT 1 FROM events WHERE {events.IS_OVER})"
)


def is_due(transaction: Transaction) -> bool:
    """Return whether work is due, at the cost of a few index lookups."""
    due_ms = transaction.due_ms
    return bool(transaction.value(_ANYTHING, due_ms, transaction.counted_ms - TOKEN_LIFE))


def catch_up(transaction: Transaction, *, most: int = SLICE) -> bool:
    """Do due work in the order of its due times.

    A worker's deadline may be before or after the HIT's expiry. Both orders leave the
    same HIT, but disposal counts from the later one, so they are done in order.

    Args:
        transaction: the open one.
        most: the most pieces of work to do.

    Returns:
        Whether work is left.
    """
    reviewing.run_due_reviews(transaction)
    left = most
    while left and (done := _do_due(transaction, most=left)):
        # A review may have changed the other due work.
        left -= done
    if left:
        transaction.execute(_LATE.format(""), transaction.due_ms, most)
        _dispose(transaction, "ORDER BY dispose_ms LIMIT ?", left)
        transaction.execute(_FORGET, transaction.counted_ms - TOKEN_LIFE, most)
        events.forget(transaction, most=most * _EVENTS_IN_ONE)
    return is_due(transaction)


def settle(transaction: Transaction, hit: int) -> None:
    """Update one HIT if there is a backlog, before a call that names it.

    Args:
        transaction: the open one.
        hit: row id.
    """
    if not transaction.has_backlog:
        return
    reviewing.run_due_reviews(transaction)
    while _do_due(transaction, most=SLICE, hit=hit):
        continue
    _dispose(transaction, "AND id = ?", hit)


def settle_tests(transaction: Transaction, worker: sqlite3.Row) -> None:
    """Update a worker's tests if there is a backlog, before a page that is about them."""
    if transaction.has_backlog:
        of_worker = _LATE.format("AND worker = ?3")
        transaction.execute(of_worker, transaction.due_ms, SLICE, worker["id"])


def settle_named(
    transaction: Transaction, *, hit_id: object = None, assignment_id: object = None
) -> None:
    """Update the HIT with one of these ids, if it exists."""
    if not transaction.has_backlog:
        return
    for query, key in (
        ("SELECT id FROM hits WHERE hit_id = ?", hit_id),
        ("SELECT hit FROM assignments WHERE assignment_id = ?", assignment_id),
    ):
        hit = transaction.value(query, key) if isinstance(key, str) else None
        if hit is not None:
            settle(transaction, hit)


def _do_due(transaction: Transaction, *, most: int, hit: int | None = None) -> int:
    """Do due work, of one HIT or all, up to the first review; return how much."""
    due = sorted(
        (
            (row["at_ms"], kind, row["id"], row)
            for kind, (query, key, _) in enumerate(_EVENTS)
            for row in _rows(transaction, query, None if hit is None else (key, hit), most)
        ),
        key=lambda event: event[:3],
    )[:most]
    for done, (at_ms, kind, _, row) in enumerate(due, start=1):
        _EVENTS[kind][2](transaction, row, at_ms)
        if reviewing.run_due_reviews(transaction):
            return done
    return len(due)


def _rows(
    transaction: Transaction, query: str, only: tuple[str, int] | None, most: int
) -> list[sqlite3.Row]:
    if only is None:
        return transaction.all(f"{query} ORDER BY at_ms, id LIMIT ?", transaction.due_ms, most)
    column, hit = only
    return transaction.all(
        f"{query} AND {column} = ? ORDER BY at_ms, id LIMIT ?", transaction.due_ms, hit, most
    )


def _dispose(transaction: Transaction, which: str, value: int) -> None:
    for row in transaction.all(f"{_DISPOSABLE} {which}", transaction.due_ms, value):
        hits.dispose(transaction, row["id"], at_ms=row["dispose_ms"])


def _abandon(transaction: Transaction, row: sqlite3.Row, at_ms: int) -> None:
    if row["visit"] is not None:
        visits.close_visit(transaction, row["visit"], stage="Late", at_ms=at_ms)
        return
    assignments.give_back(transaction, row, status="Abandoned", at_ms=at_ms)


def _expire(transaction: Transaction, row: sqlite3.Row, at_ms: int) -> None:
    events.record(transaction, "HITExpired", row, at_ms=at_ms)
    transaction.execute("UPDATE hits SET is_expired = 1 WHERE id = ?", row["id"])
    hits.settle(transaction, row["id"], at_ms=at_ms)


def _auto_approve(transaction: Transaction, row: sqlite3.Row, at_ms: int) -> None:
    assignments.approve(transaction, row, at_ms=at_ms, feedback="")


_EVENTS = (
    (_ABANDONED, "hit", _abandon),
    (_EXPIRED, "id", _expire),
    (_UNDECIDED, "hit", _auto_approve),
)
"""Queries for due work, with the column of its HIT and the action."""
