"""A campaign on its own marketplace, and its crowd between two passes.

Passes call the marketplace through boto3, workers through HTTP. Between two passes the
crowd works in virtual time. A rehearsal that was killed continues where it stopped.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Literal, Protocol

from piecework.campaign.caps import next_day, next_month
from piecework.campaign.opened import CampaignRun
from piecework.connect.bridge import marketplace_process as connect_process
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.extras import load_extra
from piecework.domain.progress import GOES_ON, Progress
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.passes import CROWD, run_pass
from piecework.engine.step import Call, call_plainly
from piecework.panel import marketplace_process as panel_process
from piecework.platforms.virtual_clock import VirtualClock
from piecework.prolific.bridge.marketplace_process import program
from piecework.rehearsal.crowd.campaign_crowd import crowd_of
from piecework.rehearsal.crowd.crowd import Crowd
from piecework.rehearsal.crowd.traits import SIMULATED_BAD
from piecework.rehearsal.crowd.worker_site import WorkerSite
from piecework.rehearsing.connect import DATABASE as CONNECT_DATABASE
from piecework.rehearsing.connect import AtConnect, at_connect, offline_connect
from piecework.rehearsing.marketplace import MARKET, rehearsal_market
from piecework.rehearsing.panel import FILE as PANEL_FILE
from piecework.rehearsing.panel import AtPanel, at_panel, offline_panel
from piecework.rehearsing.prolific import (
    DATABASE,
    AtProlific,
    at_prolific,
    offline_prolific,
)
from piecework.results.books import Books
from piecework.store import simulated_workers
from piecework.store.lock import only_pass

CrowdKind = Literal["workers", "panel", "prolific", "connect"]


class AtMarket(Protocol):
    """People of another market, and what it takes for their work."""

    def close_books(self, run: CampaignRun) -> Books:
        """Settle everything, and return and store what three ledgers say."""
        ...


def work_through(
    run: CampaignRun,
    crowd: Crowd,
    *,
    call: Call = call_plainly,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Make passes, and let the crowd work between them, until the campaign ends.

    Args:
        run: the open campaign.
        crowd: the simulated workers.
        call: runs each step, and the crowd as a step.
        on_progress: called with the progress after every pass but the last.

    Raises:
        ConfigError: the source of a campaign that grows cannot be read.
    """
    while _goes_on(progress := _passed(run, call)):
        if on_progress is not None:
            on_progress(progress)
        if progress.waiting_for == "workers":
            call(CROWD, lambda: crowd.work_until().submitted)
            simulated_workers.keep(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
        elif progress.waiting_for == "the next day":
            crowd.clock.move_to(next_day(run))
        elif progress.waiting_for == "the next month":
            crowd.clock.move_to(next_month(run))
        elif progress.waiting_for == "new rows":
            crowd.clock.move_to(datetime.fromisoformat(progress.due_at))
    return progress


def _passed(run: CampaignRun, call: Call) -> Progress:
    """Make a pass; its source must be readable, as no later time would change that."""
    progress = run_pass(run, call=call)
    if progress.source is not None and progress.source.fault:
        raise ConfigError(
            [f"{run.campaign.path}: {progress.source.fault}"],
            next_step="correct the source or [items], then run the same command again",
        )
    return progress


def _goes_on(progress: Progress) -> bool:
    """Whether a rehearsal continues; rows that wait get their batch in its time."""
    if progress.waiting_for == "new rows":
        return bool(progress.due_at)
    return progress.waiting_for in GOES_ON


@contextmanager
def _seldom_looking_for_garbage() -> Iterator[None]:
    """Run the garbage collector rarely: a rehearsal makes few cycles and keeps much."""
    # Scanning the objects that stay takes a fifteenth of the processor time.
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


@contextmanager
def rehearsal_of(campaign: Campaign) -> Iterator[tuple[CampaignRun, Crowd]]:
    """Open the embedded marketplace, the campaign on it, and its crowd.

    Raises:
        StoreError: the rehearsal was started with participants of a Prolific.
    """
    _check_crowd(campaign, "workers")
    with (
        only_pass(campaign.out),
        rehearsal_market(campaign) as running,
        _seldom_looking_for_garbage(),
    ):
        clock = VirtualClock(running.endpoint_url)
        site = WorkerSite(running.endpoint_url, clock.now())
        with (
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
            crowd_of(campaign, site, clock) as crowd,
        ):
            simulated_workers.keep(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
            yield run, crowd


@contextmanager
def rehearsal_at_prolific(
    campaign: Campaign,
) -> Iterator[tuple[CampaignRun, Crowd, AtProlific]]:
    """Open the same with participants, an offline Prolific and the bridge to it.

    The pipeline does not see the difference: it posts to a marketplace as always.

    Raises:
        ConfigError: participants cannot work on this campaign, or the extra is not
            installed.
        StoreError: the rehearsal was started with workers of the marketplace.
    """
    load_extra("pycountry", extra="prolific", use="--crowd prolific")
    _check_crowd(campaign, "prolific")
    with (
        only_pass(campaign.out),
        offline_prolific(campaign) as prolific,
        rehearsal_market(
            campaign, prices=prolific.office.prices, program=program(prolific.url)
        ) as running,
        _seldom_looking_for_garbage(),
    ):
        clock = VirtualClock(running.endpoint_url)
        with (
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
            at_prolific(
                campaign,
                prolific,
                campaign.out / MARKET,
                running.endpoint_url,
                clock,
            ) as at_work,
            crowd_of(campaign, at_work.site, clock) as crowd,
        ):
            yield run, crowd, at_work


@contextmanager
def rehearsal_at_connect(
    campaign: Campaign,
) -> Iterator[tuple[CampaignRun, Crowd, AtConnect]]:
    """Open the same with participants of an offline Connect and the bridge to it.

    Raises:
        ConfigError: participants of Connect cannot work on this campaign.
        StoreError: the rehearsal was started with other workers.
    """
    _check_crowd(campaign, "connect")
    with (
        only_pass(campaign.out),
        offline_connect(campaign) as offline,
        rehearsal_market(
            campaign,
            prices=offline.office.prices,
            program=connect_process.program(offline.controls.address),
        ) as running,
        _seldom_looking_for_garbage(),
    ):
        clock = VirtualClock(running.endpoint_url)
        database = campaign.out / MARKET
        with (
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
            at_connect(
                campaign, offline, database, running.endpoint_url, clock
            ) as at_work,
            crowd_of(campaign, at_work.site, clock) as crowd,
        ):
            yield run, crowd, at_work


@contextmanager
def rehearsal_at_panel(
    campaign: Campaign,
) -> Iterator[tuple[CampaignRun, Crowd, AtPanel]]:
    """Open the same with people of a simulated panel.

    Raises:
        ConfigError: people of a panel cannot work on this campaign.
        StoreError: the rehearsal was started with other workers.
    """
    _check_crowd(campaign, "panel")
    with only_pass(campaign.out):
        offline = offline_panel(campaign)
        with (
            rehearsal_market(
                campaign,
                prices=offline.prices,
                program=panel_process.program(offline.file),
            ) as running,
            _seldom_looking_for_garbage(),
        ):
            clock = VirtualClock(running.endpoint_url)
            database = campaign.out / MARKET
            with (
                open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
                at_panel(
                    campaign, offline, database, running.endpoint_url, clock
                ) as at_work,
                crowd_of(campaign, at_work.site, clock) as crowd,
            ):
                yield run, crowd, at_work


def _check_crowd(campaign: Campaign, crowd: CrowdKind) -> None:
    """Refuse a rehearsal that was started with another kind of workers."""
    others: CrowdKind = "workers"
    if (campaign.out / DATABASE).exists():
        others = "prolific"
    elif (campaign.out / CONNECT_DATABASE).exists():
        others = "connect"
    elif (campaign.out / PANEL_FILE).exists():
        others = "panel"
    if (campaign.out / MARKET).exists() and others != crowd:
        raise StoreError(
            f"{campaign.out}: this rehearsal was started with --crowd {others}",
            next_step=f"continue with --crowd {others}, or give this rehearsal another "
            "folder ([output] folder)",
        )
