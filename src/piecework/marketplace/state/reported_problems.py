"""Problems that workers report about HITs: untrusted text for the requester."""

import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

LONGEST = 2000
"""The most characters of a report."""

MOST_A_DAY = 20
"""The most reports of a worker in 24 hours, so that they cannot fill the disk."""


def checked_text(text: str) -> str:
    """Return what a worker wrote, without spaces around it.

    Raises:
        Refusal: it is empty or too long (422).
    """
    words = text.strip()
    if not 1 <= len(words) <= LONGEST:
        raise Refusal("BadForm", f"Please write 1 to {LONGEST:,} characters.", status=422)
    return words


def keep(transaction: Transaction, worker: sqlite3.Row, assignment: sqlite3.Row, text: str) -> None:
    """Store a worker's report about the HIT of an assignment.

    Raises:
        Refusal: the report is empty or too long (422), or there were too many today
            (429).
    """
    words = checked_text(text)
    lately = transaction.first_row(
        "SELECT count(*) FROM reported_problems WHERE worker = ? AND reported_ms > ?",
        worker["id"],
        transaction.now_ms - DAY,
    )
    if lately is not None and lately[0] >= MOST_A_DAY:
        raise Refusal(
            "TooMany",
            "You have sent many reports today, and all are saved. Go on tomorrow.",
            status=429,
        )
    transaction.execute(
        "INSERT INTO reported_problems (assignment, worker, text, reported_ms) VALUES (?, ?, ?, ?)",
        assignment["id"],
        worker["id"],
        words,
        transaction.now_ms,
    )


def listed(transaction: Transaction, *, requester: str = "") -> list[sqlite3.Row]:
    """Return all reports or those about one requester's HITs, newest first."""
    return transaction.all(
        "SELECT reported_problems.text, reported_ms, requesters.name AS requester, "
        "hit_types.title, hits.hit_id, hits.annotation, assignment_id, "
        "workers.worker_id FROM reported_problems "
        "JOIN assignments ON assignments.id = reported_problems.assignment "
        "JOIN workers ON workers.id = reported_problems.worker "
        "JOIN hits ON hits.id = assignments.hit "
        "JOIN hit_types ON hit_types.id = hits.hit_type "
        "JOIN requesters ON requesters.id = hits.requester "
        "WHERE ?1 = '' OR requesters.name = ?1 ORDER BY reported_problems.id DESC",
        requester,
    )
