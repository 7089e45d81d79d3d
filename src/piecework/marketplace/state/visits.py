"""Visits: a participant takes several HITs and submits them together.

When a participant arrives, the HITs of their visit are reserved as accepted
assignments, so that they can finish what they begin. Answers are kept and submitted
with the last one. A visit that is abandoned or ends too late leaves no work that a
requester could use without paying. So a requester receives a visit completely or not at
all, as the paying market has one submission for it.
"""

import json
import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts, assignments, hits, worker_limits
from piecework.marketplace.state.clock import SECOND, to_ms
from piecework.marketplace.state.outside_crowd import Submission
from piecework.marketplace.state.transaction import Transaction

_MARGIN_MS = 60 * SECOND
"""A visit ends this long before its submission, to leave time for the code."""

_FREE_HITS = (
    f"SELECT {hits.COLUMNS} FROM hits WHERE hit_type = ?1 AND status = 'Assignable' "
    "AND expires_ms > ?2 AND NOT EXISTS (SELECT 1 FROM assignments "
    "WHERE assignments.hit = hits.id AND assignments.worker = ?3 "
    "AND assignments.status NOT IN ('Returned', 'Abandoned')) "
    f"AND {worker_limits.IS_FREE.replace('?', '?3')} "
)
_FREEST_FIRST = "ORDER BY max_assignments - accepted - submitted - approved - rejected DESC, id"
_COUNTED = f"{_FREE_HITS} AND {worker_limits.IS_COUNTED} {_FREEST_FIRST} LIMIT ?4"
_BESIDE = (
    f"{_FREE_HITS} AND is_apart = 1 AND id NOT IN (SELECT value FROM json_each(?4)) "
    "AND NOT EXISTS (SELECT 1 FROM kept_apart WHERE kept_apart.hit = hits.id "
    f"AND kept_apart.other IN (SELECT value FROM json_each(?4))) {_FREEST_FIRST} LIMIT 1"
)


def participant(transaction: Transaction, market: str, participant_id: str) -> sqlite3.Row:
    """Return the worker for this participant of a market; add a new one.

    Requesters do not see the participant's id: the worker's id is drawn as usual.
    """
    worker = known_participant(transaction, market, participant_id)
    if worker is not None:
        return worker
    handle = transaction.id_generator.entity("participant", market, participant_id)
    # The other market knows and has checked their location and record.
    worker_id, _ = accounts.add_worker(transaction, accounts.NewWorker(handle=handle, country=""))
    transaction.execute("UPDATE workers SET comes_by_visits = 1 WHERE handle = ?", handle)
    added = accounts.find_worker(transaction, worker_id)
    transaction.insert(
        "participants", worker=added["id"], market=market, participant_id=participant_id
    )
    return added


def known_participant(
    transaction: Transaction, market: str, participant_id: str
) -> sqlite3.Row | None:
    """Return the worker for this participant of a market, if they have come before."""
    return transaction.first_row(
        "SELECT workers.* FROM workers "
        "JOIN participants ON participants.worker = workers.id "
        "WHERE market = ? AND participant_id = ?",
        market,
        participant_id,
    )


def market_of(transaction: Transaction, worker: sqlite3.Row) -> str:
    """Return the market that a worker comes from; "" for own workers."""
    market = transaction.value("SELECT market FROM participants WHERE worker = ?", worker["id"])
    return market or ""


def of_submission(transaction: Transaction, market: str, submission_id: str) -> sqlite3.Row | None:
    """Return the visit of a market's submission, if its participant has arrived."""
    return transaction.first_row(
        "SELECT * FROM visits WHERE market = ? AND submission_id = ?", market, submission_id
    )


def unfinished(
    transaction: Transaction, *, study: int, worker: sqlite3.Row, unshown_status: str | None
) -> sqlite3.Row | None:
    """Return the visit to a study that a worker has to end before another begins.

    It is their open one. If the other market does not show who is at work, a visit that
    is done also counts until the market has shown it: so an id that someone made up
    gets one visit, and not one after the other.

    Args:
        transaction: the open one.
        study: row id.
        worker: the worker.
        unshown_status: the status of visits that the market has not shown yet; None if
            it shows who is at work.
    """
    return transaction.first_row(
        "SELECT * FROM visits WHERE study = ? AND worker = ? AND (stage = 'Open' "
        "OR (stage = 'Done' AND outcome IS NULL AND status = ?)) "
        "ORDER BY stage = 'Open' DESC, id DESC LIMIT 1",
        study,
        worker["id"],
        unshown_status,
    )


