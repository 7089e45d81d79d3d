"""What workers and requesters write to each other.

Messages to workers are an inbox of the marketplace, read on the worker site. Workers report
problems with HITs, and object to rejections and to qualifications that they lost or were
refused: untrusted text for the requester.
"""

import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.qualification_types import SHOWN
from piecework.marketplace.state.transaction import Transaction

_HAS_INBOX = (
    "SELECT 1 FROM workers WHERE id = ? AND (comes_by_visits = 0 OR EXISTS (SELECT 1 "
    "FROM participants JOIN outside_markets ON outside_markets.name = participants.market "
    "WHERE participants.worker = workers.id AND has_bridge))"
)


def send_message(
    transaction: Transaction, *, requester: int, worker: int, subject: str, text: str
) -> bool:
    """Put a message into a worker's inbox, here or through a bridge; return whether they have one.

    A panel's people have none, so nothing is stored for them.
    """
    if not transaction.has(_HAS_INBOX, worker):
        return False
    transaction.insert(
        "messages",
        worker=worker,
        requester=requester,
        subject=subject,
        text=text,
        sent_ms=transaction.now_ms,
    )
    return True


OVERRIDE_DAYS = 30
"""How many days after the submission a requester can take a rejection back."""

MOST_OBJECTIONS_A_DAY = 5
"""The most objections of a worker about a qualification in 24 hours."""

_LOST = (
    "SELECT qualification_types.id, qualification_type_id, qualification_types.name, "
    "requesters.name AS requester_name, reason, lost_ms, was_held FROM ("
    "SELECT qualification_type, reason, revoked_ms AS lost_ms, 1 AS was_held "
    "FROM qualifications WHERE worker = ?1 AND status = 'Revoked' "
    "UNION ALL SELECT qualification_type, reason, requested_ms, 0 "
    "FROM qualification_requests WHERE id IN (SELECT max(id) "
    "FROM qualification_requests WHERE worker = ?1 GROUP BY qualification_type) "
    "AND status = 'Rejected' AND NOT EXISTS (SELECT 1 FROM qualifications "
    "WHERE qualifications.worker = ?1 AND qualifications.qualification_type "
    "= qualification_requests.qualification_type)"
    ") JOIN qualification_types ON qualification_types.id = qualification_type "
    "JOIN requesters ON requesters.id = requester WHERE deleted_ms IS NULL "
    f"AND {SHOWN} "
    "AND (?2 = '' OR qualification_type_id = ?2) ORDER BY lost_ms DESC LIMIT ?3"
)


def list_lost_qualifications(
    transaction: Transaction, worker: sqlite3.Row, type_id: str = "", *, most: int = 50
) -> list[sqlite3.Row]:
    """Return the qualifications that a worker lost or was refused, latest first.

    Each row has the requester's `reason`. `was_held` is 0 for a refused request.
    """
    return transaction.all(_LOST, worker["id"], type_id, most)


def objections_of_worker(
    transaction: Transaction, worker: sqlite3.Row, qualification_type: int
) -> list[sqlite3.Row]:
    """Return what a worker wrote about a qualification, oldest first."""
    return transaction.all(
        "SELECT text, made_ms FROM objections "
        "WHERE worker = ? AND qualification_type = ? ORDER BY id",
        worker["id"],
        qualification_type,
    )


def keep_objection(transaction: Transaction, worker: sqlite3.Row, type_id: str, text: str) -> None:
    """Store what a worker writes about a qualification that they lost.

    Raises:
        Refusal: the worker did not lose it (404); the text is empty or too long (422),
            or there were too many today (429).
    """
    rows = list_lost_qualifications(transaction, worker, type_id, most=1) if type_id else []
    if not rows:
        raise Refusal(
            "NothingLost",
            "No requester took this qualification from you or refused it.",
            status=404,
        )
    words = checked_text(text)
    lately = transaction.value(
        "SELECT count(*) FROM objections WHERE worker = ? AND qualification_type = ? "
        "AND made_ms > ?",
        worker["id"],
        rows[0]["id"],
        transaction.now_ms - DAY,
    )
    if lately >= MOST_OBJECTIONS_A_DAY:
        raise Refusal(
            "TooMany",
            "You have written about this often today. All is saved. Go on tomorrow.",
            status=429,
        )
    transaction.insert(
        "objections",
        qualification_type=rows[0]["id"],
        worker=worker["id"],
        reason=rows[0]["reason"],
        text=words,
        made_ms=transaction.now_ms,
    )


