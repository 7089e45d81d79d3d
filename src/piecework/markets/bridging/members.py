"""Which participants a study may admit: by qualifications, blocks and work left."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from piecework.marketplace.state import qualification_types
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import discovery, eligibility

PARTICIPANTS = (
    "SELECT workers.*, participant_id FROM participants "
    "JOIN workers ON workers.id = participants.worker WHERE market = ? "
    "ORDER BY workers.id"
)
_HAS_DONE = (
    "SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
    "WHERE assignments.worker = ? AND hits.hit_type = ? LIMIT 1"
)
_IS_BLOCKED = "SELECT 1 FROM blocks WHERE requester = ? AND worker = ?"
_NOT_OWN = (*eligibility.VOUCHED_FOR, *system.MASTERS)


def own_requirements(
    requirements: Sequence[Mapping[str, Any]], *, but: str = ""
) -> list[dict[str, Any]]:
    """Return the requirements on requesters' own qualification types.

    Args:
        requirements: all requirements of a HIT type.
        but: how the ids of types begin that stand for filters of the market; "" if the
            market has none.
    """
    return [
        dict(each)
        for each in requirements
        if each["QualificationTypeId"] not in _NOT_OWN
        and not qualification_types.is_crowd(each["QualificationTypeId"])
        and not (but and each["QualificationTypeId"].startswith(but))
    ]


def needs_holding(own: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a participant who holds no qualification is refused."""
    return any(not eligibility.meets(requirement, None) for requirement in own)


def fitting_and_unfit(
    transaction: Transaction,
    study: sqlite3.Row,
    participants: Sequence[sqlite3.Row],
    own: Sequence[dict[str, Any]],
) -> tuple[set[str], set[str]]:
    """Return the ids of participants who may work on a study, and of those to keep out.

    Those who may work but have done too many of the HITs are in both.

    Args:
        transaction: the open one.
        study: a row of `studies` with requester and hit_group_id of its HIT type.
        participants: rows of `PARTICIPANTS`.
        own: the requirements on requesters' own types.
    """
    fitting, unfit = set[str](), set[str]()
    for worker in participants:
        held = eligibility.holdings(transaction, worker)
        meets_all = not eligibility.unmet([*own], held, action="accept")
        is_blocked = transaction.first_row(_IS_BLOCKED, study["requester"], worker["id"])
        if meets_all and is_blocked is None:
            fitting.add(worker["participant_id"])
            if not _has_done_all(transaction, worker, study):
                continue
        unfit.add(worker["participant_id"])
    return fitting, unfit


def requirements_of(hit_type: sqlite3.Row) -> list[dict[str, Any]]:
    """Return the requirements of a HIT type."""
    requirements: list[dict[str, Any]] = json.loads(hit_type["requirements"])
    return requirements


def _has_done_all(transaction: Transaction, worker: sqlite3.Row, study: sqlite3.Row) -> bool:
    """Return whether the HITs left for a worker are too few to fill a visit."""
    if transaction.first_row(_HAS_DONE, worker["id"], study["hit_type"]) is None:
        return False
    group = discovery.visible_group(transaction, worker, study["hit_group_id"])
    return group.available < int(study["hits_per_visit"])
