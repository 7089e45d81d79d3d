"""Notifications over the wire: settings, events, and a queue that gets messages."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from botocore.exceptions import ClientError

from piecework.marketplace.http import notification_sender
from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.market import START, Market, expire, post, refusal
from tests.marketplace.notification_calls import (
    ALL,
    QUEUE,
    TOPIC,
    events,
    kinds,
    send_test,
    specification,
    update,
)


class Queue:
    """A local queue as it is spoken to; may be out of order for some time."""

    def __init__(self) -> None:
        self.requests: list[dict[str, str]] = []
        self.credentials: list[str] = []
        self.failures = 0
        self.wrong = self.refused = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                form = parse_qs(self.rfile.read(size).decode())
                outer.requests.append({k: v[0] for k, v in form.items()})
                outer.credentials.append(self.headers["Authorization"])
                is_broken = len(outer.requests) <= outer.failures
                is_broken |= outer.requests[-1].get("QueueUrl") == outer.wrong
                is_refused = outer.refused and outer.refused in form["MessageBody"][0]
                self.send_response(500 if is_broken else 400 if is_refused else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def wait_for(self, number: int) -> list[dict[str, Any]]:
        """The bodies of so many messages, once they are there."""
        wait_until(lambda: len(self.requests) >= number)
        return [json.loads(request["MessageBody"]) for request in self.requests]


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for another thread."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def queue() -> Iterator[Queue]:
    """A queue that listens."""
    queue = Queue()
    thread = threading.Thread(target=queue.server.serve_forever, args=(0.01,))
    thread.start()
    yield queue
    queue.server.shutdown()
    thread.join()
    queue.server.server_close()


@contextmanager
def a_telling_market(database: Path, notify_url: str) -> Iterator[Market]:
    """A marketplace that delivers."""
    options: dict[str, Any] = {"rehearsal": True, "seed": 7, "start": START}
    with serve(Marketplace(database, **options, notify_url=notify_url)) as running:
        market = Market(running.endpoint_url, running.frames_url)
        yield market
        market.close()


def test_every_event_is_written_down_in_its_order_and_as_of_its_time(market: Market) -> None:
    """All kinds, whether anybody wants to be told or not."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    made = post(client, MaxAssignments=2)
    group, hit = made["HITGroupId"], made["HITId"]
    first = ann.accept(group).json()["assignment_id"]
    ann.give_back(first)
    good = ann.accept(group, hit_id=hit).json()["assignment_id"]
    ann.submit(good)
    bob.accept(group)
    market.wait(seconds=601)  # Bob's deadline was at 600
    client.approve_assignment(AssignmentId=good)
    bad = market.worker().do(group)
    client.reject_assignment(AssignmentId=bad, RequesterFeedback="No.")
    client.approve_assignment(AssignmentId=bad, OverrideRejection=True)
    client.create_additional_assignments_for_hit(HITId=hit, NumberOfAdditionalAssignments=1)
    expire(client, hit, market.now().replace(day=20))
    market.wait(days=20)
    client.delete_hit(HITId=hit)
    assert kinds(market) == [
        "HITCreated",
        "AssignmentAccepted",
        "AssignmentReturned",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "AssignmentAccepted",
        "AssignmentAbandoned",
        "AssignmentApproved",
        "AssignmentAccepted",
        "AssignmentSubmitted",
        "HITReviewable",
        "AssignmentRejected",
        "AssignmentApproved",
        "HITExtended",
        "HITExtended",
        "HITExpired",
        "HITReviewable",
        "HITDisposed",
    ]
    all_events = events(market)
    assert set(ALL) == {event["event_type"] for event in all_events}
    assert all_events[2]["assignment_id"] == first
    assert all_events[6]["at"] == "2026-01-05T09:10:00+00:00"
    assert all_events[15]["at"] == "2026-01-20T09:10:01+00:00"
    assert {event["hit_id"] for event in all_events} == {hit}
    assert {event["delivery"] for event in all_events} == {None}
    after = market.http.get("/rehearsal/events", params={"after": all_events[-2]["number"]})
    assert [event["event_type"] for event in after.json()["events"]] == ["HITDisposed"]
    for wrong in ("x", "-1", "9" * 30):
        reply = market.http.get("/rehearsal/events", params={"after": wrong})
        assert reply.status_code == 400


