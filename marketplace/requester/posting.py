"""Posting HITs and changing posted ones: the calls that hold a requester's money."""

import sqlite3
from datetime import datetime
from typing import Any

from marketplace import events, hits, money
from marketplace.clock import SECOND, to_datetime
from marketplace.exceptions import (
    already_processed,
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from marketplace.ids import next_number
from marketplace.requester import (
    hit_types,
    question,
    request_tokens,
    requirements,
    reviews,
    shapes,
)
from marketplace.turn import Turn

_YEAR_SECONDS = 31_536_000
_MOST_ASSIGNMENTS = 1_000_000_000
_LONGEST_ANNOTATION = 255

Given = dict[str, Any]


def create_hit(turn: Turn, requester: int, given: Given) -> dict[str, Any]:
    """CreateHIT: a HIT of the type with these values, made if need be."""
    _refuse_repeat(turn, requester, given, operation="CreateHIT")
    hit_type = hit_types.find_or_make(turn, requester, given)
    return _create(turn, hit_type, given, operation="CreateHIT")


def create_hit_with_hit_type(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """CreateHITWithHITType: a HIT of a type that exists."""
    _refuse_repeat(turn, requester, given, operation="CreateHITWithHITType")
    hit_type = hit_types.find(turn, requester, given["HITTypeId"])
    return _create(turn, hit_type, given, operation="CreateHITWithHITType")


def create_additional_assignments(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """CreateAdditionalAssignmentsForHIT: more slots, held for at once.

    While the HIT is expired they are neither offered nor held for; extending its expiry
    does both.
    """
    operation = "CreateAdditionalAssignmentsForHIT"
    token = given.get("UniqueRequestToken")
    if token and request_tokens.earlier(
        turn, requester, operation=operation, token=token
    ):
        raise already_processed(token)
    hit = own_hit(turn, requester, given["HITId"])
    more = hit_types.in_range(
        "NumberOfAdditionalAssignments",
        given["NumberOfAdditionalAssignments"],
        low=1,
        high=_MOST_ASSIGNMENTS - hit["max_assignments"],
    )
    most = hit["max_assignments"] + more
    hits.check_increase(hit, most)
    turn.run("UPDATE hits SET max_assignments = ? WHERE id = ?", most, hit["id"])
    events.record(turn, "HITExtended", hit)
    hits.settle(turn, hit["id"])
    _remember(turn, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_expiration(turn: Turn, requester: int, given: Given) -> dict[str, Any]:
    """UpdateExpirationForHIT: later, sooner, or (a moment in the past) at once."""
    hit = own_hit(turn, requester, given["HITId"])
    expire_ms = given["ExpireAt"]
    token = hit["hit_id"] + _as_java_prints(to_datetime(expire_ms))
    operation = "UpdateExpirationForHIT"
    if request_tokens.earlier(turn, requester, operation=operation, token=token):
        raise already_processed(token)
    if expire_ms > turn.now_ms + _YEAR_SECONDS * SECOND:
        raise invalid_parameters("ExpireAt must be within a year.")
    is_expired = expire_ms <= turn.now_ms
    if is_expired and not hit["is_expired"]:
        events.record(turn, "HITExpired", hit)
    elif not is_expired and expire_ms > hit["expires_ms"]:
        events.record(turn, "HITExtended", hit)
    turn.run(
        "UPDATE hits SET expires_ms = ?, is_expired = ? WHERE id = ?",
        turn.now_ms if is_expired else expire_ms,
        is_expired,
        hit["id"],
    )
    hits.settle(turn, hit["id"])
    _remember(turn, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_hit_type_of_hit(turn: Turn, requester: int, given: Given) -> dict[str, Any]:
    """UpdateHITTypeOfHIT: move a HIT that nobody has taken up yet."""
    hit = own_hit(turn, requester, given["HITId"])
    hit_type = hit_types.find(turn, requester, given["HITTypeId"])
    taken = turn.one("SELECT 1 FROM assignments WHERE hit = ? LIMIT 1", hit["id"])
    if taken is not None:
        raise request_error(
            "InvalidHITState",
            f"HIT {hit['hit_id']} has been accepted by a worker; its type is settled.",
        )
    is_open = hit["status"] == "Assignable"
    for row_id, change in ((hit["hit_type"], -is_open), (hit_type["id"], is_open)):
        turn.run(
            "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?",
            int(change),
            row_id,
        )
    turn.run(
        "UPDATE hits SET hit_type = ?, reward_cents = ?, fee_cents = ? WHERE id = ?",
        hit_type["id"],
        hit_type["reward_cents"],
        _fee(hit_type, hit["max_assignments"]),
        hit["id"],
    )
    hits.settle(turn, hit["id"])
    return {}


def own_hit(turn: Turn, requester: int, hit_id: str) -> sqlite3.Row:
    """The requester's HIT, unless it is disposed.

    Raises:
        Refusal: unknown, somebody else's, or disposed.
    """
    row = turn.one(
        "SELECT * FROM hits WHERE hit_id = ? AND requester = ?", hit_id, requester
    )
    if row is None:
        raise does_not_exist("HIT", hit_id)
    if row["status"] == "Disposed":
        raise wrong_state(
            "HIT",
            hit_id,
            found="Disposed",
            allowed="Assignable,Unassignable,Reviewable,Reviewing",
        )
    return row


def _refuse_repeat(turn: Turn, requester: int, given: Given, *, operation: str) -> None:
    token = given.get("UniqueRequestToken")
    if not token:
        return
    hit_id = request_tokens.earlier(turn, requester, operation=operation, token=token)
    if hit_id is not None:
        raise request_error(
            "HitAlreadyExists", f'The HIT with ID "{hit_id}" already exists.'
        )


def _create(
    turn: Turn, hit_type: sqlite3.Row, given: Given, *, operation: str
) -> dict[str, Any]:
    _check_question(given)
    policies = reviews.checked_policies(given)
    most = hit_types.in_range(
        "MaxAssignments",
        given.get("MaxAssignments", 1),
        low=1,
        high=_MOST_ASSIGNMENTS,
    )
    lifetime = hit_types.in_range(
        "LifetimeInSeconds", given["LifetimeInSeconds"], low=30, high=_YEAR_SECONDS
    )
    requester = hit_type["requester"]
    hit_id = turn.mint.entity("hit", next_number(turn.conn, "hits"))
    hit = turn.run(
        "INSERT INTO hits (hit_id, requester, hit_type, status, max_assignments, "
        "reward_cents, fee_cents, held_cents, created_ms, expires_ms, is_expired, "
        "annotation, question, assignment_policy, hit_policy) "
        "VALUES (?, ?, ?, 'Unassignable', ?, ?, ?, 0, ?, ?, 0, ?, ?, ?, ?)",
        hit_id,
        requester,
        hit_type["id"],
        most,
        hit_type["reward_cents"],
        _fee(hit_type, most),
        turn.now_ms,
        turn.now_ms + lifetime * SECOND,
        _annotation(given),
        given["Question"],
        *policies,
    )
    events.record(turn, "HITCreated", hits.find(turn, hit))
    hits.settle(turn, hit)
    token = given.get("UniqueRequestToken")
    _remember(turn, requester, token, operation=operation, subject=hit_id)
    row = turn.one(shapes.SELECT_HITS + "WHERE hits.id = ?", hit)
    return {"HIT": shapes.hit(row)} if row else {}


def _check_question(given: Given) -> None:
    if ("Question" in given) == ("HITLayoutId" in given):
        raise invalid_parameters("Exactly one of Question and HITLayoutId is needed.")
    if "HITLayoutId" in given:
        # Layouts were made on the service's own pages; none can be made any more.
        raise does_not_exist("HITLayout", given["HITLayoutId"])
    if "HITLayoutParameters" in given:
        raise invalid_parameters("HITLayoutParameters needs HITLayoutId.")
    question.read(given["Question"])


def _annotation(given: Given) -> str | None:
    annotation: str | None = given.get("RequesterAnnotation")
    if annotation is None:
        return None
    hit_types.at_most("RequesterAnnotation", annotation, most=_LONGEST_ANNOTATION)
    if not annotation.isascii():
        raise invalid_parameters("RequesterAnnotation must be ASCII.")
    return annotation


def _fee(hit_type: sqlite3.Row, most: int) -> int:
    return money.reward_fee_cents(
        hit_type["reward_cents"],
        max_assignments=most,
        for_masters=requirements.asks_for_masters(hit_type["requirements"]),
    )


def _remember(
    turn: Turn, requester: int, token: str | None, *, operation: str, subject: str
) -> None:
    if token:
        request_tokens.remember(
            turn, requester, operation=operation, token=token, subject=subject
        )


def _as_java_prints(moment: datetime) -> str:
    """The service's own token of an expiry, as a live error showed it."""
    return moment.strftime("%a %b %d %H:%M:%S UTC %Y")
