"""Keep one project for the open HITs of each HIT type, with as many places as fit.

A project is found again by its internal name, so a lost reply leads to no second one. A
published project can only get more places. It is paused, and then closed, when no work
is left while places are free: closing gives their money back. New work then gets a new
project. What a person paused or closed at Connect stays so, and no other takes its place.
"""

import math
import sqlite3
from functools import partial

from piecework.foundation.client.errors import NoAccess, Refused, Unusable
from piecework.marketplace.state import worker_limits
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging import studies
from piecework.markets.bridging.places import longest_visit, visits_possible
from piecework.markets.bridging.settling import PAID_EARLY
from piecework.markets.bridging.studies import StudyName, measured_seconds
from piecework.markets.connect.bridge import reading, targeting
from piecework.markets.connect.bridge.bridge import (
    LEAST_PER_HOUR_CENTS,
    NAME,
    RECOMMENDED_PER_HOUR_CENTS,
    Bridge,
    money,
)
from piecework.markets.connect.bridge.reading import cost_of_place, look
from piecework.markets.connect.bridge.status import committed_cents
from piecework.markets.connect.client import LEAST_MINUTES, NewProject, ProjectStatus

_CLOSED_THERE = (
    "somebody other than this server paused or closed the project at Connect, so nothing is "
    "published for the work left; to go on, run `piecework market connect reconcile --leave "
    "PROJECT`"
)
_HALTED_THERE = {
    "Paused": "somebody other than this server paused the project at Connect, so it stays "
    "paused; to go on, set it live there",
    **dict.fromkeys(reading.ENDED, _CLOSED_THERE),
}
_NOT_ARRIVED_HERE = (
    "SELECT count(*) FROM visits WHERE study = ? AND status = ? AND stage IN ('Open', 'Done')"
)


def recruit(bridge: Bridge) -> None:
    """Update the projects of each HIT type to match its open HITs."""
    with bridge.backend.transaction() as transaction:
        studies.revive_halted(transaction, NAME, reading.ENDED)
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
        is_needed = longest_visit(slots, 1) > 0
        is_halted = bridge.stays_halted(study, _HALTED_THERE, is_needed=is_needed)
        if is_halted and (possible or study["status"] in reading.ENDED):
            return
        with bridge.saying_refusals(study):
            needs_another = _follow(bridge, study, hit_type, possible, is_settled=is_settled)
        if needs_another:
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
    if targeting.is_outdated(bridge, study, hit_type):
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
        else:
            _set_live_again(bridge, study, study["places"] - taken)
    elif wanted > study["places"] and is_settled:
        _add_places(bridge, study, wanted)


def _set_live_again(bridge: Bridge, study: sqlite3.Row, free_places: int) -> None:
    trouble = reading.why_not_publish(bridge) or _objection(
        bridge, study, free_places, is_committed=True
    )
    if trouble:
        bridge.say(study, trouble)
    else:
        _set_status(bridge, study, "Live")


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
        study = bridge.study(study["id"])
    _set_status(bridge, study, "Closed")


def _begin(
    bridge: Bridge, hit_type: sqlite3.Row, slots: dict[int, int], *, most: int | None = None
) -> None:
    if reading.why_not_publish(bridge):
        return
    study = want(bridge, hit_type, slots, most=most)
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
    with bridge.saying_refusals(study):
        if study["stage"] == "Wanted":
            draft(bridge, study, hit_type)
            study = bridge.study(study_id)
        _publish(bridge, study, possible)


def _publish(bridge: Bridge, study: sqlite3.Row, possible: int | None) -> None:
    there = bridge.connect.projects.get(study["study_id"])
    if there.status not in (None, "Unpublished"):
        return  # An earlier call with a lost reply published it.
    if possible is not None and possible < study["places"]:
        _drop(bridge, study)  # Fewer people than places can work.
        return
    trouble = _objection(bridge, study, study["places"])
    if trouble:
        bridge.say(study, trouble)
    else:
        _set_status(bridge, study, "Live")


def _underpaid(study: sqlite3.Row) -> str:
    """Return that a project pays too little an hour; "" if it does not."""
    hourly = study["reward_cents"] * 60 // study["minutes"]
    if hourly >= LEAST_PER_HOUR_CENTS:
        return ""
    return (
        f"{money(study['reward_cents'])} for about {study['minutes']} minutes is "
        f"{money(hourly)} an hour; Connect asks for at least {money(LEAST_PER_HOUR_CENTS)}"
    )


