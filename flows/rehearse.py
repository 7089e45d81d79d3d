"""`rehearse`: a whole campaign on simulated workers, with the real parts in between.

The marketplace runs embedded, as a real server with a database of its own beside the
store; passes talk to it through boto3, workers through HTTP. Between two passes the
crowd works in virtual time. A rehearsal that was killed goes on where it stopped.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from prefect import flow, task
from prefect.cache_policies import NO_CACHE

from config.campaign_file import parse
from domain.campaign import Campaign
from domain.errors import ConfigError, StoreError
from domain.hit import Item
from domain.progress import GOES_ON
from domain.task import TRUTH
from flows.artifacts import publish_artifacts
from flows.orders import campaign_path
from flows.passes import one_pass, run_name
from flows.steps.caps import check_caps, next_day
from flows.steps.traits import remember_planted
from flows.wiring import (
    check_store,
    load_campaign,
    rehearsal_place,
    rehearsal_world_name,
)
from flows.workplace import Workplace
from flows.writing import write_results
from marketplace.http.server import Running, serve
from marketplace.state.backend import WrongDatabaseError
from rehearsal.clock import MarketplaceClock
from rehearsal.crowd.answering import Describing
from rehearsal.crowd.crowd import Answering, Crowd
from rehearsal.crowd.item_knowledge import SceneSource, Source
from rehearsal.crowd.judging import Judging
from rehearsal.crowd.people import people
from rehearsal.crowd.replay import Replay
from rehearsal.crowd.traits import PLANTED_BAD
from rehearsal.pictures import scenes
from rehearsal.pictures.drawing.picture import draw
from store.files import FILE_NAME
from store.lock import only_pass

MARKET = "marketplace.db"
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""Virtual time begins on a Monday morning, in every rehearsal alike."""

_crowds: dict[str, Crowd] = {}


@flow(name="rehearse", flow_run_name=run_name, validate_parameters=True)
def rehearse(campaign: str) -> dict[str, object]:
    """Rehearse a campaign from its file to dataset and report.

    Args:
        campaign: path of the campaign file; a relative one begins at the checkout.

    Returns:
        The progress as plain values (`flows.steps.progress.Progress`), and the virtual
        seconds that the campaign took as `virtual_seconds`.
    """
    loaded = prepare(campaign_path(campaign))
    campaign = str(loaded.path)
    with rehearsal_world(loaded) as (place, crowd):
        _crowds[campaign] = crowd
        while (reached := one_pass(campaign)).waiting_for in GOES_ON:
            if reached.waiting_for == "workers":
                let_workers_work(campaign)
            elif reached.waiting_for == "the next day":
                crowd.clock.move_to(next_day(place))
        report = write_results(campaign)
        publish_artifacts(campaign, reached, report)
        del _crowds[campaign]
        virtual = place.clock.now() - START
        return {
            **reached.as_dict(),
            "report": report,
            "virtual_seconds": virtual.total_seconds(),
        }


@task(name="crowd", cache_policy=NO_CACHE)
def let_workers_work(campaign: str) -> int:
    """Let the simulated workers work until nothing is left that they would take."""
    return _crowds[campaign].work_until().submitted


def prepare(path: Path) -> Campaign:
    """The campaign of a file; its pictures are drawn first if it asks for that.

    Raises:
        ConfigError: every fault of the file.
    """
    file = parse(path)
    words = file.tables
    if words.items.scenes and words.items.file is None:
        out = file.out
        rows = scenes.item_rows(words.items.scenes)
        # Faults of the file come before anything is written.
        drawn = load_campaign(path, drawn=rows)
        _check(drawn)
        draw_pictures(out, words.rehearsal.seed, (*drawn.items, *_of_test(drawn)))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (out / "items.jsonl").write_text(lines, encoding="utf-8")
    campaign = load_campaign(path)
    _check(campaign)
    if words.items.scenes and words.items.file is not None:
        shown = (*campaign.practice, *campaign.items, *_of_test(campaign))
        draw_pictures(campaign.out, words.rehearsal.seed, shown)
    return campaign


def _of_test(campaign: Campaign) -> tuple[Item, ...]:
    return campaign.qualification.items if campaign.qualification else ()


def _check(campaign: Campaign) -> None:
    check_store(campaign, rehearsal_world_name(campaign))
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
    last = max(map(scenes.number_of, wanted))
    for scene in scenes.scenes(seed, last):
        name = scenes.picture_name(scene.item_id)
        if name in wanted:
            (pictures / name).write_text(draw(scene), encoding="utf-8")


def answering_of(campaign: Campaign) -> Answering:
    """How the crowd answers: by describing, or by what the items' columns call true."""
    if campaign.task.dataset == "captions":
        return Describing(campaign.task, _source(campaign), campaign.items)
    if campaign.rehearsal.replay is not None:
        raise ConfigError(
            [f"{campaign.path}: rehearsal.replay is for captions only"],
            next_step="leave it out; columns truth.<field> say what is true",
        )
    judging = Judging(campaign.task, campaign.items, campaign.practice)
    unknown = [one.item_id for one in campaign.items if not judging.knows(one.item_id)]
    if unknown:
        fields = [one.name for one in campaign.task.item_fields if not one.optional]
        raise ConfigError(
            [f"{campaign.path}: nobody knows the truth about item {unknown[0]!r}"],
            next_step="fill in "
            + ", ".join(f"{TRUTH}{name}" for name in fields)
            + f" of {len(unknown)} items, so that a crowd can be simulated",
        )
    return judging


def _source(campaign: Campaign) -> Source:
    """What the workers know about the items that they describe."""
    plan = campaign.rehearsal
    source: Source
    if plan.replay is not None:
        source = Replay.read(plan.replay, campaign.task)
    elif plan.scenes:
        source = SceneSource(scenes.scenes(plan.seed, plan.scenes))
    else:
        raise ConfigError(
            [f"{campaign.path}: nobody knows what the items show, so none can work"],
            next_step="name captions that people wrote: [rehearsal] replay = FILE",
        )
    unknown = [one.item_id for one in campaign.items if not source.knows(one.item_id)]
    if unknown:
        raise ConfigError(
            [f"{plan.replay}: no caption of {len(unknown)} items, e.g. {unknown[0]}"]
        )
    return source


@contextmanager
def rehearsal_market(campaign: Campaign, *, port: int = 0) -> Iterator[Running]:
    """The campaign's own marketplace, in virtual time, on a database beside the store.

    Raises:
        StoreError: the database belongs to something else.
    """
    database = campaign.out / MARKET
    with ExitStack() as stack:
        try:
            running = stack.enter_context(
                serve(
                    database,
                    port=port,
                    rehearsal=True,
                    seed=campaign.rehearsal.seed,
                    start=START,
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
def rehearsal_world(campaign: Campaign) -> Iterator[tuple[Workplace, Crowd]]:
    """The embedded marketplace, the campaign at work on it, and who works there."""
    plan = campaign.rehearsal
    with only_pass(campaign.out), rehearsal_market(campaign) as running:
        clock = MarketplaceClock(running.endpoint_url)
        with (
            rehearsal_place(campaign, running.endpoint_url, clock) as place,
            Crowd(
                plan,
                campaign.task,
                endpoint_url=running.endpoint_url,
                answering=answering_of(campaign),
                test=campaign.qualification,
                clock=clock,
            ) as crowd,
        ):
            remember_planted(place.store, crowd.traits_by_worker(), PLANTED_BAD)
            yield place, crowd
