"""The preparation of a rehearsal: its number, the checked campaign, its pictures, its crowd."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath

from piecework.campaign.assembling import assemble
from piecework.campaign.caps import check_caps
from piecework.campaign.deriving import complete_text
from piecework.campaign.growing_source import usable_items
from piecework.campaign.opened import OpenedCampaign
from piecework.campaign.rehearsal_folders import Begun, begin_rehearsal
from piecework.config.campaign_file import CampaignFile, parse
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.pictures import is_portrait_name, picture_name, scene_number
from piecework.engine.begun import is_begun
from piecework.engine.opening import open_to_look
from piecework.engine.progress import read_progress
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.answer_key import check_against
from piecework.marketplace.forms.schema import read_form
from piecework.platforms.clocks import START, VirtualClock
from piecework.report.books import Books
from piecework.results.pictures import picture_sizes
from piecework.simulation.crowd.chosen_answers import Judging
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.item_knowledge import (
    ItemKnowledge,
    Replay,
    SceneKnowledge,
    with_truth,
)
from piecework.simulation.crowd.people import crowd_as_stated, people
from piecework.simulation.crowd.site import Site
from piecework.simulation.crowd.written_answers import (
    Answering,
    Describing,
    FillingPages,
    answerable,
)
from piecework.simulation.pictures.drawing.picture import draw
from piecework.simulation.pictures.portraits import draw_portrait, known_portraits, portrait_named
from piecework.simulation.pictures.scenes import imagined_scenes, scenes
from piecework.store.campaign_facts import last_written_at


def prepare_rehearsal(
    path: Path, crowds: Sequence[str] = (), *, again: bool = False
) -> tuple[Campaign, Begun]:
    """Return the rehearsal of a file as it is now: a new one, or the one with its inputs.

    Args:
        path: the campaign file.
        crowds: the markets whose people work; none for simulated workers.
        again: begin a new one although nothing has changed.

    Raises:
        ConfigError: every fault of the file.
    """
    file = parse(path)
    # A file with faults makes no folder, and the faults name the file and not a copy.
    campaign = with_known_rows(assemble(file))
    begun = begin_rehearsal(file, crowds, complete=complete_text(campaign), again=again)
    return prepare_file(begun.file), begun


def finished_facts(campaign: Campaign) -> dict[str, object] | None:
    """Return what the flow `rehearse` returned; `None` if there are no results to show."""
    from piecework.results.export import REPORT  # noqa: PLC0415 - `check` does without

    report = campaign.out / REPORT
    if not is_begun(campaign) or not report.exists():
        return None
    with open_to_look(campaign) as opened:
        progress = read_progress(opened)
        if not progress.is_finished:
            return None
        books = Books.read(campaign.out)
        return {
            "rehearsal": campaign.number,
            **progress.as_dict(),
            "report": str(report),
            "virtual_seconds": virtual_seconds(opened),
            **({} if books is None else {"books": asdict(books)}),
        }


def virtual_seconds(rehearsed: OpenedCampaign) -> float:
    """Return how long the simulated workers took, in their time."""
    return ((last_written_at(rehearsed.store) or START) - START).total_seconds()


def prepare(path: Path) -> Campaign:
    """Return the campaign of a file in its own folder, after drawing its pictures.

    Raises:
        ConfigError: every fault of the file.
    """
    return prepare_file(parse(path))


def prepare_file(file: CampaignFile) -> Campaign:
    """Do the same for a campaign file that was read."""
    campaign = with_known_rows(assemble(file))
    if file.tables.items.scenes:
        draw_pictures(campaign.out, file.tables.rehearsal.seed, items_with_pictures(campaign))
    return campaign


def refuse_faulty_test(campaign: Campaign) -> None:
    """Refuse a test whose documents the marketplace would refuse, or that no one can pass.

    Raises:
        ConfigError: the fault with file, line and column.
    """
    test = campaign.qualification
    if test is None or test.documents is None:
        return
    path = test.documents.form_path
    try:
        form = read_form(test.documents.form)
        path = test.documents.key_path
        key = check_against(test.documents.key, form)
    except Refusal as refusal:
        detail = refusal.message.rpartition("Details: ")[2]
        raise ConfigError([f"{path}: {detail}"]) from refusal
    if max(key.values()) < test.least_passing:
        fault = (
            f"{path}: gives at most the value {max(key.values())}, but correct_at_least of the "
            f"file of qualification is {test.least_passing}, so no worker could pass"
        )
        raise ConfigError([fault])


def with_known_rows(campaign: Campaign) -> Campaign:
    """Return a checked campaign whose simulated workers know all rows that it has.

    Raises:
        ConfigError: it cannot be rehearsed.
    """
    if campaign.growth is not None:
        known = usable_items(campaign.growth.source)
        campaign = replace(campaign, items=(*known, *campaign.gold))
    check_caps(campaign, at=START)
    refuse_faulty_test(campaign)
    people(campaign.rehearsal.crowd, seed=campaign.rehearsal.seed)
    answering_of(campaign)
    return campaign


def items_with_pictures(campaign: Campaign) -> tuple[Item, ...]:
    """Return the items with pictures: of practice, of the campaign, of its test."""
    return (*campaign.practice, *campaign.items, *_of_test(campaign))


def _of_test(campaign: Campaign) -> tuple[Item, ...]:
    return campaign.qualification.items if campaign.qualification else ()


def draw_pictures(out: Path, seed: int, items: Sequence[Item]) -> None:
    """Draw the scenes and portraits that the items name to `out/pictures`."""
    pictures = out / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    urls = (item.picture for item in items)
    wanted = {PurePosixPath(url).name for url in urls if url}
    portraits = set(filter(is_portrait_name, wanted))
    for name in portraits:
        portrait = portrait_named(name)
        if portrait is None:
            raise ConfigError([f"{name}: there is no such portrait; {known_portraits()}"])
        (pictures / name).write_text(draw_portrait(portrait), encoding="utf-8")
    last = max(map(scene_number, wanted - portraits), default=0)
    for scene in scenes(seed, last):
        name = picture_name(scene.item_id)
        if name in wanted:
            (pictures / name).write_text(draw(scene), encoding="utf-8")


def crowd_of(
    campaign: Campaign,
    site: Site,
    clock: VirtualClock,
    *,
    posted: Callable[[], Campaign] | None = None,
) -> Crowd:
    """Return the crowd that works on a campaign at a site.

    Args:
        campaign: the campaign, with the items that the crowd knows.
        site: where the workers find HITs.
        clock: the marketplace's clock.
        posted: returns the campaign with all items that were posted, if others post
            items while the crowd works.
    """
    return Crowd(
        replace(campaign.rehearsal, crowd=crowd_as_stated(campaign)),
        campaign.task,
        site=site,
        answering=answering_of(campaign),
        clock=clock,
        test=campaign.qualification,
        learn=posted and (lambda: answering_of(posted())),
    )


def answering_of(campaign: Campaign) -> Answering:
    """Return how the crowd answers: by describing, or by the truths in the columns.

    Missing truths are drawn at random from the item ids (`Campaign.has_drawn_truth`).

    Raises:
        ConfigError: the replay file lacks items or is for another task.
    """
    task, people = campaign.task, campaign.rehearsal.people
    is_described = task.dataset == "captions"
    if campaign.rehearsal.replay is not None and not is_described:
        raise ConfigError(
            [f"{campaign.path}: rehearsal.replay works only for captions"],
            next_step="leave it out, and put the truth into columns truth.<field>",
        )
    judging = Judging(task, campaign.items, campaign.practice, people=people)
    if task.own is not None or not all(judging.knows(item.item_id) for item in campaign.items):
        task = task if task.html_page is None else answerable(task)
        items, practice = (
            [with_truth(task, item, seed=campaign.rehearsal.seed) for item in some]
            for some in (campaign.items, campaign.practice)
        )
        judging = Judging(task, items, practice, people=people)
    if is_described:
        return Describing(task, _knowledge(campaign), judging)
    if task.html_page is None:
        return judging
    sizes = picture_sizes(campaign) if any(field.regions for field in task.fields) else {}
    return FillingPages(task, judging, sizes)


def _knowledge(campaign: Campaign) -> ItemKnowledge:
    """Return what the workers know about the items that they describe."""
    plan = campaign.rehearsal
    knowledge: ItemKnowledge
    if plan.replay is not None:
        knowledge = Replay.read(plan.replay, campaign.task)
    elif plan.scenes:
        knowledge = SceneKnowledge(scenes(plan.seed, plan.scenes))
    else:
        # The content of the pictures is unknown; report and dataset mark this as made
        # up.
        drawn = imagined_scenes(plan.seed, [item.item_id for item in campaign.items])
        knowledge = SceneKnowledge(drawn)
    unknown = _unknown(campaign, knowledge.knows)
    if unknown:
        raise ConfigError(
            [f"{plan.replay}: no captions for {len(unknown)} items, e.g. {unknown[0]}"]
        )
    return knowledge


def _unknown(campaign: Campaign, knows: Callable[[ItemId], bool]) -> list[ItemId]:
    return [item.item_id for item in campaign.items if not knows(item.item_id)]
