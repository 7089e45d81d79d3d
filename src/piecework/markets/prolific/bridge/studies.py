"""Keep one study for the open HITs of each HIT type, with as many places as they fill.

A draft is found again by its internal name, so a lost reply leads to no second study.
Even a second draft would cost nothing, and only one is ever published. A published
study can only get more places. A study is stopped when no work is left while places are
free, or will be free because a participant was turned away, and if Prolific does not let
it recruit again. New work then gets a new study. A study that a person paused or stopped
at Prolific stays so, and no other takes its place until that person lets it go on.
"""

import sqlite3
from collections.abc import Mapping
from functools import partial

from piecework.foundation.client.errors import NoAccess, Refused, Throttled
from piecework.marketplace.state.clock import SECOND
from piecework.markets.bridging import studies
from piecework.markets.bridging.places import longest_visit, visits_possible
from piecework.markets.bridging.settling import PAID_EARLY
from piecework.markets.prolific.bridge import reading, study_drafts
from piecework.markets.prolific.bridge.bridge import NAME, Bridge
from piecework.markets.prolific.bridge.status import committed_cents
from piecework.markets.prolific.resources.studies import StudyAction, StudyChanges

_LONGEST_REST_SECONDS = 3600
"""The longest wait that Prolific may ask for; after that, a call shows the limit."""

_STOPPED_THERE = (
    "somebody other than this server paused or stopped the study at Prolific, so nothing is "
    "published for the work left; to go on, increase its places there"
)
HALTED_THERE = {
    "PAUSED": "somebody other than this server paused the study at Prolific, so it stays "
    "paused; to go on, start it there",
    **dict.fromkeys(reading.ENDED, _STOPPED_THERE),
}
"""What people read of a study that a person paused or stopped, by its status."""

_LEFT_IN_REVIEW = (
    "Prolific keeps the study in AWAITING REVIEW, because a place was not filled; no "
    "work is left for it, and nothing more is paid"
)


def recruit(bridge: Bridge) -> None:
    """Update the studies of each HIT type to match its open HITs."""
    with bridge.backend.transaction() as transaction:
        studies.revive_halted(transaction, NAME, reading.ENDED)
        hit_types = studies.open_hit_types(transaction, NAME)
    for hit_type in hit_types:
        bridge.tried(partial(_recruit, bridge, hit_type))
    retire(
        bridge,
        # `serving.screen` knows whether a screening that a person stopped is needed.
        "iif(halted_by <> '' AND (status = 'COMPLETED' OR qualification_type IS NOT NULL), "
        "1, qualification_type IS NULL AND 0 = (SELECT assignable_hits "
        "FROM hit_types WHERE id = studies.hit_type))",
    )


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
        with bridge.saying_refusals(study):
            needs_another = _follow(bridge, study, slots, possible, is_settled=is_settled)
        if not needs_another:
            return
        if is_settled:
            most = study["hits_per_visit"] if possible else study["hits_per_visit"] - 1
            _begin(bridge, hit_type, slots, most=most)
    elif not possible:
        _drop(bridge, study)
    elif is_settled:
        with bridge.backend.transaction() as transaction:
            transaction.execute("UPDATE studies SET places = ? WHERE id = ?", possible, study["id"])
        bring_out(bridge, study["id"], hit_type)


def _follow(
    bridge: Bridge,
    study: sqlite3.Row,
    slots: Mapping[int, int],
    possible: int,
    *,
    is_settled: bool,
) -> bool:
    """Update a published study; return whether the HITs left need another one."""
    taken = reading.places_taken(bridge, study["id"])
    if taken is None:
        return False
    to_come = reading.not_arrived(bridge, study["id"])
    soon_free = reading.will_be_returned(bridge, study["id"])
    wanted, places = taken - soon_free - to_come + possible, study["places"]
    status, is_closed = study["status"], study["halted_by"] == "Market"
    free = 0 if is_closed else places - taken
    is_paused, has_ended = status == "PAUSED", status in reading.ENDED
    is_inviting = is_paused or (status == "ACTIVE" and places > taken - soon_free)
    if is_inviting and (is_closed or not possible):
        stop(bridge, study)
    elif bridge.stays_halted(study, HALTED_THERE, is_needed=longest_visit(slots, 1) > 0):
        pass
    elif not is_closed and wanted > places and (has_ended or status in ("ACTIVE", "PAUSED")):
        if is_settled:
            _raise_places(bridge, study, wanted)
    elif 0 < free <= possible and (is_paused or status == reading.AWAITING):
        return not start_again(bridge, study, free) and not to_come
    elif is_paused and free > possible:
        stop(bridge, study)  # Its places cannot become fewer.
    else:
        return has_ended and not to_come
    return False


