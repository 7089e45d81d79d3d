"""A rehearsal whose marketplace and crowd live in another process (`piecework crowd`).

So a schedule can be rehearsed as it is: passes come and go as they do with people, and
the crowd works between them in virtual time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from domain.campaign import Campaign
from domain.errors import PlatformRefused, RefusedForSafety
from flows.leave import needs_live
from flows.wiring import rehearsal_place
from flows.workplace import Workplace
from platforms.endpoint import normal_endpoint
from rehearsal.clock import MarketplaceClock
from store.lock import only_pass


@contextmanager
def rehearsal_elsewhere(
    campaign: Campaign, endpoint: str, *, anew: bool = False
) -> Iterator[Workplace]:
    """The workplace of one pass of a rehearsal; its time is the marketplace's.

    Raises:
        RefusedForSafety: the marketplace is no rehearsal's, or is on another machine,
            or has HITs of this campaign from another store.
        CampaignBusy: another process works on the campaign.
    """
    endpoint = normal_endpoint(endpoint)
    if needs_live(endpoint):
        raise RefusedForSafety(
            f"{endpoint}: a rehearsal's marketplace is on this machine",
            next_step=f"piecework crowd {campaign.path} --port 8080",
        )
    clock = MarketplaceClock(endpoint)
    try:
        _check_pretends(clock, endpoint)
        with (
            only_pass(campaign.out),
            rehearsal_place(campaign, endpoint, clock, anew=anew) as place,
        ):
            yield place
    finally:
        clock.close()


def _check_pretends(clock: MarketplaceClock, endpoint: str) -> None:
    try:
        clock.refresh()
    except PlatformRefused as refusal:
        raise RefusedForSafety(
            f"{endpoint}: this marketplace has no rehearsal clock, so it is real; a "
            "rehearsal must not post there",
            next_step="piecework crowd CAMPAIGN --port 8080 is a world to rehearse in",
        ) from refusal
