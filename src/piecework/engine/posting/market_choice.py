"""Which market each planned HIT goes to, by what the store knows of their work."""

from collections.abc import Sequence
from datetime import timedelta

from piecework.campaign.dealing import all_first_rounds, at_markets, by_cost, shares
from piecework.campaign.market_split import Pace, Split, cheapest_in_time
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.hit import PlannedHit
from piecework.store import hits, market_work
from piecework.store.market_work import MarketWork

_HOUR = timedelta(hours=1)


def with_markets(opened: OpenedCampaign, planned: Sequence[PlannedHit]) -> list[PlannedHit]:
    """Return HITs that are about to be planned with their markets and fees.

    Shares hold for the whole campaign. With `cheapest`, each posting is divided by the
    paces so far.
    """
    crowds, today = opened.campaign.crowds, opened.clock.now().date()
    if crowds is None or not planned:
        return list(planned)
    if crowds.percent:
        work = market_work.by_market(opened.store)
        held = {market: done.planned for market, done in work.items()}
        split = Split(shares(opened.campaign, on=today), held)
    else:
        split = Split(_cheapest(opened, planned, crowds.within_seconds))
    return at_markets(opened.campaign, planned, split, on=today)


def _cheapest(
    opened: OpenedCampaign, planned: Sequence[PlannedHit], within_seconds: int
) -> dict[str, float]:
    campaign, now = opened.campaign, opened.clock.now()
    work = market_work.by_market(opened.store)
    posted = [done.first_posted_at for done in work.values() if done.first_posted_at]
    elapsed = now - min(posted) if posted else timedelta()
    # Slots that are added stay where their HIT is, and are no longer to be divided.
    wanted = sum(hit.max_assignments for hit in planned if not hit.extends)
    return cheapest_in_time(
        by_cost(campaign, on=now.date()),
        {market: _pace(opened, done) for market, done in work.items()},
        wanted=max(1, wanted + _to_come(opened, planned[0].batch)),
        hours_left=(timedelta(seconds=within_seconds) - elapsed) / _HOUR,
    )


def _pace(opened: OpenedCampaign, done: MarketWork) -> Pace:
    if done.first_posted_at is None:
        return Pace(open=done.open)
    hours = (opened.clock.now() - done.first_posted_at) / _HOUR
    per_hour = done.collected / hours if hours > 0 else None
    return Pace(per_hour=per_hour, open=done.open)


def _to_come(opened: OpenedCampaign, batch: int) -> int:
    """Return the assignments of batches that are posted for the first time later."""
    if opened.campaign.growth is not None:
        return 0
    begun = {counts.batch for counts in hits.count_by_batch(opened.store)} | {batch}
    rounds = all_first_rounds(opened.campaign, on=opened.clock.now().date())
    return sum(
        hit.max_assignments
        for number, first in enumerate(rounds, start=1)
        if number not in begun
        for hit in first
    )
