"""Visits: a participant's go at several HITs, which are taken and sent in together.

When a participant arrives, the HITs of his visit are reserved, so that what he begins
he can finish; each is an accepted assignment. What he answers is kept, and sent in with
the last answer: a visit that is given up, or ends too late, leaves nothing that a
requester could use and nobody would pay. So a requester has all of a visit or none of
it, as the market that pays has one submission for it.
"""

import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.outside_crowd import Submission
from piecework.marketplace.state import accounts, apart, assignments, hits
from piecework.marketplace.state.clock import SECOND, to_ms
from piecework.marketplace.state.transaction import Transaction

_MARGIN_MS = 60 * SECOND
"""A visit ends so long before its submission, that its code can still be entered."""

_FREEST = (
    f"SELECT {hits.COLUMNS} FROM hits WHERE hit_type = ?1 AND status = 'Assignable' "
    "AND expires_ms > ?2 AND NOT EXISTS (SELECT 1 FROM assignments "
    "WHERE assignments.hit = hits.id AND assignments.worker = ?3 "
    "AND assignments.status NOT IN ('Returned', 'Abandoned')) "
    f"AND {apart.FREE.replace('?', '?3')} "
    "ORDER BY max_assignments - accepted - submitted - approved - rejected DESC, id "
    "LIMIT 1"
)


def participant(transaction: Transaction, participant_id: str) -> sqlite3.Row:
    """The worker who is this participant; let in if he is new.

    Requesters see nothing of his id: the worker's own is drawn as any other's.
    """
    worker = known_participant(transaction, participant_id)
    if worker is not None:
        return worker
    handle = transaction.id_generator.entity("participant", participant_id)
    # Where he lives and what he did before, the other market knows and has looked at.
    accounts.add_worker(transaction, accounts.NewWorker(handle=handle, country=""))
    transaction.execute(
        "UPDATE workers SET comes_by_visits = 1 WHERE handle = ?", handle
    )
    transaction.execute(
        "INSERT INTO participants (worker, participant_id) "
        "SELECT id, ? FROM workers WHERE handle = ?",
        participant_id,
        handle,
    )
    added = known_participant(transaction, participant_id)
    if added is None:
        raise LookupError("the participant was let in a moment ago")
    return added


def known_participant(
    transaction: Transaction, participant_id: str
) -> sqlite3.Row | None:
    """The worker who is this participant, if he has come before."""
    return transaction.one(
        "SELECT workers.* FROM workers "
        "JOIN participants ON participants.worker = workers.id "
        "WHERE participant_id = ?",
        participant_id,
    )


def of_submission(transaction: Transaction, submission_id: str) -> sqlite3.Row | None:
    """The visit that a submission is, if its participant has arrived."""
    return transaction.one(
        "SELECT * FROM visits WHERE submission_id = ?", submission_id
    )


def latest(transaction: Transaction, worker: sqlite3.Row) -> sqlite3.Row | None:
    """The worker's last visit, with its study's code and the type it tests for."""
    return transaction.one(
        "SELECT visits.*, studies.code, qualification_type_id FROM visits "
        "JOIN studies ON studies.id = visits.study LEFT JOIN qualification_types "
        "ON qualification_types.id = studies.qualification_type "
        "WHERE visits.worker = ? ORDER BY visits.id DESC LIMIT 1",
        worker["id"],
    )


def begin(
    transaction: Transaction,
    *,
    study: sqlite3.Row,
    worker: sqlite3.Row,
    submission_id: str,
    submission: Submission,
    may_work: bool,
) -> bool:
    """Begin a visit with all of its HITs reserved; or note that there is no work.

    Args:
        transaction: the open one.
        study: a row of `studies`.
        worker: who came.
        submission_id: at the other market.
        submission: what the other market says of it.
        may_work: whether requirements and blocks let him.

    Returns:
        Whether there is work; without, it is written down that he was turned away.
    """
    now_ms = transaction.now_ms
    started_ms = (
        now_ms if submission.started_at is None else to_ms(submission.started_at)
    )
    allowed_ms = study["most_minutes"] * 60 * SECOND
    deadline_ms = min(started_ms, now_ms) + allowed_ms - _MARGIN_MS
    visit = transaction.execute(
        "INSERT INTO visits (study, worker, submission_id, stage, began_ms, "
        "deadline_ms, status) VALUES (?, ?, ?, 'Open', ?, ?, ?)",
        study["id"],
        worker["id"],
        submission_id,
        now_ms,
        deadline_ms,
        submission.status,
    )
    if not may_work:
        _find_no_work(transaction, study, worker, visit)
        return False
    for _ in range(study["hits_per_visit"]):
        hit = transaction.one(_FREEST, study["hit_type"], now_ms, worker["id"])
        if hit is None:
            _find_no_work(transaction, study, worker, visit)
            return False
        taken = assignments.accept(transaction, hit=hit, worker=worker)
        transaction.execute(
            "UPDATE assignments SET visit = ?, deadline_ms = ? WHERE assignment_id = ?",
            visit,
            deadline_ms,
            taken,
        )
    _show_next(transaction, visit)
    return True


