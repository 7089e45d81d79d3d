"""What the bridge reads of Prolific: submissions, and those that it does not know.

Either the file was restored from a copy made before they were published, or another
copy of it is in use elsewhere. To avoid a second study for the same work, a person
decides about each (`piecework market prolific reconcile`). Until then nothing is published and
no place is added. The cap counts what they cost.

A study's internal name shows which marketplace it belongs to. It contains the identity
that all copies of a file share, and the generation that created it, so no copy repeats
a name.

Changes made by hand on Prolific's own pages arrive in the same way.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from piecework.foundation.client.errors import NoAccess, Unusable
from piecework.marketplace.state import clock, lineage, visits
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import losses
from piecework.markets.bridging.losses import UnknownStudy, keep_unknown, read_unknown, undecided
from piecework.markets.bridging.settling import SCREENED_OUT
from piecework.markets.bridging.studies import published_studies
from piecework.markets.prolific.bridge.bridge import LOG, NAME, Bridge
from piecework.markets.prolific.resources.studies import Study
from piecework.markets.prolific.resources.submissions import Submission

_PUBLISHING = "PUBLISHING"
_DRAFTS = ("UNPUBLISHED", "SCHEDULED")


def look(bridge: Bridge) -> None:
    """Compare all studies of the project with the file, once in each step.

    Raises:
        ApiError: the call failed, so nothing is known.
    """
    if bridge.listed is not None:
        return
    listed = {each.id: each for each in bridge.prolific.studies.of_project(bridge.terms.project_id)}
    with bridge.backend.reading() as transaction:
        before = {each.study_id for each in read_unknown(transaction, NAME)}
        unknown_studies = [each for each in listed.values() if _is_unknown(transaction, each)]
    for study in unknown_studies:
        _take_in(bridge, study)
    bridge.listed = {
        study.internal_name: study.id
        for study in listed.values()
        if study.internal_name is not None
    }
    if bridge.is_compared:  # The first comparison warns about all of them together.
        warn(bridge, but=before)


def warn(bridge: Bridge, *, but: Collection[str] = ()) -> None:
    """Log a warning about each unknown study that a person has to decide about."""
    with bridge.backend.reading() as transaction:
        waiting = undecided(transaction, NAME)
    for each in waiting:
        if each.study_id not in but:
            LOG.warning("%s", unknown_sentence(bridge, each))


def unknown_sentence(bridge: Bridge, study: UnknownStudy) -> str:
    """Return the warning about an unknown study."""
    return losses.loss_sentence(
        study,
        word="study",
        market="Prolific",
        name=NAME,
        submissions="submissions",
        money=bridge.terms.money,
    )


def why_not_publish(bridge: Bridge) -> str:
    """Return why nothing may be published now; "" if publishing is allowed."""
    return losses.why_not_publish(bridge, "studies")


def set_aside(bridge: Bridge, study_id: str) -> None:
    """Stop an unknown study and leave it to Prolific, which pays its participants.

    Raises:
        Unusable: there is no such study, or Prolific is still publishing it.
    """
    with bridge.backend.reading() as transaction:
        check_unknown(transaction, study_id)
    there = bridge.prolific.studies.get(study_id)
    if there.status == _PUBLISHING:
        raise Unusable(
            f"the study {study_id} is {_PUBLISHING} at Prolific, which can stop a "
            "study only when it is ACTIVE or PAUSED; nothing was changed",
            next_step=f"in a few minutes: piecework market prolific reconcile --leave {study_id}",
        )
    if there.status in RECRUITING:
        there = bridge.prolific.studies.transition(study_id, "STOP")
    _take_in(bridge, there)
    with bridge.backend.transaction() as transaction:
        losses.leave_unknown(transaction, study_id)


def check_unknown(transaction: Transaction, study_id: str) -> sqlite3.Row:
    """Return the row of an unknown study; see `losses.unknown_row`."""
    see = "piecework market prolific reconcile"
    return losses.unknown_row(transaction, study_id, word="study", see=see)


def _is_unknown(transaction: Transaction, study: Study) -> bool:
    if study.status in _DRAFTS:
        return False  # It costs nothing and recruits no participants.
    return losses.is_unknown(transaction, study.id, study.internal_name)


def _take_in(bridge: Bridge, study: Study) -> None:
    """Store the state of an unknown study and what it cost."""
    studies = bridge.prolific.studies
    cost = studies.cost(study.id)
    counts = bridge.prolific.submissions.counts(study.id)
    undecided = sum(counts.get(status, 0) for status in (*AT_WORK, AWAITING))
    paid = sum(counts.get(status, 0) for status in PAID)
    places = study.places or 0
    is_recruiting = study.status in RECRUITING
    held = max(places - paid, undecided) if is_recruiting else undecided
    unit = held and studies.calculated_cost_minor(reward_minor=study.reward_minor or 0, places=1)
    with bridge.backend.transaction() as transaction:
        if not _is_unknown(transaction, study):
            return  # It was adopted meanwhile.
        keep_unknown(
            transaction,
            NAME,
            UnknownStudy(
                study_id=study.id,
                internal_name=study.internal_name or "",
                status=study.status,
                places=places,
                submissions=sum(number for name, number in counts.items() if name != "TOTAL"),
                spent_cents=cost.rewards.minor + cost.bonuses.minor,
                held_cents=held * unit,
            ),
        )


AT_WORK = ("RESERVED", "ACTIVE")
AWAITING = "AWAITING REVIEW"
TIMED_OUT = "TIMED-OUT"
GIVEN_BACK = ("RETURNED", TIMED_OUT)
PAID = ("APPROVED", "PARTIALLY APPROVED")
ENDED = (AWAITING, "COMPLETED")
RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
"""Studies with free places that can still be taken, so their cost is held."""

FREES_ITS_PLACE = (*GIVEN_BACK, "REJECTED", SCREENED_OUT)


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
        if study["stage"] != "Draft" or not fault.is_final:
            raise
        _forget_draft(bridge, study)
        return
    is_draft = there.status == "UNPUBLISHED"
    counts = {} if is_draft else dict(bridge.prolific.submissions.counts(study["study_id"]))
    is_changed = not is_draft and counts != bridge.counts.get(study["id"])
    # Read before the status is stored: what changed is judged once.
    listed = _listed(bridge, study, counts) if is_changed else None
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET status = ?, places = coalesce(?, places), "
            "halted_by = coalesce(?, halted_by), "
            "stage = iif(? IN ('UNPUBLISHED', 'SCHEDULED'), 'Draft', 'Published') "
            "WHERE id = ?",
            there.status,
            there.places,
            _halted_by(bridge, study, there, counts),
            there.status,
            study["id"],
        )
        if is_draft:
            bridge.submissions[study["id"]] = {}
        if listed is None:
            return
        _take_all_in(transaction, study, listed)
        visits_here = transaction.all(
            "SELECT submission_id FROM visits WHERE study = ?", study["id"]
        )
        begun = {row["submission_id"] for row in visits_here}
        transaction.execute(
            "UPDATE studies SET undecided = ?, freed = iif(?, ?, freed), not_begun = ? "
            "WHERE id = ?",
            sum(each.status in (*AT_WORK, AWAITING) for each in listed.values()),
            study["id"] in bridge.counts,
            _freed(listed),
            json.dumps({each.id: each.status for each in listed.values() if each.id not in begun}),
            study["id"],
        )
        _suspect_losses(bridge, transaction, study, listed)


def _listed(bridge: Bridge, study: sqlite3.Row, counts: Mapping[str, int]) -> dict[str, Submission]:
    """Return a study's submissions by id.

    Lists may lag behind the counts; `bridge.counts` has those of a list that agrees.
    """
    listed = {each.id: each for each in bridge.prolific.submissions.of_study(study["study_id"])}
    bridge.submissions[study["id"]] = listed
    of_list = Counter(each.status for each in listed.values())
    is_whole = all(counts.get(status) == number for status, number in of_list.items())
    if is_whole and counts.get("TOTAL", len(listed)) == len(listed):
        bridge.counts[study["id"]] = dict(counts)
    else:
        bridge.counts.pop(study["id"], None)
    return listed


def _freed(listed: Mapping[str, Submission]) -> int:
    """Return how many submissions were ended, and freed their place only then."""
    return sum(
        each.status in ("REJECTED", "RETURNED") and each.completed_at is not None
        for each in listed.values()
    )


def _halted_by(
    bridge: Bridge, study: sqlite3.Row, there: Study, counts: Mapping[str, int]
) -> str | None:
    """Return why a study has stopped recruiting; None if the reason is as before.

    Prolific pauses a full study by itself when a rejection or a return frees a place, and
    another one when its slots for screen-outs are used up. A person paused any other.
    """
    if there.status in (_PUBLISHING, "ACTIVE"):
        return ""
    is_paused, has_ended = there.status == "PAUSED", there.status in ENDED
    if not (is_paused or has_ended) or study["halted_by"] == "Market":
        return None
    before = study["status"], study["halted_by"]
    has_used_up = 0 < study["screen_out_slots"] <= counts.get(SCREENED_OUT, 0)
    if is_paused and has_used_up and before != ("PAUSED", ""):
        return "Market"
    if _was_full(bridge, study, there, counts):
        return "Places"
    # A person stopped what Prolific had paused.
    return "" if has_ended and before == ("PAUSED", "Places") else None


def _was_full(bridge: Bridge, study: sqlite3.Row, there: Study, counts: Mapping[str, int]) -> bool:
    """Return whether a study that stopped recruiting was full since it was last read.

    Only a change of its status is judged: places that were freed before it, while the
    study recruited, or after it, while it was halted, say nothing.
    """
    places = there.places or study["places"]
    taken = sum(
        number for name, number in counts.items() if name not in (*FREES_ITS_PLACE, "TOTAL")
    )
    if there.status in ENDED and taken >= places:
        return True
    if study["status"] in ("PAUSED", *ENDED) and study["id"] not in bridge.unclear:
        return False
    if study["id"] in bridge.counts:
        bridge.unclear.discard(study["id"])
    else:
        bridge.unclear.add(study["id"])  # Its list lags behind, and is judged again.
    freed = _freed(bridge.submissions.get(study["id"], {})) - study["freed"]
    is_at_work = any(counts.get(status) for status in AT_WORK)
    return not is_at_work and taken + freed >= places


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
        study=study,
        participant_id=submission.participant_id,
        submission_id=submission.id,
        status=submission.status,
        ended_ms=transaction.now_ms if ended is None else clock.to_ms(ended),
    )
    if submission.status == SCREENED_OUT:
        transaction.execute(
            "UPDATE visits SET stage = 'TurnedAway', screen_out_cents = ? "
            "WHERE submission_id = ? AND study = ? AND stage = 'Left'",
            study["screen_out_cents"],
            submission.id,
            study["id"],
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
        visits.close_visit(transaction, visit["id"], stage="Late" if late else "Left")
