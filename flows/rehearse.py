"""`rehearse`: a whole campaign on simulated workers, with the real parts in between.

The marketplace is a child process with a database of its own beside the store, so that
it works on one processor core and the pipeline on another; passes talk to it through
boto3, workers through HTTP. Between two passes the crowd works in virtual time. A
rehearsal that was killed goes on where it stopped.
"""

import gc
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Literal

from prefect import Flow, flow

from config.campaign_file import CampaignFile, parse
from config.drawn_pictures import item_rows, picture_name, scene_number
from domain.campaign import Campaign
from domain.errors import StoreError
from domain.hit import Item
from domain.progress import GOES_ON, Progress
from flows.artifacts import publish_artifacts
from flows.assembling import assemble
from flows.binding import check_store, rehearsal_environment
from flows.campaign_run import CampaignRun
from flows.caps import check_caps, next_day
from flows.opening import open_for_rehearsal
from flows.pass_request import CampaignPath
from flows.passes import Call, call_plainly, run_pass, write_results
from flows.planted_traits import remember_planted
from flows.prefect_tasks import CROWD, label_run, run_as_task, run_name, task_for_each
from flows.rehearse_prolific import (
    DATABASE,
    AtProlific,
    at_prolific,
    offline_prolific,
)
from flows.run_log import logged_in_run
from marketplace.http.child_process import PROGRAM
from marketplace.http.server import Running, serve_apart
from marketplace.state.accounts import REHEARSAL_BALANCE_CENTS
from marketplace.state.backend import WrongDatabaseError
from marketplace.state.money import PriceList
from platforms.virtual_clock import START, VirtualClock
from prolific.bridge.marketplace_process import program
from rehearsal.crowd.campaign_crowd import answering_of, crowd_of
from rehearsal.crowd.crowd import Crowd
from rehearsal.crowd.people import people
from rehearsal.crowd.traits import SIMULATED_BAD
from rehearsal.crowd.worker_site import WorkerSite
from rehearsal.pictures.drawing.picture import draw
from rehearsal.pictures.scenes import scenes
from store.files import FILE_NAME
from store.lock import only_pass

MARKET = "marketplace.db"

CrowdKind = Literal["workers", "prolific"]


@flow(name="rehearse", flow_run_name=run_name, validate_parameters=True)
def rehearse(campaign: CampaignPath, crowd: CrowdKind = "workers") -> dict[str, object]:
    """Rehearse a campaign from its file to dataset and report.

    Args:
        campaign: absolute path of the campaign file.
        crowd: who works: simulated workers of the marketplace, or participants of an
            offline Prolific, whom the bridge leads there.

    Returns:
        The progress as plain values (`domain.progress.Progress`), the path of the
        report, the virtual seconds that the campaign took as `virtual_seconds`, and
        of participants what three ledgers say was spent as `books`.
    """
    return _rehearse(prepare(Path(campaign)), crowd=crowd)


