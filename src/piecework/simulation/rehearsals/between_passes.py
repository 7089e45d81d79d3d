"""Simulated workers between the passes of a schedule."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from piecework.domain.campaign import Campaign
from piecework.domain.errors import CampaignBusy
from piecework.domain.progress import Progress
from piecework.engine.begun import known_store
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.quick_check import count_news
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.endpoint import REHEARSAL
from piecework.platforms.mturk import MTurk
from piecework.simulation.crowd.campaign_crowd import crowd_of
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.traits import SIMULATED_BAD
from piecework.simulation.crowd.worker_site import WorkerSite
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.marketplace import rehearsal_market
from piecework.store import workers
from piecework.store.dealt_items import DealtItems
from piecework.store.files import CROWD
from piecework.store.last_pass import recall
from piecework.store.lock import only_pass


def work_between_passes(
    path: Path, *, port: int, frames_port: int, poll_seconds: float, say: Callable[[str], None]
) -> None:
    """Serve a rehearsal's marketplace and let its crowd work until the campaign ends.

    The crowd holds the campaign's lock while it works, like a rehearsal in one process,
    so the work of the crowd does not depend on the moment of a pass. Rows that arrive
    later are read from the store, which holds all that HITs show.

    Args:
        path: the campaign file.
        port: the marketplace's port.
        frames_port: the port of the question pages.
        poll_seconds: seconds to wait between two looks at the store.
        say: called with a message for each event.
    """
    campaign = prepare(path)
    with rehearsal_market(campaign, port=port, frames_port=frames_port) as running:
        clock = VirtualClock(running.endpoint_url)
        site = WorkerSite(running.endpoint_url, clock.now())
        with crowd_of(campaign, site, clock, posted=partial(_with_posted, campaign)) as crowd:
            while not _is_known(campaign, running.endpoint_url, clock, crowd):
                time.sleep(poll_seconds)
            platform = MTurk.with_keys(running.endpoint_url, REHEARSAL)
            say(f"the crowd waits for passes at {running.endpoint_url}")
            while not _is_finished(campaign, platform, crowd, say):
                time.sleep(poll_seconds)


def _is_known(campaign: Campaign, endpoint: str, clock: VirtualClock, crowd: Crowd) -> bool:
    """Store who the workers are; return whether no pass was at work."""
    try:
        with (
            only_pass(campaign.store, by=CROWD),
            open_for_rehearsal(campaign, endpoint, clock) as run,
        ):
            traits = crowd.traits_by_worker()
            workers.keep_traits(run.store, traits, SIMULATED_BAD)
    except CampaignBusy:
        return False
    return True


def _with_posted(campaign: Campaign) -> Campaign:
    """Return a campaign with the items of its store."""
    with known_store(campaign) as store:
        if store is None or campaign.growth is None:
            return campaign
        return replace(campaign, items=(*DealtItems(store), *campaign.gold))


def _is_finished(
    campaign: Campaign, platform: MTurk, crowd: Crowd, say: Callable[[str], None]
) -> bool:
    """Let the crowd work if it is its turn; return whether the campaign is finished."""
    try:
        with only_pass(campaign.store, by=CROWD):
            last = recall(campaign.store)
            progress = last and Progress.from_dict(last.progress)
            if not last or not progress:
                return False
            if progress.waiting_for == "workers" and not count_news(platform, last):
                shift = crowd.work_until()
                say(f"{shift.ended_at:%Y-%m-%d %H:%M} {shift.submitted} submitted")
            elif progress.waiting_for in {"the next day", "the next month"}:
                crowd.clock.move_to(datetime.fromisoformat(progress.goes_on_at))
            elif progress.waiting_for == "new rows" and progress.due_at:
                crowd.clock.move_to(datetime.fromisoformat(progress.due_at))
            return progress.is_finished
    except CampaignBusy:
        return False
