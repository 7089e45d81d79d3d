"""Whom a project admits: the holders of qualifications, and the countries of participants.

Connect fixes both when a project is published.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import qualification_types as system
from piecework.markets.bridging import studies
from piecework.markets.connect.bridge.bridge import NAME, Bridge

NOBODY_HOLDS = (
    "no participant holds the qualifications that these HITs require, so the project "
    "would admit no participant; grant them to participants who have come before"
)
_ALL_WORKERS = (
    "SELECT studies.*, hit_types.requirements, hit_types.requester, "
    "hit_types.hit_group_id FROM studies JOIN hit_types "
    "ON hit_types.id = studies.hit_type WHERE studies.id = ?"
)


def admitted(
    bridge: Bridge, study_id: int, own: Sequence[Mapping[str, Any]]
) -> tuple[set[str] | None, set[str]]:
    """Return those with the qualifications (None is everyone), and those to keep out.

    Some hold the qualifications and have done too many of the HITs: they are in both.

    Args:
        bridge: the bridge.
        study_id: row id.
        own: the requirements on requesters' own qualification types.
    """
    with bridge.backend.reading() as transaction:
        study = transaction.first_row(_ALL_WORKERS, study_id)
        if study is None:
            raise LookupError(f"no study has the row id {study_id}")
        participants = transaction.all(studies.PARTICIPANTS, NAME)
        fitting, unfit = studies.fitting_and_unfit(
            transaction, study, participants, [dict(each) for each in own]
        )
    return (fitting if studies.needs_holding(own) else None), unfit


def is_outdated(bridge: Bridge, study: sqlite3.Row, hit_type: sqlite3.Row) -> bool:
    """Return whether other participants may work than a running project admits.

    Connect fixes them when a project is published.
    """
    if study["let_in_group"] is None:
        return False
    own = studies.own_requirements(studies.requirements_of(hit_type))
    let_in, _ = admitted(bridge, study["id"], own)
    return bool(let_in) and digest(let_in or set()) != study["let_in_group"]


def digest(people: set[str]) -> str:
    """Return a text that is the same for the same people."""
    return " ".join(sorted(people))


def allowed_countries(wanted: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the countries that requirements allow; () is any.

    Raises:
        Unusable: Connect cannot express a requirement.
    """
    locations: tuple[str, ...] = ()
    for requirement in wanted:
        type_id = requirement["QualificationTypeId"]
        if type_id in system.MASTERS:
            raise Unusable("Connect has no Masters qualification; leave out that requirement")
        if type_id != system.LOCALE:
            continue
        places = requirement.get("LocaleValues", ())
        if requirement["Comparator"] not in ("EqualTo", "In") or any(
            "Subdivision" in each for each in places
        ):
            raise Unusable(
                "Connect admits participants of named countries; name countries "
                "without states, and none to leave out"
            )
        locations = tuple(sorted(each["Country"] for each in places))
    return locations
