"""Webhooks: subscribed, confirmed, signed, tried again, and logged."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from offline_markets.core.clock import DAY
from offline_markets.prolific.options import Options
from offline_markets.prolific.state import State
from offline_markets.prolific.webhooks import Sender
from offline_markets.prolific.workspaces import make_account
from offline_markets_tests.prolific.people import START, Refused, Researcher
from tests.answering import Answer, Asked, Calls, answering
from tests.marketplace.own_event_loop import run_in_thread

KIND = "submission.status.change"
PATH = "/hooks/subscriptions/"


@pytest.fixture
def hearer() -> Iterator[Calls]:
    """Somebody on this machine who is called, and takes everything."""
    calls = Calls(answers=[Answer(204)])
    with answering(calls):
        yield calls


def _until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _until_heard(hearer: Calls, times: int) -> None:
    _until(lambda: len(hearer.asked) == times)


def _subscribe(
    researcher: Researcher, hearer: Calls, *, is_confirmed: bool = True, path: str = "/hear"
) -> tuple[str, str]:
    """A subscription to submissions; its id, and what its calls are signed with."""
    workspace_id = researcher.workspace_id()
    secret = researcher.post("/hooks/secrets/", workspace_id=workspace_id)["value"]
    made = researcher.http.post(
        f"/api/v1{PATH}",
        json={
            "event_type": KIND,
            "target_url": f"{hearer.address}{path}",
            "workspace_id": workspace_id,
        },
    )
    [subscription] = made.json()["results"]
    if is_confirmed:
        researcher.post(f"{PATH}{subscription['id']}/", secret=made.headers["X-Hook-Secret"])
    return subscription["id"], secret


def _log(researcher: Researcher, subscription_id: str, **query: object) -> Any:  # noqa: ANN401 - JSON
    return researcher.get(f"{PATH}{subscription_id}/events/", **query)["results"]


def _put_event(state: State, target_url: str) -> None:
    """A subscription of the account's workspace, and an event that is due."""
    make_account(state, balance=0)
    state.conn.executescript(
        "INSERT INTO webhook_secret (id, workspace_id, value) "
        "SELECT 'secret', id, 'key' FROM workspace; "
        "INSERT INTO subscription (id, workspace_id, event_type, target_url, "
        f"confirmed_by, is_enabled) SELECT 'sub', id, '{KIND}', '{target_url}', "
        "'confirmation', 1 FROM workspace; "
        "INSERT INTO event (id, subscription_id, resource_id, payload, next_ms, "
        "created_ms, updated_ms) VALUES ('event', 'sub', 'r', '{}', 0, 0, 0)"
    )


