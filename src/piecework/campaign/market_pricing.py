"""What a campaign pays at each of its markets, by that market's own fees."""

from datetime import date
from decimal import Decimal

from piecework.campaign.dealing import all_first_rounds, fee_cents
from piecework.domain.campaign import Campaign
from piecework.domain.crowds import MarketPrice
from piecework.domain.money import MANY_ASSIGNMENTS


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
