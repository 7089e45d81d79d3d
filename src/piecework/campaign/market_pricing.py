"""What a campaign pays at each of its markets, by that market's own fees."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from piecework.campaign.dealing import all_first_rounds, fee_cents
from piecework.domain.campaign import Campaign
from piecework.domain.money import MANY_ASSIGNMENTS


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPrice:
    """The price of a campaign's first rounds at one market; money in cents.

    Attributes:
        hits: HITs that go to it as planned.
        assignments: their assignments.
        fee_percent: the fee on the reward, in per cent.
        fee_cents: the fee of one assignment of a usual HIT.
        hit_cents: reward and fee of all assignments of such a HIT.
        cents: reward and fees of the HITs that go to it.
        whole_cents: reward and fees if all HITs went to it.
    """

    market: str
    hits: int
    assignments: int
    fee_percent: Decimal
    fee_cents: int
    hit_cents: int
    cents: int
    whole_cents: int


def market_prices(campaign: Campaign, *, on: date) -> tuple[MarketPrice, ...]:
    """Return the price at each market that the campaign names, by a day's fees.

    Every item is posted once. With `cheapest`, the cheapest market gets everything.
    """
    if campaign.crowds is None:
        return ()
    planned = [hit for batch in all_first_rounds(campaign, on=on) for hit in batch]
    rewards, asked = campaign.rewards, campaign.posting.assignments
    prices = []
    for market in campaign.markets:
        own = [hit for hit in planned if hit.market == market]
        fee = fee_cents(campaign, asked, on=on, market=market)
        prices.append(
            MarketPrice(
                market=market,
                hits=len(own),
                assignments=sum(hit.max_assignments for hit in own),
                fee_percent=_percent(campaign, asked, market, on=on),
                fee_cents=fee,
                hit_cents=asked * (rewards.reward_cents + fee),
                cents=sum(hit.cost_cents for hit in own),
                whole_cents=sum(
                    hit.max_assignments
                    * (
                        hit.reward_cents
                        + fee_cents(campaign, hit.max_assignments, on=on, market=market)
                    )
                    for hit in planned
                ),
            )
        )
    return tuple(prices)


def _percent(campaign: Campaign, assignments: int, market: str, *, on: date) -> Decimal:
    fees = campaign.rewards.fees_on(on, market)
    more = fees.extra_percent_for_many if assignments >= MANY_ASSIGNMENTS else 0
    masters = fees.masters_percent if campaign.is_for_masters else 0
    return fees.percent + more + masters
