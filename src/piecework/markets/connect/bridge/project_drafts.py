"""Draft a project: its length, pay, time, and whom it admits."""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from piecework.foundation.client.errors import Refused, Unusable
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state import worker_limits
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging import studies
from piecework.markets.bridging.places import longest_visit, visits_possible
from piecework.markets.bridging.studies import StudyName, measured_seconds
from piecework.markets.connect.bridge.bridge import NAME, RECOMMENDED_PER_HOUR_CENTS, Bridge
from piecework.markets.connect.bridge.reading import cost_of_place, look
from piecework.markets.connect.client import LEAST_MINUTES, NewProject

NOBODY_HOLDS = (
    "no participant holds the qualifications that these HITs require, so the project "
    "would admit no participant; grant them to participants who have come before"
)
_ALL_WORKERS = (
    "SELECT studies.*, hit_types.requirements, hit_types.requester, "
    "hit_types.hit_group_id FROM studies JOIN hit_types "
    "ON hit_types.id = studies.hit_type WHERE studies.id = ?"
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
    locations = _locations(wanted)
    own = studies.own_requirements(wanted)
    let_in, keep_out = admitted(bridge, study["id"], own)
    included = None if let_in is None else tuple(sorted(let_in - keep_out))
    if included is not None and not included:
        raise Unusable(NOBODY_HOLDS)
    there = look(bridge).get(study["internal_name"])
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
            None if let_in is None else _digest(let_in),
            study["id"],
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
    return bool(let_in) and _digest(let_in or set()) != study["let_in_group"]


def _digest(people: set[str]) -> str:
    return " ".join(sorted(people))


def _locations(wanted: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
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
