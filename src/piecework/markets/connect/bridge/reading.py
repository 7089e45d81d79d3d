"""What the bridge reads of Connect: assignments, and those that it does not know.

Either the file was restored from a copy, or another copy of it is in use. A person
decides about each (`piecework market connect reconcile`). Until then nothing is published. The
cap counts what they cost.

Connect lists an assignment when its participant has finished. Changes made by hand on
Connect's own pages arrive in the same way.
"""

import sqlite3
from collections.abc import Iterable
from functools import partial

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import clock, lineage, visits
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging import losses
from piecework.markets.bridging.losses import UnknownStudy, keep_unknown, undecided
from piecework.markets.bridging.studies import StudyName, published_studies
from piecework.markets.connect.bridge.bridge import LOG, NAME, Bridge, money
from piecework.markets.connect.client import Assignment, Project


def compare_projects(bridge: Bridge) -> None:
    """Compare projects once per bridge; later, only while some wait for a person.

    Raises:
        ApiError: the call failed, so nothing may be published or paid.
    """
    if bridge.is_compared:
        with bridge.backend.reading() as transaction:
            is_waiting = undecided(transaction, NAME)
        if is_waiting:
            look(bridge)
        return
    look(bridge)
    bridge.is_compared = True
    with bridge.backend.reading() as transaction:
        waiting = undecided(transaction, NAME)
    for each in waiting:
        LOG.warning("%s", unknown_sentence(each))


def look(bridge: Bridge) -> dict[str, Project]:
    """Return this account's projects by internal name, read once in each step."""
    if bridge.listed is not None:
        return bridge.listed
    listed = list(bridge.connect.projects.all())
    with bridge.backend.reading() as transaction:
        missing = [each for each in listed if _is_unknown(transaction, each)]
    for project in missing:
        _take_in(bridge, project)
    bridge.listed = {each.internal_name: each for each in listed if each.internal_name is not None}
    return bridge.listed


def unknown_sentence(study: UnknownStudy) -> str:
    """Return the warning about an unknown project."""
    return losses.loss_sentence(
        study, word="project", market="Connect", name=NAME, submissions="finished", money=money
    )


def why_not_publish(bridge: Bridge) -> str:
    """Return why nothing may be published now; "" if publishing is allowed."""
    return losses.why_not_publish(bridge, "projects")


def set_aside(bridge: Bridge, project_id: str) -> None:
    """Stop an unknown project and leave it to Connect, which pays its participants.

    A project of this file that a person closed is left as it is, and another may begin.

    Raises:
        Unusable: there is no such project.
    """
    with bridge.backend.transaction() as transaction:
        if transaction.all(_LET_GO_ON, project_id):
            return
        _row(transaction, project_id)
    status = bridge.connect.projects.get(project_id).status
    if status == "Live":
        bridge.connect.projects.set_status(project_id, "Paused")
        status = "Paused"
    if status == "Paused":
        bridge.connect.projects.set_status(project_id, "Closed")
    _take_in(bridge, bridge.connect.projects.get(project_id))
    with bridge.backend.transaction() as transaction:
        losses.leave_unknown(transaction, project_id)


def adopt(bridge: Bridge, project_id: str) -> int:
    """Add an unknown project to the file; return how many are paid without answers.

    Answers sent after the copy was made are lost. Those participants did the work, so
    they are paid; the HITs are still open.

    Raises:
        Unusable: there is no such project, or it cannot be added.
    """
    with bridge.backend.transaction() as transaction:
        _row(transaction, project_id)
    there = bridge.connect.projects.get(project_id)
    finished = bridge.connect.assignments.of_project(project_id)
    with bridge.backend.transaction() as transaction:
        study = _insert(transaction, there)
        transaction.execute("DELETE FROM unknown_studies WHERE study_id = ?", project_id)
    bridge.statistics.pop(study["id"], None)
    read_project(bridge, study)
    with bridge.backend.transaction() as transaction:
        for each in finished:
            transaction.execute(
                "UPDATE visits SET loss = 'Stated', trouble = '' "
                "WHERE submission_id = ? AND study = ? AND stage IN ('Left', 'Late') "
                "AND outcome IS NULL",
                each.id,
                study["id"],
            )
        row = transaction.first_row(
            "SELECT count(*) FROM visits WHERE study = ? AND loss = 'Stated'", study["id"]
        )
    return int(row[0]) if row else 0


def pay_lost(bridge: Bridge, project_id: str) -> int:
    """Pay participants whose answers are lost, as a person states; return their number.

    Raises:
        Unusable: the file has no such participants.
    """
    with bridge.backend.transaction() as transaction:
        number = losses.state_losses(transaction, project_id)
    if not number:
        raise Unusable(
            f"no assignment of the project {project_id} waits for that",
            next_step="piecework market connect status",
        )
    return number


def _row(transaction: Transaction, project_id: str) -> sqlite3.Row:
    see = "piecework market connect status"
    return losses.unknown_row(transaction, project_id, word="project", see=see)


