"""Notifies workers by message, and requesters' programs by event."""

import json
import re

from piecework.marketplace.exceptions import Refusal, invalid_parameters, request_error
from piecework.marketplace.requester import hit_types
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import events, messages

MOST_WORKERS = 100
_LONGEST_SUBJECT = 200
_LONGEST_TEXT = 4096
_VERSIONS = ("2006-05-05", "2014-08-15")
_DESTINATIONS = {
    "SQS": re.compile(r"https?://[\w.\-\[\]:]+/[\w\-./]{1,200}", re.ASCII),
    "SNS": re.compile(r"arn:aws[\w-]*:sns:[\w-]+:[0-9]{12}:[\w-]{1,256}", re.ASCII),
}


def notify_workers(call: Call) -> Members:
    """NotifyWorkers: message workers with work that this requester has decided."""
    subject = hit_types.at_most("Subject", call.members["Subject"], least=1, most=_LONGEST_SUBJECT)
    text = hit_types.at_most(
        "MessageText", call.members["MessageText"], least=1, most=_LONGEST_TEXT
    )
    named = list(dict.fromkeys(call.members["WorkerIds"]))
    hit_types.in_range("The number of WorkerIds", len(named), low=1, high=MOST_WORKERS)
    failures = []
    for worker_id in named:
        worker = _judged_worker(call, worker_id)
        if worker is not None and messages.send_message(
            call.transaction, requester=call.requester, worker=worker, subject=subject, text=text
        ):
            continue
        why_not = (
            "you have not approved or rejected any of their work."
            if worker is None
            else "their market delivers no messages. Write to them there."
        )
        failures.append(
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": (
                    f"Notification was not sent to this worker because {why_not}"
                ),
                "WorkerId": worker_id,
            }
        )
    return {"NotifyWorkersFailureStatuses": failures}


def update_notification_settings(call: Call) -> Members:
    """UpdateNotificationSettings: change the specification, or turn it on or off."""
    hit_type = hit_types.find_hit_type(call, call.members["HITTypeId"])
    before = call.transaction.first_row(
        "SELECT * FROM notification_settings WHERE hit_type = ?", hit_type["id"]
    )
    if "Notification" not in call.members and "Active" not in call.members:
        raise invalid_parameters("Give Notification or Active.")
    if "Notification" in call.members:
        wanted = _specification(call.members["Notification"])
        is_active = call.members.get("Active", True if before is None else before["is_active"])
        call.transaction.upsert(
            "notification_settings",
            "hit_type",
            hit_type=hit_type["id"],
            is_active=is_active,
            **wanted,
        )
        return {}
    if before is None:
        raise invalid_parameters(
            f"HITType {call.members['HITTypeId']} has no notification specification yet; "
            "give one to make it active or not."
        )
    call.transaction.execute(
        "UPDATE notification_settings SET is_active = ? WHERE hit_type = ?",
        call.members["Active"],
        hit_type["id"],
    )
    return {}


def send_test_event_notification(call: Call) -> Members:
    """SendTestEventNotification: send one event, even without a specification."""
    wanted = _specification(call.members["Notification"], may_ping=True)
    events.record_test(call.transaction, call.requester, call.members["TestEventType"], wanted)
    return {}


def _judged_worker(call: Call, worker_id: str) -> int | None:
    worker: int | None = call.transaction.value(
        "SELECT workers.id FROM workers WHERE worker_id = ? AND EXISTS "
        "(SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = workers.id AND hits.requester = ? "
        "AND assignments.status IN ('Approved', 'Rejected'))",
        worker_id,
        call.requester,
    )
    return worker


def _specification(members: Members, *, may_ping: bool = False) -> Members:
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
