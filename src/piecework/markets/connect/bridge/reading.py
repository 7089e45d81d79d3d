"""Read the states of projects and assignments at Connect into the tables.

Connect lists an assignment when its participant has finished. Changes made by hand on
Connect's own pages arrive in the same way.
"""

import sqlite3
from functools import partial

from piecework.marketplace.state import clock, lineage, visits
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import losses
from piecework.markets.bridging.studies import published_studies
from piecework.markets.connect.bridge.bridge import NAME, Bridge
from piecework.markets.connect.resources.assignments import Assignment

AT_WORK = "InProgress"
"""The status of a visit whose assignment Connect does not list yet; our own word."""

RECRUITING = ("Live", "Paused")
ENDED = ("Closed", "Completed", "Archived")
MAY_BE_PAID = ("Pending", "Approved")


def read_connect(bridge: Bridge) -> None:
    """Read all open projects, and their assignments where any changed."""
    with bridge.backend.reading() as transaction:
        studies = published_studies(transaction, NAME)
    for study in studies:
        bridge.tried(partial(read_project, bridge, study))


def read_project(bridge: Bridge, study: sqlite3.Row) -> None:
    """Read one project and its assignments."""
    there = bridge.connect.projects.get(study["study_id"])
    status = there.status or study["status"]
    is_draft = status == "Unpublished"
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET status = ?, places = max(places, ?), stage = ? WHERE id = ?",
            status,
            there.participants,
            "Draft" if is_draft else "Published",
            study["id"],
        )
    if is_draft:
        return
    counts = bridge.connect.projects.statistics(study["study_id"])
    if counts == bridge.statistics.get(study["id"]):
        return
    listed = bridge.connect.assignments.of_project(study["study_id"])
    bridge.assignments[study["id"]] = listed
    # Lists may lag behind the counts; they are read again until both agree.
    if len(listed) == counts.pending + counts.completed:
        bridge.statistics[study["id"]] = counts
    else:
        bridge.statistics.pop(study["id"], None)
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET undecided = ? WHERE id = ?",
            counts.in_progress + sum(each.status == "Pending" for each in listed),
            study["id"],
        )
        _take_all_in(transaction, study, listed)
        _suspect_losses(transaction, study, listed)


def at_work(bridge: Bridge, study: sqlite3.Row) -> int:
    """Return how many participants take part without having finished."""
    known = bridge.statistics.get(study["id"])
    if known is None:
        known = bridge.connect.projects.statistics(study["study_id"])
    return known.in_progress


def _take_all_in(
    transaction: Transaction, study: sqlite3.Row, listed: tuple[Assignment, ...]
) -> None:
    by_id = {each.id: each for each in listed}
    strangers = dict(by_id)
    open_visits = []
    for visit in transaction.all(
        "SELECT visits.*, participant_id FROM visits "
        "JOIN participants USING (worker) WHERE study = ? "
        # A person's finished visit goes before those that they, or somebody with
        # their id, did not finish.
        "ORDER BY stage = 'Done' DESC, stage = 'Open' DESC, visits.id DESC",
        study["id"],
    ):
        assignment = strangers.get(visit["submission_id"])
        if assignment is None:
            open_visits.append(visit)
        elif assignment.participant_id != visit["participant_id"]:
            # The link of this visit named an assignment of somebody else.
            visits.give_up_id(transaction, visit["id"])
            open_visits.append(visit)
        else:
            del strangers[assignment.id]
            take_in(transaction, visit, assignment)
    # The id in the link may be another than the API's: then the person tells.
    by_person = {each.participant_id: each for each in strangers.values()}
    for visit in open_visits:
        if visit["status"] != AT_WORK:
            continue
        assignment = by_person.pop(visit["participant_id"], None)
        if assignment is not None:
            transaction.execute(
                "UPDATE visits SET submission_id = ? WHERE id = ?", assignment.id, visit["id"]
            )
            del strangers[assignment.id]
            take_in(transaction, visit, assignment)
    for assignment in strangers.values():
        _note_stranger(transaction, study, assignment)


def _note_stranger(transaction: Transaction, study: sqlite3.Row, assignment: Assignment) -> None:
    """Record an assignment that was finished without a visit here: codes get shared.

    It must be decided like all others, because Connect pays undecided ones.
    """
    ended = assignment.completed_at
    visits.never_begun(
        transaction,
        study=study["id"],
        worker=visits.participant(transaction, NAME, assignment.participant_id),
        submission_id=assignment.id,
        status=assignment.status,
        ended_ms=transaction.now_ms if ended is None else clock.to_ms(ended),
    )


def _suspect_losses(
    transaction: Transaction, study: sqlite3.Row, listed: tuple[Assignment, ...]
) -> None:
    losses.suspect_losses(
        transaction,
        study=study["id"],
        undecided={
            each.id: each.started_at or each.completed_at
            for each in listed
            if each.status == "Pending"
        },
        before_ms=lineage.began_ms(transaction),
        trouble="the assignment {submission} has ended, but its answers are not in "
        "this file. Was the file restored from a copy? "
        f"`piecework market connect reconcile --pay-lost {study['study_id']}` pays it now; "
        "Connect pays it after 14 days unless you reject it there",
    )


def take_in(transaction: Transaction, visit: sqlite3.Row, assignment: Assignment) -> None:
    """Store an assignment's state; an open visit ends with it.

    A visit that was settled without its pay is decided again if its assignment may be
    paid after all: it was finished late, or someone undid the rejection.
    """
    if assignment.status != visit["status"]:
        transaction.execute(
            "UPDATE visits SET status = ?1, outcome = iif(outcome <> 'Paid' AND ?2, "
            "NULL, outcome) WHERE id = ?3",
            assignment.status,
            assignment.status in MAY_BE_PAID,
            visit["id"],
        )
    if visit["stage"] == "Open":
        visits.close(transaction, visit["id"], stage="Left")
