"""A marketplace with a currency and fees of its own, which it tells who asks."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from piecework.domain.money import FeeSchedule
from piecework.marketplace.http.server import Marketplace, serve, serve_apart
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules, rules_of
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.storage import WrongDatabaseError
from tests.marketplace.market import START, Market, post, refusal

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient

POUNDS = PriceList(
    currency="GBP",
    percent=Decimal("42.8"),
    extra_percent_for_many=Decimal(0),
    extra_percent_for_masters=Decimal("0.5"),
    minimum_cents=3,
)


@pytest.fixture
def pounds(tmp_path: Path) -> Iterator[Market]:
    """A marketplace in pounds, at fees of its own."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, start=START, prices=POUNDS)) as at:
        market = Market(at.endpoint_url, at.frames_url)
        yield market
        market.close()


@contextmanager
def _asking(client: "MTurkClient", value: object) -> Iterator[list[dict[str, Any]]]:
    """Calls with the extension's member; all that is answered."""
    heard: list[dict[str, Any]] = []

    def add(params: dict[str, Any], **_: object) -> None:
        document = json.loads(params["body"]) | {"PieceworkPrices": value}
        params["body"] = json.dumps(document).encode()

    def hear(response_dict: dict[str, Any], **_: object) -> None:
        heard.append(json.loads(response_dict["body"]))

    client.meta.events.register("before-call.mturk.GetAccountBalance", add)
    client.meta.events.register("before-parse.mturk.GetAccountBalance", hear)
    yield heard


def _asked(client: "MTurkClient", value: object = True) -> dict[str, Any]:  # noqa: FBT002 - a member
    with _asking(client, value) as heard:
        client.get_account_balance()
    return heard[0]


def test_who_asks_is_told_the_price_list_beside_the_balances(pounds: Market) -> None:
    """Everything by which a client can compute each fee itself."""
    assert _asked(pounds.requester()) == {
        "AvailableBalance": "10000.00",
        "OnHoldBalance": "0.00",
        "PieceworkPrices": {
            "Currency": "GBP",
            "Percent": "42.8",
            "ExtraPercentForMany": "0",
            "ExtraPercentForMasters": "0.5",
            "MinimumInCents": 3,
            "LeastPerHourInCents": 0,
            "LongestAutoApprovalInSeconds": 0,
        },
    }


def test_who_does_not_ask_is_told_the_balances_alone(market: Market) -> None:
    """An answer without the member is the API's own; the usual list is MTurk's."""
    client = market.requester()
    assert set(_asked(client, value=False)) == {"AvailableBalance", "OnHoldBalance"}
    members = _asked(market.requester())["PieceworkPrices"]
    assert PriceList.of_members(members) == MTURK == PriceList()


def test_what_is_neither_yes_nor_no_is_refused(market: Market) -> None:
    """A value that makes no sense is no silent yes."""
    with pytest.raises(ClientError, match="PieceworkPrices must be true or false"):
        _asked(market.requester(), "yes")


def test_fees_follow_the_list_and_pages_show_its_currency(pounds: Market) -> None:
    """Ten of 55p at 42.8 %: 23.54, so 24p each; held 10 x 0.79. A bonus of 1p: 3p."""
    client, ann = pounds.requester(), pounds.worker()
    made = post(client, MaxAssignments=10)
    assert client.get_account_balance()["OnHoldBalance"] == "7.90"
    html = {"accept": "text/html"}
    listed = ann.http.get("/worker/hits", headers=html).text
    assert "£0.55" in listed
    assert "$" not in listed
    assignment = ann.do(made["HITGroupId"])
    client.approve_assignment(AssignmentId=assignment)
    client.send_bonus(
        WorkerId=ann.worker_id, BonusAmount="0.01", AssignmentId=assignment, Reason="Good."
    )
    # 10,000.00 - 7.90 held at first - 0.01 - 0.03
    assert client.get_account_balance()["AvailableBalance"] == "9992.06"
    assert "£0.56" in ann.http.get("/worker/history", headers=html).text
    with pytest.raises(ClientError) as caught:
        post(client, Reward="2000", MaxAssignments=9)
    assert refusal(caught.value)[1] == "InsufficientFunds"
    # 9 x (2,000 + 42.8 %)
    assert "£25,704.00 and £9,992.06 is available" in str(caught.value)


