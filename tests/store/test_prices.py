"""The prices of a marketplace, kept with the campaign."""

from decimal import Decimal

from piecework.domain.money import FeeSchedule, PriceList
from piecework.store.database import Store
from piecework.store.prices import keep_prices, kept_prices

POUNDS = PriceList(
    currency="GBP",
    fees=FeeSchedule(percent=Decimal("42.8"), minimum_cents=3, source="it said so"),
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
    before = store.db.conn.total_changes
    keep_prices(store, POUNDS)
    assert store.db.conn.total_changes == before
