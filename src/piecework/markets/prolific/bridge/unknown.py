"""Studies of this marketplace at Prolific that its file lacks.

Either the file was restored from a copy made before they were published, or another
copy of it is in use elsewhere. To avoid a second study for the same work, a person
decides about each (`piecework market prolific reconcile`). Until then nothing is published and
no place is added. The cap counts what they cost.

A study's internal name shows which marketplace it belongs to. It contains the identity
that all copies of a file share, and the generation that created it, so no copy repeats
a name.
"""

import sqlite3
from collections.abc import Collection

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import losses
from piecework.markets.bridging.losses import UnknownStudy, keep_unknown, read_unknown, undecided
from piecework.markets.prolific.bridge.bridge import LOG, NAME, Bridge
from piecework.markets.prolific.bridge.reading import AT_WORK, AWAITING, PAID, RECRUITING
from piecework.markets.prolific.resources.studies import Study

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
            LOG.warning("%s", sentence(bridge, each))


def sentence(bridge: Bridge, study: UnknownStudy) -> str:
    """Return the warning about an unknown study."""
    money = bridge.terms.money
    return losses.sentence(
        study, word="study", market="Prolific", submissions="submissions", money=money
    )


def objection(bridge: Bridge) -> str:
    """Return why nothing may be published now; "" if publishing is allowed."""
    return losses.objection(bridge, "studies")


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