def test_settings_are_replaced_or_switched(market: Market) -> None:
    """A new specification replaces the old one; Active alone turns it on and off."""
    client = market.requester()
    hit_type = post(client)["HITTypeId"]
    with pytest.raises(ClientError) as caught:
        update(client, hit_type, Active=True)
    assert "no notification specification yet" in refusal(caught.value)[2]
    with pytest.raises(ClientError) as caught:
        update(client, hit_type)
    assert "Notification or Active" in refusal(caught.value)[2]

    def is_notified() -> bool:
        post(client)
        last = [event for event in events(market) if event["event_type"] == "HITCreated"][-1]
        return bool(last["delivery"] == "Waiting")

    assert not is_notified()
    update(client, hit_type, Notification=specification("HITCreated"))
    assert is_notified()
    update(client, hit_type, Active=False)
    assert not is_notified()
    update(client, hit_type, Notification=specification("HITCreated", "HITExpired"))
    assert not is_notified()  # as it was
    update(client, hit_type, Active=True)
    assert is_notified()
    update(client, hit_type, Notification=specification("HITExpired"))
    assert not is_notified()
    update(client, hit_type, Notification=specification(), Active=False)
    assert not is_notified()
    with pytest.raises(ClientError) as caught:
        update(market.requester(), hit_type, Active=True)
    assert refusal(caught.value)[1] == "HITTypeDoesNotExist"


@pytest.mark.parametrize(
    ("members", "code", "words"),
    [
        ({"Transport": "Email"}, "InvalidTransportEndpoint", "use SQS or SNS"),
        ({"Destination": "queue"}, "InvalidTransportEndpoint", "a queue's URL"),
        ({"Transport": "SNS"}, "InvalidTransportEndpoint", "a topic's ARN"),
        ({"Destination": TOPIC}, "InvalidTransportEndpoint", "a queue's URL"),
        ({"Version": "2017-01-17"}, "", "Version must be one of"),
        ({"EventTypes": ["Ping"]}, "", "Ping can only be sent as a test"),
        ({"EventTypes": ["Party"]}, "", "must be one of"),
    ],
)
def test_a_specification_that_cannot_be_is_refused(
    standing: Market, members: dict[str, Any], code: str, words: str
) -> None:
    """And the HIT type has none afterwards."""
    client = standing.requester()
    hit_type = post(client)["HITTypeId"]
    with pytest.raises(ClientError) as caught:
        update(client, hit_type, Notification={**specification(), **members})
    assert refusal(caught.value)[1] == code
    assert words in refusal(caught.value)[2]
    with pytest.raises(ClientError, match="no notification specification yet"):
        update(client, hit_type, Active=True)


def test_a_queue_gets_what_was_asked_for(tmp_path: Path, queue: Queue) -> None:
    """A SendMessage for each event, with the document of the manual."""
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        client, ann = market.requester(), market.worker()
        made = post(client)
        wanted = specification("AssignmentSubmitted", "HITReviewable")
        update(client, made["HITTypeId"], Notification=wanted)
        assignment = ann.do(made["HITGroupId"])
        bodies = queue.wait_for(2)
        wait_until(lambda: {"Delivered"} == delivered(market))
    assert queue.requests[0]["Action"] == "SendMessage"
    assert queue.requests[0]["QueueUrl"] == QUEUE
    assert "/us-east-1/sqs/aws4_request" in queue.credentials[0]
    named = {"HITTypeId": made["HITTypeId"], "HITId": made["HITId"]}
    at = {"EventTimestamp": "2026-01-05T09:00:00Z"}
    assert [body["Events"] for body in bodies] == [
        [{"EventType": "AssignmentSubmitted", **at, **named, "AssignmentId": assignment}],
        [{"EventType": "HITReviewable", **at, **named}],
    ]
    assert {body["EventDocVersion"] for body in bodies} == {"2014-08-15"}
    assert len({body["EventDocId"] for body in bodies}) == 2
    assert all(body["CustomerId"].startswith("A") for body in bodies)