def described(transaction: Transaction, visit: int) -> sqlite3.Row:
    """Return a visit with its study's code and qualification type.

    The row also has the ids of study and participant at the other market.
    """
    row = transaction.first_row(
        "SELECT visits.*, studies.code, studies.study_id, "
        "participant_id, "
        "qualification_type_id FROM visits JOIN studies ON studies.id = visits.study "
        "JOIN participants ON participants.worker = visits.worker "
        "LEFT JOIN qualification_types "
        "ON qualification_types.id = studies.qualification_type "
        "WHERE visits.id = ?",
        visit,
    )
    if row is None:
        raise LookupError(f"there is no visit {visit}")
    return row


def begin_visit(
    transaction: Transaction,
    *,
    study: sqlite3.Row,
    worker: sqlite3.Row,
    submission_id: str,
    submission: Submission,
    may_work: bool,
) -> int:
    """Begin a visit with all its HITs reserved, or record that there is no work.

    Args:
        transaction: the open one.
        study: a row of `studies`.
        worker: the worker who came.
        submission_id: the submission's id at the other market.
        submission: its state at the other market.
        may_work: whether requirements and blocks allow the worker to work.

    Returns:
        The visit's row id. Without work, it is recorded as turned away.
    """
    now_ms = transaction.now_ms
    started_ms = now_ms if submission.started_at is None else to_ms(submission.started_at)
    allowed_ms = study["most_minutes"] * 60 * SECOND
    deadline_ms = min(started_ms, now_ms) + allowed_ms - _MARGIN_MS
    visit = transaction.insert(
        "visits",
        study=study["id"],
        worker=worker["id"],
        market=study["market"],
        submission_id=submission_id,
        stage="Open",
        began_ms=now_ms,
        deadline_ms=deadline_ms,
        status=submission.status,
    )
    if not may_work:
        _find_no_work(transaction, study, worker, visit)
        return visit
    wanted = study["hits_per_visit"]
    together = _hits_together(transaction, study["hit_type"], worker, most=wanted)
    if len(together) < wanted:
        _find_no_work(transaction, study, worker, visit)
        return visit
    for hit in together:
        taken = assignments.accept(transaction, hit=hit, worker=worker)
        transaction.execute(
            "UPDATE assignments SET visit = ?, deadline_ms = ? WHERE assignment_id = ?",
            visit,
            deadline_ms,
            taken,
        )
    _show_next(transaction, visit)
    return visit


def most_hits(
    transaction: Transaction, hit_type: int, worker: sqlite3.Row | None, *, most: int
) -> int:
    """Return how many HITs a visit to this type can have, up to `most`.

    Args:
        transaction: the open one.
        hit_type: row id.
        worker: the worker; None is a participant on their first arrival.
        most: the most HITs that are wanted.
    """
    return len(_hits_together(transaction, hit_type, worker, most=most))


def _hits_together(
    transaction: Transaction, hit_type: int, worker: sqlite3.Row | None, *, most: int
) -> list[sqlite3.Row]:
    """Return HITs of a type that a worker may do in one visit, up to `most`.

    Those that bridges count come first: no two of them are apart from each other.
    """
    free_for = (hit_type, transaction.now_ms, 0 if worker is None else worker["id"])
    together = transaction.all(_COUNTED, *free_for, most)
    while len(together) < most:
        chosen = json.dumps([hit["id"] for hit in together])
        beside = transaction.first_row(_BESIDE, *free_for, chosen)
        if beside is None:
            break
        together.append(beside)
    return together


