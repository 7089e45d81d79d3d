"""Workers: blocks, messages, and compensations for those who have no assignment.

A block is the hard kind, which hides all of a requester's HITs. A compensation is a bonus
without an assignment to attach it to. A requester pays it to people whom the requester's
own faults hurt: a page that broke, or a HIT that no worker could submit. It has a name of
the requester's choice. Each name is paid once and never forgotten, and the list of
compensations shows what was paid. Besides workers, a requester's own programs are notified,
of the events of a HIT type.
"""

import json
import re
import sqlite3

from piecework.marketplace.exceptions import (
    Refusal,
    already_processed,
    invalid_parameters,
    request_error,
)
from piecework.marketplace.requester import hit_types
from piecework.marketplace.requester.assignments import pay_bonus
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import accounts, events, messages, money

MOST_BLOCKS = 100_000


def create_worker_block(call: Call) -> Members:
    """CreateWorkerBlock: a repeat replaces the reason."""
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    blocked = "SELECT count(*) FROM blocks WHERE requester = ?"
    if call.transaction.value(blocked, call.requester) >= MOST_BLOCKS:
        raise request_error(
            "PermissionDenied", f"A requester may block at most {MOST_BLOCKS} workers."
        )
    call.transaction.upsert(
        "blocks",
        "requester",
        "worker",
        requester=call.requester,
        worker=worker["id"],
        reason=call.members["Reason"],
    )
    return {}


def delete_worker_block(call: Call) -> Members:
    """DeleteWorkerBlock: succeeds even if the worker is not blocked."""
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    call.transaction.execute(
        "DELETE FROM blocks WHERE requester = ? AND worker = ?", call.requester, worker["id"]
    )
    return {}


def list_worker_blocks(call: Call) -> Members:
    """ListWorkerBlocks: oldest first."""
    return call.list(
        "WorkerBlocks",
        lambda row: {"WorkerId": row["worker_id"], "Reason": row["reason"]},
        "blocks",
        "SELECT blocks.id, blocks.reason, workers.worker_id FROM blocks "
        "JOIN workers ON workers.id = blocks.worker WHERE blocks.requester = ?",
        call.requester,
    )


_LONGEST_NAME = 400
_PAGE = 100


def check_compensation_name(member: str, value: object) -> str:
    """Return a compensation's name, or refuse it."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        raise invalid_parameters(f"{member} must be a text of 1 to {_LONGEST_NAME} characters.")
    return value


def check_compensation_page(member: str, value: object) -> Members:
    """Return which compensations are wanted, or refuse the value."""
    is_page = (
        isinstance(value, dict)
        and set(value) == {"Prefix", "After"}
        and all(isinstance(text, str) and len(text) <= _LONGEST_NAME for text in value.values())
    )
    if not is_page or not isinstance(value, dict):
        raise invalid_parameters(
            f"{member} must have Prefix and After, texts of at most {_LONGEST_NAME} characters."
        )
    return value


def send_compensation(call: Call, name: str) -> Members:
    """Pay a compensation; the same name a second time is refused.

    Raises:
        Refusal: the worker is unknown, accepted no HIT of this requester, or cannot be
            paid by the market that sent them.
    """
    if "AssignmentId" in call.members:
        raise invalid_parameters("Give either AssignmentId or PieceworkCompensation, not both.")
    if call.transaction.first_row(
        "SELECT 1 FROM bonuses WHERE requester = ? AND name = ?", call.requester, name
    ):
        raise already_processed(call.members.get("UniqueRequestToken") or name)
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    pay_bonus(
        call,
        worker["id"],
        reason="compensation",
        subject=name,
        requester=call.requester,
        name=name,
        paid_visit=_paying_visit(call, worker),
    )
    return {}


def list_compensations(call: Call, asked: Members, reply: Members) -> None:
    """Add compensations whose names have a prefix, by name, a page at most."""
    rows = call.transaction.all(
        "SELECT bonuses.*, worker_id FROM bonuses "
        "JOIN workers ON workers.id = bonuses.worker "
        "WHERE requester = ?1 AND substr(name, 1, length(?2)) = ?2 AND name > ?3 "
        "ORDER BY name LIMIT ?4",
        call.requester,
        asked["Prefix"],
        asked["After"],
        _PAGE,
    )
    reply["PieceworkCompensations"] = [
        {
            "Name": row["name"],
            "WorkerId": row["worker_id"],
            "BonusAmount": money.currency(row["cents"]),
            "Reason": row["reason"],
        }
        for row in rows
    ]


def _paying_visit(call: Call, worker: sqlite3.Row) -> int | None:
    """Return the visit through which another market pays; `None` for own workers.

    Raises:
        Refusal: the worker never worked for this requester.
    """
    if worker["comes_by_visits"]:
        row = call.transaction.first_row(
            "SELECT visits.id FROM visits JOIN studies ON studies.id = visits.study "
            "JOIN hit_types ON hit_types.id = studies.hit_type "
            "WHERE visits.worker = ? AND hit_types.requester = ? "
            "ORDER BY visits.id DESC LIMIT 1",
            worker["id"],
            call.requester,
        )
        if row is None:
            raise request_error(
                "NoSubmission",
                f"Worker {worker['worker_id']} has no submission in a study of this "
                "requester, so the market that sent this person cannot pay them.",
            )
        return int(row["id"])
    if not call.transaction.first_row(
        "SELECT 1 FROM assignments JOIN hits ON hits.id = assignments.hit "
        "WHERE assignments.worker = ? AND hits.requester = ? LIMIT 1",
        worker["id"],
        call.requester,
    ):
        raise request_error(
            "NoHITAccepted", f"Worker {worker['worker_id']} has accepted no HIT of this requester."
        )
    return None


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
