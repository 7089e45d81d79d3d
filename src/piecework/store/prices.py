"""What the campaign's marketplace takes, as it said when it was asked last.

Kept with the campaign, so that commands that ask no marketplace price alike.
"""

import json
from dataclasses import asdict
from decimal import Decimal

from piecework.domain.money import FeeSchedule, PriceList
from piecework.store.database import Store, get_setting, keep_setting

_KEY = "prices"


def keep_prices(store: Store, prices: PriceList | None) -> None:
    """Write down what it said; `None`: it has no price list to tell.

    What is written down already is not written again.
    """
    if prices == kept_prices(store):
        return
    document = None
    if prices is not None:
        fees = asdict(prices.fees)
        del fees["valid_from"]
        document = {
            "currency": prices.currency,
            "least_per_hour_cents": prices.least_per_hour_cents,
            **fees,
        }
    keep_setting(store, _KEY, json.dumps(document, default=str))


def kept_prices(store: Store) -> PriceList | None:
    """What it said; `None` where it was never asked, or had nothing to tell."""
    document = json.loads(get_setting(store, _KEY) or "null")
    if document is None:
        return None
    return PriceList(
        currency=document["currency"],
        fees=FeeSchedule(
            percent=Decimal(document["percent"]),
            extra_percent_for_many=Decimal(document["extra_percent_for_many"]),
            masters_percent=Decimal(document["masters_percent"]),
            minimum_cents=document["minimum_cents"],
            source=document["source"],
        ),
        least_per_hour_cents=document.get("least_per_hour_cents", 0),
    )
