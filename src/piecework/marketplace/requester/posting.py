"""Posts HITs and changes posted ones: the calls that hold a requester's money."""

import sqlite3
from datetime import datetime
from typing import Any

from piecework.marketplace.exceptions import (
    already_processed,
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.requester import (
    hit_types,
    layouts,
    question,
    question_texts,
    requirements,
    reviews,
    shapes,
)
from piecework.marketplace.state import events, hits, outside_market, request_tokens
from piecework.marketplace.state.clock import SECOND, to_datetime
from piecework.marketplace.state.ids import next_number
from piecework.marketplace.state.transaction import Transaction

_YEAR_SECONDS = 31_536_000
_MOST_ASSIGNMENTS = 1_000_000_000
_LONGEST_ANNOTATION = 255

Members = dict[str, Any]


def create_hit(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """CreateHIT: create a HIT of the type with these values, and the type if needed."""
    _refuse_repeat(transaction, requester, members, operation="CreateHIT")
    hit_type = hit_types.find_or_make(transaction, requester, members)
    return _create(transaction, hit_type, members, operation="CreateHIT")


def create_hit_with_hit_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateHITWithHITType: create a HIT of an existing type."""
    _refuse_repeat(transaction, requester, members, operation="CreateHITWithHITType")
    hit_type = hit_types.find(transaction, requester, members["HITTypeId"])
    return _create(transaction, hit_type, members, operation="CreateHITWithHITType")


def create_additional_assignments(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateAdditionalAssignmentsForHIT: add slots, and hold money for them.

    While the HIT is expired, slots are not offered and no money is held for them;
    extending the expiration does both.
    """
    operation = "CreateAdditionalAssignmentsForHIT"
    token = members.get("UniqueRequestToken")
    if token and request_tokens.earlier(transaction, requester, operation=operation, token=token):
        raise already_processed(token)
    hit = own_hit(transaction, requester, members["HITId"])
    more = hit_types.in_range(
        "NumberOfAdditionalAssignments",
        members["NumberOfAdditionalAssignments"],
        low=1,
        high=_MOST_ASSIGNMENTS - hit["max_assignments"],
    )
    most = hit["max_assignments"] + more
    hits.check_increase(hit, most)
    transaction.execute("UPDATE hits SET max_assignments = ? WHERE id = ?", most, hit["id"])
    events.record(transaction, "HITExtended", hit)
    hits.settle(transaction, hit["id"])
    _remember(transaction, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_expiration(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """UpdateExpirationForHIT: later, sooner, or (with a past time) at once."""
    hit = own_hit(transaction, requester, members["HITId"])
    expire_ms = members["ExpireAt"]
    token = hit["hit_id"] + _as_java_prints(to_datetime(expire_ms))
    operation = "UpdateExpirationForHIT"
    if request_tokens.earlier(transaction, requester, operation=operation, token=token):
        raise already_processed(token)
    if expire_ms > transaction.now_ms + _YEAR_SECONDS * SECOND:
        raise invalid_parameters("ExpireAt must be within a year.")
    is_expired = expire_ms <= transaction.now_ms
    if is_expired and not hit["is_expired"]:
        events.record(transaction, "HITExpired", hit)
    elif not is_expired and expire_ms > hit["expires_ms"]:
        events.record(transaction, "HITExtended", hit)
    transaction.execute(
        "UPDATE hits SET expires_ms = ?, is_expired = ? WHERE id = ?",
        transaction.now_ms if is_expired else expire_ms,
        is_expired,
        hit["id"],
    )
    hits.settle(transaction, hit["id"])
    _remember(transaction, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_hit_type_of_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateHITTypeOfHIT: move a HIT that no worker has accepted yet."""
    hit = own_hit(transaction, requester, members["HITId"])
    hit_type = hit_types.find(transaction, requester, members["HITTypeId"])
    taken = transaction.first_row("SELECT 1 FROM assignments WHERE hit = ? LIMIT 1", hit["id"])
    if taken is not None:
        raise request_error(
            "InvalidHITState",
            f"HIT {hit['hit_id']} has been accepted by a worker, so its type is fixed.",
        )
    is_open = hit["status"] == "Assignable"
    for row_id, change in ((hit["hit_type"], -is_open), (hit_type["id"], is_open)):
        transaction.execute(
            "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?",
            int(change),
            row_id,
        )
    transaction.execute(
        "UPDATE hits SET hit_type = ?, reward_cents = ?, fee_cents = ? WHERE id = ?",
        hit_type["id"],
        hit_type["reward_cents"],
        _fee(transaction, hit_type, hit["max_assignments"]),
        hit["id"],
    )
    hits.settle(transaction, hit["id"])
    return {}


def own_hit(transaction: Transaction, requester: int, hit_id: str) -> sqlite3.Row:
    """Return the requester's HIT, unless it is disposed.

    Raises:
        Refusal: unknown, another requester's, or disposed.
    """
    row = transaction.first_row(
        f"SELECT {hits.COLUMNS} FROM hits WHERE hit_id = ? AND requester = ?", hit_id, requester
    )
    if row is None:
        raise does_not_exist("HIT", hit_id)
    if row["status"] == "Disposed":
        raise wrong_state(
            "HIT", hit_id, state="Disposed", allowed="Assignable,Unassignable,Reviewable,Reviewing"
        )
    return row


def _refuse_repeat(
    transaction: Transaction, requester: int, members: Members, *, operation: str
) -> None:
    token = members.get("UniqueRequestToken")
    if not token:
        return
    hit_id = request_tokens.earlier(transaction, requester, operation=operation, token=token)
    if hit_id is not None:
        raise request_error("HitAlreadyExists", f'The HIT with ID "{hit_id}" already exists.')


def _create(
    transaction: Transaction, hit_type: sqlite3.Row, members: Members, *, operation: str
) -> dict[str, Any]:
    asked, texts = _question(transaction, members)
    policies = reviews.checked_policies(members)
    most = hit_types.in_range(
        "MaxAssignments", members.get("MaxAssignments", 1), low=1, high=_MOST_ASSIGNMENTS
    )
    lifetime = hit_types.in_range(
        "LifetimeInSeconds", members["LifetimeInSeconds"], low=30, high=_YEAR_SECONDS
    )
    requester = hit_type["requester"]
    hit_id = transaction.id_generator.entity("hit", next_number(transaction.conn, "hits"))
    hit = transaction.execute(
        "INSERT INTO hits (hit_id, requester, hit_type, status, max_assignments, "
        "reward_cents, fee_cents, held_cents, created_ms, expires_ms, is_expired, "
        "annotation, assignment_policy, hit_policy) "
        "VALUES (?, ?, ?, 'Unassignable', ?, ?, ?, 0, ?, ?, 0, ?, ?, ?)",
        hit_id,
        requester,
        hit_type["id"],
        most,
        hit_type["reward_cents"],
        _fee(transaction, hit_type, most),
        transaction.now_ms,
        transaction.now_ms + lifetime * SECOND,
        _annotation(members),
        *policies,
    )
    transaction.execute(
        "INSERT INTO questions (hit, question, texts) VALUES (?, ?, ?)", hit, asked, texts
    )
    events.record(transaction, "HITCreated", hits.find(transaction, hit))
    hits.settle(transaction, hit)
    token = members.get("UniqueRequestToken")
    _remember(transaction, requester, token, operation=operation, subject=hit_id)
    row = transaction.first_row(shapes.SELECT_HITS + "WHERE hits.id = ?", hit)
    return {"HIT": shapes.hit(row)} if row else {}


def _question(transaction: Transaction, members: Members) -> tuple[str, int | None]:
    """Return the question of a HIT, as sent or as made by a layout.

    With stored texts, it is the values between them, and the texts' row.
    """
    if question_texts.MEMBER in members:
        values = str(members.get("Question", ""))
        row, whole = question_texts.joined(transaction, members[question_texts.MEMBER], values)
        question.read(whole, most=question_texts.LARGEST_BYTES)
        return values, row
    if ("Question" in members) == ("HITLayoutId" in members):
        raise invalid_parameters("Give exactly one of Question and HITLayoutId.")
    if "HITLayoutId" in members:
        parameters = members.get("HITLayoutParameters", [])
        asked = layouts.filled(transaction, members["HITLayoutId"], parameters)
    elif "HITLayoutParameters" in members:
        raise invalid_parameters("HITLayoutParameters needs HITLayoutId.")
    else:
        asked = str(members["Question"])
    question.read(asked)
    return asked, None


def _annotation(members: Members) -> str | None:
    annotation: str | None = members.get("RequesterAnnotation")
    if annotation is None:
        return None
    hit_types.at_most("RequesterAnnotation", annotation, most=_LONGEST_ANNOTATION)
    return annotation


def _fee(transaction: Transaction, hit_type: sqlite3.Row, most: int) -> int:
    prices = outside_market.prices_of_hit_type(transaction, hit_type["market"])
    return prices.reward_fee_cents(
        hit_type["reward_cents"],
        max_assignments=most,
        for_masters=requirements.asks_for_masters(hit_type["requirements"]),
    )


def _remember(
    transaction: Transaction, requester: int, token: str | None, *, operation: str, subject: str
) -> None:
    if token:
        request_tokens.remember(
            transaction, requester, operation=operation, token=token, subject=subject
        )


def _as_java_prints(moment: datetime) -> str:
    """Format an expiration as a live error of the service showed it."""
    return moment.strftime("%a %b %d %H:%M:%S UTC %Y")
