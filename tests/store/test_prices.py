"""What a marketplace takes, kept with the campaign; and whose money an old store is."""

from decimal import Decimal
from pathlib import Path

from piecework.domain.money import FeeSchedule, PriceList
from piecework.store.database import Store, get_setting, open_store
from piecework.store.prices import keep_prices, kept_prices
from tests.store.earlier_release import earlier_store, write

POUNDS = PriceList(
    currency="GBP",
    fees=FeeSchedule(percent=Decimal("42.8"), minimum_cents=3, source="it said so"),
)


def test_the_latest_word_is_kept(store: Store) -> None:
    """Never asked, told, told something else, and nothing to tell any more."""
    assert kept_prices(store) is None
    dearer = PriceList(currency="GBP", fees=FeeSchedule(percent=Decimal(50)))
    for prices in (POUNDS, dearer, dearer, None):
        keep_prices(store, prices)
        assert kept_prices(store) == prices


def test_the_same_word_writes_nothing(store: Store) -> None:
    """Every pass asks, and most are told what they know."""
    keep_prices(store, POUNDS)
    before = store.db.conn.total_changes
    keep_prices(store, POUNDS)
    assert store.db.conn.total_changes == before


def test_a_store_of_an_earlier_version_is_in_dollars(tmp_path: Path) -> None:
    """What it paid, it paid in dollars; a new store has no currency yet."""
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with earlier_store(old) as connection:
        write(connection, {"about": [{"key": "campaign", "value": "birds"}]})
    opened = open_store(old)
    assert get_setting(opened, "currency") == "USD"
    opened.close()
    opened = open_store(new, create=True)
    assert get_setting(opened, "currency") is None
    opened.close()