def _insert(transaction: Transaction, there: Project) -> sqlite3.Row:
    name = StudyName.read(there.internal_name)
    hit_type = transaction.first_row(
        "SELECT * FROM hit_types WHERE hit_type_id = ?", name.hit_type_id if name else ""
    )
    reward = 0 if hit_type is None else int(hit_type["reward_cents"])
    code = there.completion.value if there.completion else None
    if hit_type is None or not reward or there.payment_cents % reward or not code:
        raise Unusable(
            f"the project {there.id} does not fit a HIT type in this file",
            next_step=f"piecework market connect reconcile --leave {there.id}",
        )
    next_number(transaction.conn, "studies")  # As if it had been created here.
    row = transaction.first_row(
        "INSERT INTO studies (hit_type, market, internal_name, study_id, status, "
        "stage, hits_per_visit, currency, reward_cents, cost_cents, minutes, "
        "most_minutes, places, code, own_code, has_own_code, made_ms, halted_by) "
        "VALUES (?, ?, ?, ?, ?, 'Published', ?, 'USD', ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) "
        "ON CONFLICT (internal_name) DO UPDATE SET study_id = excluded.study_id, "
        "status = excluded.status, stage = 'Published', places = excluded.places, "
        "cost_cents = excluded.cost_cents, code = excluded.code, "
        "halted_by = excluded.halted_by, trouble = '' "
        "RETURNING *",
        hit_type["id"],
        NAME,
        there.internal_name,
        there.id,
        there.status or "Live",
        there.payment_cents // reward,
        there.payment_cents,
        cost_of_place(there),
        there.minutes,
        max(there.minutes, there.most_minutes or 0),
        max(1, there.participants),
        code,
        f"R{there.id}",
        transaction.now_ms,
        # Who adopts a project wants it to go on.
        "Bridge" if there.status in ENDED else "",
    )
    if row is None:
        raise LookupError("the project was just added")
    return row


def cost_of_place(project: Project) -> int:
    """Return what a place costs, rounded up to a cent."""
    total = project.total_cents or project.payment_cents * project.participants
    return -(-total // max(1, project.participants))


def _is_unknown(transaction: Transaction, project: Project) -> bool:
    if project.status == "Unpublished":
        return False  # It costs nothing and recruits no participants.
    return losses.is_unknown(transaction, project.id, project.internal_name)


def _take_in(bridge: Bridge, project: Project) -> None:
    """Store the state of an unknown project and what it cost."""
    finished = bridge.connect.assignments.of_project(project.id)
    unit = cost_of_place(project)
    paid = sum(each.status == "Approved" for each in finished)
    pending = sum(each.status == "Pending" for each in finished)
    is_recruiting = project.status in RECRUITING
    held = max(project.participants - paid, pending) if is_recruiting else pending
    with bridge.backend.transaction() as transaction:
        if not _is_unknown(transaction, project):
            return  # It was adopted meanwhile.
        keep_unknown(
            transaction,
            NAME,
            UnknownStudy(
                study_id=project.id,
                internal_name=project.internal_name or "",
                status=project.status or ENDED[0],
                places=project.participants,
                submissions=len(finished),
                spent_cents=paid * unit + sum(each.bonus_cents for each in finished),
                held_cents=held * unit,
            ),
        )


AT_WORK = "InProgress"
"""The status of a visit whose assignment Connect does not list yet; our own word."""

RECRUITING = ("Live", "Paused")
ENDED = ("Closed", "Completed", "Archived")
_LET_GO_ON = (
    "UPDATE studies SET halted_by = 'Bridge', trouble = '' WHERE study_id = ? "
    f"AND market = '{NAME}' AND halted_by = '' AND status IN {ENDED} RETURNING id"
)
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
            "UPDATE studies SET status = ?, places = ?, stage = ?, "
            "halted_by = coalesce(?, halted_by) WHERE id = ?",
            status,
            max(1, there.participants),
            "Draft" if is_draft else "Published",
            {"Live": "", "Completed": "Places"}.get(there.status or ""),
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
        "LEFT JOIN participants USING (worker) WHERE study = ? "
        # A person's finished visit goes before those that they, or somebody with
        # their id, did not finish.
        "ORDER BY stage = 'Done' DESC, stage = 'Open' DESC, visits.id DESC",
        study["id"],
    ):
        assignment = strangers.get(visit["submission_id"])
        if assignment is None:
            open_visits.append(visit)
        elif visit["participant_id"] not in (None, assignment.participant_id):
            # The link of this visit named an assignment of somebody else.
            visits.give_up_id(transaction, visit["id"])
            open_visits.append(visit)
        else:
            del strangers[assignment.id]
            take_in(transaction, visit, assignment)
    _free_ids(transaction, study, strangers)
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


def _free_ids(transaction: Transaction, study: sqlite3.Row, assignment_ids: Iterable[str]) -> None:
    """Free assignments' ids of visits to other projects, whose links named them."""
    for assignment_id in assignment_ids:
        visit = visits.of_submission(transaction, NAME, assignment_id)
        if visit is not None and visit["study"] != study["id"]:
            visits.give_up_id(transaction, visit["id"])


def _note_stranger(transaction: Transaction, study: sqlite3.Row, assignment: Assignment) -> None:
    """Record an assignment that was finished without a visit here: codes get shared.

    It must be decided like all others, because Connect pays undecided ones.
    """
    ended = assignment.completed_at
    visits.never_begun(
        transaction,
        study=study,
        participant_id=assignment.participant_id,
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
        visits.close_visit(transaction, visit["id"], stage="Left")