def start_again(bridge: Bridge, study: sqlite3.Row, free_places: int) -> bool:
    """Let participants take the free places of a study that Prolific paused or closed.

    Prolific documents START of a paused study only. Where it refuses another one, return
    False: that study stays closed, and the cap counts its free places no more.
    """
    trouble = reading.why_not_publish(bridge) or _objection(
        bridge, study, free_places, is_committed=True
    )
    if trouble:
        bridge.say(study, trouble)
        return True
    try:
        _transit(bridge, study, "START")
    except Refused as refusal:
        if not refusal.is_final or study["status"] == "PAUSED":
            raise
        bridge.note(study, stage=study["stage"], status=study["status"], halted_by="Market")
        return False
    return True


def _begin(
    bridge: Bridge, hit_type: sqlite3.Row, slots: dict[int, int], *, most: int | None = None
) -> None:
    if reading.why_not_publish(bridge):
        return
    study = study_drafts.want(bridge, hit_type, slots, most=most)
    if study is not None:
        bring_out(bridge, study, hit_type)


def bring_out(bridge: Bridge, study_id: int, hit_type: sqlite3.Row) -> None:
    """Create the draft of a wanted study, and publish it if that is allowed."""
    study = bridge.study(study_id)
    reading.look(bridge)
    trouble = reading.why_not_publish(bridge) or _rest(bridge)
    if trouble:
        bridge.say(study, trouble)
        return
    try:
        with bridge.saying_refusals(study):
            if study["stage"] == "Wanted":
                study_drafts.draft(bridge, study, hit_type)
                study = bridge.study(study_id)
            if study["stage"] == "Draft":
                _publish(bridge, study)
    except Throttled as refusal:
        _begin_rest(bridge, refusal)
        raise


def _rest(bridge: Bridge) -> str:
    """Return why no study may be created or published now; "" if it may."""
    with bridge.backend.reading() as transaction:
        left_ms = bridge.rests_until_ms - transaction.counted_ms
    if left_ms <= 0 and not bridge.is_throttled:
        return ""
    return (
        "Prolific limits how many studies are created and published at once; this one "
        "waits for its turn"
    )


def _begin_rest(bridge: Bridge, refusal: Throttled) -> None:
    """Leave Prolific alone for this step, and for as long as it asks."""
    wait_seconds = min(refusal.wait_seconds or 0, _LONGEST_REST_SECONDS)
    with bridge.backend.reading() as transaction:
        bridge.rests_until_ms = transaction.counted_ms + round(wait_seconds * SECOND)
    bridge.is_throttled = True


def _publish(bridge: Bridge, study: sqlite3.Row) -> None:
    there = bridge.prolific.studies.get(study["study_id"])
    if there.status != "UNPUBLISHED":
        return  # An earlier call with a lost reply published it.
    if there.places != study["places"]:
        changes = StudyChanges(places=study["places"])
        bridge.prolific.studies.change(study["study_id"], changes)
    trouble = _objection(bridge, study, study["places"])
    if trouble:
        bridge.say(study, trouble)
    else:
        _transit(bridge, study, "PUBLISH")


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
    hourly = study["reward_cents"] * 60 // study["minutes"]
    if hourly < terms.least_per_hour_cents:
        return (
            f"{terms.money(study['reward_cents'])} for about {study['minutes']} "
            f"minutes is {terms.money(hourly)} an hour; Prolific requires at least "
            f"{terms.money(terms.least_per_hour_cents)}"
        )
    more = study["cost_cents"] * more_places
    if study["stage"] == "Draft":
        more += study["screen_out_cost_cents"] * study["screen_out_slots"]
    if not terms.is_live:
        return (
            f"{more_places} places would cost {terms.money(more)}; nothing is "
            "published without --live"
        )
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction)
    if committed + more * (not is_committed) > terms.spend_at_most_cents:
        return (
            f"{more_places} places would cost {terms.money(more)}; "
            f"{terms.money(committed)} of the limit of "
            f"{terms.money(terms.spend_at_most_cents)} is already spent or committed"
        )
    balance = bridge.prolific.account.balance(terms.workspace_id)
    if balance.currency != terms.currency:
        return f"the workspace is now in {balance.currency}, not in {terms.currency}"
    if not is_committed and balance.available_minor < more:
        return (
            f"{more_places} places would cost {terms.money(more)}; the workspace has "
            f"{balance.available}"
        )
    return ""


