"""The crowd of a campaign and its knowledge of the campaign's items."""

from collections.abc import Callable
from dataclasses import replace

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import ItemId
from piecework.platforms.clocks import VirtualClock
from piecework.results.pictures import picture_sizes
from piecework.simulation.crowd.chosen_answers import Judging
from piecework.simulation.crowd.crowd import Crowd
from piecework.simulation.crowd.item_knowledge import (
    ItemKnowledge,
    Replay,
    SceneKnowledge,
    with_truth,
)
from piecework.simulation.crowd.people import crowd_as_stated
from piecework.simulation.crowd.site import Site
from piecework.simulation.crowd.written_answers import (
    Answering,
    Describing,
    FillingPages,
    answerable,
)
from piecework.simulation.pictures.scenes import imagined_scenes, scenes


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
