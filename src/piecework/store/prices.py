"""What a campaign's marketplace charges, and the most that people agreed to spend.

Prices are kept as the marketplace stated them when last asked, so that commands without
a marketplace use the same ones. What another market charges beside the prices of HITs is
booked by the ledger as fees, each with an intent that names the HIT type.

An amount that people agreed to is kept with the campaign, so that a schedule that runs
for days stays within what a person typed once, even if the campaign file changes. The
latest amount holds.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from piecework.domain.ids import HitTypeId
from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from piecework.store import campaign_facts
from piecework.store.columns import insert, to_text
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


OUTSIDE_PRICE = "outside-price"


def booked_outside(store: Store) -> dict[HitTypeId, tuple[int, int]]:
    """Return how often fees were booked for each HIT type, and how much in all."""
    return {
        HitTypeId(row["hit_type_id"]): (row["times"], row["cents"])
        for row in store.db.query(
            "SELECT subject_id AS hit_type_id, count(*) AS times, "
            "sum(CAST(json_extract(arguments, '$.cents') AS BIGINT)) AS cents "
            "FROM intents WHERE operation = ? GROUP BY subject_id ORDER BY subject_id",
            [OUTSIDE_PRICE],
        )
    }


def count_unsettled_outside(store: Store) -> int:
    """Return how many visits and bonuses were unsettled there at the last check."""
    return campaign_facts.read_notes(store).outside_unsettled


def keep_unsettled_outside(store: Store, number: int) -> None:
    """Record how many there are, in a separate transaction."""
    campaign_facts.keep_note(store, "outside_unsettled", number)


def agree_to_spend(store: Store, amount_cents: int, *, at: datetime) -> None:
    """Record an amount; repeating the same amount adds no row."""
    with store.db.atomic():
        if agreed_cents(store) != amount_cents:
            store.db.execute(
                "INSERT INTO agreements (amount_cents, agreed_at) VALUES (?, ?)",
                [amount_cents, to_text(at)],
            )


def agreed_cents(store: Store) -> int | None:
    """Return the amount that holds now; `None` if no person was asked."""
    row = store.db.execute(
        "SELECT amount_cents FROM agreements ORDER BY agreement_id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else int(row[0])
