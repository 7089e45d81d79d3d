"""Events are kept for a while: a month, or as long as HITs where a message was made."""

import sqlite3
from contextlib import closing
from pathlib import Path

from piecework.marketplace.state import accounts, events, lifecycle
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.clock import to_ms
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market, post
from tests.marketplace.notification_calls import kinds, send_test, specification, update

QUIET = {**HIT_TYPE, "LifetimeInSeconds": 60 * 86_400, "Question": QUESTION}

TO_A_QUEUE = {"version": "2014-08-15", "transport": "SQS", "destination": "http://x/q"}


def test_an_event_goes_after_thirty_days_and_a_told_one_after_120(market: Market) -> None:
    """Day 30 drops what nobody asked to hear, day 120 the rest but for the last."""
    client = market.requester()
    hit_type = post(client, LifetimeInSeconds=31_536_000)["HITTypeId"]
    update(client, hit_type, Notification=specification("HITExtended"))
    hit = client.list_hits()["HITs"][0]["HITId"]
    client.create_additional_assignments_for_hit(HITId=hit, NumberOfAdditionalAssignments=1)
    assert kinds(market) == ["HITCreated", "HITExtended"]
    market.wait(days=29)
    post(client, LifetimeInSeconds=31_536_000)
    market.wait(hours=23)
    assert kinds(market) == ["HITCreated", "HITExtended", "HITCreated"]
    market.wait(hours=1)
    assert kinds(market) == ["HITExtended", "HITCreated"]
    market.wait(days=89, hours=23)  # the second HIT's event is past its 30 days
    assert kinds(market) == ["HITExtended", "HITCreated"]
    market.wait(hours=1)
    assert kinds(market) == ["HITCreated"]


def test_the_number_of_a_dropped_event_is_never_given_again(market: Market) -> None:
    """Whoever asks for what came after a number misses nothing."""
    client = market.requester()
    for _ in range(3):
        send_test(client, "Ping")
    market.wait(days=400)
    send_test(client, "HITCreated")
    later_events = market.http.get("/rehearsal/events", params={"after": 3}).json()["events"]
    assert [(event["number"], event["event_type"]) for event in later_events] == [(4, "HITCreated")]
    assert kinds(market) == ["HITCreated"]


def test_many_old_events_are_dropped_a_slice_at_a_time(tmp_path: Path) -> None:
    """No slice drops more than its share, and it ends with the one that stays."""
    with closing(Backend(tmp_path / "old.db", Rules(rehearsal=True, start=START))) as backend:
        with backend.transaction() as transaction:
            requester = accounts.add_requester(transaction, "KEY", balance_cents=0)
            for _ in range(1000):
                events.record_test(transaction, requester, "Ping", TO_A_QUEUE)
        now = to_ms(START) + events.LIFE_WITH_MESSAGE
        backend.move_clock(now - 1)
        assert not backend.catch_up()
        backend.move_clock(now)
        left = []
        while backend.catch_up():
            left.append(_count(tmp_path / "old.db"))
        left.append(_count(tmp_path / "old.db"))
        share = 8 * lifecycle.SLICE
        assert left == [*range(1000 - share, 0, -share), 1]


def _count(database: Path) -> int:
    with closing(sqlite3.connect(database)) as conn:
        ((events_left,), (messages_left,)) = (
            conn.execute(f"SELECT count(*) FROM {table}").fetchone()
            for table in ("events", "deliveries")
        )
    assert events_left == messages_left
    return int(events_left)