def delivered(market: Market) -> set[str]:
    """What became of all messages."""
    return {event["delivery"] for event in events(market) if event["delivery"]}


def test_a_test_event_goes_out_whatever_the_specification_wants(
    tmp_path: Path, queue: Queue
) -> None:
    """Ping too, and to a topic as it is spoken to."""
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        client = market.requester()
        send_test(client, "Ping", EventTypes=["HITCreated"], Transport="SNS", Destination=TOPIC)
        wait_until(lambda: bool(queue.requests))
        (request,) = queue.requests
        with pytest.raises(ClientError) as caught:
            send_test(client, "Ping", Transport="Email")
    assert (request["Action"], request["TopicArn"]) == ("Publish", TOPIC)
    (event,) = json.loads(request["Message"])["Events"]
    assert event == {"EventType": "Ping", "EventTimestamp": "2026-01-05T09:00:00Z"}
    assert refusal(caught.value)[1] == "InvalidTransportEndpoint"


def test_what_fails_is_sent_again_and_nothing_waits_for_it(
    tmp_path: Path, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    """Two failures, then success; the same EventDocId, and lines in the log."""
    queue.failures = 2
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        client = market.requester()
        send_test(client, "HITExpired")
        bodies = queue.wait_for(3)
        wait_until(lambda: {"Delivered"} == delivered(market))
    assert len({body["EventDocId"] for body in bodies}) == 1
    assert caplog.text.count("not delivered: HTTP 500") == 2


def test_a_wrong_queue_delays_nobody_elses_messages(tmp_path: Path, queue: Queue) -> None:
    """However many messages wait for it."""
    queue.wrong = f"{QUEUE}-that-is-missing"
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        careless, client = market.requester(), market.requester()
        for _ in range(101):
            send_test(careless, "HITExpired", Destination=queue.wrong)
        before = time.monotonic()
        send_test(client, "HITExpired")
        wait_until(lambda: any(request["QueueUrl"] == QUEUE for request in queue.requests))
        assert time.monotonic() - before < 5
    tries = sum(request["QueueUrl"] == queue.wrong for request in queue.requests)
    assert tries < notification_sender.MOST_TRIES


def test_a_message_that_is_refused_delays_no_other(
    tmp_path: Path, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are refused, and also to the same queue."""
    monkeypatch.setattr(notification_sender, "_FIRST_DELAY_SECONDS", 1000)
    monkeypatch.setattr(notification_sender, "_LONGEST_DELAY_SECONDS", 1000)
    queue.refused = "HITExpired"
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        client = market.requester()
        for _ in range(101):
            send_test(client, "HITExpired")
        send_test(client, "Ping")
        wait_until(lambda: "Delivered" in delivered(market))
        assert delivered(market) == {"Waiting", "Delivered"}
        assert len(queue.requests) == 102


def test_a_message_that_was_given_up_delays_no_other(
    tmp_path: Path, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not sent again, so nothing waits for that."""
    monkeypatch.setattr(notification_sender, "MOST_TRIES", 1)
    monkeypatch.setattr(notification_sender, "_FIRST_DELAY_SECONDS", 1000)
    monkeypatch.setattr(notification_sender, "_LONGEST_DELAY_SECONDS", 1000)
    queue.failures = 1
    with a_telling_market(tmp_path / "market.db", queue.url) as market:
        client = market.requester()
        for kind in ("HITExpired", "Ping"):
            send_test(client, kind)
        wait_until(lambda: delivered(market) == {"Failed", "Delivered"})


def test_messages_outlive_a_restart(tmp_path: Path, queue: Queue) -> None:
    """Written without anybody to deliver them, they go out when there is."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=7, start=START)) as running:
        market = Market(running.endpoint_url, running.frames_url)
        client = market.requester()
        send_test(client, "HITExpired")
        assert delivered(market) == {"Waiting"}
        market.close()
    with a_telling_market(tmp_path / "m.db", queue.url) as market:
        queue.wait_for(1)
        wait_until(lambda: {"Delivered"} == delivered(market))


def test_a_queue_that_is_gone_is_given_up_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Failed after the last try, with an error in the log; calls were never slow."""
    monkeypatch.setattr(notification_sender, "MOST_TRIES", 2)
    with a_telling_market(tmp_path / "m.db", "http://127.0.0.1:9/") as market:
        send_test(market.requester(), "HITExpired")
        wait_until(lambda: {"Failed"} == delivered(market))
    assert "ConnectionRefusedError" in caplog.text
    with sqlite3.connect(tmp_path / "m.db") as connection:
        (tries,) = connection.execute("SELECT tries FROM deliveries").fetchone()
    connection.close()
    assert tries == 2


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "http://example.org/",
        "http://127.0.0.1.example.org/",
        "http://10.0.0.1/",
        "http://user@example.org:80/",
        "ftp://127.0.0.1/",
        "http://127.0.0.1:99999/",
        "queue",
    ],
)
def test_notifications_go_to_this_machine_only(tmp_path: Path, url: str) -> None:
    """Said before anything is served."""
    with (
        pytest.raises(notification_sender.NotifyAddressError),
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, notify_url=url)),
    ):
        pass