def _signature(asked: Asked, secret: str) -> str:
    """As Prolific's page on verifying has it, worked out anew."""
    signed_text = asked.headers["X-Prolific-Request-Timestamp"] + json.dumps(asked.body)
    digest = hmac.new(secret.encode(), signed_text.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def test_a_confirmed_subscription_is_called_and_can_tell_who_calls(
    researcher: Researcher, hearer: Calls
) -> None:
    """Each change of a submission, signed with the workspace's secret."""
    subscription_id, secret = _subscribe(researcher, hearer)
    study = researcher.study()
    ann = researcher.participant()
    submission = ann.do(study)
    _until_heard(hearer, 1)
    [asked] = hearer.asked
    assert asked.body == {
        "resource_id": submission,
        "event_type": KIND,
        "status": "AWAITING REVIEW",
        "participant_id": ann.participant_id,
    }
    assert asked.headers["X-Prolific-Request-Signature"] == _signature(asked, secret)
    _until(lambda: _log(researcher, subscription_id, status="SUCCEEDED"))
    [event] = _log(researcher, subscription_id)
    assert event["id"] == asked.headers["X-Event-ID"]


def test_before_it_is_confirmed_nothing_is_sent(researcher: Researcher, hearer: Calls) -> None:
    """And the secret that confirms is another than the one that signs."""
    subscription_id, secret = _subscribe(researcher, hearer, is_confirmed=False)
    with pytest.raises(Refused):
        researcher.post(f"{PATH}{subscription_id}/", secret=secret)
    assert researcher.get(PATH)["results"] == []
    [waiting] = researcher.get(PATH, is_enabled="false")["results"]
    assert waiting["id"] == subscription_id
    researcher.participant().do(researcher.study())
    assert _log(researcher, subscription_id) == []


def test_what_was_not_taken_is_sent_again_until_a_day_is_over(
    researcher: Researcher, hearer: Calls
) -> None:
    """Twelve tries of one event, in the emulator's time; then it has failed."""
    hearer.answer(Answer(503))
    subscription_id, secret = _subscribe(researcher, hearer)
    researcher.participant().do(researcher.study())
    for number in range(1, 13):
        _until_heard(hearer, number)
        researcher.wait(hours=6)
    _until(lambda: _log(researcher, subscription_id, status="FAILED"))
    assert len({asked.headers["X-Event-ID"] for asked in hearer.asked}) == 1
    for asked in hearer.asked:
        assert asked.headers["X-Prolific-Request-Signature"] == _signature(asked, secret)


def test_who_fails_for_five_days_is_called_no_more(researcher: Researcher, hearer: Calls) -> None:
    """The subscription is there, and not enabled."""
    hearer.answer(Answer(503))
    subscription_id, _ = _subscribe(researcher, hearer)
    study = researcher.study()
    researcher.participant().do(study)
    _until_heard(hearer, 1)
    researcher.wait(days=6)
    _until(lambda: not researcher.get(f"{PATH}{subscription_id}/")["is_enabled"])
    heard = len(hearer.asked)
    researcher.participant().do(study)
    assert len(_log(researcher, subscription_id)) == 1
    assert len(hearer.asked) == heard


def test_the_days_of_failure_begin_with_the_call_that_failed(
    researcher: Researcher, hearer: Calls
) -> None:
    """Also if the clock moves on before the receiver answers."""
    may_answer = threading.Event()

    def respond(_asked: Asked) -> Answer:
        may_answer.wait(60)
        return Answer(503)

    hearer.respond = respond
    subscription_id, _ = _subscribe(researcher, hearer)
    researcher.participant().do(researcher.study())
    _until_heard(hearer, 1)
    researcher.wait(days=6)
    may_answer.set()
    _until_heard(hearer, 2)
    _until(lambda: not researcher.get(f"{PATH}{subscription_id}/")["is_enabled"])


def test_a_subscription_that_is_not_enabled_gets_no_further_try(
    researcher: Researcher, hearer: Calls
) -> None:
    """An event that still waits is tried no more; other subscriptions are called."""
    hearer.answer(Answer(503))
    subscription_id, _ = _subscribe(researcher, hearer)
    study = researcher.study()
    researcher.participant().do(study)
    _until_heard(hearer, 1)
    researcher.wait(days=6)
    _until(lambda: not researcher.get(f"{PATH}{subscription_id}/")["is_enabled"])
    _subscribe(researcher, hearer, path="/other")
    researcher.wait(hours=6)
    researcher.participant().do(study)
    # What has waited longest is sent first.
    _until(lambda: hearer.asked[-1].path == "/other")
    assert [asked.path for asked in hearer.asked] == ["/hear", "/hear", "/other"]


def test_an_event_that_becomes_due_as_a_round_ends_is_sent(hearer: Calls) -> None:
    """The clock moves after the last note, while connections are being closed."""
    hearer.answer(Answer(503))
    with contextlib.closing(State(Options(start=START))) as state:
        _put_event(state, f"{hearer.address}/hear")

        async def move_the_clock_as_the_round_ends() -> None:
            sender = Sender(state)
            sender.send_soon()
            while not state.number("SELECT tries FROM event"):  # noqa: ASYNC110 - each step
                await asyncio.sleep(0)
            state.move_clock(state.clock.now_ms() + DAY)
            sender.send_soon()
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

        run_in_thread(move_the_clock_as_the_round_ends())
    assert len(hearer.asked) == 2


def test_by_switch_each_comes_twice_and_the_last_comes_first(
    researcher: Researcher, hearer: Calls
) -> None:
    """As may happen with the real ones."""
    switches = {"webhooks_repeat": True, "webhooks_out_of_order": True}
    researcher.control("PUT", "/switches", switches)
    _subscribe(researcher, hearer)
    study = researcher.study()
    submission = researcher.participant().take(study)
    # Both of these become due with the move of the clock.
    other = researcher.participant().take(study)
    researcher.wait(minutes=31)
    _until_heard(hearer, 4)
    assert [asked.body["resource_id"] for asked in hearer.asked] == [
        *(other, other),
        *(submission, submission),
    ]


def test_nobody_outside_this_machine_is_called(researcher: Researcher) -> None:
    """A rehearsal sends nothing into the world."""
    workspace_id = researcher.workspace_id()
    researcher.post("/hooks/secrets/", workspace_id=workspace_id)
    for url in ("https://hits.example.org/x", "http://10.0.0.1/x", "http://[::1"):
        with pytest.raises(Refused):
            researcher.post(PATH, event_type=KIND, target_url=url, workspace_id=workspace_id)


def test_another_secret_ends_the_first(researcher: Researcher, hearer: Calls) -> None:
    """A workspace has one; what is sent then is signed with the new one."""
    _, first = _subscribe(researcher, hearer)
    workspace_id = researcher.workspace_id()
    second = researcher.post("/hooks/secrets/", workspace_id=workspace_id)["value"]
    listed = researcher.get("/hooks/secrets/", workspace_id=workspace_id)["results"]
    assert [each["value"] for each in listed] == [second]
    researcher.participant().do(researcher.study())
    _until(lambda: hearer.asked)
    [asked] = hearer.asked
    signed = asked.headers["X-Prolific-Request-Signature"]
    assert signed == _signature(asked, second) != _signature(asked, first)
