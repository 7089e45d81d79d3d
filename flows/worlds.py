"""Opens the world that a pass is told to work in."""

from collections.abc import Iterator
from contextlib import contextmanager

from flows.orders import Orders
from flows.rehearsed_pass import rehearsal_elsewhere
from flows.wiring import load_campaign, market_place
from flows.workplace import Workplace
from platforms.credentials import Credentials


@contextmanager
def world(
    orders: Orders, *, credentials: Credentials | None = None
) -> Iterator[Workplace]:
    """The workplace of one pass.

    Args:
        orders: what the pass is told.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        RefusedForSafety: the orders could cost money or harm.
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file has faults.
    """
    campaign = load_campaign(orders.campaign)
    if orders.rehearsal:
        with rehearsal_elsewhere(campaign, orders.endpoint, anew=orders.anew) as place:
            yield place
        return
    with market_place(
        campaign,
        orders.endpoint,
        live=orders.live,
        anew=orders.anew,
        spend_at_most_cents=orders.spend_at_most_cents,
        credentials=credentials,
    ) as place:
        yield place
