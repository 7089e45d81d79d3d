"""How a campaign spreads its HITs over markets, and what a HIT costs at each of them.

The same HITs in the same order always go to the same markets, so a pass that was killed
and repeated plans the same HITs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from piecework.domain.campaign import Campaign
from piecework.domain.hit import PlannedHit


class MarketSplit:
    """Gives each HIT to the market that lacks most of its share so far.

    Args:
        shares: the share of each market, in any unit; all positive.
        held: assignments that each market has already.
    """

    def __init__(self, shares: Mapping[str, float], held: Mapping[str, int] | None = None) -> None:
        self.shares = dict(shares)
        self._whole = sum(shares.values())
        self._held = {market: (held or {}).get(market, 0) for market in shares}

    def next_market(self, assignments: int) -> str:
        """Return the market of the next HIT, which has this many assignments.

        Of markets that lack the same, the first named gets it.

        >>> split, markets = MarketSplit({"prolific": 60, "connect": 40}), []
        >>> for _ in range(5):
        ...     markets.append(split.next_market(1))
        ...     split.count(markets[-1], 1)
        >>> markets
        ['prolific', 'connect', 'prolific', 'connect', 'prolific']
        """
        total = sum(self._held.values()) + assignments
        return max(
            self.shares,
            key=lambda market: self.shares[market] * total - self._whole * self._held[market],
        )

    def count(self, market: str, assignments: int) -> None:
        """Count assignments that a market has got; other markets have no share."""
        if market in self._held:
            self._held[market] += assignments


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a market has worked for a campaign.

    Attributes:
        per_hour: collected assignments for each hour since its first HIT was posted;
            `None` if it has had no HIT for any time.
        open: its assignments that are posted or planned, and not collected.
    """

    per_hour: float | None = None
    open: int = 0

    def finishes(self, hours: float) -> float | None:
        """Return how many more assignments it finishes; `None` if that is unknown."""
        if self.per_hour is None:
            return None
        return max(0.0, self.per_hour * hours - self.open)


def cheapest_in_time(
    markets: Sequence[str], paces: Mapping[str, Pace], *, wanted: int, hours_left: float
) -> dict[str, float]:
    """Return how many of the wanted assignments each market should get.

    The cheapest market gets as many as it finishes in time, then the next. A market
    whose pace is not known is expected to finish what it gets. What no market finishes
    in time goes to the fastest.

    Args:
        markets: the markets, the cheapest first; at least one.
        paces: how fast each of them has worked; absent: unknown.
        wanted: assignments that are still to be posted; more than 0.
        hours_left: time until the deadline; negative after it.

    >>> paces = {"connect": Pace(per_hour=5.0), "prolific": Pace(per_hour=50.0)}
    >>> cheapest_in_time(["connect", "prolific"], paces, wanted=100, hours_left=10)
    {'connect': 50.0, 'prolific': 50.0}
    """
    shares, left = dict[str, float](), float(wanted)
    for market in markets:
        finishes = paces.get(market, Pace()).finishes(hours_left)
        share = left if finishes is None else min(left, finishes)
        if share > 0:
            shares[market] = share
            left -= share
    if left > 0:
        fastest = max(markets, key=lambda market: paces[market].per_hour or 0.0)
        shares[fastest] = shares.get(fastest, 0.0) + left
    return shares


def shares(campaign: Campaign, *, on: date) -> dict[str, float]:
    """Return how a campaign without any HIT yet spreads its answers over markets.

    Empty if it names no markets.
    """
    crowds = campaign.crowds
    if crowds is None:
        return {}
    if crowds.percent:
        return {market: float(percent) for market, percent in crowds.percent}
    return {by_cost(campaign, on=on)[0]: 1.0}


def by_cost(campaign: Campaign, *, on: date) -> list[str]:
    """Return the campaign's markets, with the least fee of an assignment first."""
    asked = campaign.posting.assignments
    return sorted(
        campaign.markets, key=lambda market: fee_cents(campaign, asked, on=on, market=market)
    )


def at_markets(
    campaign: Campaign, planned: Sequence[PlannedHit], split: MarketSplit, *, on: date
) -> list[PlannedHit]:
    """Return planned HITs with their markets and those markets' fees.

    Added slots stay at the market of their HIT, and count there.

    Args:
        campaign: the campaign.
        planned: HITs and extensions in the order of their plan.
        split: what decides; it counts these HITs.
        on: the day that determines the fees.
    """
    if not split.shares:
        return list(planned)
    placed = []
    for hit in planned:
        market = hit.market if hit.extends else split.next_market(hit.max_assignments)
        split.count(market, hit.max_assignments)
        fee = fee_cents(campaign, hit.max_assignments, on=on, market=market)
        placed.append(replace(hit, market=market, fee_cents=fee))
    return placed


def hit_cost_cents(campaign: Campaign, assignments: int, *, on: date) -> int:
    """Return reward and fee of all assignments of one HIT, in cents.

    With several markets, it is the cost at the most expensive of them.
    """
    fee = max(fee_cents(campaign, assignments, on=on, market=market) for market in campaign.markets)
    return assignments * (campaign.rewards.reward_cents + fee)


def mean_hit_cost_cents(campaign: Campaign, assignments: int, *, on: date) -> float:
    """Return what a HIT costs on average, by the shares of the campaign's markets."""
    parts = shares(campaign, on=on) or {"": 1.0}
    fees = sum(
        part * fee_cents(campaign, assignments, on=on, market=market)
        for market, part in parts.items()
    )
    mean_fee = fees / sum(parts.values())
    return assignments * (campaign.rewards.reward_cents + mean_fee)


def fee_cents(campaign: Campaign, assignments: int, *, on: date, market: str = "") -> int:
    """Return the fee of one assignment of a HIT with this many assignments.

    Args:
        campaign: the campaign.
        assignments: of the HIT.
        on: the day that determines the fees.
        market: the market whose workers do it.
    """
    return campaign.rewards.fees_on(on, market).reward_fee_cents(
        campaign.rewards.reward_cents,
        max_assignments=assignments,
        for_masters=campaign.is_for_masters,
    )
