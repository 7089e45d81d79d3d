"""Keep one project for the open HITs of each HIT type, with as many places as fit.

A project is found again by its internal name, so a lost reply leads to no second one. A
published project can only get more places. It is paused, and then closed, when no work
is left while places are free: closing gives their money back. New work then gets a new
project.
"""

import sqlite3
from functools import partial

from piecework.foundation.client.errors import NoAccess, Refused
from piecework.marketplace.state.clock import SECOND
from piecework.markets.bridging import studies
from piecework.markets.bridging.places import visits_possible
from piecework.markets.bridging.settling import PAID_EARLY
from piecework.markets.connect.bridge import project_drafts, reading
from piecework.markets.connect.bridge.bridge import LEAST_PER_HOUR_CENTS, NAME, Bridge, money
from piecework.markets.connect.bridge.status import committed_cents
from piecework.markets.connect.client import ProjectStatus

_NOT_ARRIVED_HERE = (
    "SELECT count(*) FROM visits WHERE study = ? AND status = ? AND stage IN ('Open', 'Done')"
)


def recruit(bridge: Bridge) -> None:
    """Update the projects of each HIT type to match its open HITs."""
    with bridge.backend.reading() as transaction:
        hit_types = studies.open_hit_types(transaction, NAME)
    for hit_type in hit_types:
        bridge.tried(partial(_recruit, bridge, hit_type))
    _retire(bridge)


def _recruit(bridge: Bridge, hit_type: sqlite3.Row) -> None:
    with bridge.backend.reading() as transaction:
        slots = studies.open_slots(transaction, hit_type["id"])
        study = studies.present_study(transaction, hit_type["id"], NAME)
        quiet_ms = transaction.now_ms - bridge.terms.settle_seconds * SECOND
    is_settled = (hit_type["newest_ms"] or 0) <= quiet_ms
    bridge.is_due_soon |= not is_settled
    if study is None:
        if is_settled:
            _begin(bridge, hit_type, slots)
        return
    possible = visits_possible(slots, study["hits_per_visit"])
    if study["stage"] == "Published":
        if _follow(bridge, study, hit_type, possible, is_settled=is_settled):
            most = study["hits_per_visit"] if possible else study["hits_per_visit"] - 1
            _begin(bridge, hit_type, slots, most=most)
    elif not possible:
        _drop(bridge, study)
    elif is_settled:
        _bring_out(bridge, study["id"], hit_type, possible)


def _follow(
    bridge: Bridge, study: sqlite3.Row, hit_type: sqlite3.Row, possible: int, *, is_settled: bool
) -> bool:
    """Update a published project; return whether the HITs left need another one."""
    if study["status"] in reading.ENDED:
        return is_settled and not _not_arrived(bridge, study)
    if study["id"] not in bridge.assignments:
        return False
    if project_drafts.is_outdated(bridge, study, hit_type):
        _close(bridge, study)
    else:
        _keep_open(bridge, study, possible, is_settled=is_settled)
    return False


def _keep_open(bridge: Bridge, study: sqlite3.Row, possible: int, *, is_settled: bool) -> None:
    """Let as many participants come to a published project as there is work for."""
    listed = bridge.assignments[study["id"]]
    taken = len(listed) + reading.at_work(bridge, study)
    wanted = taken - _not_arrived(bridge, study) + possible
    if not possible and study["places"] > taken:
        _pause_or_close(bridge, study)
    elif study["status"] == "Paused" and possible:
        if study["places"] - taken > possible:
            _close(bridge, study)  # Its places cannot become fewer.
        elif not reading.why_not_publish(bridge):
            _set_status(bridge, study, "Live")
    elif wanted > study["places"] and is_settled:
        _add_places(bridge, study, wanted)


def _not_arrived(bridge: Bridge, study: sqlite3.Row) -> int:
    """Return how many take part at Connect but have not opened their visit."""
    with bridge.backend.reading() as transaction:
        row = transaction.first_row(_NOT_ARRIVED_HERE, study["id"], reading.AT_WORK)
    return max(0, reading.at_work(bridge, study) - (int(row[0]) if row else 0))


def _pause_or_close(bridge: Bridge, study: sqlite3.Row) -> None:
    """Admit no more participants; close when those at work have finished."""
    if study["status"] == "Live":
        _set_status(bridge, study, "Paused")
    elif not reading.at_work(bridge, study):
        _close(bridge, study)


def _close(bridge: Bridge, study: sqlite3.Row) -> None:
    if study["status"] == "Live":
        _set_status(bridge, study, "Paused")
    _set_status(bridge, study, "Closed")


def _begin(
    bridge: Bridge, hit_type: sqlite3.Row, slots: dict[int, int], *, most: int | None = None
) -> None:
    if reading.why_not_publish(bridge):
        return
    study = project_drafts.want(bridge, hit_type, slots, most=most)
    if study is not None:
        _bring_out(bridge, study, hit_type, None)


