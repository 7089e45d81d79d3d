"""What a marketplace says of its money, over the wire; and what is no price list."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.money import FeeSchedule
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester import extensions
from piecework.marketplace.state.money import PriceList
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import market_of_requirements, prices_from_wire

POUNDS = PriceList(
    currency="GBP",
    percent=Decimal("42.8"),
    extra_percent_for_many=Decimal(0),
    extra_percent_for_masters=Decimal("0.5"),
    minimum_cents=3,
)
MEMBERS = POUNDS.members()


def _platform(endpoint: str) -> MTurk:
    return MTurk(endpoint, access_key="A", secret_key="none")  # noqa: S106


def test_a_price_list_comes_over_the_wire(tmp_path: Path) -> None:
    """Although botocore's model of the answer has no such member."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, prices=POUNDS)) as running:
        prices = _platform(running.endpoint_url).prices()
    assert prices is not None
    assert prices.currency == "GBP"
    assert prices.fees.takes_as(
        FeeSchedule(
            percent=Decimal("42.8"),
            extra_percent_for_many=Decimal(0),
            masters_percent=Decimal("0.5"),
            minimum_cents=3,
        )
    )


def test_a_marketplace_without_the_extension_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would not know the member; so nothing is known of its prices."""
    name = "x-piecework-extensions"
    monkeypatch.setitem(extensions.HEADERS, name, "keep-apart list-together")
    asked: list[object] = []
    split = extensions.split_extensions

    def listen(operation: str, document: object) -> object:
        asked.append(document)
        return split(operation, document)

    monkeypatch.setattr(extensions, "split_extensions", listen)
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, prices=POUNDS)) as running:
        assert _platform(running.endpoint_url).prices() is None
    assert asked == [{}]


def test_a_currency_that_we_do_not_know_is_said(tmp_path: Path) -> None:
    """Its amounts must not be taken for others."""
    euros = replace(POUNDS, currency="EUR")
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, prices=euros)) as running,
        pytest.raises(PlatformRefused, match="'EUR'; piecework supports GBP and"),
    ):
        _platform(running.endpoint_url).prices()


@pytest.mark.parametrize(
    "wrong",
    [
        {"Percent": "NaN"},
        {"Percent": "-1"},
        {"Percent": "1e9"},
        {"Percent": None},
        {"MinimumInCents": "-1"},
        {"MinimumInCents": "0.5"},
    ],
)
def test_what_is_no_price_list_is_not_computed_with(wrong: dict[str, str]) -> None:
    """Fees below nothing would let caps be passed."""
    with pytest.raises(ValueError, match=r"."):
        prices_from_wire({**MEMBERS, **wrong})
    with pytest.raises(ValueError, match="not a price list"):
        prices_from_wire({name: MEMBERS[name] for name in MEMBERS if name != "Percent"})


def test_a_list_that_lacks_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that it tells its prices, and does not: not its currency's fault."""
    monkeypatch.setattr(PriceList, "members", lambda _: {"Currency": "GBP"})
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True)) as running,
        pytest.raises(TransientPlatformError, match="not a price list"),
    ):
        _platform(running.endpoint_url).prices()


CONNECT = {
    "Crowd": "connect",
    "QualificationTypeId": "CROWDCONNECT",
    **replace(POUNDS, currency="USD", percent=Decimal(25)).members(),
    "LeastPerHourInCents": 600,
    "LongestAutoApprovalInSeconds": 1_209_600,
}


def test_each_crowd_has_prices_of_its_own() -> None:
    """The members beside them are the first crowd's."""
    first = {**MEMBERS, "Crowd": "prolific", "QualificationTypeId": "CROWDPROLIFIC"}
    prices = prices_from_wire({**MEMBERS, "Crowds": [first, CONNECT]})
    prolific, connect = prices.crowds
    assert (prolific.market, prolific.currency, prolific.fees) == ("prolific", "GBP", prices.fees)
    assert (connect.market, connect.currency) == ("connect", "USD")
    assert connect.fees.percent == 25
    assert connect.least_per_hour_cents == 600
    assert connect.longest_approval_seconds == 14 * 86_400
    assert prices_from_wire(MEMBERS).crowds == ()


@pytest.mark.parametrize(
    "crowd",
    [
        "connect",
        {name: value for name, value in CONNECT.items() if name != "Crowd"},
        {name: value for name, value in CONNECT.items() if name != "Percent"},
        {**CONNECT, "LeastPerHourInCents": -1},
    ],
)
def test_a_crowd_without_prices_is_no_price_list(crowd: object) -> None:
    """It may be another program's answer."""
    with pytest.raises(ValueError, match=r"not a price list|a negative amount"):
        prices_from_wire({**MEMBERS, "Crowds": [crowd]})


def test_a_crowd_in_an_unknown_currency_is_refused() -> None:
    """Its amounts mean nothing here."""
    with pytest.raises(PlatformRefused, match="currency is 'EUR'"):
        prices_from_wire({**MEMBERS, "Crowds": [{**CONNECT, "Currency": "EUR"}]})


def test_a_listed_hit_says_for_which_market_it_is() -> None:
    """By the crowd that it requires; not by one that it excludes."""

    def wire(type_id: str, comparator: str) -> dict[str, str]:
        return {"QualificationTypeId": type_id, "Comparator": comparator}

    other = wire("3QUALIFICATION", "Exists")
    assert market_of_requirements([other, wire("CROWDCONNECT", "Exists")]) == "connect"
    assert market_of_requirements([wire("CROWDCONNECT", "DoesNotExist")]) == ""
    assert market_of_requirements([other]) == ""
