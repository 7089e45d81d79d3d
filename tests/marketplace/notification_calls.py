"""Notification settings and events over the wire, in one line each."""

from typing import TYPE_CHECKING, Any

from tests.marketplace.market import Market

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

QUEUE = "http://127.0.0.1:9324/000000000000/mturk"
TOPIC = "arn:aws:sns:us-east-1:000000000000:mturk"
ALL = [
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


def specification(*events: str, **members: object) -> dict[str, Any]:
    """A notification specification for a queue."""
    return {
        "Destination": QUEUE,
        "Transport": "SQS",
        "Version": "2014-08-15",
        "EventTypes": list(events) or ALL,
        **members,
    }


def update(client: "MTurkClient", hit_type: str, **changes: object) -> None:
    """Change the settings of a HIT type."""
    wanted: dict[str, Any] = {"HITTypeId": hit_type, **changes}
    client.update_notification_settings(**wanted)


def send_test(client: "MTurkClient", kind: str, **members: object) -> None:
    """Have a test event sent."""
    wanted: dict[str, Any] = {"Notification": specification(**members), "TestEventType": kind}
    client.send_test_event_notification(**wanted)


def events(market: Market) -> list[dict[str, Any]]:
    """All that happened."""
    all_events: list[dict[str, Any]] = market.http.get("/rehearsal/events").json()["events"]
    return all_events


def kinds(market: Market) -> list[str]:
    """The types of all that happened."""
    return [event["event_type"] for event in events(market)]