def _find_no_work(
    transaction: Transaction, study: sqlite3.Row, worker: sqlite3.Row, visit: int
) -> None:
    """End a visit without work, and promise the study's pay for it.

    Each worker is promised it once per study. One slot always stays unused, because the
    other market stops recruiting when all are used.
    """
    close_visit(transaction, visit, stage="TurnedAway")
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
    study: sqlite3.Row,
    participant_id: str,
    submission_id: str,
    status: str,
    ended_ms: int,
) -> None:
    """Record a submission that ended there although its visit never began here.

    Nothing changes if its visit is known: the participant may have been forgotten since.
    """
    if of_submission(transaction, study["market"], submission_id) is not None:
        return
    worker = participant(transaction, study["market"], participant_id)
    transaction.insert(
        "visits",
        study=study["id"],
        worker=worker["id"],
        market=study["market"],
        submission_id=submission_id,
        stage="Left",
        began_ms=ended_ms,
        deadline_ms=ended_ms,
        closed_ms=ended_ms,
        status=status,
    )


def parts(transaction: Transaction, visit: int) -> list[sqlite3.Row]:
    """Return a visit's assignments in their order."""
    return transaction.all("SELECT * FROM assignments WHERE visit = ? ORDER BY id", visit)


def answer(transaction: Transaction, assignment: sqlite3.Row, *, answer: str) -> None:
    """Keep an answer; with the visit's last one, submit all of them.

    Raises:
        Refusal: the HIT was already answered (409).
    """
    if assignment["answered_ms"] is not None:
        raise Refusal(
            "AssignmentNotOpen",
            "You have already answered this HIT. Your answer is saved.",
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
    """Finish an open visit that is completely done."""
    transaction.execute(
        "UPDATE visits SET stage = 'Done', closed_ms = ? WHERE id = ? AND stage = 'Open'",
        transaction.now_ms,
        visit,
    )


def finish_test(transaction: Transaction, worker: sqlite3.Row, qualification_type: int) -> None:
    """Finish a worker's open visit for a test that they have sent.

    Args:
        transaction: the open one.
        worker: the worker.
        qualification_type: row id of the test's type.
    """
    for visit in transaction.all(
        "SELECT visits.id FROM visits JOIN studies ON studies.id = visits.study "
        "WHERE visits.worker = ? AND visits.stage = 'Open' AND studies.qualification_type = ?",
        worker["id"],
        qualification_type,
    ):
        finish(transaction, visit["id"])


def close_visit(
    transaction: Transaction, visit: int, *, stage: str, at_ms: int | None = None
) -> None:
    """End an unfinished open visit, and free its HITs for others."""
    moment = transaction.now_ms if at_ms is None else at_ms
    changed = transaction.all(
        "UPDATE visits SET stage = ?, closed_ms = ? WHERE id = ? AND stage = 'Open' RETURNING id",
        stage,
        moment,
        visit,
    )
    if not changed:
        return
    status = "Abandoned" if stage == "Late" else "Returned"
    for part in parts(transaction, visit):
        # Withdrawn or incomplete answers may not be read.
        transaction.execute("UPDATE assignments SET answer = NULL WHERE id = ?", part["id"])
        if part["status"] == "Accepted":
            assignments.give_back(transaction, part, status=status, at_ms=moment)


def give_up_id(transaction: Transaction, visit: int) -> None:
    """Free the submission's id of a visit that another participant claims.

    Of a market that does not show who is at work, an id is only what a link said. The
    visit keeps an id that no link can have.
    """
    transaction.execute(
        "UPDATE visits SET submission_id = 'claimed ' || id || ' ' || submission_id WHERE id = ?",
        visit,
    )


def close_submission(
    transaction: Transaction, market: str, submission_id: str, *, stage: str
) -> None:
    """End the open visit of a submission that has ended at its market."""
    visit = of_submission(transaction, market, submission_id)
    if visit is not None:
        close_visit(transaction, visit["id"], stage=stage)


def _send_in(transaction: Transaction, part: sqlite3.Row) -> None:
    # All are submitted at the same time; the accept time keeps how long each took.
    took_ms = part["answered_ms"] - (part["shown_ms"] or part["accepted_ms"])
    transaction.execute(
        "UPDATE assignments SET accepted_ms = ? WHERE id = ?",
        transaction.now_ms - took_ms,
        part["id"],
    )
    assignments.submit(transaction, part, answer=part["answer"])


def _show_next(transaction: Transaction, visit: int) -> None:
    """Start the next HIT's time."""
    transaction.execute(
        "UPDATE assignments SET shown_ms = ? WHERE shown_ms IS NULL AND id = "
        "(SELECT min(id) FROM assignments WHERE visit = ? AND answered_ms IS NULL)",
        transaction.now_ms,
        visit,
    )
