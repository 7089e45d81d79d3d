"""Paid screenings: studies in which participants take a qualification test.

If a HIT type requires a qualification that a test grants, no participant at Prolific
holds it at first. So some participants at a time are paid to take the test. Those who
pass are granted the qualification and join the let-in group of the HIT type's study.
All who take the test are paid, whatever the result.
"""

import json
import sqlite3
from functools import partial

from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import eligibility
from piecework.markets.prolific.bridge import reading, requirements, study_drafts
from piecework.markets.prolific.bridge.bridge import NAME, Bridge
from piecework.markets.prolific.bridge.studies import bring_out, stop

_LACKING = (
    "SELECT studies.id, studies.hit_type, studies.places, studies.trouble, "
    "hit_types.requirements FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    f"WHERE studies.market = '{NAME}' AND studies.qualification_type IS NULL "
    "AND studies.let_in_group IS NOT NULL "
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
    f"WHERE market = '{NAME}' AND qualification_type = ? "
    "AND qualifications.status = 'Granted'"
)


def screen(bridge: Bridge) -> None:
    """Offer tests where too few participants hold a required qualification."""
    with bridge.backend.reading() as transaction:
        lacking = transaction.all(_LACKING)
        at_work = transaction.all(
            "SELECT * FROM studies WHERE qualification_type IS NOT NULL "
            f"AND market = '{NAME}' AND stage <> 'Retired'"
        )
        needed = {kind["id"] for study in lacking for kind in _tests_for(transaction, study)}
    for study in at_work:
        is_needed = study["qualification_type"] in needed
        bridge.tried(partial(_follow, bridge, study, is_needed=is_needed))
    for study in () if reading.why_not_publish(bridge) else lacking:
        bridge.tried(partial(_offer, bridge, study))


def _tests_for(transaction: Transaction, study: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the qualification types with a test that a study requires."""
    kinds = [
        transaction.first_row(_TESTED, requirement["QualificationTypeId"])
        for requirement in requirements.custom(json.loads(study["requirements"]))
        if not eligibility.meets(requirement, None)
    ]
    return [kind for kind in kinds if kind is not None]


def _follow(bridge: Bridge, study: sqlite3.Row, *, is_needed: bool) -> None:
    """Publish a wanted screening; end one that is no longer needed."""
    if study["status"] == "ACTIVE" and not is_needed:
        stop(bridge, study)
    elif study["stage"] in ("Wanted", "Draft"):
        bring_out(bridge, study["id"], _hit_type(bridge, study["hit_type"]))


def _offer(bridge: Bridge, study: sqlite3.Row) -> None:
    hit_type = _hit_type(bridge, study["hit_type"])
    with bridge.backend.reading() as transaction:
        due = [
            kind
            for kind in _tests_for(transaction, study)
            if _are_too_few(transaction, kind, study)
        ]
    for kind in due:
        if not bridge.terms.screening_cents:
            bridge.say(
                study,
                f"too few participants hold {kind['name']!r}: set the pay for its "
                "test (--screening-pay), or grant it in another way",
            )
            continue
        with bridge.backend.transaction() as transaction:
            screening = study_drafts.write(
                bridge, transaction, hit_type, _shape(bridge, kind), qualification_type=kind["id"]
            )
        bring_out(bridge, screening, hit_type)


def _shape(bridge: Bridge, kind: sqlite3.Row) -> study_drafts.Shape:
    pay = bridge.terms.screening_cents
    return study_drafts.Shape(
        hits=0,
        reward_cents=pay,
        seconds=study_drafts.seconds_for(bridge, pay),
        # The test plus a minute to read the introduction.
        allowed_seconds=kind["duration_seconds"] + 60,
        places=bridge.terms.screening_places,
    )


def _are_too_few(transaction: Transaction, kind: sqlite3.Row, study: sqlite3.Row) -> bool:
    """Return whether too few hold a qualification and no test is open."""
    is_tested = transaction.first_row(
        "SELECT 1 FROM studies WHERE qualification_type = ? AND stage <> 'Retired'", kind["id"]
    )
    passed = transaction.first_row(_PASSED, kind["id"])
    return is_tested is None and (passed is None or passed[0] < study["places"])


def _hit_type(bridge: Bridge, hit_type: int) -> sqlite3.Row:
    with bridge.backend.reading() as transaction:
        row = transaction.first_row("SELECT * FROM hit_types WHERE id = ?", hit_type)
    if row is None:
        raise LookupError(f"no HIT type has the row id {hit_type}")
    return row
