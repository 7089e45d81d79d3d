"""Notifies workers by message, and requesters' programs by event."""

import json
import re
from typing import Any

from piecework.marketplace.exceptions import Refusal, invalid_parameters, request_error
from piecework.marketplace.requester import hit_types
from piecework.marketplace.state import events, messages
from piecework.marketplace.state.transaction import Transaction

MOST_WORKERS = 100
_LONGEST_SUBJECT = 200
_LONGEST_TEXT = 4096
_VERSIONS = ("2006-05-05", "2014-08-15")
_DESTINATIONS = {
    "SQS": re.compile(r"https?://[\w.\-\[\]:]+/[\w\-./]{1,200}", re.ASCII),
    "SNS": re.compile(r"arn:aws[\w-]*:sns:[\w-]+:[0-9]{12}:[\w-]{1,256}", re.ASCII),
}
_SET = (
    "INSERT INTO notification_settings (hit_type, destination, transport, version, "
    "event_types, is_active) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (hit_type) DO UPDATE SET destination = excluded.destination, "
    "transport = excluded.transport, version = excluded.version, "
    "event_types = excluded.event_types, is_active = excluded.is_active"
)

Members = dict[str, Any]


def notify_workers(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """NotifyWorkers: message workers with work that this requester has decided."""
    subject = hit_types.at_most("Subject", members["Subject"], least=1, most=_LONGEST_SUBJECT)
    text = hit_types.at_most("MessageText", members["MessageText"], least=1, most=_LONGEST_TEXT)
    named = list(dict.fromkeys(members["WorkerIds"]))
    hit_types.in_range("The number of WorkerIds", len(named), low=1, high=MOST_WORKERS)
    failures = []
    for worker_id in named:
        worker = _judged_worker(transaction, requester, worker_id)
        if worker is None:
            failures.append(
                {
                    "NotifyWorkersFailureCode": "HardFailure",
                    "NotifyWorkersFailureMessage": (
                        "Notification was not sent to this worker because you have "
                        "not approved or rejected any of their work."
                    ),
                    "WorkerId": worker_id,
                }
            )
            continue
        messages.send_message(
            transaction, requester=requester, worker=worker, subject=subject, text=text
        )
    return {"NotifyWorkersFailureStatuses": failures}


def update_notification_settings(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateNotificationSettings: change the specification, or turn it on or off."""
    hit_type = hit_types.find_hit_type(transaction, requester, members["HITTypeId"])
    before = transaction.first_row(
        "SELECT * FROM notification_settings WHERE hit_type = ?", hit_type["id"]
    )
    if "Notification" not in members and "Active" not in members:
        raise invalid_parameters("Give Notification or Active.")
    if "Notification" in members:
        wanted = _specification(members["Notification"])
        is_active = members.get("Active", True if before is None else before["is_active"])
        transaction.execute(_SET, hit_type["id"], *wanted.values(), is_active)
        return {}
    if before is None:
        raise invalid_parameters(
            f"HITType {members['HITTypeId']} has no notification specification yet; "
            "give one to make it active or not."
        )
    transaction.execute(
        "UPDATE notification_settings SET is_active = ? WHERE hit_type = ?",
        members["Active"],
        hit_type["id"],
    )
    return {}


def send_test_event_notification(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """SendTestEventNotification: send one event, even without a specification."""
    wanted = _specification(members["Notification"], may_ping=True)
    events.record_test(transaction, requester, members["TestEventType"], wanted)
    return {}


def _judged_worker(transaction: Transaction, requester: int, worker_id: str) -> int | None:
    row = transaction.first_row(
        "SELECT workers.id FROM workers WHERE worker_id = ? AND EXISTS "
        "(SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = workers.id AND hits.requester = ? "
        "AND assignments.status IN ('Approved', 'Rejected'))",
        worker_id,
        requester,
    )
    return None if row is None else int(row["id"])


def _specification(members: Members, *, may_ping: bool = False) -> dict[str, Any]:
    transport, destination = members["Transport"], members["Destination"]
    if transport not in _DESTINATIONS:
        raise _no_endpoint("this marketplace does not send mail; use SQS or SNS")
    if not _DESTINATIONS[transport].fullmatch(destination):
        raise _no_endpoint(
            "SQS takes a queue's URL and SNS a topic's ARN "
            f"(found {destination[:80]!a} for {transport})"
        )
    if members["Version"] not in _VERSIONS:
        raise invalid_parameters(
            f"Version must be one of {', '.join(_VERSIONS)} (found {members['Version'][:20]!a})."
        )
    if "Ping" in members["EventTypes"] and not may_ping:
        raise invalid_parameters("Ping can only be sent as a test.")
    return {
        "destination": destination,
        "transport": transport,
        "version": members["Version"],
        "event_types": json.dumps(sorted(set(members["EventTypes"]))),
    }


def _no_endpoint(complaint: str) -> Refusal:
    return request_error(
        "InvalidTransportEndpoint", f"The notification cannot be delivered: {complaint}."
    )