def _raise_places(bridge: Bridge, study: sqlite3.Row, places: int) -> None:
    trouble = reading.why_not_publish(bridge) or _objection(bridge, study, places - study["places"])
    if trouble:
        bridge.say(study, trouble)
        return
    # The new total is stored first: if the reply is lost, the cap still counts it. A
    # completed study recruits again, so `retire` must not retire it.
    is_paused = study["status"] == "PAUSED"
    _note_places(bridge, study, places, "PAUSED" if is_paused else "ACTIVE")
    bridge.changes += 1
    try:
        bridge.prolific.studies.change(study["study_id"], StudyChanges(places=places))
    except Refused:
        _note_places(bridge, study, study["places"], study["status"])
        raise
    bridge.say(study, "")
    if is_paused:
        _transit(bridge, study, "START")


def _note_places(bridge: Bridge, study: sqlite3.Row, places: int, status: str) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET places = ?, status = ? WHERE id = ?", places, status, study["id"]
        )


def stop(bridge: Bridge, study: sqlite3.Row) -> None:
    """Stop recruiting for a study; participants at work may finish.

    Stored first: the bridge may go on after its own stop, and not after a person's pause.
    """
    is_ours = study["halted_by"] in ("Bridge", "Places") or study["status"] != "PAUSED"
    bridge.note(
        study,
        stage=study["stage"],
        status=study["status"],
        halted_by="Bridge" if is_ours else None,
    )
    _transit(bridge, study, "STOP")


def _transit(bridge: Bridge, study: sqlite3.Row, action: StudyAction) -> None:
    """Make a transition; after a lost reply, the study's status shows it."""
    bridge.changes += 1
    if action == "PUBLISH":
        # Before the call, so that the cap counts it even if the reply is lost.
        bridge.note(study, stage="Published", status="PUBLISHING")
    try:
        status = bridge.prolific.studies.transition(study["study_id"], action).status
    except Refused:
        bridge.note(study, stage=study["stage"], status=study["status"])
        raise
    bridge.note(study, stage="Published", status=status, halted_by=None if action == "STOP" else "")
    bridge.say(study, "")


def _drop(bridge: Bridge, study: sqlite3.Row) -> None:
    """Drop a study that was never published and has no work left."""
    if study["study_id"]:
        bridge.changes += 1
        try:
            bridge.prolific.studies.delete(study["study_id"])
        except NoAccess as refusal:
            if not refusal.is_final:
                raise  # Otherwise it no longer exists.
        except Refused as refusal:
            if refusal.may_pass:
                raise
            there = bridge.prolific.studies.get(study["study_id"])
            if there.status != "UNPUBLISHED":
                return  # An earlier call with a late reply published it.
            bridge.say(study, f"an unneeded draft could not be deleted: {refusal}")
    bridge.note(study, stage="Retired", status="DELETED")


def retire(bridge: Bridge, is_over: str, *values: object) -> None:
    """Stop reading studies that are over and fully settled.

    Prolific may keep a study in AWAITING REVIEW because a rejection left a place free.
    It is over if no HIT is left for that place, as a study that a person stopped. It then
    admits no participant and holds no money.

    Args:
        bridge: the bridge.
        is_over: the SQL condition that nobody needs an ended study.
        values: its parameters.
    """
    with bridge.backend.transaction() as transaction:
        for study in transaction.all(
            "SELECT id, status FROM studies WHERE stage = 'Published' "
            f"AND market = '{NAME}' AND status IN {reading.ENDED} AND {is_over} AND NOT EXISTS "
            "(SELECT 1 FROM visits WHERE study = studies.id "
            f"AND (outcome IS NULL OR {PAID_EARLY}))",
            *values,
        ):
            if not reading.waits(bridge, study["id"]):
                transaction.execute(
                    "UPDATE studies SET stage = 'Retired', trouble = ? WHERE id = ?",
                    "" if study["status"] == "COMPLETED" else _LEFT_IN_REVIEW,
                    study["id"],
                )
