"""Records what another market charged for the campaign's HITs beside their prices.

If workers come from Prolific, it pays visits of several HITs as a whole and rounds each
payment separately. The marketplace tells, for each HIT type, how much more or less than
the HITs' rewards and fees that is, and how much is not settled there yet. The
difference to what was recorded before is recorded as a fee, so that the ledger shows
what was really charged. A market also pays work that was rejected here and not rejected
there in time; its reward is then moved from the fees, and the rejection counts as too late.
"""

import logging
from collections.abc import Sequence

from piecework.domain.clock import Clock
from piecework.domain.ids import AssignmentId
from piecework.domain.money import OutsidePrice, PriceList
from piecework.store import assignments, campaign_facts, hits, ledger
from piecework.store.database import Store, writing
from piecework.store.intents import Act, Intent, close_intent, declare, keep_outcome
from piecework.store.settlements import DONE, PAID_ALREADY

_LOG = logging.getLogger(__name__)
_BOOKED = "booked"
_PAID_REJECTION = "paid-rejection"


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
            _book_rejections(store, price.paid_rejections, clock)
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


def _book_rejections(store: Store, paid: Sequence[AssignmentId], clock: Clock) -> None:
    """Record rejected work as paid, once each; part of a transaction."""
    booked = 0
    for assignment_id, hit in hits.of_assignments(store, paid).items():
        decided = assignments.verdict_and_outcome(store, assignment_id)
        if decided != ("reject", DONE):
            continue
        intent = Intent(
            key=f"{_PAID_REJECTION}:{assignment_id}",
            operation=_PAID_REJECTION,
            subject=("assignment", assignment_id),
        )
        keep_outcome(store, intent, _BOOKED, clock)
        ledger.move(
            store,
            hit.reward_cents,
            credit="fees",
            debit="rewards",
            intent_key=intent.key,
            batch=hit.batch,
            at=clock.now(),
        )
        assignments.mark_settled(store, assignment_id, outcome=PAID_ALREADY)
        booked += 1
    if booked:
        _LOG.warning(
            "assignments that were rejected, and that their market paid all the same: %s", booked
        )


def say_unsettled(store: Store) -> None:
    """Log how much is not settled yet, which a later pass records."""
    if unsettled := campaign_facts.read_notes(store).outside_unsettled:
        _LOG.info(
            "%s visits or bonuses are not settled outside the marketplace yet; the "
            "next pass records what they cost",
            unsettled,
        )
