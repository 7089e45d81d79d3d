"""The states of a study, and the money held in each.

    UNPUBLISHED -> (SCHEDULED ->) PUBLISHING -> ACTIVE <-> PAUSED
    ACTIVE -> AWAITING REVIEW, when every place is used and all work is submitted
    AWAITING REVIEW -> COMPLETED, when every submission is decided
    AWAITING REVIEW -> PAUSED, when a place is freed (if `rejection_pauses`)
    ACTIVE, PAUSED -> COMPLETED, when it is stopped
    AWAITING REVIEW, COMPLETED -> ACTIVE, when places are raised

While it recruits, a study holds the cost of all unpaid places; later, only the cost of
undecided submissions.
"""

from collections.abc import Callable

from offline_markets.core.clock import SECOND, read_iso
from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import money
from offline_markets.prolific.beyond.credentials import has_credential
from offline_markets.prolific.money import Cost, cost_of
from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, PAID, RECRUITING, Study


def transition(state: State, study: Study, action: str, publish_at: object) -> None:
    """Carry out the requester's transition of a study.

    Raises:
        ApiError: it is not possible now; the message says why.
    """
    known = {name for _, name in _TRANSITIONS}
    if action not in known:
        raise wrong("action", f"One of {', '.join(sorted(known))}.")
    do = _TRANSITIONS.get((study.status, action))
    if do is None:
        raise ApiError(400, f"A study that is {study.status} cannot {action}.")
    if action == "SCHEDULE_PUBLISH":
        _set_publish_at(state, study, publish_at)
    do(state, study)


def publish(state: State, study: Study) -> None:
    """Hold the money; the study recruits after the PUBLISHING status."""
    if not study.is_ready:
        raise wrong("completion_codes", "At least one is needed to publish.")
    if not has_credential(state, study):
        raise wrong("credential_pool_id", "No credentials are left in this pool.")
    reconcile_hold(state, study.set_status(state, "PUBLISHING"))
    if state.switches.publishes_at_once:
        recruit(state, study.study_id)
        return
    at_ms = state.now_ms + state.switches.publishing_seconds * SECOND
    state.plan("recruit", study.study_id, at_ms=at_ms)


def publish_scheduled(state: State, study_id: str) -> None:
    """Publish a scheduled study; if the money is missing, it becomes a draft again."""
    study = Study.find(state, study_id)
    if study.status != "SCHEDULED" or study.publish_at_ms != state.now_ms:
        return
    needed = cost_when_full(state, study).total
    if money.available(state, study.workspace_id) < needed:
        study.set_status(state, "UNPUBLISHED")
    else:
        publish(state, study)


def recruit(state: State, study_id: str) -> None:
    """Show a study to participants after the PUBLISHING status."""
    study = Study.find(state, study_id)
    if study.status == "PUBLISHING":
        state.conn.execute(
            "UPDATE study SET published_ms = ? WHERE id = ?", (state.now_ms, study_id)
        )
        study.set_status(state, "ACTIVE")


def follow(state: State, study_id: str, *, frees_place: bool = False) -> None:
    """Update a study's status and held money to match its submissions.

    Args:
        state: the emulator's memory.
        study_id: the study.
        frees_place: whether a submission was just rejected or returned.
    """
    study = Study.find(state, study_id)
    was_full = frees_place and study.free_places(state) == 1
    if was_full and study.status == "AWAITING REVIEW" and state.switches.rejection_pauses:
        study = study.set_status(state, "PAUSED")
    counts = study.counts(state)
    in_hand = counts["RESERVED"] + counts["ACTIVE"]
    if study.status == "ACTIVE" and _has_full_screen_out(state, study):
        study = study.set_status(state, "PAUSED")
    if study.status == "ACTIVE" and not in_hand and study.free_places(state) <= 0:
        study = study.set_status(state, "AWAITING REVIEW")
    is_decided = not in_hand and not counts["AWAITING REVIEW"]
    stays = state.switches.rejection_awaits_review and study.free_places(state) > 0
    if study.status == "AWAITING REVIEW" and is_decided and not stays:
        study = study.set_status(state, "COMPLETED")
    reconcile_hold(state, study)


def reconcile_hold(state: State, study: Study) -> None:
    """Hold what the study needs in its status, and release the rest.

    Raises:
        ApiError: the workspace has too little money.
    """
    more = _needed(state, study) - study.held
    source, target = ("available", "held") if more > 0 else ("held", "available")
    money.move(
        state,
        study.workspace_id,
        abs(more),
        kind="hold" if more > 0 else "release",
        source=source,
        target=target,
        study_id=study.study_id,
    )