def _find_no_work(
    transaction: Transaction, study: sqlite3.Row, worker: sqlite3.Row, visit: int
) -> None:
    """End a visit for which there is no work, and promise what the study pays for it.

    A worker is promised it once a study. One slot is never used: when all are, the
    other market stops recruiting by itself.
    """
    close(transaction, visit, stage="TurnedAway")
    transaction.execute(
        "UPDATE visits SET screen_out_cents = ?1 WHERE id = ?2 AND NOT EXISTS "
        "(SELECT 1 FROM visits WHERE study = ?3 AND worker = ?4 "
        "AND screen_out_cents > 0) AND (SELECT count(*) FROM visits "
        "WHERE study = ?3 AND screen_out_cents > 0) < ?5",
        study["screen_out_cents"],
        visit,
        study["id"],
        worker["id"],
        study["screen_out_slots"] - 1,
    )


def never_begun(
    transaction: Transaction,
    *,
    study: int,
    worker: sqlite3.Row,
    submission_id: str,
    status: str,
    ended_ms: int,
) -> None:
    """Note a submission that was ended there though its visit was never begun here."""
    transaction.execute(
        "INSERT INTO visits (study, worker, submission_id, stage, began_ms, "
        "deadline_ms, closed_ms, status) VALUES (?1, ?2, ?3, 'Left', ?5, ?5, ?5, ?4) "
        # Another process may have read the same.
        "ON CONFLICT (submission_id) DO NOTHING",
        study,
        worker["id"],
        submission_id,
        status,
        ended_ms,
    )


def parts(transaction: Transaction, visit: int) -> list[sqlite3.Row]:
    """A visit's assignments in the order in which they are done."""
    return transaction.all(
        "SELECT * FROM assignments WHERE visit = ? ORDER BY id", visit
    )


def answer(transaction: Transaction, assignment: sqlite3.Row, *, answer: str) -> None:
    """Keep an answer; with the visit's last one, send all of them in.

    Raises:
        Refusal: it was answered before (409).
    """
    if assignment["answered_ms"] is not None:
        raise Refusal(
            "AssignmentNotOpen",
            "You have answered this HIT, and the answer is kept.",
            status=409,
        )
    visit = assignment["visit"]
    transaction.execute(
        "UPDATE assignments SET answer = ?, answered_ms = ? WHERE id = ?",
        answer,
        transaction.now_ms,
        assignment["id"],
    )
    _show_next(transaction, visit)
    of_visit = parts(transaction, visit)
    if any(part["answered_ms"] is None for part in of_visit):
        return
    for part in of_visit:
        _send_in(transaction, part)
    finish(transaction, visit)


def finish(transaction: Transaction, visit: int) -> None:
    """All of an open visit is done."""
    transaction.execute(
        "UPDATE visits SET stage = 'Done', closed_ms = ? WHERE id = ? "
        "AND stage = 'Open'",
        transaction.now_ms,
        visit,
    )


def close(
    transaction: Transaction, visit: int, *, stage: str, at_ms: int | None = None
) -> None:
    """End an open visit that is not finished; its HITs are free for others."""
    moment = transaction.now_ms if at_ms is None else at_ms
    changed = transaction.all(
        "UPDATE visits SET stage = ?, closed_ms = ? WHERE id = ? AND stage = 'Open' "
        "RETURNING id",
        stage,
        moment,
        visit,
    )
    if not changed:
        return
    status = "Abandoned" if stage == "Late" else "Returned"
    for part in parts(transaction, visit):
        # Withdrawn, or never whole: nobody shall read it.
        transaction.execute(
            "UPDATE assignments SET answer = NULL WHERE id = ?", part["id"]
        )
        if part["status"] == "Accepted":
            assignments.give_back(transaction, part, status=status, at_ms=moment)


def _send_in(transaction: Transaction, part: sqlite3.Row) -> None:
    # All are sent in at one moment; how long each took is kept, as its beginning.
    took_ms = part["answered_ms"] - (part["shown_ms"] or part["accepted_ms"])
    transaction.execute(
        "UPDATE assignments SET accepted_ms = ? WHERE id = ?",
        transaction.now_ms - took_ms,
        part["id"],
    )
    assignments.submit(transaction, part, answer=part["answer"])


def _show_next(transaction: Transaction, visit: int) -> None:
    """The next HIT's time begins to count."""
    transaction.execute(
        "UPDATE assignments SET shown_ms = ? WHERE shown_ms IS NULL AND id = "
        "(SELECT min(id) FROM assignments WHERE visit = ? AND answered_ms IS NULL)",
        transaction.now_ms,
        visit,
    )
