"""The crowd of a campaign, and what it knows about the campaign's items."""

from collections.abc import Callable

from domain.campaign import Campaign
from domain.errors import ConfigError
from domain.ids import ItemId
from domain.task import TRUTH
from platforms.virtual_clock import VirtualClock
from rehearsal.crowd.answering import Answering, Describing
from rehearsal.crowd.crowd import Crowd
from rehearsal.crowd.drawn_truth import with_truth
from rehearsal.crowd.filling_pages import FillingPages, answerable
from rehearsal.crowd.item_knowledge import ItemKnowledge, SceneKnowledge
from rehearsal.crowd.judging import Judging
from rehearsal.crowd.replay import Replay
from rehearsal.crowd.site import Site
from rehearsal.pictures.scenes import scenes


def crowd_of(campaign: Campaign, site: Site, clock: VirtualClock) -> Crowd:
    """Who works on a campaign, at this site."""
    return Crowd(
        campaign.rehearsal,
        campaign.task,
        site=site,
        answering=answering_of(campaign),
        clock=clock,
        test=campaign.qualification,
    )


def answering_of(campaign: Campaign) -> Answering:
    """How the crowd answers: by describing, or by what the items' columns call true."""
    if campaign.task.dataset == "captions":
        return Describing(campaign.task, _knowledge(campaign), campaign.items)
    if campaign.rehearsal.replay is not None:
        raise ConfigError(
            [f"{campaign.path}: rehearsal.replay is for captions only"],
            next_step="leave it out; columns truth.<field> say what is true",
        )
    if campaign.task.own is not None:
        return _of_own_task(campaign)
    judging = Judging(campaign.task, campaign.items, campaign.practice)
    unknown = [
        item.item_id for item in campaign.items if not judging.knows(item.item_id)
    ]
    if unknown:
        fields = [
            field.name for field in campaign.task.item_fields if not field.optional
        ]
        raise ConfigError(
            [f"{campaign.path}: nobody knows the truth about item {unknown[0]!r}"],
            next_step="fill in "
            + ", ".join(f"{TRUTH}{name}" for name in fields)
            + f" of {len(unknown)} items, so that a crowd can be simulated",
        )
    return judging


def _of_own_task(campaign: Campaign) -> Answering:
    """Answers to a task of one's own; what no column calls true is made up."""
    task, seed = campaign.task, campaign.rehearsal.seed
    if task.html_page is not None:
        task = answerable(task)
    items, practice = (
        [with_truth(task, item, seed=seed) for item in some]
        for some in (campaign.items, campaign.practice)
    )
    judging = Judging(task, items, practice)
    return judging if task.html_page is None else FillingPages(task, judging)


def _knowledge(campaign: Campaign) -> ItemKnowledge:
    """What the workers know about the items that they describe."""
    plan = campaign.rehearsal
    knowledge: ItemKnowledge
    if plan.replay is not None:
        knowledge = Replay.read(plan.replay, campaign.task)
    elif plan.scenes:
        knowledge = SceneKnowledge(scenes(plan.seed, plan.scenes))
    else:
        raise ConfigError(
            [f"{campaign.path}: nobody knows what the items show, so none can work"],
            next_step="name captions that people wrote: [rehearsal] replay = FILE",
        )
    unknown = _unknown(campaign, knowledge.knows)
    if unknown:
        raise ConfigError(
            [f"{plan.replay}: no caption of {len(unknown)} items, e.g. {unknown[0]}"]
        )
    return knowledge


def _unknown(campaign: Campaign, knows: Callable[[ItemId], bool]) -> list[ItemId]:
    return [item.item_id for item in campaign.items if not knows(item.item_id)]
