"""A study's two participant groups: those let in and those kept out.

A study's filters are locked once it is published, but the groups that they name are
not. So grants, revocations and blocks reach a running study, and participants who could
no longer fill a visit are kept from coming for nothing.
"""

import json
import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any

from piecework.foundation.client.errors import Lost
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import members
from piecework.markets.prolific.bridge import requirements
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.terms import NAME

_STUDIES = (
    "SELECT studies.*, hit_types.requirements, hit_types.requester, "
    "hit_types.hit_group_id FROM studies JOIN hit_types "
    "ON hit_types.id = studies.hit_type WHERE keep_out_group IS NOT NULL "
    f"AND studies.market = '{NAME}' "
    "AND stage IN ('Draft', 'Published') "
    "AND studies.status NOT IN ('AWAITING REVIEW', 'COMPLETED')"
)
NOBODY_HOLDS = (
    "no participant holds the qualifications that these HITs require, so the study "
    "admits no participant yet; grant them, and the running study admits their holders"
)
"""The trouble of a study whose group of participants to let in is empty."""


def ensure(bridge: Bridge, study: sqlite3.Row, wanted: Sequence[dict[str, Any]]) -> sqlite3.Row:
    """Create the study's groups if they are missing, and return the study."""
    needs_holding = members.needs_holding(requirements.custom(wanted))
    for column, words in (("keep_out_group", "not"), ("let_in_group", "only")):
        if study[column] or (column == "let_in_group" and not needs_holding):
            continue
        name = f"{words} in {study['internal_name']}"
        group_id = _find(bridge, name)
        if group_id is None:
            bridge.changes += 1
            made = bridge.prolific.groups.create(bridge.terms.workspace_id, name)
            group_id = made.id
        with bridge.backend.transaction() as transaction:
            transaction.execute(
                f"UPDATE studies SET {column} = ? WHERE id = ?", group_id, study["id"]
            )
    with bridge.backend.reading() as transaction:
        row = transaction.first_row("SELECT * FROM studies WHERE id = ?", study["id"])
    return study if row is None else row


def keep_in_step(bridge: Bridge) -> None:
    """Update the groups of all recruiting studies."""
    with bridge.backend.reading() as transaction:
        studies = transaction.all(_STUDIES)
        participants = transaction.all(members.PARTICIPANTS, NAME)
    for study in studies:
        with bridge.backend.reading() as transaction:
            let_in, keep_out = _members(transaction, study, participants)
        _say_if_empty(bridge, study, let_in)
        for column, wanted in (("let_in_group", let_in), ("keep_out_group", keep_out)):
            if study[column]:
                bridge.tried(partial(_set, bridge, study[column], wanted))


def _say_if_empty(bridge: Bridge, study: sqlite3.Row, let_in: set[str]) -> None:
    """Say that a study admits no participant while its group of holders is empty."""
    is_empty = study["let_in_group"] is not None and not let_in
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE studies SET trouble = iif(?1, ?2, '') WHERE id = ?3 "
            "AND trouble = iif(?1, '', ?2)",
            is_empty,
            NOBODY_HOLDS,
            study["id"],
        )


def _members(
    transaction: Transaction, study: sqlite3.Row, participants: Sequence[sqlite3.Row]
) -> tuple[set[str], set[str]]:
    """Return the ids of participants let in to a study, and of those kept out."""
    let_in, keep_out = set[str](), _screened_out(transaction, study)
    if study["qualification_type"] is not None:
        return let_in, keep_out | _tested(transaction, study)
    own = requirements.custom(json.loads(study["requirements"]))
    fitting, unfit = members.fitting_and_unfit(transaction, study, participants, own)
    return fitting, keep_out | unfit


def _screened_out(transaction: Transaction, study: sqlite3.Row) -> set[str]:
    """Return those already paid for coming to a study without work."""
    return {
        row["participant_id"]
        for row in transaction.all(
            "SELECT participant_id FROM participants JOIN visits USING (worker) "
            "WHERE study = ? AND screen_out_cents > 0",
            study["id"],
        )
    }


def _tested(transaction: Transaction, study: sqlite3.Row) -> set[str]:
    """Return those who took a screening's test or hold the qualification already."""
    return {
        row["participant_id"]
        for row in transaction.all(
            f"SELECT participant_id FROM participants WHERE market = '{NAME}' "
            "AND worker IN "
            "(SELECT worker FROM test_attempts WHERE qualification_type = ?1 UNION "
            "SELECT worker FROM qualifications WHERE qualification_type = ?1)",
            study["qualification_type"],
        )
    }


def _set(bridge: Bridge, group_id: str, wanted: set[str]) -> None:
    known = bridge.members.get(group_id)
    if known is None:
        listed = bridge.prolific.groups.participants(group_id)
        known = bridge.members[group_id] = {each.participant_id for each in listed}
    missing, strange = sorted(wanted - known), sorted(known - wanted)
    try:
        if missing:
            bridge.changes += 1
            bridge.prolific.groups.add(group_id, missing)
        if strange:
            bridge.changes += 1
            bridge.prolific.groups.remove(group_id, strange)
    except Lost:
        del bridge.members[group_id]
        raise
    bridge.members[group_id] = set(wanted)


def _find(bridge: Bridge, name: str) -> str | None:
    for group in bridge.prolific.groups.of_workspace(bridge.terms.workspace_id):
        if group.name == name and not group.is_deleted:
            return group.id
    return None
