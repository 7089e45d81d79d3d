"""Records what another market charged for the campaign's HITs beside their prices.

If workers come from Prolific, it pays visits of several HITs as a whole and rounds each
payment separately. The marketplace tells, for each HIT type, how much more or less than
the HITs' rewards and fees that is, and how much is not settled there yet. The
difference to what was recorded before is recorded as a fee, so that the ledger shows
what was really charged.
"""

import logging

from piecework.domain.clock import Clock
from piecework.domain.money import OutsidePrice, PriceList
from piecework.store import campaign_facts, hits, ledger
from piecework.store.database import Store, writing
from piecework.store.intents import Act, Intent, close_intent, declare

_LOG = logging.getLogger(__name__)
_BOOKED = "booked"


def book_outside_prices(store: Store, prices: PriceList | None, clock: Clock) -> None:
    """Record what was charged or refunded beside the prices of this store's HITs.

    Args:
        store: the campaign's store.
        prices: the marketplace's current prices; `None` if it tells none.
        clock: the clock for the entries.
    """
    if prices is None or not prices.outside:
        return
    with writing(store):
        batches = hits.batches_of_types(store)
        ours = [each for each in prices.outside if each.hit_type_id in batches]
        booked = campaign_facts.booked_outside(store)
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
    if unsettled != campaign_facts.read_notes(store).outside_unsettled:
        campaign_facts.keep_note(store, "outside_unsettled", unsettled)


def _book(
    store: Store, price: OutsidePrice, more_cents: int, *, times: int, batch: int, clock: Clock
) -> None:
    """Record the difference to what was recorded before; part of a transaction."""
    intent = Intent(
        key=f"{campaign_facts.OUTSIDE_PRICE}:{price.hit_type_id}:{times}",
        operation=campaign_facts.OUTSIDE_PRICE,
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

    # No outside call is made, so one transaction writes and closes the intent.
    declare(store, intent, clock)
    act = Act(intent=intent, do=lambda: _BOOKED, look=lambda: _BOOKED, record=record)
    close_intent(store, act, _BOOKED, clock)


def say_unsettled(store: Store) -> None:
    """Log how much is not settled yet, which a later pass records."""
    if unsettled := campaign_facts.read_notes(store).outside_unsettled:
        _LOG.info(
            "%s visits or bonuses are not settled outside the marketplace yet; the "
            "next pass records what they cost",
            unsettled,
        )
