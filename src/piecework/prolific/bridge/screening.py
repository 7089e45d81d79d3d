"""Paid screenings: a study in which participants take a qualification type's test.

Where a HIT type asks for a qualification that is granted by a test, nobody at Prolific
holds it yet. So participants are paid to take the test, some at a time; who passes is
granted the qualification as anybody is, and with it comes into the let-in group of the
HIT type's study. Everybody is paid, whatever comes of it.
"""

import json
import sqlite3
from functools import partial

from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import eligibility
from piecework.prolific.bridge import drafting, requirements, unknown
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.studies import bring_out, say, stop

_LACKING = (
    "SELECT studies.id, studies.hit_type, studies.places, studies.trouble, "
    "hit_types.requirements FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "WHERE studies.qualification_type IS NULL AND studies.let_in_group IS NOT NULL "
    "AND (studies.stage = 'Draft' OR studies.status IN ('PUBLISHING', 'ACTIVE'))"
)
_TESTED = (
    "SELECT qualification_types.*, tests.duration_seconds FROM qualification_types "
    "JOIN tests ON tests.id = qualification_types.test "
    "WHERE qualification_type_id = ? AND is_requestable = 1 "
    "AND qualification_types.status = 'Active' AND deleted_ms IS NULL"
)
_PASSED = (
    "SELECT count(*) FROM participants JOIN qualifications "
    "ON qualifications.worker = participants.worker "
    "WHERE qualification_type = ? AND qualifications.status = 'Granted'"
)


def screen(bridge: Bridge) -> None:
    """Offer tests where too few participants hold what a study asks for."""
    with bridge.backend.transaction() as transaction:
        lacking = transaction.all(_LACKING)
        at_work = transaction.all(
            "SELECT * FROM studies WHERE qualification_type IS NOT NULL "
            "AND stage <> 'Retired'"
        )
        needed = {
            kind["id"] for study in lacking for kind in _tests_for(transaction, study)
        }
    for study in at_work:
        is_needed = study["qualification_type"] in needed
        bridge.tried(partial(_follow, bridge, study, is_needed=is_needed))
    for study in () if unknown.objection(bridge) else lacking:
        bridge.tried(partial(_offer, bridge, study))


def _tests_for(transaction: Transaction, study: sqlite3.Row) -> list[sqlite3.Row]:
    """The types with a test that nobody meets a study's requirements without."""
    kinds = [
        transaction.one(_TESTED, requirement["QualificationTypeId"])
        for requirement in requirements.custom(json.loads(study["requirements"]))
        if not eligibility.meets(requirement, None)
    ]
    return [kind for kind in kinds if kind is not None]


def _follow(bridge: Bridge, study: sqlite3.Row, *, is_needed: bool) -> None:
    """Publish a screening that was wanted; end one that is not needed any more."""
    if study["status"] == "ACTIVE" and not is_needed:
        stop(bridge, study)
    elif study["stage"] in ("Wanted", "Draft"):
        bring_out(bridge, study["id"], _hit_type(bridge, study["hit_type"]))


def _offer(bridge: Bridge, study: sqlite3.Row) -> None:
    hit_type = _hit_type(bridge, study["hit_type"])
    with bridge.backend.transaction() as transaction:
        due = [
            kind
            for kind in _tests_for(transaction, study)
            if _are_too_few(transaction, kind, study)
        ]
    for kind in due:
        if not bridge.terms.screening_cents:
            say(
                bridge,
                study,
                f"too few participants hold {kind['name']!r}: name what its test is "
                "paid (--screening-pay), or grant it otherwise",
            )
            continue
        with bridge.backend.transaction() as transaction:
            screening = drafting.write(
                bridge,
                transaction,
                hit_type,
                _shape(bridge, kind),
                qualification_type=kind["id"],
            )
        bring_out(bridge, screening, hit_type)


def _shape(bridge: Bridge, kind: sqlite3.Row) -> drafting.Shape:
    pay = bridge.terms.screening_cents
    return drafting.Shape(
        hits=0,
        reward_cents=pay,
        seconds=drafting.seconds_for(bridge, pay),
        # A minute more than the test itself, to read what it is about.
        allowed_seconds=kind["duration_seconds"] + 60,
        places=bridge.terms.screening_places,
    )


def _are_too_few(
    transaction: Transaction, kind: sqlite3.Row, study: sqlite3.Row
) -> bool:
    """Whether fewer hold a qualification than there are places, and none is tested."""
    is_tested = transaction.one(
        "SELECT 1 FROM studies WHERE qualification_type = ? AND stage <> 'Retired'",
        kind["id"],
    )
    passed = transaction.one(_PASSED, kind["id"])
    return is_tested is None and (passed is None or passed[0] < study["places"])


def _hit_type(bridge: Bridge, hit_type: int) -> sqlite3.Row:
    with bridge.backend.transaction() as transaction:
        row = transaction.one("SELECT * FROM hit_types WHERE id = ?", hit_type)
    if row is None:
        raise LookupError(f"no HIT type has the row id {hit_type}")
    return row
