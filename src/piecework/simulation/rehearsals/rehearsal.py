"""A campaign on its own marketplace, with simulated workers between two passes.

The passes may be a schedule's: then the crowd waits for them. A preview has no workers:
it serves the first HITs for one person to look at. Its store, marketplace and pictures are
in a temporary folder, which is deleted at the end.
"""

import gc
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from piecework.campaign.caps import next_day, next_month
from piecework.campaign.opened import CampaignRun
from piecework.campaign.rehearsal_folders import served_at
from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.crowds import Market
from piecework.domain.errors import CampaignBusy, ConfigError
from piecework.domain.progress import GOES_ON, Progress
from piecework.domain.qualifications import QualificationTest
from piecework.domain.text import shell_word
from piecework.engine.begun import known_store
from piecework.engine.opening import open_for_rehearsal
from piecework.engine.quick_check import count_news
from piecework.engine.requirements import post_test
from piecework.engine.run_pass import CROWD, post, run_pass
from piecework.engine.snapshot import Call, call_plainly
from piecework.marketplace.http.server import Marketplace, serve
from piecework.markets import registry
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.endpoint import REHEARSAL
from piecework.platforms.mturk import MTurk
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.people import SIMULATED_BAD, first_hit_url
from piecework.simulation.crowd.site import WorkerSite
from piecework.simulation.crowd.visit_site import SeveralSites
from piecework.simulation.rehearsals.campaign import (
    crowd_of,
    draw_pictures,
    items_with_pictures,
    prepare_rehearsal,
)
from piecework.simulation.rehearsals.marketplace import MARKET, assumed_prices, rehearsal_market
from piecework.simulation.rehearsals.marketplace_process import program
from piecework.simulation.rehearsals.outside import AtMarkets, OfflineMarket, RehearsedMarket
from piecework.store import workers
from piecework.store.dealt_items import DealtItems
from piecework.store.files import CROWD as STORE_CROWD
from piecework.store.last_pass import recall
from piecework.store.lock import only_pass


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
            workers.keep_traits(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
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
    """Open the embedded marketplace, the campaign on it, and its crowd."""
    with (
        only_pass(campaign.store, by="a rehearsal"),
        rehearsal_market(campaign) as running,
        _seldom_looking_for_garbage(),
    ):
        clock = VirtualClock(running.endpoint_url)
        site = WorkerSite(running.endpoint_url, clock.now())
        with (
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
            crowd_of(campaign, site, clock) as crowd,
        ):
            workers.keep_traits(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
            yield run, crowd


@contextmanager
def rehearsal_at(
    campaign: Campaign, names: Sequence[Market]
) -> Iterator[tuple[CampaignRun, Crowd, AtMarkets]]:
    """Open the same with people from other markets, and the bridges to them.

    The pipeline does not see the difference: it posts to a marketplace as always.

    Args:
        campaign: the campaign.
        names: the markets, each once; HITs that name no market are for the first.

    Raises:
        BrokenMarket: a market's code cannot be loaded.
        ConfigError: people from a market cannot work on this campaign, or an extra is
            not installed.
        StoreError: the rehearsal was started with other workers.
    """
    with ExitStack() as stack:
        stack.enter_context(only_pass(campaign.store, by="a rehearsal"))
        offline = {name: stack.enter_context(_offline(campaign, name)) for name in names}
        addresses = {str(name): each.address for name, each in offline.items()}
        running = stack.enter_context(
            rehearsal_market(campaign, prices=offline[names[0]].prices, program=program(addresses))
        )
        stack.enter_context(_seldom_looking_for_garbage())
        clock = VirtualClock(running.endpoint_url)
        database = campaign.out / MARKET
        # Markets come first: a campaign that is opened asks which ones are served.
        markets: dict[str, RehearsedMarket] = {
            name: stack.enter_context(
                each.at_work(campaign, database, running.endpoint_url, clock, among=names)
            )
            for name, each in offline.items()
        }
        sites = [market.site for market in markets.values()]
        several = SeveralSites(running.endpoint_url, sites)
        stack.enter_context(closing(several))
        site = several if len(sites) > 1 else sites[0]
        with (
            open_for_rehearsal(campaign, running.endpoint_url, clock) as run,
            crowd_of(campaign, site, clock) as crowd,
        ):
            at_markets = AtMarkets(markets=markets, site=site, clock=clock, folder=campaign.out)
            yield run, crowd, at_markets


def _offline(campaign: Campaign, name: str) -> AbstractContextManager[OfflineMarket]:
    market = registry.market(name)
    market.load_needs()
    offline: AbstractContextManager[OfflineMarket] = market.load(market.offline)(campaign)
    return offline


_LOOK_SECONDS = 0.3
"""The wait between two looks at the store: has a pass ended?"""


def work_between_passes(
    path: Path, *, port: int, frames_port: int, say: Callable[[str], None]
) -> None:
    """Serve a rehearsal's marketplace and let its crowd work until the campaign ends.

    The crowd holds the campaign's lock while it works, like a rehearsal in one process,
    so the work of the crowd does not depend on the moment of a pass. Rows that arrive
    later are read from the store, which holds all that HITs show.

    Args:
        path: the campaign file.
        port: the marketplace's port.
        frames_port: the port of the question pages.
        say: called with a message for each event.
    """
    campaign, _ = prepare_rehearsal(path)
    with rehearsal_market(campaign, port=port, frames_port=frames_port) as running:
        clock = VirtualClock(running.endpoint_url)
        site = WorkerSite(running.endpoint_url, clock.now())
        with crowd_of(campaign, site, clock, posted=partial(_with_posted, campaign)) as crowd:
            while not _is_known(campaign, running.endpoint_url, clock, crowd):
                time.sleep(_LOOK_SECONDS)
            platform = MTurk.with_keys(running.endpoint_url, REHEARSAL)
            with served_at(campaign.out, running.endpoint_url):
                say(f"the crowd waits for passes at {running.endpoint_url}")
                once = f"piecework run {shell_word(path)} --once --rehearsal"
                say(f"next: {once} --endpoint {running.endpoint_url}")
                while not _is_finished(campaign, platform, crowd, say):
                    time.sleep(_LOOK_SECONDS)


def _is_known(campaign: Campaign, endpoint: str, clock: VirtualClock, crowd: Crowd) -> bool:
    """Store who the workers are; return whether no pass was at work."""
    try:
        with (
            only_pass(campaign.store, by=STORE_CROWD),
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
        return replace(
            campaign, items=(*DealtItems(store, campaign.task.shown_pictures), *campaign.gold)
        )


def _is_finished(
    campaign: Campaign, platform: MTurk, crowd: Crowd, say: Callable[[str], None]
) -> bool:
    """Let the crowd work if it is its turn; return whether the campaign is finished."""
    try:
        with only_pass(campaign.store, by=STORE_CROWD):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewAddresses:
    """The URLs of a preview.

    Attributes:
        hit: signs the person in and shows the first HIT.
        test: the qualification test, for the signed-in person; "" without one.
    """

    hit: str
    test: str


@contextmanager
def serve_preview(campaign: Campaign, *, port: int = 0) -> Iterator[PreviewAddresses]:
    """Serve a marketplace with the campaign's first batch and test; yield its URLs."""
    with tempfile.TemporaryDirectory(prefix="piecework-preview-") as folder:
        out = Path(folder)
        pictures = campaign.pictures_address
        if campaign.rehearsal.scenes:
            draw_pictures(out, campaign.rehearsal.seed, items_with_pictures(campaign))
            pictures = str(out / "pictures")
        # The person may work without the campaign's requirements, and look at its test
        # without having to pass it.
        open_to_all = replace(campaign, out=out, store_url="", requirements=(), qualification=None)
        clock = SystemClock()
        with (
            serve(
                Marketplace(
                    out / "marketplace.db",
                    rehearsal=True,
                    seed=1,
                    clock_runs=True,
                    prices=assumed_prices(campaign),
                    pictures=pictures,
                    port=port,
                    frames_port=port + 1 if port else 0,
                )
            ) as running,
            open_for_rehearsal(open_to_all, running.endpoint_url, clock) as run,
        ):
            post(run)
            yield PreviewAddresses(
                hit=first_hit_url(running.endpoint_url), test=_test_url(run, campaign.qualification)
            )


def _test_url(run: CampaignRun, test: QualificationTest | None) -> str:
    if test is None:
        return ""
    return f"{run.endpoint}/worker/qualifications/{post_test(run, test)}/test"