def _objection(
    bridge: Bridge, study: sqlite3.Row, more_places: int, *, is_committed: bool = False
) -> str:
    """Return why this many more places cannot be paid for now; "" if they can.

    Args:
        bridge: the bridge.
        study: its row.
        more_places: how many.
        is_committed: whether what is committed counts them already.
    """
    terms = bridge.terms
    if underpaid := _underpaid(study):
        return underpaid
    more = study["cost_cents"] * more_places
    if not terms.is_live:
        return f"{more_places} places would cost {money(more)}; nothing is published without --live"
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction)
    if committed + more * (not is_committed) > terms.spend_at_most_cents:
        return (
            f"{more_places} places would cost {money(more)}; {money(committed)} of "
            f"the limit of {money(terms.spend_at_most_cents)} is already spent or "
            "committed"
        )
    balance = bridge.connect.account.balance()
    if not is_committed and balance.available_cents < more:
        return (
            f"{more_places} places would cost {money(more)}; the account has "
            f"{money(balance.available_cents)}"
        )
    return ""


def _add_places(bridge: Bridge, study: sqlite3.Row, places: int) -> None:
    trouble = reading.why_not_publish(bridge) or _objection(bridge, study, places - study["places"])
    if trouble:
        bridge.say(study, trouble)
        return
    there = bridge.connect.projects.get(study["study_id"])
    # Stored first: if the reply is lost, the cap still counts it.
    _note_places(bridge, study, places)
    bridge.changes += 1
    try:
        bridge.connect.projects.add_participants(there, places)
    except Refused:
        _note_places(bridge, study, study["places"])
        raise
    bridge.say(study, "")


def _note_places(bridge: Bridge, study: sqlite3.Row, places: int) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute("UPDATE studies SET places = ? WHERE id = ?", places, study["id"])


def _set_status(bridge: Bridge, study: sqlite3.Row, status: ProjectStatus) -> None:
    """Change a status; after a lost reply, the project's status shows it."""
    bridge.changes += 1
    bridge.statistics.pop(study["id"], None)
    if status == "Live":
        # Before the call, so that the cap counts it even if the reply is lost.
        bridge.note(study, stage="Published", status="Live")
    elif study["status"] == "Live" or study["halted_by"]:
        # The bridge may go on after its own pause, and not after a person's.
        bridge.note(study, stage=study["stage"], status=study["status"], halted_by="Bridge")
    try:
        bridge.connect.projects.set_status(study["study_id"], status)
    except Refused:
        bridge.note(study, stage=study["stage"], status=study["status"])
        raise
    bridge.note(study, stage="Published", status=status, halted_by="" if status == "Live" else None)
    bridge.say(study, "")


def _drop(bridge: Bridge, study: sqlite3.Row) -> None:
    """Drop a project that was never published and has no work left."""
    if study["study_id"]:
        there = bridge.connect.projects.get(study["study_id"])
        if there.status not in (None, "Unpublished", "Archived"):
            return  # An earlier call with a late reply published it.
        bridge.changes += 1
        try:
            bridge.connect.projects.set_status(study["study_id"], "Archived")
        except NoAccess as refusal:
            if not refusal.is_final:
                raise  # Otherwise it no longer exists.
        except Refused as refusal:
            if refusal.may_pass:
                raise
            bridge.say(study, f"an unneeded project could not be archived: {refusal}")
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET stage = 'Retired', status = 'Archived', halted_by = 'Bridge', "
            "cost_cents = coalesce(cost_cents, 0) WHERE id = ?",
            study["id"],
        )