def _bring_out(bridge: Bridge, study_id: int, hit_type: sqlite3.Row, possible: int | None) -> None:
    """Create a wanted project, and publish it if that is allowed."""
    study = bridge.study(study_id)
    trouble = reading.why_not_publish(bridge)
    if trouble:
        bridge.say(study, trouble)
        return
    if possible is not None and study["stage"] == "Wanted":
        with bridge.backend.transaction() as transaction:
            transaction.execute("UPDATE studies SET places = ? WHERE id = ?", possible, study_id)
        study = bridge.study(study_id)
    try:
        if study["stage"] == "Wanted":
            project_drafts.draft(bridge, study, hit_type)
            study = bridge.study(study_id)
        _publish(bridge, study, possible)
    except Refused as refusal:
        bridge.say(study, f"{refusal} {refusal.next_step}".strip())
        raise


def _publish(bridge: Bridge, study: sqlite3.Row, possible: int | None) -> None:
    there = bridge.connect.projects.get(study["study_id"])
    if there.status not in (None, "Unpublished"):
        return  # An earlier call with a lost reply published it.
    if possible is not None and possible < study["places"]:
        _drop(bridge, study)  # Fewer people than places can work.
        return
    trouble = _objection(bridge, study, study["places"])
    bridge.say(study, trouble)
    if not trouble:
        _set_status(bridge, study, "Live")


def _objection(bridge: Bridge, study: sqlite3.Row, more_places: int) -> str:
    """Return why this many more places cannot be paid for now; "" if they can."""
    terms = bridge.terms
    hourly = study["reward_cents"] * 60 // study["minutes"]
    if hourly < LEAST_PER_HOUR_CENTS:
        return (
            f"{money(study['reward_cents'])} for about {study['minutes']} minutes is "
            f"{money(hourly)} an hour; Connect asks for at least "
            f"{money(LEAST_PER_HOUR_CENTS)}"
        )
    more = study["cost_cents"] * more_places
    if not terms.is_live:
        return f"{more_places} places would cost {money(more)}; nothing is published without --live"
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction)
    if committed + more > terms.spend_at_most_cents:
        return (
            f"{more_places} places would cost {money(more)}; {money(committed)} of "
            f"the limit of {money(terms.spend_at_most_cents)} is already spent or "
            "committed"
        )
    balance = bridge.connect.account.balance()
    if balance.available_cents < more:
        return (
            f"{more_places} places would cost {money(more)}; the account has "
            f"{money(balance.available_cents)}"
        )
    return ""


def _add_places(bridge: Bridge, study: sqlite3.Row, places: int) -> None:
    trouble = reading.why_not_publish(bridge) or _objection(bridge, study, places - study["places"])
    bridge.say(study, trouble)
    if trouble:
        return
    # Stored first: if the reply is lost, the cap still counts it.
    with bridge.backend.transaction() as transaction:
        transaction.execute("UPDATE studies SET places = ? WHERE id = ?", places, study["id"])
    bridge.changes += 1
    there = bridge.connect.projects.get(study["study_id"])
    try:
        bridge.connect.projects.add_participants(there, places)
    except Refused:
        with bridge.backend.transaction() as transaction:
            transaction.execute(
                "UPDATE studies SET places = ? WHERE id = ?", study["places"], study["id"]
            )
        raise


def _set_status(bridge: Bridge, study: sqlite3.Row, status: ProjectStatus) -> None:
    """Change a status; after a lost reply, the project's status shows it."""
    bridge.changes += 1
    if status == "Live":
        # Before the call, so that the cap counts it even if the reply is lost.
        _note(bridge, study, stage="Published", status="Live")
    try:
        bridge.connect.projects.set_status(study["study_id"], status)
    except Refused:
        _note(bridge, study, stage=study["stage"], status=study["status"])
        raise
    _note(bridge, study, stage="Published", status=status)


def _note(bridge: Bridge, study: sqlite3.Row, *, stage: str, status: str) -> None:
    bridge.note(study, stage=stage, status=status)
    bridge.statistics.pop(study["id"], None)


def _drop(bridge: Bridge, study: sqlite3.Row) -> None:
    """Drop a project that was never published and has no work left."""
    if study["study_id"]:
        there = bridge.connect.projects.get(study["study_id"])
        if there.status not in (None, "Unpublished", "Archived"):
            return  # An earlier call with a late reply published it.
        bridge.changes += 1
        try:
            bridge.connect.projects.set_status(study["study_id"], "Archived")
        except NoAccess:
            pass  # It no longer exists.
        except Refused as refusal:
            if refusal.may_pass:
                raise
            bridge.say(study, f"an unneeded project could not be archived: {refusal}")
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET stage = 'Retired', status = 'Archived', "
            "cost_cents = coalesce(cost_cents, 0) WHERE id = ?",
            study["id"],
        )


def _retire(bridge: Bridge) -> None:
    """Stop reading projects that are over and fully settled."""
    with bridge.backend.reading() as transaction:
        ended = transaction.all(
            f"SELECT id FROM studies WHERE market = '{NAME}' AND stage = 'Published' "
            "AND status IN ('Closed', 'Completed', 'Archived') AND NOT EXISTS "
            "(SELECT 1 FROM visits WHERE study = studies.id "
            f"AND (outcome IS NULL OR {PAID_EARLY}))"
        )
    for study in ended:
        known = bridge.statistics.get(study["id"])
        if known is None or known.in_progress or known.pending:
            continue
        with bridge.backend.transaction() as transaction:
            transaction.execute(
                "UPDATE studies SET stage = 'Retired', trouble = '' WHERE id = ?", study["id"]
            )
