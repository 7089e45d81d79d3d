"""The prices that the campaign's marketplace stated when last asked.

They are kept with the campaign, so that commands without a marketplace use the same
ones.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from piecework.store.columns import insert
from piecework.store.database import Store


def keep_prices(store: Store, prices: PriceList | None) -> None:
    """Store the price list, if it has changed; `None`: the marketplace has none.

    An unchanged list is not written again.
    """
    if prices == kept_prices(store):
        return
    with store.db.atomic():
        store.db.execute("DELETE FROM marketplace_prices")
        if prices is not None:
            insert(store, "marketplace_prices", [_row(prices)])


def kept_prices(store: Store) -> PriceList | None:
    """Return the price list; `None` if never asked for, or if there is no list."""
    row = next(iter(store.db.query("SELECT * FROM marketplace_prices")), None)
    if row is None:
        return None
    return PriceList(
        **_terms(row),
        crowds=tuple(
            CrowdPrices(market=each["market"], **_terms(each)) for each in json.loads(row["crowds"])
        ),
    )


def _terms(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the marketplace and each of its crowds state alike."""
    return {
        "currency": row["currency"],
        "fees": FeeSchedule(
            percent=Decimal(row["percent"]),
            extra_percent_for_many=Decimal(row["extra_percent_for_many"]),
            masters_percent=Decimal(row["masters_percent"]),
            minimum_cents=row["minimum_cents"],
            source=row["source"],
        ),
        "least_per_hour_cents": row["least_per_hour_cents"],
        "longest_approval_seconds": row["longest_approval_seconds"],
    }


def _row(prices: PriceList) -> dict[str, object]:
    crowds = [{"market": each.market, **_cells(each)} for each in prices.crowds]
    return {"only_row": 1, **_cells(prices), "crowds": json.dumps(crowds)}


def _cells(prices: PriceList | CrowdPrices) -> dict[str, object]:
    fees = asdict(prices.fees)
    del fees["valid_from"]
    return {
        "currency": prices.currency,
        "least_per_hour_cents": prices.least_per_hour_cents,
        "longest_approval_seconds": prices.longest_approval_seconds,
        **{
            name: str(value) if isinstance(value, Decimal) else value
            for name, value in fees.items()
        },
    }
