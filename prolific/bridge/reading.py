"""What is so at Prolific: the states of studies and submissions, taken into the tables.

Changes made by hand on Prolific's own pages come in the same way as all others.
"""

import sqlite3
from collections import Counter
from functools import partial

from marketplace.state import visits
from marketplace.state.transaction import Transaction
from prolific.bridge.bridge import Bridge
from prolific.resources.submissions import Submission

AT_WORK = ("RESERVED", "ACTIVE")
GIVEN_BACK = ("RETURNED", "TIMED-OUT")
_FREES_ITS_PLACE = (*GIVEN_BACK, "REJECTED")


def read(bridge: Bridge) -> None:
    """Read all studies that are not over, and their submissions where any changed."""
    with bridge.backend.transaction() as transaction:
        studies = transaction.all(
            "SELECT * FROM studies WHERE stage <> 'Retired' AND study_id IS NOT NULL"
        )
    for study in studies:
        bridge.tried(partial(_read, bridge, study))


def places_taken(bridge: Bridge, study: int) -> int | None:
    """How many places submissions hold, or were paid for; None: not read yet."""
    known = bridge.submissions.get(study)
    if known is None:
        return None
    return sum(each.status not in _FREES_ITS_PLACE for each in known.values())


def not_arrived(bridge: Bridge, study: int) -> int:
    """How many hold a place there and have not opened their visit here."""
    with bridge.backend.transaction() as transaction:
        arrived = {
            row["submission_id"]
            for row in transaction.all(
                "SELECT submission_id FROM visits WHERE study = ?", study
            )
        }
    known = bridge.submissions.get(study, {})
    return sum(
        each.status in AT_WORK and each.id not in arrived for each in known.values()
    )


def _read(bridge: Bridge, study: sqlite3.Row) -> None:
    there = bridge.prolific.studies.get(study["study_id"])
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET status = ?, places = coalesce(?, places), "
            "stage = iif(stage = 'Draft' AND ? NOT IN ('UNPUBLISHED', 'SCHEDULED'), "
            "'Published', stage) WHERE id = ?",
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
    listed = {
        each.id: each
        for each in bridge.prolific.submissions.of_study(study["study_id"])
    }
    bridge.submissions[study["id"]] = listed
    # Lists may come late; then they are read again, until they agree.
    of_list = Counter(each.status for each in listed.values())
    is_whole = all(counts.get(status) == number for status, number in of_list.items())
    if is_whole and counts.get("TOTAL", len(listed)) == len(listed):
        bridge.counts[study["id"]] = counts
    else:
        bridge.counts.pop(study["id"], None)
    with bridge.backend.transaction() as transaction:
        for visit in transaction.all(
            "SELECT * FROM visits WHERE study = ?", study["id"]
        ):
            submission = listed.get(visit["submission_id"])
            if submission is not None:
                take_in(transaction, visit, submission)


def take_in(
    transaction: Transaction, visit: sqlite3.Row, submission: Submission
) -> None:
    """Note a submission's state; an open visit ends with it."""
    if submission.status != visit["status"]:
        transaction.execute(
            "UPDATE visits SET status = ? WHERE id = ?", submission.status, visit["id"]
        )
    if visit["stage"] == "Open" and submission.status not in AT_WORK:
        late = submission.status == "TIMED-OUT"
        visits.close(transaction, visit["id"], stage="Late" if late else "Left")