def keep_objection_to_rejection(
    transaction: Transaction, worker: sqlite3.Row, assignment: sqlite3.Row, text: str
) -> None:
    """Store what a worker writes about the rejection of an assignment, once.

    Raises:
        Refusal: it is not rejected, too old, or has an objection (409); the text is empty
            or too long (422), or there were too many today (429).
    """
    if assignment["status"] != "Rejected":
        raise Refusal("NotRejected", "This HIT is not rejected.", status=409)
    if transaction.now_ms > assignment["submitted_ms"] + OVERRIDE_DAYS * DAY:
        raise Refusal("TooLate", "It is too late: this rejection stands.", status=409)
    words = checked_text(text)
    if transaction.has("SELECT 1 FROM objections WHERE assignment = ?", assignment["id"]):
        raise Refusal(
            "ObjectedAlready",
            "You have already written about this rejection, and it is saved.",
            status=409,
        )
    lately = transaction.value(
        "SELECT count(*) FROM objections WHERE worker = ? AND assignment IS NOT NULL "
        "AND made_ms > ?",
        worker["id"],
        transaction.now_ms - DAY,
    )
    _check_number(lately)
    transaction.insert(
        "objections",
        assignment=assignment["id"],
        worker=worker["id"],
        reason=assignment["feedback"],
        text=words,
        made_ms=transaction.now_ms,
    )


def objections_to_rejections(transaction: Transaction, *, requester: str = "") -> list[sqlite3.Row]:
    """Return what workers wrote about rejections that still stand, oldest first."""
    return transaction.all(
        "SELECT objections.text, objections.reason, made_ms, requesters.name AS requester, "
        "hit_types.title, hits.hit_id, assignment_id, worker_id FROM objections "
        "JOIN assignments ON assignments.id = objections.assignment "
        "JOIN workers ON workers.id = objections.worker "
        "JOIN hits ON hits.id = assignments.hit "
        "JOIN hit_types ON hit_types.id = hits.hit_type "
        "JOIN requesters ON requesters.id = hits.requester "
        "WHERE assignments.status = 'Rejected' AND (?1 = '' OR requesters.name = ?1) "
        "ORDER BY objections.id",
        requester,
    )


def list_objections(transaction: Transaction, *, requester: str = "") -> list[sqlite3.Row]:
    """Return what workers wrote about qualifications, newest first."""
    return transaction.all(
        "SELECT objections.text, objections.reason, made_ms, "
        "requesters.name AS requester, qualification_types.name, worker_id "
        "FROM objections JOIN workers ON workers.id = objections.worker "
        "JOIN qualification_types "
        "ON qualification_types.id = objections.qualification_type "
        "JOIN requesters ON requesters.id = qualification_types.requester "
        "WHERE ?1 = '' OR requesters.name = ?1 ORDER BY objections.id DESC",
        requester,
    )


LONGEST_TEXT = 2000
"""The most characters of a report."""

MOST_PROBLEMS_A_DAY = 20
"""The most reports of a worker in 24 hours, so that they cannot fill the disk."""


def checked_text(text: str) -> str:
    """Return what a worker wrote, without spaces around it.

    A line break counts as one character, as in the browser, which sends two.

    Raises:
        Refusal: it is empty or too long (422).
    """
    words = text.replace("\r\n", "\n").strip()
    if not 1 <= len(words) <= LONGEST_TEXT:
        raise Refusal("BadForm", f"Please write 1 to {LONGEST_TEXT:,} characters.", status=422)
    return words


def _check_number(sent: int) -> None:
    """Refuse another text of a worker who has sent the most of a day (429)."""
    if sent >= MOST_PROBLEMS_A_DAY:
        raise Refusal(
            "TooMany",
            "You have sent many reports today, and all are saved. Go on tomorrow.",
            status=429,
        )


def keep_problem(
    transaction: Transaction, worker: sqlite3.Row, assignment: sqlite3.Row, text: str
) -> None:
    """Store a worker's report about the HIT of an assignment.

    Raises:
        Refusal: the report is empty or too long (422), or there were too many today
            (429).
    """
    words = checked_text(text)
    reports = "SELECT count(*) FROM reported_problems WHERE worker = ? AND reported_ms > ?"
    _check_number(transaction.value(reports, worker["id"], transaction.now_ms - DAY))
    transaction.insert(
        "reported_problems",
        assignment=assignment["id"],
        worker=worker["id"],
        text=words,
        reported_ms=transaction.now_ms,
    )


def list_problems(transaction: Transaction, *, requester: str = "") -> list[sqlite3.Row]:
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