def _retire(bridge: Bridge) -> None:
    """Stop reading projects that are over and fully settled.

    A project that a person closed is over if no HIT is left for it.
    """
    with bridge.backend.reading() as transaction:
        ended = transaction.all(
            f"SELECT id FROM studies WHERE market = '{NAME}' AND stage = 'Published' "
            f"AND status IN {reading.ENDED} AND (halted_by <> '' OR 0 = (SELECT "
            "assignable_hits FROM hit_types WHERE id = studies.hit_type)) AND NOT EXISTS "
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


def want(
    bridge: Bridge, hit_type: sqlite3.Row, slots: dict[int, int], *, most: int | None = None
) -> int | None:
    """Record that a project is wanted if there is work for it; return its row id.

    Args:
        bridge: the bridge.
        hit_type: the HIT type with the open HITs.
        slots: the number of HITs by number of free slots.
        most: the most HITs in a visit; None uses the terms.
    """
    terms = bridge.terms
    with bridge.backend.transaction() as transaction:
        seconds = _seconds_of_hit(bridge, transaction, hit_type)
        usual = terms.hits_per_visit or math.ceil(terms.visit_seconds / seconds)
        limit = worker_limits.limit_of_newcomers(transaction, hit_type["id"])
        usual = min(usual, limit or usual)
        hits = longest_visit(slots, usual if most is None else min(usual, most))
        possible = visits_possible(slots, hits) if hits else 0
        if not possible or not hit_type["reward_cents"]:
            return None
        number = next_number(transaction.conn, "studies")
        minutes = max(LEAST_MINUTES, round(hits * seconds / 60))
        allowed = math.ceil(hits * hit_type["duration_seconds"] / 60)
        code = transaction.id_generator.entity("code", number)
        return transaction.execute(
            "INSERT INTO studies (hit_type, market, internal_name, status, stage, "
            "hits_per_visit, currency, reward_cents, minutes, most_minutes, places, "
            "code, own_code, has_own_code, made_ms) "
            "VALUES (?, ?, ?, '', 'Wanted', ?, 'USD', ?, ?, ?, ?, ?, ?, 0, ?)",
            hit_type["id"],
            NAME,
            str(StudyName.new(transaction, hit_type["hit_type_id"], number)),
            hits,
            hits * hit_type["reward_cents"],
            minutes,
            max(2 * minutes, allowed),
            possible,
            "C" + code[1:9],
            "R" + code[9:17],
            transaction.now_ms,
        )


def _seconds_of_hit(bridge: Bridge, transaction: Transaction, hit_type: sqlite3.Row) -> float:
    """Return how long a HIT takes: as measured, as configured, or from its reward."""
    measured = measured_seconds(transaction, hit_type["id"])
    if measured is not None:
        return measured
    if bridge.terms.hit_seconds:
        return float(bridge.terms.hit_seconds)
    guess = hit_type["reward_cents"] * 3600 / RECOMMENDED_PER_HOUR_CENTS
    return float(max(1.0, min(guess, hit_type["duration_seconds"])))


def draft(bridge: Bridge, study: sqlite3.Row, hit_type: sqlite3.Row) -> None:
    """Create a wanted project without publishing it.

    A project that an earlier call with a lost reply created is found by its name. The
    token is the name with the number of refused attempts, so a late first call and this
    one cannot both create a project.

    Raises:
        Refused: Connect does not accept it; the message says why.
        Lost: it may have been created; its name finds it.
    """
    wanted = studies.requirements_of(hit_type)
    locations = targeting.allowed_countries(wanted)
    own = studies.own_requirements(wanted)
    let_in, keep_out = targeting.admitted(bridge, study["id"], own)
    included = None if let_in is None else tuple(sorted(let_in - keep_out))
    if included is not None and not included:
        raise Unusable(targeting.NOBODY_HOLDS)
    there = look(bridge).get(study["internal_name"])
    if there is None and (underpaid := _underpaid(study)):
        least = math.ceil(LEAST_PER_HOUR_CENTS * study["minutes"] / 60)
        raise Unusable(
            f"{underpaid}.",
            next_step=f"Such a visit must pay at least {money(least)}, as no visit is shorter than "
            f"{LEAST_MINUTES} minutes: raise the reward, or --hits-per-visit where more HITs are "
            "open.",
        )
    if there is None:
        token = f"{study['internal_name']} {study['refusals']}"
        try:
            there = bridge.connect.projects.create(
                NewProject(
                    name=hit_type["title"],
                    internal_name=study["internal_name"],
                    url=f"{bridge.terms.site_url}/visit/arrive",
                    payment_cents=study["reward_cents"],
                    minutes=study["minutes"],
                    most_minutes=study["most_minutes"],
                    participants=study["places"],
                    summary=hit_type["description"],
                    code=study["code"],
                    locations=locations,
                    included=included,
                    excluded=tuple(sorted(keep_out)),
                    devices=bridge.terms.devices,
                ),
                token=token,
            )
        except Refused:
            # The token is spent even by a refused call.
            with bridge.backend.transaction() as transaction:
                transaction.execute(
                    "UPDATE studies SET refusals = refusals + 1 WHERE id = ?", study["id"]
                )
            raise
        bridge.changes += 1
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET study_id = ?, stage = 'Draft', cost_cents = ?, "
            "places = ?, let_in_group = ?, status = 'Unpublished', "
            "trouble = '' WHERE id = ?",
            there.id,
            cost_of_place(there),
            max(1, there.participants),
            None if let_in is None else targeting.digest(let_in),
            study["id"],
        )
