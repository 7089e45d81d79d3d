"""Read the states of studies and submissions at Prolific into the tables.

Changes made by hand on Prolific's own pages arrive in the same way.
"""

import sqlite3
from collections import Counter
from functools import partial

from piecework.foundation.client.errors import NoAccess
from piecework.marketplace.state import clock, lineage, visits
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import losses
from piecework.markets.bridging.settling import SCREENED_OUT
from piecework.markets.bridging.studies import published_studies
from piecework.markets.prolific.bridge.bridge import NAME, Bridge
from piecework.markets.prolific.resources.submissions import Submission

AT_WORK = ("RESERVED", "ACTIVE")
AWAITING = "AWAITING REVIEW"
TIMED_OUT = "TIMED-OUT"
GIVEN_BACK = ("RETURNED", TIMED_OUT)
PAID = ("APPROVED", "PARTIALLY APPROVED")
RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
"""Studies with free places that can still be taken, so their cost is held."""

FREES_ITS_PLACE = (*GIVEN_BACK, "REJECTED", SCREENED_OUT)
_NOT_THERE = 404


def read_prolific(bridge: Bridge) -> None:
    """Read all open studies, and their submissions where any changed."""
    with bridge.backend.reading() as transaction:
        studies = published_studies(transaction, NAME)
    for study in studies:
        bridge.tried(partial(_read, bridge, study))


def places_taken(bridge: Bridge, study: int) -> int | None:
    """Return how many places are held or paid; None if not read yet."""
    known = bridge.submissions.get(study)
    if known is None:
        return None
    return sum(each.status not in FREES_ITS_PLACE for each in known.values())


def not_arrived(bridge: Bridge, study: int) -> int:
    """Return how many hold a place at Prolific but have not opened their visit."""
    with bridge.backend.reading() as transaction:
        arrived = {
            row["submission_id"]
            for row in transaction.all("SELECT submission_id FROM visits WHERE study = ?", study)
        }
    known = bridge.submissions.get(study, {})
    return sum(each.status in AT_WORK and each.id not in arrived for each in known.values())


def will_be_returned(bridge: Bridge, study: int) -> int:
    """Return how many hold a place that is free soon.

    They found no work, or Prolific's time for them is over within a minute.
    """
    with bridge.backend.reading() as transaction:
        held = transaction.all(
            "SELECT status FROM visits WHERE study = ? AND stage IN ('TurnedAway', 'Late')", study
        )
    return sum(visit["status"] in AT_WORK for visit in held)


def waits(bridge: Bridge, study: int) -> bool:
    """Return whether a study's submissions are, or may be, active or undecided."""
    known = bridge.submissions.get(study)
    return known is None or any(each.status in (*AT_WORK, AWAITING) for each in known.values())


def _read(bridge: Bridge, study: sqlite3.Row) -> None:
    try:
        there = bridge.prolific.studies.get(study["study_id"])
    except NoAccess as fault:
        if study["stage"] != "Draft" or fault.status != _NOT_THERE:
            raise
        _forget_draft(bridge, study)
        return
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET status = ?, places = coalesce(?, places), "
            "stage = iif(? IN ('UNPUBLISHED', 'SCHEDULED'), 'Draft', 'Published') "
            "WHERE id = ?",
            there.status,
            there.places,
            there.status,
            study["id"],
        )
    if there.status == "UNPUBLISHED":
        bridge.submissions[study["id"]] = {}
        return
    counts = dict(bridge.prolific.submissions.counts(study["study_id"]))
    if counts == bridge.counts.get(study["id"]):
        return
    listed = {each.id: each for each in bridge.prolific.submissions.of_study(study["study_id"])}
    bridge.submissions[study["id"]] = listed
    # Lists may lag behind the counts; they are read again until both agree.
    of_list = Counter(each.status for each in listed.values())
    is_whole = all(counts.get(status) == number for status, number in of_list.items())
    if is_whole and counts.get("TOTAL", len(listed)) == len(listed):
        bridge.counts[study["id"]] = counts
    else:
        bridge.counts.pop(study["id"], None)
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET undecided = ? WHERE id = ?",
            sum(each.status in (*AT_WORK, AWAITING) for each in listed.values()),
            study["id"],
        )
        _take_all_in(transaction, study, listed)
        _suspect_losses(bridge, transaction, study, listed)


def _suspect_losses(
    bridge: Bridge, transaction: Transaction, study: sqlite3.Row, listed: dict[str, Submission]
) -> None:
    before_ms = bridge.suspects_before_ms
    losses.suspect_losses(
        transaction,
        study=study["id"],
        undecided={
            each.id: each.started_at or each.completed_at
            for each in listed.values()
            if each.status == AWAITING
        },
        before_ms=lineage.began_ms(transaction) if before_ms is None else before_ms,
        trouble="the submission {submission} has ended, but its answers are not in "
        "this file. Was the file restored from a copy? "
        f"`piecework market prolific reconcile --pay-lost {study['study_id']}` pays it now; "
        "Prolific pays it after 21 days unless you reject it there",
    )


def _forget_draft(bridge: Bridge, study: sqlite3.Row) -> None:
    """Retire a draft that was deleted, by hand or by a call with a lost reply."""
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET stage = 'Retired', status = 'DELETED' WHERE id = ?", study["id"]
        )


def _take_all_in(
    transaction: Transaction, study: sqlite3.Row, listed: dict[str, Submission]
) -> None:
    strangers = dict(listed)
    for visit in transaction.all("SELECT * FROM visits WHERE study = ?", study["id"]):
        submission = strangers.pop(visit["submission_id"], None)
        if submission is not None:
            take_in(transaction, visit, submission)
    for submission in strangers.values():
        _note_stranger(transaction, study, submission)


def _note_stranger(transaction: Transaction, study: sqlite3.Row, submission: Submission) -> None:
    """Record a submission that was ended without a visit here: codes get shared.

    It must be decided like all others, because Prolific pays undecided submissions. A
    participant paid for finding no work did visit; the file is a copy from before that.
    """
    is_over = submission.status in (AWAITING, SCREENED_OUT, *PAID)
    if not is_over or submission.participant_id is None:
        return
    ended = submission.completed_at
    visits.never_begun(
        transaction,
        study=study["id"],
        worker=visits.participant(transaction, NAME, submission.participant_id),
        submission_id=submission.id,
        status=submission.status,
        ended_ms=transaction.now_ms if ended is None else clock.to_ms(ended),
    )
    if submission.status == SCREENED_OUT:
        transaction.execute(
            "UPDATE visits SET stage = 'TurnedAway', screen_out_cents = ? "
            "WHERE submission_id = ? AND stage = 'Left'",
            study["screen_out_cents"],
            submission.id,
        )


def take_in(transaction: Transaction, visit: sqlite3.Row, submission: Submission) -> None:
    """Store a submission's state; an open visit ends with it.

    A visit that was settled without its reward is decided again if its submission may
    be paid after all: the code came late, or someone undid the rejection.
    """
    if submission.status != visit["status"]:
        transaction.execute(
            "UPDATE visits SET status = ?1, outcome = iif(outcome <> 'Paid' AND ?2, "
            "NULL, outcome) WHERE id = ?3",
            submission.status,
            submission.status in (*AT_WORK, AWAITING, *PAID),
            visit["id"],
        )
    if visit["stage"] == "Open" and submission.status not in AT_WORK:
        late = submission.status == TIMED_OUT
        visits.close(transaction, visit["id"], stage="Late" if late else "Left")
