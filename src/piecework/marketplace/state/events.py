"""Events of HITs and assignments, in order.

Every event is stored. If the HIT type's requester wants a notification, the same
transaction stores the message, so each message is about a real event and is not lost.
`NotificationSender` sends it. Events serve notification, not archiving: after a while
they are deleted with their messages.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Literal

from piecework.marketplace.state.clock import DAY, to_datetime
from piecework.marketplace.state.transaction import Transaction

Kind = Literal[
    "AssignmentAccepted",
    "AssignmentAbandoned",
    "AssignmentReturned",
    "AssignmentSubmitted",
    "AssignmentRejected",
    "AssignmentApproved",
    "HITCreated",
    "HITExpired",
    "HITReviewable",
    "HITExtended",
    "HITDisposed",
]

Hit = sqlite3.Row | Mapping[str, Any]
"""A HIT with the columns `hit_id`, `hit_type` (row id) and `requester`."""

LIFE = 30 * DAY
"""How long events are kept."""
LIFE_WITH_MESSAGE = 120 * DAY
"""How long events with a message, sent or not, are kept."""

IS_OVER = "drop_ms <= ?1 AND id < (SELECT max(id) FROM events)"
"""Condition: the event may be deleted. The last one stays, so that its number is not
reused."""

_SETTINGS = (
    "SELECT hit_types.hit_type_id, notification_settings.* FROM hit_types "
    "LEFT JOIN notification_settings ON hit_type = hit_types.id AND is_active = 1 "
    "WHERE hit_types.id = ?"
)
_LATEST = (
    "SELECT events.*, access_key, destination, deliveries.status AS delivery "
    "FROM events JOIN requesters ON requesters.id = events.requester "
    "LEFT JOIN deliveries ON deliveries.event = events.id "
    "WHERE events.id > ? ORDER BY events.id LIMIT ?"
)


def record(
    transaction: Transaction,
    kind: Kind,
    hit: Hit,
    *,
    assignment_id: str | None = None,
    at_ms: int | None = None,
) -> None:
    """Store an event of a HIT, and its message if one is wanted.

    Args:
        transaction: the open one.
        kind: the event.
        hit: the HIT.
        assignment_id: the event's assignment, if any.
        at_ms: the time of the event, if in the past.
    """
    settings = transaction.first_row(_SETTINGS, hit["hit_type"])
    if settings is None:
        raise LookupError(f"no HIT type has the row id {hit['hit_type']}")
    event = {
        "requester": hit["requester"],
        "event_type": kind,
        "at_ms": transaction.now_ms if at_ms is None else at_ms,
        "hit_type_id": settings["hit_type_id"],
        "hit_id": hit["hit_id"],
        "assignment_id": assignment_id,
    }
    is_wanted = kind in json.loads(settings["event_types"] or "[]")
    _keep(transaction, event, dict(settings) if is_wanted else None)


def record_test(
    transaction: Transaction, requester: int, kind: str, specification: dict[str, Any]
) -> None:
    """Store a test event and its message, even without a specification.

    Args:
        transaction: the open one.
        requester: the requester who asks for it.
        kind: the event, or `Ping`.
        specification: destination, transport and version.
    """
    event = {"requester": requester, "event_type": kind, "at_ms": transaction.now_ms}
    _keep(transaction, event, specification)


def customer_id(requester: int) -> str:
    """Return the requester's public id."""
    return f"A{requester:013d}"


def after(transaction: Transaction, number: int, *, most: int) -> list[dict[str, Any]]:
    """Return events with larger numbers, oldest first, with their messages' status."""
    return [
        {
            "number": row["id"],
            "access_key": row["access_key"],
            "event_type": row["event_type"],
            "at": to_datetime(row["at_ms"]).isoformat(),
            "hit_type_id": row["hit_type_id"],
            "hit_id": row["hit_id"],
            "assignment_id": row["assignment_id"],
            "destination": row["destination"],
            "delivery": row["delivery"],
        }
        for row in transaction.all(_LATEST, number, most)
    ]


def forget(transaction: Transaction, *, most: int) -> None:
    """Delete at most `most` expired events with their messages."""
    for row in transaction.all(
        f"SELECT id FROM events WHERE {IS_OVER} LIMIT ?2", transaction.due_ms, most
    ):
        transaction.execute("DELETE FROM deliveries WHERE event = ?", row["id"])
        transaction.execute("DELETE FROM events WHERE id = ?", row["id"])


def _keep(
    transaction: Transaction, event: dict[str, Any], specification: dict[str, Any] | None
) -> None:
    """Store an event, and with a specification its message."""
    life = LIFE if specification is None else LIFE_WITH_MESSAGE
    # Counted from now, so that an event stored late is kept as long.
    number = transaction.insert("events", **event, drop_ms=transaction.now_ms + life)
    if specification is None:
        return
    named = {
        "HITTypeId": event.get("hit_type_id"),
        "HITId": event.get("hit_id"),
        "AssignmentId": event.get("assignment_id"),
    }
    happened = to_datetime(event["at_ms"])
    document = {
        "EventDocVersion": specification["version"],
        "EventDocId": transaction.id_generator.entity("event", number),
        "CustomerId": customer_id(event["requester"]),
        "Events": [
            {
                "EventType": event["event_type"],
                "EventTimestamp": happened.strftime("%Y-%m-%dT%H:%M:%SZ"),
                **{name: value for name, value in named.items() if value is not None},
            }
        ],
    }
    transaction.insert(
        "deliveries",
        event=number,
        transport=specification["transport"],
        destination=specification["destination"],
        document=json.dumps(document),
        status="Waiting",
    )
