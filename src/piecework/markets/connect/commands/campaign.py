"""`check`: what a campaign would be at Connect, as far as that is known without an account."""

from typing import TYPE_CHECKING

from piecework.cli.market_accounts import sentence_of_visits
from piecework.domain.clock import SystemClock

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign

_HOUR = 3600


def estimate(
    campaign: "Campaign",
    *,
    asks: bool,  # noqa: ARG001 - as of other markets
) -> tuple[None, list[str]] | None:
    """Return no plain values, and how the largest batch is divided into visits.

    `None`: the campaign asks for no participants of Connect. Connect is not asked: its API
    predicts nothing.
    """
    from piecework.campaign.dealing import first_slots
    from piecework.markets.bridging.places import VisitPlan
    from piecework.markets.connect.bridge.bridge import NAME, RECOMMENDED_PER_HOUR_CENTS, Terms
    from piecework.markets.connect.client import LEAST_MINUTES

    rewards = campaign.rewards
    batches, items_in_hit = first_slots(campaign, NAME, on=SystemClock().now().date())
    if NAME not in campaign.markets or not batches:
        return None
    guess = max(1.0, rewards.reward_cents * _HOUR / RECOMMENDED_PER_HOUR_CENTS)
    plan = VisitPlan(
        batches=batches,
        seconds=rewards.expected_seconds or guess,
        visit_seconds=Terms(site_url="").visit_seconds,
        most_hits=campaign.most_per_worker,
        items_in_hit=items_in_hit,
        least_minutes=LEAST_MINUTES,
    )
    return None, [sentence_of_visits("Connect", plan, rewards)]