def test_a_minimum_in_the_list_is_searched_in_its_currency(pounds: Market) -> None:
    """A pound sign before the amount is understood."""
    post(pounds.requester())
    ann = pounds.worker()
    for least, is_there in (("£0.55", True), ("£0.56", False)):
        page = ann.http.get(
            "/worker/hits", params={"min": least}, headers={"accept": "text/html"}
        ).text
        assert ("£0.55</p>" in page) == is_there
        assert "is no amount" not in page


def test_money_stays_in_its_currency(tmp_path: Path) -> None:
    """A file with money in pounds is not opened in dollars; fees may be others."""
    database = tmp_path / "m.db"
    Backend(database, Rules()).close()
    with (
        closing(Backend(database, Rules(prices=POUNDS))) as backend,
        backend.transaction() as transaction,
    ):
        accounts.add_requester(transaction, "A", balance_cents=500)
    for prices in (MTURK, replace(POUNDS, currency="USD")):
        with pytest.raises(WrongDatabaseError, match="holds money in GBP, not in USD"):
            Backend(database, Rules(prices=prices))
    dearer = replace(POUNDS, percent=Decimal(50))
    Backend(database, Rules(prices=dearer)).close()
    assert rules_of(database).prices == dearer


def test_a_file_of_an_earlier_version_is_in_dollars(tmp_path: Path) -> None:
    """Where nothing is written down, money is in dollars, at MTurk's fees."""
    database = tmp_path / "m.db"
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        accounts.add_requester(transaction, "A", balance_cents=500)
        kept = transaction.first_row("SELECT * FROM settings WHERE key = 'prices'")
    assert kept is None
    assert rules_of(database).prices == MTURK
    with pytest.raises(WrongDatabaseError, match="holds money in USD, not in GBP"):
        Backend(database, Rules(prices=POUNDS))


@pytest.mark.full
def test_a_child_process_gets_the_list_whole(tmp_path: Path) -> None:
    """A rehearsal's marketplace in a process of its own has the list it was given."""
    with serve_apart(Marketplace(tmp_path / "m.db", rehearsal=True, prices=POUNDS)) as at:
        market = Market(at.endpoint_url, at.frames_url)
        members = _asked(market.requester())["PieceworkPrices"]
        market.close()
    assert PriceList.of_members(members) == POUNDS


def test_no_percentage_is_no_fee() -> None:
    """The least fee is of a fee, not of work for which none is taken."""
    free = PriceList(percent=Decimal(0), extra_percent_for_many=Decimal(20))
    assert free.bonus_fee_cents(100) == 0
    assert free.reward_fee_cents(1, max_assignments=9) == 0
    assert free.reward_fee_cents(1, max_assignments=10) == 1


@pytest.mark.parametrize("percent", ["0", "0.5", "12.5", "20", "25", "42.8"])
def test_a_campaign_expects_the_fees_that_the_marketplace_takes(percent: str) -> None:
    """To the cent, whatever the amount: half a cent is rounded up on both sides."""
    taken = PriceList(percent=Decimal(percent))
    expected = FeeSchedule(percent=Decimal(percent))
    for cents in range(1, 400):
        assert taken.bonus_fee_cents(cents) == expected.bonus_fee_cents(cents)
        for most, for_masters in ((9, False), (10, False), (11, True)):
            assert taken.reward_fee_cents(
                cents, max_assignments=most, for_masters=for_masters
            ) == expected.reward_fee_cents(cents, max_assignments=most, for_masters=for_masters)
    assert PriceList(percent=Decimal(25)).bonus_fee_cents(50) == 13  # 12.5
