"""The prices of a marketplace, kept with the campaign."""

from dataclasses import replace
from decimal import Decimal

from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from piecework.store.campaign_facts import keep_prices, kept_prices
from piecework.store.database import Store

POUNDS = PriceList(
    currency="GBP", fees=FeeSchedule(percent=Decimal("42.8"), minimum_cents=3, source="it said so")
)


def test_the_latest_word_is_kept(store: Store) -> None:
    """Never asked, one list, another list, and no list any more."""
    assert kept_prices(store) is None
    dearer = PriceList(currency="GBP", fees=FeeSchedule(percent=Decimal(50)))
    for prices in (POUNDS, dearer, dearer, None):
        keep_prices(store, prices)
        assert kept_prices(store) == prices


def test_the_same_word_writes_nothing(store: Store) -> None:
    """Every pass asks, and most get the known list."""
    keep_prices(store, POUNDS)
    before = store.db.written()
    keep_prices(store, POUNDS)
    assert store.db.written() == before


def test_the_prices_of_each_crowd_are_kept(store: Store) -> None:
    """In the order in which the marketplace lists them; a changed one is news."""
    connect = CrowdPrices(
        market="connect",
        currency="USD",
        fees=FeeSchedule(percent=Decimal("25.5"), minimum_cents=2, source="it said so"),
        least_per_hour_cents=600,
        longest_approval_seconds=86_400,
    )
    panel = replace(connect, market="panel", least_per_hour_cents=0)
    for crowds in ((connect, panel), (panel, connect), (panel,), ()):
        prices = replace(POUNDS, crowds=crowds)
        keep_prices(store, prices)
        assert kept_prices(store) == prices
