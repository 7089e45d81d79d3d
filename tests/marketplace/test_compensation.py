"""A requester pays a worker for no assignment, by name, and each name once."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import WorkerId
from piecework.domain.money import Compensation
from piecework.platforms.mturk import MTurk
from tests.marketplace.market import Market, Worker, post

HTML = {"accept": "text/html"}
KEY = "LAB"


def lab(market: Market, key: str = KEY) -> MTurk:
    """The platform as the pipeline sees it."""
    platform = MTurk(market.endpoint, access_key=key, secret_key="any")  # noqa: S106
    market._open.callback(platform._client.close)
    return platform


def owed(worker: Worker, **changes: Any) -> Compensation:  # noqa: ANN401 - fields
    """A compensation of a dollar."""
    values: dict[str, Any] = {
        "name": "birds:1",
        "worker_id": WorkerId(worker.worker_id),
        "cents": 100,
        "reason": "The page broke.",
    }
    return Compensation(**{**values, **changes})


def hurt(market: Market) -> Worker:
    """A worker who accepted a HIT and gave it back."""
    hit = post(market.requester(KEY))
    worker = market.worker()
    accepted = worker.accept(hit["HITGroupId"]).json()
    assert worker.give_back(accepted["assignment_id"]).status_code == 200
    return worker


def test_who_returned_a_hit_is_paid_once_for_each_name(market: Market) -> None:
    """Fee as for a bonus; no list of a HIT's bonuses shows it; the worker reads why."""
    worker, platform = hurt(market), lab(market)
    [hit] = market.requester(KEY).list_hits()["HITs"]
    before = market.books()
    platform.compensate(owed(worker))
    with pytest.raises(PlatformRefused, match="already been processed"):
        platform.compensate(owed(worker, cents=300))
    market.wait(days=2)  # a request token would be forgotten by now
    with pytest.raises(PlatformRefused, match="already been processed"):
        platform.compensate(owed(worker))
    platform.compensate(owed(worker, name="birds:2", cents=5))
    books = market.books()
    assert [each["cents"] for each in books["compensations"]] == [100, 5]
    # The HIT has expired, so its money is free again.
    kept = [each["balance_cents"] + each["held_cents"] for each in (before, books)]
    assert kept[0] - kept[1] == 120 + 6
    assert books["fees_cents"] - before["fees_cents"] == 21
    assert books["bonuses"] == []
    paid = market.requester(KEY).list_bonus_payments(HITId=hit["HITId"])
    assert paid["BonusPayments"] == []
    assert list(platform.compensations("birds:")) == [
        owed(worker),
        owed(worker, name="birds:2", cents=5),
    ]
    assert list(platform.compensations("fish:")) == []
    page = worker.http.get("/worker/history", headers=HTML).text
    assert "Bonus $1.00:" in page
    assert "The page broke." in page


def test_a_listing_has_all_its_pages(market: Market) -> None:
    """A page has a hundred names."""
    worker, platform = hurt(market), lab(market)
    names = [f"birds:{number:03d}" for number in range(101)]
    for name in names:
        platform.compensate(owed(worker, name=name, cents=1))
    assert [each.name for each in platform.compensations("birds:")] == names


def test_a_stranger_and_another_requester_s_worker_are_refused(market: Market) -> None:
    """The other requester's names are not shown either."""
    platform, other = lab(market), lab(market, "OTHER")
    worker = hurt(market)
    balance = market.books()["balance_cents"]
    with pytest.raises(PlatformRefused, match="has accepted no HIT of this requester"):
        platform.compensate(owed(market.worker()))
    with pytest.raises(PlatformRefused, match="has accepted no HIT of this requester"):
        other.compensate(owed(worker))
    with pytest.raises(PlatformRefused, match="does not exist"):
        platform.compensate(owed(worker, worker_id=WorkerId("ANOBODY12345")))
    platform.compensate(owed(worker))
    assert list(other.compensations("birds:")) == []
    assert balance - market.books()["balance_cents"] == 120 - 1_000_000


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"PieceworkCompensation": ""}, "PieceworkCompensation must be a text"),
        ({"PieceworkCompensation": "x" * 401}, "PieceworkCompensation must be a text"),
        ({"PieceworkCompensation": 7}, "PieceworkCompensation must be a text"),
        ({"AssignmentId": "3ABC"}, "Give either AssignmentId or"),
        ({"BonusAmount": "0"}, "at least 0.01"),
        ({"BonusAmount": "0.001"}, "BonusAmount"),
        ({"BonusAmount": "90000"}, "(?i)balance|funds"),
        ({"Reason": None}, "Missing required parameter Reason"),
        ({"PieceworkCompensation": None}, "Missing required parameter AssignmentId"),
    ],
)
def test_what_is_wrong_is_refused_and_not_paid(
    market: Market, changes: dict[str, object], words: str
) -> None:
    """Each in a sentence; the books stay as they were."""
    worker = hurt(market)
    client = market.requester(KEY)
    right = {
        "WorkerId": worker.worker_id,
        "BonusAmount": "1.00",
        "Reason": "The page broke.",
        "PieceworkCompensation": "birds:1",
    }
    members = {name: value for name, value in (right | changes).items() if value is not None}

    def send(params: dict[str, Any], **_: object) -> None:
        params["body"] = json.dumps(members).encode()

    client.meta.events.register("before-call.mturk.SendBonus", send)
    before = market.books()
    with pytest.raises(ClientError, match=words):
        client.send_bonus()  # type: ignore[call-arg]
    client.meta.events.unregister("before-call.mturk.SendBonus", send)
    assert market.books() == before


@pytest.mark.parametrize("page", ["birds", {"Prefix": "birds"}, {"Prefix": 1, "After": ""}])
def test_a_page_has_a_prefix_and_a_name_before_it(market: Market, page: object) -> None:
    """Other values are refused."""
    client = market.requester(KEY)

    def ask(params: dict[str, Any], **_: object) -> None:
        params["body"] = json.dumps({"PieceworkCompensations": page}).encode()

    client.meta.events.register("before-call.mturk.GetAccountBalance", ask)
    with pytest.raises(ClientError, match="must have Prefix and After"):
        client.get_account_balance()
    client.meta.events.unregister("before-call.mturk.GetAccountBalance", ask)


def test_a_marketplace_without_the_extension_pays_nobody(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sentence, and no call."""
    worker, platform = hurt(market), lab(market)
    monkeypatch.setattr(platform, "_knows", lambda name: name != "compensation")
    assert list(platform.compensations("birds:")) == []
    with pytest.raises(PlatformRefused, match="pays bonuses only for assignments"):
        platform.compensate(owed(worker))
    assert market.books()["compensations"] == []
