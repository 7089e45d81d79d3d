"""The environment that a pass works in: real work, or a rehearsal in another process.

`piecework crowd` runs a rehearsal's marketplace and crowd in another process. So a
schedule can be rehearsed unchanged: passes start and end as they do with people, and
the crowd works between them in virtual time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from piecework.campaign.consent import refuse_without_consent
from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused, RefusedForSafety
from piecework.engine.opening import agreed_before, open_for_rehearsal, open_on_marketplace
from piecework.engine.pass_request import PassRequest
from piecework.platforms.credentials import Credentials
from piecework.platforms.endpoint import is_on_this_machine, normal_endpoint
from piecework.platforms.virtual_clock import VirtualClock
from piecework.store.lock import only_pass


@contextmanager
def open_environment(
    request: PassRequest, *, credentials: Credentials | None = None
) -> Iterator[CampaignRun]:
    """Open a campaign for one pass.

    Args:
        request: what the pass is asked to do.
        credentials: keys for the marketplace; without them, boto3's own chain.

    Raises:
        RefusedForSafety: the request could cost money or harm.
        CampaignBusy: another process works on the campaign.
        ConfigError: the campaign file has errors.
    """
    if request.rehearsal:
        opened = _rehearsal_elsewhere(request)
    else:
        opened = open_on_marketplace(
            request.assembled,
            request.endpoint,
            live=request.live,
            allow_second_store=request.allow_second_store,
            spend_at_most_cents=request.spend_at_most_cents,
            credentials=credentials,
        )
    with opened as run:
        yield run


def refuse_unsafe(request: PassRequest) -> None:
    """Refuse what a pass refuses before it asks a marketplace anything.

    Raises:
        RefusedForSafety: the request could cost money or harm.
    """
    campaign, endpoint = request.assembled, normal_endpoint(request.endpoint)
    if request.rehearsal:
        _refuse_elsewhere(campaign, endpoint)
        return
    is_agreed = request.spend_at_most_cents is not None or agreed_before(campaign) is not None
    refuse_without_consent(campaign, endpoint, live=request.live, is_agreed=is_agreed)


def _refuse_elsewhere(campaign: Campaign, endpoint: str) -> None:
    if not is_on_this_machine(endpoint):
        raise RefusedForSafety(
            f"{endpoint}: a rehearsal needs a marketplace on this machine",
            next_step=f"piecework crowd {campaign.path} --port 8080",
        )


@contextmanager
def _rehearsal_elsewhere(request: PassRequest) -> Iterator[CampaignRun]:
    """Open a campaign for one pass of a rehearsal; time is the marketplace's.

    Raises:
        RefusedForSafety: the marketplace is not a rehearsal's, is on another machine,
            or has HITs of this campaign from another store.
        CampaignBusy: another process works on the campaign.
    """
    campaign = request.assembled
    endpoint = normal_endpoint(request.endpoint)
    _refuse_elsewhere(campaign, endpoint)
    clock = VirtualClock(endpoint)
    _check_rehearses(clock, endpoint)
    with (
        only_pass(campaign.store),
        open_for_rehearsal(
            campaign,
            endpoint,
            clock,
            allow_second_store=request.allow_second_store,
            recognises_copies=True,
        ) as run,
    ):
        yield run


def _check_rehearses(clock: VirtualClock, endpoint: str) -> None:
    try:
        clock.refresh()
    except PlatformRefused as refusal:
        raise RefusedForSafety(
            f"{endpoint}: this marketplace has no rehearsal clock, so it is real; a "
            "rehearsal must not post there",
            next_step="piecework crowd CAMPAIGN --port 8080 starts one to rehearse on",
        ) from refusal