def work_through(
    run: CampaignRun,
    crowd: Crowd,
    *,
    call: Call = call_plainly,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Make passes, and let the crowd work between them, until neither goes on.

    Args:
        run: the campaign at work.
        crowd: who works.
        call: what runs each step, and the crowd as a step.
        on_progress: told how far the campaign is after every pass but the last.
    """
    while (progress := run_pass(run, call=call)).waiting_for in GOES_ON:
        if on_progress is not None:
            on_progress(progress)
        if progress.waiting_for == "workers":
            call(CROWD, lambda: crowd.work_until().submitted)
            remember_planted(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
        elif progress.waiting_for == "the next day":
            crowd.clock.move_to(next_day(run))
    return progress


def rehearsal_flow(
    prepared: Campaign, *, on_progress: Callable[[Progress], None]
) -> Flow[[str, CrowdKind], dict[str, object]]:
    """The flow `rehearse` of one campaign, which tells how far it is after every pass.

    Args:
        prepared: as `prepare` made it; the flow is called with the path of its file.
        on_progress: told how far the campaign is.
    """

    def told(
        campaign: str,  # noqa: ARG001 - shown by Prefect
        crowd: CrowdKind,
    ) -> dict[str, object]:
        return _rehearse(prepared, crowd=crowd, on_progress=on_progress)

    return Flow(told, name="rehearse", flow_run_name=run_name)


def _rehearse(
    campaign: Campaign,
    *,
    crowd: CrowdKind,
    on_progress: Callable[[Progress], None] | None = None,
) -> dict[str, object]:
    """Rehearse a campaign inside a flow, with its steps as tasks; see `rehearse`."""
    if crowd == "workers":
        with logged_in_run(), rehearsal_of(campaign) as (run, workers):
            return _to_the_end(run, workers, on_progress)
    with (
        logged_in_run(),
        rehearsal_at_prolific(campaign) as (run, participants, prolific),
    ):

        def close_books(progress: Progress) -> dict[str, object]:
            return {"books": asdict(prolific.close_books(progress))}

        return _to_the_end(run, participants, on_progress, at_end=close_books)


def _to_the_end(
    run: CampaignRun,
    crowd: Crowd,
    on_progress: Callable[[Progress], None] | None,
    *,
    at_end: Callable[[Progress], dict[str, object]] = lambda _: {},
) -> dict[str, object]:
    """Work, settle what outlasts the pipeline, write the results; what there is to say.

    Args:
        run: the campaign at work.
        crowd: who works.
        on_progress: told how far it is.
        at_end: called once the pipeline is done; gives facts that the report needs.
    """

    def reached(progress: Progress) -> None:
        label_run(progress)
        if on_progress is not None:
            on_progress(progress)

    progress = work_through(run, crowd, call=task_for_each(run), on_progress=reached)
    label_run(progress)
    virtual = run.clock.now() - START
    # If it is not finished, people decide first, however long that takes.
    more = at_end(progress) if progress.is_finished else {}
    report = write_results(run, call=run_as_task)
    publish_artifacts(run, progress, report)
    return {
        **progress.as_dict(),
        "report": report,
        "virtual_seconds": virtual.total_seconds(),
        **more,
    }


def prepare(path: Path) -> Campaign:
    """The campaign of a file; its pictures are drawn first if it asks for that.

    Raises:
        ConfigError: every fault of the file.
    """
    return prepare_file(parse(path))


def prepare_file(file: CampaignFile) -> Campaign:
    """The same of a file that was read."""
    tables = file.tables
    if tables.items.scenes and tables.items.file is None:
        out = file.out
        rows = item_rows(tables.items.scenes)
        # Faults of the file come before anything is written.
        drawn = assemble(file, drawn=rows)
        _check(drawn)
        draw_pictures(out, tables.rehearsal.seed, (*drawn.items, *_of_test(drawn)))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (out / "items.jsonl").write_text(lines, encoding="utf-8")
    campaign = assemble(file)
    _check(campaign)
    if tables.items.scenes and tables.items.file is not None:
        shown = (*campaign.practice, *campaign.items, *_of_test(campaign))
        draw_pictures(campaign.out, tables.rehearsal.seed, shown)
    return campaign


def _of_test(campaign: Campaign) -> tuple[Item, ...]:
    return campaign.qualification.items if campaign.qualification else ()


def _check(campaign: Campaign) -> None:
    check_store(campaign, rehearsal_environment(campaign))
    market = campaign.out / MARKET
    if market.exists() and not (campaign.out / FILE_NAME).exists():
        raise StoreError(
            f"{market}: a marketplace without its campaign's store ({FILE_NAME}): its "
            "HITs would be posted a second time",
            next_step=f"put the store back, or move {market.name} out of the way",
        )
    check_caps(campaign, at=START)
    people(campaign.rehearsal.crowd, seed=campaign.rehearsal.seed)
    answering_of(campaign)


def draw_pictures(out: Path, seed: int, items: Sequence[Item]) -> None:
    """Draw the scenes that the items name into `out/pictures`."""
    pictures = out / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    urls = (item.columns.get("url", "") for item in items)
    wanted = {PurePosixPath(url).name for url in urls if url}
    last = max(map(scene_number, wanted))
    for scene in scenes(seed, last):
        name = picture_name(scene.item_id)
        if name in wanted:
            (pictures / name).write_text(draw(scene), encoding="utf-8")


def assumed_prices(campaign: Campaign) -> PriceList:
    """What the campaign's own marketplace takes: what the campaign is priced by."""
    fees = campaign.rewards.fees_on(START.date())
    return PriceList(
        currency=campaign.rewards.currency,
        percent=fees.percent,
        extra_percent_for_many=fees.extra_percent_for_many,
        extra_percent_for_masters=fees.masters_percent,
        minimum_cents=fees.minimum_cents,
    )


@contextmanager
def rehearsal_market(
    campaign: Campaign,
    *,
    port: int = 0,
    prices: PriceList | None = None,
    program: Sequence[str] = PROGRAM,
) -> Iterator[Running]:
    """The campaign's own marketplace, in virtual time, on a database beside the store.

    Args:
        campaign: whose it is.
        port: where it listens; 0 takes a free one.
        prices: its currency and fees; None is what the campaign is priced by.
        program: what serves it (`serve_apart`).

    Raises:
        StoreError: the database belongs to something else.
    """
    database = campaign.out / MARKET
    with ExitStack() as stack:
        try:
            running = stack.enter_context(
                serve_apart(
                    database,
                    port=port,
                    rehearsal=True,
                    seed=campaign.rehearsal.seed,
                    start=START,
                    prices=prices or assumed_prices(campaign),
                    balance_cents=max(
                        REHEARSAL_BALANCE_CENTS, campaign.rewards.budget_cents
                    ),
                    program=program,
                    pictures=campaign.pictures,
                )
            )
        except (WrongDatabaseError, sqlite3.DatabaseError) as fault:
            raise StoreError(
                f"{database}: the marketplace cannot be used ({fault})",
                next_step="give this run a folder of its own ([output] folder)",
            ) from fault
        yield running


@contextmanager
def _seldom_looking_for_garbage() -> Iterator[None]:
    """Let Python look for cycles rarely; a rehearsal leaves few, and keeps much."""
    # Looking through what stays until the end takes a fifteenth of the processor time.
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
    """The embedded marketplace, the campaign at work on it, and who works there.

    Raises:
        StoreError: participants have worked on it; their marketplace is another.
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
            remember_planted(run.store, crowd.traits_by_worker(), SIMULATED_BAD)
            yield run, crowd


@contextmanager
def rehearsal_at_prolific(
    campaign: Campaign,
) -> Iterator[tuple[CampaignRun, Crowd, AtProlific]]:
    """The same with participants, an offline Prolific and the bridge that leads there.

    The pipeline knows of none of it: it posts to a marketplace, as ever.

    Raises:
        ConfigError: participants cannot work on this campaign.
        StoreError: workers of the marketplace have worked on it.
    """
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


def _check_crowd(campaign: Campaign, crowd: CrowdKind) -> None:
    """Refuse a rehearsal that was begun with the other kind of workers."""
    had_participants = (campaign.out / DATABASE).exists()
    if (campaign.out / MARKET).exists() and had_participants != (crowd == "prolific"):
        others = "prolific" if had_participants else "workers"
        raise StoreError(
            f"{campaign.out}: this rehearsal was begun with --crowd {others}",
            next_step="go on with it so, or give this run a folder of its own "
            "([output] folder)",
        )