def cost_when_full(state: State, study: Study) -> Cost:
    """Return what the study costs if every place and every screen-out is paid."""
    parts = [cost_of(state, study.reward).times(study.places)]
    parts += [
        cost_of(state, screen_out.reward).times(screen_out.slots)
        for screen_out in study.screen_outs
    ]
    return Cost(
        sum(part.reward for part in parts),
        sum(part.fee for part in parts),
        sum(part.vat for part in parts),
    )


def reopen(state: State, study: Study) -> None:
    """Recruit again after places were raised, and hold money for the new ones."""
    if study.status in ("AWAITING REVIEW", "COMPLETED"):
        study = study.set_status(state, "ACTIVE")
    if not study.is_draft:
        follow(state, study.study_id)


def _needed(state: State, study: Study) -> int:
    counts = study.counts(state)
    undecided = sum(counts[status] for status in OPEN)
    each = cost_of(state, study.reward).total
    if study.status not in RECRUITING:
        return undecided * each
    unpaid = study.places - sum(counts[status] for status in PAID)
    screen_outs = sum(
        max(0, screen_out.slots - study.screened_out(state, screen_out.code))
        * cost_of(state, screen_out.reward).total
        for screen_out in study.screen_outs
    )
    return max(unpaid, undecided) * each + screen_outs


def _has_full_screen_out(state: State, study: Study) -> bool:
    return any(
        study.screened_out(state, screen_out.code) >= screen_out.slots
        for screen_out in study.screen_outs
    )


def _set_publish_at(state: State, study: Study, publish_at: object) -> None:
    try:
        at_ms = read_iso(publish_at)
    except ValueError as fault:
        raise wrong("publish_at", f"{fault}.") from fault
    if at_ms <= state.now_ms:
        raise wrong("publish_at", "It is in the past.")
    state.conn.execute("UPDATE study SET publish_at_ms = ? WHERE id = ?", (at_ms, study.study_id))
    state.plan("publish", study.study_id, at_ms=at_ms)


def _schedule(state: State, study: Study) -> None:
    if not study.is_ready:
        raise wrong("completion_codes", "At least one is needed to publish.")
    study.set_status(state, "SCHEDULED")


def _unschedule(state: State, study: Study) -> None:
    state.conn.execute("UPDATE study SET publish_at_ms = NULL WHERE id = ?", (study.study_id,))
    study.set_status(state, "UNPUBLISHED")


def _pause(state: State, study: Study) -> None:
    study.set_status(state, "PAUSED")


def _start(state: State, study: Study) -> None:
    """Recruit again for a study that awaits review: a guess (see `rejection_pauses`)."""
    if state.switches.rejection_pauses:
        raise ApiError(400, f"A study that is {study.status} cannot START.")
    if study.free_places(state) <= 0:
        raise ApiError(400, "No place is free; raise total_available_places.")
    if _has_full_screen_out(state, study):
        raise ApiError(400, "The screen-out slots are used up; raise them.")
    reconcile_hold(state, study.set_status(state, "ACTIVE"))


def _resume(state: State, study: Study) -> None:
    if _has_full_screen_out(state, study):
        raise ApiError(400, "The screen-out slots are used up; raise them.")
    study.set_status(state, "ACTIVE")
    follow(state, study.study_id)


def _stop(state: State, study: Study) -> None:
    counts = study.counts(state)
    is_open = any(counts[status] for status in OPEN)
    waits = is_open and state.switches.stop_awaits_review
    reconcile_hold(state, study.set_status(state, "AWAITING REVIEW" if waits else "COMPLETED"))


_TRANSITIONS: dict[tuple[str, str], Callable[[State, Study], None]] = {
    ("UNPUBLISHED", "PUBLISH"): publish,
    ("UNPUBLISHED", "SCHEDULE_PUBLISH"): _schedule,
    ("SCHEDULED", "CANCEL_PUBLISH"): _unschedule,
    ("ACTIVE", "PAUSE"): _pause,
    ("ACTIVE", "STOP"): _stop,
    ("PAUSED", "START"): _resume,
    ("PAUSED", "STOP"): _stop,
    ("AWAITING REVIEW", "START"): _start,
}
