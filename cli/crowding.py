"""`crowd`: simulated workers between the passes of a schedule."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from domain.campaign import Campaign
from domain.errors import CampaignBusy
from domain.progress import Progress
from flows.looking import news
from flows.rehearse import answering_of, prepare, rehearsal_market
from flows.steps.traits import remember_planted
from flows.wiring import rehearsal_place
from platforms.credentials import REHEARSAL_CREDENTIALS
from platforms.mturk import MTurk
from platforms.virtual_clock import VirtualClock
from rehearsal.crowd.crowd import Crowd
from rehearsal.crowd.traits import SIMULATED_BAD
from store.lock import only_pass
from store.standing import glance


def work_between_passes(
    path: Path, *, port: int, poll_seconds: float, say: Callable[[str], None]
) -> None:
    """Serve a rehearsal's marketplace and let its crowd work, until all is finished.

    The crowd holds the campaign's lock while it works, as a rehearsal in one process
    does: so what the workers do never hangs on when a pass happens to come.

    Args:
        path: the campaign file.
        port: of the marketplace.
        poll_seconds: how long to wait between two looks at the store.
        say: told, in a sentence, what has happened.
    """
    campaign = prepare(path)
    with rehearsal_market(campaign, port=port) as running:
        clock = VirtualClock(running.endpoint_url)
        with Crowd(
            campaign.rehearsal,
            campaign.task,
            answering=answering_of(campaign),
            test=campaign.qualification,
            endpoint_url=running.endpoint_url,
            clock=clock,
        ) as crowd:
            with (
                only_pass(campaign.out),
                rehearsal_place(campaign, running.endpoint_url, clock) as place,
            ):
                remember_planted(place.store, crowd.traits_by_worker(), SIMULATED_BAD)
            platform = MTurk(
                running.endpoint_url,
                access_key=REHEARSAL_CREDENTIALS.access_key,
                secret_key=REHEARSAL_CREDENTIALS.secret_key,
            )
            say(f"the crowd waits for passes at {running.endpoint_url}")
            while not _is_finished(campaign, platform, crowd, say):
                time.sleep(poll_seconds)


def _is_finished(
    campaign: Campaign, platform: MTurk, crowd: Crowd, say: Callable[[str], None]
) -> bool:
    """Let the crowd work if it is its turn; whether there is nothing left for it."""
    try:
        with only_pass(campaign.out):
            cached = glance(campaign.out)
            reached = cached and Progress.from_dict(cached.progress)
            if not cached or not reached:
                return False
            if reached.waiting_for == "workers" and not news(platform, cached):
                shift = crowd.work_until()
                say(f"{shift.ended_at:%Y-%m-%d %H:%M} {shift.submitted} submitted")
            elif reached.waiting_for == "the next day":
                crowd.clock.move_to(datetime.fromisoformat(reached.goes_on_at))
            return reached.is_finished
    except CampaignBusy:
        return False
