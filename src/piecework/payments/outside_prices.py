"""What another market took for the campaign's HITs beside their own prices, booked.

Where workers come from Prolific, it pays visits of several HITs whole, and rounds each
payment by itself. The marketplace tells by how much that is more or less than reward
and fee of the HITs, for each HIT type, and how much is not settled there yet. What was
not booked before is booked as a fee, so that the ledger is what was really taken.
"""

import logging

from piecework.domain.clock import Clock
from piecework.domain.money import OutsidePrice, PriceList
from piecework.store import hits, ledger, outside_prices
from piecework.store.database import Store, writing
from piecework.store.intents import Act, Intent, close, declare

_LOG = logging.getLogger(__name__)
_BOOKED = "booked"


def book_outside_prices(store: Store, prices: PriceList | None, clock: Clock) -> None:
    """Book what was taken beside the prices of this store's HITs, or was given back.

    Args:
        store: the campaign's memory.
        prices: as the marketplace told them just now; `None`: it tells none.
        clock: tells when.
    """
    if prices is None or not prices.outside:
        return
    with writing(store):
        batches = hits.batches_of_types(store)
        ours = [each for each in prices.outside if each.hit_type_id in batches]
        booked = outside_prices.booked(store)
        for price in ours:
            times, cents = booked.get(price.hit_type_id, (0, 0))
            if price.cents != cents:
                _book(
                    store,
                    price,
                    price.cents - cents,
                    times=times,
                    batch=batches[price.hit_type_id],
                    clock=clock,
                )
    unsettled = sum(each.unsettled for each in ours)
    if unsettled != outside_prices.unsettled(store):
        outside_prices.keep_unsettled(store, unsettled)


def _book(
    store: Store,
    price: OutsidePrice,
    more_cents: int,
    *,
    times: int,
    batch: int,
    clock: Clock,
) -> None:
    """Write the difference to what was booked before; part of a transaction."""
    intent = Intent(
        key=f"{outside_prices.OPERATION}:{price.hit_type_id}:{times}",
        operation=outside_prices.OPERATION,
        subject=("hit type", price.hit_type_id),
        times=times + 1,
        arguments={"cents": more_cents},
        amount_cents=max(0, more_cents),
    )

    def record(_outcome: str) -> None:
        is_more = more_cents > 0
        ledger.move(
            store,
            abs(more_cents),
            credit="requester" if is_more else "fees",
            debit="fees" if is_more else "requester",
            intent_key=intent.key,
            batch=batch,
            at=clock.now(),
        )

    # Nothing leaves here, so the intent is written and closed in one transaction.
    declare(store, intent, clock)
    act = Act(intent=intent, do=lambda: _BOOKED, look=lambda: _BOOKED, record=record)
    close(store, act, _BOOKED, clock)


def say_unsettled(store: Store) -> None:
    """Say in the log what is still to be taken, so that a later pass books it."""
    if unsettled := outside_prices.unsettled(store):
        _LOG.info(
            "%s visits or bonuses are not settled outside the marketplace yet; the "
            "next pass books what is taken for them",
            unsettled,
        )
