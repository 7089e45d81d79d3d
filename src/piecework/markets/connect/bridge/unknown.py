"""Projects of this marketplace at Connect that its file lacks.

Either the file was restored from a copy, or another copy of it is in use. A person
decides about each (`piecework market connect reconcile`). Until then nothing is published. The
cap counts what they cost.
"""

import sqlite3

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging import losses
from piecework.markets.bridging.losses import UnknownStudy, keep_unknown, undecided
from piecework.markets.bridging.studies import StudyName
from piecework.markets.connect.bridge.bridge import LOG, NAME, Bridge, money
from piecework.markets.connect.bridge.reading import ENDED, RECRUITING, read_project
from piecework.markets.connect.resources.projects import Project


def compare(bridge: Bridge) -> None:
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
        LOG.warning("%s", sentence(each))


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


def sentence(study: UnknownStudy) -> str:
    """Return the warning about an unknown project."""
    return losses.sentence(
        study, word="project", market="Connect", submissions="finished", money=money
    )


def objection(bridge: Bridge) -> str:
    """Return why nothing may be published now; "" if publishing is allowed."""
    return losses.objection(bridge, "projects")


def set_aside(bridge: Bridge, project_id: str) -> None:
    """Stop an unknown project and leave it to Connect, which pays its participants.

    Raises:
        Unusable: there is no such project.
    """
    with bridge.backend.transaction() as transaction:
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
                "WHERE submission_id = ? AND stage IN ('Left', 'Late') "
                "AND outcome IS NULL",
                each.id,
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
        "most_minutes, places, code, own_code, has_own_code, made_ms) "
        "VALUES (?, ?, ?, ?, ?, 'Published', ?, 'USD', ?, ?, ?, ?, ?, ?, ?, 0, ?) "
        "ON CONFLICT (internal_name) DO UPDATE SET study_id = excluded.study_id, "
        "status = excluded.status, stage = 'Published', places = excluded.places, "
        "cost_cents = excluded.cost_cents, code = excluded.code, trouble = '' "
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