def test_workers_are_told_by_those_who_judged_their_work(market: Market) -> None:
    """Others get a failure each; the rest get the message once."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    made = post(client, MaxAssignments=2)
    client.approve_assignment(AssignmentId=ann.do(made["HITGroupId"]))
    bob.do(made["HITGroupId"])
    message = {"Subject": "Thanks <b>", "MessageText": "For the birds."}
    reply = client.notify_workers(
        **message, WorkerIds=[ann.worker_id, bob.worker_id, "ANOBODY", ann.worker_id]
    )
    failed = reply["NotifyWorkersFailureStatuses"]
    assert [failure["WorkerId"] for failure in failed] == [bob.worker_id, "ANOBODY"]
    assert {failure["NotifyWorkersFailureCode"] for failure in failed} == {"HardFailure"}
    assert "not approved or rejected" in failed[0]["NotifyWorkersFailureMessage"]
    page = ann.http.get("/worker/history", headers={"Accept": "text/html"}).text
    assert page.count("Thanks &lt;b&gt;") == 1
    assert "For the birds." in page
    page = bob.http.get("/worker/history", headers={"Accept": "text/html"}).text
    assert "For the birds." not in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Subject": "x" * 201}, "Subject must have from 1 to 200"),
        ({"Subject": ""}, "Subject must have"),
        ({"MessageText": "x" * 4097}, "MessageText must have from 1 to 4096"),
        ({"WorkerIds": []}, "must be from 1 to 100"),
        ({"WorkerIds": [f"A{n}" for n in range(101)]}, "must be from 1 to 100"),
        ({"WorkerIds": ["B1"]}, "must match"),
    ],
)
def test_a_message_has_its_limits(standing: Market, change: dict[str, Any], words: str) -> None:
    """ParameterValidationError for each."""
    parameters: dict[str, Any] = {"Subject": "x", "MessageText": "x", "WorkerIds": ["A1"]}
    with pytest.raises(ClientError) as caught:
        standing.requester().notify_workers(**{**parameters, **change})
    assert refusal(caught.value)[0] == "ParameterValidationError"
    assert words in refusal(caught.value)[2]
