"""Webhooks only make the bridge look sooner, and only those that Prolific signed."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import clock
from piecework.marketplace.workers.visit_site import EVENTS
from piecework.markets.bridging.accounts import Pace, Running, settle_bridge
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.webhooks import Receiver, register, signature_of
from tests.foundation.server.security_lines import caught
from tests.marketplace.market import START
from tests.markets.prolific.bridge.town import Town, a_town

SECRET = "webhook-secret"  # noqa: S105 - opens nothing
NOW_S = 1_800_000_000
BODY = b'{"event_type": "submission.status.change"}'


def _receiver() -> Receiver:
    return Receiver(SECRET, now_ms=lambda: NOW_S * clock.SECOND)


def _headers(
    body: bytes = BODY, *, at: int = NOW_S, secret: str = SECRET, event: str = "1"
) -> dict[str, str]:
    return {
        "x-prolific-request-timestamp": str(at),
        "x-prolific-request-signature": signature_of(secret, str(at), body),
        "x-event-id": event,
    }


def test_what_is_signed_is_news() -> None:
    """The signature of a fixed body, worked out with openssl."""
    receiver = _receiver()
    headers = _headers()
    # openssl dgst -sha256 -hmac webhook-secret -binary, then base64
    assert headers["x-prolific-request-signature"] == "mJAFBSanxKVjLUfMlZfNEjKcYP0Bn6rKxL7sUoDz8v4="
    receiver.take(headers, BODY)
    assert receiver.news.is_set()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        _headers(secret="another"),  # noqa: S106 - opens nothing
        _headers(b"another body"),
        _headers(at=NOW_S - 301),
        _headers(at=NOW_S + 301),
        _headers() | {"x-prolific-request-timestamp": str(NOW_S + 1)},
        _headers() | {"x-prolific-request-timestamp": "9" * 5000},
        _headers() | {"x-prolific-request-timestamp": "\u0661"},
        _headers() | {"x-prolific-request-signature": "ÿ"},
    ],
)
def test_what_is_forged_old_or_changed_is_refused(headers: dict[str, str]) -> None:
    """And nobody looks because of it."""
    receiver = _receiver()
    with pytest.raises(Refusal) as refused:
        receiver.take(headers, BODY)
    assert refused.value.status == 403
    assert not receiver.news.is_set()


def test_what_comes_again_is_no_news() -> None:
    """By its id, and by its signature where somebody has written another id."""
    receiver = _receiver()
    receiver.take(_headers(), BODY)
    receiver.news.clear()
    receiver.take(_headers(at=NOW_S + 5), BODY)
    receiver.take(_headers(event="2"), BODY)
    assert not receiver.news.is_set()
    receiver.take(_headers(at=NOW_S + 6, event="3"), BODY)
    assert receiver.news.is_set()


@contextmanager
def _listening(folder: Path) -> Iterator[tuple[Town, Receiver]]:
    """A town whose marketplace Prolific calls; time stands in both."""
    receiver = Receiver("", now_ms=lambda: clock.to_ms(START))
    with a_town(folder, webhooks=receiver) as town:
        made = register(
            town.bridge.backend,
            town.bridge.prolific,
            town.bridge.terms.workspace_id,
            f"{town.market.endpoint}{EVENTS}",
        )
        receiver.secret = made.secret
        yield town, receiver


def test_a_participant_who_returns_wakes_the_bridge(tmp_path: Path) -> None:
    """Though it would have waited for an hour; also when they come twice and mixed."""
    with _listening(tmp_path) as (town, receiver):
        switches = {"webhooks_repeat": True, "webhooks_out_of_order": True}
        town.researcher.control("PUT", "/switches", switches)
        town.post(hits=2)
        town.settle()
        ann = town.visitor()
        assert ann.arrive(town.study()).status_code == 201
        town.settle()
        _quiet(receiver)
        pace = Pace(first_seconds=0.02, longest_seconds=3600, look_seconds=0.01)
        running = Running(town.bridge, step, receiver.news, pace)
        woken = threading.Thread(target=lambda: running._wait(3600), daemon=True)
        woken.start()
        ann.give_back(ann.submission_id)
        woken.join(timeout=20)
        assert not woken.is_alive()
        settle_bridge(step, town.bridge)
        [visit] = town.rows("SELECT status, stage FROM visits")
        assert visit == {"status": "RETURNED", "stage": "Left"}


def _quiet(receiver: Receiver) -> None:
    """Wait until nothing more comes."""
    receiver.news.clear()
    while receiver.news.wait(0.3):
        receiver.news.clear()


def test_a_forged_one_over_the_wire_is_refused_and_a_large_one_not_read(tmp_path: Path) -> None:
    """The content is not believed either: a signed lie changes nothing."""
    with _listening(tmp_path) as (town, receiver):
        [subscription, *_] = town.bridge.prolific.webhooks.subscriptions(
            town.bridge.terms.workspace_id
        )
        url = subscription.target_url
        with httpx.Client() as http:
            with caught() as lines:
                assert http.post(url, content=BODY).status_code == 403
            assert lines == ["event=webhook_refused type=WebhookRefused peer=127.0.0.1"]
            assert http.post(url, content=b"x" * 70_000).status_code == 413
            assert not receiver.news.is_set()
            town.post(hits=2)
            town.settle()
            ann = town.visitor()
            ann.arrive(town.study())
            lie = json.dumps({"resource_id": ann.submission_id, "status": "REJECTED"})
            at = receiver.now_ms() // clock.SECOND
            signed = _headers(lie.encode(), at=at, secret=receiver.secret, event="lie")
            reply = http.post(url, content=lie, headers=signed)
            assert reply.status_code == 204
        town.settle()
        [visit] = town.rows("SELECT status FROM visits")
        assert visit["status"] == "ACTIVE"


def test_a_marketplace_without_webhooks_has_no_such_page(town: Town) -> None:
    """It is not said to strangers that there could be one."""
    reply = httpx.post(f"{town.market.endpoint}{EVENTS}", content=BODY)
    assert reply.status_code == 404


def test_registering_again_makes_no_second_subscription(town: Town) -> None:
    """One that was never confirmed is made anew; others' are left alone."""
    bridge = town.bridge
    workspace_id, hooks = bridge.terms.workspace_id, bridge.prolific.webhooks
    other = "http://127.0.0.1:9/other"
    first = register(bridge.backend, bridge.prolific, workspace_id, "http://127.0.0.1:9/a")
    hooks.subscribe(workspace_id, "study.status.change", other)
    again = register(bridge.backend, bridge.prolific, workspace_id, "http://127.0.0.1:9/a")
    assert again.secret == first.secret
    town.researcher.post(
        "/hooks/subscriptions/",
        event_type="study.status.change",
        target_url="http://127.0.0.1:9/b",
        workspace_id=workspace_id,
    )
    register(bridge.backend, bridge.prolific, workspace_id, "http://127.0.0.1:9/b")
    subscriptions = sorted(
        (each.target_url, each.event_type, each.is_enabled)
        for each in hooks.subscriptions(workspace_id)
    )
    kinds = ("study.status.change", "submission.status.change")
    assert subscriptions == [
        *((f"http://127.0.0.1:9/{path}", kind, True) for path in "ab" for kind in kinds),
        (other, kinds[0], True),
    ]


def test_a_secret_of_others_is_not_replaced(town: Town) -> None:
    """It would end their webhooks; what Prolific shows of it is enough."""
    workspace_id = town.bridge.terms.workspace_id
    made = town.researcher.post("/hooks/secrets/", workspace_id=workspace_id)
    receiver = register(
        town.bridge.backend, town.bridge.prolific, workspace_id, "http://127.0.0.1:9/a"
    )
    assert receiver.secret == made["value"]
    assert made["value"] not in repr(receiver)


def test_between_two_steps_there_is_the_first_wait_whatever_comes(town: Town) -> None:
    """A flood of genuine webhooks makes no flood of calls."""
    news = threading.Event()
    news.set()
    running = Running(
        town.bridge, step, news, Pace(first_seconds=0.2, longest_seconds=60, look_seconds=0.01)
    )
    begun = time.monotonic()
    assert running._wait(60)
    assert time.monotonic() - begun >= 0.2
