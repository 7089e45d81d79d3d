"""What time does to a marketplace: expiry, abandonment, auto-approval, disposal.

Nothing runs in the background. Before each turn `catch_up` asks a few partial indexes
what has come due and does it, each thing as of the moment it was due; so a clock that
jumps a month leaves the same state as one that ticked through it.
"""

import sqlite3

from marketplace import assignments, events, hits
from marketplace.clock import DAY
from marketplace.reviewing import running
from marketplace.turn import Turn

_ABANDONED = "SELECT * FROM assignments WHERE status = 'Accepted' AND deadline_ms < ?"
_UNDECIDED = (
    "SELECT * FROM assignments WHERE status = 'Submitted' AND auto_approve_ms <= ?"
)
_LATE = (
    "UPDATE test_attempts SET status = 'Late', ended_ms = deadline_ms "
    "WHERE status = 'Open' AND deadline_ms < ?"
)
_EXPIRED = "SELECT * FROM hits WHERE is_expired = 0 AND expires_ms <= ?"
_DISPOSABLE = (
    "SELECT id, dispose_ms FROM hits WHERE dispose_ms IS NOT NULL AND dispose_ms <= ?"
)

TOKEN_LIFE = DAY
"""MTurk remembers request tokens for 24 hours."""


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
    "OR EXISTS (SELECT 1 FROM request_tokens WHERE made_ms <= ?2)"
)


def is_due(turn: Turn) -> bool:
    """Whether there is anything to catch up with; costs a look into a few indexes."""
    row = turn.one(_ANYTHING, turn.now_ms, turn.now_ms - TOKEN_LIFE)
    return row is not None and bool(row[0])


def catch_up(turn: Turn) -> None:
    """Do everything that has come due by now, in the order in which it came due.

    A worker's deadline may lie before or after the HIT's expiry; both orders leave the
    same HIT, but disposal counts from the last of them, so they are taken in order.
    """
    running.catch_up(turn)
    while _do_due(turn):
        # A review may have decided, extended or ended what else was due.
        continue
    turn.run(_LATE, turn.now_ms)
    for row in turn.all(_DISPOSABLE, turn.now_ms):
        hits.dispose(turn, row["id"], at_ms=row["dispose_ms"])
    turn.run("DELETE FROM request_tokens WHERE made_ms <= ?", turn.now_ms - TOKEN_LIFE)


def _do_due(turn: Turn) -> bool:
    """Do what is due up to the first review it brings; whether one came."""
    due = [
        *((row["deadline_ms"], 0, row) for row in turn.all(_ABANDONED, turn.now_ms)),
        *((row["expires_ms"], 1, row) for row in turn.all(_EXPIRED, turn.now_ms)),
        *(
            (row["auto_approve_ms"], 2, row)
            for row in turn.all(_UNDECIDED, turn.now_ms)
        ),
    ]
    for at_ms, kind, row in sorted(due, key=lambda event: (*event[:2], event[2]["id"])):
        _EVENTS[kind](turn, row, at_ms)
        if running.catch_up(turn):
            return True
    return False


def _abandon(turn: Turn, row: sqlite3.Row, at_ms: int) -> None:
    assignments.give_back(turn, row, status="Abandoned", at_ms=at_ms)


def _expire(turn: Turn, row: sqlite3.Row, at_ms: int) -> None:
    events.record(turn, "HITExpired", row, at_ms=at_ms)
    turn.run("UPDATE hits SET is_expired = 1 WHERE id = ?", row["id"])
    hits.settle(turn, row["id"], at_ms=at_ms)


def _auto_approve(turn: Turn, row: sqlite3.Row, at_ms: int) -> None:
    assignments.approve(turn, row, at_ms=at_ms, feedback="")


_EVENTS = (_abandon, _expire, _auto_approve)
