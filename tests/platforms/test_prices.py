"""What a marketplace says of its money, over the wire; and what is no price list."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.money import FeeSchedule
from piecework.marketplace.http.server import serve
from piecework.marketplace.requester import extensions
from piecework.marketplace.state.money import PriceList
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import prices_from_wire

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
    with serve(tmp_path / "m.db", rehearsal=True, prices=POUNDS) as running:
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
    split = extensions.split

    def listen(operation: str, document: object) -> object:
        asked.append(document)
        return split(operation, document)

    monkeypatch.setattr(extensions, "split", listen)
    with serve(tmp_path / "m.db", rehearsal=True, prices=POUNDS) as running:
        assert _platform(running.endpoint_url).prices() is None
    assert asked == [{}]


def test_a_currency_that_we_do_not_know_is_said(tmp_path: Path) -> None:
    """Its amounts must not be taken for others."""
    euros = replace(POUNDS, currency="EUR")
    with (
        serve(tmp_path / "m.db", rehearsal=True, prices=euros) as running,
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


def test_a_list_that_lacks_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it tells its prices, and does not: not its currency's fault."""
    monkeypatch.setattr(PriceList, "members", lambda _: {"Currency": "GBP"})
    with (
        serve(tmp_path / "m.db", rehearsal=True) as running,
        pytest.raises(TransientPlatformError, match="not a price list"),
    ):
        _platform(running.endpoint_url).prices()
